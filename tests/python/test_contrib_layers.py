"""tf.contrib.layers and slim, arg_scope, variables, cells, HParams."""
import numpy as np
import pytest

import headrace as tf

slim = tf.contrib.slim
layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def names(variables):
    return [v.name for v in variables]


def numbers(*shape):
    return np.random.RandomState(3).uniform(-1, 1, shape).astype(np.float32)


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_a_network_of_slim(graph):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    with slim.arg_scope([slim.conv2d, slim.fully_connected],
                        weights_regularizer=slim.l2_regularizer(0.1),
                        outputs_collections="out"):
        h = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope="conv1")
        h = slim.max_pool2d(h, [2, 2], scope="pool1")
        h = slim.conv2d(h, 5, 1, normalizer_fn=slim.batch_norm,
                        normalizer_params={"is_training": True})
        h = slim.dropout(slim.flatten(h), 0.5, is_training=False)
        h = slim.stack(h, slim.fully_connected, [6, 7], scope="fc")
        h = slim.fully_connected(h, 2, activation_fn=None, scope="logits")
    assert names(slim.get_model_variables()) == [
        "conv1/conv1_1/weights:0", "conv1/conv1_1/biases:0",
        "conv1/conv1_2/weights:0", "conv1/conv1_2/biases:0",
        "Conv/weights:0", "Conv/BatchNorm/beta:0",
        "Conv/BatchNorm/moving_mean:0", "Conv/BatchNorm/moving_variance:0",
        "fc/fc_1/weights:0", "fc/fc_1/biases:0", "fc/fc_2/weights:0",
        "fc/fc_2/biases:0", "logits/weights:0", "logits/biases:0"]
    assert len(tf.losses.get_regularization_losses()) == 6
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
    outputs = slim.utils.convert_collection_to_dict("out")
    assert sorted(outputs) == ["Conv", "conv1/conv1_1", "conv1/conv1_2",
                               "fc/fc_1", "fc/fc_2", "logits"]
    assert outputs["logits"] is h and h.name == "logits/BiasAdd:0"
    assert outputs["conv1/conv1_1"].name == "conv1/conv1_1/Relu:0"
    graph.get_operation_by_name("pool1/MaxPool")
    assert run(h, {x: numbers(2, 8, 8, 3)}).shape == (2, 2)
    assert names(slim.get_variables_to_restore(
        include=["conv1", "logits"], exclude=["conv1/conv1_2"])) == [
        "conv1/conv1_1/weights:0", "conv1/conv1_1/biases:0",
        "logits/weights:0", "logits/biases:0"]
    assert names(slim.get_variables_by_name("biases", "fc")) == [
        "fc/fc_1/biases:0", "fc/fc_2/biases:0"]
    assert slim.get_unique_variable("logits/weights").name == (
        "logits/weights:0")
    assert names(slim.filter_variables(tf.global_variables(), ["fc_"],
                                       ["biases"])) == [
        "fc/fc_1/weights:0", "fc/fc_2/weights:0"]
    numbers_, size = slim.model_analyzer.analyze_vars(
        slim.get_variables("logits"))
    assert (numbers_, size) == (16, 64)


def test_reuse():
    x = tf.ones([2, 3])
    a = layers.fully_connected(x, 4, scope="fc")
    b = layers.fully_connected(x, 4, scope="fc", reuse=True)
    with pytest.raises(ValueError, match="already exists"):
        layers.fully_connected(x, 4, scope="fc")
    assert len(tf.global_variables()) == 2
    first, second = run([a, b])
    assert (first == second).all()


def test_fully_connected():
    x, w = numbers(2, 3), numbers(3, 4)
    y = layers.fully_connected(
        x, 4, weights_initializer=tf.constant_initializer(w),
        biases_initializer=tf.constant_initializer(0.5),
        variables_collections={"weights": ["w"], "biases": ["b"]})
    np.testing.assert_allclose(run(y), np.maximum(x @ w + 0.5, 0), rtol=1e-5)
    assert names(tf.get_collection("w")) == ["fully_connected/weights:0"]
    assert names(tf.get_collection("b")) == ["fully_connected/biases:0"]
    y = layers.fully_connected(x, 4, biases_initializer=None)
    assert y.op.inputs[0].op.type == "MatMul"
    with pytest.raises(ValueError, match="num_outputs type should be int"):
        layers.fully_connected(x, 4.)


def test_separable_and_transposed():
    x = numbers(1, 5, 5, 2)
    one = tf.ones_initializer()
    y = slim.separable_conv2d(x, None, 3, padding="VALID", activation_fn=None,
                              weights_initializer=one)
    windows = np.stack([x[:, i:i + 3, j:j + 3] for i in range(3)
                        for j in range(3)])
    np.testing.assert_allclose(run(y), windows.sum(0), rtol=1e-4, atol=1e-5)
    y = slim.separable_conv2d(x, 2, 3, padding="VALID", activation_fn=None,
                              weights_initializer=one)
    np.testing.assert_allclose(
        run(y)[..., 0], windows.sum(0).sum(-1), rtol=1e-4, atol=1e-5)
    assert slim.conv2d_transpose(x, 3, 3, stride=2).get_shape().as_list() == [
        1, 10, 10, 3]


@pytest.mark.parametrize("shape", [(6, 5), (3, 4, 4, 5)])
@pytest.mark.parametrize("updates", [tf.GraphKeys.UPDATE_OPS, None, "mine"])
@pytest.mark.parametrize("known", [True, False])
def test_batch_norm(shape, updates, known):
    x = numbers(*shape) * 2 + 1
    training = True if known else tf.placeholder(tf.bool, [])
    y = slim.batch_norm(x, decay=0.5, is_training=training,
                        updates_collections=updates)
    assert names(tf.global_variables()) == [
        "BatchNorm/beta:0", "BatchNorm/moving_mean:0",
        "BatchNorm/moving_variance:0"]
    pending = tf.get_collection(updates) if updates else []
    assert len(pending) == (2 if updates else 0)
    axes = tuple(range(len(shape) - 1))
    count = x.size // shape[-1]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got, _ = session.run([y, pending], {} if known else {training: True})
        np.testing.assert_allclose(
            got, (x - x.mean(axes)) / np.sqrt(x.var(axes) + 1e-3), rtol=1e-3,
            atol=1e-4)
        mean, variance = session.run(tf.global_variables()[1:])
        np.testing.assert_allclose(mean, x.mean(axes) / 2, rtol=1e-4)
        np.testing.assert_allclose(
            variance, 0.5 + 0.5 * x.var(axes) * count / (count - 1), rtol=1e-4)
        if not known:
            got, _ = session.run([y, pending], {training: False})
            np.testing.assert_allclose(
                got, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-3,
                atol=1e-4)
            after = session.run(tf.global_variables()[1:])
            np.testing.assert_allclose(after, [mean, variance])


@pytest.mark.parametrize("shape, axis", [
    ((4, 5), -1), ((4, 3, 5), -1), ((4, 2, 2, 5), -1), ((4, 2, 2, 2, 5), -1),
    ((4, 5, 3), 1)])
@pytest.mark.parametrize("updates", [tf.GraphKeys.UPDATE_OPS, None, "mine"])
@pytest.mark.parametrize("weights", [None, [1., 2., 0., 1.]])
def test_batch_norm_in_parts(shape, axis, updates, weights):
    x = numbers(*shape) * 2 + 1
    training = tf.placeholder(tf.bool, [])
    y = slim.batch_norm(
        x, decay=0.5, is_training=training, updates_collections=updates,
        fused=False, data_format="NHWC" if axis == -1 else "NCHW",
        batch_weights=weights)
    assert [v.shape.as_list() for v in tf.global_variables()] == [[5]] * 3
    pending = tf.get_collection(updates) if updates else []
    assert len(pending) == (2 if updates else 0)
    axes = tuple(i for i in range(len(shape)) if i != axis % len(shape))
    heavy = np.broadcast_to(np.reshape(
        [1.] * 4 if weights is None else weights,
        (-1,) + (1,) * (len(shape) - 1)), shape)
    mean = np.average(x, axes, heavy)
    wide = [5 if i == axis % len(shape) else 1 for i in range(len(shape))]
    variance = np.average((x - mean.reshape(wide)) ** 2, axes, heavy)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for used, known in (((mean, variance), True), (
                (mean / 2, .5 + variance / 2), False)):
            got, _ = session.run([y, pending], {training: known})
            m, v = [n.reshape(wide) for n in used]
            np.testing.assert_allclose(got, (x - m) / np.sqrt(v + 1e-3),
                                       rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(6, 5), (3, 4, 5), (3, 4, 4, 5)])
@pytest.mark.parametrize("updates", [tf.GraphKeys.UPDATE_OPS, None])
def test_batch_norm_without_the_bias_of_zeros(shape, updates):
    x = numbers(*shape) * 2 + 1
    y = slim.batch_norm(x, decay=0.5, updates_collections=updates,
                        zero_debias_moving_mean=True)
    assert names(tf.global_variables()) == ["BatchNorm/" + name for name in (
        "beta:0", "moving_mean:0", "moving_variance:0",
        "BatchNorm/moving_mean/biased:0", "BatchNorm/moving_mean/local_step:0")]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([y, tf.get_collection("update_ops")])
        np.testing.assert_allclose(
            session.run(tf.global_variables()[1]),
            x.mean(tuple(range(len(shape) - 1))), rtol=1e-4)


def test_batch_norm_passes_on_what_its_layer_does():
    x = numbers(6, 5)
    slim.batch_norm(x, renorm=True, renorm_decay=.5, scope="a")
    assert names(tf.global_variables()) == ["a/" + name for name in (
        "beta:0", "moving_mean:0", "moving_variance:0", "moving_stddev:0",
        "renorm_mean:0", "renorm_stddev:0")]
    y = slim.batch_norm(x, adjustment=lambda shape: (2., 1.))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection("update_ops"))
        np.testing.assert_allclose(session.run(tf.global_variables()[4]),
                                   x.mean(0) / 2, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(
            session.run(y), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3) * 2 + 1,
            rtol=1e-3, atol=1e-4)


def test_layer_norm():
    x = numbers(3, 4, 5)
    y = layers.layer_norm(x, begin_norm_axis=1)
    flat = x.reshape(3, -1)
    wanted = ((flat - flat.mean(1, keepdims=True))
              / flat.std(1, keepdims=True)).reshape(x.shape)
    np.testing.assert_allclose(run(y), wanted, rtol=1e-3, atol=1e-4)
    assert names(tf.trainable_variables()) == ["LayerNorm/beta:0",
                                               "LayerNorm/gamma:0"]
    with pytest.raises(ValueError, match="must be < rank"):
        layers.layer_norm(x, begin_norm_axis=3)


def test_small_layers():
    x = numbers(2, 3, 4)
    e = np.exp(x)
    np.testing.assert_allclose(run(slim.softmax(tf.constant(x))),
                               e / e.sum(-1, keepdims=True), rtol=1e-5)
    assert run(layers.one_hot_encoding([1, 0], 3, on_value=2.)).tolist() == [
        [0, 2, 0], [2, 0, 0]]
    np.testing.assert_allclose(
        run(layers.unit_norm(tf.constant(x), 2)),
        x / np.linalg.norm(x, axis=2, keepdims=True), rtol=1e-4)


def test_regularizers():
    w = tf.constant([[1., -2.], [3., 0.]])
    assert run([layers.l1_regularizer(0.5)(w), layers.l2_regularizer(0.5)(w),
                layers.l1_l2_regularizer(0.5, 0.5)(w)]) == [3., 3.5, 6.5]
    assert layers.l2_regularizer(0.)(w) is None
    total = layers.apply_regularization(layers.l1_regularizer(1.), [w, w])
    assert run(total) == 12
    assert tf.losses.get_regularization_losses() == [total]
    for make, message in (
            (lambda: layers.l1_regularizer(1), "cannot be an integer"),
            (lambda: layers.l2_regularizer(-1.), "less than 0"),
            (lambda: layers.apply_regularization(layers.l1_regularizer(1.)),
             "No weights to regularize")):
        with pytest.raises(ValueError, match=message):
            make()


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("mode, n", [("FAN_IN", 40), ("FAN_OUT", 80),
                                     ("FAN_AVG", 60)])
def test_initializers(uniform, mode, n):
    make = layers.variance_scaling_initializer(
        factor=2.0, mode=mode, uniform=uniform, seed=1)
    values = run(make([2, 2, 10, 20], tf.float32))
    if uniform:
        limit = np.sqrt(6 / n)
        assert values.max() <= limit and values.min() >= -limit
    assert abs(values.std() / np.sqrt(2 / n) - 1) < 0.15
    assert run(layers.xavier_initializer()([3, 4])).shape == (3, 4)
    with pytest.raises(TypeError, match="Unknown mode"):
        layers.variance_scaling_initializer(mode="IN")


def test_arg_scope():
    framework = tf.contrib.framework

    @framework.add_arg_scope
    def f(a, b=1, c=2):
        return a, b, c

    def plain(a):
        return a
    with framework.arg_scope([f], b=5) as outer:
        assert f(0) == (0, 5, 2) and f(0, b=7) == (0, 7, 2)
        with framework.arg_scope([f], c=6):
            assert f(0) == (0, 5, 6)
        assert f(0) == (0, 5, 2)
    assert f(0) == (0, 1, 2)
    with framework.arg_scope(outer):
        assert f(0) == (0, 5, 2)
    assert framework.has_arg_scope(f) and not framework.has_arg_scope(plain)
    assert framework.arg_scoped_arguments(f) == ("b", "c")
    with pytest.raises(ValueError, match="not decorated with @add_arg_scope"):
        with framework.arg_scope([plain], a=1):
            pass
    with pytest.raises(TypeError, match="list/tuple"):
        with framework.arg_scope(f, b=1):
            pass
    with pytest.raises(ValueError, match="kwargs must be empty"):
        with framework.arg_scope(outer, b=1):
            pass
    assert f(0) == (0, 1, 2)


def test_summaries_of_activations():
    relu = tf.nn.relu(tf.constant([[-1., 2.]]))
    layers.summarize_activation(relu)
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 2
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, relu)
    assert len(layers.summarize_activations()) == 1
    assert layers.summarize_tensor(tf.constant("x")) is None


@pytest.mark.parametrize("make, variables", [
    (lambda: tf.contrib.rnn.LayerNormBasicLSTMCell(3), 11),
    (lambda: tf.contrib.rnn.LayerNormBasicLSTMCell(3, layer_norm=False), 2),
    (lambda: tf.contrib.rnn.NASCell(3), 2),
    (lambda: tf.contrib.rnn.NASCell(3, num_proj=2, use_bias=True), 4)])
def test_cells(make, variables):
    cell = make()
    outputs, state = tf.nn.dynamic_rnn(cell, numbers(2, 4, 5),
                                       dtype=tf.float32)
    assert len(cell.trainable_weights) == variables
    got, last = run([outputs, state])
    assert np.isfinite(got).all() and got[:, -1].any()
    np.testing.assert_allclose(got[:, -1], last.h)


def test_a_normalised_lstm_without_norm_is_the_basic_one():
    x = tf.constant(numbers(2, 5))
    plain = tf.nn.rnn_cell.BasicLSTMCell(3)
    cell = tf.contrib.rnn.LayerNormBasicLSTMCell(3, layer_norm=False)
    state = plain.zero_state(2, tf.float32)
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.1)):
        (a, _), (b, _) = plain(x, state), cell(x, state)
    first, second = [v for v in tf.global_variables() if "bias" in v.name]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        second.load([0.] * 12)
        first.load([0.] * 12)
        np.testing.assert_allclose(*session.run([a, b]), rtol=1e-5)


def test_metrics_with_the_predictions_first():
    values, updates = slim.metrics.aggregate_metric_map({
        "precision": tf.contrib.metrics.streaming_precision([1, 1], [1, 0]),
        "recall": tf.contrib.metrics.streaming_recall([1, 0], [1, 1]),
        "accuracy": tf.contrib.metrics.streaming_accuracy([1, 2], [1, 2]),
        "mean": slim.metrics.streaming_mean([1., 3.])})
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        assert session.run(values) == {"precision": 0.5, "recall": 0.5,
                                       "accuracy": 1, "mean": 2}


def test_hparams():
    params = tf.contrib.training.HParams(rate=0.1, units=[2, 3], name="x",
                                         deep=True, steps=3)
    assert params.rate == 0.1 and "units" in params and "size" not in params
    params.parse("rate=2,units=[5,6],units[1]=7,name=some text,deep=false")
    assert params.values() == {"rate": 2.0, "units": [5, 7], "steps": 3,
                               "name": "some text", "deep": False}
    assert type(params.rate) is float
    params.parse_json(params.to_json())
    assert params.get("steps") == 3 and params.get("none", 5) == 5
    params.add_hparam("more", 1)
    params.del_hparam("more")
    assert not hasattr(params, "more")


@pytest.mark.parametrize("call, message", [
    (lambda p: p.add_hparam("rate", 1), "name is reserved: rate"),
    (lambda p: p.add_hparam("new", []), "cannot be empty"),
    (lambda p: p.set_hparam("units", 3), "Must pass a list"),
    (lambda p: p.set_hparam("rate", [3.]), "Must not pass a list"),
    (lambda p: p.set_hparam("steps", 3.5), "Could not cast hparam 'steps'"),
    (lambda p: p.set_hparam("steps", "3"), "Could not cast hparam 'steps'"),
    (lambda p: p.parse("other=3"), "Unknown hyperparameter type for other"),
    (lambda p: p.parse("steps=three"), "Could not parse hparam 'steps'"),
    (lambda p: p.parse("=3"), "Malformed"),
    (lambda p: p.parse("units[9]=3"), "2 values, got index 9")])
def test_hparams_refuse(call, message):
    params = tf.contrib.training.HParams(rate=0.1, units=[2, 3], steps=3)
    with pytest.raises(ValueError, match=message):
        call(params)


@pytest.mark.parametrize("options", [
    dict(updates_collections=None), dict(batch_weights=[1., 2.]),
    dict(zero_debias_moving_mean=True)])
def test_batch_norm_refuses_renorm_with(options):
    with pytest.raises(ValueError, match="renorm is not supported with batch_w"):
        slim.batch_norm(tf.ones([2, 3]), renorm=True, **options)


# Values of TensorFlow 1.15.5.
@pytest.mark.parametrize("weights, wanted", [
    (2., 11.), ([1., 0.], 2.5), ([[1., 0., 2.], [0., 0., 1.]], 20 / 3),
    ([[1.], [2.]], 9.75), (np.ones((2, 3, 2), np.float32), 5.5),
    ([[[1.], [2.], [0.]], [[0.], [0.], [0.]]], 2.75), ([[[1., 2.]]], 51.)])
def test_weights_of_the_first_dimensions_of_losses(weights, wanted):
    losses = tf.contrib.losses
    x = tf.constant(np.arange(12.).reshape(2, 3, 2), tf.float32)
    found = [losses.compute_weighted_loss(x, weights),
             losses.absolute_difference(x, tf.zeros_like(x), weights)]
    assert names(losses.get_losses()) == ["weighted_loss/value:0",
                                          "absolute_difference/value:0"]
    assert losses.get_losses() == found
    np.testing.assert_allclose(run(found), [wanted] * 2, rtol=1e-6)


@pytest.mark.parametrize("make, wanted", [
    (lambda c, p, l: c.mean_pairwise_squared_error(p, l, 2.3), 318.93333),
    (lambda c, p, l: c.mean_squared_error(p, l, [1., 0.]), 110 / 3),
    (lambda c, p, l: c.cosine_distance(p, l, 1, [1., 0.]), -99.),
    (lambda c, p, l: c.softmax_cross_entropy(p, [[1., 0, 0], [0, 1, 0]], [
        [0.], [1.]]), 7.0076),
    (lambda c, p, l: c.sparse_softmax_cross_entropy(p, [[0], [1]], [0., 1.]),
     7.0076),
    (lambda c, p, l: c.sigmoid_cross_entropy(p, tf.ones_like(p), [0., 1.]),
     (0.00033541 + 0.31326169 + 0.04858735) / 3)])
def test_losses_of_contrib(make, wanted):
    x = tf.constant([[4., 8., 12.], [8., 1., 3.]])
    labels = tf.constant([[1., 9., 2.], [-5., -5., 7.]])
    np.testing.assert_allclose(run(make(tf.contrib.losses, x, labels)), wanted,
                               rtol=1e-4)


def test_weights_of_losses_are_refused():
    losses = tf.contrib.losses
    with pytest.raises(ValueError, match="have more dimensions than losses"):
        losses.compute_weighted_loss(tf.ones([3]), tf.ones([3, 3]))
    unknown = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="losses.get_shape.*cannot be None"):
        losses.compute_weighted_loss(unknown)
    with pytest.raises(ValueError, match="weights.get_shape.*cannot be None"):
        losses.compute_weighted_loss(tf.ones([3]), unknown)


def test_aliases_are_an_attribute_of_tensors():
    layers = tf.contrib.layers
    x = tf.constant(1., name="x")
    utils = layers.utils if hasattr(layers, "utils") else slim.utils
    assert utils.get_tensor_aliases(x) == ["x"] and not hasattr(x, "aliases")
    utils.append_tensor_alias(x, "a/")
    utils.append_tensor_alias(x, "b")
    assert x.aliases == utils.get_tensor_aliases(x) == ["a", "b"]


@pytest.mark.parametrize("shape, size, kind, wanted", [
    ((1, 4, 1), 2, "MAX", [1, 3]), ((1, 4, 1), [2], "AVG", [.5, 2.5]),
    ((1, 2, 2, 1), 2, "MAX", [3]), ((1, 1, 2, 2, 1), [1, 2, 2], "AVG", [1.5])])
def test_pools_of_any_rank(shape, size, kind, wanted):
    x = tf.reshape(tf.range(4.), shape)
    y = slim.pool(x, size, kind, stride=size, outputs_collections="pools")
    assert run(y).ravel().tolist() == wanted
    assert y.aliases == [kind.lower() + "_pool"] and y in tf.get_collection(
        "pools")


@pytest.mark.parametrize("shape, words", [
    (None, "Rank of inputs must be known"), ([2, 3], "must be >= 3")])
def test_what_a_pool_refuses(shape, words):
    with pytest.raises(ValueError, match=words):
        slim.pool(tf.placeholder(tf.float32, shape), 2, "MAX")


def test_images_as_sequences_and_back():
    a = numbers(2, 3, 4, 5)
    x = tf.placeholder(tf.float32, [None, None, 4, 5])
    for images, layout in ((x, "NHWC"), (tf.transpose(x, [0, 3, 1, 2]), "NCHW")):
        rows = slim.images_to_sequence(images, layout)
        assert rows.shape.as_list() == [4, None, 5]
        back = slim.sequence_to_images(rows, 3)
        first = slim.sequence_to_images(rows, 3, "channels_first")
        with tf.Session() as session:
            made, again, swapped = session.run([rows, back, first], {x: a})
        np.testing.assert_array_equal(
            made, a.transpose(2, 0, 1, 3).reshape(4, 6, 5))
        np.testing.assert_array_equal(again, a)
        np.testing.assert_array_equal(swapped, a.transpose(0, 3, 1, 2))
    with pytest.raises(ValueError, match="either NCHW or NHWC"):
        slim.images_to_sequence(x, "CHWN")


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("temperature", [None, 0.5])
def test_where_channels_are_large(layout, temperature):
    a = numbers(2, 3, 4, 5)
    y = slim.spatial_softmax(
        a if layout == "NHWC" else a.transpose(0, 3, 1, 2), temperature,
        data_format=layout)
    (v,) = tf.global_variables()
    assert v.op.name == "spatial_softmax/temperature"
    shares = np.exp(a / (temperature or 1.))
    shares /= shares.sum((1, 2), keepdims=True)
    rows = (shares * np.linspace(-1, 1, 3)[:, None, None]).sum((1, 2))
    columns = (shares * np.linspace(-1, 1, 4)[:, None]).sum((1, 2))
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_allclose(
            session.run(y), np.stack([rows, columns], -1).reshape(2, 10),
            rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (2, 4, 3)])
def test_fully_connected_by_its_first_names(shape):
    a, layers = numbers(*shape), tf.contrib.layers
    one = tf.ones_initializer()
    made = [layers.legacy_fully_connected(a, 2, weight_init=one, bias_init=one),
            layers.legacy_relu(a, 2, weight_init=one),
            layers.legacy_linear(a, 2, weight_init=one, bias_init=None)]
    assert names(tf.global_variables()) == [
        "fully_connected/weights:0", "fully_connected/bias:0",
        "fully_connected_1/weights:0", "fully_connected_1/bias:0",
        "fully_connected_2/weights:0"]
    assert len(tf.get_collection(tf.GraphKeys.WEIGHTS)) == 3
    assert tf.get_collection(tf.GraphKeys.ACTIVATIONS) == made
    sums = np.repeat(a.sum(-1, keepdims=True), 2, -1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for found, wanted in zip(session.run(made), (
                sums + 1, np.maximum(sums, 0), sums)):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    for wrong, words in (([3], "at least 2 not: 1"), (None, "dims of x must"),
                         ([2, None], "last dimension of x must")):
        with pytest.raises(ValueError, match=words):
            layers.legacy_linear(tf.placeholder(tf.float32, wrong), 2)
