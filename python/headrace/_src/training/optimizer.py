"""Optimizer: the updates of variables by the gradients of a loss."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, control_dependencies, get_collection_ref,
    get_default_graph, init_scope, name_scope)
from headrace._src.framework.indexed_slices import (
    IndexedSlices, convert_to_tensor_or_indexed_slices)
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.training import slots as _slots
from headrace._src.training.gradient_tape import GradientTape
from headrace._src.training.gradients import gradients as _gradients
from headrace._src.variables import tracking as _tracking
from headrace._src.variables import variables as _variables
from headrace._src.variables.base import Variable
from headrace._src.variables.strategies import (
    colocate_vars_with, container_of, loaded_strategies)


def _sum_by_index(values, indices):
    """(sums, unique indices): slices at the same index added up."""
    unique, positions = _raw.Unique(indices)
    return _raw.UnsortedSegmentSum(
        values, positions, _array.shape(unique)[0]), unique


def _key_of(graph):
    return None if graph._eager else graph


def _key(variable):
    container = container_of(variable)
    if container is not None:
        return container.graph, container._shared_name
    if hasattr(variable, "_unique_id"):  # of eager execution
        return variable._unique_id
    return variable.op.graph, variable.op.name


class Optimizer:
    """The base of optimizers.

    `minimize(loss)` gives the operation of a training step: it is
    `compute_gradients`, then `apply_gradients`. What is done with the
    gradients in between (clipping, say) is the caller's.

    A subclass says how a variable is updated, in _apply_dense and
    _apply_sparse (variables that are references) and _resource_apply_dense and
    _resource_apply_sparse. It makes its own variables in _create_slots, its
    hyperparameters as tensors in _prepare, and ends the step in _finish.

    Variables may be of any shape; dtypes are float16, bfloat16, float32,
    float64 and complex. ValueError for no variables, no gradients at all or a
    loss of another type; NotImplementedError for what is no variable, and for a
    method that the subclass does not have."""

    # A slot makes this class, not OpUpdates, the __base__ of an optimizer that
    # inherits from both. Programs find optimizers by their __base__.
    __slots__ = ("_unused", "__dict__", "__weakref__")

    GATE_NONE = 0   # gradients are used as soon as they are there
    GATE_OP = 1     # once all gradients by the inputs of an op are there
    GATE_GRAPH = 2  # once all gradients are there

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slot_places = []    # (slot's name, variable, slot)
        self._slots = {}          # slot name: {key of the variable: slot}
        self._non_slot_dict = {}  # (name, graph): variable

    def get_name(self):
        return self._name

    def minimize(self, loss, global_step=None, var_list=None,
                 gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None,
                 grad_loss=None):
        """An Operation that updates the variables of `var_list`, by default the
        trainable ones, so that `loss` becomes smaller, and then adds 1 to
        `global_step`. ValueError if the loss depends on none of them."""
        pairs = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for "
                "ops that do not support gradients, between variables %s and "
                "loss %s." % ([str(v) for _, v in pairs], loss))
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP,
                          aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None,
                          _stop_gradients=None):
        """A list of (gradient of the loss, variable). The gradient is a Tensor,
        IndexedSlices, or None where the loss does not depend on the variable.

        `loss`: a tensor of floats, or a function that returns it. `grad_loss`:
        the gradient of the loss itself; None for ones. ValueError for losses
        and variables that are not of floats."""
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP,
                                  self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, "
                "Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not %s"
                % (gate_gradients,))
        if callable(loss):
            if executing_eagerly():
                return self._gradients_of(loss, var_list, grad_loss)
            loss = loss()
        elif executing_eagerly():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a "
                "function when eager execution is enabled.")
        loss = self._scale_loss(loss)
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = _variables.trainable_variables()
        else:
            var_list = nest.flatten(var_list)
        for v in var_list:
            if not isinstance(v, (Variable, Tensor)):
                raise NotImplementedError(
                    "Trying to optimize unsupported type ", v)
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = _gradients(
            loss, var_list, grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            stop_gradients=_stop_gradients)
        if gate_gradients == self.GATE_GRAPH:
            grads = _flow.tuple(grads)
        pairs = list(zip(grads, var_list))
        self._assert_valid_dtypes(
            [v for g, v in pairs
             if g is not None and v.dtype != dtypes.resource])
        return pairs

    def _gradients_of(self, loss, var_list, grad_loss):
        """compute_gradients() of a function that is executed eagerly."""
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = self._scale_loss(loss())
        if var_list is None:
            var_list = tape.watched_variables()
        return list(zip(tape.gradient(value, var_list, grad_loss), var_list))

    @staticmethod
    def _scale_loss(loss):
        """The loss, divided by the number of replicas if an Estimator's
        strategy adds up their mean losses."""
        graph = get_default_graph()
        graph._is_loss_scaled_by_optimizer = False
        strategies = loaded_strategies()
        if strategies is None or (strategies.get_loss_reduction()
                                  is not strategies.ReduceOp.MEAN):
            return loss
        replicas = strategies.get_strategy().num_replicas_in_sync
        if replicas > 1:
            graph._is_loss_scaled_by_optimizer = True
            return loss * (1. / replicas)
        return loss

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An Operation that updates variables by gradients, as a list of pairs
        has them, and then adds 1 to `global_step`. Pairs without a gradient
        are passed over; ValueError if there is no other. In a replica of a
        strategy, the gradients of all replicas are added up; RuntimeError
        between replicas."""
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        strategies = loaded_strategies()
        if strategies is not None and strategies.has_strategy():
            context = strategies.get_replica_context()
            if context is None:
                raise RuntimeError(
                    "Use `_distributed_apply()` instead of `apply_gradients()` "
                    "in a cross-replica context.")
            kept = [(g, v) for g, v in grads_and_vars if g is not None]
            if not kept:
                raise ValueError("No gradients provided for any variable: %s."
                                 % ([v.name for _, v in grads_and_vars],))
            return context.merge_call(self._distributed_apply,
                                      (kept, global_step, name))
        pairs = [(self._as_gradient(g), v) for g, v in grads_and_vars]
        pairs = [(g, v) for g, v in pairs if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable: %s."
                             % ([str(v) for _, v in grads_and_vars],))
        for _, v in pairs:
            if isinstance(v, Tensor):
                raise NotImplementedError("Trying to update a Tensor ", v)
            if not isinstance(v, Variable):
                raise NotImplementedError(
                    "Trying to optimize unsupported type ", v)
        with init_scope():
            self._create_slots([v for _, v in pairs])
            if _tracking.restore_new is not None:
                _tracking.restore_new()
        updates = []
        with name_scope(name, self._name) as scope:
            self._prepare()
            for g, v in pairs:
                with name_scope("update_" + v.op.name), colocate_with(v):
                    updates.append(self._update(g, v))
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                train = self._count(global_step,
                                    self._finish(updates, "update"), scope)
            return self._as_train_op(train)

    def _distributed_apply(self, distribution, grads_and_vars,
                           global_step=None, name=None):
        """apply_gradients() between the replicas of a strategy."""
        extended = distribution.extended
        gradients = extended.batch_reduce_to("SUM", grads_and_vars)
        variables = [v for _, v in grads_and_vars]
        with init_scope():
            self._create_slots(variables)

        def update(v, g):
            with name_scope("update_" + v.op.name):
                return self._update(self._as_gradient(g), v)

        def finish(optimizer, updates):
            return optimizer._finish(updates, "update")
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [op for g, v in zip(gradients, variables)
                       for op in extended.update(v, update, (g,), group=False)]
            finished = extended.update_non_slot(
                extended.non_slot_devices(variables), finish, (self, updates),
                group=False)
            if global_step is None:
                train = distribution.group(finished, name=scope)
            else:
                with control_dependencies(nest.flatten(finished)):
                    train = extended.update(global_step, _variables.assign_add,
                                            (1,), {"name": scope})
            return self._as_train_op(train)

    @staticmethod
    def _as_train_op(train):
        if executing_eagerly():
            return train
        if isinstance(train, Tensor):
            train = train.op
        operations = get_collection_ref(GraphKeys.TRAIN_OP)
        if train not in operations:
            operations.append(train)
        return train

    @staticmethod
    def _as_gradient(g):
        if g is None:
            return None
        try:
            g = convert_to_tensor_or_indexed_slices(g)
        except TypeError:
            raise TypeError("Gradient must be convertible to a Tensor or "
                            "IndexedSlices, or None: %s" % (g,)) from None
        if not isinstance(g, (Tensor, IndexedSlices)):
            raise TypeError("Gradient must be a Tensor, IndexedSlices, or "
                            "None: %s" % (g,))
        return g

    @staticmethod
    def _count(global_step, after, scope):
        with control_dependencies([after]), colocate_with(global_step):
            if getattr(global_step, "_is_resource", False):
                one = convert_to_tensor(1, dtype=global_step.dtype,
                                        name="value")
                return _raw.AssignAddVariableOp(global_step.handle, one,
                                                name=scope)
            return _variables.assign_add(global_step, 1, name=scope)

    def _update(self, grad, var):
        """The operation that updates one variable."""
        if isinstance(grad, IndexedSlices):
            if var.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a "
                                   "sparse variable.")
            if var._is_resource:
                return self._resource_apply_sparse_duplicate_indices(
                    grad.values, var, grad.indices)
            return self._apply_sparse_duplicate_indices(grad, var)
        update = (self._resource_apply_dense if var._is_resource
                  else self._apply_dense)(grad, var)
        if var.constraint is None:
            return update
        with control_dependencies([update]):
            return var.assign(var.constraint(var))

    # What the optimizer keeps.

    def get_slot(self, var, name):
        """The slot of this name that belongs to `var`, or None."""
        slot = self._slots.get(name, {}).get(_key(var))
        if slot is not None and container_of(var) is not None and hasattr(
                slot, "devices"):
            return slot.get(device=var.device)
        return slot

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """The variables that the optimizer made in the default graph, by
        name."""
        graph = get_default_graph()
        made = list(self._non_slot_variables())
        for slots in self._slots.values():
            made += slots.values()
        return sorted((v for v in made if hasattr(v, "_unique_id")
                       or v.op.graph is graph), key=lambda v: v.name)

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var, slot_name, make):
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = make()
            self._slot_places.append((slot_name, var, slots[_key(var)]))
        return slots[_key(var)]

    # What checkpoints of objects have of it.

    def _checkpoint_children(self):
        graph = get_default_graph()
        return sorted((name, variable) for (name, of), variable
                      in self._non_slot_dict.items() if of in (None, graph))

    def _checkpoint_slots(self):
        return sorted(self._slot_places, key=lambda place: place[0])

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        """The slot of `var`, which begins as the tensor `val`. The variable is
        called `op_name` under the name of `var`."""
        return self._slot(var, slot_name, lambda: _slots.create_slot(
            var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var, initializer, shape,
                                           dtype, slot_name, op_name):
        return self._slot(
            var, slot_name, lambda: _slots.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var, slot_name, op_name):
        return self._slot(var, slot_name, lambda: _slots.create_zeros_slot(
            var, op_name))

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        """A variable of the optimizer itself, once in a graph, beside the
        variable `colocate_with` and of its kind."""
        key = name, _key_of(get_default_graph())
        if key not in self._non_slot_dict:
            with colocate_vars_with(colocate_with):
                self._non_slot_dict[key] = Variable(
                    initial_value, name=name, trainable=False,
                    use_resource=colocate_with._is_resource)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name, graph=None):
        variable = self._non_slot_dict.get((name, graph))
        if variable is None:  # of eager execution
            variable = self._non_slot_dict.get((name, None))
        if hasattr(variable, "devices"):
            return variable.get()
        return variable

    def _non_slot_variables(self):
        return self._non_slot_dict.values()

    # What subclasses define.

    def _valid_dtypes(self):
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32,
                dtypes.float64}

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for t in tensors:
            dtype = t.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    "Invalid type %r for %s, expected: %s."
                    % (dtype, t.name, sorted(v.name for v in valid)))

    def _create_slots(self, var_list):
        """Makes the slots of these variables."""

    def _prepare(self):
        """Makes tensors that all updates use."""

    def _apply_dense(self, grad, var):
        raise NotImplementedError()

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad, var):
        """Adds up the slices at the same index, then _apply_sparse."""
        values, indices = _sum_by_index(grad.values, grad.indices)
        return self._apply_sparse(
            IndexedSlices(values, indices, grad.dense_shape), var)

    def _apply_sparse(self, grad, var):
        """`grad`: IndexedSlices in which each index occurs once."""
        raise NotImplementedError()

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        values, indices = _sum_by_index(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError()

    def _finish(self, update_ops, name_scope):
        """The operation, called `name_scope`, that ends a step."""
        return _flow.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _hyperparameter(self, value, name):
        """A tensor of a number, a tensor, or a function that returns one.
        ValueError for a constant NaN: every variable would become NaN."""
        tensor = convert_to_tensor(self._call_if_callable(value), name=name)
        known = constant_value(tensor) if tensor.dtype.is_floating else None
        if known is not None and np.isnan(known).any():
            raise ValueError("%s: %s is NaN" % (type(self).__name__, name))
        return tensor


class OpUpdates:
    """What an optimizer inherits, before Optimizer, if its updates are ops:
    ApplyX, SparseApplyX and their Resource forms.

    `_op` is X. `_slot_inputs` says which slot is which input of the op, in the
    op's order; `_scalar_inputs` which attribute of the optimizer is which
    scalar input."""
    _op: str
    _slot_inputs: dict = {}
    _scalar_inputs: dict = {}

    def _tensors(self, **values):
        """Makes attributes `_NAME_tensor` of hyperparameters."""
        for name, value in values.items():
            setattr(self, "_%s_tensor" % name,
                    self._hyperparameter(value, name))

    def _inputs(self, var):
        """The inputs of the op except the gradient."""
        dtype = var.dtype.base_dtype
        inputs = {i: self.get_slot(var, slot)
                  for i, slot in self._slot_inputs.items()}
        if var._is_resource:
            inputs = {i: slot.handle for i, slot in inputs.items()}
        scalars = {i: _cast(getattr(self, attribute), dtype)
                   for i, attribute in self._scalar_inputs.items()}
        return dict(inputs, **scalars)

    def _op_name(self):
        return self._op

    def _attrs(self):
        return {}

    _gradient_input = "grad"

    def _apply_op(self, prefix, var, grad, **indices):
        op = getattr(_raw, prefix + self._op_name())
        done = op(var=var.handle if var._is_resource else var,
                  use_locking=self._use_locking, **{self._gradient_input: grad},
                  **self._inputs(var), **indices, **self._attrs())
        return (done.op if isinstance(done, Tensor)
                and not isinstance(done, EagerTensor) else done)

    def _apply_dense(self, grad, var):
        return self._apply_op("Apply", var, grad)

    def _resource_apply_dense(self, grad, handle):
        return self._apply_op("ResourceApply", handle, grad)

    def _apply_sparse(self, grad, var):
        return self._apply_op("SparseApply", var, grad.values,
                              indices=grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_op("ResourceSparseApply", handle, grad,
                              indices=indices)


def _cast(x, dtype):
    # A tensor or variable of this type stays as it is.
    return x if getattr(x, "dtype", None) is not None and (
        x.dtype.base_dtype == dtype) else _raw.Cast(x, DstT=dtype)
