"""Strings: splitting, joining, hashing, converting."""
from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework.dispatch import dispatched
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


@dispatched
def string_join(inputs, separator="", name=None):
    """The strings of several tensors, element by element."""
    return _raw.StringJoin(inputs, separator=separator, name=name)


@dispatched
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
    SparseTensor with a row a string, or as a "RaggedTensor"."""
    _check_result_type(result_type)
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'sep' and 'delimiter'")
    delimiter = delimiter if sep is None else sep
    delimiter = " " if delimiter is None else delimiter
    with name_scope(name, "StringSplit", [source]):
        source = convert_to_tensor(source, dtypes.string)
        out = _raw.StringSplit(source, delimiter, skip_empty=skip_empty)
        return _pieces(out, source, result_type)


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor",
          source=None, name=None):
    """As Python's str.split, of each string.

    `input`: strings of any shape, also a RaggedTensor; `sep`: a string, by
    default any spaces; `maxsplit`: how often at most, -1 for any number. The
    result is a SparseTensor or, by `result_type`, a RaggedTensor with one
    dimension more; a vector in place of the latter for a scalar. ValueError for
    another result_type."""
    _check_result_type(result_type)
    source = _one(input, source, "input", "source")
    sep = "" if sep is None else sep

    def of_vector(strings, kind="RaggedTensor"):
        return _pieces(_raw.StringSplitV2(strings, sep, maxsplit=maxsplit),
                       strings, kind)

    with name_scope(name, "StringSplit", [source]):
        if not hasattr(source, "ragged_rank"):
            source = convert_to_tensor(source, dtypes.string, "input")
            if result_type == "SparseTensor" and source._rank() in (0, 1):
                return of_vector(source, result_type)
        ragged = load("_src.ragged.ragged_strings")
        source = load("_src.ragged.ragged_tensor").convert(source,
                                                           dtypes.string)
        result = ragged.of_vectors(of_vector, source)
        return result if result_type == "RaggedTensor" else result.to_sparse()


def _check_result_type(result_type):
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or "
                         "'SparseTensor', got %r" % (result_type,))


def _pieces(parts, strings, result_type):
    pieces = SparseTensor(*parts)
    if result_type == "SparseTensor":
        return pieces
    count = strings.get_shape()[0] if strings._rank() == 1 else None
    return load("_src.ragged.ragged_strings").of_sparse(pieces, count)


@dispatched
def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None,
                          input=None):
    string_tensor = _one(input, string_tensor, "input", "string_tensor")
    return _raw.StringToHashBucket(string_tensor, num_buckets=num_buckets,
                                   name=name)


string_to_hash_bucket_fast = _raw.StringToHashBucketFast
string_to_hash_bucket_strong = _raw.StringToHashBucketStrong


@dispatched
def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None,
                     input=None):
    """The numbers that strings spell: float32, float64, int32 or int64.
    InvalidArgument for what is no number."""
    string_tensor = _one(input, string_tensor, "input", "string_tensor")
    return _raw.StringToNumber(string_tensor, out_type=out_type, name=name)


@dispatched
def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes (or characters: unit="UTF8_CHAR") from `pos` on."""
    return _raw.Substr(input, pos, len, unit=unit, name=name)


@dispatched
def string_length(input, name=None, unit="BYTE"):
    return _raw.StringLength(input, unit=unit, name=name)


@dispatched
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Matches of `pattern` (RE2) become `rewrite`, where \\1 is a group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return _raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite,
            replace_global=replace_global, name=name)
    return _raw.RegexReplace(input, pattern, rewrite,
                             replace_global=replace_global, name=name)


@dispatched
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
        raise ValueError("%d placeholder(s) in template does not match %d "
                         "tensor(s) provided as input; template %r" % (
                             template.count(placeholder), len(inputs), template))
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
