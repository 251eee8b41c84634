"""tf.contrib.learn.ModelFnOps: what a model function returns."""
import collections

from headrace._packages import load
from headrace._src.contrib.learn.keys import (
    MetricKey, PredictionKey, ProblemType)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import Operation
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor
from headrace._src.platform import tf_logging as _log
from headrace._src.training.mode_keys import LearnModeKeys as ModeKeys
from headrace._src.training.session_run_hook import SessionRunHook


def _scalar_loss(loss):
    loss = convert_to_tensor(loss)
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError("Loss must be scalar: %s." % loss)
    if not shape.is_compatible_with([]):
        loss = _array.reshape(loss, [])
    return loss


class ModelFnOps(collections.namedtuple("ModelFnOps", """
        predictions loss train_op eval_metric_ops output_alternatives
        training_chief_hooks training_hooks scaffold mode""")):
    """What a model function returns.

    `predictions`: a tensor or SparseTensor of any shape and dtype, or a dict of
    them. `loss`: a scalar. `eval_metric_ops`: {name: (value, update)}.
    `output_alternatives`: {name of a head: (ProblemType, dict of tensors)}.
    ValueError for what a mode needs and lacks, and for a loss that is no
    scalar; TypeError for a hook that is none."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None,
                eval_metric_ops=None, output_alternatives=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None):
        ModeKeys.validate(mode)
        if train_op is None:
            if mode == ModeKeys.TRAIN:
                raise ValueError("Missing train_op.")
        elif not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        if loss is not None:
            loss = _scalar_loss(loss)
        elif mode != ModeKeys.INFER:
            raise ValueError("Missing loss.")
        if predictions is None:
            if mode != ModeKeys.TRAIN:
                raise ValueError("Missing predictions.")
        elif isinstance(predictions, dict):
            predictions = {k: convert_to_tensor_or_sparse_tensor(v)
                           for k, v in predictions.items()}
        else:
            predictions = convert_to_tensor_or_sparse_tensor(predictions)
        if eval_metric_ops is None:
            eval_metric_ops = {}
        elif not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        training_hooks = training_hooks or []
        training_chief_hooks = training_chief_hooks or []
        for hook in training_hooks + training_chief_hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook "
                    "instances, got instance of %s: %s" % (type(hook), hook))
        return super().__new__(
            cls, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks, scaffold=scaffold, mode=mode)

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The same as a tf.estimator.EstimatorSpec. ImportError without the
        package tensorflow-estimator."""
        model_fn = load("tensorflow_estimator.python.estimator.model_fn")
        outputs = self.output_alternatives
        if outputs:
            if len(outputs) > 1 and "serving_default" not in outputs:
                outputs = {**outputs, "serving_default": outputs[
                    default_serving_output_alternative_key]}
            outputs = {key: _export_output(*value)
                       for key, value in outputs.items()}
        mode = (model_fn.ModeKeys.PREDICT if self.mode == ModeKeys.INFER
                else self.mode)
        return model_fn.EstimatorSpec(
            mode=mode, predictions=self.predictions, loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops={k: v for k, v in self.eval_metric_ops.items()
                             if k != MetricKey.LOSS},
            export_outputs=outputs or None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks, scaffold=self.scaffold)


def scores_of(outputs):
    """The scores or probabilities of a dict of outputs, or None."""
    scores = outputs.get(PredictionKey.SCORES)
    return outputs.get(PredictionKey.PROBABILITIES) if scores is None else (
        scores)


def classes_of(outputs):
    """The classes of a dict of outputs if they are strings, which is what
    servers take, or None."""
    classes = outputs.get(PredictionKey.CLASSES)
    if classes is None or classes.dtype != dtypes.string:
        return None
    return classes


def _export_output(problem_type, outputs):
    export = load("tensorflow_estimator.python.estimator.export.export_output")
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return export.RegressionOutput(scores_of(outputs))
    if problem_type in (ProblemType.CLASSIFICATION,
                        ProblemType.LOGISTIC_REGRESSION):
        classes = classes_of(outputs)
        if classes is None:
            _log.warning("classes are None or not strings: a server will not "
                         "have class ids.")
        return export.ClassificationOutput(scores=scores_of(outputs),
                                           classes=classes)
    if problem_type == ProblemType.UNSPECIFIED:
        return export.PredictOutput(outputs)
    raise ValueError("Unknown problem_type=%s" % problem_type)
