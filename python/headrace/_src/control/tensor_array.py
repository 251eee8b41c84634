"""TensorArray: an array of tensors that a graph writes and reads by index.

The array is state behind a handle. `flow` is a scalar that orders reads and
writes: every write takes the flow before it and gives the flow after it. Methods
that write return a new object with the new flow, which must be used from then on.
A loop or a branch passes the array on as its flow.
"""
import inspect

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class TensorArray:
    """An array of `size` tensors of type `dtype`; an index can be written
    once, and read once unless clear_after_read=False. With `dynamic_size` it
    grows as it is written."""

    def __new__(cls, *args, **kwargs):
        if cls is TensorArray and executing_eagerly():
            cls = load("_src.eager.control").EagerTensorArray
        return super().__new__(cls)

    def __init__(self, dtype, size=None, dynamic_size=None,
                 clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None,
                 colocate_with_first_write_call=True, name=None):
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot construct with both handle and "
                             "tensor_array_name")
        if handle is not None and size is not None:
            raise ValueError("Cannot provide both a handle and size at the "
                             "same time")
        if handle is None and size is None:
            raise ValueError("Must provide a size or a handle")
        if handle is not None and dynamic_size is not None:
            raise ValueError("Cannot provide both a handle and dynamic_size "
                             "to the constructor")
        if handle is not None and clear_after_read is not None:
            raise ValueError("Cannot provide both a handle and "
                             "clear_after_read to the constructor")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        # Shared by all objects over one array: the shape of its elements.
        self._element = [TensorShape(element_shape)]
        with _graph.name_scope(name, "TensorArray", [handle, size, flow]) as \
                scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not "
                                     "None.")
                self._handle, self._flow = handle, flow
                return
            self._handle, self._flow = _raw.TensorArrayV3(
                size, dtype=self._dtype, element_shape=element_shape,
                identical_element_shapes=bool(infer_shape),
                dynamic_size=self._dynamic_size,
                clear_after_read=(True if clear_after_read is None
                                  else clear_after_read),
                tensor_array_name=tensor_array_name or "", name=scope)

    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._handle)
    flow = property(lambda self: self._flow)
    dynamic_size = property(lambda self: self._dynamic_size)
    element_shape = property(lambda self: self._element[0])

    def _with_flow(self, flow):
        """The same array after what `flow` stands for."""
        other = object.__new__(TensorArray)
        other.__dict__.update(self.__dict__)
        other._flow = flow
        return other

    def _flow_components(self):
        return [self._flow]

    def _from_flow_components(self, components):
        return self._with_flow(components[0])

    @staticmethod
    def _flow_invariants(shape):
        return [TensorShape([])]

    def identity(self):
        return self._with_flow(_raw.Identity(self._flow))

    def grad(self, source, flow=None, name=None):
        """The array of gradients that `source` names."""
        if flow is None:
            flow = self._flow
        with _graph.name_scope(name, "TensorArrayGrad", [self._handle]):
            handle, _ = _raw.TensorArrayGradV3(self._handle, flow,
                                               source=source)
            with _graph.control_dependencies([handle]):
                flow = _raw.Identity(flow, name="gradient_flow")
            grad = TensorArray(self._dtype, handle=handle, flow=flow,
                               infer_shape=self._infer_shape)
            grad._element = [self._element[0]]
            return grad

    def _merge_shape(self, shape):
        if not self._infer_shape:
            return
        if not self._element[0].is_compatible_with(shape):
            raise ValueError("Inconsistent shapes: saw %s but expected %s "
                             "(and infer_shape=True)"
                             % (shape, self._element[0]))
        self._element[0] = self._element[0].merge_with(shape)

    def _checked(self, value):
        value = convert_to_tensor(value, preferred_dtype=self._dtype,
                                  name="value")
        if value.dtype.base_dtype != self._dtype:
            raise TypeError("TensorArray dtype is %s but Op is trying to write "
                            "dtype %s" % (self._dtype.name, value.dtype.name))
        return value

    def read(self, index, name=None):
        """The tensor at `index`."""
        value = _raw.TensorArrayReadV3(self._handle, index, self._flow,
                                       dtype=self._dtype, name=name)
        if self._element[0].ndims is not None:
            value.set_shape(self._element[0])
        return value

    def write(self, index, value, name=None):
        """The array with `value` at `index`."""
        with _graph.name_scope(name, "TensorArrayWrite",
                               [self._handle, index, value]):
            value = self._checked(value)
            self._merge_shape(value.get_shape())
            return self._with_flow(_raw.TensorArrayWriteV3(
                self._handle, index, value, self._flow))

    def stack(self, name=None):
        """All elements as one tensor, a new dimension in front."""
        with _graph.name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(_math.range(0, self.size()), name=name)

    def gather(self, indices, name=None):
        """The elements at `indices` as one tensor."""
        shape = self._element[0]
        value = _raw.TensorArrayGatherV3(
            self._handle, indices, self._flow, dtype=self._dtype,
            element_shape=None if shape.ndims is None else shape, name=name)
        if shape.ndims is not None:
            value.set_shape([None] + shape.as_list())
        return value

    def concat(self, name=None):
        """All elements joined along their first dimension, which may
        differ."""
        shape = self._element[0]
        rest = None if shape.ndims is None else TensorShape(
            shape.as_list()[1:])
        value, _ = _raw.TensorArrayConcatV3(
            self._handle, self._flow, dtype=self._dtype,
            element_shape_except0=rest, name=name)
        if rest is not None:
            value.set_shape([None] + rest.as_list())
        return value

    def unstack(self, value, name=None):
        """The array filled from the slices of `value`."""
        with _graph.name_scope(name, "TensorArrayUnstack",
                               [self._handle, value]):
            n = _array.shape(value)[0]
            return self.scatter(_math.range(0, n), value, name=name)

    def scatter(self, indices, value, name=None):
        """The array with slice i of `value` at indices[i]."""
        with _graph.name_scope(name, "TensorArrayScatter",
                               [self._handle, value, indices]):
            value = self._checked(value)
            if value.get_shape().ndims is not None:
                self._merge_shape(TensorShape(value.get_shape().as_list()[1:]))
            return self._with_flow(_raw.TensorArrayScatterV3(
                self._handle, indices, value, self._flow, name=name))

    def split(self, value, lengths, name=None):
        """The array filled from runs of `lengths` along the first dimension
        of `value`."""
        with _graph.name_scope(name, "TensorArraySplit",
                               [self._handle, value, lengths]):
            value = self._checked(value)
            lengths = convert_to_tensor(lengths)
            known = constant_value(lengths)
            lengths = _math.cast(lengths, dtypes.int64)
            shape = value.get_shape()
            if (known is not None and known.size and shape.ndims is not None
                    and known.min() == known.max()):
                self._merge_shape(TensorShape(
                    [int(known.flat[0])] + shape.as_list()[1:]))
            return self._with_flow(_raw.TensorArraySplitV3(
                self._handle, value, lengths, self._flow, name=name))

    def size(self, name=None):
        return _raw.TensorArraySizeV3(self._handle, self._flow, name=name)

    def close(self, name=None):
        """An operation that frees the elements."""
        return _raw.TensorArrayCloseV3(self._handle, name=name)


setattr(TensorArray, "__signature__", inspect.Signature(list(
    inspect.signature(TensorArray.__init__).parameters.values())[1:]))
