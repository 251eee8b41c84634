"""What a variable says of itself beside its value: how replicas treat it, and
which slice of a larger variable it is. A VariableDef records both."""
import enum
import re

from headrace._src.framework import messages


class VariableSynchronization(enum.Enum):
    """When replicas of a variable are made equal."""
    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the values of a variable's replicas become one."""
    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def checked_modes(synchronization, aggregation, trainable, name):
    """(synchronization, aggregation, trainable) with defaults for None.
    ValueError for what is none of them."""
    aggregation = _mode(VariableAggregation.NONE, aggregation, "aggregation",
                        name)
    synchronization = _mode(VariableSynchronization.AUTO, synchronization,
                            "synchronization", name)
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def _mode(default, value, what, name):
    """`value` as one of the kind that `default` is."""
    if value is None:
        return default
    try:
        return type(default)(value)
    except ValueError:
        raise ValueError("Invalid variable %s mode: %s for variable: %s"
                         % (what, value, name)) from None


def without_scope(name, scope):
    """`name` as it is called inside of `scope`, which may be None."""
    if not scope:
        return name
    return re.sub(r"([\^]|loc:@|^)%s/+(.*)" % re.escape(scope.rstrip("/")),
                  r"\1\2", name, count=1)


def under_scope(name, scope):
    """`name` moved into `scope`, which may be None."""
    if not scope:
        return name
    mark = re.match(r"[\^]|loc:@|", name).group()
    return "%s%s/%s" % (mark, scope.rstrip("/"), name[len(mark):])


class SaveSliceInfo:
    """The slice of a larger variable that a variable is, for checkpoints."""

    def __init__(self, full_name=None, full_shape=None, var_offset=None,
                 var_shape=None, save_slice_info_def=None, import_scope=None):
        if save_slice_info_def is not None:
            full_name = under_scope(save_slice_info_def.full_name,
                                    import_scope)
            full_shape = list(save_slice_info_def.full_shape)
            var_offset = list(save_slice_info_def.var_offset)
            var_shape = list(save_slice_info_def.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self):
        """As checkpoints spell a slice: "4 6 0,2:0,6"."""
        return "%s %s" % (" ".join("%d" % d for d in self.full_shape), ":".join(
            "%d,%d" % part for part in zip(self.var_offset, self.var_shape)))

    def to_proto(self, export_scope=None):
        """The SaveSliceInfoDef, or None for what lies outside of the scope."""
        if export_scope is not None and not self.full_name.startswith(
                export_scope):
            return None
        return messages.SaveSliceInfoDef(
            full_name=without_scope(self.full_name, export_scope),
            full_shape=self.full_shape, var_offset=self.var_offset,
            var_shape=self.var_shape)
