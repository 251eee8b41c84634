"""Unicode ops against Python's own codecs."""
import numpy as np
import pytest

from op_values import run_op

TEXTS = ["abc", "", "\u00e9t\u00e9", "\u6f22\u5b57", "\U0001f600x", "\u05d0 \u0434"]
ENCODINGS = ["UTF-8", "UTF-16-BE", "UTF-32-BE"]


def encoded(encoding, texts=TEXTS):
    return np.array([t.encode(encoding) for t in texts], object)


def lengths(splits):
    return np.diff(splits).tolist()


@pytest.mark.parametrize("splits", [np.int32, np.int64])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_decoding_gives_code_points_and_row_splits(encoding, splits):
    rows, values = run_op("UnicodeDecode", encoded(encoding),
                          input_encoding=encoding, Tsplits=splits)
    assert rows.dtype == splits and rows[0] == 0 and values.dtype == np.int32
    assert lengths(rows) == [len(t) for t in TEXTS]
    assert values.tolist() == [ord(c) for t in TEXTS for c in t]


@pytest.mark.parametrize("splits", [np.int32, np.int64])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_decoding_with_offsets_tells_where_each_begins(encoding, splits):
    rows, values, starts = run_op("UnicodeDecodeWithOffsets", encoded(encoding),
                                  input_encoding=encoding, Tsplits=splits)
    assert lengths(rows) == [len(t) for t in TEXTS]
    assert values.tolist() == [ord(c) for t in TEXTS for c in t]
    assert starts.dtype == np.int64
    assert starts.tolist() == [len(t[:i].encode(encoding))
                               for t in TEXTS for i in range(len(t))]


@pytest.mark.parametrize("op", ["UnicodeDecode", "UnicodeDecodeWithOffsets"])
def test_decoding_of_malformed_text(op):
    text = np.array([b"a\xffb", b"\xe6\xbc"], object)
    decode = lambda **attrs: run_op(op, text, input_encoding="UTF-8", **attrs)[:2]
    rows, values = decode(errors="replace", replacement_char=ord("?"))
    assert values.tolist()[:3] == [ord("a"), ord("?"), ord("b")]
    assert set(values.tolist()[3:]) == {ord("?")}
    rows, values = decode(errors="ignore")
    assert lengths(rows) == [2, 0] and values.tolist() == [ord("a"), ord("b")]


def test_decoding_replaces_control_characters_if_asked():
    _, values = run_op("UnicodeDecode", np.array([b"a\x01b"], object),
                       input_encoding="UTF-8", replace_control_characters=True,
                       replacement_char=ord("_"))
    assert values.tolist() == [ord("a"), ord("_"), ord("b")]


@pytest.mark.parametrize("splits", [np.int32, np.int64])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encoding_joins_the_code_points_of_each_row(encoding, splits):
    values = np.int32([ord(c) for t in TEXTS for c in t])
    rows = np.cumsum([0] + [len(t) for t in TEXTS]).astype(splits)
    got = run_op("UnicodeEncode", values, rows, output_encoding=encoding)
    assert got.tolist() == encoded(encoding).tolist()


@pytest.mark.parametrize("errors, wanted", [
    ("replace", b"a?b"), ("ignore", b"ab")])
def test_encoding_of_what_is_no_code_point(errors, wanted):
    for bad in (0xD800, 0x110000, -1):
        got = run_op("UnicodeEncode", np.int32([ord("a"), bad, ord("b")]),
                     np.int64([0, 3]), output_encoding="UTF-8", errors=errors,
                     replacement_char=ord("?"))
        assert got.tolist() == [wanted], bad


def test_scripts_have_the_numbers_of_icu():
    numbers = {"a": 25, "\u03b1": 14, "\u0434": 8, "\u6f22": 17, "\u0627": 2,
               "\u05d0": 19, "\u3042": 20, "\u30a2": 22, "\ud55c": 18, "\u0e01": 38,
               "\u0905": 10, "\u10d0": 12, "\u0531": 3, "1": 0, " ": 0,
               "\u0301": 1}
    points = np.int32([[ord(c) for c in numbers]])
    got = run_op("UnicodeScript", points)
    assert got.tolist() == [list(numbers.values())]
    assert run_op("UnicodeScript", np.int32([-1, 0x110000])).tolist() == [-1, -1]


@pytest.mark.parametrize("to", ENCODINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_transcoding(encoding, to):
    got = run_op("UnicodeTranscode", encoded(encoding), input_encoding=encoding,
                 output_encoding=to)
    assert got.tolist() == encoded(to).tolist()


def test_strings_are_stripped_and_replaced():
    texts = np.array([b"  a b\t\n", b"", b" \r", b"xaxa"], object)
    assert run_op("StringStrip", texts).tolist() == [t.strip() for t in texts]
    replace = lambda **attrs: run_op("StaticRegexReplace", texts, pattern="a(.?)",
                                     rewrite=r"<\1>", **attrs).tolist()
    assert replace() == [b"  < >b\t\n", b"", b" \r", b"x<x><>"]
    assert replace(replace_global=False) == [b"  < >b\t\n", b"", b" \r", b"x<x>a"]
