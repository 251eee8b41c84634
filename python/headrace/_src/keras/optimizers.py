"""tf.keras.optimizers: their hyperparameters are variables, which callbacks
change between steps."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.keras import schedules as _schedules
from headrace._src.layers import backend, initializers
from headrace._src.layers.named import get_custom_objects
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.clipping import clip_by_norm, clip_by_value
from headrace._src.training.gradient_tape import GradientTape
from headrace._src.training.gradients import gradients
from headrace._src.variables.strategies import container_of, loaded_strategies
from headrace._src.variables.variables import Variable


class Optimizer:
    """What changes weights by their gradients. `learning_rate` (also `lr`), a
    number or a schedule of tf.keras.optimizers.schedules, may be set; `decay`:
    the rate is divided by 1 + decay * iterations. `clipnorm` and `clipvalue`
    bound each gradient. The weights must be variables of tf.keras.layers, which
    are resource variables: TypeError for others."""

    def __init__(self, name, learning_rate, hyper=None, **kwargs):
        for key in kwargs:
            if key not in ("clipnorm", "clipvalue", "lr", "decay"):
                raise TypeError("Unexpected keyword argument passed to "
                                "optimizer: %s" % key)
            if kwargs[key] is not None and kwargs[key] < 0:
                raise ValueError("Expected %s >= 0, received: %s"
                                 % (key, kwargs[key]))
        self._name = name
        self._clipnorm = kwargs.get("clipnorm")
        self._clipvalue = kwargs.get("clipvalue")
        self._initial_decay = kwargs.get("decay") or 0.
        self._values = {"learning_rate": kwargs.get("lr", learning_rate),
                        "decay": self._initial_decay, **(hyper or {})}
        self._variables = {}  # of the hyperparameters
        self._slots = {}      # by (variable's name, slot's name)
        self._slot_places = []  # (slot's name, variable, slot)
        self._iterations = None
        self._weights = []

    # Hyperparameters.

    def _new_variable(self, name, value, dtype=None):
        return Variable(value, name=name, trainable=False, dtype=dtype,
                        use_resource=True)

    def _hyper(self, name):
        """The variable of a hyperparameter, or the function that gives it."""
        value = self._values[name]
        if isinstance(value, _schedules.LearningRateSchedule):
            return value
        if callable(value) and not hasattr(value, "dtype"):
            return value()
        if hasattr(value, "dtype") and hasattr(value, "get_shape"):
            return value
        if name not in self._variables:
            self._variables[name] = self._new_variable(
                name, float(value), dtypes.float32)
        return self._variables[name]

    def _set_hyper(self, name, value):
        if name in self._variables and not callable(value):
            backend.set_value(self._variables[name], value)
        else:
            self._variables.pop(name, None)
        self._values[name] = value

    def __getattr__(self, name):
        if name == "lr":
            name = "learning_rate"
        if name.startswith("_") or name not in self._values:
            raise AttributeError("%s has no attribute %r"
                                 % (type(self).__name__, name))
        return self._hyper(name)

    def __setattr__(self, name, value):
        name = "learning_rate" if name == "lr" else name
        if not name.startswith("_") and name in self.__dict__.get(
                "_values", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def _scalar(self, name, dtype):
        return _math.cast(convert_to_tensor(self._hyper(name)), dtype)

    def _rate(self, dtype):
        rate = self._hyper("learning_rate")
        if isinstance(rate, _schedules.LearningRateSchedule):
            rate = rate(_math.cast(convert_to_tensor(self.iterations), dtype))
        rate = _math.cast(convert_to_tensor(rate), dtype)
        if self._initial_decay:
            steps = _math.cast(convert_to_tensor(self.iterations), dtype)
            rate = rate / (1. + self._scalar("decay", dtype) * steps)
        return rate

    @property
    def iterations(self):
        """How many steps were done: an int64 variable."""
        if self._iterations is None:
            zeros = initializers.get("zeros")
            self._iterations = self._new_variable(
                "iter", lambda: zeros([], dtype=dtypes.int64), dtypes.int64)
            self._weights.insert(0, self._iterations)
        return self._iterations

    # Slots.

    def add_slot(self, var, slot_name, initializer=0.):
        """The variable of `var` called `slot_name`, of its shape."""
        container = container_of(var)
        if container is not None:
            return self.add_slot(container, slot_name, initializer).get(
                device=var.device)
        key = var.name, slot_name
        if key not in self._slots:
            shape, dtype = var.get_shape().as_list(), var.dtype.base_dtype
            self._slots[key] = self._new_variable(
                "%s/%s" % (var.op.name, slot_name),
                lambda: _array.fill(shape, convert_to_tensor(
                    initializer, dtype=dtype)), dtype)
            self._weights.append(self._slots[key])
            self._slot_places.append((slot_name, var, self._slots[key]))
        return self._slots[key]

    def _slot_names(self):
        """{name: initial value} of the slots of each variable."""
        return {}

    def _make_variables(self, variables):
        """Makes the hyperparameters, by name, and all slots of a name before
        those of the next: so `weights` and files have them."""
        for name in sorted(self._values):
            self._hyper(name)
        self._make_slots(variables)

    def _make_slots(self, variables):
        for name, value in self._slot_names().items():
            for var in variables:
                self.add_slot(var, name, value)

    def get_slot(self, var, slot_name):
        container = container_of(var)
        if container is not None:
            return self.get_slot(container, slot_name).get(device=var.device)
        return self._slots[var.name, slot_name]

    def _checkpoint_children(self):
        found = [] if self._iterations is None else [("iter", self._iterations)]
        return found + [(name, self._variables[name])
                        for name in sorted(self._variables)]

    def _checkpoint_slots(self):
        return list(self._slot_places)

    def _saved_kind(self):
        return "optimizer", ""

    weights = property(lambda self: list(self._weights))

    def variables(self):
        return self.weights

    def get_weights(self):
        """The values of `weights`."""
        return backend.batch_get_value(self._weights)

    def set_weights(self, weights):
        """Gives `weights` values. ValueError if there are not as many."""
        if len(weights) != len(self._weights):
            raise ValueError(
                "You called `set_weights(weights)` on optimizer %s with a  "
                "weight list of length %d, but the optimizer was expecting %d "
                "weights." % (self._name, len(weights), len(self._weights)))
        backend.batch_set_value(list(zip(self._weights, weights)))

    # Steps.

    def get_gradients(self, loss, params):
        """The gradients, clipped. ValueError if one is None."""
        with name_scope(self._name + "/gradients"):
            return self._checked_gradients(loss, params)

    def _checked_gradients(self, loss, params):
        found = gradients(loss, params)
        for grad, param in zip(found, params):
            if grad is None:
                raise ValueError(
                    "Variable %s has `None` for gradient. Please make sure "
                    "that all of your ops have a gradient defined (i.e. are "
                    "differentiable)." % param.name)
        return [self._clipped(g) for g in found]

    def _clipped(self, grad):
        if self._clipnorm is None and self._clipvalue is None:
            return grad
        grad = convert_to_tensor(grad)
        if self._clipnorm is not None:
            grad = clip_by_norm(grad, self._clipnorm)
        if self._clipvalue is not None:
            grad = clip_by_value(grad, -self._clipvalue, self._clipvalue)
        return grad

    def get_updates(self, loss, params):
        """[an operation that does a step]"""
        grads = self.get_gradients(loss, params)
        return [self.apply_gradients(list(zip(grads, params)))]

    def minimize(self, loss, var_list, grad_loss=None, name=None):
        """An operation that does a step. `loss`: a scalar, or a function that
        returns it."""
        if callable(loss) and executing_eagerly():
            with GradientTape() as tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
            var_list = var_list() if callable(var_list) else var_list
            found = tape.gradient(loss, var_list, grad_loss)
            return self.apply_gradients(
                [(self._clipped(g), v) for g, v in zip(found, var_list)
                 if g is not None], name)
        loss = loss() if callable(loss) else loss
        var_list = var_list() if callable(var_list) else var_list
        with name_scope(self._name + "/gradients"):
            found = gradients(loss, var_list, grad_ys=grad_loss)
            pairs = [(self._clipped(g), v) for g, v in zip(found, var_list)
                     if g is not None]
        return self.apply_gradients(pairs, name)

    def apply_gradients(self, grads_and_vars, name=None):
        """An operation that changes the variables by their gradients; in a
        replica, by the sum of all replicas'. ValueError if there is no
        gradient."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable: %s."
                             % ([v.name for _, v in grads_and_vars],))
        for _, var in pairs:
            if not getattr(var, "_is_resource", False):
                raise TypeError(
                    "%s: %s is no resource variable; make it by "
                    "tf.keras.layers or tf.get_variable(use_resource=True), or "
                    "use an optimizer of tf.train" % (self._name, var.name))
        strategies = loaded_strategies()
        if strategies is not None and strategies.has_strategy():
            context = strategies.get_replica_context()
            if context is None:
                return self._distributed_apply(strategies.get_strategy(),
                                               pairs, name)
            return context.merge_call(self._distributed_apply, (pairs, name))
        with name_scope(self._name):
            steps = self.iterations
            self._make_variables([v for _, v in pairs])
            return self._all_applied(steps, pairs, name)

    def _all_applied(self, steps, pairs, name):
        with name_scope(name or self._name):
            done = []
            for grad, var in pairs:
                if isinstance(grad, IndexedSlices):
                    grad = convert_to_tensor(grad)
                with name_scope("update_" + var.op.name):
                    op = self._apply(grad, var)
                op = getattr(op, "op", op)
                constraint = getattr(var, "constraint", None)
                if constraint is not None:
                    with control_dependencies([op]):
                        op = var.assign(constraint(var)).op
                done.append(op)
            with control_dependencies(done):
                return _flow.group(steps.assign_add(1), *done)

    def _distributed_apply(self, distribution, pairs, name=None):
        """apply_gradients() between the replicas of a strategy."""
        if self._clipnorm is not None or self._clipvalue is not None:
            raise ValueError(
                "Gradient clipping in the optimizer (by setting clipnorm or "
                "clipvalue) is currently unsupported when using a distribution "
                "strategy.")
        extended = distribution.extended
        reduced = extended.batch_reduce_to("SUM", pairs)
        variables = [v for _, v in pairs]

        def update(var, grad):
            if isinstance(grad, IndexedSlices):
                grad = convert_to_tensor(grad)
            with name_scope("update_" + var.op.name):
                op = self._apply(grad, var)
            op = getattr(op, "op", op)
            if var.constraint is not None:
                with control_dependencies([op]):
                    op = var.assign(var.constraint(var)).op
            return op
        with name_scope(self._name):
            steps = self.iterations
            self._make_variables(variables)
            with name_scope(name or self._name):
                done = [op for grad, var in zip(reduced, variables)
                        for op in extended.update(var, update, (grad,),
                                                  group=False)]
                with control_dependencies(done):
                    return distribution.group(steps.assign_add(1))

    def _apply(self, grad, var):
        raise NotImplementedError("_apply of %s" % type(self).__name__)

    def get_config(self):
        """The arguments that from_config makes an equal optimizer of."""
        config = {"name": self._name}
        for name in ("clipnorm", "clipvalue"):
            if getattr(self, "_" + name) is not None:
                config[name] = getattr(self, "_" + name)
        for name, value in self._values.items():
            if name in self._variables:
                value = float(backend.get_value(self._variables[name]))
            if isinstance(value, _schedules.LearningRateSchedule):
                value = _schedules.serialize(value)
            config[name] = value
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        rate = config.get("learning_rate")
        if isinstance(rate, dict):
            config = {**config, "learning_rate": _schedules.deserialize(
                rate, custom_objects)}
        return cls(**config)


class SGD(Optimizer):
    """var -= learning_rate * gradient; with `momentum`, by a velocity that is
    momentum * velocity - learning_rate * gradient."""

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False,
                 name="SGD", **kwargs):
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        super().__init__(name, learning_rate, {"momentum": momentum}, **kwargs)
        self._momentum = bool(momentum)
        self.nesterov = nesterov

    def _slot_names(self):
        return {"momentum": 0.} if self._momentum else {}

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        rate = self._rate(dtype)
        if not self._momentum:
            return _raw.ResourceApplyGradientDescent(var.handle, rate, grad)
        return _raw.ResourceApplyKerasMomentum(
            var.handle, self.add_slot(var, "momentum").handle, rate, grad,
            self._scalar("momentum", dtype), use_nesterov=self.nesterov)

    def get_config(self):
        return {**super().get_config(), "nesterov": self.nesterov}


class RMSprop(Optimizer):
    """var -= learning_rate * gradient / sqrt(mean of squared gradients)."""

    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0,
                 epsilon=1e-7, centered=False, name="RMSprop", **kwargs):
        super().__init__(name, learning_rate,
                         {"rho": rho, "momentum": momentum}, **kwargs)
        self._momentum = bool(momentum)
        self.epsilon = epsilon
        self.centered = centered

    def _slot_names(self):
        return {"rms": 0., **({"momentum": 0.} if self._momentum else {}),
                **({"mg": 0.} if self.centered else {})}

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        rate, rho = self._rate(dtype), self._scalar("rho", dtype)
        rms = self.add_slot(var, "rms")
        if self._momentum:
            more = (rate, rho, self._scalar("momentum", dtype),
                    convert_to_tensor(self.epsilon, dtype=dtype), grad)
            velocity = self.add_slot(var, "momentum").handle
            if self.centered:
                return _raw.ResourceApplyCenteredRMSProp(
                    var.handle, self.add_slot(var, "mg").handle, rms.handle,
                    velocity, *more)
            return _raw.ResourceApplyRMSProp(var.handle, rms.handle, velocity,
                                             *more)
        new_rms = rho * rms + (1. - rho) * _math.square(grad)
        done = [rms.assign(new_rms)]
        variance = new_rms
        if self.centered:
            mg = self.add_slot(var, "mg")
            new_mg = rho * mg + (1. - rho) * grad
            done.append(mg.assign(new_mg))
            variance = new_rms - _math.square(new_mg)
        step = rate * grad / (_math.sqrt(variance) + self.epsilon)
        return _flow.group(var.assign_sub(step), *done)

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon,
                "centered": self.centered}


class Adagrad(Optimizer):
    """var -= learning_rate * gradient / sqrt(sum of squared gradients)."""

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1,
                 epsilon=1e-7, name="Adagrad", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError("initial_accumulator_value must be non-negative: "
                             "%s" % initial_accumulator_value)
        super().__init__(name, learning_rate, **kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def _slot_names(self):
        return {"accumulator": self._initial_accumulator_value}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        # So it is in TensorFlow, for get("adagrad") too.
        return cls(**{"initial_accumulator_value": 0., **config})

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        sums = self.add_slot(var, "accumulator",
                             self._initial_accumulator_value)
        return _raw.ResourceApplyAdagradV2(
            var.handle, sums.handle, self._rate(dtype),
            convert_to_tensor(self.epsilon, dtype=dtype), grad)

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon,
                "initial_accumulator_value": self._initial_accumulator_value}


class Adadelta(Optimizer):
    """Steps in proportion to the mean of former steps and of gradients."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7,
                 name="Adadelta", **kwargs):
        super().__init__(name, learning_rate, {"rho": rho}, **kwargs)
        self.epsilon = epsilon

    def _slot_names(self):
        return {"accum_grad": 0., "accum_var": 0.}

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        return _raw.ResourceApplyAdadelta(
            var.handle, self.add_slot(var, "accum_grad").handle,
            self.add_slot(var, "accum_var").handle, self._rate(dtype),
            self._scalar("rho", dtype),
            convert_to_tensor(self.epsilon, dtype=dtype), grad)

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon}


class _Moments(Optimizer):
    """Optimizers by means of the gradients and of a power of them."""

    def __init__(self, learning_rate, beta_1, beta_2, epsilon, name, **kwargs):
        super().__init__(name, learning_rate,
                         {"beta_1": beta_1, "beta_2": beta_2}, **kwargs)
        self.epsilon = epsilon

    def _slot_names(self):
        return {"m": 0., "v": 0.}

    def _of(self, var):
        """(m, v, both betas, their powers, epsilon)"""
        dtype = var.dtype.base_dtype
        m, v = self.add_slot(var, "m"), self.add_slot(var, "v")
        betas = [self._scalar(b, dtype) for b in ("beta_1", "beta_2")]
        step = _math.cast(convert_to_tensor(self.iterations) + 1, dtype)
        powers = [_math.pow(b, step) for b in betas]
        return m, v, betas, powers, convert_to_tensor(self.epsilon, dtype=dtype)

    def get_config(self):
        return {**super().get_config(), "epsilon": self.epsilon}


class Adam(_Moments):
    """Kingma and Ba's method. `amsgrad`: by the largest mean of squares so
    far."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, amsgrad=False, name="Adam", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _slot_names(self):
        return {**super()._slot_names(),
                **({"vhat": 0.} if self.amsgrad else {})}

    def _apply(self, grad, var):
        m, v, betas, powers, epsilon = self._of(var)
        rate = self._rate(var.dtype.base_dtype)
        if self.amsgrad:
            return _raw.ResourceApplyAdamWithAmsgrad(
                var.handle, m.handle, v.handle,
                self.add_slot(var, "vhat").handle, *powers, rate, *betas,
                epsilon, grad)
        return _raw.ResourceApplyAdam(var.handle, m.handle, v.handle, *powers,
                                      rate, *betas, epsilon, grad)

    def get_config(self):
        return {**super().get_config(), "amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Adam by the largest of former gradients in place of their squares."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, name="Adamax", **kwargs):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _apply(self, grad, var):
        m, v, betas, powers, epsilon = self._of(var)
        return _raw.ResourceApplyAdaMax(
            var.handle, m.handle, v.handle, powers[0],
            self._rate(var.dtype.base_dtype), *betas, epsilon, grad)


class Nadam(_Moments):
    """Adam with Nesterov's momentum, which grows over the first steps."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-7, name="Nadam", **kwargs):
        if isinstance(learning_rate, _schedules.LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers."
                "LearningRateSchedules as the learning rate.")
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._product = None

    def _checkpoint_children(self):
        found = super()._checkpoint_children()
        return found if self._product is None else found + [
            ("momentum_cache", self._product)]

    def _rate(self, dtype):
        return self._scalar("learning_rate", dtype)

    def _make_slots(self, variables):
        if self._product is None:
            self._product = self._new_variable("momentum_cache", 1.,
                                               dtypes.float32)
            self._weights.append(self._product)
        super()._make_slots(variables)

    def _all_applied(self, steps, pairs, name):
        step = _math.cast(convert_to_tensor(self.iterations) + 1,
                          dtypes.float32)
        beta, decay = (self._scalar(name, dtypes.float32)
                       for name in ("beta_1", "decay"))
        self._now = beta * (1. - 0.5 * _math.pow(0.96, decay * step))
        self._next = beta * (1. - 0.5 * _math.pow(0.96, decay * (step + 1.)))
        self._so_far = convert_to_tensor(self._product) * self._now
        done = super()._all_applied(steps, pairs, name)
        with control_dependencies([done]):
            return self._product.assign(self._so_far).op

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        m, v, (b1, b2), powers, epsilon = self._of(var)
        now, later, so_far = (_math.cast(x, dtype) for x in (
            self._now, self._next, self._so_far))
        new_m = b1 * m + (1. - b1) * grad
        new_v = b2 * v + (1. - b2) * _math.square(grad)
        mean = ((1. - now) * grad / (1. - so_far)
                + later * new_m / (1. - so_far * later))
        step = self._rate(dtype) * mean / (
            _math.sqrt(new_v / (1. - powers[1])) + epsilon)
        return _flow.group(m.assign(new_m), v.assign(new_v),
                           var.assign_sub(step))


class Ftrl(Optimizer):
    """Follow the regularized leader."""

    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5,
                 initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, name="Ftrl",
                 l2_shrinkage_regularization_strength=0.0, **kwargs):
        for what, value, ok in (
                ("initial_accumulator_value", initial_accumulator_value,
                 initial_accumulator_value >= 0),
                ("learning_rate_power", learning_rate_power,
                 learning_rate_power <= 0),
                ("l1_regularization_strength", l1_regularization_strength,
                 l1_regularization_strength >= 0),
                ("l2_regularization_strength", l2_regularization_strength,
                 l2_regularization_strength >= 0)):
            if not ok:
                raise ValueError("%s %s has the wrong sign" % (what, value))
        super().__init__(name, learning_rate, {
            "learning_rate_power": learning_rate_power,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength}, **kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinkage = l2_shrinkage_regularization_strength

    def _make_slots(self, variables):
        for var in variables:
            self.add_slot(var, "accumulator", self._initial_accumulator_value)
            self.add_slot(var, "linear")

    def _apply(self, grad, var):
        dtype = var.dtype.base_dtype
        return _raw.ResourceApplyFtrlV2(
            var.handle,
            self.add_slot(var, "accumulator",
                          self._initial_accumulator_value).handle,
            self.add_slot(var, "linear").handle, grad, self._rate(dtype),
            self._scalar("l1_regularization_strength", dtype),
            self._scalar("l2_regularization_strength", dtype),
            convert_to_tensor(self._shrinkage, dtype=dtype),
            self._scalar("learning_rate_power", dtype))

    def get_config(self):
        return {**super().get_config(),
                "initial_accumulator_value": self._initial_accumulator_value,
                "l2_shrinkage_regularization_strength": self._shrinkage}


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
