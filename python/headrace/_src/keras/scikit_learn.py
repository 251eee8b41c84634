"""tf.keras.wrappers.scikit_learn: models of tf.keras as estimators of
scikit-learn."""
import copy
import inspect
import types

import numpy as np

from headrace._src.keras.models import Sequential
from headrace._src.keras.utils import to_categorical


def _takes(function, name):
    return name in inspect.signature(function).parameters


class _Wrapper:
    """`build_fn`: a function, or an object that is called, that gives a
    compiled model; by default `__call__` of a derived class. Other arguments
    are for it and for the methods of Sequential. ValueError for those that none
    of these takes."""

    def __init__(self, build_fn=None, **sk_params):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _maker(self):
        if self.build_fn is None:
            return self.__call__
        if isinstance(self.build_fn, (types.FunctionType, types.MethodType)):
            return self.build_fn
        return self.build_fn.__call__

    def check_params(self, params):
        """ValueError if nothing takes one of `params`, a dict."""
        methods = [Sequential.fit, Sequential.predict,
                   Sequential.predict_classes, Sequential.evaluate,
                   self._maker()]
        for name in params:
            if name != "nb_epoch" and not any(_takes(method, name)
                                              for method in methods):
                raise ValueError("%s is not a legal parameter" % name)

    def get_params(self, **params):
        """A copy of the parameters, with build_fn."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params):
        """Changes parameters; the estimator itself."""
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def filter_sk_params(self, fn, override=None):
        """The parameters that `fn` takes, and `override`."""
        return {**{name: value for name, value in self.sk_params.items()
                   if _takes(fn, name)}, **(override or {})}

    def fit(self, x, y, **kwargs):
        """Makes a new model and trains it on arrays; its History."""
        maker = self._maker()
        self.model = maker(**self.filter_sk_params(maker))
        if _is_categorical(self.model.loss) and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **{
            **copy.deepcopy(self.filter_sk_params(Sequential.fit)), **kwargs})


def _is_categorical(loss):
    name = loss if isinstance(loss, str) else getattr(
        loss, "__name__", type(loss).__name__)
    return name in ("categorical_crossentropy", "CategoricalCrossentropy")


class KerasClassifier(_Wrapper):
    """A classifier of scikit-learn around a model: labels are any values [n],
    or one-hot [n, classes]; examples are arrays of the model's shape and dtype.
    `classes_` has the labels. `build_fn`: a function that gives a compiled
    Sequential, by default `__call__` of a derived class; other arguments are
    for it and for fit, predict and evaluate. ValueError for arguments that none
    of them takes, for labels of another shape, and for a score without the
    metric accuracy."""

    def fit(self, x, y, **kwargs):
        """Makes a new model and trains it; its History."""
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or y.ndim == 2 and y.shape[1] == 1:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError("Invalid shape for y: %s" % (y.shape,))
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x, **kwargs):
        """The labels of examples."""
        return self.classes_[self.model.predict_classes(
            x, **self.filter_sk_params(Sequential.predict_classes, kwargs))]

    def predict_proba(self, x, **kwargs):
        """The probabilities [n, classes] of examples; of two classes, where
        the model gives that of the second alone, both."""
        found = self.model.predict_proba(
            x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        return found if found.shape[1] > 1 else np.hstack([1 - found, found])

    def score(self, x, y, **kwargs):
        """The accuracy for examples and their labels."""
        y = np.searchsorted(self.classes_, y)
        if _is_categorical(self.model.loss) and y.ndim != 2:
            y = to_categorical(y)
        found = self.model.evaluate(
            x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        found = found if isinstance(found, list) else [found]
        for name, value in zip(self.model.metrics_names, found):
            if name in ("accuracy", "acc"):
                return value
        raise ValueError("The model is not configured to compute accuracy. You "
                         "should pass `metrics=[\"accuracy\"]` to the "
                         "`model.compile()` method.")


class KerasRegressor(_Wrapper):
    """A regressor of scikit-learn around a model: targets and examples are
    arrays of the model's shapes and dtypes. `build_fn`: a function that gives a
    compiled Sequential, by default `__call__` of a derived class; other
    arguments are for it and for fit, predict and evaluate. ValueError for
    arguments that none of them takes."""

    def predict(self, x, **kwargs):
        """What the model gives for examples, without dimensions of size 1."""
        return np.squeeze(self.model.predict(
            x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x, y, **kwargs):
        """The loss for examples and their targets, with the other sign."""
        loss = self.model.evaluate(
            x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -(loss[0] if isinstance(loss, list) else loss)
