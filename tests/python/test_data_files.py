"""Datasets of what is in files."""
import gzip
import struct
import zlib

import numpy as np
import pytest

import headrace as tf
from dataset_values import one_shot, values

Dataset = tf.data.Dataset


def _crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def _records(*records):
    out = b""
    for r in records:
        head = struct.pack("<Q", len(r))
        out += head + struct.pack("<I", _crc32c(head))
        out += r + struct.pack("<I", _crc32c(r))
    return out


def _write(path, data):
    path.write_bytes(data)
    return str(path)


def test_record_files(tmp_path):
    records = [b"one", b"", b"x" * 300000]
    data = _records(*records)
    a = _write(tmp_path / "a", data)
    b = _write(tmp_path / "b", zlib.compress(data))
    c = _write(tmp_path / "c", gzip.compress(data))
    two = _write(tmp_path / "d", gzip.compress(data) + gzip.compress(data))
    TFRecordDataset = tf.data.TFRecordDataset
    assert values(TFRecordDataset([a, a])) == records * 2
    assert values(TFRecordDataset(a, buffer_size=1)) == records
    assert values(TFRecordDataset(b, "ZLIB")) == records
    assert values(TFRecordDataset([c], "GZIP", 100)) == records
    assert values(TFRecordDataset(two, "GZIP")) == records * 2
    assert values(TFRecordDataset(Dataset.from_tensor_slices([a, a]))) == \
        records * 2
    assert sorted(values(TFRecordDataset([a, a], num_parallel_reads=2))) == \
        sorted(records * 2)
    assert one_shot(TFRecordDataset(_write(tmp_path / "e", b""))) == []


def test_damaged_record_files(tmp_path):
    data = _records(b"one", b"two")
    good = _write(tmp_path / "good", data)
    cases = [
        (data[:-3], [b"one"], "truncated record at 19"),
        (data[:25], [b"one"], "truncated record at 19"),
        (data[:14] + b"X" + data[15:], [], "corrupted record at 12"),
        (data[:1] + b"X" + data[2:], [], "corrupted record at 0"),
        (b"short", [], "truncated record at 0"),
        # Lengths that a checksum vouches for.
        (struct.pack("<Q", 2**40) + struct.pack(
            "<I", _crc32c(struct.pack("<Q", 2**40))) + b"abc", [],
         "corrupted record at 0"),
        (struct.pack("<Q", 2**31) + struct.pack(
            "<I", _crc32c(struct.pack("<Q", 2**31))) + b"abc", [],
         "truncated record at 0")]
    for damaged, before, message in cases:
        bad = _write(tmp_path / "bad", damaged)
        got = values(tf.data.TFRecordDataset([bad, good]))
        assert got[:len(before)] == before
        error = got[len(before)]
        assert isinstance(error, tf.errors.DataLossError), damaged
        assert message in str(error) and "bad" in str(error)
        assert got[len(before) + 1:] == [b"one", b"two"]
    for name, damaged in (("ZLIB", b"not zlib"), ("GZIP", data),
                          ("ZLIB", zlib.compress(data)[:-5]),
                          ("GZIP", gzip.compress(data)[:20])):
        got = values(tf.data.TFRecordDataset(
            _write(tmp_path / "bad", damaged), name))
        assert isinstance(got[-1], tf.errors.DataLossError)


def test_files_that_are_not_there(tmp_path):
    missing = str(tmp_path / "missing")
    for d in (tf.data.TFRecordDataset(missing), tf.data.TextLineDataset(missing),
              tf.data.FixedLengthRecordDataset(missing, 1)):
        got = values(d)
        assert len(got) == 1 and isinstance(got[0], tf.errors.NotFoundError)
    iterator = tf.data.TFRecordDataset(
        missing, "LZ4").make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="compression_type: LZ4"):
            sess.run(get_next)


def test_text_lines(tmp_path):
    text = b"a\rb\r\nc\n\nlast\r"
    lines = [b"ab", b"c", b"", b"last"]
    a = _write(tmp_path / "a", text)
    z = _write(tmp_path / "z", zlib.compress(text))
    long = _write(tmp_path / "long", b"x" * 600000 + b"\n" + b"y" * 10)
    assert values(tf.data.TextLineDataset([a, a])) == lines * 2
    assert values(tf.data.TextLineDataset(z, "ZLIB", 3)) == lines
    assert values(tf.data.TextLineDataset(long)) == [b"x" * 600000, b"y" * 10]
    assert values(tf.data.TextLineDataset(a).skip(1).filter(
        lambda s: tf.not_equal(s, ""))) == [b"c", b"last"]


CSV = [  # text, options, elements; a string in place of an error's message
    (b"1,2.5,a\n2,3.5,b", {}, [(1, 2.5, b"a"), (2, 3.5, b"b")]),
    (b"1,2.5,a\r2,3.5,b\r\n3,4,c\n", {},
     [(1, 2.5, b"a"), (2, 3.5, b"b"), (3, 4, b"c")]),
    (b'1,2,"a,\nb""c\r\n"\r\n2,"3.5",""\n', {},
     [(1, 2, b'a,\nb"c\r\n'), (2, 3.5, b"none")]),
    (b'1,2,"a"b\n', dict(use_quote_delim=False), [(1, 2, b'"a"b')]),
    (b" 1 , 2.5 , a \n1,0x10,a\0b\n,nan,\n1,1e400,x", {},
     [(1, 2.5, b" a "), (1, 16, b"a\0b"), (7, float("nan"), b"none"),
      (1, float("inf"), b"x")]),
    (b"", {}, []),
    (b"a,b,c\n1,2,x\n", dict(header=True), [(1, 2, b"x")]),
    (b'"a\nb",b\n1,2,x\n', dict(header=True), [(1, 2, b"x")]),
    (b"", dict(header=True), ["Can't read header of file"]),
    (b"1;2;x", dict(field_delim=";"), [(1, 2, b"x")]),
    (b'NA,1,"NA"', dict(na_value="NA"), [(7, 1, b"none")]),
    (b"1,2,3,4,q\n5,6,7\n8,9,1,2,r,t", dict(select_cols=[0, 2, 4]),
     [(1, 3, b"q"), "Expect 3 fields but have 2", (8, 1, b"r")]),
    (b"1,2\n1,2,3,4\n\n3,4,z", {},
     ["Expect 3 fields but have 2", "Expect 3 fields but have more",
      "Expect 3 fields but have 1", (3, 4, b"z")]),
    (b"x,2,3\n99999999999,1,2\n1,y,3\n1,2,3", {},
     ["Field 0 in record is not a valid int32: x",
      "Field 0 in record is not a valid int32: 99999999999",
      "Field 1 in record is not a valid float: y", (1, 2, b"3")]),
    (b'1,2,a"b\n1,2,"a"b",x\r"2",3,c', {},
     ["Unquoted fields cannot have quotes inside",
      "Quote inside a string has to be escaped", (2, 3, b"c")]),
    (b'1,2,"abc\n2,3,c\n', {}, ["Reached end of file without closing"]),
    (b"1,2,x", dict(field_delim=";;"), ["field_delim should be only 1 char"]),
    (b"1,2,x", dict(field_delim=""), ["field_delim should be only 1 char"]),
    (b"1,2,x", dict(select_cols=[0, 4, 2]), ["strictly increasing"]),
    (b"1,2,x", dict(select_cols=[-1, 4, 2]), ["non-negative"]),
    (b"1,2,x", dict(select_cols=[0, 1]), ["should match output size"]),
    (b"1,2,x", dict(buffer_size=-1), ["buffer_size should be positive"]),
    (b"1,2,x", dict(compression_type="LZ"), ["Unsupported compression_type"]),
]


@pytest.mark.parametrize("text, options, wanted", CSV)
def test_csv(tmp_path, text, options, wanted):
    path = _write(tmp_path / "a.csv", text)
    defaults = [[7], tf.constant([0.5]), "none"]
    try:
        got = values(tf.data.experimental.CsvDataset(path, defaults, **options))
    except tf.errors.OpError as error:
        got = [error]
    assert len(got) == len(wanted), got
    for g, w in zip(got, wanted):
        if isinstance(w, str):
            assert isinstance(g, tf.errors.InvalidArgumentError)
            assert w in str(g), g
        else:
            np.testing.assert_equal(g, w)


def test_csv_files(tmp_path):
    X = tf.data.experimental
    a = _write(tmp_path / "a", b'h,h\n1,"2\n')
    b = _write(tmp_path / "b", b"h,h\n3,4\n5,6")
    got = values(X.CsvDataset([a, "/nowhere/x", b], [tf.int32, tf.int64],
                              header=True))
    assert got[2:] == [(3, 4), (5, 6)]
    assert "Reached end of file" in str(got[0]) and str(a) in str(got[0])
    assert isinstance(got[1], tf.errors.NotFoundError)
    packed = _write(tmp_path / "c", gzip.compress(b"1,2\n,4"))
    got = values(X.CsvDataset(packed, [tf.int32, [9]], compression_type="GZIP",
                              buffer_size=1))
    assert got[0] == (1, 2) and len(got) == 2
    assert "Field 0 is required but missing in record" in str(got[1])
    got = values(X.CsvDataset(b, [tf.int32], compression_type="GZIP"))
    assert isinstance(got[0], tf.errors.DataLossError) and len(got) == 1
    with tf.Session() as sess:
        made = tf.raw_ops.CSVDatasetV2(
            [b], "", 10, True, ",", True, "", np.array([], np.int64), [[7]],
            np.array([0], np.int64), output_shapes=[[]])
        get_next = tf.data.Dataset(made, tf.data.Dataset.from_tensors(
            1)._spec).make_one_shot_iterator().get_next()
        assert [sess.run(get_next), sess.run(get_next)] == [4, 6]


def test_fixed_length_records(tmp_path):
    data = b"HHaaabbbF"
    a = _write(tmp_path / "a", data)
    z = _write(tmp_path / "z", zlib.compress(data))
    Fixed = tf.data.FixedLengthRecordDataset
    assert values(Fixed([a, a], 3, 2, 1)) == [b"aaa", b"bbb"] * 2
    assert values(Fixed(z, 3, 2, 1, compression_type="ZLIB")) == [
        b"aaa", b"bbb"]
    assert isinstance(values(Fixed(a, 4, 2, 1))[0],
                      tf.errors.InvalidArgumentError)
    got = values(Fixed(z, 4, 2, 1, compression_type="ZLIB"))
    assert got[0] == b"aaab" and isinstance(got[1], tf.errors.DataLossError)
    got = values(Fixed(z, 4, 200, 1, compression_type="ZLIB"))
    assert isinstance(got[0], tf.errors.DataLossError)
    assert isinstance(values(Fixed(a, 1, 2**62, 2**61))[0],
                      tf.errors.InvalidArgumentError)


def test_list_files(tmp_path):
    for name in "bca":
        _write(tmp_path / name, b"")
    found = values(Dataset.list_files(str(tmp_path / "*"), shuffle=False))
    assert found == [str(tmp_path / n).encode() for n in "abc"]
    assert sorted(values(Dataset.list_files(str(tmp_path / "*")))) == found


def test_write_records(tmp_path):
    path = str(tmp_path / "out")
    write = tf.data.experimental.TFRecordWriter(path, "GZIP").write(
        Dataset.from_tensor_slices(["a", "", "ccc"]))
    with tf.Session() as sess:
        sess.run(write)
    assert gzip.open(path).read() == _records(b"a", b"", b"ccc")
    assert values(tf.data.TFRecordDataset(path, "GZIP")) == [b"a", b"", b"ccc"]
