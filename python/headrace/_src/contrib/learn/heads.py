"""tf.contrib.learn: heads. A head makes of logits the loss, predictions, metrics
and the training step of a model."""
import abc
import inspect

from headrace._src.contrib.layers import linear
from headrace._src.contrib.learn import head_losses as _losses
from headrace._src.contrib.learn import head_metrics as _metrics
from headrace._src.contrib.learn.keys import (
    MetricKey, PredictionKey, ProblemType)
from headrace._src.contrib.learn.metric_spec import argument_names
from headrace._src.contrib.learn.model_fn import ModeKeys, ModelFnOps
from headrace._src.control.control_flow_ops import group
from headrace._src.flow import contrib_lookup as _lookup
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.metrics.means import accuracy
from headrace._src.metrics.streaming import mean
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import string_ops as _string
from headrace._src.ops.sparse_tensor import (
    SparseTensor, convert_to_tensor_or_sparse_tensor)
from headrace._src.platform import tf_logging as _log
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.training import summary as _summary
from headrace._src.training.optimizers import AdagradOptimizer
from headrace._src.variables.scopes import variable_scope
from headrace._src.variables.variables import Variable


class Head(metaclass=abc.ABCMeta):
    """What makes a model of logits, float [batch, logits_dimension]."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits an example needs."""

    @abc.abstractmethod
    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None,
                            logits=None, logits_input=None, scope=None):
        """The ModelFnOps of a mode.

        `features`: a dict, `labels`: a tensor or a dict, of the shapes and
        dtypes that the kind of head takes. `train_op_fn`: of the loss the op
        that trains. `logits_input`: what a layer makes logits of, in place of
        `logits`. ValueError for both or none of them, for no train_op_fn in
        training, and for an unknown mode."""


def _check_mode(mode):
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError("mode=%s unrecognized." % mode)


def _check_train_op_fn(train_op_fn):
    if train_op_fn is None:
        raise ValueError("train_op_fn can not be None in TRAIN mode")


def _key(head_name, name):
    return "%s/%s" % (name, head_name) if head_name else name


def _report_loss(loss, head_name):
    # At the root, so that the summary is called "loss".
    with name_scope(""):
        _summary.scalar(_key(head_name, MetricKey.LOSS),
                        _array.identity(loss))


class SingleHead(Head):
    """A head that is no set of heads. Subclasses say what it predicts.

    `default_scope` is the scope without a name of the head."""

    default_scope = ""

    def __init__(self, problem_type, logits_dimension, label_name=None,
                 weight_column_name=None, head_name=None, loss_fn=None,
                 enable_centered_bias=False, thresholds=None,
                 metric_class_ids=None):
        if problem_type is None:
            raise ValueError("Invalid problem_type %s." % problem_type)
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError("Invalid logits_dimension %s." % logits_dimension)
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._head_name = head_name
        self._loss_fn = loss_fn
        self._enable_centered_bias = enable_centered_bias
        self._thresholds = thresholds or (.5,)
        self._metric_class_ids = tuple(metric_class_ids or ())
        for class_id in self._metric_class_ids:
            if not 0 <= class_id < logits_dimension:
                raise ValueError("Class ID %s not in [0, %s)."
                                 % (class_id, logits_dimension))

    logits_dimension = property(lambda self: self._logits_dimension)
    label_name = property(lambda self: self._label_name)
    weight_column_name = property(lambda self: self._weight_column_name)
    head_name = property(lambda self: self._head_name)

    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None,
                            logits=None, logits_input=None, scope=None):
        with variable_scope(
                scope, default_name=self.head_name or self.default_scope,
                values=[*features.values(), labels, logits, logits_input]):
            if mode == ModeKeys.INFER:
                labels = None
            if labels is not None:
                labels = self._transform_labels(labels)
            logits = _logits_of(logits_input, logits, self.logits_dimension)
            return self._ops(features, mode, labels, train_op_fn, logits)

    def _ops(self, features, mode, labels, train_op_fn, logits):
        _check_mode(mode)
        bias = None
        if self._enable_centered_bias:
            bias = _centered_bias(self.logits_dimension, self.head_name)
            logits = _nn.bias_add(logits, bias)
        predictions = self._predictions(logits)
        loss = train_op = metrics = None
        if mode != ModeKeys.INFER and labels is not None:
            weights = _weights_of(features, self.weight_column_name)
            loss, reported = self._loss(labels, logits, weights)
            _report_loss(reported, self.head_name)
            if mode == ModeKeys.TRAIN:
                _check_train_op_fn(train_op_fn)
                train_op = self._train_op(loss, labels, train_op_fn, bias,
                                          logits, weights)
            metrics = self._metrics(reported, predictions, labels, weights)
        return ModelFnOps(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=self._alternatives(predictions))

    def _transform_labels(self, labels):
        """The tensor of the labels."""
        labels = self._label_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _label_tensor(self, labels):
        if isinstance(labels, dict):
            labels = labels[self._label_name]
        return convert_to_tensor_or_sparse_tensor(labels)

    def _loss(self, labels, logits, weights=None):
        return self._loss_fn(labels, logits, weights)

    def _predictions(self, logits):
        raise NotImplementedError("%s predicts nothing" % type(self).__name__)

    def _metrics(self, loss, predictions, labels, weights):
        """{key: (value, update)} of the reported loss and other metrics."""
        with name_scope("metrics", values=[
                loss, *self._parts(labels), weights, *predictions.values()]):
            found = {_key(self.head_name, MetricKey.LOSS): mean(loss)}
            for name, made in self._further_metrics(predictions, labels,
                                                    weights):
                found[_key(self.head_name, name)] = made
        return found

    def _parts(self, labels):
        return [labels]

    def _further_metrics(self, predictions, labels, weights):
        """Pairs of a key and a metric, made one after the other."""
        return ()

    def _alternatives(self, predictions):
        return {self._head_name: (self._problem_type, predictions)}

    def _train_op(self, loss, labels, train_op_fn, bias, logits, weights):
        batch = _array.shape(logits)[0]
        step = None
        if bias is not None:
            step = self._bias_step(bias, batch, labels, weights)
        with name_scope(None, "train_op", [loss, *self._parts(labels)]):
            train_op = train_op_fn(loss)
            return train_op if step is None else group(train_op, step)

    def _bias_step(self, bias, batch, labels, weights):
        """An op that trains the centered bias alone."""
        with name_scope(None, "centered_bias_step",
                        self._parts(labels)) as name:
            size = _array.shape(bias)[0]
            logits = _array.reshape(_array.tile(bias, (batch,)), (batch, size))
            with name_scope(None, "centered_bias",
                            [*self._parts(labels), logits]):
                loss = _math.reduce_mean(self._loss(labels, logits, weights),
                                         name="training_loss")
        return AdagradOptimizer(0.1).minimize(loss, var_list=(bias,),
                                              name=name)


def _logits_of(logits_input, logits, dimension):
    if logits is None:
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return linear(logits_input, dimension, scope="logits")
    if logits_input is not None:
        raise ValueError("Both logits and logits_input supplied.")
    logits = convert_to_tensor(logits, name="logits")
    dims = logits.get_shape().dims
    if dims is not None:
        dims[-1].assert_is_compatible_with(dimension)
    return logits


def _centered_bias(size, head_name):
    bias = Variable(name="centered_bias_weight",
                    initial_value=_array.zeros(shape=(size,)), trainable=True)
    for i in range(size):
        _summary.scalar(_key(head_name, "centered_bias/bias_%d" % i), bias[i])
    return bias


def _weights_of(features, name):
    """The weights of examples, float32 [batch, n], or None."""
    if not name:
        return None
    if name not in features:
        raise ValueError("Weights {} missing from features.".format(name))
    with name_scope(None, "weight_tensor", list(features.values())):
        weights = _math.cast(features[name], dtypes.float32)
        if weights.get_shape().ndims != 1:
            return weights
        _log.warning("Weights %s has shape %s, expanding to make it 2d.", name,
                     weights.get_shape())
        reshape = (_sparse.sparse_reshape if isinstance(weights, SparseTensor)
                   else _array.reshape)
        return reshape(weights, (-1, 1))


def _with_classes(head_name, problem_type, predictions, label_keys=None):
    """Exported outputs: probabilities, and the classes as strings."""
    probabilities = predictions.get(PredictionKey.PROBABILITIES)
    if probabilities is None:
        raise ValueError("%s missing in predictions"
                         % PredictionKey.PROBABILITIES)
    with name_scope(None, "_classification_output_alternatives",
                    (probabilities,)):
        batch = _array.shape(probabilities)[0]
        if label_keys:
            classes = _array.tile(
                _array.expand_dims(label_keys, axis=0), [batch, 1],
                name="classes_tensor")
        else:
            count = _array.shape(probabilities)[1]
            classes = _string.as_string(_array.tile(
                _array.expand_dims(_math.range(count), axis=0), [batch, 1]),
                name="classes_tensor")
    return {head_name: (problem_type, {
        PredictionKey.PROBABILITIES: probabilities,
        PredictionKey.CLASSES: classes})}


class RegressionHead(SingleHead):
    """Scores: link_fn of the logits."""

    default_scope = "regression_head"

    def __init__(self, label_dimension, loss_fn, link_fn, logits_dimension=None,
                 label_name=None, weight_column_name=None,
                 enable_centered_bias=False, head_name=None):
        super().__init__(
            ProblemType.LINEAR_REGRESSION,
            label_dimension if logits_dimension is None else logits_dimension,
            label_name, weight_column_name, head_name, loss_fn,
            enable_centered_bias)
        self._link_fn = link_fn

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            if self.logits_dimension == 1:
                logits = _array.squeeze(logits, axis=(1,),
                                        name=PredictionKey.SCORES)
            return {PredictionKey.SCORES: self._link_fn(logits)}

    def _metrics(self, loss, predictions, labels, weights):
        with name_scope("metrics", values=[loss]):
            return {_key(self.head_name, MetricKey.LOSS): mean(loss)}


def _two_logits(logits):
    return _array.concat((_array.zeros_like(logits), logits), 1)


class BinaryLogisticHead(SingleHead):
    """Two classes, of one logit."""

    default_scope = "binary_logistic_head"

    def __init__(self, label_name=None, weight_column_name=None,
                 enable_centered_bias=False, head_name=None, loss_fn=None,
                 thresholds=None):
        super().__init__(
            ProblemType.LOGISTIC_REGRESSION, 1, label_name, weight_column_name,
            head_name, loss_fn or _losses.two_classes, enable_centered_bias,
            thresholds)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            both = _two_logits(logits)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: _math.sigmoid(
                    logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: _nn.softmax(
                    both, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: _math.argmax(
                    both, 1, name=PredictionKey.CLASSES)}

    def _further_metrics(self, predictions, labels, weights):
        key = MetricKey
        logistic = predictions[PredictionKey.LOGISTIC]
        yield key.ACCURACY, accuracy(
            labels, predictions[PredictionKey.CLASSES], weights)
        yield key.PREDICTION_MEAN, _metrics.mean_of(logistic, weights)
        yield key.LABEL_MEAN, _metrics.mean_of(labels, weights)
        # What a model reaches that always says the same.
        yield key.ACCURACY_BASELINE, _metrics.mean_of(labels, weights)
        yield key.AUC, _metrics.auc(logistic, labels, weights)
        yield key.AUC_PR, _metrics.auc(logistic, labels, weights, curve="PR")
        for at in self._thresholds:
            yield key.ACCURACY_MEAN % at, _metrics.accuracy_at(
                logistic, labels, weights, at)
            yield key.PRECISION_MEAN % at, _metrics.precision_at(
                logistic, labels, weights, at)
            yield key.RECALL_MEAN % at, _metrics.recall_at(
                logistic, labels, weights, at)

    def _alternatives(self, predictions):
        return _with_classes(self._head_name, self._problem_type, predictions)


class MultiClassHead(SingleHead):
    """One of three classes or more."""

    default_scope = "multi_class_head"

    def __init__(self, n_classes, label_name=None, weight_column_name=None,
                 enable_centered_bias=False, head_name=None, loss_fn=None,
                 thresholds=None, metric_class_ids=None, label_keys=None):
        if n_classes is None or n_classes <= 2:
            raise ValueError("n_classes must be > 2: %s." % n_classes)
        super().__init__(
            ProblemType.CLASSIFICATION, n_classes, label_name,
            weight_column_name, head_name, loss_fn or _losses.softmax,
            enable_centered_bias, thresholds, metric_class_ids)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _transform_labels(self, labels):
        labels = super()._transform_labels(labels)
        if not self._label_keys:
            return {"labels": labels, "label_ids": labels}
        table = _lookup.index_table_from_tensor(self._label_keys,
                                                name="label_id_lookup")
        return {"labels": labels, "label_ids": table.lookup(labels)}

    def _parts(self, labels):
        return [labels["labels"], labels["label_ids"]]

    def _loss(self, labels, logits, weights=None):
        return self._loss_fn(labels["label_ids"], logits, weights=weights)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            classes = _math.argmax(logits, 1, name=PredictionKey.CLASSES)
            if self._label_keys:
                table = _lookup.index_to_string_table_from_tensor(
                    self._label_keys, name="class_string_lookup")
                classes = table.lookup(classes)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: _nn.softmax(
                    logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: classes}

    def _further_metrics(self, predictions, labels, weights):
        classes = predictions[PredictionKey.CLASSES]
        yield MetricKey.ACCURACY, accuracy(labels["labels"], classes, weights)
        if self._label_keys:
            return
        for i in self._metric_class_ids:
            yield MetricKey.CLASS_PREDICTION_MEAN % i, _metrics.share_of_class(
                classes, weights, i)
            yield MetricKey.CLASS_LABEL_MEAN % i, _metrics.share_of_class(
                labels["label_ids"], weights, i)
            yield MetricKey.CLASS_PROBABILITY_MEAN % i, _metrics.mean_of(
                predictions[PredictionKey.PROBABILITIES], weights, i)
            yield MetricKey.CLASS_LOGITS_MEAN % i, _metrics.mean_of(
                predictions[PredictionKey.LOGITS], weights, i)

    def _alternatives(self, predictions):
        return _with_classes(self._head_name, self._problem_type, predictions,
                             self._label_keys)


class BinarySvmHead(SingleHead):
    """Two classes, of one logit, by a support vector machine."""

    default_scope = "binary_svm_head"

    def __init__(self, label_name, weight_column_name, enable_centered_bias,
                 head_name, thresholds):
        super().__init__(
            ProblemType.LOGISTIC_REGRESSION, 1, label_name, weight_column_name,
            head_name, _losses.hinge, enable_centered_bias, thresholds)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            return {PredictionKey.LOGITS: logits,
                    PredictionKey.CLASSES: _math.argmax(
                        _two_logits(logits), 1, name=PredictionKey.CLASSES)}

    def _further_metrics(self, predictions, labels, weights):
        yield MetricKey.ACCURACY, accuracy(
            labels, predictions[PredictionKey.CLASSES], weights)


class MultiLabelHead(SingleHead):
    """Any of several classes."""

    default_scope = "multi_label_head"

    def __init__(self, n_classes, label_name, weight_column_name,
                 enable_centered_bias, head_name, thresholds,
                 metric_class_ids=None, loss_fn=None):
        super().__init__(
            ProblemType.CLASSIFICATION, n_classes, label_name,
            weight_column_name, head_name, loss_fn or _losses.sigmoid,
            enable_centered_bias, thresholds, metric_class_ids)

    def _transform_labels(self, labels):
        labels = self._label_tensor(labels)
        if not isinstance(labels, SparseTensor):
            return labels
        if self.logits_dimension < 2:
            raise ValueError("Must set num_classes >= 2 when passing labels as "
                             "a SparseTensor.")
        return _math.cast(_sparse.sparse_to_indicator(
            labels, self.logits_dimension), dtypes.int64)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: _math.sigmoid(
                    logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: _math.cast(
                    _math.greater(logits, 0), dtypes.int64,
                    name=PredictionKey.CLASSES)}

    def _further_metrics(self, predictions, labels, weights):
        key = MetricKey
        classes = predictions[PredictionKey.CLASSES]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        yield key.ACCURACY, accuracy(labels, classes, weights)
        yield key.AUC, _metrics.auc(probabilities, labels, weights)
        yield key.AUC_PR, _metrics.auc(probabilities, labels, weights,
                                       curve="PR")
        for i in self._metric_class_ids:
            yield key.CLASS_PREDICTION_MEAN % i, _metrics.mean_of(
                classes, weights, i)
            yield key.CLASS_LABEL_MEAN % i, _metrics.mean_of(
                labels, weights, i)
            yield key.CLASS_PROBABILITY_MEAN % i, _metrics.mean_of(
                probabilities, weights, i)
            yield key.CLASS_LOGITS_MEAN % i, _metrics.mean_of(
                predictions[PredictionKey.LOGITS], weights, i)
            yield key.CLASS_AUC % i, _metrics.auc(
                probabilities, labels, weights, i)
            yield key.CLASS_AUC_PR % i, _metrics.auc(
                probabilities, labels, weights, i, curve="PR")

    def _alternatives(self, predictions):
        return _with_classes(self._head_name, self._problem_type, predictions)


class LossOnlyHead(Head):
    """A loss beside those of other heads."""

    def __init__(self, loss_fn, head_name=None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self):
        return 0

    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None,
                            logits=None, logits_input=None, scope=None):
        _check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                if isinstance(loss, list):
                    loss = _math.add_n(loss)
                _report_loss(loss, self.head_name)
                if mode == ModeKeys.TRAIN:
                    _check_train_op_fn(train_op_fn)
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op,
                          predictions={}, eval_metric_ops={})


class MultiHead(Head):
    """Several heads with names, whose losses are added."""

    def __init__(self, heads, loss_merger):
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._heads = heads
        self._logits_dimension = sum(h.logits_dimension for h in heads)
        self._loss_merger = loss_merger

    logits_dimension = property(lambda self: self._logits_dimension)

    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None,
                            logits=None, logits_input=None, scope=None):
        _check_mode(mode)
        if logits is None:
            given = [{"logits_input": logits_input}] * len(self._heads)
        elif isinstance(logits, dict):
            given = [{"logits": None if isinstance(head, LossOnlyHead)
                      else logits[head.head_name]} for head in self._heads]
        else:
            given = [{"logits": part} for part in self._split(logits)]
        made = [head.create_model_fn_ops(
            features=features, mode=mode, labels=labels,
            train_op_fn=no_op_train_fn, scope=scope, **options)
            for head, options in zip(self._heads, given)]
        merge = {ModeKeys.EVAL: self._for_evaluation,
                 ModeKeys.INFER: self._for_inference}.get(mode)
        if merge is not None:
            return merge(made)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        loss = self._loss_merger([m.loss for m in made])
        train_op = group(train_op_fn(loss), *[m.train_op for m in made])
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op,
                          eval_metric_ops=self._all_metrics(made))

    def _split(self, logits):
        begin, parts = 0, []
        for head in self._heads:
            parts.append(_array.slice(logits, [0, begin],
                                      [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts

    def _all_metrics(self, made):
        return {k: v for m in made for k, v in m.eval_metric_ops.items()}

    def _all_predictions(self, made):
        return {(head.head_name, k): v for head, m in zip(self._heads, made)
                for k, v in m.predictions.items()}

    def _for_inference(self, made):
        outputs = {head.head_name: m.output_alternatives[head.head_name]
                   for head, m in zip(self._heads, made)
                   if not isinstance(head, LossOnlyHead)}
        return ModelFnOps(mode=ModeKeys.INFER,
                          predictions=self._all_predictions(made),
                          output_alternatives=outputs)

    def _for_evaluation(self, made):
        return ModelFnOps(
            mode=ModeKeys.EVAL, predictions=self._all_predictions(made),
            loss=self._loss_merger([m.loss for m in made]),
            eval_metric_ops=self._all_metrics(made))


def regression_head(label_name=None, weight_column_name=None,
                    label_dimension=1, enable_centered_bias=False,
                    head_name=None, link_fn=None):
    """A Head of numbers, with the mean squared error as loss.

    Labels are numbers [batch] or [batch, label_dimension]; scores are float32
    [batch] or [batch, label_dimension], link_fn of the logits. ValueError for a
    dimension below 1."""
    return RegressionHead(
        label_name=label_name, weight_column_name=weight_column_name,
        label_dimension=label_dimension,
        enable_centered_bias=enable_centered_bias, head_name=head_name,
        loss_fn=_losses.mean_squared, link_fn=link_fn or _array.identity)


def poisson_regression_head(label_name=None, weight_column_name=None,
                            label_dimension=1, enable_centered_bias=False,
                            head_name=None):
    """A Head of numbers of events, with the Poisson loss. Shapes and dtypes are
    regression_head's; scores are exp(logits). ValueError for a dimension below
    1."""
    return RegressionHead(
        label_name=label_name, weight_column_name=weight_column_name,
        label_dimension=label_dimension,
        enable_centered_bias=enable_centered_bias, head_name=head_name,
        loss_fn=_losses.poisson, link_fn=_math.exp)


def _custom_loss(loss_fn):
    """A loss of the program as a head's, or None."""
    if not loss_fn:
        return None
    function = loss_fn
    while hasattr(function, "func"):
        function = function.func
    if not inspect.isroutine(function):
        function = function.__call__
    for name in ("labels", "logits", "weights"):
        if name not in argument_names(function):
            raise ValueError("Argument %s not found in loss_fn." % name)

    def loss_of(labels, logits, weights=None):
        loss = (loss_fn(labels, logits) if weights is None
                else loss_fn(labels, logits, weights))
        return loss, loss
    return loss_of


def multi_class_head(n_classes, label_name=None, weight_column_name=None,
                     enable_centered_bias=False, head_name=None,
                     thresholds=None, metric_class_ids=None, loss_fn=None,
                     label_keys=None):
    """A Head of one of n_classes classes.

    Labels are integers [batch] or [batch, 1], or strings with label_keys.
    `loss_fn`: of labels, logits and weights a scalar. ValueError for fewer than
    two classes, for label_keys or metric_class_ids with two, and for classes
    that there are not."""
    if n_classes is None or n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification: %s."
                         % n_classes)
    loss = _custom_loss(loss_fn)
    options = dict(
        label_name=label_name, weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias, head_name=head_name,
        thresholds=thresholds, loss_fn=loss)
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        return BinaryLogisticHead(**options)
    return MultiClassHead(n_classes=n_classes, label_keys=label_keys,
                          metric_class_ids=metric_class_ids, **options)


def binary_svm_head(label_name=None, weight_column_name=None,
                    enable_centered_bias=False, head_name=None,
                    thresholds=None):
    """A Head of two classes with the hinge loss. Labels are 0 and 1, [batch] or
    [batch, 1]. ValueError for sparse labels."""
    return BinarySvmHead(
        label_name=label_name, weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias, head_name=head_name,
        thresholds=thresholds)


def multi_label_head(n_classes, label_name=None, weight_column_name=None,
                     enable_centered_bias=False, head_name=None,
                     thresholds=None, metric_class_ids=None, loss_fn=None):
    """A Head of any of n_classes classes.

    Labels are 0 and 1, [batch, n_classes], or a SparseTensor of integers.
    ValueError for fewer than two classes and for classes that there are not."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        n_classes=n_classes, label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias, head_name=head_name,
        thresholds=thresholds, metric_class_ids=metric_class_ids,
        loss_fn=_custom_loss(loss_fn))


def loss_only_head(loss_fn, head_name=None):
    """A Head of a further loss: loss_fn() gives scalars, one or a list."""
    return LossOnlyHead(loss_fn, head_name=head_name)


def multi_head(heads, loss_weights=None):
    """A Head of several heads with names. Its loss is the sum of theirs, each
    times its weight. Logits are float [batch, all dimensions] or a dict by name.
    ValueError for another number of weights and for heads without names."""
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")

    def merge(losses):
        if not loss_weights:
            return _math.add_n(losses)
        if len(losses) != len(loss_weights):
            raise ValueError("losses and loss_weights must have same size")
        return _math.add_n([_math.multiply(loss, weight) for loss, weight
                            in zip(losses, loss_weights)])
    return MultiHead(heads, loss_merger=merge)


def no_op_train_fn(loss):
    """An operation that does nothing, in place of training with a loss of any
    shape and dtype. It raises nothing."""
    return _array.no_op()
