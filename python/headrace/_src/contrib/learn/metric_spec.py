"""tf.contrib.learn.MetricSpec: a metric of the model's outputs, by their keys."""
import inspect

from headrace._src.platform import tf_logging as _log

# What a metric may call its arguments. The first of each is the usual one.
_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


def argument_names(function):
    """The names of a function's arguments, without those that a
    functools.partial binds."""
    bound = getattr(function, "keywords", None) or {}
    return [name for name, p in inspect.signature(function).parameters.items()
            if name not in bound and p.kind in (
                p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _name_of(function):
    if hasattr(function, "__name__"):
        return function.__name__
    inner = getattr(function, "func", None)
    return inner.__name__ if hasattr(inner, "__name__") else str(function)


def _matching(function_name, names, known, required):
    """The one of the `known` names that is among `names`, or None."""
    found = [name for name in known if name in names]
    if len(found) > 1:
        raise ValueError("Ambiguous arguments %s, must provide only one of %s."
                         % (found, known))
    if not found:
        if required:
            raise ValueError("%s missing from %s(%s)."
                             % (known, function_name, names))
        return None
    if found[0] != known[0]:
        _log.warning("Canonical arg %s missing from %s(%s), using %s.",
                     known[0], function_name, names, found[0])
    return found[0]


def _adapted(function, name, needs_labels, needs_weights):
    """`function` with the arguments labels, predictions and weights."""
    names = argument_names(function)
    labels_name = _matching(name, names, _LABELS, needs_labels)
    predictions_name = _matching(name, names, _PREDICTIONS, False)
    weights_name = _matching(name, names, _WEIGHTS, needs_weights)

    def metric(_sentinel=None, labels=None, predictions=None, weights=None):
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, "
                             "`predictions`, and optionally `weights`.")
        args, kwargs = [], {}
        if labels_name and labels_name == names[0] and not predictions_name:
            args = [labels, predictions]
        else:
            if labels_name:
                kwargs[labels_name] = labels
            if predictions_name:
                kwargs[predictions_name] = predictions
            else:
                args = [predictions]
        if weights is not None:
            kwargs[weights_name] = weights
        return function(*args, **kwargs)
    return metric


def _selected(name, values, key):
    """The tensor of a key, or the only one."""
    if key:
        if not isinstance(values, dict):
            raise ValueError(
                "MetricSpec with {0}_key specified requires {0}s dict, got {1}."
                "\nYou must not provide a {0}_key if you only have a single "
                "Tensor as {0}s.".format(name, values))
        if key not in values:
            raise KeyError("Key '%s' missing from %s." % (key, values.keys()))
        return values[key]
    if not isinstance(values, dict):
        return values
    if len(values) != 1:
        raise ValueError(
            "MetricSpec without specified {0}_key requires {0}s tensor or "
            "single element dict, got {1}".format(name, values))
    return next(iter(values.values()))


class MetricSpec:
    """A metric: a function of labels, predictions and weights, of any shapes and
    dtypes that it takes, and the keys under which they are in the dicts that a
    model has. ValueError for a function without the arguments that the keys
    need."""

    def __init__(self, metric_fn, prediction_key=None, label_key=None,
                 weight_key=None):
        self._metric_fn_name = _name_of(metric_fn)
        self._metric_fn = _adapted(
            metric_fn, self._metric_fn_name, label_key is not None,
            weight_key is not None)
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    prediction_key = property(lambda self: self._prediction_key,
                              doc="The key of the predictions, or None.")
    label_key = property(lambda self: self._label_key,
                         doc="The key of the labels, or None.")
    weight_key = property(lambda self: self._weight_key,
                          doc="The key of the weights among the features.")
    metric_fn = property(lambda self: self._metric_fn,
                         doc="The metric of labels, predictions and weights.")

    def __str__(self):
        return ("MetricSpec(metric_fn=%s, prediction_key=%s, label_key=%s, "
                "weight_key=%s)" % (self._metric_fn_name, self.prediction_key,
                                    self.label_key, self.weight_key))

    def create_metric_ops(self, inputs, labels, predictions):
        """What the metric gives. ValueError or KeyError where a key does not
        fit."""
        prediction = _selected("prediction", predictions, self.prediction_key)
        label = _selected("label", labels, self.label_key)
        try:
            return self.metric_fn(
                labels=label, predictions=prediction,
                weights=inputs[self.weight_key] if self.weight_key else None)
        except Exception as error:
            _log.error("Could not create metric ops for %s, %s.", self, error)
            raise
