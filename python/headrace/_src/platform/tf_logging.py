"""tf.logging: messages of programs and of the library, by Python's logger
"tensorflow", to stderr. Warnings and worse are shown unless set_verbosity says
otherwise."""
import collections
import logging as _logging
import sys
import threading

DEBUG = _logging.DEBUG
INFO = _logging.INFO
WARN = _logging.WARNING
ERROR = _logging.ERROR
FATAL = _logging.CRITICAL

_lock = threading.Lock()
_logger = None
_counts: collections.Counter = collections.Counter()  # by the caller's line


def get_logger():
    """The logger, which has a handler of its own unless the program or its root
    logger has one."""
    global _logger
    if _logger is None:
        with _lock:
            if _logger is None:
                logger = _logging.getLogger("tensorflow")
                if not logger.handlers and not _logging.getLogger().handlers:
                    handler = _logging.StreamHandler(sys.stderr)
                    handler.setFormatter(
                        _logging.Formatter(_logging.BASIC_FORMAT))
                    logger.addHandler(handler)
                _logger = logger
    return _logger


def log(level, msg, *args, **kwargs):
    """`msg % args` at a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    get_logger().debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Logs msg % args, for information: shown at tf.logging.INFO and below.
    Returns None. No tensors: a Tensor among `args` shows as its name, shape and
    dtype. It raises nothing; arguments that do not fit `msg` are reported on
    stderr."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Logs msg % args as a warning: shown at tf.logging.WARN and below. Returns
    None; a Tensor among `args` shows as its name, shape and dtype. It raises
    nothing; arguments that do not fit `msg` are reported on stderr."""
    get_logger().warning(msg, *args, **kwargs)


def warn(msg, *args, **kwargs):
    """As warning: logs msg % args, shown at tf.logging.WARN and below. Returns
    None; a Tensor among `args` shows as its name, shape and dtype. It raises
    nothing."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    """Logs msg % args as an error: shown at tf.logging.ERROR and below. Returns
    None; a Tensor among `args` shows as its name, shape and dtype. It raises
    nothing; arguments that do not fit `msg` are reported on stderr."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Logs msg % args at the highest level, which is always shown. The program
    goes on. Returns None; a Tensor among `args` shows as its name, shape and
    dtype. It raises nothing; arguments that do not fit `msg` are reported on
    stderr."""
    get_logger().fatal(msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    get_logger().log(level, msg, *args, **kwargs)


def TaskLevelStatusMessage(msg):
    error(msg)


def flush():
    """Nothing is held back: each message is written when it is logged."""


def _count():
    """How often the line of the program that logs has been here before."""
    frame = sys._getframe(2)
    key = frame.f_code.co_filename, frame.f_lineno
    with _lock:
        _counts[key] += 1
        return _counts[key] - 1


def log_every_n(level, msg, n, *args):
    """Logs at the first call from a line of the program, and every `n`-th
    then."""
    log_if(level, msg, _count() % n == 0, *args)


def log_first_n(level, msg, n, *args):
    """Logs at the first `n` calls from a line of the program."""
    log_if(level, msg, _count() < n, *args)


def log_if(level, msg, condition, *args):
    """Logs if the condition is true."""
    if condition:
        log(level, msg, *args)


def get_verbosity():
    """The level below which nothing is shown."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Shows messages of level `v` (tf.logging.INFO, an int, or its name) and
    above. Returns None; there are no shapes and dtypes here. ValueError for a
    name that is no level's, TypeError for what is neither."""
    get_logger().setLevel(v)
