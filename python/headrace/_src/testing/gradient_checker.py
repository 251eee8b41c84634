"""compute_gradient: derivatives by tf.gradients beside numeric differences."""
import numpy as np

from headrace._src.framework.default_session import get_default_session
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops.array_ops import placeholder
from headrace._src.training.gradients import gradients


def _parts(array):
    """The numbers of an array, complex ones as two."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        return array.view(array.real.dtype).reshape(-1)
    return array.reshape(-1)


def _rows(shape, dtype):
    size = int(np.prod(shape, dtype=np.int64))
    return size * (2 if dtype.kind == "c" else 1)


def _by_gradients(session, x, x_shape, value, y, y_shape, feeds):
    """[numbers of x, numbers of y]"""
    x_type, y_type = x.dtype.as_numpy_dtype, y.dtype.as_numpy_dtype
    x_type, y_type = np.dtype(x_type), np.dtype(y_type)
    dy = placeholder(y.dtype.base_dtype, y_shape)
    dx = gradients([y], [x], grad_ys=[dy])[0]
    jacobian = np.zeros((_rows(x_shape, x_type), _rows(y_shape, y_type)),
                        x_type if x_type.kind == "f" else np.float64)
    if dx is None:
        return jacobian
    if isinstance(dx, IndexedSlices):
        dx = convert_to_tensor(dx)
    for column in range(jacobian.shape[1]):
        one = np.zeros(y_shape, y_type)
        _parts_view(one)[column] = 1
        got = session.run(dx, {**feeds, x: value, dy: one})
        jacobian[:, column] = _parts(got.reshape(x_shape))
    return jacobian


def _parts_view(array):
    flat = array.reshape(-1)
    return flat.view(array.real.dtype) if array.dtype.kind == "c" else flat


def _by_differences(session, x, x_shape, value, y, y_shape, delta, feeds):
    x_type = np.dtype(x.dtype.as_numpy_dtype)
    y_type = np.dtype(y.dtype.as_numpy_dtype)
    jacobian = np.zeros((_rows(x_shape, x_type), _rows(y_shape, y_type)),
                        x_type if x_type.kind == "f" else np.float64)
    for row in range(jacobian.shape[0]):
        ends = []
        for step in (delta, -delta):
            moved = np.array(value, x_type, order="C").reshape(x_shape)
            _parts_view(moved)[row] += step
            ends.append(_parts(session.run(y, {**feeds, x: moved})))
        jacobian[row, :] = (ends[0] - ends[1]) / (2 * delta)
    return jacobian


def _compute(session, x, x_shape, y, y_shape, value, delta, feeds):
    if value is None:
        kind = np.dtype(x.dtype.as_numpy_dtype)
        value = np.random.random_sample(x_shape).astype(kind)
        if kind.kind == "c":
            value = value + 1j * np.random.random_sample(x_shape)
    value = np.asarray(value, x.dtype.as_numpy_dtype)
    return (_by_gradients(session, x, x_shape, value, y, y_shape, feeds),
            _by_differences(session, x, x_shape, value, y, y_shape, delta,
                            feeds))


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3,
                     init_targets=None, extra_feed_dict=None):
    """(derivatives by tf.gradients, by differences of width 2 * delta): two
    arrays [numbers of x, numbers of y]. For a list x, a list of such pairs.
    Runs in the default session."""
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    if init_targets is not None:
        targets = (init_targets if isinstance(init_targets, (list, tuple))
                   else [init_targets])
        for target in targets:
            session.run(target)
    feeds = dict(extra_feed_dict or {})
    if not isinstance(x, list):
        return _compute(session, x, tuple(x_shape), y, tuple(y_shape),
                        x_init_value, delta, feeds)
    values = [None] * len(x) if x_init_value is None else x_init_value
    for t, v in zip(x, values):
        if v is not None:
            feeds.setdefault(t, v)
    return [_compute(session, t, tuple(shape), y, tuple(y_shape), v, delta,
                     feeds)
            for t, shape, v in zip(x, x_shape, values)]


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None,
                           delta=1e-3, init_targets=None,
                           extra_feed_dict=None):
    """The largest difference of what compute_gradient returns."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta,
                             init_targets, extra_feed_dict)
    if isinstance(found, tuple):
        found = [found]
    error = 0
    for by_gradients, by_differences in found:
        if by_gradients.size:
            error = max(error, np.fabs(by_gradients - by_differences).max())
    return error
