"""tf.lookup: tables that are filled once, and that runs change."""
import numpy as np
import pytest

import headrace as tf


def letters(default=-1, **options):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        ["a", "b"], np.int64([1, 2])), default, **options)


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [session.run(f) for f in fetches]


def test_static_hash_table():
    table = letters(name="t")
    assert (table.key_dtype, table.value_dtype) == (tf.string, tf.int64)
    assert table.name == "t" and table.initializer in tf.get_collection(
        tf.GraphKeys.TABLE_INITIALIZERS)
    sparse = tf.SparseTensor([[0, 0], [1, 1]], ["a", "z"], [2, 2])
    keys = tf.placeholder(tf.string, [None, 3])
    assert table.lookup(keys).shape.as_list() == [None, 3]
    found, some, size, default, (names, numbers) = run(
        table.lookup(tf.constant(["a", "z", "b"])), table.lookup(sparse),
        table.size(), table.default_value, table.export())
    assert found.tolist() == [1, -1, 2] and size == 2 and default == -1
    assert some.values.tolist() == [1, -1]
    assert dict(zip(names, numbers)) == {b"a": 1, b"b": 2}


def test_table_of_other_types():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        [1, 2], ["x", "y"], tf.int64, tf.string), "none")
    assert run(table.lookup(tf.constant([2, 9], tf.int64)))[0].tolist() == [
        b"y", b"none"]


def test_text_file(tmp_path):
    path = str(tmp_path / "words")
    with open(path, "w") as file:
        file.write("w 1\nx 2\ny 3\n")
    columns = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.string, 0, tf.int64, 1, delimiter=" "), -1)
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER,
        vocab_size=2), -1)
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 2
    found, numbers, size = run(
        columns.lookup(tf.constant(["w", "y", "q"])),
        lines.lookup(tf.constant(["x 2", "y 3"])), lines.size())
    assert found.tolist() == [1, 3, -1]
    assert numbers.tolist() == [1, -1] and size == 2


# What StringToHashBucketFast of TensorFlow gives.
def test_vocabulary():
    ids = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.int64([0, 1]))
    table = tf.lookup.StaticVocabularyTable(ids, 3)
    words = tf.constant(["a", "b", "q", "r", "s"])
    numbers = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(np.int64([5, 6]), np.int64([0, 1])),
        4, lookup_key_dtype=tf.int32)
    hashes = tf.lookup.StaticVocabularyTable(None, 4)
    sparse = table.lookup(tf.SparseTensor([[0]], ["b"], [1]))
    found, size, integers, buckets, some = run(
        table.lookup(words), table.size(),
        numbers.lookup(tf.constant([5, 6, 7, 8])),
        hashes.lookup(tf.constant(["a", "b"])), sparse)
    assert found.tolist() == [0, 1, 4, 3, 3] and size == 5
    assert integers.tolist() == [0, 1, 2, 5]
    assert buckets.tolist() == [3, 2] and some.values.tolist() == [1]
    assert hashes.resource_handle is None and table.value_dtype == tf.int64


def test_dense_hash_table():
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9,
                                                  initial_num_buckets=8)
    with tf.Session() as session:
        session.run(table.insert([1, 2, 3], [4, 5, 6]))
        assert session.run(table.lookup([1, 7])).tolist() == [4, -1]
        session.run([table.erase([2])])
        session.run(table.insert_or_assign([1], [9]))
        keys, values = session.run(table.export())
        assert dict(zip(keys, values)) == {1: 9, 3: 6}
        session.run(table.remove([3]))
        assert session.run(table.size()) == 1
    rows = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0., 0.],
                                                 0, -9)
    found = rows.lookup([1, 7])
    assert found.shape.as_list() == [2, 2]
    with tf.Session() as session:
        session.run(rows.insert([1], [[4., 5.]]))
        assert session.run(found).tolist() == [[4, 5], [0, 0]]


def initializer(**changes):
    options = dict(filename="f", key_dtype=tf.string, key_index=-2,
                   value_dtype=tf.int64, value_index=-1)
    options.update(changes)
    return tf.lookup.TextFileInitializer(**options)


@pytest.mark.parametrize("build, error, message", [
    (lambda: letters().lookup(tf.constant([1])), TypeError, "Keys must be"),
    (lambda: letters("x"), TypeError, "Expected int64"),
    (lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        ["a", "b"], [1]), -1), ValueError, "incompatible"),
    (lambda: initializer(filename=""), ValueError, "Filename required"),
    (lambda: initializer(key_index=-3), ValueError, "Invalid key index -3"),
    (lambda: initializer(key_index=-1), ValueError, "Keys must be dtype"),
    (lambda: initializer(value_dtype=tf.float32, value_index=-2), ValueError,
     "integer or string"),
    (lambda: initializer(vocab_size=0), ValueError, "Invalid vocab_size"),
    (lambda: tf.lookup.StaticVocabularyTable(None, 0), ValueError,
     "oov_buckets must be > 0"),
    (lambda: tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a"], ["b"]), 1), TypeError,
     "Invalid value dtype"),
    (lambda: tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a"], np.int64([0])), 1, tf.int32),
     TypeError, "Invalid key dtype"),
])
def test_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("build, error, message", [
    (lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        ["a", "a"], [1, 2]), -1), tf.errors.FailedPreconditionError,
     "different value for same key"),
    (lambda: tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, 0, 0), tf.errors.InvalidArgumentError,
     "cannot be equal"),
])
def test_fails_in_the_run(build, error, message):
    table = build()
    with pytest.raises(error, match=message):
        run(table.size())


@pytest.mark.parametrize("make", [
    lambda: tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.int64, value_dtype=tf.variant),
    lambda: tf.raw_ops.MutableDenseHashTableV2(
        empty_key=np.int64(0), deleted_key=np.int64(-1),
        value_dtype=tf.variant)])
def test_mutable_tables_have_variants(make):
    table = make()
    none = tf.raw_ops.EmptyTensorList(
        element_shape=np.zeros([0], np.int32), max_num_elements=5,
        element_dtype=tf.float32)
    one = tf.raw_ops.TensorListPushBack(input_handle=none, tensor=7.)
    insert = tf.raw_ops.LookupTableInsertV2(
        table_handle=table, keys=np.array([3], np.int64),
        values=tf.raw_ops.Pack(values=[one]))
    with tf.control_dependencies([insert]):
        found = tf.raw_ops.LookupTableFindV2(
            table_handle=table, keys=np.array([3, 4], np.int64),
            default_value=none)
    lengths = [tf.raw_ops.TensorListLength(input_handle=x)
               for x in tf.unstack(found, 2)]
    with tf.Session() as session:
        assert session.run(lengths) == [1, 0]
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="no table maps int64 to variant"):
            session.run(tf.raw_ops.HashTableV2(
                key_dtype=tf.int64, value_dtype=tf.variant).op)


def test_is_tensor_of_composites():
    sparse = tf.SparseTensor([[0]], [1], [1])
    slices = tf.IndexedSlices(tf.constant([1]), tf.constant([0]))
    assert tf.is_tensor(sparse) and tf.is_tensor(slices)
    assert not tf.is_tensor(tf.SparseTensorValue([[0]], [1], [1]))
    assert not tf.is_tensor(tf.TensorArray(tf.int32, 1))
