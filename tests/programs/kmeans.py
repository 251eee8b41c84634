"""k-means: assignment and update as a graph that runs until nothing moves."""
import tensorflow as tf

from data import blobs, show

K = 4
points_np, _ = blobs(400, [(0, 0), (3, 0), (0, 3), (3, 3)], 1.2)
tf.set_random_seed(3)
points = tf.constant(points_np)
start = tf.slice(tf.random_shuffle(points), [0, 0], [K, -1])
centroids = tf.Variable(start)
assignments = tf.Variable(tf.zeros([len(points_np)], tf.int64))

differences = tf.subtract(tf.expand_dims(points, 0),
                          tf.expand_dims(centroids, 1))
distances = tf.reduce_sum(tf.square(differences), 2)
best = tf.argmin(distances, 0)
changed = tf.reduce_any(tf.not_equal(best, assignments))


def bucket_mean(data, ids):
    total = tf.unsorted_segment_sum(data, ids, K)
    count = tf.unsorted_segment_sum(tf.ones_like(data), ids, K)
    return total / count


means = bucket_mean(points, best)
with tf.control_dependencies([changed, means]):
    update = tf.group(centroids.assign(means), assignments.assign(best))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("start", sess.run(centroids))
    moved, iterations = True, 0
    while moved and iterations < 50:
        moved, _ = sess.run([changed, update])
        iterations += 1
    print("iterations:", iterations)
    show("centroids", sess.run(centroids))
    show("inertia", sess.run(tf.reduce_sum(tf.reduce_min(distances, 0))))
