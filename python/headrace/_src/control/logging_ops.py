"""tf.print: values as text on a stream, while the graph runs."""
import pprint
import sys

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.ops.string_ops import string_format


class _Slot:
    """Stands in a structure for the text of a tensor."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _stream(stream):
    for name, known in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if stream is known:
            return name
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(
        "Unsupported output stream, logging level, or file.%s. Supported "
        "streams are sys.stdout, sys.stderr. File needs to be in the form of "
        "'file://<filepath>'." % (stream,))


def _with_slots(value, slot, tensors):
    """The structure with slots for tensors, which are added to a list."""
    if hasattr(value, "dense_shape") and hasattr(value, "values"):
        tensors.extend([value.indices, value.values, value.dense_shape])
        return "SparseTensor(indices={0}, values={0}, shape={0})".format(slot)
    if is_tensor(value):
        tensors.append(value)
        return slot
    return value


def print_v2(*inputs, **kwargs):
    """An Operation that prints its arguments: tensors, of which each dimension
    shows `summarize` (3; -1: all) elements at both ends, and structures of
    them, as Python would.

    output_stream: sys.stderr (the default), sys.stdout or "file://" and a path.
    sep: between arguments, " ". end: after them, a new line."""
    options = dict(output_stream=sys.stderr, name=None, summarize=3, sep=" ",
                   end="\n")
    unknown = {k: v for k, v in kwargs.items() if k not in options}
    if unknown:
        raise ValueError("Unrecognized keyword arguments for tf.print: %s"
                         % unknown)
    options.update(kwargs)
    stream, name = _stream(options["output_stream"]), options["name"]
    text = None
    if len(inputs) == 1 and is_tensor(inputs[0]) and not hasattr(
            inputs[0], "dense_shape"):
        only = convert_to_tensor(inputs[0])
        if only.dtype.base_dtype == dtypes.string and only._rank() == 0:
            text = only
    if text is None:
        text = _text(inputs, options["sep"], options["summarize"],
                     name and name + "_format")
    return _raw.PrintV2(text, output_stream=stream, end=options["end"],
                        name=name)


def _text(inputs, sep, summarize, name):
    """The arguments as one string tensor."""
    mark = "{}"
    while True:
        slot, tensors, parts = _Slot(mark), [], []
        for value in inputs:
            if isinstance(value, str):
                parts.append(value)
                continue
            flat = [_with_slots(v, slot, tensors) for v in nest.flatten(value)]
            parts.append(pprint.pformat(nest.pack_sequence_as(value, flat)))
        template = sep.join(parts)
        # What the arguments hold themselves must not be taken for a slot.
        if template.count(mark) == len(tensors):
            break
        mark += "_"
    return string_format(template, tensors, placeholder=mark,
                         summarize=summarize, name=name)
