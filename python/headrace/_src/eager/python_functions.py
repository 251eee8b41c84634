"""tf.py_function: a Python function of EagerTensors, in a graph or at once."""
import numpy as np

from headrace._src.control.script_ops import py_func
from headrace._src.eager.context import eager_mode
from headrace._src.eager.tape import EagerTape
from headrace._src.framework import dtypes
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.gradient_tape import _carries
from headrace._src.training.gradients import custom_gradient


def _typed(value, dtype):
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype == dtype else _math.cast(tensor, dtype)


def _results(func, inputs, types):
    found = func(*inputs)
    if not isinstance(found, (list, tuple)):
        found = [] if found is None and not types else [found]
    if len(found) != len(types):
        raise ValueError("py_function: %s returns %d values, but Tout has %d"
                         % (func, len(found), len(types)))
    return [_typed(x, t) for x, t in zip(found, types)]


def _array_of(tensor):
    value = tensor.numpy()
    return np.asarray(value, object) if isinstance(value, bytes) else value


def py_function(func, inp, Tout, name=None):
    """See tf.py_function."""
    many = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in (Tout if many else [Tout])]
    inputs = [convert_to_tensor(x) for x in inp]
    if get_default_graph()._eager:
        found = _results(func, inputs, types)
        return (found or None) if many else found[0]

    def run(*arrays):
        with eager_mode():
            tensors = [convert_to_tensor(x) for x in arrays]
            return [_array_of(x) for x in _results(func, tensors, types)]

    def differentiate(*arrays):
        n = len(inputs)
        with eager_mode():
            tensors = [convert_to_tensor(x) for x in arrays]
            with EagerTape() as tape:
                tape.watch([x for x in tensors[:n] if _carries(x)])
                found = _results(func, tensors[:n], types)
            pairs = [(y, dy) for y, dy in zip(
                [y for y in found if _carries(y)], tensors[n:])]
            grads = tape.gradient([y for y, _ in pairs],
                                  [x for x in tensors[:n] if _carries(x)],
                                  [dy for _, dy in pairs])
            return [_array_of(_array.zeros_like(x) if g is None
                              else convert_to_tensor(g))
                    for x, g in zip([x for x in tensors[:n] if _carries(x)],
                                    grads)]

    @custom_gradient
    def call(*given):
        outputs = py_func(run, list(given), types, name=name)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else (
            [outputs])

        def grad(*dys):
            floats = [i for i, x in enumerate(given) if _carries(x)]
            dys = [dy for dy, t in zip(dys, types)
                   if t.is_floating or t.is_complex]
            found = py_func(differentiate, list(given) + dys,
                            [given[i].dtype for i in floats])
            result = [None] * len(given)
            for i, g in zip(floats, found):
                g.set_shape(given[i].get_shape())
                result[i] = g
            return result
        return outputs, grad
    if not types:
        return py_func(run, inputs, [], name=name)
    found = call(*inputs)
    return found if many else found[0]
