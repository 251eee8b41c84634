"""tensorflow.python.saved_model.model_utils: how libraries write SavedModels of
models that were trained."""
import os
import time

from headrace._headrace import Operation, Tensor
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import constant
from headrace._src.framework.text_compat import as_bytes, as_text
from headrace._src.platform import tf_logging as logging
from headrace._src.platform.file_io import Exists
from headrace._src.saved_model import constants
from headrace._src.saved_model import signatures as _signatures
from headrace._src.saved_model.export_outputs import ExportOutput, PredictOutput
from headrace._src.training.mode_keys import ModeKeys

EVAL = "eval"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY = "eval"
SUPERVISED_TRAIN_METHOD_NAME = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME = "tensorflow/supervised/eval"

# The names of inputs that have none.
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"

_SERVING = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def _by_mode(train, evaluate, predict):
    """A dict of modes by their names for Estimators and for Keras."""
    return {ModeKeys.TRAIN: train, ModeKeys.EVAL: evaluate, "test": evaluate,
            ModeKeys.PREDICT: predict, "predict": predict}


EXPORT_TAG_MAP = _by_mode([constants.TRAINING], [EVAL], [constants.SERVING])
SIGNATURE_KEY_MAP = _by_mode(DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
                             DEFAULT_EVAL_SIGNATURE_DEF_KEY, _SERVING)


class SupervisedOutput(ExportOutput):
    """What a training or an evaluation gives: loss, predictions, and metrics,
    each a pair (value, update) or a Metric, singly or by name. The keys begin
    with "loss", "predictions" and "metrics". ValueError for what has no
    tensors."""
    _method_name: object = None

    def __init__(self, loss=None, predictions=None, metrics=None):
        self.loss = None if loss is None else self._keyed(loss, "loss")
        self.predictions = None if predictions is None else (
            self._keyed(predictions, "predictions"))
        self.metrics = None if metrics is None else self._pairs(metrics)

    @staticmethod
    def _below(key, name):
        return key if key.startswith(name) else "%s/%s" % (name, key)

    def _keyed(self, outputs, name):
        return {self._below(key, name): value for key, value in
                self._wrap_and_check_outputs(outputs, name).items()}

    def _pairs(self, metrics):
        if not isinstance(metrics, dict):
            metrics = {"metrics": metrics}
        found = {}
        for key, metric in metrics.items():
            value, update = metric if isinstance(metric, tuple) else (
                metric.result(), metric.updates[0])
            key = self._below(self._check_output_key(key, "metrics"), "metrics")
            if not isinstance(value, Tensor):
                raise ValueError("%s output value must be a Tensor; got %s."
                                 % (key, value))
            if not isinstance(update, (Tensor, Operation)):
                raise ValueError("%s update_op must be a Tensor or Operation; "
                                 "got %s." % (key, update))
            if isinstance(update, Operation):  # a signature has tensors alone
                with control_dependencies([update]):
                    update = constant([], name="metric_op_wrapper")
            found[key + "/value"] = value
            found[key + "/update_op"] = update
        return found

    def as_signature_def(self, receiver_tensors):
        if not receiver_tensors:
            raise ValueError("%s inputs cannot be None or empty."
                             % self._method_name)
        outputs = {}
        for part in (self.loss, self.predictions, self.metrics):
            outputs.update(part or {})
        return _signatures.build_signature_def(
            *({key: _signatures.build_tensor_info(x) for key, x in xs.items()}
              for xs in (receiver_tensors, outputs)), self._method_name)


class TrainOutput(SupervisedOutput):
    """The results of a training step."""
    _method_name = SUPERVISED_TRAIN_METHOD_NAME


class EvalOutput(SupervisedOutput):
    """The results of an evaluation."""
    _method_name = SUPERVISED_EVAL_METHOD_NAME


def _named(receivers):
    return receivers if isinstance(receivers, dict) else {
        SINGLE_RECEIVER_DEFAULT_NAME: receivers}


def build_all_signature_defs(receiver_tensors, export_outputs,
                             receiver_tensors_alternatives=None,
                             serving_only=True):
    """{name: SignatureDef}: each ExportOutput of the dict export_outputs with
    receiver_tensors as inputs under its own name, and with each other choice of
    inputs under "choice:name". A log tells which do not fit together; these are
    left out, with serving_only also those that servers do not take. ValueError
    if export_outputs is no dict."""
    if not isinstance(export_outputs, dict):
        raise ValueError("export_outputs must be a dict and not %s"
                         % type(export_outputs))
    choices = {"": receiver_tensors}
    for name, tensors in (receiver_tensors_alternatives or {}).items():
        choices["%s:" % (name or "None")] = tensors
    signatures, excluded = {}, {}
    for prefix, tensors in choices.items():
        for key, output in export_outputs.items():
            name = "%s%s" % (prefix, key or "None")
            try:
                signatures[name] = output.as_signature_def(_named(tensors))
            except ValueError as error:
                excluded[name] = error
    _report(signatures, excluded)
    return {name: signature for name, signature in signatures.items()
            if not serving_only or _signatures.is_valid_signature(signature)}


_METHODS = {
    constants.CLASSIFY_METHOD_NAME: "Classify",
    constants.REGRESS_METHOD_NAME: "Regress",
    constants.PREDICT_METHOD_NAME: "Predict",
    SUPERVISED_TRAIN_METHOD_NAME: "Train",
    SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def _report(signatures, excluded):
    for method, title in _METHODS.items():
        names = [name for name, signature in signatures.items()
                 if signature.method_name == method]
        logging.info("Signatures INCLUDED in export for %s: %s"
                     % (title, names or None))
    if excluded:
        logging.info("Signatures EXCLUDED from export because they cannot be "
                     "be served via TensorFlow Serving APIs:")
    for name, error in excluded.items():
        logging.info("'%s' : %s" % (name, error))
    if not signatures:
        logging.warn("Export includes no signatures!")
    elif _SERVING not in signatures:
        logging.warn("Export includes no default signature!")


def export_outputs_for_mode(mode, serving_export_outputs=None,
                            predictions=None, loss=None, metrics=None):
    """{key of the signature: ExportOutput} for a model of this mode. ValueError
    for a mode that there is not."""
    if mode not in SIGNATURE_KEY_MAP:
        raise ValueError("Export output type not found for mode: %s. Expected "
                         "one of: %s." % (mode, list(SIGNATURE_KEY_MAP)))
    key = SIGNATURE_KEY_MAP[mode]
    if key == _SERVING:
        return get_export_outputs(serving_export_outputs, predictions)
    output = (TrainOutput if key == DEFAULT_TRAIN_SIGNATURE_DEF_KEY
              else EvalOutput)
    return {key: output(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs, predictions):
    """The dict export_outputs with one under the key of servers; without any,
    `predictions` is it. TypeError for what is no dict of ExportOutputs,
    ValueError if several are given and none under that key."""
    if export_outputs is None:
        export_outputs = {_SERVING: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError("export_outputs must be dict, given: %s"
                        % (export_outputs,))
    if not all(isinstance(x, ExportOutput) for x in export_outputs.values()):
        raise TypeError("Values in export_outputs must be ExportOutput objects. "
                        "Given: %s" % (export_outputs,))
    if len(export_outputs) == 1:
        export_outputs.setdefault(_SERVING, *export_outputs.values())
    elif export_outputs and _SERVING not in export_outputs:
        raise ValueError("Multiple export_outputs were provided, but none of "
                         "them is specified as the default: the key of one "
                         "must be %r" % _SERVING)
    return export_outputs


def get_timestamped_export_dir(export_dir_base):
    """The folder, bytes, in export_dir_base that is called after this second
    and is not there yet. RuntimeError after ten seconds whose folders are."""
    for _ in range(10):
        path = os.path.join(as_bytes(export_dir_base),
                            b"%d" % int(time.time()))
        if not Exists(path):
            return path
        logging.warn("Directory %s already exists; retrying in a second"
                     % as_text(path))
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name after "
                       "10 attempts.")


def get_temp_export_dir(timestamped_export_dir):
    """The folder beside it whose name begins with "temp-": servers do not look
    into it."""
    above, name = os.path.split(as_bytes(timestamped_export_dir))
    return os.path.join(above, b"temp-" + name)


def get_variables_dir(export_dir):
    return os.path.join(as_text(export_dir), constants.VARIABLES_DIRECTORY)


def get_variables_path(export_dir):
    """The prefix of the checkpoint of a SavedModel."""
    return os.path.join(get_variables_dir(export_dir),
                        constants.VARIABLES_FILENAME)
