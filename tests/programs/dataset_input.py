"""tf.data: files, maps, shuffled batches, and the three kinds of iterators."""
import os

import numpy as np
import tensorflow as tf

from data import blobs, own_folder, show, zen

folder = own_folder()
path = os.path.join(folder, "zen.txt")
with open(path, "w") as file:
    file.write(zen())
tf.set_random_seed(17)
lengths = tf.data.TextLineDataset(path).filter(
    lambda line: tf.greater(tf.strings.length(line), 0)).map(
        tf.strings.length).batch(6)
lines = lengths.make_one_shot_iterator().get_next()

points, which = blobs(60, [(0, 0), (2, 2), (4, 0)])
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
train = tf.data.Dataset.from_tensor_slices({"x": x, "y": y})
train = train.repeat(2).shuffle(20, seed=3).batch(16).prefetch(1)
iterator = train.make_initializable_iterator()
batch = iterator.get_next()

small = tf.data.Dataset.range(4).map(lambda i: tf.cast(i, tf.float32) * 0.5)
large = tf.data.Dataset.from_tensor_slices(tf.linspace(10., 12., 5))
either = tf.data.Iterator.from_structure(small.output_types,
                                         small.output_shapes)
value = either.get_next()
to_small = either.make_initializer(small)
to_large = either.make_initializer(large)

handle = tf.placeholder(tf.string, [])
fed = tf.data.Iterator.from_string_handle(handle, small.output_types,
                                          small.output_shapes)
pairs = tf.data.Dataset.zip((small, large)).make_one_shot_iterator().get_next()
padded = tf.data.Dataset.range(1, 6).map(
    lambda n: tf.fill([n], n)).padded_batch(3, [None])
padded = padded.make_one_shot_iterator().get_next()
generated = tf.data.Dataset.from_generator(
    lambda: ((i, [i] * i) for i in range(4)), (tf.int32, tf.int32),
    ([], [None])).make_one_shot_iterator().get_next()

with tf.Session() as sess:
    show("lines", *[sess.run(lines) for _ in range(2)])
    sess.run(iterator.initializer, {x: points, y: which})
    counts = []
    try:
        while True:
            b = sess.run(batch)
            counts.append(len(b["y"]))
            last = b
    except tf.errors.OutOfRangeError:
        print("batches:", counts, last["y"].tolist())
    for init in (to_small, to_large):
        sess.run(init)
        show("values", *[sess.run(value) for _ in range(4)])
    name = sess.run(small.make_one_shot_iterator().string_handle())
    show("by handle", sess.run(fed.get_next(), {handle: name}))
    show("pairs", *sess.run(pairs))
    print(sess.run(padded).tolist())
    print([[int(np.sum(v)) for v in sess.run(generated)] for _ in range(4)])
