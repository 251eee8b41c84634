"""An activation of a library (tests/custom_ops) in sessions with a GPU, which
has no kernel for it: of the host platform."""
import os
import pathlib
import subprocess
import sys

import pytest

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build" / "tests"
LIBRARY = BUILD / "libtest_hard_swish.so"

PROGRAM = """
import sys
import numpy as np
import headrace as tf

swish = tf.load_op_library(sys.argv[1]).test_hard_swish
rng = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [2, 8, 8, 4])
w = tf.constant(rng.uniform(-1, 1, [3, 3, 4, 4]).astype(np.float32))
m = tf.constant(rng.uniform(-1, 1, [4, 6]).astype(np.float32))
image = rng.uniform(-1, 1, [2, 8, 8, 4]).astype(np.float32)


def layers():
    conv = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    other = tf.nn.conv2d(x, 2 * w, [1, 1, 1, 1], "SAME")
    return {"conv": conv,
            "bias": tf.nn.bias_add(other, [1.0, 2.0, 3.0, 4.0]),
            "matmul": tf.matmul(tf.reshape(x, [-1, 4]), m)}


def run(activation, device, **options):
    config = tf.ConfigProto(allow_soft_placement=True, **options)
    with tf.device(device), tf.Session(config=config) as session:
        types = {d.device_type for d in session.list_devices()}
        fetches = {k: activation(v) for k, v in layers().items()}
        metadata = tf.RunMetadata()
        values = session.run(
            fetches, {x: image}, run_metadata=metadata,
            options=tf.RunOptions(output_partition_graphs=True))
    ops = sorted(n.op for g in metadata.partition_graphs for n in g.node)
    return types, values, ops


cpu_only, expected, ops = run(swish, None, device_count={"GPU": 0})
assert cpu_only == {"CPU"}, cpu_only
assert "TestHardSwish" not in ops and "_FusedMatMul" in ops, ops
types = run(swish, None)[0]
if "GPU" not in types:
    print("no GPU")
    sys.exit()
for device in (None, "/gpu:0", "/cpu:0"):
    _, values, ops = run(swish, device)
    for key in expected:
        np.testing.assert_allclose(values[key], expected[key], 1e-4, 1e-4)
    # Where the GPU is possible, a node of its own follows the layers.
    swishes = 0 if device == "/cpu:0" else 3
    assert ops.count("TestHardSwish") == swishes, (device, ops)
    assert ("_FusedMatMul" in ops) == (device == "/cpu:0"), (device, ops)
assert "Elu" not in run(tf.nn.elu, None)[2]  # a GPU has it
print("done")
"""


def test_an_activation_of_a_library_runs_after_layers():
    if not LIBRARY.exists():
        pytest.skip("the tests' libraries were not built")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(LIBRARY)], timeout=300,
        env=dict(os.environ, HEADRACE_GPU_PLATFORM="host"),
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    if "no GPU" in done.stdout:
        pytest.skip("this build has no host platform of GPUs")
    assert done.stdout.split() == ["done"]
