"""LeNet learns Fashion-MNIST: 200 steps of 64 pictures, about 85 % right.

    python lenet.py [--steps 200] [--batch 64] [--data FOLDER] [--save FOLDER]

With --save, FOLDER gets a checkpoint (lenet-200) and a SavedModel (model);
classify_clothes.py uses both.

The folder of --data holds the four files of the set, as Debian's package
dataset-fashion-mnist installs them:

    apt-get install dataset-fashion-mnist
"""
import argparse
import gzip
import pathlib
import sys
import time

import numpy as np

import headrace as tf

FOLDER = "/usr/share/datasets/fashion-mnist"


def read_idx(path):
    """An array of uint8 from an IDX file: two zero bytes, the type, the rank,
    then the sizes as big-endian 32-bit numbers, then the values."""
    with gzip.open(path) as file:
        data = file.read()
    if data[:3] != b"\0\0\x08":
        raise ValueError("%s is not an IDX file of bytes" % path)
    rank = data[3]
    sizes = np.frombuffer(data, ">i4", rank, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(sizes)


def load(folder, name):
    """(pictures [n, 28, 28, 1] of 0..1, classes [n])"""
    folder = pathlib.Path(folder)
    pictures = read_idx(folder / (name + "-images-idx3-ubyte.gz"))
    labels = read_idx(folder / (name + "-labels-idx1-ubyte.gz"))
    return (pictures[..., np.newaxis].astype(np.float32) / 255,
            labels.astype(np.int64))


def convolution(x, channels, name):
    """5x5, relu, and the greatest of each 2x2."""
    with tf.variable_scope(name):
        w = tf.get_variable("w", [5, 5, int(x.shape[-1]), channels])
        b = tf.get_variable("b", [channels],
                            initializer=tf.zeros_initializer())
        x = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, b))
        return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
                              padding="SAME")


def dense(x, units, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [int(x.shape[-1]), units])
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        return tf.matmul(x, w) + b


def lenet(x):
    """Logits [n, 10] of pictures [n, 28, 28, 1]."""
    x = convolution(x, 32, "conv1")
    x = convolution(x, 64, "conv2")
    x = tf.reshape(x, [-1, 7 * 7 * 64])
    x = tf.nn.relu(dense(x, 1024, "dense1"))
    return dense(x, 10, "dense2")


def progress(step, steps, loss, seconds):
    """Draws over the line that stands there; one line at the end of a log."""
    if not sys.stdout.isatty() and step < steps:
        return
    done = 30 * step // steps
    print("\r[%s%s] %d/%d  loss %.4f  %.1f ms a step " % (
        "#" * done, "." * (30 - done), step, steps, loss,
        seconds / step * 1e3), end="" if step < steps else "\n", flush=True)


def save(session, saver, options, x, classes):
    folder = pathlib.Path(options.save)
    folder.mkdir(parents=True, exist_ok=True)
    path = saver.save(session, str(folder / "lenet"), options.steps)
    builder = tf.saved_model.Builder(str(folder / "model"))
    builder.add_meta_graph_and_variables(
        session, [tf.saved_model.SERVING], saver=saver, signature_def_map={
            "serving_default": tf.saved_model.predict_signature_def(
                {"pictures": x}, {"classes": classes})})
    builder.save()
    print("saved %s and %s" % (path, folder / "model"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--data", default=FOLDER)
    parser.add_argument("--save")
    options = parser.parse_args()
    if not pathlib.Path(options.data).is_dir():
        sys.exit("There is no folder %s: apt-get install dataset-fashion-mnist,"
                 " or --data FOLDER" % options.data)
    pictures, labels = load(options.data, "train")
    test_pictures, test_labels = load(options.data, "t10k")

    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="pictures")
    y = tf.placeholder(tf.int64, [None], name="labels")
    logits = lenet(x)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=logits))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(2e-3, step, options.steps, 1e-4)
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    classes = tf.argmax(logits, 1, name="classes")
    right = tf.reduce_sum(tf.cast(tf.equal(classes, y), tf.int32))
    saver = tf.train.Saver()

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = time.perf_counter()
        for i in range(1, options.steps + 1):
            rows = random.randint(len(labels), size=options.batch)
            _, value = session.run([train, loss], {
                x: pictures[rows], y: labels[rows]})
            progress(i, options.steps, value, time.perf_counter() - start)
        found = sum(session.run(right, {x: test_pictures[i:i + 500],
                                        y: test_labels[i:i + 500]})
                    for i in range(0, len(test_labels), 500))
        if options.save:
            save(session, saver, options, x, classes)
    print("%.2f %% of %d test pictures are right"
          % (100 * found / len(test_labels), len(test_labels)))


if __name__ == "__main__":
    main()
