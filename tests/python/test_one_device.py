"""tf.distribute's strategies on one device, as TensorFlow 1.15.5 has them on a
machine without GPUs. test_mirrored.py has those of several."""
import numpy as np
import pytest

import headrace as tf

CPU = "/replica:0/task:0/device:CPU:0"
STRATEGIES = [lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
              tf.distribute.MirroredStrategy,
              lambda: tf.distribute.MirroredStrategy(["/cpu:0"])]


@pytest.fixture(params=STRATEGIES)
def strategy(request):
    with tf.Graph().as_default():
        yield request.param()
    assert not tf.distribute.has_strategy()
    assert tf.distribute.get_replica_context() is not None


def test_scope(strategy):
    d = tf.distribute
    assert strategy.num_replicas_in_sync == 1
    assert strategy.extended.worker_devices == (CPU,)
    assert strategy.extended.parameter_devices == (CPU,)
    assert not d.has_strategy() and not d.in_cross_replica_context()
    with strategy.scope() as entered:
        assert entered is d.get_strategy() is strategy
        assert d.has_strategy() and d.in_cross_replica_context()
        assert d.get_replica_context() is None
        for v in (tf.Variable(2., name="v"), tf.get_variable("w", [2])):
            assert v.device == CPU and v.op.type == "VarHandleOp"
        assert v.name == "w:0" and tf.constant(1.).device == ""
        with strategy.scope():
            pass
        with pytest.raises(RuntimeError, match="Mixing different tf.distr"):
            with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
                pass
        assert d.get_strategy() is strategy


def test_replica(strategy):
    seen = []

    def step(x, scale):
        context = tf.distribute.get_replica_context()
        seen.append((context.strategy, context.devices,
                     context.num_replicas_in_sync,
                     tf.distribute.in_cross_replica_context()))
        product = x * scale * v
        assert product.device == CPU
        return context.merge_call(lambda s, y: s.reduce("sum", y),
                                  args=(product,))

    with strategy.scope():
        v = tf.Variable(2., name="v")
    result = strategy.experimental_run_v2(step, (tf.constant(3.),),
                                          {"scale": 5.})
    assert seen == [(strategy, (CPU,), 1, False)]
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN,
                            tf.constant([1., 3.]), axis=0)
    added = strategy.extended.update(v, lambda v, x: v.assign_add(x), (1.,))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([result, total]) == [30, 2]
        session.run(added)
        assert session.run(v) == 3


def test_iterators_and_training(strategy):
    with strategy.scope():
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        optimizer = tf.train.GradientDescentOptimizer(.1)
        dataset = tf.data.Dataset.from_tensor_slices([1., 2.]).batch(1)
        iterator = strategy.make_dataset_iterator(dataset)
        other = strategy.make_input_fn_iterator(lambda context: dataset)

        def step(x):
            loss = tf.reduce_sum(tf.square(w * x))
            with tf.control_dependencies([optimizer.minimize(loss)]):
                return tf.identity(loss)
        loss = strategy.experimental_run(step, iterator)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run([iterator.initialize(), other.initializer])
            assert session.run(other.get_next()).tolist() == [1]
            np.testing.assert_allclose(session.run(loss), 1)
            np.testing.assert_allclose(session.run(w), .8)
            np.testing.assert_allclose(session.run(loss), 2.56)


def test_keras_model(strategy):
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,),
                                                           use_bias=False)])
        model.compile(tf.keras.optimizers.SGD(.1), "mse")
    x = np.eye(2, dtype=np.float32)
    model.set_weights([np.float32([[1], [2]])])
    history = model.fit(x, x[:, :1], epochs=2, batch_size=2, verbose=0)
    np.testing.assert_allclose(history.history["loss"], [2, 1.62], rtol=1e-6)


@pytest.mark.parametrize("make, error, match", [
    (lambda: tf.distribute.OneDeviceStrategy("x"), ValueError,
     "Unknown attribute: 'x'"),
    (lambda: tf.distribute.MirroredStrategy("/cpu:0"), ValueError,
     "must be a list of names, got '/cpu:0'"),
    (lambda: tf.distribute.MirroredStrategy(["/cpu:0", "cpu:0"]),
     AssertionError, "No duplicates allowed"),
    (lambda: tf.distribute.MirroredStrategy(["/cpu:0"], "nccl"), TypeError,
     "cross_device_ops must be .* got 'nccl'")])
def test_refusals(make, error, match):
    with pytest.raises(error, match=match):
        make()
