"""OpLogProto: what is known of operations beside the graph: floating point
operations, types, and the lines of the program that made them."""
import os
import sys

from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import OpLogEntry, OpLogProto
from headrace._src.platform.file_io import GFile
from headrace._src.profiler.options import TRAINABLE_VARIABLES
from headrace._src.profiler.statistics import get_stats_for_node_def


def _complete_shapes(graph, run_meta):
    """Gives tensors without a full shape the one that a run had."""
    names = {op.name: op for op in graph.get_operations()}
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            op = names.get(stats.node_name)
            if op is None or len(stats.output) != len(op.outputs):
                continue
            for x, found in zip(op.outputs, stats.output):
                if x.get_shape().is_fully_defined():
                    continue
                shape = [d.size for d in found.tensor_description.shape.dim]
                try:
                    x.set_shape(shape)
                except ValueError as e:
                    sys.stderr.write("Node %s incompatible shapes: %s.\n"
                                     % (op.name, e))


class _Ids:
    """Numbers of strings, in the order of their first use."""

    def __init__(self):
        self.of = {"none": 0}

    def get(self, text):
        return self.of.setdefault(text, len(self.of)) if text else 0


def _entry(graph, op, ids, add_trace):
    """(the OpLogEntry of an operation, whether it says anything, whether shapes
    were known)"""
    entry, has_content, is_known = OpLogEntry(name=op.name), False, True
    try:
        stats = get_stats_for_node_def(graph, op.node_def, "flops")
        if stats.value:
            entry.float_ops = int(stats.value)
            has_content = True
    except ValueError:
        is_known = False
    if add_trace:
        for file, line, function, text, first in op.traceback_with_start_lines:
            entry.code_def.traces.add(
                file_id=ids.get(file), lineno=line or -1,
                function_id=ids.get(function), line_id=ids.get(text),
                func_start_line=first or -1)
        has_content = True
    return entry, has_content, is_known


def _entries(graph, run_meta, add_trace, add_trainable_var):
    """({name of an operation: OpLogEntry}, {string: its number})"""
    if run_meta:
        _complete_shapes(graph, run_meta)
    found, ids, unknown = {}, _Ids(), 0
    for op in graph.get_operations():
        entry, has_content, is_known = _entry(graph, op, ids, add_trace)
        unknown += not is_known
        if has_content:
            found[op.name] = entry
    if add_trainable_var:
        for v in graph.get_collection("trainable_variables"):
            name = v.op.name
            found.setdefault(name, OpLogEntry(name=name)).types.append(
                TRAINABLE_VARIABLES)
    if unknown and not run_meta:
        sys.stderr.write("%d ops no flops stats due to incomplete shapes.\n"
                         % unknown)
    return found, ids.of


def merge_default_with_oplog(graph, op_log=None, run_meta=None, add_trace=True,
                             add_trainable_var=True):
    """An OpLogProto of what is known of the graph's operations and what `op_log`
    says: its floating point operations and lines count more, types are added
    up."""
    graph = graph or get_default_graph()
    found, ids = _entries(graph, run_meta, add_trace, add_trainable_var)
    entries = found
    if op_log:
        entries = {entry.name: entry for entry in op_log.log_entries}
        for name, entry in found.items():
            given = entries.setdefault(name, entry)
            if given is entry:
                continue
            given.types.extend(entry.types)
            if entry.float_ops > 0 and given.float_ops == 0:
                given.float_ops = entry.float_ops
            if entry.code_def.traces and not given.code_def.traces:
                given.code_def.MergeFrom(entry.code_def)
    merged = OpLogProto()
    merged.log_entries.extend(entries.values())
    for text, number in ids.items():
        merged.id_to_string[number] = text
    return merged


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes what is known of the operations of `graph` (None: the default) and
    what `op_log`, an OpLogProto, says, as the file tfprof_log in `log_dir`.
    `run_meta`, a RunMetadata, completes the shapes; dtypes do not matter.
    `add_trace`: with the lines that made them. NotFoundError for a folder that
    there is not."""
    merged = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with GFile(os.path.join(log_dir, "tfprof_log"), "wb") as f:
        f.write(merged.SerializeToString())
