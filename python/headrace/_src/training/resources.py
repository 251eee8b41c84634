"""tensorflow.python.ops.resources: what makes resources at the start of a
program, and which of them were not made."""
import collections

from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, device, get_collection, get_default_graph, name_scope)
from headrace._src.framework.tensor import constant
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

_Resource = collections.namedtuple("_Resource",
                                   ["handle", "create", "is_initialized"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Notes what makes a resource: `create_op` at the start of a program,
    `is_initialized_op` tells whether it ran."""
    keys = GraphKeys
    get_default_graph().add_to_collection(
        keys.RESOURCES if is_shared else keys.LOCAL_RESOURCES,
        _Resource(handle, create_op, is_initialized_op))


def shared_resources():
    return get_collection(GraphKeys.RESOURCES)


def local_resources():
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(resource_list=None,
                                   name="report_uninitialized_resources"):
    """The names of the handles of resources that were not made: a vector of
    strings. All resources if none are given."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), device("/cpu:0"):
        if not resource_list:
            return constant([], dtypes.string)
        missing = _math.logical_not(
            _array.stack([r.is_initialized for r in resource_list]))
        names = constant([r.handle.name for r in resource_list])
        return _array.boolean_mask(names, missing)


def initialize_resources(resource_list, name="init"):
    """An operation that makes the resources."""
    if resource_list:
        return _flow.group(*[r.create for r in resource_list],
                                       name=name)
    return _array.no_op(name=name)
