"""What to say of a name that a namespace does not have."""
import difflib
import functools
import re

from headrace import _packages, _second_api, raw_ops
from headrace._api import NAMES
from headrace._interface import NAMES as TENSORFLOW
from headrace._left_out import NEAREST, OPS, nearest, replaced
from headrace._names import table


def _full(space, name):
    return ".".join(part for part in ("tf", space, name) if part)


def message(space, name):
    """The text of the AttributeError: what TensorFlow 1.15 has there is not
    supported yet, and what to use in its place; what TensorFlow 1.0 replaced;
    for the rest, which name may have been meant."""
    if name in _packages.homes(space) and not _packages.is_installed():
        return _packages.message(_full(space, name))
    if name in _names_of(space) or _full(space, name) in NEAREST:
        return _unsupported(_full(space, name))
    text = "module %r has no attribute %r" % (
        "headrace." + space if space else "headrace", name)
    new = replaced(space, name)
    if new:
        return "%s; TensorFlow 1.x has %s in its place" % (text, new)
    meant = _meant(space, name)
    if meant:
        return "%s; did you mean %s?" % (text, meant)
    for other in sorted(TENSORFLOW, key=lambda s: s.startswith("contrib")):
        if name in TENSORFLOW[other].split():
            return "%s; %s" % (text, _unsupported(_full(other, name)))
    return text


def _names_of(space):
    """The names that TensorFlow 1.15 has in a namespace."""
    if _second_api.is_one(space):
        known = _second_api.interface()
        inner = {s[len(space) + 1:].partition(".")[0] for s in known
                 if s.startswith(space + ".")}
        return inner.union(known.get(space, ()))
    return TENSORFLOW.get(space, "").split()


def _unsupported(full):
    instead = nearest(full) or nearest(
        full.replace("tf.%s." % _second_api.ROOT, "tf.", 1))
    return "%s is not supported yet%s" % (
        full, "; use instead: " + instead if instead else "")


def op_message(name):
    """The same for a name that is no op's, asked of raw_ops."""
    if name in OPS.split():
        return _unsupported(_full("raw_ops", name))
    text = "module 'headrace.raw_ops' has no attribute %r" % name
    meant = _op(name) or _alike(name, dir(raw_ops))
    return "%s; did you mean tf.raw_ops.%s?" % (text, meant) if meant else text


def _meant(space, name):
    """The full name of what is here and most like `name`, or None."""
    elsewhere = [s for s in NAMES if name in table(s) or name in _inside(s)]
    if elsewhere:
        # Nearer to the root first; nn has what most programs look for.
        best = min(elsewhere, key=lambda s: (s.count("."), s != "nn", s))
        return _full(best, name)
    alike = _alike(name, [*table(space), *_inside(space)])
    op = _op(name)
    if alike and (op is None or alike.lower() == name.lower()):
        return _full(space, alike)
    return op and "tf.raw_ops." + op


def _inside(space):
    """The names of the namespaces in `space`."""
    prefix = space and space + "."
    return {s[len(prefix):] for s in NAMES if s.startswith(prefix)
            and s != space and "." not in s[len(prefix):]}


def _alike(name, names):
    """One of `names` that differs in case or by a slip, or None."""
    names = {n.lower(): n for n in names}
    found = difflib.get_close_matches(name.lower(), names, 1, 0.8)
    return names[found[0]] if found else None


def _op(name):
    """The op that is `name` in snake case, or is called so, or None."""
    return _ops().get(snake_case(name))


@functools.cache
def _ops():
    return {snake_case(op): op for op in reversed(dir(raw_ops))}


def snake_case(name):
    """`name` as TensorFlow makes a function's name of an op's: conv2d_backprop
    of Conv2DBackprop."""
    name = re.sub(r"(?<=.)([A-Z][a-z])", r"_\1", name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    return name.replace("__", "_").lower()
