"""tf.estimator.export's outputs: what of a model's results a server returns, and
by which of its methods."""
from headrace._headrace import Tensor
from headrace._src.framework import dtypes
from headrace._src.saved_model import signatures as _signatures


class ExportOutput:
    """Results that a SavedModel gives; derived classes say how."""

    def as_signature_def(self, receiver_tensors):
        """The SignatureDef with {key: Tensor} as inputs. ValueError where the
        method does not take these."""
        raise NotImplementedError("%s.as_signature_def" % type(self).__name__)

    @staticmethod
    def _check_output_key(key, error_label):
        """The key, a string or a tuple of strings. ValueError for others."""
        if isinstance(key, tuple):
            key = "/".join(key)
        if not isinstance(key, str):
            raise ValueError("%s output key must be a string; got %s."
                             % (error_label, key))
        return key

    def _wrap_and_check_outputs(self, outputs, single_output_default_name,
                                error_label=None):
        """{key: Tensor} of a dict or a single tensor. ValueError for others."""
        label = error_label or single_output_default_name
        if not isinstance(outputs, dict):
            outputs = {single_output_default_name: outputs}
        checked = {}
        for key, value in outputs.items():
            key = self._check_output_key(key, label)
            if not isinstance(value, Tensor):
                raise ValueError("%s output value must be a Tensor; got %s."
                                 % (label, value))
            checked[key] = value
        return checked


def _examples(receiver_tensors, what):
    """The one input, serialised Examples."""
    inputs = list(receiver_tensors.values())
    if len(inputs) != 1 or dtypes.as_dtype(inputs[0].dtype) != dtypes.string:
        raise ValueError("%s input must be a single string Tensor; got %s"
                         % (what, receiver_tensors))
    return inputs[0]


class ClassificationOutput(ExportOutput):
    """The method classify: `scores`, floats, and `classes`, strings; one of them
    may be None. With both, scores[i] is that of classes[i]. ValueError for
    tensors of other types."""

    def __init__(self, scores=None, classes=None):
        if scores is not None and not (isinstance(scores, Tensor)
                                       and scores.dtype.is_floating):
            raise ValueError("Classification scores must be a float32 Tensor; "
                             "got %s" % (scores,))
        if classes is not None and not (isinstance(classes, Tensor)
                                        and classes.dtype == dtypes.string):
            raise ValueError("Classification classes must be a string Tensor; "
                             "got %s" % (classes,))
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    scores = property(lambda self: self._scores)
    classes = property(lambda self: self._classes)

    def as_signature_def(self, receiver_tensors):
        return _signatures.classification_signature_def(
            _examples(receiver_tensors, "Classification"), self.classes,
            self.scores)


class RegressionOutput(ExportOutput):
    """The method regress: `value`, floats. ValueError for others."""

    def __init__(self, value):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError("Regression output value must be a float32 "
                             "Tensor; got %s" % (value,))
        self._value = value

    value = property(lambda self: self._value)

    def as_signature_def(self, receiver_tensors):
        return _signatures.regression_signature_def(
            _examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """The method predict: `outputs`, a dict of tensors, or one tensor, whose
    key is "output". ValueError for others."""

    def __init__(self, outputs):
        self._outputs = self._wrap_and_check_outputs(outputs, "output",
                                                     "Prediction")

    outputs = property(lambda self: self._outputs)

    def as_signature_def(self, receiver_tensors):
        return _signatures.predict_signature_def(receiver_tensors,
                                                 self.outputs)
