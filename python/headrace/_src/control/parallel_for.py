"""tf.vectorized_map, and tensorflow.python.ops.parallel_for: loops whose
iterations do not depend on each other. The iterations run in a while loop,
several at a time; what TensorFlow computes for all of them at once has the same
values."""
import functools
import inspect

from headrace._headrace import Tensor
from headrace._src.control.control_flow import while_loop
from headrace._src.control.control_flow_ops import group
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    Operation, control_dependencies, name_scope)
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor


def _run(body, types, iters, parallel_iterations, shapes=None):
    """TensorArrays of what `body` gives for 0 to iters - 1: a list of tensors,
    which are not written where they are None."""
    shapes = shapes or [None] * len(types)
    arrays = [TensorArray(kind, size=iters, infer_shape=shape is None,
                          element_shape=shape)
              for kind, shape in zip(types, shapes)]

    def step(i, *arrays):
        return [i + 1] + [array if value is None else array.write(i, value)
                          for array, value in zip(arrays, body(i))]
    return while_loop(lambda i, *_: i < iters, step, [0] + arrays,
                      parallel_iterations=parallel_iterations or 10)[1:]


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """What `loop_fn` gives for the int32 scalars 0 to iters - 1, stacked.

    Args:
      loop_fn: gives a tensor or a structure of tensors, whose shapes do not
        depend on the number.
      loop_fn_dtypes: the types of these, in their structure.
      iters: an integer or an integer scalar.
      parallel_iterations: how many run at a time, 10 by default.

    Returns:
      The structure of loop_fn_dtypes with tensors [iters, ...], None where
      loop_fn gives None; None if there is nothing.

    Raises:
      ValueError: loop_fn gives another number of tensors.
    """
    types = [dtypes.as_dtype(kind).base_dtype
             for kind in nest.flatten(loop_fn_dtypes)]
    missing = []

    def body(i):
        values = nest.flatten(loop_fn(i))
        if len(values) != len(types):
            raise ValueError(
                "Number of expected outputs, %d, does not match the number of "
                "actual outputs, %d, from loop_fn" % (len(types), len(values)))
        missing[:] = [value is None for value in values]
        return values
    arrays = _run(body, types, iters, parallel_iterations)
    return nest.pack_sequence_as(loop_fn_dtypes, [
        None if is_missing else array.stack()
        for array, is_missing in zip(arrays, missing)]) if types else None


def _takes_config(function):
    while isinstance(function, functools.partial):
        function = function.func
    try:
        return "pfor_config" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _as_value(value):
    if value is None or isinstance(value, (Tensor, Operation)):
        return value
    if isinstance(value, SparseTensor):
        raise NotImplementedError(
            "pfor: loop_fn gave a SparseTensor, which is not supported; give "
            "its indices, values and shape, or make it dense")
    return convert_to_tensor(value)


def pfor(loop_fn, iters, parallel_iterations=None):
    """As for_loop, without the types. `loop_fn` is called twice, the first time
    to learn them.

    Args:
      loop_fn: gives a tensor, an operation or a structure of them.
      iters: an integer or an integer scalar.
      parallel_iterations: how many run at a time, 10 by default.

    Returns:
      The structure of what loop_fn gives, with tensors [iters, ...]; an
      operation stands for those of all iterations.

    Raises:
      ValueError: parallel_iterations is less than 2.
      NotImplementedError: loop_fn takes a `pfor_config`, which reduces over the
        iterations, or gives a SparseTensor.
    """
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(
            "parallel_iterations must be None or a positive integer")
    if parallel_iterations == 1:
        raise ValueError(
            "Found parallel_iterations == 1. Use for_loop instead.")
    if _takes_config(loop_fn):
        raise NotImplementedError(
            "pfor: reductions over the iterations by `pfor_config` are not "
            "supported; stack the values of all iterations first, and reduce "
            "them outside of the loop")
    with name_scope("loop_body"):
        like = loop_fn(_array.placeholder_with_default(0, []))
        first = [_as_value(value) for value in nest.flatten(like)]

    def body(i):
        values = []
        for value in nest.flatten(loop_fn(i)):
            value = _as_value(value)
            if isinstance(value, Operation):
                with control_dependencies([value]):
                    value = _array.identity(i)
            values.append(value)
        return values
    with name_scope("pfor"):
        types = [value.dtype.base_dtype if isinstance(value, Tensor)
                 else dtypes.int32 for value in first]
        shapes = [value.get_shape() if isinstance(value, Tensor) else []
                  for value in first]
        arrays = _run(body, types, iters, parallel_iterations, shapes)
        count = constant_value(convert_to_tensor(iters))
        found = []
        for array, value, shape in zip(arrays, first, shapes):
            if isinstance(value, Tensor):
                value = array.stack()
                if shape.ndims is not None:
                    value.set_shape([None if count is None else int(count)]
                                    + shape.as_list())
            elif value is not None:
                value = group(array.flow)
            found.append(value)
        return nest.pack_sequence_as(like, found)


def vectorized_map(fn, elems):
    """The values of `fn` for each slice of `elems`, stacked, as map_fn; types
    and structures of the values need not be those of `elems`.

    Args:
      fn: takes what `elems` is, of one slice each, and gives a tensor or a
        structure of tensors. No call may depend on another.
      elems: tensors [n, ...] of any dtypes, nested or not.

    Returns:
      The structure of what fn gives, with tensors [n, ...] of its dtypes.

    Raises:
      NotImplementedError: fn gives a SparseTensor.
    """
    tensors = [convert_to_tensor(x) for x in nest.flatten(elems)]
    shape = tensors[0].get_shape()
    count = shape.as_list()[0] if shape.ndims else None
    if count is None:
        count = _array.shape(tensors[0])[0]

    def of_slice(i):
        return fn(nest.pack_sequence_as(
            elems, [_array.gather(x, i) for x in tensors]))
    return pfor(of_slice, count)
