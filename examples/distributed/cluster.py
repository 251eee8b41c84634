"""A parameter server and a worker in two processes, in ten lines:

    python examples/distributed/cluster.py ps &
    python examples/distributed/cluster.py worker
"""
import sys

import headrace as tf

cluster = {"ps": ["localhost:2222"], "worker": ["localhost:2223"]}
server = tf.train.Server(cluster, job_name=sys.argv[1])
if sys.argv[1] == "ps":
    server.join()
with tf.device("/job:ps"):
    w = tf.get_variable("w", initializer=[0., 0.])
loss = tf.reduce_sum(tf.square(w - [3., 4.]))
train = tf.train.GradientDescentOptimizer(.1).minimize(loss)
with tf.Session(server.target) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(50):
        session.run(train)
    print(session.run(w))
