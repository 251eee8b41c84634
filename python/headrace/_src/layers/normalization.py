"""Batch normalization: tf.keras.layers.BatchNormalization, and the layer of
tf.layers, which differs in what `training` is by default."""
import math

from headrace._headrace import Operation
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    backend, constraints, initializers, regularizers)
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.nn import activations as _activations
from headrace._src.nn import normalization as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.variables import assign, assign_sub


def _after(scale, offset, then_scale, then_offset):
    """The scale and the offset that two pairs make one after another; None
    changes nothing."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    if then_offset is not None:
        offset = offset + then_offset
    return scale, offset


class BatchNormalization(Layer):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta.

    In training, the moments are those of the batch, over all dimensions but
    `axis`, and updates move `moving_mean` and `moving_variance` towards them.
    Otherwise those two are the moments. `training`: a bool, or a tensor of
    one. `fused`: one op for it all where it can (4 dimensions, axis 1 or 3,
    and none of the arguments below), by default and if True.

    `renorm`: the moments of the batch are corrected towards moving averages,
    renorm_mean and renorm_stddev; renorm_clipping, a dict, has limits for the
    corrections: rmin and rmax of the scale, dmax of the shift.
    `virtual_batch_size`: each so many examples are normalised by themselves.
    `adjustment`: a function of the inputs' shape that gives a scale and an
    offset, for training alone. ValueError for unknown limits, a size that is not
    positive, axis 0 of virtual batches, and these with an adjustment."""

    _masks_pass = True

    # Whether it is an error to ask for `fused` where it cannot be: in 2.x.
    _strict = False

    def __init__(self, axis=-1, momentum=0.99, epsilon=0.001, center=True,
                 scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", moving_mean_initializer="zeros",
                 moving_variance_initializer="ones", beta_regularizer=None,
                 gamma_regularizer=None, beta_constraint=None,
                 gamma_constraint=None, renorm=False, renorm_clipping=None,
                 renorm_momentum=0.99, fused=None, trainable=True,
                 virtual_batch_size=None, adjustment=None, name=None,
                 **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if isinstance(axis, (list, tuple)):
            self.axis = list(axis)
        elif isinstance(axis, int):
            self.axis = axis
        else:
            raise TypeError("axis must be int or list, type given: %s"
                            % type(axis))
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(
            moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(
            moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        one = self.axis if isinstance(self.axis, int) else (
            self.axis[0] if len(self.axis) == 1 else None)
        if self._strict and fused and one not in (-3, -1, 1, 3):
            raise ValueError("Passing fused=True is only supported when axis "
                             "is 1 or 3")
        self.fused = one in (-3, -1, 1, 3) and (fused is None or bool(fused))
        self._must_fuse = bool(fused) and self._strict
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        if renorm:
            self.renorm_clipping = dict(renorm_clipping or {})
            if set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}:
                raise ValueError("renorm_clipping %s contains keys not in %s"
                                 % (renorm_clipping, ["rmax", "rmin", "dmax"]))
            self.renorm_momentum = renorm_momentum
        if renorm or virtual_batch_size is not None or adjustment is not None:
            self.fused = self._must_fuse = False
        self.gamma = self.beta = None

    @property
    def _param_dtype(self):
        if self.dtype in ("float16", "bfloat16"):
            return dtypes.float32
        return dtypes.as_dtype(self.dtype or "float32")

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        n = shape.ndims
        if not n:
            raise ValueError("Input has undefined rank: %s" % (input_shape,))
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        for axis in axes:
            if not -n <= axis < n:
                raise ValueError("Invalid axis: %d" % axis)
        self.axis = [a % n for a in axes]
        if len(set(self.axis)) != len(self.axis):
            raise ValueError("Duplicate axis: %s" % self.axis)
        is_virtual = self.virtual_batch_size is not None
        if is_virtual:
            self._check_virtual_batches()
        if self._must_fuse and n != 4:
            raise ValueError("Batch normalization layers with fused=True only "
                             "support 4D input tensors.")
        self.fused = self.fused and n == 4
        if self.fused and self.axis not in ([1], [3]):
            raise ValueError("Unsupported axis, fused batch norm only supports "
                             "axis == [1] or axis == [3]")
        sizes = {a: shape[a].value for a in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input "
                             "shape: %s" % shape)
        self.input_spec = InputSpec(ndim=n, axes=sizes)
        wanted = [sizes.get(i, 1) for i in range(n)] if (
            is_virtual or len(sizes) > 1) else list(sizes.values())
        if is_virtual:  # the batches are a dimension after the first
            wanted.insert(1, 1)
            self.axis = [a + 1 for a in self.axis]
        self._add_parameters(wanted)
        self.built = True

    def _check_virtual_batches(self):
        if self.virtual_batch_size <= 0:
            raise ValueError("virtual_batch_size must be a positive integer "
                             "that divides the true batch size of the input "
                             "Tensor")
        if 0 in self.axis:
            raise ValueError("When using virtual_batch_size, the batch "
                             "dimension must be 0 and thus axis cannot include "
                             "0")
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot "
                             "be specified")

    def _add_parameters(self, shape):
        kind = self._param_dtype
        if self.scale:
            self.gamma = self._parameter("gamma", shape)
        elif self.fused:
            self._gamma_const = constant(1.0, kind, shape)
        if self.center:
            self.beta = self._parameter("beta", shape)
        elif self.fused:
            self._beta_const = constant(0.0, kind, shape)
        # The moments are never cut into parts.
        scope = getattr(self, "_scope", None)
        partitioner = scope.partitioner if scope else None
        try:
            if partitioner:
                scope.set_partitioner(None)
            self.moving_mean = self._moment("moving_mean", shape)
            self.moving_variance = self._moment("moving_variance", shape)
            if self.renorm:
                self.moving_stddev = self._moment("moving_stddev", shape)
                self.renorm_mean = self._moment("renorm_mean", shape)
                self.renorm_stddev = self._moment("renorm_stddev", shape)
        finally:
            if partitioner:
                scope.set_partitioner(partitioner)

    def _parameter(self, name, shape):
        return self.add_weight(
            name=name, shape=shape, dtype=self._param_dtype,
            initializer=getattr(self, name + "_initializer"),
            regularizer=getattr(self, name + "_regularizer"),
            constraint=getattr(self, name + "_constraint"), trainable=True,
            experimental_autocast=False)

    def _moment(self, name, shape):
        if name.endswith("mean"):
            initializer = self.moving_mean_initializer
        elif name.endswith("stddev"):
            def initializer(*args, **kwargs):
                return _math.sqrt(
                    self.moving_variance_initializer(*args, **kwargs))
        else:
            initializer = self.moving_variance_initializer
        return self.add_weight(
            name=name, shape=shape, dtype=self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ, trainable=False,
            aggregation=VariableAggregation.MEAN, experimental_autocast=False)

    def _moved(self, variable, value, momentum):
        with name_scope("AssignMovingAvg") as scope:
            with colocate_with(variable):
                decay = convert_to_tensor(1.0 - momentum, name="decay")
                kind = variable.dtype.base_dtype
                if decay.dtype.base_dtype != kind:
                    decay = _math.cast(decay, kind)
                change = (variable - _math.cast(value, kind)) * decay
                done = assign_sub(variable, change, name=scope)
                if not isinstance(done, Operation):
                    return done
                # The variable lies on several devices.
                with control_dependencies([done]):
                    return convert_to_tensor(variable)

    def call(self, inputs, training=None):
        if training is None:
            training = backend.learning_phase()
        if self.virtual_batch_size is not None:
            return self._of_virtual_batches(inputs, training)
        return (self._fused if self.fused else self._in_parts)(inputs, training)

    def _of_virtual_batches(self, inputs, training):
        sizes = inputs.get_shape().as_list()[1:]
        if None in sizes:
            sizes = _array.unstack(_array.shape(inputs)[1:],
                                   num=len(sizes))
        batches = _array.reshape(inputs, [self.virtual_batch_size, -1] + sizes)
        return _array.reshape(self._in_parts(batches, training), [-1] + sizes)

    def _fused(self, inputs, training):
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        options = dict(epsilon=self.epsilon,
                       data_format="NCHW" if self.axis == [1] else "NHWC")

        def train():
            return _nn.fused_batch_norm(inputs, gamma, beta, **options)

        def infer():
            return _nn.fused_batch_norm(
                inputs, gamma, beta, mean=self.moving_mean,
                variance=self.moving_variance, is_training=False, **options)
        output, mean, variance = backend.choose(training, train, infer)
        known = backend.known(training)
        if known is None:
            momentum = backend.choose(training, lambda: self.momentum,
                                      lambda: 1.0)
        else:  # a node of its own, as in TensorFlow, whether used or not
            momentum = convert_to_tensor(self.momentum)
        if known is False:
            return output
        self.add_update(self._moved(self.moving_mean, mean, momentum))
        self.add_update(self._moved(self.moving_variance, variance, momentum))
        return output

    def _in_parts(self, inputs, training):
        shape = inputs.get_shape()
        n = shape.ndims
        is_virtual = self.virtual_batch_size is not None
        axes = [i for i in range(n) if i not in self.axis]
        if is_virtual:
            del axes[1]

        def wide(v):
            """With a dimension for each of the inputs'."""
            if v is None or v.get_shape().ndims == n or (
                    axes == list(range(n - 1))):
                return v
            sizes = [1] * n
            sizes[self.axis[0]] = shape[self.axis[0]].value
            return _array.reshape(v, sizes)
        scale, offset = wide(self.gamma), wide(self.beta)
        if backend.known(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment is not None:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            batch_mean, batch_variance = _nn.moments(
                _math.cast(inputs, self._param_dtype), axes,
                keep_dims=is_virtual or len(self.axis) > 1)
            mean = backend.choose(training, lambda: batch_mean,
                                  lambda: convert_to_tensor(self.moving_mean))
            variance = backend.choose(
                training, lambda: batch_variance,
                lambda: convert_to_tensor(self.moving_variance))
            new = mean, variance
            if is_virtual:
                new = [_math.reduce_mean(v, axis=1, keepdims=True) for v in new]
            if self.renorm:
                r, d, new = self._corrections(*new, training)
                scale, offset = _after(
                    wide(_array.stop_gradient(r, name="renorm_r")),
                    wide(_array.stop_gradient(d, name="renorm_d")),
                    scale, offset)
            for variable, value, move in (
                    (self.moving_mean, new[0], self._moved),
                    (self.moving_variance, new[1], self._moved_by_stddev
                     if self.renorm else self._moved)):
                self.add_update(backend.choose(
                    training, lambda: move(variable, value, self.momentum),
                    lambda: convert_to_tensor(variable)))
        kind = inputs.dtype.base_dtype

        def cast(v):
            return None if v is None else _math.cast(v, kind)
        outputs = _nn.batch_normalization(
            inputs, wide(cast(mean)), wide(cast(variance)), cast(offset),
            cast(scale), self.epsilon)
        outputs.set_shape(shape)
        return outputs

    def _adjusted(self, inputs, training, scale, offset):
        """`scale` and `offset` after those of the adjustment."""
        factor, shift = self.adjustment(_array.shape(inputs))
        factor = backend.choose(training, lambda: factor,
                                lambda: _array.ones_like(factor))
        shift = backend.choose(training, lambda: shift,
                               lambda: _array.zeros_like(shift))
        return _after(factor, shift, scale, offset)

    def _corrections(self, mean, variance, training):
        """(scale, shift, (mean, variance)) of renorm: what corrects values that
        the moments of the batch normalise, and the moments once renorm_mean and
        renorm_stddev have moved towards them."""
        stddev = _math.sqrt(variance + self.epsilon)
        # renorm_stddev may begin as zeros.
        known = _math.maximum(self.renorm_stddev, math.sqrt(self.epsilon))
        r, d = stddev / known, (mean - self.renorm_mean) / known
        with control_dependencies([r, d]):  # they use what was there before
            mean = _array.identity(mean)
            stddev = _array.identity(stddev)
        low, high, far = [self.renorm_clipping.get(key)
                          for key in ("rmin", "rmax", "dmax")]
        r = r if low is None else _math.maximum(r, low)
        r = r if high is None else _math.minimum(r, high)
        if far is not None:
            d = _math.minimum(_math.maximum(d, -far), far)
        corrections = [
            backend.choose(training, lambda: r, lambda: _array.ones_like(r)),
            backend.choose(training, lambda: d, lambda: _array.zeros_like(d))]
        moved = [backend.choose(
            training, lambda: self._moved(v, value, self.renorm_momentum),
            lambda: _array.identity(v)) for v, value in (
                (self.renorm_mean, mean), (self.renorm_stddev, stddev))]
        with control_dependencies(moved):
            return *corrections, (_array.identity(mean),
                                  _array.identity(variance))

    def _moved_by_stddev(self, variable, value, momentum):
        """moving_variance after moving_stddev moved: it is that squared."""
        stddev = self._moved(self.moving_stddev,
                             _math.sqrt(value + self.epsilon), momentum)
        with name_scope("AssignNewValue") as scope, colocate_with(variable.op):
            # Rounding may take it below 0.
            return assign(variable, _activations.relu(
                stddev * stddev - self.epsilon), name=scope)

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        config = super().get_config()
        for key in ("axis", "momentum", "epsilon", "center", "scale"):
            config[key] = getattr(self, key)
        if self.renorm:
            for key in ("renorm", "renorm_clipping", "renorm_momentum"):
                config[key] = getattr(self, key)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        if self.adjustment is not None:
            logging.warning(
                "The `adjustment` function of BatchNormalization %s is not part "
                "of its configuration: functions cannot be saved", self.name)
        for key, value in vars(self).items():
            if key.endswith(("_initializer", "_regularizer", "_constraint")):
                config[key.lstrip("_")] = initializers.serialize(value)
        config.pop("activity_regularizer", None)
        return config


class LayerNormalization(Layer):
    """Each example normalised over `axis`, then times gamma plus beta."""

    _masks_pass = True

    def __init__(self, axis=-1, epsilon=0.001, center=True, scale=True,
                 beta_initializer="zeros", gamma_initializer="ones",
                 beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.axis = axis
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.gamma = self.beta = None

    _parameter = BatchNormalization._parameter
    _param_dtype = BatchNormalization._param_dtype

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        axes = self.axis if isinstance(self.axis, (list, tuple)) else [
            self.axis]
        self.axis = [a % shape.ndims for a in axes]
        sizes = [shape[a].value for a in self.axis]
        if self.scale:
            self.gamma = self._parameter("gamma", sizes)
        if self.center:
            self.beta = self._parameter("beta", sizes)
        self.built = True

    def call(self, inputs):
        shape = inputs.get_shape()
        mean, variance = _nn.moments(inputs, self.axis, keep_dims=True)
        sizes = [shape[i].value if i in self.axis else 1
                 for i in range(shape.ndims)]

        def wide(v):
            if v is None or self.axis == [shape.ndims - 1]:
                return v
            return _array.reshape(v, sizes)
        outputs = _nn.batch_normalization(
            inputs, mean, variance, wide(self.beta), wide(self.gamma),
            self.epsilon)
        outputs.set_shape(shape)
        return outputs

    def get_config(self):
        config = {**super().get_config(), "axis": self.axis,
                  "epsilon": self.epsilon, "center": self.center,
                  "scale": self.scale}
        for name in ("beta", "gamma"):
            for what in ("initializer", "regularizer", "constraint"):
                key = "%s_%s" % (name, what)
                config[key] = initializers.serialize(getattr(self, key))
        return config
