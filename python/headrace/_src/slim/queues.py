"""tf.contrib.slim.queues: the threads that fill queues, for a block of code."""
import contextlib
import threading

from headrace._src.framework.graph import GraphKeys, get_collection
from headrace._src.training.coordinator import Coordinator

_running = threading.Lock()


class NestedQueueRunnerError(Exception):
    """A QueueRunners inside another."""


@contextlib.contextmanager
def QueueRunners(session):
    """Within it the queue runners of the default graph run in `session`. At its end
    they are asked to stop, and have 120 seconds for it.

    Errors:
      NestedQueueRunnerError: another QueueRunners is in use.
      RuntimeError: threads did not stop.
    """
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coord = Coordinator()
        threads = [thread for runner in get_collection(GraphKeys.QUEUE_RUNNERS)
                   for thread in runner.create_threads(
                       session, coord=coord, daemon=True, start=True)]
        try:
            yield
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120)
    finally:
        _running.release()
