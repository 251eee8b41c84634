"""Data for tf.keras beside what TensorFlow 1.15.5 gives
(keras_data_programs.py), and what is refused. Pictures need Pillow, SciPy and
pandas."""
import json
import os
import sys
import tarfile
import threading
import urllib.request

import keras_data_programs as programs
import numpy as np
import pytest

import headrace as tf

K = tf.keras
NEEDS = {"changes": ["scipy", "PIL"], "folders": ["PIL", "pandas"],
         "generators": ["scipy", "PIL"], "pictures": ["PIL"]}

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


def check(got, wanted, where):
    if isinstance(wanted, dict):
        assert sorted(got) == sorted(wanted), where
        for key in wanted:
            check(got[key], wanted[key], where + "/" + key)
    elif isinstance(wanted, list):
        assert len(got) == len(wanted), where
        for i, (a, b) in enumerate(zip(got, wanted)):
            check(a, b, "%s/%d" % (where, i))
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=1e-4, abs=1e-4), where
    else:
        assert got == wanted, where


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name):
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package)
    check(programs.run(tf, name), VALUES[name], name)


def png(folder):
    pytest.importorskip("PIL")
    path = os.path.join(str(folder), "x.png")
    K.preprocessing.image.save_img(path, np.ones((4, 4, 3)))
    return path


@pytest.mark.parametrize("call, message", [
    (lambda i, p: i.load_img(p, color_mode="cmyk"), "color_mode must be"),
    (lambda i, p: i.load_img(p, target_size=(2, 2), interpolation="cubic"),
     "Invalid interpolation method cubic"),
    (lambda i, p: i.array_to_img(np.ones((2, 2))), "have rank 3"),
    (lambda i, p: i.array_to_img(np.ones((2, 2, 5))), "channel number: 5"),
    (lambda i, p: i.array_to_img(np.ones((2, 2, 3)), "first"),
     "Unknown data_format: first"),
    (lambda i, p: i.img_to_array(np.ones(3)), "Unsupported image shape"),
    (lambda i, p: i.random_zoom(np.ones((2, 2, 3)), [1]), "`zoom_range`"),
    (lambda i, p: i.random_brightness(np.ones((2, 2, 3)), [1]), "two floats"),
    (lambda i, p: i.ImageDataGenerator(zoom_range=[1]), "`zoom_range`"),
    (lambda i, p: i.ImageDataGenerator(validation_split=2), "strictly between"),
    (lambda i, p: i.ImageDataGenerator(brightness_range=1), "two floats"),
    (lambda i, p: i.ImageDataGenerator().fit(np.ones((2, 2))), "have rank 4"),
    (lambda i, p: i.ImageDataGenerator().flow(np.ones((2, 2))), "rank 4"),
    (lambda i, p: i.ImageDataGenerator().flow(np.ones((2, 2, 2, 3)), [1]),
     "`y` \\(labels\\) should have the same length"),
    (lambda i, p: i.ImageDataGenerator().flow(np.ones((2, 2, 2, 3)),
                                              subset="test"), "subset name"),
    (lambda i, p: i.ImageDataGenerator().flow(np.ones((2, 2, 2, 3)))[1],
     "Asked to retrieve element 1"),
    (lambda i, p: i.ImageDataGenerator().flow_from_directory(
        os.path.dirname(p), class_mode="raw"), "Invalid class_mode: raw"),
    (lambda i, p: i.ImageDataGenerator().flow_from_directory(
        os.path.dirname(p), color_mode="x"), "Invalid color mode: x")])
def test_pictures_refuse(tmp_path, call, message):
    with pytest.raises(ValueError, match=message):
        call(K.preprocessing.image, png(tmp_path))


@pytest.mark.parametrize("error, call, message", [
    (TypeError, lambda p: p.text.Tokenizer(size=1), "size"),
    (TypeError, lambda p: p.text.text_to_word_sequence(3), "must be a str"),
    (ValueError, lambda p: p.text.Tokenizer(3).sequences_to_matrix(
        [[1]], "mode"), "Unknown vectorization mode: mode"),
    (ValueError, lambda p: p.text.Tokenizer(3).sequences_to_matrix(
        [[1]], "tfidf"), "before using tfidf"),
    (ValueError, lambda p: p.text.Tokenizer().sequences_to_matrix([[1]]),
     "Specify a dimension"),
    (ValueError, lambda p: p.sequence.make_sampling_table(0), "at least 1"),
    (ValueError, lambda p: p.sequence.TimeseriesGenerator([1], [1, 2], 1),
     "of same length"),
    (ValueError, lambda p: p.sequence.TimeseriesGenerator([1, 2], [1, 2], 2),
     "is disallowed"),
    (TypeError, lambda p: p.sequence.TimeseriesGenerator(
        [{1}] * 3, [1] * 3, 1).get_config(), "Data not JSON Serializable")])
def test_texts_and_sequences_refuse(error, call, message):
    with pytest.raises(error, match=message):
        call(K.preprocessing)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_network(monkeypatch):
    def refuse(url, *args, **kwargs):
        raise urllib.error.URLError("no network")
    monkeypatch.setattr(urllib.request, "urlretrieve", refuse)


@pytest.mark.parametrize("load", [
    K.datasets.mnist.load_data, K.datasets.fashion_mnist.load_data,
    K.datasets.cifar10.load_data, K.datasets.cifar100.load_data,
    K.datasets.imdb.load_data, K.datasets.imdb.get_word_index,
    K.datasets.reuters.load_data, K.datasets.boston_housing.load_data])
def test_data_sets_without_a_network_say_so(home, no_network, load):
    with pytest.raises(Exception, match="URL fetch failure on https://.*: None "
                                        "-- no network"):
        load()
    assert not list(home.rglob("*.part"))


def test_a_file_that_cannot_be_fetched_again_stays(home, no_network):
    path = home / "mnist.npz"
    path.write_bytes(b"mine")
    with pytest.raises(Exception, match="URL fetch failure"):
        K.datasets.mnist.load_data(str(path))
    assert path.read_bytes() == b"mine"


def test_data_sets_of_files(home, no_network, monkeypatch):
    """Files that are in their folder, with hashes as if they were those."""
    from headrace._src.keras import data_files
    monkeypatch.setattr(data_files, "_is_as_said", lambda *args: True)
    folder = home / ".keras" / "datasets"
    folder.mkdir(parents=True)
    words = np.empty(5, object)
    words[:] = [[1, 2, 3], [4], [5, 6], [7, 8, 9, 10], [11, 2]]
    image = np.zeros((5, 28, 28), np.uint8)
    np.savez(str(folder / "mnist.npz"), x_train=image, y_train=np.arange(5),
             x_test=image[:2], y_test=np.arange(2))
    np.savez(str(folder / "boston_housing.npz"), x=np.ones((10, 13)),
             y=np.arange(10.))
    np.savez(str(folder / "imdb.npz"), x_train=words, y_train=np.arange(5),
             x_test=words[:3], y_test=np.arange(3))
    np.savez(str(folder / "reuters.npz"), x=words, y=np.arange(5))
    (folder / "imdb_word_index.json").write_text('{"a": 1}')
    sets = K.datasets
    (x, y), (z, w) = sets.mnist.load_data()
    assert x.shape == (5, 28, 28) and len(y) == 5 and len(z) == len(w) == 2
    (x, y), (z, w) = sets.boston_housing.load_data(test_split=.3)
    assert x.shape == (7, 13) and sorted([*y, *w]) == list(range(10))
    (x, y), (z, w) = sets.imdb.load_data(num_words=8, maxlen=5)
    assert sorted(map(len, x)) == [2, 3, 3, 4, 4] or len(x) == 5
    assert all(words[0] == 1 and max(words) < 8 for words in x)
    (x, y), (z, w) = sets.reuters.load_data(start_char=None, index_from=0,
                                            oov_char=None, num_words=5)
    assert sorted(map(list, [*x, *z])) == [[], [], [1, 2, 3], [2], [4]]
    assert sets.imdb.get_word_index() == {"a": 1}
    with pytest.raises(ValueError, match="no sequence was kept"):
        sets.imdb.load_data(maxlen=1)
    with pytest.raises(ValueError, match="test_split"):
        sets.boston_housing.load_data(test_split=1)
    with pytest.raises(ValueError, match="`label_mode` must be"):
        sets.cifar100.load_data("medium")


def test_archives_write_nothing_outside_of_their_folder(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "evil.txt").write_text("x")
    with tarfile.open(str(tmp_path / "bad.tar"), "w") as archive:
        archive.add(str(tmp_path / "evil.txt"), "../../../outside.txt")
    with pytest.raises(ValueError, match="outside.txt, which is outside of"):
        K.utils.get_file("bad.tar", "file://%s" % (tmp_path / "bad.tar"),
                         extract=True, cache_dir=str(tmp_path / "cache"))
    assert not list(tmp_path.rglob("outside.txt"))


class Squares(K.utils.Sequence):
    def __init__(self, broken=None):
        self.broken = broken

    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i == self.broken:
            raise KeyError("item %d" % i)
        return np.full((2, 1), i), np.full((2, 1), i * i)


@pytest.mark.parametrize("processes", [False, True])
def test_enqueuers_give_what_workers_make(processes):
    enqueuer = K.utils.OrderedEnqueuer(Squares(), processes)
    enqueuer.start(2, 3)
    batches = enqueuer.get()
    assert [next(batches)[1][0, 0] for _ in range(8)] == [
        0, 1, 4, 9, 16, 25, 0, 1]
    enqueuer.stop()
    assert not enqueuer.is_running() and next(batches, None) is None
    broken = K.utils.OrderedEnqueuer(Squares(1), processes)
    broken.start()
    batches = broken.get()
    next(batches)
    with pytest.raises(KeyError, match="item 1"):
        next(batches)
    assert not broken.is_running()
    assert K.experimental.terminate_keras_multiprocessing_pools() == []


def test_generators_that_threads_may_not_share():
    gate = threading.Event()

    def slow():
        while True:
            gate.wait(.2)
            yield 1
    enqueuer = K.utils.GeneratorEnqueuer(slow())
    enqueuer.start(workers=3)
    with pytest.raises(RuntimeError, match="NOT thread-safe"):
        for _ in range(4):
            for batch in enqueuer.get():
                pass
    with pytest.raises(NotImplementedError, match="SequenceEnqueuer.get"):
        K.utils.SequenceEnqueuer([]).get()


def test_training_with_processes():
    K.backend.clear_session()
    model = K.Sequential([K.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
    history = model.fit_generator(Squares(), epochs=2, verbose=0, workers=2,
                                  use_multiprocessing=True, shuffle=False)
    assert len(history.history["loss"]) == 2
    found = model.predict_generator(Squares(), workers=2,
                                    use_multiprocessing=True)
    assert found.shape == (12, 1)


def test_hdf5_matrix(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "x.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(20).reshape(10, 2)
    x = K.utils.HDF5Matrix(path, "x", 2, 8, normalizer=lambda v: v + 100)
    assert (len(x), x.shape, x.ndim, x.size) == (6, (6, 2), 2, 12)
    assert x.dtype == np.int64
    assert x[0].tolist() == [104, 105] and x[1:3].shape == (2, 2)
    assert x[[0, 5]][:, 0].tolist() == [104, 114]
    assert x[np.array([1])].tolist() == [[106, 107]]
    for key in 6, slice(0, 7), [6]:
        with pytest.raises(IndexError):
            x[key]
    K.utils.HDF5Matrix.refs.pop(path).close()


def test_scikit_learn_refuses_what_nothing_takes():
    wrappers = K.wrappers.scikit_learn
    with pytest.raises(ValueError, match="depth is not a legal parameter"):
        wrappers.KerasClassifier(lambda: None, depth=3)
    with pytest.raises(ValueError, match="Invalid shape for y"):
        wrappers.KerasClassifier(lambda: None).fit(
            np.ones((2, 1)), np.ones((2, 2, 2)))


@pytest.mark.parametrize("as_json", [False, True])
def test_remote_monitors_send_what_an_epoch_gave(monkeypatch, as_json):
    sent = []

    class Requests:
        class exceptions:
            RequestException = OSError

        @staticmethod
        def post(url, **given):
            sent.append((url, given))
            if len(sent) == 2:
                raise OSError("no server")
    monkeypatch.setitem(sys.modules, "requests", Requests)
    K.backend.clear_session()
    model = K.Sequential([K.layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 1)), np.ones((2, 1)), epochs=2, verbose=0, callbacks=[
        K.callbacks.RemoteMonitor("http://a", "/b", "f", {"h": "1"}, as_json)])
    assert [url for url, _ in sent] == ["http://a/b"] * 2
    given = sent[1][1]
    assert given["headers"] == {"h": "1"}
    found = given["json"] if as_json else json.loads(given["data"]["f"])
    assert found["epoch"] == 1 and isinstance(found["loss"], float)


def test_remote_monitors_need_requests(monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(ImportError, match="pip install requests"):
        K.callbacks.RemoteMonitor().on_epoch_end(0)
