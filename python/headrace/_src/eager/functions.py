"""tf.function and tf.contrib.eager.defun of ops that are executed eagerly: a
Python function is traced into a graph once for each kind of arguments, and the
graph is called as one op."""
import weakref

import numpy as np

from headrace import _headrace
from headrace._headrace import EagerTensor, Operation, Tensor
from headrace._src.eager.backward import (
    Call, gradient_of, needed_by, parts_of, structure_of, take_earlier,
    without_captured)
from headrace._src.eager.variables import NoRecording, variable_of
from headrace._src.framework import nest
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.ops.array_ops import placeholder
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.training.gradient_tape import _carries
from headrace._src.training.gradients import gradients
from headrace._src.variables.base import Variable

_OF_GRAPHS = frozenset(["Enter", "Exit", "Merge", "NextIteration", "Switch"])


def _parts(value):
    """The tensors of a leaf of a structure; None if it has none."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Variable):
        return None
    if hasattr(value, "_flow_components"):
        return list(value._flow_components())
    return None


def _rebuilt(value, parts):
    """The leaf with other tensors."""
    if isinstance(value, Tensor):
        return parts[0]
    return value._from_flow_components(parts)


def _key_of(value):
    if isinstance(value, TensorSpec):
        return "tensor", value.dtype, str(value.shape)
    parts = _parts(value)
    if parts is not None:
        return (type(value).__name__,) + tuple(
            (p.dtype, tuple(p._shape_list())
             if p._rank() is not None else None) for p in parts)
    if isinstance(value, Variable):
        return "variable", id(value)
    try:
        hash(value)
        return "value", type(value), value
    except TypeError:
        return "object", id(value)


class Trace:
    """A Python function as a graph, for one kind of arguments."""

    def __init__(self, call, name, args, kwargs, specs=None):
        graph = self.graph = FuncGraph(get_default_graph())
        self.name = name
        self._kept = args, kwargs  # what was compared by its id
        with graph.as_default():
            self.arguments = []

            def symbolic(value, spec=None):
                if isinstance(value, TensorSpec):
                    value_parts = [value]
                else:
                    value_parts = _parts(value)
                if value_parts is None:
                    return value
                made = [placeholder(p.dtype, p.shape if spec is None
                                    else spec.shape) for p in value_parts]
                for p, part in zip(made, value_parts):
                    if part.dtype.name == "resource" and isinstance(
                            part, EagerTensor):
                        p.set_shape([])
                self.arguments += made
                return made[0] if isinstance(value, TensorSpec) else _rebuilt(
                    value, made)
            if specs is None:
                args, kwargs = nest.map_structure(symbolic, (args, kwargs))
            else:
                flat = [symbolic(v, s) for v, s in zip(
                    nest.flatten(args), nest.flatten(specs))]
                args = nest.pack_sequence_as(args, flat)
            result = call(*args, **kwargs)
            self.results = []

            def parts(value):
                if isinstance(value, Operation):
                    with control_dependencies([value]):
                        self.results.append(constant(0))
                    return None
                if isinstance(value, Variable):
                    value = value.read_value()
                found = _parts(value)
                if found is None:
                    if value is None or not isinstance(
                            value, (int, float, np.ndarray, np.generic)):
                        return value
                    value = convert_to_tensor(value)
                    found = [value]
                found = [t if type(t) is not EagerTensor and t.graph is graph
                         else graph._capture(t) for t in found]
                at = len(self.results)
                self.results += found
                return _Slot(value, at, len(found))
            self.structure = nest.map_structure(parts, result)
        self._last_id = graph._last_id
        self._call = self._pair = None

    @property
    def captured(self):
        return list(self.graph._captured)

    def _inputs(self):
        return self.arguments + list(self.graph._captured.values())

    def _operations(self, results):
        operations, _ = needed_by(results)
        skip = {t.op._id for t in self._inputs()}
        return [op for op in operations if op._id not in skip]

    @property
    def call(self):
        if self._call is None:
            self._call = Call(
                "__inference_" + self.name, self.graph,
                self._operations(self.results), self._inputs(), self.results)
        return self._call

    def packed(self, tensors):
        """The results in the structure of the Python function's."""
        return nest.map_structure(
            lambda x: x.filled(tensors) if isinstance(x, _Slot) else x,
            self.structure)

    def __call__(self, given):
        inputs = given + self.captured
        if not self.results:
            return self.packed([])
        if _headrace.executing_eagerly() and _headrace.tapes_want(inputs):
            if _headrace.num_tapes() == 1 or any(
                    op.op_def.is_stateful and op.type in _RANDOM
                    for op in self.graph.get_operations()):
                if self._pair is None:
                    self._pair = _Pair(self)
                return self.packed(self._pair(inputs))
        results = self.call(inputs)
        return self.packed(list(results))


_RANDOM = frozenset([
    "RandomUniform", "RandomStandardNormal", "TruncatedNormal",
    "RandomUniformInt", "Multinomial", "RandomShuffle", "RandomGamma",
    "RandomPoissonV2", "ParameterizedTruncatedNormal", "StatefulUniform"])


class _Slot:
    """Stands for a result."""

    def __init__(self, value, at, count):
        self._value, self._at, self._count = value, at, count

    def filled(self, tensors):
        return _rebuilt(self._value, tensors[self._at:self._at + self._count])


class _Pair:
    """A traced function that keeps what its gradients need, and the function
    that computes these."""

    def __init__(self, trace):
        graph = trace.graph
        inputs = trace._inputs()
        n = len(trace.results)
        self.size = n
        with graph.as_default():
            ys = [i for i, t in enumerate(trace.results) if _carries(t)
                  and t.dtype.is_numpy_compatible]
            xs = [i for i, t in enumerate(inputs) if _carries(t)]
            first = graph._last_id
            start = [placeholder(trace.results[i].dtype,
                                 trace.results[i].get_shape()) for i in ys]
            found = gradients([trace.results[i] for i in ys],
                              [inputs[i] for i in xs], start) if ys else (
                                  [None] * len(xs))
            self.structure = [structure_of(g) for g in found]
            self.ys, self.xs = ys, xs
            results = [p for g in found if g is not None for p in parts_of(g)]
            self.takes_inputs = any(op.type in _OF_GRAPHS
                                    for op in graph.get_operations())
            if self.takes_inputs:
                # Loops keep values for their gradients in stacks: these live
                # in one function, which runs the loop again.
                operations = trace._operations(results) if results else []
                arguments = start + trace._inputs()
                self.kept = []
            else:
                operations, earlier = needed_by(results, first)
                known = {(t.op._id, 0): i for i, t in enumerate(
                    trace._inputs())}
                arguments = list(start)
                replaced, keys = take_earlier(earlier, operations, first,
                                              arguments)
                self.kept = [("input", known[key]) if key in known
                             else ("inner", earlier[key]) for key in keys]
                results = [replaced.get((p.op._id, p.value_index), p)
                           for p in results]
        inner = [t for kind, t in self.kept if kind == "inner"]
        skip = {t.op._id for t in arguments}
        self.forward = Call(
            "__forward_" + trace.name, graph,
            trace._operations(trace.results + inner), trace._inputs(),
            trace.results + inner) if inner else trace.call
        self.backward = Call(
            "__backward_" + trace.name, graph,
            [op for op in operations if op._id not in skip], arguments,
            results) if results else None

    def __call__(self, inputs):
        with NoRecording():
            everything = list(self.forward(inputs))
        results = everything[:self.size]
        inner = iter(everything[self.size:])
        kept = [inputs[t] if kind == "input" else next(inner)
                for kind, t in self.kept]
        if self.takes_inputs:
            kept = inputs

        def backward(*grads):
            if self.backward is None:
                return [None] * len(inputs)
            start = [convert_to_tensor(grads[i]) for i in self.ys]
            parts = iter(self.backward(start + kept))
            found = [None] * len(inputs)
            for i, count in zip(self.xs, self.structure):
                found[i] = gradient_of(count, parts)
            return found
        _headrace.record_gradient(inputs, results, backward)
        return results


class Traces:
    """The traces of a function, by the kind of their arguments."""

    def __init__(self):
        self._traces = {}

    def find(self, make, args, kwargs):
        key = tuple(_key_of(v) for v in nest.flatten((args, kwargs)))
        key = key, repr(nest.map_structure(lambda _: 0, (args, kwargs)))
        trace = self._traces.get(key)
        if trace is None:
            trace = self._traces[key] = make()
        return trace

    def all(self):
        return list(self._traces.values())


def tensors_in(args, kwargs):
    """The tensors of arguments, in their order."""
    found = []
    for value in nest.flatten((args, kwargs)):
        found += _parts(value) or []
    return found


def as_argument(value):
    """Arrays are tensors inside; other values stay what they are."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def traces_of(function):
    """The Traces of a Function; those of a method belong to its object."""
    if function._unbound is None:
        return function.__dict__.setdefault("_traces", Traces())
    of = function._python_function.__self__
    kept = function._unbound.__dict__.setdefault("_traces_of", {})
    if id(of) not in kept:
        try:
            reference = weakref.ref(of, lambda _, i=id(of): kept.pop(i, None))
        except TypeError:
            reference = of
        kept[id(of)] = reference, Traces()
    return kept[id(of)][1]


def _name_of(function):
    """What the graph of a Function is called."""
    name = getattr(function._python_function, "__name__", "f")
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") or "f"


def find(function, args, kwargs):
    """(Trace, tensors) of a call of a Function."""
    specs = function._signature
    if specs is not None:
        args, kwargs = function._converted(args, kwargs), {}
        args = nest.map_structure(
            lambda x: convert_to_tensor(x) if isinstance(x, Variable) else x,
            args)
    else:
        args, kwargs = nest.map_structure(as_argument, (args, kwargs))
        function._note_arguments(args, kwargs)
    trace = traces_of(function).find(
        lambda: Trace(function._in_graph, _name_of(function), args, kwargs,
                      specs),
        () if specs is not None else args, kwargs)
    return trace, tensors_in(args, kwargs)


def call(function, args, kwargs):
    """What the Python function of a Function returns, executed as a graph."""
    trace, tensors = find(function, args, kwargs)
    return trace(tensors)


class ConcreteFunction:
    """A function for arguments of known types, whose graph is called as an
    op."""

    def __init__(self, function, args, kwargs):
        if not args and not kwargs and function._signature is not None:
            args = function._signature
        args, kwargs = nest.map_structure(as_argument, (args, kwargs))
        self._function = function
        self._args, self._kwargs = args, kwargs
        self._trace = traces_of(function).find(
            lambda: Trace(function._in_graph, _name_of(function), args, kwargs),
            args, kwargs)

    graph = property(lambda self: self._trace.graph)
    name = property(lambda self: self._trace.call.name)
    inputs = property(lambda self: self._trace._inputs())
    outputs = property(lambda self: self._trace.results)
    captured_inputs = property(lambda self: self._trace.captured)
    python_function = property(lambda self: self._function.python_function)
    function_def = property(lambda self: self._trace.call.definition)

    @property
    def arguments(self):
        """The structure of the arguments, with TensorSpecs for tensors."""
        return nest.map_structure(
            lambda x: TensorSpec(x.shape, x.dtype) if isinstance(x, Tensor)
            else x, (self._args, self._kwargs))

    @property
    def variables(self):
        found = [variable_of(h) for h in self._trace.captured
                 if h.dtype.name == "resource"]
        return tuple(v for v in found if v is not None)

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def structured_outputs(self):
        return self._trace.packed(self._trace.results)

    @property
    def output_shapes(self):
        return nest.map_structure(lambda x: x if x is None else x.get_shape(),
                                  self.structured_outputs)

    @property
    def output_dtypes(self):
        return nest.map_structure(lambda x: x if x is None else x.dtype,
                                  self.structured_outputs)

    def __call__(self, *args, **kwargs):
        given = [convert_to_tensor(x) if not isinstance(x, Tensor) else x
                 for x in nest.flatten((args, kwargs))
                 if not isinstance(x, (Variable, str))]
        wanted = self._trace.arguments
        if len(given) != len(wanted):
            raise TypeError("ConcreteFunction %s takes %d tensors, got %d"
                            % (self._trace.name, len(wanted), len(given)))
        return self._trace(given)


def defun(func=None, input_signature=None, autograph=True,
          experimental_autograph_options=None,
          experimental_relax_shapes=False):
    """tf.contrib.eager.defun: as tf.function, but that each trace may make
    variables."""
    from headrace._src.autograph.function import Function

    def decorated(python_function):
        made = Function(python_function, input_signature, autograph)
        made._may_make_variables = True
        return made
    return decorated if func is None else decorated(func)


def value_of(initial, graph):
    """The initial value of a variable that is made while `graph` is being built:
    of a function, of a tensor of the graph, or the value itself. ValueError for
    a tensor that depends on the arguments of the function that is traced."""
    if callable(initial):
        graph = FuncGraph(get_default_graph())
        with graph.as_default():
            initial = convert_to_tensor(initial())
    if not isinstance(initial, Tensor) or isinstance(initial, EagerTensor):
        return initial
    operations, symbols, handles = without_captured(
        graph, needed_by([initial])[0])
    if any(op.type == "Placeholder" for op in operations):
        raise ValueError(
            "A variable that is made in a function has an initial value that "
            "depends on the arguments of the function: %s. Make the variable "
            "outside, or give it a function that returns a value." % (initial,))
    call = Call("__initial_value", graph, operations, symbols, [initial])
    return call(handles)[0]
