"""tensorflow.python.saved_model: signatures that name operations, a loader in
parts, and a builder that keeps no collections."""
import collections.abc
import os

from headrace._src.framework import errors
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import TensorInfo
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.platform import tf_logging as logging
from headrace._src.saved_model import builder as _builder
from headrace._src.saved_model import constants
from headrace._src.saved_model import loader as _loader
from headrace._src.saved_model import signatures as _signatures
from headrace._src.saved_model import structures
from headrace._src.training.meta_graph import import_scoped_meta_graph
from headrace._src.training.mode_keys import ModeKeys
from headrace._src.training.saver import Saver, all_saveables, saver_of
from headrace._src.variables.records import under_scope


class NotEncodableError(Exception):
    """A value that no message can hold."""


class StructureCoder:
    """Nested structures as StructuredValue messages, and back: lists, tuples,
    dicts, numbers, strings, None, dtypes, shapes and TensorSpecs."""

    def encode_structure(self, nested_structure):
        """The message. NotEncodableError for other values."""
        try:
            return structures.encoded(nested_structure)
        except ValueError:
            raise NotEncodableError(
                "No encoder for object [%s] of type [%s]."
                % (nested_structure, type(nested_structure))) from None

    def can_encode(self, nested):
        """Whether encode_structure takes it."""
        try:
            self.encode_structure(nested)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto):
        """The structure of a message. NotEncodableError for one that is empty
        or of another kind."""
        if proto.WhichOneof("kind"):
            try:
                return structures.decoded(proto)
            except ValueError:
                pass
        raise NotEncodableError("No encoder for object [%s] of type [%s]."
                                % (proto, type(proto)))


def build_tensor_info_from_op(op):
    """A TensorInfo with the name of an operation, and no type."""
    return TensorInfo(name=op.name,
                      tensor_shape=TensorShape(None).as_proto())


def get_element_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The operation or the tensor that a TensorInfo names. KeyError if there is
    none."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(under_scope(tensor_info.name, import_scope))


def get_assets_dir(export_dir):
    """The folder of the files that a SavedModel comes with."""
    return os.path.join(os.fspath(export_dir), constants.ASSETS_DIRECTORY)


def get_or_create_assets_dir(export_dir):
    """get_assets_dir, made if it is not there."""
    path = get_assets_dir(export_dir)
    os.makedirs(path, exist_ok=True)
    return path


def get_or_create_variables_dir(export_dir):
    """The folder of a SavedModel's variables, made if it is not there."""
    path = os.path.join(os.fspath(export_dir), constants.VARIABLES_DIRECTORY)
    os.makedirs(path, exist_ok=True)
    return path


# Signatures.

def op_signature_def(op, key):
    """A SignatureDef whose only output is an operation."""
    return _signatures.build_signature_def(
        outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def, key, import_scope=None):
    """The operation that op_signature_def named. NotFoundError if the graph has
    it not."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key],
                                            import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None, None, "The %s could not be found in the graph. Please make "
            "sure the SavedModel was created by the internal "
            "_SavedModelBuilder." % key) from None


def _supervised(method, inputs, *outputs):
    if not inputs:
        raise ValueError("%s inputs cannot be None or empty." % method)

    def infos(tensors):
        return {key: _signatures.build_tensor_info(tensor)
                for key, tensor in (tensors or {}).items()}
    found = {}
    for tensors in outputs:
        found.update(infos(tensors))
    return _signatures.build_signature_def(infos(inputs), found, method)


def supervised_train_signature_def(inputs, loss, predictions=None,
                                   metrics=None):
    """The SignatureDef of training: dicts of tensors. ValueError without
    inputs."""
    return _supervised("tensorflow/supervised/training", inputs, loss,
                       predictions, metrics)


def supervised_eval_signature_def(inputs, loss, predictions=None,
                                  metrics=None):
    """The SignatureDef of evaluation: dicts of tensors. ValueError without
    inputs."""
    return _supervised("tensorflow/supervised/eval", inputs, loss, predictions,
                       metrics)


def _is_valid(signature_def, method):
    return (signature_def.method_name == method
            and _signatures.is_valid_signature(signature_def))


def is_valid_classification_signature(signature_def):
    """Whether a server can classify with it."""
    return _is_valid(signature_def, constants.CLASSIFY_METHOD_NAME)


def is_valid_predict_signature(signature_def):
    """Whether a server can predict with it."""
    return _is_valid(signature_def, constants.PREDICT_METHOD_NAME)


def is_valid_regression_signature(signature_def):
    """Whether a server can regress with it."""
    return _is_valid(signature_def, constants.REGRESS_METHOD_NAME)


# Modes.

class KerasModeKeys:
    """The names of a Keras model's modes."""
    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def is_train(mode):
    """Whether a mode, of Keras or of Estimators, is training."""
    return mode in (KerasModeKeys.TRAIN, ModeKeys.TRAIN)


def is_eval(mode):
    """Whether a mode, of Keras or of Estimators, is evaluation."""
    return mode in (KerasModeKeys.TEST, ModeKeys.EVAL)


def is_predict(mode):
    """Whether a mode, of Keras or of Estimators, is prediction."""
    return mode in (KerasModeKeys.PREDICT, ModeKeys.PREDICT)


class ModeKeyMap(collections.abc.Mapping):
    """A dict of modes, which are found by their names for Keras and for
    Estimators. ValueError for other keys, and for a mode that is given
    twice."""

    def __init__(self, **kwargs):
        self._keys = list(kwargs)
        self._values = {}
        for key, value in kwargs.items():
            mode = self._mode(key)
            if mode in self._values:
                raise ValueError("Error creating ModeKeyMap. Multiple "
                                 "keys/values found for %s mode." % mode)
            self._values[mode] = value

    @staticmethod
    def _mode(key):
        for test, mode in ((is_train, KerasModeKeys.TRAIN),
                           (is_eval, KerasModeKeys.TEST),
                           (is_predict, KerasModeKeys.PREDICT)):
            if test(key):
                return mode
        raise ValueError("Invalid mode key: %s." % key)

    def __getitem__(self, key):
        return self._values[self._mode(key)]

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)


# Loading.

def get_asset_tensors(export_dir, meta_graph_def_to_load, import_scope=None):
    """{name of a tensor: path of the file, in bytes, that it is to name}."""
    return {under_scope(name, import_scope): os.fsencode(path) for name, path
            in _loader._assets(meta_graph_def_to_load, os.fspath(export_dir))}


def _op_of(meta_graph_def, signature_key, collection_keys, import_scope):
    signatures = meta_graph_def.signature_def
    if signature_key in signatures:
        return load_op_from_signature_def(signatures[signature_key],
                                          signature_key, import_scope)
    for key in collection_keys:
        if key not in meta_graph_def.collection_def:
            continue
        names = list(meta_graph_def.collection_def[key].node_list.value)
        if len(names) != 1:
            raise RuntimeError("Expected exactly one SavedModel init op. "
                               "Found: %s" % names)
        return get_default_graph().get_collection(key)[0]
    return None


def get_init_op(meta_graph_def, import_scope=None):
    """The operation of the default graph that runs after loading, or None."""
    return _op_of(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY,
                  (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY),
                  import_scope)


def get_train_op(meta_graph_def, import_scope=None):
    """What trains the model in the default graph, or None."""
    return _op_of(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY,
                  (constants.TRAIN_OP_KEY,), import_scope)


class SavedModelLoader:
    """Loads a SavedModel in parts: its graph, its variables, and what it runs
    then. OSError if there is none."""

    def __init__(self, export_dir):
        self._export_dir = export_dir
        self._saved_model = _loader.parse_saved_model(os.fspath(export_dir))

    export_dir = property(lambda self: self._export_dir)
    saved_model = property(lambda self: self._saved_model)

    @property
    def variables_path(self):
        """The prefix of the checkpoint with the variables."""
        return os.path.join(os.fspath(self._export_dir),
                            constants.VARIABLES_DIRECTORY,
                            constants.VARIABLES_FILENAME)

    def get_meta_graph_def_from_tags(self, tags):
        """The MetaGraphDef with exactly these tags. RuntimeError if there is
        none."""
        return _loader._choose(self._saved_model, tags, self._export_dir)

    def load_graph(self, graph, tags, import_scope=None, **saver_kwargs):
        """Adds the nodes to `graph`: (the Saver of its variables or None, the
        elements that return_elements asks for)."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            _, scope, elements = import_scoped_meta_graph(
                meta_graph_def, import_scope=import_scope, **saver_kwargs)
            return saver_of(meta_graph_def, scope), elements

    def restore_variables(self, sess, saver, import_scope=None):
        """Restores the variables of the session's graph. ValueError if it has
        some and no Saver is given."""
        with sess.graph.as_default():
            if isinstance(saver, Saver):
                saver.restore(sess, self.variables_path)
            elif saver is None and not all_saveables(import_scope):
                logging.info("The specified SavedModel has no variables; no "
                             "checkpoints were restored.")
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are "
                    "variables in the graph, a saver is required.")

    def run_init_ops(self, sess, tags, import_scope=None):
        """Runs what is to run after loading, with the paths of the assets."""
        meta_graph_def = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            feeds = get_asset_tensors(self._export_dir, meta_graph_def,
                                      import_scope)
            init_op = get_init_op(meta_graph_def, import_scope)
            if init_op is not None:
                sess.run([init_op], feeds)

    def load(self, sess, tags, import_scope=None, **saver_kwargs):
        """All three; returns the MetaGraphDef."""
        saver, _ = self.load_graph(sess.graph, tags, import_scope,
                                   **saver_kwargs)
        self.restore_variables(sess, saver, import_scope)
        self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


class SavedModelBuilder(_builder.SavedModelBuilder):
    """A builder that names assets in the meta graph, and `init_op` and
    `train_op` by signatures, not in collections of the graph."""

    def _with_ops(self, signature_def_map, init_op, train_op):
        signatures = dict(signature_def_map or {})
        self._check_signatures(signatures)
        for key, op in ((constants.INIT_OP_SIGNATURE_KEY, init_op),
                        (constants.TRAIN_OP_SIGNATURE_KEY, train_op)):
            if op is not None:
                signatures[key] = op_signature_def(op, key)
        return signatures

    def _add_with_assets(self, assets, saver, *args):
        files = self._write_assets(assets)
        self._add(self._saver(saver), *args).asset_file_def.extend(files)

    # The arguments are those of TensorFlow's private class.
    def add_meta_graph(self, tags, signature_def_map=None, assets_list=None,
                       clear_devices=False, init_op=None, train_op=None,
                       saver=None):
        """Adds the default graph, without values. AssertionError before
        add_meta_graph_and_variables."""
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved "
                "yet. Please invoke `add_meta_graph_and_variables()` first.")
        signatures = self._with_ops(signature_def_map, init_op, train_op)
        self._add_with_assets(assets_list, saver, tags, signatures,
                              clear_devices, True)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None,
                                     assets_list=None, clear_devices=False,
                                     init_op=None, train_op=None,
                                     strip_default_attrs=False, saver=None):
        """Adds the session's graph and the values of its variables; once."""
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been "
                "saved. Please invoke `add_meta_graph()` instead.")
        signatures = self._with_ops(signature_def_map, init_op, train_op)
        with sess.graph.as_default():
            folder = get_or_create_variables_dir(self._export_dir)
            saver = self._saver(saver)
            saver.save(sess, os.path.join(folder,
                                          constants.VARIABLES_FILENAME),
                       write_meta_graph=False, write_state=False)
            self._add_with_assets(assets_list, saver, tags, signatures,
                                  clear_devices, strip_default_attrs)
        self._has_saved_variables = True
