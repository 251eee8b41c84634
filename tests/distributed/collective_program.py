"""A worker of collective ops with a master of its own, as TF_CONFIG says. Prints
one line of JSON: its rank, and what each op gave it."""
import hashlib
import json
import os
import sys

import numpy as np

import headrace as tf
from headrace._src.ops import collective_ops

CLUSTER = json.loads(os.environ["TF_CONFIG"])
RANK = CLUSTER["task"]["index"]
N = len(CLUSTER["cluster"]["worker"])
DEVICE = "/job:worker/task:%d" % RANK
# Of one hop, of two, of several messages, and empty.
SIZES = [3, 10000, 5000001, 0]


def options(graph_key, **more):
    o = tf.RunOptions(**more)
    o.experimental.collective_graph_key = graph_key
    return o


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def mine(size, rank=RANK):
    return np.random.RandomState(rank).randn(size).astype(np.float32)


def main():
    server = tf.train.Server(CLUSTER["cluster"], job_name="worker",
                             task_index=RANK)
    results = {"rank": RANK}
    config = tf.ConfigProto(operation_timeout_in_ms=60000)
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    with tf.device(DEVICE):
        reduced = [collective_ops.all_reduce(tf.constant(mine(size)), N, 1, i,
                                             "Add", "Div")
                   for i, size in enumerate(SIZES, 1)]
        gathered = collective_ops.all_gather(
            tf.constant([[RANK, RANK]]), N, 1, 20)
        value = tf.constant(mine(70000, 1))
        if RANK == 1:
            sent = collective_ops.broadcast_send(
                value, value.shape, tf.float32, N, 1, 30)
        else:
            sent = collective_ops.broadcast_recv(
                value.shape, tf.float32, N, 1, 30)
        # A member that never comes, and one with another shape.
        alone = collective_ops.all_reduce(tf.constant([1.]), N, 1, 40, "Add",
                                          "Id")
        other = collective_ops.all_reduce(
            tf.constant([1.] * (10 + RANK)), N, 1, 50, "Add", "Id")
        again = collective_ops.all_reduce(tf.constant([1.]), N, 1, 60, "Add",
                                          "Id")
        w = tf.get_variable("w", initializer=np.linspace(
            -1, 1, 20000, dtype=np.float32).reshape(20000, 1))
        x = tf.constant(mine(4 * 20000).reshape(4, 20000))
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.))
        gradient, = tf.gradients(loss, w)
        train = w.assign_sub(1e-4 * collective_ops.all_reduce(
            gradient, N, 1, 70, "Add", "Div"))
    with tf.Session(server.target, config=config) as session:
        session.run(w.initializer)
        results["reduced"] = [digest(r) for r in session.run(
            reduced, options=options(1))]
        results["gathered"] = session.run(gathered, options=options(2)).tolist()
        results["sent"] = digest(session.run(sent, options=options(3)))
        for _ in range(10):
            session.run(train.op, options=options(4))
        results["trained"] = digest(session.run(w))
        if RANK > 0:
            try:
                session.run(alone, options=options(5, timeout_in_ms=1500))
            except tf.errors.OpError as e:
                results["alone"] = type(e).__name__
        else:
            results["alone"] = "DeadlineExceededError"
        try:
            session.run(other, options=options(6, timeout_in_ms=3000))
            results["other"] = "no failure"
        except tf.errors.OpError as e:
            results["other"] = type(e).__name__
        # All have ended before anyone goes on.
        results["again"] = session.run(again, options=options(7)).tolist()
        sys.stdout.write(json.dumps(results) + "\n")  # a line is one write
        sys.stdout.flush()
        session.run(again, options=options(7))


main()
