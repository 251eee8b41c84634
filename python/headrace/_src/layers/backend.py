"""tf.keras.backend: numbers that all layers share, and the names of layers."""
import collections
import contextlib

import numpy as _np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._loading import load as _load
from headrace._src.control.control_flow import smart_cond
from headrace._src.framework import dtypes
from headrace._src.framework.default_session import get_default_session
from headrace._src.framework.graph import (
    GraphKeys, get_default_graph, init_scope, name_scope, reset_default_graph)
from headrace._src.framework.tensor import constant as _constant
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor

_settings = {"floatx": "float32", "epsilon": 1e-7,
             "image_data_format": "channels_last",
             "manual_initialization": False}


def floatx():
    """The name of the type that layers have by default."""
    return _settings["floatx"]


def set_floatx(value):
    """Sets the default type of floats: float16, float32 or float64. ValueError
    for others."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError("Unknown floatx type: %s" % (value,))
    _settings["floatx"] = str(value)


def epsilon():
    """The small number that keeps divisors from 0."""
    return _settings["epsilon"]


def set_epsilon(value):
    _settings["epsilon"] = value


def image_data_format():
    return _settings["image_data_format"]


def set_image_data_format(data_format):
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Unknown data_format: %s" % (data_format,))
    _settings["image_data_format"] = str(data_format)


class _State:
    """What is counted for one graph."""

    def __init__(self):
        self.names = {}
        self.learning_phase = None        # a placeholder
        self.fixed_learning_phase = None  # what set_learning_phase was given
        self.session = None
        self.initialized = set()  # names of variables
        self.history = {}  # of tensors: (layer, index of its call, index)


# Kept in a collection, so that it ends with the graph. A name that is no string
# is in no meta graph.
_STATE = ("__layers_state",)


# Of a tensor: the layer that made it, in which call, and which of its outputs
# it is.
KerasHistory = collections.namedtuple(
    "KerasHistory", "layer node_index tensor_index")


def _history_of(tensor):
    if isinstance(tensor, EagerTensor):
        raise AttributeError("'EagerTensor' object has no attribute "
                             "'_keras_history'")
    states = tensor.graph.get_collection_ref(_STATE)
    found = states[0].history.get(tensor.name) if states else None
    if found is None:
        raise AttributeError("'Tensor' object has no attribute "
                             "'_keras_history': no layer made it")
    return KerasHistory(*found)


setattr(Tensor, "_keras_history", property(_history_of))


def in_graph():
    """Inside of `with`, nodes can be made: of the graph of Keras models, while
    ops are executed eagerly, or else as before."""
    if executing_eagerly():
        return _load("_src.eager.keras").keras_graph().as_default()
    return contextlib.nullcontext()


def is_eager_program():
    """Whether ops are executed eagerly, or were where this graph's building
    began."""
    graph = get_default_graph()
    while graph is not None:
        if graph._eager:
            return True
        graph = getattr(graph, "_outer", None)
    return False


def graph_state():
    graph = get_default_graph()
    if graph._eager:
        graph = _load("_src.eager.keras").keras_graph()
    found = graph.get_collection_ref(_STATE)
    if not found:
        found.append(_State())
    return found[0]


def rounded(x):
    """A number as one of float32 is: so configs in TensorFlow's files have it."""
    return float(_np.float32(x))


def graph_inputs():
    """[(layer, tensor)] of what models of this graph begin with."""
    state = graph_state()
    return [(layer, layer._calls[number][1])
            for layer, number, _ in state.history.values()
            if isinstance(layer._calls[number][0], list)
            and not layer._calls[number][0]]


def unique_name(base, zero_based):
    """`base` with the number of names that this graph has of it; the first is
    without one if zero_based."""
    names = graph_state().names
    count = names.get(base, 0)
    names[base] = count + 1
    if not zero_based:
        return "%s_%d" % (base, count + 1)
    return "%s_%d" % (base, count) if count else base


def get_uid(prefix=""):
    names = graph_state().names
    names[prefix] = names.get(prefix, 0) + 1
    return names[prefix]


def reset_uids():
    graph_state().names.clear()


def learning_phase():
    """A placeholder, False by default, that says if layers of this graph train;
    or what set_learning_phase was given in it."""
    fixed = fixed_learning_phase()
    if fixed is not None:
        return fixed
    if executing_eagerly():
        return 0
    state = graph_state()
    if state.learning_phase is None:
        with name_scope(""):
            state.learning_phase = _array.placeholder_with_default(
                False, shape=(), name="keras_learning_phase")
    return state.learning_phase


def set_learning_phase(value):
    """Says if layers of the default graph train, in place of the placeholder.
    ValueError for other values than 0, 1 and bools."""
    if value not in (0, 1, False, True):
        raise ValueError("Expected learning phase to be 0 or 1.")
    graph_state().fixed_learning_phase = value


def fixed_learning_phase():
    """What set_learning_phase was given in this graph, or in one around it, or
    None."""
    graph = get_default_graph()
    while graph is not None:
        if graph._eager:
            graph = _load("_src.eager.keras").keras_graph()
            states = graph.get_collection_ref(_STATE)
            return states[0].fixed_learning_phase if states else None
        for state in graph.get_collection_ref(_STATE):
            if state.fixed_learning_phase is not None:
                return state.fixed_learning_phase
        graph = getattr(graph, "_outer", None)
    return None


def fix_learning_phase(value):
    """As set_learning_phase; None frees it."""
    graph_state().fixed_learning_phase = value


def set_manual_initialization(value):
    _settings["manual_initialization"] = value


def clear_session():
    """A new default graph, where names start again. It has the placeholder of
    the learning phase."""
    if executing_eagerly():
        _load("_src.eager.keras").clear()
        return
    reset_default_graph()
    learning_phase()


def get_session(op_input_list=()):
    """The default session, or one that is kept for the default graph. Variables
    that have no value yet get their initial one."""
    if is_eager_program():
        return _load("_src.eager.keras").session()
    session = get_default_session()
    if session is None:
        state = graph_state()
        if state.session is None or state.session.graph is not \
                get_default_graph():
            state.session = _load("_src.session.session").Session()
        session = state.session
    if not _settings["manual_initialization"]:
        _initialize(session)
    return session


def set_session(session):
    """Makes `session` that of the default graph."""
    graph_state().session = session


def _initialize(session):
    """Initialises the variables that no one has."""
    with session.graph.as_default():
        state = graph_state()
        known = state.initialized
        if getattr(state, "initialized_in", None) is not session:
            known.clear()
            state.initialized_in = session
        new = [v for v in session.graph.get_collection(
            GraphKeys.GLOBAL_VARIABLES) if v.name not in known]
        if not new:
            return
        are = session.run([v._initialized() for v in new])
        session.run([v.initializer for v, ok in zip(new, are) if not ok])
        known.update(v.name for v in new)


def eval(x):
    """The value of a tensor or variable."""
    if is_eager_program():
        return get_session().run(x)
    return get_value(convert_to_tensor(x))


def get_value(x):
    """The value of a variable."""
    if is_eager_program():
        return get_session().run(x)
    return x.eval(session=get_session())


def batch_get_value(tensors):
    """The values of variables."""
    return get_session().run(list(tensors)) if tensors else []


def set_value(x, value):
    """Gives a variable a value."""
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """[(variable, value)]: gives each its value."""
    if not tuples:
        return
    if is_eager_program():
        with init_scope():
            for x, value in tuples:
                x.assign(_np.asarray(
                    value, dtype=x.dtype.base_dtype.as_numpy_dtype))
        return
    session = get_session()
    graph = session.graph
    assigns, feeds = [], {}
    for x, value in tuples:
        value = _np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype)
        found = getattr(x, "_keras_assign", None)
        if found is None:
            with graph.as_default():
                given = _array.placeholder(x.dtype.base_dtype, shape=None)
                assigned = x.assign(given)
                found = given, getattr(assigned, "op", assigned)
            x._keras_assign = found
        feeds[found[0]] = value
        assigns.append(found[1])
    session.run(assigns, feeds)


def as_sparse(value, kind):
    """`kind`(indices, values, dense_shape) of a matrix of SciPy; another value
    as it is."""
    if not hasattr(value, "tocoo"):
        return value
    coo = value.tocoo()
    return kind(_np.stack([coo.row, coo.col], 1).astype(_np.int64), coo.data,
                coo.shape)


def variable(value, dtype=None, name=None, constraint=None):
    """A variable of this value. A matrix of SciPy is a SparseTensor."""
    if hasattr(value, "tocoo"):
        return as_sparse(value, _load("_src.ops.sparse_tensor").SparseTensor)
    return _load("_src.variables.variables").Variable(
        value, dtype=dtypes.as_dtype(dtype or floatx()), name=name,
        constraint=constraint, use_resource=True)


def count_params(x):
    """How many numbers x has."""
    return int(_np.prod(x.get_shape().as_list()))


def choose(training, if_true, if_false):
    """What one of the functions returns; both are in the graph if only a run
    can tell."""
    if isinstance(training, (bool, int)):
        return if_true() if training else if_false()
    return smart_cond(training, if_true, if_false)


def known(training):
    """`training` as a bool, or None if only a run can tell."""
    if isinstance(training, (bool, int)):
        return bool(training)
    value = constant_value(training)
    return None if value is None else bool(value)


def hard_sigmoid(x):
    """0.2 x + 0.5, between 0 and 1."""
    x = convert_to_tensor(x)
    x = _math.multiply(x, _constant(0.2, x.dtype.base_dtype))
    x = _math.add(x, _constant(0.5, x.dtype.base_dtype))
    return _clipping.clip_by_value(x, 0., 1.)


def constant(value, dtype=None, shape=None, name=None):
    return _constant(value, dtypes.as_dtype(dtype or floatx()), shape,
                     name or "Const")


def int_shape(x):
    """The static shape as a tuple, or None."""
    shape = shape_of(x)
    return None if shape.ndims is None else tuple(shape.as_list())


def shape_of(x):
    """The TensorShape of a tensor, also of a sparse or ragged one."""
    return x.get_shape() if hasattr(x, "get_shape") else x.shape


def _first_part(x):
    """The tensor that a SparseTensor or RaggedTensor is known by, or None."""
    if isinstance(x, SparseTensor):
        return x.indices
    part = getattr(x, "flat_values", None)
    return part if isinstance(part, Tensor) else None


def is_symbolic(x):
    """Whether x is a tensor of a graph, perhaps a sparse or ragged one."""
    part = _first_part(x)
    return isinstance(x if part is None else part, Tensor) and not isinstance(
        x if part is None else part, EagerTensor)


def key(x):
    """By what a tensor is known among those of layers: its name."""
    part = _first_part(x)
    return getattr(x, "name", None) if part is None else "of " + part.name


def ndim(x):
    return x.get_shape().ndims


def dtype(x):
    return x.dtype.base_dtype.name


def shape(x):
    return _array.shape(x)


def cast(x, dtype):
    return _math.cast(x, dtype)


def square(x):
    return _raw.Square(x)


def sum(x, axis=None, keepdims=False):
    return _math.reduce_sum(x, axis, keepdims)


def mean(x, axis=None, keepdims=False):
    if convert_to_tensor(x).dtype.base_dtype == dtypes.bool_:
        x = _math.cast(x, floatx())
    return _math.reduce_mean(x, axis, keepdims)


def max(x, axis=None, keepdims=False):
    return _math.reduce_max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    return _math.reduce_min(x, axis, keepdims)


def relu(x, alpha=0., max_value=None, threshold=0):
    """x above `threshold`, at most max_value; alpha * (x - threshold) below
    it."""
    x = convert_to_tensor(x)
    kind = x.dtype.base_dtype
    if alpha != 0:
        if max_value is None and threshold == 0:
            return _load_nn().leaky_relu(x, alpha=alpha)
        below = _raw.Relu(-x + threshold if threshold else -x)
    if threshold:
        above = x * _math.cast(x > threshold, kind)
    elif max_value == 6:
        above, max_value = _raw.Relu6(x), None
    else:
        above = _raw.Relu(x)
    if max_value is not None:
        most = _constant(max_value, kind)
        above = _clipping.clip_by_value(above, _constant(0., kind), most)
    if alpha != 0:
        above = above - _constant(alpha, kind) * below
    return above


def softmax(x, axis=-1):
    from_end = convert_to_tensor(x)
    return _load_nn().softmax(from_end, axis=axis)


def _load_nn():
    return _load("_src.nn.activations")


def dot(x, y):
    return _math.matmul(x, y)


def reshape(x, shape):
    return _array.reshape(x, shape)


def concatenate(tensors, axis=-1):
    return _array.concat(tensors, axis)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None,
                ragged=False):
    """A placeholder of the shape, or of `ndim` unknown dimensions; sparse: of a
    SparseTensor; ragged: of a RaggedTensor, all dimensions up to the last
    unknown one. ValueError for both."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when "
                         "creating a placeholder.")
    if not shape and ndim:
        shape = [None] * ndim
    dtype = dtypes.as_dtype(dtype or floatx())
    if sparse:
        return _load("_src.ops.sparse_tensor").sparse_placeholder(
            dtype, shape, name)
    if ragged:
        inner = [i for i, d in enumerate(shape) if i and d is None]
        ragged_rank = inner[-1] if inner else 0
        return _load("_src.ragged.ragged_factory").placeholder(
            dtype, ragged_rank, shape[ragged_rank + 1:], name)
    return _array.placeholder(dtype, shape, name)


def is_placeholder(x):
    """If x is a placeholder."""
    return getattr(getattr(x, "op", None), "type", None) == "Placeholder"


def is_keras_tensor(x):
    """If a layer made x. ValueError for what is no tensor."""
    if not hasattr(x, "dtype") or not (
            hasattr(x, "get_shape") or is_symbolic(x)):
        raise ValueError("Unexpectedly found an instance of type `%s`. "
                         "Expected a symbolic tensor instance." % type(x))
    if isinstance(x, EagerTensor):
        return False
    return key(x) in graph_state().history
