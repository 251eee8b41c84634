"""google.protobuf.text_format for programs of TensorFlow 1.x, and json_format
(protobuf_json.py): their functions take the messages of tf too. Where protobuf
is not installed, these modules stand for it; else their functions pass other
messages on to protobuf's own."""
import functools
import importlib.abc
import importlib.machinery
import sys

from headrace._headrace import Message
from headrace._loading import load

_NAME = "google.protobuf.text_format"
_JSON = "google.protobuf.json_format"
_PACKAGES = ("google", "google.protobuf")


class ParseError(Exception):
    """The text is no message of this type."""


def _parse(error, text, message):
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        message.MergeText(text)
    except ValueError as e:
        raise error(str(e)) from None
    return message


def _text(message, as_one_line=False):
    text = str(message)
    return " ".join(line.strip() for line in text.splitlines()) \
        if as_one_line else text


def MessageToString(message, as_utf8=False, as_one_line=False, **kwargs):
    """The text of a message. Other options of protobuf's function are not
    there: they change nothing."""
    return _text(message, as_one_line)


def PrintMessage(message, out, indent=0, **kwargs):
    """Writes the text of a message to the file `out`."""
    out.write("".join(" " * indent + line
                      for line in _text(message).splitlines(True)))


def Parse(text, message, **kwargs):
    """Reads text into `message`, and returns it. ParseError with line and
    column."""
    return _parse(ParseError, text, message)


def Merge(text, message, **kwargs):
    """As Parse; what the message has of repeated fields stays."""
    return _parse(ParseError, text, message)


def ParseLines(lines, message, **kwargs):
    return Parse("\n".join(lines), message)


def MergeLines(lines, message, **kwargs):
    return Merge("\n".join(lines), message)


# With the number of the argument that is a message.
FUNCTIONS = ((MessageToString, 0), (PrintMessage, 0), (Parse, 1), (Merge, 1),
             (ParseLines, 1), (MergeLines, 1))
NAMES = ("MessageToString", "PrintMessage", "Parse", "Merge", "ParseLines",
         "MergeLines", "ParseError")


def _own(name):
    """The module of ours for protobuf's module `name`."""
    return (load("_src.compat.protobuf_json") if name == _JSON
            else sys.modules[__name__])


def extend(module):
    """Lets the functions of protobuf's own text_format or json_format take
    messages of tf."""
    own = _own(module.__name__)

    def wrapped(original, function, at):
        @functools.wraps(original)
        def call(*args, **kwargs):
            message = args[at] if len(args) > at else kwargs.get("message")
            if not isinstance(message, Message) and not (
                    hasattr(message, "MergeText")):  # as ProjectorConfig has
                return original(*args, **kwargs)
            try:
                return function(*args, **kwargs)
            except own.ParseError as e:
                raise module.ParseError(str(e)) from None
        call._headrace = True
        return call

    for function, at in own.FUNCTIONS:
        original = getattr(module, function.__name__, None)
        if original is not None and not hasattr(original, "_headrace"):
            setattr(module, function.__name__, wrapped(original, function, at))


class _Extending(importlib.abc.Loader):
    """Loads protobuf's module, then extends it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        extend(module)


class _Standing(importlib.abc.Loader):
    """Makes the modules that stand for protobuf's."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ in (_NAME, _JSON):
            own = _own(module.__name__)
            vars(module).update((name, getattr(own, name))
                                for name in own.NAMES)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname not in (_NAME, _JSON) and fullname not in _PACKAGES:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and not isinstance(spec.loader, _Standing):
                if fullname in (_NAME, _JSON) and spec.loader is not None:
                    spec.loader = _Extending(spec.loader)
                return spec
        return importlib.machinery.ModuleSpec(
            fullname, _Standing(), is_package=fullname in _PACKAGES)


_finder = _Finder()


def install():
    """Puts this in the place of google.protobuf.text_format and json_format."""
    if _finder in sys.meta_path:
        return
    sys.meta_path.insert(0, _finder)
    for name in (_NAME, _JSON):
        if name in sys.modules:
            extend(sys.modules[name])
