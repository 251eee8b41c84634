"""What one of two workers reads of a data set: every second file or, where no
files are read, every second element."""
import pytest

import headrace as tf
from headrace._src.distribute.shards import shard

Dataset, Records, Lines = (tf.data.Dataset, tf.data.TFRecordDataset,
                           tf.data.TextLineDataset)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Four files of records, four of lines and four of bytes."""
    folder = tmp_path_factory.mktemp("files")
    for i in range(4):
        values = ["%d.%d" % (i, j) for j in range(4)]
        with tf.python_io.TFRecordWriter(str(folder / ("r%d" % i))) as out:
            for v in values:
                out.write(v.encode())
        (folder / ("l%d" % i)).write_text("\n".join(values))
        (folder / ("b%d" % i)).write_text("".join(values))
    return {kind: [str(folder / ("%s%d" % (kind, i))) for i in range(4)]
            for kind in "rlb"}


def run(make, index):
    with tf.Graph().as_default(), tf.Session() as s:
        iterator = shard(make(), 2, index).make_initializable_iterator()
        element = iterator.get_next()
        s.run(iterator.initializer)
        found = []
        try:
            while True:
                found.append(tf.nest.map_structure(
                    lambda x: x.tolist() if hasattr(x, "tolist") else x,
                s.run(element)))
        except tf.errors.OutOfRangeError:
            return found


def texts(*numbers):
    return [n.encode() for n in numbers]


ONE, TWO = texts("0.0", "0.1", "0.2", "0.3"), texts("2.0", "2.1", "2.2", "2.3")
IN_TURN = [texts("0.0", "2.0", "0.1", "2.1"), texts("0.2", "2.2", "0.3", "2.3")]


def without_sharding(dataset):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard = False
    return dataset.with_options(options)


@pytest.mark.parametrize("make, found", [
    (lambda f: Records(f["r"]), [ONE, TWO]),
    (lambda f: Lines(f["l"]), [ONE, TWO]),
    (lambda f: tf.data.FixedLengthRecordDataset(f["b"], 3), [ONE, TWO]),
    (lambda f: Records(f["r"], num_parallel_reads=2), IN_TURN),
    (lambda f: Dataset.from_tensor_slices(f["r"]).flat_map(Records),
     [ONE, TWO]),
    (lambda f: Dataset.from_tensor_slices(f["r"]).interleave(
        Records, cycle_length=2), IN_TURN),
    (lambda f: Dataset.list_files(f["l"][0][:-1] + "*", shuffle=False).flat_map(
        Lines), [ONE, TWO]),
    (lambda f: Dataset.from_tensor_slices(f["l"]).flat_map(
        lambda path: Lines(path).skip(3).repeat(4)),
     [texts(*["0.3"] * 4), texts(*["2.3"] * 4)]),
    (lambda f: Records(f["r"]).map(lambda x: x).repeat(2),
     [ONE, TWO, ONE, TWO]),
    (lambda f: Records(f["r"][:2]).concatenate(Records(f["r"][2:])),
     [ONE, TWO]),
    (lambda f: Dataset.zip((Records(f["r"]), Lines(f["l"]))),
     [(ONE, ONE), (TWO, TWO)]),
    # One of them reads no files.
    (lambda f: Dataset.zip((Records(f["r"]), Dataset.range(16))),
     [(ONE, [0, 1, 2, 3]), (TWO, [8, 9, 10, 11])]),
    (lambda f: Dataset.range(16), [[0, 1, 2, 3], [8, 9, 10, 11]])])
def test_a_worker_reads_every_second_file(files, make, found):
    assert run(lambda: make(files).batch(4), 0) == found
    other = run(lambda: make(files).batch(4), 1)
    whole = run(lambda: without_sharding(make(files).batch(4)), 1)
    assert len(other) == len(found) and len(whole) == 2 * len(found)
    for x in other + found:
        if not isinstance(x, tuple) and found is not IN_TURN:
            assert x in whole


def test_there_must_be_a_file_for_each_worker(files):
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=r"fewer elements \(1\) than shards \(2\)"):
        run(lambda: Records(files["r"][:1]), 0)


def test_options_stay(files):
    def make():
        options = tf.data.Options()
        options.experimental_deterministic = False
        return Records(files["r"]).with_options(options).batch(4)
    with tf.Graph().as_default():
        assert not shard(make(), 2, 0).options().experimental_deterministic
