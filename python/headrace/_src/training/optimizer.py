"""Optimizer: what all optimizers have in common. It finds gradients, makes the
slots of the variables, and adds the nodes that update them."""
from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._src.control.control_flow_ops import group
from headrace._src.control.control_flow_ops import tuple as gate
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, control_dependencies, get_default_graph,
    init_scope, name_scope)
from headrace._src.framework.indexed_slices import (
    IndexedSlices, convert_to_tensor_or_indexed_slices)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.training.gradients import gradients
from headrace._src.variables import initializers as _init
from headrace._src.variables.base import Variable
from headrace._src.variables.scopes import get_variable, variable_scope
from headrace._src.variables.variables import trainable_variables


def sum_of_duplicates(values, indices):
    """The slices with each index once, and these indices."""
    unique, at = _raw.Unique(indices)
    return (_raw.UnsortedSegmentSum(values, at, _raw.Shape(unique)[0]),
            unique)


def handle_of(variable):
    """What the ops of optimizers take: a reference or a handle."""
    return (variable.handle if variable._is_resource
            else variable._as_graph_element())


def _key(var):
    return var.graph, var.op.name


class Optimizer:
    """Base class of optimizers.

    A subclass says how one variable is updated: `_create_slots(var_list)`,
    `_prepare()`, `_apply_dense(grad, var)` and `_apply_sparse(grad, var)` for
    references, `_resource_apply_dense(grad, var)` and
    `_resource_apply_sparse(grad, var, indices)` for resource variables, and
    `_finish(update_ops, name_scope)`. A `name` that is used twice gets a
    number; `use_locking` lets updates of one variable exclude each other."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots = {}      # name: {key of the variable: slot variable}
        self._non_slots = {}  # (name, graph): variable

    def get_name(self):
        return self._name

    def minimize(self, loss, global_step=None, var_list=None,
                 gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None,
                 grad_loss=None):
        """An Operation that updates var_list (by default the trainable
        variables) against the gradient of `loss`, and then increments
        `global_step`."""
        found = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss)
        if all(g is None for g, _ in found):
            raise ValueError(
                "No gradients provided for any variable, check your graph for "
                "ops that do not support gradients, between variables %s and "
                "loss %s." % ([str(v) for _, v in found], loss))
        return self.apply_gradients(found, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP,
                          aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """[(gradient or None, variable)]: what minimize applies."""
        if callable(loss):
            loss = loss()
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP,
                                  Optimizer.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, "
                "Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not %s"
                % gate_gradients)
        self._assert_valid_dtypes([loss])
        if var_list is None:
            var_list = trainable_variables() + get_default_graph(
                ).get_collection("trainable_resource_variables")
        else:
            var_list = self._flat(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        for v in var_list:
            self._check_variable(v)
        grads = gradients(
            loss, var_list, grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = gate(grads)
        found = list(zip(grads, var_list))
        self._assert_valid_dtypes([v for g, v in found if g is not None])
        return found

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An Operation that updates the variables by these gradients."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        converted = []
        for g, v in pairs:
            if g is not None:
                try:
                    g = convert_to_tensor_or_indexed_slices(g)
                except TypeError:
                    raise TypeError(
                        "Gradient must be convertible to a Tensor or "
                        "IndexedSlices, or None: %s" % (g,)) from None
            self._check_variable(v)
            converted.append((g, v))
        var_list = [v for g, v in converted if g is not None]
        if not var_list:
            raise ValueError("No gradients provided for any variable: %s."
                             % ([str(v) for _, v in converted],))
        with init_scope():
            self._create_slots(var_list)
        updates = []
        with name_scope(name, self._name) as scope:
            self._prepare()
            for g, v in converted:
                if g is None:
                    continue
                with name_scope("update_" + v.op.name), colocate_with(v.op):
                    updates.append(self._update(g, v))
            if global_step is None:
                update = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    with colocate_with(global_step.op):
                        update = self._increment(global_step, scope)
        if isinstance(update, Tensor):
            update = update.op
        collection = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if update not in collection:
            collection.append(update)
        return update

    @staticmethod
    def _increment(global_step, scope):
        if getattr(global_step, "_is_resource", False):
            one = convert_to_tensor(1, dtype=global_step.dtype.base_dtype)
            return _raw.AssignAddVariableOp(global_step.handle, one,
                                            name=scope)
        return global_step.assign_add(1, name=scope)

    def _update(self, grad, var):
        sparse = isinstance(grad, IndexedSlices)
        if var._is_resource:
            update = (self._resource_apply_sparse_duplicate_indices(
                grad.values, var, grad.indices) if sparse
                      else self._resource_apply_dense(grad, var))
        else:
            update = (self._apply_sparse_duplicate_indices(grad, var) if sparse
                      else self._apply_dense(grad, var))
        constraint = getattr(var, "constraint", None)
        if constraint is None:
            return update
        if sparse and not var._is_resource:
            raise RuntimeError("Cannot use a constraint function on a sparse "
                               "variable.")
        with control_dependencies([update]):
            written = var.assign(constraint(var))
            return written.op

    def get_slot(self, var, name):
        """The slot `name` of a variable, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """The slots and other variables of the optimizer in the default
        graph."""
        graph = get_default_graph()
        found = [v for (_, g), v in self._non_slots.items() if g is graph]
        for slots in self._slots.values():
            found += [v for (g, _), v in slots.items() if g is graph]
        return sorted(found, key=lambda v: v.name)

    # For subclasses.

    def _valid_dtypes(self):
        return ("float16", "bfloat16", "float32", "float64")

    def _assert_valid_dtypes(self, tensors):
        for t in tensors:
            if t.dtype.base_dtype.name not in self._valid_dtypes():
                raise ValueError("Invalid type %r for %s, expected: %s." % (
                    t.dtype.base_dtype, t.name, list(self._valid_dtypes())))

    def _create_slots(self, var_list):
        pass

    def _prepare(self):
        pass

    def _finish(self, update_ops, name_scope):
        return group(*update_ops, name=name_scope)

    def _apply_dense(self, grad, var):
        raise NotImplementedError()

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError()

    def _apply_sparse(self, grad, var):
        raise NotImplementedError()

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad, var):
        values, indices = sum_of_duplicates(grad.values, grad.indices)
        return self._apply_sparse(
            IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        values, indices = sum_of_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        """The slot with the initial value `val`."""
        return self._slot(var, slot_name, op_name, initializer=val)

    def _get_or_make_slot_with_initializer(self, var, initializer, shape,
                                           dtype, slot_name, op_name):
        return self._slot(var, slot_name, op_name, initializer=initializer,
                          shape=shape, dtype=dtype)

    def _zeros_slot(self, var, slot_name, op_name):
        return self._slot(var, slot_name, op_name,
                          initializer=_init.Zeros(), shape=var.get_shape(),
                          dtype=var.dtype.base_dtype)

    def _slot(self, var, slot_name, op_name, **arguments):
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            with variable_scope(None, var.op.name + "/" + op_name,
                                partitioner=None), colocate_with(var.op):
                slots[_key(var)] = get_variable(
                    "", trainable=False, use_resource=var._is_resource,
                    **arguments)
        return slots[_key(var)]

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        graph = colocate_with.graph
        key = name, graph
        if key not in self._non_slots:
            with graph.colocate_with(colocate_with.op):
                self._non_slots[key] = Variable(
                    initial_value, name=name, trainable=False,
                    use_resource=colocate_with._is_resource)
        return self._non_slots[key]

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slots.get((name, graph))

    @staticmethod
    def _flat(var_list):
        if isinstance(var_list, dict):
            var_list = var_list.values()
        elif isinstance(var_list, Variable):
            var_list = [var_list]
        out = []
        for v in var_list:
            if isinstance(v, (list, tuple)):
                out += Optimizer._flat(v)
            elif hasattr(v, "_get_variable_list"):
                out += v._get_variable_list()
            else:
                out.append(v)
        return out

    @staticmethod
    def _check_variable(v):
        if isinstance(v, (Tensor, Operation)) or not isinstance(v, Variable):
            raise NotImplementedError("Trying to update a Tensor %s" % (v,)
                                      if isinstance(v, Tensor) else
                                      "Trying to optimize unsupported type %s"
                                      % (v,))
