"""tf.contrib.learn.io: input functions of arrays, frames and generators. All but
the last are tf.estimator.inputs', of the package tensorflow-estimator."""
import collections
import types

from headrace._packages import load as _package


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True,
                   queue_capacity=1000, num_threads=1):
    """tf.estimator.inputs.numpy_input_fn of a dict of arrays [n, ...]. ImportError
    without the package."""
    return _package("tensorflow_estimator.python.estimator.inputs.numpy_io"
                    ).numpy_input_fn(
        x=x, y=y, batch_size=batch_size, shuffle=shuffle,
        num_epochs=num_epochs, queue_capacity=queue_capacity,
        num_threads=num_threads)


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True,
                    queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """tf.estimator.inputs.pandas_input_fn. ImportError without the package."""
    return _package("tensorflow_estimator.python.estimator.inputs.pandas_io"
                    ).pandas_input_fn(
        x=x, y=y, batch_size=batch_size, shuffle=shuffle,
        num_epochs=num_epochs, queue_capacity=queue_capacity,
        num_threads=num_threads, target_column=target_column)


def _targets(target_key, keys):
    """The list of the keys of the labels."""
    if isinstance(target_key, str):
        return [target_key]
    if not isinstance(target_key, collections.abc.Container):
        raise TypeError("target_key must be str or Container of str; got {}"
                        .format(type(target_key).__name__))
    for key in target_key:
        if not isinstance(key, str):
            raise TypeError("target_key must be str or Container of str; got {}"
                            .format(type(key).__name__))
        if key not in keys:
            raise KeyError("target_key not in yielded dict. Expected {} keys; "
                           "got {}".format(keys, key))
    return target_key


def generator_input_fn(x, target_key=None, batch_size=128, num_epochs=1,
                       shuffle=True, queue_capacity=1000, num_threads=1,
                       pad_value=None):
    """An input_fn of a function that makes a generator of dicts of arrays.

    `target_key`: the keys of the labels. `pad_value`: fills up arrays of
    different lengths. TypeError for what is no such function; KeyError for keys
    that the dicts lack; ImportError without the package."""
    if not isinstance(x, types.FunctionType):
        raise TypeError("x must be generator function; got {}".format(
            type(x).__name__))
    generator = x()
    if not isinstance(generator, types.GeneratorType):
        raise TypeError("x() must be generator; got {}".format(
            type(generator).__name__))
    data = next(generator)
    if not isinstance(data, dict):
        raise TypeError("x() must yield dict; got {}".format(
            type(data).__name__))
    keys = sorted(data)
    targets = None if target_key is None else _targets(target_key, keys)

    def input_fn():
        queue = _package(
            "tensorflow_estimator.python.estimator.inputs.queues."
            "feeding_functions")._enqueue_data(
                x, queue_capacity, shuffle=shuffle, num_threads=num_threads,
                enqueue_size=batch_size, num_epochs=num_epochs,
                pad_value=pad_value)
        found = (queue.dequeue_many if num_epochs is None
                 else queue.dequeue_up_to)(batch_size)
        features = dict(zip(keys, found if isinstance(found, list)
                            else [found]))
        if targets is None:
            return features
        if len(targets) > 1:
            return features, {key: features.pop(key) for key in targets}
        return features, features.pop(targets[0])
    return input_fn
