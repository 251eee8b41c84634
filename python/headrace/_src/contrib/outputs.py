"""tf.contrib.layers: layers' outputs by their scopes, and summaries of them."""
import functools
import re

from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collections, get_collection, get_collection_ref)
from headrace._src.ops import math_ops as _math
from headrace._src.training import summary as _summary


def append_tensor_alias(tensor, alias):
    """`tensor`, with one name more in its attribute `aliases`: names that it has
    in dicts of a collection's tensors."""
    alias = alias.rstrip("/")
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    return tensor


def get_tensor_aliases(tensor):
    """The names that append_tensor_alias gave a tensor; otherwise its op's."""
    return getattr(tensor, "aliases", None) or [tensor.op.name]


def collect_named_outputs(collections, alias, outputs):
    """`outputs`, after they joined the collections by the name `alias`."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def convert_collection_to_dict(collection, clear_collection=False):
    """{alias: tensor} of a collection of outputs."""
    found = {alias: tensor for tensor in get_collection(collection)
             for alias in get_tensor_aliases(tensor)}
    if clear_collection:
        del get_collection_ref(collection)[:]
    return found


def _scalar(tensor, tag=None):
    tensor.get_shape().assert_has_rank(0)
    return _summary.scalar(tag or "%s_summary" % tensor.op.name, tensor)


def _histogram(tensor, tag=None):
    return _summary.histogram(tag or "%s_summary" % tensor.op.name, tensor)


def summarize_tensor(tensor, tag=None):
    """A scalar's summary or a histogram; None for strings and bools."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool_):
        return None
    return (_scalar if tensor.get_shape().ndims == 0 else _histogram)(
        tensor, tag)


def summarize_activation(op):
    """A histogram, and for relus the share of values that were cut."""
    kind = op.op.type

    def share(test, limit, name):
        x = op.op.inputs[0]
        cut = test(x, _math.cast(limit, x.dtype.base_dtype))
        _scalar(_math.reduce_mean(
            _math.cast(cut, dtypes.float32, name="ToFloat")),
                "%s/%s" % (op.op.name, name))
    if kind in ("Relu", "Softplus", "Relu6"):
        share(_math.less, 0.0, "zeros")
    if kind == "Relu6":
        share(_math.greater, 6.0, "sixes")
    return _histogram(op, "%s/activation" % op.op.name)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None,
                         summarizer=summarize_tensor):
    """Summaries of those in a collection whose names match name_filter."""
    return summarize_tensors(
        [x for x in get_collection(collection)
         if name_filter is None or re.match(name_filter, x.op.name)],
        summarizer)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


summarize_variables = functools.partial(
    summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)
