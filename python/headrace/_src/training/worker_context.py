"""The task for which the coordinator of tf.distribute runs this thread's
function, of which monitored sessions ask."""
import threading

_thread = threading.local()


def get_current_worker_context():
    """The context in which the coordinator runs this thread's function, or
    None."""
    return getattr(_thread, "current", None)


def set_current_worker_context(context):
    """Of the coordinator: the context of this thread."""
    _thread.current = context
