"""Every op that a case can be made for runs with allocations that fail."""
import pathlib
import re
import subprocess
import sys

import pytest

import libraries

# Eigen's JacobiSVD destroys a member before it makes it anew: if there is no
# memory just then, the member is destroyed twice, and free() ends the process.
DIE = ["Svd"]

LIBRARY = pathlib.Path(libraries.headrace().command[-1])
FAULTS = LIBRARY.resolve().parent.parent / "tests" / "libfailing_allocations.so"


@pytest.mark.slow
@pytest.mark.skipif(not FAULTS.exists(), reason="the C++ tests were not built")
def test_the_nth_allocation_of_every_op_fails():
    done = subprocess.run(
        [sys.executable,
         pathlib.Path(__file__).with_name("run_ops_without_memory.py"),
         LIBRARY, FAULTS, "--failures", "4", "--but", ",".join(DIE)],
        stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    # The generator makes sense of most ops, and allocations did fail.
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 540, done.stdout
    assert int(re.search(r"want of memory: (\d+)",
                         done.stdout)[1]) > 600, done.stdout
