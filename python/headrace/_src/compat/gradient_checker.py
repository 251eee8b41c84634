"""tensorflow.python.ops.gradient_checker_v2: derivatives of functions, beside
numeric differences."""
import numpy as np

from headrace._src.framework.default_session import get_default_session
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops.array_ops import placeholder
from headrace._src.testing.gradient_checker import _compute


def compute_gradient(f, x, delta=1e-3):
    """(derivatives by tf.gradients, by differences of width 2 * delta) of the
    function f, by each of its arguments, whose values the list x has: two
    tuples of arrays [numbers of an argument, numbers of the result]. Runs in
    the default session. ValueError if x is no list."""
    if not isinstance(x, list):
        raise ValueError("`x` must be a list of Tensors (arguments to `f`), not "
                         "a %s" % type(x))
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    values = session.run([convert_to_tensor(v) for v in x])
    inputs = [placeholder(v.dtype, v.shape) for v in values]
    y = f(*inputs)
    feeds = dict(zip(inputs, values))
    y_shape = np.shape(session.run(y, feeds))
    found = [_compute(session, t, v.shape, y, y_shape, v, delta, feeds)
             for t, v in zip(inputs, values)]
    return tuple(zip(*found))


def max_error(grad1, grad2):
    """The largest difference of two lists of arrays."""
    return max([np.fabs(a - b).max() for a, b in zip(grad1, grad2)
                if a.size or b.size], default=0)
