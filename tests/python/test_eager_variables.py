"""Variables that have their values: what is written and read, how long they
live, stores, checkpoints."""
import copy
import gc
import os

import numpy as np
import pytest

import headrace as tf
from headrace._src.eager import context


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


WRITES = [
    (lambda v: v.assign([3., 4.]), [3, 4]),
    (lambda v: v.assign_add([1., 1.]), [2, 3]),
    (lambda v: v.assign_sub([1., 1.]), [0, 1]),
    (lambda v: tf.assign(v, [5., 6.]), [5, 6]),
    (lambda v: tf.assign_add(v, [1., 2.]), [2, 4]),
    (lambda v: v[0].assign(7.), [7, 2]),
    (lambda v: v.scatter_update(tf.IndexedSlices(
        tf.constant([9.]), tf.constant([1]))), [1, 9]),
    (lambda v: tf.scatter_update(v, [0], [8.]), [8, 2]),
    (lambda v: v.scatter_nd_add([[1]], [1.]), [1, 3]),
]


@pytest.mark.parametrize("case", range(len(WRITES)))
def test_writes(case):
    write, wanted = WRITES[case]
    v = tf.Variable([1., 2.])
    written = write(v)
    np.testing.assert_array_equal(v.numpy(), wanted)
    np.testing.assert_array_equal(written.numpy(), wanted)
    assert "'UnreadVariable' shape=(2,)" in repr(written)
    assert v.assign([0., 0.], read_value=False) is None


def test_what_a_variable_is():
    v = tf.Variable(2., name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=2.0>"
    assert isinstance(v, tf.contrib.eager.Variable) and v.trainable
    assert [float(x) for x in (v + 1, v * v, 1 - v, -v, v ** 2)] == [
        3, 4, -1, -2, 4]
    assert int(v) == 2 and bool(v) and float(v.value()) == 2
    assert v in {v} and v.initializer is None
    assert tf.is_variable_initialized(v).numpy()
    assert tf.global_variables() == tf.trainable_variables() == []
    other = copy.deepcopy(v)
    v.assign(5.)
    assert float(other.numpy()) == 2
    for wrong, error in ((lambda: v.eval(), RuntimeError),
                         (lambda: v.initial_value, RuntimeError),
                         (lambda: v.to_proto(), RuntimeError),
                         (lambda: v.graph, AttributeError),
                         (lambda: v.assign([1.]), ValueError),
                         (lambda: tf.Variable(), ValueError)):
        with pytest.raises(error):
            wrong()
    with pytest.raises(RuntimeError, match="Use variable.assign_add"):
        v += 1


def test_names_and_scopes():
    with tf.name_scope("a"):
        assert tf.Variable(1.).name == "a/Variable:0"
    with tf.variable_scope("s"):
        first = tf.get_variable("x", [2])
        second = tf.get_variable("x", [2])
    assert first.name == second.name == "s/x:0" and first is not second
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step


def test_a_variable_frees_its_value():
    v = tf.Variable(np.ones(10))
    handle = v.handle._copy()
    read = tf.raw_ops.ReadVariableOp(handle, dtype=tf.float64)
    assert read.shape.as_list() == [10]
    del v
    gc.collect()
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.raw_ops.ReadVariableOp(handle, dtype=tf.float64)


def test_a_store_shares_variables():
    store = tf.contrib.eager.EagerVariableStore()

    def network(x):
        return tf.layers.dense(x, 2, name="dense")
    with store.as_default():
        first, second = (network(tf.ones([1, 3])) for _ in range(2))
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    assert [v.name for v in store.trainable_variables()] == [
        "dense/bias:0", "dense/kernel:0"]
    other = store.copy()
    store.variables()[0].assign([1., 1.])
    assert other.variables()[0].numpy().tolist() == [0, 0]
    template = tf.make_template("t", lambda x: x * tf.get_variable(
        "w", [], initializer=tf.ones_initializer()))
    template(1.), template(2.)
    assert len(template.variables) == 1


def test_a_saver(tmp_path):
    a, b = tf.Variable(1., name="a"), tf.Variable([1, 2], name="b")
    for saver in (tf.train.Saver([a, b]), tf.contrib.eager.Saver([a, b])):
        args = (None,) if isinstance(saver, tf.train.Saver) else ()
        path = saver.save(*args, str(tmp_path / "s"), global_step=3)
        assert os.path.basename(path) == "s-3"
        a.assign(9.)
        saver.restore(*args, path)
        assert float(a.numpy()) == 1
    assert tf.train.list_variables(path) == [("a", []), ("b", [2])]
    with tf.contrib.eager.restore_variables_on_create(path):
        assert float(tf.Variable(0., name="a").numpy()) == 1
        assert float(tf.Variable(0., name="c").numpy()) == 0


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.layer = tf.keras.layers.Dense(2)

    def call(self, inputs):
        return self.layer(inputs)


def train(net, optimizer):
    optimizer.minimize(lambda: tf.reduce_sum(net(tf.ones([1, 3])) ** 2))


def test_what_is_made_after_restoring_gets_its_values(tmp_path):
    net, optimizer = Net(), tf.train.AdamOptimizer(0.1)
    train(net, optimizer)
    made = tf.train.Checkpoint(net=net, optimizer=optimizer,
                               step=tf.Variable(3))
    path = made.save(str(tmp_path / "ckpt"))
    assert os.path.basename(path) == "ckpt-1"
    other, second = Net(), tf.train.AdamOptimizer(0.1)
    later = tf.train.Checkpoint(net=other, optimizer=second,
                                step=tf.Variable(0))
    status = later.restore(path)
    assert int(later.step.numpy()) == 3 and int(later.save_counter.numpy()) == 1
    with pytest.raises(AssertionError):
        status.assert_consumed()
    other(tf.ones([1, 3]))
    np.testing.assert_array_equal(other.layer.kernel.numpy(),
                                  net.layer.kernel.numpy())
    train(net, optimizer), train(other, second)
    status.assert_consumed()
    np.testing.assert_allclose(other.layer.kernel.numpy(),
                               net.layer.kernel.numpy())


def test_a_manager_of_checkpoints(tmp_path):
    v = tf.Variable(1.)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v),
                                         str(tmp_path), 2)
    assert [os.path.basename(manager.save()) for _ in range(3)] == [
        "ckpt-1", "ckpt-2", "ckpt-3"]
    assert [os.path.basename(p) for p in manager.checkpoints] == [
        "ckpt-2", "ckpt-3"]
    v.assign(5.)
    manager._checkpoint.restore(manager.latest_checkpoint)
    assert float(v.numpy()) == 1


def test_moving_averages():
    v, average = tf.Variable(1.), tf.train.ExponentialMovingAverage(0.5)
    average.apply([v])
    v.assign(3.)
    average.apply([v])
    assert float(average.average(v).numpy()) == 2


# What TensorFlow 1.15.5 has after three steps from [1, 2] down to sum(w * w).
OPTIMIZERS = [
    (lambda: tf.train.GradientDescentOptimizer(0.1), [0.512, 1.024]),
    (lambda: tf.train.MomentumOptimizer(0.1, 0.9), [0.062, 0.124]),
    (lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9), [0.062, 0.124]),
    (lambda: tf.train.AdamOptimizer(0.1), [0.7015, 1.7006]),
    (lambda: tf.keras.optimizers.Adam(0.1), [0.7015, 1.7006]),
    (lambda: tf.train.GradientDescentOptimizer(lambda: 0.1), [0.512, 1.024]),
    (lambda: tf.train.GradientDescentOptimizer(tf.Variable(0.1)),
     [0.512, 1.024]),
]


@pytest.mark.parametrize("case", range(len(OPTIMIZERS)))
def test_optimizers(case):
    make, wanted = OPTIMIZERS[case]
    optimizer, w = make(), tf.Variable([1., 2.])
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(w * w), var_list=[w])
    np.testing.assert_allclose(w.numpy(), wanted, rtol=1e-3)


def test_optimizers_need_functions():
    optimizer, w = tf.train.AdamOptimizer(0.1), tf.Variable([1., 2.])
    with pytest.raises(RuntimeError, match="should be a function when eager"):
        optimizer.minimize(tf.reduce_sum(w))
    rows = tf.Variable(tf.ones([4, 2]))
    pairs = optimizer.compute_gradients(
        lambda: tf.reduce_sum(tf.nn.embedding_lookup(rows, [0, 2]) ** 2))
    assert isinstance(pairs[0][0], tf.IndexedSlices)
    step = tf.train.get_or_create_global_step()
    optimizer.apply_gradients(pairs, global_step=step)
    assert (rows.numpy() < 1).tolist() == [[True] * 2, [False] * 2] * 2
    assert int(step.numpy()) == 1
    assert optimizer.get_slot(rows, "m").shape.as_list() == [4, 2]
