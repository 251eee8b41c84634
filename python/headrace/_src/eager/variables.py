"""Variables of a program that executes eagerly: a resource of the eager context,
which lives as long as its handle."""
import contextlib
import itertools
import weakref

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.resource_variables import ResourceVariable

_numbers = itertools.count()


class _Op:
    """What a variable has in place of its operation: its name."""
    type = "VarHandleOp"
    control_inputs = inputs = outputs = ()
    source = ""

    def __init__(self, name, device):
        self.name, self.device = name, device

    @property
    def graph(self):
        return _context_graph()


def _context_graph():
    from headrace._src.eager.context import eager_graph
    return eager_graph()


def make_handle(dtype, shape, trainable=False, variable=None):
    """The handle of a new resource, which goes with it."""
    handle = _raw.VarHandleOp(dtype=dtype, shape=shape)
    if variable is not None:
        handle._variable = weakref.ref(variable)
    handle._is_trainable = bool(trainable)
    handle._holds = dtype, shape
    return handle


def variable_of(handle):
    """The variable of a handle, or None."""
    reference = handle.__dict__.get("_variable")
    return None if reference is None else reference()


class EagerVariable(ResourceVariable):
    """A variable that has its value. `numpy()` gives it."""

    _in_graph_mode = False

    def _make(self, initial_value, dtype, scope, validate_shape,
              caching_device, shape):
        self._handle_name = scope[:-1]
        self._unique_id = "%s_%d" % (self._handle_name, next(_numbers))
        with NoRecording():
            made_in = self.__dict__.pop("_made_in")
            if made_in._captures and not getattr(
                    made_in, "_is_of_keras", False):
                from headrace._src.eager.functions import value_of
                initial = value_of(initial_value, made_in)
            elif callable(initial_value):
                with get_default_graph().device(None):
                    initial = initial_value()
            else:
                initial = initial_value
            initial = convert_to_tensor(initial, dtype=dtype,
                                        name="initial_value")
            if shape is None:
                shape = initial.get_shape()
            elif not initial.get_shape().is_compatible_with(shape):
                raise ValueError(
                    "The initial value's shape (%s) is not compatible with "
                    "the explicitly supplied `shape` argument (%s)."
                    % (initial.get_shape(), shape))
            self._dtype = initial.dtype.base_dtype
            self._shape = (TensorShape(shape) if validate_shape
                           else TensorShape(None))
            self._node = make_handle(self._dtype, self._shape, self._trainable,
                                     self)
            _raw.AssignVariableOp(self._node, initial)
        self._initial_value = self._initializer_op = None
        self._graph_element = self._snapshot = None

    def _restore(self, variable_def, import_scope):
        raise RuntimeError("VariableDefs are not supported when eager execution "
                           "is enabled: a graph has what they name.")

    name = property(lambda self: self._handle_name + ":0")
    op = property(lambda self: _Op(self._handle_name, self.device))
    device = property(lambda self: self._node.device)
    graph = property(lambda self: self._node.graph)
    _shared_name = property(lambda self: self._handle_name)

    @property
    def initial_value(self):
        raise RuntimeError("initial_value not supported in EAGER mode.")

    initializer = property(lambda self: None)
    create = property(lambda self: None)

    def _beside_handle(self):
        return contextlib.nullcontext()

    def _as_graph_element(self):
        return None

    def initialized_value(self):
        return self.read_value()

    def value(self):
        return self._read()

    def read_value(self):
        return _raw.Identity(self._read())

    def _after_cached_read(self):
        return contextlib.nullcontext()

    def numpy(self):
        """The value as a NumPy scalar or an array of its own."""
        if not _headrace.executing_eagerly():
            raise NotImplementedError(
                "numpy() is only available when eager execution is enabled.")
        return self._read().numpy()

    def eval(self, session=None):
        raise RuntimeError("Trying to eval in EAGER mode")

    def load(self, value, session=None):
        self.assign(value)

    def to_proto(self, export_scope=None):
        raise RuntimeError("to_proto not supported in EAGER mode.")

    def _written(self, op):
        return _Unread._of(self, op)

    def count_up_to(self, limit):
        return _raw.ResourceCountUpTo(self._node, limit=limit, T=self._dtype)

    def __bool__(self):
        return bool(self.read_value())

    __nonzero__ = __bool__

    def __int__(self):
        return int(self.numpy())

    def __array__(self, dtype=None, copy=None):
        value = self._read().__array__()
        return value if dtype is None else value.astype(dtype)

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        if not _headrace.executing_eagerly():
            raise NotImplementedError("__deepcopy__() is only available when "
                                      "eager execution is enabled.")
        copy = ResourceVariable(
            initial_value=self.read_value(), trainable=self._trainable,
            constraint=self._constraint, dtype=self._dtype,
            name=self._handle_name)
        memo[id(self)] = copy
        return copy

    def __repr__(self):
        if not _headrace.executing_eagerly():
            return "<tf.Variable '%s' shape=%s dtype=%s>" % (
                self.name, self.get_shape(), self.dtype.name)
        from headrace._src.eager.tensors import numpy_text
        return "<tf.Variable '%s' shape=%s dtype=%s, numpy=%s>" % (
            self.name, self.get_shape(), self.dtype.name,
            numpy_text(self._read(), True))


EagerVariable.__name__ = EagerVariable.__qualname__ = "ResourceVariable"


class _Unread(EagerVariable):
    """A variable after it was written; in the body of a function, what reads it
    waits for that."""

    @staticmethod
    def _of(variable, op):
        written = _Unread.__new__(_Unread)
        written.__dict__.update(variable.__dict__)
        written._written_by = op
        written._of_variable = variable
        return written

    name = property(lambda self: "UnreadVariable")

    def _read(self, name=None):
        op = self._written_by
        if op is None:
            return super()._read(name)
        with op.graph.control_dependencies([op]):
            return super()._read(name)

    @property
    def op(self):
        return super().op if self._written_by is None else self._written_by


class NoRecording:
    """`with`: no tape records."""

    def __enter__(self):
        _headrace.suspend_tapes(1)

    def __exit__(self, *error):
        _headrace.suspend_tapes(-1)
