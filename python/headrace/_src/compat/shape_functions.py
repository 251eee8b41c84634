"""tensorflow.python.framework.common_shapes: shape functions in Python, which
return the shapes of a node's outputs; the ops have theirs in the library."""
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.framework.tensor_shape import unknown_shape as _unknown
from headrace._src.ops.array_ops import broadcast_static_shape


def _set_call_cpp_shape_fn(call_cpp_shape_fn):
    """Does nothing: nodes have their shapes from the start."""


def call_cpp_shape_fn(op, require_shape_fn=True):
    """The shapes that a node's outputs have."""
    return {"shapes": [t.get_shape() for t in op.outputs]}


def has_fully_defined_shape(tensor):
    return tensor.get_shape().is_fully_defined()


def rank(tensor):
    """The rank of a tensor; a Tensor is taken by its static shape."""
    return tensor.get_shape().ndims


def scalar_shape(unused_op):
    return [TensorShape([])]


def unchanged_shape(op):
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank):
    """A shape function: that of the first input, which has this rank."""
    return lambda op: [op.inputs[0].get_shape().with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank):
    return lambda op: [op.inputs[0].get_shape().with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank):
    return lambda op: [op.inputs[0].get_shape().with_rank_at_most(rank)]


def no_outputs(unused_op):
    return []


def broadcast_shape(shape_x, shape_y):
    """The shape of what is made of both. ValueError if they do not fit."""
    return broadcast_static_shape(shape_x, shape_y)


def is_broadcast_compatible(shape_x, shape_y):
    """Whether the shapes fit, as far as they are known; False if one of them is
    not known at all."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_static_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def unknown_shape(op):
    """A shape function: nothing is known."""
    return [_unknown() for _ in op.outputs]
