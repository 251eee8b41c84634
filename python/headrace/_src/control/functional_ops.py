"""map_fn, scan, foldl and foldr: a function of the slices of tensors along
their first dimension, as loops over TensorArrays."""
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor


def _slices(elems):
    """(flat tensors, an array of each's slices, their number, and the same or
    None where it is a tensor)."""
    flat = [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    static = None
    for t in flat:
        shape = t.get_shape()
        if shape.ndims == 0:
            raise ValueError(
                "elements in elems must be 1+ dimensional Tensors, not scalars"
                if nest.is_nested(elems) else
                "elems must be a 1+ dimensional Tensor, not a scalar")
        if shape.ndims is not None and shape.as_list()[0] is not None:
            if static is not None and shape.as_list()[0] != static:
                raise ValueError("Dimensions %d and %d are not compatible"
                                 % (static, shape.as_list()[0]))
            static = shape.as_list()[0]
    n = static if static is not None else _array.shape(flat[0])[0]
    arrays = [TensorArray(t.dtype.base_dtype, size=n, dynamic_size=False,
                          infer_shape=True).unstack(t) for t in flat]
    return flat, arrays, n, static


def _at(elems, arrays, i):
    return nest.pack_sequence_as(elems, [a.read(i) for a in arrays])


def _stacked(structure, arrays, static):
    results = [a.stack() for a in arrays]
    for r in results:
        shape = r.get_shape()
        if shape.ndims is not None:
            r.set_shape([static] + shape.as_list()[1:])
    return nest.pack_sequence_as(structure, results)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True,
           swap_memory=False, infer_shape=True, name=None):
    """The values of `fn` for each slice of `elems`, stacked. Where `fn`
    returns another structure or other types than `elems` has, `dtype` is that
    structure of types.

    `elems`: tensors [n, ...] of any type, nested or not; so are the results, of
    the types `dtype`. TypeError for an `fn` that cannot be called or results
    that are not of `dtype`; ValueError for scalars or lengths that differ."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "map_fn takes no SparseTensor. Map its values: SparseTensor("
            "x.indices, map_fn(fn, x.values), x.dense_shape); or the rows of "
            "sparse_tensor_to_dense(x)")
    with _graph.name_scope(name, "map", nest.flatten(elems)):
        flat, arrays, n, static = _slices(elems)
        if dtype is None:
            like = elems
            types = [t.dtype.base_dtype for t in flat]
        else:
            like = dtype
            types = [_dtypes.as_dtype(d) for d in nest.flatten(dtype)]
        begin = constant(0)
        results = [TensorArray(t, size=n, dynamic_size=False,
                               infer_shape=infer_shape) for t in types]

        def compute(i, outputs):
            values = fn(_at(elems, arrays, i))
            nest.assert_same_structure(like, values)
            values = nest.flatten(values)
            return i + 1, [o.write(i, v) for o, v in zip(outputs, values)]

        _, results = while_loop(
            lambda i, _: i < n, compute, (begin, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory,
            maximum_iterations=n)
        return _stacked(like, results, static)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True,
         swap_memory=False, infer_shape=True, reverse=False, name=None):
    """Every value of a = fn(a, slice), stacked, from `initializer` or the
    first slice on; from the last slice if `reverse`."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with _graph.name_scope(name, "scan", nest.flatten(elems)):
        flat, arrays, n, static = _slices(elems)
        if initializer is None:
            start = n - 1 if reverse else 0
            like = elems
            first = [a.read(start) for a in arrays]
            begin = 1
        else:
            like = initializer
            first = [convert_to_tensor(x) for x in nest.flatten(initializer)]
            begin = 0
        results = [TensorArray(t.dtype.base_dtype, size=n, dynamic_size=False,
                               element_shape=(t.get_shape() if infer_shape
                                              else None),
                               infer_shape=infer_shape) for t in first]
        if initializer is None:
            results = [r.write(start, t) for r, t in zip(results, first)]
        if reverse:
            i0 = n - 1 - begin

            def more(i, *_):
                return i >= 0
            step = -1
        else:
            i0 = begin

            def more(i, *_):
                return i < n
            step = 1

        def compute(i, a, outputs):
            value = fn(nest.pack_sequence_as(like, a), _at(elems, arrays, i))
            nest.assert_same_structure(like, value)
            value = [convert_to_tensor(v) for v in nest.flatten(value)]
            return i + step, value, [o.write(i, v)
                                     for o, v in zip(outputs, value)]

        _, _, results = while_loop(
            more, compute, (i0, first, results),
            parallel_iterations=parallel_iterations, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n)
        return _stacked(like, results, static)


def _fold(fn, elems, initializer, parallel_iterations, back_prop, swap_memory,
          name, default_name, backwards):
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with _graph.name_scope(name, default_name, nest.flatten(elems)):
        _, arrays, n, _ = _slices(elems)
        if initializer is None:
            a = _at(elems, arrays, n - 1 if backwards else 0)
            i = n - 1 if backwards else constant(1)
        else:
            a = nest.map_structure(convert_to_tensor, initializer)
            i = n if backwards else constant(0)

        def compute(i, a):
            if backwards:
                i = i - 1
            a = fn(a, _at(elems, arrays, i))
            return (i if backwards else i + 1), a

        _, result = while_loop(
            lambda i, a: i > 0 if backwards else i < n, compute, [i, a],
            parallel_iterations=parallel_iterations, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n)
        return result


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True,
          swap_memory=False, name=None):
    """The last value of a = fn(a, slice) over the slices in order."""
    return _fold(fn, elems, initializer, parallel_iterations, back_prop,
                 swap_memory, name, "foldl", False)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True,
          swap_memory=False, name=None):
    """The last value of a = fn(a, slice) over the slices from the last to the
    first."""
    return _fold(fn, elems, initializer, parallel_iterations, back_prop,
                 swap_memory, name, "foldr", True)
