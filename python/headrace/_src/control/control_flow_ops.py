"""Ordering of operations, and Print."""
import builtins
import collections.abc

from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._loading import load
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, get_default_graph, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor


def _operations(inputs):
    for x in inputs:
        if isinstance(x, (list, builtins.tuple)):
            yield from _operations(x)
            continue
        if isinstance(x, collections.abc.Mapping):
            yield from _operations(x[key] for key in sorted(x))
            continue
        if getattr(x, "_is_resource", False):
            x = x.op  # what has written the variable, not what reads it
        elif hasattr(x, "_as_graph_element"):
            x = x._as_graph_element()
        if isinstance(x, Operation):
            yield x
        elif hasattr(x, "op"):
            yield x.op
        else:
            raise TypeError("Expected tf.group() expected Tensor arguments not "
                            "'%s' with type '%s'" % (x, type(x)))


def group(*inputs, **kwargs):
    """An Operation that is done when all of `inputs` are.

    `inputs`: Operations, Tensors of any shape and dtype, and nested lists and
    dicts of them. Running it gives None. TypeError for other things, ValueError for an
    argument that is not `name`."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: "
                         + ", ".join(kwargs.keys()))
    if get_default_graph()._eager:
        return None
    operations = list(_operations(inputs))
    with name_scope(name, "group_deps", operations) as scope:
        by_device = {}
        for op in operations:
            by_device.setdefault(op.device, []).append(op)
        if len(by_device) <= 1:
            with control_dependencies(operations):
                graph = get_default_graph()
                if operations and operations[0].device:
                    with graph.device(operations[0].device):
                        return _raw.NoOp(name=scope)
                return _raw.NoOp(name=scope)
        parts = []
        for where in sorted(by_device):
            with control_dependencies(by_device[where]), \
                    get_default_graph().device(where or None):
                parts.append(_raw.NoOp())
        with control_dependencies(parts):
            return _raw.NoOp(name=scope)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, each there only once all of them are; None and operations
    as they are."""
    with name_scope(name, "tuple", tensors):
        tensors = [t if t is None or isinstance(t, (Operation, Tensor))
                   or hasattr(t, "op") else convert_to_tensor(t)
                   for t in tensors]
        if get_default_graph()._eager:
            return tensors
        gates = [t if isinstance(t, Operation) else t.op for t in tensors
                 if t is not None]
        for c in control_inputs or ():
            if not isinstance(c, (Tensor, Operation)):
                raise TypeError("Control input must be Operation or Tensor: "
                                "%s" % (c,))
            gates.append(c.op if isinstance(c, Tensor) else c)
        if not gates:
            raise ValueError("Must have at least one Tensor: %s" % (tensors,))
        gate = group(*gates)
        out = []
        for t in tensors:
            if t is None or isinstance(t, Operation):
                out.append(t)
                continue
            out.append(with_dependencies([gate], t))
        return out


def with_dependencies(dependencies, output_tensor, name=None):
    """`output_tensor`, there only once the dependencies are; IndexedSlices
    too."""
    with name_scope(name, "control_dependency",
                    list(dependencies) + [output_tensor]) as scope:
        with control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                return IndexedSlices(
                    _raw.Identity(output_tensor.values, name=scope),
                    output_tensor.indices, output_tensor.dense_shape)
            return _raw.Identity(output_tensor, name=scope)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """input_, printing `data` to the log when it is computed.

    `input_`: of any type and shape, which the result has; `data`: a list of
    tensors of any types and shapes, `summarize` elements of which are shown
    (3). `first_n`: how often. ValueError or TypeError for what cannot become a
    tensor."""
    return _raw.Print(input_, [convert_to_tensor(d) for d in data],
                      message=message or "",
                      first_n=-1 if first_n is None else first_n,
                      summarize=3 if summarize is None else summarize,
                      name=name)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None,
                             message=None):
    """`t`, computed only if no element is NaN or infinite; else the step fails
    with `msg`."""
    x = t if x is None else x
    message = msg if message is None else message
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x)
        with colocate_with(x):
            check = _raw.CheckNumerics(x, message=message)
            with control_dependencies([check]):
                return _raw.Identity(x)


def add_check_numerics_ops():
    """An operation that checks every floating-point tensor of the default graph
    for NaN and infinity, each before those computed from it."""
    graph = get_default_graph()
    checks = []
    for op in graph.get_operations():
        for output in op.outputs:
            if output.dtype.base_dtype.name not in (
                    "float16", "bfloat16", "float32", "float64"):
                continue
            if graph._flow_contexts.get(op._id) is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with "
                    "TensorFlow control flow operations such as `tf.cond()` "
                    "or `tf.while_loop()`.")
            with control_dependencies(checks), colocate_with(op):
                checks = [_raw.CheckNumerics(
                    output, message="%s:%d" % (op.name, output.value_index))]
    return group(*checks)


def timestamp(name=None):
    """A float64 scalar: the seconds since 1970 when it is computed."""
    return _raw.Timestamp(name=name)


def py_function(func, inp, Tout, name=None):
    """The results of `func`, called with EagerTensors of the values of `inp`
    when the node runs, or at once while ops are executed eagerly. It may use
    ops, and gradients go through them.

    `inp`: a list of tensors of any types and shapes; `Tout`: a type, for one
    result, or a list of types. Returns tensors of these types, of unknown
    shapes. An exception fails the run as one of py_func does."""
    return load("_src.eager.python_functions").py_function(func, inp, Tout,
                                                           name)
