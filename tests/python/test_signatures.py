"""Every name that TensorFlow 1.15 has too takes the same arguments: their names,
order and defaults. tf1_signatures.tsv has a line for each signature: its
arguments (methods without self), and the names that have it."""
import ast
import collections
import inspect
import os
import re

import pytest

import headrace as tf

# Names that differ, by the reason.
EXCEPTIONS = {
    "an own argument stands at the end": """
        InteractiveSession.partial_run InteractiveSession.run
        Session.partial_run Session.run contrib.data.ignore_errors
        data.experimental.ignore_errors""",
    "made by the library, not by users": """
        Operation Tensor data.Dataset""",
    "named tuples: TensorFlow has the defaults too, its table does not": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature
        config.experimental.VirtualDeviceConfiguration
        io.FixedLenFeature io.FixedLenSequenceFeature io.SparseFeature
        train.SessionRunArgs train.VocabInfo""",
    "TensorFlow's table shows what wraps the class": """
        contrib.rnn.LSTMStateTuple""",
    "TensorFlow's table lacks the first argument, or has a decorator's": """
        nn.rnn_cell.BasicLSTMCell.build nn.rnn_cell.BasicRNNCell.build
        nn.rnn_cell.GRUCell.build nn.rnn_cell.LSTMCell.build
        errors.error_code_from_exception_type
        test.TestCase.assertRaisesWithPredicateMatch
        train.Coordinator.stop_on_exception train.Supervisor.managed_session""",
}
EXCEPTIONS.update({
    "no test by its name: a property, which gives a function with TensorFlow's "
    "arguments": "test.TestCase.test_session",
    "an exception of Python": "test.TestCase.failureException",
})
# Methods that are written in C++, which have no signature.
NATIVE = """
    Graph.get_operations Graph.unique_name Operation.colocation_groups
    Operation.values Tensor.consumers"""


def split(text):
    """The arguments of a signature, at its outermost commas."""
    parts, depth, quote, current = [], 0, None, ""
    for c in text:
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and not depth:
            parts.append(current.strip())
            current = ""
            continue
        current += c
    return parts + [current.strip()] if current.strip() else parts


def literal(text):
    """The text of a value: one text for equal numbers, an enum's name."""
    text = re.sub(r"<\w+\.(\w+): .*>$", r"\1", text)
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return repr(float(value) if type(value) is int else value)


def wanted_arguments(text):
    """[(name, default as text or None)]"""
    return [(name, literal(default) if has_default else None)
            for name, has_default, default in (
                part.partition("=") for part in split(text))]


def shown(default):
    if isinstance(default, tf.DType):
        return "tf." + default.name
    if isinstance(default, bytes):
        return repr(default.decode())
    if isinstance(default, list):
        return repr([d.decode() if isinstance(d, bytes) else d
                     for d in default])
    if isinstance(default, (type, tf._headrace.OpFunction)) or (
            inspect.isfunction(default)):
        return default.__name__
    return literal(repr(default))


def arguments(function):
    """As wanted_arguments, without those that are for ourselves alone."""
    found = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.name != "self" and not (p.name.startswith("_")
                                     and p.name != "_sentinel"
                                     and p.default is not p.empty):
            found.append((star + p.name, None if p.default is p.empty
                          else shown(p.default)))
    return found


def table():
    """Name: arguments."""
    path = os.path.join(os.path.dirname(__file__), "tf1_signatures.tsv")
    with open(path) as lines:
        for line in lines:
            text, _, names = line.rstrip("\n").partition("\t")
            for name in names.split():
                yield name, text


def resolve(name):
    """What has the name here, or None."""
    found = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def text_of(found):
    return ", ".join(n if d is None else "%s=%s" % (n, d) for n, d in found)


def difference(name, text):
    """How the name that is here differs, or None."""
    found = resolve(name)
    try:
        ours = arguments(found)
    except (TypeError, ValueError):
        return "no signature: %r" % (found,)
    if ours == wanted_arguments(text):
        return None
    return "(%s), TensorFlow (%s)" % (text_of(ours), text)


def inherited_from_tuple(name):
    return name.rpartition(".")[2] in ("index", "count")


TABLE = {name: text for name, text in table() if resolve(name) is not None}
EXCEPTED = [n for names in EXCEPTIONS.values() for n in names.split()]
SPACES = collections.defaultdict(list)
for _name in TABLE:
    SPACES[_name.partition(".")[0] if "." in _name else ""].append(_name)


def test_there_are_names_to_compare():
    assert len(TABLE) > 1100 and len(SPACES["math"]) > 120
    assert wanted_arguments("a, b='x, y', c=[1, 2], *args, **kw") == [
        ("a", None), ("b", "'x, y'"), ("c", "[1, 2]"), ("*args", None),
        ("**kw", None)]
    assert difference("svd", "tensor, compute_uv=True, full_matrices=False, "
                      "name=None") is not None


@pytest.mark.parametrize("space", sorted(SPACES))
def test_names_take_the_arguments_of_tensorflow(space):
    wrong = {}
    for name in SPACES[space]:
        if (name not in EXCEPTED and name not in NATIVE.split()
                and not inherited_from_tuple(name)):
            text = difference(name, TABLE[name])
            if text is not None:
                wrong[name] = text
    assert not wrong, "\n" + "\n".join(map(": ".join, wrong.items()))


@pytest.mark.parametrize("name", EXCEPTED + NATIVE.split())
def test_exceptions_are_needed(name):
    assert name in TABLE, "TensorFlow or we do not have %s" % name
    assert difference(name, TABLE[name]) is not None
