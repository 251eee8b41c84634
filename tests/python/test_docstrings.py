"""Docstrings of the names that programs use most (docs/python-api.md): each tells
shapes, dtypes and errors, and the errors that they name are raised."""
import builtins
import pathlib
import re

import numpy as np
import pytest

import headrace as tf

HERE = pathlib.Path(__file__).parent
FREQUENCY = HERE / "tf1_frequency.tsv"
DTYPE = re.compile(
    r"\b(?:u?int\d*|q?u?int8|b?float\d+|float\d+ to|complex\d*|bools?|strings?|str|"
    r"half|double|dtypes?|types?|numbers?|ints?|bytes)\b")
SHAPE = re.compile(
    r"\[[^\]]*\]|\b(?:shapes?|scalars?|vectors?|ranks?|elementwise|matri\w+)\b")
ERROR = re.compile(
    r"\b\w+Error|\braises\s+nothing\b|\bSystemExit\b")


def names():
    """The callables among the first 400 that are here."""
    found = []
    for line in FREQUENCY.read_text().splitlines()[1:401]:
        value = tf
        try:
            for part in line.split("\t")[1].split(".")[1:]:
                value = getattr(value, part)
        except (AttributeError, ImportError):
            continue
        if callable(value):
            found.append((line.split("\t")[1], value))
    return found


@pytest.mark.parametrize("name, value", names(), ids=lambda v: (
    v if isinstance(v, str) else ""))
def test_tells_shapes_dtypes_and_errors(name, value):
    text = value.__doc__
    assert len(text) > 100, text
    missing = [what for what, pattern in (
        ("dtypes", DTYPE), ("shapes", SHAPE), ("errors", ERROR))
        if not pattern.search(text)]
    assert not missing, text


# What the expressions of docstring_errors.tsv use.

def f(*shape):
    return tf.placeholder(tf.float32, shape)


def i(*shape):
    return tf.placeholder(tf.int32, shape)


def S(*shape):
    return tf.placeholder(tf.string, shape)


def C(*shape):
    return tf.placeholder(tf.complex64, shape)


def B(*shape):
    return tf.placeholder(tf.bool, shape)


def dyn(value, dtype):
    """The value, of which the graph knows nothing."""
    return tf.placeholder_with_default(np.array(value, dtype), None)


def run(x, feed=None):
    with tf.Session() as session:
        return session.run(x, feed)


def inside(context):
    with context:
        pass


def run_closed():
    session = tf.Session()
    session.close()
    session.run(tf.constant(1))


def change_finalized():
    tf.get_default_graph().finalize()
    tf.add_to_collection("a", 1)


def run_past_the_end():
    element = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(element)
        session.run(element)


def run_uninitialized_iterator():
    run(tf.data.Dataset.range(2).make_initializable_iterator().get_next())


def saved(value=1.):
    """The path of a checkpoint of the variable "a"."""
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(value, name="a").initializer)
        return tf.train.Saver().save(session, d + "/model")


def restore_missing():
    variable = tf.Variable(1., name="b")
    with tf.Session() as session:
        tf.train.Saver([variable]).restore(session, saved())


def restore_shape():
    variable = tf.Variable([1., 2.], name="a")
    with tf.Session() as session:
        tf.train.Saver([variable]).restore(session, saved([1.]))


def same_variable_twice():
    tf.get_variable("x", [2])
    tf.get_variable("x", [2])


def read(reader, name):
    queue = tf.FIFOQueue(2, tf.string)
    _, value = reader.read(queue)
    with tf.Session() as session:
        session.run(queue.enqueue([name]))
        session.run(queue.close())
        session.run(value)


def read_closed(reader):
    queue = tf.FIFOQueue(2, tf.string)
    _, value = reader.read(queue)
    with tf.Session() as session:
        session.run(queue.close())
        session.run(value)


def frozen(output):
    tf.Variable(1., name="a")
    with tf.Session() as session:
        tf.graph_util.convert_variables_to_constants(
            session, tf.get_default_graph().as_graph_def(), [output])


def call_creator():
    with tf.variable_creator_scope(lambda: 1):
        tf.Variable(1.)


def reset_inside():
    with tf.Graph().as_default():
        tf.reset_default_graph()


def initialize_double_keys():
    L = tf.contrib.lookup
    L.HashTable(L.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)
    run(tf.tables_initializer())


def initialize_missing_file():
    tf.contrib.lookup.index_table_from_file("/nonexistent")
    run(tf.tables_initializer())


d = ""  # a folder
I, L, N, K = tf.image, tf.layers, tf.nn, tf.keras.layers  # noqa: E741
CL, slim, cells = tf.contrib.layers, tf.contrib.slim, tf.nn.rnn_cell
M, mn = slim.model_analyzer, tf.examples.tutorials.mnist.mnist
E = tf.errors


def table():
    """Lines of errors, any of which is raised, and an expression."""
    lines = (HERE / "docstring_errors.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize("errors, expression", table())
def test_errors(errors, expression, tmp_path):
    globals()["d"] = str(tmp_path)
    kinds = [getattr(E, name, None) or getattr(builtins, name)
             for name in errors.split("|")]
    with tf.Graph().as_default(), pytest.raises(tuple(kinds)):
        eval(expression)
