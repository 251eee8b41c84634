"""tf.contrib.slim.parallel_reader and prefetch_queue: queues that readers fill
beside the training."""
from headrace._src.flow.queues import (
    FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue)
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.io.readers import ReaderBase
from headrace._src.ops import math_ops as _math
from headrace._src.platform import file_io
from headrace._src.training import summary as _summary
from headrace._src.training.coordinator import QueueRunner, add_queue_runner
from headrace._src.training.input_pipelines import string_input_producer


def get_data_files(data_sources):
    """The files of a path, a pattern or a list of these. ValueError if there
    are none."""
    if isinstance(data_sources, (list, tuple)):
        found = [f for source in data_sources for f in get_data_files(source)]
    elif any(c in data_sources for c in "*?["):
        found = file_io.Glob(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise ValueError("No data files found in %s" % (data_sources,))
    return found


def _summarize_fill(queue, capacity):
    _summary.scalar("fraction_of_%d_full" % capacity,
                    _math.to_float(queue.size()) * (1. / capacity))


class ParallelReader(ReaderBase):
    """num_readers readers of reader_class(**reader_kwargs) that fill
    common_queue."""

    def __init__(self, reader_class, common_queue, num_readers=4,
                 reader_kwargs=None):
        if num_readers < 1:
            raise ValueError("ParallelReader: num_readers must be above 0, got "
                             "%d" % num_readers)
        self._readers = [reader_class(**(reader_kwargs or {}))
                         for _ in range(num_readers)]
        self._common_queue = common_queue

    reader_ref = property(lambda self: None)

    def _fill(self, queue, read):
        add_queue_runner(QueueRunner(self._common_queue, [
            self._common_queue.enqueue(read(reader, queue))
            for reader in self._readers]))

    def read(self, queue, name=None):
        """(key, value) of the next record of the files of `queue`."""
        self._fill(queue, lambda reader, q: reader.read(q))
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """(keys, values) of at most num_records."""
        add_queue_runner(QueueRunner(self._common_queue, [
            self._common_queue.enqueue_many(reader.read_up_to(
                queue, num_records)) for reader in self._readers]))
        return self._common_queue.dequeue_up_to(num_records, name=name)

    def num_records_produced(self, name=None):
        return _math.add_n([r.num_records_produced() for r in self._readers],
                           name=name)

    def num_work_units_completed(self, name=None):
        return _math.add_n([r.num_work_units_completed()
                            for r in self._readers], name=name)


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4,
                  reader_kwargs=None, shuffle=True, dtypes=None, capacity=256,
                  min_after_dequeue=128, seed=None, scope=None):
    """(key, value) of a record of data_sources (get_data_files), which
    num_readers readers read, in random order if `shuffle`. Needs
    tf.train.start_queue_runners, and local variables for num_epochs."""
    files = get_data_files(data_sources)
    with name_scope(scope or "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs,
                                      shuffle=shuffle, seed=seed,
                                      name="filenames")
        dtypes = dtypes or [_dtypes.string, _dtypes.string]
        if shuffle:
            queue = RandomShuffleQueue(
                capacity=capacity, min_after_dequeue=min_after_dequeue,
                dtypes=dtypes, seed=seed, name="common_queue")
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=dtypes,
                              name="common_queue")
        _summarize_fill(queue, capacity)
        return ParallelReader(reader_class, queue, num_readers=num_readers,
                              reader_kwargs=reader_kwargs).read(names)


def single_pass_read(data_sources, reader_class, reader_kwargs=None,
                     scope=None):
    """(key, value) of a record of data_sources, in order and once."""
    files = get_data_files(data_sources)
    with name_scope(scope or "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False,
                                      capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False,
                   shared_name=None, name=None):
    """A queue that a queue runner fills with `tensors`, a list or a dictionary,
    for instance batches."""
    names = None
    if isinstance(tensors, dict):
        names = list(tensors)
        flat = list(tensors.values())
    else:
        flat = list(tensors) if isinstance(tensors, (list, tuple)) else [
            tensors]
    with name_scope(name, "prefetch_queue", flat):
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = make(capacity=capacity,
                     dtypes=[t.dtype.base_dtype for t in flat],
                     shapes=[t.get_shape() for t in flat], names=names,
                     shared_name=shared_name)
        add_queue_runner(QueueRunner(
            queue, [queue.enqueue(tensors)] * num_threads))
        _summarize_fill(queue, capacity)
        return queue
