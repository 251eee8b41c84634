"""Protobuf messages: GraphDef, ConfigProto, RunMetadata and all the others.

`messages.X` is the class of message X; it has the methods and attributes that
protobuf's own Python classes have.
"""
from headrace._headrace import Message, message_class

_PACKAGE = "headrace.pb."
_DOC = """The message %s. Fields: %s.

Fields are Python's bool, int, float, str or bytes, messages, and lists and dicts
of these: they have no shapes or dtypes. ValueError for a field that there is not
or a number out of range, TypeError for a value of another type,
message.DecodeError for bytes that are no such message."""


def __getattr__(name):
    cls = message_class(name) if name[:1].isupper() else None
    if cls is None:
        raise AttributeError("no message type %r" % name)
    cls.__doc__ = _DOC % (name, ", ".join(
        n[:-len("_FIELD_NUMBER")].lower() for n in dir(cls)
        if n.endswith("_FIELD_NUMBER")) or "none")
    globals()[name] = cls
    return cls


def from_text(text, message):
    """Merges a message's text form into `message`, and returns it. Raises
    ValueError with line and column."""
    message.MergeText(text)
    return message


def _reduce(message):
    """How a message is pickled: by the name of its type and its bytes."""
    return _from_bytes, (message._type_name.partition(_PACKAGE)[2],
                         message.SerializeToString())


def _from_bytes(name, data):
    return message_class(name).FromString(data)


__all__ = ["Message", "from_text"]
