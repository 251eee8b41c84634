"""HEADRACE_VLOG=1 tells what graph passes did."""
import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import headrace as tf
x = tf.placeholder(tf.float32, [2, 3])
y = tf.tanh(tf.matmul(x, [[1.0], [2.0], [3.0]]))
tf.Session().run(y, {x: [[1, 2, 3], [4, 5, 6]]})
"""


@pytest.mark.parametrize("variable", ["HEADRACE_VLOG", "TF_CPP_MIN_VLOG_LEVEL"])
@pytest.mark.parametrize("level", ["0", "1"])
def test_passes_are_logged(variable, level):
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True,
                          env=dict(os.environ, **{variable: level}),
                          capture_output=True, text=True)
    lines = re.findall(r"pass (\w+): (\d+) changes, (\d+) nodes", done.stderr)
    found = {name: int(changes) for name, changes, _ in lines}
    if level == "0":
        assert not found, done.stderr
    else:
        assert found["fuse_matmul"] == 1, done.stderr
        assert found["cse"] == 0 and "prune" in found, done.stderr
