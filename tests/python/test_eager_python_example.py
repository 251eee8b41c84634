"""The example of eager execution in Python runs."""
import pathlib
import subprocess
import sys

import pytest

EXAMPLE = (pathlib.Path(__file__).resolve().parents[2] / "examples"
           / "eager.py")


@pytest.mark.skipif(not EXAMPLE.is_file(), reason="no examples beside the tests")
def test_the_example_of_eager_execution_in_python():
    done = subprocess.run([sys.executable, str(EXAMPLE)], text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("line: 3.0 x + 2.0\n"
                           "network: loss below 0.01: True\n")
