"""Small programs of tf.contrib, run here and in TensorFlow 1.15. contrib_values.json
has what TensorFlow gives: names of variables and nodes, shapes and numbers.

    PYTHON tests/python/contrib_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import json
import os
import sys

import numpy as np

PROGRAMS = {}
VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "contrib_values.json")

# Programs whose results may have other names than in TensorFlow.
FREE_NAMES = {}


def program(*cases):
    """Decorates a function (tf, case) that builds a graph and returns tensors,
    and names as strings."""
    def add(function):
        for case in cases or (None,):
            name = function.__name__ + ("" if case is None else
                                        ": " + "_".join(map(str, case)))
            PROGRAMS[name] = (function, case or ())
        return function
    return add


def waves(tf):
    """An initializer whose values depend on nothing but the shape."""
    def initializer(shape, dtype=tf.float32, partition_info=None):
        shape = [int(n) for n in shape]
        count = int(np.prod(shape)) if shape else 1
        return tf.reshape(tf.cast(tf.sin(
            tf.range(count, dtype=tf.float32) * 1.7 + 0.3), dtype), shape)
    return initializer


def numbers(*shape, **options):
    random = np.random.RandomState(options.get("seed", 3))
    return random.uniform(-1, 1, shape).astype(np.float32)


def leaves(x):
    if isinstance(x, dict):
        return [leaf for k in sorted(x) for leaf in leaves(x[k])]
    if isinstance(x, (list, tuple)):
        return [leaf for y in x for leaf in leaves(y)]
    return [x]


def summary(value):
    """Of an array: its shape and its numbers, or two sums of many."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        return [v.decode() if isinstance(v, bytes) else str(v)
                for v in value.ravel().tolist()]
    flat = value.ravel().astype(np.float64)
    if flat.size > 24:
        flat = np.array([flat.sum(), (flat * np.cos(np.arange(flat.size))).sum()])
    return [list(value.shape), [round(float(v), 5) for v in flat]]


def run(tf, name):
    """What a program gives, as JSON has it."""
    function, case = PROGRAMS[name]
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        with tf.variable_scope("m", initializer=waves(tf)):
            results = leaves(function(tf, *case))
        fetched = [r for r in results if not isinstance(r, str)]
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(),
                         tf.local_variables_initializer(),
                         tf.tables_initializer()])
            values = iter(session.run(fetched))
            return {
                "variables": [v.name for v in tf.global_variables()],
                "results": [r if isinstance(r, str) else
                            [r.name if getattr(r, "name", None) else "",
                             r.get_shape().as_list()
                             if r.get_shape().ndims is not None else None]
                            + summary(next(values)) for r in results]}


# tf.contrib.legacy_seq2seq

def steps(tf):
    symbols = [tf.constant(x) for x in ([1, 4], [3, 0], [2, 2])]
    vectors = [tf.constant(numbers(2, 3, seed=i)) for i in range(3)]
    return symbols, vectors


@program(("basic_rnn_seq2seq",), ("tied_rnn_seq2seq",))
def legacy_rnn(tf, name):
    _, x = steps(tf)
    cell = tf.contrib.rnn.BasicLSTMCell(4)
    return getattr(tf.contrib.legacy_seq2seq, name)(x, x[:2], cell)


@program(*[(name, feeds) for feeds in (False, True, "run") for name in (
    "rnn", "tied_rnn", "attention", "attention_heads", "projected")])
def legacy_embedding(tf, name, feeds):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)
    if feeds == "run":
        feeds = tf.constant(True)
    cell = tf.contrib.rnn.BasicLSTMCell(4)
    if name == "rnn":
        return legacy.embedding_rnn_seq2seq(x, x[:2], cell, 5, 6, 3,
                                            feed_previous=feeds)
    if name == "projected":
        w = tf.constant(numbers(4, 6)), tf.constant(numbers(6))
        return legacy.embedding_rnn_seq2seq(
            x, x[:2], cell, 5, 6, 3, output_projection=w, feed_previous=feeds)
    if name == "tied_rnn":
        return legacy.embedding_tied_rnn_seq2seq(
            x, x[:2], tf.contrib.rnn.GRUCell(4), 5, 3, feed_previous=feeds)
    options = {} if name == "attention" else dict(
        num_heads=2, initial_state_attention=True)
    return legacy.embedding_attention_seq2seq(
        x, x[:2], cell, 5, 6, 3, feed_previous=feeds, **options)


@program((True,), (False,))
def legacy_one2many(tf, feeds):
    x, _ = steps(tf)
    cells = {n: tf.contrib.rnn.BasicLSTMCell(4) for n in "ab"}
    return tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        x, {"a": x[:2], "b": x[1:]}, tf.contrib.rnn.BasicLSTMCell(4), cells, 5,
        {"a": 5, "b": 6}, 3, feed_previous=feeds)


@program((True, True), (True, False), (False, True), (False, False))
def legacy_losses(tf, steps_, batch):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)
    logits = [tf.constant(numbers(2, 5, seed=i)) for i in range(3)]
    weights = [tf.constant([1., 0.5]), tf.constant([0., 1.]), tf.zeros([2])]
    return (legacy.sequence_loss(logits, x, weights, steps_, batch),
            legacy.sequence_loss_by_example(logits, x, weights, steps_),
            legacy.sequence_loss_by_example(
                logits, x, weights, steps_, softmax_loss_function=lambda
                labels, logits: tf.cast(labels, tf.float32) * logits[:, 0]))


@program((False,), (True,))
def legacy_buckets(tf, each):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)

    def model(encoder, decoder):
        return legacy.embedding_rnn_seq2seq(
            encoder, decoder, tf.contrib.rnn.GRUCell(3), 5, 5, 2)
    outputs, losses = legacy.model_with_buckets(
        x, x, x, [tf.ones([2])] * 3, [(1, 2), (3, 3)], model,
        per_example_loss=each)
    return outputs[1], losses


if __name__ == "__main__":
    import tensorflow
    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    found = {}
    for name in sorted(PROGRAMS):
        if len(sys.argv) < 2 or sys.argv[1] in name:
            found[name] = run(tensorflow, name)
    if len(sys.argv) < 2:
        with open(VALUES, "w") as f:
            f.write("{\n" + ",\n".join(
                "%s: %s" % (json.dumps(n), json.dumps(v, sort_keys=True))
                for n, v in sorted(found.items())) + "\n}\n")
    else:
        print(json.dumps(found, indent=1))
