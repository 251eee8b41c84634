"""Sessions whose clients are gone, and calls of masters that are not there."""
import subprocess
import sys
import time

import pytest

import headrace as tf
from cluster import Cluster, free_ports

# Ends without closing its session.
CLIENT = """
import os, sys
import headrace as tf
session = tf.Session(sys.argv[1],
                     config=tf.ConfigProto(operation_timeout_in_ms=30000))
try:
    session.run(tf.constant(1))
except tf.errors.ResourceExhaustedError:
    os._exit(3)
os._exit(0)
"""


def client(target):
    return subprocess.run([sys.executable, "-c", CLIENT, target],
                          timeout=120).returncode


def test_sessions_of_dead_clients_end(monkeypatch):
    monkeypatch.setenv("HEADRACE_MAX_SESSIONS_OF_CLIENT", "1")
    monkeypatch.setenv("HEADRACE_SESSION_TTL_S", "2")
    with Cluster({"worker": 1}) as c:
        assert client(c.target("worker")) == 0
        end = time.monotonic() + 60
        while (code := client(c.target("worker"))) == 3:
            assert time.monotonic() < end
        assert code == 0


def test_a_time_that_is_none(monkeypatch):
    monkeypatch.setenv("HEADRACE_SESSION_TTL_S", "-1")
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="HEADRACE_SESSION_TTL_S"):
        tf.train.Server.create_local_server()


def test_a_wait_for_a_master_is_said():
    port = free_ports(1)[0]
    run = subprocess.run(
        [sys.executable, "-c", "import headrace as tf\n"
         "tf.Session('grpc://localhost:%d').run(tf.constant(1), "
         "options=tf.RunOptions(timeout_in_ms=8000))" % port],
        timeout=120, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.returncode == 1
    assert ("still waiting for the master at localhost:%d since " % port
            in run.stderr)
    assert "DeadlineExceededError" in run.stderr
