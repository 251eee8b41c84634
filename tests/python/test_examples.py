"""Programs of examples/python run, on little data of their own."""
import gzip
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(),
                                reason="no examples beside the tests")


def write_idx(path, array):
    header = struct.pack(">HBB%di" % array.ndim, 0, 8, array.ndim,
                         *array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes()))


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "lenet.py"), *map(str, arguments)],
        text=True, capture_output=True, timeout=120)


def write_clothes(tmp_path):
    """Data as Fashion-MNIST's. The class of a picture is the row that is
    bright."""
    random = np.random.RandomState(0)
    for name, count in (("train", 400), ("t10k", 100)):
        labels = random.randint(10, size=count).astype(np.uint8)
        pictures = random.randint(60, size=(count, 28, 28)).astype(np.uint8)
        pictures[np.arange(count), 2 * labels + 4] += 180
        write_idx(tmp_path / (name + "-images-idx3-ubyte.gz"), pictures)
        write_idx(tmp_path / (name + "-labels-idx1-ubyte.gz"), labels)


def test_lenet_learns(tmp_path):
    write_clothes(tmp_path)
    done = run("--steps", 30, "--batch", 32, "--data", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "] 30/30  loss " in done.stdout
    right = re.search(r"([\d.]+) % of 100 test pictures are right",
                      done.stdout)
    assert float(right.group(1)) > 60


def test_lenet_says_where_its_data_comes_from(tmp_path):
    done = run("--data", tmp_path / "none")
    assert done.returncode == 1
    assert "apt-get install dataset-fashion-mnist" in done.stderr
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(
        gzip.compress(b"no idx file"))
    assert "is not an IDX file of bytes" in run("--data", tmp_path).stderr
