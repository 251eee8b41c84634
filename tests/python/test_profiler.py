"""tf.profiler: the numbers, messages and tables of TensorFlow 1.15."""
import json

import numpy as np
import pytest

import headrace as tf
from headrace._src.profiler import contexts, notes, options, statistics
from headrace._src.profiler.nodes import Profile

Options = tf.profiler.ProfileOptionBuilder
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


def network():
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    with tf.variable_scope("c1"):
        w = tf.get_variable("w", [3, 3, 3, 4], use_resource=False,
                            initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [4], use_resource=False,
                            initializer=tf.zeros_initializer())
        y = tf.nn.relu(tf.nn.bias_add(
            tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), b))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    with tf.variable_scope("fc"):
        w2 = tf.get_variable("w", [64, 5], use_resource=True,
                             initializer=tf.zeros_initializer())
        y = tf.matmul(tf.reshape(y, [-1, 64]), w2, name="mm")
    tf.Variable(0, trainable=False, name="global_step")
    return tf.reduce_mean(tf.square(y), name="loss")


def metadata(more=0):
    """What a run might have said: MatMul ran twice, Conv2D on a GPU."""
    found = tf.RunMetadata()
    cpu, gpu, stream = (found.step_stats.dev_stats.add(device=d)
                        for d in (CPU, GPU, GPU + "/stream:all"))
    start = 1000000
    for i, (name, device, runs) in enumerate((
            ("c1/Conv2D", gpu, 1), ("c1/Conv2D", stream, 1),
            ("c1/BiasAdd", cpu, 1), ("fc/mm", cpu, 2), ("loss", cpu, 1))):
        for _ in range(runs):
            stats = device.node_stats.add(
                node_name=name, all_start_micros=start,
                op_end_rel_micros=100 + 10 * i + more)
            start += 150
            memory = stats.memory.add()
            memory.total_bytes, memory.peak_bytes = 1000 * (i + 1), 900
            memory.live_bytes = 500
            if device is not stream:
                allocation = stats.output.add().tensor_description \
                    .allocation_description
                allocation.requested_bytes = 256
                allocation.allocated_bytes = 300
    return found


def table(text):
    """The lines of a printed report between `Profile:` and its end."""
    lines = text.partition("Profile:\n")[2].partition("\n=====")[0]
    return lines.rstrip("\n").split("\n")


PARAMETERS = """\
node name | # parameters
_TFProfRoot (--/432 params)
  c1 (--/112 params)
    c1/b (4, 4/4 params)
    c1/w (3x3x3x4, 108/108 params)
  fc (--/320 params)
    fc/w (64x5, 320/320 params)"""
FLOPS = """\
node name | # float_ops
Conv2D                   27.65k float_ops (100.00%, 92.28%)
MatMul                   1.28k float_ops (7.72%, 4.27%)
BiasAdd                    512 float_ops (3.45%, 1.71%)
MaxPool                    512 float_ops (1.74%, 1.71%)
Mean                        10 float_ops (0.03%, 0.03%)"""
TIMES = """\
node name | requested bytes | total execution time | \
accelerator execution time | cpu execution time
_TFProfRoot (--/17.00KB, --/730us, --/110us, --/620us)
  c1 (0B/4.00KB, 0us/330us, 0us/110us, 0us/220us)
    c1/Conv2D (1.00KB/1.00KB, 210us/210us, 110us/110us, 100us/100us)
    c1/BiasAdd (3.00KB/3.00KB, 120us/120us, 0us/0us, 120us/120us)
  fc (0B/8.00KB, 0us/260us, 0us/0us, 0us/260us)
    fc/mm (8.00KB/8.00KB, 260us/260us, 0us/0us, 260us/260us)
  loss (5.00KB/5.00KB, 140us/140us, 0us/0us, 140us/140us)"""


@pytest.mark.parametrize("cmd, chosen, has_run, wanted", [
    ("scope", Options.trainable_variables_parameter(), False, PARAMETERS),
    ("op", Options(Options.float_operation()).with_node_names(
        hide_name_regexes=["Square"]).build(), False, FLOPS),
    ("scope", Options.time_and_memory(), True, TIMES)],
    ids=["parameters", "float_ops", "times"])
def test_reports_are_tensorflows(cmd, chosen, has_run, wanted, capsys):
    network()
    found = tf.profiler.profile(
        cmd=cmd, options=chosen, run_meta=metadata() if has_run else None)
    assert table(capsys.readouterr().out) == wanted.split("\n")
    assert found.name == "_TFProfRoot"


def test_graph_view_follows_the_inputs(capsys):
    network()
    chosen = Options().with_accounted_types(
        ["Placeholder", "VariableV2", "MatMul"]).with_node_names(
            hide_name_regexes=["global.*"]).select(
                ["params", "occurrence"]).build()
    found = tf.profiler.profile(cmd="graph", options=chosen)
    assert table(capsys.readouterr().out) == [
        "node name | # parameters | op count (run|defined)",
        "_TFProfRoot (--/497 params, --/0|--/5)",
        "  c1/b (4, 4/4 params, 0/0|1/1)",
        "  c1/w (3x3x3x4, 108/108 params, 0/0|1/1)",
        "  fc/mm (0/384 params, 0/0|1/2)",
        "    x (2x8x8x3, 384/384 params, 0/0|1/1)"]
    assert [c.name for c in found.children] == ["c1/b", "c1/w", "fc/mm"]


def test_numbers_of_a_frozen_network():
    """Counting a network's size is what most programs do."""
    with tf.Graph().as_default() as graph:
        network()
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(
                s, graph.as_graph_def(), ["loss"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen, name="")
        count = tf.profiler.profile(graph, options=Options(
            Options.float_operation()).with_empty_output().build())
    assert count.total_float_ops == 27648 + 512 + 512 + 1280 + 10 + 10


FLOPS_OF_OPS = [
    ("MatMul", lambda: tf.matmul(tf.ones([2, 3]), tf.ones([3, 5])), 60),
    ("MatMul", lambda: tf.matmul(tf.ones([3, 2]), tf.ones([3, 5]), True), 60),
    ("Conv2D", lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones(
        [3, 3, 2, 5]), [1, 2, 2, 1], "SAME"), 720),
    ("DepthwiseConv2dNative", lambda: tf.nn.depthwise_conv2d(tf.ones(
        [1, 4, 4, 2]), tf.ones([3, 3, 2, 1]), [1, 1, 1, 1], "SAME"), 576),
    ("Conv2DBackpropInput", lambda: tf.nn.conv2d_transpose(tf.ones(
        [1, 2, 2, 5]), tf.ones([3, 3, 2, 5]), [1, 4, 4, 2], [1, 2, 2, 1]), 720),
    ("Conv3D", lambda: tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones(
        [2, 2, 2, 1, 3]), [1, 1, 1, 1, 1], "SAME"), 384),
    ("AvgPool", lambda: tf.nn.avg_pool(tf.ones([1, 4, 4, 2]), [1, 2, 2, 1],
                                       [1, 2, 2, 1], "SAME"), 32),
    ("BiasAdd", lambda: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([3])), 6),
    ("Softmax", lambda: tf.nn.softmax(tf.ones([2, 3])), 30),
    ("L2Loss", lambda: tf.nn.l2_loss(tf.ones([2, 3])), 17),
    ("Sum", lambda: tf.reduce_sum(tf.ones([2, 3])), 5),
    ("Mean", lambda: tf.reduce_mean(tf.ones([2, 3])), 6),
    ("AddN", lambda: tf.add_n([tf.ones([2, 3])] * 3), 12),
    ("Rsqrt", lambda: tf.rsqrt(tf.ones([2, 3])), 12),
    ("SquaredDifference", lambda: tf.squared_difference(
        tf.ones([2, 3]), 1.), 12)]


@pytest.mark.parametrize("op_type, make, wanted", FLOPS_OF_OPS,
                         ids=[x[0] for x in FLOPS_OF_OPS])
def test_float_operations_of_an_op(op_type, make, wanted):
    make()
    graph = tf.get_default_graph()
    op, = [o for o in graph.get_operations() if o.type == op_type]
    assert statistics.get_stats_for_node_def(
        graph, op.node_def, "flops").value == wanted


def test_steps_of_a_profiler(tmp_path, capsys):
    network()
    profiler = tf.profiler.Profiler()
    profiler.add_step(1, metadata())
    profiler.add_step(2, metadata(40))
    quiet = Options(Options.time_and_memory()).with_empty_output()
    for step, wanted in ((1, 730), (2, 970), (-1, 850)):
        found = profiler.profile_name_scope(quiet.with_step(step).build())
        assert found.total_exec_micros == wanted
    ops = profiler.profile_operations(quiet.build())
    assert [ops.children[0].name, ops.children[0].exec_micros] == ["MatMul", 300]
    capsys.readouterr()
    missing = profiler.profile_graph(quiet.with_step(3).build())
    assert missing.name == ""
    assert capsys.readouterr().err == (
        "Options -step=3 not found.\nAvailable steps: 1 2 \n")
    stored = tf.headrace.messages.ProfileProto.FromString(
        profiler.serialize_to_string())
    assert list(stored.steps) == [1, 2]
    assert sum(n.name == "fc/mm" for n in stored.nodes.values()) == 1


def test_files_of_a_view(tmp_path, capsys):
    network()
    profiler = tf.profiler.Profiler()
    profiler.add_step(1, metadata())
    builder = Options(Options.time_and_memory()).with_step(1)
    profiler.profile_name_scope(builder.with_file_output(
        str(tmp_path / "report")).build())
    assert "    fc/mm (8.00KB/8.00KB" in (tmp_path / "report").read_text()
    for view in ("profile_name_scope", "profile_graph"):
        getattr(profiler, view)(builder.with_timeline_output(
            str(tmp_path / view)).build())
        events = json.loads((tmp_path / (view + "_1")).read_text())
        run = [e for e in events["traceEvents"] if e["ph"] == "X"
               and e["name"] == "c1/BiasAdd"]
        assert [e["dur"] for e in run] == [120]
    out = capsys.readouterr().out
    assert out.count("Timeline file is written to") == 2
    assert "Model Analysis" not in out


@pytest.mark.parametrize("output, wanted", [
    ("nosuch", "Unknown output type: nosuch"),
    ("timeline", "Missing option outfile of output timeline"),
    ("stdout:x=1", "Unrecognized option x of output stdout"),
    ("pprof:outfile=a", "Only 'code' view supports pprof output now.")])
def test_refused_outputs_are_told(output, wanted, capsys):
    network()
    found = tf.profiler.profile(options=dict(
        Options.trainable_variables_parameter(), output=output))
    assert found.total_parameters == 0
    assert wanted in capsys.readouterr().err


def test_unknown_view_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="cmd: nosuch"):
        tf.profiler.profile(cmd="nosuch")


def test_advice(capsys):
    network()
    found = tf.profiler.advise(run_meta=metadata())
    reports = {name: list(c.reports) for name, c in found.checkers.items()}
    assert reports["AcceleratorUtilizationChecker"] == [
        "device: %s low utilization: 0.42" % GPU.lower()]
    assert reports["OperationChecker"] == [
        "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."]
    assert reports["ExpensiveOperationChecker"][0].startswith(
        "top 1 operation type: MatMul, cpu: 260us, accelerator: 0us, total: "
        "260us (35.62%)")
    assert "\nOperationChecker:\n" in capsys.readouterr().out
    only = tf.profiler.advise(options={"OperationChecker": {}})
    assert list(only.checkers) == ["OperationChecker"]


def test_notes_on_operations(tmp_path):
    network()
    given = tf.profiler.OpLogProto()
    given.log_entries.add(name="x", float_ops=7, types=["mine"])
    tf.profiler.write_op_log(None, str(tmp_path), given)
    found = tf.profiler.OpLogProto.FromString(
        (tmp_path / "tfprof_log").read_bytes())
    entries = {e.name: e for e in found.log_entries}
    assert entries["x"].float_ops == 7 and list(entries["x"].types) == ["mine"]
    assert list(entries["c1/w"].types) == ["_trainable_variables"]
    assert entries["c1/Conv2D"].float_ops == 27648
    trace = entries["c1/Conv2D"].code_def.traces[0]
    assert found.id_to_string[trace.file_id].endswith("test_profiler.py")
    with pytest.raises(tf.errors.NotFoundError):
        tf.profiler.write_op_log(None, str(tmp_path / "no" / "such"))
    count = tf.profiler.profile(op_log=given, options=Options(
        Options.float_operation()).with_accounted_types(["mine"])
        .with_empty_output().build())
    assert count.total_float_ops == 7


def test_run_completes_shapes(capsys):
    n = tf.placeholder(tf.int32, [])
    y = tf.matmul(tf.fill([n, 3], 1.), tf.ones([3, 4]), name="y")
    count = Options(Options.float_operation()).with_empty_output().build()
    assert tf.profiler.profile(options=count).total_float_ops == 0
    assert "1 ops no flops stats" in capsys.readouterr().err
    with tf.Session() as s:
        found = tf.RunMetadata()
        s.run(y, {n: 2}, tf.RunOptions(
            trace_level=tf.RunOptions.FULL_TRACE), found)
    assert tf.profiler.profile(
        run_meta=found, options=count).total_float_ops == 2 * 2 * 3 * 4


def test_code_view_shows_lines(capsys):
    network()
    found = tf.profiler.profile(cmd="code", options=Options(
        Options.trainable_variables_parameter()).build())
    assert found.total_parameters == 432
    assert all(c.name.startswith("test_profiler.py:") for c in found.children)


def test_profile_context_traces_steps(tmp_path):
    loss = network()
    feed = {"x:0": np.ones((2, 8, 8, 3), np.float32)}
    folder = str(tmp_path / "profiles")
    quiet = Options(Options.time_and_memory()).with_empty_output().build()
    with tf.Session() as s:
        with tf.contrib.tfprof.ProfileContext(
                folder, trace_steps=[1, 3], dump_steps=[4],
                debug=True) as context:
            context.add_auto_profiling("op", quiet, [1, 2])
            s.run(tf.global_variables_initializer())
            for _ in range(5):
                s.run(loss, feed)
            with pytest.raises(tf.errors.InternalError):
                contexts.ProfileContext(folder).__enter__()
        s.run(loss, feed)
    assert sorted(p.name for p in (tmp_path / "profiles").iterdir()) == [
        "profile_4", "run_meta_1", "run_meta_2", "run_meta_3"]
    assert sorted(context.get_profiles("op")) == [1, 2]
    with pytest.raises(ValueError, match="scope"):
        context.get_profiles("scope")
    with pytest.raises(ValueError, match="directory"):
        contexts.ProfileContext("")
    with contexts.ProfileContext(folder, enabled=False) as off:
        assert off.profiler is None


def test_builder_keeps_its_own_copy():
    builder = Options()
    first = builder.build()
    builder.with_max_depth(3).with_min_parameters(4).order_by("params")
    assert first["max_depth"] == 100
    assert builder.build()["max_depth"] == 3
    assert options.to_message({}).max_depth == 10
    assert notes.merge_default_with_oplog(None).log_entries == []
    assert Profile().coverage == 0
