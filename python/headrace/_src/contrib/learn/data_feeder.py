"""tf.contrib.learn: arrays fed in batches, through placeholders."""
import itertools
import math

import numpy as np

from headrace._src.contrib.learn import frames as _frames
from headrace._src.framework import dtypes
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging as _log


def _mapped(function, *values):
    """`function` of arrays, or of the arrays of each key of dicts."""
    if isinstance(values[0], dict):
        return {k: function(*[v[k] for v in values]) for k in values[0]}
    return function(*values)


def _input_size(shape, batch_size):
    return [batch_size] + (list(shape[1:]) if len(shape) > 1 else [1])


def _output_size(shape, n_classes, batch_size):
    size = list(shape[1:])
    if size and size[0] == 1:
        size = size[1:]
    if n_classes is not None and n_classes > 1:
        size.append(n_classes)
    return [batch_size] + size


def get_in_out_shape(x_shape, y_shape, n_classes, batch_size=None):
    """(shape of the inputs, shape of the labels or None, batch size) of batches.
    ValueError for a batch size below 1."""
    if batch_size is None:
        first = (next(iter(x_shape.values())) if isinstance(x_shape, dict)
                 else x_shape)
        batch_size = first[0]
    elif batch_size <= 0:
        raise ValueError("Invalid batch_size %d." % batch_size)
    inputs = _mapped(lambda shape: _input_size(shape, batch_size), x_shape)
    if y_shape is None:
        return inputs, None, batch_size
    if isinstance(y_shape, dict):
        outputs = {k: _output_size(v, (n_classes or {}).get(k), batch_size)
                   for k, v in y_shape.items()}
    else:
        outputs = _output_size(y_shape, n_classes, batch_size)
    return inputs, outputs, batch_size


def _is_iterator(x):
    return hasattr(x, "next") or hasattr(x, "__next__")


def setup_train_data_feeder(x, y, n_classes, batch_size=None, shuffle=True,
                            epochs=None):
    """A feeder of arrays, of dicts of them, of frames of pandas or of iterators
    over examples. ValueError if only one of x and y is an iterator."""
    if _frames.is_dask(x) or _frames.is_dask(y):
        raise NotImplementedError(
            "Data of dask are not fed: give x.compute() and y.compute()")
    x = _frames.extract_pandas_data(x)
    if y is not None:
        y = _frames.extract_pandas_labels(y)
    if not _is_iterator(x):
        return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle,
                          epochs=epochs)
    if y is not None and not _is_iterator(y):
        raise ValueError("Both x and y should be iterators for streaming "
                         "learning to work.")
    return StreamingDataFeeder(x, y, n_classes, batch_size)


def setup_predict_data_feeder(x, batch_size=None):
    """A list of the batches of an array or a frame, or an iterator over those of
    an iterator. ValueError for a batch size below 1."""
    if batch_size is not None and batch_size <= 0:
        raise ValueError("Invalid batch_size %d." % batch_size)
    x = _frames.extract_pandas_data(x)
    if _is_iterator(x):
        return _batches(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    if batch_size is None:
        return [x]
    return [x[i * batch_size:(i + 1) * batch_size]
            for i in range(math.ceil(len(x) / batch_size))]


def _batches(x, batch_size):
    while True:
        chunk = list(itertools.islice(x, batch_size))
        if not chunk:
            return
        yield _mapped(lambda *parts: np.array(parts), *chunk)


def setup_processor_data_feeder(x):
    """The values of a frame of pandas; what is none as it is."""
    return _frames.extract_pandas_matrix(x)


def check_array(array, dtype):
    """An array or a list as an array of `dtype`; what is neither as it is."""
    if isinstance(array, (np.ndarray, list)):
        return np.asarray(array, dtype=dtype)
    return array


def _rows(data, at):
    if _frames.is_frame(data, "Series", "DataFrame"):
        return data.iloc[at]
    return data[at]


def _checked(dtype):
    if dtypes.as_dtype(dtype) == dtypes.float64:
        _log.warning("float64 is not supported by many models, consider "
                     "casting to float32.")
    return dtype


def _put(out, i, value, n_classes, rank):
    """Writes a label to row `i`: as it is, or as one-hot classes."""
    if n_classes is None or n_classes <= 1:
        out[i] = value
    elif rank == 2:
        out[i, int(value)] = 1.0
    else:
        for at, one in enumerate(value):
            out[i, at, int(one)] = 1.0


class DataFeeder:
    """Feeds arrays [n, ...] of any dtype, or dicts of them, in batches.

    `n_classes`: labels become one-hot vectors of that length; None: they stay.
    `epochs`: how often all is fed; None: without end."""

    def __init__(self, x, y, n_classes, batch_size=None, shuffle=True,
                 random_state=None, epochs=None):
        if isinstance(y, list):
            y = np.array(y)
        self._x = _mapped(lambda v: check_array(v, v.dtype), x)
        self._y = None if y is None else _mapped(
            lambda v: check_array(v, v.dtype), y)
        if n_classes is not None and y is not None and not isinstance(y, dict):
            self._y = check_array(
                y, np.int64 if n_classes > 1 else np.float32)
        self.n_classes = n_classes
        self.max_epochs = epochs

        def shape(v):
            return tuple(v.shape)
        self.input_shape, self.output_shape, self._batch_size = (
            get_in_out_shape(
                _mapped(shape, self._x),
                None if y is None else _mapped(shape, self._y), n_classes,
                batch_size))
        self._input_dtype = _mapped(lambda v: _checked(v.dtype), self._x)
        self._output_dtype = np.float32 if y is None else _mapped(
            lambda v: _checked(v.dtype), self._y)
        if n_classes is not None and isinstance(self._y, dict):
            self._output_dtype.update({k: np.float32 for k in n_classes
                                       if k in self._output_dtype})
        self._shuffle = shuffle
        self.random_state = random_state or np.random.RandomState(42)
        self._length = int((next(iter(self._x.values())) if isinstance(
            self._x, dict) else self._x).shape[0])
        self.indices = self._order()
        self.offset = 0
        self.epoch = 0
        self._epoch_placeholder = None

    x = property(lambda self: self._x, doc="The inputs.")
    y = property(lambda self: self._y, doc="The labels, or None.")
    shuffle = property(lambda self: self._shuffle,
                       doc="Whether each epoch has an order of its own.")
    input_dtype = property(lambda self: self._input_dtype,
                           doc="The dtype of the inputs.")
    output_dtype = property(lambda self: self._output_dtype,
                            doc="The dtype of the labels.")
    batch_size = property(lambda self: self._batch_size,
                          doc="How many examples a batch has.")

    def _order(self):
        return (self.random_state.permutation(self._length) if self._shuffle
                else np.arange(self._length))

    def make_epoch_variable(self):
        """A placeholder, int32 [1], that gets the number of the epoch."""
        self._epoch_placeholder = _array.placeholder(dtypes.int32, [1],
                                                     name="epoch")
        return self._epoch_placeholder

    def input_builder(self):
        """(inputs, labels): the placeholders that are fed, or dicts of them."""
        def made(shape, dtype, name):
            if isinstance(shape, dict):
                return {k: made(shape[k], dtype[k], "%s_%s" % (name, k))
                        for k in shape}
            return None if shape is None else _array.placeholder(
                dtypes.as_dtype(dtype), [None] + shape[1:], name=name)
        self.set_placeholders(
            made(self.input_shape, self._input_dtype, "input"),
            made(self.output_shape, self._output_dtype, "output"))
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder, output_placeholder):
        """Feeds these placeholders."""
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def get_feed_params(self):
        """{"epoch", "offset", "batch_size"}: where the feeder is."""
        return {"epoch": self.epoch, "offset": self.offset,
                "batch_size": self._batch_size}

    def _labels(self, data, shape, dtype, n_classes, at):
        out = np.zeros([len(at)] + shape[1:], dtype)
        for i, row in enumerate(at):
            _put(out, i, _rows(data, row), n_classes, len(shape))
        return out

    def _feeds(self, placeholders, values):
        if isinstance(values, dict):
            return {placeholders[k].name: v for k, v in values.items()}
        return {placeholders.name: values}

    def _inputs_at(self, at):
        def rows(data):
            found = _rows(data, at)
            return (np.array(found).reshape((len(at), 1))
                    if len(data.shape) == 1 else found)
        return _mapped(rows, self._x)

    def _labels_at(self, at):
        if isinstance(self._y, dict):
            return {k: self._labels(
                v, self.output_shape[k], self._output_dtype[k],
                (self.n_classes or {}).get(k), at)
                for k, v in self._y.items()}
        return self._labels(self._y, self.output_shape, self._output_dtype,
                            self.n_classes, at)

    def get_feed_dict_fn(self):
        """A function that gives the next batch as a feed_dict. It raises
        StopIteration after the last epoch."""
        def next_feeds():
            if self.max_epochs is not None and self.epoch >= self.max_epochs:
                raise StopIteration
            feeds = {}
            if self._epoch_placeholder is not None:
                feeds[self._epoch_placeholder.name] = [self.epoch]
            at = self.indices[self.offset:self.offset + self._batch_size]
            feeds.update(self._feeds(self._input_placeholder,
                                     self._inputs_at(at)))
            self.offset += self._batch_size
            if self.offset >= self._length:
                self.indices = self._order()
                self.offset = 0
                self.epoch += 1
            if self._output_placeholder is not None:
                feeds.update(self._feeds(self._output_placeholder,
                                         self._labels_at(at)))
            return feeds
        return next_feeds


class StreamingDataFeeder(DataFeeder):
    """Feeds what iterators over examples give, arrays or dicts of them."""

    def __init__(self, x, y, n_classes, batch_size):
        first = next(x)
        self._x = itertools.chain([first], x)
        first_label = None
        self._y = None
        if y is not None:
            first_label = next(y)
            self._y = itertools.chain([first_label], y)
        self.n_classes = n_classes

        def shape(v):
            v = v[0] if isinstance(v, list) else v
            return [1] + list(np.shape(v))
        self.input_shape, self.output_shape, self._batch_size = (
            get_in_out_shape(
                _mapped(shape, first),
                None if y is None else _mapped(shape, first_label), n_classes,
                batch_size))

        def dtype(v):
            return _checked(np.asarray(
                v[0] if isinstance(v, list) else v).dtype)
        self._input_dtype = _mapped(dtype, first)
        if y is None:
            self._output_dtype = np.float32
        elif isinstance(first_label, dict):
            self._output_dtype = {
                k: np.float32 if n_classes else dtype(v)
                for k, v in first_label.items()}
        else:
            self._output_dtype = (np.float32 if n_classes
                                  else dtype(first_label))
        self._stopped = False
        self._epoch_placeholder = None

    def get_feed_params(self):
        """{"batch_size"}."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self):
        """A function that gives the next batch as a feed_dict. It raises
        StopIteration behind the last example."""
        def next_feeds():
            if self._stopped:
                raise StopIteration
            examples = list(itertools.islice(self._x, self._batch_size))
            labels = (None if self._y is None else list(
                itertools.islice(self._y, len(examples))))
            self._stopped = len(examples) < self._batch_size
            if not examples:
                raise StopIteration
            feeds = self._feeds(self._input_placeholder, _mapped(
                lambda shape, kind, *rows: np.array(
                    rows, kind).reshape([len(rows)] + shape[1:]),
                self.input_shape, self._input_dtype, *examples))
            if labels is None:
                return feeds
            if isinstance(self.output_shape, dict):
                made = {k: self._label_batch(
                    [label[k] for label in labels], self.output_shape[k],
                    self._output_dtype[k], (self.n_classes or {}).get(k))
                    for k in self.output_shape}
            else:
                made = self._label_batch(labels, self.output_shape,
                                         self._output_dtype, self.n_classes)
            feeds.update(self._feeds(self._output_placeholder, made))
            return feeds
        return next_feeds

    def _label_batch(self, labels, shape, dtype, n_classes):
        out = np.zeros([len(labels)] + shape[1:], dtype)
        for i, label in enumerate(labels):
            _put(out, i, np.reshape(label, out[i].shape)
                 if n_classes is None else label, n_classes, len(shape))
        return out
