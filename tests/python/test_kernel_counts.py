"""HEADRACE_COUNT_KERNELS, and what tools/coverage.py makes of the counts."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PROGRAM = """
import sys
import numpy as np
import headrace as tf
from headrace import _headrace
x = tf.placeholder(tf.float32, [None, 2])
y = tf.matmul(x, x, transpose_b=True)
queue = tf.FIFOQueue(1, [tf.int32], [[]])
with tf.Session() as session:
    for _ in range(3):
        session.run(y, {x: np.ones([4, 2])})
    session.run(queue.enqueue(7))
    _headrace.count_kernels_in(sys.argv[1])
    try:
        session.run(tf.reshape(x, [7]), {x: np.ones([4, 2])})
    except tf.errors.InvalidArgumentError:
        session.run(queue.dequeue())
"""


def counts(file):
    """{(op, types): calls}."""
    found = {}
    for line in file.read_text().splitlines():
        _, op, device, _, types, _, calls = line.split("\t")
        assert device == "CPU"
        found[op, types] = found.get((op, types), 0) + int(calls)
    return found


def test_a_process_appends_what_its_sessions_ran(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    subprocess.run([sys.executable, "-c", PROGRAM, second], check=True,
                   env=dict(os.environ, HEADRACE_COUNT_KERNELS=str(first)))
    found = counts(first)
    assert found["MatMul", "T=float"] == 3
    # An op that waits is counted when it is done.
    assert found["QueueEnqueueV2", "Tcomponents=int32"] == 1
    found = counts(second)
    assert found["QueueDequeueV2", "component_types=int32"] == 1
    assert not any(op in ("MatMul", "Reshape") for op, _ in found)


@pytest.fixture
def coverage(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("coverage_page",
                                                  ROOT / "tools" / "coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COUNTS", tmp_path)
    monkeypatch.setattr(module, "DOC", tmp_path / "coverage.md")
    return module


def run_of(program, op, kernel_class, types, algorithm=""):
    return "\t".join([program, op, "CPU", kernel_class, types, algorithm, "1"]) + "\n"


def kernels(coverage):
    make = lambda op, cls, types: coverage.Kernel(op, "CPU", cls, types)
    return [make("Abs", "AbsOp<float>", "T in [float]"),
            make("Abs", "AbsOp<double>", "T in [double]"),
            make("Pool", "PoolOp", "T in [float, half]; Tidx in [int32]"),
            make("Close", "CloseOp", "")]


def test_tests_that_compare_are_told_from_those_that_only_run(coverage, tmp_path):
    (tmp_path / "cpp.tsv").write_text(
        run_of("kernels_test", "Pool", "PoolOp", "T=half Tidx=int32", "fast")
        + run_of("session_test", "Abs", "AbsOp<float>", "T=float"))
    (tmp_path / "python-test_fork.tsv").write_text(run_of("python3", "Close", "CloseOp", ""))
    (tmp_path / "python-test_ops.tsv").write_text(
        run_of("python3", "Abs", "AbsOp<double>", "T=double"))
    registered = kernels(coverage)
    assert coverage.read_counts(registered)
    page = coverage.document(registered)
    assert "3 ops have 4 kernels for the CPU. Tests compare the values of 2 ops " in page
    assert "## Ops whose values no test compares\n\nClose\n" in page
    assert "| Abs | T: double (not float) |  | test_ops | session_test |" in page
    assert "| Pool | T: half (not float); Tidx: int32 | fast | kernels |  |" in page
    coverage.DOC.write_text(page)
    assert coverage.compared_by() == {"Abs": "test_ops", "Pool": "kernels", "Close": ""}


def test_a_kernel_that_no_test_runs_is_refused_unless_it_is_listed(coverage, tmp_path):
    (tmp_path / "python-test_ops.tsv").write_text(
        run_of("python3", "Abs", "AbsOp<double>", "T=double")
        + run_of("python3", "Close", "CloseOp", ""))
    registered = kernels(coverage)
    coverage.read_counts(registered)
    assert coverage.check(registered) == [
        "Abs on CPU for T=float", "Pool on CPU for T=float,half Tidx=int32"]
    coverage.DOC.write_text(coverage.document(registered))
    assert coverage.check(registered) == []


def test_counts_of_another_class_or_type_are_of_another_kernel(coverage, tmp_path):
    (tmp_path / "python-test_ops.tsv").write_text(
        run_of("python3", "Abs", "AbsOp<half>", "T=half")
        + run_of("python3", "Pool", "PoolOp", "T=float Tidx=int64"))
    registered = kernels(coverage)
    coverage.read_counts(registered)
    assert all(not k.runs for k in registered)
