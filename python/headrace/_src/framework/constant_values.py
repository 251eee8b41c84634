"""Values of tensors that follow from the graph alone, without a run."""
import numpy as np

from headrace._src.framework import tensor as _tensor
from headrace._src.framework.tensor_shape import TensorShape

_MOST = 1 << 22  # elements: more are not worth their memory
_DEPTH = 50  # nodes above each other


def computed(tensor, partial, depth):
    """The value of a node of one of the types below, or None. partial: a Pack
    with some inputs known has None for the others, and vectors behind each
    other have None for the elements of those that are not known."""
    if depth > _DEPTH:
        return None
    op = tensor.op

    def inputs():
        return [_tensor.constant_value(x, False, depth + 1)
                for x in op.inputs]
    if op.type == "Pack":
        return _packed(op, inputs(), partial)
    if op.type == "Size":
        shape = op.inputs[0].get_shape()
        count = shape.num_elements()
        if shape.ndims is not None and 0 in shape.as_list():
            count = 0
        return None if count is None else np.array(
            count, tensor.dtype.as_numpy_dtype)
    if op.type == "Fill" and not tensor.get_shape().is_fully_defined():
        return None
    if op.type == "ConcatV2" and partial:
        return _partial_concat(op, depth)
    known = inputs()
    if any(value is None for value in known):
        return None
    return _OPS[op.type](tensor, *known)


def _packed(op, values, partial):
    # TensorFlow knows no value along other axes, and programs rely on that.
    if not values or op.get_attr("axis") or all(v is None for v in values):
        return None
    if any(v is None for v in values):
        if not partial:
            return None
        out = np.empty(len(values), object)
        for i, v in enumerate(values):
            out[i] = v
        return out
    return np.stack(values)


def _partial_concat(op, depth):
    out = []
    for x in op.inputs[:-1]:
        if x._rank() != 1:
            return None
        value = _tensor.constant_value(x, True, depth + 1)
        size = x.get_shape()[0].value
        if value is None and size is None:
            return None
        out += [None] * size if value is None else value.tolist()
    return np.array(out, object)


def _fill(tensor, dims, value):
    if tensor.get_shape().num_elements() > _MOST:
        return None
    return np.full([int(d) for d in dims], value, value.dtype)


def _range(tensor, start, limit, delta):
    if not delta or abs(float(limit) - float(start)) > _MOST * abs(
            float(delta)):
        return None
    return np.arange(start, limit, delta, tensor.dtype.as_numpy_dtype)


def _cast(tensor, value):
    if value.dtype == object or not tensor.dtype.is_numpy_compatible:
        return None
    return value.astype(tensor.dtype.as_numpy_dtype)


def _concat(tensor, *values):
    return np.concatenate(values[:-1], int(values[-1]))


_OPS = {
    "Cast": _cast, "ConcatV2": _concat, "Fill": _fill, "Range": _range,
    "Equal": lambda tensor, x, y: np.equal(x, y),
    "NotEqual": lambda tensor, x, y: np.not_equal(x, y)}


def constant_value_as_shape(tensor):
    """The TensorShape that a vector of integers stands for: negative ones and
    what is not known are unknown dimensions. ValueError for a scalar other
    than -1, which is a shape of unknown rank."""
    if tensor.shape.ndims == 0:
        value = _tensor.constant_value(tensor)
        if value is not None and value == -1:
            return TensorShape(None)
        raise ValueError(
            "Received a scalar %s as shape; require a statically known scalar "
            "with value '-1' to describe an unknown shape." % (
                "with unknown value" if value is None
                else "value '%s'" % value))
    length = tensor.shape.with_rank(1).as_list()[0]
    op = tensor.op
    if length == 0:
        return TensorShape([])
    if op.type == "Shape":
        return op.inputs[0].get_shape()
    if op.type == "Pack":
        return TensorShape([_dimension(_tensor.constant_value(x)) for x in op.inputs])
    if op.type == "ConcatV2":
        shape = TensorShape([])
        for x in list(op.inputs)[:-1]:
            shape = shape.concatenate(constant_value_as_shape(x))
        return shape
    if op.type == "StridedSlice":
        found = _sliced(op)
        if found is not None:
            return found
    shape = TensorShape(None if length is None else [None] * length)
    value = _tensor.constant_value(tensor)
    if value is None:
        return shape
    return shape.merge_with([_dimension(d) for d in value])


def _dimension(value):
    return None if value is None or value < 0 else int(value)


def _sliced(op):
    """The part of a shape that a StridedSlice of its vector takes, or None."""
    ends = [_tensor.constant_value(x) for x in list(op.inputs)[1:]]
    if any(end is None or len(end) != 1 for end in ends) or any(
            op.get_attr(mask) for mask in ("ellipsis_mask", "new_axis_mask",
                                           "shrink_axis_mask")):
        return None
    begin, end, stride = (int(x[0]) for x in ends)
    shape = constant_value_as_shape(op.inputs[0])
    if shape.ndims is None:
        return None
    return shape[None if op.get_attr("begin_mask") else begin:
                 None if op.get_attr("end_mask") else end:stride]
