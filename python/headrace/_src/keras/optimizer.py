"""tf.keras.optimizers.Optimizer: what the optimizers of tf.keras have in
common, and what programs override in their own."""
import inspect
import re

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    control_dependencies, device, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import is_tensor
from headrace._src.keras import schedules as _schedules
from headrace._src.layers import backend, initializers
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.clipping import clip_by_norm, clip_by_value
from headrace._src.platform import tf_logging as _logging
from headrace._src.training.gradient_tape import GradientTape
from headrace._src.training.gradients import gradients
from headrace._src.variables.strategies import container_of, loaded_strategies
from headrace._src.variables.tracking import tell, with_told
from headrace._src.variables.variables import Variable

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _slot_key(var):
    return var.op.name


def _one_gradient_per_row(values, indices):
    """(values, indices) without repeated indices: their values are summed."""
    rows, positions = _raw.Unique(x=indices)
    count = _array.shape(rows)[0]
    return _raw.UnsortedSegmentSum(values, positions, count), rows


class Optimizer:
    """What changes weights by their gradients. A subclass keeps its
    hyperparameters by _set_hyper(name, value) and defines

    - _create_slots(variables), which calls add_slot();
    - _resource_apply_dense(gradient, variable, apply_state), and
      _resource_apply_sparse(gradient, variable, indices, apply_state) for the
      gradients of tf.gather, each of which returns an operation. Without
      `apply_state` among their arguments they are called without it;
    - get_config(), which has the hyperparameters by _serialize_hyperparameter.

    It may also override _prepare_local(device, dtype, apply_state), which
    computes apply_state[device, dtype], a dict of what these two need: "lr_t"
    is the learning rate.

    Hyperparameters, as `learning_rate` (also `lr`), are attributes that may be
    set: a number or a schedule of tf.keras.optimizers.schedules. Numbers are
    scalar variables from the first step on. `decay`: the rate is divided by 1 +
    decay * iterations. `clipnorm` and `clipvalue` bound each gradient. The
    weights must be variables of tf.keras.layers, which are resource variables:
    TypeError for others."""

    def __init__(self, name, **kwargs):
        for key, value in kwargs.items():
            if key not in ("clipnorm", "clipvalue", "lr", "decay"):
                raise TypeError("Unexpected keyword argument passed to "
                                "optimizer: %s" % key)
            if value is not None and value < 0:
                raise ValueError("Expected %s >= 0, received: %s"
                                 % (key, value))
        self._hyper = {}
        self._hypers_created = False
        self._use_locking = True
        self._slots = {}  # {variable's name: {slot's name: slot}}
        self._slot_names = []
        self._slot_places = []  # (slot's name, variable, slot)
        self._weights = []
        self._tracked = {}  # {name: variable} that checkpoints have
        self._iterations = None
        self._init_set_name(name)
        self._initial_decay = kwargs.get("decay") or 0.
        for key in ("clipnorm", "clipvalue"):
            if kwargs.get(key) is not None:
                setattr(self, key, kwargs[key])

    def _init_set_name(self, name, zero_based=True):
        if not name:
            snake = re.sub("(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_",
                           type(self).__name__).lower()
            name = backend.unique_name(snake, zero_based)
        self._name = name

    # Hyperparameters.

    def _set_hyper(self, name, value):
        """Keeps a number, a tensor, a function or a schedule; a number that
        takes the place of a variable is assigned to it."""
        if isinstance(value, Variable):
            self._tracked[name] = value
        old = self._hyper.get(name)
        if isinstance(old, Variable) and not callable(value):
            backend.set_value(old, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name, dtype=None):
        """The variable, the tensor or the schedule; or a tensor of `dtype`."""
        self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, _schedules.LearningRateSchedule):
            return value
        if _is_function(value):
            value = value()
        return _math.cast(value, dtype) if dtype else value

    def _create_hypers(self):
        """Makes the variables of those that are numbers, by name."""
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if is_tensor(value) or callable(value):
                continue
            if name == "learning_rate":
                value = float(value)  # callbacks give fractions to 1, too
            self._hyper[name] = self.add_weight(
                name, shape=[], trainable=False, initializer=value)
        self._hypers_created = True

    def _serialize_hyperparameter(self, hyperparameter_name):
        """Its value for get_config()."""
        value = self._hyper[hyperparameter_name]
        if isinstance(value, _schedules.LearningRateSchedule):
            return _schedules.serialize(value)
        if _is_function(value):
            return value()
        if is_tensor(value):
            return backend.get_value(value)
        return value

    def __getattr__(self, name):
        if name == "_hyper":  # asked before __init__
            raise AttributeError(name)
        hyper = "learning_rate" if name == "lr" else name
        if hyper not in self._hyper:
            raise AttributeError("%r object has no attribute %r"
                                 % (type(self).__name__, name))
        return self._get_hyper(hyper)

    def __setattr__(self, name, value):
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def _decayed_lr(self, var_dtype):
        """The learning rate of this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, _schedules.LearningRateSchedule):
            step = _math.cast(self.iterations, var_dtype)
            rate = _math.cast(rate(step), var_dtype)
        if self._initial_decay > 0.:
            step = _math.cast(self.iterations, var_dtype)
            decay = self._get_hyper("decay", var_dtype)
            rate = rate / (1. + decay * step)
        return rate

    # Variables.

    def add_weight(self, name, shape, dtype=None, initializer="zeros",
                   trainable=None, synchronization=None, aggregation=None):
        """A variable of the optimizer, float32 by default; `initializer`: a
        name, a function, or its first value, which then gives its dtype. It is
        saved, but not among `weights`."""
        if isinstance(initializer, str) or callable(initializer):
            of_type = initializers.get(initializer)
            dtype = dtypes.as_dtype(dtype or dtypes.float32)
            initial = lambda: of_type(shape, dtype=dtype)
        else:
            initial, dtype = initializer, None
        self._tracked[name] = variable = Variable(
            initial, name=name, dtype=dtype, use_resource=True,
            trainable=trainable is None or trainable)
        return variable

    @property
    def iterations(self):
        """How many steps were done: an int64 variable."""
        if self._iterations is None:
            self._iterations = self.add_weight(
                "iter", shape=[], dtype=dtypes.int64, trainable=False)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer "
                "weights have been created")
        self._iterations = self._tracked["iter"] = variable
        self._weights.append(variable)

    def add_slot(self, var, slot_name, initializer="zeros"):
        """The variable of `var` called `slot_name`, of its shape and dtype.
        `initializer`: a name, a function, or the first value."""
        container = container_of(var)
        if container is not None:
            return self.add_slot(container, slot_name, initializer).get(
                device=var.device)
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(_slot_key(var), {})
        if slot_name not in slots:
            dtype, initial = var.dtype.base_dtype, initializer
            if isinstance(initializer, str) or callable(initializer):
                of_type = initializers.get(initializer)
                shape = var.get_shape().as_list()
                initial = lambda: of_type(shape, dtype=dtype)
            slots[slot_name] = Variable(
                initial, name="%s/%s" % (var.op.name, slot_name), dtype=dtype,
                trainable=False, use_resource=True)
            self._weights.append(slots[slot_name])
            self._slot_places.append((slot_name, var, slots[slot_name]))
        return slots[slot_name]

    def get_slot(self, var, slot_name):
        """What add_slot() made. KeyError if it did not."""
        container = container_of(var)
        if container is not None:
            return self.get_slot(container, slot_name).get(device=var.device)
        return self._slots[_slot_key(var)][slot_name]

    def get_slot_names(self):
        """The names of the slots, in the order of their first use."""
        return self._slot_names

    def _create_slots(self, var_list):
        """Makes the slots of the variables: none."""

    def _checkpoint_children(self):
        return with_told(self, list(self._tracked.items()))

    def _track_trackable(self, trackable, name, overwrite=False):
        """`trackable`, which checkpoints save under `name` from now on."""
        return tell(self, trackable, name, overwrite)

    def _checkpoint_slots(self):
        return list(self._slot_places)

    def _saved_kind(self):
        return "optimizer", ""

    weights = property(lambda self: self._weights)

    def variables(self):
        return self._weights

    def get_weights(self):
        """The values of `weights`."""
        return backend.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Gives `weights` values. ValueError if there are not as many, or of
        other shapes."""
        own = self.weights
        if len(weights) != len(own):
            raise ValueError(
                "You called `set_weights(weights)` on optimizer %s with a  "
                "weight list of length %d, but the optimizer was expecting %d "
                "weights. Provided weights: %s..."
                % (self._name, len(weights), len(own), str(weights)[:50]))
        for variable, value in zip(own, weights):
            if not variable.get_shape().is_compatible_with(np.shape(value)):
                raise ValueError(
                    "Optimizer weight shape %s not compatible with provided "
                    "weight shape %s" % (variable.get_shape(),
                                         np.shape(value)))
        backend.batch_set_value(list(zip(own, weights)))

    # Gradients.

    def get_gradients(self, loss, params):
        """The gradients, clipped. ValueError if one is None."""
        params = nest.flatten(params)
        with name_scope(self._name + "/gradients"):
            found = gradients(loss, params)
            for grad, param in zip(found, params):
                if grad is None:
                    raise ValueError(
                        "Variable %s has `None` for gradient. Please make sure "
                        "that all of your ops have a gradient defined (i.e. "
                        "are differentiable)." % param.name)
            return self._clipped(found)

    def _clipped(self, grads):
        if hasattr(self, "clipnorm"):
            grads = [None if g is None else clip_by_norm(g, self.clipnorm)
                     for g in grads]
        if hasattr(self, "clipvalue"):
            grads = [None if g is None else clip_by_value(
                g, -self.clipvalue, self.clipvalue) for g in grads]
        return grads

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        """[(gradient or None, variable)] of a scalar or a function that
        returns it, clipped."""
        if callable(loss) and executing_eagerly():
            with GradientTape() as tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
            var_list = nest.flatten(var_list() if callable(var_list)
                                    else var_list)
            grads = self._clipped(tape.gradient(loss, var_list, grad_loss))
        else:
            loss = loss() if callable(loss) else loss
            var_list = nest.flatten(var_list() if callable(var_list)
                                    else var_list)
            with name_scope(self._name + "/gradients"):
                grads = self._clipped(gradients(loss, var_list,
                                                grad_ys=grad_loss))
        self._assert_valid_dtypes(
            [v for g, v in zip(grads, var_list) if g is not None])
        return list(zip(grads, var_list))

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise ValueError("Invalid type %r for %s, expected: %s." % (
                    tensor.dtype.base_dtype, tensor.name, list(valid)))

    def _valid_dtypes(self):
        return {dtypes.as_dtype(name) for name in _FLOATS}

    # Steps.

    def get_updates(self, loss, params):
        """[an operation that does a step]"""
        pairs = list(zip(self.get_gradients(loss, params), params))
        self._assert_valid_dtypes([v for _, v in pairs])
        return [self.apply_gradients(pairs)]

    def minimize(self, loss, var_list, grad_loss=None, name=None):
        """An operation that does a step. `loss`: a scalar, or a function that
        returns it; `var_list`: variables, or a function that returns them."""
        return self.apply_gradients(
            self._compute_gradients(loss, var_list, grad_loss), name)

    def apply_gradients(self, grads_and_vars, name=None):
        """An operation that changes the variables by their gradients; in a
        replica, by the sum of all replicas'. ValueError if there is no
        gradient."""
        pairs = _with_gradients(grads_and_vars)
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
            state = self._prepared([v for _, v in pairs])
            with name_scope(name or self._name):
                done = [self._update(var, grad, state) for grad, var in pairs]
                with control_dependencies(done):
                    return _operation(self.iterations.assign_add(1))

    def _distributed_apply(self, distribution, grads_and_vars, name=None):
        """apply_gradients() between the replicas of a strategy."""
        if hasattr(self, "clipnorm") or hasattr(self, "clipvalue"):
            raise ValueError(
                "Gradient clipping in the optimizer (by setting clipnorm or "
                "clipvalue) is currently unsupported when using a distribution "
                "strategy.")
        extended = distribution.extended
        reduced = extended.batch_reduce_to("SUM", grads_and_vars)
        variables = [v for _, v in grads_and_vars]
        with name_scope(self._name):
            state = self._prepared(variables)
            with name_scope(name or self._name):
                done = [op for grad, var in zip(reduced, variables)
                        for op in extended.update(
                            var, self._update, (grad, state), group=False)]
                with control_dependencies(done):
                    return distribution.group(self.iterations.assign_add(1))

    def _prepared(self, variables):
        """Makes what is not there yet, and the state of _prepare()."""
        self.iterations
        self._create_hypers()
        self._create_slots(variables)
        return self._prepare(variables)

    def _prepare(self, var_list):
        """{(device, dtype): what _prepare_local() computes there}"""
        state = {}
        for var in var_list:
            dtype = var.dtype.base_dtype
            for where in getattr(var, "devices", None) or [var.device]:
                if (where, dtype) not in state:
                    state[where, dtype] = {}
                    with device(where):
                        self._prepare_local(where, dtype, state)
        return state

    def _prepare_local(self, var_device, var_dtype, apply_state):
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = _array.identity(
                self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device, var_dtype):
        state = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _of(self, var, apply_state):
        """What _prepare_local() computed for `var`."""
        key = var.device, var.dtype.base_dtype
        return (apply_state or {}).get(key) or self._fallback_apply_state(*key)

    def _update(self, var, grad, state):
        """An operation that changes one variable, and constrains it."""
        with name_scope("update_" + var.op.name):
            constraint = getattr(var, "constraint", None)
            if isinstance(grad, IndexedSlices):
                if constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a "
                                       "sparse variable.")
                return _operation(self._resource_apply_sparse_duplicate_indices(
                    grad.values, var, grad.indices,
                    **_state_for(self._resource_apply_sparse, state)))
            op = _operation(self._resource_apply_dense(
                grad, var, **_state_for(self._resource_apply_dense, state)))
            if constraint is not None:
                with control_dependencies([op]):
                    op = _operation(var.assign(constraint(var)))
            return op

    def _resource_apply_dense(self, grad, handle, apply_state):
        raise NotImplementedError("_resource_apply_dense of %s"
                                  % type(self).__name__)

    def _resource_apply_sparse(self, grad, handle, indices, apply_state):
        raise NotImplementedError("_resource_apply_sparse of %s"
                                  % type(self).__name__)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices,
                                                 **kwargs):
        """_resource_apply_sparse() with one gradient for each row."""
        values, rows = _one_gradient_per_row(grad, indices)
        return self._resource_apply_sparse(values, handle, rows, **kwargs)

    def _resource_scatter_add(self, x, i, v):
        """The value of the variable `x` after rows `i` got `v` more."""
        with control_dependencies([_raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_scatter_update(self, x, i, v):
        """The value of the variable `x` after rows `i` became `v`."""
        with control_dependencies([_raw.ResourceScatterUpdate(x.handle, i, v)]):
            return x.value()

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    # Configs.

    def get_config(self):
        """The arguments that from_config makes an equal optimizer of."""
        config = {"name": self._name}
        for name in ("clipnorm", "clipvalue"):
            if hasattr(self, name):
                config[name] = getattr(self, name)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        rate = config.get("learning_rate")
        if isinstance(rate, dict):
            config["learning_rate"] = _schedules.deserialize(rate,
                                                             custom_objects)
        return cls(**config)


def _is_function(value):
    """A hyperparameter that is called for its value: tensors and variables may
    be callable, too."""
    return callable(value) and not is_tensor(value)


def _operation(result):
    return getattr(result, "op", result)


def _state_for(function, state):
    """The argument apply_state, if the function takes it."""
    taken = "apply_state" in inspect.getfullargspec(function).args
    return {"apply_state": state} if taken else {}


def _with_gradients(grads_and_vars):
    """The pairs that have a gradient, and a warning about the others."""
    pairs = list(grads_and_vars)
    found = [(g, v) for g, v in pairs if g is not None]
    if not found:
        raise ValueError("No gradients provided for any variable: %s."
                         % ([v.name for _, v in pairs],))
    if len(found) < len(pairs):
        _logging.warning(
            "Gradients do not exist for variables %s when minimizing the loss.",
            [v.name for g, v in pairs if g is None])
    return found
