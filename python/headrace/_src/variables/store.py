"""The variables of a graph that get_variable made."""
import functools
import inspect

from headrace._headrace import Tensor, executing_eagerly
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, get_default_graph, init_scope, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.variables import initializers as _init
from headrace._src.variables.partitions import (
    PartitionInfo, PartitionedVariable, call_partitioner, cut)
from headrace._src.variables.records import (
    SaveSliceInfo, VariableAggregation, VariableSynchronization,
    checked_modes)
from headrace._src.variables.variables import Variable


class VariableStore:
    """The variables of a graph that get_variable made, by name."""

    def __init__(self):
        self._vars = {}
        # While ops are executed eagerly, the variables belong to the program.
        self._is_eager = executing_eagerly()
        self._shares_all = False  # of an EagerVariableStore
        self._partitioned_vars = {}

    def get_variable(self, name, shape=None, dtype=dtypes.float32,
                     initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None,
                     partitioner=None, validate_shape=True, use_resource=None,
                     custom_getter=None, constraint=None,
                     synchronization=VariableSynchronization.AUTO,
                     aggregation=VariableAggregation.NONE):
        """The variable, or what a custom getter gives for it, which may ask for
        the variable by the function `getter`."""
        synchronization, aggregation, trainable = checked_modes(
            synchronization, aggregation, trainable, name)
        arguments = dict(
            name=name, shape=shape, dtype=getattr(dtype, "base_dtype", dtype),
            initializer=initializer, regularizer=regularizer, reuse=reuse,
            trainable=trainable, collections=collections,
            caching_device=caching_device, partitioner=partitioner,
            validate_shape=validate_shape, use_resource=use_resource,
            constraint=constraint, synchronization=synchronization,
            aggregation=aggregation)
        if custom_getter is None:
            return self._get(**arguments)
        if not callable(custom_getter):
            raise ValueError("Passed a custom_getter which is not callable: %s"
                             % (custom_getter,))
        if not _accepts(custom_getter, "constraint"):
            del arguments["constraint"]
        return custom_getter(getter=self._get, **arguments)

    def _get(self, name, shape=None, dtype=dtypes.float32, initializer=None,
             regularizer=None, reuse=None, trainable=None, collections=None,
             caching_device=None, partitioner=None, validate_shape=True,
             use_resource=None, constraint=None,
             synchronization=VariableSynchronization.AUTO,
             aggregation=VariableAggregation.NONE):
        arguments = dict(
            shape=shape, dtype=dtypes.as_dtype(dtype).base_dtype,
            initializer=initializer, regularizer=regularizer, reuse=reuse,
            trainable=trainable, collections=collections,
            caching_device=caching_device, validate_shape=validate_shape,
            use_resource=use_resource, constraint=constraint,
            synchronization=synchronization, aggregation=aggregation)
        is_scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError("Partitioner must be callable, but received: "
                                 "%s" % (partitioner,))
            with name_scope(None):
                return self.get_partitioned(name, partitioner=partitioner,
                                         **arguments)
        if reuse is True and partitioner is None and (
                name in self._partitioned_vars):
            return self.get_partitioned(name, partitioner=None, **arguments)
        if "%s/part_0" % name in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the "
                "variable was found: %s/part_0. Perhaps a variable of the same "
                "name was already created with partitioning?" % name)
        return self._single(name, **arguments)

    def get_partitioned(self, name, partitioner, shape, dtype, initializer,
                     reuse, **arguments):
        from_tensor = isinstance(initializer, Tensor)
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of "
                "the variable was found: %s.  Perhaps a variable of the same "
                "name was already created without partitioning?" % name)
        shape = TensorShape(shape)
        if from_tensor:
            shape = shape.merge_with(initializer.get_shape())
        slicing = None
        if not reuse or partitioner:
            slicing = call_partitioner(partitioner, shape, dtype)
        found = self._partitioned_vars.get(name)
        if found is not None:
            return self._reused(name, found, shape, dtype, slicing, reuse)
        if reuse is True:
            raise ValueError(
                "PartitionedVariable %s does not exist, or was not created "
                "with tf.get_variable(). Did you mean to set reuse=False or "
                "reuse=tf.AUTO_REUSE in VarScope?" % name)
        full = shape.as_list()
        slices = cut(full, slicing)
        self._check_slices(name, len(slices))
        parts = []
        for i, (offset, size) in enumerate(slices):
            part = "%s/part_%d" % (name, i)
            initial, part_shape = initializer, size
            if initializer is not None and not callable(initializer):
                with name_scope(part + "/PartitionedInitializer"):
                    initial = _array.slice(
                        initializer if from_tensor else
                        convert_to_tensor(initializer, dtype=dtype),
                        offset, size)
                dtype, part_shape = initial.dtype.base_dtype, None
            with name_scope(None):
                variable = self._single(
                    part, shape=part_shape, dtype=dtype, initializer=initial,
                    reuse=reuse, partition_info=PartitionInfo(full, offset),
                    **arguments)
            variable._set_save_slice_info(
                SaveSliceInfo(name, full, offset, size))
            parts.append(variable)
        self._partitioned_vars[name] = PartitionedVariable(
            name=name, shape=shape, dtype=dtype, variable_list=parts,
            partitions=slicing)
        return self._partitioned_vars[name]

    def _reused(self, name, found, shape, dtype, slicing, reuse):
        if reuse is False:
            raise ValueError(
                "Partitioned variable with name %s already exists. Did you "
                "mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
                % name)
        for what, wanted, has, fits in (
                ("shape", shape, found.get_shape(),
                 shape.is_compatible_with(found.get_shape())),
                ("dtype", dtype.name, found.dtype.name,
                 dtype.is_compatible_with(found.dtype)),
                ("partitions", slicing, found._get_partitions(),
                 slicing is None or slicing == found._get_partitions())):
            if not fits:
                raise ValueError(
                    "Trying to reuse partitioned variable %s, but specified %s "
                    "%s and found %s %s." % (name, what, wanted, what, has))
        return found

    def _check_slices(self, name, n):
        """Slices that are there already must be as many."""
        if name + "/part_0" not in self._vars:
            return
        message = ("Partitioner returned a different partitioning than what "
                   "was already found.  Partitioner returned %d shards, and "
                   "shard %s/part_0 was found, but " % (n, name))
        if "%s/part_%d" % (name, n - 1) not in self._vars:
            raise ValueError(message + "%s/part_%d was not." % (name, n - 1))
        if "%s/part_%d" % (name, n) in self._vars:
            raise ValueError(message + "so was the extra shard %s/part_%d."
                             % (name, n))

    def _single(self, name, shape, dtype, initializer, regularizer, reuse,
                partition_info=None, **arguments):
        given = initializer is not None and not callable(initializer)
        if given and shape is not None:
            raise ValueError("If initializer is a constant, do not specify "
                             "shape.")
        shape = TensorShape(shape)
        if self._shares_all or self._is_eager:
            reuse = None
        found = self._vars.get(name)
        if found is not None:
            if reuse is False:
                raise ValueError(
                    "Variable %s already exists, disallowed. Did you mean to "
                    "set reuse=True or reuse=tf.AUTO_REUSE in VarScope? "
                    "Originally defined at:\n\n%s" % (name, found.op.source))
            if not shape.is_compatible_with(found.get_shape()):
                raise ValueError(
                    "Trying to share variable %s, but specified shape %s and "
                    "found shape %s." % (name, shape, found.get_shape()))
            if not dtype.is_compatible_with(found.dtype):
                raise ValueError(
                    "Trying to share variable %s, but specified dtype %s and "
                    "found dtype %s." % (name, dtype.name, found.dtype.name))
            return found
        if reuse is True:
            raise ValueError(
                "Variable %s does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                "VarScope?" % name)
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        kind = None
        with init_scope():
            if not given:
                initializer, kind = _initial_value(
                    name, initializer, shape, dtype, partition_info)
        variable = Variable(initial_value=initializer, name=name, dtype=kind,
                            **arguments)
        if not self._is_eager:
            self._vars[name] = variable
        if regularizer:  # some programs pass an empty dict for none
            with colocate_with(None if self._is_eager else variable.op,
                               self._is_eager), \
                    name_scope(name + "/Regularizer/"), init_scope():
                loss = regularizer(variable)
            if loss is not None:
                get_default_graph().add_to_collection(
                    GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable


def _default_initializer(name, dtype):
    if dtype.is_floating:
        return _init.GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return _init.Zeros()
    raise ValueError("An initializer for variable %s of %s is required"
                     % (name, dtype))


def _initial_value(name, initializer, shape, dtype, partition_info):
    """(function of the initial value, its type or None): an initializer needs
    the shape, a function without arguments knows it."""
    if isinstance(initializer, type):
        initializer = initializer()
    if shape.is_fully_defined():
        options = dict(dtype=dtype)
        if _accepts(initializer, "partition_info"):
            options["partition_info"] = partition_info
        return (functools.partial(initializer, shape.as_list(), **options),
                dtype)
    if not _parameters(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no "
        "arguments and the shape should not be provided or an instance of "
        "`tf.keras.initializers.*' and `shape` should be fully defined. "
        "(variable %s, shape %s)" % (name, shape))


def _parameters(function):
    """The parameters of a function that have no default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in parameters if p.default is p.empty
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _accepts(function, name):
    """True if the function takes an argument of this name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(
        p.kind is p.VAR_KEYWORD for p in parameters.values())
