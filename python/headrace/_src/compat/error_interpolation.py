"""tensorflow.python.framework.error_interpolation: messages whose tags, such as
{{node NAME}}, are replaced by where the program made the node."""
import collections
import itertools
import os
import re

from headrace._src.compat import call_stacks
from headrace._src.framework.messages import GraphDebugInfo

_NODE = r"[A-Za-z0-9_.][A-Za-z0-9_.\-/]*?"
_TAG = re.compile(r"\{\{(%s) (%s)\}\}" % (_NODE, _NODE))
_ParseTag = collections.namedtuple("_ParseTag", ["type", "name"])

# Frames of these files are the library's.
_BAD_FILE_SUBSTRINGS = [
    os.path.join("tensorflow", "python"),
    os.path.join("tensorflow", "contrib"),
    os.path.join("tensorflow_estimator", "python"),
    os.path.join("tensorflow_estimator", "contrib"),
    os.path.join("headrace", "_src"),
    "<embedded",
]


def parse_message(message):
    """([text], [_ParseTag]): a text before each tag, and one after the last."""
    pieces = _TAG.split(message)
    return pieces[::3], [_ParseTag(*x) for x in zip(pieces[1::3], pieces[2::3])]


def _compute_device_summary_from_list(name, device_assignment_list, prefix=""):
    """Lines about the tf.device blocks, TraceableObjects, of an operation."""
    if not device_assignment_list:
        return ("%sNo device assignments were active during op '%s' creation."
                % (prefix, name))
    return "\n".join(
        ["%sDevice assignments active during op '%s' creation:"
         % (prefix, name)]
        + ["%s  with tf.device(%s): <%s:%s>" % (prefix, x.obj, x.filename,
                                                x.lineno)
           for x in device_assignment_list])


def _compute_device_assignment_summary_from_op(op, prefix=""):
    return _compute_device_summary_from_list(op.name, op._device_assignments,
                                             prefix)


def _compute_colocation_summary_from_dict(name, colocation_dict, prefix=""):
    """Lines about the colocate_with blocks, {name: TraceableObject}, of an
    operation."""
    if not colocation_dict:
        return ("%sNo node-device colocations were active during op '%s' "
                "creation." % (prefix, name))
    return "\n".join(
        ["%sNode-device colocations active during op '%s' creation:"
         % (prefix, name)]
        + ["%s  with tf.colocate_with(%s): <%s:%s>" % (
            prefix, other, place.filename, place.lineno)
           for other, place in colocation_dict.items()])


def _compute_colocation_summary_from_op(op, prefix=""):
    return _compute_colocation_summary_from_dict(op.name, op._colocation_dict,
                                                 prefix)


def _find_index_of_defining_frame_for_op(op):
    """The index in op.traceback of the innermost frame of the program; 0 if
    there is none."""
    frames = op.traceback
    for i in reversed(range(len(frames))):
        name = frames[i][call_stacks.TB_FILENAME]
        if not any(bad in name for bad in _BAD_FILE_SUBSTRINGS):
            return i
    return 0


def _get_defining_frame_from_op(op):
    return op.traceback[_find_index_of_defining_frame_for_op(op)]


def _compute_useful_frames(op, num):
    """At most `num` frames of op.traceback: to the program's innermost one, and
    two of the library."""
    end = min(_find_index_of_defining_frame_for_op(op) + 3, len(op.traceback))
    return op.traceback[max(end - num, 0):end]


def create_graph_debug_info_def(operations):
    """A GraphDebugInfo of pairs (name of the function or "", Operation)."""
    info, indices = GraphDebugInfo(), {}
    for function, op in operations:
        trace = info.traces[function + op.name]
        for frame in reversed(_compute_useful_frames(op, 10)):
            name = frame[call_stacks.TB_FILENAME]
            index = indices.setdefault(name, len(indices))
            trace.file_line_cols.add(file_index=index,
                                     line=frame[call_stacks.TB_LINENO])
    info.files.extend(indices)
    return info


def compute_field_dict(op, strip_file_prefix=""):
    """What messages say of an operation: a dict of file, line, defined_at,
    colocations, devices and devs_and_colocs. File names are without
    `strip_file_prefix`."""
    filename, line = "", 0
    if op.traceback:  # not if the library made it without a program's line
        frame = _get_defining_frame_from_op(op)
        filename = frame[call_stacks.TB_FILENAME]
        line = frame[call_stacks.TB_LINENO]
    if filename.startswith(strip_file_prefix):
        filename = filename[len(strip_file_prefix):]
    colocations = _compute_colocation_summary_from_op(op)
    devices = _compute_device_assignment_summary_from_op(op)
    return {
        "file": filename,
        "line": line,
        "defined_at": " (defined at %s:%d)" % (filename, line),
        "colocations": colocations,
        "devices": devices,
        "devs_and_colocs": "\n".join([colocations, devices]),
    }


def traceback_files_common_prefix(all_ops):
    """The folder in which all files of these lists of operations are; None
    stands for an empty list."""
    files = {frame[call_stacks.TB_FILENAME] for ops in all_ops
             for op in ops or () for frame in op.traceback}
    return os.path.split(os.path.commonprefix(
        [f for f in files if "<embedded" not in f]))[0]


def _sources_for_node(node, graph):
    """The operations that the inputs and control inputs come from."""
    return list(dict.fromkeys(
        [x.op for x in node.inputs] + list(node.control_inputs)))


def _build_error_message(op, input_ops, common_prefix):
    """(what stands for the tag of `op`, what is told of its inputs or "")."""
    place = compute_field_dict(op, common_prefix)["defined_at"]
    told, seen = [], {place}
    for x in input_ops:
        other = compute_field_dict(x, common_prefix)["defined_at"]
        if other not in seen:
            seen.add(other)
            told.append(" %s%s" % (x.name, other))
    return "node %s%s " % (op.name, place), (
        "\nInput Source operations connected to node %s:\n%s"
        % (op.name, "\t\n".join(told)) if told else "")


def interpolate(error_message, graph):
    """The message with its tags replaced. Tags of nodes that the graph has not
    stay as they are."""
    texts, tags = parse_message(error_message)
    found = [_operation(graph, tag.name) for tag in tags]
    tagged = [op and [op] + _sources_for_node(op, graph) for op in found]
    prefix = traceback_files_common_prefix(tagged)
    replaced, of_inputs, of_colocations = [], [], []
    for tag, ops in zip(tags, tagged):
        text = "{{%s %s}}" % tag
        if tag.type == "function_node":
            text = ""
        elif ops and tag.type == "node":
            text, told = _build_error_message(ops[0], ops[1:], prefix)
            of_inputs += [told] if told else []
        elif ops and tag.type == "colocation_node":
            fields = compute_field_dict(ops[0], prefix)
            text = "node %s%s placed on device %s " % (
                ops[0].name, fields["defined_at"], fields["devices"])
            of_colocations.append(fields["devs_and_colocs"])
        replaced.append(text)
    if of_inputs:
        replaced += ["\n\nErrors may have originated from an input operation.",
                     "\n".join(of_inputs)]
    if of_colocations:
        replaced += ["Additional information about colocations:",
                     "\n".join(of_colocations)]
    return "".join(itertools.chain(*itertools.zip_longest(
        texts, replaced, fillvalue="")))


def _operation(graph, name):
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None
