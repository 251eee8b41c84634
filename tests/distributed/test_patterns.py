"""One client that trains on a whole cluster: towers, partitioned variables,
sharded checkpoints, and the classes that make sessions."""
import threading

import numpy as np
import pytest

import headrace as tf
from cluster import CONFIG, Cluster, Deadline

PS, WORKERS = 2, 2


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"ps": PS, "worker": WORKERS}) as c:
        yield c


@pytest.fixture
def target(cluster):
    """A master, on whose cluster no variable has a value."""
    tf.Session.reset(cluster.target("worker"))
    return cluster.target("worker")


def replica(cluster, task):
    """Variables go to the parameter servers, the rest to a worker."""
    return tf.device(tf.train.replica_device_setter(
        cluster=cluster.spec, worker_device="/job:worker/task:%d" % task))


def test_towers_on_workers_compute_what_one_process_does(cluster, target):
    random = np.random.RandomState(0)
    xs = random.rand(WORKERS, 8, 5).astype(np.float32)
    ys = random.rand(WORKERS, 8, 3).astype(np.float32)
    weights = random.rand(5, 4)

    def train(target, place):
        with tf.Graph().as_default():
            optimizer = tf.train.AdamOptimizer(.01)
            towers = []
            for task in range(WORKERS):
                with place(task), tf.variable_scope("", reuse=tf.AUTO_REUSE):
                    hidden = tf.layers.dense(
                        xs[task], 4, tf.nn.relu, name="hidden",
                        kernel_initializer=tf.constant_initializer(weights))
                    out = tf.layers.dense(
                        hidden, 3, name="out",
                        kernel_initializer=tf.constant_initializer(
                            np.linspace(-1, 1, 12)))
                    loss = tf.reduce_mean(tf.square(out - ys[task]))
                    towers.append(optimizer.compute_gradients(loss))
            means = [((a + b) / 2, v)
                     for (a, v), (b, _) in zip(*towers)]
            update = optimizer.apply_gradients(means)
            with tf.Session(target, config=CONFIG) as session:
                session.run(tf.global_variables_initializer())
                for _ in range(10):
                    session.run(update)
                devices = {v.op.device for v in tf.trainable_variables()}
                return session.run(tf.trainable_variables()), devices

    there, devices = train(target, lambda task: replica(cluster, task))
    here, _ = train("", lambda task: tf.device(None))
    assert devices == {"/job:ps/task:%d" % i for i in range(PS)}
    for a, b in zip(there, here):
        np.testing.assert_array_equal(a, b)


def partitioned(cluster, rows=7):
    """A table with a part on each parameter server, and its gradient's use."""
    with replica(cluster, 0):
        step = tf.train.get_or_create_global_step()
        table = tf.get_variable(
            "table", [rows, 2], initializer=tf.zeros_initializer(),
            partitioner=tf.fixed_size_partitioner(PS))
        ids = tf.placeholder(tf.int64, [None])
        found = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
        loss = tf.reduce_sum(tf.square(found - 1))
        train = tf.train.GradientDescentOptimizer(.5).minimize(loss, step)
    return table, ids, found, train


def test_partitioned_variables_lie_on_all_parameter_servers(cluster, target):
    table, ids, found, train = partitioned(cluster)
    assert sorted(part.op.device for part in table) == [
        "/job:ps/task:0", "/job:ps/task:1"]
    assert [part.shape.as_list() for part in table] == [[4, 2], [3, 2]]
    with tf.Session(target, config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {ids: [1, 3, 4]})
        got = session.run(tf.convert_to_tensor(table))
        np.testing.assert_array_equal(
            got[:, 0], [0, 1, 0, 1, 1, 0, 0])
        np.testing.assert_array_equal(
            session.run(found, {ids: [6, 4, 3, 0]})[:, 1], [0, 1, 1, 0])


@pytest.mark.parametrize("sharded", [False, True])
def test_checkpoints_of_a_cluster(cluster, target, tmp_path, sharded):
    """Each parameter server writes its own part of a sharded one. Who reads it
    need not know."""
    table, ids, _, train = partitioned(cluster)
    saver = tf.train.Saver(sharded=sharded)
    with tf.Session(target, config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {ids: [2, 5]})
        path = saver.save(session, str(tmp_path / "model"), global_step=3)
        saved = session.run(tf.convert_to_tensor(table))
        session.run(train, {ids: [0, 1]})
    shards = sorted(p.name for p in tmp_path.glob("model-3.data-*"))
    number = PS if sharded else 1
    assert shards == ["model-3.data-%05d-of-%05d" % (i, number)
                      for i in range(number)]
    tf.Session.reset(target)
    with tf.Session(target, config=CONFIG) as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(list(table)[0])
        saver.restore(session, path)
        np.testing.assert_array_equal(
            session.run(tf.convert_to_tensor(table)), saved)
    with tf.Graph().as_default(), tf.Session() as session:
        whole = tf.get_variable("table", [7, 2])
        tf.train.Saver([whole]).restore(session, path)
        np.testing.assert_array_equal(session.run(whole), saved)


def test_a_worker_waits_until_the_chief_has_made_it_ready(cluster, target):
    with replica(cluster, 0):
        v = tf.get_variable("v", initializer=3.)
    init = tf.global_variables_initializer()
    manager = tf.train.SessionManager(
        ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=.05)
    with Deadline(20), pytest.raises(tf.errors.DeadlineExceededError,
                                     match="not ready"):
        manager.wait_for_session(target, config=CONFIG, max_wait_secs=.2)
    got = []

    def wait():
        with manager.wait_for_session(cluster.target("worker", 1),
                                      config=CONFIG,
                                      max_wait_secs=20) as session:
            got.append(session.run(v))

    waits = threading.Thread(target=wait)
    waits.start()
    manager.prepare_session(target, init_op=init, config=CONFIG).close()
    waits.join(30)
    assert got == [3.]
    session, restored = manager.recover_session(target, config=CONFIG)
    with session:
        assert not restored and session.run(v) == 3


def test_a_supervisor_and_its_worker(cluster, target, tmp_path):
    def program(is_chief):
        with tf.Graph().as_default():
            with replica(cluster, 0 if is_chief else 1):
                step = tf.train.get_or_create_global_step()
                w = tf.get_variable("w", initializer=[0., 0.])
                loss = tf.reduce_sum(tf.square(w - [1., 2.]))
                train = tf.train.GradientDescentOptimizer(.1).minimize(
                    loss, step)
            supervisor = tf.train.Supervisor(
                is_chief=is_chief, logdir=str(tmp_path), recovery_wait_secs=.05,
                save_model_secs=0, save_summaries_secs=0)
            with supervisor.managed_session(
                    cluster.target("worker", 0 if is_chief else 1),
                    config=CONFIG) as session:
                begins = session.run(step)
                for _ in range(20):
                    session.run(train)
                if is_chief:
                    supervisor.saver.save(session, supervisor.save_path,
                                          global_step=step)
            return begins

    assert program(True) == 0
    # The variables are where they were.
    assert program(False) == 20
    # A new chief begins with the checkpoint, whatever the servers have.
    assert program(True) == 20
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-40")


@pytest.mark.parametrize("of", ["dict", "indices", "spec", "def"])
def test_a_device_setter_takes_every_form_of_a_cluster(cluster, target, of):
    spec = tf.train.ClusterSpec(cluster.spec)
    given = {"dict": cluster.spec, "spec": spec, "def": spec.as_cluster_def(),
             "indices": {job: dict(enumerate(tasks))
                         for job, tasks in cluster.spec.items()}}[of]
    with tf.device(tf.train.replica_device_setter(cluster=given)):
        vs = [tf.get_variable("v%d" % i, initializer=float(i))
              for i in range(3)]
        total = tf.add_n(vs)
    assert [v.op.device for v in vs] == [
        "/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    with tf.Session(target, config=CONFIG) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 3
