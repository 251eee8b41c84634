"""tf.train.ClusterSpec, and what tf.train.Server refuses."""
import gc

import pytest

import headrace as tf


def test_a_cluster_spec_says_what_it_was_given():
    spec = tf.train.ClusterSpec(
        {"ps": ["a:1", "b:2"], "worker": {3: "d:4", 1: "c:3"}})
    assert sorted(spec.jobs) == ["ps", "worker"]
    assert spec.num_tasks("ps") == 2
    assert spec.task_indices("worker") == [1, 3]
    assert spec.task_address("worker", 3) == "d:4"
    assert spec.job_tasks("worker") == [None, "c:3", None, "d:4"]
    assert spec.as_dict() == {"ps": ["a:1", "b:2"],
                              "worker": {1: "c:3", 3: "d:4"}}
    assert tf.train.ClusterSpec(spec) == spec
    assert tf.train.ClusterSpec(spec.as_cluster_def()) == spec
    assert spec and not tf.train.ClusterSpec({})


@pytest.mark.parametrize("cluster", [
    3, [("ps", ["a:1"])], {"ps": "a:1"}, {"ps": [1]}, {1: ["a:1"]},
    {"ps": {"0": "a:1"}}])
def test_what_is_no_cluster(cluster):
    with pytest.raises(TypeError):
        tf.train.ClusterSpec(cluster)


def test_tasks_that_are_not_there():
    spec = tf.train.ClusterSpec({"ps": ["a:1"]})
    with pytest.raises(ValueError, match="No such job"):
        spec.num_tasks("worker")
    with pytest.raises(ValueError, match="No task with index 1"):
        spec.task_address("ps", 1)


@pytest.mark.parametrize("cluster, job, task, error, words", [
    ({"ps": ["localhost:0"]}, "worker", 0, tf.errors.InvalidArgumentError,
     "has no /job:worker/replica:0/task:0"),
    ({"ps": ["localhost:0"]}, "ps", 1, tf.errors.InvalidArgumentError,
     "has no /job:ps/replica:0/task:1"),
    ({"ps": ["localhost"]}, "ps", 0, tf.errors.InvalidArgumentError,
     "'localhost' is no address"),
    ({"ps": ["localhost:123456"]}, "ps", 0, tf.errors.InvalidArgumentError,
     "is no address"),
    ({"p s": ["localhost:0"]}, "p s", 0, tf.errors.InvalidArgumentError,
     "no name of a job"),
    ({"ps": ["localhost:7000", "localhost:7000"]}, "ps", 0,
     tf.errors.InvalidArgumentError, "have one address"),
    ({"ps": ["0.0.0.0:0"]}, "ps", 0, tf.errors.PermissionDeniedError,
     "listens on all interfaces"),
    ({"ps": ["example.com:7000"]}, "ps", 0, tf.errors.PermissionDeniedError,
     "not encrypted")])
def test_servers_that_cannot_be(cluster, job, task, error, words):
    with pytest.raises(error, match=words):
        tf.train.Server(cluster, job_name=job, task_index=task)


def test_another_protocol():
    with pytest.raises(tf.errors.UnimplementedError, match="'grpc\\+verbs'"):
        tf.train.Server({"ps": ["localhost:0"]}, protocol="grpc+verbs")


def test_two_servers_at_one_port():
    first = tf.train.Server.create_local_server()
    address = first.target[len("grpc://"):]
    with pytest.raises(tf.errors.UnavailableError, match="cannot listen"):
        tf.train.Server({"local": [address]})


def test_a_job_that_must_be_named():
    with pytest.raises(ValueError, match="job_name"):
        tf.train.Server({"a": ["localhost:0"], "b": ["localhost:1"]})
    with pytest.raises(ValueError, match="task_index"):
        tf.train.Server({"a": ["localhost:0", "localhost:1"]})


def test_a_local_server_runs_sessions_until_it_stops():
    server = tf.train.Server.create_local_server()
    assert server.server_def.job_name == "local"
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(server.target) as session:
        assert session.run(x * 2, {x: [1, 2]}).tolist() == [2, 4]
        server.stop()
        with pytest.raises(tf.errors.OpError):
            session.run(x * 2, {x: [1, 2]})
    server.join()
    with pytest.raises(tf.errors.FailedPreconditionError, match="was stopped"):
        server.start()


def test_an_unknown_scheme():
    with pytest.raises(tf.errors.NotFoundError, match="grpc://"):
        tf.Session("http://localhost:1")


def test_a_server_that_nothing_refers_to_serves():
    # As the one that tf.estimator.train_and_evaluate starts for a worker.
    def start():
        return tf.train.Server.create_local_server().target
    target = start()
    gc.collect()
    x = tf.placeholder(tf.float32, [2])
    config = tf.ConfigProto(operation_timeout_in_ms=10000)
    with tf.Session(target, config=config) as session:
        assert session.run(x * 2, {x: [1, 2]}).tolist() == [2, 4]
