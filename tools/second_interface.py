#!/usr/bin/env python3
"""Writes the tables of tf.compat.v2: its names, and the arguments that they take.

    PYTHON_WITH_TENSORFLOW_1.15 tools/second_interface.py

A name that is the same object as one of TensorFlow 1.x is told from one that has
its own arguments or behaviour.
"""
import collections
import enum
import inspect
import os
import pathlib
import textwrap
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ROOT / "python" / "headrace" / "_second_interface.py"
SIGNATURES = ROOT / "tests" / "python" / "tf2_signatures.tsv"

HEADER = '''"""The names of tf.compat.v2 in TensorFlow 1.15, by namespace ("" is tf.compat.v2).

`name`: the same as the name in that namespace of tf; `name=place`: as tf.place,
or `name=space.`: as tf.space.name;
`name!`: one of its own, with other arguments or behaviour than 1.x has.
tools/second_interface.py writes this file.
"""

NAMES = {
'''

# All ops, as tf.raw_ops; and another package's.
LEFT_OUT = ("raw_ops", "compat", "estimator", "keras.estimator")
MISSING = object()
MODULES = ("tensorflow._api.v1.compat.v2", "keras.api._v2",
           "tensorboard.summary._tf")
FIRST_MODULES = ("tensorflow._api.v1", "keras.api._v1")


def is_module(value):
    return (isinstance(value, types.ModuleType)
            or "ModuleWrapper" in type(value).__name__)


def places_of(module, modules, space="", found=None):
    """{space: {name: value}} of a module and those below it that are in
    `modules`."""
    found = {} if found is None else found
    found[space] = {}
    for name in dir(module):
        value = getattr(module, name, MISSING)
        path = space + "." + name if space else name
        if name.startswith("_") or value is MISSING or path in LEFT_OUT:
            continue
        if not is_module(value):
            found[space][name] = value
        elif any(m in value.__name__ for m in modules):
            places_of(value, modules, path, found)
    return found


def entry(space, name, value, first, places):
    """The text of a name."""
    is_object = callable(value) or type(value).__name__ == "DType"
    if name in first.get(space, {}):
        other = first[space][name]
        if other is value or not is_object and other == value:
            return name
    homes = places.get(id(value), ()) if is_object else ()
    if homes:
        best = min(homes, key=lambda p: (p.rpartition(".")[2] != name,
                                         p.count("."), p))
        return "%s=%s" % (name, best[:-len(name)] if (
            best.rpartition(".")[2] == name) else best)
    return name + "!"


def shown(default):
    if type(default).__name__ == "DType":
        return "tf." + default.name
    if isinstance(default, (type, types.FunctionType)):
        return default.__name__
    if type(default) is object:  # "nothing was given"
        return "object"
    return repr(default)


def arguments(value):
    """The text of a signature, or None."""
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return None
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    parts = []
    for p in parameters:
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.name != "self":
            parts.append(star + p.name + (
                "" if p.default is p.empty else "=" + shown(p.default)))
    return ", ".join(parts)


def write_names(second, first):
    places = collections.defaultdict(list)
    for space, names in first.items():
        for name, value in names.items():
            places[id(value)].append(space + "." + name if space else name)
    text = [HEADER]
    for space in sorted(second):
        entries = " ".join(entry(space, n, v, first, places)
                           for n, v in sorted(second[space].items()))
        text.append('    "%s": """\n%s""",\n' % (space, textwrap.fill(
            entries, 80, initial_indent=" " * 8, subsequent_indent=" " * 8,
            break_long_words=False, break_on_hyphens=False)))
    NAMES.write_text("".join(text) + "}\n")


def write_signatures(second):
    by_text = collections.defaultdict(list)
    for space, names in second.items():
        for name, value in names.items():
            text = arguments(value) if callable(value) else None
            if text is not None:
                by_text[text].append(space + "." + name if space else name)
    SIGNATURES.write_text("".join(
        "%s\t%s\n" % (text, " ".join(sorted(names)))
        for text, names in sorted(by_text.items())))


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    second = places_of(tf.compat.v2, MODULES)
    first = places_of(tf.compat.v1, FIRST_MODULES)
    write_names(second, first)
    write_signatures(second)


if __name__ == "__main__":
    main()
