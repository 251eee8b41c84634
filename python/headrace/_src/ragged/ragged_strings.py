"""Strings taken apart and put together, as rows of several lengths."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.ragged.ragged_arrays import expand_dims
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, convert, is_ragged)


def _rank(tensor, what):
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError("Rank of %s must be statically known." % what)
    return rank


def of_sparse(pieces, count=None):
    """The rows of a SparseTensor that an op of strings gives, a Dimension of
    them."""
    rows = RaggedTensor.from_value_rowids(
        pieces.values, pieces.indices[:, 0], pieces.dense_shape[0],
        validate=False)
    if count is not None and count.value is not None:
        rows.row_splits.set_shape([count.value + 1])
    return rows


def of_vectors(function, strings):
    """`function` of a vector of strings, which gives a row for each, for
    strings of any shape, also ragged; a vector for a scalar."""
    if is_ragged(strings):
        return strings.with_flat_values(of_vectors(function,
                                                   strings.flat_values))
    rank = strings.get_shape().ndims
    if rank == 0:
        return function(_raw.ExpandDims(strings, 0)).values
    if rank in (1, None):
        return function(strings)
    return of_vectors(function, RaggedTensor.from_tensor(strings))


def bytes_split(input, name=None):
    """The bytes of each string, as strings.

    `input`: strings of any known rank, also a RaggedTensor. The result has one
    dimension more, which is ragged; a vector for a scalar. ValueError for an
    unknown rank."""
    with name_scope(name, "StringsByteSplit"):
        input = convert(input, dtypes.string, "input")
        if not is_ragged(input) and input.get_shape().ndims is None:
            raise ValueError("input must have a statically-known rank.")

        def split(strings):
            pieces = SparseTensor(*_raw.StringSplit(strings, "",
                                                    skip_empty=False))
            return of_sparse(pieces, strings.get_shape()[0])
        return of_vectors(split, input)


def unicode_encode(input, output_encoding, errors="replace",
                   replacement_char=65533, name=None):
    """The strings, "UTF-8", "UTF-16-BE" or "UTF-32-BE", of code points: one for
    each row of the last dimension.

    `input`: int32 of any known rank but 0, also a RaggedTensor. ValueError for
    others."""
    options = dict(output_encoding=output_encoding, errors=errors,
                   replacement_char=replacement_char)
    with name_scope(name, "UnicodeEncode"):
        input = convert(input)
        rank = _rank(input, "input_tensor")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if is_ragged(input):
            return _encoded_rows(input, options)
        sizes = _array.shape(input)
        outer = sizes[:-1]
        splits = _raw.Range(0, _raw.Prod(outer, [0]) + 1, 1) * sizes[-1]
        out = _raw.Reshape(_raw.UnicodeEncode(_raw.Reshape(input, [-1]), splits,
                                              **options), outer)
        out.set_shape(input.get_shape()[:-1])
        return out


def _encoded_rows(input, options):
    if input.flat_values.get_shape().ndims > 1:
        return input.with_flat_values(unicode_encode(input.flat_values,
                                                     **options))
    if input.ragged_rank > 1:
        return input.with_values(_encoded_rows(input.values, options))
    out = _raw.UnicodeEncode(input.values, input.row_splits, **options)
    out.set_shape([input.shape[0].value])
    return out


def unicode_decode(input, input_encoding, errors="replace",
                   replacement_char=65533, replace_control_characters=False,
                   name=None):
    """The code points of each string.

    `input`: strings of any known rank, also a RaggedTensor. The result, int32,
    has one dimension more, which is ragged; a vector for a scalar. ValueError
    for an unknown rank."""
    with name_scope(name, "UnicodeDecode"):
        return _decoded(input, input_encoding, errors, replacement_char,
                        replace_control_characters, _raw.UnicodeDecode)[0]


def unicode_decode_with_offsets(input, input_encoding, errors="replace",
                                replacement_char=65533,
                                replace_control_characters=False, name=None):
    """(unicode_decode, the byte at which each character begins, int64)."""
    with name_scope(name, "UnicodeDecodeWithOffsets"):
        return _decoded(input, input_encoding, errors, replacement_char,
                        replace_control_characters)


def unicode_split(input, input_encoding, errors="replace",
                  replacement_char=65533, name=None):
    """The characters of each string, as strings of the same encoding.

    `input`: strings of any known rank, also a RaggedTensor. The result has one
    dimension more, which is ragged; a vector for a scalar. ValueError for an
    unknown rank."""
    with name_scope(name, "UnicodeSplit"):
        return _characters(input, input_encoding, errors, replacement_char,
                           _raw.UnicodeDecode)[0]


def unicode_split_with_offsets(input, input_encoding, errors="replace",
                               replacement_char=65533, name=None):
    """(unicode_split, the byte at which each character begins, int64)."""
    with name_scope(name, "UnicodeSplitWithOffsets"):
        return _characters(input, input_encoding, errors, replacement_char)


def _characters(input, encoding, errors, replacement_char,
                op=_raw.UnicodeDecodeWithOffsets):
    points, *offsets = _decoded(input, encoding, errors, replacement_char,
                                False, op)
    return (unicode_encode(expand_dims(points, -1), encoding, errors,
                           replacement_char), *offsets)


def _decoded(input, encoding, errors, replacement_char, replace_controls,
             op=_raw.UnicodeDecodeWithOffsets):
    """(code points, offsets if the op gives them)."""
    input = convert(input, name="input")
    rank = _rank(input, "`input`")
    if rank > 1:
        input = _all_ragged(input, rank)
    flat = input.flat_values if is_ragged(input) else input
    splits, *parts = op(
        _raw.Reshape(flat, [-1]), input_encoding=encoding, errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_controls)
    if rank == 0:
        return tuple(parts)
    rows = [RaggedTensor.from_row_splits(x, splits, validate=False)
            for x in parts]
    if rank == 1:
        return tuple(rows)
    return tuple(input.with_flat_values(x) for x in rows)


def _all_ragged(value, rank):
    """With all dimensions but the outermost ragged, in form."""
    if not is_ragged(value):
        return RaggedTensor.from_tensor(value, ragged_rank=rank - 1)
    inner = rank - 1 - value.ragged_rank
    if not inner:
        return value
    return value.with_flat_values(RaggedTensor.from_tensor(
        value.flat_values, ragged_rank=inner,
        row_splits_dtype=value.row_splits.dtype.base_dtype))


def ngrams(data, ngram_width, separator=" ", pad_values=None,
           padding_width=None, preserve_short_sequences=False, name=None):
    """The sequences of `ngram_width` strings that follow each other in the last
    dimension, joined with `separator`.

    `data`: strings, a Tensor or RaggedTensor; `ngram_width`: a positive int or
    a list of them; `pad_values`: a string or a pair of strings, of which
    `padding_width` (by default ngram_width - 1) stand at both ends of each row;
    `preserve_short_sequences`: a row that is too short for one is one itself.
    The result has the rank and kind of `data`. ValueError for widths that are
    not positive and for a padding_width without pad_values; TypeError for
    pad_values that are no strings."""
    with name_scope(name, "StringNGrams"):
        left, right = _paddings(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be positive, got %s"
                             % padding_width)
        if padding_width is not None and pad_values is None:
            raise ValueError("padding_width needs pad_values")
        widths = (list(ngram_width) if isinstance(ngram_width, (list, tuple))
                  else [ngram_width])
        if any(width < 1 for width in widths):
            raise ValueError("ngram_width must be positive, got %s"
                             % (ngram_width,))
        if pad_values is None:
            padding_width = 0
        elif padding_width is None:
            padding_width = -1
        options = dict(
            separator=separator, ngram_widths=widths, left_pad=left,
            right_pad=right, pad_width=padding_width,
            preserve_short_sequences=preserve_short_sequences)
        data = convert(data, dtypes.string, "data")
        if is_ragged(data):
            return _ngrams_of_rows(data, options)
        rank = data.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of data must be known.")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        if rank == 1:
            row = RaggedTensor.from_row_starts(data, [0], validate=False)
            return _ngrams_of_rows(row, options).values
        rows = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        return _raw.Reshape(
            _ngrams_of_rows(rows, options).flat_values,
            _array.concat([_array.shape(data)[:-1], [-1]], 0))


def _paddings(pad_values):
    if pad_values is None:
        return "", ""
    pair = (tuple(pad_values) if isinstance(pad_values, (list, tuple))
            else (pad_values, pad_values))
    if not all(isinstance(x, (str, bytes)) for x in pair[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or "
                        "None.")
    return pair[0], pair[1]


def _ngrams_of_rows(data, options):
    if data.ragged_rank > 1:
        return data.with_values(_ngrams_of_rows(data.values, options))
    values, splits = _raw.StringNGrams(data.flat_values, data.row_splits,
                                       **options)
    return RaggedTensor.from_row_splits(values, splits, validate=False)
