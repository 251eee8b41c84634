"""tf.summary: nodes whose values are Summary messages, for event files."""
import contextlib
import re

from headrace import raw_ops as _raw
from headrace._headrace import message_class as _message_class
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.graph import GraphKeys
from headrace._src.framework.tensor import convert_to_tensor


def _clean(name):
    """`name` as a tag and a scope may have it."""
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/") if name else name


@contextlib.contextmanager
def _scope(name, family=None, default_name=None, values=None):
    """(tag, scope) of a summary."""
    name, family = _clean(name), _clean(family)
    base = name if family is None else "%s/%s" % (family, name)
    with _graph.name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else "%s/%s" % (family, tag)), scope


def _collect(summary, collections):
    keys = [GraphKeys.SUMMARIES] if collections is None else collections
    for key in keys:
        _graph.add_to_collection(key, summary)
    return summary


def scalar(name, tensor, collections=None, family=None):
    """A summary of one number. It joins `collections`, the graph's SUMMARIES by
    default; `family` groups tags.

    `tensor`: a real number, a scalar or of one element. Returns a scalar
    string, a serialized Summary. TypeError for a type that is not of real
    numbers; InvalidArgumentError in the run for more than one element."""
    with _scope(name, family, None, [tensor]) as (tag, scope):
        return _collect(_raw.ScalarSummary(tag, tensor, name=scope),
                        collections)


def histogram(name, values, collections=None, family=None):
    """A summary of how many values lie where.

    `values`: real numbers of any shape. Returns a scalar string, a serialized
    Summary. TypeError for a type that is not of real numbers;
    InvalidArgumentError in the run for NaN and infinities."""
    with _scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collect(_raw.HistogramSummary(
            tag, convert_to_tensor(values), name=scope),
                        collections)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A summary of the first `max_outputs` images of [batch, height, width,
    channels]; floats are scaled to 0..255.

    `tensor`: 1, 3 or 4 channels, of uint8, float16, float32 or float64. Returns
    a scalar string, a serialized Summary of PNG files. TypeError for other
    types; InvalidArgumentError in the run for another rank or number of
    channels."""
    with _scope(name, family, None, [tensor]) as (tag, scope):
        return _collect(_raw.ImageSummary(
            tag, convert_to_tensor(tensor), max_images=max_outputs,
            name=scope), collections)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None,
          family=None):
    """A summary of the first `max_outputs` of [batch, frames] or [batch, frames,
    channels] samples in [-1, 1]."""
    with _scope(name, family, None, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtypes.float32,
                                 name="sample_rate")
        return _collect(_raw.AudioSummaryV2(
            tag, tensor, rate, max_outputs=max_outputs, name=scope),
            collections)


def tensor_summary(name, tensor, summary_description=None, collections=None,
                   summary_metadata=None, family=None, display_name=None):
    """A summary of a whole tensor; `summary_metadata`, a SummaryMetadata
    message, says which plug-in shows it."""
    metadata = _message_class("SummaryMetadata")()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with _scope(name, family, None, [tensor]) as (tag, scope):
        return _collect(_raw.TensorSummaryV2(
            tag, tensor, metadata.SerializeToString(), name=scope),
            collections)


def text(name, tensor, collections=None):
    """A summary of strings, shown as text. ValueError for other types."""
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype != dtypes.string:
        raise ValueError("Expected tensor %s to have dtype string, got %s"
                         % (tensor.name, tensor.dtype))
    metadata = _message_class("SummaryMetadata")()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, summary_metadata=metadata,
                          collections=collections)


def merge(inputs, collections=None, name=None):
    """One summary of many.

    `inputs`: a list of scalar strings, serialized Summaries; so is what is
    returned. It joins `collections`. InvalidArgumentError in the run if two
    have a tag; TypeError for what is no list of strings."""
    name = _clean(name)
    with _graph.name_scope(name, "Merge", inputs):
        merged = _raw.MergeSummary(list(inputs), name=name)
        for key in collections or []:
            _graph.add_to_collection(key, merged)
        return merged


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """`merge` of all summaries in a collection; None if there are none.

    Returns a scalar string, a serialized Summary of values of any shape and
    dtype. The run raises InvalidArgumentError if two have one tag. `scope`: a
    regular expression for the beginning of the names."""
    found = [s for s in _graph.get_collection(key)
             if scope is None or re.match(scope, s.name)]
    return merge(found, name=name) if found else None
