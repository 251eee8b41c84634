"""tf.contrib.model_pruning: sets small weights to zero while a model is trained."""
import re

import numpy as np

from headrace._src.contrib.hparams import HParams
from headrace._src.contrib.pruning_layers import (
    MASKED_WEIGHTS, MASKS, THRESHOLDS, WEIGHTS)
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    control_dependencies, get_collection, name_scope)
from headrace._src.framework.tensor import constant
from headrace._src.nn.activations import top_k, zero_fraction
from headrace._src.nn.spatial import pool
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _log
from headrace._src.training import summary as _summary
from headrace._src.training.global_step import get_global_step
from headrace._src.variables.initializers import Zeros
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.scopes import get_variable, variable_scope
from headrace._src.variables.variables import assign


def get_masked_weights():
    """A list of the weights times their masks, float tensors of any shape. It
    raises nothing."""
    return get_collection(MASKED_WEIGHTS)


def get_masks():
    """A list of the masks, float variables of the weights' shapes. It raises
    nothing."""
    return get_collection(MASKS)


def get_thresholds():
    """A list of the thresholds, scalar float variables. It raises nothing."""
    return get_collection(THRESHOLDS)


def get_weights():
    """A list of the weights that have masks, float variables of any shape. It
    raises nothing."""
    return get_collection(WEIGHTS)


def get_weight_sparsity():
    """A list of the shares of zeros in the masks, float32 scalars. It raises
    nothing."""
    return [zero_fraction(mask) for mask in get_masks()]


def get_pruning_hparams():
    """The HParams of a Pruning: integers, floats, strings and lists of strings.
    They tell from which global step to which weights are pruned, how often, and
    which share of them. It raises nothing."""
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1,
        weight_sparsity_map=[""], block_dims_map=[""], threshold_decay=0.0,
        pruning_frequency=10, nbins=256, block_height=1, block_width=1,
        block_pooling_function="AVG", initial_sparsity=0.0,
        target_sparsity=0.5, sparsity_function_begin_step=0,
        sparsity_function_end_step=100, sparsity_function_exponent=3.0,
        use_tpu=False)


def _check(spec):
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            "Pruning must begin before it can end. begin_step=%d, end_step=%d."
            "Set end_pruning_step to -1 if pruning is required till training"
            "stops" % (spec.begin_pruning_step, spec.end_pruning_step))
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError("%s must be in range [0,1)" % name)


def _by_name(texts, parse):
    """{pattern: value} of texts "pattern:value"."""
    found = {}
    for text in texts:
        if text:
            name, value = text.split(":")
            found[re.compile(name)] = parse(name, value)
    return found


def _block_of(name, text):
    sizes = text.split("x")
    if len(sizes) != 2:
        raise ValueError("Expected 2 values for block dim for %s, got %s"
                         % (name, sizes))
    return [int(size) for size in sizes]


def _sparsity_of(name, text):
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _match(known, name, default, what):
    found = [v for pattern, v in known.items() if pattern.search(name)]
    if len(found) > 1:
        raise ValueError("Multiple matches in %s for weight %s" % (what, name))
    return found[0] if found else default


def expand_tensor(tensor, block_dims):
    """A matrix in which each element is a block of that size. ValueError for
    another rank and another number of sizes."""
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")

    def repeated(t, times):
        rows, columns = t.shape.as_list()
        order = (np.arange(rows)[None, :] * times
                 + np.arange(times)[:, None]).reshape(-1, 1)
        return _special.scatter_nd(
            constant(order.astype(np.int32)), _array.tile(t, [times, 1]),
            [rows * times, columns])
    if block_dims[0] > 1:
        tensor = repeated(tensor, block_dims[0])
    if block_dims[1] > 1:
        tensor = _array.transpose(repeated(_array.transpose(tensor),
                                           block_dims[1]))
    return tensor


def _assign(variable, value):
    return assign(variable, value, name=variable.op.name + "_assign")


def _assign_parts(variable, value):
    """Assigns a value to a variable that is divided along one axis."""
    parts = list(variable)
    axes = [i for i, (a, b) in enumerate(zip(
        parts[0].get_shape().as_list(), variable.get_shape().as_list()))
        if a != b] or [0]
    sizes = [p.get_shape().as_list()[axes[0]] for p in parts]
    values = _array.split(value, sizes, axis=axes[0])
    return group(*[_assign(p, v) for p, v in zip(parts, values)],
                 name=variable.name + "_group_assign")


class Pruning:
    """Prunes the weights that have masks.

    `spec`: HParams as get_pruning_hparams'. `global_step`: by default the graph's.
    `sparsity`: a float32 scalar, the share of zeros; by default a function of the
    step that spec tells. Weights are float, of any shape; blocks are parts of
    matrices. ValueError for values that do not fit."""

    def __init__(self, spec=None, global_step=None, sparsity=None):
        self._spec = spec or get_pruning_hparams()
        _check(self._spec)
        if global_step is None:
            global_step = get_global_step()
        self._global_step = _math.cast(global_step, dtypes.int32)
        self._sparsity = (self._setup_sparsity() if sparsity is None
                          else sparsity)
        self._assign_ops = []
        self._last_update_step = self._setup_last_update_step()
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_pooling_function = self._spec.block_pooling_function
        self._block_dims_map = _by_name(self._spec.block_dims_map, _block_of)
        self._weight_sparsity_map = _by_name(self._spec.weight_sparsity_map,
                                             _sparsity_of)

    def _setup_sparsity(self):
        spec = self._spec
        begin = spec.sparsity_function_begin_step
        with name_scope(spec.name):
            p = _math.minimum(1.0, _math.maximum(0.0, _math.div(
                _math.cast(self._global_step - begin, dtypes.float32),
                spec.sparsity_function_end_step - begin)))
            return _math.add(
                _math.multiply(spec.initial_sparsity - spec.target_sparsity,
                               _math.pow(1 - p,
                                         spec.sparsity_function_exponent)),
                spec.target_sparsity, name="sparsity")

    def _setup_last_update_step(self):
        name = "last_mask_update_step"
        with variable_scope(self._spec.name,
                            use_resource=self._spec.use_tpu) as scope:
            try:
                return get_variable(name, [], initializer=Zeros(),
                                    trainable=False, dtype=dtypes.int32)
            except ValueError:
                scope.reuse_variables()
                return get_variable(name, dtype=dtypes.int32)

    def _get_block_dims(self, weight_name):
        return _match(self._block_dims_map, weight_name, self._block_dims,
                      "block_dims_map")

    def _get_sparsity(self, weight_name):
        own = _match(self._weight_sparsity_map, weight_name, None,
                     "weight_sparsity_map")
        if own is None:
            return self._sparsity
        return _math.multiply(self._sparsity,
                              _math.div(own, self._spec.target_sparsity))

    def _update_mask(self, weights, threshold):
        """(new threshold, new mask): the smallest weights are below it."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        sparsity = self._get_sparsity(weights.op.name)
        decay = self._spec.threshold_decay
        with name_scope(weights.op.name + "_pruning_ops"):
            sizes = _math.abs(weights)
            kept = _math.cast(_math.round(
                _math.cast(_array.size(sizes), dtypes.float32)
                * (1 - sparsity)), dtypes.int32)
            ordered, _ = top_k(_array.reshape(sizes, [-1]),
                               k=_array.size(sizes))
            smoothed = _math.add_n([
                _math.multiply(_array.gather(ordered, kept - 1), 1 - decay),
                _math.multiply(threshold, decay)])
            return smoothed, _math.cast(_math.greater_equal(sizes, smoothed),
                                        dtypes.float32)

    def _maybe_update_block_mask(self, weights, threshold):
        """The same of blocks, if weights are a matrix and blocks are larger."""
        block = list(self._get_block_dims(weights.op.name))
        matrix = _array.squeeze(weights)
        if matrix.get_shape().ndims != 2 or block == [1, 1]:
            return self._update_mask(weights, threshold)
        shape = matrix.get_shape().as_list()
        block = [n if b == -1 else b for b, n in zip(block, shape)]
        if self._block_pooling_function not in ("AVG", "MAX"):
            raise ValueError(
                "Unknown pooling function for block sparsity: %s"
                % self._block_pooling_function)
        with name_scope(weights.op.name + "_pruning_ops"):
            pooled = pool(
                _array.reshape(_math.abs(matrix), [1, *shape, 1]),
                window_shape=block, pooling_type=self._block_pooling_function,
                strides=block, padding="SAME",
                name=weights.op.name + "_pooled")
            smoothed, mask = self._update_mask(
                _array.squeeze(pooled, axis=[0, 3]), threshold)
            mask = _array.slice(expand_tensor(mask, block), [0, 0], shape)
        return smoothed, _array.reshape(mask, _array.shape(weights))

    def _get_mask_assign_ops(self):
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() "
                             "called twice?")
        masks, thresholds = get_masks(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                "Number of masks %s and number of thresholds %s mismatch"
                % (len(masks), len(thresholds)))
        for mask, threshold, weight in zip(masks, thresholds, get_weights()):
            in_parts = isinstance(weight, PartitionedVariable)
            new_threshold, new_mask = self._maybe_update_block_mask(
                weight.as_tensor() if in_parts else weight, threshold)
            self._assign_ops += [
                _assign(threshold, new_threshold),
                (_assign_parts if in_parts else _assign)(mask, new_mask)]

    def mask_update_op(self):
        """An operation that computes all masks anew."""
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            step = assign(self._last_update_step, self._global_step,
                          name="last_mask_update_step_assign")
            with control_dependencies([step]), control_dependencies(
                    self._assign_ops):
                _log.info("Updating masks.")
                return _array.no_op("mask_update")

    def conditional_mask_update_op(self):
        """An operation that computes all masks anew in the steps that spec
        tells."""
        spec, step = self._spec, self._global_step
        with name_scope(spec.name):
            inside = _math.logical_and(
                _math.greater_equal(step, spec.begin_pruning_step),
                _math.logical_or(
                    _math.less_equal(step, spec.end_pruning_step),
                    _math.less(spec.end_pruning_step, 0)))
            due = _math.less_equal(_math.add(
                self._last_update_step, spec.pruning_frequency), step)
            update = _math.logical_and(inside, due)
        return cond(update, self.mask_update_op, _array.no_op)

    def add_pruning_summaries(self):
        """Summarises sparsity and thresholds."""
        with name_scope(self._spec.name + "_summaries"):
            _summary.scalar("sparsity", self._sparsity)
            _summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                _summary.scalar(mask.op.name + "/sparsity",
                                zero_fraction(mask))
                _summary.scalar(threshold.op.name + "/threshold", threshold)

    def print_hparams(self):
        """Logs spec."""
        _log.info(self._spec.to_json())
