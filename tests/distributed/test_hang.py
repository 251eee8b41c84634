"""headrace hang, and what a deadline says."""
import pathlib
import re
import subprocess
import threading
import time

import pytest

import headrace as tf
from cluster import CONFIG, Cluster, Deadline, free_ports

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/bin/headrace"


@pytest.fixture(scope="module", params=["servers'", "session's"])
def cluster(request):
    """Whose the cluster is."""
    with Cluster({"ps": 1, "worker": 2}, 
                 alone=request.param == "session's") as c:
        yield c


def config_of(cluster):
    return cluster.config() if cluster.alone else CONFIG


def waiting_step():
    """On worker 1, for what ps 0 takes from a queue that stays empty."""
    with tf.device("/job:ps"):
        element = tf.FIFOQueue(1, tf.float32, name="empty").dequeue(
            name="take")
    with tf.device("/job:worker/task:1"):
        return tf.identity(element, name="far") + 1


def test_a_deadline_says_who_waits_for_what(cluster):
    step = waiting_step()
    with tf.Session(cluster.target("worker"), config=config_of(cluster)) as s:
        s.run(tf.constant(0))
        with Deadline(20), pytest.raises(tf.errors.DeadlineExceededError) as e:
            s.run(step, options=tf.RunOptions(timeout_in_ms=1500))
    message = e.value.message
    # The task with its address, since when, and what its nodes wait for.
    where = "/job:ps/replica:0/task:0 at " + cluster.spec["ps"][0]
    assert re.search(re.escape(where) + " since [0-9]", message), message
    assert "/job:ps/replica:0/task:0 waits: node 'take'" in message
    assert "an element" in message
    assert "/job:worker/replica:0/task:1 waits: node " in message
    assert "from /job:ps/replica:0/task:0/device:CPU:0" in message


@pytest.mark.skipif(not PROGRAM.exists(),
                    reason="the command line was not built")
def test_the_command(cluster):
    step = waiting_step()
    session = tf.Session(cluster.target("worker"), config=config_of(cluster))
    session.run(tf.constant(0))

    def wait():
        with pytest.raises(tf.errors.CancelledError):
            session.run(step)

    thread = threading.Thread(target=wait)
    thread.start()
    end = time.monotonic() + 20
    while True:  # from any task
        text = subprocess.run(
            [PROGRAM, "hang", cluster.target("worker", 1)], timeout=30,
            check=True, stdout=subprocess.PIPE, text=True).stdout
        if text.count("node ") >= 2:
            break
        assert time.monotonic() < end, text
    session.close()
    thread.join(20)
    assert not thread.is_alive()
    lines = text.splitlines()
    ps = lines.index("/job:ps/replica:0/task:0:")
    assert "node 'take' (QueueDequeueV2) for an element" in lines[ps + 1]
    asked = "/job:worker/replica:0/task:1"
    own_name = "/job:alone/replica:0/task:0" if cluster.alone else asked
    worker = lines.index(own_name + ":")
    # "step 1 of a session that calls it NAME, for 1.2s: node 'a' (_Recv) ..."
    assert re.match("  step [0-9]+%s, for [0-9.]+m?s?: node '" % (
        " of a session that calls it " + asked if cluster.alone else ""),
        lines[worker + 1]), lines[worker + 1]
    assert "(_Recv) for tensor" in lines[worker + 1]
    assert "from /job:ps/replica:0/task:0/device:CPU:0" in lines[worker + 1]


@pytest.mark.skipif(not PROGRAM.exists(),
                    reason="the command line was not built")
@pytest.mark.parametrize("arguments, words", [
    ([], "TARGET is needed"), (["--timeout", "x", "grpc://localhost:1"],
                               "wanted a number"),
    (["grpc://nonsense"], "no address"), (["--nonsense"], "--nonsense"),
    (["grpc://localhost:%d" % free_ports(1)[0]], "DescribeWaits of")])
def test_refusals(arguments, words):
    run = subprocess.run([PROGRAM, "hang"] + arguments, timeout=30, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.returncode in (1, 2)
    assert words in run.stderr
