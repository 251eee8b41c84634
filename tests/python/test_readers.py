"""Readers, which take file names from queues, and record files from Python."""
import gzip
import os
import threading
import time
import zlib

import numpy as np
import pytest

import headrace as tf


def queue_of(paths, sess):
    q = tf.FIFOQueue(99, tf.string, shapes=[])
    sess.run(q.enqueue_many([np.array(paths, dtype=object)]))
    sess.run(q.close())
    return q


def read_all(reader, paths):
    """[(key, value)], keys without folders."""
    out = []
    with tf.Session() as sess:
        read = reader.read(queue_of(paths, sess))
        while True:
            try:
                key, value = sess.run(read)
                out.append((os.path.basename(key.decode()), value))
            except tf.errors.OutOfRangeError as error:
                assert "is closed and has insufficient elements" in str(error)
                return out


def write(path, data):
    path.write_bytes(data)
    return str(path)


def records(path, *values, options=None):
    with tf.python_io.TFRecordWriter(str(path), options) as w:
        for v in values:
            w.write(v)
    return str(path)


def test_identity_and_whole_file(tmp_path):
    a, b = write(tmp_path / "a", b"AA\0"), write(tmp_path / "b", b"")
    assert read_all(tf.IdentityReader(), ["x", "y"]) == [
        ("x", b"x"), ("y", b"y")]
    assert read_all(tf.WholeFileReader(), [a, b]) == [("a", b"AA\0"),
                                                      ("b", b"")]


def test_text_lines(tmp_path):
    a = write(tmp_path / "a", b"head\none\r\n\nlast")
    empty = write(tmp_path / "empty", b"")
    assert read_all(tf.TextLineReader(), [empty, a]) == [
        ("a:1", b"head"), ("a:2", b"one"), ("a:3", b""), ("a:4", b"last")]
    assert read_all(tf.TextLineReader(skip_header_lines=1), [a, empty, a]) == [
        ("a:2", b"one"), ("a:3", b""), ("a:4", b"last")] * 2


def test_fixed_length_records(tmp_path):
    data = b"HHaabbccFF"
    a = write(tmp_path / "a", data)
    z = write(tmp_path / "z", zlib.compress(data))
    Reader = tf.FixedLengthRecordReader
    pieces = [b"aa", b"bb", b"cc"]
    assert read_all(Reader(2, 2, 2), [a, a]) == [
        ("a:%d" % i, v) for i, v in enumerate(pieces)] * 2
    assert [v for _, v in read_all(Reader(2, 2, 2, encoding="ZLIB"), [z])] == \
        pieces
    # Records that overlap, and records with gaps.
    assert [v for _, v in read_all(Reader(4, 2, 2, hop_bytes=1), [a])] == [
        b"aabb", b"abbc", b"bbcc"]
    assert [v for _, v in read_all(Reader(2, 2, 0, hop_bytes=5), [a])] == [
        b"aa", b"cF"]
    assert read_all(Reader(2, 200), [a]) == []


def test_record_files(tmp_path):
    a = records(tmp_path / "a", b"one", b"", b"three")
    assert read_all(tf.TFRecordReader(), [a]) == [
        ("a:0", b"one"), ("a:19", b""), ("a:35", b"three")]
    options = tf.python_io.TFRecordOptions(
        tf.python_io.TFRecordCompressionType.ZLIB)
    z = records(tmp_path / "z", b"one", b"two", options=options)
    assert [v for _, v in read_all(tf.TFRecordReader(options=options), [z])] \
        == [b"one", b"two"]


def test_a_damaged_file_is_an_error_once(tmp_path):
    good = records(tmp_path / "good", b"one", b"two")
    with open(good, "rb") as f:
        data = f.read()
    bad = write(tmp_path / "bad", data[:-2])
    with tf.Session() as sess:
        read = tf.TFRecordReader().read(queue_of([bad, good, "/none"], sess))
        assert sess.run(read)[1] == b"one"
        with pytest.raises(tf.errors.DataLossError, match="truncated record"):
            sess.run(read)
        assert [sess.run(read)[1] for _ in range(2)] == [b"one", b"two"]
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(read)


def test_read_up_to(tmp_path):
    a = write(tmp_path / "a", b"1\n2\n3\n")
    with tf.Session() as sess:
        reader = tf.TextLineReader()
        q = queue_of([a, a], sess)
        read = reader.read_up_to(q, 2)
        many = reader.read_up_to(q, 2**62)
        none = reader.read_up_to(q, 0)
        assert [sess.run(read)[1].tolist() for _ in range(2)] == [
            [b"1", b"2"], [b"3"]]
        keys, values = sess.run(many)
        assert values.tolist() == [b"1", b"2", b"3"] and len(keys) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be > 0"):
            sess.run(none)


def test_counts_and_reset(tmp_path):
    a = write(tmp_path / "a", b"1\n2\n")
    reader = tf.TextLineReader()
    q = tf.FIFOQueue(9, tf.string, shapes=[])
    put, read = q.enqueue([a]), reader.read(q)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(put)
        for _ in range(3):
            sess.run(read)
        assert sess.run(counts) == [3, 1]
        sess.run(reader.reset())
        assert sess.run(counts) == [0, 0]
        assert sess.run(read)[1] == b"1"


def test_state():
    reader = tf.IdentityReader()
    state = tf.placeholder(tf.string, [])
    q = tf.FIFOQueue(9, tf.string, shapes=[])
    put, read = q.enqueue_many([["a", "b", "c"]]), reader.read(q)
    keep, restore = reader.serialize_state(), reader.restore_state(state)
    assert reader.supports_serialize
    assert not tf.WholeFileReader().supports_serialize
    produced = reader.num_records_produced()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(read)
        saved = sess.run(keep)
        # As TensorFlow writes it: one unit begun and finished, one record
        # produced, "a" the latest unit.
        assert saved == b"\x08\x01\x10\x01\x18\x01\x22\x01a"
        sess.run(read)
        assert sess.run(produced) == 2
        sess.run(restore, {state: saved})
        assert sess.run(produced) == 1
        for junk in (b"\xff", b"\x08", b"\x22\x7fa", b"\x08\x05",
                     b"\x08\x01\x10\x02", b"\x18" + b"\xff" * 9 + b"\x01",
                     b"\x30\x01"):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(restore, {state: junk})
        with pytest.raises(tf.errors.UnimplementedError):
            sess.run(tf.WholeFileReader().serialize_state())


def test_readers_wait_for_work_without_a_thread():
    q = tf.FIFOQueue(9, tf.string, shapes=[])
    put = q.enqueue_many([["a", "b", "c", "d"]])
    reader, got = tf.IdentityReader(), []
    read = reader.read(q)
    with tf.Session(config=tf.ConfigProto(
            inter_op_parallelism_threads=1)) as sess:
        threads = [threading.Thread(
            target=lambda: got.append(sess.run(read)[1])) for _ in range(4)]
        for t in threads:
            t.start()
        time.sleep(0.1)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(read, options=tf.RunOptions(timeout_in_ms=50))
        sess.run(put)
        for t in threads:
            t.join(30)
    assert sorted(got) == [b"a", b"b", b"c", b"d"]


def test_work_must_be_strings():
    q = tf.FIFOQueue(9, [tf.string, tf.string], shapes=[[], []])
    put, read = q.enqueue(["a", "b"]), tf.IdentityReader().read(q)
    with tf.Session() as sess:
        sess.run(put)
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="single string element"):
            sess.run(read)


def test_bad_attrs():
    for make, part in ((lambda: tf.FixedLengthRecordReader(0), "record_bytes"),
                       (lambda: tf.FixedLengthRecordReader(1, -1), "header"),
                       (lambda: tf.FixedLengthRecordReader(
                           2**62, footer_bytes=2**62), "too large"),
                       (lambda: tf.TextLineReader(-1), "skip_header_lines"),
                       (lambda: tf.FixedLengthRecordReader(
                           1, encoding="LZ4"), "compression_type")):
        with tf.Session() as sess, pytest.raises(
                tf.errors.InvalidArgumentError, match=part):
            sess.run(make().num_records_produced())
    with tf.Session() as sess, pytest.raises(tf.errors.UnimplementedError,
                                             match="LMDB"):
        sess.run(tf.raw_ops.LMDBReader())


# Record files read and written by Python.

@pytest.mark.parametrize("compression", [None, "", "ZLIB", "GZIP"])
def test_write_and_iterate(tmp_path, compression):
    options = None if compression is None else \
        tf.python_io.TFRecordOptions(compression)
    values = [b"one", b"", os.urandom(300000), b"x" * 100000]
    path = records(tmp_path / "a", *values, options=options)
    assert list(tf.python_io.tf_record_iterator(path, options)) == values
    with open(path, "rb") as f:
        head = f.read(2)
    assert head == {"ZLIB": b"\x78\x9c", "GZIP": b"\x1f\x8b"}.get(
        compression, b"\x03\x00")
    if compression == "GZIP":
        assert len(gzip.open(path).read()) == sum(len(v) + 16 for v in values)


def test_writers_errors(tmp_path):
    w = tf.python_io.TFRecordWriter(str(tmp_path / "a"))
    w.write(b"x")
    w.flush()
    assert os.path.getsize(tmp_path / "a") == 17
    w.close()
    w.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        w.write(b"x")
    with pytest.raises(tf.errors.NotFoundError):
        tf.python_io.TFRecordWriter(str(tmp_path / "no" / "a"))
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.python_io.tf_record_iterator(str(tmp_path / "none")))
    with pytest.raises(ValueError, match="compression_type"):
        tf.python_io.TFRecordOptions("LZ4")
    bad = write(tmp_path / "bad", b"x" * 50)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 0"):
        list(tf.python_io.tf_record_iterator(bad))


def test_record_input_gives_batches(tmp_path):
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(6):
            writer.write(b"%d" % i)
    pattern = str(tmp_path / "r*")
    records = [b"%d" % i for i in range(6)]
    whole = tf.contrib.framework.RecordInput(
        pattern, batch_size=6, buffer_size=6, seed=1).get_yield_op()
    parts = tf.contrib.framework.RecordInput(
        pattern, batch_size=2, batches=3, buffer_size=6).get_yield_op()
    assert [len(part) for part in parts] == [2, 2, 2]
    none = tf.contrib.framework.RecordInput(str(tmp_path / "none")).get_yield_op()
    with tf.Session() as session:
        assert sorted(session.run(whole)) == records
        assert sorted(sum(session.run(parts), [])) == records
        with pytest.raises(tf.errors.NotFoundError, match="none"):
            session.run(none)


class TestRecordInput:
    def write(self, tmp_path, files=3, records=4):
        for i in range(files):
            with tf.python_io.TFRecordWriter(
                    str(tmp_path / ("r%d" % i))) as writer:
                for k in range(records):
                    writer.write(b"%d-%d" % (i, k))
        return {b"%d-%d" % (i, k) for i in range(files)
                for k in range(records)}

    def batches(self, n, **attrs):
        node = tf.raw_ops.RecordInput(**attrs)
        with tf.Session() as session:
            return [session.run(node).tolist() for _ in range(n)]

    def test_each_epoch_has_every_record_once(self, tmp_path):
        want = self.write(tmp_path)
        for attrs in ({}, {"file_buffer_size": 1}, {"file_parallelism": 1}):
            got = self.batches(4, file_pattern=str(tmp_path / "r*"),
                               batch_size=6, **attrs)
            assert set(got[0] + got[1]) == want == set(got[2] + got[3])

    def test_the_seed_says_the_order(self, tmp_path):
        self.write(tmp_path)
        pattern = str(tmp_path / "r*")
        first, second, other = (
            self.batches(2, file_pattern=pattern, batch_size=12,
                         file_random_seed=seed,
                         file_shuffle_shift_ratio=0.5)
            for seed in (1, 1, 2))
        assert first == second != other
        assert first[0] != first[1]

    def test_refusals(self, tmp_path):
        with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size"):
            self.batches(1, file_pattern="x", batch_size=0)
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="file_shuffle_shift_ratio"):
            self.batches(1, file_pattern="x", file_shuffle_shift_ratio=2.)
        with pytest.raises(tf.errors.NotFoundError, match="no file matches"):
            self.batches(1, file_pattern=str(tmp_path / "none*"))
        (tmp_path / "empty").write_bytes(b"")
        with pytest.raises(tf.errors.NotFoundError, match="holds a record"):
            self.batches(1, file_pattern=str(tmp_path / "empty"))
        (tmp_path / "bad").write_bytes(b"no records at all, as one sees")
        with pytest.raises(tf.errors.DataLossError, match="in file .*bad"):
            self.batches(1, file_pattern=str(tmp_path / "bad"))


def test_a_unit_of_one_record_is_finished_with_it(tmp_path):
    """TensorFlow's counts and states; units were counted as finished only by
    the next read, and states were of units half read."""
    path = tmp_path / "f"
    path.write_bytes(b"x")
    q = tf.FIFOQueue(9, tf.string, shapes=[])
    identity, whole = tf.IdentityReader(), tf.WholeFileReader()
    put = q.enqueue_many([[str(path)] * 4])
    state = tf.placeholder(tf.string, [])
    with tf.Session() as sess:
        assert sess.run(identity.serialize_state()) == b""
        for reader in (whole, identity):
            sess.run(put)
            for n in (1, 2):
                sess.run(reader.read(q))
                assert sess.run([reader.num_records_produced(),
                                 reader.num_work_units_completed()]) == [n, n]
        saved = sess.run(identity.serialize_state())
        name = str(path).encode()
        assert saved == b"\x08\x02\x10\x02\x18\x02\x22" + \
            bytes([len(name)]) + name
        sess.run(identity.reset())
        assert sess.run(identity.serialize_state()) == b""
        sess.run(identity.restore_state(saved))
        assert sess.run(identity.num_work_units_completed()) == 2
        # Restored, it goes on with the queue, not with the unit it had.
        sess.run(q.enqueue("next"))
        for _ in range(5):
            key, _ = sess.run(identity.read(q))
        assert key == b"next"
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="Inconsistent work started vs. finished"):
            sess.run(identity.restore_state(state),
                     {state: b"\x08\x03\x10\x02\x18\x03\x22\x01z"})
