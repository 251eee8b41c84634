"""tensorflow.python.training.tensorboard_logging: messages to the user that are
also written to event files."""
import time

from headrace._src.framework.messages import Event, LogMessage
from headrace._src.platform import tf_logging as _logging

DEBUG, INFO, WARN, ERROR, FATAL = LEVELS = (
    "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_NUMBERS = {DEBUG: LogMessage.DEBUGGING, INFO: LogMessage.INFO,
            WARN: LogMessage.WARN, ERROR: LogMessage.ERROR,
            FATAL: LogMessage.FATAL}

_NOT_SET = object()
_now = {"verbosity": WARN, "writer": _NOT_SET}


def _check(level):
    if level not in _NUMBERS:
        raise ValueError("Level %s is not a valid tensorboard_logging level"
                         % level)


def get_verbosity():
    """The least level that is written to the event file."""
    return _now["verbosity"]


def set_verbosity(verbosity):
    """Sets the least level that is written to the event file. ValueError for
    others than DEBUG, INFO, WARN, ERROR and FATAL."""
    _check(verbosity)
    _now["verbosity"] = verbosity


def set_summary_writer(summary_writer):
    """Sets the FileWriter that messages go to, or None for no file."""
    _now["writer"] = summary_writer


def clear_summary_writer():
    """Messages raise RuntimeError until the writer is set again."""
    _now["writer"] = _NOT_SET


def log(level, message, *args):
    """Writes `message % args` to the log, and to the event file if the level is
    high enough.

    Raises:
      ValueError: for another level than those of this module.
      RuntimeError: no writer was set.
    """
    writer = _now["writer"]
    if writer is _NOT_SET:
        raise RuntimeError("Must call set_summary_writer before doing any "
                           "logging from tensorboard_logging")
    _check(level)
    if writer and _NUMBERS[level] >= _NUMBERS[_now["verbosity"]]:
        event = Event(wall_time=time.time())
        event.log_message.level = _NUMBERS[level]
        event.log_message.message = message % args
        writer.add_event(event)
    _logging.log(getattr(_logging, level), message, *args)


def debug(message, *args):
    """log at this level."""
    log(DEBUG, message, *args)


def info(message, *args):
    """log at this level."""
    log(INFO, message, *args)


def warn(message, *args):
    """log at this level."""
    log(WARN, message, *args)


def error(message, *args):
    """log at this level."""
    log(ERROR, message, *args)


def fatal(message, *args):
    """log at this level."""
    log(FATAL, message, *args)
