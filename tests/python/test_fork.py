"""Children of fork() that end, or go on to run, with a session of their parent's."""
import os
import subprocess
import sys

import pytest

START = """
import os, signal, sys, threading, time
import numpy as np
import headrace as tf

x = tf.placeholder(tf.float32, [None, None, None, 32])
y = tf.nn.conv2d(x, tf.ones([3, 3, 32, 32]) * .01, strides=[1, 1, 1, 1], padding="SAME")
X = np.ones([2, 40, 40, 32], np.float32)
config = tf.ConfigProto()

def in_child(work):
    pid = os.fork()
    if pid:
        status = os.waitpid(pid, 0)[1]
        assert status == 0, status
        return
    signal.alarm(20)
    work()
    sys.exit(0)
"""

TUNED = START + """
config.headrace.conv_tuning = config.headrace.BUSY
session = tf.Session(config=config)
session.run(y, {x: X})
time.sleep(WAIT)
def work():
    global session
    WORK
for i in range(4):
    in_child(work)
session.run(y, {x: X[:, 3:]})
"""


@pytest.mark.parametrize("wait", [0, 0.05, 0.6])
@pytest.mark.parametrize("work", [
    "pass", "session.close()", "del session", "session.run(y, {x: X[:, :30]})",
    "session.run(y, {x: X[:, :30]}); session.close()"
])
def test_child_of_a_tuning_session_ends(work, wait):
    run(TUNED.replace("WORK", work).replace("WAIT", str(wait)))


def test_child_runs_while_the_parents_threads_are_in_runs_of_another_session():
    run(START + """
session, mine = tf.Session(), tf.Session()
mine.run(y, {x: X})
over = False
def go():
    size = 8
    while not over:
        session.run(y, {x: X[:, :size, :size]})  # each size needs code of its own
        size = 8 + (size + 1) % 32
threads = [threading.Thread(target=go, daemon=True) for _ in range(3)]
for t in threads:
    t.start()
for i in range(40):
    in_child(lambda: os._exit(mine.run(y, {x: X[:, :8 + i % 30]}) is None))
over = True
for t in threads:
    t.join()
""")


def run(script):
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ), timeout=100)
    assert done.returncode == 0, done.stderr
