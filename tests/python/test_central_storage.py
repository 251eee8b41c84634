"""The strategies of tf.distribute.experimental and tf.contrib.distribute, as
TensorFlow 1.15.5 has them in one process."""

import numpy as np
import pytest

import headrace as tf

CPUS = ["/cpu:0", "/cpu:1"]
CPU = "/replica:0/task:0/device:CPU:0"
A = tf.VariableAggregation
experimental, contrib = tf.distribute.experimental, tf.contrib.distribute


def session():
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def number():
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.


@pytest.mark.parametrize("aggregation, change, found", [
    (A.SUM, "assign", 3), (A.MEAN, "assign_add", 11.5),
    (A.ONLY_FIRST_REPLICA, "assign_sub", 9)])
def test_replicas_change_one_variable(aggregation, change, found):
    with tf.Graph().as_default():
        strategy = experimental.CentralStorageStrategy(CPUS, "/cpu:0")
        with strategy.scope():
            v = tf.Variable(10., aggregation=aggregation, name="v",
                            trainable=True)
        assert strategy.num_replicas_in_sync == 2
        assert strategy.extended.parameter_devices == ("/cpu:0",)
        assert tf.global_variables() == tf.trainable_variables() == [v]
        assert (v.name, v.device, strategy.unwrap(v)) == (
            "v:0", "/device:CPU:0", (v,))
        changed = strategy.experimental_run_v2(
            lambda: tf.identity(getattr(v, change)(number())))
        with session() as s:
            s.run(v.initializer)
            assert s.run(strategy.unwrap(changed)) == (found, found)
            with strategy.scope():
                assert s.run(v.assign(4.)) == 4
            assert s.run([v, v + 1.]) == [4, 5]


@pytest.mark.parametrize("devices", [CPUS, CPUS[:1]])
@pytest.mark.parametrize("make", [
    lambda: tf.train.AdamOptimizer(.1),
    lambda: tf.train.MomentumOptimizer(.1, .9)])
def test_training_is_that_of_one_device(make, devices, tmp_path):
    def build(loss_of):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        optimizer = make()
        step = tf.train.get_or_create_global_step()

        def loss(scale):
            value = tf.reduce_sum(tf.square(w * scale - [1., 3.]))
            with tf.control_dependencies([optimizer.minimize(value, step)]):
                return tf.identity(value)
        return loss_of(loss)

    def train(loss, path):
        with session() as s:
            s.run(tf.global_variables_initializer())
            for _ in range(3):
                s.run(loss)
            return tf.train.load_checkpoint(tf.train.Saver().save(s, path))
    one_scale = [[1.], [2.]] if len(devices) > 1 else [[1.]]
    with tf.Graph().as_default():
        one = train(build(lambda f: f(tf.constant(one_scale))),
                    str(tmp_path / "one"))
    with tf.Graph().as_default():
        strategy = experimental.CentralStorageStrategy(devices, "/cpu:0")
        with strategy.scope():
            loss = build(lambda f: strategy.experimental_run_v2(
                lambda: f(number())))
            two = train(strategy.unwrap(loss), str(tmp_path / "two"))
    shapes = one.get_variable_to_shape_map()
    assert shapes == two.get_variable_to_shape_map()
    for name in shapes:
        np.testing.assert_allclose(one.get_tensor(name), two.get_tensor(name),
                                   rtol=1e-5)


@pytest.mark.parametrize("make", [
    experimental.CentralStorageStrategy, experimental.ParameterServerStrategy,
    experimental.MultiWorkerMirroredStrategy,
    contrib.MirroredStrategy, contrib.ParameterServerStrategy,
    contrib.CollectiveAllReduceStrategy,
    lambda: contrib.OneDeviceStrategy("/cpu:0")])
def test_one_device_is_the_default(make):
    with tf.Graph().as_default():
        strategy = make()
        with strategy.scope():
            v = tf.Variable(1., name="v")
            assert strategy.num_replicas_in_sync == 1
            added = strategy.experimental_run_v2(
                lambda: v + tf.distribute.get_replica_context().all_reduce(
                    "sum", tf.constant(2.)))
            with strategy.extended.colocate_vars_with(v):
                assert tf.Variable(2.).device == v.device
        assert v.device in (CPU, "/device:CPU:0")
        with session() as s:
            s.run(v.initializer)
            assert s.run(added) == 3


def test_refusals():
    with tf.Graph().as_default():
        strategy = experimental.CentralStorageStrategy(CPUS)
        with strategy.scope():
            v = tf.Variable(1.)
            with pytest.raises(ValueError, match="update an? Aggreg|to update"):
                strategy.experimental_run_v2(lambda: v.assign(1.))
            with pytest.raises(ValueError, match="It must be a Variable"):
                strategy.extended.update(tf.constant(1.), lambda v: v)


def test_contrib_gives_replicas_whole_batches():
    with tf.Graph().as_default():
        strategy = contrib.MirroredStrategy(CPUS)
        iterator = strategy.make_dataset_iterator(
            tf.data.Dataset.range(6).batch(2))
        values = strategy.unwrap(iterator.get_next())
        step = contrib.StandardInputStep(
            lambda: tf.data.Dataset.range(2).batch(1), strategy)
        with session() as s:
            s.run([iterator.initialize(), step.initialize()])
            assert [v.tolist() for v in s.run(values)] == [[0, 1], [2, 3]]
            with pytest.raises(tf.errors.OutOfRangeError):
                s.run(values)
        with pytest.raises(NotImplementedError, match="in descendants"):
            contrib.Step(strategy)()


@pytest.mark.parametrize("arguments, match", [
    (dict(num_gpus=1, num_gpus_per_worker=1), "cannot specify both"),
    (dict(devices=CPUS, num_gpus=1), "one of `devices` and"),
    (dict(num_gpus=99), "num_gpus is 99, but this process has")])
def test_contrib_refuses(arguments, match):
    with pytest.raises(ValueError, match=match):
        contrib.MirroredStrategy(**arguments)
