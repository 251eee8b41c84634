"""Whether tf.autograph converts what the program runs: tensorflow.python.autograph's
ag_ctx. Errors about tensors in Python's branches and loops tell it."""
import enum
import threading

_state = threading.local()


class Status(enum.Enum):
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """`with ControlStatusCtx(status)`: the status of the calls inside."""

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *error):
        assert _stack().pop() is self

    def __repr__(self):
        return "%s[status=%s, options=%s]" % (
            type(self).__name__, self.status, self.options)


def _stack():
    if not hasattr(_state, "stack"):
        _state.stack = [ControlStatusCtx(Status.UNSPECIFIED)]
    return _state.stack


def control_status_ctx():
    """The innermost ControlStatusCtx of this thread."""
    return _stack()[-1]


def refusal():
    """Why a tensor has no value for Python here, or None where tf.autograph has
    not to do with it."""
    return {
        Status.ENABLED: "AutoGraph did not convert this function. Try "
                        "decorating it directly with @tf.function.",
        Status.DISABLED: "AutoGraph is disabled in this function. Try "
                         "decorating it directly with @tf.function.",
    }.get(control_status_ctx().status)
