"""tf.distribute with one replica, as TensorFlow 1.15.5 has it by default."""
import pytest

import headrace as tf
from headrace import _names

distribute = tf.distribute
strategy = distribute.get_strategy()


def replica():
    return distribute.get_replica_context()


def test_what_there_is_without_a_strategy():
    assert not distribute.has_strategy()
    assert not distribute.in_cross_replica_context()
    assert isinstance(strategy, distribute.Strategy)
    assert strategy.num_replicas_in_sync == replica().num_replicas_in_sync == 1
    assert replica().strategy is distribute.get_strategy() is strategy
    assert replica().replica_id_in_sync_group == 0
    assert distribute.get_loss_reduction() is distribute.ReduceOp.SUM
    with strategy.scope() as entered:
        assert entered is strategy and replica() is not None
    for what in ("worker_devices", "parameter_devices"):
        with pytest.raises(RuntimeError, match=what + r"\(\) method unsupp"):
            getattr(strategy.extended, what)


def test_replicas_merge_and_part_again():
    def of_replica(x):
        assert replica() is not None
        return x + 1

    def merged(given, x, y):
        assert given is strategy and replica() is None
        assert distribute.in_cross_replica_context()
        return given.experimental_run_v2(of_replica, (x,)) * y
    assert replica().merge_call(merged, (2,), {"y": 5}) == 15
    assert replica() is not None
    with pytest.raises(ZeroDivisionError):
        replica().merge_call(lambda _: 1 // 0)
    assert replica() is not None


def test_a_library_requires_its_replica():
    require = _names.load("distribute.strategy").require_replica_context
    require(replica())
    with pytest.raises(RuntimeError, match="call_for_each_replica"):
        replica().merge_call(lambda _: require(object()))


def test_values_of_one_replica():
    t = tf.constant([1., 2.])
    v = tf.Variable(1.)
    with tf.Session() as session:
        session.run(v.initializer)
        assert strategy.reduce("sum", t) is t
        assert session.run([strategy.reduce("SUM", t, axis=0), strategy.reduce(
            distribute.ReduceOp.MEAN, t, 0)]) == [3, 1.5]
        found = session.run(replica().all_reduce("MEAN", {"a": t, "b": [t]}))
        assert found["a"].tolist() == found["b"][0].tolist() == [1, 2]
        assert strategy.experimental_local_results(t) == (t,)
        assert strategy.group(t) is t.op
        extended = strategy.extended
        assert session.run(extended.update(
            v, lambda v, x: v.assign_add(x), (3.,))) == 4
        assert extended.update(v, lambda v: 5, group=False) == (5,)
        assert extended.update_non_slot([v], lambda: 5, group=False) == (5,)
        assert extended.non_slot_devices([v]) is v
        assert session.run(extended.read_var(v)) == 4


@pytest.mark.parametrize("call", [
    lambda: strategy.reduce("FOO", tf.constant(1.)),
    lambda: replica().all_reduce("x", tf.constant(1.)),
    lambda: distribute.ReduceOp.from_variable_aggregation(
        tf.VariableAggregation.NONE)])
def test_refusals(call):
    with pytest.raises(ValueError, match="ReduceOp"):
        call()


def test_data_of_one_replica():
    dataset = tf.data.Dataset.range(3)
    assert strategy.experimental_distribute_dataset(dataset) is dataset

    def make(context):
        assert context.num_input_pipelines == 1
        assert context.get_per_replica_batch_size(8) == 8
        return dataset
    assert strategy.experimental_distribute_datasets_from_function(
        make) is dataset
    iterator = strategy.make_input_fn_iterator(make)
    rows = strategy.make_dataset_iterator(
        strategy.experimental_make_numpy_dataset([5, 6]))
    with tf.Session() as session:
        session.run([iterator.initializer, rows.initializer])
        assert session.run([iterator.get_next(), rows.get_next()]) == [0, 5]
    with pytest.raises(ValueError, match="8 is not divisible by .* 3"):
        distribute.InputContext(3, 0, 3).get_per_replica_batch_size(8)
