"""tf.compat."""
import pathlib

import numpy as np
import pytest

import headrace as tf

compat = tf.compat


def test_strings():
    assert compat.as_bytes("a\u00e4") == b"a\xc3\xa4"
    assert compat.as_bytes("\u00e4", "latin-1") == b"\xe4"
    assert compat.as_bytes(bytearray(b"x")) == b"x"
    assert compat.as_text(b"\xc3\xa4") == compat.as_str("\u00e4") == "\u00e4"
    assert compat.as_str_any(5) == "5" and compat.as_str_any(b"x") == "x"
    assert compat.path_to_str(pathlib.Path("/a")) == "/a"
    assert compat.path_to_str(5) == 5
    for function in (compat.as_bytes, compat.as_text, compat.as_str):
        with pytest.raises(TypeError, match="Expected binary or unicode"):
            function(5)


def test_kinds_of_numbers():
    assert isinstance(np.int8(1), compat.integral_types)
    assert isinstance(np.float16(1), compat.real_types)
    assert not isinstance(1.5, compat.integral_types)
    assert isinstance(1j, compat.complex_types)
    assert isinstance("a", compat.bytes_or_text_types)


def test_forward_compatible():
    assert compat.forward_compatible(2019, 1, 1)
    assert not compat.forward_compatible(2019, 9, 1)
    with compat.forward_compatibility_horizon(2030, 1, 1):
        assert compat.forward_compatible(2029, 1, 1)
    assert not compat.forward_compatible(2029, 1, 1)
