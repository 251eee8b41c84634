"""Tables filled from datasets."""
import numpy as np
import pytest

import headrace as tf

Dataset = tf.data.Dataset


def pairs(keys, values):
    return Dataset.from_tensor_slices((np.array(keys, np.int64),
                                       np.array(values)))


def fill(dataset, **types):
    """The table's handle and the op that fills it."""
    types = types or dict(key_dtype=tf.int64, value_dtype=tf.string)
    handle = tf.raw_ops.HashTableV2(**types)
    return handle, tf.raw_ops.InitializeTableFromDataset(
        handle, dataset._variant_tensor)


def content(sess, handle):
    keys, values = sess.run(list(tf.raw_ops.LookupTableExportV2(
        handle, Tkeys=tf.int64, Tvalues=tf.string)))
    return dict(zip(keys.tolist(), values.tolist()))


@pytest.mark.parametrize("dataset, want", [
    (lambda: pairs([1, 2], ["a", "b"]), {1: b"a", 2: b"b"}),
    (lambda: pairs([1, 1], ["a", "a"]), {1: b"a"}),
    (lambda: pairs([1, 2, 3], ["a", "b", "c"]).batch(2),
     {1: b"a", 2: b"b", 3: b"c"}),
    # Elements that another thread makes.
    (lambda: Dataset.range(5).map(lambda i: (i, tf.as_string(i)), 2).prefetch(2),
     {i: b"%d" % i for i in range(5)})])
def test_elements_become_rows(dataset, want):
    handle, init = fill(dataset())
    with tf.Session() as sess:
        sess.run(init)
        assert content(sess, handle) == want
        sess.run(init)  # changes nothing
        assert content(sess, handle) == want


@pytest.mark.parametrize("dataset, error, message", [
    (lambda: pairs([1, 1], ["a", "b"]), tf.errors.FailedPreconditionError,
     "different value for same key"),
    (lambda: pairs([1], ["a"]).take(0), tf.errors.OutOfRangeError, "is empty"),
    (lambda: pairs([1], [1.5]), tf.errors.InvalidArgumentError,
     "dataset of int64 keys and double values"),
    (lambda: Dataset.range(3), tf.errors.InvalidArgumentError,
     "two components"),
    (lambda: pairs([1], ["a"]).repeat(), tf.errors.InvalidArgumentError,
     "infinite"),
    (lambda: Dataset.from_tensors((np.array([1, 2]), np.array(["a"]))),
     tf.errors.InvalidArgumentError, "Expected shape"),
    (lambda: pairs([1, 0], ["a", "b"]).map(lambda k, v: (1 // k, v)),
     tf.errors.InvalidArgumentError, "zero")])
def test_refuses(dataset, error, message):
    handle, init = fill(dataset())
    with tf.Session() as sess:
        with pytest.raises(error, match=message):
            sess.run(init)
        with pytest.raises(tf.errors.FailedPreconditionError):
            content(sess, handle)


def test_a_mutable_table_is_not_initialized():
    handle = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64,
                                           value_dtype=tf.string)
    init = tf.raw_ops.InitializeTableFromDataset(
        handle, pairs([1], ["a"])._variant_tensor)
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="mutable"):
        sess.run(init)


def test_a_deadline_ends_an_endless_filter():
    dataset = Dataset.range(2**62).filter(lambda i: i < 0).map(
        lambda i: (i, tf.as_string(i)))
    init = fill(dataset)[1]
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(init, options=tf.RunOptions(timeout_in_ms=200))


def test_what_reads_a_handle_runs_where_the_resource_is():
    """Whatever device was asked for: TensorFlow overrides it."""
    raw = tf.raw_ops
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device("/cpu:0"):
            table = raw.MutableHashTableV2(
                key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
            queue = tf.FIFOQueue(3, tf.float32, shapes=[()])
            v = tf.Variable(1., use_resource=False)
            r = tf.Variable(1., use_resource=True)
        with tf.device("/cpu:1"):
            keys = tf.constant(["a", "b"])
            values = tf.constant([1, 2], tf.int64)
            put = raw.LookupTableImportV2(
                table_handle=table, keys=keys, values=values)
            size = raw.LookupTableSizeV2(table_handle=table)
            found = raw.LookupTableFindV2(
                table_handle=table, keys=keys,
                default_value=tf.constant(-1, tf.int64))
            enqueue, take = queue.enqueue(3.), queue.dequeue()
            more = [tf.assign_add(v, 1.), r.assign_add(1.)]
        sess.run(put)
        assert sess.run(size) == 2
        assert sess.run(found).tolist() == [1, 2]
        sess.run(enqueue)
        assert sess.run(take) == 3
        sess.run([v.initializer, r.initializer])
        assert sess.run(more) == [2, 2]


@pytest.mark.parametrize("keys, dtype, message", [
    ([1, 2], tf.string, "Expected non-integer, got .*int32"),
    (["a"], tf.int64, "Expected integer, got .*string")])
def test_keys_of_another_type_than_the_tables(keys, dtype, message):
    with pytest.raises(ValueError, match=message):
        tf.contrib.lookup.index_table_from_tensor(keys, dtype=dtype)
