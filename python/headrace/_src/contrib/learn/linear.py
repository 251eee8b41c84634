"""tf.contrib.learn: estimators of linear models."""
import math

from headrace._src.contrib.columns.inputs import (
    joint_weighted_sum_from_feature_columns, weighted_sum_from_feature_columns)
from headrace._src.contrib.learn import canned as _canned
from headrace._src.contrib.learn import heads as _heads
from headrace._src.contrib.learn.canned import Classifier, Regressor
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.feature_column import inputs as _core
from headrace._src.framework.graph import get_collection
from headrace._src.ops.clipping import clip_by_global_norm
from headrace._src.training.global_step import get_global_step
from headrace._src.training.gradients import gradients
from headrace._src.training.optimize_loss import OPTIMIZER_CLS_NAMES
from headrace._src.training.optimizers import FtrlOptimizer
from headrace._src.variables.partitioners import min_max_variable_partitioner
from headrace._src.variables.scopes import variable_scope

_LEARNING_RATE = 0.2


def learning_rate(columns):
    """The default rate of a model of so many columns."""
    return min(_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))


def linear_logits(features, columns, units, joint, scope):
    """The logits of a linear model. Its variables are in the collection
    "linear"."""
    if not _canned.of_contrib(columns):
        return _core.linear_model(
            features=features, feature_columns=columns, units=units,
            weight_collections=["linear"])
    weighted_sum = (joint_weighted_sum_from_feature_columns if joint
                    else weighted_sum_from_feature_columns)
    logits, _, _ = weighted_sum(
        columns_to_tensors=features, feature_columns=columns,
        num_outputs=units, weight_collections=["linear"], scope=scope)
    return logits


def linear_scope(features, servers):
    """The variable scope of a linear model."""
    return variable_scope(
        "linear", values=list(features.values()),
        partitioner=min_max_variable_partitioner(
            max_partitions=servers, min_slice_size=_canned.SLICE))


def _optimizer(spec, columns):
    if not spec:
        return FtrlOptimizer(learning_rate=learning_rate(columns))
    if isinstance(spec, str):
        return OPTIMIZER_CLS_NAMES[spec](learning_rate=_LEARNING_RATE)
    return _canned.made_optimizer(spec)


def linear_model_fn(features, labels, mode, params, config=None):
    """The model of the estimators here, whose arguments are in `params`."""
    head = params["head"]
    columns = params["feature_columns"]
    features = _canned.features_of(features)
    with linear_scope(features, _canned.num_ps_replicas(config)) as scope:
        logits = linear_logits(features, columns, head.logits_dimension,
                               params.get("joint_weights"), scope)

        def train_op_fn(loss):
            variables = get_collection("linear")
            grads = gradients(loss, variables)
            if params.get("gradient_clip_norm"):
                grads, _ = clip_by_global_norm(grads,
                                               params["gradient_clip_norm"])
            return _optimizer(params.get("optimizer"), columns).apply_gradients(
                zip(grads, variables), global_step=get_global_step())
        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels,
            train_op_fn=train_op_fn, logits=logits)


def _params(head, feature_columns, optimizer, gradient_clip_norm,
            joint_weights):
    return dict(locals())


def _checked(feature_columns):
    columns = tuple(feature_columns or [])
    if not columns:
        raise AssertionError("feature_columns must not be empty")
    return columns


class LinearClassifier(Classifier):
    """A linear model that tells classes.

    Features are a tensor or a dict, of what the columns take; labels are
    integers, or strings with label_keys, [batch] or [batch, 1]. `optimizer`:
    one, its name, or a function that makes one; by default Ftrl. ValueError for
    fewer classes than two; AssertionError without columns."""

    def __init__(self, feature_columns, model_dir=None, n_classes=2,
                 weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False,
                 _joint_weight=False, config=None, feature_engineering_fn=None,
                 label_keys=None):
        self._feature_columns = _checked(feature_columns)
        super().__init__(
            model_fn=linear_model_fn, model_dir=model_dir, config=config,
            params=_params(
                _heads.multi_class_head(
                    n_classes, weight_column_name=weight_column_name,
                    enable_centered_bias=enable_centered_bias,
                    label_keys=label_keys),
                feature_columns, optimizer, gradient_clip_norm, _joint_weight),
            feature_engineering_fn=feature_engineering_fn)

    def predict_classes(self, x=None, input_fn=None, batch_size=None,
                        as_iterable=True):
        """As DNNClassifier's, but an array of one batch keeps its shape."""
        return self._predict(_canned.PredictionKey.CLASSES, x, input_fn,
                             batch_size, as_iterable)


class LinearRegressor(Regressor):
    """A linear model that tells numbers, [batch] or [batch, label_dimension].
    The other arguments are LinearClassifier's. ValueError for a dimension below
    1; AssertionError without columns."""

    def __init__(self, feature_columns, model_dir=None,
                 weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False,
                 label_dimension=1, _joint_weights=False, config=None,
                 feature_engineering_fn=None):
        self._feature_columns = _checked(feature_columns)
        super().__init__(
            model_fn=linear_model_fn, model_dir=model_dir, config=config,
            params=_params(
                _heads.regression_head(
                    weight_column_name=weight_column_name,
                    label_dimension=label_dimension,
                    enable_centered_bias=enable_centered_bias),
                feature_columns, optimizer, gradient_clip_norm,
                _joint_weights),
            feature_engineering_fn=feature_engineering_fn)


class LinearEstimator(Estimator):
    """A linear model under any Head, which says what labels are and raises its
    errors. Features have the shapes and dtypes that the columns take.
    AssertionError without columns."""

    def __init__(self, feature_columns, head, model_dir=None,
                 weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, _joint_weights=False, config=None,
                 feature_engineering_fn=None):
        _checked(feature_columns)
        super().__init__(
            model_fn=linear_model_fn, model_dir=model_dir, config=config,
            params=_params(head, feature_columns, optimizer,
                           gradient_clip_norm, _joint_weights),
            feature_engineering_fn=feature_engineering_fn)
