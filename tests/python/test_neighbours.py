"""Headrace beside other libraries in one process, loaded before or after them.

The neighbours are those of this interpreter. HEADRACE_WHEEL names a folder with an unpacked wheel (./run package), which is
then tested instead, and beside the neighbours of the interpreter HEADRACE_ORACLE too, if it is of the same version. The
package of ./run build shares Debian's protobuf, which does not survive TensorFlow's.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import headrace

ORACLE = os.environ.get("HEADRACE_ORACLE")
WHEEL = os.environ.get("HEADRACE_WHEEL")
PACKAGES = pathlib.Path(WHEEL or pathlib.Path(headrace.__file__).parent.parent).resolve()

# What each does in the process: its own messages, strings, threads and exceptions.
WORK = {
    "headrace": """
import headrace as hr
with hr.Graph().as_default() as graph:
    x = hr.placeholder(hr.float32, [None, 8, 8, 3])
    y = hr.reduce_sum(hr.nn.relu(hr.nn.conv2d(x, hr.ones([3, 3, 3, 4]), [1, 1, 1, 1], "VALID")))
    copy = hr.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    assert len(copy.node) == len(graph.as_graph_def().node)
    with hr.Session() as session:
        assert session.run(y, {x: np.ones([1, 8, 8, 3])}) == 36 * 27 * 4
    try:
        hr.matmul(hr.ones([2, 3]), hr.ones([2, 3]))
        raise SystemExit("no error")
    except ValueError as error:
        assert "3 and 2" in str(error)
""",
    "tensorflow": """
import tensorflow as tf
with tf.Graph().as_default() as graph:
    x = tf.compat.v1.placeholder(tf.float32, [None, 8, 8, 3])
    y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), [1, 1, 1, 1], "VALID")))
    with tf.compat.v1.Session() as session:
        assert session.run(y, {x: np.ones([1, 8, 8, 3])}) == 36 * 27 * 4
    try:
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        raise SystemExit("no error")
    except ValueError:
        pass
""",
    "onnxruntime": """
import onnxruntime
try:
    onnxruntime.InferenceSession(b"no model", providers=["CPUExecutionProvider"])
    raise SystemExit("no error")
except Exception as error:
    assert "rotobuf" in str(error), error
""",
    "openvino": """
import openvino
from openvino import opset8 as ops
a = ops.parameter([3], np.float32)
model = openvino.Model([ops.add(a, a)], [a])
assert openvino.compile_model(model, "CPU")([np.ones(3, np.float32)])[0].sum() == 6
""",
    "torch": """
import torch
assert torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3)).sum() == 36 * 27 * 4
""",
    "cv2": """
import cv2
assert cv2.blur(np.ones([8, 8], np.float32), (3, 3)).sum() == 64
""",
    "google.protobuf": """
from google.protobuf import descriptor_pb2
d = descriptor_pb2.FileDescriptorProto(name="a")
assert descriptor_pb2.FileDescriptorProto.FromString(d.SerializeToString()) == d
""",
    # The system's, with all its names in the open.
    "libprotobuf": """
import ctypes, ctypes.util
if name := ctypes.util.find_library("protobuf"):
    ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
""",
}


def has(interpreter, module):
    if module == "libprotobuf":
        return True
    if interpreter == sys.executable:
        try:
            return importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:  # google
            return False
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([interpreter, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def interpreters():
    yield sys.executable
    if ORACLE and WHEEL:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        version = subprocess.run([ORACLE, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip()
        if version == "%d.%d" % sys.version_info[:2]:
            yield ORACLE


PAIRS = [(interpreter, module) for interpreter in interpreters() for module in WORK
         if module != "headrace" and has(interpreter, module)]


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("interpreter, neighbour", PAIRS, ids=[f"{i}-{m}" for i, (_, m) in enumerate(PAIRS)])
def test_headrace_and(interpreter, neighbour, first, tmp_path):
    (tmp_path / "headrace").symlink_to(PACKAGES / "headrace")
    order = ["headrace", neighbour] if first else [neighbour, "headrace"]
    # Each works, then each works again with the other loaded.
    code = "import numpy as np\n" + "".join(WORK[name] for name in order + order) + "print('done')\n"
    done = subprocess.run([interpreter, "-c", code], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, env=dict(os.environ, PYTHONPATH=str(tmp_path), TF_CPP_MIN_LOG_LEVEL="3"))
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert done.stdout.strip().endswith("done")
