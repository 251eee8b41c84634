"""tf.examples.tutorials.mnist.input_data: the handwritten digits, from the IDX
files of a folder. Nothing is downloaded."""
import collections
import gzip
import os
import zlib

import numpy as np

from headrace._src.framework import dtypes, errors
from headrace._src.ops.random_ops import get_seed

_FILES = {"train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
          "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}
_IMAGES, _LABELS = 2051, 2049  # what the files begin with
_SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"

Datasets = collections.namedtuple("Datasets", "train validation test")


def _file_error(kind, message):
    return kind(None, None, message)


def _find(folder, name):
    """The path of a file that may be compressed. NotFoundError if it is not
    there."""
    for path in (os.path.join(folder, name + ".gz"), os.path.join(folder, name)):
        if os.path.exists(path):
            return path
    raise _file_error(
        errors.NotFoundError,
        "read_data_sets: no file %s.gz or %s in %r. Put the four MNIST files "
        "there: %s, each with or without .gz" % (
            name, name, folder, ", ".join(
                n for names in _FILES.values() for n in names)))


def _numbers(data, name, magic, rank):
    """The sizes and the bytes of an IDX file."""
    header = np.frombuffer(data[:4 * (rank + 1)], ">u4")
    if header.size != rank + 1 or header[0] != magic:
        raise ValueError("Invalid magic number %s in MNIST file: %s"
                         % (header[0] if header.size else None, name))
    sizes = [int(n) for n in header[1:]]
    count = int(np.prod(sizes, dtype=object))
    values = data[4 * (rank + 1):]
    if len(values) < count:
        raise ValueError("MNIST file %s is cut off: sizes %s need %d bytes, it "
                         "has %d" % (name, sizes, count, len(values)))
    return np.frombuffer(values, np.uint8, count).reshape(sizes)


def _unzipped(f):
    name = getattr(f, "name", "")
    try:
        data = f.read()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data,
                name)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError("MNIST file %s: %s" % (name, error)) from None


def extract_images(f):
    """uint8 [count, rows, columns, 1] of an open IDX file of images, compressed
    or not. ValueError for what is none."""
    data, name = _unzipped(f)
    return _numbers(data, name, _IMAGES, 3)[..., None]


def dense_to_one_hot(labels_dense, num_classes):
    """float64 [count, num_classes] of integers [count]: 1 at their number."""
    return np.eye(num_classes)[np.asarray(labels_dense).ravel()]


def extract_labels(f, one_hot=False, num_classes=10):
    """uint8 [count] of an open IDX file of labels, compressed or not, or
    float64 [count, num_classes]. ValueError for what is none."""
    data, name = _unzipped(f)
    labels = _numbers(data, name, _LABELS, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


class DataSet:
    """Images and labels, which `next_batch` gives in turn.

    `dtype`: uint8, or float32 to have the images in [0, 1]. `reshape`: images
    [count, rows, columns, 1] become [count, rows * columns]. `seed`: of
    NumPy's generator, which shuffles."""

    def __init__(self, images, labels, fake_data=False, one_hot=False,
                 dtype=dtypes.float32, reshape=True, seed=None):
        first, second = get_seed(seed)
        np.random.seed(first if seed is None else second)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError("Invalid image dtype %r, expected uint8 or float32"
                            % dtype)
        self.one_hot = one_hot
        self._fake = fake_data
        self._epochs_completed = self._at = 0
        if fake_data:
            self._num_examples = 10000
        else:
            if images.shape[0] != labels.shape[0]:
                raise ValueError("images.shape: %s labels.shape: %s"
                                 % (images.shape, labels.shape))
            self._num_examples = images.shape[0]
            if reshape:
                if images.shape[3] != 1:
                    raise ValueError("reshape: images have %d channels, wanted "
                                     "1" % images.shape[3])
                images = images.reshape(images.shape[0],
                                        images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: self._num_examples)
    epochs_completed = property(lambda self: self._epochs_completed)

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next (images, labels). After the last example come those of the
        next epoch, in a new order with `shuffle`."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._at
        if not self._epochs_completed and not start and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._at += batch_size
            return self._images[start:self._at], self._labels[start:self._at]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._at = batch_size - len(images)
        return (np.concatenate((images, self._images[:self._at]), axis=0),
                np.concatenate((labels, self._labels[:self._at]), axis=0))


def maybe_download(filename, work_directory, source_url):
    """The path of a file in a folder. Nothing is downloaded: NotFoundError if
    it is not there."""
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        raise _file_error(errors.NotFoundError,
                          "maybe_download: no file %r. Nothing is downloaded; "
                          "put %s there" % (path, source_url))
    return path


def read_data_sets(train_dir, fake_data=False, one_hot=False,
                   dtype=dtypes.float32, reshape=True, validation_size=5000,
                   seed=None, source_url=_SOURCE):
    """Datasets(train, validation, test), each a DataSet, of the four IDX files
    in the folder `train_dir`, compressed or not. The first `validation_size`
    images to train with are the validation's.

    Nothing is downloaded. NotFoundError that says what to put where, if a file
    is missing; ValueError for files that are no such files and for a
    validation_size that there are not.

    Images: float32 in [0, 1], [n, 784], or [n, 28, 28, 1] without `reshape`;
    uint8 as they are with `dtype` tf.uint8. Labels: uint8 [n], or float64 [n,
    10] with `one_hot`. TypeError for another dtype."""
    options = dict(dtype=dtype, reshape=reshape, seed=seed)
    if fake_data:
        return Datasets(*(DataSet([], [], fake_data=True, one_hot=one_hot,
                                  dtype=dtype, seed=seed) for _ in range(3)))
    read = {}
    for part, names in _FILES.items():
        paths = [_find(train_dir, name) for name in names]
        with open(paths[0], "rb") as images, open(paths[1], "rb") as labels:
            read[part] = (extract_images(images),
                          extract_labels(labels, one_hot=one_hot))
    images, labels = read["train"]
    if not 0 <= validation_size <= len(images):
        raise ValueError("Validation size should be between 0 and %d. "
                         "Received: %d." % (len(images), validation_size))
    n = validation_size
    train = DataSet(images[n:], labels[n:], **options)
    validation = DataSet(images[:n], labels[:n], **options)
    return Datasets(train, validation, DataSet(*read["test"], **options))
