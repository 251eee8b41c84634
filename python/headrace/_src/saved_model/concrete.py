"""Functions of SavedModels: Python functions that are traced into FunctionDefs,
and callables of FunctionDefs."""
import inspect
import re

from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._loading import load as _load
from headrace._src.framework import messages, nest
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.functions.function_def import function_def, next_number
from headrace._src.ops.array_ops import placeholder
from headrace._src.ops.type_specs import TensorSpec


class Concrete:
    """`function(*args, **kwargs)` as a FunctionDef, where args and kwargs have
    TensorSpecs in place of tensors; what it takes from the graph around it is
    `captured` and follows its arguments. `results` has TensorSpecs in the
    structure of what it returns."""

    def __init__(self, function, args, kwargs, name):
        self.args, self.kwargs = args, kwargs
        outer = get_default_graph()
        body = FuncGraph(outer)
        with body.as_default():
            inputs = [placeholder(spec.dtype, spec.shape, name=_argument(
                spec.name, i)) for i, spec in enumerate(self.specs())]
            rest = iter(inputs)
            given = nest.map_structure(
                lambda x: next(rest) if isinstance(x, TensorSpec) else x,
                (args, kwargs))
            results = function(*given[0], **given[1])
            effects = [results] if isinstance(results, Operation) else []
            results = None if effects else nest.map_structure(
                lambda x: None if x is None else convert_to_tensor(x), results)
            flat = [x if x.graph is body else body._capture(x)
                    for x in nest.flatten(results) if x is not None]
        self.captured = list(body._captured)
        arguments = inputs + [body._captured[t] for t in self.captured]
        self.name = "__inference_%s_%d" % (re.sub(r"\W", "_", name),
                                           next_number())
        self.names = [t.op.name for t in inputs]
        definition = function_def(self.name, body.get_operations(), arguments,
                                  flat)
        for op in effects:
            definition.signature.control_output.append(op.name)
            definition.control_ret[op.name] = op.name
        shapes = definition.attr["_input_shapes"].list
        for t in arguments:
            shapes.shape.add().CopyFrom(t.get_shape().as_proto())
        self.types = [t.dtype.base_dtype for t in flat]
        self.results = nest.map_structure(
            lambda x: None if x is None else TensorSpec(
                x.get_shape(), x.dtype.base_dtype), results)
        self.library = list(body._graph_def().library.function) + [definition]
        self._py_functions = body._py_functions
        if self._py_functions:
            raise ValueError(
                "Function %s runs Python code (tf.py_func), which a SavedModel "
                "does not have" % name)

    def specs(self):
        """The TensorSpecs of the arguments, in order."""
        return [x for x in nest.flatten((self.args, self.kwargs))
                if isinstance(x, TensorSpec)]

    def add_to(self, graph):
        """Makes the function known to a graph."""
        library = messages.GraphDef()
        known = {f.signature.name for f in graph._graph_def().library.function}
        library.library.function.extend(
            f for f in self.library if f.signature.name not in known)
        if graph._eager:
            _load("_src.eager.backward").Imported(library)
        else:
            graph._import_graph_def(library, "", [], [])


def _argument(name, number):
    """A name that arguments of FunctionDefs may have."""
    name = re.sub(r"\W", "_", name or "").strip("_").lower()
    return name if name[:1].isalpha() else "arg%d" % number


def call(name, tensors, types, shapes=None):
    """The results of a function of the current graph, a list of tensors."""
    found = _raw.StatefulPartitionedCall(
        tensors, Tout=types, f=name, name="StatefulPartitionedCall")
    if isinstance(found, Operation):
        return [found]
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    for tensor, shape in zip(found, shapes or ()):
        tensor.set_shape(shape)
    return found


def canonical(signature, args, kwargs):
    """(args, kwargs) as an inspect.Signature has them: arguments that may be
    given by place are, and defaults are there too."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def full_signature(specification):
    """(inspect.Signature of what is called, input_signature or None) of a
    FunctionSpec whose fields are decoded."""
    spec, is_method, input_signature = specification
    names = list(spec.args)
    defaults = list(spec.defaults or ())
    kinds = inspect.Parameter
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in names]
    for i, value in enumerate(defaults):
        at = len(names) - len(defaults) + i
        parameters[at] = parameters[at].replace(default=value)
    if is_method or names[:1] == ["self"]:
        parameters = parameters[1:]
    if spec.varargs:
        parameters.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    only = dict(spec.kwonlydefaults or {})
    parameters += [kinds(name, kinds.KEYWORD_ONLY,
                         default=only.get(name, kinds.empty))
                   for name in spec.kwonlyargs or ()]
    if spec.varkw:
        parameters.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    # A parameter without a default may not follow one that has some.
    had = False
    for i, p in enumerate(parameters):
        if p.kind is kinds.POSITIONAL_OR_KEYWORD:
            if had and p.default is kinds.empty:
                parameters[i] = p.replace(default=None)
            had = had or p.default is not kinds.empty
    return inspect.Signature(parameters), input_signature


class Restored:
    """A FunctionDef of a SavedModel as a function: `specs` are (args, kwargs)
    with TensorSpecs, `bound` the tensors that follow the arguments."""

    def __init__(self, name, specs, results, bound, types):
        self.name = name
        self.specs = specs
        self.structured_outputs = results
        self._bound, self._types = bound, types

    structured_input_signature = property(lambda self: self.specs)

    def fits(self, args, kwargs, convert):
        """Whether the function may be called so. `convert`: also with values
        that can become tensors."""
        pairs = _pairs(self.specs, (args, kwargs))
        return pairs is not None and all(
            _fits(spec, value, convert) for spec, value in pairs)

    def run(self, args, kwargs):
        tensors = [convert_to_tensor(x, dtype=spec.dtype)
                   for spec, x in _pairs(self.specs, (args, kwargs))
                   if isinstance(spec, TensorSpec)]
        wanted = nest.flatten(self.structured_outputs)
        found = call(self.name, tensors + self._bound, self._types,
                     [x.shape for x in wanted if isinstance(x, TensorSpec)])
        if not self._types:
            return found[0]
        rest = iter(found)
        return nest.map_structure(
            lambda x: next(rest) if isinstance(x, TensorSpec) else x,
            self.structured_outputs)


def _pairs(specs, values):
    """[(spec, value)] in the structure of the specs, or None if the values have
    another one. A list may be the value of a tensor."""
    if isinstance(specs, dict):
        if not isinstance(values, dict) or sorted(specs) != sorted(values):
            return None
        inner = [_pairs(specs[key], values[key]) for key in sorted(specs)]
    elif isinstance(specs, (list, tuple)):
        if not isinstance(values, (list, tuple)) or len(specs) != len(values):
            return None
        inner = [_pairs(a, b) for a, b in zip(specs, values)]
    else:
        return [(specs, values)]
    if any(pairs is None for pairs in inner):
        return None
    return [pair for pairs in inner for pair in pairs]


def _fits(spec, value, convert):
    if not isinstance(spec, TensorSpec):
        return not isinstance(value, Tensor) and bool(spec == value)
    if isinstance(value, TensorSpec):
        return spec.is_compatible_with(value)
    if not isinstance(value, Tensor):
        if not convert and not hasattr(value, "dtype"):
            return False
        try:
            value = convert_to_tensor(value, dtype=spec.dtype)
        except (TypeError, ValueError):
            return False
    return value.dtype.base_dtype == spec.dtype and TensorShape(
        spec.shape).is_compatible_with(value.get_shape())
