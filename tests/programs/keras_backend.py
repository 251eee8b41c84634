"""The functions of tf.keras.backend."""
import numpy as np
import tensorflow as tf

K = tf.keras.backend
np.set_printoptions(precision=4, suppress=True)
random = np.random.RandomState(0)


def r(*shape):
    return K.constant(random.uniform(-2, 2, shape))


a, b, m = r(2, 3), r(2, 3), r(3, 4)
images, volumes, series = r(2, 5, 6, 3), r(1, 4, 4, 4, 2), r(2, 7, 3)
p = K.softmax(r(2, 4))
labels = K.constant([[0, 1, 0, 0], [0, 0, 0, 1]])
three = r(2, 3, 4)
values = {
    "abs": K.abs(a), "exp": K.exp(a), "log": K.log(K.abs(a)),
    "sqrt": K.sqrt(a), "sin": K.sin(a), "cos": K.cos(a), "sign": K.sign(a),
    "round": K.round(a) + 0, "pow": K.pow(a, 3), "sigmoid": K.sigmoid(a),
    "tanh": K.tanh(a), "softplus": K.softplus(a), "softsign": K.softsign(a),
    "elu": K.elu(a, 0.5), "clip": K.clip(a, -1, 0.5), "relu": K.relu(a, 0.1, 1.0),
    "maximum": K.maximum(a, b), "minimum": K.minimum(a, b),
    "equal": K.equal(a, a), "not_equal": K.not_equal(a, b),
    "greater": K.greater(a, b), "greater_equal": K.greater_equal(a, b),
    "less": K.less(a, b), "less_equal": K.less_equal(a, b),
    "all": K.all(K.greater(a, -1), axis=1), "any": K.any(K.round(a), axis=0),
    "prod": K.prod(a, axis=-1, keepdims=True), "var": K.var(a, 0),
    "std": K.std(a), "mean": K.mean(K.greater(a, 0)), "argmax": K.argmax(a),
    "argmin": K.argmin(a, 0), "cumsum": K.cumsum(a, 1), "cumprod": K.cumprod(a),
    "l2_normalize": K.l2_normalize(a, 1), "arange": K.arange(2, 9, 3),
    "arange float": K.arange(4, dtype="float32"), "zeros": K.zeros((2, 2)),
    "ones": K.ones((2,), "int32"), "eye": K.eye(2), "zeros_like": K.zeros_like(a),
    "ones_like": K.ones_like(a), "batch_flatten": K.batch_flatten(three),
    "flatten": K.flatten(a), "expand_dims": K.expand_dims(a, 1),
    "squeeze": K.squeeze(K.expand_dims(a, 1), 1), "stack": K.stack([a, b], 1),
    "transpose": K.transpose(a), "permute": K.permute_dimensions(three, (2, 0, 1)),
    "reverse": K.reverse(a, 1), "repeat": K.repeat(a, 2),
    "repeat_elements": K.repeat_elements(a, 2, 1), "tile": K.tile(a, [1, 2]),
    "gather": K.gather(a, K.constant([1, 0], "int32")),
    "one_hot": K.one_hot(K.constant([1, 3], "int32"), 4),
    "in_top_k": K.in_top_k(p, K.constant([1, 2], "int32"), 2),
    "dot": K.dot(a, m), "batch_dot": K.batch_dot(a, b, axes=1),
    "batch_dot 3": K.batch_dot(three, r(2, 4, 5), axes=(2, 1)),
    "batch_dot 3, 2": K.batch_dot(three, a, axes=(1, 1)),
    "batch_dot default": K.batch_dot(three, r(2, 4, 2)),
    "temporal_padding": K.temporal_padding(series, (1, 2))[:, :2],
    "spatial_2d_padding": K.spatial_2d_padding(images)[0, 1],
    "spatial_3d_padding": K.shape(K.spatial_3d_padding(volumes)),
    "conv1d": K.conv1d(series, r(3, 3, 2), padding="causal", dilation_rate=2),
    "conv2d": K.conv2d(images, r(3, 3, 3, 2), (2, 2), "same"),
    "conv2d_transpose": K.conv2d_transpose(
        images, r(3, 3, 2, 3), (2, 10, 12, 2), (2, 2), "same")[0, 3],
    "conv3d": K.conv3d(volumes, r(2, 2, 2, 2, 1), (2, 2, 2)),
    "separable": K.separable_conv2d(images, r(3, 3, 3, 2), r(1, 1, 6, 2))[0, 0],
    "pool2d": K.pool2d(images, (2, 2), (2, 2), pool_mode="avg")[0],
    "pool3d": K.pool3d(volumes, (2, 2, 2), (2, 2, 2)),
    "local_conv1d": K.local_conv1d(series, r(3, 9, 2), (3,), (2,)),
    "local_conv2d": K.local_conv2d(images, r(4, 12, 2), (2, 2), (2, 3), (2, 2)),
    "bias_add": K.bias_add(images, r(3))[0, 0],
    "bias_add all": K.bias_add(series, r(7, 3))[0],
    "resize_images": K.resize_images(images, 2, 3, "channels_last")[0, 1],
    "resize bilinear": K.resize_images(
        images, 2, 1, "channels_last", "bilinear")[0, 3],
    "resize_volumes": K.shape(K.resize_volumes(volumes, 1, 2, 3, "channels_last")),
    "batch_normalization": K.batch_normalization(a, r(3), K.abs(r(3)), r(3), r(3)),
    "normalize_batch": K.normalize_batch_in_training(a, r(3), r(3), [0])[0],
    "categorical": K.categorical_crossentropy(labels, p),
    "categorical logits": K.categorical_crossentropy(labels, r(2, 4), True),
    "sparse_categorical": K.sparse_categorical_crossentropy(
        K.constant([1, 3], "int64"), p),
    "binary": K.binary_crossentropy(labels, p),
    "binary logits": K.binary_crossentropy(labels, r(2, 4), True),
    "ctc_batch_cost": K.ctc_batch_cost(
        K.constant([[0, 1], [2, 0]]), K.softmax(r(2, 7, 4)),
        K.constant([[7], [6]]), K.constant([[2], [1]])),
    "ctc_decode": K.ctc_decode(K.softmax(r(2, 7, 4)), K.constant([7, 5]))[0][0],
    "ctc_decode beam": K.ctc_decode(
        K.softmax(r(2, 7, 4)), K.constant([7, 5]), False, 5)[0][0],
    "switch": K.switch(K.greater(a, 0), a, b),
    "switch rows": K.switch(K.constant([True, False], "bool"), a, b),
    "switch scalar": K.switch(K.constant(True, "bool"), lambda: a, lambda: b),
    "in_train_phase": K.in_train_phase(a, b, training=1),
    "in_test_phase": K.in_test_phase(a, b),
    "map_fn": K.map_fn(lambda x: x * 2, a), "foldl": K.foldl(lambda x, y: x + y, a),
    "foldr": K.foldr(lambda x, y: x - y, a),
    "gradients": K.gradients(K.sum(K.square(a)), [a])[0],
    "stop_gradient": K.stop_gradient(a),
    "cast_to_floatx": K.constant(K.cast_to_floatx([1, 2])),
    "to_dense": K.to_dense(tf.SparseTensor([[0, 1]], [3.0], [2, 2])),
}


def step(x, states):
    state = K.tanh(x + states[0] * 0.5)
    return state * 2, [state]


mask = K.greater(K.constant([[1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 1]]), 0)
for name, options in (("rnn", {}), ("backwards", {"go_backwards": True}),
                      ("mask", {"mask": mask}),
                      ("unroll", {"unroll": True, "mask": mask}),
                      ("zero", {"mask": mask, "zero_output_for_mask": True}),
                      ("time major", {"time_major": True})):
    inputs = series
    if name == "time major":
        inputs = K.permute_dimensions(series, (1, 0, 2))
    last, outputs, states = K.rnn(step, inputs, [K.zeros_like(series[:, 0])],
                                  **options)
    values["rnn " + name] = K.concatenate(
        [last, K.sum(outputs, axis=0 if name == "time major" else 1), states[0]])
for name in values:
    print(name, K.eval(values[name]).tolist() if K.ndim(values[name]) == 0
          else K.eval(values[name]))

x, v = K.placeholder((2,)), K.variable([1.0, 2.0])
f = K.function([x], [x * 2, K.square(x)], updates=[K.update_add(v, x)])
print(f([np.array([1, 2])]), f([np.array([3, 4])]), K.get_value(v))
K.get_session().run([K.update(v, [5.0, 6.0])])
K.get_session().run([K.update_sub(v, [1.0, 1.0])])
print(K.get_value(v), K.backend(), K.is_sparse(a), K.cast_to_floatx([1, 2]).dtype)
with K.learning_phase_scope(1):
    print(K.learning_phase())
print(K.int_shape(K.dropout(a, 0.5)), K.int_shape(K.random_uniform((2, 3))))
