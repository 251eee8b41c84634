"""tf.contrib.learn: estimators of a linear model and a network that are trained
together."""
from headrace._src.contrib.learn import canned as _canned
from headrace._src.contrib.learn import heads as _heads
from headrace._src.contrib.learn import linear as _linear
from headrace._src.contrib.learn.canned import Classifier, ScoresRegressor
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.control.control_flow_ops import group
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, get_collection)
from headrace._src.nn.activations import relu
from headrace._src.training.global_step import get_global_step
from headrace._src.training.optimize_loss import optimize_loss
from headrace._src.training.sync_replicas_optimizer import SyncReplicasOptimizer
from headrace._src.variables.partitioners import min_max_variable_partitioner
from headrace._src.variables.variables import assign_add

_DNN_LEARNING_RATE = 0.05


def _optimizer(spec, default):
    made = _canned.made_optimizer(spec or default)
    if isinstance(made, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. "
            "If you want to use this optimizer, please use either DNN or Linear "
            "model.")
    return made


def combined_model_fn(features, labels, mode, params, config=None):
    """The model of the estimators here, whose arguments are in `params`."""
    head = params["head"]
    servers = _canned.num_ps_replicas(config)
    linear_columns = params.get("linear_feature_columns")
    dnn_columns = params.get("dnn_feature_columns")
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns "
                         "must be defined.")
    features = _canned.features_of(features)
    linear_optimizer = _optimizer(params.get("linear_optimizer"), "Ftrl")
    dnn_optimizer = _optimizer(params.get("dnn_optimizer"), "Adagrad")
    summarise = _canned.summary_of("/")
    dnn_logits = linear_logits = None
    if dnn_columns:
        if not params.get("dnn_hidden_units"):
            raise ValueError("dnn_hidden_units must be defined when "
                             "dnn_feature_columns is specified.")
        with _canned.dnn_scope(features, servers):
            dnn_logits, input_scope = _canned.network(
                features, dnn_columns, mode, head, params["dnn_hidden_units"],
                params.get("dnn_activation_fn") or relu,
                params.get("dnn_dropout"),
                params.get("input_layer_partitioner")
                or min_max_variable_partitioner(
                    max_partitions=servers, min_slice_size=_canned.SLICE),
                summarise)
    if linear_columns:
        with _linear.linear_scope(features, servers) as scope:
            linear_logits = _linear.linear_logits(
                features, linear_columns, head.logits_dimension,
                params.get("joint_linear_weights"), scope)
            summarise(linear_logits, scope.name)
    logits = dnn_logits
    if dnn_logits is None:
        logits = linear_logits
    elif linear_logits is not None:
        logits = dnn_logits + linear_logits
    one_step = params.get("fix_global_step_increment_bug", True)

    def train_op_fn(loss):
        step = get_global_step()

        def train(part, **options):
            return optimize_loss(
                loss=loss, global_step=step,
                clip_gradients=params.get("gradient_clip_norm"),
                variables=get_collection(part), name=part,
                summaries=[],  # the head reports the loss
                increment_global_step=not one_step, **options)
        ops = []
        if dnn_logits is not None:
            ops.append(train(
                "dnn", learning_rate=_DNN_LEARNING_RATE,
                optimizer=dnn_optimizer,
                gradient_multipliers=_canned.gradient_multipliers(
                    params.get("embedding_lr_multipliers"), input_scope)))
        if linear_logits is not None:
            ops.append(train(
                "linear", learning_rate=_linear.learning_rate(linear_columns),
                optimizer=linear_optimizer))
        train_op = group(*ops)
        if not one_step:
            return train_op
        with control_dependencies([train_op]), colocate_with(step):
            return assign_add(step, 1).op
    return head.create_model_fn_ops(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
        logits=logits)


def _columns(linear, dnn):
    if not linear and not dnn:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns "
                         "must be defined.")
    return tuple(linear or ()), tuple(dnn or ())


def _partitioner(config, min_slice_size):
    if min_slice_size is None:
        return None
    return min_max_variable_partitioner(
        max_partitions=_canned.num_ps_replicas(config),
        min_slice_size=min_slice_size)


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a network whose logits are added, under any Head, which
    says what labels are and raises its errors.

    Features have the shapes and dtypes that the columns take. Optimizers are by
    default Ftrl and Adagrad. `fix_global_step_increment_bug` False: each counts
    the step. ValueError without columns."""

    def __init__(self, head, model_dir=None, linear_feature_columns=None,
                 linear_optimizer=None, _joint_linear_weights=False,
                 dnn_feature_columns=None, dnn_optimizer=None,
                 dnn_hidden_units=None, dnn_activation_fn=None,
                 dnn_dropout=None, gradient_clip_norm=None, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None,
                 fix_global_step_increment_bug=False,
                 input_layer_partitioner=None):
        linear, dnn = _columns(linear_feature_columns, dnn_feature_columns)
        self._feature_columns = linear + dnn
        super().__init__(
            model_fn=combined_model_fn, model_dir=model_dir, config=config,
            params={
                "head": head,
                "linear_feature_columns": linear,
                "linear_optimizer": linear_optimizer,
                "joint_linear_weights": _joint_linear_weights,
                "dnn_feature_columns": dnn,
                "dnn_optimizer": dnn_optimizer,
                "dnn_hidden_units": dnn_hidden_units,
                "dnn_activation_fn": dnn_activation_fn,
                "dnn_dropout": dnn_dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "fix_global_step_increment_bug":
                    fix_global_step_increment_bug,
                "input_layer_partitioner": input_layer_partitioner,
            }, feature_engineering_fn=feature_engineering_fn)


class DNNLinearCombinedClassifier(Classifier, DNNLinearCombinedEstimator):
    """A linear model and a network that tell classes: labels are integers, or
    strings with label_keys, [batch] or [batch, 1]. The other arguments are
    DNNLinearCombinedEstimator's. ValueError for fewer classes than two."""

    def __init__(self, model_dir=None, n_classes=2, weight_column_name=None,
                 linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None,
                 dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=relu, dnn_dropout=None,
                 gradient_clip_norm=None, enable_centered_bias=False,
                 config=None, feature_engineering_fn=None,
                 embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None,
                 fix_global_step_increment_bug=False):
        super().__init__(
            _heads.multi_class_head(
                n_classes=n_classes, weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys),
            model_dir, linear_feature_columns, linear_optimizer,
            _joint_linear_weights, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn,
            embedding_lr_multipliers, fix_global_step_increment_bug,
            _partitioner(config, input_layer_min_slice_size))


class DNNLinearCombinedRegressor(ScoresRegressor, DNNLinearCombinedEstimator):
    """A linear model and a network that tell numbers, [batch] or [batch,
    label_dimension]. The other arguments are DNNLinearCombinedEstimator's.
    ValueError for a dimension below 1."""

    def __init__(self, model_dir=None, weight_column_name=None,
                 linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None,
                 dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=relu, dnn_dropout=None,
                 gradient_clip_norm=None, enable_centered_bias=False,
                 label_dimension=1, config=None, feature_engineering_fn=None,
                 embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None,
                 fix_global_step_increment_bug=False):
        super().__init__(
            _heads.regression_head(
                weight_column_name=weight_column_name,
                label_dimension=label_dimension,
                enable_centered_bias=enable_centered_bias),
            model_dir, linear_feature_columns, linear_optimizer,
            _joint_linear_weights, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn,
            embedding_lr_multipliers, fix_global_step_increment_bug,
            _partitioner(config, input_layer_min_slice_size))
