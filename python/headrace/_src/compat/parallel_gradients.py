"""tensorflow.python.ops.parallel_for: jacobians by loops, and the test case of
loops."""
import numpy as np

from headrace._src.control.parallel_for import for_loop, pfor
from headrace._src.framework import dtypes, nest
from headrace._src.ops import array_ops as _array
from headrace._src.testing.test_case import TestCase
from headrace._src.training.gradient_tape import jacobian_of_rows
from headrace._src.training.gradients import gradients
from headrace._src.variables.variables import global_variables_initializer


def _loop(loop_fn, types, iters, use_pfor, parallel_iterations):
    if use_pfor:
        return pfor(loop_fn, iters, parallel_iterations)
    return for_loop(loop_fn, types, iters, parallel_iterations)


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The derivatives of each element of the tensor `output` by each of
    `inputs`, a structure of tensors: in that structure, [shape of output, shape
    of the input], or None where there are none."""
    flat = nest.flatten(inputs)
    elements = _array.reshape(output, [-1])
    count = output.get_shape().num_elements()
    if count is None:
        count = _array.shape(elements)[0]
    rows = _loop(lambda i: gradients(_array.gather(elements, i), flat),
                 [output.dtype.base_dtype] * len(flat), count, use_pfor,
                 parallel_iterations)
    return jacobian_of_rows(output, inputs, rows)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """The derivatives of each row of the tensor `output`, [batch, ...], by the
    same row of `inp`: [batch, shape of a row of output, shape of a row of inp],
    or None if there are none. ValueError if the batches differ."""
    of, by = output.get_shape(), inp.get_shape()
    if not of[0].is_compatible_with(by[0]):
        raise ValueError("Need first dimension of output shape (%s) and inp "
                         "shape (%s) to match." % (of, by))
    shape = _array.shape(output)
    batch, count = shape[0], None
    if of.is_fully_defined():
        batch, count = of.as_list()[0], of[1:].num_elements()
    if count is None:
        count = _array.size(output) // batch
    rows = _array.reshape(output, [batch, count])
    found = _loop(lambda i: gradients(_array.gather(rows, i, axis=1), inp)[0],
                  output.dtype.base_dtype, count, use_pfor,
                  parallel_iterations)
    if found is None:
        return None
    found = _array.transpose(_array.reshape(found, [count, batch, -1]),
                             [1, 0, 2])
    return _array.reshape(found, _array.concat(
        [shape, _array.shape(inp)[1:]], 0))


class PForTestCase(TestCase):
    """Compares pfor with for_loop."""

    def _run_targets(self, targets1, targets2=None, run_init=True):
        targets = nest.flatten(targets1) + (
            [] if targets2 is None else nest.flatten(targets2))
        if run_init:
            self.evaluate(global_variables_initializer())
        return self.evaluate(targets)

    def run_and_assert_equal(self, targets1, targets2):
        """Fails unless both structures have the same values."""
        values = nest.flatten(self._run_targets(targets1, targets2))
        half = len(values) // 2
        for one, other in zip(values[:half], values[half:]):
            if np.asarray(other).dtype == object:
                self.assertAllEqual(other, one)
            else:
                self.assertAllClose(other, one, rtol=1e-4, atol=1e-5)

    def _test_loop_fn(self, loop_fn, iters, loop_fn_dtypes=dtypes.float32,
                      parallel_iterations=None):
        self.run_and_assert_equal(
            pfor(loop_fn, iters, parallel_iterations),
            for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations))
