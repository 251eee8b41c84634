"""What the package tensorflow-estimator takes from tensorflow.python beside its
interface."""
import types

from headrace._src.framework.graph import get_default_graph, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.keras.losses import reduced
from headrace._src.ops.math_ops import cast
from headrace._src.variables.base import Variable
from headrace._src.variables.strategies import loaded_strategies


class TFModuleWrapper(types.ModuleType):
    """The module itself: there are no warnings of deprecated names."""

    def __new__(cls, wrapped, *args, **kwargs):
        return wrapped


class BoolGauge:
    """Counts that TensorFlow's servers show; here none are kept."""

    def __init__(self, name, description, *labels):
        pass

    def get_cell(self, *labels):
        return self

    def set(self, value):
        pass


def hide_attribute_from_api(text):
    """An attribute whose use is an AttributeError with this text."""
    def refuse(self):
        raise AttributeError(text)
    return property(refuse)


def variable_to_proto(v, export_scope=None):
    """The VariableDef of a variable."""
    return v.to_proto(export_scope=export_scope)


def variable_from_proto(v, import_scope=None):
    """The variable of a VariableDef."""
    return Variable.from_proto(v, import_scope=import_scope)


class ReductionV2:
    """How the losses of examples become one number."""
    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key):
        """ValueError for another key."""
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


def compute_weighted_loss(losses, sample_weight=None,
                          reduction=ReductionV2.SUM_OVER_BATCH_SIZE, name=None):
    """losses * sample_weight as `reduction` says. ValueError for another."""
    ReductionV2.validate(reduction)
    with name_scope(name, "weighted_loss"):
        get_default_graph()._last_loss_reduction = reduction
        losses = convert_to_tensor(losses)
        return cast(reduced(losses, 1.0 if sample_weight is None
                            else sample_weight, reduction), losses.dtype)


def scale_loss_for_distribution(loss_value):
    """The loss, divided by the number of replicas, which add it up."""
    strategies = loaded_strategies()
    replicas = 1 if strategies is None else (
        strategies.get_strategy().num_replicas_in_sync)
    return loss_value * (1. / replicas) if replicas > 1 else loss_value
