"""What README.md shows is compiled and run as it stands there, outside the tree."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from program import PROGRAM, needs_program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.S | re.M)
SOURCES = {"c": "model.c", "cpp": "model.cc"}

needs_compilers = pytest.mark.skipif(
    not all(map(shutil.which, ["cc", "c++", "pkg-config"])), reason="no compiler, or no pkg-config")


def run(command, folder):
    env = dict(os.environ, H=str(ROOT), PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout
    return done.stdout


def small_model(path):
    """A convolution network with the names and sizes that the README's commands have."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 224, 224, 3], name="input")
        y = tf.nn.conv2d(x, tf.constant(np.full([3, 3, 3, 4], 1e-3, np.float32)), [1, 16, 16, 1], "SAME")
        tf.nn.softmax(tf.reduce_mean(y, [1, 2]), name="output")
        path.write_bytes(graph.as_graph_def().SerializeToString())


def test_every_block_is_of_a_kind_that_is_run():
    kinds = [language for language, _ in BLOCKS]
    assert kinds == ["python", "c", "sh", "cpp", "sh", "sh"]


def test_python(tmp_path):
    code = next(text for language, text in BLOCKS if language == "python")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout
    assert done.stdout == "(8, 64, 64, 32)\n"


@needs_program
@needs_compilers
@pytest.mark.parametrize("language, says", [("c", r"0\.\d+\n"), ("cpp", r"Tensor<type: float shape: \[1,10\] values: ")])
def test_programs_are_built_by_the_lines_below_them(language, says, tmp_path):
    at = next(i for i, block in enumerate(BLOCKS) if block[0] == language)
    (tmp_path / SOURCES[language]).write_text(BLOCKS[at][1])
    shutil.copy(ROOT / "examples" / "models" / "resnet8_cifar10.pb", tmp_path / "model.pb")
    assert BLOCKS[at + 1][0] == "sh"
    assert re.match(says, run(BLOCKS[at + 1][1], tmp_path))


@needs_program
@needs_compilers
def test_the_line_of_c_builds_the_example_too(tmp_path):
    line = next(text for _, text in BLOCKS if text.startswith("cc ")).splitlines()[0]
    shutil.copy(ROOT / "examples" / "c" / "classify.c", tmp_path / "model.c")
    run(line, tmp_path)
    done = subprocess.run([tmp_path / "model_c"], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "usage: classify" in done.stderr


@needs_program
def test_commands(tmp_path):
    small_model(tmp_path / "MODEL.pb")
    told = run(BLOCKS[-1][1], tmp_path)
    assert "kept in MODEL.pb.choices" in told and "graph passes" in told


@needs_program
def test_the_command_in_the_text(tmp_path):
    small_model(tmp_path / "MODEL.pb")
    shutil.copy(ROOT / "examples" / "photos" / "cat.png", tmp_path / "photo.png")
    (tmp_path / "FILE").write_text("a\nb\nc\nd\n")
    command = re.search(r"`(headrace run [^`]*)`", README).group(1)
    assert shlex.split(command)[2] == "MODEL.pb"
    assert len(re.findall(r"^ +0\.\d+  [abcd]$", run(command, tmp_path), re.M)) == 3
