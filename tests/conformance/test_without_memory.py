"""Runs recorded cases with allocations that fail: an error or a result, never a crash or a hang.

HEADRACE_LIBTENSORFLOW names another library than build/lib/libtensorflow.so.2; the library that makes allocations fail
is looked for in tests/ beside its folder.
"""
import os
import pathlib
import subprocess
import sys

import pytest

import without_memory

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = pathlib.Path(os.environ.get("HEADRACE_LIBTENSORFLOW",
                                      HERE.parent.parent / "build" / "lib" / "libtensorflow.so.2"))
FAULTS = LIBRARY.resolve().parent.parent / "tests" / "libfailing_allocations.so"

pytestmark = pytest.mark.skipif(not FAULTS.exists(), reason="the C++ tests were not built")


def run(folder, *options):
    done = subprocess.run([sys.executable, HERE / "run_without_memory.py", LIBRARY, FAULTS, HERE / folder, *map(str, options)],
                          stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    # Allocations did fail: some runs ended with RESOURCE_EXHAUSTED.
    assert ", 8: " in done.stdout, done.stdout


@pytest.mark.parametrize("folder", ["ops", "graphs"])
def test_the_nth_allocation_of_each_op_fails(folder):
    run(folder, "--failures", 4)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["ops", "graphs"])
def test_any_allocation_of_each_op_fails(folder):
    run(folder, "--failures", 200, "--cases", 2, "--timeout", 300)


def test_nothing_new_is_begun_while_there_is_no_memory():
    done = subprocess.run([sys.executable, HERE / "run_with_little_memory.py", LIBRARY, FAULTS],
                          env=without_memory.environment(FAULTS), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
    assert done.returncode == 0, done.stdout
