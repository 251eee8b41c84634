"""Children of fork() that end, or go on to run, with a session of their parent's."""
import os
import subprocess
import sys

import pytest

START = """
import faulthandler, gc, os, signal, sys, threading, time
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
    # One that hangs says where. A machine at work may take its time.
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(60)
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


# Threads run steps of `session` while the process forks; each child does WORK.
# Its exit code is 0 if that came to an end in one of the ways that WORK allows.
BUSY = START + """
session = tf.Session()
small, small_x = tf.reduce_sum(x), np.ones([1, 2, 2, 32], np.float32)
queue = tf.FIFOQueue(100, tf.float32)
put, take = queue.enqueue(1.), queue.dequeue()
session.run([small, put, y], {x: small_x})
over = False
def go(k):
    token = 0
    while not over:
        session.run(small, {x: small_x})
        session.run(put)
        session.run(take)
        try:
            session.run(y, {x: X[:, :8 + token % 30]}, options=tf.RunOptions(timeout_in_ms=1))
        except tf.errors.DeadlineExceededError:
            pass
        token += 1
threads = [threading.Thread(target=go, args=(k,), daemon=True) for k in range(3)]
for t in threads:
    t.start()
def refused_or(works):
    try:
        works()
    except tf.errors.FailedPreconditionError as e:
        assert "forked" in str(e) and "new session" in str(e), e
WORK
refused = 0
for i in range(FORKS):
    in_child(lambda: work() or os._exit(0) if i % 2 else work())
over = True
for t in threads:
    t.join()
session.run(small, {x: small_x})
"""
USES_OF_A_BUSY_SESSION = {
    "run": "def work(): refused_or(lambda: session.run(small, {x: small_x}))",
    "new_step": "def work(): refused_or(lambda: session.run(tf.constant(1.) + 1, {x: small_x}))",
    "close": "def work(): session.close()",
    "fork_again": """def work():
    in_child(lambda: os._exit(0))""",
    "own_session": """def work():
    with tf.Session() as mine:
        assert mine.run(small, {x: small_x}) == 128
        mine.run(y, {x: small_x})""",
}


@pytest.mark.parametrize("use", USES_OF_A_BUSY_SESSION)
def test_child_of_a_process_that_forked_in_the_middle_of_runs_does_not_hang(use):
    run(BUSY.replace("WORK", USES_OF_A_BUSY_SESSION[use]).replace("FORKS", os.environ.get("FORKS", "25")))


def test_a_session_that_was_running_when_its_process_forked_says_so_in_the_child():
    run(START + """
session = tf.Session()
queue = tf.FIFOQueue(1, tf.float32)
take, put = queue.dequeue(), queue.enqueue(1.)
waiting = threading.Thread(target=lambda: session.run(take))
waiting.start()
while session.run(queue.size()) != 0 or not waiting.is_alive():
    pass
time.sleep(.3)  # it is in the run
def work():
    for call in (lambda: session.run(put), lambda: session.make_callable(put),
                 lambda: session.partial_run_setup([take], [])):
        try:
            call()
            assert False, "it ran"
        except tf.errors.FailedPreconditionError as e:
            assert "forked" in str(e), e
    session.close()
    with tf.Session() as mine:
        mine.run(put)
        assert mine.run(take) == 1
in_child(work)
session.run(put)
waiting.join()
""")


@pytest.mark.parametrize("dataset", [
    "tf.data.Dataset.range(10**12).prefetch(10**6)",
    # Their threads wait for room, but not for ever.
    "tf.data.Dataset.range(10**12).prefetch(2)",
    "tf.data.Dataset.range(10**12).map(slow, num_parallel_calls=4).prefetch(2)"])
def test_an_iterator_that_was_prefetching_when_its_process_forked_says_so(dataset):
    run(START + """
def slow(i):
    return tf.reduce_sum(tf.matmul(tf.ones([300, 300]), tf.fill([300, 300], tf.cast(i, tf.float32))))
following = DATASET.make_one_shot_iterator().get_next()
session = tf.Session()
session.run(following)
def work():
    try:
        for i in range(4):
            session.run(following)
        assert MAY_GO_ON, "it ran"
    except tf.errors.FailedPreconditionError as e:
        assert "forked" in str(e) and "new session" in str(e), e
    with tf.Session() as mine:
        mine.run(following)
    mine = None
    gc.collect()
in_child(work)
session.run(following)
def destroy():
    global session
    del session  # what the thread was filling, and waiting on, goes with it
    gc.collect()
in_child(destroy)
session.run(following)
os._exit(0)
""".replace("DATASET", dataset).replace("MAY_GO_ON", str("prefetch(2)" in dataset)))


# The thread that served the request may be slower than its caller, which forks.
SERVED = {
    "iterator": """
following = tf.data.Dataset.range(10**9).flat_map(tf.data.Dataset.from_tensors).make_one_shot_iterator().get_next()
""",
    "reader": """
names = tf.FIFOQueue(1000, tf.string)
put = names.enqueue_many([["/proc/self/stat"] * 1000])
following = tf.WholeFileReader().read(names)[1]
""",
}


@pytest.mark.parametrize("kind", SERVED)
def test_child_goes_on_with_what_served_its_parents_last_run(kind):
    run(START + "put = None" + SERVED[kind] + """
session = tf.Session()
if put is not None:
    session.run(put)
for i in range(60):
    session.run(following)
    in_child(lambda: os._exit(session.run(following) is None))
""")


def test_child_has_what_the_parents_threads_were_the_first_to_use():
    run(START + """
def build_and_run(seed):
    with tf.Graph().as_default(), tf.Session() as mine:
        a = tf.constant(np.full([4, 4], seed, np.float32))
        image = tf.reshape(tf.tile(a, [2, 2]), [1, 8, 8, 1])
        kernel = tf.ones([seed % 5 + 1, 3, 1, 2])
        values = [
            tf.einsum("ij,jk->ik", a, a), tf.strings.as_string(tf.reduce_sum(a)),
            tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME"),
            tf.nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
            tf.image.resize_bilinear(image, [4, 4]), tf.linalg.inv(a + tf.eye(4) * 99),
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]),
        ]
        assert mine.run(values, options=tf.RunOptions(timeout_in_ms=10**6))[-1] == 3
over = False
def go(k):
    while not over:
        build_and_run(k)
        k += 1
threads = [threading.Thread(target=go, args=(k,), daemon=True) for k in range(3)]
for t in threads:
    t.start()
for i in range(20):
    in_child(lambda: os._exit(build_and_run(i) is not None))
over = True
for t in threads:
    t.join()
""")


def run(script):
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ), timeout=400)
    assert done.returncode == 0, done.stderr
