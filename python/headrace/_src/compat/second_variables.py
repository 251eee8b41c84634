"""tf.compat.v2.Variable, DeviceSpec and the name scopes of tf.compat.v2."""
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import name_scope
from headrace._src.variables.base import Variable
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)


class _AnyVariable(type):
    """Its instances are all variables, and names of the class are those of
    tf.Variable."""

    def __call__(cls, *args, **kwargs):
        if cls is not SecondVariable:
            return super().__call__(*args, **kwargs)
        return Variable(**_arguments(*args, **kwargs))

    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is SecondVariable and isinstance(instance, Variable))

    def __subclasscheck__(cls, subclass):
        if cls is SecondVariable:
            return issubclass(subclass, Variable) or super().__subclasscheck__(
                subclass)
        return super().__subclasscheck__(subclass)

    def __getattr__(cls, name):
        return getattr(Variable, name)


def _arguments(initial_value=None, trainable=None, validate_shape=True,
               caching_device=None, name=None, variable_def=None, dtype=None,
               import_scope=None, constraint=None,
               synchronization=VariableSynchronization.AUTO,
               aggregation=VariableAggregation.NONE, shape=None):
    """What a Variable(...) that is a resource is called with."""
    return dict(locals(), use_resource=True)


class SecondVariable(metaclass=_AnyVariable):
    """tf.Variable, which is always a resource variable. It joins the collections
    GLOBAL_VARIABLES and, if `trainable`, TRAINABLE_VARIABLES."""

    def __init__(self, initial_value=None, trainable=None, validate_shape=True,
                 caching_device=None, name=None, variable_def=None, dtype=None,
                 import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO,
                 aggregation=VariableAggregation.NONE, shape=None):
        raise NotImplementedError("classes derived from tf.compat.v2.Variable "
                                  "are not supported")


class DeviceSpecV2(DeviceSpec):
    """tf.DeviceSpec, whose parts cannot be assigned to. replace() and
    make_merged_spec() give another one."""

    def __init__(self, job=None, replica=None, task=None, device_type=None,
                 device_index=None):
        mutable = DeviceSpec(job, replica, task, device_type, device_index)
        vars(self).update(vars(mutable))

    job = property(lambda self: self._job)
    replica = property(lambda self: self._replica)
    task = property(lambda self: self._task)
    device_type = property(lambda self: self._device_type)
    device_index = property(lambda self: self._device_index)

    @classmethod
    def from_string(cls, spec):
        """The DeviceSpec of a name as "/job:worker/task:1/device:CPU:0" or
        "/cpu:0". ValueError for an attribute that names have not."""
        return cls(**DeviceSpec.from_string(spec)._parts())

    def parse_from_string(self, spec):
        """As from_string, for this class."""
        return self.from_string(spec)


def keras_name_scope(name):
    """A scope of the names of nodes; "" is the outermost."""
    return name_scope(name)
