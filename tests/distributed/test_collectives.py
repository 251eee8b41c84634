"""Collective ops: of the devices of one process, of the tasks of one session,
whose cluster is the servers' or its own, and of workers that have a master
each."""
import threading

import numpy as np
import pytest

import headrace as tf
from cluster import CONFIG, Cluster, Deadline, bringing
from headrace._src.ops import collective_ops

N = 3
LOCAL = tf.ConfigProto(device_count={"CPU": N}, operation_timeout_in_ms=30000)


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"worker": N}) as c:
        yield c


@pytest.fixture(scope="module")
def servers():
    """Which know nothing of each other."""
    with Cluster({"worker": N}, alone=True) as c:
        yield c


@pytest.fixture(params=["one process", "one session", "its cluster"])
def group(request, cluster, servers):
    """(a session, the devices of the group)."""
    if request.param == "its cluster":
        with tf.Session(servers.target("worker", 1),
                        config=servers.config()) as s:
            yield s, ["/job:worker/task:%d" % i for i in range(N)]
    elif request.param == "one process":
        with tf.Session(config=LOCAL) as s:
            yield s, ["/cpu:%d" % i for i in range(N)]
    else:
        with tf.Session(cluster.target("worker", 1), config=CONFIG) as s:
            yield s, ["/job:worker/task:%d" % i for i in range(N)]


keys = iter(range(1, 1000))


def on_all(devices, make):
    """make(i, instance) on each device."""
    instance = next(keys)
    outputs = []
    for i, d in enumerate(devices):
        with tf.device(d):
            outputs.append(make(i, instance))
    return outputs


# Of one hop, of two, with chunks of different sizes, and empty.
SHAPES = [(2, 3), (100, 100), (4097,), (3, 1), (0, 4)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("merge, final, wanted", [
    ("Add", "Id", lambda v: (v[0] + v[1]) + v[2]),
    ("Add", "Div", lambda v: ((v[0] + v[1]) + v[2]) / v[0].dtype.type(N)),
    ("Mul", "Id", lambda v: (v[0] * v[1]) * v[2]),
    ("Min", "Id", lambda v: np.minimum(np.minimum(v[0], v[1]), v[2])),
    ("Max", "Id", lambda v: np.maximum(np.maximum(v[0], v[1]), v[2]))])
def test_reduce_is_the_reduction_in_the_order_of_ranks(group, shape, merge,
                                                       final, wanted):
    session, devices = group
    values = [np.random.RandomState(i).randn(*shape).astype(np.float32)
              for i in range(N)]
    got = session.run(on_all(devices, lambda i, k: collective_ops.all_reduce(
        tf.constant(values[i]), N, 1, k, merge, final)))
    for g in got:  # bit for bit, everywhere
        np.testing.assert_array_equal(g, wanted(values))


@pytest.mark.parametrize("dtype", [
    np.float64, np.float16, np.int32, np.int64])
def test_types(group, dtype):
    session, devices = group
    got = session.run(on_all(devices, lambda i, k: collective_ops.all_reduce(
        tf.constant(np.array([i + 1, 7], dtype)), N, 1, k, "Add", "Div")))
    for g in got:
        assert g.dtype == dtype
        np.testing.assert_array_equal(g, np.array([2, 7], dtype))


@pytest.mark.parametrize("shape", SHAPES)
def test_gather(group, shape):
    session, devices = group
    values = [np.full(shape, i, np.int32) for i in range(N)]
    outputs = on_all(devices, lambda i, k: collective_ops.all_gather(
        tf.constant(values[i]), N, 1, k))
    assert outputs[0].shape.as_list() == [N * shape[0]] + list(shape[1:])
    for g in session.run(outputs):
        np.testing.assert_array_equal(g, np.concatenate(values))


@pytest.mark.parametrize("source", range(N))
def test_broadcast(group, source):
    session, devices = group
    value = np.random.RandomState(0).rand(50, 100).astype(np.float32)

    def make(i, k):
        if i == source:
            return collective_ops.broadcast_send(
                tf.constant(value), value.shape, tf.float32, N, 1, k)
        return collective_ops.broadcast_recv(value.shape, tf.float32, N, 1, k)

    outputs = on_all(devices, make)
    for _ in range(2):
        for g in session.run(outputs):
            np.testing.assert_array_equal(g, value)


def test_second_versions(group):
    session, devices = group
    sizes = dict(group_size=N, group_key=1)
    rows = [np.arange(6, dtype=np.float32).reshape(6, 1) + 10 * i
            for i in range(N)]
    reduced = on_all(devices, lambda i, k: collective_ops.all_reduce_v2(
        tf.constant(rows[i]), instance_key=k, **sizes))
    gathered = on_all(devices, lambda i, k: collective_ops.all_gather_v2(
        tf.constant(rows[i]), instance_key=k, **sizes))
    sent = on_all(devices, lambda i, k: (
        collective_ops.broadcast_send_v2(tf.constant(rows[1]), instance_key=k,
                                         **sizes) if i == 1 else
        collective_ops.broadcast_recv_v2([6, 1], tf.float32, instance_key=k,
                                         **sizes)))
    scattered = on_all(devices, lambda i, k: (
        tf.raw_ops.CollectiveReduceScatterV2(
            input=rows[i], instance_key=k, merge_op="Add", final_op="Id",
            ordering_token=[], **sizes)))
    swapped = on_all(devices, lambda i, k: tf.raw_ops.CollectiveAllToAllV2(
        input=rows[i], instance_key=k, ordering_token=[], **sizes))
    got = session.run([reduced, gathered, sent, scattered, swapped])
    for i in range(N):
        np.testing.assert_array_equal(got[0][i], sum(rows))
        np.testing.assert_array_equal(got[1][i], np.concatenate(rows))
        np.testing.assert_array_equal(got[2][i], rows[1])
        np.testing.assert_array_equal(got[3][i], sum(rows)[2 * i:2 * i + 2])
        np.testing.assert_array_equal(
            got[4][i], np.concatenate([r[2 * i:2 * i + 2] for r in rows]))


def test_part_of_the_devices_are_a_group(group):
    session, devices = group
    got = session.run(on_all(devices[1:], lambda i, k: collective_ops.all_reduce(
        tf.constant([1. + i]), 2, 2, k, "Add", "Id")))
    assert [g.tolist() for g in got] == [[3], [3]]


def test_refusals(group):
    session, devices = group
    with pytest.raises(tf.errors.InvalidArgumentError, match="is complete|joining"):
        session.run(on_all(devices[:2], lambda i, k: collective_ops.all_reduce(
            tf.constant([1.]), 2 + i, 70, k, "Add", "Id")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bytes"):
        session.run(on_all(devices, lambda i, k: collective_ops.all_reduce(
            tf.constant([1.] * (1 + i)), N, 1, k, "Add", "Id")))
    # The session goes on.
    got = session.run(on_all(devices, lambda i, k: collective_ops.all_reduce(
        tf.constant([1.]), N, 1, k, "Add", "Id")))
    assert [g.tolist() for g in got] == [[3]] * N


def test_who_does_not_come_is_named(group):
    session, devices = group
    output = on_all(devices[:1], lambda i, k: collective_ops.all_reduce(
        tf.constant([1.]), 2, 80, k, "Add", "Id"))
    with Deadline(20), pytest.raises(
            tf.errors.DeadlineExceededError,
            match="the other members of its group 80"):
        session.run(output, options=tf.RunOptions(timeout_in_ms=500))


def test_sessions_that_bring_clusters_have_groups_of_their_own(servers):
    """One key is another group in each, whatever they call the tasks."""
    first, second, third = servers.spec["worker"]
    target = servers.target("worker")
    # The servers' own name among them, and a task that no session has.
    for spec, devices, more in (
            ({"worker": [first, second, third]},
             ["/job:worker/task:0", "/job:worker/task:2"], {}),
            ({"ps": {5: third}, "alone": [first]},
             ["/job:ps/task:5", "/job:alone/task:0"], {}),
            ({"worker": [second, first, third]},
             ["/job:worker/task:1", "/job:worker/task:2"],
             {"device_filters": ["/job:worker/task:2"]})):
        with tf.Graph().as_default():
            outputs = on_all(devices, lambda i, k: collective_ops.all_reduce(
                tf.constant([1. + i]), 2, 1, k, "Add", "Id"))
            config = bringing(spec, **more)
            with tf.Session(target, config=config) as s, \
                    tf.Session(target, config=config) as same:
                for _ in range(2):
                    for session in (s, same):
                        got = session.run(outputs)
                        assert [g.tolist() for g in got] == [[3], [3]]


def test_steps_of_one_session_that_brings_a_cluster_run_at_once(servers):
    x = tf.placeholder(tf.float32, [2000])
    outputs = on_all(["/job:worker/task:%d" % i for i in range(N)],
                     lambda i, k: collective_ops.all_reduce(
                         tf.identity(x), N, 1, k, "Add", "Id"))
    with tf.Session(servers.target("worker"), config=servers.config()) as s:
        failures = []

        def run(value):
            try:
                for _ in range(20):
                    for g in s.run(outputs, {x: np.full([2000], value)}):
                        np.testing.assert_array_equal(g, np.full(
                            [2000], N * value))
            except Exception as e:  # for the test's own thread
                failures.append(e)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        assert not failures, failures[0]


def test_the_leader_of_a_cluster_that_a_session_brings(servers):
    def run(leader, **more):
        config = servers.config(**more)
        config.experimental.collective_group_leader = leader
        with tf.Session(servers.target("worker"), config=config) as s:
            return s.run(outputs)

    outputs = on_all(["/job:worker/task:%d" % i for i in (0, 2)],
                     lambda i, k: collective_ops.all_reduce(
                         tf.constant([1. + i]), 2, 1, k, "Add", "Id"))
    got = run("/job:worker/replica:0/task:1")  # not in the group itself
    assert [g.tolist() for g in got] == [[3], [3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such task"):
        run("/job:alone/replica:0/task:0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such task"):
        run("/job:worker/task:1", device_filters=["/job:worker/task:2"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="nonsense"):
        run("nonsense")


def test_sessions_that_share_state_have_the_servers_groups(servers):
    outputs = on_all(["/job:alone/task:0"] * 2,
                     lambda i, k: collective_ops.all_reduce(
                         tf.constant([1.]), 2, 1, k, "Add", "Id"))
    config = bringing({"alone": servers.spec["worker"][:2]})
    config.experimental.share_session_state_in_clusterspec_propagation = True
    config.device_filters.append("/job:alone/task:0")
    with tf.Session(servers.target("worker"), config=config) as s:
        with pytest.raises(tf.errors.UnimplementedError,
                           match="groups are those of the servers' cluster"):
            s.run(outputs)


def test_a_member_that_dies_ends_the_step(servers):
    outputs = on_all(["/job:worker/task:%d" % i for i in range(N)],
                     lambda i, k: collective_ops.all_reduce(
                         tf.constant([1.]), N, 1, k, "Add", "Id"))
    waits = on_all(["/job:worker/task:0"], lambda i, k: (
        collective_ops.all_reduce(tf.constant([1.]), N, 1, k, "Add", "Id")))
    with tf.device("/job:worker/task:2"):
        stays = tf.FIFOQueue(1, tf.float32).dequeue()
    target = servers.target("worker")
    with tf.Session(target, config=servers.config()) as s:
        s.run(outputs)
        killer = threading.Timer(1, servers.kill, ["worker", 2])
        killer.start()
        with Deadline(25), pytest.raises(tf.errors.OpError,
                                         match="/job:worker/replica:0/task:2"):
            s.run([waits, stays])
        killer.join()
        servers.start("worker", 2)
        with pytest.raises((tf.errors.AbortedError,  # its session is gone
                            tf.errors.UnavailableError)):
            s.run(outputs)
    with tf.Session(target, config=servers.config()) as s:
        assert [g.tolist() for g in s.run(outputs)] == [[3]] * N


def test_arguments():
    with pytest.raises(ValueError, match="Device assignment"):
        collective_ops.all_reduce(tf.constant(1.), 2, 1, 1, "Add", "Id")
    with tf.device("/cpu:0"), pytest.raises(ValueError, match="at least 2"):
        collective_ops.all_reduce(tf.constant(1.), 1, 1, 1, "Add", "Id")


def _loss(x, w, b):
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.))


def test_data_parallel_training_is_training_in_one_process(cluster):
    """Each worker has a master, a client and a third of the batch."""
    data = np.random.RandomState(1).rand(6 * N, 4).astype(np.float32)
    start = np.linspace(-1, 1, 4, dtype=np.float32).reshape(4, 1)
    steps = 20

    def worker(task, out):
        try:
            with tf.Graph().as_default(), tf.device(
                    "/job:worker/task:%d" % task):
                w = tf.get_variable("w%d" % task, initializer=start)
                b = tf.get_variable("b%d" % task, initializer=np.zeros(
                    [1], np.float32))
                part = tf.constant(data[6 * task:6 * task + 6])
                loss = _loss(part, w, b)
                grads = tf.gradients(loss, [w, b])
                mean = [collective_ops.all_reduce(g, N, 5, 500 + i, "Add",
                                                  "Div")
                        for i, g in enumerate(grads)]
                train = tf.group(w.assign_sub(.1 * mean[0]),
                                 b.assign_sub(.1 * mean[1]))
                with tf.Session(cluster.target("worker", task),
                                config=CONFIG) as s:
                    s.run([w.initializer, b.initializer])
                    for _ in range(steps):
                        s.run(train)
                    out[task] = s.run([w, b])
        except Exception as e:  # for the test's own thread
            out[task] = e

    got = {}
    threads = [threading.Thread(target=worker, args=(i, got))
               for i in range(N)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    for i in range(N):
        assert not isinstance(got[i], Exception), got[i]
        # All have the same bits.
        np.testing.assert_array_equal(got[i][0], got[0][0])
        np.testing.assert_array_equal(got[i][1], got[0][1])
    w = tf.get_variable("w", initializer=start)
    b = tf.get_variable("b", initializer=np.zeros([1], np.float32))
    # The same sums in one process.
    grads = [tf.gradients(_loss(tf.constant(data[6 * i:6 * i + 6]), w, b),
                          [w, b]) for i in range(N)]
    mean = [((grads[0][k] + grads[1][k]) + grads[2][k]) / N for k in (0, 1)]
    with tf.control_dependencies(mean):
        train = tf.group(w.assign_sub(.1 * mean[0]), b.assign_sub(.1 * mean[1]))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(steps):
            s.run(train)
        np.testing.assert_array_equal(got[0][0], s.run(w))
        np.testing.assert_array_equal(got[0][1], s.run(b))
