"""What notebooks and terminals show: graphs, images, progress, sessions."""
import html.parser
import io
import re
import sys
import types

import numpy as np
import pytest

import headrace as tf
from headrace._src.platform import progress as progress_module


class Balanced(html.parser.HTMLParser):
    """Raises for elements that do not end where they should."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        assert not any(a in ("src", "href") for a, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def text_of(page):
    parser = Balanced()
    parser.feed(page)
    assert not parser.open
    return parser.text


def test_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.name_scope("inner"):
            tf.get_variable("v", [3, 4])
            tf.matmul(x, tf.ones([3, 2]), name="product")
    page = graph._repr_html_()
    text = text_of(page)
    assert "%d nodes" % graph._num_nodes() in text
    assert "1 variables of 12 numbers" in text
    assert re.search(r"inner \(\d+\)", text)
    assert "product = MatMul(x:0, inner/ones:0)" in text
    assert "float32 (?, 2)" in text and "<details" in page


def test_large_graphs_are_cut():
    with tf.Graph().as_default() as graph:
        for _ in range(1200):
            tf.no_op()
    page = graph._repr_html_()
    assert "and 200 nodes more" in text_of(page) and len(page) < 200000
    assert "0 nodes" in text_of(tf.Graph()._repr_html_())


def decoded(image):
    channels = image.array.shape[-1]
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.image.decode_png(image.png, channels=channels))


@pytest.mark.parametrize("array, wanted", [
    (np.arange(6, dtype=np.uint8).reshape(2, 3), None),
    (np.arange(12, dtype=np.uint8).reshape(2, 2, 3), None),
    (np.arange(16, dtype=np.uint8).reshape(2, 2, 4), None),
    (np.arange(4, dtype=np.uint8).reshape(2, 2, 1), None),
    (np.array([[True, False]]), [[255, 0]]),
    (np.array([[0., .5, 1., 2., -1., np.nan]]), [[0, 128, 255, 255, 0, 0]]),
    (np.arange(8, dtype=np.uint8).reshape(2, 2, 2, 1),
     [[0, 1, 4, 5], [2, 3, 6, 7]])])
def test_images(array, wanted):
    image = tf.headrace.Image(array)
    assert image._repr_png_() == image.png
    wanted = np.array(array if wanted is None else wanted, np.uint8)
    got = decoded(image)
    np.testing.assert_array_equal(got, wanted.reshape(got.shape))


def test_a_fetched_image(tmp_path):
    with tf.Session() as session:
        image = tf.headrace.Image(session.run(
            tf.zeros([4, 5, 3], tf.uint8)))
    assert repr(image) == "<tf.headrace.Image of 5 x 4, 3 channels>"
    image.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == image.png


@pytest.mark.parametrize("array, error, message", [
    (np.zeros([2, 2], np.int32), TypeError, "but got int32"),
    (np.zeros([2], np.uint8), ValueError, r"got \[2\]"),
    (np.zeros([2, 2, 5], np.uint8), ValueError, r"got \[2, 2, 5\]"),
    (np.zeros([0, 2, 3], np.uint8), ValueError, "at least one pixel"),
    (np.zeros([0, 2, 2, 3], np.uint8), ValueError, "at least one pixel")])
def test_no_images(array, error, message):
    with pytest.raises(error, match=message):
        tf.headrace.Image(array)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_in_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(tf.headrace.progress(range(4), title="steps")) == [0, 1, 2, 3]
    lines = sys.stderr.getvalue().split("\r")
    assert lines[1].startswith("steps [" + "-" * 30 + "] 0/4")
    assert lines[-1].startswith("steps [" + "#" * 30 + "] 4/4")
    assert lines[-1].endswith("\n")


def test_progress_of_unknown_length(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(tf.headrace.progress(iter("ab"))) == ["a", "b"]
    assert "\r2, 0:00" in sys.stderr.getvalue()
    sys.stderr = Terminal()
    assert list(tf.headrace.progress(iter("ab"), total=2)) == ["a", "b"]
    assert "] 2/2" in sys.stderr.getvalue()
    assert list(tf.headrace.progress([])) == []


def test_progress_is_silent_elsewhere(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert sum(tf.headrace.progress([1, 2])) == 3
    assert sys.stderr.getvalue() == ""


def test_progress_ends_with_the_loop(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError):
        for i in tf.headrace.progress(range(3)):
            1 // (1 - i)
    assert "] 1/3" in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith("\n")


def test_progress_in_a_notebook(monkeypatch):
    shown = []
    handle = types.SimpleNamespace(update=shown.append)

    def display(state, display_id):
        shown.append(state)
        return handle
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(
        get_ipython=lambda: types.SimpleNamespace(kernel=object()),
        display=types.SimpleNamespace(display=display)))
    assert list(tf.headrace.progress(range(2), title="a<b")) == [0, 1]
    page = shown[-1]._repr_html_()
    assert "value='1.0000'" in page and "a&lt;b" in page
    assert "2/2" in text_of(page)


@pytest.mark.parametrize("seconds, text", [
    (0, "0:00"), (61.5, "1:01"), (3723, "1:02:03")])
def test_times(seconds, text):
    assert progress_module._time(seconds) == text


def test_sessions():
    tf.constant(1, name="c")
    session = tf.Session()
    assert repr(session) == "<tf.Session of 1 nodes>"
    session.close()
    assert repr(session) == "<tf.Session of 1 nodes, closed>"
    with tf.InteractiveSession() as session:
        assert repr(session) == "<tf.InteractiveSession of 1 nodes>"
