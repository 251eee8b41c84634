"""tensorflow.python.keras.utils: helpers of layers and models that programs use
though tf does not export them."""
import functools

from headrace._headrace import Operation, Tensor
from headrace._src.control.control_flow import smart_cond as _smart_cond
from headrace._src.framework import nest
from headrace._src.framework import tensor as _tensor
from headrace._src.framework.tensor_shape import Dimension, TensorShape
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.variables.base import Variable


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """tf.cond, or a plain call where `pred` is known now. `pred` may be a
    variable."""
    if isinstance(pred, Variable):
        pred = _tensor.convert_to_tensor(pred)
    return _smart_cond(pred, true_fn, false_fn, name)


def constant_value(pred):
    """What `pred` is if that is known now, else None. TypeError unless it is a
    tensor, a variable, a bool, 0 or 1."""
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, Tensor):
        return _tensor.constant_value(pred)
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. "
                    "Found instead: %s" % type(pred))


def is_tensor_or_tensor_list(v):
    """Whether the first value in `v` is a tensor."""
    flat = nest.flatten(v)
    return bool(flat) and isinstance(flat[0], Tensor)


def is_tensor_or_variable(x):
    return _tensor.is_tensor(x) or isinstance(x, Variable)


_symbolic_types = [Tensor, SparseTensor, Variable]


def register_symbolic_tensor_type(cls):
    """Makes is_symbolic_tensor True for values of `cls`, which convert to
    tensors."""
    _symbolic_types.append(cls)


def is_symbolic_tensor(tensor):
    """True for tensors of a graph, for variables, and for values of the types
    that were registered."""
    return isinstance(tensor, tuple(_symbolic_types))


def are_all_symbolic_tensors(tensors):
    return all(is_symbolic_tensor(x) for x in tensors)


def _control_outputs(graph):
    """{operation: those that wait for it}."""
    found = {}
    for op in graph.get_operations():
        for before in op.control_inputs:
            found.setdefault(before, []).append(op)
    return found


def get_reachable_from_inputs(inputs, targets=None):
    """The set of tensors and operations that `inputs` have an effect on, with
    the inputs. Ends early when all `targets` are in it."""
    queue = nest.flatten(inputs, expand_composites=True)
    found, waits = set(queue), None
    missing = set(nest.flatten(targets)) if targets else None
    while queue:
        x = queue.pop()
        if isinstance(x, Operation):
            if waits is None:
                waits = _control_outputs(x.graph)
            after = list(x.outputs) + waits.get(x, [])
        elif isinstance(x, Variable):
            after = [x.op]
        elif isinstance(x, Tensor):
            after = x.consumers()
        else:
            raise TypeError("Expected Operation, Variable, or Tensor, got %s"
                            % x)
        for y in after:
            if y not in found:
                found.add(y)
                queue.insert(0, y)
        if missing is not None and missing <= found:
            break
    return found


def _is_size(value):
    return value is None or isinstance(value, (int, Dimension))


def _is_shape(value):
    return _is_size(value) or isinstance(value, TensorShape) or (
        isinstance(value, (tuple, list)) and all(_is_size(x) for x in value))


def convert_shapes(input_shape, to_tuples=True):
    """Each shape in a structure as a tuple, or as a TensorShape. ValueError for
    a tuple of a shape of unknown rank."""
    if _is_shape(input_shape):
        shape = TensorShape(input_shape)
        return tuple(shape.as_list()) if to_tuples else shape
    if isinstance(input_shape, dict):
        return {key: convert_shapes(x, to_tuples)
                for key, x in input_shape.items()}
    if isinstance(input_shape, (tuple, list)):
        return type(input_shape)(convert_shapes(x, to_tuples)
                                 for x in input_shape)
    raise ValueError("Expected a structure of shapes, got %r" % (input_shape,))


def shape_type_conversion(fn):
    """A method of a layer that takes tuples for shapes, as one that takes and
    returns TensorShapes."""
    @functools.wraps(fn)
    def wrapper(instance, input_shape):
        if input_shape is not None:
            input_shape = convert_shapes(input_shape, to_tuples=True)
        shape = fn(instance, input_shape)
        return None if shape is None else convert_shapes(shape,
                                                         to_tuples=False)
    return wrapper
