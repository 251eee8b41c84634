"""Products of matrices and tensors over several axes: einsum, tensordot."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor, is_tensor)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def einsum(equation, *inputs, **kwargs):
    """Sums of products by an equation such as "ij,jk->ik": a label that the
    output has not is summed over, a repeated one takes the diagonal, "..."
    stands for dimensions that broadcast. Without "->" the output has the labels
    that occur once, in alphabetical order. More than two inputs are multiplied
    from left to right.

    Inputs: numbers of one type, which the result has. ValueError for an
    equation that is none, another number of inputs, ranks that do not fit, or
    sizes that differ under one label; TypeError for different types and for an
    argument that is not `name`."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: %s"
                        % ", ".join(sorted(kwargs)))
    terms, output = _einsum_terms(equation, len(inputs))
    with name_scope(name, "einsum", list(inputs)) as scope:
        inputs = [convert_to_tensor(x, name="input") for x in inputs]
        if _is_plain(terms, output, inputs):
            return _matrix_products(terms, output, inputs)
        total, labels = inputs[0], terms[0]
        for i in range(1, len(inputs) - 1):
            # What is still to come needs these labels of the product so far.
            later = "".join(terms[i + 1:]) + output
            both = labels + terms[i]
            kept = "..." if "..." in both else ""
            kept += "".join(c for j, c in enumerate(both)
                            if c != "." and c in later and c not in both[:j])
            total = _raw.Einsum([total, inputs[i]],
                                equation="%s,%s->%s" % (labels, terms[i], kept))
            labels = kept
        if len(inputs) == 1:
            return _raw.Einsum([total], equation="%s->%s" % (labels, output),
                               name=scope)
        return _raw.Einsum([total, inputs[-1]], name=scope, equation=(
            "%s,%s->%s" % (labels, terms[-1], output)))


def _einsum_terms(equation, count):
    """The labels of each input and of the output."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    for term in terms + [output]:
        rest = term.replace("...", "", 1)
        if rest and not (rest.isascii() and rest.isalpha()):
            raise ValueError("Indices have incorrect format: %s" % equation)
    if len(terms) != count:
        raise ValueError("Incorrect number of arguments for equation %r: it "
                         "has %d inputs, %d are given"
                         % (equation, len(terms), count))
    labels = "".join(terms).replace(".", "")
    if not arrow:
        output = ("..." if "..." in left else "") + "".join(
            sorted(c for c in labels if labels.count(c) == 1))
    for c in output.replace(".", ""):
        if c not in labels:
            raise ValueError("Unknown output axis: %s in equation %r"
                             % (c, equation))
    return terms, output


def _is_plain(terms, output, inputs):
    """True if products of matrices give the result: no label occurs twice in
    an input, or is summed over in more than two."""
    for term, x in zip(terms, inputs):
        if "." in term or len(set(term)) != len(term) or (
                x._rank() != len(term)):
            return False
    return all(c in output or sum(c in t for t in terms) <= 2
               for c in "".join(terms)) and len(set(output)) == len(output)


def _matrix_products(terms, output, inputs):
    """The result as TensorFlow 1.15 makes it: of transposed and reshaped inputs,
    multiplied from left to right."""
    total, labels = inputs[0], terms[0]
    for term, x in zip(terms[1:], inputs[1:]):
        summed = [c for c in labels if c in term and c not in output]
        total, labels = _product_of_two(total, labels, x, term, summed)
    unwanted = [i for i, c in enumerate(labels) if c not in output]
    if unwanted:
        total = _math.reduce_sum(total, axis=unwanted)
        labels = [c for c in labels if c in output]
    return _permuted(total, labels, output)


def _permuted(x, labels, wanted):
    """x with its dimensions in another order; x itself if that is theirs."""
    order = [list(labels).index(c) for c in wanted]
    return x if order == list(range(len(order))) else \
        _array.transpose(x, order)


def _product_of_two(x, x_labels, y, y_labels, summed):
    """(sum of x * y over `summed`, its labels)."""
    both = sorted(c for c in x_labels if c in y_labels and c not in summed)
    x_only = sorted(c for c in x_labels if c not in y_labels)
    y_only = sorted(c for c in y_labels if c not in x_labels)
    summed = sorted(summed)
    if not summed:
        # x is [both, x_only, 1...], y is [both, 1..., y_only].
        x = _permuted(x, x_labels, both + x_only)
        y = _permuted(y, y_labels, both + y_only)
        for _ in y_only:
            x = _array.expand_dims(x, -1)
        for _ in x_only:
            y = _array.expand_dims(y, len(both))
        return _math.multiply(x, y), both + x_only + y_only
    x = _permuted(x, x_labels, both + x_only + summed)
    y = _permuted(y, y_labels, both + summed + y_only)
    n = len(both)
    sizes = _sizes(x)
    rows = _multiplied(sizes[n:-len(summed)])
    depth = _multiplied(sizes[-len(summed):])
    x = _as_shape(x, sizes[:n] + [rows, depth])
    y_sizes = _sizes(y)
    y = _as_shape(y, y_sizes[:n] + [
        depth, _multiplied(y_sizes[n + len(summed):])])
    product = _as_shape(_math.matmul(x, y), sizes[:n + len(x_only)] +
                        y_sizes[len(y_sizes) - len(y_only):])
    return product, both + x_only + y_only


def _sizes(x):
    """The sizes of x: numbers, and tensors for those that are not known."""
    sizes = x.get_shape().as_list()
    if None in sizes:
        shape = _array.shape(x)
        sizes = [shape[i] if n is None else n for i, n in enumerate(sizes)]
    return sizes


def _multiplied(sizes):
    total = 1
    for n in sizes:
        total = total * n
    return total


def _as_shape(x, sizes):
    """x of these sizes; x itself if it is known to have them."""
    known = x.get_shape().as_list()
    if known == sizes and not any(is_tensor(n) for n in sizes):
        return x
    return _array.reshape(x, sizes)


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False,
           b_is_sparse=False, name=None):
    """A matrix times a vector."""
    with name_scope(name, "MatVec", [a, b]):
        b = convert_to_tensor(b, name="b")
        product = _math.matmul(
            a, _raw.ExpandDims(b, -1), transpose_a=transpose_a,
            adjoint_a=adjoint_a, a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse)
        return _raw.Squeeze(product, squeeze_dims=[-1])


def tensordot(a, b, axes, name=None):
    """Sums products over pairs of axes: the last `axes` of a with the first of
    b, or axes[0] of a with axes[1] of b."""
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        sum_a, sum_b = _tensordot_axes(a, axes)
        rows, sizes_a, known_a = _as_matrix(a, sum_a, summed_first=False)
        columns, sizes_b, known_b = _as_matrix(b, sum_b, summed_first=True)
        known = (None if known_a is None or known_b is None
                 else known_a + known_b)
        product = _raw.MatMul(rows, columns)
        if isinstance(sizes_a, list) and isinstance(sizes_b, list):
            sizes = constant(sizes_a + sizes_b, dtypes.int32, name="shape")
        else:
            sizes = _array.concat([convert_to_tensor(s, dtypes.int32)
                                   for s in (sizes_a, sizes_b)], 0)
        out = _raw.Reshape(product, sizes, name=scope)
        if known is not None:
            out.set_shape(known)
        return out


def _tensordot_axes(a, axes):
    """The axes of both arguments to sum over: lists, or int32 vectors."""
    if isinstance(axes, (int, np.integer)):
        rank = a._rank()
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if rank is None:
            rank = _raw.Rank(a)
            return _raw.Range(rank - axes, rank, 1), list(range(axes))
        if axes > rank:
            raise ValueError("'axes' must not be larger than the number of "
                             "dimensions of tensor %s." % a)
        return list(range(rank - axes, rank)), list(range(axes))
    if not isinstance(axes, (list, tuple)):
        axes = convert_to_tensor(axes, dtypes.int32, name="axes")
        known = constant_value(axes)
        if known is not None and known.ndim == 2:
            return [[int(i) for i in part] for part in known]
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    sum_a, sum_b = ([x] if isinstance(x, (int, np.integer)) else list(x)
                    for x in axes)
    if len(sum_a) != len(sum_b):
        raise ValueError("Different number of contraction axes 'a' and 'b', "
                         "%d != %d." % (len(sum_a), len(sum_b)))
    return sum_a, sum_b


def _as_matrix(x, axes, summed_first):
    """(x as a matrix of its other dimensions and those of `axes`, the sizes of
    the others as a tensor, and as a list with None or just None)."""
    rank = x._rank()
    if rank is None or not isinstance(axes, list):
        return _as_matrix_of_any_rank(x, axes, summed_first)
    if any(not -rank <= i < rank for i in axes):
        raise IndexError("an axis of %s is out of range for the shape %s"
                         % (axes, x.get_shape()))
    axes = [i % rank for i in axes]
    free = [i for i in range(rank) if i not in axes]
    dims = x.get_shape().as_list()
    known = [dims[i] for i in free]
    if None not in dims:
        shape = [int(np.prod([dims[i] for i in part], dtype=np.int64))
                 for part in (free, axes)]
        order = axes + free if summed_first else free + axes
        x = _array.transpose(x, order)
        return (_raw.Reshape(x, shape[::-1] if summed_first else shape),
                known, known)
    axes = convert_to_tensor(axes, dtypes.int32, name="axes")
    free = convert_to_tensor(free, dtypes.int32, name="free")
    sizes = _raw.Shape(x)
    free_sizes = _array.gather(sizes, free)
    summed_sizes = _array.gather(sizes, axes)
    shape = [_math.reduce_prod(free_sizes), _math.reduce_prod(summed_sizes)]
    order = _array.concat([axes, free] if summed_first else [free, axes], 0)
    shape = _array.stack(shape[::-1] if summed_first else shape)
    return (_raw.Reshape(_array.transpose(x, order), shape), free_sizes, known)


def _as_matrix_of_any_rank(x, axes, summed_first):
    sizes = _raw.Shape(x)
    axes = convert_to_tensor(axes, dtypes.int32, name="axes")
    axes = _raw.Select(axes >= 0, axes, axes + _raw.Rank(x))
    free, _ = _raw.ListDiff(_raw.Range(0, _raw.Rank(x), 1), axes)
    order = _raw.ConcatV2([axes, free] if summed_first else [free, axes], 0)
    free_sizes = _raw.GatherV2(sizes, free, 0)
    shape = [_raw.Prod(free_sizes, 0),
             _raw.Prod(_raw.GatherV2(sizes, axes, 0), 0)]
    matrix = _raw.Reshape(_raw.Transpose(x, order),
                          shape[::-1] if summed_first else shape)
    return matrix, free_sizes, None


