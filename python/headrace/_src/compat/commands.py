"""The programs among tensorflow.python.tools, with their flags and what they
print: `python -m headrace.compat -m tensorflow.python.tools.freeze_graph FLAGS`."""
import argparse
import ast
import os
import re
import sys

import numpy as np

from headrace._src.compat import checkpoints
from headrace._src.compat.constants import message_constant
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.messages import Example
from headrace._src.platform.file_io import GFile
from headrace._src.saved_model import loader
from headrace._src.session.session import Session
from headrace._src.summary.event_files import FileWriter
from headrace._src.training.meta_graph import all_nodes


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
    result = checkpoints.optimize_for_inference(
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
    parser = argparse.ArgumentParser(
        prog="saved_model_cli", description=saved_model_cli.__doc__)
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", metavar="{show,run,scan}")
    show = commands.add_parser("show", help="print tags and signatures")
    show.add_argument("--dir", required=True, help="the SavedModel's folder")
    show.add_argument("--all", action="store_true", help="all there is")
    show.add_argument("--tag_set", help="tags of a graph, with commas between")
    show.add_argument("--signature_def", help="key of a signature")
    show.set_defaults(command=_show)
    run = commands.add_parser("run", help="run a signature")
    run.add_argument("--dir", required=True, help="the SavedModel's folder")
    run.add_argument("--tag_set", required=True,
                     help="tags of the graph, with commas between")
    run.add_argument("--signature_def", required=True,
                     help="key of the signature")
    run.add_argument("--inputs", default="",
                     help="KEY=FILE or KEY=FILE[NAME], with ; between; files of "
                          ".npy, .npz, or pickles")
    run.add_argument("--input_exprs", default="",
                     help="KEY=EXPRESSION of Python, with ; between; np is "
                          "NumPy")
    run.add_argument("--input_examples", default="",
                     help="KEY=[{FEATURE: VALUES}], with ; between")
    run.add_argument("--outdir", help="folder for the results")
    run.add_argument("--overwrite", action="store_true",
                     help="results may replace files")
    run.add_argument("--worker", default="", help="target of the session")
    run.add_argument("--tf_debug", action="store_true", help="not supported")
    run.add_argument("--init_tpu", action="store_true", help="not supported")
    run.set_defaults(command=_run)
    scan = commands.add_parser("scan", help="name ops that write files")
    scan.add_argument("--dir", required=True, help="the SavedModel's folder")
    scan.add_argument("--tag_set", help="tags of a graph, with commas between")
    scan.set_defaults(command=_scan)
    o = parser.parse_args(argv)
    if not hasattr(o, "command"):
        parser.error("too few arguments")
    o.command(o)


def _meta_graph(folder, tag_set):
    tags = set(tag_set.split(","))
    for meta in loader.parse_saved_model(folder).meta_graphs:
        if set(meta.meta_info_def.tags) == tags:
            return meta
    raise RuntimeError("MetaGraphDef associated with tag-set %s could not be "
                       "found in SavedModel" % tag_set)


def _signature(meta, key):
    if key not in meta.signature_def:
        raise ValueError("Could not find signature \"%s\". Please choose from: "
                         "%s" % (key, ", ".join(sorted(meta.signature_def))))
    return meta.signature_def[key]


def _show(o):
    if o.all:
        for meta in loader.parse_saved_model(o.dir).meta_graphs:
            print("\nMetaGraphDef with tag-set: '%s' contains the following "
                  "SignatureDefs:" % ", ".join(meta.meta_info_def.tags))
            for key in sorted(meta.signature_def):
                print("\nsignature_def['%s']:" % key)
                _print_signature(meta.signature_def[key], "  ")
    elif o.tag_set is None:
        print("The given SavedModel contains the following tag-sets:")
        for tags in sorted(list(m.meta_info_def.tags) for m in
                           loader.parse_saved_model(o.dir).meta_graphs):
            print(", ".join(sorted(tags)))
    elif o.signature_def is None:
        print("The given SavedModel MetaGraphDef contains SignatureDefs with "
              "the following keys:")
        for key in sorted(_meta_graph(o.dir, o.tag_set).signature_def):
            print("SignatureDef key: \"%s\"" % key)
    else:
        _print_signature(_signature(_meta_graph(o.dir, o.tag_set),
                                    o.signature_def), "")


def _print_signature(signature, indent):
    for what, infos in (("input", signature.inputs),
                        ("output", signature.outputs)):
        print("%sThe given SavedModel SignatureDef contains the following "
              "%s(s):" % (indent, what))
        for key in sorted(infos):
            info, shape = infos[key], "unknown_rank"
            print("%s  %ss['%s'] tensor_info:" % (indent, what, key))
            if not info.tensor_shape.unknown_rank:
                sizes = [str(d.size) for d in info.tensor_shape.dim]
                # As a tuple, unless it has one dimension.
                shape = "(%s)" % ", ".join(sizes)
            print("%s      dtype: %s" % (
                indent, message_constant("types", "DataType").Name(
                    info.dtype)))
            print("%s      shape: %s" % (indent, shape))
            print("%s      name: %s" % (indent, info.name))
    print("%sMethod name is: %s" % (indent, signature.method_name))


def _pairs(text, what):
    """[(key, value)] of "key=value;key=value"."""
    found = []
    for part in filter(None, re.split(r";(?![^\[]*\])", text)):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise RuntimeError("--%s \"%s\" format is incorrect. Please follow "
                               "\"<input_key>=<value>\"" % (what, part))
        found.append((key.strip(), value.strip()))
    return found


def _from_file(text):
    path, _, name = text.partition("[")
    name = name.rstrip("]")
    data = np.load(path, allow_pickle=True)
    if isinstance(data, np.ndarray):
        if name:
            print("Input file %s contains a single ndarray. Name key \"%s\" "
                  "ignored." % (path, name))
        return data
    if not hasattr(data, "files"):
        return data  # of a pickle
    if name:
        if name not in data.files:
            raise RuntimeError("Input file %s does not contain variable with "
                               "name \"%s\"." % (path, name))
        return data[name]
    if len(data.files) != 1:
        raise RuntimeError("Input file %s contains more than one ndarrays. "
                           "Please specify the name of ndarray to use." % path)
    return data[data.files[0]]


def _examples(text):
    """Serialized Examples of a list of dictionaries."""
    rows = ast.literal_eval(text)
    if not isinstance(rows, list) or not all(
            isinstance(row, dict) for row in rows):
        raise ValueError("tf.Example inputs must be a list of dictionaries, "
                         "got %r" % (rows,))
    found = []
    for row in rows:
        example = Example()
        for name, values in row.items():
            if not isinstance(values, list) or not values:
                raise ValueError("feature value must be a list, got %r for "
                                 "feature %s" % (values, name))
            feature = example.features.feature[name]
            if isinstance(values[0], (bytes, str)):
                feature.bytes_list.value.extend(
                    v.encode() if isinstance(v, str) else v for v in values)
            elif isinstance(values[0], float):
                feature.float_list.value.extend(values)
            elif isinstance(values[0], int):
                feature.int64_list.value.extend(values)
            else:
                raise ValueError("Type %s for value %s is not supported for "
                                 "tf.train.Feature." % (type(values[0]),
                                                        values[0]))
        found.append(example.SerializeToString())
    return found


def _run(o):
    if o.tf_debug or o.init_tpu:
        raise NotImplementedError("saved_model_cli run: --tf_debug and "
                                  "--init_tpu are not supported")
    if not (o.inputs or o.input_exprs or o.input_examples):
        raise AttributeError("At least one of --inputs, --input_exprs or "
                             "--input_examples must be required")
    values = {key: _from_file(file) for key, file in _pairs(o.inputs, "inputs")}
    for key, text in _pairs(o.input_exprs, "input_exprs"):
        # The user's own command line, as in TensorFlow.
        values[key] = eval(text, {"np": np, "numpy": np})
    for key, text in _pairs(o.input_examples, "input_examples"):
        values[key] = _examples(text)
    signature = _signature(_meta_graph(o.dir, o.tag_set), o.signature_def)
    for key in values:
        if key not in signature.inputs:
            raise ValueError(
                "\"%s\" is not a valid input key. Please choose from %s, or use "
                "--show option." % (key, ", ".join(
                    "\"%s\"" % k for k in sorted(signature.inputs))))
    with _graph.Graph().as_default() as graph, Session(
            o.worker, graph=graph) as session:
        loader.load(session, o.tag_set.split(","), o.dir)
        keys = sorted(signature.outputs)
        results = session.run(
            [signature.outputs[key].name for key in keys],
            {signature.inputs[key].name: v for key, v in values.items()})
    for key, result in zip(keys, results):
        print("Result for output key %s:\n%s" % (key, result))
        if o.outdir is None:
            continue
        os.makedirs(o.outdir, exist_ok=True)
        path = os.path.join(o.outdir, key + ".npy")
        if os.path.exists(path) and not o.overwrite:
            raise RuntimeError("Output file %s already exists. Add "
                               "\"--overwrite\" to overwrite the existing "
                               "output files." % path)
        np.save(path, result)
        print("Output %s is saved to %s" % (key, path))


# Ops of TensorFlow's list, which write files of any name.
_SCANNED = {"WriteFile"}


def _scan(o):
    for meta in ([_meta_graph(o.dir, o.tag_set)] if o.tag_set
                 else loader.parse_saved_model(o.dir).meta_graphs):
        found = _SCANNED & {
            node.op for node in all_nodes(meta.graph_def)}
        tags = list(meta.meta_info_def.tags)
        if found:
            print("MetaGraph with tag set %s contains the following blacklisted "
                  "ops: %s" % (tags, found))
        else:
            print("MetaGraph with tag set %s does not contain blacklisted ops."
                  % tags)


def main(name, argv):
    """Runs the program tensorflow.python.tools.`name`."""
    PROGRAMS[name](argv)
    sys.stdout.flush()


PROGRAMS = {f.__name__: f for f in (
    freeze_graph, import_pb_to_tensorboard, inspect_checkpoint,
    optimize_for_inference, saved_model_cli, strip_unused)}
