"""Steps over several processes: what they compute, and how they fail."""
import threading
import time

import numpy as np
import pytest

import headrace as tf
from cluster import CONFIG, Cluster, Deadline


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"ps": 2, "worker": 2}) as c:
        yield c


@pytest.fixture(params=["worker", "ps"])
def session(request, cluster):
    """The master is where the work is, or elsewhere."""
    with tf.Session(cluster.target(request.param), config=CONFIG) as s:
        yield s


def on(job, task=0):
    return tf.device("/job:%s/task:%d" % (job, task))


def test_devices_of_all_tasks(session):
    names = [d.name for d in session.list_devices()]
    assert sorted(names) == [
        "/job:%s/replica:0/task:%d/device:CPU:0" % (job, task)
        for job in ("ps", "worker") for task in (0, 1)]


def test_training_with_parameter_servers_is_training_in_one_process(cluster):
    def losses(target, place):
        with tf.Graph().as_default():
            data = np.random.RandomState(1).rand(32, 8).astype(np.float32)
            x = tf.placeholder(tf.float32, [None, 8])
            with place("ps", 0):
                w = tf.get_variable("w", initializer=np.full(
                    [8, 1], .5, np.float32))
            with place("ps", 1):
                b = tf.get_variable("b", initializer=np.zeros(
                    [1], np.float32))
            with place("worker", 1):
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1))
            train = tf.train.AdamOptimizer(.1).minimize(loss)
            with tf.Session(target, config=CONFIG) as s:
                s.run(tf.global_variables_initializer())
                out = []
                for _ in range(10):
                    out.append(s.run(loss, {x: data}))
                    s.run(train, {x: data})
                return out

    here = losses("", lambda job, task: tf.device(None))
    there = losses(cluster.target("worker"), on)
    np.testing.assert_allclose(there, here, rtol=1e-5)
    assert there[-1] < there[0] / 2


@pytest.mark.parametrize("value", [
    np.float32(3), np.arange(6, dtype=np.int64).reshape(2, 3),
    np.array([b"a", b"", b"long" * 1000], object),
    np.array([True, False]), np.zeros([0, 3], np.float32),
    np.random.RandomState(0).rand(1000, 1000),
    np.zeros([2 ** 24], np.float32), np.array([1 + 2j], np.complex64)])
def test_values_cross_as_they_are(session, value):
    x = tf.placeholder(tf.as_dtype(value.dtype) if value.dtype != object
                       else tf.string, value.shape)
    with on("ps", 1):
        there = tf.identity(x)
    with on("worker", 1):
        back = tf.identity(there)
    got = session.run(back, {x: value})
    assert got.dtype == value.dtype and got.shape == value.shape
    np.testing.assert_array_equal(got, value)


def test_loops_and_conditionals_cross_tasks(session):
    def body(i, total):
        with on("ps", 1):
            total = total * 2
        with on("worker", 1):
            return i + 1, total + 1

    _, total = tf.while_loop(lambda i, t: i < 5, body, [0, tf.constant(1.)])
    p = tf.placeholder(tf.bool, [])
    with on("ps"):
        v = tf.constant(4.)
    with on("worker"):
        chosen = tf.cond(p, lambda: v * 2, lambda: v - 1)
    assert session.run(total) == 63
    assert session.run(chosen, {p: True}) == 8
    assert session.run(chosen, {p: False}) == 3


@pytest.mark.parametrize("waits_elsewhere", [False, True])
def test_a_variable_is_read_after_what_its_reader_waits_for(
        session, waits_elsewhere):
    with on("ps"):
        v = tf.Variable([2., 3.])
        update = v.assign_add([1., 1.])
    with on("worker"):
        if waits_elsewhere:
            update = tf.negative(update)
        with tf.control_dependencies([update]):
            after = v.read_value()
    for _ in range(10):
        session.run(v.initializer)
        assert session.run(after).tolist() == [3, 4]


def test_sessions_share_variables_unless_isolated(cluster):
    with on("ps"):
        v = tf.get_variable("shared", initializer=1.)
    add = tf.assign_add(v, 1.)
    isolated = tf.ConfigProto(isolate_session_state=True)
    isolated.MergeFrom(CONFIG)
    with tf.Session(cluster.target("worker", 0), config=CONFIG) as first, \
            tf.Session(cluster.target("worker", 1), config=CONFIG) as second, \
            tf.Session(cluster.target("worker", 1), config=isolated) as alone:
        first.run(v.initializer)
        assert second.run(add) == 2
        assert first.run(v) == 2
        with pytest.raises(tf.errors.FailedPreconditionError):
            alone.run(v)
        alone.run(v.initializer)
        assert alone.run(add) == 2 and first.run(v) == 2


def test_reset_drops_the_variables(cluster):
    with on("ps"):
        v = tf.get_variable("reset", initializer=1.)
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        s.run(v.initializer)
    tf.Session.reset(cluster.target("worker"))
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        with pytest.raises(tf.errors.FailedPreconditionError):
            s.run(v)


def test_a_graph_that_grows(session):
    with on("ps"):
        a = tf.constant([1., 2])
    assert session.run(a).tolist() == [1, 2]
    with on("worker", 1):
        b = a * 2
    assert session.run([a, b, a])[1].tolist() == [2, 4]


def test_callables_and_partial_runs(session):
    x = tf.placeholder(tf.float32, [])
    y = tf.placeholder(tf.float32, [])
    with on("ps", 1):
        double = x * 2
    with on("worker", 1):
        total = double + y
    call = session.make_callable([total, double], [x, y])
    assert call(1., 2.) == [4, 2] and call(2., 2.) == [6, 4]
    handle = session.partial_run_setup([double, total], [x, y])
    assert session.partial_run(handle, double, {x: 3.}) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't be comp"):
        session.partial_run(handle, total)
    assert session.partial_run(handle, total, {y: 1.}) == 7
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.partial_run(handle, total, {y: 1.})


def test_colocation_with_a_node_that_the_step_does_not_have(session):
    x = tf.placeholder(tf.float32, [])
    with on("ps", 1):
        y = tf.identity(x)
    with tf.get_default_graph().colocate_with(y.op):
        z = tf.identity(x)
    assert session.run(z, {x: 3.}) == 3


def test_run_metadata_has_all_tasks(session):
    with on("ps", 1):
        a = tf.constant(1.) * tf.random_uniform([])
    with on("worker", 1):
        b = a + tf.random_uniform([])
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE,
                            output_partition_graphs=True)
    session.run(b, options=options, run_metadata=metadata)
    devices = {d.device for d in metadata.step_stats.dev_stats}
    assert {"/job:ps/replica:0/task:1/device:CPU:0",
            "/job:worker/replica:0/task:1/device:CPU:0"} <= devices
    assert len(metadata.partition_graphs) >= 2


def test_run_metadata_has_the_bytes_of_each_edge(session):
    x = tf.placeholder(tf.float32, [None])
    with on("ps", 1):
        a = tf.identity(x, name="crosses") * 2
    with on("worker", 1):
        b = tf.reduce_sum(a)
    metadata = tf.RunMetadata()
    before = time.time()
    session.run(b, {x: [1.] * 5000}, run_metadata=metadata,
                options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
    after = time.time()
    edges = {}
    for d in metadata.step_stats.dev_stats:
        for n in d.node_stats:
            assert before - 1 < n.all_start_micros / 1e6 < after + 1
            if n.node_name == "RecvTensor":
                bytes_ = n.output[0].tensor_description.allocation_description
                edges[d.device] = bytes_.requested_bytes, n.timeline_label
    size, label = edges["/job:worker/replica:0/task:1/device:CPU:0"]
    assert size == 20000
    assert label.startswith("[20000B] ")
    assert "from /job:ps/replica:0/task:1/device:CPU:0 to /job:worker" in label


def test_a_failure_anywhere_is_the_step_s(session):
    index = tf.placeholder(tf.int32, [])
    with on("ps", 1):
        bad = tf.gather([1., 2.], index, name="the_bad_one")
    with on("worker", 1):
        after = bad + 1
    with on("ps"):
        last = after * 2
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="the_bad_one"):
            session.run(last, {index: 7})
        assert session.run(last, {index: 1}) == 6


def test_refusals(session):
    x = tf.placeholder(tf.float32, [])
    with on("ps", 7):
        nowhere = x + 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="task:7"):
        session.run(nowhere, {x: 1.})
    with on("ps"):
        v = tf.Variable(1., use_resource=False)
    with on("worker"):
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v + 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="both fed"):
        session.partial_run_setup([x], [x])


def test_a_step_that_waits_ends_by_its_deadline(session):
    with on("ps", 1):
        queue = tf.FIFOQueue(1, tf.float32, shared_name="deadline")
        element = queue.dequeue()
    with on("worker", 1):
        after = element + 1
    with Deadline(20):
        with pytest.raises(tf.errors.DeadlineExceededError,
                           match="still waiting for .*/job:ps/replica:0/task:1"):
            session.run(after, options=tf.RunOptions(timeout_in_ms=500))
    with on("ps", 1):
        put = queue.enqueue(1.)
    session.run(put)
    assert session.run(after) == 2


def test_close_ends_a_step_that_waits(cluster):
    with on("ps", 1):
        element = tf.FIFOQueue(1, tf.float32, shared_name="close").dequeue()
    session = tf.Session(cluster.target("worker"), config=CONFIG)
    session.run(tf.constant(1))
    errors = []

    def wait():
        try:
            session.run(element)
        except tf.errors.OpError as e:
            errors.append(e)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(.3)
    with Deadline(20):
        session.close()
        thread.join(20)
    assert not thread.is_alive()
    assert isinstance(errors[0], tf.errors.CancelledError)


def test_quick_steps_that_wait_at_last_leave_the_master_free(cluster):
    """The master runs quick steps where their calls arrive: not so many at
    once that the one which ends the others' wait does not arrive."""
    with on("worker"):
        queues = [tf.FIFOQueue(20, tf.float32) for _ in range(5)]
        takes = [q.dequeue() for q in queues]
        value = tf.placeholder(tf.float32, [])
        puts = tf.group(*[q.enqueue(value) for q in queues])
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        for i in range(10):
            s.run(puts, {value: i})
        for take in takes:  # each takes less than a millisecond
            assert [s.run(take) for _ in range(10)] == list(range(10))
        got = []
        threads = [threading.Thread(
            target=lambda take=take: got.append(s.run(take)))
            for take in takes]
        with Deadline(20):
            for t in threads:
                t.start()
            time.sleep(.5)
            assert not got
            s.run(puts, {value: 17.})
            for t in threads:
                t.join(20)
        assert got == [17.] * 5


def test_device_filters_need_only_their_tasks():
    with Cluster({"ps": 1, "worker": 2}, start=[("ps", 0), ("worker", 0)]) as c:
        with on("ps"):
            a = tf.constant(2.) + tf.random_uniform([], 1., 1.0001)
        config = tf.ConfigProto(
            device_filters=["/job:ps", "/job:worker/task:0"])
        config.MergeFrom(CONFIG)
        with tf.Session(c.target("worker"), config=config) as s:
            assert 2.9 < s.run(a) < 3.1
            assert len(s.list_devices()) == 2
        with tf.Session(c.target("worker"), config=tf.ConfigProto(
                operation_timeout_in_ms=1000)) as s:
            with Deadline(20), pytest.raises(
                    tf.errors.DeadlineExceededError,
                    match="/job:worker/replica:0/task:1 at localhost"):
                s.run(a)


def test_a_task_that_dies_and_comes_back():
    with Cluster({"ps": 1, "worker": 2}) as c:
        with on("ps"):
            v = tf.get_variable("v", initializer=1.)
            element = tf.FIFOQueue(1, tf.float32).dequeue()
        with on("worker", 1):
            far = v + 1
        waits = element + far
        with tf.Session(c.target("worker"), config=CONFIG) as s:
            s.run(v.initializer)
            assert s.run(far) == 2
            killer = threading.Timer(.5, c.kill, ["ps"])
            killer.start()
            with Deadline(20), pytest.raises(
                    (tf.errors.UnavailableError, tf.errors.AbortedError),
                    match="/job:ps/replica:0/task:0"):
                s.run(waits)
            killer.join()
            with Deadline(20), pytest.raises(
                    (tf.errors.UnavailableError, tf.errors.AbortedError),
                    match="/job:ps/replica:0/task:0"):
                s.run(far)
            c.start("ps")
            # The new one knows nothing of this session.
            end = time.monotonic() + 20
            while True:
                with pytest.raises((tf.errors.UnavailableError,
                                    tf.errors.AbortedError)) as e:
                    s.run(far)
                if isinstance(e.value, tf.errors.AbortedError):
                    break
                assert time.monotonic() < end
            assert "restarted" in e.value.message
        with tf.Session(c.target("worker"), config=CONFIG) as s:
            with pytest.raises(tf.errors.FailedPreconditionError):
                s.run(far)
            s.run(v.initializer)
            assert s.run(far) == 2


def test_a_master_that_dies():
    with Cluster({"worker": 1}) as c:
        queue = tf.FIFOQueue(1, tf.float32)
        with tf.Session(c.target("worker"), config=CONFIG) as s:
            threading.Timer(.5, c.kill, ["worker"]).start()
            with Deadline(20), pytest.raises(tf.errors.UnavailableError,
                                             match="RunStep of the master at"):
                s.run(queue.dequeue())
            with Deadline(20), pytest.raises(tf.errors.UnavailableError):
                s.run(tf.constant(1))
