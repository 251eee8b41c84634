"""tf.DeviceSpec, tf.train.replica_device_setter and SyncReplicasOptimizer."""
import threading
import time

import headrace as tf
import numpy as np
import pytest
from headrace.contrib.training import (
    GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn)


@pytest.fixture(autouse=True)
def new_graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name, canonical, parts", [
    ("", "", (None, None, None, None, None)),
    ("/job:w/replica:1/task:2/device:CPU:3",
     "/job:w/replica:1/task:2/device:CPU:3", ("w", 1, 2, "CPU", 3)),
    ("/cpu:0", "/device:CPU:0", (None, None, None, "CPU", 0)),
    ("/gpu:*", "/device:GPU:*", (None, None, None, "GPU", None)),
    ("/task:1/job:b", "/job:b/task:1", ("b", None, 1, None, None)),
    ("/device:FOO:2", "/device:FOO:2", (None, None, None, "FOO", 2)),
])
def test_device_names(name, canonical, parts):
    spec = tf.DeviceSpec.from_string(name)
    assert spec.to_string() == canonical
    assert (spec.job, spec.replica, spec.task, spec.device_type,
            spec.device_index) == parts
    assert spec == tf.DeviceSpec(*parts) and hash(spec) == hash(
        tf.DeviceSpec(*parts))


@pytest.mark.parametrize("name, words", [
    ("/device:GPU", "Unknown attribute: 'device' in '/device:GPU'"),
    ("/job:w/foo:3", "Unknown attribute: 'foo'"),
    ("/job", "Unknown attribute: 'job'"),
    ("/task:x", "invalid literal"),
    ("/CPU:0/GPU:1", "Cannot specify multiple device types: /CPU:0/GPU:1"),
])
def test_wrong_device_names(name, words):
    with pytest.raises(ValueError, match=words):
        tf.DeviceSpec.from_string(name)


def test_device_specs_merge():
    one = tf.DeviceSpec(job="a", task=1)
    other = tf.DeviceSpec(device_type="gpu", device_index=2, job="c")
    assert one.make_merged_spec(other).to_string() == (
        "/job:c/task:1/device:GPU:2")
    assert one.replace(task=5).to_string() == "/job:a/task:5"
    one.merge_from(other)
    assert one.to_string() == "/job:c/task:1/device:GPU:2"
    with tf.device(other):
        assert tf.constant(1).device == "/job:c/device:GPU:2"


def placed(n=5, **options):
    """Devices of n variables, every second with a handle, and of a product."""
    with tf.device(tf.train.replica_device_setter(**options)):
        found = [tf.get_variable("v%d" % i, [i + 1, 3], use_resource=i % 2 == 1)
                 for i in range(n)]
        product = tf.matmul(found[0], found[2])
    return [v.device for v in found], product.device


@pytest.mark.parametrize("options, tasks, worker", [
    (dict(ps_tasks=3), [0, 1, 2, 0, 1], "/job:worker"),
    (dict(ps_tasks=2, worker_device="/job:worker/task:4/cpu:0"),
     [0, 1, 0, 1, 0], "/job:worker/task:4/device:CPU:0"),
    (dict(ps_tasks=2,
          ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn)),
     [0, 1, 1, 0, 0], "/job:worker"),
])
def test_variables_go_to_parameter_servers(options, tasks, worker):
    assert placed(**options) == (["/job:ps/task:%d" % t for t in tasks], worker)


def test_what_asks_for_a_device():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        with tf.device("/cpu:1"):
            assert tf.constant(1).device == "/job:worker/device:CPU:1"
            v = tf.get_variable("v", [2])
        with tf.device("/job:foo"):
            w = tf.get_variable("w", [2])
    assert v.device == "/job:ps/task:0/device:CPU:1" and w.device == "/job:foo"
    with tf.device(tf.train.replica_device_setter(ps_tasks=2,
                                                  merge_devices=False)):
        with tf.device("/cpu:1"):
            assert tf.constant(1).device == "/device:CPU:1"


def test_without_parameter_servers():
    assert tf.train.replica_device_setter() is None
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(ps_tasks=2, ps_strategy=3)
    with pytest.raises(ValueError, match="must have a single output"):
        byte_size_load_fn(tf.no_op())
    choose = RandomStrategy(3, seed=1)
    assert {choose(None) for _ in range(50)} == {0, 1, 2}


def model():
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    e = tf.get_variable("e", [5, 2], initializer=tf.ones_initializer())
    unused = tf.get_variable("u", [2])
    x = tf.placeholder(tf.float32, [3])
    loss = tf.reduce_sum(w * x) + tf.reduce_sum(tf.gather(e, [1, 3, 3]))
    return x, loss, [w, e, unused]


def test_two_gradients_make_an_update():
    """Of one worker, which hands in both; one that is of an earlier step is
    dropped."""
    step = tf.train.get_or_create_global_step()
    x, loss, variables = model()
    sync = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(.1), 2, total_num_replicas=1)
    train = sync.apply_gradients(
        sync.compute_gradients(loss, variables), step)
    tokens = sync.get_init_tokens_op()
    options = tf.RunOptions(timeout_in_ms=60000)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([sync.chief_init_op, tokens])
        coord = tf.train.Coordinator()
        sync.get_chief_queue_runner().create_threads(
            session, coord=coord, daemon=True, start=True)
        runs = 0
        while session.run(step) < 3:
            session.run(train, {x: [1, 2, 3]}, options=options)
            runs += 1
        for _ in range(2000):  # an update may be on its way
            updates, w, e = session.run([step] + variables[:2])
            want = 1 - .1 * updates * np.array([1, 2, 3])
            if np.allclose(w, want, rtol=1e-4):
                break
            time.sleep(.005)
        coord.request_stop()
    np.testing.assert_allclose(w, want, rtol=1e-4)
    assert 3 <= updates <= runs / 2 + 1
    assert e[0, 0] == e[2, 0] == e[4, 0] == 1 > e[1, 0] > e[3, 0]


def test_hook_of_synchronous_training():
    step = tf.train.get_or_create_global_step()
    x, loss, variables = model()
    sync = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 1)
    early = sync.make_session_run_hook(True)
    with pytest.raises(ValueError, match="should be called before using"):
        early.begin()
    train = sync.minimize(loss, step, variables[:2])
    assert sync.get_slot_names() == ["m", "v"] and sync.variables()
    with tf.train.MonitoredTrainingSession(
            hooks=[sync.make_session_run_hook(True),
                   tf.train.StopAtStepHook(last_step=4)],
            stop_grace_period_secs=1) as session:
        while not session.should_stop():
            session.run(train, {x: [1., 2., 3.]})


@pytest.mark.parametrize("call, words", [
    (lambda o: o.apply_gradients([], 1), "at least one variable"),
    (lambda o: o.apply_gradients([(None, None)]), "Global step is required"),
    (lambda o: o.get_chief_queue_runner(), "after apply_gradients"),
    (lambda o: o.get_init_tokens_op(), "after apply_gradients"),
])
def test_synchronous_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call(tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 2))


def test_too_few_tokens():
    step = tf.train.get_or_create_global_step()
    _, loss, variables = model()
    sync = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 5, 2)
    sync.minimize(loss, step, variables[:2])
    with pytest.raises(ValueError, match="2 .given. vs 3 .needed"):
        sync.get_init_tokens_op(2)


def test_the_end_does_not_wait_for_gradients_that_never_come():
    step = tf.train.get_or_create_global_step()
    x, loss, variables = model()
    sync = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(.1), 1)
    train = sync.minimize(loss, step, variables[:2])
    hook = sync.make_session_run_hook(True)
    assert hook._sync_optimizer is sync  # as programs look the optimizer up
    with tf.train.MonitoredTrainingSession(
            hooks=[hook], stop_grace_period_secs=600) as session:
        session.run(train, {x: [1., 2., 3.]})
        threads = [t for t in threading.enumerate()
                   if "dummy_queue" in t.name]
        assert threads
    assert not any(t.is_alive() for t in threads)
