"""The programs among tensorflow.python.tools, with their flags and what they
print: `python -m headrace.compat -m tensorflow.python.tools.freeze_graph FLAGS`."""
import argparse
import ast
import os
import sys

import numpy as np

from headrace._src.compat import checkpoints, inference_graphs
from headrace._src.compat import saved_model_cli as _saved_model_cli
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.importer import import_graph_def
from headrace._src.platform.file_io import GFile
from headrace._src.summary.event_files import FileWriter


def _bool(text):
    return text.lower() == "true"


class _Flags(argparse.ArgumentParser):
    """Flags as these programs have them: `--name`, `--name=value`, and of bools
    `--name` alone."""

    def text(self, name, default, words):
        self.add_argument("--" + name, default=default, help=words)

    def switch(self, name, default, words):
        self.add_argument("--" + name, nargs="?", const=True, type=_bool,
                          default=default, help=words)


def freeze_graph(argv):
    """A graph, with the variables of a checkpoint as constants, in a file."""
    flags = _Flags(prog="freeze_graph", description=freeze_graph.__doc__)
    flags.text("input_graph", "", "file of a GraphDef")
    flags.text("input_saver", "", "file of a SaverDef")
    flags.text("input_checkpoint", "", "prefix of the checkpoint")
    flags.add_argument("--checkpoint_version", type=int, default=2,
                       help="format of the checkpoint, 1 or 2; it is found out")
    flags.text("output_graph", "", "file that is written")
    flags.switch("input_binary", False, "the input files are binary, not text")
    flags.text("output_node_names", "", "nodes to keep, with commas between")
    flags.text("restore_op_name", "save/restore_all", "node that restores")
    flags.text("filename_tensor_name", "save/Const:0",
               "tensor with the checkpoint's prefix")
    flags.switch("clear_devices", True, "nodes lose their devices")
    flags.text("initializer_nodes", "", "nodes to run before")
    flags.text("variable_names_whitelist", "", "variables to convert, or all")
    flags.text("variable_names_blacklist", "", "variables to leave as they are")
    flags.text("input_meta_graph", "", "file of a MetaGraphDef")
    flags.text("input_saved_model_dir", "", "folder of a SavedModel")
    flags.text("saved_model_tags", "serve", "its tags, with commas between")
    o = flags.parse_args(argv)
    checkpoints.freeze_graph(
        o.input_graph, o.input_saver, o.input_binary, o.input_checkpoint,
        o.output_node_names, o.restore_op_name, o.filename_tensor_name,
        o.output_graph, o.clear_devices, o.initializer_nodes,
        o.variable_names_whitelist, o.variable_names_blacklist,
        o.input_meta_graph, o.input_saved_model_dir, o.saved_model_tags,
        o.checkpoint_version)


def inspect_checkpoint(argv):
    """Prints what a checkpoint has."""
    flags = _Flags(prog="inspect_checkpoint",
                   description=inspect_checkpoint.__doc__)
    flags.text("file_name", "", "prefix of the checkpoint")
    flags.text("tensor_name", "", "tensor to print")
    flags.text("count_exclude_pattern", "",
               "pattern of names that are not counted")
    flags.switch("all_tensors", False, "print names and values of all tensors")
    flags.switch("all_tensor_names", False, "print the names of all tensors")
    flags.add_argument("--printoptions", nargs="*", type=_print_option,
                       default=[], help="KEY=VALUE of numpy.set_printoptions")
    o = flags.parse_args(argv)
    if not o.file_name:
        flags.error("--file_name is needed")
    if o.printoptions:
        np.set_printoptions(**dict(o.printoptions))
    checkpoints.print_tensors_in_checkpoint_file(
        o.file_name, o.tensor_name, o.all_tensors, o.all_tensor_names,
        o.count_exclude_pattern)


def _print_option(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("'%s' is not KEY=VALUE" % text)
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def _graph_flags(flags, graph, binary, names):
    flags.text(graph, "", "file of a GraphDef")
    flags.switch(binary, graph == "input", "the file is binary, not text")
    flags.text("input" + names, "", "input nodes, with commas between")
    flags.text("output" + names, "", "output nodes, with commas between")
    flags.text("placeholder_type_enum", str(dtypes.float32.as_datatype_enum),
               "number of the placeholders' type, or one of each, with commas "
               "between")


def _types(text):
    numbers = [int(n) for n in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _read(flags, path, binary):
    if not path or not os.path.exists(path):
        flags.error("input graph file '%s' does not exist" % path)
    return checkpoints.read_graph(path, binary)


def _write(graph_def, path, binary):
    with GFile(path, "wb" if binary else "w") as file:
        file.write(graph_def.SerializeToString() if binary
                   else str(graph_def))


def optimize_for_inference(argv):
    """Writes a graph without nodes that only training needs."""
    flags = _Flags(prog="optimize_for_inference",
                   description=optimize_for_inference.__doc__)
    _graph_flags(flags, "input", "frozen_graph", "_names")
    flags.text("output", "", "file that is written")
    flags.switch("toco_compatible", False, "changes nothing")
    o = flags.parse_args(argv)
    result = inference_graphs.optimize_for_inference(
        _read(flags, o.input, o.frozen_graph), o.input_names.split(","),
        o.output_names.split(","), _types(o.placeholder_type_enum),
        o.toco_compatible)
    _write(result, o.output, o.frozen_graph)


def strip_unused(argv):
    """Writes the nodes of a graph between inputs and outputs."""
    flags = _Flags(prog="strip_unused", description=strip_unused.__doc__)
    _graph_flags(flags, "input_graph", "input_binary", "_node_names")
    flags.text("output_graph", "", "file that is written")
    flags.switch("output_binary", True, "the file is binary, not text")
    o = flags.parse_args(argv)
    result = checkpoints.strip_unused(
        _read(flags, o.input_graph, o.input_binary),
        o.input_node_names.split(","), o.output_node_names.split(","),
        _types(o.placeholder_type_enum))
    _write(result, o.output_graph, o.output_binary)
    print("%d ops in the final graph." % len(result.node))


def import_pb_to_tensorboard(argv):
    """Writes a frozen graph where TensorBoard shows it."""
    flags = _Flags(prog="import_pb_to_tensorboard",
                   description=import_pb_to_tensorboard.__doc__)
    flags.add_argument("--model_dir", required=True, help="file of a GraphDef")
    flags.add_argument("--log_dir", required=True, help="folder for the events")
    o = flags.parse_args(argv)
    with _graph.Graph().as_default() as graph:
        import_graph_def(_read(flags, o.model_dir, True))
        FileWriter(o.log_dir, graph).close()
    print("Model Imported. Visualize by running: tensorboard --logdir=%s"
          % o.log_dir)


def saved_model_cli(argv):
    """Shows what a SavedModel has, or runs it."""
    parser = _saved_model_cli.create_parser()
    o = parser.parse_args(argv)
    if not hasattr(o, "func"):
        parser.error("too few arguments")
    o.func(o)


def main(name, argv):
    """Runs the program tensorflow.python.tools.`name`."""
    PROGRAMS[name](argv)
    sys.stdout.flush()


PROGRAMS = {f.__name__: f for f in (
    freeze_graph, import_pb_to_tensorboard, inspect_checkpoint,
    optimize_for_inference, saved_model_cli, strip_unused)}
