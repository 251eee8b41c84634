"""FuncGraph: the graph into which a Python function is traced. Tensors that the
body takes from the graph around it are captured: they become further arguments,
which every caller passes."""
import re

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.functions.function_def import function_def, next_number
from headrace._src.ops.array_ops import placeholder


class FuncGraph(_graph.Graph):
    """The body of a function that is traced inside `outer`. With `copies`,
    what it takes from there is computed in the body once more, state only of
    the operations `with_state`."""

    def __init__(self, outer, copies=False, with_state=()):
        super().__init__()
        self._captures = True
        self._copies = copies
        self._with_state = {op._id for op in with_state}
        self._copied = {}  # outer tensor -> its copy
        self._outer = outer
        self._seed = outer.seed
        self._captured = {}  # outer tensor -> argument

    def _capture(self, tensor):
        """What stands for a tensor from outside: an argument, or a copy."""
        is_eager = type(tensor) is EagerTensor
        if self._copies and not is_eager:
            return self._copy(tensor)
        if not is_eager and tensor.graph is not self._outer:
            if not self._outer._captures:
                raise ValueError("Tensor %s is neither of the function nor of "
                                 "the graph around it." % tensor.name)
            tensor = self._outer._capture(tensor)
        if tensor not in self._captured:
            with self.as_default(), self.name_scope(None), \
                    self.control_dependencies(None):
                self._captured[tensor] = placeholder(
                    tensor.dtype.base_dtype, tensor.get_shape(),
                    name="captured")
                if is_eager:
                    tell_variable(self._captured[tensor], tensor)
        return self._captured[tensor]

    def _copy(self, tensor):
        if tensor not in self._copied:
            name = by_value(tensor, "captured", into=self,
                            with_state=self._with_state)
            with self.as_default(), self.name_scope(None), \
                    self.control_dependencies(None):
                copy = _raw.StatefulPartitionedCall(
                    [], Tout=[tensor.dtype.base_dtype], f=name)
            copy = copy[0] if isinstance(copy, (list, tuple)) else copy
            copy.set_shape(tensor.get_shape())
            self._copied[tensor] = copy
        return self._copied[tensor]


def tell_variable(symbol, tensor):
    """Says of what stands for a handle which variable it is of."""
    holds = tensor.__dict__.get("_holds")
    if holds is not None:
        symbol._set_variable(holds[0], holds[1].as_list()
                             if holds[1].ndims is not None else None)


class TracedFunction:
    """`function(*arguments)` as a function of the graph that is current:
    arguments of the given dtypes and shapes, `convert(result)` a flat list of
    tensors. `results` are those, in the body's graph; `captured` the outer
    tensors that follow the arguments."""

    def __init__(self, function, types, shapes, convert, name=None):
        outer = _graph.get_default_graph()
        body = FuncGraph(outer)
        with body.as_default():
            arguments = [
                placeholder(_dtypes.as_dtype(t), s, name="arg%d" % i)
                for i, (t, s) in enumerate(zip(types, shapes))]
            self.results = convert(function(arguments))
            self.results = [
                r if type(r) is not EagerTensor and r.graph is body
                else body._capture(r) for r in self.results]
        self.captured = list(body._captured)
        base = re.sub(r"\W", "_", name or getattr(function, "__name__", "f"))
        self.name = "%s_%d" % (base.strip("_") or "f", next_number())
        definition = function_def(
            self.name, body.get_operations(),
            arguments + [body._captured[t] for t in self.captured],
            self.results)
        _add_function(outer, definition, body)


class StatefulCaptureError(ValueError):
    """A function that captures by value needs something with state."""


def by_value(tensor, name, into=None, finish=None, with_state=()):
    """The name of a new function without arguments, of the tensor's graph or
    `into`, that gives `tensor`, which is computed in it once more. ValueError
    where that is not possible: for what is fed, and for state, unless the id of
    its operation is in `with_state`. `finish` may
    change the FunctionDef before it is added."""
    graph = tensor.graph
    wanted, todo = set(), [tensor.op]
    while todo:
        op = todo.pop()
        if op._id in wanted:
            continue
        wanted.add(op._id)
        if op.type in ("Placeholder", "PlaceholderV2", "_Arg"):
            raise ValueError("Cannot capture a placeholder (name:%s, type:%s) "
                             "by value." % (op.name, op.type))
        makes_datasets = op.outputs and all(
            o.dtype == _dtypes.variant for o in op.outputs)
        # An Assert has no state, only an effect: a failure.
        if (op.op_def.is_stateful and not makes_datasets and
                op.type != "Assert" and op._id not in with_state):
            raise StatefulCaptureError(
                "Cannot capture a stateful node (name:%s, type:%s)"
                " by value." % (op.name, op.type))
        todo.extend(t.op for t in op.inputs)
        todo.extend(op.control_inputs)
    name = "%s_%d" % (name, next_number())
    definition = function_def(
        name, [op for op in graph.get_operations() if op._id in wanted], [],
        [tensor])
    if finish is not None:
        finish(definition)
    _add_function(graph if into is None else into, definition,
                  None if into is None else graph)
    return name


def _add_function(graph, definition, body):
    library = messages.GraphDef()
    if body is not None:
        library.library.CopyFrom(body._graph_def().library)
        # What the body's PyFunc nodes call lives as long as the graph.
        graph._py_functions.extend(body._py_functions)
    library.library.function.extend([definition])
    if graph._eager:
        _headrace.eager_add_functions(library)
        return
    graph._import_graph_def(library, "", [], [])
