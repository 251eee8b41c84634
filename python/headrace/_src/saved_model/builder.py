"""SavedModels: graphs, values of variables and files in one folder."""
import os
import shutil

from headrace._headrace import Operation, Tensor, message_class
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, control_dependencies, get_collection_ref, get_default_graph)
from headrace._src.framework.messages import AssetFileDef, SavedModel
from headrace._src.framework.tensor import constant_value
from headrace._src.framework.text_compat import as_text
from headrace._src.platform import tf_logging as logging
from headrace._src.platform.durable import write_atomically
from headrace._src.saved_model import constants
from headrace._src.saved_model.signatures import predict_signature_def
from headrace._src.training.saver import Saver
from headrace._src.variables.saveables import all_saveables
from headrace._src.variables.variables import (
    global_variables_initializer, local_variables_initializer,
    tables_initializer)

_ASSET_TYPE = "type.googleapis.com/tensorflow.AssetFileDef"


def _asset_files(tensors):
    """[(tensor, path)] of constants that name files."""
    found = []
    for tensor in tensors or ():
        if not isinstance(tensor, Tensor):
            raise TypeError("Asset path tensor must be a Tensor. Got %s"
                            % (tensor,))
        if tensor.op.type != "Const":
            raise TypeError("Asset path tensor must be a constant. Got %s"
                            % tensor)
        if tensor.dtype != dtypes.string:
            raise TypeError("Asset path tensor must be of dtype string. Got %s"
                            % tensor)
        path = constant_value(tensor).item()
        if not path:
            raise ValueError("Asset filepath tensor %s is empty" % tensor.name)
        found.append((tensor, path.decode()))
    return found


def _names_of_assets(files):
    """{path: name in the folder assets}; names are made unique."""
    names = {}
    for _, path in files:
        if path in names:
            continue
        base, number = os.path.basename(path), 1
        name = base
        while name in names.values():
            name = "%s_%d" % (base, number)
            number += 1
        names[path] = name
    return names


_RESERVED = {constants.INIT_OP_SIGNATURE_KEY: "initialization",
             constants.TRAIN_OP_SIGNATURE_KEY: "the train op"}


class SavedModelBuilder:
    """Writes a SavedModel to `export_dir`, which must be empty or not there.

        builder = tf.saved_model.Builder("/tmp/model")
        builder.add_meta_graph_and_variables(
            sess, [tf.saved_model.SERVING], signature_def_map={...})
        builder.save()

    The first graph comes with the values of its variables; others have the same
    variables. AssertionError for a folder that has files."""

    def __init__(self, export_dir):
        self._saved_model = SavedModel(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._export_dir = export_dir = as_text(os.fspath(export_dir))
        if os.path.exists(export_dir):
            if os.listdir(export_dir):
                raise AssertionError(
                    "Export directory already exists, and isn't empty. Please "
                    "choose a different export directory, or delete all the "
                    "contents of the specified directory: %s" % export_dir)
        else:
            os.makedirs(export_dir)
        self._has_saved_variables = False

    def _check_signatures(self, signature_def_map):
        for key, signature in (signature_def_map or {}).items():
            if key in _RESERVED:
                raise KeyError("SignatureDef map key \"%s\" is reserved for %s. "
                               "Please use a different key."
                               % (key, _RESERVED[key]))
            for infos in (signature.inputs, signature.outputs):
                for info in infos.values():
                    if info.WhichOneof("encoding") is None:
                        raise AssertionError(
                            "All TensorInfo protos used in the SignatureDefs "
                            "must have the name field set: %s" % info)
                    if not info.dtype:
                        raise AssertionError(
                            "All TensorInfo protos used in the SignatureDefs "
                            "must have the dtype field set: %s" % info)

    def _add_collections(self, assets, main_op):
        """Puts assets and the operation that runs after loading into the
        graph's collections, where loaders look for them."""
        if main_op is not None:
            if not isinstance(main_op, Operation):
                raise TypeError("main_op needs to be an Operation: %r"
                                % (main_op,))
            for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
                if get_collection_ref(key):
                    raise ValueError("Graph already contains one or more main "
                                     "ops under the collection %s." % key)
        messages = [_any(asset) for asset in self._write_assets(assets)]
        if messages:
            get_collection_ref(constants.ASSETS_KEY).extend(messages)
        if main_op is not None:
            get_collection_ref(constants.MAIN_OP_KEY).append(main_op)

    def _write_assets(self, assets):
        """Copies the files that the tensors name; the AssetFileDefs."""
        if isinstance(assets, str):
            assets = get_default_graph().get_collection(assets)
        files = _asset_files(assets)
        logging.info("No assets to save." if assets is None
                     else "Assets added to graph.")
        names = _names_of_assets(files)
        messages = []
        for tensor, path in files:
            asset = AssetFileDef(filename=names[path])
            asset.tensor_info.name = tensor.name
            messages.append(asset)
        if names:
            folder = os.path.join(self._export_dir, constants.ASSETS_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            for path, name in names.items():
                shutil.copyfile(path, os.path.join(folder, name))
            logging.info("Assets written to: %s", folder)
        else:
            logging.info("No assets to write.")
        return messages

    def _add_train_op(self, train_op):
        """Puts what trains the model into the collection where libraries that
        load models look for it."""
        if train_op is None:
            return
        if not isinstance(train_op, (Tensor, Operation)):
            raise TypeError("train_op needs to be a Tensor or Op: %r"
                            % (train_op,))
        get_collection_ref(constants.TRAIN_OP_KEY).append(train_op)

    def _saver(self, saver):
        if saver is not None:
            return saver
        variables = all_saveables()
        return Saver(variables or None, sharded=True, allow_empty=True)

    def _add(self, saver, tags, signature_def_map, clear_devices,
             strip_default_attrs):
        meta_graph_def = saver.export_meta_graph(
            clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs)
        meta_graph_def.meta_info_def.tags.extend(list(tags))
        for key, signature in (signature_def_map or {}).items():
            meta_graph_def.signature_def[key].CopyFrom(signature)
        added = self._saved_model.meta_graphs.add()
        added.CopyFrom(meta_graph_def)
        return added

    def add_meta_graph(self, tags, signature_def_map=None,
                       assets_collection=None, legacy_init_op=None,
                       clear_devices=False, main_op=None,
                       strip_default_attrs=False, saver=None):
        """Adds the default graph, without values; after
        add_meta_graph_and_variables only. See there."""
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved "
                "yet. Please invoke `add_meta_graph_and_variables()` first.")
        self._check_signatures(signature_def_map)
        self._add_collections(assets_collection, legacy_init_op or main_op)
        self._add(self._saver(saver), tags, signature_def_map, clear_devices,
                  strip_default_attrs)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None,
                                     assets_collection=None,
                                     legacy_init_op=None, clear_devices=False,
                                     main_op=None, strip_default_attrs=False,
                                     saver=None):
        """Adds the session's graph and the values of its variables; once.

        `tags`: by which a loader finds the graph. `signature_def_map`: {key:
        SignatureDef}. `assets_collection`: string constants that name files,
        which are copied. `main_op` (or `legacy_init_op`): runs after loading.
        `saver`: saves the variables, by default all."""
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been "
                "saved. Please invoke `add_meta_graph()` instead.")
        self._check_signatures(signature_def_map)
        with sess.graph.as_default():
            self._add_collections(assets_collection,
                                  legacy_init_op or main_op)
            folder = os.path.join(self._export_dir,
                                  constants.VARIABLES_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            saver = self._saver(saver)
            saver.save(sess, os.path.join(folder,
                                          constants.VARIABLES_FILENAME),
                       write_meta_graph=False, write_state=False)
            self._add(saver, tags, signature_def_map, clear_devices,
                      strip_default_attrs)
        self._has_saved_variables = True

    def save(self, as_text=False):
        """Writes the graphs to the folder's file; returns its path."""
        os.makedirs(self._export_dir, exist_ok=True)
        path = os.path.join(
            self._export_dir, constants.SAVED_MODEL_FILENAME_PBTXT if as_text
            else constants.SAVED_MODEL_FILENAME_PB)
        write_atomically(path, str(self._saved_model).encode() if as_text
                         else self._saved_model.SerializeToString())
        logging.info("SavedModel written to: %s", path)
        return path.encode()


def _any(message):
    """The message in an Any, as a collection holds it."""
    collection = message_class("CollectionDef")()
    value = collection.any_list.value.add()
    value.type_url = _ASSET_TYPE
    value.value = message.SerializeToString()
    return value


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """A SavedModel for serving, with {key: Tensor} as inputs and outputs."""
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, tags=[constants.SERVING],
        signature_def_map={constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY:
                           predict_signature_def(inputs, outputs)},
        assets_collection=session.graph.get_collection(
            GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op, clear_devices=True)
    builder.save()


def main_op():
    """An Operation that initialises all variables and tables."""
    return group(global_variables_initializer(), local_variables_initializer(),
                 tables_initializer())


def main_op_with_restore(restore_op_name):
    """main_op, and then the operation of this name."""
    with control_dependencies([main_op()]):
        return group(get_default_graph().as_graph_element(restore_op_name))
