"""tensorflow.python.data.kernel_tests.test_base: a test case with assertions
about data sets."""
import re

from headrace._src.control.tensor_array import TensorArray
from headrace._src.data.datasets import Dataset
from headrace._src.framework import dtypes, errors
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import is_sparse
from headrace._src.compat.combinations import combine
from headrace._src.testing.test_case import TestCase


def default_test_combinations():
    """Graphs and eager execution, of TensorFlow 1 and 2."""
    return combine(tf_api_version=[1, 2], mode=["eager", "graph"])


def _is_structure(value):
    return (isinstance(value, (tuple, dict)) and not is_sparse(value))


def _flatten(value):
    """The tensors of an element; a list is one of them."""
    if not _is_structure(value):
        return [value]
    if isinstance(value, dict):
        value = [value[k] for k in sorted(value)]
    return [leaf for part in value for leaf in _flatten(part)]


class DatasetTestBase(TestCase):
    """A test of data sets."""

    def assert_op_cancelled(self, op):
        """AssertionError unless a run of op is cancelled."""
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    def assertValuesEqual(self, expected, actual):
        """AssertionError unless two values of tensors are equal."""
        if is_sparse(expected):
            for part in ("indices", "values", "dense_shape"):
                self.assertAllEqual(getattr(expected, part),
                                    getattr(actual, part))
        else:
            self.assertAllEqual(expected, actual)

    def getNext(self, dataset, requires_initialization=False,
                shared_name=None):
        """A function that gives the tensors of the next element."""
        if requires_initialization:
            iterator = dataset.make_initializable_iterator(shared_name)
            self.evaluate(iterator.initializer)
        else:
            iterator = dataset.make_one_shot_iterator()
        element = iterator.get_next()

        def get_next():
            if isinstance(element, TensorArray):
                return element.stack()
            return element
        return get_next

    def _same_element(self, expected, actual):
        if not _is_structure(expected) and not _is_structure(actual):
            self.assertValuesEqual(expected, actual)
            return
        self.assertEqual(_is_structure(expected), _is_structure(actual))
        if isinstance(expected, dict):
            self.assertEqual(sorted(expected), sorted(actual))
            for key in expected:
                self._same_element(expected[key], actual[key])
            return
        self.assertEqual(len(expected), len(actual))
        for e, a in zip(expected, actual):
            self._same_element(e, a)

    def assertDatasetProduces(self, dataset, expected_output=None,
                              expected_shapes=None, expected_error=None,
                              requires_initialization=False,
                              num_test_iterations=1, assert_items_equal=False,
                              expected_error_iter=1):
        """AssertionError unless the elements are those of expected_output, in
        this order (in any with assert_items_equal), in each of
        num_test_iterations, or the error is expected_error, (type, pattern or
        predicate), in one of the first expected_error_iter elements."""
        self.assertTrue(
            (expected_error is None) != (expected_output is None),
            "Exactly one of expected_output or expected error should be "
            "provided.")
        if expected_error:
            with self.assertRaisesWithPredicateMatch(*expected_error):
                get_next = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(get_next())
            return
        if expected_shapes:
            self.assertEqual(expected_shapes, dataset.output_shapes)
        self.assertGreater(num_test_iterations, 0)
        for _ in range(num_test_iterations):
            get_next = self.getNext(dataset, requires_initialization)
            found = [self.evaluate(get_next())
                     for _ in range(len(expected_output))]
            if assert_items_equal:
                self.assertItemsEqual(found, expected_output)
            else:
                for expected, actual in zip(expected_output, found):
                    self._same_element(expected, actual)
            for _ in range(2):
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(get_next())

    def assertDatasetsEqual(self, dataset1, dataset2):
        """AssertionError unless both have the same types and elements."""
        self.assertEqual(dataset1.output_classes, dataset2.output_classes)
        self.assertEqual(dataset1.output_types, dataset2.output_types)
        types = _flatten(dataset1.output_types)
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        while True:
            try:
                first = _flatten(self.evaluate(next1()))
            except errors.OutOfRangeError:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(next2())
                return
            second = _flatten(self.evaluate(next2()))
            self.assertEqual(len(first), len(second))
            for kind, a, b in zip(types, first, second):
                if is_sparse(a):
                    self.assertValuesEqual(a, b)
                elif kind == dtypes.string:
                    self.assertAllEqual(a, b)
                else:
                    self.assertAllClose(a, b)

    def assertDatasetsRaiseSameError(self, dataset1, dataset2, exception_class,
                                     replacements=None):
        """AssertionError unless the first elements of both raise the same
        error. `replacements`: (old, new, count) in the first's message."""
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        try:
            self.evaluate(next1())
        except exception_class as error:
            message = error.message
        else:
            raise ValueError("Expected dataset to raise an error of type %r, "
                             "but it did not." % exception_class)
        for replacement in replacements or ():
            message = message.replace(*replacement)
        # Names of nodes differ.
        message = re.split(r"\[\[|\{\{", message)[0].rstrip()
        with self.assertRaisesRegexp(exception_class, re.escape(message)):
            self.evaluate(next2())

    def structuredDataset(self, dataset_structure, shape=None,
                          dtype=dtypes.int64):
        """A data set of one element of zeros, of a structure of tuples in which
        None stands for a tensor."""
        if dataset_structure is None:
            return Dataset.from_tensors(
                _array.zeros(shape or [], dtype=dtype))
        return Dataset.zip(tuple(
            self.structuredDataset(part, shape, dtype)
            for part in dataset_structure))

    def structuredElement(self, element_structure, shape=None,
                          dtype=dtypes.int64):
        """The element of structuredDataset."""
        if element_structure is None:
            return _array.zeros(shape or [], dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype)
                     for part in element_structure)
