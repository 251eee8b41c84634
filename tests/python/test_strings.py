"""tf.strings, the string functions of tf, and tf.audio."""
import numpy as np
import pytest

import headrace as tf


def run(x, feed=None):
    with tf.Session() as sess:
        return sess.run(x, feed)


CASES = {
    "as_string": (lambda: tf.as_string([1.5, -2], precision=1),
                  [b"1.5", b"-2.0"]),
    "string_join": (lambda: tf.string_join([["a", "b"], "c"], "-"),
                    [b"a-c", b"b-c"]),
    "reduce_join_all": (lambda: tf.reduce_join([["a", "b"], ["c", "d"]]),
                        b"abcd"),
    "reduce_join_axis": (lambda: tf.reduce_join(
        [["a", "b"], ["c", "d"]], 0, keep_dims=True, separator="."),
        [[b"a.c", b"b.d"]]),
    "hash": (lambda: tf.string_to_hash_bucket(["hello"], 1000), [938]),
    "hash_fast": (lambda: tf.string_to_hash_bucket_fast(["hello"], 1000),
                  [296]),
    "hash_strong": (lambda: tf.strings.to_hash_bucket_strong(
        ["hello"], 1000, [1, 2]), [622]),
    "to_number": (lambda: tf.string_to_number(["1", "-7"], tf.int32),
                  [1, -7]),
    "substr": (lambda: tf.substr("hello", 1, 3), b"ell"),
    "substr_chars": (lambda: tf.strings.substr(
        "a\u00e9b", 1, 1, unit="UTF8_CHAR"), "\u00e9".encode()),
    "regex_replace": (lambda: tf.regex_replace("a1b22", r"\d+", "#"),
                      b"a#b#"),
    "regex_replace_tensor": (lambda: tf.strings.regex_replace(
        "a1b22", tf.constant(r"\d+"), "#", replace_global=False), b"a#b22"),
    "regex_full_match": (lambda: tf.strings.regex_full_match(
        ["ab", "b"], "a.*"), [True, False]),
    "decode_raw": (lambda: tf.decode_raw(b"\1\0\2\0", tf.uint16), [1, 2]),
    "encode_base64": (lambda: tf.encode_base64("a", pad=True), b"YQ=="),
    "decode_base64": (lambda: tf.io.decode_base64("YQ"), b"a"),
    "length": (lambda: tf.strings.length("\u00e9", unit="UTF8_CHAR"), 1),
    "strip": (lambda: tf.strings.strip(" a\n"), b"a"),
    "lower": (lambda: tf.strings.lower("AB"), b"ab"),
    "upper": (lambda: tf.strings.upper("\u00df", encoding="utf-8"), b"SS"),
    "format": (lambda: tf.strings.format("<{}>", [[1, 2]]), b"<[1 2]>"),
    "transcode": (lambda: tf.strings.unicode_transcode(
        "\u00e9", "UTF-8", "UTF-16-BE"), b"\0\xe9"),
    "segment_join": (lambda: tf.strings.unsorted_segment_join(
        ["a", "b", "c"], [1, 0, 1], 2), [b"b", b"ac"]),
}


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    build, want = CASES[name]
    np.testing.assert_array_equal(run(build()), np.array(want, object)
                                  if isinstance(want, bytes) else want)


def test_reduce_join_of_unknown_rank():
    x = tf.placeholder(tf.string)
    assert run(tf.reduce_join(x), {x: [["a", "b"], ["c", "d"]]}) == b"abcd"


def test_split():
    out = tf.string_split(["a b", "", "c"])
    indices, values, shape = run([out.indices, out.values, out.dense_shape])
    assert indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert values.tolist() == [b"a", b"b", b"c"]
    assert shape.tolist() == [3, 2]
    out = tf.strings.split(["a--b--"], "--")
    assert run(out.values).tolist() == [b"a", b"b", b""]
    with pytest.raises(ValueError, match="result_type"):
        tf.strings.split(["a"], result_type="Ragged")


def test_format_counts_placeholders():
    with pytest.raises(ValueError, match="placeholder"):
        tf.strings.format("{} {}", [1])


def test_one_of_two_names():
    with pytest.raises(ValueError, match="Exactly one"):
        tf.string_to_number(["1"], input=["1"])


def test_bad_number():
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not"):
        run(tf.string_to_number(["x"]))


def test_wav():
    audio = np.array([[0.5, -0.5], [0.25, 0]], np.float32)
    wav = tf.audio.encode_wav(audio, 8000)
    back = tf.audio.decode_wav(wav, desired_channels=1)
    samples, rate = run([back.audio, back.sample_rate])
    np.testing.assert_array_equal(samples, audio[:, :1])
    assert rate == 8000
    with pytest.raises(tf.errors.InvalidArgumentError, match="RIFF"):
        run(tf.audio.decode_wav("RIFX"))


@pytest.mark.parametrize("value", [
    b"ab\0\0", [b"ab\0\0", b"c"], [[b"a\0"], [b"\0"]], "ab\0",
    np.array([b"ab\0\0", b"c"], object), np.bytes_(b"ab\0"),
    [np.bytes_(b"a\0"), b"x\0"]])
def test_nuls_at_the_end_of_strings(value):
    want = np.vectorize(lambda s: s.encode() if isinstance(s, str) else s,
                        otypes=[object])(np.array(value, object)).tolist()

    def check(got):
        assert np.array(got, object).tolist() == want

    variable = tf.Variable(value)
    x = tf.placeholder(tf.string)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for tensor in (tf.constant(value), tf.constant(value, tf.string),
                       tf.convert_to_tensor(value), variable,
                       tf.identity(value)):
            check(s.run(tensor))
        fed = s.run(x, {x: value})  # text stays text
        assert fed.tolist() == np.array(value, object).tolist()
        check(s.run(tf.identity(x), {x: value}))
    check(tf.get_static_value(tf.constant(value)))
    held = tf.constant(value).op.get_attr("value")
    check(tf.make_ndarray(held) if held.tensor_shape.dim else
          held.string_val[0])


def test_nuls_at_the_end_of_strings_of_datasets():
    values = [b"a\0", b"\0\0", b"b"]
    D = tf.data.Dataset
    for d in (D.from_tensor_slices(values), D.from_tensors(values).unbatch()
              if hasattr(D, "unbatch") else D.from_tensor_slices(values),
              D.from_generator(lambda: iter(values), tf.string)):
        get_next = d.make_one_shot_iterator().get_next()
        with tf.Session() as s:
            assert [s.run(get_next) for _ in values] == values


def test_nuls_in_a_constant_that_is_filled_up():
    with tf.Session() as s:
        assert s.run(tf.constant([b"a\0", b"b\0\0"], shape=[3])).tolist() == [
            b"a\0", b"b\0\0", b"b\0\0"]
        assert s.run(tf.constant([], tf.string, shape=[2])).tolist() == [
            b"", b""]
