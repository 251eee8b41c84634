"""tf.keras.datasets: data sets of the network as arrays of NumPy.

A file that is in the folder of `get_file` (~/.keras/datasets), or whose path is
given, is read without the network; its hash must be that of the original."""
import gzip
import json
import os
import pickle

import numpy as np

from headrace._src.keras.data_files import get_file
from headrace._src.layers import backend
from headrace._src.platform import tf_logging as _logging

_FOLDER = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"
_HASHES = {
    "boston_housing.npz":
        "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    "cifar-10-python":
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    "cifar-100-python":
        "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    "imdb.npz":
        "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    "imdb_word_index.json": "bfafd718b763782e994055a2d397834f",
    "mnist.npz":
        "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    "reuters.npz":
        "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    "reuters_word_index.json": "4d44cc38712099c9e383dc6e5f11a921",
}


def _file(path, name):
    return get_file(path, origin=_FOLDER + name, file_hash=_HASHES[name])


def load_mnist(path="mnist.npz"):
    """((x_train, y_train), (x_test, y_test)): 60000 and 10000 pictures of
    digits, uint8 [n, 28, 28], and labels, uint8 [n]. `path`: of the file, in
    ~/.keras/datasets. Exception if it is not there and cannot be fetched."""
    with np.load(_file(path, "mnist.npz")) as file:
        return ((file["x_train"], file["y_train"]),
                (file["x_test"], file["y_test"]))


def load_fashion_mnist():
    """((x_train, y_train), (x_test, y_test)): 60000 and 10000 pictures of
    clothes, uint8 [n, 28, 28], and labels, uint8 [n]. Exception if the files
    are not in ~/.keras/datasets/fashion-mnist and cannot be fetched."""
    def read(name, offset):
        path = get_file(name, origin=_FOLDER + name, cache_subdir=os.path.join(
            "datasets", "fashion-mnist"))
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)
    parts = []
    for part in "train", "t10k":
        labels = read(part + "-labels-idx1-ubyte.gz", 8)
        images = read(part + "-images-idx3-ubyte.gz", 16)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return tuple(parts)


def load_boston_housing(path="boston_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test)): of houses, float64 [n, 13], and
    their prices, float64 [n], shuffled by `seed`; the share test_split is for
    tests. ValueError for other shares; Exception if the file is not there and
    cannot be fetched."""
    if not 0 <= test_split < 1:
        raise ValueError("boston_housing.load_data: test_split must be in [0, "
                         "1), got %s" % (test_split,))
    with np.load(_file(path, "boston_housing.npz")) as file:
        x, y = file["x"], file["y"]
    order = _shuffled(len(x), seed)
    x, y = x[order], y[order]
    at = int(len(x) * (1 - test_split))
    return (x[:at].copy(), y[:at].copy()), (x[at:].copy(), y[at:].copy())


def _shuffled(size, seed=None):
    if seed is not None:
        np.random.seed(seed)
    order = np.arange(size)
    np.random.shuffle(order)
    return order


def _cifar(name, folder, files, key):
    """Pictures and labels of the files in a folder of pickles."""
    path = get_file(folder, origin=_CIFAR + name + ".tar.gz", untar=True,
                    file_hash=_HASHES[name])
    images, labels = [], []
    for one in files:
        with open(os.path.join(path, one), "rb") as file:
            found = pickle.load(file, encoding="bytes")
        images.append(found[b"data"].reshape(-1, 3, 32, 32))
        labels.append(found[key.encode()])
    images, labels = np.concatenate(images), np.concatenate(labels)
    if backend.image_data_format() == "channels_last":
        images = images.transpose(0, 2, 3, 1)
    return images, labels.reshape(-1, 1)


def load_cifar10():
    """((x_train, y_train), (x_test, y_test)): 50000 and 10000 pictures of 10
    kinds of things, uint8 [n, 32, 32, 3] or as the backend's data format says,
    and labels, uint8 [n, 1]. Exception if cifar-10-batches-py.tar.gz is not in
    ~/.keras/datasets and cannot be fetched."""
    return tuple(
        (x, y.astype("uint8")) for x, y in (
            _cifar("cifar-10-python", "cifar-10-batches-py", files, "labels")
            for files in (["data_batch_%d" % i for i in range(1, 6)],
                          ["test_batch"])))


def load_cifar100(label_mode="fine"):
    """((x_train, y_train), (x_test, y_test)): 50000 and 10000 pictures of
    things, uint8 [n, 32, 32, 3] or as the backend's data format says, and
    labels, int64 [n, 1], of 100 kinds ("fine") or 20 ("coarse"). ValueError for
    other modes; Exception if cifar-100-python.tar.gz is not in
    ~/.keras/datasets and cannot be fetched."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError("`label_mode` must be one of `\"fine\"`, `\"coarse\"`."
                         " Got %s" % (label_mode,))
    return tuple(_cifar("cifar-100-python", "cifar-100-python", [name],
                        label_mode + "_labels") for name in ("train", "test"))


def _renamed(num_words, kwargs):
    if "nb_words" in kwargs:
        _logging.warning("The `nb_words` argument in `load_data` has been "
                         "renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError("Unrecognized keyword arguments: %s" % kwargs)
    return num_words


def _words(xs, labels, num_words, skip_top, maxlen, start_char, oov_char,
           index_from):
    """(lists of numbers of words as the arguments say, labels)"""
    if start_char is not None:
        xs = [[start_char] + [w + index_from for w in x] for x in xs]
    elif index_from:
        xs = [[w + index_from for w in x] for x in xs]
    if maxlen:
        kept = [(x, y) for x, y in zip(xs, labels) if len(x) < maxlen]
        if not kept:
            raise ValueError("After filtering for sequences shorter than "
                             "maxlen=%s, no sequence was kept. Increase maxlen."
                             % (maxlen,))
        xs, labels = [x for x, _ in kept], [y for _, y in kept]
    most = num_words or max(max(x) for x in xs)
    if oov_char is None:
        return [[w for w in x if skip_top <= w < most] for x in xs], labels
    return [[w if skip_top <= w < most else oov_char for w in x]
            for x in xs], labels


def _lists(xs):
    """An array of lists."""
    found = np.empty(len(xs), object)
    found[:] = xs
    return found


def load_imdb(path="imdb.npz", num_words=None, skip_top=0, maxlen=None,
              seed=113, start_char=1, oov_char=2, index_from=3, **kwargs):
    """((x_train, y_train), (x_test, y_test)): 25000 and 25000 reviews of films,
    arrays [n] of lists of numbers of words, and whether they are good, int64
    [n].

    Words are numbered by how often they occur, from index_from on; a review
    begins with start_char; words that are not below num_words, or below
    skip_top, become oov_char, or are left out if it is None. `maxlen`: only
    shorter reviews. `seed`: of the order. ValueError if none is left, TypeError
    for other arguments; Exception if the file is not there and cannot be
    fetched."""
    num_words = _renamed(num_words, kwargs)
    with np.load(_file(path, "imdb.npz"), allow_pickle=True) as file:
        parts = [(file["x_" + p], file["y_" + p]) for p in ("train", "test")]
    np.random.seed(seed)
    orders = [_shuffled(len(x)) for x, _ in parts]
    parts = [(x[order], y[order]) for (x, y), order in zip(parts, orders)]
    at = len(parts[0][0])
    xs, labels = _words(
        np.concatenate([x for x, _ in parts]),
        np.concatenate([y for _, y in parts]), num_words, skip_top, maxlen,
        start_char, oov_char, index_from)
    return ((_lists(xs[:at]), np.array(labels[:at])),
            (_lists(xs[at:]), np.array(labels[at:])))


def load_reuters(path="reuters.npz", num_words=None, skip_top=0, maxlen=None,
                 test_split=0.2, seed=113, start_char=1, oov_char=2,
                 index_from=3, **kwargs):
    """((x_train, y_train), (x_test, y_test)): 11228 pieces of news, arrays [n]
    of lists of numbers of words, and which of 46 topics they are of, int64
    [n]. The share test_split is for tests. For the other arguments and the
    errors see tf.keras.datasets.imdb.load_data."""
    num_words = _renamed(num_words, kwargs)
    with np.load(_file(path, "reuters.npz"), allow_pickle=True) as file:
        xs, labels = file["x"], file["y"]
    order = _shuffled(len(xs), seed)
    xs, labels = _words(xs[order], labels[order], num_words, skip_top, maxlen,
                        start_char, oov_char, index_from)
    at = int(len(xs) * (1 - test_split))
    return ((_lists(xs[:at]), np.array(labels[:at])),
            (_lists(xs[at:]), np.array(labels[at:])))


def _word_index(path, name):
    with open(_file(path, name), encoding="utf-8") as file:
        return json.load(file)


def get_imdb_word_index(path="imdb_word_index.json"):
    """The dict from a word, a str, to its number, an int, in the reviews of
    tf.keras.datasets.imdb, before index_from is added. `path`: of the file of
    any size. Exception if it is not there and cannot be fetched."""
    return _word_index(path, "imdb_word_index.json")


def get_reuters_word_index(path="reuters_word_index.json"):
    """The dict from a word, a str, to its number, an int, in the texts of
    tf.keras.datasets.reuters, before index_from is added. `path`: of the file
    of any size. Exception if it is not there and cannot be fetched."""
    return _word_index(path, "reuters_word_index.json")
