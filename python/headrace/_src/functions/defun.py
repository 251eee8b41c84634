"""Defun: a Python function as a function of the graph, with a body that calls
share. It is traced once, into a graph of its own."""
import inspect
import re

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.functions.function_def import function_def, next_number
from headrace._src.ops.array_ops import placeholder
from headrace._src.training.gradients import RegisterGradient


class Defun:
    """`@Defun(tf.float32, tf.int32)` makes the function below take tensors of
    these types; `@Defun()` before a function with parameters takes what types
    it is called with, and is traced once for each combination.

    What the body takes from the graph around it is captured: it becomes a
    further argument, or, with capture_by_value, is computed in the body again.
    get_variable inside makes the variable outside. One result comes back as a
    tensor, several as a tuple, none as the operation. `grad_func`: a Defun of
    the arguments and the gradients of the results that gives the gradients of
    the arguments; `python_grad_func`: a gradient function of the call, as those
    of tf.RegisterGradient. `func_name`: its name in
    the graph; `out_names`: those of its results; `shape_func`: gives the shapes
    of the results of a call, which is its argument. `compiled` and
    `separate_compiled_gradients` are advice to TensorFlow's compiler; functions
    run the same with and without it. ValueError for any other argument."""

    def __init__(self, *input_types, **kwargs):
        for name in ("compiled", "separate_compiled_gradients"):
            kwargs.pop(name, None)
        self._types = [dtypes.as_dtype(t) for t in input_types]
        self._options = {k: kwargs.pop(k, None) for k in (
            "func_name", "out_names", "noinline", "shape_func",
            "capture_by_value", "grad_func", "python_grad_func")}
        if kwargs:
            raise ValueError("Unknown keyword arguments: %s"
                             % ", ".join(kwargs))

    def __call__(self, function):
        if not callable(function):
            raise ValueError("function %s must be callable" % (function,))
        parameters = inspect.signature(function).parameters.values()
        if not self._types and any(p.default is p.empty for p in parameters):
            return _Overloaded(function, self._options)
        return _Defined(function, self._types, **self._options)


class _Overloaded:
    """A function whose argument types each call tells."""

    def __init__(self, function, options):
        self._function = function
        self._options = options
        self._by_types = {}
        self.__doc__ = function.__doc__

    def instantiate(self, input_types):
        """The function of arguments of these types. Its gradient function is
        that of the arguments' and the results' types."""
        types = [dtypes.as_dtype(t).base_dtype for t in input_types]
        key = tuple(t.name for t in types)
        if key not in self._by_types:
            options = dict(self._options)
            if options["func_name"]:
                options["func_name"] = "_".join(
                    (options["func_name"],) + key)
            gradient = options.pop("grad_func")
            defined = _Defined(self._function, types, **options)
            if gradient is not None:
                defined.set_gradient(gradient)
            self._by_types[key] = defined
        return self._by_types[key]

    def __call__(self, *args, **kwargs):
        args = [convert_to_tensor(a) for a in args]
        with _graph.graph_of(args).as_default():
            defined = self.instantiate([a.dtype for a in args])
        return defined(*args, **kwargs)


class _Defined:
    def __init__(self, function, types, func_name=None, out_names=None,
                 noinline=None, shape_func=None, capture_by_value=None,
                 grad_func=None, python_grad_func=None):
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Gradient defined twice for function %s"
                             % (func_name or function))
        self._function = function
        self._types = types
        self._given_name = func_name
        self._out_names = out_names
        self._noinline = noinline
        self._shape_function = shape_func
        self._by_value = capture_by_value
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._grad_name = None  # of the Python function, registered
        self._def = None
        self.__doc__ = function.__doc__

    @property
    def name(self):
        self._trace()
        return self._def.signature.name

    @property
    def definition(self):
        """The FunctionDef."""
        self._trace()
        return self._def

    @property
    def captured_inputs(self):
        """The outer tensors that a call passes after its arguments."""
        self._trace()
        return self._captured

    @property
    def stateful_ops(self):
        """The nodes of the function that keep something between runs, or whose
        result changes: pairs of a name and an op."""
        self._trace()
        return [(op.name, op.type) for op in self._body.get_operations()
                if op.op_def.is_stateful and op.type != "Placeholder"]

    @property
    def declared_input_types(self):
        return tuple(self._types)

    def set_gradient(self, overloaded):
        """Takes the gradient function from one of any argument types."""
        self._trace()
        self._grad_func = overloaded.instantiate(
            self._types + self._result_types)

    def _trace(self):
        if self._def is not None:
            return
        body = FuncGraph(_graph.get_default_graph(), bool(self._by_value))
        with body.as_default():
            arguments = [placeholder(t, name="arg%d" % i)
                         for i, t in enumerate(self._types)]
            results = self._function(*arguments)
            if results is None:
                results = []
            if not isinstance(results, (list, tuple)):
                results = [results]
            results = [convert_to_tensor(r) for r in results]
            results = [r if r.graph is body else body._capture(r)
                       for r in results]
        self._result_types = [r.dtype.base_dtype for r in results]
        self._result_shapes = [r.get_shape() for r in results]
        self._body = body
        self._captured = list(body._captured)
        self._called = list(body._graph_def().library.function)
        base = re.sub(r"\W", "_", getattr(self._function, "__name__", "f"))
        name = self._given_name or "%s_%d" % (
            base.strip("_") or "f", next_number())
        self._def = function_def(
            name, body.get_operations(),
            arguments + [body._captured[t] for t in self._captured], results,
            self._out_names)
        if self._noinline:
            self._def.attr["_noinline"].b = True

    def add_to_graph(self, graph):
        """Makes the function known to a graph, as a call does."""
        self._trace()
        library = messages.GraphDef()
        library.library.function.extend(self._called + [self._def])
        if self._grad_func is not None:
            self._grad_func.add_to_graph(graph)
            library.library.gradient.add(
                function_name=self.name, gradient_func=self._grad_func.name)
        graph._import_graph_def(library, "", [], [])
        graph._py_functions.extend(
            f for f in self._body._py_functions
            if f not in graph._py_functions)

    def _gradient_name(self):
        if self._grad_name is None:
            self._grad_name = "DefunGradient-%s-%d" % (self.name, next_number())
            RegisterGradient(self._grad_name)(self._python_grad_func)
        return self._grad_name

    def __call__(self, *args, **kwargs):
        name = kwargs.pop("name", None)
        if kwargs:
            raise ValueError("Unknown keyword arguments: %s"
                             % ", ".join(kwargs))
        if len(args) != len(self._types):
            raise ValueError("Expected number of arguments: %d, received: %d"
                             % (len(self._types), len(args)))
        graph = _graph.graph_of(args)
        with graph.as_default():
            self._trace()
            self.add_to_graph(graph)
            tensors = [convert_to_tensor(a, dtype=t)
                       for a, t in zip(args, self._types)] + self._captured
            overrides = ({} if self._python_grad_func is None else
                         {"StatefulPartitionedCall": self._gradient_name()})
            with graph.gradient_override_map(overrides):
                out = _raw.StatefulPartitionedCall(
                    tensors, Tout=self._result_types, f=self.name,
                    name=name or self.name)
        if not self._result_types:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        shapes = self._result_shapes
        if self._shape_function is not None:
            shapes = self._shape_function(out[0].op)
        for tensor, shape in zip(out, shapes):
            tensor.set_shape(shape)
        return out[0] if len(out) == 1 else tuple(out)
