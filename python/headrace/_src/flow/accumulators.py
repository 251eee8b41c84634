"""Conditional accumulators: gradients added up by several steps."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import math_ops as _math


class ConditionalAccumulatorBase:
    """Adds gradients up until somebody takes their mean or sum."""

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = _dtypes.as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._ref = accumulator_ref

    accumulator_ref = property(lambda self: self._ref)
    name = property(lambda self: self._ref.op.name.split("/")[-1])
    dtype = property(lambda self: self._dtype)

    def _name(self, name, what):
        return name or "%s_%s" % (self.name, what)

    def _op(self, what):
        """The op that takes a handle, or a reference."""
        is_handle = self._ref.dtype == _dtypes.resource
        return getattr(_raw, ("Resource" if is_handle else "") + what)

    def num_accumulated(self, name=None):
        """How many gradients have come since the last take."""
        return self._op("AccumulatorNumAccumulated")(
            self._ref, name=self._name(name, "NumAccumulated"))

    def set_global_step(self, new_global_step, name=None):
        """Gradients of steps before this one are dropped."""
        return self._op("AccumulatorSetGlobalStep")(
            self._ref, _math.cast(new_global_step, _dtypes.int64), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of dense gradients."""

    def __init__(self, dtype, shape=None, shared_name=None,
                 name="conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, _raw.ResourceConditionalAccumulator(
            dtype=_dtypes.as_dtype(dtype), shape=TensorShape(shape),
            shared_name=shared_name or "", name=name,
            reduction_type=reduction_type))

    def apply_grad(self, grad, local_step=0, name=None):
        """Adds `grad` unless `local_step` is before the global step."""
        grad = convert_to_tensor(grad, self._dtype)
        if not self._shape.is_compatible_with(grad.get_shape()):
            raise ValueError("Shapes %s and %s are not compatible"
                             % (grad.get_shape(), self._shape))
        return self._op("AccumulatorApplyGradient")(
            self._ref, _math.cast(local_step, _dtypes.int64), grad, name=name)

    def take_grad(self, num_required, name=None):
        """The mean or sum of at least `num_required` gradients, as soon as they
        have come."""
        out = self._op("AccumulatorTakeGradient")(
            self._ref, num_required, dtype=self._dtype, name=name)
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of sparse gradients: rows with their indices."""

    def __init__(self, dtype, shape=None, shared_name=None,
                 name="sparse_conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, _raw.SparseConditionalAccumulator(
            dtype=_dtypes.as_dtype(dtype), shape=TensorShape(shape),
            shared_name=shared_name or "", name=name,
            reduction_type=reduction_type))

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """Adds the rows of `grad`, an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape,
                               local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None,
                   local_step=0, name=None):
        """Adds rows `grad_values` at `grad_indices` unless `local_step` is
        before the global step."""
        known = grad_shape is not None
        return _raw.SparseAccumulatorApplyGradient(
            self._ref, _math.cast(local_step, _dtypes.int64),
            _math.cast(grad_indices, _dtypes.int64),
            convert_to_tensor(grad_values, self._dtype),
            _math.cast(grad_shape if known else [], _dtypes.int64),
            has_known_shape=known, name=name)

    def take_indexed_slices_grad(self, num_required, name=None):
        """take_grad as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)

    def take_grad(self, num_required, name=None):
        """(indices, values, shape) of at least `num_required` gradients."""
        return _raw.SparseAccumulatorTakeGradient(
            self._ref, num_required, dtype=self._dtype, name=name)
