"""Branches, loops, arrays and checks of values that are there."""
import numpy as np

from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import errors, nest
from headrace._src.framework.tensor import convert_n_to_tensor, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def while_loop(cond, body, loop_vars, return_same_structure):
    """tf.while_loop as a loop of Python."""
    structure = nest.map_structure(lambda _: None, list(loop_vars))
    may_pack = len(loop_vars) == 1 and not return_same_structure
    is_packed = False
    while cond(*loop_vars):
        loop_vars = body(*loop_vars)
        if may_pack and not isinstance(loop_vars, (list, tuple)):
            is_packed, loop_vars = True, (loop_vars,)
        nest.assert_same_structure(structure, list(loop_vars))

    def convert(x):
        return x if isinstance(x, TensorArray) or hasattr(
            x, "_flow_components") else convert_to_tensor(x)
    loop_vars = nest.map_structure(convert, loop_vars)
    return loop_vars[0] if is_packed or (
        may_pack and len(loop_vars) == 1) else loop_vars


def _summary(tensor, summarize):
    """A few elements as text."""
    flat = np.asarray(tensor).ravel()
    limit = 3 if summarize is None else flat.size if summarize < 0 else summarize
    text = "\n".join(str(x) for x in flat[:limit])
    return text if flat.size <= limit else text + "\n..."


def check(condition, data, summarize):
    """tf.Assert of a value. Raises InvalidArgumentError."""
    if condition:
        return
    shown = [_summary(x, summarize) for x in convert_n_to_tensor(data)]
    raise errors.InvalidArgumentError(
        None, None, "Expected '%s' to be true. Summarized data: %s" % (
            condition, "\n".join(shown)))


def compare(test, sign, x, y, data, summarize, message):
    """Raises InvalidArgumentError unless test(x, y) holds everywhere."""
    x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
    holds = test(x, y)
    if _math.reduce_all(holds):
        return
    summarize = 3 if summarize is None else (
        10**9 if summarize < 0 else summarize)
    if data is None:
        data = ["Condition x %s y did not hold." % sign]
        first, second, mask = (t.numpy() for t in (x, y, holds))
        if summarize > 0:
            if x.shape == y.shape and x.shape.as_list():
                where = np.argwhere(~mask)[:summarize]
                data += ["Indices of first %d different values:" % len(where),
                         where, "Corresponding x values:",
                         first[~mask].ravel()[:summarize],
                         "Corresponding y values:",
                         second[~mask].ravel()[:summarize]]
            for name, value in (("x", first), ("y", second)):
                flat = np.reshape(value, -1)
                data += ["First %d elements of %s:" % (
                    min(flat.size, summarize), name), flat[:summarize]]
    if message is not None:
        data = [message] + list(data)
    raise errors.InvalidArgumentError(None, None, "\n".join(
        str(d.numpy() if hasattr(d, "numpy") else d) for d in data))


class EagerTensorArray(TensorArray):
    """A list of tensors."""

    def __init__(self, dtype, size=None, dynamic_size=None,
                 clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None,
                 colocate_with_first_write_call=True, name=None):
        if handle is not None or flow is not None:
            raise ValueError("TensorArray: `handle` and `flow` are not "
                             "supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager "
                             "execution is enabled.")
        from headrace._src.framework import dtypes
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._clear = True if clear_after_read is None else clear_after_read
        self._infer_shape = infer_shape and True
        self._element = [TensorShape(element_shape)]
        self._handle = None
        self._flow = convert_to_tensor(0.)
        self._values = [None] * int(size)
        self._was_read = set()

    def identity(self):
        return self

    def _with_flow(self, flow):
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's "
            "gradient implementation does not use/need this function to compute "
            "gradients of operations that use TensorArrays.")

    def _zero(self, index):
        """What is at an index that nothing was written to."""
        value = self._values[index]
        if value is None:
            if self._element[0].is_fully_defined():
                value = _array.zeros(self._element[0], self._dtype)
            else:
                like = next((v for v in self._values if v is not None), None)
                if like is None:
                    raise errors.InvalidArgumentError(
                        None, None, "TensorArray: nothing was written to index "
                        "%d, and the shape of its elements is not known" % index)
                value = _array.zeros_like(like)
            self._values[index] = value
        return value

    def read(self, index, name=None):
        index = int(index)
        if index < 0:
            raise errors.OutOfRangeError(
                None, None, "Reading from negative indices (index %d) is not "
                "allowed." % index)
        if index >= len(self._values):
            raise errors.OutOfRangeError(
                None, None, "Tried to read from index %d but array size is: %d"
                % (index, len(self._values)))
        value = self._values[index]
        if value is None:
            if index in self._was_read:
                raise errors.InvalidArgumentError(
                    None, None, "Could not read index %d twice because it was "
                    "cleared after a previous read (perhaps try setting "
                    "clear_after_read = false?)" % index)
            value = self._zero(index)
        if self._clear:
            self._values[index] = None
            self._was_read.add(index)
        return value

    def write(self, index, value, name=None):
        index = int(index)
        if index < 0:
            raise errors.OutOfRangeError(
                None, None, "Writing to negative indices (index %d) is not "
                "allowed." % index)
        if index >= len(self._values):
            if not self._dynamic_size:
                raise errors.OutOfRangeError(
                    None, None, "Tried to write to index %d but array is not "
                    "resizeable and size is: %d" % (index, len(self._values)))
            self._values += [None] * (index + 1 - len(self._values))
        value = convert_to_tensor(value, preferred_dtype=self._dtype,
                                  name="value")
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(
                None, None, "TensorArray dtype is %s but Op is trying to write "
                "dtype %s" % (self._dtype.name, value.dtype.name))
        if not self._element[0].is_compatible_with(value.shape):
            raise ValueError("Incompatible shape for value (%s), expected (%s)"
                             % (value.shape, self._element[0]))
        if self._infer_shape:
            self._element[0] = self._element[0].merge_with(value.shape)
        self._values[index] = value
        return self

    def stack(self, name=None):
        values = [self._zero(i) for i in range(len(self._values))]
        if not values:
            return _array.zeros([0] + self._element[0].as_list(), self._dtype)
        return _array.stack(values)

    def gather(self, indices, name=None):
        indices = [int(i) for i in np.asarray(indices)]
        return _array.stack([self.read(i) for i in indices])

    def concat(self, name=None):
        return _array.concat(
            [self._zero(i) for i in range(len(self._values))], 0)

    def unstack(self, value, name=None):
        values = _array.unstack(value)
        if len(values) > len(self._values) and not self._dynamic_size:
            raise ValueError(
                "Cannot unstack %d tensors into a TensorArray of static size %d"
                % (len(values), len(self._values)))
        for i, v in enumerate(values):
            self.write(i, v)
        return self

    def scatter(self, indices, value, name=None):
        for i, v in zip(np.asarray(indices), _array.unstack(value)):
            self.write(i, v)
        return self

    def split(self, value, lengths, name=None):
        value = convert_to_tensor(value, preferred_dtype=self._dtype)
        lengths = np.asarray(lengths)
        if len(set(lengths.ravel().tolist())) > 1:
            self._infer_shape = False
        sums = np.cumsum(lengths)
        if lengths.ndim != 1:
            raise errors.InvalidArgumentError(
                None, None, "Expected lengths to be a vector, received shape: %s"
                % (list(lengths.shape),))
        if value.shape.ndims == 0:
            raise errors.InvalidArgumentError(
                None, None, "Expected value to be at least a vector, but "
                "received shape: []")
        if (sums[-1] if len(sums) else 0) != value.shape.as_list()[0]:
            raise errors.InvalidArgumentError(
                None, None, "Expected sum of lengths to be equal to "
                "values.shape[0], but sum of lengths is %d and value's shape "
                "is: %s" % (sums[-1] if len(sums) else 0, value.shape.as_list()))
        if len(lengths) != len(self._values) and not self._dynamic_size:
            raise errors.InvalidArgumentError(
                None, None, "TensorArray's size is not equal to the size of "
                "lengths (%d vs. %d), and the TensorArray is not marked as "
                "dynamically resizeable." % (len(self._values), len(lengths)))
        for i, (end, n) in enumerate(zip(sums, lengths)):
            self.write(i, value[int(end - n):int(end)])
        return self

    def size(self, name=None):
        return convert_to_tensor(len(self._values))

    def close(self, name=None):
        self._values = [None] * len(self._values)
