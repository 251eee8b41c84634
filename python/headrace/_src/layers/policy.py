"""tf.keras.mixed_precision.experimental: the types in which layers compute and
keep their weights."""
import contextlib

from headrace._loading import load as _load
from headrace._src.framework import dtypes
from headrace._src.layers import backend
from headrace._src.platform import tf_logging as _logging

_DEFAULT = "USE_DEFAULT"
_SUFFIX = "_with_float32_vars"


class _State:
    policy = None             # that set_policy set
    second_behavior = None    # whether layers have the types of TensorFlow 2
    graph_is_rewritten = False


_state = _State()


def enable_v2_dtype_behavior():
    """Layers have the type of backend.floatx() by default, and cast their inputs
    to it, as in TensorFlow 2."""
    _state.second_behavior = True


def disable_v2_dtype_behavior():
    """Layers take the type of their first inputs, as in TensorFlow 1."""
    _state.second_behavior = False


def v2_dtype_behavior_enabled():
    """Which of both is so."""
    return bool(_state.second_behavior)


def set_v2_dtype_behavior(enabled):
    """Sets it, and returns what it was."""
    outer, _state.second_behavior = _state.second_behavior, enabled
    return outer


def _types_of(name):
    """(the type to compute in, the type of weights), None where the inputs say
    it. ValueError for another name."""
    if name in ("mixed_float16", "mixed_bfloat16"):
        return name[len("mixed_"):], "float32"
    has_floats = name.endswith(_SUFFIX)
    base = name[:-len(_SUFFIX)] if has_floats else name
    if base == "infer":
        compute = None
    else:
        try:
            compute = dtypes.as_dtype(base).name
        except TypeError:
            text = ("Cannot convert value %s to a mixed precision Policy. Valid "
                    "policies include include those in the form \"<dtype>\" and "
                    "\"<dtype>_with_float32_vars\", where <dtype> is the name "
                    "of a dtype." % name)
            if has_floats:
                text += (" The value %s ends with _with_float32_vars, but %s "
                         "cannot be converted to a DType" % (name, base))
            raise ValueError(text) from None
    return compute, "float32" if has_floats else compute


class Policy:
    """The types of a layer. `name`: a dtype; "T_with_float32_vars" to compute in
    T with weights of float32; "mixed_float16" or "mixed_bfloat16" for these;
    "infer" to take the type of the first input. `loss_scale`: by which a model
    scales its loss, see tf.train.experimental.LossScale; "dynamic" by default
    for "mixed_float16", else None. Shapes do not matter. TypeError if the name
    is no string, ValueError for another name or scale."""

    def __init__(self, name, loss_scale=_DEFAULT):
        if isinstance(name, dtypes.DType):
            raise TypeError("'name' must be a string, not a DType. Instead, "
                            "pass DType.name. Got: %s" % name.name)
        if not isinstance(name, str):
            raise TypeError("'name' must be a string, but got: %s" % (name,))
        name = {"infer_float32_vars": "infer" + _SUFFIX,
                "float32" + _SUFFIX: "float32"}.get(name, name)
        self._name = name
        self._compute_dtype, self._variable_dtype = _types_of(name)
        if loss_scale is _DEFAULT or loss_scale == _DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        if loss_scale and self._compute_dtype not in (None, "float16"):
            _logging.warning(
                "Policy %s: loss_scale=%r is of use for float16 only"
                % (name, loss_scale))
        self._loss_scale = None if loss_scale is None else _load(
            "_src.training.loss_scale").get_loss_scale(loss_scale)

    variable_dtype = property(lambda self: self._variable_dtype)
    compute_dtype = property(lambda self: self._compute_dtype)
    name = property(lambda self: self._name)
    loss_scale = property(lambda self: self._loss_scale)

    @property
    def should_cast_variables(self):
        """Whether weights are cast to the type of the computation."""
        return self._variable_dtype != self._compute_dtype

    def __repr__(self):
        return '<Policy "%s", loss_scale=%s>' % (self._name, self.loss_scale)


def with_input_dtype(policy, dtype):
    """The policy that an "infer" policy becomes by the first input's type."""
    return Policy(dtypes.as_dtype(dtype).name + (
        "" if policy.variable_dtype is None else _SUFFIX))


def global_policy():
    """The Policy of layers that are made without one: what set_policy set, or
    "infer". Shapes and dtypes of tensors do not matter, and nothing is
    raised."""
    if _state.policy is not None:
        return _state.policy
    return Policy(backend.floatx() if v2_dtype_behavior_enabled() else "infer")


def policy_of(dtype):
    """The Policy that a layer's argument `dtype` asks for: a Policy, a dtype or
    None."""
    if isinstance(dtype, Policy):
        return dtype
    return global_policy() if dtype is None else Policy(
        dtypes.as_dtype(dtype).name)


def set_policy(policy):
    """Sets global_policy(): a Policy, a name or None. Shapes do not matter.
    ValueError for a policy with a dtype, which only layers with the behavior
    of TensorFlow 2 can have by default (pass it to layers as `dtype`), and
    after enable_mixed_precision_graph_rewrite."""
    if _state.graph_is_rewritten:
        raise ValueError(
            "The mixed precision policy cannot be set, because the mixed "
            "precision graph rewrite has already been enabled. Call only one of "
            "tf.train.experimental.enable_mixed_precision_graph_rewrite() and "
            "tf.keras.mixed_precision.experimental.set_policy()")
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy and policy.compute_dtype and not v2_dtype_behavior_enabled():
        raise ValueError("The global policy can only be set to a non-infer "
                         "policy in TensorFlow 2")
    _state.policy = policy


def begin_graph_rewrite():
    """Notes that graphs are to be rewritten. ValueError after set_policy."""
    if _state.policy is not None:
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because a "
            "keras mixed precision Policy has been set. Call only one of "
            "tf.keras.mixed_precision.experimental.set_policy() and "
            "tf.train.experimental.enable_mixed_precision_graph_rewrite()")
    _state.graph_is_rewritten = True


def end_graph_rewrite():
    _state.graph_is_rewritten = False


@contextlib.contextmanager
def policy_scope(policy):
    """set_policy(policy) for a while."""
    outer = _state.policy
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(outer)
