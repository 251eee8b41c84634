"""examples/distributed/keras_workers.py, started as it says."""
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAM = (pathlib.Path(__file__).resolve().parents[2]
           / "examples/distributed/keras_workers.py")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(),
                                reason="no examples beside the tests")


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_learn_and_have_the_same_weights(workers, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "headrace.cluster", "local",
         "--job", "worker=%d" % workers, "--", sys.executable, str(PROGRAM),
         str(tmp_path)], text=True, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"of (\d) workers: ([\d.]+) % of the points are right; "
                       r"weights (\w+)", done.stdout)
    assert len(found) == workers and len(set(found)) == 1, done.stdout
    assert int(found[0][0]) == workers and float(found[0][1]) > 90
    assert (tmp_path / "weights.index").exists()
    assert not (tmp_path / "backup").exists()
