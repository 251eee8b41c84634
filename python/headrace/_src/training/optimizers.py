"""The optimizers. Most are one op of the library for each variable: a class
says which op, which slots and which numbers it takes."""
from headrace import raw_ops as _raw
from headrace._src.control.control_flow_ops import group
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, get_default_graph)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math
from headrace._src.training.optimizer import Optimizer, handle_of
from headrace._src.variables import initializers as _init


class _OpOptimizer(Optimizer):
    """Updates by the op Apply<_OP> and its variants: Resource, Sparse.

    _SLOTS: {argument of the op: slot}. _NUMBERS: {argument: attribute of the
    optimizer}; the attribute `x` is what the user gave, `x_tensor` its
    constant. _ATTRS: likewise for the op's attrs."""

    _SLOTS = {}
    _NUMBERS = {}
    _TENSOR_NAMES = {}
    _ATTRS = {}
    _GRADIENT = "grad"

    def _op_name(self):
        return self._OP

    def _prepare(self):
        self._tensors = {}
        for attribute in self._NUMBERS.values():
            value = self._call_if_callable(getattr(self, attribute))
            self._tensors[attribute] = convert_to_tensor(
                value, name=self._TENSOR_NAMES.get(attribute,
                                                   attribute.lstrip("_")))

    def _number(self, attribute, dtype):
        return _math.cast(self._tensors[attribute], dtype)

    def _numbers(self, var):
        return {argument: self._number(attribute, var.dtype.base_dtype)
                for argument, attribute in self._NUMBERS.items()}

    def _apply(self, var, grad, indices=None):
        op = "%s%sApply%s" % ("Resource" if var._is_resource else "",
                              "" if indices is None else "Sparse",
                              self._op_name())
        arguments = {name: handle_of(self.get_slot(var, slot))
                     for name, slot in self._SLOTS.items()}
        arguments.update(self._numbers(var))
        arguments.update({name: getattr(self, attribute)
                          for name, attribute in self._ATTRS.items()})
        if indices is None:
            arguments[self._GRADIENT] = grad
        else:
            arguments.update(grad=grad, indices=indices)
        made = getattr(_raw, op)(var=handle_of(var),
                                 use_locking=self._use_locking, **arguments)
        return getattr(made, "op", made)

    def _apply_dense(self, grad, var):
        return self._apply(var, grad)

    def _resource_apply_dense(self, grad, handle):
        return self._apply(handle, grad)

    def _apply_sparse(self, grad, var):
        return self._apply(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply(handle, grad, indices)

    def _constant_slot(self, var, value, slot, name):
        self._get_or_make_slot_with_initializer(
            var, _init.Constant(value), var.get_shape(), var.dtype.base_dtype,
            slot, name)


class GradientDescentOptimizer(_OpOptimizer):
    """var -= learning_rate * gradient."""

    _OP = "GradientDescent"
    _NUMBERS = {"alpha": "_learning_rate"}
    _GRADIENT = "delta"

    def __init__(self, learning_rate, use_locking=False,
                 name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    # Rows that occur twice are subtracted twice.
    def _apply_sparse_duplicate_indices(self, grad, var):
        scaled = grad.values * self._number("_learning_rate",
                                            var.dtype.base_dtype)
        return var.scatter_sub(
            IndexedSlices(scaled, grad.indices, grad.dense_shape),
            use_locking=self._use_locking).op

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        rate = self._number("_learning_rate", handle.dtype.base_dtype)
        return _raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)


class MomentumOptimizer(_OpOptimizer):
    """accumulator = momentum * accumulator + gradient; var -= learning_rate *
    accumulator. With Nesterov's step if use_nesterov."""

    _OP = "Momentum"
    _SLOTS = {"accum": "momentum"}
    _NUMBERS = {"lr": "_learning_rate", "momentum": "_momentum"}
    _ATTRS = {"use_nesterov": "_use_nesterov"}

    def __init__(self, learning_rate, momentum, use_locking=False,
                 name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)


class AdamOptimizer(_OpOptimizer):
    """Adam: https://arxiv.org/abs/1412.6980, with epsilon outside the
    correction ("epsilon hat")."""

    _OP = "Adam"
    _SLOTS = {"m": "m", "v": "v"}
    _NUMBERS = {"lr": "_lr", "beta1": "_beta1", "beta2": "_beta2",
                "epsilon": "_epsilon"}
    _TENSOR_NAMES = {"_lr": "learning_rate"}

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self):
        graph = get_default_graph()
        return (self._get_non_slot_variable("beta1_power", graph),
                self._get_non_slot_variable("beta2_power", graph))

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        for name, attribute in (("beta1_power", "_beta1"),
                                ("beta2_power", "_beta2")):
            self._create_non_slot_variable(
                self._call_if_callable(getattr(self, attribute)), name, first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _numbers(self, var):
        beta1_power, beta2_power = self._get_beta_accumulators()
        dtype = var.dtype.base_dtype
        return {"beta1_power": _math.cast(beta1_power, dtype),
                "beta2_power": _math.cast(beta2_power, dtype),
                **super()._numbers(var)}

    def _apply_rows(self, grad, var, indices):
        """As dense updates with zeros elsewhere: all rows of the slots decay,
        and all rows of the variable move."""
        n = self._numbers(var)
        rate = (n["lr"] * _math.sqrt(1 - n["beta2_power"])
                / (1 - n["beta1_power"]))

        def decay(slot, beta, added):
            decayed = slot.assign(slot * beta, use_locking=self._use_locking)
            with control_dependencies([decayed]):
                return slot.scatter_add(
                    IndexedSlices(added, indices),
                    use_locking=self._use_locking)

        m = decay(self.get_slot(var, "m"), n["beta1"],
                  grad * (1 - n["beta1"]))
        v = decay(self.get_slot(var, "v"), n["beta2"],
                  (grad * grad) * (1 - n["beta2"]))
        m, v = convert_to_tensor(m), convert_to_tensor(v)
        update = var.assign_sub(rate * m / (_math.sqrt(v) + n["epsilon"]),
                                use_locking=self._use_locking)
        return group(update, m, v)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)

    def _finish(self, update_ops, name_scope):
        with control_dependencies(update_ops):
            powers = self._get_beta_accumulators()
            updates = []
            with colocate_with(powers[0].op):
                for power, beta in zip(powers, ("_beta1", "_beta2")):
                    updates.append(power.assign(
                        power * self._tensors[beta],
                        use_locking=self._use_locking).op)
        return group(*update_ops, *updates, name=name_scope)


class AdagradOptimizer(_OpOptimizer):
    """accumulator += gradient^2; var -= learning_rate * gradient /
    sqrt(accumulator)."""

    _OP = "Adagrad"
    _SLOTS = {"accum": "accumulator"}
    _NUMBERS = {"lr": "_learning_rate"}

    def __init__(self, learning_rate, initial_accumulator_value=0.1,
                 use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError("initial_accumulator_value must be positive: %s"
                             % initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._constant_slot(v, self._initial_accumulator_value,
                                "accumulator", self._name)


class AdagradDAOptimizer(_OpOptimizer):
    """Adagrad with dual averaging: https://jmlr.org/papers/v12/duchi11a.html.
    Variables are determined by the sums of all gradients alone."""

    _OP = "AdagradDA"
    _SLOTS = {"gradient_accumulator": "gradient_accumulator",
              "gradient_squared_accumulator": "gradient_squared_accumulator"}
    _NUMBERS = {"lr": "_learning_rate", "l1": "_l1_regularization_strength",
                "l2": "_l2_regularization_strength"}

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
        self._global_step = global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "gradient_accumulator", self._name)
            self._constant_slot(v, self._initial,
                                "gradient_squared_accumulator", self._name)

    def _prepare(self):
        super()._prepare()
        # Steps count from 1 here.
        step = convert_to_tensor(self._global_step)
        self._step = _math.cast(step, "int64") + 1

    def _numbers(self, var):
        return {"global_step": self._step, **super()._numbers(var)}


class AdadeltaOptimizer(_OpOptimizer):
    """Adadelta: https://arxiv.org/abs/1212.5701."""

    _OP = "Adadelta"
    _SLOTS = {"accum": "accum", "accum_update": "accum_update"}
    _NUMBERS = {"lr": "_lr", "rho": "_rho", "epsilon": "_epsilon"}

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8,
                 use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)


class RMSPropOptimizer(_OpOptimizer):
    """Divides gradients by a running mean of their size. `centered`: by their
    standard deviation."""

    _SLOTS = {"ms": "rms", "mom": "momentum"}
    _NUMBERS = {"lr": "_learning_rate", "rho": "_decay",
                "momentum": "_momentum", "epsilon": "_epsilon"}

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10,
                 use_locking=False, centered=False, name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        if centered:
            self._SLOTS = {"mg": "mg", **self._SLOTS}

    def _op_name(self):
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _create_slots(self, var_list):
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, _init.Ones(), v.get_shape(), v.dtype.base_dtype, "rms",
                self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)


class FtrlOptimizer(_OpOptimizer):
    """Follow the regularized leader:
    https://research.google.com/pubs/archive/41159.pdf."""

    _SLOTS = {"accum": "accum", "linear": "linear"}
    _NUMBERS = {"lr": "_learning_rate", "l1": "_l1_regularization_strength",
                "l2": "_l2_regularization_strength",
                "lr_power": "_learning_rate_power"}

    def __init__(self, learning_rate, learning_rate_power=-0.5,
                 initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="Ftrl", accum_name=None, linear_name=None,
                 l2_shrinkage_regularization_strength=0.0):
        super().__init__(use_locking, name)
        if initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value %f needs to be "
                             "positive or zero" % initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError("learning_rate_power %f needs to be negative or "
                             "zero" % learning_rate_power)
        for what, value in (
                ("l1_regularization_strength", l1_regularization_strength),
                ("l2_regularization_strength", l2_regularization_strength),
                ("l2_shrinkage_regularization_strength",
                 l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ValueError("%s %f needs to be positive or zero"
                                 % (what, value))
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage = l2_shrinkage_regularization_strength
        self._accum_name = accum_name
        self._linear_name = linear_name
        if self._l2_shrinkage > 0.0:
            self._NUMBERS = {**self._NUMBERS, "l2_shrinkage": "_l2_shrinkage"}

    def _op_name(self):
        return "FtrlV2" if self._l2_shrinkage > 0.0 else "Ftrl"

    def _create_slots(self, var_list):
        for v in var_list:
            self._constant_slot(v, self._initial_accumulator_value, "accum",
                                self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)


class ProximalGradientDescentOptimizer(_OpOptimizer):
    """Gradient descent with L1 and L2 regularization:
    http://papers.nips.cc/paper/3793."""

    _OP = "ProximalGradientDescent"
    _NUMBERS = {"alpha": "_learning_rate",
                "l1": "_l1_regularization_strength",
                "l2": "_l2_regularization_strength"}
    _GRADIENT = "delta"

    def __init__(self, learning_rate, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False,
                 name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength


class ProximalAdagradOptimizer(_OpOptimizer):
    """Adagrad with L1 and L2 regularization:
    http://papers.nips.cc/paper/3793."""

    _OP = "ProximalAdagrad"
    _SLOTS = {"accum": "accumulator"}
    _NUMBERS = {"lr": "_learning_rate", "l1": "_l1_regularization_strength",
                "l2": "_l2_regularization_strength"}

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
            self._constant_slot(v, self._initial_accumulator_value,
                                "accumulator", self._name)
