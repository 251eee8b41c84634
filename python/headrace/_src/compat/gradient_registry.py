"""tensorflow.python.framework.ops._gradient_registry: the gradient functions by
op type, which programs look up and replace."""
import collections.abc

from headrace import _headrace
from headrace._src.ops import array_ops as _array
from headrace._src.training import gradients as _gradients


class LibraryGradient:
    """The library's gradient function of an op type, as those in Python are:
    f(op, *grads) returns the gradients of the op's inputs."""

    def __init__(self, op_type):
        self.op_type = op_type
        self.__name__ = "_%sGrad" % op_type

    def __repr__(self):
        return "<gradient function of the library for %s>" % self.op_type

    def __eq__(self, other):
        return (isinstance(other, LibraryGradient)
                and other.op_type == self.op_type)

    def __hash__(self):
        return hash(self.op_type)

    def __call__(self, op, *grads):
        """The gradients of op's inputs: a list if there are several.

        grads: of op's outputs, of their shapes and dtypes, or None. Returns
        Tensors, IndexedSlices and None. NotImplementedError for an operation
        with a state whose gradient cannot be asked for as it is."""
        if (op.type != self.op_type or len(set(op.inputs)) < len(op.inputs)
                or _override(op) is not None):
            op = self._separate(op)
        given = [(y, g) for y, g in zip(op.outputs, grads) if g is not None]
        if not given:
            found = [None] * len(op.inputs)
        else:
            found = _gradients.through_library(
                [y for y, _ in given], list(op.inputs), [g for _, g in given])
        return found[0] if len(found) == 1 else found

    def _separate(self, op):
        """A copy of `op` of this type: its inputs are different tensors, and no
        other gradient function is set for it."""
        if op.op_def.is_stateful:
            raise NotImplementedError(
                "%r of %s: the operation has a state, and its gradient needs a "
                "second operation, because an input occurs twice or another "
                "gradient is set for it" % (self, op.name))
        attrs = {key: value for key, value in op.node_def.attr.items()
                 if not key.startswith("_")}
        with op.graph.gradient_override_map({self.op_type: self.op_type}):
            return op.graph.create_op(
                self.op_type, [_array.identity(x) for x in op.inputs],
                [y.dtype for y in op.outputs], name=op.type, attrs=attrs)


def _override(op):
    """The op type whose gradient function is set for `op`, or None."""
    try:
        return op.get_attr("_gradient_op_type")
    except ValueError:
        return None


def find(op_type):
    """The gradient function of an op type: one in Python or a LibraryGradient;
    None if no gradient goes through the op. KeyError if there is none."""
    if op_type in _gradients.hidden:
        raise KeyError(op_type)
    if op_type in _gradients._functions:
        return _gradients._functions[op_type]
    entry = _headrace.gradient_entry(op_type)
    if entry is None:
        raise KeyError(op_type)
    return LibraryGradient(op_type) if entry[0] else None


class _Entry(dict):
    """{"type": the function, "location": None} of an op type. A new "type" is
    the function from then on."""

    def __init__(self, op_type):
        super().__init__(type=find(op_type), location=None)
        self._op_type = op_type

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if key == "type":
            _gradients.replace(self._op_type, value)


class _Table(collections.abc.MutableMapping):
    """{op type: {"type": function, "location": None}}, of the library and of
    the program. What is set or deleted holds for gradients made later. A copy
    is a dict."""

    def _names(self):
        found = dict.fromkeys(_headrace.gradient_ops())
        found.update(dict.fromkeys(_gradients._functions))
        return [name for name in found if name not in _gradients.hidden]

    def __getitem__(self, name):
        return _Entry(name)

    def __setitem__(self, name, value):
        _gradients.replace(name, value["type"])

    def __delitem__(self, name):
        find(name)
        _gradients.remove(name)

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def __copy__(self):
        return dict(self)

    copy = __copy__


class _Registry:
    """What tensorflow.python.framework.ops._gradient_registry has."""

    def __init__(self):
        self._table = _Table()

    @property
    def _registry(self):
        return self._table

    @_registry.setter
    def _registry(self, entries):
        """Makes the registry have these entries and no others."""
        entries = dict(entries)
        for name in [n for n in self._table if n not in entries]:
            del self._table[name]
        for name, entry in entries.items():
            if name not in self._table or find(name) != entry["type"]:
                self._table[name] = entry

    def register(self, candidate, name=None):
        """Keeps a gradient function, or None, for the op type `name`, by
        default the function's own name. KeyError if there is one."""
        _gradients.register(name or candidate.__name__, candidate)

    def list(self):
        """The op types."""
        return list(self._table)

    def lookup(self, name):
        """The gradient function of an op type. LookupError if there is none."""
        name = name.decode() if isinstance(name, bytes) else name
        try:
            return find(name)
        except KeyError:
            raise LookupError("gradient registry has no entry for: %s"
                              % name) from None


registry = _Registry()
