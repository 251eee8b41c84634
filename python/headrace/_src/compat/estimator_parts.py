"""What the package tensorflow-estimator takes from tensorflow.python beside its
interface."""
import types

from headrace._src.framework.errors import UnimplementedError
from headrace._src.framework.graph import get_default_graph, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.keras.losses import reduced
from headrace._src.ops.math_ops import cast
from headrace._src.platform import tf_logging as logging
from headrace._src.training.global_step import get_or_create_read
from headrace._src.training.server_lib import ClusterSpec
from headrace._src.variables.base import Variable


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


def init_run_config(config, tf_config):
    """Reads the cluster of a RunConfig from `tf_config`, a dict as TF_CONFIG has
    it. UnimplementedError if a strategy of tf.distribute is set."""
    experimental = config._experimental_distribute
    if config._train_distribute or config._eval_distribute or (
            experimental and (experimental.train_distribute
                              or experimental.eval_distribute)):
        raise UnimplementedError(
            None, None, "RunConfig: strategies of tf.distribute are not "
            "supported; a cluster of TF_CONFIG with parameter servers is")
    ClusterSpec(tf_config.get("cluster", {}))  # its errors first
    config._distribute_coordinator_mode = None
    config._init_distributed_setting_from_environment_var(tf_config)
    config._maybe_overwrite_session_config_for_distributed_training()
    logging.info("Not using Distribute Coordinator.")


def should_run_distribute_coordinator(config):
    """False: there is none."""
    logging.info("Not using Distribute Coordinator.")
    return False


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
        losses = convert_to_tensor(losses)
        return cast(reduced(losses, 1.0 if sample_weight is None
                            else sample_weight, reduction), losses.dtype)


def scale_loss_for_distribution(loss_value):
    """The loss itself: there is one replica."""
    return loss_value
