"""What strategies of several workers are before they run: which devices and
settings TF_CONFIG gives them, the graphs that they build, and what the
coordinator tells the functions that it runs. tests/distributed/
test_multi_worker.py trains with them."""
import json

import pytest

import headrace as tf
from tensorflow_modules import tensorflow

with tensorflow():
    from tensorflow.python.distribute import (
        distribute_coordinator as coordinator,
        distribute_coordinator_context as coordinator_context,
        multi_worker_util as util)

CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1", "p:2"],
           "evaluator": ["e:1"]}
WORKERS = {"worker": ["w:1", "w:2"]}
experimental, contrib = tf.distribute.experimental, tf.contrib.distribute
CPU = "/job:%s/replica:0/task:%d/device:CPU:0"


@pytest.fixture
def config(monkeypatch):
    def put(cluster, task=None, index=0):
        value = {"cluster": cluster}
        if task is not None:
            value["task"] = {"type": task, "index": index}
        monkeypatch.setenv("TF_CONFIG", json.dumps(value))
    put({})
    return put


@pytest.mark.parametrize("cluster, task, chief, leader, count, number", [
    (CLUSTER, ("chief", 0), True, "chief", 3, 0),
    (CLUSTER, ("worker", 0), False, "chief", 3, 1),
    (CLUSTER, ("worker", 1), False, "chief", 3, 2),
    (CLUSTER, ("evaluator", 0), True, None, 1, 0),
    (WORKERS, ("worker", 0), True, "worker", 2, 0),
    (WORKERS, ("worker", 1), False, "worker", 2, 1)])
def test_tasks(cluster, task, chief, leader, count, number):
    for given in (cluster, tf.train.ClusterSpec(cluster),
                  tf.train.ClusterSpec(cluster).as_cluster_def()):
        assert util.is_chief(given, *task) is chief
        assert util.collective_leader(given, *task) == (
            "/job:%s/replica:0/task:0" % leader if leader else "")
        assert util.worker_count(given, task[0]) == count
        assert util.id_in_cluster(given, *task) == number
    assert util.collective_leader({}, *task) == ""


@pytest.mark.parametrize("cluster, task, words", [
    (CLUSTER, ("worker", 2), "`task_id` 2 exceeds the maximum id of worker"),
    (CLUSTER, ("x", 0), "Unrecognized task_type: 'x'"),
    (WORKERS, ("chief", 0), "'chief' not found in cluster_spec"),
    ({"chief": ["a:1", "b:1"]}, ("chief", 0), "at most one 'chief' job"),
    (None, ("chief", 0), "None of `cluster_spec`"),
    (3, ("chief", 0), "should be dict or a `tf.train.ClusterSpec`.*got 3")])
def test_wrong_tasks(cluster, task, words):
    for call in (lambda: util.is_chief(cluster, *task),
                 lambda: util.id_in_cluster(cluster, *task)):
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("task, index, replicas, is_chief, filters, leader", [
    ("chief", 0, 3, True, ["/job:chief/task:0"], "chief"),
    ("worker", 1, 3, False, ["/job:worker/task:1"], "chief"),
    ("evaluator", 0, 1, True, ["/job:evaluator/task:0"], None)])
@pytest.mark.parametrize("make", [
    experimental.MultiWorkerMirroredStrategy,
    contrib.CollectiveAllReduceStrategy])
def test_mirrored_workers(config, make, task, index, replicas, is_chief,
                          filters, leader):
    config(CLUSTER, task, index)
    strategy = make()
    extended = strategy.extended
    assert strategy.num_replicas_in_sync == replicas
    assert extended.worker_devices == (CPU % (task, index),)
    assert extended.parameter_devices == (CPU % (task, index),)
    assert extended.experimental_between_graph
    assert extended.experimental_should_init
    assert extended.should_checkpoint is is_chief
    assert extended.should_save_summary is is_chief
    assert strategy._in_multi_worker_mode()
    given = tf.ConfigProto(device_filters=["/job:x"])
    changed = strategy.update_config_proto(given)
    assert list(changed.device_filters) == filters
    assert changed.experimental.collective_group_leader == (
        "/job:%s/replica:0/task:0" % leader if leader else "")
    assert list(given.device_filters) == ["/job:x"]
    strategy.configure(given)
    assert given == changed


@pytest.mark.parametrize("task, index, is_chief, filters", [
    ("chief", 0, True, ["/job:chief/task:0", "/job:ps"]),
    ("worker", 1, False, ["/job:worker/task:1", "/job:ps"]),
    ("evaluator", 0, True, ["/job:evaluator/task:0"]),
    ("ps", 0, False, [])])
@pytest.mark.parametrize("make, whole", [
    (experimental.ParameterServerStrategy, False),
    (contrib.ParameterServerStrategy, True)])
def test_workers_of_parameter_servers(config, make, whole, task, index,
                                      is_chief, filters):
    config(CLUSTER, task, index)
    with tf.Graph().as_default():
        strategy = make()
        extended = strategy.extended
        assert strategy.num_replicas_in_sync == 1
        assert extended.worker_devices == (CPU % (task, index),)
        assert extended.parameter_devices == ("/job:ps/task:0",
                                              "/job:ps/task:1")
        assert extended.experimental_should_init is is_chief
        assert extended.should_checkpoint is is_chief
        assert extended._global_batch_size is not whole
        changed = strategy.update_config_proto(
            tf.ConfigProto(isolate_session_state=True))
        assert list(changed.device_filters) == filters
        assert not changed.isolate_session_state
        with strategy.scope():
            made = [tf.get_variable("v%d" % i, []) for i in range(3)]
            value = tf.constant(1.)
            assert value.device == "/job:%s/task:%d" % (task, index)
            assert [v.device for v in made] == [
                "/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
            with pytest.raises(ValueError, match="Cannot reduce to another"):
                strategy.extended.reduce_to(
                    "mean", value, "/job:%s/task:7" % task)


@pytest.mark.parametrize("make, cluster, task, words", [
    (experimental.MultiWorkerMirroredStrategy, CLUSTER, ("ps",),
     "Unexpected `task_type` 'ps'"),
    (experimental.MultiWorkerMirroredStrategy, WORKERS, (),
     "must also specify `task_type` and `task_id`"),
    (experimental.MultiWorkerMirroredStrategy, WORKERS, ("worker", 5),
     "`task_id` 5 exceeds"),
    (lambda: experimental.MultiWorkerMirroredStrategy("x"), {}, (),
     "not a valid CollectiveCommunication"),
    (contrib.ParameterServerStrategy, WORKERS, ("worker",),
     "needs to have `ps` jobs"),
    (lambda: experimental.ParameterServerStrategy(
        tf.distribute.cluster_resolver.TFConfigClusterResolver()), WORKERS,
     ("worker",), "needs to have `ps` jobs"),
    (contrib.run_standard_tensorflow_server, {"ps": ["p:1"]}, ("ps",),
     "must have `chief` or `worker` jobs"),
    (contrib.run_standard_tensorflow_server, WORKERS, (),
     '"task" is not found in')])
def test_refusals(config, make, cluster, task, words):
    config(cluster, *task)
    with pytest.raises(ValueError, match=words):
        make()


def test_without_parameter_servers_there_is_no_cluster(config):
    config(WORKERS, "worker", 0)
    strategy = experimental.ParameterServerStrategy()
    assert strategy.extended.parameter_devices == ("/device:CPU:0",)


@pytest.mark.parametrize("index, kind", [(0, "CollectiveBcastSend"),
                                         (1, "CollectiveBcastRecv")])
def test_collective_ops_meet_by_the_order_in_which_they_are_made(config, index,
                                                                 kind):
    config(WORKERS, "worker", index)
    with tf.Graph().as_default() as graph:
        strategy = experimental.MultiWorkerMirroredStrategy()
        with strategy.scope():
            v = tf.get_variable("v", [2])
            w = tf.get_variable("w", initializer=[1, 2], trainable=False)
            loss = strategy.experimental_run_v2(
                lambda: tf.reduce_sum(v * v))
            total = strategy.reduce("mean", loss)
            rows = strategy.extended.reduce_to("sum", tf.IndexedSlices(
                v + 1., tf.identity([0, 1]), [2]), v)
        made = [(op.type, op.name, op.get_attr("instance_key"))
                for op in graph.get_operations() if "Collective" in op.type]
        first = made[0][2] - 1000000, made[2][2]
        assert made == [
            (kind, "v/Initializer/" + kind, 1000000),
            (kind, "w/Initializer/" + kind, 1000001),
            ("CollectiveReduce", "allreduce/CollectiveReduce", first[1]),
            ("CollectiveGather", "allreduce_1/CollectiveGather", first[1] + 1),
            ("CollectiveGather", "allreduce_1/CollectiveGather_1",
             first[1] + 2)]
        assert {op.device for op in graph.get_operations()
                if op.type.startswith(("CollectiveB", "CollectiveR"))} == {
                    CPU % ("worker", index)}
        assert [v.device, w.device, total.device] == [
            CPU % ("worker", index)] * 3
        assert isinstance(rows, tf.IndexedSlices)


def test_the_coordinator_tells_each_task_who_it_is(config):
    seen = []

    def work(strategy):
        context = coordinator_context.get_current_worker_context()
        context.wait_for_other_workers()
        assert context.is_chief == util.is_chief()
        seen.append((context.master_target, context.task_type,
                     context.task_id, context.is_chief, context.num_workers,
                     context.distributed_mode, context.has_barrier,
                     strategy and strategy.num_replicas_in_sync))
        with pytest.raises(ValueError, match="cannot run distribute coord"):
            coordinator.run_distribute_coordinator(work,
                                                   strategy or mirrored)
        return 5

    def run(strategy, **more):
        del seen[:]
        result = coordinator.run_distribute_coordinator(work, strategy, **more)
        assert not util.has_worker_context()
        return result, sorted(seen)
    mirrored = experimental.MultiWorkerMirroredStrategy()
    assert run(mirrored) == (
        None, [("", None, None, True, 0, False, False, 1)])
    assert run(mirrored, cluster_spec=CLUSTER) == (None, [
        ("grpc://c:1", "chief", 0, True, 3, True, True, 3),
        ("grpc://e:1", "evaluator", 0, True, 3, False, False, None),
        ("grpc://w:1", "worker", 0, False, 3, True, True, 3),
        ("grpc://w:2", "worker", 1, False, 3, True, True, 3)])
    # A strategy of one graph for all has one function, whose result counts.
    assert run(tf.distribute.OneDeviceStrategy("/cpu:0"), rpc_layer=None,
               cluster_spec=WORKERS) == (
        5, [("w:1", None, None, True, 2, True, False, 1)])
    with pytest.raises(KeyError, match="boom"):
        coordinator.run_distribute_coordinator(
            lambda strategy: {}["boom"], mirrored, cluster_spec=WORKERS)
    with pytest.raises(ValueError, match="Unexpected coordinator mode: 'x'"):
        run(mirrored, cluster_spec=WORKERS, mode="x")


def test_names():
    given = contrib.DistributeConfig(1, remote_cluster=3)
    assert given == (1, None, 3)
    assert tf.contrib.distribute.CollectiveAllReduceStrategy is not (
        experimental.MultiWorkerMirroredStrategy)
