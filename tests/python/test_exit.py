"""The end of a program, whatever its threads are doing."""
import subprocess
import sys
import time

import pytest

QUEUES = """
import numpy as np
import headrace as tf
x = tf.train.slice_input_producer([np.arange(100, dtype=np.float32)])[0]
batch = tf.train.shuffle_batch([x * 2], 4, num_threads=3, capacity=100,
                               min_after_dequeue=10)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
tf.train.start_queue_runners(sess)
for _ in range(10):
    sess.run(batch)
"""
BUSY = """
import random, threading, time
import numpy as np
import headrace as tf
a = tf.placeholder(tf.float32, [None, None])
product = tf.matmul(a, a)
image = tf.tile(tf.reshape(a, [1, 64, 64, 1]), [1, 1, 1, 16])
conv = tf.nn.conv2d(image, tf.ones([3, 3, 16, 16]), strides=[1, 1, 1, 1],
                    padding="SAME")
wait = tf.FIFOQueue(3, tf.float32).dequeue()
def slow(v):
    time.sleep(0.003)
    return v
called = tf.py_func(slow, [a], tf.float32)
element = tf.data.Dataset.range(10**9).map(
    lambda v: tf.py_func(slow, [v], tf.int64), 4).prefetch(
        50).make_one_shot_iterator().get_next()
sess = tf.Session()
A = np.ones((64, 64), np.float32)
def run(fetches, feeds):
    while True:
        sess.run(fetches, feeds)
def build():
    while True:
        with tf.Graph().as_default(), tf.Session() as other:
            other.run(tf.constant(1.) + tf.constant([2.]))
for fetches, feeds in [(product, {a: A}), (conv, {a: A}), (wait, {}),
                       (called, {a: A}), (element, {}),
                       ({"x": [product, (conv, called)]}, {a: A.tolist()})]:
    threading.Thread(target=run, args=(fetches, feeds), daemon=True).start()
threading.Thread(target=build, daemon=True).start()
time.sleep(0.2 + random.random() * 0.2)
"""
SLEEPING = """
import threading, time
import headrace as tf
begun = threading.Event()
def nap(*args):
    begun.set()
    time.sleep(1000)
nap_now = tf.py_func(nap, [], tf.double)
sess = tf.Session()
def run(sess, fetch, timeout=0):
    try:
        sess.run(fetch, options=tf.RunOptions(timeout_in_ms=timeout))
    except tf.errors.DeadlineExceededError:
        pass
"""


def finish(script, limit=60):
    """Runs the script; the seconds that its end took."""
    out = subprocess.run(
        [sys.executable, "-c", script + "\nprint(__import__('time').time())"],
        capture_output=True, timeout=limit, text=True)
    assert out.returncode == 0, (out.returncode, out.stderr[-2000:])
    assert not out.stderr, out.stderr[-2000:]
    return time.time() - float(out.stdout)


# The faults that this is about came in most ends, not in all.
@pytest.mark.parametrize("script", [QUEUES, BUSY], ids=["queues", "busy"])
def test_end_while_daemon_threads_are_in_runs(script):
    for _ in range(4):
        finish(script)


@pytest.mark.slow
def test_many_ends_while_daemon_threads_are_in_runs():
    for _ in range(40):
        finish(QUEUES)


@pytest.mark.parametrize("use", [
    "threading.Thread(target=run, args=(sess, nap_now), daemon=True).start()",
    "run(sess, nap_now, 50)",
    "run(tf.Session(), nap_now, 50)",  # whose object goes before the end
    """
element = tf.data.Dataset.range(5).map(
    lambda v: tf.py_func(nap, [v], tf.int64)).prefetch(
        2).make_one_shot_iterator().get_next()
run(sess, element, 50)"""],
    ids=["a daemon thread", "a run that was left", "a session that is gone",
         "a dataset"])
def test_a_sleeping_py_func_does_not_hold_up_the_end(use):
    assert finish(SLEEPING + use + "\nbegun.wait()") < 15


def test_functions_and_runs_work_in_exit_handlers():
    script = """
import atexit, threading
stop = threading.Event()
def finish():
    stop.set()
    thread.join(30)
    print(thread.is_alive(), sess.run(doubled, {x: 21.0}))
atexit.register(finish)  # and so called after what the library registers
import headrace as tf
x = tf.placeholder(tf.double, [])
doubled = tf.py_func(lambda v: v * 2, [x], tf.double)
sess = tf.Session()
def work():
    while not stop.is_set():
        sess.run(doubled, {x: 1.0})
thread = threading.Thread(target=work, daemon=True)
thread.start()
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True,
                         timeout=60, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, "False 42.0\n", "")
