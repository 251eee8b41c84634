"""The nodes that a profile has, what they are and what they did in the steps
that were added."""
import re
import sys

from headrace._src.framework.messages import GraphNodeProto, TensorShapeProto

_CANONICAL = re.compile(r"/job:.*/replica:\d+/task:\d+/[a-z]+:\d+"
                        r"|/job:.*/replica:\d+/task:\d+/device:[a-z]+:\d+")
_CPU_TIME = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu|device:sycl):\d+")

# What a step is measured by: attributes of a Step, fields of the messages.
TIMES = ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros")
MEMORY = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
MEASURES = TIMES + MEMORY
COUNTS = ("run_count", *MEASURES, "parameters", "float_ops")


class Step:
    """What a node did in one step."""

    def __init__(self):
        self.cpu_times = {}          # {device: [(start, micros)]}
        self.accelerator_times = {}  # the same, of the streams of devices
        self.run_count = 0
        self.memory = []             # an ExecMemory's fields, for each run
        for name in MEMORY:
            setattr(self, name, 0)

    def add(self, device, stats):
        """Adds a NodeExecStats of the device."""
        time = stats.all_start_micros, stats.op_end_rel_micros or 1
        if "stream:all" in device:
            if time[0] > 0:
                self.accelerator_times.setdefault(device, []).append(time)
            return
        if not _CPU_TIME.fullmatch(device):
            return
        if time[0] > 0:
            self.cpu_times.setdefault(device, []).append(time)
            self.run_count += 1
        self._add_memory(stats)

    def _add_memory(self, stats):
        own = stats.memory_stats
        persistent = own.persistent_memory_size
        kept = own.temp_memory_size + persistent
        self.requested_bytes += kept + sum(m.total_bytes for m in stats.memory)
        self.peak_bytes += kept + sum(m.peak_bytes for m in stats.memory)
        self.residual_bytes += persistent + sum(
            m.live_bytes for m in stats.memory)
        for output in stats.output:
            allocation = output.tensor_description.allocation_description
            self.output_bytes += max(allocation.allocated_bytes,
                                     allocation.requested_bytes)

    @staticmethod
    def _total(times):
        return sum(micros for of_device in times.values()
                   for _, micros in of_device)

    cpu_exec_micros = property(lambda self: self._total(self.cpu_times))
    accelerator_exec_micros = property(
        lambda self: self._total(self.accelerator_times))
    exec_micros = property(
        lambda self: self.cpu_exec_micros + self.accelerator_exec_micros)


class ProfiledNode:
    """A node of the graph. `shape`: of what it holds or is fed, None for most
    nodes; -1 is an unknown size, and a scalar counts as [1]."""

    def __init__(self, name, op, shape=None):
        self.name, self.op, self.shape = name, op, shape
        self.op_types = {op}
        self.inputs = []         # [(name of a node, index of its output)]
        self.output_shapes = {}  # {index: sizes, [] if the rank is unknown}
        self.input_shapes = {}
        self.static_float_ops = 0
        self.device = ""
        self.traces = ()         # CodeDef.Trace messages
        self.steps = {}
        self.data_format = ""

    def add_step(self, step, device, stats):
        device = device.lower()
        if _CANONICAL.fullmatch(device):
            if self.device and self.device != device:
                return
            self.device = device
            self.op_types.add(device)
        self.steps.setdefault(step, Step()).add(device, stats)

    @property
    def parameters(self):
        if self.shape is None:
            return 0
        count = 1
        for size in self.shape:
            if size < 0:
                sys.stderr.write("Incomplete shape.\n")
                return 0
            count *= size
        return count

    def float_ops(self, step):
        return self.static_float_ops * (
            self.measure("run_count", step) if self.steps else 1)

    def measure(self, name, step):
        """A number of the step, or the average of all for -1."""
        if step >= 0:
            return getattr(self.steps[step], name) if step in self.steps else 0
        return (sum(getattr(s, name) for s in self.steps.values())
                // len(self.steps) if self.steps else 0)

    def fill(self, message, step):
        """Sets the fields of a GraphNodeProto that are the node's own."""
        message.name = self.name
        if self.device:
            message.devices.append(self.device)
        for name in ("run_count", *MEASURES):
            setattr(message, name, self.measure(name, step))
        message.parameters = self.parameters
        message.float_ops = self.float_ops(step)
        for i, sizes in self.input_shapes.items():
            message.input_shapes[i].CopyFrom(_shape_message(sizes))


def _shape_message(sizes):
    message = TensorShapeProto(unknown_rank=not sizes)
    for size in sizes:
        message.dim.add(size=size)
    return message


def add_self(message):
    """Adds a node's own numbers to its totals. Returns the message."""
    message.total_definition_count += 1
    for name in COUNTS:
        total = "total_" + name
        setattr(message, total, getattr(message, total) + getattr(message, name))
    return message


def own_message(node, step):
    message = GraphNodeProto()
    node.fill(message, step)
    return add_self(message)


def _sizes(shape):
    """[] for an unknown rank; -1 for unknown sizes; [1] for a scalar."""
    if shape.ndims is None:
        return []
    return [-1 if n is None else n for n in shape.as_list()] or [1]


def _held_shape(node_def):
    """The attr `shape` of a NodeDef, or None."""
    if "shape" not in node_def.attr or not node_def.attr["shape"].HasField(
            "shape"):
        return None
    shape = node_def.attr["shape"].shape
    return None if shape.unknown_rank else [d.size for d in shape.dim] or [1]


class Profile:
    """The nodes of a graph, by their names, and the numbers of the steps."""

    def __init__(self, graph=None):
        self.nodes, self.steps, self.covered = {}, [], set()
        self.has_trace = False
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph):
        """Adds the nodes that are new, and completes the shapes of others."""
        for op in graph.get_operations():
            node = self.nodes.get(op.name)
            if node is None:
                node_def = op.node_def
                node = ProfiledNode(op.name, op.type, _held_shape(node_def))
                node.data_format = node_def.attr[
                    "data_format"].s if "data_format" in node_def.attr else ""
                node.inputs = [self._input(x) for x in node_def.input]
                self.nodes[op.name] = node
            node.output_shapes = {i: _sizes(x.get_shape())
                                  for i, x in enumerate(op.outputs)}
        for node in self.nodes.values():
            for i, (name, index) in enumerate(node.inputs):
                source = self.nodes.get(name)
                if source is not None and index in source.output_shapes:
                    node.input_shapes[i] = source.output_shapes[index]

    @staticmethod
    def _input(text):
        name, _, index = text.lstrip("^").partition(":")
        return name, int(index or 0)

    def add_notes(self, op_log):
        """Takes in an OpLogProto."""
        for entry in op_log.log_entries:
            node = self.nodes.get(entry.name)
            if node is None:
                continue
            node.op_types.update(entry.types)
            if entry.float_ops:
                node.static_float_ops = entry.float_ops
            if len(entry.code_def.traces):
                self.has_trace = True
                node.traces = [_Trace(t, op_log.id_to_string)
                               for t in entry.code_def.traces]

    def add_run(self, step, run_meta):
        """Adds what RunMetadata says of a step."""
        if step not in self.steps:
            self.steps.append(step)
        for device in run_meta.step_stats.dev_stats:
            for stats in device.node_stats:
                name = stats.node_name.partition(":")[0]
                node = self.nodes.get(name)
                if node is None:
                    node = self.nodes[name] = ProfiledNode(name, name)
                self.covered.add(name)
                node.add_step(step, device.device, stats)

    @property
    def coverage(self):
        """The share of the nodes that ran."""
        return len(self.covered) / (len(self.nodes) + 1e-10)


class _Trace:
    """A line that made a node."""

    def __init__(self, message, strings):
        def text(plain, number):
            return plain or (strings[number] if number in strings else "")
        self.file = text(message.file, message.file_id)
        self.function = text(message.function, message.function_id)
        self.line = message.lineno
        self.first_line = message.func_start_line
