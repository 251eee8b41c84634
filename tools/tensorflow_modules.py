#!/usr/bin/env python3
"""Writes the table of TensorFlow's modules that are no part of its interface.

    PYTHON_WITH_TENSORFLOW_1.15 tools/tensorflow_modules.py

Programs import from tensorflow.python.* and tensorflow.contrib.*.python.*. The
table says which public names each of these modules has.
"""
import collections
import importlib
import os
import pathlib
import re
import sys
import textwrap
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "headrace"
OUTPUT = PACKAGE / "_src" / "compat" / "tensorflow_modules.py"

HEADER = '''"""The modules of TensorFlow 1.15 outside its interface, and their public names.

Of each module NAMES has the namespaces of tf where its names are too: `name`, or
`name=original`. OTHERS are modules that have none. tools/tensorflow_modules.py
writes this file.
"""

NAMES = {
'''

# The parts of TensorFlow whose modules are of use here.
PARTS = re.compile(r"""tensorflow\.(
    python\.(client|data|eager|framework|layers|lib|ops|platform|profiler
             |saved_model|summary|tools|training|user_ops|util|compat|keras
             |feature_column|distribute|autograph)\b.*
    | contrib\.(crf|data|distributions|framework|image|layers|legacy_seq2seq
                |losses|metrics|nn|opt|rnn|seq2seq|slim|staging|training)
      \.python\b.*
    | contrib\.lookup\.lookup_ops)$""", re.VERBOSE)
LEFT_OUT = re.compile(r"\.gen_\w+$|_test_util$|\.standard_ops$"
                      r"|\.python\.keras\.api\b"
                      r"|\.data\.experimental(\.ops)?$"
                      r"|tensorflow\.python\.(ops|framework|data|training)$")
# Programs import such modules and may never use them.
OTHERS = re.compile(r"python\.(?!keras\.api\b)(?!.*(\.gen_|_pb2$))[\w.]+$")
FUTURE = {"absolute_import", "division", "print_function"}


def interface():
    """{space: names} of TensorFlow's interface."""
    found = {}
    exec((PACKAGE / "_interface.py").read_text(), found)
    return found["NAMES"]


def is_module(value):
    return (isinstance(value, types.ModuleType)
            or "ModuleWrapper" in type(value).__name__)


def places(tf):
    """{id of an object: its places (space, name) in the interface}."""
    found = collections.defaultdict(list)
    for space, names in interface().items():
        module = tf
        try:
            for part in space.split(".") if space else ():
                module = getattr(module, part)
        except AttributeError:
            continue
        for name in names.split():
            value = getattr(module, name, None)
            if value is not None and not is_module(value):
                found[id(value)].append((space, name))
    return found


def names_of(module, known):
    """{name: its place in the interface} of a module."""
    found = {}
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or name in FUTURE or is_module(value):
            continue
        homes = known.get(id(value), ())
        if isinstance(value, (int, float, str, bytes, tuple)):
            # Equal constants are one object.
            homes = [home for home in homes if home[1] == name]
        if homes:
            found[name] = min(homes, key=lambda home: (
                home[0].startswith("contrib"), home[1] != name,
                home[0].count(".") + bool(home[0]), len(home[0]), home))
    return found


def text_of(name, found):
    lines = ['    "%s": {\n' % name.partition(".")[2]]
    spaces = collections.defaultdict(list)
    for own, (space, original) in sorted(found.items()):
        spaces[space].append(own if own == original
                             else "%s=%s" % (own, original))
    for space, entries in sorted(spaces.items()):
        entries = " ".join(entries)
        line = '        "%s": "%s",\n' % (space, entries)
        if len(line) > 81:
            line = '        "%s": """\n%s""",\n' % (space, textwrap.fill(
                entries, 80, initial_indent=" " * 12,
                subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False))
        lines.append(line)
    lines.append("    },\n")
    return "".join(lines)


def modules_of(package):
    """The modules in the folder of a package, imported or not."""
    folder = pathlib.Path(package.__path__[0])
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    for module in """
            contrib.crf contrib.data contrib.distributions contrib.framework
            contrib.image contrib.layers contrib.legacy_seq2seq contrib.lookup
            contrib.losses contrib.metrics contrib.nn contrib.opt contrib.rnn
            contrib.seq2seq contrib.slim contrib.staging contrib.training
            python.client.device_lib python.client.timeline
            python.framework.test_util python.ops.functional_ops
            python.ops.linalg.linalg python.ops.rnn python.ops.rnn_cell
            python.platform.benchmark python.platform.googletest
            python.tools.freeze_graph python.tools.inspect_checkpoint
            python.training.training""".split():
        importlib.import_module("tensorflow." + module)
    known = places(tf)
    texts = []
    written = set()
    for name in sorted(sys.modules):
        module = sys.modules[name]
        if module is None:
            continue
        use = PARTS.match(name) and not LEFT_OUT.search(name)
        found = use and names_of(module, known)
        if found:
            texts.append(text_of(name, found))
            written.add(name.partition(".")[2])
    from tensorflow import python
    others = sorted(name for name in modules_of(python)
                    if OTHERS.match(name) and name not in written)
    OUTPUT.write_text(HEADER + "".join(texts) + "}\n\nOTHERS = \"\"\"\n"
                      + textwrap.fill(" ".join(others), 80, initial_indent="    ",
                                      subsequent_indent="    ",
                                      break_long_words=False, break_on_hyphens=False) + '""".split()\n')


if __name__ == "__main__":
    main()
