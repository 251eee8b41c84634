"""Programs of examples/c and examples/cc are built outside the tree, as a user would, and run."""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from test_examples import write_clothes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIB = ROOT / "build" / "lib"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    not (LIB / "libheadrace_cc.a").exists() or not all(map(shutil.which, ["cc", "c++", "pkg-config"])),
    reason="no compiler, no pkg-config, or the C++ API was not built")]


def call(*command, status=0, cwd=None):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=300, cwd=cwd)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def build_cpp(source, program, *options):
    flags = call("env", f"PKG_CONFIG_PATH={ROOT}/build/pkgconfig", "pkg-config", "--cflags", "--libs", "headrace").split()
    call("c++", "-std=c++20", *options, source, "-o", program, "-L", LIB, "-lheadrace_cc", *flags)
    return program


def build_c(name, folder):
    call("cc", "-Wall", "-Werror", f"-I{ROOT}/include", ROOT / "examples" / "c" / (name + ".c"), "-o", folder / name,
         f"-L{LIB}", "-l:libtensorflow.so.2", "-lm", f"-Wl,-rpath,{LIB}")
    return folder / name


def example(name, folder):
    return build_cpp(ROOT / "examples" / "cc" / (name + ".cc"), folder / name)


def test_a_lenet_learns_and_is_restored(tmp_path):
    write_clothes(tmp_path)
    program = example("lenet", tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    said = call(program, out, 20, tmp_path)
    assert float(re.search(r"([\d.]+) % of 100 test pictures are right", said).group(1)) > 60
    assert len(re.findall(r"^\S+ +\S+$", said, re.M)) == 10 and "differs" not in said
    assert tf.train.latest_checkpoint(out) == str(out / "lenet-20")
    values = tf.train.NewCheckpointReader(str(out / "lenet-20"))
    assert values.get_variable_to_shape_map()["conv1/w/Adam"] == [5, 5, 1, 32]
    assert values.get_tensor("global_step") == 20

    # Python restores what C++ wrote: the model, and the checkpoint by its meta graph.
    pictures = {"pictures:0": np.zeros([2, 28, 28, 1], np.float32)}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(out / "model"))
        found = session.run("classes:0", pictures)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(str(out / "lenet-20.meta")).restore(session, str(out / "lenet-20"))
        assert len(tf.trainable_variables()) == 8
        np.testing.assert_array_equal(session.run("classes:0", pictures), found)

    # Errors are told, and change nothing.
    assert "is not empty" in call(program, out, 1, tmp_path, status=1)
    assert "No such file" in call(program, out, 1, tmp_path / "none", status=1)
    assert "usage" in call(program, status=2)


def test_a_frozen_graph(tmp_path):
    program = example("frozen_graph", tmp_path)
    assert "shape: [1,10] values: [0.27" in call(program, ROOT / "examples" / "models" / "resnet8_cifar10.pb")
    assert "none.pb" in call(program, "none.pb", status=1)


def test_a_saved_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[2.0], [3.0]])
        y = tf.matmul(x, w)
        session.run(w.initializer)
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    program = example("saved_model", tmp_path)
    assert "y = Tensor<type: float shape: [1,1] values: [5]>" in call(program, tmp_path / "model")
    assert "Could not find SavedModel" in call(program, tmp_path / "none", status=1)


def test_a_partial_run(tmp_path):
    assert call(example("partial_run", tmp_path)) == "10, then 50\n"


def test_an_op_of_ones_own(tmp_path):
    library = build_cpp(ROOT / "examples" / "custom_op_cc" / "cube_op.cc", tmp_path / "libcube.so", "-shared", "-fPIC")
    (tmp_path / "use.cc").write_text("""
        #include <cstdio>
        #include "headrace/cc/client_session.h"
        #include "headrace/cc/gradients.h"
        #include "headrace/cc/op_call.h"
        using namespace headrace;
        int main() {
          const Scope root = Scope::NewRootScope();
          const Output x = ops::Const(root, {2.f, 3.f}), y = OpCall(root, "Cube").Add(x).Finish(0);
          std::vector<Output> dx;
          std::vector<Tensor> out;
          Status s = AddSymbolicGradients(root, {y}, {x}, &dx);
          if (s.ok()) s = ClientSession(root).Run({y, dx[0]}, &out);
          if (!s.ok()) return std::puts(s.ToString().c_str()), 1;
          std::printf("%s, %s", out[0].SummarizeValue(2).c_str(), out[1].SummarizeValue(2).c_str());
        }""")
    program = build_cpp(tmp_path / "use.cc", tmp_path / "use", "-Wl,--no-as-needed", library)
    assert call(program) == "8 27, 12 27"


def test_training_in_c(tmp_path):
    assert call(build_c("train", tmp_path)) == "y = 3.000 x + 2.000\n"


def test_what_python_saved_is_restored_in_python_and_c(tmp_path):
    write_clothes(tmp_path)
    folder, python = tmp_path / "net", ROOT / "examples" / "python"
    said = call(sys.executable, python / "lenet.py", "--steps", 20, "--batch", 32, "--data", tmp_path, "--save", folder)
    assert f"saved {folder}/lenet-20 and {folder}/model" in said
    sheet = tmp_path / "sheet.png"
    said = call(sys.executable, python / "classify_clothes.py", folder, "--data", tmp_path, "--sheet", sheet)
    assert said.count(" is taken for ") == 10
    assert sheet.read_bytes().startswith(b"\x89PNG")
    program = build_c("restore", tmp_path)
    arguments = [folder / "model", folder / "lenet-20", folder / "pixels", folder / "classes"]
    said = call(program, *arguments)
    assert said == ("SavedModel: 10 of 10 pictures have the same class\n"
                    "checkpoint: 10 of 10 pictures have the same class\n")
    # Other classes are noticed, files that are not there are named.
    (folder / "classes").write_bytes(bytes([9, 0, 0, 0, 0, 0, 0, 0]) * 10)
    assert "10 of 10" not in call(program, *arguments, status=1)
    assert "none" in call(program, tmp_path / "none", *arguments[1:], status=1)
