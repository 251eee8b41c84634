"""LeNet learns Fashion-MNIST on a cluster: two parameter servers keep the
weights, three workers compute gradients. All run on this machine.

    python lenet_ps.py [--sync | --alone] [--steps 200] [--batch 64]
                       [--data FOLDER]

Without --sync every worker changes the weights as soon as it has a gradient.
With --sync all weights change at once, by the mean of the workers' gradients,
which are added in the workers' order: one process that computes the same
batches one after the other (--alone) comes to the same weights, bit for bit.
--steps counts changes of the weights.

A task of the cluster is this program with the environment variable TF_CONFIG;
that is how to start it on several machines.
"""
import argparse
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import numpy as np

import headrace as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import lenet  # noqa: E402

WORKERS = 3


def model(steps):
    """Inputs, loss, the number of right answers, the global step, an
    optimizer."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    y = tf.placeholder(tf.int64, [None])
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        logits = lenet.lenet(x)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=logits))
    right = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.int32))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(2e-3, step, steps, 1e-4)
    return x, y, loss, right, step, tf.train.AdamOptimizer(rate)


def rows_of(task, n, options, count):
    """Which pictures a worker takes for its n-th gradient."""
    random = np.random.RandomState([task, n])
    return random.randint(count, size=options.batch)


def say_result(session, right, x, y, step, data):
    pictures, labels = data["t10k"]
    found = sum(session.run(right, {x: pictures[i:i + 500],
                                    y: labels[i:i + 500]})
                for i in range(0, len(labels), 500))
    weights = session.run(tf.trainable_variables())
    print("%.2f %% of %d test pictures are right after %d steps; weights %s" % (
        100 * found / len(labels), len(labels), session.run(step),
        hashlib.sha256(b"".join(w.tobytes() for w in weights)).hexdigest()[:16]),
        flush=True)


def mean_of(gradients):
    """Of one list of gradients a worker: the sums, in order of workers."""
    return [tf.add_n(g) / float(len(g)) for g in zip(*gradients)]


def alone(options, data):
    gradients, inputs = [], []
    for _ in range(WORKERS):
        x, y, loss, right, step, optimizer = model(options.steps)
        gradients.append(tf.gradients(loss, tf.trainable_variables()))
        inputs.append((x, y))
    means = mean_of(gradients)
    # No weight changes while a gradient still needs it.
    with tf.control_dependencies(means):
        train = optimizer.apply_gradients(
            zip(means, tf.trainable_variables()), step)
    pictures, labels = data["train"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for n in range(options.steps):
            feed = {}
            for task, (x, y) in enumerate(inputs):
                rows = rows_of(task, n, options, len(labels))
                feed.update({x: pictures[rows], y: labels[rows]})
            session.run(train, feed)
        say_result(session, right, x, y, step, data)


class InOrder:
    """Gradients wait in one queue for each worker. The chief takes one from
    each and changes the weights; then each worker finds a token in its queue
    and goes on."""

    def __init__(self, optimizer, loss, step, task):
        variables = tf.trainable_variables()
        with tf.device("/job:ps/task:0"):
            queues = [tf.FIFOQueue(1, [v.dtype.base_dtype for v in variables],
                                   [v.shape for v in variables],
                                   shared_name="gradients_%d" % i)
                      for i in range(WORKERS)]
            tokens = [tf.FIFOQueue(1, tf.int32, shapes=(),
                                   shared_name="token_%d" % i)
                      for i in range(WORKERS)]
        self.give = queues[task].enqueue(tf.gradients(loss, variables))
        self.wait = tokens[task].dequeue()
        self.change = None
        if task == 0:
            change = optimizer.apply_gradients(
                zip(mean_of([q.dequeue() for q in queues]), variables), step)
            with tf.control_dependencies([change]):
                self.change = tf.group(*[t.enqueue(0) for t in tokens])

    def run(self, session, feed):
        session.run(self.give, feed)
        if self.change is not None:
            session.run(self.change)
        session.run(self.wait)


def worker(options, data, resolver, target):
    task = resolver.task_id
    cluster = resolver.cluster_spec()
    with tf.device(tf.train.replica_device_setter(
            cluster=cluster, worker_device="/job:worker/task:%d" % task)):
        x, y, loss, right, step, optimizer = model(options.steps)
        if options.sync:
            in_order = InOrder(optimizer, loss, step, task)
        else:
            train = optimizer.minimize(loss, step)
    with tf.device("/job:ps/task:0"):
        ended = tf.FIFOQueue(WORKERS, tf.int32, shapes=(), shared_name="ended")
        end, number_ended = ended.enqueue(task), ended.size()
    config = tf.ConfigProto(
        device_filters=["/job:ps", "/job:worker/task:%d" % task],
        operation_timeout_in_ms=120000)
    pictures, labels = data["train"]
    with tf.train.MonitoredTrainingSession(
            master=target, is_chief=task == 0, config=config) as session:
        steps = options.steps
        if not options.sync:
            steps = steps // WORKERS + (task < steps % WORKERS)
        for n in range(steps):
            rows = rows_of(task, n, options, len(labels))
            feed = {x: pictures[rows], y: labels[rows]}
            if options.sync:
                in_order.run(session, feed)
            else:
                session.run(train, feed)
        session.run(end)
        while task == 0 and session.run(number_ended) < WORKERS:
            time.sleep(.05)
        if task == 0:
            say_result(session, right, x, y, step, data)


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return ["localhost:%d" % s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def start_all():
    """Starts this program once for each task, and waits for the workers."""
    addresses = free_addresses(2 + WORKERS)
    cluster = {"ps": addresses[:2], "worker": addresses[2:]}
    processes = []
    try:
        for job, tasks in cluster.items():
            for task in range(len(tasks)):
                config = {"cluster": cluster,
                          "task": {"type": job, "index": task}}
                processes.append((job, subprocess.Popen(
                    [sys.executable] + sys.argv,
                    env=dict(os.environ, TF_CONFIG=json.dumps(config)))))
        workers = [p for job, p in processes if job == "worker"]
        while any(p.poll() is None for p in workers):
            if any(p.poll() for p in workers):
                break  # one has failed, and the others may wait for it
            time.sleep(.05)
        return max(abs(p.poll() or 0) for p in workers)
    finally:
        for _, p in processes:
            p.send_signal(signal.SIGKILL)
            p.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--data", default=lenet.FOLDER)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--sync", action="store_true")
    how.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    if not pathlib.Path(options.data).is_dir():
        sys.exit("There is no folder %s: apt-get install dataset-fashion-mnist,"
                 " or --data FOLDER" % options.data)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if not options.alone and resolver.task_type is None:
        sys.exit(start_all())
    tf.set_random_seed(1)
    if resolver.task_type == "ps":
        tf.train.Server(resolver.cluster_spec(), "ps", resolver.task_id).join()
    data = {name: lenet.load(options.data, name) for name in ("train", "t10k")}
    if options.alone:
        alone(options, data)
        return
    server = tf.train.Server(resolver.cluster_spec(), "worker",
                             resolver.task_id)
    worker(options, data, resolver, server.target)


if __name__ == "__main__":
    main()
