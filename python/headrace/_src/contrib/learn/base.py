"""tf.contrib.learn: what estimators are: objects with parameters, as those of
scikit-learn, that are trained and evaluated."""
import abc

from headrace._src.contrib.learn.metric_spec import argument_names


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was trained: there is no checkpoint."""


class Evaluable(metaclass=abc.ABCMeta):
    """What can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self):
        """The folder of checkpoints."""

    @abc.abstractmethod
    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None,
                 batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None):
        """A dict of metrics by name, numbers and arrays of any shape and dtype.
        ValueError for arguments that exclude each other."""


class Trainable(metaclass=abc.ABCMeta):
    """What can be trained."""

    @abc.abstractmethod
    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None,
            monitors=None, max_steps=None):
        """Trains with tensors or arrays of any shape and dtype and gives
        itself. ValueError for arguments that exclude each other."""


class Parameters:
    """get_params and set_params, as scikit-learn's estimators have them: the
    parameters are the attributes without underscores that are no functions."""

    def get_params(self, deep=True):
        """{name: value}; with `deep` also those of parameters that have some,
        as name__name."""
        found = {}
        for name in [n for n in vars(self) if not n.startswith("_")]:
            value = getattr(self, name, None)
            if callable(value):
                continue
            if deep and hasattr(value, "get_params"):
                found.update((name + "__" + k, v)
                             for k, v in value.get_params().items())
            found[name] = value
        return found

    def set_params(self, **params):
        """Changes parameters and gives itself. ValueError for other names."""
        valid = self.get_params(deep=True) if params else {}
        for name, value in params.items():
            first, nested, rest = name.partition("__")
            if first not in valid:
                raise ValueError(
                    "Invalid parameter %s for estimator %s" % (first, self)
                    if nested else "Invalid parameter %s for estimator %s"
                    % (first, type(self).__name__))
            if nested:
                valid[first].set_params(**{rest: value})
            else:
                setattr(self, first, value)
        return self

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join(
            "%s=%r" % item for item in sorted(
                self.get_params(deep=False).items())))


def fits(names, function):
    """Those of `names` that are arguments of `function`."""
    known = argument_names(function)
    return [name for name in names if name in known]
