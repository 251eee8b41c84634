"""tensorflow.contrib.tensorboard.plugins.projector: the file that tells
TensorBoard's projector which embeddings a checkpoint has.

Its messages are Python objects. They have fields as protobuf's messages do and
the same text, which is what visualize_embeddings() writes."""
import numbers
import os
import re

from headrace._src.platform.file_io import GFile


class _Sizes(list):
    """A repeated uint32."""

    def append(self, value):
        super().append(_checked(int, value))

    def extend(self, values):
        super().extend([_checked(int, v) for v in values])


class _Records(list):
    """A repeated message."""

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def add(self, **fields):
        """A new message at the end, with these fields."""
        super().append(self._kind(**fields))
        return self[-1]

    def append(self, value):
        self.add().CopyFrom(value)

    def extend(self, values):
        for value in values:
            self.append(value)


def _checked(kind, value):
    if kind is str and isinstance(value, (str, bytes)):
        return value.decode() if isinstance(value, bytes) else value
    if kind is int and isinstance(value, numbers.Integral):
        if not 0 <= value < 2**32:
            raise ValueError("Value out of range: %d" % value)
        return int(value)
    raise TypeError("%r has type %s, but expected %s"
                    % (value, type(value).__name__, kind.__name__))


class _Record:
    """A message: `_FIELDS` has its fields in order, {name: kind}."""
    _FIELDS: dict = {}

    def __init__(self, **fields):
        self.Clear()
        for name, value in fields.items():
            if isinstance(self._own(name), (list, _Record)):
                self._merge(name, value)
            else:
                setattr(self, name, value)

    def _own(self, name):
        if name not in self._FIELDS:
            raise AttributeError("%s has no field %r" % (type(self).__name__,
                                                         name))
        return getattr(self, name)

    def __setattr__(self, name, value):
        if isinstance(self._own(name), (list, _Record)):
            raise AttributeError(
                "Assignment not allowed to field %r of %s: it is repeated or a "
                "message" % (name, type(self).__name__))
        vars(self)[name] = _checked(str, value)

    def Clear(self):
        vars(self).update((name, kind()) for name, kind in self._FIELDS.items())

    def _merge(self, name, value):
        field = self._own(name)
        if isinstance(field, list):
            field.extend(value)
        elif isinstance(field, _Record):
            field.MergeFrom(value)
        elif value:
            setattr(self, name, value)

    def MergeFrom(self, other):
        if not isinstance(other, type(self)):
            raise TypeError("expected %s, got %s" % (
                type(self).__name__, type(other).__name__))
        for name in self._FIELDS:
            self._merge(name, getattr(other, name))

    def CopyFrom(self, other):
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def _lines(self):
        for name in self._FIELDS:
            value = getattr(self, name)
            for x in value if isinstance(value, list) else [value]:
                if isinstance(x, _Record):
                    inner = list(x._lines())
                    if inner or isinstance(value, list):
                        yield name + " {"
                        yield from ("  " + line for line in inner)
                        yield "}"
                elif x or isinstance(value, list):
                    yield "%s: %s" % (name, x if isinstance(x, int)
                                      else _quoted(x))

    def MergeText(self, text):
        """Adds what a text says, as str() writes it. ValueError for another
        text."""
        self._merge_tokens(_tokens(text), end="")

    def _merge_tokens(self, tokens, end):
        for name in iter(lambda: next(tokens), end):
            kind = self._own(name) if name in self._FIELDS else None
            if kind is None:
                raise ValueError("%s has no field %r" % (
                    type(self).__name__, name) if name else
                    "the text of a message ends too early")
            value = next(tokens)
            if value == ":":
                value = next(tokens)
            if value == "{" and isinstance(kind, (_Records, _Record)):
                inner = kind.add() if isinstance(kind, _Records) else kind
                inner._merge_tokens(tokens, end="}")
            elif isinstance(kind, _Sizes) and value.isdigit():
                kind.append(int(value))
            elif isinstance(kind, str) and value[:1] in ("'", '"'):
                setattr(self, name, _unquoted(value))
            else:
                raise ValueError("%s.%s: %r is no value of this field"
                                 % (type(self).__name__, name, value))

    def __str__(self):
        return "".join(line + "\n" for line in self._lines())

    __repr__ = __str__

    def __eq__(self, other):
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]


_ESCAPES = {ord(c): "\\" + e for c, e in zip("\n\r\t\"'\\", "nrt\"'\\")}


def _quoted(text):
    return "\"%s\"" % "".join(
        _ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else "\\%03o" % b)
        for b in text.encode())


_TOKEN = re.compile(
    r"""(?:\s|[,;]|\#[^\n]*)*(\w+|[:{}]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|$)""")


def _tokens(text):
    """The words, strings and signs of a message's text, and "" at the end."""
    at = 0
    while at <= len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError("no text of a message: %r" % text[at:at + 20])
        yield found[1]
        if not found[1]:
            break
        at = found.end()
    raise ValueError("the text of a message ends too early")


def _unquoted(token):
    plain = token[1:-1].encode().decode("unicode_escape")
    return plain.encode("latin-1").decode()


class SpriteMetadata(_Record):
    """The picture with one small picture for each point."""
    _FIELDS = {"image_path": str, "single_image_dim": _Sizes}


class EmbeddingInfo(_Record):
    """One tensor of the checkpoint, and the files that tell of its rows."""
    _FIELDS = {"tensor_name": str, "metadata_path": str, "bookmarks_path": str,
               "tensor_shape": _Sizes, "sprite": SpriteMetadata,
               "tensor_path": str}


class ProjectorConfig(_Record):
    """The checkpoint and its embeddings."""
    _FIELDS = {"model_checkpoint_path": str,
               "embeddings": lambda: _Records(EmbeddingInfo),
               "model_checkpoint_dir": str}


def visualize_embeddings(summary_writer, config):
    """Writes `config` as projector_config.pbtxt into the directory of
    `summary_writer`. ValueError if that has none."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    with GFile(os.path.join(logdir, "projector_config.pbtxt"), "w") as f:
        f.write(str(config))
