"""tensorflow.python.client: the list of devices, and timelines of steps."""
import collections
import json
import warnings

from headrace._src.framework import errors
from headrace._src.session.session import Session


class _Device:
    """A device: name, device_type, memory_limit, incarnation."""

    def __init__(self, attributes):
        self.name = attributes.name.replace(
            "/job:localhost/replica:0/task:0", "")
        self.device_type = attributes.device_type
        self.memory_limit = attributes.memory_limit_bytes
        self.incarnation = attributes.incarnation
        self.physical_device_desc = ""

    def __repr__(self):
        return ("name: \"%s\"\ndevice_type: \"%s\"\nmemory_limit: %d\n"
                "incarnation: %d\n" % (self.name, self.device_type,
                                       self.memory_limit, self.incarnation))


def list_local_devices(session_config=None):
    """The devices of this process, each with name, device_type, memory_limit and
    incarnation."""
    from headrace._src.framework.graph import Graph
    with Session(graph=Graph(), config=session_config) as session:
        return [_Device(d) for d in session.list_devices()]


class Timeline:
    """What a step did when, from the StepStats of its RunMetadata."""

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats

    def analyze_step_stats(self, show_dataflow=True, show_memory=True):
        """A StepStatsAnalysis: chrome_trace, whose format_to_string gives the
        JSON of generate_chrome_trace_format, and allocator_maximums, {name of
        an allocator: AllocationMaximum}, with the most bytes that the outputs
        of the step's nodes had at a time: when (microseconds), how many, and
        the names of the nodes. An output counts from when its node ends until
        the step ends, so it is an upper bound."""
        return StepStatsAnalysis(
            _Trace(self.generate_chrome_trace_format(show_dataflow,
                                                     show_memory)),
            _allocator_maximums(self._step_stats))

    def generate_chrome_trace_format(self, show_dataflow=True,
                                     show_memory=False):
        """JSON for chrome://tracing: a row for each device, with a bar for each
        node that ran. `show_dataflow` and `show_memory` are taken and add
        nothing."""
        events = []
        for pid, device in enumerate(self._step_stats.dev_stats):
            events.append({"name": "process_name", "ph": "M", "pid": pid,
                           "args": {"name": device.device + " Compute"}})
            for lane, node in _lanes(device.node_stats):
                label = node.timeline_label
                events.append({
                    "ph": "X", "cat": "Op", "name": _op_of(node), "pid": pid,
                    "tid": lane, "ts": node.all_start_micros,
                    "dur": node.all_end_rel_micros,
                    "args": {"name": node.node_name, "op": _op_of(node),
                             "label": label}})
        return json.dumps({"traceEvents": events}, indent=4)


AllocationMaximum = collections.namedtuple(
    "AllocationMaximum", ["timestamp", "num_bytes", "tensors"])
StepStatsAnalysis = collections.namedtuple(
    "StepStatsAnalysis", ["chrome_trace", "allocator_maximums"])


class _Trace:
    """A timeline as JSON."""

    def __init__(self, text):
        self._text = text

    def format_to_string(self, pretty=False):
        return json.dumps(json.loads(self._text), indent=4 if pretty else None)


def _allocator_maximums(step_stats):
    found = {}  # {allocator: (last time, bytes, names)}
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            end = node.all_start_micros + node.all_end_rel_micros
            for output in node.output:
                memory = output.tensor_description.allocation_description
                time, total, names = found.get(memory.allocator_name,
                                               (0, 0, set()))
                found[memory.allocator_name] = (
                    max(time, end), total + memory.allocated_bytes,
                    names | {node.node_name})
    return {name: AllocationMaximum(*most) for name, most in found.items()
            if name}


def _op_of(node):
    """The op of a node: "name = Op(inputs)" is its label."""
    _, found, text = node.timeline_label.partition(" = ")
    return text.partition("(")[0] if found else node.node_name


def _lanes(nodes):
    """(lane, node): nodes that run at the same time have different lanes."""
    ends = []
    for node in sorted(nodes, key=lambda n: n.all_start_micros):
        start = node.all_start_micros
        for lane, end in enumerate(ends):
            if end <= start:
                break
        else:
            lane = len(ends)
            ends.append(0)
        ends[lane] = start + node.all_end_rel_micros
        yield lane, node


def make_specific_exception(node_def, op, message, error_code):
    """The exception of a status code; an UnknownError, and a warning, for one
    that has no class."""
    try:
        cls = errors.exception_type_from_error_code(error_code)
    except KeyError:
        warnings.warn("Unknown error code: %d" % error_code, stacklevel=2)
        return errors.UnknownError(node_def, op, message, error_code)
    return cls(node_def, op, message)
