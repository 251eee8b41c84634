"""tf.data.experimental."""
import numpy as np
import pytest

import headrace as tf
from dataset_values import values

Dataset = tf.data.Dataset
E = tf.data.experimental


def test_ignore_errors():
    d = Dataset.range(4).map(lambda x: tf.check_numerics(
        1. / tf.cast(x - 1, tf.float32), "bad"))
    assert values(d.apply(tf.data.experimental.ignore_errors())) == [
        -1.0, 1.0, 0.5]


def test_scan():
    assert values(Dataset.range(5).apply(tf.data.experimental.scan(
        np.int64(0), lambda s, x: (s + x, (s, x))))) == [
            (0, 0), (0, 1), (1, 2), (3, 3), (6, 4)]


def test_map_and_batch():
    assert values(Dataset.range(5).apply(tf.data.experimental.map_and_batch(
        lambda x: x * 2, 2, num_parallel_calls=2))) == [[0, 2], [4, 6], [8]]


def test_single_element_and_cardinality():
    one = tf.data.experimental.get_single_element(Dataset.range(3).batch(9))
    none = tf.data.experimental.get_single_element(Dataset.range(0))
    two = tf.data.experimental.get_single_element(Dataset.range(2))
    with tf.Session() as sess:
        assert sess.run(one).tolist() == [0, 1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="was empty"):
            sess.run(none)
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than"):
            sess.run(two)
        for d, n in [(Dataset.range(7), 7), (Dataset.range(7).batch(2), 4),
                     (Dataset.range(7).repeat(), -1),
                     (Dataset.range(7).skip(2).take(9), 5),
                     (Dataset.range(7).filter(lambda x: x > 2), -2)]:
            assert sess.run(tf.data.experimental.cardinality(d)) == n


def test_group_by_window():
    X, d = tf.data.experimental, Dataset.range(10)
    assert values(d.apply(X.group_by_window(
        lambda x: x % 3, lambda k, g: g.batch(2), window_size=2))) == [
            [0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    assert values(d.apply(X.group_by_window(
        lambda x: x % 3, lambda k, g: g.batch(10),
        window_size_func=lambda k: k + 1))) == [
            [0], [3], [1, 4], [6], [2, 5, 8], [9], [7]]
    got = values(d.apply(X.group_by_window(
        lambda x: x, lambda k, g: g, window_size=0)), 1)
    assert "Window size must be greater than zero" in str(got[0])


def test_bucket_by_sequence_length():
    X = tf.data.experimental
    d = Dataset.range(1, 9).map(lambda x: tf.fill([x], x))
    assert values(d.apply(X.bucket_by_sequence_length(
        tf.size, [3, 5], [2, 2, 2]))) == [
            [[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]],
            [[5, 5, 5, 5, 5, 0], [6] * 6], [[7] * 7 + [0], [8] * 8]]
    assert values(d.take(4).apply(X.bucket_by_sequence_length(
        tf.size, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True))) == [
            [[1, 0], [2, 2]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]]]


def test_choose_and_sample():
    X = tf.data.experimental
    choice = Dataset.from_tensor_slices(
        np.array([0, 1, 2, 1, 1, 0, 2, 1, 0, 0, 2], np.int64))
    assert values(X.choose_from_datasets(
        [Dataset.range(3), Dataset.range(10, 12), Dataset.range(20, 30)],
        choice)) == [0, 10, 20, 11, 1, 21, 2, 22]
    got = values(X.choose_from_datasets(
        [Dataset.range(3)], Dataset.from_tensor_slices(
            np.array([0, 1, 0, -1], np.int64))))
    assert [g for g in got if isinstance(g, int)] == [0, 1]
    assert all("Selector index out of range" in str(g)
               for g in got if not isinstance(g, int)) and len(got) == 4
    got = values(X.sample_from_datasets(
        [Dataset.range(9).repeat(), Dataset.range(10, 15).repeat()],
        [0.0, 1.0], seed=3), 12)
    assert got == [10, 11, 12, 13, 14] * 2 + [10, 11]
    got = values(X.sample_from_datasets(
        [Dataset.range(50), Dataset.range(100, 150)], seed=3))
    assert sorted(got) == list(range(50)) + list(range(100, 150))
    assert got != sorted(got)


def test_parse_example_dataset():
    def example(**features):
        e = tf.train.Example()
        for key, value in features.items():
            if isinstance(value[0], bytes):
                e.features.feature[key].bytes_list.value.extend(value)
            else:
                e.features.feature[key].int64_list.value.extend(value)
        return e.SerializeToString()
    batches = Dataset.from_tensor_slices(
        [example(b=[1, 2], a=[b"x"], z=[7]), example(b=[3, 4]),
         example(b=[5, 6], z=[8, 9])]).batch(2)
    X = tf.data.experimental
    d = batches.apply(X.parse_example_dataset({
        "z": tf.VarLenFeature(tf.int64),
        "a": tf.FixedLenFeature([], tf.string, "none"),
        "b": tf.FixedLenFeature([2], tf.int64)}, num_parallel_calls=2))
    assert d.output_types == {"a": tf.string, "b": tf.int64, "z": tf.int64}
    assert d.output_shapes["b"].as_list() == [None, 2]
    get_next = d.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        first, second = sess.run(get_next), sess.run(get_next)
    assert first["a"].tolist() == [b"x", b"none"]
    assert first["b"].tolist() == [[1, 2], [3, 4]]
    assert first["z"].indices.tolist() == [[0, 0]]
    assert first["z"].values.tolist() == [7]
    assert first["z"].dense_shape.tolist() == [2, 1]
    assert second["z"].values.tolist() == [8, 9]
    # A required key that is missing; no Example; no strings.
    required = X.parse_example_dataset({"a": tf.FixedLenFeature([], tf.string)})
    got = values(batches.apply(required))
    assert ["Feature: a (data type: string) is required" in str(g)
            for g in got] == [True, True]
    got = values(Dataset.from_tensors(["\x0a\xff"]).apply(required))
    assert "Could not parse example input, index 0" in str(got[0])
    got = values(Dataset.range(2).batch(2).apply(required))
    assert "must be one tensor of strings" in str(got[0])


@pytest.mark.parametrize("transform, kind, message", [
    (E.take_while(lambda x: x), ValueError, "a scalar boolean tensor"),
    (E.scan(0, lambda s, x: (s,)), TypeError, "must return a pair"),
    (lambda d: d.map(lambda x: 1.).apply(E.unique()), TypeError, "tf.int32"),
    (lambda d: E.choose_from_datasets([d], d.map(lambda x: 1.)), TypeError,
     "must be a dataset of scalar")])
def test_functions_and_elements_of_other_types(transform, kind, message):
    with pytest.raises(kind, match=message):
        tf.data.Dataset.range(3).apply(transform)
