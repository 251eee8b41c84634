"""tf.contrib.model_pruning, kernel_methods and predictor: layers and cells whose
small weights become zeros, a linear model of random cosines, and an estimator as
a function."""
import numpy as np
import tensorflow as tf
from tensorflow.contrib import kernel_methods, model_pruning, predictor

tf.logging.set_verbosity(tf.logging.ERROR)
learn = tf.contrib.learn


def show(what, value):
    print(what, *["%.4f" % n for n in np.ravel(value)])


with tf.Graph().as_default() as graph:
    tf.set_random_seed(1)
    images = tf.constant(np.random.RandomState(0).rand(4, 6, 6, 3), tf.float32)
    net = model_pruning.masked_conv2d(images, 4, 3)
    net = model_pruning.masked_fully_connected(tf.layers.flatten(net), 5,
                                               activation_fn=None)
    steps = tf.unstack(tf.reshape(net, [4, 5, 1]), axis=1)
    outputs, _ = tf.nn.static_rnn(
        model_pruning.MaskedBasicLSTMCell(3), steps, dtype=tf.float32)
    outputs, _ = tf.nn.static_rnn(
        model_pruning.MaskedLSTMCell(3, use_peepholes=True), outputs,
        dtype=tf.float32)
    w = tf.get_variable("w", [8, 6],
                        initializer=tf.random_normal_initializer(seed=3))
    model_pruning.apply_mask(w)
    step = tf.train.get_or_create_global_step()
    hparams = model_pruning.get_pruning_hparams().parse(
        "target_sparsity=0.75,sparsity_function_end_step=4,"
        "pruning_frequency=1,weight_sparsity_map=[w$:0.5],"
        "block_dims_map=[w$:2x2]")
    pruning = model_pruning.Pruning(hparams, global_step=step)
    update = pruning.conditional_mask_update_op()
    pruning.add_pruning_summaries()
    advance = tf.assign_add(step, 1)
    print(*[v.op.name for v in tf.global_variables()])
    print(len(graph.get_operations()))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        show("before", session.run(outputs[-1]))
        for _ in range(6):
            session.run(advance)
            session.run(update)
            show("sparsity", session.run(model_pruning.get_weight_sparsity()))
        show("mask", session.run(model_pruning.get_masks()[-1]))
        show("after", session.run(outputs[-1]))
        show("thresholds", session.run(model_pruning.get_thresholds()))
for text in ("begin_pruning_step=-1", "target_sparsity=1.0",
             "begin_pruning_step=5,end_pruning_step=3",
             "weight_sparsity_map=[a:1.5]", "block_dims_map=[a:2]"):
    with tf.Graph().as_default():
        tf.train.create_global_step()
        try:
            model_pruning.Pruning(
                model_pruning.get_pruning_hparams().parse(text))
        except ValueError as error:
            print(error)

# Two classes that no line divides.
random = np.random.RandomState(0)
x = random.randn(60, 2).astype(np.float32)
y = (np.hypot(x[:, 0], x[:, 1]) > 1).astype(np.int64)
column = tf.contrib.layers.real_valued_column("x", 2)


def input_fn():
    return {"x": tf.constant(x)}, tf.constant(y)


classifier = kernel_methods.KernelLinearClassifier(
    optimizer=tf.train.FtrlOptimizer(5.0, l2_regularization_strength=.1),
    kernel_mappers={column: [kernel_methods.RandomFourierFeatureMapper(
        2, 20, 1.0, name="rffm")]}, feature_columns=[column],
    config=learn.RunConfig(tf_random_seed=1))
classifier.fit(input_fn=input_fn, steps=30)
results = classifier.evaluate(input_fn=input_fn, steps=1)
for key in sorted(results):
    show(key, results[key])
print(*["%d" % c for c in classifier.predict_classes(input_fn=input_fn)][:20])
print(*sorted(classifier.get_variable_names()))
with tf.Graph().as_default(), tf.Session() as session:
    show("hinge", session.run(kernel_methods.sparse_multiclass_hinge_loss(
        tf.constant([[1], [0], [2]]),
        tf.constant([[1., 2., .5], [.1, .5, .2], [3., 1., 2.5]]),
        weights=[1., .5, 2.])))


# A trained estimator as a function.
def inputs():
    features = {"x": tf.placeholder(tf.float32, [None, 2])}
    return learn.InputFnOps(features, None, features)


estimator = learn.LinearClassifier([column])
estimator.fit(input_fn=input_fn, steps=2)
predict = predictor.from_contrib_estimator(estimator, inputs)
found = predict({"x": x[:2]})
show("probabilities", found["probabilities"])
print(found["classes"][0][0].decode(), sorted(found))
