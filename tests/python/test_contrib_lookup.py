"""tf.contrib.lookup: tables of words and numbers."""
import pytest

import headrace as tf

lookup = tf.contrib.lookup


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nb\nc\n")
    return str(path)


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [x.tolist() for x in session.run(fetches)]


def test_from_words_to_numbers(words):
    keys = tf.constant([["b", "x"], ["a", "c"]])
    for table in (lookup.index_table_from_file(words),
                  lookup.index_table_from_tensor(["a", "b", "c"]),
                  lookup.string_to_index_table_from_tensor(["a", "b", "c"]),
                  lookup.string_to_index_table_from_file(words)):
        assert run(table.lookup(keys), table.size()) == [[[1, -1], [0, 2]], 3]
    table = lookup.index_table_from_file(words, vocab_size=2, default_value=9)
    assert run(table.lookup(keys)) == [[[1, 9], [0, 9]]]
    assert run(lookup.string_to_index(keys, ["c", "b"])) == [[[1, -1], [-1, 0]]]


def test_from_numbers_to_words(words):
    keys = tf.constant([2, 7, 0], tf.int64)
    for found in (
            lookup.index_to_string_table_from_file(words).lookup(keys),
            lookup.index_to_string_table_from_tensor(["a", "b", "c"]).lookup(
                keys), lookup.index_to_string(keys, ["a", "b", "c"])):
        assert run(found) == [[b"c", b"UNK", b"a"]]


# The buckets that TensorFlow 1.15 gives.
@pytest.mark.parametrize("spec, wanted", [
    (lookup.FastHashSpec, [1, 3, 3, 5, 3]),
    (lookup.StrongHashSpec([3, 4]), [1, 3, 4, 6, 6])])
def test_buckets(words, spec, wanted):
    keys = tf.constant(["b", "x", "y", "z", "word"])
    for table in (
            lookup.index_table_from_file(words, 5, hasher_spec=spec),
            lookup.index_table_from_tensor(["a", "b", "c"], 5,
                                           hasher_spec=spec)):
        assert run(table.lookup(keys), table.size()) == [wanted, 8]
    empty = lookup.IdTableWithHashBuckets(None, 5, hasher_spec=spec)
    assert run(empty.lookup(keys[1:])) == [[n - 3 for n in wanted[1:]]]


def test_buckets_of_integers():
    table = lookup.index_table_from_tensor([7, 5], 3, dtype=tf.int64)
    assert run(table.lookup(tf.constant([5, 7, 8, 9], tf.int64))) == [
        [1, 0, 3, 4]]


def test_tables_that_change(tmp_path):
    table = lookup.MutableHashTable(tf.string, tf.float32, [0., -1.])
    scalar = lookup.MutableHashTable(tf.int64, tf.int64, 4, checkpoint=False)
    keys = tf.constant(["a", "b", "c"])
    put = table.insert(keys, [[1., 2.], [3., 4.], [5., 6.]])
    found = table.lookup(tf.constant([["c"], ["x"]]))
    assert found.get_shape().as_list() == [2, 1, 2]
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(put)
        session.run(table.remove(keys[:1]))
        assert session.run([table.size(), found])[1].tolist() == [
            [[5, 6]], [[0, -1]]]
        path = saver.save(session, str(tmp_path / "c"))
        assert session.run(scalar.lookup(tf.constant([3], tf.int64))) == [4]
        session.run(scalar.insert(tf.constant([3], tf.int64), [8]))
        assert sorted(session.run(table.export())[0].tolist()) == [b"b", b"c"]
        assert session.run(scalar.lookup(tf.constant([3], tf.int64))) == [8]
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(table.size()) == 2
        assert session.run(found).tolist() == [[[5, 6]], [[0, -1]]]


@pytest.mark.parametrize("make, error, message", [
    (lambda: lookup.index_table_from_file(""), ValueError, "must be specified"),
    (lambda: lookup.index_table_from_file("x", -1), ValueError,
     "num_oov_buckets must be greater or equal than 0, got -1"),
    (lambda: lookup.index_table_from_file("x", vocab_size=0), ValueError,
     "vocab_size must be greater than 0"),
    (lambda: lookup.index_table_from_file("x", key_dtype=tf.float32), TypeError,
     "Only integer and string keys"),
    (lambda: lookup.index_table_from_tensor(None), ValueError, "mapping must"),
    (lambda: lookup.index_table_from_tensor([1]), ValueError,
     "Expected non-integer"),
    (lambda: lookup.IdTableWithHashBuckets(None, 0), ValueError,
     "oov_buckets must be > 0"),
    (lambda: lookup.IdTableWithHashBuckets(None, 1, "x"), TypeError,
     "hasher_spec must be of type HasherSpec"),
    (lambda: lookup.IdTableWithHashBuckets(
        None, 1, lookup.HasherSpec("x", None)).lookup(tf.constant(["a"])),
     ValueError, "Unknown hasher x"),
    (lambda: lookup.StrongHashSpec([1]), ValueError, "key must have size 2"),
    (lambda: lookup.StrongHashSpec([1, "x"]), TypeError, "Invalid key"),
    (lambda: lookup.MutableHashTable(tf.string, tf.int64, 0).lookup([1]),
     TypeError, "Keys must be dtype")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
