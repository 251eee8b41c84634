"""Coordinator and QueueRunner: threads that fill queues, and their end."""
import contextlib
import sys
import threading
import time
import weakref

from headrace._src.framework import errors
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.framework.default_session import get_default_session
from headrace._src.session.session import Session
from headrace._src.variables.records import under_scope, without_scope

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


class Coordinator:
    """Lets threads ask each other to stop; join() raises what one of them
    reported. Exceptions of `clean_stop_exception_types` only stop.

    Threads may compute values of any shape and dtype. join() raises
    RuntimeError for threads that do not stop within `stop_grace_period_secs`.
    """

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
            if ex is not None and not isinstance(ex, BaseException):
                raise TypeError("ex must be an exception or sys.exc_info(), "
                                "got %r" % (ex,))
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


class LooperThread(threading.Thread):
    """Calls a function again and again, every `timer_interval_secs` seconds or
    without a pause, until the coordinator asks to stop."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None,
                 kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError("'coord' argument must be a Coordinator: %s"
                             % coord)
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = (target, args or (), kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """Starts one."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.monotonic()
                while not self._coord.wait_for_stop(
                        max(0, next_time - time.monotonic())):
                    next_time += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called first; for subclasses."""

    def stop_loop(self):
        """Called last; for subclasses."""

    def run_loop(self):
        """One turn."""
        target, args, kwargs = self._call
        if target:
            target(*args, **kwargs)


class QueueRunner:
    """Operations that fill a queue, each to be run again and again by a thread
    of its own. When all have ended the queue is closed."""

    # Classes of programs derive from it: the names of attributes, those of the
    # class in TensorFlow, are part of the interface.

    def __init__(self, queue=None, enqueue_ops=None, close_op=None,
                 cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually "
                                 "exclusive.")
            queue_closed_exception_types = self._find(queue_runner_def,
                                                      import_scope)
        elif not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        else:
            self._queue = queue
            self._enqueue_ops = list(enqueue_ops)
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = (queue.close(cancel_pending_enqueues=True)
                               if cancel_op is None else cancel_op)
        if queue_closed_exception_types is None:
            queue_closed_exception_types = (errors.OutOfRangeError,)
        if not isinstance(queue_closed_exception_types, tuple) or not all(
                isinstance(t, type) and issubclass(t, errors.OpError)
                for t in queue_closed_exception_types):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple "
                "of tf.error types, but saw: %s"
                % (queue_closed_exception_types,))
        self._queue_closed_exception_types = queue_closed_exception_types
        self._lock = threading.Lock()
        # Session: how many threads still fill.
        self._runs_per_session = weakref.WeakKeyDictionary()
        self._exceptions_raised = []

    def _find(self, queue_runner_def, import_scope):
        """Finds the nodes that a QueueRunnerDef names; returns the types of
        exceptions that say that the queue is closed."""
        graph = _graph.get_default_graph()

        def find(name):
            return graph.as_graph_element(under_scope(name, import_scope))
        self._queue = find(queue_runner_def.queue_name)
        self._enqueue_ops = [find(name) for name
                             in queue_runner_def.enqueue_op_name]
        self._close_op = find(queue_runner_def.close_op_name)
        self._cancel_op = find(queue_runner_def.cancel_op_name)
        codes = queue_runner_def.queue_closed_exception_types
        return tuple(errors.exception_type_from_error_code(code)
                     for code in codes) or None

    def to_proto(self, export_scope=None):
        """The names of the nodes as a QueueRunnerDef; None for one outside of
        export_scope."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None

        def name(item):
            return without_scope(item.name, export_scope)
        return messages.QueueRunnerDef(
            queue_name=name(self._queue),
            enqueue_op_name=[name(op) for op in self._enqueue_ops],
            close_op_name=name(self._close_op),
            cancel_op_name=name(self._cancel_op),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(t)
                for t in self._queue_closed_exception_types])

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """The QueueRunner that to_proto() described; its nodes are in the
        default graph, under import_scope."""
        return QueueRunner(queue_runner_def=queue_runner_def,
                           import_scope=import_scope)

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._queue_closed_exception_types)
    exceptions_raised = property(lambda self: self._exceptions_raised)
    name = property(lambda self: self._queue.name)

    def _fill(self, session, op, coord):
        try:
            fill = self._filler(session, op)
            while coord is None or not coord.should_stop():
                try:
                    fill()
                except self._queue_closed_exception_types:
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
                    self._exceptions_raised.append(error)
                raise
        finally:
            with self._lock:
                self._runs_per_session[session] -= 1
                last = not self._runs_per_session[session]
            if last:
                with contextlib.suppress(errors.OpError, RuntimeError):
                    session.run(self._close_op)

    def _filler(self, session, op):
        """A function that runs `op`."""
        return session.make_callable(op)

    def _close_on_stop(self, sess, cancel_op, coord):
        coord.wait_for_stop()
        with contextlib.suppress(errors.OpError, RuntimeError):
            sess.run(cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads for a session; none if they are running there."""
        with self._lock:
            if self._runs_per_session.get(sess):
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(target=self._fill, args=(sess, op, coord),
                             name="QueueRunnerThread-%s-%s"
                             % (self.name, op.name))
            for op in self._enqueue_ops]
        if coord is not None:
            threads.append(threading.Thread(
                target=self._close_on_stop,
                args=(sess, self._cancel_op, coord),
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
    """Starts the threads of every QueueRunner of the collection, and returns a
    list of them.

    `sess`: the default session if None. The queues may hold values of any shape
    and dtype. ValueError if there is no session; TypeError for one that is
    none. With `coord`, what a thread raises stops the others and is raised by
    coord.join()."""
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session "
                             "is registered. Use `with sess.as_default()` or "
                             "pass an explicit session to "
                             "tf.start_queue_runners(sess=sess)")
    if not isinstance(sess, Session):
        raise TypeError("sess must be a `tf.Session` object. Given class: %s"
                        % type(sess))
    with sess.graph.as_default():
        return [t for qr in _graph.get_collection(collection)
                for t in qr.create_threads(sess, coord=coord, daemon=daemon,
                                           start=start)]
