"""Loading of SavedModels into sessions."""
import os

from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import AssetFileDef, SavedModel
from headrace._src.platform import tf_logging as logging
from headrace._src.saved_model import constants
from headrace._src.training.meta_graph import (
    import_scoped_meta_graph, naming)
from headrace._src.training.saver import saver_of
from headrace._src.variables.records import under_scope


def maybe_saved_model_directory(export_dir):
    """True if the folder has the file of a SavedModel."""
    export_dir = os.fsdecode(export_dir)
    return any(os.path.exists(os.path.join(export_dir, name)) for name in (
        constants.SAVED_MODEL_FILENAME_PB,
        constants.SAVED_MODEL_FILENAME_PBTXT))


def contains_saved_model(export_dir):
    """As maybe_saved_model_directory."""
    return maybe_saved_model_directory(export_dir)


def parse_saved_model(export_dir):
    """The SavedModel message of a folder. OSError if there is none, or its file
    is damaged."""
    export_dir = os.fsdecode(export_dir)
    for name, is_text in ((constants.SAVED_MODEL_FILENAME_PB, False),
                          (constants.SAVED_MODEL_FILENAME_PBTXT, True)):
        path = os.path.join(export_dir, name)
        if not os.path.exists(path):
            continue
        with open(path, "rb") as f:
            data = f.read()
        try:
            if not is_text:
                return SavedModel.FromString(data)
            model = SavedModel()
            model.MergeText(data.decode())
            return model
        except Exception as error:  # whatever the parser raises
            raise OSError("Cannot parse file %s: %s." % (path, error)
                          ) from None
    raise OSError("SavedModel file does not exist at: %s/{%s|%s}" % (
        export_dir, constants.SAVED_MODEL_FILENAME_PBTXT,
        constants.SAVED_MODEL_FILENAME_PB))


def _choose(model, tags, export_dir):
    for meta_graph_def in model.meta_graphs:
        if set(meta_graph_def.meta_info_def.tags) == set(tags):
            return meta_graph_def
    raise RuntimeError(
        "MetaGraphDef associated with tags %s could not be found in SavedModel "
        "%s. It has graphs with these tags: %s" % (
            ", ".join(repr(t) for t in tags), export_dir,
            [list(m.meta_info_def.tags) for m in model.meta_graphs]))


def _assets(meta_graph_def, export_dir):
    """[(name of a tensor, path of its file)]."""
    found = list(meta_graph_def.asset_file_def)
    key = constants.ASSETS_KEY
    if not found and key in meta_graph_def.collection_def:
        found = [AssetFileDef.FromString(value.value) for value
                 in meta_graph_def.collection_def[key].any_list.value]
    folder = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    return [(asset.tensor_info.name, os.path.join(folder, asset.filename))
            for asset in found]


def _init_op_name(meta_graph_def):
    """The name of the operation that runs after loading, or None."""
    signatures = meta_graph_def.signature_def
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in signatures:
        return signatures[key].outputs[key].name
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in meta_graph_def.collection_def:
            names = list(meta_graph_def.collection_def[key].node_list.value)
            if len(names) != 1:
                raise RuntimeError("Expected exactly one SavedModel main op. "
                                   "Found: %s" % names)
            return names[0]
    return None


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph with exactly these tags to the session's graph, under
    `import_scope`, restores its variables and runs its main op. Returns its
    MetaGraphDef, whose signature_def names inputs and outputs.

    `saver_kwargs`: input_map, as import_meta_graph has it. OSError if there is
    no SavedModel, RuntimeError if it has no graph with these tags, ValueError
    if its parts do not fit together."""
    export_dir = os.fsdecode(export_dir)
    tags = [tags] if isinstance(tags, str) else list(tags)
    meta_graph_def = _choose(parse_saved_model(export_dir), tags, export_dir)
    with sess.graph.as_default(), naming(
            "SavedModel %s cannot be loaded" % export_dir):
        _, scope, _ = import_scoped_meta_graph(
            meta_graph_def, import_scope=import_scope, **saver_kwargs)
        saver = saver_of(meta_graph_def, scope)
        graph = get_default_graph()
        feeds = {graph.get_tensor_by_name(under_scope(name, scope)): path
                 for name, path in _assets(meta_graph_def, export_dir)}
        name = _init_op_name(meta_graph_def)
        init_op = None
        if name:
            init_op = graph.as_graph_element(under_scope(name, scope))
        if saver is not None:
            saver._check_nodes(graph)
    path = os.path.join(export_dir, constants.VARIABLES_DIRECTORY,
                        constants.VARIABLES_FILENAME)
    if saver is None:
        logging.info("The specified SavedModel has no variables; no checkpoints "
                     "were restored.")
    else:
        saver.restore(sess, path)
    if init_op is not None:
        sess.run(getattr(init_op, "op", init_op), feeds)
    return meta_graph_def
