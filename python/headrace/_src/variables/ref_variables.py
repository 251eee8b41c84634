"""RefVariable: a variable that is a node, whose output is a reference."""
from headrace import raw_ops as _raw
from headrace._src.framework.graph import colocate_with, device
from headrace._src.variables.base import Variable, like_node, sparse_parts


class RefVariable(Variable):
    """A VariableV2 node; its output is a reference that Assign writes."""

    def _make(self, initial_value, dtype, scope, validate_shape,
              caching_device, shape):
        if callable(initial_value):
            with like_node(scope[:-1]):
                initial = self._initial_of_function(initial_value, dtype,
                                                    scope)
        else:
            initial = self._convert_initial(initial_value, dtype, scope)
        self._initial_value = initial
        if shape is None and validate_shape:
            shape = initial.get_shape()
        if validate_shape and not initial.get_shape().is_fully_defined():
            raise ValueError("initial_value must have a shape specified: "
                             "%s" % initial)
        self._node = _raw.VariableV2(
            shape=shape, dtype=initial.dtype.base_dtype, name=scope)
        self._initializer_op = _raw.Assign(
            self._node, self._guard(initial),
            validate_shape=validate_shape).op
        with (device(caching_device) if caching_device is not None
              else colocate_with(self._node.op)):
            self._snapshot = _raw.Identity(self._node, name="read")

    def _find_nodes(self, variable_def, find):
        self._node = find(variable_def.variable_name)
        self._snapshot = find(variable_def.snapshot_name)

    dtype = property(lambda self: self._node.dtype)

    def get_shape(self):
        return self._node.get_shape()

    def set_shape(self, shape):
        self._node.set_shape(shape)
        self._snapshot.set_shape(shape)

    def _initialized(self):
        return _raw.IsVariableInitialized(self._node)

    def value(self):
        """The value, as the node `read` gives it."""
        return self._snapshot

    def read_value(self):
        """The value, read by a new node under the scopes of the caller."""
        return _raw.Identity(self._node, name="read")

    def _as_graph_element(self):
        return self._node

    def _ref(self):
        """The reference, for ops that take one."""
        return self._node

    def _write(self, op, value, use_locking, name, read_value):
        written = op(self._node, value, use_locking=use_locking, name=name)
        return written if read_value else written.op

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """A tensor of the new value, which is computed by assigning it."""
        return self._write(_raw.Assign, value, use_locking, name, read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._write(_raw.AssignAdd, delta, use_locking, name,
                           read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._write(_raw.AssignSub, delta, use_locking, name,
                           read_value)

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        return _raw.StridedSliceAssign(self._node, begin, end, strides, value,
                                       name=name, **masks)

    def count_up_to(self, limit):
        return _raw.CountUpTo(self._node, limit=limit)

    def _scatter(self, op, slices, use_locking, name):
        return self._scatter_nd(op, *sparse_parts(slices), name, use_locking)

    def _scatter_nd(self, op, indices, updates, name, use_locking=True):
        return getattr(_raw, op)(self._node, indices, updates,
                                 use_locking=use_locking, name=name)
