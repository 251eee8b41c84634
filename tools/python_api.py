#!/usr/bin/env python3
"""Writes docs/python-api.md: what there is of the names that programs of
TensorFlow 1.x use.

    .venv/bin/python tools/python_api.py [--check]

tests/python/tf1_frequency.tsv counts, over public programs, how many use a name.
Of each the page tells whether it is here, whether a test names it and whether it
has a docstring. --check: writes nothing, and fails if the page is out of date.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python-api.md"
FREQUENCY = ROOT / "tests" / "python" / "tf1_frequency.tsv"
HEAD = """# Names of TensorFlow 1.x

The names that public programs use, by the number of programs. *Tested*: a file in
tests/ names it. *Docstring*: `help` has a text of our own; values have none. What
is missing raises an error that says so. `tools/python_api.py` writes this page.

"""


def symbols():
    """[(rank, name, programs, kind)]."""
    lines = FREQUENCY.read_text().splitlines()[1:]
    return [line.split("\t") for line in lines]


MISSING = object()


def find(tf, name):
    """What `tf.a.b` is, or MISSING."""
    value = tf
    for part in name.split(".")[1:]:
        try:
            value = getattr(value, part)
        except Exception:  # names that are left out have errors of their own
            return MISSING
    return value


def tested_names():
    """The dotted names of the tests, and all of their beginnings."""
    found = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for name in re.findall(r"(?<![\w.])\w+(?:\.\w+)+", path.read_text()):
            name = re.sub(r"^tf\.compat\.v1\.", "tf.", name)
            while "." in name:
                found.add(name)
                name = name.rpartition(".")[0]
    return found


def is_tested(name, tested):
    """Whether a test has the name in full, or, as `import tensorflow.contrib.slim
    as slim` makes it, its last two parts."""
    return name in tested or (name.count(".") > 1 and
                              ".".join(name.split(".")[-2:]) in tested)


def rows():
    import headrace as tf
    tested = tested_names()
    own = {}  # the same object may have other names
    for _, name, _, _ in symbols():
        value = find(tf, name)
        if is_tested(name, tested) and not isinstance(
                value, (int, float, str, bytes, tuple)):
            own[id(value)] = True
    for rank, name, programs, kind in symbols():
        value = find(tf, name)
        here = value is not MISSING
        test = here and (is_tested(name, tested) or id(value) in own)
        doc = here and (bool(getattr(value, "__doc__", None))
                        if callable(value) else None)
        yield int(rank), name, programs, here, test, doc, kind


def page():
    mark = {True: "yes", False: "**no**", None: "-"}
    found = list(rows())
    text = [HEAD, "| the first | here | tested | with docstring |\n"
            "|---|---|---|---|\n"]
    for count in (200, 400, 700, len(found)):
        part = found[:count]
        text.append("| %d | %d | %d | %d |\n" % (
            len(part), sum(r[3] for r in part), sum(bool(r[4]) for r in part),
            sum(r[5] is not False for r in part)))
    text.append("\n| | name | programs | here | tested | docstring |\n"
                "|---|---|---|---|---|---|\n")
    for rank, name, programs, here, test, doc, kind in found:
        absent = ("no (nor in 1.15)" if kind == "NOT IN 1.15.5"
                  else "**no**")
        text.append("| %d | `%s` | %s | %s | %s | %s |\n" % (
            rank, name, programs, "yes" if here else absent,
            mark[test] if here else "", mark[doc] if here else ""))
    return "".join(text)


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit("docs/python-api.md is out of date: run "
                     "tools/python_api.py")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
