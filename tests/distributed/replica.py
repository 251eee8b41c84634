"""A worker of a cluster, which trains; test_replicated_training.py starts several.

    python replica.py KIND CLUSTER TASK FOLDER

Parameter servers are elsewhere. A line "step N" is printed after each step.
Where the training has no end of its own, the file FOLDER/stop ends it.
"""
import os
import sys
import time

import numpy as np

import headrace as tf

KIND, CLUSTER, TASK, FOLDER = (
    sys.argv[1], eval(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
WORKERS = len(CLUSTER["worker"])
# Others may come and go.
CONFIG = tf.ConfigProto(
    device_filters=["/job:ps", "/job:worker/task:%d" % TASK],
    operation_timeout_in_ms=60000)
STEPS = 12


def say(*words):
    print(*words, flush=True)


def batch(task, step):
    """The examples of a worker's step: x and y."""
    random = np.random.RandomState(1000 * task + step)
    x = random.rand(6, 4).astype(np.float32)
    return x, (x @ [[1.], [-2.], [3.], [.5]] + 1).astype(np.float32)


def model(x=None, y=None):
    """Examples, the loss and the variables; placeholders if not given."""
    if x is None:
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", initializer=np.full([4, 1], .25, np.float32))
    b = tf.get_variable("b", initializer=np.zeros([1], np.float32))
    return x, y, tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y)), [w, b]


def on_this_worker():
    return tf.device(tf.train.replica_device_setter(
        cluster=CLUSTER, worker_device="/job:worker/task:%d" % TASK))


def asynchronous(target):
    """Until there is FOLDER/stop; the chief saves every ten steps."""
    with on_this_worker():
        step = tf.train.get_or_create_global_step()
        x, y, loss, _ = model()
        train = tf.train.GradientDescentOptimizer(.05).minimize(loss, step)
    scaffold = tf.train.Scaffold(
        init_fn=lambda scaffold, session: say("initialised"))
    with tf.train.MonitoredTrainingSession(
            master=target, is_chief=TASK == 0, checkpoint_dir=FOLDER,
            scaffold=scaffold, config=CONFIG, save_checkpoint_secs=None,
            save_checkpoint_steps=10, log_step_count_steps=None) as session:
        n = 0
        while not session.should_stop():
            feed = dict(zip((x, y), batch(TASK, n)))
            _, reached, value = session.run([train, step, loss], feed)
            say("step", reached, value)
            n += 1
            if os.path.exists(os.path.join(FOLDER, "stop")):
                break
            time.sleep(.01)
    say("ended")


def synchronous(target):
    """STEPS steps. Each waits until all workers have begun it, so that each
    update has one gradient of every worker."""
    with on_this_worker():
        step = tf.train.get_or_create_global_step()
        x, y, loss, variables = model()
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.MomentumOptimizer(.05, .9), WORKERS)
        train = optimizer.minimize(loss, step)
        hook = optimizer.make_session_run_hook(TASK == 0, num_tokens=0)
        with tf.device(step.device):
            tokens = tf.FIFOQueue(-1, tf.int64, shapes=(),
                                  shared_name="sync_token_q").size()
            ended = tf.FIFOQueue(-1, tf.int32, shapes=(), shared_name="ended")
            end, number_ended = ended.enqueue(TASK), ended.size()
    with tf.train.MonitoredTrainingSession(
            master=target, is_chief=TASK == 0, config=CONFIG,
            hooks=[hook]) as session:
        for n in range(STEPS):
            session.run(train, dict(zip((x, y), batch(TASK, n))))
            while session.run(tokens):
                time.sleep(.001)
            say("step", n)
        session.run(end)
        # The chief's threads hand out tokens for all.
        while TASK == 0 and session.run(number_ended) < WORKERS:
            time.sleep(.01)
        if TASK == 0:
            say_result(session, variables, step)
    say("ended")


def slim(target):
    """Thirty updates by the mean of all workers, by slim's training loop."""
    with on_this_worker():
        step = tf.train.get_or_create_global_step()
        _, _, loss, _ = model(*batch(TASK, 0))
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(.1), WORKERS)
        train = tf.contrib.slim.learning.create_train_op(loss, optimizer)

    def train_step(session, *arguments):
        result = tf.contrib.slim.learning.train_step(session, *arguments)
        say("step", result[0])
        return result

    last = tf.contrib.slim.learning.train(
        train, FOLDER if TASK == 0 else None, master=target,
        is_chief=TASK == 0, number_of_steps=30, sync_optimizer=optimizer,
        save_summaries_secs=0, save_interval_secs=0, session_config=CONFIG,
        global_step=step, train_step_fn=train_step)
    say("loss", last)


def say_result(session, variables, step):
    say("result", session.run(step),
        *[v.tobytes().hex() for v in session.run(variables)])


def alone(target):
    """What `synchronous` computes: each step has the batches of all workers."""
    step = tf.train.get_or_create_global_step()
    inputs, gradients = [], []
    for _ in range(WORKERS):
        with tf.variable_scope("", reuse=tf.AUTO_REUSE):
            x, y, loss, variables = model()
        inputs += [x, y]
        gradients.append(tf.gradients(loss, variables))
    means = [tf.add_n(g) / WORKERS for g in zip(*gradients)]
    train = tf.train.MomentumOptimizer(.05, .9).apply_gradients(
        zip(means, variables), step)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for n in range(STEPS):
            session.run(train, dict(zip(inputs, [
                value for task in range(WORKERS) for value in batch(task, n)])))
        say_result(session, variables, step)


server = None
if KIND != "alone":
    server = tf.train.Server(CLUSTER, job_name="worker", task_index=TASK)
globals()[KIND](server.target if server else "")
