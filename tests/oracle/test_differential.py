"""Random ops give what TensorFlow gives; `differential.py` searches further."""
import os
import pathlib
import re

import numpy as np
import pytest

import differential
import libraries
import random_ops
from allowed import ALLOWED, EXTREME, NEAR

FLOAT, INT32 = random_ops.FLOAT, random_ops.INT32


def answer(shapes=([2],), values=((FLOAT, [2], (1., 2.)),), stage="ok",
           message=""):
    return {"stage": stage, "message": message, "code": 0, "node": "n0",
            "shapes": list(shapes),
            "values": [random_ops.encode(t, v) if v is not None else
                       (t, dims, None) for t, dims, v in values]}


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("ours, theirs, kinds", [
    ({}, {}, []),
    ({"values": [(FLOAT, [2], (1.000001, 2.))]}, {}, []),
    ({"values": [(FLOAT, [2], (1.01, 2.))]}, {}, ["value"]),
    ({"values": [(FLOAT, [2], (NAN, 2.))]}, {}, ["value"]),
    ({"values": [(FLOAT, [2], (NAN, -INF))]},
     {"values": [(FLOAT, [2], (NAN, INF))]}, ["value"]),
    ({"values": [(INT32, [2], (1, 2))]}, {}, ["value"]),
    ({"values": [(FLOAT, [1], (1.,))]}, {}, ["value"]),
    ({"shapes": [[3]]}, {}, ["shape"]),
    ({"shapes": [[3]]}, {"shapes": [None]}, ["shape"]),
    ({"shapes": [[-1]]}, {}, ["vague"]),
    ({"shapes": [None]}, {"shapes": [[3]]}, []),  # TensorFlow is wrong
    ({"shapes": [[2]]}, {"shapes": [None]}, []),
    ({"stage": "run"}, {}, ["refuses"]),
    ({}, {"stage": "build"}, ["accepts"]),
    ({}, {"stage": "run", "message": "No OpKernel was registered"}, []),
    ({"stage": "run"}, {"stage": "build"}, ["late"]),
])
def test_what_is_reported(ours, theirs, kinds):
    found = differential.compare(answer(**ours), answer(**theirs))
    assert [kind for kind, _ in found] == kinds


def test_what_is_allowed_has_a_reason_and_a_known_kind():
    for pattern, kinds, parts, reason in ALLOWED:
        assert isinstance(parts, (str, tuple)), parts
        assert pattern and reason
        assert set(kinds.split()) <= {"value", "shape", "vague", "refuses",
                                      "accepts", "late", "kernel", "death"}


def test_parts_that_are_allowed_are_all_wanted(monkeypatch):
    monkeypatch.setattr(differential, "ALLOWED",
                        [("Sq*", "value", ("complex", EXTREME), "why")])
    for op, kind, what, fits in [
            ("Sqrt", "value", "np.complex64(1)" + EXTREME, True),
            ("Sqrt", "value", "np.complex64(1)", False),
            ("Sqrt", "value", "np.float32(1)" + EXTREME, False),
            ("Sqrt", "shape", "np.complex64(1)" + EXTREME, False),
            ("Rsqrt", "value", "np.complex64(1)" + EXTREME, False)]:
        assert differential.allowed(op, kind, what) is fits


@pytest.mark.parametrize("values, extreme", [
    ([1., -2., 0.], False), ([], False), ([INF, 1.], True), ([NAN], True),
    ([1e30], True), ([1., 1e-37], True)])
def test_extreme_arguments(values, extreme):
    feed = "x", random_ops.encode(FLOAT, values)
    imaginary = np.zeros(len(values), np.complex64)
    imaginary.imag = values
    constant = {"attrs": {"value": ("tensor", random_ops.encode(
        random_ops.COMPLEX64, imaginary))}}
    assert random_ops.is_extreme({"feeds": [feed], "nodes": []}) is extreme
    assert random_ops.is_extreme({"feeds": [], "nodes": [constant]}) is extreme


@pytest.mark.parametrize("got, near", [
    ([1.001, 2.], True), ([1.1, 2.], False), ([NAN, 2.], False)])
def test_near_results_are_marked(got, near):
    what = differential.difference(random_ops.encode(FLOAT, got),
                                   random_ops.encode(FLOAT, [1., 2.]))
    assert what.endswith(NEAR) is near


def test_cases_come_from_their_seeds_alone():
    with libraries.headrace() as library:
        ops = differential.op_defs.parse(library.ask("ops"))
    for name in ("Add", "Conv2D", "SparseAdd", "StridedSlice"):
        assert random_ops.make_case(ops, name, 3) == random_ops.make_case(
            ops, name, 3)
        assert random_ops.make_case(ops, name, 3) != random_ops.make_case(
            ops, name, 4)


def test_a_worker_that_dies_is_replaced(tmp_path):
    broken = tmp_path / "worker.py"
    broken.write_text("import sys; sys.exit(3)")
    library = libraries.headrace()
    library.command[1] = str(broken)
    with library:
        with pytest.raises(libraries.Died, match="3|before"):
            library.ask("ops")
        library.command[1] = str(pathlib.Path(libraries.WORKER))
        assert b"MatMul" in library.ask("ops")


@pytest.mark.oracle
def test_random_ops_agree_with_tensorflow():
    """What counts as wrong: a death, another value, a contradicting shape."""
    found = []
    with libraries.headrace() as ours, libraries.oracle(
            os.environ["HEADRACE_ORACLE"]) as theirs:
        search = differential.Search(ours, theirs)
        for name in sorted(search.ops):
            for seed in range(2):
                found += ["%s %s %d: %s" % (kind, name, seed, what)
                          for kind, what in search.differences(name, seed)
                          if kind in ("death", "value", "shape")]
    assert not found, "\n".join(re.sub(r"\s+", " ", f)[:300] for f in found)
