"""What the files of a folder say: checkpoints, meta graphs, SavedModels and event
files, as JSON. Runs on TensorFlow 1.15 and on Headrace:

    PYTHON saved_files.py FOLDER"""
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2


def numbers(value):
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        return [str(v) for v in value.ravel().tolist()]
    return [float("%.6g" % v) for v in value.astype(np.float64).ravel()]


def checkpoint(prefix):
    reader = tf.train.load_checkpoint(prefix)
    types = reader.get_variable_to_dtype_map()
    return {name: [types[name].name, shape, numbers(reader.get_tensor(name))]
            for name, shape in reader.get_variable_to_shape_map().items()}


def tensor_info(info):
    return [info.name, info.dtype, [d.size for d in info.tensor_shape.dim]]


def collection(values):
    """Of a collection: its kind, and its names."""
    kind = values.WhichOneof("kind")
    if kind == "node_list":
        return [kind] + list(values.node_list.value)
    return [kind, len(getattr(values, kind).value)]


def meta_graph(meta):
    graph = meta.graph_def
    saver = meta.saver_def
    return {
        "tags": list(meta.meta_info_def.tags),
        "ops of nodes": {n.name: n.op for n in graph.node
                         if not n.name.startswith("gradients")},
        "functions": len(graph.library.function),
        "collections": {key: collection(values) for key, values in
                        meta.collection_def.items()},
        "saver": [saver.filename_tensor_name, saver.save_tensor_name,
                  saver.restore_op_name, saver.max_to_keep, saver.version],
        "assets": [a.filename for a in meta.asset_file_def],
        "signatures": {key: [
            s.method_name,
            {k: tensor_info(v) for k, v in s.inputs.items()},
            {k: tensor_info(v) for k, v in s.outputs.items()}]
            for key, s in meta.signature_def.items()}}


def saved_model(path):
    model = saved_model_pb2.SavedModel()
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    return [model.saved_model_schema_version,
            [meta_graph(m) for m in model.meta_graphs]]


def event(e):
    kind = e.WhichOneof("what")
    if kind == "file_version":
        return [kind, e.file_version]
    if kind == "session_log":
        return [kind, e.step, e.session_log.status]
    if kind != "summary":
        return [kind, e.step, len(getattr(e, kind)) > 0 if kind else False]
    found = []
    for v in e.summary.value:
        what = v.WhichOneof("value")
        if what == "simple_value":
            content = numbers(v.simple_value)
        elif what == "histo":
            h = v.histo
            content = numbers([h.min, h.max, h.num, h.sum, h.sum_squares]
                              ) + [numbers(h.bucket_limit), numbers(h.bucket)]
        elif what == "image":
            content = [v.image.height, v.image.width, v.image.colorspace]
        else:
            content = []
        found.append([v.tag, what, content, v.metadata.display_name,
                      v.metadata.plugin_data.plugin_name])
    return [kind, e.step, found]


def state(path):
    found = tf.train.get_checkpoint_state(os.path.dirname(path))
    return [os.path.basename(found.model_checkpoint_path)] + [
        os.path.basename(p) for p in found.all_model_checkpoint_paths]


def described(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in sorted(files):
            path = os.path.join(base, name)
            key = os.path.relpath(path, folder)
            if name.endswith(".index"):
                found[key] = checkpoint(path[:-len(".index")])
            elif name.endswith(".meta"):
                meta = tf.MetaGraphDef()
                with open(path, "rb") as file:
                    meta.ParseFromString(file.read())
                found[key] = meta_graph(meta)
            elif name == "saved_model.pb":
                found[key] = saved_model(path)
            elif name == "checkpoint":
                found[key] = state(path)
            elif name.startswith("events.out.tfevents"):
                # The name has the time and the machine.
                found.setdefault(os.path.join(os.path.relpath(base, folder),
                                              "events"), []).extend(
                    event(e) for e in tf.train.summary_iterator(path))
            else:
                found[key] = os.path.getsize(path) > 0
    return found


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    print(json.dumps(described(sys.argv[1]), sort_keys=True))
