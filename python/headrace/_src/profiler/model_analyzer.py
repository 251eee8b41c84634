"""tf.profiler.profile, advise and Profiler: how large a graph is, and what its
steps took."""
import sys

from headrace._src.framework import errors
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import (
    ExecMemory, ExecProfile, GraphNodeProto, MultiGraphNodeProto, ProfileProto)
from headrace._src.platform.file_io import GFile
from headrace._src.profiler import advice, formats, notes, timelines
from headrace._src.profiler import options as _options
from headrace._src.profiler.grouped import CodeView, OpView
from headrace._src.profiler.nodes import Profile
from headrace._src.profiler.views import GraphView, ScopeView

_VIEWS = {"scope": ScopeView, "graph": GraphView, "op": OpView,
          "code": CodeView}
_MESSAGES = {"scope": GraphNodeProto, "graph": GraphNodeProto,
             "op": MultiGraphNodeProto, "code": MultiGraphNodeProto}


def _say(text):
    sys.stderr.write(text + "\n")


def _refused(profile, cmd, options, output):
    """Why there is no view of these options, or None."""
    if options.step >= 0 and options.step not in profile.steps:
        return "Options -step=%d not found.\nAvailable steps: %s" % (
            options.step, "".join("%d " % s for s in sorted(profile.steps)))
    if output.kind == "pprof":
        return ("Output pprof is not supported here; use file or timeline"
                if cmd == "code" else
                "Only 'code' view supports pprof output now.")
    if output.kind == "timeline" and cmd == "op":
        return ("op view doesn't support timeline yet. Consider "
                "graph/scope/code view.")
    return None


def _write_timelines(profile, cmd, options, path):
    """The timeline of a view; of the view `graph`, which has times of a step, one
    for each step. Returns the message."""
    if cmd != "graph" or options.step >= 0:
        view = _VIEWS[cmd](profile, options)
        timelines.write(path, options.step, timelines.of_graph(
            view, options.step) if cmd == "graph" else timelines.of_tree(
                view.root))
        return view.root.message
    for step in sorted(profile.steps):
        of_step = type(options).FromString(options.SerializeToString())
        of_step.step = step
        _write_timelines(profile, cmd, of_step, path)
    return _MESSAGES[cmd]()


def _report(profile, cmd, options, output):
    """Writes a view to a file, or prints it. Returns the message."""
    view = _VIEWS[cmd](profile, options)
    report = formats.notes(cmd, options.select) + view.table
    if output.kind == "file":
        with GFile(output.options["outfile"], "w") as f:
            f.write(report)
    elif output.kind == "stdout":
        print(report, end="", flush=True)
    return view.root.message


def _shown(profile, cmd, options):
    """The message of a view, which goes to where the options say. An empty one,
    with a line on stderr, where there is no such view."""
    try:
        output = _options.Output(options.output)
    except ValueError as e:
        _say("Invalid argument: %s" % e)
        return _MESSAGES[cmd]()
    is_printed = output.kind == "stdout"
    if is_printed:
        print("\n=========================Options=============================\n"
              "%s\n==================Model Analysis Report======================"
              % _options.as_text(options, output), flush=True)
    why = _refused(profile, cmd, options, output)
    if why is not None:
        _say(why)
        message = _MESSAGES[cmd]()
    elif output.kind == "timeline":
        message = _write_timelines(profile, cmd, options,
                                   output.options["outfile"])
    else:
        message = _report(profile, cmd, options, output)
    if is_printed:
        print("\n======================End of Report==========================",
              flush=True)
    return message


def _profile_of(graph, run_meta, op_log):
    profile = Profile(graph)
    profile.add_notes(op_log)
    if run_meta:
        profile.add_run(0, run_meta)
    return profile


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=0):
    """How large the graph is and, with `run_meta`, the RunMetadata of a traced
    run, what its nodes took: by parts of names ("scope"), by what takes what
    ("graph"), by op ("op") or by line of the program ("code"). Shapes that are
    not known give no floating point operations; `run_meta` completes them.
    Dtypes do not matter. `op_log`, an OpLogProto, gives nodes types and
    numbers. `options`: a dict, see ProfileOptionBuilder; by default the
    parameters of trainable variables. Returns a GraphNodeProto, or a
    MultiGraphNodeProto for "op" and "code". InvalidArgumentError for another
    `cmd`."""
    graph = graph or get_default_graph()
    if isinstance(options, int) and options == 0:
        options = _options.ProfileOptionBuilder.trainable_variables_parameter()
    op_log = notes.merge_default_with_oplog(
        graph, op_log, run_meta, add_trace=cmd == "code")
    if cmd not in _VIEWS:
        raise errors.InvalidArgumentError(None, None, "unknown cmd: %s\n" % cmd)
    print("Parsing Inputs...", flush=True)
    return _shown(_profile_of(graph, run_meta, op_log), cmd,
                  _options.to_message(options))


def advise(graph=None, run_meta=None, options=0):
    """An AdviceProto: which ops take longest, how busy accelerators are, and
    whether ops there have a slow layout. `options`: {name of a checker: {}};
    all by default. Shapes and dtypes may be any, and nothing is raised."""
    graph = graph or get_default_graph()
    if isinstance(options, int) and options == 0:
        options = _options.ALL_ADVICE
    op_log = notes.merge_default_with_oplog(graph, None, run_meta)
    message = _options.advice_message(options)
    print("Parsing Inputs...", flush=True)
    return advice.advise(_profile_of(graph, run_meta, op_log), message)


class Profiler:
    """Collects the RunMetadata of steps of a graph, None for the default, and
    shows what they took. `op_log`, an OpLogProto, gives nodes types. Shapes
    that are not known are those of the runs; dtypes do not matter. TypeError
    for other objects."""

    def __init__(self, graph=None, op_log=None):
        self._graph = graph or get_default_graph()
        self._notes = notes.merge_default_with_oplog(self._graph, op_log)
        self._profile = Profile(self._graph)
        self._profile.add_notes(self._notes)
        self._coverage = 0.0

    def add_step(self, step, run_meta):
        """Adds the RunMetadata of a step; several may have the same number."""
        op_log = notes.merge_default_with_oplog(self._graph, run_meta=run_meta)
        self._profile.add_graph(self._graph)
        self._profile.add_notes(op_log)
        self._profile.add_run(step, run_meta)
        self._coverage = self._profile.coverage

    def _view(self, cmd, options):
        return _shown(self._profile, cmd, _options.to_message(options))

    def profile_python(self, options):
        """A MultiGraphNodeProto of the lines that made the nodes."""
        return self._view("code", options)

    def profile_operations(self, options):
        """A MultiGraphNodeProto of the ops."""
        return self._view("op", options)

    def profile_name_scope(self, options):
        """A GraphNodeProto of the nodes by the parts of their names."""
        return self._view("scope", options)

    def profile_graph(self, options):
        """A GraphNodeProto of the nodes by what they take."""
        return self._view("graph", options)

    def advise(self, options):
        """An AdviceProto, see tf.profiler.advise."""
        return advice.advise(self._profile, _options.advice_message(options))

    def serialize_to_string(self):
        """The bytes of a ProfileProto, which TensorFlow's tfprof reads."""
        return _profile_message(self._profile).SerializeToString()

    def _write_profile(self, filename):
        with GFile(filename, "wb") as f:
            f.write(self.serialize_to_string())


def _profile_message(profile):
    """A ProfileProto of all nodes and steps."""
    message = ProfileProto(has_trace=profile.has_trace)
    message.steps.extend(profile.steps)
    ids = {name: i for i, name in enumerate(profile.nodes)}
    strings = {"": 0}
    for name, node in profile.nodes.items():
        out = message.nodes[ids[name]]
        out.name, out.op, out.id = name, node.op, ids[name]
        out.op_types.extend(sorted(node.op_types))
        out.shape.extend(node.shape or [])
        out.canonical_device = node.device
        out.float_ops = node.static_float_ops
        for i, (source, index) in enumerate(node.inputs):
            if source in ids:
                out.inputs[i] = ids[source]
                out.src_output_index[ids[source]] = index
        for shapes, found in ((out.input_shapes, node.input_shapes),
                              (out.output_shapes, node.output_shapes)):
            for i, sizes in found.items():
                shapes[i].int64_values.extend(sizes)
        for t in node.traces:
            out.trace.traces.add(
                file_id=strings.setdefault(t.file, len(strings)),
                function_id=strings.setdefault(t.function, len(strings)),
                lineno=t.line, func_start_line=t.first_line)
        for number, step in node.steps.items():
            out.execs[number].CopyFrom(_step_message(node, step))
    for text, number in strings.items():
        message.id_to_string[number] = text
    return message


def _step_message(node, step):
    message = ExecProfile(run_count=step.run_count)
    if node.device:
        message.devices.append(node.device)
    spans = []
    for target, times in ((message.cpu_execs, step.cpu_times),
                          (message.accelerator_execs, step.accelerator_times)):
        for device, of_device in times.items():
            for span in of_device:
                target[device].times.add(int64_values=span)
                spans.append(span)
    if spans:
        message.all_start_micros = min(start for start, _ in spans)
        message.latest_end_micros = max(start + n for start, n in spans)
    message.memory_execs.append(ExecMemory(
        requested_bytes=step.requested_bytes, peak_bytes=step.peak_bytes,
        residual_bytes=step.residual_bytes, output_bytes=step.output_bytes))
    return message
