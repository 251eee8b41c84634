"""tf.contrib.framework: variables of models, and how to find them."""
import functools
import re

from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.framework import dtypes
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection)
from headrace._src.framework.graph import device as _device
from headrace._src.ops import array_ops as _array
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.scopes import (
    VariableScope, get_variable, get_variable_scope)
from headrace._src.variables.variables import Variable


@add_arg_scope
def variable(name, shape=None, dtype=None, initializer=None, regularizer=None,
             trainable=True, collections=None, caching_device=None,
             device=None, partitioner=None, custom_getter=None,
             use_resource=None, synchronization=VariableSynchronization.AUTO,
             aggregation=VariableAggregation.NONE):
    """get_variable, or what `custom_getter` gives, on a device."""
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else (
        list(dict.fromkeys(collections)))
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter,
                                   reuse=get_variable_scope().reuse)
    with _device(device or ""):
        return getter(
            name, shape=shape, dtype=dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable, collections=keys,
            caching_device=caching_device, partitioner=partitioner,
            use_resource=use_resource, synchronization=synchronization,
            aggregation=aggregation)


@add_arg_scope
def model_variable(name, shape=None, dtype=dtypes.float32, initializer=None,
                   regularizer=None, trainable=True, collections=None,
                   caching_device=None, device=None, partitioner=None,
                   custom_getter=None, use_resource=None,
                   synchronization=VariableSynchronization.AUTO,
                   aggregation=VariableAggregation.NONE):
    """`variable` that joins MODEL_VARIABLES too."""
    keys = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES,
                                      GraphKeys.MODEL_VARIABLES]
    return variable(
        name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=keys,
        caching_device=caching_device, device=device, partitioner=partitioner,
        custom_getter=custom_getter, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation)


def model_getter(rename):
    """A custom getter that makes model variables, with other last names."""
    def get(getter, name, *args, **kwargs):
        scope, slash, last = name.rpartition("/")
        return model_variable(
            scope + slash + rename.get(last, last), custom_getter=getter,
            **{k: kwargs.get(k) for k in (
                "shape", "initializer", "regularizer", "collections",
                "caching_device", "partitioner", "use_resource")},
            dtype=kwargs.get("dtype") or dtypes.float32,
            trainable=kwargs.get("trainable", True))
    return get


def local_variable(initial_value, validate_shape=True, name=None,
                   use_resource=None):
    """A variable of LOCAL_VARIABLES, which does not train."""
    return Variable(initial_value, trainable=False, name=name,
                    collections=[GraphKeys.LOCAL_VARIABLES],
                    validate_shape=validate_shape, use_resource=use_resource)


def global_variable(initial_value, validate_shape=True, name=None,
                    use_resource=None):
    """A variable of GLOBAL_VARIABLES, which does not train."""
    return Variable(initial_value, trainable=False, name=name,
                    collections=[GraphKeys.GLOBAL_VARIABLES],
                    validate_shape=validate_shape, use_resource=use_resource)


def add_model_variable(var):
    """Adds to MODEL_VARIABLES what is not in there."""
    if all(var is not v for v in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None,
                  collection=GraphKeys.GLOBAL_VARIABLES):
    """The variables whose names begin with `scope` (a VariableScope or a
    regular expression) and end with `suffix`."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "") + ".*" + suffix + ("" if ":" in suffix else ":")
    return get_collection(collection, scope)


def get_model_variables(scope=None, suffix=None):
    """The model variables in a scope, whose names end with `suffix` if it is
    given.

    A list of Variables of any shape and dtype. `scope` may be a VariableScope.
    TypeError for another kind of scope."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    """The variables whose names end with /given_name."""
    return get_variables(
        scope=scope, suffix="/" + given_name + ":|^" + given_name + ":")


def get_unique_variable(var_op_name):
    """The variable of exactly this name. ValueError if there is none."""
    found = get_variables(scope=var_op_name)
    if not found:
        raise ValueError("Couldn't find variable %s" % var_op_name)
    for candidate in found:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError("Variable %s does not uniquely identify a variable"
                     % var_op_name)


def get_variables_to_restore(include=None, exclude=None):
    """The variables of the scopes `include` (all by default) without those of
    the scopes `exclude`."""
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError("%s is provided but is not a list or a tuple."
                            % name)
    kept = get_variables() if include is None else [
        v for scope in include for v in get_variables(scope)]
    left = {id(v) for scope in exclude or [] for v in get_variables(scope)}
    return [v for v in kept if id(v) not in left]


def filter_variables(var_list, include_patterns=None, exclude_patterns=None,
                     reg_search=True):
    """The variables with a name that one of include_patterns matches (all by
    default) and none of exclude_patterns does. reg_search False: patterns
    match at the beginning."""
    match = re.search if reg_search else re.match

    def named(v, patterns):
        return any(match(p, v.name) for p in patterns)
    return [v for v in var_list
            if (include_patterns is None or named(v, include_patterns))
            and not named(v, exclude_patterns or [])]


class VariableDeviceChooser:
    """A device for each op that it is called with: num_tasks parameter servers
    in turn, or without any a device of this process."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU",
                 device_index=0, replica=None):
        self._num_tasks = num_tasks
        self._job_name = job_name
        self._local = dict(device_type=device_type, device_index=device_index,
                           replica=replica)
        self._next_task = 0

    def __call__(self, op):
        if self._num_tasks <= 0:
            return DeviceSpec(**self._local).to_string()
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return DeviceSpec(job=self._job_name, task=task,
                          **self._local).to_string()


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Gives a variable of get_variable, of a known shape and any dtype of numbers,
    zeros, and returns it as it then is. ValueError for a resource variable."""
    if getattr(ref, "_is_resource", False):
        raise ValueError("zero_initializer: %s is a resource variable; run its "
                         "initializer" % ref.name)
    return ref.assign(_array.zeros(ref.get_shape(), ref.dtype.base_dtype),
                      use_locking=use_locking, name=name)
