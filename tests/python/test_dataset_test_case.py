"""The test case of tf.data in tensorflow.python: what it asserts, and tests of
combinations of arguments."""
import unittest

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import combinations
from headrace._src.compat.dataset_test_case import (
    DatasetTestBase, default_test_combinations)


@pytest.fixture
def case():
    case = DatasetTestBase()
    case.setUp()
    yield case
    case.tearDown()


def test_what_data_sets_produce(case):
    case.assertDatasetProduces(tf.data.Dataset.range(3), range(3),
                               num_test_iterations=2)
    sparse = tf.SparseTensorValue([[0]], [1], [2])
    case.assertDatasetProduces(tf.data.Dataset.from_tensors(sparse), [sparse])
    nested = tf.data.Dataset.from_tensor_slices(
        {"a": [1, 2], "b": ([3, 4], [[5], [6]])})
    case.assertDatasetProduces(
        nested, [{"a": 1, "b": (3, [5])}, {"a": 2, "b": (4, [6])}],
        {"a": tf.TensorShape([]),
         "b": (tf.TensorShape([]), tf.TensorShape([1]))})
    case.assertDatasetsEqual(nested, nested.take(2))
    case.assertDatasetProduces(
        case.structuredDataset((None, (None,)), [2]),
        [(np.zeros(2), (np.zeros(2),))], requires_initialization=True)


def test_what_data_sets_raise(case):
    bad = tf.data.Dataset.from_tensor_slices([1., float("nan")]).map(
        lambda x: tf.check_numerics(x, "bad number"))
    case.assertDatasetProduces(
        bad, expected_error=(tf.errors.InvalidArgumentError, "bad number"),
        expected_error_iter=2)
    first = bad.skip(1)
    case.assertDatasetsRaiseSameError(first, first,
                                      tf.errors.InvalidArgumentError)


@pytest.mark.parametrize("found, wanted", [
    ([1, 2], [1, 3]), ([1, 2], [1]), ([1], [1, 2]), ([1], [(1,)])])
def test_data_sets_that_differ(case, found, wanted):
    with pytest.raises((AssertionError, tf.errors.OutOfRangeError)):
        case.assertDatasetProduces(
            tf.data.Dataset.from_tensor_slices(found), wanted)


def test_combinations():
    assert combinations.combine(b=[1, 2], a="x") == [
        {"a": "x", "b": 1}, {"a": "x", "b": 2}]
    assert combinations.times(combinations.combine(a=[1, 2]),
                              combinations.combine(b=3)) == [
        {"a": 1, "b": 3}, {"a": 2, "b": 3}]
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        combinations.times(combinations.combine(a=1), combinations.combine(a=2))
    assert len(default_test_combinations()) == 4


def test_a_test_runs_for_each_combination():
    seen = []

    class Some(DatasetTestBase):
        @combinations.generate(combinations.times(
            default_test_combinations(), combinations.combine(n=[1, 2])))
        def test_n(self, n):
            seen.append((n, len(tf.get_default_graph().get_operations())))
            tf.constant(n)
            self.assertLess(n, 2)

        @combinations.generate(combinations.combine(mode=["eager"]))
        def test_eager(self):
            seen.append("eager")

        @combinations.generate(combinations.combine(mode=["eager", "graph"]))
        def test_mode(self, mode):
            seen.append(mode)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Some).run(result)
    assert seen == ["graph", (1, 0), (2, 0)]
    assert len(result.failures) == 1 and len(result.skipped) == 1
