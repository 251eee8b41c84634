"""examples/distributed/lenet_ps.py, on little data of its own."""
import gzip
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = (pathlib.Path(__file__).resolve().parents[2]
           / "examples/distributed/lenet_ps.py")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(),
                                reason="no examples beside the tests")


@pytest.fixture(scope="module")
def clothes(tmp_path_factory):
    """As Fashion-MNIST. The class of a picture is the row that is bright."""
    folder = tmp_path_factory.mktemp("clothes")
    random = np.random.RandomState(0)
    for name, count in (("train", 400), ("t10k", 100)):
        labels = random.randint(10, size=count).astype(np.uint8)
        pictures = random.randint(60, size=(count, 28, 28)).astype(np.uint8)
        pictures[np.arange(count), 2 * labels + 4] += 180
        for kind, array in (("images-idx3", pictures), ("labels-idx1", labels)):
            header = struct.pack(">HBB%di" % array.ndim, 0, 8, array.ndim,
                                 *array.shape)
            (folder / ("%s-%s-ubyte.gz" % (name, kind))).write_bytes(
                gzip.compress(header + array.tobytes()))
    return folder


def run(clothes, *arguments):
    """The share of right answers, the steps, the weights' hash."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--data", str(clothes), "--batch", "16",
         *arguments], text=True, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = re.search(r"([\d.]+) % of 100 test pictures are right after (\d+) "
                      r"steps; weights (\w+)", done.stdout)
    return float(found.group(1)), int(found.group(2)), found.group(3)


def test_workers_that_train_as_they_like_learn_as_one_process_does(clothes):
    right, steps, _ = run(clothes, "--steps", "45")
    assert steps == 45 and right > 60


def test_synchronous_training_is_one_process_bit_for_bit(clothes):
    together = run(clothes, "--sync", "--steps", "12")
    one = run(clothes, "--alone", "--steps", "12")
    assert together == one
    assert together[1] == 12
    # Another number of steps has other weights.
    assert run(clothes, "--alone", "--steps", "11")[2] != one[2]
