"""tf.contrib.eager.metrics: values over many batches, as objects that are
called."""
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables import initializers as _init
from headrace._src.variables.base import Variable


class Metric:
    """The base of metrics: a derived class makes its variables in build(), by
    add_variable(), takes values in call(), and has result()."""

    def __init__(self, name=None, use_global_variables=False):
        self._built = False
        self._vars = []
        self._initial_values = {}
        self._name = (name or type(self).__name__).replace(" ", "_")

    name = property(lambda self: self._name)

    def __call__(self, *args, **kwargs):
        """Takes the values; what call() returns."""
        if not self._built:
            with name_scope(self._name):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    @property
    def variables(self):
        return self._vars

    def init_variables(self):
        """Starts anew."""
        for v in self._vars:
            v.assign(self._initial_values[v])

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """A variable of the metric. RuntimeError after build()."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        shape = [] if shape is None else shape
        initial = (initializer or _init.zeros_initializer())(
            shape, dtype=dtype or dtypes.float32)
        variable = Variable(initial, trainable=False, name=name,
                            use_resource=True)
        self._vars.append(variable)
        self._initial_values[variable] = initial
        return variable

    def build(self, *args, **kwargs):
        """Makes the variables."""

    def call(self, *args, **kwargs):
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self, write_summary=True):
        raise NotImplementedError("Metrics must define a result() member "
                                  "function")

    def value(self):
        """The result."""
        return self.result()


def _summary(name, value):
    from headrace._src.summary import writers
    writers.scalar(name=name, tensor=value)


class Mean(Metric):
    """The mean of all values, weighted."""

    def __init__(self, name=None, dtype=dtypes.float64,
                 use_global_variables=False):
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args, **kwargs):
        self.numer = self.add_variable("numer", (), dtype=self.dtype)
        self.denom = self.add_variable("denom", (), dtype=self.dtype)

    def call(self, values, weights=None):
        values = convert_to_tensor(values)
        if weights is None:
            self.denom.assign_add(_math.cast(_array.identity(
                _array.size(values)), self.dtype))
            values = _math.reduce_sum(values)
            self.numer.assign_add(_math.cast(values, self.dtype))
        else:
            weights = _math.cast(weights, self.dtype)
            self.denom.assign_add(_math.reduce_sum(weights))
            self.numer.assign_add(_math.reduce_sum(
                _math.cast(values, self.dtype) * weights))
        return values if weights is None else (values, weights)

    def result(self, write_summary=True):
        mean = self.numer / self.denom
        if write_summary and executing_eagerly():
            _summary(self.name, mean)
        return mean


class Accuracy(Mean):
    """The share of predictions that equal the labels."""

    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        labels = convert_to_tensor(labels)
        predictions = convert_to_tensor(predictions)
        if not labels.shape.is_compatible_with(predictions.shape):
            raise ValueError("Shapes of labels and predictions are not equal: "
                             "%s, %s" % (labels.shape, predictions.shape))
        super().call(self._matches(labels, predictions), weights)
        return (labels, predictions) if weights is None else (
            labels, predictions, weights)

    def _matches(self, labels, predictions):
        return _math.cast(_math.equal(labels, predictions), self.dtype)


class CategoricalAccuracy(Mean):
    """The share of examples whose largest prediction is the largest label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = (convert_to_tensor(x)
                               for x in (labels, predictions))
        matches = _math.equal(_math.argmax(labels, -1),
                              _math.argmax(predictions, -1))
        super().call(_math.cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (
            labels, predictions, weights)


class BinaryAccuracy(Accuracy):
    """The share of labels that predictions above `threshold` equal."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def _matches(self, labels, predictions):
        return _math.cast(_math.equal(
            _math.cast(labels, dtypes.bool_),
            predictions > self.threshold), self.dtype)


class SparseAccuracy(Mean):
    """The share of examples whose largest prediction is at the label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = (convert_to_tensor(x)
                               for x in (labels, predictions))
        found = _math.argmax(predictions, -1)
        matches = _math.equal(_math.cast(labels, found.dtype), found)
        super().call(_math.cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (
            labels, predictions, weights)
