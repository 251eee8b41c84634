"""Sessions that bring their cluster: ConfigProto.cluster_def."""
import pytest

import headrace as tf

from cluster import Cluster, bringing


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"ps": 2, "worker": 1}, alone=True) as c:
        yield c


def run(target, config, device="/job:ps/task:1"):
    with tf.device(device):
        doubled = tf.constant(17.) * 2
    with tf.Session(target, config=config) as s:
        return s.run(doubled), {d.name for d in s.list_devices()}


def devices(*tasks):
    return {"/job:%s/replica:0/task:%d/device:CPU:0" % t for t in tasks}


def test_any_server_is_the_master(cluster):
    wanted = devices(("ps", 0), ("ps", 1), ("worker", 0))
    for job, task in ("worker", 0), ("ps", 0):
        assert run(cluster.target(job, task), cluster.config()) == (34, wanted)


def test_the_session_names_the_tasks(cluster):
    first, second = cluster.spec["ps"]
    target = cluster.target("ps")
    for jobs, wanted in (
            ({"ps": {3: first, 1: second}}, devices(("ps", 3), ("ps", 1))),
            ({"ps": [first, second]}, devices(("ps", 0), ("ps", 1))),
            # The servers' own names, the other way round too.
            ({"alone": [first], "ps": {1: second}},
             devices(("alone", 0), ("ps", 1))),
            ({"alone": [second, first], "ps": {1: cluster.spec["worker"][0]}},
             devices(("alone", 0), ("alone", 1), ("ps", 1)))):
        assert run(target, bringing(jobs)) == (34, wanted)
    filtered = cluster.config(device_filters=["/job:ps"])
    assert run(target, filtered)[1] == devices(("ps", 0), ("ps", 1))


def test_variables_are_the_sessions_own(cluster):
    with tf.device("/job:ps/task:1"):
        v = tf.get_variable("v", initializer=[1., 2.])
    with tf.device("/job:worker"):
        loss = tf.reduce_sum(tf.square(v - 3.))
    train = tf.train.GradientDescentOptimizer(.25).minimize(loss)
    target = cluster.target("worker")
    with tf.Session(target, config=cluster.config()) as first, \
            tf.Session(target, config=cluster.config()) as second:
        first.run(tf.global_variables_initializer())
        first.run(train)
        assert first.run(v).tolist() == [2., 2.5]
        with pytest.raises(tf.errors.FailedPreconditionError,
                           match="/job:ps/replica:0/task:1"):
            second.run(loss)
        second.run(tf.global_variables_initializer())
        assert second.run(loss) == 5
        assert first.run(v).tolist() == [2., 2.5]


def test_what_crosses_tasks(cluster):
    x = tf.placeholder(tf.float32, [])

    def body(i, total):
        with tf.device("/job:ps/task:0"):
            total = total * 2
        with tf.device("/job:ps/task:1"):
            return i + 1, total + x

    loop = tf.while_loop(lambda i, t: i < 3, body, [0, tf.constant(1.)])[1]
    with tf.device("/job:worker"):
        kept = tf.get_session_handle(x + 1)
    with tf.Session(cluster.target("worker"), config=cluster.config()) as s:
        assert s.run(loop, {x: 1.}) == 15
        handle = s.partial_run_setup([loop], [x])
        assert s.partial_run(handle, loop, {x: 2.}) == 22
        there = s.run(kept, {x: 4.})
        holder, value = tf.get_session_tensor(there.handle, tf.float32)
        assert s.run(value, {holder: there.handle}) == 5
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="/job:alone"):
            with tf.device("/job:alone/task:0"):
                s.run(tf.constant(1.) + 1)


@pytest.mark.parametrize("jobs, words", [
    (lambda ps, worker: {"ps": ps},
     r"the master \(current machine\) is not included .* /job:ps/replica:0/"
     r"task:0 at localhost:"),
    (lambda ps, worker: {"worker": [a.replace("localhost", "127.0.0.1")
                                    for a in worker]}, "is not included"),
    (lambda ps, worker: {"worker": worker, "ps": worker}, "have one address"),
    (lambda ps, worker: {"worker": worker, "ps": ["nonsense"]}, "nonsense"),
])
def test_what_is_refused(cluster, jobs, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(cluster.target("worker"), bringing(jobs(**cluster.spec)), None)


def test_a_task_that_is_gone(cluster):
    spec = dict(cluster.spec, ps=cluster.spec["ps"] + ["localhost:9"])
    config = bringing(spec)
    config.operation_timeout_in_ms = 2000
    with pytest.raises(tf.errors.DeadlineExceededError,
                       match="/job:ps/replica:0/task:2 at localhost:9"):
        run(cluster.target("worker"), config)
