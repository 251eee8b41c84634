"""Runs single ops for the tests that hold their values against a reference."""
import numpy as np

import headrace as tf
from headrace import raw_ops


def run_op(name, *inputs, **attrs):
    """The outputs of the op: its inputs are fed, so that the kernel runs."""
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {}

        def placeholder(value):
            if isinstance(value, list):
                return [placeholder(v) for v in value]
            value = np.asarray(value)
            dtype = tf.string if value.dtype.kind in "SUO" else value.dtype
            fed = tf.placeholder(dtype, value.shape)
            feeds[fed] = value
            return fed

        outputs = getattr(raw_ops, name)(*map(placeholder, inputs), **attrs)
        return session.run(outputs, feeds)


def run_old_op(name, *inputs, **attrs):
    """As run_op, for ops that only graphs of old versions may have. `attrs` are
    types and flags, all that the op needs."""
    graph_def = tf.GraphDef()
    graph_def.versions.producer = 8
    op = graph_def.node.add(name="op", op=name)
    inputs = [np.asarray(x) for x in inputs]
    for i, x in enumerate(inputs):
        fed = graph_def.node.add(name="input%d" % i, op="Placeholder")
        fed.attr["dtype"].type = tf.as_dtype(x.dtype).as_datatype_enum
        fed.attr["shape"].shape.unknown_rank = True
        op.input.append(fed.name)
    for attr, value in attrs.items():
        if isinstance(value, bool):
            op.attr[attr].b = value
        else:
            op.attr[attr].type = tf.as_dtype(value).as_datatype_enum
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        outputs = graph.get_operation_by_name("op").outputs
        got = session.run(outputs, {"input%d:0" % i: x
                                    for i, x in enumerate(inputs)})
    return got[0] if len(got) == 1 else got


def expect_close(got, wanted, rtol=1e-5, atol=1e-6):
    """Of the same shape, and close in every element."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    wide = np.complex128 if np.iscomplexobj(wanted) else np.float64
    np.testing.assert_allclose(got.astype(wide), wanted, rtol=rtol, atol=atol)


def numeric_gradient(function, at, weights, step=1e-6):
    """d sum(weights * function(x)) / dx at `at`, by central differences."""
    at = np.array(at, np.float64)
    gradient = np.zeros_like(at)
    for i in np.ndindex(at.shape):
        moved = []
        for sign in (1, -1):
            x = at.copy()
            x[i] += sign * step
            moved.append(np.sum(weights * function(x)))
        gradient[i] = (moved[0] - moved[1]) / (2 * step)
    return gradient
