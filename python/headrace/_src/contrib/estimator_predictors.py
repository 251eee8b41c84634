"""tf.contrib.predictor: trained estimators as functions of NumPy arrays."""
from headrace._packages import load as _package
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.contrib.learn.exports import (
    DEFAULT_INPUT_ALTERNATIVE_KEY, get_input_alternatives,
    get_output_alternatives, is_core_estimator)
from headrace._src.framework.graph import Graph
from headrace._src.saved_model.predictor import Predictor
from headrace._src.training.checkpoint_management import latest_checkpoint
from headrace._src.training.monitored_session import (
    ChiefSessionCreator, MonitoredSession)


def from_contrib_estimator(estimator, prediction_input_fn,
                           input_alternative_key=None,
                           output_alternative_key=None, graph=None,
                           config=None):
    """A function {input: array} -> {output: array}, of any shape and dtype, of a
    tf.contrib.learn.Estimator.

    `prediction_input_fn` gives InputFnOps. The keys tell which of its inputs and
    which head. TypeError for a tf.estimator.Estimator; ValueError for a head
    that there is not."""
    if is_core_estimator(estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but "
            "got type tf.python.estimator.Estimator. You likely want to call "
            "from_estimator.")
    graph = graph or Graph()
    with graph.as_default():
        inputs = prediction_input_fn()
        made = estimator._get_predict_ops(inputs.features)
        session = MonitoredSession(session_creator=ChiefSessionCreator(
            config=config, checkpoint_filename_with_path=latest_checkpoint(
                estimator.model_dir)))
    alternatives, _ = get_input_alternatives(inputs)
    outputs, key = get_output_alternatives(made, output_alternative_key)
    return Predictor(
        graph, session,
        alternatives[input_alternative_key or DEFAULT_INPUT_ALTERNATIVE_KEY],
        outputs[key][1])


def from_estimator(estimator, serving_input_receiver_fn, output_key=None,
                   graph=None, config=None):
    """The same of a tf.estimator.Estimator; serving_input_receiver_fn gives a
    ServingInputReceiver. TypeError for a tf.contrib.learn.Estimator; KeyError
    for an output that there is not; ImportError without tensorflow-estimator."""
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.python.estimator.Estimator, "
            "but got type tf.contrib.learn.Estimator. You likely want to call "
            "from_contrib_estimator.")
    modes = _package("tensorflow_estimator.python.estimator.model_fn").ModeKeys
    output_key = output_key or "serving_default"
    graph = graph or Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        outputs = estimator.model_fn(
            receiver.features, None, modes.PREDICT,
            estimator.config).export_outputs
        if output_key not in outputs:
            raise KeyError("output_key must be one of {}; got {}".format(
                outputs.keys(), output_key))
        signature = outputs[output_key].as_signature_def(
            receiver.receiver_tensors)
        session = MonitoredSession(session_creator=ChiefSessionCreator(
            config=config, checkpoint_dir=estimator.model_dir))
    return Predictor(graph, session, *[
        {key: graph.get_tensor_by_name(info.name)
         for key, info in part.items()}
        for part in (signature.inputs, signature.outputs)])
