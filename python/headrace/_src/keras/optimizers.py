"""tf.keras.optimizers: the methods. Their hyperparameters are variables, which
callbacks change between steps."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.keras import schedules as _schedules
from headrace._src.keras.optimizer import Optimizer
from headrace._src.layers import backend
from headrace._src.layers.named import get_custom_objects
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.initializers import Constant


class _Method(Optimizer):
    """An optimizer with a learning rate, its decay and further hyperparameters
    HYPERS. ATTRIBUTES are in its config too; those that start with an
    underscore, without it."""

    HYPERS: tuple[str, ...] = ()
    ATTRIBUTES: tuple[str, ...] = ()

    def __init__(self, name, learning_rate, *hypers, **kwargs):
        super().__init__(name, **kwargs)
        values = (kwargs.get("lr", learning_rate), self._initial_decay, *hypers)
        for hyper, value in zip(self._hyper_names(), values):
            self._set_hyper(hyper, value)

    def _hyper_names(self):
        return ("learning_rate", "decay", *self.HYPERS)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        self._prepare_more(var_dtype, apply_state[var_device, var_dtype])

    def _prepare_more(self, dtype, state):
        """Adds to what is computed once a step for all variables of a type."""

    def _identity(self, hyper, dtype):
        return _array.identity(self._get_hyper(hyper, dtype))

    def _epsilon(self, dtype):
        return convert_to_tensor(self.epsilon, dtype=dtype)

    def _handles(self, var, *slots):
        return [var.handle, *(self.get_slot(var, s).handle for s in slots)]

    def _decayed_rows(self, slot, indices, added, factor):
        """The slot after it was multiplied by `factor` and its rows got
        more."""
        with control_dependencies([slot.assign(slot * factor)]):
            return self._resource_scatter_add(slot, indices, added)

    def get_config(self):
        config = super().get_config()
        for name in self._hyper_names():
            config[name] = self._serialize_hyperparameter(name)
        for name in self.ATTRIBUTES:
            config[name.lstrip("_")] = getattr(self, name)
        return config


class _WithoutSteps:
    """set_weights() also takes the weights of the first Keras, which had no
    number of steps at their head."""

    def set_weights(self, weights):
        if len(weights) == len(self.weights) - 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)


def _has_momentum(momentum):
    """Whether it may be above 0. ValueError for a number outside [0, 1]."""
    if is_tensor(momentum) or callable(momentum):
        return True
    if not 0 <= momentum <= 1:
        raise ValueError("`momentum` must be between [0, 1].")
    return momentum > 0


class SGD(_Method):
    """var -= learning_rate * gradient; with `momentum`, by a velocity that is
    momentum * velocity - learning_rate * gradient."""

    HYPERS = ("momentum",)
    ATTRIBUTES = ("nesterov",)

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False,
                 name="SGD", **kwargs):
        super().__init__(name, learning_rate, momentum, **kwargs)
        self._momentum = _has_momentum(momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare_more(self, dtype, state):
        state["momentum"] = self._identity("momentum", dtype)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        if not self._momentum:
            return _raw.ResourceApplyGradientDescent(
                var.handle, now["lr_t"], grad, use_locking=self._use_locking)
        return _raw.ResourceApplyKerasMomentum(
            *self._handles(var, "momentum"), now["lr_t"], grad,
            now["momentum"], use_locking=self._use_locking,
            use_nesterov=self.nesterov)

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices,
                                                 **kwargs):
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(
                grad, var, indices, **kwargs)
        now = self._of(var, kwargs.get("apply_state"))
        return _raw.ResourceScatterAdd(var.handle, indices,
                                       -grad * now["lr_t"])

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)
        return _raw.ResourceSparseApplyKerasMomentum(
            *self._handles(var, "momentum"), now["lr_t"], grad, indices,
            now["momentum"], use_locking=self._use_locking,
            use_nesterov=self.nesterov)


class RMSprop(_WithoutSteps, _Method):
    """var -= learning_rate * gradient / sqrt(mean of squared gradients)."""

    HYPERS = ("rho", "momentum")
    ATTRIBUTES = ("epsilon", "centered")

    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0,
                 epsilon=1e-7, centered=False, name="RMSprop", **kwargs):
        super().__init__(name, learning_rate, rho, momentum, **kwargs)
        self._momentum = _has_momentum(momentum)
        self.epsilon = epsilon or backend.epsilon()
        self.centered = centered

    def _create_slots(self, var_list):
        for name, is_used in (("rms", True), ("momentum", self._momentum),
                              ("mg", self.centered)):
            if is_used:
                for var in var_list:
                    self.add_slot(var, name)

    def _prepare_more(self, dtype, state):
        rho = self._identity("rho", dtype)
        state.update(
            neg_lr_t=-state["lr_t"], epsilon=self._epsilon(dtype), rho=rho,
            momentum=self._identity("momentum", dtype), one_minus_rho=1. - rho)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        if self._momentum:
            return self._with_momentum("", var, now, grad)
        rms, mg = self.get_slot(var, "rms"), None
        variance = rms.assign(now["rho"] * rms
                              + now["one_minus_rho"] * _math.square(grad))
        if self.centered:
            mg = self.get_slot(var, "mg")
            mean = mg.assign(now["rho"] * mg + now["one_minus_rho"] * grad)
            variance = variance - _math.square(mean)
        return var.assign(var - now["lr_t"] * grad / (
            _math.sqrt(variance) + now["epsilon"])).op

    def _with_momentum(self, kind, var, now, *grads):
        slots = ("mg",) * bool(self.centered) + ("rms", "momentum")
        apply = getattr(_raw, "Resource%sApply%sRMSProp" % (
            kind, "Centered" if self.centered else ""))
        return apply(*self._handles(var, *slots), now["lr_t"], now["rho"],
                     now["momentum"], now["epsilon"], *grads,
                     use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)
        if self._momentum:
            return self._with_momentum("Sparse", var, now, grad, indices)
        done = [self._decayed_rows(
            self.get_slot(var, "rms"), indices,
            grad * grad * now["one_minus_rho"], now["rho"])]
        variance = _array.gather(done[0], indices)
        if self.centered:
            done.append(self._decayed_rows(
                self.get_slot(var, "mg"), indices, grad * now["one_minus_rho"],
                now["rho"]))
            variance -= _math.square(_array.gather(done[1], indices))
        return _flow.group(self._resource_scatter_add(
            var, indices, now["neg_lr_t"] * grad / (
                _math.sqrt(variance) + now["epsilon"])), *done)


class Adagrad(_WithoutSteps, _Method):
    """var -= learning_rate * gradient / sqrt(sum of squared gradients)."""

    ATTRIBUTES = ("epsilon", "_initial_accumulator_value")

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1,
                 epsilon=1e-7, name="Adagrad", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value must be non-negative: "
                             "%s" % initial_accumulator_value)
        super().__init__(name, learning_rate, **kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or backend.epsilon()

    @classmethod
    def from_config(cls, config, custom_objects=None):
        # So it is in TensorFlow, for get("adagrad") too.
        return super().from_config({"initial_accumulator_value": 0., **config},
                                   custom_objects)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", Constant(
                self._initial_accumulator_value))

    def _prepare_more(self, dtype, state):
        state.update(epsilon=self._epsilon(dtype), neg_lr_t=-state["lr_t"],
                     zero=_array.zeros((), dtype=dtypes.int64))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        return _raw.ResourceApplyAdagradV2(
            *self._handles(var, "accumulator"), now["lr_t"], now["epsilon"],
            grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)
        return _raw.ResourceSparseApplyAdagradV2(
            *self._handles(var, "accumulator"), now["lr_t"], now["epsilon"],
            grad, indices, use_locking=self._use_locking)


class Adadelta(_WithoutSteps, _Method):
    """Steps in proportion to the mean of former steps and of gradients."""

    HYPERS = ("rho",)
    ATTRIBUTES = ("epsilon",)

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7,
                 name="Adadelta", **kwargs):
        super().__init__(name, learning_rate, rho, **kwargs)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list):
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_more(self, dtype, state):
        state.update(epsilon=self._epsilon(dtype),
                     rho=self._identity("rho", dtype))

    def _arguments(self, var, apply_state):
        now = self._of(var, apply_state)
        return [*self._handles(var, "accum_grad", "accum_var"), now["lr_t"],
                now["rho"], now["epsilon"]]

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return _raw.ResourceApplyAdadelta(
            *self._arguments(var, apply_state), grad,
            use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return _raw.ResourceSparseApplyAdadelta(
            *self._arguments(var, apply_state), grad, indices,
            use_locking=self._use_locking)


class _Moments(_Method):
    """Optimizers by means of the gradients and of a power of them."""

    HYPERS = ("beta_1", "beta_2")
    ATTRIBUTES: tuple[str, ...] = ("epsilon",)
    SLOTS = ("m", "v")

    def __init__(self, learning_rate, beta_1, beta_2, epsilon, name, **kwargs):
        super().__init__(name, learning_rate, beta_1, beta_2, **kwargs)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list):
        for name in self.SLOTS:
            for var in var_list:
                self.add_slot(var, name)

    def _step(self, dtype, ahead=1):
        return _math.cast(self.iterations + ahead, dtype)

    def _decayed_moments(self, var, grad, indices, now):
        """m and v after they were multiplied by their factors and these rows got
        the gradient and its square."""
        m = self._decayed_rows(
            self.get_slot(var, "m"), indices, grad * now["one_minus_beta_1_t"],
            now["beta_1_t"])
        v = self._decayed_rows(
            self.get_slot(var, "v"), indices,
            grad * grad * now["one_minus_beta_2_t"], now["beta_2_t"])
        return m, v


class Adam(_Moments):
    """Kingma and Ba's method. `amsgrad`: by the largest mean of squares so
    far."""

    ATTRIBUTES = ("epsilon", "amsgrad")

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, amsgrad=False, name="Adam", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        super()._create_slots(var_list)
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def set_weights(self, weights):
        # The first Keras saved the largest means without amsgrad, too.
        own = len(self.weights)
        if len(weights) == 3 * ((own - 1) // 2) + 1:
            weights = weights[:own]
        super().set_weights(weights)

    def _prepare_more(self, dtype, state):
        step = self._step(dtype)
        b1, b2 = (self._identity(name, dtype) for name in self.HYPERS)
        power_1, power_2 = _math.pow(b1, step), _math.pow(b2, step)
        state.update(
            lr=state["lr_t"] * (_math.sqrt(1 - power_2) / (1 - power_1)),
            epsilon=self._epsilon(dtype), beta_1_t=b1, beta_1_power=power_1,
            one_minus_beta_1_t=1 - b1, beta_2_t=b2, beta_2_power=power_2,
            one_minus_beta_2_t=1 - b2)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        apply, slots = ((_raw.ResourceApplyAdamWithAmsgrad, ("m", "v", "vhat"))
                        if self.amsgrad else
                        (_raw.ResourceApplyAdam, ("m", "v")))
        return apply(
            *self._handles(var, *slots), now["beta_1_power"],
            now["beta_2_power"], now["lr_t"], now["beta_1_t"], now["beta_2_t"],
            now["epsilon"], grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)
        m, v = self._decayed_moments(var, grad, indices, now)
        done, squares = [m, v], v
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            squares = largest.assign(_math.maximum(largest, v))
            done.append(squares)
        step = now["lr"] * m / (_math.sqrt(squares) + now["epsilon"])
        return _flow.group(var.assign_sub(step), *done)


class Adamax(_Moments):
    """Adam by the largest of former gradients in place of their squares."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, name="Adamax", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _prepare_more(self, dtype, state):
        step = self._step(dtype)
        b1, b2 = (self._identity(name, dtype) for name in self.HYPERS)
        power = _math.pow(b1, step)
        state.update(
            neg_scaled_lr=-state["lr_t"] / (1 - power),
            epsilon=self._epsilon(dtype), beta_1_t=b1, beta_1_power=power,
            one_minus_beta_1_t=1 - b1, beta_2_t=b2,
            zero=_array.zeros((), dtype=dtypes.int64))

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        return _raw.ResourceApplyAdaMax(
            *self._handles(var, "m", "v"), now["beta_1_power"], now["lr_t"],
            now["beta_1_t"], now["beta_2_t"], now["epsilon"], grad,
            use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)

        def changed(slot, new):
            """The new rows of the slot, and the slot with them."""
            slot = self.get_slot(var, slot)
            rows = new(_array.gather(slot, indices, axis=now["zero"]))
            with control_dependencies([rows]):
                return rows, self._resource_scatter_update(slot, indices, rows)
        m, done_m = changed("m", lambda old: (
            old * now["beta_1_t"] + grad * now["one_minus_beta_1_t"]))
        v, done_v = changed("v", lambda old: _math.maximum(
            old * now["beta_2_t"], _math.abs(grad)))
        step = now["neg_scaled_lr"] * (m / (v + now["epsilon"]))
        with control_dependencies([step]):
            done = self._resource_scatter_add(var, indices, step)
        return _flow.group(done, done_m, done_v)


class Nadam(_Moments):
    """Adam with Nesterov's momentum, which grows over the first steps."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, name="Nadam", **kwargs):
        if isinstance(kwargs.get("lr", learning_rate),
                      _schedules.LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers."
                "LearningRateSchedules as the learning rate.")
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache = None  # the product of the momenta of all steps

    def _create_slots(self, var_list):
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache", shape=[], trainable=False,
                dtype=var_list[0].dtype.base_dtype, initializer="ones")
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list):
        self._m_cache_read = _array.identity(self._m_cache)
        return super()._prepare(var_list)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        rate = self._identity("learning_rate", var_dtype)
        b1, b2 = (self._identity(name, var_dtype) for name in self.HYPERS)
        step, later = self._step(var_dtype), self._step(var_dtype, 2)
        base = _math.cast(0.96, var_dtype)
        momentum, next_momentum = (
            b1 * (1. - 0.5 * _math.pow(base, self._initial_decay * s))
            for s in (step, later))
        product = _math.cast(self._m_cache_read, var_dtype) * momentum
        if var_dtype == self._m_cache.dtype.base_dtype:
            product = _array.identity(self._m_cache.assign(product))
        apply_state[var_device, var_dtype] = {
            "lr_t": rate, "neg_lr_t": -rate,
            "epsilon": self._epsilon(var_dtype),
            "beta_1_t": b1, "beta_2_t": b2,
            "m_t": momentum, "m_t_1": next_momentum,
            "one_minus_beta_1_t": 1 - b1, "one_minus_beta_2_t": 1 - b2,
            "one_minus_m_t": 1. - momentum,
            "one_minus_m_schedule_new": 1. - product,
            "one_minus_m_schedule_next": 1. - product * next_momentum,
            "v_t_prime_denominator": 1. - _math.pow(b2, step)}

    def _direction(self, now, grad, m, v):
        """What is subtracted, over the learning rate."""
        mean = (now["one_minus_m_t"] * (grad / now["one_minus_m_schedule_new"])
                + now["m_t_1"] * (m / now["one_minus_m_schedule_next"]))
        root = _math.sqrt(v / now["v_t_prime_denominator"]) + now["epsilon"]
        return mean, root

    def _resource_apply_dense(self, grad, var, apply_state=None):
        now = self._of(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = m.assign(now["beta_1_t"] * m + now["one_minus_beta_1_t"] * grad)
        new_v = v.assign(now["beta_2_t"] * v
                         + now["one_minus_beta_2_t"] * _math.square(grad))
        mean, root = self._direction(now, grad, new_m, new_v)
        return var.assign(var - now["lr_t"] * mean / root).op

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        now = self._of(var, apply_state)
        m, v = self._decayed_moments(var, grad, indices, now)
        mean, root = self._direction(now, grad, _array.gather(m, indices),
                                     _array.gather(v, indices))
        return _flow.group(self._resource_scatter_add(
            var, indices, now["neg_lr_t"] * mean / root), m, v)


class Ftrl(_Method):
    """Follow the regularized leader."""

    HYPERS = ("learning_rate_power", "l1_regularization_strength",
              "l2_regularization_strength")
    ATTRIBUTES = ("_initial_accumulator_value",
                  "_l2_shrinkage_regularization_strength")

    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5,
                 initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, name="Ftrl",
                 l2_shrinkage_regularization_strength=0.0, **kwargs):
        shrinkage = l2_shrinkage_regularization_strength
        if learning_rate_power > 0:
            raise ValueError("learning_rate_power %f needs to be negative or "
                             "zero" % learning_rate_power)
        for what, value in (
                ("initial_accumulator_value", initial_accumulator_value),
                ("l1_regularization_strength", l1_regularization_strength),
                ("l2_regularization_strength", l2_regularization_strength),
                ("l2_shrinkage_regularization_strength", shrinkage)):
            if value < 0:
                raise ValueError("%s %f needs to be positive or zero"
                                 % (what, value))
        super().__init__(name, learning_rate, learning_rate_power,
                         l1_regularization_strength, l2_regularization_strength,
                         **kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = shrinkage

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", Constant(
                self._initial_accumulator_value))
            self.add_slot(var, "linear")

    def _prepare_more(self, dtype, state):
        state.update({name: self._identity(name, dtype)
                      for name in self.HYPERS})
        state["l2_shrinkage_regularization_strength"] = _math.cast(
            self._l2_shrinkage_regularization_strength, dtype)

    def _applied(self, kind, var, apply_state, *grads):
        now = self._of(var, apply_state)
        names = ["lr_t", *self.HYPERS[1:], self.HYPERS[0]]
        shrinks = self._l2_shrinkage_regularization_strength > 0.
        if shrinks:
            names.insert(3, "l2_shrinkage_regularization_strength")
        apply = getattr(_raw, "Resource%sApplyFtrl%s" % (
            kind, "V2" if shrinks else ""))
        return apply(*self._handles(var, "accumulator", "linear"), *grads,
                     *(now[name] for name in names),
                     use_locking=self._use_locking)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return self._applied("", var, apply_state, grad)

    def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
        return self._applied("Sparse", var, apply_state, grad, indices)


_KNOWN = {cls.__name__.lower(): cls for cls in (
    SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam, Ftrl)}


def get(identifier):
    """The optimizer that a name or a config stands for; an Optimizer is itself.
    ValueError for others."""
    if isinstance(identifier, Optimizer) or hasattr(
            identifier, "compute_gradients"):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier: %s"
                     % (identifier,))


def serialize(optimizer):
    return {"class_name": type(optimizer).__name__,
            "config": optimizer.get_config()}


def deserialize(config, custom_objects=None):
    name = config["class_name"]
    known = {**_KNOWN, **get_custom_objects(),
             **(custom_objects or {})}
    found = known.get(name) or known.get(name.lower())
    if found is None:
        raise ValueError("Unknown optimizer: %s" % name)
    return found.from_config(config.get("config", {}))
