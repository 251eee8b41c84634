"""A cluster with certificates, a token and one folder, as it would be on several
machines."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import headrace as tf
from cluster import CONFIG, Cluster

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/bin/headrace"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(),
                                reason="the command line was not built")


def certs(folder, *arguments):
    run = subprocess.run([PROGRAM, "certs", str(folder), *arguments],
                         timeout=30, text=True, capture_output=True)
    return run.returncode, run.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Certificates, others, a token, and a folder for checkpoints."""
    root = tmp_path_factory.mktemp("secure")
    for name in ("certs", "other"):
        assert certs(root / name) == (0, "")
    (root / "token").write_text("between us\n".replace(" ", "-"))
    (root / "wrong").write_text("guessed")
    (root / "data").mkdir()
    return root


@pytest.fixture(scope="module")
def cluster(files):
    variables = {"HEADRACE_TLS_DIR": str(files / "certs"),
                 "HEADRACE_TOKEN_FILE": str(files / "token"),
                 "HEADRACE_ALLOW_FOLDERS": str(files / "data")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with Cluster({"ps": 1, "worker": 2}) as made:
            yield made


@pytest.fixture
def client(monkeypatch):
    """Sets what the client has."""
    def put(**variables):
        for name, value in variables.items():
            name = "HEADRACE_" + name
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, str(value))
    return put


def test_training_and_a_checkpoint(cluster, files, client):
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
        w = tf.get_variable("w", initializer=np.float32([0, 0]))
        x = tf.placeholder(tf.float32, [2])
        with tf.device("/job:worker/task:1"):
            loss = tf.reduce_sum(tf.square(w - x))
        train = tf.train.GradientDescentOptimizer(.5).minimize(loss)
        saver = tf.train.Saver(sharded=True)
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        s.run(tf.global_variables_initializer())
        s.run(train, {x: [3, 4]})
        assert s.run(w).tolist() == [3, 4]
        path = saver.save(s, str(files / "data" / "model"))
        s.run(train, {x: [0, 0]})
        saver.restore(s, path)
        assert s.run(w).tolist() == [3, 4]
        # Whichever node comes first.
        with pytest.raises(tf.errors.PermissionDeniedError,
                           match=r"--allow-folder.*op (SaveV2|Merge)"):
            saver.save(s, str(files / "elsewhere"))
        assert s.run(w).tolist() == [3, 4]  # the session goes on
    assert not list(files.glob("elsewhere*"))


def test_reading_what_is_no_business_of_the_client(cluster):
    name = tf.placeholder(tf.string, [])
    with tf.device("/job:ps"):
        read = tf.read_file(name)
        lines = tf.data.TextLineDataset(
            name).make_initializable_iterator()
        line = lines.get_next()  # opens the file
    with tf.device("/job:worker/task:1"):
        matching = tf.matching_files(name)
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        s.run(lines.initializer, {name: "/etc/passwd"})
        for step in (read, line, matching):
            with pytest.raises(tf.errors.PermissionDeniedError,
                               match="/etc/passwd"):
                s.run(step, {name: "/etc/passwd"})


def test_a_function_of_the_client_does_not_run_there(cluster):
    with tf.device("/job:ps"):
        called = tf.py_func(lambda: np.float32(1), [], tf.float32)
    with tf.Session(cluster.target("worker"), config=CONFIG) as s:
        with pytest.raises(tf.errors.PermissionDeniedError,
                           match="PyFunc.*runs code.*HEADRACE_ALLOW_OPS"):
            s.run(called)


@pytest.mark.parametrize("has, words", [
    ({"TLS_DIR": None}, "set HEADRACE_TLS_DIR"),
    ({"TLS_DIR": "other"}, "is not accepted.*other/ca.pem"),
    ({"TLS_DIR": "nowhere"}, "nowhere"),
    ({"TOKEN_FILE": None}, "the call has none"),
    ({"TOKEN_FILE": "wrong"}, "not the server's")])
def test_clients_that_are_refused(cluster, files, client, has, words):
    client(**{name: value and files / value for name, value in has.items()})
    with pytest.raises((tf.errors.UnauthenticatedError,
                        tf.errors.NotFoundError), match=words):
        with tf.Session(cluster.target("worker"), config=CONFIG) as s:
            s.run(tf.constant(1))


def test_a_server_beyond_this_machine(files, client):
    """With certificates it may; none of its address is needed to say so."""
    spec = {"worker": ["192.0.2.1:0"]}  # of nobody
    client(TLS_DIR=None)
    with pytest.raises(tf.errors.PermissionDeniedError,
                       match="headrace certs"):
        tf.train.Server(spec)
    client(TLS_DIR=files / "certs")
    with pytest.raises(tf.errors.UnavailableError, match="cannot listen"):
        tf.train.Server(spec)
    with pytest.raises(tf.errors.PermissionDeniedError,
                       match="all interfaces"):
        tf.train.Server({"worker": ["0.0.0.0:0"]})


@pytest.mark.parametrize("arguments, words", [
    ([], "DIR is needed"), (["a", "b"], "'a' or 'b'"),
    (["a", "--days", "0"], "--days is '0'"), (["a", "--dais", "3"], "--days"),
    (["/dev/null/x"], "/dev/null"),
    (["{tmp}", "--host", "a b"], "no name of a host")])
def test_certs_refuses(tmp_path, arguments, words):
    run = subprocess.run(
        [PROGRAM, "certs"] + [a.format(tmp=tmp_path) for a in arguments],
        timeout=30, text=True, capture_output=True, cwd=tmp_path)
    assert run.returncode in (1, 2) and words in run.stderr


def test_a_server_of_the_command_line(files, tmp_path, client):
    """Its flags are what the variables are."""
    from cluster import free_ports
    address = "localhost:%d" % free_ports(1)[0]
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("HEADRACE_")}
    server = subprocess.Popen(
        [PROGRAM, "server", "--cluster", "worker|" + address, "--job", "worker",
         "--tls", files / "certs", "--token", files / "token",
         "--allow-folder", files / "data", "--allow-folder", tmp_path],
        stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout.readline() == "grpc://%s\n" % address
        client(TLS_DIR=files / "certs", TOKEN_FILE=files / "token")
        (tmp_path / "f").write_text("mine")
        name = tf.placeholder(tf.string, [])
        read = tf.read_file(name)
        with tf.Session("grpc://" + address, config=CONFIG) as s:
            assert s.run(read, {name: str(tmp_path / "f")}) == b"mine"
            with pytest.raises(tf.errors.PermissionDeniedError):
                s.run(read, {name: str(files / "token")})
    finally:
        server.kill()
        server.wait(10)
        server.stdout.close()
