"""How the profiler's reports write numbers and columns."""

ROOT = "_TFProfRoot"

ORDERS = {
    "bytes": "total_requested_bytes", "peak_bytes": "total_peak_bytes",
    "residual_bytes": "total_residual_bytes",
    "output_bytes": "total_output_bytes", "micros": "total_exec_micros",
    "accelerator_micros": "total_accelerator_exec_micros",
    "cpu_micros": "total_cpu_exec_micros", "params": "total_parameters",
    "float_ops": "total_float_ops"}

# Of what `select` names: the heads of the columns.
HEADS = {
    "bytes": "requested bytes", "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes", "output_bytes": "output bytes",
    "micros": "total execution time",
    "accelerator_micros": "accelerator execution time",
    "cpu_micros": "cpu execution time", "params": "# parameters",
    "float_ops": "# float_ops", "device": "assigned devices",
    "op_types": "op types", "occurrence": "op count (run|defined)",
    "input_shapes": "input shapes"}

# What the columns are, in a few words.
_NOTES = {
    "bytes": "requested bytes: what the node asked its allocators for",
    "peak_bytes": "peak bytes: the most that the node held at a time",
    "residual_bytes": "residual bytes: what it held when it had ended",
    "output_bytes": "output bytes: the size of its outputs",
    "micros": "total execution time: on the accelerator and on the CPU",
    "accelerator_micros": "accelerator execution time: of its kernels there",
    "cpu_micros": "cpu execution time: from the start of the node to its end",
    "params": "# parameters: elements of what the node holds or is fed",
    "float_ops": "# float_ops: floating point operations, by the shapes",
    "device": "assigned devices: where the node ran",
    "op_types": "op types: the op, the device and types of an OpLogProto",
    "occurrence": "op count: how often the node ran, and how many there are",
    "input_shapes": "input shapes: by the number of the input"}
_VIEW_NOTES = {
    "scope": "scope: nodes by the parts of their names",
    "graph": "graph: nodes, below each those that it takes its inputs from",
    "op": "op: all nodes of an op together",
    "code": "code: lines of the program, with the nodes that they made"}


def number(n):
    for limit, unit, name in ((10**3, 1, ""), (10**6, 10**3, "k"),
                              (10**9, 10**6, "m")):
        if n < limit:
            return "%d" % n if unit == 1 else "%.2f%s" % (n / unit, name)
    return "%.2fb" % (n / 10**9)


def time(micros):
    if micros < 1000:
        return "%dus" % micros
    return ("%.2fms" % (micros / 1000) if micros < 10**6
            else "%.2fsec" % (micros / 10**6))


def memory(size):
    if size < 1000:
        return "%dB" % size
    return ("%.2fKB" % (size / 1000) if size < 10**6
            else "%.2fMB" % (size / 10**6))


def shape(sizes):
    return "x".join(map(str, sizes))


def columns(select):
    """The names of `select` with those that `micros` stands for."""
    chosen = set(select)
    if "micros" in chosen:
        chosen |= {"accelerator_micros", "cpu_micros"}
    return chosen


def notes(view, select):
    """What comes before the table: what its columns are."""
    chosen = columns(select)
    return "\nDoc:\n%s\n%s\nProfile:\n" % (_VIEW_NOTES[view], "".join(
        text + "\n" for name, text in _NOTES.items() if name in chosen))


def head(order, select, **names):
    """The line of the columns; `names`: other heads than HEADS."""
    chosen = columns(select)
    return "node name | %s\n" % " | ".join(
        names.get(c, HEADS[c]) for c in order if c in chosen)


def is_shown(message, options, depth, size="%s"):
    """Whether the numbers of a node, and its depth, are above the limits.
    `size`: by which fields parameters and floating point operations count."""
    return (message.total_requested_bytes >= options.min_bytes
            and message.total_peak_bytes >= options.min_peak_bytes
            and message.total_residual_bytes >= options.min_residual_bytes
            and message.total_output_bytes >= options.min_output_bytes
            and message.total_exec_micros >= options.min_micros
            and message.total_accelerator_exec_micros
            >= options.min_accelerator_micros
            and message.total_cpu_exec_micros >= options.min_cpu_micros
            and getattr(message, size % "parameters") >= options.min_params
            and getattr(message, size % "float_ops") >= options.min_float_ops
            and depth <= options.max_depth)


def ordered(nodes, order_by):
    """The nodes, the largest first; by their names if `order_by` is none of
    ORDERS."""
    if order_by not in ORDERS:
        return sorted(nodes, key=lambda n: n.name)
    field = ORDERS[order_by]
    return sorted(nodes, key=lambda n: -getattr(n.message, field))
