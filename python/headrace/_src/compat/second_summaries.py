"""tf.compat.v2.summary: summaries whose tensors TensorBoard's plug-ins show."""
import contextlib
import re

from headrace import raw_ops as _raw
from headrace._headrace import message_class as _message_class
from headrace._src.control import check_ops as _checks
from headrace._src.control.control_flow import cond
from headrace._src.control.functional_ops import map_fn
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    control_dependencies, device, get_default_graph, name_scope)
from headrace._src.image.codecs import encode_png
from headrace._src.image.colors import convert_image_dtype
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import string_ops as _strings
from headrace._src.summary import writers as _writers

_BUCKETS = 30
_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")


def get_step():
    """The step that summaries have which are given none, or None."""
    return _writers.state.step


def set_step(step):
    """Says which step the summaries of this thread have that are given none: an
    integer, a tensor or a variable; None unsets it."""
    _writers.state.step = step


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """(tag, scope) of a summary, for functions that write one: the tag is the
    name within the scopes around it, as it is; the scope is a new one."""
    name = name or default_name
    outer = get_default_graph().get_name_scope()
    allowed = _INVALID_SCOPE_CHARACTERS.sub("", name) or None
    with name_scope(allowed, default_name, values) as scope:
        yield (outer + "/" + name if outer else name), scope


def _written(name, default_name, step, add):
    """`add(resource, step, scope)` adds the node that writes."""
    with name_scope(name, default_name) as scope:
        writer = _writers.state.writer
        if writer is None:
            return _array.constant(False)
        at = get_step() if step is None else step
        if at is None:
            raise ValueError("No step set via 'step' argument or "
                             "tf.summary.experimental.set_step()")

        def record():
            with device("cpu:0"):
                with control_dependencies([add(writer._resource, at, scope)]):
                    return _array.constant(True)

        return _writers.written(record, True, "summary_cond")


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor of any type to the default writer, unless record_if says
    otherwise.

    `step`: by default what set_step was given; `metadata`: a SummaryMetadata or
    its bytes; `name`: of the node. Returns a bool scalar, whether it was
    written; False without a writer. ValueError with a writer and no step."""
    described = b"" if metadata is None else metadata
    if hasattr(metadata, "SerializeToString"):
        described = metadata.SerializeToString()
    return _written(name, "write_summary", step,
                    lambda resource, at, scope: _raw.WriteSummary(
                        resource, at, _array.identity(tensor), tag, described,
                        name=scope))


def write_raw_pb(tensor, step=None, name=None):
    """Writes the serialized Summaries of a string tensor. See write."""
    return _written(name, "write_raw_pb", step,
                    lambda resource, at, scope: _raw.WriteRawProtoSummary(
                        resource, at, _array.identity(tensor), name=scope))


def _metadata(plugin, description, content=b""):
    made = _message_class("SummaryMetadata")()
    made.plugin_data.plugin_name = plugin
    made.plugin_data.content = content
    if description is not None:
        made.summary_description = description
    return made


def scalar(name, data, step=None, description=None):
    """Writes one real number, as float32.

    `name` and the scopes around it are the tag; `description`: Markdown. See
    write for `step` and the result. ValueError for more than a scalar."""
    described = _metadata("scalars", description)
    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        _checks.assert_scalar(data)
        return write(tag, _math.cast(data, dtypes.float32), step, described)


def text(name, data, step=None, description=None):
    """Writes strings. See scalar. TypeError for other types."""
    described = _metadata("text", description)
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        _checks.assert_type(data, dtypes.string)
        return write(tag, data, step, described)


def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how many values of a tensor lie where: [buckets, 3] float64 with the
    ends of each of `buckets` parts of equal width, 30 by default, and the number
    of values; [1, 3] if all values are the same, [0, 3] if there are none. See
    scalar."""
    described = _metadata("histograms", description)
    with summary_scope(name, "histogram_summary",
                       [data, buckets, step]) as (tag, _):
        counted = _counts(data, _BUCKETS if buckets is None else buckets)
        return write(tag, counted, step, described)


def _counts(data, buckets):
    with name_scope("buckets"):
        _checks.assert_scalar(buckets)
        _checks.assert_type(buckets, dtypes.int32)
        values = _math.cast(_array.reshape(data, [-1]), dtypes.float64)
        is_empty = _math.equal(_array.size(values), 0)

        def some():
            low, high = _math.reduce_min(values), _math.reduce_max(values)
            width = high - low
            return cond(_math.equal(width, 0), lambda: _one_bucket(values, low),
                        lambda: _buckets(values, low, high, width, buckets))

        return cond(is_empty, lambda: _array.constant(
            [], shape=(0, 3), dtype=dtypes.float64), some)


def _one_bucket(values, center):
    count = _math.cast(_array.size(values), dtypes.float64)
    return _array.transpose(_array.stack(
        [[center - .5], [center + .5], [count]]))


def _buckets(values, low, high, width, count):
    part = width / _math.cast(count, dtypes.float64)
    at = _math.cast(_math.floor((values - low) / part), dtypes.int32)
    # The highest value is in the last one.
    hits = _array.one_hot(_math.minimum(at, count - 1), depth=count)
    sums = _math.cast(_math.reduce_sum(hits, axis=0), dtypes.float64)
    ends = _math.linspace(low, high, count + 1)
    ends = _array.concat([ends[:-1], [high]], 0)
    return _array.transpose(_array.stack([ends[:-1], ends[1:], sums]))


def _encoded(function, values, name):
    """The strings that `function` makes of the rows; none of no rows."""
    made = map_fn(function, values, dtype=dtypes.string, name=name)
    return cond(_array.shape(made)[0] > 0, lambda: made,
                lambda: _array.constant([], dtypes.string))


def image(name, data, step=None, max_outputs=3, description=None):
    """Writes the first `max_outputs` of [batch, height, width, channels], of 1 to
    4 channels, as strings: width, height and PNG files; floats are of [0, 1].
    See scalar. ValueError for another rank."""
    described = _metadata("images", description)
    with summary_scope(name, "image_summary",
                       [data, max_outputs, step]) as (tag, _):
        _checks.assert_rank(data, 4)
        _checks.assert_non_negative(max_outputs)
        pixels = convert_image_dtype(data, dtypes.uint8, saturate=True)
        files = _encoded(encode_png, pixels[:max_outputs], "encode_each_image")
        sizes = _array.shape(pixels)
        sizes = _array.stack([_strings.as_string(sizes[2], name="width"),
                              _strings.as_string(sizes[1], name="height")],
                             name="dimensions")
        return write(tag, _array.concat([sizes, files], 0), step, described)


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None,
          description=None):
    """Writes the first `max_outputs` of [batch, frames, channels] samples in
    [-1, 1] as strings [batch, 2]: WAV files of `sample_rate` Hz, and labels,
    which are empty. See scalar. ValueError for another rank, and for an
    `encoding` other than "wav"."""
    if encoding not in (None, "wav"):
        raise ValueError("Unknown encoding: %r" % encoding)
    described = _metadata("audio", description, b"\x10\x0b")  # encoding: WAV
    with summary_scope(name, "audio_summary",
                       [data, sample_rate, max_outputs, step]) as (tag, _):
        _checks.assert_rank(data, 3)
        _checks.assert_non_negative(max_outputs)
        clips = data[:max_outputs]
        files = _encoded(lambda clip: _raw.EncodeWav(
            audio=clip, sample_rate=sample_rate),
                         clips, "encode_each_audio")
        labels = _array.tile([""], _array.shape(clips)[:1])
        return write(tag, _array.transpose(_array.stack([files, labels])), step,
                     described)
