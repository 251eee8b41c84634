"""PartitionedVariable: a variable in slices along one axis, each a variable of
its own; and how shapes are cut."""
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array


class PartitionInfo:
    """Where a slice lies in the whole, for initializers."""

    def __init__(self, full_shape, var_offset):
        for what, value in (("full_shape", full_shape),
                            ("var_offset", var_offset)):
            if not isinstance(value, (list, tuple)):
                raise TypeError("`%s` must be a sequence (like tuple or list) "
                                "instead of %s" % (what, type(value).__name__))
        if len(var_offset) != len(full_shape):
            raise ValueError(
                "Expected equal length, but `var_offset` is of length %d while "
                "full_shape is of length %d."
                % (len(var_offset), len(full_shape)))
        for offset, size in zip(var_offset, full_shape):
            if not 0 <= offset < size:
                raise ValueError(
                    "Expected 0 <= offset < shape but found offset=%s, "
                    "shape=%s for var_offset=%s, full_shape=%s"
                    % (offset, size, var_offset, full_shape))
        self._full_shape = full_shape
        self._var_offset = var_offset

    full_shape = property(lambda self: self._full_shape)
    var_offset = property(lambda self: self._var_offset)

    def single_offset(self, shape):
        """The offset of a slice of this shape along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape):
        """The axis along which a slice of this shape is cut, or None."""
        if not isinstance(shape, (list, tuple)):
            raise TypeError("`shape` must be a sequence (like tuple or list) "
                            "instead of %s" % type(shape).__name__)
        if len(shape) != len(self._full_shape):
            raise ValueError(
                "Expected equal length, but received shape=%s of length %d "
                "while self.full_shape=%s is of length %d." % (
                    shape, len(shape), self._full_shape,
                    len(self._full_shape)))
        cut = []
        for axis, (offset, size, full) in enumerate(
                zip(self._var_offset, shape, self._full_shape)):
            if offset + size > full:
                raise ValueError(
                    "With self.var_offset=%s, a partition of shape=%s would "
                    "exceed self.full_shape=%s in dimension %d."
                    % (self._var_offset, shape, self._full_shape, axis))
            if size != full:
                cut.append(axis)
        if len(cut) > 1:
            raise ValueError(
                "Cannot use single_slice_dim() with shape=%s and "
                "self.full_shape=%s since slice dim could be either dimension "
                "%d or %d." % (shape, self._full_shape, cut[1], cut[0]))
        return cut[0] if cut else None


def call_partitioner(partitioner, shape, dtype):
    """The numbers of slices along each axis, of which at most one may be more
    than 1. ValueError for what a partitioner may not return."""
    if not shape.is_fully_defined():
        raise ValueError("Shape of a new partitioned variable must be fully "
                         "defined, but instead was %s." % (shape,))
    if shape.ndims < 1:
        raise ValueError("A partitioned Variable must have rank at least 1, "
                         "shape: %s" % shape)
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, (list, tuple)):
        raise ValueError("Partitioner must return a sequence, but saw: %s"
                         % slicing)
    if len(slicing) != shape.ndims:
        raise ValueError("Partitioner returned a partition list that does not "
                         "match the Variable's rank: %s vs. %s"
                         % (slicing, shape))
    if any(p < 1 for p in slicing):
        raise ValueError("Partitioner returned zero partitions for some axes: "
                         "%s" % slicing)
    if sum(p > 1 for p in slicing) > 1:
        raise ValueError("Can only slice a variable along one dimension: "
                         "shape: %s, partitioning: %s" % (shape, slicing))
    return slicing


def cut(shape, slicing):
    """[(offset, shape)] of the slices of a whole of `shape`. Those that come
    first have what is over of the axis' size."""
    axis = next((i for i, n in enumerate(slicing) if n > 1), 0)
    least, over = divmod(shape[axis], slicing[axis])
    slices, at = [], 0
    for i in range(slicing[axis]):
        size = least + (i < over)
        slices.append(([0] * axis + [at] + [0] * (len(shape) - axis - 1),
                       shape[:axis] + [size] + shape[axis + 1:]))
        at += size
    return slices


class PartitionedVariable:
    """Variables that are the slices of one of `shape`. As a tensor it is the
    whole; iterating gives the slices in order."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError("variable_list is not a list or tuple: %s"
                            % (variable_list,))
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions is not a list or tuple: %s"
                            % (partitions,))
        if not all(p >= 1 for p in partitions):
            raise ValueError("partition values must be positive: %s"
                             % (partitions,))
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        infos = [v._get_save_slice_info() for v in variable_list]
        if any(info is None for info in infos):
            raise ValueError("All variables must have a save_slice_info "
                             "available: %s" % [v.name for v in variable_list])
        dims = TensorShape(shape).as_list()
        if len(dims) != len(partitions):
            raise ValueError("len(shape) != len(partitions): %s vs. %s"
                             % (shape, partitions))
        for info in infos:
            if info.full_shape != dims:
                raise ValueError(
                    "All variables' full shapes must match shape: %s; but full "
                    "shapes were: %s" % (shape, [info.full_shape]))
        self._variable_list = sorted(
            variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    graph = property(lambda self: self._variable_list[0].graph)

    def get_shape(self):
        return self._shape

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _partition_axes(self):
        return [i for i, n in enumerate(self._partitions) if n > 1] or [0]

    def _one_axis(self, what):
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                "Cannot %s along more than one dimension: %s."
                % (what, axes))
        return axes[0]

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError("Cannot get a length for %d > 1 partition axes"
                             % len(axes))
        return len(self._variable_list)

    def as_tensor(self):
        """The whole, joined by new nodes."""
        with control_dependencies(None):
            joined = self._variable_list[0]
            if len(self._variable_list) > 1:
                axis = self._one_axis("concatenate")
                with name_scope(self._name + "/ConcatPartitions/"):
                    joined = _array.concat(self._variable_list, axis)
            with name_scope(None):
                return _array.identity(joined, name=self._name)

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(self._dtype):
            raise ValueError(
                "Incompatible type conversion requested to type '%s' for "
                "variable of type '%s'" % (dtype.name, self._dtype.name))
        if as_ref:
            raise NotImplementedError("PartitionedVariable doesn't support "
                                      "being used as a reference.")
        return self.as_tensor()

    def _assign_parts(self, method, value, use_locking, name, read_value):
        axis = self._one_axis("do assign action")
        if isinstance(value, PartitionedVariable):
            value = list(value)
        elif not isinstance(value, list):
            value = _array.split(value, [
                v.get_shape()[axis].value for v in self._variable_list],
                axis=axis)
        if len(value) != len(self._variable_list):
            raise ValueError("%s: %d values for the %d slices of %s" % (
                method, len(value), len(self._variable_list), self._name))
        done = [getattr(v, method)(part, use_locking=use_locking, name=name,
                                   read_value=read_value)
                for v, part in zip(self._variable_list, value)]
        return done if read_value else [getattr(d, "op", d) for d in done]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Gives each slice its part of `value`: a list of the results."""
        return self._assign_parts("assign", value, use_locking, name,
                                  read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        return self._assign_parts("assign_add", value, use_locking, name,
                                  read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        return self._assign_parts("assign_sub", value, use_locking, name,
                                  read_value)
