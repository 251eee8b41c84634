"""What the commands of `headrace` take for a model."""
import pathlib

import pytest

import headrace as tf
from program import headrace, needs_program

pytestmark = needs_program
MODELS = pathlib.Path(__file__).resolve().parent.parent / "conformance" / "models"
COMMANDS = ["run", "inspect", "explain", "tune"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_without_a_model_is_told_from_a_saved_model(command, tmp_path):
    run = headrace(command, tmp_path)
    assert run.returncode == 1
    assert f"{tmp_path} is a folder without saved_model.pb" in run.stderr
    assert "wanted a GraphDef, binary or text, or the folder of a SavedModel" in run.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_model(command, tmp_path):
    run = headrace(command, tmp_path / "gone.pb")
    assert run.returncode == 1 and "gone.pb; No such file" in run.stderr


@pytest.mark.parametrize("name, x, y", [
    ("serving_half_plus_two_cpu", "[[1], [2], [5]]", "[2.5][3][4.5]"), ("serving_half_plus_two_tf2", "[5]", "4.5")])
def test_a_saved_model_has_the_ends_of_its_signature_and_its_variables(name, x, y):
    model = MODELS / name / "saved_model"
    inspected = headrace("inspect", model)
    assert inspected.returncode == 0, inspected.stderr
    ends = inspected.stdout.split("inputs:\n")[1].split("ops:\n")[0].split("outputs:\n")
    assert [len(e.splitlines()) for e in ends] == [1, 1]

    run = headrace("run", model, "--feed", f"{ends[0].split()[0]}={x}")
    assert run.returncode == 0, run.stderr
    assert y in run.stdout

    explained = headrace("explain", model)
    assert explained.returncode == 0, explained.stderr
    assert "0 convolutions" in explained.stdout


def test_a_saved_model_is_tuned(tmp_path):
    model = MODELS / "mlctiny_kws_savedmodel" / "saved_model"
    choices = tmp_path / "choices"
    tuned = headrace("tune", model, "--cache", choices, "--seconds", 5)
    assert tuned.returncode == 0, tuned.stderr
    assert f"kept in {choices}" in tuned.stdout and "conv forward" in choices.read_text()


def test_a_saved_model_of_other_tags_says_which(tmp_path):
    message = (MODELS / "serving_half_plus_two_cpu" / "saved_model" / "saved_model.pb").read_bytes()
    (tmp_path / "saved_model.pb").write_bytes(message.replace(b"\x05serve", b"\x05sxrve"))
    run = headrace("explain", tmp_path)
    assert run.returncode == 1 and "{ serve }" in run.stderr and "{ sxrve }" in run.stderr


@pytest.mark.parametrize("command", ["run", "explain", "tune"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_graph_with_variables_says_how_to_freeze_it(command, use_resource, tmp_path):
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    with tf.variable_scope("", use_resource=use_resource):
        w = tf.get_variable("w", [2, 2], tf.float32, initializer=tf.zeros_initializer())
    tf.matmul(x, w, name="y")
    path = tmp_path / "model.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    run = headrace(command, path, "--fetch", "y", "--feed", "x=[[1, 2]]")
    assert run.returncode == 1
    assert "'w' (initializer" in run.stderr
    assert "A GraphDef holds no values of variables. Give the folder of a SavedModel, or freeze" in run.stderr
