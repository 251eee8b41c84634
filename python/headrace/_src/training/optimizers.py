"""The optimizers of tf.train."""
from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, device, get_default_graph)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import constant
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.optimizer import (
    OpUpdates, Optimizer, _cast)
from headrace._src.variables import initializers as _init
from headrace._src.variables import variables as _variables


class GradientDescentOptimizer(OpUpdates, Optimizer):
    """var -= learning_rate * gradient. `learning_rate`: a number, a tensor, or
    a function that returns one.

    Variables: float16, bfloat16, float32, float64 or complex, of any shape,
    without slots. Gradients may be IndexedSlices. minimize() raises ValueError
    if no variable has a gradient or one is of another dtype."""

    _op = "GradientDescent"
    _gradient_input = "delta"
    _scalar_inputs = {"alpha": "_learning_rate_tensor"}

    def __init__(self, learning_rate, use_locking=False,
                 name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor = None

    def _prepare(self):
        self._tensors(learning_rate=self._learning_rate)

    # Slices at the same index may be applied one after the other.

    def _apply_sparse_duplicate_indices(self, grad, var):
        rate = _cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return var.scatter_sub(
            IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape),
            use_locking=self._use_locking).op

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        rate = self._call_if_callable(self._learning_rate)
        return _raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)


class MomentumOptimizer(OpUpdates, Optimizer):
    """accum = momentum * accum + gradient; var -= learning_rate * accum.
    `use_nesterov`: var -= learning_rate * (gradient + momentum * accum).

    Variables: float16, bfloat16, float32 or float64, of any shape; accum is a
    slot of the same shape and dtype. `momentum`: a number, a scalar tensor or a
    function. minimize() raises ValueError if no variable has a gradient or one
    is of another dtype."""

    _op = "Momentum"
    _slot_inputs = {"accum": "momentum"}
    _scalar_inputs = {"lr": "_learning_rate_tensor",
                      "momentum": "_momentum_tensor"}

    def __init__(self, learning_rate, momentum, use_locking=False,
                 name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._tensors(learning_rate=self._learning_rate,
                      momentum=self._momentum)

    def _attrs(self):
        return {"use_nesterov": self._use_nesterov}


class AdagradOptimizer(OpUpdates, Optimizer):
    """accum += gradient^2; var -= learning_rate * gradient / sqrt(accum).
    ValueError if the initial accumulator is not positive.

    Variables: float16, bfloat16, float32 or float64, of any shape; accum is a
    slot of the same shape and dtype. minimize() raises ValueError if no
    variable has a gradient."""

    _op = "Adagrad"
    _slot_inputs = {"accum": "accumulator"}
    _scalar_inputs = {"lr": "_learning_rate_tensor"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1,
                 use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError("initial_accumulator_value must be positive: %s"
                             % initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            if v.get_shape().is_fully_defined():
                initial = _init.constant_initializer(
                    self._initial_accumulator_value, dtype=dtype)
            else:
                # A function: the variable need not be initialised before.
                initial = self._filled(v, dtype)
            self._get_or_make_slot_with_initializer(
                v, initial, v.get_shape(), dtype, "accumulator", self._name)

    def _filled(self, v, dtype):
        return lambda: _cast(_raw.Fill(
            _array.shape(v.initialized_value()),
            self._initial_accumulator_value), dtype)

    def _prepare(self):
        self._tensors(learning_rate=self._learning_rate)


class AdagradDAOptimizer(OpUpdates, Optimizer):
    """Adagrad by dual averaging: all gradients since the start are summed up,
    so the regularisation holds for the whole of the training. `global_step`
    must be incremented by each step."""

    _op = "AdagradDA"
    _slot_inputs = {
        "gradient_accumulator": "gradient_accumulator",
        "gradient_squared_accumulator": "gradient_squared_accumulator"}

    def __init__(self, learning_rate, global_step,
                 initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                "%s" % initial_gradient_squared_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = (
            initial_gradient_squared_accumulator_value)
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step
        self._global_step_on_worker = None

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                zero, initial = (
                    _constant_like(v, 0.0),
                    _constant_like(
                        v, self._initial_gradient_squared_accumulator_value))
            self._get_or_make_slot(v, zero, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, initial, "gradient_squared_accumulator",
                                   self._name)

    def _prepare(self):
        self._tensors(learning_rate=self._learning_rate)
        # The op wants the number of this step.
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = _raw.Identity(self._global_step) + 1

    def _inputs(self, var):
        with device(var.device):
            step = _raw.Identity(self._global_step_on_worker)
        dtype = var.dtype.base_dtype
        inputs = super()._inputs(var)
        inputs.update(lr=_cast(self._learning_rate_tensor, dtype),
                      l1=_math.cast(self._l1_regularization_strength, dtype),
                      l2=_math.cast(self._l2_regularization_strength, dtype),
                      global_step=_math.cast(step, "int64"))
        return inputs


def _constant_like(var, value):
    shape = var.get_shape()
    if shape.is_fully_defined():
        return constant(value, shape=shape, dtype=var.dtype.base_dtype)
    return _raw.Fill(_array.shape(var.initialized_value()),
                     constant(value, dtype=var.dtype.base_dtype))


def _ones_like(var):
    return lambda: _array.ones_like(var.initialized_value())


class AdadeltaOptimizer(OpUpdates, Optimizer):
    """accum and accum_update are averages of gradient^2 and update^2;
    update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * gradient;
    var -= learning_rate * update.

    Variables: float16, bfloat16, float32 or float64, of any shape; both
    averages are slots of the same shape and dtype. minimize() raises ValueError
    if no variable has a gradient."""

    _op = "Adadelta"
    _slot_inputs = {"accum": "accum", "accum_update": "accum_update"}
    _scalar_inputs = {"lr": "_lr_t", "rho": "_rho_t", "epsilon": "_epsilon_t"}

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8,
                 use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t = self._rho_t = self._epsilon_t = None

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self):
        for name in ("lr", "rho", "epsilon"):
            setattr(self, "_%s_t" % name,
                    self._hyperparameter(getattr(self, "_" + name), name))


class AdamOptimizer(OpUpdates, Optimizer):
    """m and v are averages of the gradient and of its square;
    var -= learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
    * m / (sqrt(v) + epsilon), in step t.

    Rows without a gradient move too: their m and v fall off.

    Variables: float16, bfloat16, float32 or float64, of any shape; m and v are
    slots of the same shape and dtype. Gradients may be IndexedSlices.
    minimize() raises ValueError if no variable has a gradient or one is of
    another dtype."""

    _op = "Adam"
    _slot_inputs = {"m": "m", "v": "v"}
    _scalar_inputs = {"beta1_power": "_beta1_power_now",
                      "beta2_power": "_beta2_power_now", "lr": "_lr_t",
                      "beta1": "_beta1_t", "beta2": "_beta2_t",
                      "epsilon": "_epsilon_t"}

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t = self._beta1_t = self._beta2_t = self._epsilon_t = None

    def _get_beta_accumulators(self):
        graph = get_default_graph()
        return (self._get_non_slot_variable("beta1_power", graph=graph),
                self._get_non_slot_variable("beta2_power", graph=graph))

    _beta1_power_now = property(lambda self: self._get_beta_accumulators()[0])
    _beta2_power_now = property(lambda self: self._get_beta_accumulators()[1])

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        for name, shown in (("lr", "learning_rate"), ("beta1", "beta1"),
                            ("beta2", "beta2"), ("epsilon", "epsilon")):
            setattr(self, "_%s_t" % name,
                    self._hyperparameter(getattr(self, "_" + name), shown))

    def _rate(self, dtype):
        """The learning rate with the correction for averages that began at
        zero."""
        beta1_power, beta2_power = [
            _cast(power, dtype) for power in self._get_beta_accumulators()]
        rate = _cast(self._lr_t, dtype) * _math.sqrt(1 - beta2_power)
        return rate / (1 - beta1_power)

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        dtype = var.dtype.base_dtype
        rate = self._rate(dtype)
        beta1, beta2 = (_cast(self._beta1_t, dtype),
                        _cast(self._beta2_t, dtype))
        epsilon = _cast(self._epsilon_t, dtype)

        def averaged(slot, beta, new):
            part = new() * (1 - beta)
            faded = _variables.assign(slot, slot * beta,
                                      use_locking=self._use_locking)
            with control_dependencies([faded]):
                return scatter_add(slot, indices, part)
        m = averaged(self.get_slot(var, "m"), beta1, lambda: grad)
        v = averaged(self.get_slot(var, "v"), beta2, lambda: grad * grad)
        root = _math.sqrt(v)
        updated = _variables.assign_sub(var, rate * m / (root + epsilon),
                                        use_locking=self._use_locking)
        return _flow.group(updated, m, v)

    def _apply_sparse(self, grad, var):
        return self._apply_sparse_shared(
            grad.values, var, grad.indices,
            lambda x, i, v: _variables.scatter_add(
                x, i, v, use_locking=self._use_locking))

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_sparse_shared(grad, handle, indices,
                                         self._resource_scatter_add)

    def _resource_scatter_add(self, x, i, v):
        with control_dependencies([_raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _finish(self, update_ops, name_scope):
        powers = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(powers[0]):
            updates = [
                power.assign(power * beta, use_locking=self._use_locking)
                for power, beta in zip(powers, (self._beta1_t, self._beta2_t))]
        return _flow.group(*update_ops, *updates, name=name_scope)


class RMSPropOptimizer(OpUpdates, Optimizer):
    """rms = decay * rms + (1 - decay) * gradient^2; momentum = momentum *
    momentum + learning_rate * gradient / sqrt(rms + epsilon); var -= momentum.
    `centered`: less the square of the average gradient under the root.

    Variables: float16, bfloat16, float32 or float64, of any shape; rms and
    momentum are slots of the same shape and dtype. minimize() raises ValueError
    if no variable has a gradient or one is of another dtype."""

    _scalar_inputs = {
        "lr": "_learning_rate_tensor", "rho": "_decay_tensor",
        "momentum": "_momentum_tensor", "epsilon": "_epsilon_tensor"}

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10,
                 use_locking=False, centered=False, name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._slot_inputs = {"ms": "rms", "mom": "momentum"}
        if centered:
            self._slot_inputs["mg"] = "mg"

    def _op_name(self):
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _create_slots(self, var_list):
        for v in var_list:
            dtype = v.dtype.base_dtype
            if v.get_shape().is_fully_defined():
                ones = _init.ones_initializer(dtype=dtype)
            else:
                ones = _ones_like(v)
            self._get_or_make_slot_with_initializer(
                v, ones, v.get_shape(), dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self):
        self._tensors(learning_rate=self._learning_rate, decay=self._decay,
                      momentum=self._momentum, epsilon=self._epsilon)


def _check_not_negative(**values):
    for name, value in values.items():
        if value < 0.0:
            raise ValueError("%s %f needs to be positive or zero"
                             % (name, value))


class FtrlOptimizer(OpUpdates, Optimizer):
    """Follow the regularised leader: with l1, weights that matter little become
    exactly zero. `accum_name`, `linear_name`: names of the slots. ValueError
    for a negative strength or a positive power."""

    _slot_inputs = {"accum": "accum", "linear": "linear"}
    _scalar_inputs = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
        "lr_power": "_learning_rate_power_tensor"}

    def __init__(self, learning_rate, learning_rate_power=-0.5,
                 initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="Ftrl", accum_name=None, linear_name=None,
                 l2_shrinkage_regularization_strength=0.0):
        super().__init__(use_locking, name)
        _check_not_negative(
            initial_accumulator_value=initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError("learning_rate_power %f needs to be negative or "
                             "zero" % learning_rate_power)
        _check_not_negative(
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=(
                l2_shrinkage_regularization_strength))
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = (
            l2_shrinkage_regularization_strength)
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._shrinks = l2_shrinkage_regularization_strength > 0.0
        if self._shrinks:
            inputs = dict(
                self._scalar_inputs,
                l2_shrinkage="_l2_shrinkage_regularization_strength_tensor")
            inputs["lr_power"] = inputs.pop("lr_power")  # the op has it last
            self._scalar_inputs = inputs

    def _op_name(self):
        return "FtrlV2" if self._shrinks else "Ftrl"

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                initial = _constant_like(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, initial, "accum",
                                   self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self):
        self._tensors(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
            l2_shrinkage_regularization_strength=(
                self._l2_shrinkage_regularization_strength),
            learning_rate_power=self._learning_rate_power)


class ProximalGradientDescentOptimizer(OpUpdates, Optimizer):
    """A gradient step, then the proximal step of the l1 and l2
    regularisation."""

    _op = "ProximalGradientDescent"
    _scalar_inputs = {
        "alpha": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor"}

    def __init__(self, learning_rate, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _prepare(self):
        self._tensors(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength)

    def _apply_op(self, prefix, var, grad, **indices):
        # The dense op calls the gradient `delta`, the sparse one `grad`.
        self._gradient_input = "grad" if indices else "delta"
        return super()._apply_op(prefix, var, grad, **indices)


class ProximalAdagradOptimizer(OpUpdates, Optimizer):
    """An Adagrad step, then the proximal step of the l1 and l2
    regularisation."""

    _op = "ProximalAdagrad"
    _slot_inputs = {"accum": "accumulator"}
    _scalar_inputs = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="ProximalAdagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError("initial_accumulator_value must be positive: %s"
                             % initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                initial = _constant_like(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, initial, "accumulator", self._name)

    def _prepare(self):
        self._tensors(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength)
