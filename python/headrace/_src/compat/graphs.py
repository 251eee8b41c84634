"""Functions of tensorflow.python's graph modules that programs use though tf does
not export them."""
import abc
import collections
import contextlib
import itertools
import re
import threading

from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._src.control import contexts as _contexts
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import tensor as _tensor
from headrace._src.framework.constant_values import constant_value_as_shape
from headrace._src.framework.default_session import default_sessions
from headrace._src.framework.graph import Graph
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.messages import GraphDef, TensorProto
from headrace._src.framework.tensor import (
    constant_value, convert_n_to_tensor, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape, as_shape
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.session.session import Session
from headrace._src.training import gradients as _gradients

Merge = collections.namedtuple("Merge", ["output", "value_index"])
_numbers = itertools.count(1)
_numbers_lock = threading.Lock()


def as_graph_element(obj):
    """The tensor or operation that stands for `obj`, a variable for example;
    None for what has none, as a tensor itself."""
    if isinstance(obj, (Operation, Tensor)):
        return None
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if callable(convert) else None


def graph_from_inputs(op_input_list, graph=None):
    """`graph`, or that of the first input that has one, or the default one.
    ValueError if an input is of another."""
    flat = []
    for x in op_input_list:
        flat.extend(x if isinstance(x, (list, tuple)) else [x])
    found, first = graph, None
    for x in flat:
        if hasattr(x, "_as_graph_element"):
            x = x._as_graph_element()
        if not isinstance(x, (Operation, Tensor)):
            continue
        if found is None:
            found, first = x.graph, x
        elif found is not x.graph:
            if graph is not None:
                raise ValueError("%s is not from the passed-in graph." % (x,))
            _assert_same_graph(first, x)
    return found or _graph.get_default_graph()


def _assert_same_graph(original_item, item):
    """ValueError unless both, tensors or operations, are of one graph."""
    if original_item.graph is not item.graph:
        raise ValueError("%s must be from the same graph as %s."
                         % (item, original_item))


def internal_convert_to_tensor(value, dtype=None, name=None, as_ref=False,
                               preferred_dtype=None, ctx=None,
                               accept_symbolic_tensors=True,
                               accept_composite_tensors=False):
    """convert_to_tensor; `as_ref` keeps a variable's reference."""
    if as_ref and not isinstance(value, Tensor):
        return _tensor._convert(value, dtype and dtypes.as_dtype(dtype), name,
                                None, True)
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def internal_convert_n_to_tensor(values, dtype=None, name=None, as_ref=False,
                                 preferred_dtype=None, ctx=None):
    """internal_convert_to_tensor of each."""
    return [internal_convert_to_tensor(
        v, dtype, None if name is None else "%s_%d" % (name, i), as_ref,
        preferred_dtype) for i, v in enumerate(values)]


def convert_to_tensor_v2(value, dtype=None, dtype_hint=None, name=None):
    return convert_to_tensor(value, dtype, name, dtype_hint)


def try_evaluate_constant(graph, tensor):
    """The value of a tensor that only constants make, as an array; None where a
    placeholder, a variable or a random number is among what makes it."""
    value = constant_value(tensor)
    nodes = None if value is not None else _constant_nodes(tensor)
    if nodes is None:
        return value
    alone = Graph()
    with alone.as_default():
        copy, = import_graph_def(nodes, name="", return_elements=[tensor.name])
    with Session(graph=alone) as session:
        return session.run(copy)


def _constant_nodes(tensor):
    """A GraphDef of the nodes that make a constant, without what they wait for;
    None for what is no constant."""
    nodes = GraphDef()
    todo, seen = [tensor.op], set()
    while todo:
        op = todo.pop()
        if op._id in seen:
            continue
        seen.add(op._id)
        if op.op_def.is_stateful or op.type in _WITHOUT_VALUE:
            return None
        node = nodes.node.add()
        node.CopyFrom(op.node_def)
        data = [x for x in node.input if not x.startswith("^")]
        del node.input[:]
        node.input.extend(data)
        if "_class" in node.attr:
            del node.attr["_class"]
        todo.extend(x.op for x in op.inputs)
    return nodes


# Nodes whose value a run may be fed, or that depend on their place in a loop.
_WITHOUT_VALUE = frozenset("""
    Placeholder PlaceholderV2 PlaceholderWithDefault Enter Exit NextIteration
    Switch Merge LoopCond RefEnter RefExit RefNextIteration RefSwitch
    RefMerge""".split())


@contextlib.contextmanager
def default_session(session):
    """`session` as the default one, in which nothing is closed."""
    stack = default_sessions()
    stack.append(session)
    try:
        yield session
    finally:
        stack.remove(session)


def get_all_collection_keys():
    return _graph.get_default_graph().get_all_collection_keys()


def get_name_scope():
    """The name scope of the default graph, without a slash at its end."""
    return _graph.get_default_graph().get_name_scope()


def has_default_graph():
    """True inside Graph.as_default()."""
    from headrace import _headrace
    return _headrace.default_graph_depth() > 0


def inside_function():
    return _graph.get_default_graph().building_function


class TensorLike(abc.ABC):
    """What has the type and shape of a tensor; variables do not count."""


for _class in Tensor, SparseTensor, IndexedSlices:
    TensorLike.register(_class)

_dense_types: list = []


def register_dense_tensor_like_type(tensor_type):
    """Objects of this class count as dense tensors. TypeError unless it has
    the properties `name` and `dtype`."""
    for name in "name", "dtype":
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError("Type %s does not define a `%s` property"
                            % (tensor_type.__name__, name))
    _dense_types.append(tensor_type)


def is_dense_tensor_like(t):
    """True for tensors and variables."""
    from headrace._src.variables.base import Variable
    return isinstance(t, (Tensor, Variable, *_dense_types))


def name_from_scope_name(name):
    """`name` without a slash at its end."""
    return name[:-1] if name and name.endswith("/") else name


def strip_name_scope(name, export_scope):
    """`name` without the name scope `export_scope`."""
    if not export_scope:
        return name
    if isinstance(name, bytes):
        name = name.decode()
    return re.sub(r"^(\^|loc:@|)%s/+" % re.escape(export_scope.rstrip("/")),
                  r"\1", name)


def prepend_name_scope(name, import_scope):
    """`name` in the name scope `import_scope`."""
    if not import_scope:
        return name
    if isinstance(name, bytes):
        name = name.decode()
    prefix = import_scope.rstrip("/") + "/"
    for mark in ("^", "loc:@"):
        if name.startswith(mark):
            return mark + prefix + name[len(mark):]
    return prefix + name


def uid():
    """A number that no other call returns in this program."""
    with _numbers_lock:
        return next(_numbers)


def matrix(rows, cols):
    return TensorShape([rows, cols])


def vector(length):
    return TensorShape([length])


def shape_equals(tensor_proto, shape):
    """Whether a TensorProto has this shape: a list or a TensorShapeProto."""
    if not isinstance(tensor_proto, TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if hasattr(shape, "dim"):
        shape = shape_proto_to_list(shape)
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return shape_proto_to_list(tensor_proto.tensor_shape) == list(shape)


def shape_proto_to_list(shape):
    """The sizes of a TensorShapeProto."""
    return [dim.size for dim in shape.dim]


def maybe_set_static_shape(tensor, shape):
    """Gives `tensor` the static shape that the tensor `shape` has as value."""
    if not tensor.shape.is_fully_defined() and isinstance(shape, Tensor):
        tensor.set_shape(constant_value_as_shape(shape))


def shape_tensor(shape):
    """A vector of int32 or int64 from what tells a shape."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor(shape, "int32", name="shape")
    return convert_to_tensor(shape, name="shape")


def shape_internal(input, name=None, optimize=True, out_type="int32"):
    return _array._shape(input, name, optimize, dtypes.as_dtype(out_type))


def size_internal(input, name=None, optimize=True, out_type="int32"):
    return _array.size(input, name, out_type)


def rank_internal(input, name=None, optimize=True):
    return _array.rank(input, name)


def ones_like_impl(tensor, dtype, name, optimize=True):
    return _array.ones_like(tensor, dtype, name, optimize)


def zeros_like_impl(tensor, dtype, name, optimize=True):
    return _array.zeros_like(tensor, dtype, name, optimize)


def exit(data, name=None):
    """What leaves a loop."""
    op = _raw.RefExit if data.dtype._is_ref_dtype else _raw.Exit
    return op(data, name=name)


def merge(inputs, name=None):
    """(output, value_index): the first of `inputs` that has a value, and which
    it is. ValueError if one is None."""
    inputs = list(inputs)
    if any(x is None for x in inputs):
        raise ValueError("At least one of the merge inputs is None: %s"
                         % (inputs,))
    inputs = convert_n_to_tensor(inputs)
    refs = all(x.dtype._is_ref_dtype for x in inputs)
    return Merge(*(_raw.RefMerge if refs else _raw.Merge)(inputs, name=name))


def switch(data, pred, dtype=None, name=None):
    """(output if false, output if true)."""
    return _contexts.switch(convert_to_tensor(data, dtype), pred, name)


def is_resource_variable(var):
    return bool(getattr(var, "_is_resource", False))


def variable_op(shape, dtype, name="Variable", set_shape=True, container="",
                shared_name=""):
    """A node that keeps a value; its output is a reference."""
    shape = as_shape(shape)
    variable = _raw.VariableV2(shape=shape, dtype=dtype, name=name,
                               container=container, shared_name=shared_name)
    return variable


def variable_op_v2(shape, dtype, name="Variable", container="",
                   shared_name=""):
    """A node that keeps a value; its output is a reference."""
    return variable_op(shape, dtype, name, True, container, shared_name)


def bucketize(input, boundaries, name=None):
    """How many of the sorted `boundaries` are not above each value, int32."""
    return _raw.Bucketize(input=input, boundaries=boundaries, name=name)


def gradients_v2(ys, xs, grad_ys=None, name="gradients", gate_gradients=False,
                 aggregation_method=None, stop_gradients=None,
                 unconnected_gradients=_gradients.UnconnectedGradients.NONE):
    """tf.gradients, with each gradient by the node of its op."""
    return _gradients.gradients(
        ys, xs, grad_ys, name, True, gate_gradients, aggregation_method,
        stop_gradients, unconnected_gradients)
