"""Runs single ops for the tests that hold their values against a reference."""
import numpy as np

import headrace as tf
from headrace import raw_ops


def let_be_of_version(producer):
    """The default graph may have ops that were removed after that version."""
    version = tf.GraphDef()
    version.versions.producer = producer
    tf.import_graph_def(version, name="")


def run_op(name, *inputs, producer=None, **attrs):
    """The outputs of the op: its inputs are fed, so that the kernel runs."""
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {}
        if producer is not None:
            let_be_of_version(producer)

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
    """As run_op, for ops that only graphs of early versions may have."""
    return run_op(name, *inputs, producer=8, **attrs)


def expect_close(got, wanted, rtol=1e-5, atol=1e-6):
    """Of the same shape, and close in every element."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    is_complex = np.iscomplexobj(got) or np.iscomplexobj(wanted)
    wide = np.complex128 if is_complex else np.float64
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
