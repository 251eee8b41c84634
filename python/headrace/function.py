"""Defun: a Python function as a function of the graph, with a body that calls
share. It is traced once, into a graph of its own."""
import re

from headrace import dtypes
from headrace import graph as _graph
from headrace import messages
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace.array_ops import placeholder
from headrace.tensor import convert_to_tensor


class Defun:
    """`@Defun(tf.float32, tf.int32)` makes the function below take tensors of
    these types. Its body may use nothing from outside but its arguments and
    Python values; it returns a tensor or a list of them. `func_name`: its name
    in the graph."""

    def __init__(self, *input_types, **kwargs):
        self._types = [dtypes.as_dtype(t) for t in input_types]
        self._name = kwargs.pop("func_name", None)
        self._outputs = kwargs.pop("out_names", None)
        for known in ("noinline", "shape_func", "grad_func", "python_grad_func",
                      "capture_by_value"):
            if kwargs.pop(known, None) is not None and "grad" in known:
                raise NotImplementedError("Defun's %s is not supported"
                                          % known)
        if kwargs:
            raise TypeError("unexpected arguments: %s" % ", ".join(kwargs))

    def __call__(self, function):
        if not callable(function):
            raise ValueError("function %s must be callable" % (function,))
        return _Defined(function, self._types, self._name, self._outputs)


class _Defined:
    def __init__(self, function, types, name, out_names):
        self._function = function
        self._types = types
        self._given_name = name
        self._out_names = out_names
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

    def _trace(self):
        if self._def is not None:
            return
        body = _graph.Graph()
        with body.as_default():
            arguments = [placeholder(t, name="arg%d" % i)
                         for i, t in enumerate(self._types)]
            results = self._function(*arguments)
            if results is None:
                results = []
            self._one = not isinstance(results, (list, tuple))
            results = [convert_to_tensor(r)
                       for r in ([results] if self._one else results)]
        for r in results:
            if r.graph is not body:
                raise ValueError("Defun cannot return the outer tensor %s"
                                 % r.name)
        self._result_types = [r.dtype.base_dtype for r in results]
        self._result_shapes = [r.get_shape() for r in results]
        self._called = list(body.as_graph_def().library.function)
        base = re.sub(r"\W", "_", getattr(self._function, "__name__", "f"))
        name = self._given_name or "%s_%d" % (
            base.strip("_") or "f", _next_number())
        self._def = _function_def(name, body.get_operations(), arguments,
                                  results, self._out_names)

    def add_to_graph(self, graph):
        """Makes the function known to a graph, as a call does."""
        self._trace()
        library = messages.GraphDef()
        library.library.function.extend(self._called + [self._def])
        graph._import_graph_def(library, "", [], [])

    def __call__(self, *args, **kwargs):
        name = kwargs.pop("name", None)
        if kwargs:
            raise ValueError("unknown arguments: %s" % ", ".join(kwargs))
        if len(args) != len(self._types):
            raise ValueError("Expected number of arguments: %d, received: %d"
                             % (len(self._types), len(args)))
        self._trace()
        graph = _graph.graph_of(args)
        self.add_to_graph(graph)
        with graph.as_default():
            tensors = [convert_to_tensor(a, dtype=t)
                       for a, t in zip(args, self._types)]
            out = _raw.StatefulPartitionedCall(
                tensors, Tout=self._result_types, f=self.name,
                name=name or self.name)
        if not isinstance(out, list):
            return out
        for tensor, shape in zip(out, self._result_shapes):
            tensor.set_shape(shape)
        return out[0] if self._one else out


_count = 0


def _next_number():
    global _count
    _count += 1
    return _count


def _function_def(name, operations, arguments, results, out_names=None):
    """What `operations` do between arguments and results, as a FunctionDef:
    there an output is named by its argument in the op's signature."""
    definition = messages.FunctionDef()
    definition.signature.name = name
    inputs = {}
    for i, t in enumerate(arguments):
        arg = definition.signature.input_arg.add()
        arg.name = t.op.name
        arg.type = int(t.dtype)
        inputs[t.op._id] = t.op.name

    def reference(tensor):
        if tensor.op._id in inputs:
            return inputs[tensor.op._id]
        return "%s:%s" % (tensor.op.name, _output_name(tensor))

    # Names of nodes may hold "/" here too.
    for op in operations:
        if op._id in inputs:
            continue
        node = op.node_def
        del node.input[:]
        node.input.extend([reference(t) for t in op.inputs])
        node.input.extend(["^" + c.name for c in op.control_inputs
                           if c._id not in inputs])
        definition.node_def.extend([node])
        if op.op_def.is_stateful:
            definition.signature.is_stateful = True
    for i, t in enumerate(results):
        arg = definition.signature.output_arg.add()
        arg.name = out_names[i] if out_names else "out%d" % i
        arg.type = int(t.dtype.base_dtype)
        definition.ret[arg.name] = reference(t)
    return definition


def _output_name(tensor):
    assert isinstance(tensor, Tensor)
    at = tensor.value_index
    for arg in tensor.op.op_def.output_arg:
        n = 1
        if arg.number_attr:
            n = int(tensor.op.get_attr(arg.number_attr))
        elif arg.type_list_attr:
            n = len(tensor.op.get_attr(arg.type_list_attr))
        if at < n:
            return "%s:%d" % (arg.name, at)
        at -= n
    raise ValueError("%s has no such output" % tensor.name)
