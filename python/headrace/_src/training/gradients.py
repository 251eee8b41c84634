"""Gradients: tf.gradients, tf.hessians, and gradient functions in Python.

The library builds the gradients (include/headrace/gradients.h) and has the
functions of the ops. What is registered here is called by it."""
import contextlib
import enum
import functools
import inspect

from headrace import _headrace
from headrace._headrace import EagerTensor
from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.control.contexts import ControlFlowContext, place_of
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import nest
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, get_default_graph, name_scope)
from headrace._src.framework.indexed_slices import (
    IndexedSlices, convert_to_tensor_or_indexed_slices)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.variables.base import Variable


class UnconnectedGradients(enum.Enum):
    """What the gradient by an x is that no y depends on."""
    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """Names of ways to add gradients up: all in one AddN, or in turn."""
    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


# Gradient functions in Python by op; None for ops without a gradient.
_functions: dict = {}
# Op types whose gradient function the program removed from the registry.
hidden: set = set()


def register(op_type, function):
    """Keeps the gradient function of an op type. KeyError if it has one."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    entry = _headrace.gradient_entry(op_type)
    if op_type not in hidden and (op_type in _functions or entry is not None):
        raise KeyError("Registering two gradient with name '%s'! (Previous "
                       "registration was in %s)" % (
                           op_type, "the library" if entry is not None
                           else "this program"))
    replace(op_type, function)


def replace(op_type, function):
    """Sets the gradient function of an op type, whether it has one or not. The
    library's, a LibraryGradient, brings that back."""
    hidden.discard(op_type)
    if getattr(function, "op_type", None) == op_type:
        _functions.pop(op_type, None)
    else:
        _functions[op_type] = function


def remove(op_type):
    """Makes an op type have no gradient function."""
    if _headrace.gradient_entry(op_type) is None:
        _functions.pop(op_type, None)
        return
    hidden.add(op_type)

    def refuse(op, *grads):
        raise LookupError("No gradient defined for operation '%s' (op type: "
                          "%s)" % (op.name, op_type))
    _functions[op_type] = refuse


class RegisterGradient:
    """A decorator for the gradient function of an op type:
    function(op, *grads) returns the gradients of the op's inputs, from those
    of its outputs; each a Tensor, IndexedSlices or None."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        register(self._op_type, f)
        return f


def NotDifferentiable(op_type):
    """Says that no gradient goes through operations of this type."""
    register(op_type, None)


NoGradient = NotDifferentiable


def _to_core(gradient):
    if isinstance(gradient, IndexedSlices):
        return (gradient.values, gradient.indices, gradient.dense_shape)
    return gradient


def _from_core(gradient):
    return (IndexedSlices(*gradient) if isinstance(gradient, tuple)
            else gradient)


def _call(colocate, function, op, grads, scope):
    """Calls a gradient function for the library."""
    if function is None:
        return [None] * len(op.inputs)
    grads = [_from_core(g) for g in grads]
    with name_scope(scope), (colocate_with(op) if colocate
                             else contextlib.nullcontext()):
        for i, output in enumerate(op.outputs):
            if grads[i] is None and (output.dtype.is_floating
                                     or output.dtype.is_complex):
                grads[i] = _raw.ZerosLike(output, name="zeros_like")
        found = function(op, *grads)
        if not isinstance(found, (list, tuple)):
            found = [found]
        if len(found) != len(op.inputs):
            raise ValueError(
                "Num gradients %d generated for op %s do not match num inputs "
                "%d" % (len(found), op.name, len(op.inputs)))
        found = [g if g is None else convert_to_tensor_or_indexed_slices(g)
                 for g in found]
    return [_to_core(g) for g in found]


class _BackwardLoop(ControlFlowContext):
    """The backward loop in which a gradient function adds operations: `take`
    gives their inputs there, and what they wait for; `adopt` makes them its
    own."""

    def __init__(self, take, adopt):
        super().__init__()
        self._take, self._adopt_op = take, adopt

    def while_context(self):
        return self

    def add_value(self, tensor):
        return self._take([tensor])[0][0]

    def _before_add(self, op_type, inputs, control):
        taken, wait = self._take(inputs)
        return taken, control + (wait if not control else [])

    def _after_add(self, op):
        self._adopt_op(op)


def _call_in_loop(colocate, function, op, grads, scope, take, adopt):
    """As _call, for an operation in the body of a loop."""
    context = _BackwardLoop(take, adopt)
    context.enter()
    try:
        return _call(colocate, function, op, grads, scope)
    finally:
        context.exit()


def _call_in_function(colocate, body, function, op, grads, scope):
    """As _call, for an operation in the body of a function, whose graph is
    `body`."""
    outer = get_default_graph()
    with body.as_default():
        found = _call(colocate, function, op, grads, scope)
    outer._py_functions += body._py_functions
    body._py_functions.clear()
    return found


def _as_list(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def source_of(x):
    """The tensor that gradients by x are gradients by."""
    if isinstance(x, Variable):
        if not x._is_resource:
            return x._as_graph_element()
        handle = x.handle
        return (convert_to_tensor(handle) if type(handle) is EagerTensor
                else handle)
    return convert_to_tensor_or_indexed_slices(x)


def _targets(values, what):
    out = []
    for value in values:
        t = convert_to_tensor_or_indexed_slices(value)
        out.append(t.values if isinstance(t, IndexedSlices) else t)
    return out


def gradients(ys, xs, grad_ys=None, name="gradients",
              colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None,
              unconnected_gradients=UnconnectedGradients.NONE):
    """The sum of the derivatives of ys by each of xs.

    A list as long as xs, of Tensors, of IndexedSlices where rows were
    gathered, and of None where no y depends on the x. `grad_ys`: initial
    gradients of ys; None for ones. `stop_gradients`: tensors that count as
    constants.

    Each has the dtype and shape of its x; ys and xs are floating or complex
    numbers of any shape (None for others). LookupError for an op without a
    gradient; ValueError for values of other graphs or `grad_ys` of another
    length or shape; TypeError for grad_ys of another type."""
    if get_default_graph()._eager:
        raise RuntimeError("tf.gradients is not supported when eager execution "
                           "is enabled. Use tf.GradientTape instead.")
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError("Passed %d grad_ys for %d ys"
                         % (len(grad_ys), len(ys)))
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError("Invalid aggregation_method specified %s."
                         % (aggregation_method,))
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError("Unknown value for unconnected_gradients: %r"
                         % (unconnected_gradients,)) from None
    graph = get_default_graph()
    with name_scope(name, "gradients",
                    [t for t in ys + xs + stops + grad_ys
                     if t is not None]) as scope:
        ys = _targets(ys, "ys")
        sources = [source_of(x) for x in xs]
        sources = [s.values if isinstance(s, IndexedSlices) else s
                   for s in sources]
        stops = [source_of(s) for s in stops] + graph._loops_without_gradient
        start = []
        for i, (y, g) in enumerate(zip(ys, grad_ys)):
            if g is None:
                start.append(None)
                if y.dtype.is_complex:
                    raise TypeError(
                        "Gradients of complex tensors must set grad_ys "
                        "(y.dtype = %r)" % (y.dtype,))
                continue
            g = convert_to_tensor_or_indexed_slices(g, name="grad_ys_%d" % i)
            _check_type(i, g, y)
            start.append(_to_core(g))
        colocate = bool(colocate_gradients_with_ops)
        found = _headrace.add_gradients(
            graph, ys, sources, start, stops, scope[:-1], colocate,
            bool(gate_gradients), unconnected is UnconnectedGradients.ZERO,
            aggregation_method in (1, 2), _functions, *_callers(colocate))
    return [_from_core(g) for g in found]


def _callers(colocate):
    """What the library calls gradient functions in Python with."""
    return (functools.partial(_call, colocate),
            functools.partial(_call_in_loop, colocate),
            functools.partial(_call_in_function, colocate), place_of)


def through_library(ys, xs, grad_ys):
    """The gradients of xs, the inputs of an operation, from those of its
    outputs ys, by the library's function. Tensors, IndexedSlices and None.
    NotImplementedError in the gradient of a loop."""
    if isinstance(get_default_graph()._get_control_flow_context(),
                  _BackwardLoop):
        raise NotImplementedError(
            "The library's gradient function of %s (%s) cannot be called by a "
            "function in Python in the gradient of a while_loop"
            % (ys[0].op.name, ys[0].op.type))
    with name_scope("library_gradient") as scope:
        start = [_to_core(convert_to_tensor_or_indexed_slices(g))
                 for g in grad_ys]
        found = _headrace.add_gradients(
            get_default_graph(), ys, xs, start, xs, scope[:-1], False, False,
            False, False, {}, *_callers(False))
    return [_from_core(g) for g in found]


def _check_type(i, grad_y, y):
    """TypeError if grad_ys[i] cannot be the gradient of ys[i] by its type."""
    got, wanted = grad_y.dtype.base_dtype, y.dtype.base_dtype
    if wanted.name not in ("resource", "variant") and got != wanted:
        raise TypeError(
            "grad_ys[%d] has type %s, but the gradient of %s must have its "
            "type, %s" % (i, got.name, y, wanted.name))


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False,
             gate_gradients=False, aggregation_method=None):
    """For each x, the second derivatives of the sum of ys by it: a Tensor of
    the shape of x twice, made row by row in a loop."""
    xs = _as_list(xs)
    options = dict(colocate_gradients_with_ops=colocate_gradients_with_ops,
                   gate_gradients=gate_gradients,
                   aggregation_method=aggregation_method)
    out = []
    for x, first in zip(xs, gradients(ys, xs, **options)):
        first = _array.reshape(convert_to_tensor(first), [-1])
        n = _array.size(x)

        def row(i, rows, x=x, first=first):
            second = gradients(first[i], x, unconnected_gradients="zero",
                               **options)[0]
            return i + 1, rows.write(i, convert_to_tensor(second))

        _, rows = while_loop(
            lambda i, _, n=n: i < n, row,
            [0, TensorArray(first.dtype.base_dtype, n)])
        shape = _array.shape(x)
        hessian = _array.reshape(rows.stack(),
                                 _array.concat([shape, shape], 0))
        static = x.get_shape()
        hessian.set_shape(static.concatenate(static))
        out.append(hessian)
    return out


def key_of(tensor):
    """What is equal for objects that stand for one tensor of a graph."""
    return tensor.op._id, tensor.value_index


def variables_by_tensor(graph):
    """{key of a handle, of a reference or of what was read from it: variable},
    of the trainable variables in the graph's collections."""
    found = {}
    for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES,
                 GraphKeys.TRAINABLE_VARIABLES):
        for v in graph.get_collection(name):
            if isinstance(v, Variable) and v.trainable:
                found[key_of(source_of(v))] = v
                if not v._is_resource:
                    found[key_of(v.value())] = v
    for handle, argument in getattr(graph, "_captured", {}).items():
        if type(handle) is EagerTensor and handle._is_trainable:
            v = load("_src.eager.variables").variable_of(handle)
            if v is not None:
                found[key_of(argument)] = v
    return found


def variables_read(graph, operations):
    """{key of its handle or reference: variable} of the trainable variables
    that `operations` have among their inputs, in the order of their making."""
    known, found = variables_by_tensor(graph), {}
    for op in operations:
        for x in op.inputs:
            v = known.get(key_of(x))
            if v is not None:
                found[key_of(source_of(v))] = v
    return {k: found[k] for k in sorted(found)}


_custom_count = 0


def custom_gradient(f):
    """A decorator for functions with a gradient of their own:
    f(*tensors) returns (results, grad_fn), and grad_fn(*grads of the results)
    the gradients of the tensors. If f reads trainable variables, grad_fn takes
    them as `variables` and returns their gradients as a second list. TypeError
    if it does not, and if f makes variables that are no resources."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        global _custom_count
        if get_default_graph()._eager:
            return load("_src.eager.custom").call(f, args, kwargs)
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports "
                             "keywords arguments only when eager execution is "
                             "enabled.")
        graph = get_default_graph()
        first_id = graph._last_id
        args = [convert_to_tensor(x) for x in args]
        result, grad_fn = f(*args)
        added = [graph._operation_by_id(i)
                 for i in range(first_id, graph._last_id)]
        variables = list(variables_read(
            graph, [op for op in added if op is not None]).values())
        if any(not v._is_resource and v.op._id >= first_id for v in variables):
            raise TypeError(
                "All variables used by a function wrapped with "
                "@custom_gradient must be `ResourceVariable`s. Ensure that no "
                "`variable_scope` is created with `use_resource=False`.")
        given = {key_of(x) for x in args}
        variables = [v for v in variables if key_of(
            source_of(v) if v._is_resource else v.value()) not in given]
        accepts = inspect.signature(grad_fn).parameters
        takes_variables = "variables" in accepts or any(
            p.kind is p.VAR_KEYWORD for p in accepts.values())
        if variables and not takes_variables:
            raise TypeError(
                "If using @custom_gradient with a function that uses "
                "variables, then grad_fn must accept a keyword argument "
                "'variables'.")
        flat = [convert_to_tensor(x) for x in nest.flatten(result)]
        handles = [v.handle if v._is_resource else v.value()
                   for v in variables]

        def gradient(op, *grads):
            grads = grads[:len(flat)]
            if variables:
                by_args, by_variables = grad_fn(*grads, variables=variables)
                by_variables = list(by_variables)
                if len(by_variables) != len(variables):
                    raise ValueError("Must return gradient for each variable "
                                     "from @custom_gradient grad_fn.")
            else:
                by_args, by_variables = grad_fn(*grads), []
            by_args = nest.flatten(by_args)
            if len(by_args) != len(args):
                raise ValueError(
                    "custom_gradient function expected to return %d gradients "
                    "but returned %d instead." % (len(args), len(by_args)))
            return [None] * len(flat) + list(by_args) + by_variables

        for result_tensor in flat:  # so the nodes are as many as TensorFlow's
            _raw.Identity(result_tensor)
        _custom_count += 1
        name = "CustomGradient-%d" % _custom_count
        register(name, gradient)
        with graph.gradient_override_map({"IdentityN": name}):
            outputs = _raw.IdentityN(flat + args + handles)
        outputs = list(outputs)[:len(flat)]
        return nest.pack_sequence_as(result, outputs)

    return decorated


def grad_pass_through(f):
    """f with the gradient of the identity."""

    @custom_gradient
    def pass_through(*args, **kwargs):
        def grad(*grads, **others):
            variables = others.get("variables")
            if variables is not None:
                return list(grads), [None] * len(variables)
            return grads
        return f(*args, **kwargs), grad

    return pass_through
