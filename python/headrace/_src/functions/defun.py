"""Defun: a Python function as a function of the graph, with a body that calls
share. It is traced once, into a graph of its own."""
import inspect
import re

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework import errors
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.functions.function_def import function_def, next_number
from headrace._src.ops.array_ops import placeholder
from headrace._src.training.gradients import RegisterGradient


# Options that are attrs of the FunctionDef.
_REFERENCES = ("_implements", "_reference")


class Defun:
    """`@Defun(tf.float32, tf.int32)` makes the function below take tensors of
    these types; `@Defun()` before a function with parameters takes what types
    it is called with, and is traced once for each combination.

    What the body takes from the graph around it is captured: it becomes a
    further argument, or, with capture_by_value, is computed in the body again;
    state only if its operations are among `whitelisted_stateful_ops`.
    get_variable inside makes the variable outside. One result comes back as a
    tensor, several as a tuple, none as the operation. `grad_func`: a Defun of
    the arguments and the gradients of the results that gives the gradients of
    the arguments; `python_grad_func`: a gradient function of the call, as those
    of tf.RegisterGradient. `func_name`: its name in
    the graph; `out_names`: those of its results, or InvalidArgumentError if
    there are more or fewer; `shape_func`: gives the shapes
    of the results of a call, which is its argument. `compiled` and
    `separate_compiled_gradients` are advice to TensorFlow's compiler; functions
    run the same with and without it. `_implements`, `_reference` and what
    begins with "experimental_" become attrs of the FunctionDef. ValueError for
    any other argument, and for a function with defaults or keyword arguments
    or whose parameters are not as many as the types."""

    def __init__(self, *input_types, **kwargs):
        for name in ("compiled", "separate_compiled_gradients"):
            kwargs.pop(name, None)
        self._types = [dtypes.as_dtype(t) for t in input_types]
        self._options = {k: kwargs.pop(k, None) for k in (
            "func_name", "out_names", "noinline", "shape_func",
            "capture_by_value", "whitelisted_stateful_ops", "grad_func",
            "python_grad_func")}
        self._options["attrs"] = {
            k: kwargs.pop(k) for k in list(kwargs)
            if k in _REFERENCES or k.startswith("experimental_")}
        if kwargs:
            raise ValueError("Unknown keyword arguments: %s"
                             % ", ".join(kwargs))

    def __call__(self, function):
        if not callable(function):
            raise ValueError("function %s must be callable" % (function,))
        spec = inspect.getfullargspec(function)
        names, defaults = _parameters(spec, function)
        if defaults or spec.varkw or spec.kwonlyargs:
            raise ValueError(
                "function with argument defaults or keywords arguments are not "
                "supported. %s has defaults %s and keywords %s."
                % (function, defaults, spec.varkw or spec.kwonlyargs))
        if self._types and (len(self._types) < len(names) or not spec.varargs
                            and len(self._types) > len(names)):
            raise ValueError(
                "The function has %d arguments, not the number of specified "
                "input types: %d" % (len(names), len(self._types)))
        if not self._types and (names or spec.varargs):
            return _Overloaded(function, self._options)
        return _Defined(function, self._types, **self._options)


def _parameters(spec, function):
    """Their names and defaults. An op's `name=None` is none of them."""
    names = spec.args[inspect.ismethod(function):]
    defaults = spec.defaults or ()
    if defaults == (None,) and names[-1] == "name":
        return names[:-1], ()
    return names, defaults


def _attr_value(name, value):
    """An AttrValue of a bool, int, float or str."""
    for kind, field in ((bool, "b"), (int, "i"), (float, "f"), (str, "s"),
                        (bytes, "s")):
        if isinstance(value, kind):
            return messages.AttrValue(**{
                field: value.encode() if kind is str else value})
    raise ValueError("Unsupported attribute type for %s with type %s"
                     % (name, type(value)))


def _argument_names(function, types):
    """Those of the parameters; those of *args have a number."""
    names, _ = _parameters(inspect.getfullargspec(function), function)
    return [names[i] if i < len(names) and re.fullmatch("[a-z][a-z0-9_]*",
                                                        names[i])
            else "arg%d" % i for i in range(len(types))]


def _of_definition(*args):
    """The Python function of what is known by a FunctionDef alone."""
    raise NotImplementedError("a function that was made of a FunctionDef has "
                              "no Python code")


def from_library(lib):
    """The functions of a FunctionDefLibrary, those that are gradient functions
    first. ValueError if one is missing that is another's gradient function, or
    has one, and if functions are in turn gradient functions of each other."""
    definitions = {f.signature.name: f for f in lib.function}
    gradients = {g.function_name: g.gradient_func for g in lib.gradient}
    for pair in gradients.items():
        for name in pair:
            if name not in definitions:
                raise ValueError("FunctionDefLibrary missing '%s' FunctionDef"
                                 "\n%s" % (name, lib))
    made = {}

    def make(name, waiting):
        if name in waiting:
            raise ValueError("FunctionDefLibrary contains cyclic gradient "
                             "functions! %s" % ", ".join(waiting))
        if name not in made:
            of = gradients.get(name)
            gradient = None if of is None else make(of, waiting + [name])
            made[name] = _Defined.from_definition(definitions[name], gradient)
        return made[name]
    for name in definitions:
        make(name, [])
    return list(made.values())


def get_extra_inputs():
    """The captured tensors of the function that is being traced."""
    return list(getattr(_graph.get_default_graph(), "_captured", ()))


def get_extra_args():
    """What stands for them in its body."""
    graph = _graph.get_default_graph()
    return list(getattr(graph, "_captured", {}).values())


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
                 whitelisted_stateful_ops=None, grad_func=None,
                 python_grad_func=None, attrs=None):
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
        self._with_state = whitelisted_stateful_ops or ()
        self._attrs = {name: _attr_value(name, value)
                       for name, value in (attrs or {}).items()}
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._grad_name = None  # of the Python function, registered
        self._def = None
        self._py_functions = []  # what PyFunc nodes of the body call
        self.__doc__ = function.__doc__

    @classmethod
    def from_definition(cls, definition, grad_func=None):
        """A function that a FunctionDef describes. What it captured are
        arguments like the others."""
        arguments = definition.signature.input_arg
        made = cls(_of_definition, [dtypes.as_dtype(a.type) for a in arguments],
                   definition.signature.name, grad_func=grad_func)
        made._def = messages.FunctionDef()
        made._def.CopyFrom(definition)
        made._result_types = [dtypes.as_dtype(a.type) for a in
                              definition.signature.output_arg]
        made._result_shapes = [None] * len(made._result_types)
        made._captured, made._called, made._stateful = [], [], []
        return made

    @property
    def name(self):
        self._trace()
        return self._def.signature.name

    @property
    def grad_func_name(self):
        """The name of the gradient function, or None."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self):
        return self._python_grad_func

    @property
    def _signature(self):
        self._trace()
        return self._def.signature

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
        return self._stateful

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
        body = FuncGraph(_graph.get_default_graph(), bool(self._by_value),
                         self._with_state)
        with body.as_default():
            arguments = [placeholder(t, name=name) for t, name in zip(
                self._types, _argument_names(self._function, self._types))]
            results = self._function(*arguments)
            if results is None:
                results = []
            if not isinstance(results, (list, tuple)):
                results = [results]
            if any(r is None for r in results):
                raise ValueError("Function %s can not return None." % (
                    self._given_name or self._function))
            results = [convert_to_tensor(r) for r in results]
            results = [r if r.graph is body else body._capture(r)
                       for r in results]
        self._result_types = [r.dtype.base_dtype for r in results]
        self._result_shapes = [r.get_shape() for r in results]
        self._py_functions = body._py_functions
        self._stateful = [(op.name, op.type) for op in body.get_operations()
                          if op.op_def.is_stateful and op.type != "Placeholder"]
        self._captured = list(body._captured)
        self._called = list(body._graph_def().library.function)
        base = re.sub(r"\W", "_", getattr(self._function, "__name__", "f"))
        name = self._given_name or "%s_%08d" % (
            base.strip("_") or "f", next_number())
        if self._out_names and len(self._out_names) != len(results):
            raise errors.InvalidArgumentError(
                None, None, "output names must be either empty or equal in "
                "size to outputs. output names size = %d outputs size = %d (of "
                "function %s)" % (len(self._out_names), len(results), name))
        self._def = function_def(
            name, body.get_operations(),
            arguments + [body._captured[t] for t in self._captured], results,
            self._out_names)
        self._def.signature.description = inspect.getdoc(self._function) or ""
        if self._noinline:
            self._def.attr["_noinline"].b = True
        for attr, value in self._attrs.items():
            self._def.attr[attr].CopyFrom(value)

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
            f for f in self._py_functions
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
            call = ("StatefulPartitionedCall" if not self._result_types or
                    self._def.signature.is_stateful else "PartitionedCall")
            overrides = ({} if self._python_grad_func is None else
                         {call: self._gradient_name()})
            with graph.gradient_override_map(overrides):
                out = getattr(_raw, call)(
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


_from_definition = _Defined.from_definition
