"""tf.contrib.kernel_methods: linear models of features that a kernel maps to more
dimensions."""
import abc
import math

import numpy as np

from headrace._src.contrib.columns.real import (
    RealValuedColumn, real_valued_column)
from headrace._src.contrib.learn import heads as _heads
from headrace._src.contrib.learn.estimator import Estimator
from headrace._src.contrib.learn.keys import PredictionKey
from headrace._src.contrib.learn.linear import linear_model_fn
from headrace._src.control import check_ops as _check
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, control_dependencies, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.losses.losses import Reduction, compute_weighted_loss
from headrace._src.nn.activations import relu
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _log


class InvalidShapeError(Exception):
    """A tensor of another shape than a mapper takes."""


class DenseKernelMapper(metaclass=abc.ABCMeta):
    """What maps a dense tensor to another."""

    @abc.abstractmethod
    def map(self, input_tensor):
        """The mapped tensor."""

    @property
    @abc.abstractmethod
    def name(self):
        """The mapper's name."""

    @property
    @abc.abstractmethod
    def output_dim(self):
        """The size of the mapped tensor's last dimension."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Maps float32 [batch, input_dim] to [batch, output_dim], so that products are
    close to those of a Gaussian kernel with the deviation stddev: random
    cosines, which `seed` tells. InvalidShapeError for other tensors."""

    def __init__(self, input_dim, output_dim, stddev=1.0, seed=1, name=None):
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._stddev = stddev
        self._seed = seed
        self._name = name

    @property
    def name(self):
        return self._name or str(id(self))

    @property
    def input_dim(self):
        """The size of the dimension that is mapped."""
        return self._input_dim

    @property
    def output_dim(self):
        return self._output_dim

    def map(self, input_tensor):
        shape = input_tensor.get_shape()
        if len(shape) != 2:
            raise InvalidShapeError(
                "The shape of the tensor should be 2. Got %d instead."
                % len(shape))
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                "Invalid dimension: expected %d input features, got %d instead."
                % (self._input_dim, shape[1].value or 0))
        # NumPy's own generator: programs may use the numbers after these.
        np.random.seed(self._seed)
        omega = constant(np.random.normal(
            scale=1.0 / self._stddev,
            size=[self._input_dim, self._output_dim]), dtype=dtypes.float32)
        bias = constant(np.random.uniform(
            low=0.0, high=2 * np.pi, size=[self._output_dim]),
            dtype=dtypes.float32)
        return math.sqrt(2.0 / self._output_dim) * _math.cos(
            _math.add(_math.matmul(input_tensor, omega), bias))


def _mapped(features, columns, mappers):
    """The features and columns, with those that mappers make of them."""
    features, columns = dict(features), set(columns)
    for column, of_column in (mappers or {}).items():
        if not isinstance(column, RealValuedColumn):
            _log.warning("Updates are currently supported on RealValuedColumns "
                         "only. Metadata for FeatureColumn %s will not be "
                         "updated.", column.name)
            continue
        name = column.name + "_MAPPED"
        columns.add(real_valued_column(
            name, sum(mapper.output_dim for mapper in of_column)))
        features[name] = _array.concat(
            [mapper.map(features[column.name]) for mapper in of_column], 1)
    return features, columns


def _kernel_model_fn(features, labels, mode, params, config=None):
    features, columns = _mapped(features, params["feature_columns"],
                                params["kernel_mappers"])
    return linear_model_fn(features, labels, mode,
                           {**params, "feature_columns": columns}, config)


class KernelLinearClassifier(Estimator):
    """A linear model that tells classes, of features and of what mappers make of
    them.

    `kernel_mappers`: {real_valued_column: list of DenseKernelMappers}. Labels are
    integers [batch] or [batch, 1]. The other arguments are
    tf.contrib.learn.LinearClassifier's. ValueError without columns and mappers,
    and for mappers that are none."""

    def __init__(self, feature_columns=None, model_dir=None, n_classes=2,
                 weight_column_name=None, optimizer=None, kernel_mappers=None,
                 config=None):
        if not feature_columns and not kernel_mappers:
            raise ValueError(
                "You should set at least one of feature_columns, "
                "kernel_mappers.")
        for mappers in (kernel_mappers or {}).values():
            if not all(isinstance(m, DenseKernelMapper) for m in mappers):
                raise ValueError("Invalid kernel mappers.")
        super().__init__(
            model_fn=_kernel_model_fn, model_dir=model_dir, config=config,
            params={
                "head": _heads.multi_class_head(
                    n_classes=n_classes,
                    weight_column_name=weight_column_name),
                "feature_columns": feature_columns or [],
                "optimizer": optimizer,
                "kernel_mappers": kernel_mappers,
            })

    def _of_key(self, key, input_fn):
        return (found[key] for found in self.predict(input_fn=input_fn,
                                                     outputs=[key]))

    def predict_classes(self, input_fn=None):
        """An iterator over the classes, int64."""
        return self._of_key(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn=None):
        """An iterator over the probabilities, float32 [classes]."""
        return self._of_key(PredictionKey.PROBABILITIES, input_fn)


def sparse_multiclass_hinge_loss(
        labels, logits, weights=1.0, scope=None,
        loss_collection=GraphKeys.LOSSES,
        reduction=Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The hinge loss of logits [batch, classes] and classes, int32 or int64 [batch]
    or [batch, 1]: how much the largest other logit, plus one, exceeds the right
    one. `weights`: a scalar or of the labels' shape. ValueError for other shapes
    and dtypes."""
    with name_scope(scope, "sparse_multiclass_hinge_loss",
                    (logits, labels)) as scope:
        if logits.get_shape().ndims != 2:
            raise ValueError(
                "logits should have rank 2 ([batch_size, num_classes]). Given "
                "rank is {}".format(logits.get_shape().ndims))
        sizes = _array.shape(logits)
        batch, classes = sizes[0], sizes[1]
        logits = _math.cast(logits, dtypes.float32)
        if labels.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                "Invalid dtype for labels: {}. Acceptable dtypes: int32 and "
                "int64".format(labels.dtype))
        rank = labels.get_shape().ndims
        if rank not in (1, 2):
            raise ValueError(
                "labels should have rank 1 ([batch_size]) or 2 ([batch_size, "
                "1]). Given rank is {}".format(rank))
        with control_dependencies([_check.assert_less(
                labels, _math.cast(classes, labels.dtype))]):
            labels = _array.reshape(labels, shape=[-1])
        weights = convert_to_tensor(weights)
        if weights.get_shape().ndims not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 "
                "([batch_size, 1]). Given rank is {}".format(rank))
        if weights.get_shape().ndims > 0:
            weights = _array.reshape(weights, shape=[-1])
            weights.get_shape().assert_is_compatible_with(labels.get_shape())
        rows = _array.reshape(_math.range(batch), shape=[batch, 1])
        at = _array.concat([rows, _array.reshape(
            _math.cast(labels, rows.dtype), shape=[batch, 1])], axis=1)
        right = _array.reshape(_array.gather_nd(params=logits, indices=at),
                               shape=[batch, 1])
        others = _array.one_hot(indices=labels, depth=classes, on_value=0.0,
                                off_value=1.0)
        loss = _math.reduce_max(relu(logits - right + others), axis=1)
        return compute_weighted_loss(loss, weights, scope, loss_collection,
                                     reduction=reduction)
