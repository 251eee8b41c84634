"""tf.function in a graph: each call adds the nodes of the Python function to the
graph. As in a function of TensorFlow, nodes that share state run in the order in
which the code made them, and results are had after all effects."""
import contextlib
import functools
import inspect
import weakref

import numpy as np

from headrace._headrace import Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.autograph import api as _api
from headrace._src.autograph import effects as _effects
from headrace._src.control.contexts import context_of
from headrace._src.control.control_flow_ops import group
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph, name_scope)
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.ops.array_ops import identity, placeholder
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.variables.base import variable_creator_scope


_run_eagerly = [False]


def experimental_run_functions_eagerly(run_eagerly):
    """Whether functions of tf.function are called as they are, without a trace,
    while ops are executed eagerly."""
    _run_eagerly[0] = bool(run_eagerly)


def function(func=None, input_signature=None, autograph=True,
             experimental_autograph_options=None,
             experimental_relax_shapes=False, experimental_compile=None):
    """Makes a function whose calls add nodes to the graph, with its branches and
    loops on tensors as those of tf.autograph. Without `func`, a decorator.

    Effects (assignments, prints, checks) run in the order of the code, whenever
    a result is fetched; a call without results gives the operation that runs
    them. Variables may be made by the first call only: ValueError for others.
    `input_signature`: TensorSpecs, to whose types arguments are converted;
    ValueError for those that do not fit. `experimental_autograph_options`: as
    in tf.autograph.to_graph. The last two arguments change nothing."""
    def decorated(python_function):
        return Function(python_function, input_signature, autograph)
    return decorated if func is None else decorated(func)


class Function:
    """What function() makes. `unbound`: of a method, the function that is the
    attribute of the class."""

    def __init__(self, python_function, input_signature, autograph,
                 unbound=None):
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._signature = None if input_signature is None else tuple(
            input_signature)
        self._autograph = autograph
        self._unbound = unbound
        self._was_called = False
        self._may_make_variables = False  # in all calls
        self._called_for = {}  # by the id of objects whose method was called
        self._arguments = {}   # of calls: {key: (args, kwargs)}, or of methods
                               # {id of the object: (reference, the same)}

    python_function = property(lambda self: self._python_function)
    input_signature = property(lambda self: self._signature)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        bound = Function(self._python_function.__get__(instance, owner),
                         self._signature, self._autograph, self)
        bound._may_make_variables = self._may_make_variables
        return bound

    def get_concrete_function(self, *args, **kwargs):
        """The function for arguments of known types, and what its results are.
        `args`: TensorSpecs or values, by default those of the input_signature.
        """
        if not args and not kwargs and self._signature is not None:
            args = self._signature
        args, kwargs = nest.map_structure(_as_argument, (args, kwargs))
        self._note_arguments(args, kwargs)
        if executing_eagerly():
            return load("_src.eager.functions").ConcreteFunction(
                self, args, kwargs)
        return Concrete(self, args, kwargs)

    @property
    def key(self):
        """What is equal for all looks at the same function or method."""
        if self._unbound is None:
            return id(self)
        return id(self._unbound), id(self._python_function.__self__)

    def known_arguments(self):
        """[(args, kwargs)] of the calls so far, with TensorSpecs in place of
        tensors."""
        return list(self._noted().values())

    def _noted(self):
        if self._unbound is None:
            return self._arguments
        of, noted = self._python_function.__self__, self._unbound._arguments
        if id(of) not in noted:
            try:
                noted[id(of)] = weakref.ref(
                    of, lambda _, i=id(of): noted.pop(i, None)), {}
            except TypeError:  # an object that cannot be referred to weakly
                return {}
        return noted[id(of)][1]

    def _note_arguments(self, args, kwargs):
        specs = nest.map_structure(_as_spec, (args, kwargs))
        self._noted().setdefault(repr(specs), specs)

    def __call__(self, *args, **kwargs):
        if executing_eagerly():
            if _run_eagerly[0]:
                return self._python_function(*args, **kwargs)
            return load("_src.eager.functions").call(self, args, kwargs)
        return self._in_graph(*args, **kwargs)

    def _in_graph(self, *args, **kwargs):
        """The call as nodes of the default graph."""
        if self._signature is not None:
            args, kwargs = self._converted(args, kwargs), {}
        else:
            args, kwargs = nest.map_structure(_as_argument, (args, kwargs))
            self._note_arguments(args, kwargs)
        body = self._python_function
        if self._autograph:
            body = _api.tf_convert(body)
        order = _Order(nest.flatten((args, kwargs)))
        with variable_creator_scope(
                functools.partial(self._make_variable, order)), _scope_around(
                    self._python_function):
            results = body(*args, **kwargs)
        self._note_call()
        return order.results(results)

    def _note_call(self):
        if self._unbound is None:
            self._was_called = True
        else:
            of, called = self._python_function.__self__, self._unbound._called_for
            key = id(of)
            called[key] = weakref.ref(of, lambda _: called.pop(key, None))

    def _make_variable(self, order, following, **arguments):
        if not self._may_make_variables and (
                self._was_called or self._unbound is not None and (
                id(self._python_function.__self__)
                in self._unbound._called_for)):
            raise ValueError("tf.function-decorated function tried to create "
                             "variables on non-first call.")
        return order.without(lambda: following(**arguments))

    def _converted(self, args, kwargs):
        """The arguments, as the signature has them."""
        if kwargs:
            args = inspect.signature(self._python_function).bind(
                *args, **kwargs).args
        specs = self._signature
        if len(args) != len(specs):
            raise ValueError("Structure of Python function inputs does not "
                             "match input_signature: %d and %d arguments"
                             % (len(args), len(specs)))
        return [nest.map_structure(self._fitting, spec, value)
                if nest.is_nested(spec) else self._fitting(spec, value)
                for spec, value in zip(specs, args)]

    @staticmethod
    def _fitting(spec, value):
        tensor = value if is_tensor(value) else convert_to_tensor(
            value, dtype=spec.dtype)
        if not spec.is_compatible_with(tensor):
            raise ValueError(
                "Python inputs incompatible with input_signature: %s, where the "
                "signature has %s" % (tensor, spec))
        return tensor


class Concrete:
    """A function for arguments of known types. It was called once, with
    placeholders for its arguments, which tells the types and shapes of its
    results; each call adds its nodes to the graph again."""

    def __init__(self, function, args, kwargs):
        self._function = function
        self.arguments = nest.map_structure(_as_spec, (args, kwargs))
        args, kwargs = nest.map_structure(
            lambda x: placeholder(x.dtype, x.shape, name=x.name)
            if isinstance(x, TensorSpec) else x, (args, kwargs))
        self._outputs = function(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    structured_outputs = property(lambda self: self._outputs)
    python_function = property(lambda self: self._function.python_function)

    @property
    def output_shapes(self):
        """The shapes of the results, in their structure."""
        return nest.map_structure(
            lambda x: None if x is None else x.get_shape(), self._outputs)

    @property
    def output_dtypes(self):
        """The types of the results, in their structure."""
        return nest.map_structure(
            lambda x: None if x is None else x.dtype, self._outputs)


def _as_argument(value):
    """Arrays are tensors inside; other values stay what they are."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def _as_spec(value):
    """What is known of an argument before there is one."""
    if isinstance(value, Tensor):
        return TensorSpec(value.get_shape(), value.dtype.base_dtype)
    return value


def _as_result(value):
    if value is None or isinstance(value, TensorArray):
        return value
    if hasattr(value, "_from_flow_components"):  # a SparseTensor and the like
        return value._from_flow_components(
            [identity(part) for part in value._flow_components()])
    return identity(convert_to_tensor(value))


def _scope_around(python_function):
    """The scope of the nodes of a call; none if they are a graph of their
    own."""
    outer = getattr(get_default_graph(), "_outer", None)
    if outer is not None and outer._eager:
        return contextlib.nullcontext()
    return name_scope(_scope_of(python_function))


def _scope_of(python_function):
    name = getattr(python_function, "__name__", "function")
    return name.strip("_") if name.strip("_").isidentifier() else "function"


class _Order:
    """Puts the nodes that were made since in the order that their effects ask
    for: after the arguments, and one after the other."""

    def __init__(self, arguments):
        self._graph = get_default_graph()
        self._begin = self._graph._last_id
        self._others = set()  # ids of nodes that are left alone
        here = self._graph._get_control_flow_context()
        self._arguments = [
            x.op for x in arguments if isinstance(x, Tensor)
            and x.graph is self._graph and context_of(x.op) is here]

    def without(self, make):
        """What `make` returns, whose nodes are no part of the call: a variable
        is initialised before."""
        first = self._graph._last_id
        made = make()
        self._others.update(range(first, self._graph._last_id))
        return made

    def results(self, results):
        """The results as tensors, to be had after all effects; without any, an
        operation that runs the effects."""
        effects = self._chained()
        if results is None:
            return group(*effects)
        with control_dependencies(effects):
            return nest.map_structure(_as_result, results)

    def _chained(self):
        """The nodes with effects, after each waits for the one before it that
        uses the same resource, or has another state; and the operations made
        before the call that a node waits for."""
        graph = self._graph
        here = graph._get_control_flow_context()
        last, effects, made, awaited = {}, [], set(), {}
        for i in range(self._begin, graph._last_id):
            op = graph._operation_by_id(i)
            if op is None or i in self._others or op.type in _PASSES_ON or (
                    context_of(op) is not here):
                continue
            made.add(op.name)
            awaited.update((c.name, c) for c in op.control_inputs)
            handles = [_origin(x) for x in op.inputs
                       if x.dtype == dtypes.resource]
            is_effect = op.op_def.is_stateful and (
                not _effects._VALUES.fullmatch(op.type))
            for key in handles or ([None] if is_effect else []):
                for before in [last[key]] if key in last else self._arguments:
                    if before is not op:
                        op._add_control_input(before)
                last[key] = op
            if is_effect:
                effects.append(op)
        return effects + [op for name, op in awaited.items()
                          if name not in made and context_of(op) is here]


# Nodes that take tensors into branches and loops.
_PASSES_ON = frozenset(["Enter", "Exit", "Identity", "Merge", "NextIteration",
                        "Switch"])


def _origin(tensor):
    """The tensor outside of branches and loops that this one is inside."""
    while tensor.op.type in _PASSES_ON:
        tensor = tensor.op.inputs[0]
    return tensor
