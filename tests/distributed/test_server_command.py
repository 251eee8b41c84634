"""headrace server."""
import pathlib
import subprocess

import pytest

import headrace as tf
from cluster import CONFIG, free_ports

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/bin/headrace"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(),
                                reason="the command line was not built")


def test_a_task_until_it_is_killed():
    address = "localhost:%d" % free_ports(1)[0]
    server = subprocess.Popen(
        [PROGRAM, "server", "--cluster", "ps|%s" % address, "--job", "ps"],
        stdout=subprocess.PIPE, text=True)
    try:
        target = server.stdout.readline().strip()
        assert target == "grpc://" + address
        x = tf.placeholder(tf.float32, [])
        with tf.Session(target, config=CONFIG) as s:
            assert s.run(x * 2, {x: 4.}) == 8
    finally:
        server.kill()
        server.wait(10)
        server.stdout.close()


@pytest.mark.parametrize("arguments, words", [
    ([], "--cluster and --job are needed"),
    (["--cluster", "ps|localhost:0"], "--cluster and --job are needed"),
    (["--cluster", "ps", "--job", "ps"], "is no job"),
    (["--cluster", "ps|localhost:0", "--job", "ps", "--task", "x"],
     "wanted a number"),
    (["--cluster", "ps|localhost:0", "--job", "ps", "--task", "3"],
     "has no /job:ps/replica:0/task:3"),
    (["--cluster", "ps|example.com:0", "--job", "ps"], "not encrypted"),
    (["--nonsense"], "--nonsense"), (["extra"], "too much")])
def test_refusals(arguments, words):
    run = subprocess.run([PROGRAM, "server"] + arguments, timeout=30, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.returncode in (1, 2)
    assert words in run.stderr


def test_help():
    run = subprocess.run([PROGRAM, "server", "--help"], timeout=30, text=True,
                         stdout=subprocess.PIPE)
    assert run.returncode == 0 and "--cluster CLUSTER" in run.stdout
