"""What the commands of `headrace` take for a model."""
import os
import pathlib
import re
import signal
import subprocess

import numpy as np
import pytest

import headrace as tf
from program import PROGRAM, headrace, needs_program

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


def small_graph():
    """a + b of placeholders, and a variable nobody needs."""
    a = tf.placeholder(tf.float32, [2], name="first_input")
    b = tf.placeholder(tf.float32, [2], name="second_input")
    tf.get_variable("first_variable", [2], tf.float32, initializer=tf.zeros_initializer())
    tf.add(a, b, name="total")
    return tf.get_default_graph().as_graph_def().SerializeToString()


@pytest.fixture
def small_model(tmp_path):
    path = tmp_path / "small.pb"
    path.write_bytes(small_graph())
    return path


FEEDS = ["--feed", "first_input=[1, 2]", "--feed", "second_input=[3, 4]", "--fetch", "total"]


@pytest.mark.parametrize("command", [
    "cat {model} | {program} inspect /dev/stdin", "cat {model} | {program} inspect -", "{program} inspect - < {model}"])
def test_a_model_from_a_pipe_is_not_empty(command, small_model):
    command = command.format(model=small_model, program=PROGRAM)
    run = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "first_input:0" in run.stdout and "every op can run here" in run.stdout


def test_an_empty_model_is_an_error(tmp_path):
    (tmp_path / "empty.pb").write_bytes(b"")
    for command in COMMANDS:
        run = headrace(command, tmp_path / "empty.pb")
        assert run.returncode == 1 and "empty.pb is empty" in run.stderr
    run = subprocess.run([PROGRAM, "inspect", "/dev/stdin"], input="", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, timeout=60)
    assert run.returncode == 1 and "is empty" in run.stderr


@pytest.mark.parametrize("arguments", [["ops"], ["--help"], ["--version"], ["run", "--help"], ["inspect", "MODEL"]])
def test_output_that_cannot_be_written_is_a_failure(arguments, small_model):
    arguments = [small_model if a == "MODEL" else a for a in arguments]
    with open("/dev/full", "w") as full:
        run = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert run.returncode == 1
    assert "cannot write to standard output: No space left on device" in run.stderr
    read_end, write_end = os.pipe()
    os.close(read_end)
    # A pipe that nobody reads, in a process that does not die of it.
    run = subprocess.run([PROGRAM, *arguments], stdout=write_end, stderr=subprocess.PIPE, text=True, timeout=60,
                         restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    os.close(write_end)
    assert run.returncode == 1
    assert "cannot write to standard output: Broken pipe" in run.stderr


def test_a_tensor_that_cannot_be_saved_is_a_failure(small_model):
    run = headrace("run", small_model, *FEEDS, "--save", "total=/dev/full")
    assert run.returncode == 1 and "/dev/full; No space left on device" in run.stderr


@pytest.mark.parametrize("command", ["run", "explain", "tune"])
def test_a_wrong_feed_names_the_inputs(command, small_model):
    run = headrace(command, small_model, "--feed", "frist_input=[1, 2]")
    assert run.returncode == 1
    assert "the model has no input 'frist_input'; did you mean 'first_input:0'" in run.stderr
    assert "Its inputs:\n  first_input:0  float [2]\n  second_input:0  float [2]" in run.stderr
    assert "first_variable" not in run.stderr


def test_a_wrong_fetch_names_what_is_alike(small_model):
    run = headrace("run", small_model, *FEEDS[:-1], "totla")
    assert run.returncode == 1
    assert "the model has no node 'totla'; did you mean 'total'?" in run.stderr


def test_a_missing_feed_says_how_to_give_it(small_model):
    run = headrace("run", small_model, "--feed", "first_input=[1, 2]", "--fetch", "total")
    assert run.returncode == 1
    assert "Give a value by --feed NAME=VALUE. Inputs without one:\n  second_input:0  float [2]" in run.stderr
    assert "first_input:0  float" not in run.stderr


@pytest.mark.parametrize("arguments, says", [
    (["inspect", "a.pb", "b.pb"], "one model, please: 'a.pb' or 'b.pb'?"),
    (["run", "a.pb", "b.pb"], "one model, please: 'a.pb' or 'b.pb'?"),
    (["tune", "a.pb", "b.pb"], "one model, please: 'a.pb' or 'b.pb'?"),
    (["ops", "Add", "Mul"], "one op, please: 'Add' or 'Mul'?"),
    (["ops", "--table", "Add"], "--table lists every op; 'Add' goes without it"),
    (["ops", "--kernels", "Add"], "--kernels lists every op; 'Add' goes without it"),
    (["--version", "please"], "'please' is too much"),
    (["help", "nothing"], "'nothing' is too much"),
    (["inspcet", "a.pb"], "no command 'inspcet'; did you mean 'inspect'?"),
    (["run", "a.pb", "--fede", "x=1"], "unknown option --fede; did you mean '--feed'"),
    (["run", "a.pb", "--precision", "half"], "--precision wants float32 or bfloat16, got 'half'"),
    (["inspect", "--node", "a.pb"], "unknown option --node; did you mean '--nodes'?"),
])
def test_what_is_wrong_with_the_arguments_is_said(arguments, says):
    run = headrace(*arguments)
    assert run.returncode == 2 and says in run.stderr, run.stderr
    assert run.stdout == ""


def test_an_op_that_is_not_there_names_what_is_alike():
    run = headrace("ops", "Conv2d")
    assert run.returncode == 1 and "there is no op 'Conv2d'; did you mean 'Conv2D'" in run.stderr


def test_help_of_a_command():
    assert headrace("help", "tune").stdout == headrace("tune", "--help").stdout


def test_inspect_tells_all_unknown_ops_and_what_else_it_knows(tmp_path):
    path = tmp_path / "custom.pbtxt"
    path.write_text("""
        node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
               attr { key: 'shape' value { shape { dim { size: 3 } } } } }
        node { name: 'a' op: 'MyFirst' input: 'x' }
        node { name: 'b' op: 'MySecond' input: 'a' }
        node { name: 'c' op: 'MySecond' input: 'b' }
        versions { producer: 24 }""")
    run = headrace("inspect", path)
    assert run.returncode == 1
    assert "4 nodes, producer 24\ninputs:\n  x:0  float [3]\n" in run.stdout
    lines = [line.split(maxsplit=1) for line in run.stdout.splitlines()]
    for line in (["1", "MyFirst  (op not known here)"], ["2", "MySecond  (op not known here)"], ["1", "Placeholder"]):
        assert line in lines
    assert "2 ops are not known here" in run.stdout


def test_a_trace_with_repeats_is_of_a_run_after_them(small_model):
    run = headrace("run", str(small_model), *FEEDS, "--trace")
    assert run.stdout.count("  in all") == 1, run.stdout
    run = headrace("run", str(small_model), *FEEDS, "--trace", "--repeat", "3")
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("  in all") == 1
    assert run.stdout.index("3 runs: shortest") < run.stdout.index("  in all")


def test_the_doctor_names_variables_that_nothing_reads():
    run = headrace("doctor", HEADRACE_NUM_THREADS="1", HEADRACE_NUM_THREAD="7")
    assert run.returncode == 0, run.stderr
    assert "threads:      1\n" in run.stdout
    assert "HEADRACE_NUM_THREAD=7   (nothing reads it; did you mean 'HEADRACE_NUM_THREADS'?)" in run.stdout
    assert "HEADRACE_NUM_THREADS=1\n" in run.stdout


def test_the_doctor_knows_each_variable_that_the_library_reads():
    root = pathlib.Path(__file__).resolve().parents[2]
    names = set()
    for folder in ("src", "include", "python/headrace"):
        for f in (root / folder).rglob("*"):
            if f.suffix in (".cc", ".h", ".py") and "_test" not in f.name:
                names |= set(re.findall(r'"(HEADRACE_[A-Z0-9_]+)"', f.read_text()))
    assert len(names) > 30
    run = headrace("doctor", **{name: "0" for name in names if name != "HEADRACE_NUM_THREADS"})
    assert run.returncode == 0, run.stderr
    assert "nothing reads it" not in run.stdout, run.stdout


def test_the_doctor_keeps_what_it_measures(tmp_path):
    path = tmp_path / "new folder" / "machine.txt"
    env = {"HEADRACE_MACHINE": str(path)}
    run = headrace("doctor", "--calibrate", **env)
    assert run.returncode == 0, run.stderr
    text = path.read_text()
    assert text.startswith("headrace machine 1\nprocessor ")
    path.write_text(re.sub("flops_per_ns .*", "flops_per_ns 777.0", text))
    assert "777 GFLOP/s" in headrace("doctor", **env).stdout
    path.write_text(re.sub("flops_per_ns .*", "flops_per_ns many", text))
    run = headrace("doctor", **env)
    assert "777" not in run.stdout and "is ignored: line 3 is 'flops_per_ns many'" in run.stderr
    path.write_text(re.sub("processor .*", "processor of somebody", text))
    run = headrace("doctor", **env)
    assert run.returncode == 0 and run.stderr == ""


@pytest.mark.parametrize("arguments", [["doctor", "more"], ["doctor", "--calibrat"]])
def test_the_doctor_takes_no_other_arguments(arguments):
    assert headrace(*arguments).returncode == 2


def write_graph(path, build):
    with tf.Graph().as_default() as g:
        build()
        path.write_bytes(g.as_graph_def().SerializeToString())
    return str(path)


def test_inputs_that_nothing_reads_are_not_asked_for(tmp_path):
    def build():
        x = tf.placeholder(tf.float32, [1], name="x")
        tf.placeholder(tf.float32, name="unused")
        tf.identity(x, name="y")
    model = write_graph(tmp_path / "graph.pb", build)
    run = headrace("explain", model, "--fetch", "y:0")
    assert run.returncode == 0, run.stderr
    assert "unused" not in run.stdout and "KB at most at once" in run.stdout
    run = headrace("inspect", model)
    assert "unused:0  float <unknown>  (nothing reads it)\n" in run.stdout, run.stdout
    assert run.stdout.count("(nothing reads it)") == 1


def test_inspect_looks_into_functions(tmp_path):
    def build():
        data = tf.data.Dataset.range(3).map(lambda x: tf.atan(tf.cast(x, tf.float32)))
        data.make_one_shot_iterator().get_next(name="out")
    run = headrace("inspect", write_graph(tmp_path / "functions.pb", build))
    assert run.returncode == 0, run.stderr
    functions = run.stdout[run.stdout.index("ops of functions:"):]
    assert "  Atan\n" in functions and "every op can run here" in functions


@pytest.mark.parametrize("shape, text, want", [
    ([None], '["a b z", "g"]', [b"a b z", b"g"]),
    ([2, None], r'[["a", "\"q\""], ["b\\", ""]]', [[b"a", b'"q"'], [b"b\\", b""]]),
    ([], '["a"]', b'["a"]'),
    ([], "plain", b"plain"),
    ([None], "plain", [b"plain"]),
    (None, "[plain", b"[plain"),
    (None, '["x"]', [b"x"])])
def test_strings_are_fed_as_lists(tmp_path, shape, text, want):
    def build():
        tf.identity(tf.placeholder(tf.string, shape, name="s"), name="out")
    model = write_graph(tmp_path / "strings.pb", build)
    run = headrace("run", model, "--feed", "s=" + text, "--fetch", "out")
    assert run.returncode == 0, run.stderr
    shape_text = "[" + ",".join(map(str, np.shape(want))) + "]"
    assert run.stdout.startswith("out string " + shape_text), run.stdout
    for value in np.ravel(want):
        assert value.decode() in run.stdout.replace("\\\\", "\\").replace('\\"', '"')


@pytest.mark.parametrize("text, says", [('["a", b]', "a string without quotes"), ('["a"', "no comma"),
                                        ('["a]', "no quote at its end"), ('[["a"], ["b", "c"]]', "ragged list")])
def test_a_damaged_list_of_strings_is_refused(tmp_path, text, says):
    def build():
        tf.identity(tf.placeholder(tf.string, [None], name="s"), name="out")
    run = headrace("run", write_graph(tmp_path / "s.pb", build), "--feed", "s=" + text)
    assert run.returncode == 1 and says in run.stderr, run.stderr


def test_needed_ops_are_those_of_the_models_and_of_what_passes_make_of_them(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), [1, 1, 1, 1], "SAME"), tf.ones([4])), name="y")
    with tf.Graph().as_default() as other:
        tf.erf(tf.placeholder(tf.float32, [2]), name="z")
    paths = [tmp_path / "conv.pb", tmp_path / "erf.pb"]
    for path, g in zip(paths, (graph, other)):
        path.write_bytes(g.as_graph_def().SerializeToString())
    first = headrace("ops", "--needed", paths[0])
    assert first.returncode == 0, first.stderr
    ops = set(first.stdout.split())
    assert {"Placeholder", "Conv2D", "BiasAdd", "Relu", "_FusedConv2D", "_Arg", "_Retval"} <= ops
    assert "Erf" not in ops and "Sin" not in ops
    both = headrace("ops", "--needed", *paths)
    assert both.returncode == 0 and set(both.stdout.split()) == ops | {"Erf"}


@pytest.mark.parametrize("arguments, says", [
    (["--needed"], "which model?"), (["--needed", "gone.pb"], "gone.pb"), (["--needed", "--table", "a.pb"], "--table")])
def test_needed_ops_refuses(arguments, says):
    run = headrace("ops", *arguments)
    assert run.returncode != 0 and says in run.stderr


def test_a_misspelt_option_of_the_program():
    run = headrace("--versoin")
    assert run.returncode == 2
    assert "no option '--versoin'; did you mean '--version'?" in run.stderr
