"""The data that fit(), evaluate() and predict() of tf.keras take: arrays, tensors,
datasets, generators and Sequences, as batches of arrays."""
import inspect
import random

import numpy as np

from headrace._headrace import executing_eagerly
from headrace._src.data.datasets import Dataset
from headrace._src.data.experimental import cardinality as _cardinality
from headrace._src.data.iterators import Iterator
from headrace._src.framework import errors, nest
from headrace._src.keras.enqueuers import GeneratorEnqueuer, OrderedEnqueuer
from headrace._src.keras.row_values import Rows, as_input, is_rows
from headrace._src.layers import backend
from headrace._src.platform import tf_logging as _logging


def arrays_of(given, names, what):
    """NumPy arrays for `names`: from a dict, a list, or one array."""
    if given is None and not names:
        return []
    if isinstance(given, dict):
        missing = [n for n in names if n not in given]
        if missing:
            raise ValueError("No data provided for \"%s\". Need data for each "
                             "key in: %s" % (missing[0], names))
        given = [given[n] for n in names]
    elif is_rows(given):
        given = [given]
    elif isinstance(given, tuple) or isinstance(given, list) and (
            len(names) > 1 or given and (
                len(given) == 1 and np.ndim(given[0]) > 0)):
        given = list(given)
    else:
        given = [given]
    given = [Rows(x) if is_rows(x) and not hasattr(x, "tocoo") else x
             for x in given]
    if len(given) != len(names):
        raise ValueError(
            "Error when checking model %s: the list of Numpy arrays that you "
            "are passing to your model is not the size the model expected. "
            "Expected to see %d array(s), but instead got %d arrays"
            % (what, len(names), len(given)))
    return [x if isinstance(x, Rows) or is_rows(x) else np.asarray(x)
            for x in given]


def fitted(arrays, tensors, names, what):
    """The arrays with the rank of the tensors: vectors become columns."""
    result = []
    for array, tensor, name in zip(arrays, tensors, names):
        shape = backend.shape_of(tensor)
        array = as_input(array, tensor, name)
        if array.ndim == 1 and shape.ndims not in (1, None):
            array = array[:, np.newaxis]
        if shape.ndims is not None:
            if array.ndim != shape.ndims:
                raise ValueError(
                    "Error when checking %s: expected %s to have %d dimensions, "
                    "but got array with shape %s"
                    % (what, name, shape.ndims, array.shape))
            for want, got in zip(shape.as_list()[1:], array.shape[1:]):
                if None not in (want, got) and want != got:
                    raise ValueError(
                        "Error when checking %s: expected %s to have shape %s "
                        "but got array with shape %s" % (
                            what, name, tuple(shape.as_list()[1:]),
                            array.shape[1:]))
        result.append(array)
    return result


def check_weights(weight, target, temporal):
    """ValueError unless there is one weight for each example or, if `temporal`,
    for each step of each."""
    if temporal and target.ndim < 3:
        raise ValueError(
            "Found a sample_weight array for an input with shape %s. "
            "Timestep-wise sample weighting (use of "
            "sample_weight_mode=\"temporal\") is restricted to outputs that are "
            "at least 3D, i.e. that have a time dimension." % (target.shape,))
    if temporal and weight.ndim != 2:
        raise ValueError(
            "Found a sample_weight array with shape %s. In order to use "
            "timestep-wise sample weighting, you should pass a 2D sample_weight "
            "array." % (weight.shape,))
    if not temporal and weight.ndim != 1:
        raise ValueError(
            "Found a sample_weight array with shape %s. In order to use "
            "timestep-wise sample weights, you should specify "
            "sample_weight_mode=\"temporal\" in compile(). If you just mean to "
            "use sample-wise weights, make sure your sample_weight array is 1D."
            % (weight.shape,))
    if weight.shape != target.shape[:weight.ndim]:
        raise ValueError(
            "Found a sample_weight array with shape %s for an input with shape "
            "%s. sample_weight cannot be broadcast."
            % (weight.shape, target.shape))


class Evaluated:
    """Tensors as a source of batches: each step computes them."""

    def __init__(self, tensors):
        self._tensors = tensors

    def __iter__(self):
        return self

    def __next__(self):
        session = backend.get_session()
        return nest.map_structure(
            lambda x: session.run(x) if backend.is_symbolic(x) else x,
            self._tensors)


def evaluated(x, y, weights, steps, name, given=None):
    """The source of batches that tensors are; `given`, or `x`, if there is no
    tensor. ValueError without a number of steps, which the argument `name`
    is."""
    if isinstance(x, (Dataset, Iterator)) or is_rows(x) or not any(
            backend.is_symbolic(value) for value in nest.flatten(x)):
        return x if given is None else given
    if not steps:
        raise ValueError("When using data tensors as input to a model, you "
                         "should specify the `%s` argument." % name)
    return Evaluated((x, y) if weights is None else (x, y, weights))


def check_source(x, y, sample_weight, batch_size, validation_split=None):
    """The size of batches of what is no dataset. ValueError for arguments that
    do not go with one."""
    if not isinstance(x, (Dataset, Iterator)):
        return batch_size
    if batch_size is not None:
        raise ValueError(
            "The `batch_size` argument must not be specified for the given "
            "input type. Received input: %s, batch_size: %s" % (x, batch_size))
    if y is not None:
        raise ValueError(
            "You passed a dataset or dataset iterator (%s) as input `x` to your "
            "model. In that case, you should not specify a target (`y`) "
            "argument, since the dataset or dataset iterator generates both "
            "input data and target data. Received: %s" % (x, y))
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a "
            "dataset or a dataset iterator. Instead, you can provide "
            "sample_weight as the third element of your dataset, i.e. (inputs, "
            "targets, sample_weight). Received: x=%s, sample_weight=%s"
            % (x, sample_weight))
    if validation_split:
        raise ValueError(
            "`validation_split` argument is not supported when input `x` is a "
            "dataset or a dataset iterator. Received: x=%s, validation_split=%f"
            % (x, validation_split))
    return None


def cut(arrays, start, stop):
    """Examples of each array; None has none."""
    return [None if a is None else a[start:stop] for a in arrays]


def check_lengths(x, y, weights):
    lengths = {len(a) for a in [*x, *y, *weights] if a is not None}
    if len(lengths) > 1:
        raise ValueError(
            "Input arrays should have the same number of samples as target "
            "arrays. Found %d input samples and %d target samples."
            % (len(x[0]), len(y[0])))


class Slices:
    """Arrays, in batches; of several workers, this one's rows of them."""

    share = _random = None

    def __init__(self, model, x, y, weights, batch_size, shuffle, steps):
        self._x, self._y, self._weights = x, y, weights
        self.samples = len(x[0])
        self._size = batch_size or (
            -(-self.samples // steps) if steps else 32)
        self._shuffle = shuffle
        self.steps = steps

    def first(self, model):
        return self._x, self._y, self._weights

    def epoch(self, model, class_weight):
        order = np.arange(self.samples)
        if self._shuffle:
            if self._random is None:
                # All workers have one order.
                self._random = np.random if model._share is None else (
                    np.random.RandomState(model._share.seed()))
            self._random.shuffle(order)
        for i in range(0, self.samples, self._size):
            at = order[i:i + self._size]
            self._rows = len(at)
            if model._share is not None:
                (at,), self.share = model._share.rows([at])
            yield tuple([None if a is None else a[at] for a in part]
                        for part in (self._x, self._y, self._weights))

    def size_of(self, x):
        """How many examples the batch has, of all workers."""
        return self._rows

    def close(self):
        """Nothing runs."""


def is_source(x):
    return isinstance(x, (Dataset, Iterator)) or inspect.isgenerator(x) or (
        hasattr(x, "__next__")) or (hasattr(x, "__getitem__") and hasattr(
            x, "__len__") and hasattr(x, "on_epoch_end"))


class _Passes:
    """The items of a Sequence, again and again, in order or shuffled by
    Python's `random`."""

    def __init__(self, source, shuffle):
        self._source, self._shuffle = source, shuffle
        self._order = list(range(len(source)))
        self._at = None

    def end(self):
        """Tells the Sequence of the end of a pass, if all of it was taken."""
        if self._at == len(self._order):
            self._at = None
            self._source.on_epoch_end()

    def __next__(self):
        self.end()
        if self._at is None:
            self._at = 0
            if self._shuffle:
                random.shuffle(self._order)
        if not self._order:
            raise StopIteration
        self._at += 1
        return self._source[self._order[self._at - 1]]


class Batches:
    """What gives batches: a dataset, an iterator, a generator, a Sequence.
    Several workers, or processes, make those of the last two."""

    samples = share = None

    def size_of(self, x):
        """How many examples the batch has."""
        return len(x[0])

    def __init__(self, source, steps, workers=1, use_multiprocessing=False,
                 max_queue_size=10, shuffle=False):
        self._source, self.steps = source, steps
        self._is_sequence = hasattr(source, "__getitem__")
        if self._is_sequence and steps is None:
            self.steps = len(source)
        if steps is None and isinstance(source, Dataset) and (
                backend.get_session().run(_cardinality(source)) == -1):
            raise ValueError(
                "When passing an infinitely repeating dataset, you must specify "
                "the `steps_per_epoch` argument.")
        if steps is None and not isinstance(source, Dataset) and (
                not self._is_sequence):
            raise ValueError("When passing an iterator or generator, the "
                             "number of steps must be given: steps_per_epoch, "
                             "validation_steps or steps")
        self._workers = workers
        self._use_multiprocessing = use_multiprocessing
        self._max_queue_size = max_queue_size
        self._shuffle = shuffle
        self._kept = []
        self._batches = self._enqueuer = None

    def _start(self):
        if isinstance(self._source, (Dataset, Iterator)):
            if executing_eagerly():
                return iter(self._source)
            return self._of_graph()
        if self._workers and (self._workers > 1 or self._use_multiprocessing):
            return self._of_workers()
        if self._is_sequence:
            # Without workers, TensorFlow keeps the order.
            return _Passes(self._source, self._shuffle and self._workers)
        return iter(self._source)

    def _of_workers(self):
        if not self._is_sequence and self._use_multiprocessing and (
                self._workers > 1):
            _logging.warning(
                "Using a generator with `use_multiprocessing=True` and "
                "multiple workers may duplicate your data. Please consider "
                "using the `keras.utils.Sequence` class.")
        if self._is_sequence:
            self._enqueuer = OrderedEnqueuer(
                self._source, self._use_multiprocessing, self._shuffle)
        else:
            self._enqueuer = GeneratorEnqueuer(self._source,
                                               self._use_multiprocessing)
        self._enqueuer.start(self._workers, self._max_queue_size)
        return self._enqueuer.get()

    def close(self):
        """Stops the workers."""
        if self._enqueuer is not None:
            self._enqueuer.stop()

    def _of_graph(self):
        session = backend.get_session()
        iterator = self._source
        if isinstance(iterator, Dataset):
            if not hasattr(self, "_iterator"):
                self._iterator = iterator.make_initializable_iterator()
                self._next = self._iterator.get_next()
            iterator = self._iterator
            session.run(iterator.initializer)
        elif not hasattr(self, "_next"):
            self._next = iterator.get_next()
        flat = nest.flatten(self._next)
        while True:
            try:
                yield nest.pack_sequence_as(self._next, session.run(flat))
            except errors.OutOfRangeError:
                return

    def _take(self):
        if self._kept:
            return self._kept.pop()
        if self._batches is None:
            self._batches = self._start()
        return next(self._batches, None)

    def first(self, model):
        batch = self._take()
        if batch is None:
            raise ValueError("no data")
        self._kept.append(batch)
        return (batch[0] if isinstance(batch, (tuple, list))
                and not is_rows(batch) else batch,)

    def epoch(self, model, class_weight):
        done = 0
        while self.steps is None or done < self.steps:
            batch = self._take()
            if batch is None:
                self._batches = None
                if self.steps is None:
                    return
                batch = self._take() if done == 0 else None
                if batch is None:
                    return
            x, y, *weights = (
                batch if isinstance(batch, (tuple, list)) and not is_rows(batch)
                else (batch, None))
            x, y = model._inputs_of(x), model._targets_of(y)
            yield x, y, model._weights_of(y, weights[0] if weights else None,
                                          class_weight)
            done += 1
        if isinstance(self._batches, _Passes):
            self._batches.end()

    def inputs(self):
        done = 0
        while self.steps is None or done < self.steps:
            batch = self._take()
            if batch is None:
                return
            yield batch[0] if isinstance(
                batch, tuple) and not is_rows(batch) else batch
            done += 1
