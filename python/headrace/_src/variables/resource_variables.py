"""ResourceVariable: a variable that is a handle, read and written by nodes of
its own."""
import contextlib
import inspect

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, device, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.base import Variable, like_node, sparse_parts


class ResourceVariable(Variable):
    """A VarHandleOp node; read and written by ops that take its handle."""

    _is_resource = True
    __signature__ = inspect.signature(lambda initial_value=None, trainable=None,
                                      collections=None, validate_shape=True,
                                      caching_device=None, name=None,
                                      dtype=None, variable_def=None,
                                      import_scope=None, constraint=None,
                                      distribute_strategy=None,
                                      synchronization=None, aggregation=None,
                                      shape=None: None)

    def _make(self, initial_value, dtype, scope, validate_shape,
              caching_device, shape):
        with like_node(scope[:-1]):
            initial = self._initial_of_function(initial_value, dtype, scope)
            if shape is None:
                shape = initial.get_shape()
            elif not initial.get_shape().is_compatible_with(shape):
                raise ValueError(
                    "The initial value's shape (%s) is not compatible with "
                    "the explicitly supplied `shape` argument (%s)."
                    % (initial.get_shape(), shape))
            self._initial_value = initial
            self._dtype = initial.dtype.base_dtype
            self._shape = TensorShape(shape)
            self._node = _raw.VarHandleOp(
                dtype=self._dtype, shape=self._shape,
                shared_name=scope[:-1], name=scope)
        with name_scope("IsInitialized"):
            self._is_initialized_op = self.is_initialized()
        with name_scope("Assign") as assign_scope, self._beside_handle():
            self._initializer_op = _raw.AssignVariableOp(
                self._node, self._guard(initial), name=assign_scope)
        with name_scope("Read"):
            with device(self._node.device):
                self._graph_element = self._snapshot = self._read()
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), \
                        device(caching_device):
                    self._snapshot = _raw.Identity(self._graph_element)

    def _find_nodes(self, variable_def, find):
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        self._node = find(variable_def.variable_name)
        self._shape = TensorShape(self._node.op._attr("shape"))
        self._dtype = dtypes.as_dtype(self._node.op.get_attr("dtype"))
        if variable_def.snapshot_name:
            read = find(variable_def.snapshot_name)
        else:
            read = self.graph.get_tensor_by_name(
                self._node.op.name + "/Read/ReadVariableOp:0")
        self._snapshot = read
        while read.op.type != "ReadVariableOp":
            read = read.op.inputs[0]
        self._graph_element = read

    name = property(lambda self: self._node.op.name + ":0")
    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._node)
    create = property(lambda self: self._initializer_op)

    @contextlib.contextmanager
    def _beside_handle(self):
        """New nodes go to the device of the handle."""
        with colocate_with(None, ignore_existing=True), \
                device(self._node.device):
            yield

    def get_shape(self):
        return TensorShape(self._shape)

    def set_shape(self, shape):
        raise NotImplementedError(
            "ResourceVariable does not implement set_shape()")

    def _read(self, name=None):
        value = _raw.ReadVariableOp(self._node, dtype=self._dtype, name=name)
        value.set_shape(self._shape)
        return value

    def is_initialized(self, name=None):
        return _raw.VarIsInitializedOp(self._node, name=name)

    def _initialized(self):
        return self.is_initialized()

    def value(self):
        """The value, read by a new node, or as the caching device has it."""
        if self._snapshot is not self._graph_element:
            return self._snapshot
        with self._beside_handle():
            return self._read()

    def read_value(self):
        with name_scope("Read"), device(self._node.device):
            value = self._read()
        return _raw.Identity(value)

    def _as_graph_element(self):
        return self._graph_element

    def sparse_read(self, indices, name=None):
        """Rows of the value, without reading all of it."""
        with name_scope("Gather" if name is None else name) as scope:
            rows = _raw.ResourceGather(self._node, indices,
                                       dtype=self._dtype, name=scope)
        return _raw.Identity(rows)

    def gather_nd(self, indices, name=None):
        """What stands at index vectors, without reading all of the value."""
        with name_scope("GatherNd" if name is None else name) as scope:
            found = _raw.ResourceGatherNd(self._node, indices,
                                          dtype=self._dtype, name=scope)
        return _raw.Identity(found)

    def _after_cached_read(self):
        """The cached value is read before the variable changes."""
        if self._snapshot is self._graph_element:
            return contextlib.nullcontext()
        return control_dependencies([self._snapshot])

    def _written(self, op):
        return _WrittenVariable._of(self, op)

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """The variable as it is after the value was assigned."""
        value = convert_to_tensor(value, dtype=self._dtype)
        self._shape.assert_is_compatible_with(value.get_shape())
        op = _raw.AssignVariableOp(self._node, value, name=name)
        return self._written(op) if read_value else op

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        return self._update(_raw.AssignAddVariableOp, delta, name, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        return self._update(_raw.AssignSubVariableOp, delta, name, read_value)

    def _update(self, update, delta, name, read_value):
        delta = convert_to_tensor(delta, dtype=self._dtype)
        self._shape.assert_is_compatible_with(delta.get_shape())
        with self._after_cached_read():
            op = update(self._node, delta, name=name)
        return self._written(op) if read_value else op

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        with self._after_cached_read():
            return self._written(_raw.ResourceStridedSliceAssign(
                self._node, begin, end, strides,
                convert_to_tensor(value, dtype=self._dtype), name=name,
                **masks))

    def count_up_to(self, limit):
        return _raw.ResourceCountUpTo(self._node, limit=limit, T=self._dtype)

    def _scatter(self, op, slices, use_locking, name):
        return self._scatter_rows(op, *sparse_parts(slices), name)

    def _scatter_rows(self, op, indices, updates, name):
        return self._written(getattr(_raw, "Resource" + op)(
            self._node, indices, convert_to_tensor(updates, self._dtype),
            name=name))

    _scatter_nd = _scatter_rows


class _WrittenVariable(ResourceVariable):
    """A resource variable as it is after `op` has changed it: what reads it
    waits for that."""

    @staticmethod
    def _of(variable, op):
        written = _WrittenVariable.__new__(_WrittenVariable)
        written.__dict__.update(variable.__dict__)
        # It stands for no copy of a variable of several devices.
        written.__dict__.pop("_distributed_container", None)
        written._written_by = op
        with control_dependencies([op]):
            read = variable._read()
        written._graph_element = written._snapshot = read
        return written

    name = property(lambda self: self._written_by.name)
    op = property(lambda self: self._written_by)

    def _read(self, name=None):
        with control_dependencies([self._written_by]):
            return super()._read(name)

    def read_value(self):
        return self._read()

    def sparse_read(self, indices, name=None):
        with control_dependencies([self._written_by]):
            return super().sparse_read(indices, name)

    def gather_nd(self, indices, name=None):
        with control_dependencies([self._written_by]):
            return super().gather_nd(indices, name)


def _refuse_updates():
    def refuse(sign):
        def operator(self, other):
            if sign in "+-" and hasattr(self, "_unique_id"):
                raise RuntimeError(
                    "Variable %s= value not supported. Use "
                    "variable.assign_%s(value) to modify the variable value "
                    "and variable = variable %s value to get a new Tensor "
                    "object." % (sign, "add" if sign == "+" else "sub", sign))
            raise RuntimeError(
                "Variable %s= value not supported. Use `var.assign(var %s "
                "value)` to modify the variable or `var = var %s value` to get "
                "a new Tensor object." % (sign, sign, sign))
        return operator
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"),
                       ("truediv", "/"), ("pow", "**")):
        setattr(ResourceVariable, "__i%s__" % name, refuse(sign))


_refuse_updates()
