"""tf.summary: the messages that its nodes give."""
import io

import numpy as np
import pytest
from PIL import Image

import headrace as tf


def run(x, feed=None):
    with tf.Session() as sess:
        data = sess.run(x, feed)
    summary = tf.Summary()
    summary.ParseFromString(data)
    return summary


def test_scalar():
    with tf.name_scope("outer"):
        node = tf.summary.scalar("my loss", tf.constant(2.5))
    summary = run(node)
    assert [v.tag for v in summary.value] == ["outer/my_loss"]
    assert summary.value[0].simple_value == 2.5
    family = run(tf.summary.scalar("x", 3, family="f"))
    assert family.value[0].tag == "f/f/x"
    assert node in tf.get_collection(tf.GraphKeys.SUMMARIES)
    apart = tf.summary.scalar("y", 1., collections=["mine"])
    assert tf.get_collection("mine") == [apart]
    many = run(tf.raw_ops.ScalarSummary(["a", "b"], [1., 2.]))
    assert [(v.tag, v.simple_value) for v in many.value] == [("a", 1),
                                                            ("b", 2)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
        run(tf.summary.scalar("z", [1., 2.]))


def test_histogram():
    values = np.float32([-3, -.5, 0, 0, 1e-20, .25, 7, 1e30])
    h = run(tf.summary.histogram("h", values)).value[0].histo
    assert (h.min, h.num) == (-3, 8) and h.max == np.float32(1e30)
    assert h.sum == values.astype(float).sum()
    limits, counts = list(h.bucket_limit), list(h.bucket)
    assert len(limits) == len(counts) and sum(counts) == 8
    assert limits == sorted(limits)
    # Each value is in the first bucket whose limit is greater.
    want = np.zeros(len(limits))
    for v in values.astype(float):
        want[np.searchsorted(limits, v, side="right")] += 1
    assert counts == want.tolist()
    empty = run(tf.summary.histogram("e", np.zeros(0, np.int32)))
    assert list(empty.value[0].histo.bucket) == [0]
    for bad, name in ((np.nan, "Nan"), (np.inf, "Infinity")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            run(tf.summary.histogram("bad", [1., bad]))


def test_image():
    pixels = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
    summary = run(tf.summary.image("i", pixels))
    assert [v.tag for v in summary.value] == ["i/image/0", "i/image/1"]
    for v, want in zip(summary.value, pixels):
        assert (v.image.height, v.image.width, v.image.colorspace) == (4, 5, 3)
        np.testing.assert_array_equal(
            np.array(Image.open(io.BytesIO(v.image.encoded_image_string))),
            want)
    one = run(tf.summary.image("i", pixels, max_outputs=1))
    assert [v.tag for v in one.value] == ["i_1/image"]

    def shown(values, **kwargs):
        data = run(tf.raw_ops.ImageSummary("t", np.reshape(
            values, (1, 1, -1, 1)), **kwargs)).value[0].image
        return np.array(Image.open(io.BytesIO(
            data.encoded_image_string)))[0].tolist()
    for kind in (np.float32, np.float64, np.float16):
        assert shown(kind([0, 1, 2])) == [0, 127, 255]
        assert shown(kind([-2, 0, 1])) == [1, 128, 191]
        assert shown(kind([0, np.nan, 2])) == [0, 255, 255]
        assert shown(kind([0, 0])) == [0, 0]
    for bad in (pixels[0], pixels[..., :2]):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            run(tf.summary.image("bad", bad))


def test_audio():
    sound = (np.random.RandomState(0).rand(2, 20, 2) * 2 - 1).astype(np.float32)
    for samples, channels in ((sound, 2), (sound[..., 0], 1)):
        summary = run(tf.summary.audio("a", samples, 8000.))
        tag = summary.value[0].tag.split("/")[0]
        assert [v.tag for v in summary.value] == [
            tag + "/audio/0", tag + "/audio/1"]
        for v, want in zip(summary.value, samples):
            audio = v.audio
            assert (audio.sample_rate, audio.num_channels, audio.length_frames,
                    audio.content_type) == (8000, channels, 20, "audio/wav")
            with tf.Session() as sess:
                got = sess.run(tf.audio.decode_wav(audio.encoded_audio_string))
            np.testing.assert_allclose(got[0], want.reshape(20, channels),
                                       atol=1e-4)
    one = run(tf.summary.audio("one", sound, 8000., max_outputs=1))
    assert [v.tag for v in one.value] == ["one/audio"]
    for bad, rate in ((sound[0, :, 0], 8000.), (sound, -1.)):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            run(tf.summary.audio("bad", bad, rate))


def test_tensor_and_text():
    v = run(tf.summary.tensor_summary("t", [[1., 2.]])).value[0]
    assert v.tag == "t" and v.tensor.tensor_shape.dim[1].size == 2
    v = run(tf.summary.text("words", ["a", "b"])).value[0]
    assert v.metadata.plugin_data.plugin_name == "text"
    assert list(v.tensor.string_val) == [b"a", b"b"]
    with pytest.raises(ValueError):
        tf.summary.text("number", 3)
    v = run(tf.raw_ops.TensorSummary([1, 2], name="node")).value[0]
    assert v.node_name == "node"
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.raw_ops.TensorSummaryV2("t", 1., b"\xff"))


def test_merge():
    assert tf.summary.merge_all() is None
    a = tf.summary.scalar("a", 1.)
    b = tf.summary.histogram("b", [1., 2.])
    merged = tf.summary.merge([a, b])
    assert [v.tag for v in run(merged).value] == ["a", "b"]
    assert [v.tag for v in run(tf.summary.merge_all()).value] == ["a", "b"]
    assert [v.tag for v in run(tf.summary.merge_all(scope="b")).value] == ["b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a"):
        run(tf.summary.merge([a, a]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.summary.merge([b"\xff\xff"]))


@pytest.mark.parametrize("rate, whole", [
    (0.2, 1), (0.9, 1), (1.0, 1), (44100.7, 44101), (4e9, 4000000000)])
def test_audio_of_rates_that_are_not_whole(rate, whole):
    summary = tf.summary.audio("a", np.zeros([1, 8], np.float32), rate)
    with tf.Session() as sess:
        message = tf.Summary.FromString(sess.run(summary))
    audio = message.value[0].audio
    assert audio.sample_rate == np.float32(rate)
    wav = audio.encoded_audio_string
    assert int.from_bytes(wav[24:28], "little") == whole
    assert int.from_bytes(wav[28:32], "little") == 2 * whole % 2 ** 32


@pytest.mark.parametrize("rate", [0., -1., float("nan"), float("inf"), 5e9])
def test_audio_of_impossible_rates(rate):
    summary = tf.summary.audio("a", np.zeros([1, 8], np.float32), rate)
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="sample_rate"):
        sess.run(summary)
