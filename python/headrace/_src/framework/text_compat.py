"""tf.compat: strings as bytes or text, kinds of numbers, and dates."""
import contextlib
import datetime
import numbers

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)

# The date that TensorFlow 1.15 has: what programs make depends on it.
_HORIZON = datetime.date(2019, 8, 21)


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text encoded; bytes as they are. TypeError for anything else.

    There are no shapes and dtypes here. LookupError for an encoding that there
    is not, UnicodeEncodeError for text that it does not have."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError("Expected binary or unicode string, got %r"
                    % (bytes_or_text,))


def as_text(bytes_or_text, encoding="utf-8"):
    """Bytes decoded; text as it is. TypeError for anything else.

    There are no shapes and dtypes here. UnicodeDecodeError for bytes that are
    no text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes_or_text.decode(encoding)
    raise TypeError("Expected binary or unicode string, got %r"
                    % (bytes_or_text,))


as_str = as_text


def as_str_any(value):
    """Bytes decoded; str() of anything else."""
    return as_str(value) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """The text of an object that stands for a path; others as they are."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else (
        path)


def forward_compatible(year, month, day):
    """Whether what TensorFlow could read three weeks before that date may be
    written: True for dates before the horizon."""
    return _HORIZON > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """Moves the horizon within a with block."""
    global _HORIZON
    saved, _HORIZON = _HORIZON, datetime.date(year, month, day)
    try:
        yield
    finally:
        _HORIZON = saved
