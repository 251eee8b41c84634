"""tf.contrib.learn: examples and features of files, through queues."""
from headrace._src.flow.queues import FIFOQueue
from headrace._src.framework import dtypes, errors
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, is_tensor
from headrace._src.io.parsing_ops import parse_example
from headrace._src.io.readers import TFRecordReader
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.platform.file_io import Glob
from headrace._src.training import input_pipelines as _pipelines
from headrace._src.training import summary as _summary
from headrace._src.training.coordinator import QueueRunner, add_queue_runner

KEY_FEATURE_NAME = "__key__"


def _file_names(file_pattern, randomize_input):
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("No files given to dequeue_examples.")
    patterns = (file_pattern if isinstance(file_pattern, list)
                else [file_pattern])
    names = [name for pattern in patterns for name in Glob(pattern)]
    if not names:
        raise ValueError("No files match %s." % file_pattern)
    return names if randomize_input else sorted(names)


def _check_sizes(batch_size, queue_capacity, read_batch_size, num_threads,
                 num_epochs):
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError("Invalid queue_capacity %s." % queue_capacity)
    if batch_size is None or not is_tensor(batch_size) and not (
            0 < batch_size < queue_capacity):
        raise ValueError("Invalid batch_size %s, with queue_capacity %s."
                         % (batch_size, queue_capacity))
    if read_batch_size is None or not is_tensor(
            read_batch_size) and read_batch_size <= 0:
        raise ValueError("Invalid read_batch_size %s." % read_batch_size)
    if not num_threads or num_threads <= 0:
        raise ValueError("Invalid num_threads %s." % num_threads)
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError("Invalid num_epochs %s." % num_epochs)


def _examples(queue, reader, num_threads, read_batch_size, parse_fn):
    """For each thread the keys and examples that a reader gives: a pair, or a
    dict with the keys among the features."""
    found = []
    with name_scope("read"):
        for _ in range(num_threads):
            keys, examples = (
                reader().read_up_to(queue, read_batch_size)
                if read_batch_size > 1 else reader().read(queue))
            if parse_fn:
                examples = parse_fn(examples)
            if isinstance(examples, dict):
                examples[KEY_FEATURE_NAME] = keys
                found.append(examples)
            else:
                found.append((keys, examples))
    return found


def read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input=True, num_epochs=None,
        queue_capacity=10000, num_threads=1, read_batch_size=1, parse_fn=None,
        name=None, seed=None):
    """(keys, examples) of files: strings [batch_size], or what parse_fn makes of
    the examples.

    `file_pattern`: a pattern or a list of them. `reader`: a function that makes
    a tf.ReaderBase. `num_epochs` None: without end; else the last batch may be
    smaller. ValueError for no files and for sizes below 1."""
    names = _file_names(file_pattern, randomize_input)
    _check_sizes(batch_size, queue_capacity, read_batch_size, num_threads,
                 num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as queue_scope:
            queue = _pipelines.string_input_producer(
                constant(names, name="input"), shuffle=randomize_input,
                num_epochs=num_epochs, name=queue_scope, seed=seed)
        examples = _examples(queue, reader, num_threads, read_batch_size,
                             parse_fn)
        options = dict(
            capacity=queue_capacity, enqueue_many=read_batch_size > 1,
            name=scope, allow_smaller_final_batch=num_epochs is not None)
        if randomize_input:
            least = (int(queue_capacity * 0.4) if is_tensor(batch_size)
                     else max(queue_capacity - 3 * batch_size, batch_size))
            made = _pipelines.shuffle_batch_join(
                examples, batch_size, min_after_dequeue=least, seed=seed,
                **options)
        else:
            made = _pipelines.batch_join(examples, batch_size, **options)
        if parse_fn and isinstance(made, dict):
            keys = made.pop(KEY_FEATURE_NAME)
            return keys, made
        return made


def read_batch_examples(
        file_pattern, batch_size, reader, randomize_input=True, num_epochs=None,
        queue_capacity=10000, num_threads=1, read_batch_size=1, parse_fn=None,
        name=None, seed=None):
    """The examples of read_keyed_batch_examples, without the keys. Shapes, dtypes
    and errors are its."""
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs,
        queue_capacity, num_threads, read_batch_size, parse_fn, name, seed)[1]


def queue_parsed_features(parsed_features, keys=None,
                          feature_queue_capacity=100, num_enqueue_threads=2,
                          name=None):
    """(keys, features) that wait in a queue. `parsed_features`: a dict of tensors
    and SparseTensors of any shape and dtype. It raises nothing."""
    with name_scope(name, "queue_parsed_features",
                    [*parsed_features.values(),
                     *(() if keys is None else (keys,))]):
        tensors = []
        for key in sorted(parsed_features):
            t = parsed_features[key]
            tensors += ([t.indices, t.values, t.dense_shape]
                        if isinstance(t, SparseTensor) else [t])
        if keys is not None:
            tensors.append(keys)
        queue = FIFOQueue(feature_queue_capacity, [t.dtype for t in tensors])
        _summary.scalar(
            "queue/parsed_features/%s/fraction_of_%d_full"
            % (queue.name, feature_queue_capacity),
            _math.cast(queue.size(), dtypes.float32)
            * (1. / feature_queue_capacity))
        add_queue_runner(QueueRunner(
            queue, [queue.enqueue(tensors) for _ in range(
                num_enqueue_threads)],
            queue_closed_exception_types=(errors.OutOfRangeError,
                                          errors.CancelledError)))
        waiting = queue.dequeue()
        if not isinstance(waiting, list):
            waiting = [waiting]
        for got, given in zip(waiting, tensors):
            got.set_shape(given.get_shape())
        parts, found = iter(waiting), {}
        for key in sorted(parsed_features):
            if isinstance(parsed_features[key], SparseTensor):
                found[key] = SparseTensor(next(parts), next(parts),
                                          next(parts))
            else:
                found[key] = next(parts)
        return (None if keys is None else waiting[-1]), found


def read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input=True,
        num_epochs=None, queue_capacity=10000, reader_num_threads=1,
        feature_queue_capacity=100, num_enqueue_threads=2, parse_fn=None,
        name=None, read_batch_size=None):
    """(keys, features) of the serialized tf.train.Examples of files: strings and
    what tf.parse_example makes with `features`, in batches. Other arguments and
    errors are read_keyed_batch_examples'."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input=randomize_input,
            num_epochs=num_epochs, queue_capacity=queue_capacity,
            num_threads=reader_num_threads, parse_fn=parse_fn, name=scope,
            read_batch_size=batch_size if read_batch_size is None
            else read_batch_size)
        return queue_parsed_features(
            parse_example(examples, features), keys=keys,
            feature_queue_capacity=feature_queue_capacity,
            num_enqueue_threads=num_enqueue_threads, name=scope)


def read_batch_features(
        file_pattern, batch_size, features, reader, randomize_input=True,
        num_epochs=None, queue_capacity=10000, feature_queue_capacity=100,
        reader_num_threads=1, num_enqueue_threads=2, parse_fn=None, name=None,
        read_batch_size=None):
    """The features of read_keyed_batch_features, without the keys. Shapes, dtypes
    and errors are its."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs,
        queue_capacity, reader_num_threads, feature_queue_capacity,
        num_enqueue_threads, parse_fn, name, read_batch_size)[1]


def read_batch_record_features(
        file_pattern, batch_size, features, randomize_input=True,
        num_epochs=None, queue_capacity=10000, reader_num_threads=1,
        name="dequeue_record_examples"):
    """read_batch_features of TFRecord files. Shapes, dtypes and errors are its."""
    return read_batch_features(
        file_pattern=file_pattern, batch_size=batch_size, features=features,
        reader=TFRecordReader, randomize_input=randomize_input,
        num_epochs=num_epochs, queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads, name=name)
