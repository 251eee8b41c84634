"""tf.contrib.learn: estimators of networks of fully connected layers."""
from headrace._src.contrib.learn import canned as _canned
from headrace._src.contrib.learn import heads as _heads
from headrace._src.contrib.learn.canned import Classifier, ScoresRegressor
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.nn.activations import relu
from headrace._src.training.global_step import get_global_step
from headrace._src.training.optimize_loss import optimize_loss
from headrace._src.variables.partitioners import min_max_variable_partitioner

_LEARNING_RATE = 0.05


def dnn_model_fn(features, labels, mode, params, config=None):
    """The model of the estimators here, whose arguments are in `params`."""
    features = _canned.features_of(features)
    servers = _canned.num_ps_replicas(config)
    head = params["head"]
    activation_fn = _canned.activation_of(params.get("activation_fn"))
    with _canned.dnn_scope(features, servers):
        logits, input_scope = _canned.network(
            features, params["feature_columns"], mode, head,
            params["hidden_units"], activation_fn, params.get("dropout"),
            min_max_variable_partitioner(
                max_partitions=servers, min_slice_size=params.get(
                    "input_layer_min_slice_size") or _canned.SLICE),
            _canned.summary_of("_"))

        def train_op_fn(loss):
            return optimize_loss(
                loss=loss, global_step=get_global_step(),
                learning_rate=_LEARNING_RATE,
                optimizer=_canned.made_optimizer(
                    params.get("optimizer") or "Adagrad"),
                gradient_multipliers=_canned.gradient_multipliers(
                    params.get("embedding_lr_multipliers"), input_scope),
                clip_gradients=params.get("gradient_clip_norm"), name="dnn",
                summaries=[])  # the head reports the loss
        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels,
            train_op_fn=train_op_fn, logits=logits)


def _params(head, hidden_units, feature_columns, optimizer, activation_fn,
            dropout, gradient_clip_norm, embedding_lr_multipliers,
            input_layer_min_slice_size):
    return dict(locals())


class DNNClassifier(Classifier):
    """A network that tells classes.

    `hidden_units`: the sizes of the layers. Features are a tensor or a dict, of
    what the columns take; labels are integers, or strings with label_keys,
    [batch] or [batch, 1]. `optimizer`: one, its name, or a function that makes
    one; by default Adagrad with the rate 0.05. ValueError for fewer classes
    than two."""

    def __init__(self, hidden_units, feature_columns, model_dir=None,
                 n_classes=2, weight_column_name=None, optimizer=None,
                 activation_fn=relu, dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None):
        self._feature_columns = tuple(feature_columns or [])
        super().__init__(
            model_fn=dnn_model_fn, model_dir=model_dir, config=config,
            params=_params(
                _heads.multi_class_head(
                    n_classes, weight_column_name=weight_column_name,
                    enable_centered_bias=enable_centered_bias,
                    label_keys=label_keys),
                hidden_units, self._feature_columns, optimizer, activation_fn,
                dropout, gradient_clip_norm, embedding_lr_multipliers,
                input_layer_min_slice_size),
            feature_engineering_fn=feature_engineering_fn)


class DNNRegressor(ScoresRegressor):
    """A network that tells numbers, [batch] or [batch, label_dimension]. The
    other arguments are DNNClassifier's. ValueError for a dimension below 1."""

    def __init__(self, hidden_units, feature_columns, model_dir=None,
                 weight_column_name=None, optimizer=None, activation_fn=relu,
                 dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, label_dimension=1,
                 embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None):
        self._feature_columns = tuple(feature_columns or [])
        super().__init__(
            model_fn=dnn_model_fn, model_dir=model_dir, config=config,
            params=_params(
                _heads.regression_head(
                    label_dimension=label_dimension,
                    weight_column_name=weight_column_name,
                    enable_centered_bias=enable_centered_bias),
                hidden_units, self._feature_columns, optimizer, activation_fn,
                dropout, gradient_clip_norm, embedding_lr_multipliers,
                input_layer_min_slice_size),
            feature_engineering_fn=feature_engineering_fn)


class DNNEstimator(Estimator):
    """A network under any Head, which says what labels are and raises its errors.
    Features have the shapes and dtypes that the columns take."""

    def __init__(self, head, hidden_units, feature_columns, model_dir=None,
                 optimizer=None, activation_fn=relu, dropout=None,
                 gradient_clip_norm=None, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None):
        super().__init__(
            model_fn=dnn_model_fn, model_dir=model_dir, config=config,
            params=_params(
                head, hidden_units, feature_columns, optimizer, activation_fn,
                dropout, gradient_clip_norm, embedding_lr_multipliers,
                input_layer_min_slice_size),
            feature_engineering_fn=feature_engineering_fn)
