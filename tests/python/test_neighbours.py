"""Headrace beside other libraries in one process, loaded before or after them.

The neighbours are those of this interpreter, of the benches' (.venv-bench), of ./run neighbours (.venv-neighbours) and of
HEADRACE_ORACLE, if they are of the same version. HEADRACE_WHEEL names a folder with an unpacked wheel (./run package), which is then tested instead. Where there are no
neighbours, a library stands in for them whose protobuf ends the process.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import headrace

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OTHERS = [python for python in (os.environ.get("HEADRACE_ORACLE"), str(ROOT / ".venv-bench/bin/python"),
                                str(ROOT / ".venv-neighbours/bin/python")) if python and os.path.exists(python)]
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
    # As old programs load it: all its names are everybody's.
    "tensorflow in the open": """
import sys, os
flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
import tensorflow as tf
sys.setdlopenflags(flags)
assert tf.add(20, 22) == 42
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
    module = module.split()[0]
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
    for python in OTHERS:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        version = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip()
        if version == "%d.%d" % sys.version_info[:2]:
            yield python


PAIRS = [pytest.param(interpreter, module, marks=[] if interpreter == sys.executable else pytest.mark.slow)
         for interpreter in interpreters() for module in WORK if module != "headrace" and has(interpreter, module)]


def run_in_order(interpreter, order, folder):
    """Each of `order` works, then each works again with all others loaded."""
    code = "import numpy as np\n" + "".join(WORK[name] for name in order + order) + "print('done')\n"
    return subprocess.run([interpreter, "-c", code], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=600, env=dict(os.environ, PYTHONPATH=str(folder), TF_CPP_MIN_LOG_LEVEL="3"))


def check_done(done):
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert done.stdout.strip().endswith("done")


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("interpreter, neighbour", PAIRS, ids=[f"{i}-{p.values[1]}" for i, p in enumerate(PAIRS)])
def test_headrace_and(interpreter, neighbour, first, tmp_path):
    (tmp_path / "headrace").symlink_to(PACKAGES / "headrace")
    check_done(run_in_order(interpreter, ["headrace", neighbour] if first else [neighbour, "headrace"], tmp_path))


ALL = {}
for pair in PAIRS:
    if pair.values[1] != "tensorflow in the open":  # whose names others than Headrace trip over
        ALL.setdefault(pair.values[0], []).append(pair.values[1])


@pytest.mark.slow
@pytest.mark.parametrize("place", ["first", "middle", "last"])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("interpreter", [i for i, names in ALL.items() if len(names) > 2], ids=lambda path: pathlib.Path(path).parts[-3])
def test_headrace_among_all(interpreter, backwards, place, tmp_path):
    others = ALL[interpreter][::-1] if backwards else ALL[interpreter]
    at = {"first": 0, "middle": len(others) // 2, "last": len(others)}[place]
    alone = run_in_order(interpreter, others, tmp_path)
    if alone.returncode != 0:
        pytest.skip(f"{', '.join(others)} do not live together without Headrace: {alone.stderr[-300:]}")
    (tmp_path / "headrace").symlink_to(PACKAGES / "headrace")
    check_done(run_in_order(interpreter, others[:at] + ["headrace"] + others[at:], tmp_path))


def wanted_of_protobuf(library):
    """The functions of the private protobuf that `library` takes from it, under the names that everybody's protobuf has."""
    done = subprocess.run(["nm", "-D", "--undefined-only", str(library)], stdout=subprocess.PIPE, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert not [name for name in names if "6google8protobuf" in name]
    return [name.replace("6hNogle8protobuf", "6google8protobuf") for name in names
            if name.startswith("_ZN") and "6hNogle8protobuf" in name]


@pytest.mark.skipif(not shutil.which("cc") or not shutil.which("nm"), reason="there is no compiler")
def test_another_protobuf_in_the_open_is_not_called(tmp_path):
    names = wanted_of_protobuf(PACKAGES / "headrace/libheadrace.so")
    if not names:
        pytest.skip("libheadrace.so has a protobuf of its own inside")
    source = tmp_path / "other.c"
    source.write_text("void abort(void);\n" + "".join(
        f'void f{i}(void) __asm__("{name}");\nvoid f{i}(void) {{ abort(); }}\n' for i, name in enumerate(names)))
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "other.so")], check=True)
    code = f"import ctypes\nctypes.CDLL({str(tmp_path / 'other.so')!r}, ctypes.RTLD_GLOBAL)\nimport numpy as np\n"
    done = subprocess.run([sys.executable, "-c", code + WORK["headrace"] + "print('done')"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, env=dict(os.environ, PYTHONPATH=str(PACKAGES)))
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert len(names) > 20
