"""tf.keras.utils: threads and processes that make batches ahead of training."""
import contextlib
import functools
import gc
import itertools
import multiprocessing
from multiprocessing.pool import ThreadPool
import os
import queue
import random
import signal
import threading
import time
import weakref

import numpy as np

_sequences: dict = {}  # of a process: what enqueuers have, by their numbers
_numbers = itertools.count()
_pools: weakref.WeakSet = weakref.WeakSet()  # of processes
_workers: set = set()  # the ids of all processes that pools started


def _start_worker(sequences, seed, ids):
    """Runs first in a process of a pool."""
    _sequences.update(sequences)
    process = multiprocessing.current_process()
    process.name = "Keras_worker_" + process.name
    if seed is not None:
        np.random.seed(seed + process.ident)
    ids.put(process.ident)


def _item(number, i):
    return _sequences[number][i]


def _next(number):
    return next(_sequences[number])


class SequenceEnqueuer:
    """The base of the enqueuers: a thread fills a queue with what workers make,
    threads, or processes with `use_multiprocessing`.

        enqueuer.start(workers=2)
        for batch in enqueuer.get():
            ...
        enqueuer.stop()

    `sequence`: a tf.keras.utils.Sequence, or a generator of batches: arrays of
    any shapes and dtypes. A derived class has _run and get; here they raise
    NotImplementedError."""

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.uid = next(_numbers)
        self.workers = 0
        self.random_seed = None
        self.executor_fn = None
        self.queue = None
        self.run_thread = None
        self.stop_signal = None

    def is_running(self):
        """Whether it was started and not stopped."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Starts the workers. At most `max_queue_size` batches wait."""
        self.workers = workers
        self.executor_fn = (self._processes if self.use_multiprocessing
                            else self._threads)
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def _threads(self):
        return ThreadPool(self.workers)

    def _processes(self):
        pool = multiprocessing.Pool(
            self.workers, initializer=_start_worker,
            initargs=({self.uid: self.sequence}, self.random_seed, _ids()))
        _pools.add(pool)
        return pool

    @contextlib.contextmanager
    def _pool(self):
        """A pool of workers, which know the sequence as it is now."""
        _sequences[self.uid] = self.sequence
        pool = self.executor_fn()
        try:
            yield pool
        finally:
            pool.terminate() if self.stop_signal.is_set() else pool.close()

    def _put(self, result):
        """Waits for a place in the queue. False once it is stopped."""
        while not self.stop_signal.is_set():
            try:
                self.queue.put(result, timeout=.1)
                return True
            except queue.Full:
                pass
        return False

    def stop(self, timeout=None):
        """Stops the workers, and waits `timeout` seconds at most for the thread
        that feeds them."""
        self.stop_signal.set()
        with self.queue.mutex:
            self.queue.queue.clear()
            self.queue.unfinished_tasks = 0
            self.queue.not_full.notify()
        self.run_thread.join(timeout)
        _sequences.pop(self.uid, None)

    def __del__(self):
        if self.is_running():
            self.stop()

    def _run(self):
        raise NotImplementedError("%s._run" % type(self).__name__)

    def get(self):
        """A generator of the batches."""
        raise NotImplementedError("%s.get" % type(self).__name__)

    def _next_result(self):
        """The next result in the queue, or None once it is stopped."""
        while self.is_running():
            try:
                return self.queue.get(timeout=.1)
            except queue.Empty:
                pass
        return None


@functools.cache
def _ids():
    """The queue of the ids of processes, made when one is needed."""
    return multiprocessing.Queue()


class OrderedEnqueuer(SequenceEnqueuer):
    """Gives the batches of a tf.keras.utils.Sequence, arrays of any shapes and
    dtypes, in their order, again and again; with `shuffle` in an order of
    Python's `random`, another one each time. After each time it calls
    `on_epoch_end`. What the Sequence raises, `get` raises."""

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self):
        order = list(range(len(self.sequence)))
        while not self.stop_signal.is_set():
            if self.shuffle:
                random.shuffle(order)
            with self._pool() as pool:
                for i in order:
                    if not self._put(pool.apply_async(_item, (self.uid, i))):
                        return
                # The end of an epoch comes after its last batch was taken.
                while self.queue.unfinished_tasks:
                    if self.stop_signal.wait(.01):
                        return
            if not self.stop_signal.is_set():
                self.sequence.on_epoch_end()

    def get(self):
        """A generator of the batches."""
        try:
            while True:
                result = self._next_result()
                if result is None:
                    return
                batch = result.get()
                self.queue.task_done()
                if batch is not None:
                    yield batch
        except Exception:
            self.stop()
            raise


class GeneratorEnqueuer(SequenceEnqueuer):
    """Gives the batches of a generator, arrays of any shapes and dtypes.
    Several threads need a generator that threads may share; each process has a
    copy of the generator. `random_seed`: np.random of a process starts there,
    plus its id. What the generator raises, `get` raises; RuntimeError if
    threads may not share it."""

    def __init__(self, sequence, use_multiprocessing=False, random_seed=None):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self):
        with self._pool() as pool:
            while self._put(pool.apply_async(_next, (self.uid,))):
                pass

    def get(self):
        """A generator of the batches."""
        try:
            while True:
                result = self._next_result()
                if result is None:
                    return
                batch = result.get()
                self.queue.task_done()
                if batch is not None:
                    yield batch
        except StopIteration:
            yield from self._rest()
        except Exception as error:
            self.stop()
            if "generator already executing" in str(error):
                raise RuntimeError(
                    "Your generator is NOT thread-safe. Keras requires a "
                    "thread-safe generator when `use_multiprocessing=False, "
                    "workers > 1`. ") from error
            raise

    def _rest(self):
        """What other workers got before the generator ended."""
        self.stop_signal.set()
        left = []
        while not self.queue.empty():
            left.append(self.queue.get())
        for result in left:
            result.wait(1)
            if result.ready() and result.successful():
                batch = result.get()
                if batch is not None:
                    yield batch


def terminate_keras_multiprocessing_pools(grace_period=0.1, use_sigkill=False):
    """Ends the processes that enqueuers started: asks them, waits
    `grace_period` seconds, and sends signals, with `use_sigkill` SIGKILL last.
    Returns a list of texts about those that are still there."""
    gc.collect()
    for pool in list(_pools):
        pool.close()
        pool.terminate()
    if not _pools:
        return []
    time.sleep(grace_period)
    ids = _ids()
    while True:
        try:
            _workers.add(ids.get_nowait())
        except queue.Empty:
            break

    def alive():
        return [p for p in multiprocessing.active_children()
                if p.ident in _workers and p.is_alive()]
    for worker in alive():
        worker.terminate()
        worker.join(grace_period)
    for number in [signal.SIGTERM] + [signal.SIGKILL] * use_sigkill:
        left = alive()
        for worker in left:
            with contextlib.suppress(OSError):  # it ended by itself
                os.kill(worker.pid, number)
        if left:
            time.sleep(grace_period)
    _workers.intersection_update(p.ident for p in alive())
    return ["worker still alive: %s, pid=%s" % (p.name, p.pid) for p in alive()]
