"""`headrace tune` and `headrace explain`, from the command line."""
import subprocess

import numpy as np
import pytest

import headrace as tf
from program import PROGRAM, headrace, needs_program

pytestmark = needs_program


@pytest.fixture
def model(tmp_path):
    x = tf.placeholder(tf.float32, [None, 20, 20, 4], name="x")
    w = tf.constant(np.ones([3, 3, 4, 8], np.float32))
    tf.nn.relu(tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"), name="y")
    path = tmp_path / "model.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    return path


def test_tune_list_merge_and_explain(model):
    tuned = headrace("tune", model, "--shape", "x=2,20,20,4", "--seconds", 5)
    assert tuned.returncode == 0, tuned.stderr
    choices = model.with_name("model.pb.choices")
    assert f"kept in {choices}" in tuned.stdout
    listed = headrace("tune", "--list", choices).stdout
    assert "(this machine)" in listed and "conv forward float 2x20x20x4 filter 3x3x4x8" in listed

    other = model.with_name("other.choices")
    other.write_text(choices.read_text().replace("[", "[Another "))
    both = model.with_name("both.choices")
    assert headrace("tune", "--merge", both, choices, other).returncode == 0
    assert both.read_text().count("\n[") == 2

    explained = headrace("explain", model, "--shape", "x=2,20,20,4", "--cache", both)
    assert explained.returncode == 0, explained.stderr
    chosen = [line for line in explained.stdout.splitlines() if line.endswith("chosen")]
    assert len(chosen) == 1 and "measured" in chosen[0] and " - ms" not in chosen[0]


def test_explain_lists_convolutions_that_run_band_by_band(tmp_path):
    x = tf.placeholder(tf.float32, [1, 56, 56, 24], name="x")
    y = tf.nn.relu6(tf.nn.conv2d(x, tf.ones([1, 1, 24, 144]), strides=[1, 1, 1, 1], padding="SAME"))
    y = tf.nn.relu6(tf.nn.depthwise_conv2d(y, tf.ones([3, 3, 144, 1]), strides=[1, 1, 1, 1], padding="SAME"))
    tf.nn.conv2d(y, tf.ones([1, 1, 144, 24]), strides=[1, 1, 1, 1], padding="SAME", name="y")
    path = tmp_path / "model.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    explained = headrace("explain", path)
    assert explained.returncode == 0, explained.stderr
    lines = explained.stdout.splitlines()
    assert "  fuse_conv_chain    2" in lines
    assert "  fuse_lstm          0" in lines
    assert "3 convolutions" in lines
    assert sum(line.startswith("    bands ") for line in lines) == 3
    assert sum("pointwise " in line for line in lines) == 2 and sum("depthwise_3x3 " in line for line in lines) == 1


def test_refuses_damaged_and_passes_over_foreign_files(model):
    damaged = model.with_name("damaged.choices")
    damaged.write_text("hello\n")
    run = headrace("explain", model, "--cache", damaged)
    assert run.returncode == 1 and "damaged.choices, line 1" in run.stderr
    assert headrace("tune", "--list", damaged).returncode == 1
    assert headrace("tune", model, "--cache", damaged).returncode == 1
    assert damaged.read_text() == "hello\n"

    foreign = model.with_name("foreign.choices")
    foreign.write_text("headrace algorithm choices 1\n[Z80; headrace 9]\nconv\treference 1\n")
    run = headrace("explain", model, HEADRACE_MIN_LOG_LEVEL="1")
    assert run.returncode == 0
    run = headrace("explain", model, "--cache", foreign, HEADRACE_MIN_LOG_LEVEL="1")
    assert run.returncode == 0 and "no choices for this machine" in run.stderr and "Z80" in run.stderr


@pytest.mark.parametrize("args, message", [
    ((), "which model?"), (("--list",), "which files?"), (("--merge", "a"), "--merge wants"),
    (("--list", "--bogus", "f"), "unknown option --bogus"), (("--merge", "a", "b", "--top", "3"), "unknown option --top"),
    (("--merge", "a", "b", "--seconds"), "unknown option --seconds"),
    (("m.pb", "--seconds", "1e9"), "above 0, up to 86400 (a day)"),
    (("m.pb", "--seconds", "-1"), "--seconds wants"), (("m.pb", "--shape", "x"), "--shape wants NAME=VALUE")])
def test_wrong_usage(args, message):
    run = headrace("tune", *args)
    assert run.returncode == 2 and message in run.stderr


@pytest.mark.parametrize("args", [("--help",), ("--list", "--help"), ("--list", "f", "-h"), ("--merge", "--help")])
def test_tune_help(args):
    run = headrace("tune", *args)
    assert run.returncode == 0 and run.stdout.startswith("usage: headrace tune")


def test_tune_refuses_a_cache_that_it_cannot_write(model, tmp_path):
    run = headrace("tune", model, "--cache", tmp_path / "gone" / "x")
    assert run.returncode == 1 and "kept in" not in run.stdout
    assert "No such file or directory" in run.stderr and "nothing can be kept in" in run.stderr
    assert "algorithm" not in run.stdout  # before it measures


def test_tune_by_several_processes_loses_nothing(tmp_path):
    def model(k):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [1, 6 + k, 6, 4], name="x")
            tf.nn.conv2d(x, tf.ones([3, 3, 4, 4]), strides=[1, 1, 1, 1], padding="SAME", name="y")
        path = tmp_path / f"{k}.pb"
        path.write_bytes(graph.as_graph_def().SerializeToString())
        return path
    shared = tmp_path / "shared.choices"
    runs = [subprocess.Popen([PROGRAM, "tune", str(model(k)), "--cache", str(shared), "--seconds", "10"],
                             stdout=subprocess.PIPE, text=True) for k in range(4)]
    for run in runs:
        assert "kept in" in run.communicate()[0]
    problems = headrace("tune", "--list", shared).stdout.count("conv forward")
    assert problems == len(runs)
    assert not shared.with_name("shared.choices.lock").exists()


def test_environment(model, monkeypatch):
    monkeypatch.setenv("HEADRACE_CONV_TUNING", "always")
    with pytest.raises(tf.errors.InvalidArgumentError, match="wanted off or background"):
        tf.Session()
    monkeypatch.setenv("HEADRACE_CONV_TUNING", "background")
    monkeypatch.setenv("HEADRACE_CONV_CACHE", str(model.with_name("env.choices")))
    with tf.Session() as session:
        session.run("y:0", {"x:0": np.zeros([1, 20, 20, 4], np.float32)})
    config = tf.ConfigProto()
    config.headrace.conv_tuning = tf.ConfigProto.Headrace.OFF
    tf.Session(config=config).close()


def test_a_number_that_is_no_way_of_tuning():
    config = tf.ConfigProto()
    config.headrace.conv_tuning = 77
    with pytest.raises(tf.errors.InvalidArgumentError, match="conv_tuning is 77, wanted"):
        tf.Session(config=config)


def test_names_of_passes_may_have_blanks_around_them(monkeypatch):
    monkeypatch.setenv("HEADRACE_DISABLE_PASSES", " cse , constant_folding,\tprune ")
    tf.Session().close()
    monkeypatch.setenv("HEADRACE_DISABLE_PASSES", "cse, c s e")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no graph pass 'c s e'"):
        tf.Session()
