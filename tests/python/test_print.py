"""tf.print: the text that TensorFlow 1.15 prints, and where."""
import collections
import sys

import numpy as np
import pytest

import headrace as tf

Pair = collections.namedtuple("Pair", "x y")
PRINTED = {
    "string": (lambda out: tf.print("a", output_stream=out), "a\n"),
    "several": (lambda out: tf.print("x", tf.constant([1.5]), "y", 3,
                                     output_stream=out), "x [1.5] y 3\n"),
    "sep_and_end": (lambda out: tf.print(
        1, tf.constant(2), sep="--", end="!", output_stream=out), "1--2!"),
    "summarize": (lambda out: tf.print(
        tf.range(10), output_stream=out), "[0 1 2 ... 7 8 9]\n"),
    "summarize_one": (lambda out: tf.print(
        tf.range(10), summarize=1, output_stream=out), "[0 ... 9]\n"),
    "summarize_all": (lambda out: tf.print(
        tf.range(8), summarize=-1, output_stream=out), "[0 1 2 3 4 5 6 7]\n"),
    "structures": (lambda out: tf.print(
        [tf.constant(1), "q", (tf.constant([2, 3]), 5)],
        {"b": tf.constant(1), "a": [None]}, Pair(tf.constant(7), 2),
        output_stream=out),
        "[1, 'q', ([2 3], 5)] {'a': [None], 'b': 1} Pair(x=7, y=2)\n"),
    "braces": (lambda out: tf.print("{}", tf.constant(1), output_stream=out),
               "{} 1\n"),
    "sparse": (lambda out: tf.print(
        tf.SparseTensor([[0, 1]], [5], [2, 3]), output_stream=out),
        "'SparseTensor(indices=[[0 1]], values=[5], shape=[2 3])'\n"),
    "array": (lambda out: tf.print(np.arange(3), output_stream=out),
              "array([0, 1, 2])\n"),
    "nothing": (lambda out: tf.print(output_stream=out), "\n"),
    "string_tensor": (lambda out: tf.print(tf.constant("one\ntwo"),
                                           output_stream=out), "one\ntwo\n"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_text(case, tmp_path):
    build, text = PRINTED[case]
    path = str(tmp_path / "out")
    with tf.Session() as session:
        op = build("file://" + path)
        assert isinstance(op, tf.Operation)
        session.run(op)
    with open(path) as lines:
        assert lines.read() == text


def test_streams(capfd):
    with tf.Session() as session:
        session.run([tf.print("to err"), tf.print("out",
                                                  output_stream=sys.stdout)])
    out, err = capfd.readouterr()
    assert out == "out\n" and "to err\n" in err


def test_name():
    op = tf.print("a", tf.constant(1), name="p")
    assert op.name == "p" and op.inputs[0].op.name == "p_format"


@pytest.mark.parametrize("options, message", [
    ({"output_stream": "stdout"}, "Unsupported output stream"),
    ({"output_stream": 5}, "Unsupported output stream"),
    ({"other": 1}, "Unrecognized keyword arguments for tf.print"),
])
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tf.print("a", **options)
