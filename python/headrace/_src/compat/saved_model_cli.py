"""tensorflow.python.tools.saved_model_cli: what a SavedModel has, and runs of its
signatures."""
import argparse
import io
import os
import re
import warnings

import numpy as np

from headrace._src.compat.checkpoints import get_meta_graph_def
from headrace._src.compat.constants import message_constant
from headrace._src.framework import graph as _graph
from headrace._src.framework.messages import Example
from headrace._src.platform.file_io import GFile
from headrace._src.saved_model import loader
from headrace._src.session.session import Session
from headrace._src.training.meta_graph import all_nodes


def create_parser():
    """The parser of the command line. parse_args() gives a namespace with
    `func`, which show(), run() or scan() of it is."""
    parser = argparse.ArgumentParser(
        prog="saved_model_cli",
        description="Shows what a SavedModel has, or runs it.")
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", metavar="{show,run,scan}")
    show_parser = commands.add_parser("show", help="print tags and signatures")
    show_parser.add_argument("--dir", required=True, help="the SavedModel's folder")
    show_parser.add_argument("--all", action="store_true", help="all there is")
    show_parser.add_argument("--tag_set", help="tags of a graph, with commas between")
    show_parser.add_argument("--signature_def", help="key of a signature")
    show_parser.set_defaults(func=show)
    run_parser = commands.add_parser("run", help="run a signature")
    run_parser.add_argument("--dir", required=True, help="the SavedModel's folder")
    run_parser.add_argument("--tag_set", required=True,
                     help="tags of the graph, with commas between")
    run_parser.add_argument("--signature_def", required=True,
                     help="key of the signature")
    run_parser.add_argument("--inputs", default="",
                     help="KEY=FILE or KEY=FILE[NAME], with ; between; files of "
                          ".npy, .npz, or pickles")
    run_parser.add_argument("--input_exprs", default="",
                     help="KEY=EXPRESSION of Python, with ; between; np is "
                          "NumPy")
    run_parser.add_argument("--input_examples", default="",
                     help="KEY=[{FEATURE: VALUES}], with ; between")
    run_parser.add_argument("--outdir", help="folder for the results")
    run_parser.add_argument("--overwrite", action="store_true",
                     help="results may replace files")
    run_parser.add_argument("--worker", default="", help="target of the session")
    run_parser.add_argument("--tf_debug", action="store_true", help="not supported")
    run_parser.add_argument("--init_tpu", action="store_true", help="not supported")
    run_parser.set_defaults(func=run)
    scan_parser = commands.add_parser("scan", help="name ops that write files")
    scan_parser.add_argument("--dir", required=True, help="the SavedModel's folder")
    scan_parser.add_argument("--tag_set", help="tags of a graph, with commas between")
    scan_parser.set_defaults(func=scan)
    return parser


def get_signature_def_map(saved_model_dir, tag_set):
    """{key: SignatureDef} of the graph with these tags, which commas separate.
    RuntimeError if there is none."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


def _signature(meta, key):
    if key not in meta.signature_def:
        raise ValueError("Could not find signature \"%s\". Please choose from: "
                         "%s" % (key, ", ".join(sorted(meta.signature_def))))
    return meta.signature_def[key]


def show(o):
    """Prints what a SavedModel has."""
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
        for key in sorted(get_meta_graph_def(o.dir, o.tag_set).signature_def):
            print("SignatureDef key: \"%s\"" % key)
    else:
        _print_signature(_signature(get_meta_graph_def(o.dir, o.tag_set),
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


def _refuse(argument, text, *forms):
    raise RuntimeError("--%s \"%s\" format is incorrect. Please follow%s" % (
        argument, text, ", or".join("\"<input_key>=%s\"" % f for f in forms)))


def preprocess_inputs_arg_string(inputs_str):
    """{key: (file, name or None)} of "key=file;key=file[name]". RuntimeError for
    other texts."""
    found = {}
    for text in filter(None, inputs_str.split(";")):
        match = re.fullmatch(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?", text)
        if match is None:
            _refuse("inputs", text, "<filename>", "<filename>[<variable_name>]")
        found[match.group(1)] = match.group(2), match.group(3)
    return found


def preprocess_input_exprs_arg_string(input_exprs_str):
    """{key: value} of "key=expression;key=expression" of Python, in which np is
    NumPy. RuntimeError where there is no "="."""
    found = {}
    for text in filter(None, re.split(r";(?![^\[]*\])", input_exprs_str)):
        key, equals, expression = text.partition("=")
        if not equals:
            _refuse("input_exprs", text, "<python expression>")
        # The user's own command line, as in TensorFlow.
        found[key.strip()] = eval(expression.strip(),
                                  {"np": np, "numpy": np})
    return found


def preprocess_input_examples_arg_string(input_examples_str):
    """{key: [serialized tf.Example]} of "key=[{feature: [values]}]". ValueError
    for other values."""
    found = {}
    for key, rows in preprocess_input_exprs_arg_string(
            input_examples_str).items():
        if not isinstance(rows, list):
            raise ValueError("tf.Example input must be a list of dictionaries, "
                             "but \"%s\" is %s" % (rows, type(rows)))
        found[key] = [_example(row) for row in rows]
    return found


def _example(row):
    example = Example()
    for name, values in row.items():
        if not isinstance(values, list):
            raise ValueError("feature value must be a list, but %s: \"%s\" is %s"
                             % (name, values, type(values)))
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
                             "tf.train.Feature." % (type(values[0]), values[0]))
    return example.SerializeToString()


def _from_file(path, name):
    with GFile(path, "rb") as file:
        data = np.load(io.BytesIO(file.read()), allow_pickle=True)
    if isinstance(data, np.ndarray):
        if name:
            warnings.warn("Input file %s contains a single ndarray. Name key "
                          "\"%s\" ignored." % (path, name))
        return data
    if name:
        if name not in data:
            raise RuntimeError("Input file %s does not contain variable with "
                               "name \"%s\"." % (path, name))
        return data[name]
    if not hasattr(data, "files"):
        return data  # of a pickle
    if len(data.files) != 1:
        raise RuntimeError("Input file %s contains more than one ndarrays. "
                           "Please specify the name of ndarray to use." % path)
    return data[data.files[0]]


def load_inputs_from_input_arg_string(inputs_str, input_exprs_str,
                                      input_examples_str):
    """{key: value} of the texts of --inputs, --input_exprs and --input_examples.
    Of a key that is in several, the last holds, with a warning. RuntimeError for
    a file without the array that is asked for."""
    found = {key: _from_file(*file) for key, file in
             preprocess_inputs_arg_string(inputs_str).items()}
    for argument, values in (
            ("input_exprs", preprocess_input_exprs_arg_string(input_exprs_str)),
            ("input_examples", preprocess_input_examples_arg_string(
                input_examples_str))):
        for key in values:
            if key in found:
                warnings.warn("input_key %s has been specified in multiple "
                              "options. Value in --%s will be used."
                              % (key, argument))
        found.update(values)
    return found


def run(o):
    """Runs a signature, and prints its results or writes them to files."""
    if not (o.inputs or o.input_exprs or o.input_examples):
        raise AttributeError("At least one of --inputs, --input_exprs or "
                             "--input_examples must be required")
    run_saved_model_with_feed_dict(
        o.dir, o.tag_set, o.signature_def, load_inputs_from_input_arg_string(
            o.inputs, o.input_exprs, o.input_examples),
        o.outdir, o.overwrite, o.worker, o.init_tpu, o.tf_debug)


def run_saved_model_with_feed_dict(
        saved_model_dir, tag_set, signature_def_key,
        input_tensor_key_feed_dict, outdir, overwrite_flag, worker=None,
        init_tpu=False, tf_debug=False):
    """Prints the results of a signature for {input's key: value}, and writes
    them to files of the folder `outdir` if it is given. `worker`: the session's
    target. ValueError for a key that is not the signature's, RuntimeError for a
    file that is there, unless `overwrite_flag`; NotImplementedError for the last
    two arguments."""
    if tf_debug or init_tpu:
        raise NotImplementedError("saved_model_cli run: --tf_debug and "
                                  "--init_tpu are not supported")
    values = input_tensor_key_feed_dict
    signature = _signature(get_meta_graph_def(saved_model_dir, tag_set),
                           signature_def_key)
    for key in values:
        if key not in signature.inputs:
            raise ValueError(
                "\"%s\" is not a valid input key. Please choose from %s, or use "
                "--show option." % (key, ", ".join(
                    "\"%s\"" % k for k in sorted(signature.inputs))))
    with _graph.Graph().as_default() as graph, Session(
            worker or "", graph=graph) as session:
        loader.load(session, tag_set.split(","), saved_model_dir)
        keys = sorted(signature.outputs)
        results = session.run(
            [signature.outputs[key].name for key in keys],
            {signature.inputs[key].name: v for key, v in values.items()})
    for key, result in zip(keys, results):
        print("Result for output key %s:\n%s" % (key, result))
        if not outdir:
            continue
        os.makedirs(outdir, exist_ok=True)
        path = os.path.join(outdir, key + ".npy")
        if os.path.exists(path) and not overwrite_flag:
            raise RuntimeError("Output file %s already exists. Add "
                               "\"--overwrite\" to overwrite the existing "
                               "output files." % path)
        np.save(path, result)
        print("Output %s is saved to %s" % (key, path))


# Ops of TensorFlow's list, which write or read files of any name.
_OP_BLACKLIST = {"WriteFile", "ReadFile", "PrintV2"}


def scan_meta_graph_def(meta_graph_def):
    """Prints which of the ops that read and write files a graph has."""
    found = _OP_BLACKLIST & {node.op for node in
                             all_nodes(meta_graph_def.graph_def)}
    tags = list(meta_graph_def.meta_info_def.tags)
    if found:
        print("MetaGraph with tag set %s contains the following blacklisted "
              "ops: %s" % (tags, found))
    else:
        print("MetaGraph with tag set %s does not contain blacklisted ops."
              % tags)


def scan(o):
    """scan_meta_graph_def of a SavedModel's graphs, or of one."""
    for meta in ([get_meta_graph_def(o.dir, o.tag_set)] if o.tag_set
                 else loader.parse_saved_model(o.dir).meta_graphs):
        scan_meta_graph_def(meta)
