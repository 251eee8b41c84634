"""Coordinator and QueueRunner: threads that fill queues, and their end."""
import contextlib
import sys
import threading
import time

from headrace import errors
from headrace import graph as _graph
from headrace import raw_ops as _raw

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


class Coordinator:
    """Lets threads ask each other to stop; join() raises what one of them
    reported. Exceptions of `clean_stop_exception_types` only stop."""

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error = None
        self._joined = False
        self._threads = set()

    joined = property(lambda self: self._joined)

    def request_stop(self, ex=None):
        """Asks the threads to stop; `ex`, an exception or sys.exc_info(), is
        what join() will raise if it is the first."""
        with self._lock:
            if isinstance(ex, tuple):
                ex = ex[1]
            if ex is not None and self._joined:
                raise ex
            if not self._stop.is_set():
                if ex is not None and not isinstance(ex, self._clean):
                    self._error = ex
                self._stop.set()

    def clear_stop(self):
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        """True if a stop was asked for within `timeout` seconds."""
        return self._stop.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self):
        """Turns an exception of the block into request_stop."""
        try:
            yield
        except Exception:  # whatever it is, join() raises it
            self.request_stop(sys.exc_info())

    def register_thread(self, thread):
        with self._lock:
            self._threads.add(thread)

    def raise_requested_exception(self):
        with self._lock:
            error = self._error
        if error is not None:
            raise error

    def join(self, threads=None, stop_grace_period_secs=120,
             ignore_live_threads=False):
        """Waits for the threads; once a stop was asked for, no longer than the
        grace period: then RuntimeError, unless live threads are ignored."""
        with self._lock:
            threads = list(self._threads.union(threads or ()))
        while any(t.is_alive() for t in threads) and not self._stop.wait(0.05):
            pass
        self.request_stop()
        end = time.monotonic() + stop_grace_period_secs
        for t in threads:
            if t.is_alive():
                t.join(max(0, end - time.monotonic()))
        with self._lock:
            self._joined = True
            self._threads.clear()
            error = self._error
        if error is not None:
            raise error
        stuck = [t.name for t in threads if t.is_alive()]
        if stuck and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still "
                               "running: %s" % " ".join(stuck))


class QueueRunner:
    """Operations that fill a queue, each to be run again and again by a thread
    of its own. When all have ended the queue is closed."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None,
                 cancel_op=None, queue_closed_exception_types=None):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = (queue.close(cancel_pending_enqueues=True)
                           if cancel_op is None else cancel_op)
        self._closed_types = tuple(queue_closed_exception_types
                                   or (errors.OutOfRangeError,))
        self._lock = threading.Lock()
        self._running = {}  # session -> threads that still fill
        self._errors = []

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._closed_types)
    exceptions_raised = property(lambda self: self._errors)
    name = property(lambda self: self._queue.name)

    def _fill(self, session, op, coord):
        fill = session.make_callable(op)
        try:
            while coord is None or not coord.should_stop():
                try:
                    fill()
                except self._closed_types:
                    break
                except errors.CancelledError:
                    if coord is not None and coord.should_stop():
                        break
                    raise
        except Exception as error:  # reported, or kept for the caller
            if coord is not None:
                coord.request_stop(error)
            else:
                with self._lock:
                    self._errors.append(error)
                raise
        finally:
            with self._lock:
                self._running[session] -= 1
                last = not self._running[session]
                if last:
                    del self._running[session]
            if last:
                with contextlib.suppress(errors.OpError, RuntimeError):
                    session.run(self._close_op)

    def _cancel_when_stopped(self, session, coord):
        coord.wait_for_stop()
        with contextlib.suppress(errors.OpError, RuntimeError):
            session.run(self._cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads for a session; none if they are running there."""
        with self._lock:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._errors = []
        threads = [
            threading.Thread(target=self._fill, args=(sess, op, coord),
                             name="QueueRunnerThread-%s-%s"
                             % (self.name, op.name))
            for op in self._enqueue_ops]
        if coord is not None:
            threads.append(threading.Thread(
                target=self._cancel_when_stopped, args=(sess, coord),
                name="QueueRunnerThread-%s-close_on_stop" % self.name))
        for t in threads:
            t.daemon = daemon
            if coord is not None:
                coord.register_thread(t)
            if start:
                t.start()
        return threads


def add_queue_runner(qr, collection=_graph.GraphKeys.QUEUE_RUNNERS):
    _graph.add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True,
                        collection=_graph.GraphKeys.QUEUE_RUNNERS):
    """Starts the threads of every QueueRunner of the collection."""
    from headrace.session import get_default_session
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session "
                             "is registered. Use `with sess.as_default()` or "
                             "pass an explicit session to "
                             "tf.start_queue_runners(sess=sess)")
    with sess.graph.as_default():
        return [t for qr in _graph.get_collection(collection)
                for t in qr.create_threads(sess, coord=coord, daemon=daemon,
                                           start=start)]


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False,
          shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
          shared_name=None, name=None):
    """Batches of what `tensors` give, run after run, through a queue that
    start_queue_runners fills."""
    return _batch(tensors, batch_size, num_threads, capacity, None,
                  enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  None, shared_name, name, "batch")


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue,
                  num_threads=1, seed=None, enqueue_many=False, shapes=None,
                  allow_smaller_final_batch=False, shared_name=None,
                  name=None):
    """As batch, in random order."""
    return _batch(tensors, batch_size, num_threads, capacity,
                  min_after_dequeue, enqueue_many, shapes, False,
                  allow_smaller_final_batch, seed, shared_name, name,
                  "shuffle_batch")


def _batch(tensors, batch_size, num_threads, capacity, min_after_dequeue,
           enqueue_many, shapes, dynamic_pad, smaller_end, seed, shared_name,
           name, default_name):
    from headrace import queues
    from headrace.tensor import convert_to_tensor
    keys = None
    if isinstance(tensors, dict):
        keys, tensors = list(tensors), list(tensors.values())
    single = not isinstance(tensors, (list, tuple))
    with _graph.name_scope(name, default_name,
                           [tensors] if single else tensors):
        flat = [convert_to_tensor(t)
                for t in ([tensors] if single else tensors)]
        types = [t.dtype.base_dtype for t in flat]
        if shapes is None:
            shapes = [t.get_shape()[1:] if enqueue_many else t.get_shape()
                      for t in flat]
        if min_after_dequeue is not None:
            queue = queues.RandomShuffleQueue(
                capacity, min_after_dequeue, types, shapes, seed=seed,
                shared_name=shared_name)
        elif dynamic_pad:
            queue = queues.PaddingFIFOQueue(capacity, types, shapes,
                                            shared_name=shared_name)
        else:
            queue = queues.FIFOQueue(capacity, types, shapes,
                                     shared_name=shared_name)
        enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
        add_queue_runner(QueueRunner(queue, [enqueue(flat)] * num_threads))
        out = (queue.dequeue_up_to if smaller_end
               else queue.dequeue_many)(batch_size)
        if keys is not None:
            return dict(zip(keys, out if isinstance(out, list) else [out]))
        return out


def limit_epochs(tensor, num_epochs=None, name=None):
    """`tensor`, `num_epochs` times, then OutOfRange."""
    from headrace import variables
    if num_epochs is None:
        return tensor
    with _graph.name_scope(name, "limit_epochs", [tensor]):
        epochs = variables.Variable(
            0, trainable=False, name="epochs", use_resource=False,
            collections=[_graph.GraphKeys.LOCAL_VARIABLES])
        count = epochs.count_up_to(num_epochs)
        with _graph.control_dependencies([count]):
            return _raw.Identity(tensor, name="limited")


def input_producer(input_tensor, num_epochs=None, shuffle=True, seed=None,
                   capacity=32, shared_name=None, name=None):
    """A queue of the rows of a tensor, in turn or shuffled each time."""
    from headrace import queues, random_ops
    from headrace.tensor import convert_to_tensor
    with _graph.name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor)
        shape = rows.get_shape()[1:]
        if shuffle:
            rows = random_ops.random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = queues.FIFOQueue(capacity, [rows.dtype.base_dtype], [shape],
                                 shared_name=shared_name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])]))
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True,
                          seed=None, capacity=32, shared_name=None, name=None):
    return input_producer(string_tensor, num_epochs, shuffle, seed, capacity,
                          shared_name, name or "input_producer")


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    from headrace import math_ops
    return input_producer(math_ops.range(limit), num_epochs, shuffle, seed,
                          capacity, shared_name, name)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    """One slice of each tensor, all at the same index."""
    from headrace import array_ops
    from headrace.tensor import convert_to_tensor
    tensors = [convert_to_tensor(t) for t in tensor_list]
    if not tensors:
        raise ValueError("Expected at least one tensor in "
                         "slice_input_producer().")
    queue = range_input_producer(array_ops.shape(tensors[0])[0], num_epochs,
                                 shuffle, seed, capacity, shared_name, name)
    index = queue.dequeue()
    return [array_ops.gather(t, index) for t in tensors]
