"""tf.contrib.framework: tensors whose shapes are checked."""
import numpy as np

from headrace._src.control.check_ops import assert_scalar
from headrace._src.control.control_flow import Assert
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    Graph, control_dependencies, name_scope)
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.losses import weights as _weights
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.training.global_step import (
    assert_global_step, get_global_step)


def reduce_sum_n(tensors, name=None):
    """The sum of all numbers of several tensors of any shapes and one dtype, a
    scalar. ValueError without tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [_math.reduce_sum(t, name="%s/sum" % t.op.name)
                for t in tensors]
        return sums[0] if len(sums) == 1 else _math.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """(predictions, labels), without a last dimension of 1 where one has a
    dimension more than the other. Of any dtypes. ValueError where that
    dimension is known not to be 1."""
    with name_scope(name, "remove_squeezable_dimensions",
                    [predictions, labels]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        a, b = predictions.get_shape(), labels.get_shape()
        if a.ndims is not None and b.ndims is not None:
            if a.ndims - b.ndims == -1:
                labels = _array.squeeze(labels, [-1])
            elif a.ndims - b.ndims == 1:
                predictions = _array.squeeze(predictions, [-1])
            return predictions, labels
        labels, predictions = _weights.squeezed(labels, predictions)
        return predictions, labels


def _is_wanted(wanted, actual):
    """Whether a shape in the run is the wanted one, in which -1 is any."""
    rank = _math.equal(_array.size(wanted), _array.size(actual))
    sizes = _math.reduce_all(_math.logical_or(
        _math.equal(wanted, -1), _math.equal(wanted, actual)))
    return _math.logical_and(rank, sizes)


def _checked(wanted, tensor):
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = _array.shape(tensor, name="actual")
        if isinstance(wanted, TensorShape):
            wanted = [-1 if n is None else n for n in wanted.as_list()]
        wanted = convert_to_tensor(wanted, dtype=dtypes.int32)
        return Assert(_is_wanted(wanted, actual), [
            "Wrong shape for %s [expected] [actual]." % tensor.name, wanted,
            actual], name=scope)


def _as_wanted(shape, tensor):
    """The expected shape as a tensor, an array of int32 or a TensorShape."""
    if is_tensor(shape):
        if shape.dtype.base_dtype != dtypes.int32:
            raise ValueError("Invalid dtype %s for shape %s expected of tensor "
                             "%s." % (shape.dtype, shape, tensor.name))
        return shape
    if isinstance(shape, (list, tuple)):
        shape = np.asarray(shape, None if shape else np.int32)
        if shape.dtype == np.int64:
            shape = shape.astype(np.int32)
    if isinstance(shape, np.ndarray):
        if shape.ndim > 1:
            raise ValueError("Invalid rank %s for shape %s expected of tensor "
                             "%s." % (shape.ndim, shape, tensor.name))
        if shape.dtype != np.int32:
            raise ValueError("Invalid dtype %s for shape %s expected of tensor "
                             "%s." % (shape.dtype, shape, tensor.name))
    return shape


def with_shape(expected_shape, tensor):
    """The tensor, of any dtype, after a check that it has the shape; one of a
    single number becomes a scalar where a scalar is expected.

    Args:
      expected_shape: sizes, a TensorShape, or an int32 vector.
      tensor: what is checked, in the run if its shape is not known.

    Raises:
      ValueError: the shape is known to be another one, a SparseTensor is
        given, or expected_shape is no vector of int32.
      InvalidArgumentError: in the run, for another shape.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    wanted = _as_wanted(expected_shape, tensor)
    actual = tensor.get_shape()
    is_scalar = not is_tensor(wanted) and len(wanted) < 1
    if not actual.is_fully_defined() or is_tensor(wanted):
        with name_scope("%s/" % tensor.op.name, values=[tensor]):
            if is_scalar:
                return _array.reshape(tensor, [])
            with control_dependencies([_checked(wanted, tensor)]):
                result = _array.identity(tensor)
            if not is_tensor(wanted):
                result.set_shape(wanted)
            return result
    if actual.is_compatible_with(wanted):
        return tensor
    if is_scalar and actual.is_compatible_with([1]):
        with name_scope("%s/" % tensor.op.name, values=[tensor]):
            return _array.reshape(tensor, [])
    raise ValueError("Invalid shape for tensor %s, expected %s, got %s."
                     % (tensor.name, wanted, actual))


def with_same_shape(expected_tensor, tensor):
    """with_shape for the shape of another tensor, of any dtype."""
    with name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(
            shape.as_list() if shape.is_fully_defined()
            else _array.shape(expected_tensor, name="expected_shape"), tensor)


def assert_scalar_int(tensor, name=None):
    """The tensor, which must be a scalar of an integer dtype: ValueError for
    another."""
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError("Expected integer type for %s, received type: %s."
                             % (tensor.name, tensor.dtype))
        return assert_scalar(tensor, name=scope)


def get_placeholders(graph):
    """The Placeholders of a graph, of any shapes and dtypes, as a list of
    tensors. TypeError for what is no Graph."""
    if not isinstance(graph, Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % (graph,))
    return [op.outputs[0] for op in graph.get_operations()
            if op.type == "Placeholder"]


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    """The global step of the graph, or the given one after a check that it is
    an integer scalar: TypeError if not."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor
