"""tensorflow.python.tools: freeze_graph and inspect_checkpoint as functions."""
import argparse
import os
import re

import numpy as np

from headrace._src.framework import graph as _graph
from headrace._src.framework import importer as _importer
from headrace._src.framework.errors import OpError
from headrace._src.framework.graph_rewrites import (
    convert_variables_to_constants, extract_sub_graph)
from headrace._src.framework.messages import GraphDef, SaverDef, from_text
from headrace._src.platform.file_io import GFile
from headrace._src.saved_model import loader as _saved_models
from headrace._src.session.session import Session
from headrace._src.training import checkpoint_management as _management
from headrace._src.training.checkpoint_reader import CheckpointReader
from headrace._src.training.meta_graph import import_meta_graph
from headrace._src.training.saver import Saver


def _names(text):
    return [n for n in (text or "").replace(" ", "").split(",") if n]


def read_graph(path, binary):
    """The GraphDef of a file, binary or text."""
    with GFile(path, "rb") as file:
        data = file.read()
    return (GraphDef.FromString(data) if binary
            else from_text(data.decode(), GraphDef()))


def _outputs_to_freeze(names, saved_model_dir, checkpoint):
    """The names as a list. ValueError without any, and without values."""
    outputs = _names(names)
    if not outputs:
        raise ValueError("You need to supply the name of a node to "
                         "--output_node_names.")
    if not saved_model_dir and not _management.checkpoint_exists(checkpoint):
        raise ValueError("Input checkpoint '%s' doesn't exist!" % checkpoint)
    return outputs


def freeze_graph(input_graph, input_saver, input_binary, input_checkpoint,
                 output_node_names, restore_op_name, filename_tensor_name,
                 output_graph, clear_devices, initializer_nodes,
                 variable_names_whitelist="", variable_names_blacklist="",
                 input_meta_graph=None, input_saved_model_dir=None,
                 saved_model_tags="serve", checkpoint_version=2):
    """The graph of a file with the variables of a checkpoint as constants.

    Args:
      input_graph: file of a GraphDef, binary or (`input_binary` False) text; or
        `input_meta_graph`, the file of a MetaGraphDef.
      input_checkpoint: prefix of the checkpoint.
      output_node_names: "a,b": the nodes whose inputs are kept.
      input_saver: file of the SaverDef that restores, instead of the graph's
        own nodes.
      input_saved_model_dir: folder of a SavedModel, in place of graph and
        checkpoint; `saved_model_tags`, "a,b", say which of its graphs.
      restore_op_name: if the graph has it, the node that restores; then
        `filename_tensor_name` is the tensor of the prefix. Otherwise variables
        are restored by their names.
      output_graph: file that is written, unless it is empty.
      clear_devices: whether nodes lose their devices.
      initializer_nodes: "a,b": nodes that run before.
      variable_names_whitelist, variable_names_blacklist: "a,b": the variables
        that become constants, and those that do not.

    Returns: the GraphDef.

    Raises:
      ValueError: no output nodes, or a checkpoint that is not there.
      OSError: no SavedModel."""
    _outputs_to_freeze(output_node_names, input_saved_model_dir,
                       input_checkpoint)
    graph_def = saver_def = None
    if not input_saved_model_dir and not input_meta_graph:
        graph_def = read_graph(input_graph, input_binary)
    if input_saver:
        saver_def = _read_saver(input_saver, input_binary)
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names,
        restore_op_name, filename_tensor_name, output_graph, clear_devices,
        initializer_nodes, variable_names_whitelist, variable_names_blacklist,
        input_meta_graph, input_saved_model_dir, saved_model_tags,
        checkpoint_version)


def freeze_graph_with_def_protos(
        input_graph_def, input_saver_def, input_checkpoint, output_node_names,
        restore_op_name, filename_tensor_name, output_graph, clear_devices,
        initializer_nodes, variable_names_whitelist="",
        variable_names_blacklist="", input_meta_graph_def=None,
        input_saved_model_dir=None, saved_model_tags=None,
        checkpoint_version=2):
    """freeze_graph of messages: a GraphDef or a MetaGraphDef, and a SaverDef or
    None. `saved_model_tags`: "a,b" or a list."""
    outputs = _outputs_to_freeze(output_node_names, input_saved_model_dir,
                                 input_checkpoint)
    with _graph.Graph().as_default() as graph, Session(graph=graph) as session:
        if input_saved_model_dir:
            tags = (_names(saved_model_tags)
                    if isinstance(saved_model_tags, str) else saved_model_tags)
            _saved_models.load(session, tags, input_saved_model_dir,
                               clear_devices=clear_devices)
        elif input_meta_graph_def:
            import_meta_graph(input_meta_graph_def,
                              clear_devices=clear_devices)
        else:
            if clear_devices:
                for node in input_graph_def.node:
                    node.device = ""
            _importer.import_graph_def(input_graph_def, name="")
        nodes = {op.name for op in graph.get_operations()}
        if input_saved_model_dir:
            pass  # its variables have values
        elif input_saver_def:
            Saver(saver_def=input_saver_def).restore(session, input_checkpoint)
        elif restore_op_name in nodes:
            session.run(restore_op_name,
                        {filename_tensor_name: input_checkpoint})
        else:
            _restore(session, graph, input_checkpoint)
        if initializer_nodes:
            session.run(_names(initializer_nodes))
        frozen = convert_variables_to_constants(
            session, graph.as_graph_def(), outputs,
            _names(variable_names_whitelist) or None,
            _names(variable_names_blacklist) or None)
    if output_graph:
        with GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


def _read_saver(path, binary):
    with GFile(path, "rb") as file:
        data = file.read()
    return (SaverDef.FromString(data) if binary
            else from_text(data.decode(), SaverDef()))


def _restore(session, graph, checkpoint):
    """Restores the graph's variables that the checkpoint has."""
    shapes = CheckpointReader(checkpoint).get_variable_to_shape_map()
    found = {}
    for op in graph.get_operations():
        if op.type in ("Variable", "VariableV2") and op.name in shapes:
            found[op.name] = op.outputs[0]
    Saver(found).restore(session, checkpoint)


def strip_unused(input_graph_def, input_node_names, output_node_names,
                 placeholder_type_enum):
    """The nodes between inputs and outputs; inputs become placeholders of the
    type that the number tells, or each of its own if there is a list."""
    stripped = GraphDef()
    types = placeholder_type_enum
    if not isinstance(types, (list, tuple)):
        types = [types] * len(input_node_names)
    if len(types) != len(input_node_names):
        raise ValueError("strip_unused: %d types were given for %d inputs"
                         % (len(types), len(input_node_names)))
    types = dict(zip(input_node_names, types))
    missing = set(input_node_names) - {n.name for n in input_graph_def.node}
    if missing:
        raise KeyError("The following input nodes were not found: %s"
                       % sorted(missing))
    for node in input_graph_def.node:
        new = stripped.node.add()
        if node.name not in input_node_names:
            new.CopyFrom(node)
            continue
        new.op, new.name = "Placeholder", node.name
        new.attr["dtype"].type = types[node.name]
        if "shape" in node.attr:
            new.attr["shape"].CopyFrom(node.attr["shape"])
    return extract_sub_graph(stripped, list(output_node_names))


def strip_unused_from_files(input_graph, input_binary, output_graph,
                            output_binary, input_node_names, output_node_names,
                            placeholder_type_enum):
    """strip_unused of the GraphDef in one file, written to another; both binary
    or text. Names are "a,b". Returns -1, after a message, without the file or
    the names of outputs."""
    if not os.path.exists(input_graph):
        print("Input graph file '%s' does not exist!" % input_graph)
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    stripped = strip_unused(
        read_graph(input_graph, input_binary), input_node_names.split(","),
        output_node_names.split(","), placeholder_type_enum)
    with GFile(output_graph, "wb") as file:
        file.write(stripped.SerializeToString() if output_binary
                   else str(stripped).encode())
    print("%d ops in the final graph." % len(stripped.node))
    return None


def read_saved_model(saved_model_dir):
    """The SavedModel message of a folder. OSError without one."""
    if not _saved_models.contains_saved_model(saved_model_dir):
        raise OSError("SavedModel file does not exist at: %s"
                      % saved_model_dir)
    return _saved_models.parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir):
    """The tags of each graph of a SavedModel, a list of lists."""
    return [list(meta_graph.meta_info_def.tags)
            for meta_graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir, tag_set):
    """The MetaGraphDef with the tags "a,b". RuntimeError without one."""
    for meta_graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(meta_graph.meta_info_def.tags) == set(tag_set.split(",")):
            return meta_graph
    raise RuntimeError("MetaGraphDef associated with tag-set %s could not be "
                       "found in SavedModel" % tag_set)


def parse_numpy_printoption(kv_str):
    """Sets the option of numpy.set_printoptions that "name=value" says.
    argparse.ArgumentTypeError for others."""
    name, equals, text = kv_str.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError("'%s' is not in the form k=v."
                                         % kv_str)
    known = np.get_printoptions()
    if name not in known:
        raise argparse.ArgumentTypeError("'%s' is not a valid printoption."
                                         % name)
    kind = type(known[name])
    if known[name] is None:
        raise argparse.ArgumentTypeError(
            "Setting '%s' from the command line is not supported." % name)
    try:
        value = (text.lower() in ("true", "t", "1") if kind is bool
                 else kind(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    np.set_printoptions(**{name: value})


def print_tensors_in_checkpoint_file(file_name, tensor_name, all_tensors,
                                     all_tensor_names=False,
                                     count_exclude_pattern=""):
    """Prints the value of a tensor, of all of them, or what there is. What is
    wrong with the checkpoint is printed, too."""
    try:
        _print_tensors(CheckpointReader(file_name), tensor_name, all_tensors,
                       all_tensor_names, count_exclude_pattern)
    except OpError as error:
        print(error)


def _print_tensors(reader, tensor_name, all_tensors, all_tensor_names,
                   count_exclude_pattern):
    shapes = reader.get_variable_to_shape_map()
    if all_tensors or all_tensor_names:
        for key in sorted(shapes):
            print("tensor_name: ", key)
            if all_tensors:
                print(reader.get_tensor(key))
    elif not tensor_name:
        print(reader.debug_string().decode())
    else:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    left_out = {key for key in shapes if count_exclude_pattern and re.search(
        count_exclude_pattern, key)}
    count = {key: int(np.prod(shape)) for key, shape in shapes.items()}
    if left_out:
        print("# Excluding %d tensors (%d params) that match %s when counting."
              % (len(left_out), sum(count[key] for key in left_out),
                 count_exclude_pattern))
    print("# Total number of params: %d" % sum(
        n for key, n in count.items() if key not in left_out))
