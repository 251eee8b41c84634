"""Strings: splitting, joining, hashing, converting."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops.sparse_tensor import SparseTensor

as_string = _raw.AsString
decode_base64 = _raw.DecodeBase64
encode_base64 = _raw.EncodeBase64
lower = _raw.StringLower
upper = _raw.StringUpper
strip = _raw.StringStrip
unicode_script = _raw.UnicodeScript
unicode_transcode = _raw.UnicodeTranscode
unsorted_segment_join = _raw.UnsortedSegmentJoin


def _one(new, old, new_name, old_name):
    """The value of an argument that has two names."""
    if (new is None) == (old is None):
        raise ValueError("Exactly one of %r and %r must be given"
                         % (new_name, old_name))
    return old if new is None else new


def string_join(inputs, separator="", name=None):
    """The strings of several tensors, element by element."""
    return _raw.StringJoin(inputs, separator=separator, name=name)


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None,
                reduction_indices=None, keepdims=None):
    """The strings along `axis` joined, by default all of them in row-major
    order. Of several axes the first runs fastest."""
    axis = reduction_indices if axis is None else axis
    keep = keepdims if keepdims is not None else bool(keep_dims)
    inputs = convert_to_tensor(inputs, dtypes.string)
    if axis is None:
        rank = inputs.get_shape().ndims
        if rank is None:
            axis = _raw.Range(_raw.Rank(inputs) - 1, -1, -1)
        else:
            axis = list(range(rank - 1, -1, -1))
    return _raw.ReduceJoin(inputs, convert_to_tensor(axis, dtypes.int32),
                           keep_dims=keep, separator=separator, name=name)


def string_split(source, sep=None, skip_empty=True, delimiter=None,
                 result_type="SparseTensor", name=None):
    """The pieces of each string of a vector between the bytes of `sep`, as a
    SparseTensor with a row a string."""
    _only_sparse(result_type)
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'sep' and 'delimiter'")
    delimiter = delimiter if sep is None else sep
    delimiter = " " if delimiter is None else delimiter
    with name_scope(name, "StringSplit", [source]):
        out = _raw.StringSplit(convert_to_tensor(source, dtypes.string),
                               delimiter, skip_empty=skip_empty)
        return SparseTensor(*out)


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor",
          source=None, name=None):
    """As Python's str.split, of each string of a vector; a SparseTensor."""
    _only_sparse(result_type)
    source = _one(input, source, "input", "source")
    with name_scope(name, "StringSplit", [source]):
        out = _raw.StringSplitV2(convert_to_tensor(source, dtypes.string),
                                 "" if sep is None else sep, maxsplit=maxsplit)
        return SparseTensor(*out)


def _only_sparse(result_type):
    if result_type != "SparseTensor":
        raise ValueError("result_type %r is not supported: only SparseTensor "
                         "is" % (result_type,))


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None,
                          input=None):
    string_tensor = _one(input, string_tensor, "input", "string_tensor")
    return _raw.StringToHashBucket(string_tensor, num_buckets=num_buckets,
                                   name=name)


string_to_hash_bucket_fast = _raw.StringToHashBucketFast
string_to_hash_bucket_strong = _raw.StringToHashBucketStrong


def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None,
                     input=None):
    """The numbers that strings spell: float32, float64, int32 or int64.
    InvalidArgument for what is no number."""
    string_tensor = _one(input, string_tensor, "input", "string_tensor")
    return _raw.StringToNumber(string_tensor, out_type=out_type, name=name)


def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes (or characters: unit="UTF8_CHAR") from `pos` on."""
    return _raw.Substr(input, pos, len, unit=unit, name=name)


def string_length(input, name=None, unit="BYTE"):
    return _raw.StringLength(input, unit=unit, name=name)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Matches of `pattern` (RE2) become `rewrite`, where \\1 is a group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return _raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite,
            replace_global=replace_global, name=name)
    return _raw.RegexReplace(input, pattern, rewrite,
                             replace_global=replace_global, name=name)


def regex_full_match(input, pattern, name=None):
    """True where `pattern` (RE2) matches all of a string."""
    if isinstance(pattern, (str, bytes)):
        return _raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return _raw.RegexFullMatch(input, pattern, name=name)


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """`template` with each placeholder replaced by a tensor, of which each dim
    shows `summarize` entries at both ends."""
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    inputs = [convert_to_tensor(x) for x in inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError("%d placeholder(s) in template %r do not match %d "
                         "input(s)" % (template.count(placeholder), template,
                                       len(inputs)))
    return _raw.StringFormat(inputs, template=template, placeholder=placeholder,
                             summarize=summarize, name=name)


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None,
               bytes=None):
    """The bytes of equally long strings as numbers: one more dim.

    `input_bytes`: strings of any shape. The result is `out_type`, numbers or
    bool, of shape input_bytes.shape + [length / size of one].
    InvalidArgumentError in the run if the lengths differ or are no multiple of
    the size; ValueError without out_type."""
    input_bytes = _one(input_bytes, bytes, "input_bytes", "bytes")
    if out_type is None:
        raise ValueError("out_type must be given")
    return _raw.DecodeRaw(input_bytes, out_type=out_type,
                          little_endian=little_endian, name=name)


# Unicode.

def unicode_encode(input, output_encoding, errors="replace",
                   replacement_char=65533, name=None):
    """The strings, "UTF-8", "UTF-16-BE" or "UTF-32-BE", of code points: one for
    each row of the last dimension."""
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert_to_tensor(input)
        rank = input._rank()
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        sizes = _raw.Shape(input)
        flat = _raw.Reshape(input, [-1])
        outer = sizes[:-1]
        rows = _raw.Prod(outer, [0])
        splits = _raw.Range(0, rows + 1, 1) * sizes[-1]
        out = _raw.UnicodeEncode(
            flat, splits, output_encoding=output_encoding, errors=errors,
            replacement_char=replacement_char)
        out = _raw.Reshape(out, outer)
        out.set_shape(input.get_shape()[:-1])
        return out


def _only_scalar(input, function):
    """A string scalar; what has more dimensions has rows of several lengths as
    its result."""
    input = convert_to_tensor(input, dtypes.string, name="input")
    if input._rank() != 0:
        raise NotImplementedError(
            "tf.strings.%s of shape %s is not supported yet: it needs ragged "
            "tensors. Only scalars are." % (function, input.get_shape()))
    return _raw.Reshape(input, [1])


def _decoded(input, function, input_encoding, errors, replacement_char,
             replace_control_characters, name):
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _raw.UnicodeDecodeWithOffsets(
            _only_scalar(input, function), input_encoding=input_encoding,
            errors=errors, replacement_char=replacement_char,
            replace_control_characters=replace_control_characters)


def unicode_decode(input, input_encoding, errors="replace",
                   replacement_char=65533, replace_control_characters=False,
                   name=None):
    """The code points of a string scalar, as a vector."""
    return _decoded(input, "unicode_decode", input_encoding, errors,
                    replacement_char, replace_control_characters,
                    name or "UnicodeDecode")[1]


def unicode_decode_with_offsets(input, input_encoding, errors="replace",
                                replacement_char=65533,
                                replace_control_characters=False, name=None):
    """(unicode_decode, the byte at which each character begins)."""
    _, points, offsets = _decoded(
        input, "unicode_decode_with_offsets", input_encoding, errors,
        replacement_char, replace_control_characters, name)
    return points, offsets


def _characters(input, function, input_encoding, errors, replacement_char,
                name):
    points, offsets = _decoded(input, function, input_encoding, errors,
                               replacement_char, False, name)[1:]
    return (unicode_encode(_raw.ExpandDims(points, 1), input_encoding, errors,
                           replacement_char), offsets)


def unicode_split(input, input_encoding, errors="replace",
                  replacement_char=65533, name=None):
    """The characters of a string scalar, as strings of the same encoding."""
    return _characters(input, "unicode_split", input_encoding, errors,
                       replacement_char, name or "UnicodeSplit")[0]


def unicode_split_with_offsets(input, input_encoding, errors="replace",
                               replacement_char=65533, name=None):
    """(unicode_split, the byte at which each character begins)."""
    return _characters(input, "unicode_split_with_offsets", input_encoding,
                       errors, replacement_char,
                       name or "UnicodeSplitWithOffsets")


def bytes_split(input, name=None):
    """The bytes of a string scalar, as strings."""
    with name_scope(name, "StringsByteSplit", [input]):
        return _raw.StringSplit(_only_scalar(input, "bytes_split"), "",
                                skip_empty=False)[1]
