"""tensorflow-probability 0.8 over tf.compat.v2, where it is installed:

    pip install --no-deps tensorflow-probability==0.8.0
    pip install cloudpickle decorator 'gast<0.3' six absl-py

probability_values.json has what probability_programs.py writes on TensorFlow
1.15.5."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
VALUES = json.loads((HERE / "probability_values.json").read_text())
MISSING = importlib.util.find_spec("tensorflow_probability") is None
needs_the_package = pytest.mark.skipif(
    MISSING, reason="tensorflow-probability is not installed")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    output = tmp_path_factory.mktemp("values") / "found.json"
    done = subprocess.run(
        [sys.executable, "-m", "headrace.compat",
         HERE / "probability_programs.py", output],
        text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(output.read_text())


def agree(ours, theirs):
    if isinstance(theirs, str) or isinstance(ours, str):  # an error
        return ours == theirs
    return len(ours) == len(theirs) and all(
        a[:2] == b[:2] and np.allclose(a[2], b[2], rtol=3e-4, atol=3e-5,
                                       equal_nan=True)
        for a, b in zip(ours, theirs))


@needs_the_package
@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_tensorflow(found, name):
    wrong = {what: (found[name][what], value)
             for what, value in VALUES[name].items()
             if not agree(found[name][what], value)}
    assert not wrong


def test_the_table_has_all():
    assert len(VALUES) > 115
    numbers = [v for what in VALUES.values() for v in what.values()
               if not isinstance(v, str)]
    assert len(numbers) > 600


@pytest.mark.parametrize("ours, theirs, same", [
    ("ValueError", "ValueError", True), ("ValueError", "TypeError", False),
    ([["float32", [1], [1.0]]], [["float32", [1], [1.0]]], True),
    ([["float32", [1], [1.1]]], [["float32", [1], [1.0]]], False),
    ([["float32", [2], [1.0]]], [["float32", [1], [1.0]]], False),
    ([["float32", [1], [1.0]]], "ValueError", False)])
def test_how_values_are_compared(ours, theirs, same):
    assert agree(ours, theirs) is same
