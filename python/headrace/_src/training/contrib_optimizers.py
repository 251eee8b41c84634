"""The optimizers of tf.contrib.opt."""
import math

import headrace
from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.moving_averages import ExponentialMovingAverage
from headrace._src.training.optimizer import OpUpdates, Optimizer, _cast
from headrace._src.training.optimizers import (
    AdamOptimizer, MomentumOptimizer)
from headrace._src.variables import variables as _variables


def _rows(variable, indices):
    return (variable.sparse_read(indices) if variable._is_resource
            else _raw.GatherV2(variable, indices, 0))


class AdaMaxOptimizer(AdamOptimizer):
    """Adam by the greatest gradient so far instead of the average square:
    v = max(beta2 * v, |gradient|);
    var -= learning_rate / (1 - beta1^t) * m / (v + epsilon).

    Rows without a gradient do not move."""

    _op = "AdaMax"
    _scalar_inputs = {name: value for name, value
                      in AdamOptimizer._scalar_inputs.items()
                      if name != "beta2_power"}

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking,
                         name)

    def _get_beta_accumulators(self):
        return [self._get_non_slot_variable("beta1_power",
                                            graph=get_default_graph())]

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        dtype = var.dtype.base_dtype
        beta1_power, rate, beta1, beta2, epsilon = [
            _cast(x, dtype) for x in (
                self._beta1_power_now, self._lr_t, self._beta1_t,
                self._beta2_t, self._epsilon_t)]
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = _rows(m, indices) * beta1 + grad * (1 - beta1)
        m_written = _variables.scatter_update(
            m, indices, new_m, use_locking=self._use_locking)
        new_v = _math.maximum(_rows(v, indices) * beta2, _math.abs(grad))
        v_written = _variables.scatter_update(
            v, indices, new_v, use_locking=self._use_locking)
        updated = scatter_add(
            var, indices,
            -rate / (1 - beta1_power) * (new_m / (new_v + epsilon)))
        return _flow.group(updated, m_written, v_written)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that leaves rows without a gradient as they are, with their
    averages."""

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad, var, indices):
        dtype = var.dtype.base_dtype
        rate = self._rate(dtype)
        beta1, beta2, epsilon = [_cast(x, dtype) for x in (
            self._beta1_t, self._beta2_t, self._epsilon_t)]

        def averaged(slot, beta, new):
            rows = beta * _rows(slot, indices) + (1 - beta) * new
            return rows, _variables.scatter_update(
                slot, indices, rows, use_locking=self._use_locking)
        m, m_written = averaged(self.get_slot(var, "m"), beta1, grad)
        v, v_written = averaged(self.get_slot(var, "v"), beta2,
                                _math.square(grad))
        updated = _variables.scatter_sub(
            var, indices, rate * m / (_math.sqrt(v) + epsilon),
            use_locking=self._use_locking)
        return _flow.group(updated, m_written, v_written)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum: var moves by beta1 * m + (1 - beta1) *
    gradient in place of m."""

    def _attrs(self):
        return {"use_nesterov": True}

    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        dtype = var.dtype.base_dtype
        beta1, beta2, epsilon = [_cast(x, dtype) for x in (
            self._beta1_t, self._beta2_t, self._epsilon_t)]

        def averaged(slot, beta, part):
            faded = _variables.assign(slot, slot * beta,
                                      use_locking=self._use_locking)
            with control_dependencies([faded]):
                return scatter_add(slot, indices, part)
        new = grad * (1 - beta1)
        m = averaged(self.get_slot(var, "m"), beta1, new)
        ahead = _raw.TensorScatterAdd(
            m * beta1, _array.expand_dims(indices, -1), new)
        v = averaged(self.get_slot(var, "v"), beta2, grad * grad * (1 - beta2))
        updated = _variables.assign_sub(
            var, self._rate(dtype) * ahead / (_math.sqrt(v) + epsilon),
            use_locking=self._use_locking)
        return _flow.group(updated, m, v)


class _SignOptimizer(OpUpdates, Optimizer):
    """What AddSign and PowerSign have: m, the average of the gradient, and a
    step that is longer where the signs of the gradient and of m agree."""

    _slot_inputs = {"m": "m"}

    def _set(self, learning_rate, beta, sign_decay_fn):
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(
                self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step,
                                       name=name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self):
        self._lr_t = self._hyperparameter(self._lr, "learning_rate")
        self._beta_t = self._hyperparameter(self._beta, "beta")
        self._prepare_factor()
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad, var, indices):
        dtype = var.dtype.base_dtype
        rate, beta, decay = [_cast(x, dtype) for x in (
            self._lr_t, self._beta_t, self._sign_decay_t)]
        m = self.get_slot(var, "m")
        whole = _raw.UnsortedSegmentSum(grad, indices, _array.shape(var)[0])
        new_m = m.assign(m * beta + whole * (1 - beta),
                         use_locking=self._use_locking)
        agreement = _array.gather(
            _math.sign(convert_to_tensor(new_m)), indices) * _math.sign(grad)
        updated = _variables.scatter_sub(
            var, indices, rate * self._factor(decay * agreement, dtype) * grad,
            use_locking=self._use_locking)
        return _flow.group(updated, new_m)


class AddSignOptimizer(_SignOptimizer):
    """var -= learning_rate * (alpha + sign_decay * sign(g) * sign(m)) * g.
    `sign_decay_fn` takes the global step; 1 by default."""

    _op = "AddSign"
    _scalar_inputs = {"lr": "_lr_t", "alpha": "_alpha_t",
                      "sign_decay": "_sign_decay_t", "beta": "_beta_t"}

    def __init__(self, learning_rate=0.1, alpha=1.0, beta=0.9,
                 sign_decay_fn=None, use_locking=False,
                 name="AddSignOptimizer"):
        super().__init__(use_locking, name)
        self._set(learning_rate, beta, sign_decay_fn)
        self._alpha = alpha

    def _prepare_factor(self):
        self._alpha_t = self._hyperparameter(self._alpha, "alpha")

    def _factor(self, agreement, dtype):
        return _cast(self._alpha_t, dtype) + agreement


class PowerSignOptimizer(_SignOptimizer):
    """var -= learning_rate * base ^ (sign_decay * sign(g) * sign(m)) * g.
    `sign_decay_fn` takes the global step; 1 by default."""

    _op = "PowerSign"
    _scalar_inputs = {"lr": "_lr_t", "logbase": "_logbase_t",
                      "sign_decay": "_sign_decay_t", "beta": "_beta_t"}

    def __init__(self, learning_rate=0.1, base=math.e, beta=0.9,
                 sign_decay_fn=None, use_locking=False,
                 name="PowerSignOptimizer"):
        super().__init__(use_locking, name)
        self._set(learning_rate, beta, sign_decay_fn)
        self._logbase = math.log(base)

    def _prepare_factor(self):
        self._logbase_t = self._hyperparameter(self._logbase, "logbase")

    def _factor(self, agreement, dtype):
        return _math.exp(_cast(self._logbase_t, dtype) * agreement)


class MovingAverageOptimizer(Optimizer):
    """Another optimizer, and moving averages of the variables that it updates.
    swapping_saver() saves the averages under the names of the variables.

    `sequential_update`: the averages are of the values after the update;
    otherwise, before or after it."""

    def __init__(self, opt, average_decay=0.9999, num_updates=None,
                 sequential_update=True):
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay,
                                             num_updates=num_updates)
        self._swapped = None  # name of a variable: its average
        self._sequential_update = sequential_update

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = list(grads_and_vars)
        train = self._optimizer.apply_gradients(
            grads_and_vars, global_step=global_step, name=name)
        updated = [v for g, v in grads_and_vars if g is not None]
        with control_dependencies([train] if self._sequential_update else []):
            average = self._ema.apply(updated)
        self._swapped = {v.op.name: self._ema.average(v) for v in updated}
        return _flow.group(train, average, name="train_with_avg")

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def variables(self):
        return self._optimizer.variables()

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that saves and restores the average of a variable under the
        variable's name, and the variable under the average's. RuntimeError
        before minimize() or apply_gradients()."""
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before "
                               "creating the swapping_saver")
        if var_list is None:
            var_list = _variables.global_variables()
        if not isinstance(var_list, dict):
            var_list = {v.op.name: v for v in var_list}
        swapped = dict(var_list)
        names = {v.op.name: key for key, v in var_list.items()}
        for variable_name, average in self._swapped.items():
            if variable_name not in names:
                raise ValueError(
                    "Variable to swap %s is not in variables to save. This "
                    "breaks the model when restoring." % variable_name)
            if average.op.name not in names:
                raise ValueError(
                    "Variable to swap %s is not in variables to save. This "
                    "breaks the model when restoring." % average.op.name)
            own, other = names[variable_name], names[average.op.name]
            swapped[own], swapped[other] = var_list[other], var_list[own]
        return headrace.train.Saver(swapped, name=name, **kwargs)


class DecoupledWeightDecayExtension:
    """Makes another optimizer, the second base of a class, take
    weight_decay * var from a variable before each of its updates; of rows with
    a gradient only, where the gradient is sparse. minimize() and
    apply_gradients() take the variables that decay as `decay_var_list`, by
    default all. `weight_decay`: a number, or a function that returns one."""

    def __init__(self, weight_decay, **kwargs):
        self._decay_var_list = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(self, loss, global_step=None, var_list=None,
                 gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None,
                 decay_var_list=None):
        self._set_decay_var_list(decay_var_list)
        return super().minimize(
            loss, global_step=global_step, var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None,
                        decay_var_list=None):
        self._set_decay_var_list(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step,
                                       name=name)

    def _set_decay_var_list(self, variables):
        if variables:
            self._decay_var_list = set(variables)

    def _prepare(self):
        self._weight_decay_tensor = self._hyperparameter(
            self._weight_decay, "weight_decay")
        super()._prepare()

    def _decays(self, var):
        return self._decay_var_list is None or var in self._decay_var_list

    def _decayed(self, var, grad, indices=None):
        """What the update of `var` waits for. The decay itself waits for the
        gradient, which is of the values before it."""
        if not self._decays(var):
            return []
        decay = _cast(self._weight_decay_tensor, var.dtype.base_dtype)
        with control_dependencies([grad]):
            if indices is None:
                return [var.assign_sub(decay * var,
                                       use_locking=self._use_locking)]
            return [_variables.scatter_sub(
                var, indices, decay * _rows(var, indices),
                use_locking=self._use_locking)]

    def _apply_dense(self, grad, var):
        with control_dependencies(self._decayed(var, grad)):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, handle):
        with control_dependencies(self._decayed(handle, grad)):
            return super()._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad, var):
        with control_dependencies(
                self._decayed(var, grad.values, grad.indices)):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, handle, indices):
        with control_dependencies(self._decayed(handle, grad, indices)):
            return super()._resource_apply_sparse(grad, handle, indices)


def extend_with_decoupled_weight_decay(base_optimizer):
    """A class like `base_optimizer`, a class of optimizers, with decay of the
    weights: its first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension,
                                            base_optimizer):
        """The optimizer with decay of the weights."""

        def __init__(self, weight_decay, *args, **kwargs):
            self._decay_var_list = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with decay of the weights that is no part of the gradient. The decay
    is not scaled by the learning rate."""

    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9,
                 beta2=0.999, epsilon=1e-8, use_locking=False, name="AdamW"):
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1,
            beta2=beta2, epsilon=epsilon, use_locking=use_locking, name=name)


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with decay of the weights that is no part of the gradient."""

    def __init__(self, weight_decay, learning_rate, momentum,
                 use_locking=False, name="MomentumW", use_nesterov=False):
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum,
            use_locking=use_locking, name=name, use_nesterov=use_nesterov)
