"""Tests of others whose workers are threads of one process, as they use
tensorflow.python.distribute.multi_worker_test_base, strategy_combinations and
combinations."""
import os
import threading
import unittest
from unittest import mock

import numpy as np
import pytest

import headrace as tf
from tensorflow_modules import tensorflow

with tensorflow():
    from tensorflow.python.distribute import (
        combinations, cross_device_ops, cross_device_utils,
        distribute_coordinator as coordinator,
        distribute_coordinator_context as current,
        multi_worker_test_base as base, reduce_util, strategy_combinations,
        values as value_lib)

SEEN: dict = {}


def train(strategy, target, config, index):
    """The weights after three steps of a strategy's worker."""
    with tf.Graph().as_default(), strategy.scope():
        w = tf.get_variable("w", initializer=[[1. + index]])

        def step():
            loss = tf.reduce_sum(tf.square(w - 3.))
            return tf.train.GradientDescentOptimizer(.1).minimize(loss)
        update = strategy.group(strategy.experimental_run_v2(step))
        initialize = tf.global_variables_initializer()
        with tf.Session(target, config=config) as s:
            s.run(initialize)
            for _ in range(3):
                s.run(update)
            return float(s.run(w)[0, 0])


class ClusterTest(base.MultiWorkerTestBase):
    __test__ = False  # run() does, with a deadline

    def test_workers_of_one_process_reduce(self):
        found = {}

        def client(task_type, task_id, num_gpus):
            strategy = tf.contrib.distribute.CollectiveAllReduceStrategy(
                num_gpus)
            config = tf.ConfigProto(operation_timeout_in_ms=60000)
            strategy.configure(config, self._cluster_spec, task_type, task_id)
            target = "grpc://" + self._cluster_spec[task_type][task_id]
            found[task_id] = train(strategy, target, config, task_id)
        self._run_between_graph_clients(client, self._cluster_spec, 0)
        # Two workers add the gradients of the chief's value.
        w = 1.
        for _ in range(3):
            w -= .1 * 2 * 2 * (w - 3)
        self.assertEqual(found[0], found[1])
        self.assertAllClose(found[0], w)

    def test_sessions_are_of_the_first_worker(self):
        with self.session(graph=tf.Graph()) as s:
            self.assertIn("/job:worker/replica:0/task:1/device:CPU:0",
                          [d.name for d in s.list_devices()])
        with self.cached_session() as s, self.cached_session() as t:
            self.assertIs(s, t)

    def test_what_a_client_raises(self):
        def client(task_type, task_id, num_gpus):
            raise KeyError(task_type)
        with self.assertRaisesRegex(KeyError, "worker"):
            self._run_between_graph_clients(client, {"worker": ["a"]}, 0)


class IndependentTest(base.IndependentWorkerTestBase):
    __test__ = False  # run() does, with a deadline

    def test_each_thread_has_its_server(self):
        found = {}

        def task():
            strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()

            def work(strategy):
                context = current.get_current_worker_context()
                found[base.get_task_index(), base.is_chief()] = train(
                    strategy, context.master_target, context.session_config,
                    base.get_task_index())
            coordinator.run_distribute_coordinator(
                work, strategy,
                mode=coordinator.CoordinatorMode.INDEPENDENT_WORKER)
        cluster = base.create_cluster_spec(num_workers=2)
        self._barrier = coordinator._Barrier(2)
        with mock.patch.object(coordinator, "_run_std_server",
                               self._make_mock_run_std_server()):
            threads = self.run_multiple_tasks_in_threads(task, cluster)
            self.join_independent_workers(
                [t for of_job in threads.values() for t in of_job])
        self.assertEqual(sorted(found), [(0, True), (1, False)])
        self.assertEqual(len(set(found.values())), 1)


class CombinationsTest(unittest.TestCase):
    __test__ = False  # run() does, with a deadline

    @combinations.generate(
        strategy_combinations.all_strategy_combinations()
        + combinations.combine(mode="graph", distribution=[
            strategy_combinations.mirrored_strategy_with_one_cpu,
            strategy_combinations.central_storage_strategy_with_two_gpus]))
    def test_strategies(self, distribution):
        SEEN.setdefault("strategies", []).append(type(distribution).__name__)
        assert isinstance(distribution, tf.distribute.Strategy)

    @combinations.generate(
        strategy_combinations.distributions_and_v1_and_v2_optimizers())
    def test_optimizers(self, distribution, optimizer_fn):
        SEEN.setdefault("optimizers", []).append(type(optimizer_fn()).__name__)


def run(case):
    outcome = unittest.TestResult()
    tests = unittest.TestLoader().loadTestsFromTestCase(case)
    thread = threading.Thread(target=tests, args=(outcome,), daemon=True)
    thread.start()
    thread.join(120)
    assert not thread.is_alive(), "%s has not ended" % case
    assert outcome.wasSuccessful(), outcome.errors + outcome.failures
    return outcome.testsRun


@pytest.mark.parametrize("case, tests", [
    (ClusterTest, 3), (IndependentTest, 1), (CombinationsTest, 2)])
def test_cases_of_others(case, tests):
    SEEN.clear()
    assert run(case) == tests
    if case is CombinationsTest and not tf.test.is_gpu_available():
        assert SEEN == {
            "strategies": ["_DefaultStrategy", "OneDeviceStrategy",
                           "MirroredStrategy"],
            "optimizers": ["GradientDescentOptimizer", "AdagradOptimizer",
                           "SGD", "Adagrad"]}


def test_each_thread_has_a_tf_config():
    environment = base.MockOsEnv({"A": "1", "TF_CONFIG": "old"})
    assert environment.get("TF_CONFIG") is None and dict(environment) == {
        "A": "1"}
    environment["TF_CONFIG"] = "mine"
    others = []
    thread = threading.Thread(
        target=lambda: others.append(environment.get("TF_CONFIG", "none")))
    thread.start()
    thread.join()
    assert others == ["none"] and environment.copy() == {
        "A": "1", "TF_CONFIG": "mine"}
    del environment["TF_CONFIG"]
    assert "TF_CONFIG" not in environment and len(environment) == 1
    assert "TF_CONFIG" not in os.environ or environment is not os.environ


def test_values_and_reductions_of_others():
    devices = ["/replica:0/task:0/device:CPU:0",
               "/replica:0/task:0/device:CPU:1"]
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(
            device_count={"CPU": 2})) as s:
        made = []
        for i, name in enumerate(devices):
            with tf.device(name):
                made.append(tf.constant([1. + i, 2.]))
        places = value_lib.ReplicaDeviceMap(devices)
        value = value_lib.PerReplica(places, made)
        assert places.num_replicas_in_graph == 2 and value.devices == places
        assert value_lib.regroup(places, made, wrap_class=value_lib.Mirrored
                                 ).values == tuple(made)
        for ops in (cross_device_ops.CollectiveAllReduce(
                1, 0, collective_keys=cross_device_utils.CollectiveKeys(7)),
                    cross_device_ops.AllReduceCrossDeviceOps(
                        "hierarchical_copy", num_packs=0)):
            for op, wanted in ((reduce_util.ReduceOp.SUM, [3, 4]),
                               (reduce_util.ReduceOp.MEAN, [1.5, 2])):
                reduced = ops.batch_reduce(op, [(value, value)])[0]
                np.testing.assert_array_equal(
                    s.run(list(reduced.values)), [wanted] * 2)
    with pytest.raises(ValueError, match="one of .*, got 'x'"):
        cross_device_ops.AllReduceCrossDeviceOps("x")


def test_monitor():
    monitor = tf.contrib.distribute.Monitor
    with tf.Graph().as_default(), tf.Session() as s:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        total = tf.get_variable("total", [], tf.int64,
                                tf.zeros_initializer(), trainable=False)

        class Sum(tf.contrib.distribute.StandardInputStep):
            def __call__(self):
                return total.assign_add(self._iterator.get_next())
        made = monitor(Sum(lambda: tf.data.Dataset.range(1, 5), strategy), s)
        made.run_steps(2)
        assert s.run(total) == 3
        made.run_steps()
        assert s.run(total) == 10
        with pytest.raises(ValueError, match="provide a `session`"):
            monitor(None)
        with tf.contrib.distribute.UpdateContext("/cpu:0"):
            with pytest.raises(RuntimeError, match="an update of /cpu:0"):
                with tf.contrib.distribute.UpdateContext("/cpu:1"):
                    pass
