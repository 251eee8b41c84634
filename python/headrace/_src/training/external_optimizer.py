"""Optimizers that are no nodes of the graph: they run a session for the loss and
its gradients."""
import itertools

import numpy as np

from headrace._src.framework.default_session import get_default_session
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging as logging
from headrace._src.training.gradients import gradients as _gradients
from headrace._src.variables import variables as _variables


class ExternalOptimizerInterface:
    """The base of optimizers outside of the graph. A subclass has `_minimize`.

    `loss`: a scalar. `var_list`: by default the trainable variables; their
    shapes must be known. `equalities`, `inequalities`: scalars that shall be
    zero, and not negative. `var_to_bounds`: for a variable the pair (low,
    high), of values that broadcast to its shape. Other keywords are the
    subclass's."""

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None,
                 var_to_bounds=None, **optimizer_kwargs):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = (_variables.trainable_variables() if var_list is None
                      else list(var_list))
        self._shapes = [tuple(v.get_shape().as_list()) for v in self._vars]
        self._packed_bounds = (None if var_to_bounds is None
                               else self._pack_bounds(var_to_bounds))
        self._update_placeholders = [_array.placeholder(v.dtype.base_dtype)
                                     for v in self._vars]
        self._var_updates = [
            v.assign(_array.reshape(value, shape)) for v, value, shape in zip(
                self._vars, self._update_placeholders, self._shapes)]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._packed_gradient(loss)
        self._packed_equality_grads = [
            self._packed_gradient(x) for x in self._equalities]
        self._packed_inequality_grads = [
            self._packed_gradient(x) for x in self._inequalities]
        ends = [0, *itertools.accumulate(
            int(np.prod(shape)) for shape in self._shapes)]
        self._packing_slices = [slice(begin, end)
                                for begin, end in zip(ends, ends[1:])]

    def minimize(self, session=None, feed_dict=None, fetches=None,
                 step_callback=None, loss_callback=None, **run_kwargs):
        """Minimizes the loss, and then gives the variables their values.

        `fetches`: tensors whose values `loss_callback` gets, whenever the loss
        is computed. `step_callback` gets all variables as one vector, after
        each step. Further keywords are those of `session.run`."""
        session = session or get_default_session()
        feed_dict, fetches = feed_dict or {}, fetches or []

        def function(tensors, callback=None):
            return self._function(tensors, session, feed_dict, fetches,
                                  callback)

        packed = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad],
                                    loss_callback),
            equality_funcs=[function([x]) for x in self._equalities],
            equality_grad_funcs=[function([x])
                                 for x in self._packed_equality_grads],
            inequality_funcs=[function([x]) for x in self._inequalities],
            inequality_grad_funcs=[function([x])
                                   for x in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda x: None),
            optimizer_kwargs=self.optimizer_kwargs)
        values = [packed[part] for part in self._packing_slices]
        session.run(self._var_updates,
                    feed_dict=dict(zip(self._update_placeholders, values)),
                    **run_kwargs)

    def _minimize(self, initial_val, loss_grad_func, equality_funcs,
                  equality_grad_funcs, inequality_funcs, inequality_grad_funcs,
                  packed_bounds, step_callback, optimizer_kwargs):
        """The vector of all variables at the minimum, from `initial_val`.

        A function takes such a vector. `loss_grad_func` returns the loss and
        its gradient, the others a list of one value."""
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement "
            "the _minimize() method.")

    def _pack_bounds(self, var_to_bounds):
        unbounded = (-np.inf, np.inf)
        packed = []
        for v, shape in zip(self._vars, self._shapes):
            low, high = [
                np.broadcast_to(side, shape).ravel().tolist()
                for side in (var_to_bounds[v] if v in var_to_bounds
                             else unbounded)]
            packed += zip(low, high)
        return packed

    @staticmethod
    def _pack(tensors):
        flat = [_array.reshape(t, [-1]) for t in tensors]
        return flat[0] if len(flat) == 1 else _array.concat(flat, 0)

    def _packed_gradient(self, tensor):
        return self._pack([
            _array.zeros_like(v) if g is None else g
            for g, v in zip(_gradients(tensor, self._vars), self._vars)])

    def _function(self, tensors, session, feed_dict, fetches, callback):
        def values(x):
            feeds = {v: x[part].reshape(shape) for v, part, shape in zip(
                self._vars, self._packing_slices, self._shapes)}
            found = session.run(tensors + fetches,
                                feed_dict={**feeds, **feed_dict})
            if callback is not None:
                callback(*found[len(tensors):])
            return found[:len(tensors)]
        return values


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes a loss by scipy.optimize.minimize, whose arguments are the
    keywords: `method`, by default "L-BFGS-B", `options`, `tol` and others.

        optimizer = ScipyOptimizerInterface(loss, options={"maxiter": 100})
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            optimizer.minimize(session)

    ImportError without SciPy. ValueError for what the other arguments say:
    bounds, constraints, the gradient."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val, loss_grad_func, equality_funcs,
                  equality_grad_funcs, inequality_funcs, inequality_grad_funcs,
                  packed_bounds, step_callback, optimizer_kwargs):
        def loss_and_gradient(x):
            loss, gradient = loss_grad_func(x)
            return np.float64(loss), np.float64(gradient)

        # SciPy wants doubles.
        def double(function):
            return lambda x: np.float64(function(x)[0])

        constraints = [
            {"type": kind, "fun": double(value), "jac": double(gradient)}
            for kind, values, gradients in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs))
            for value, gradient in zip(values, gradients)]
        options = dict(optimizer_kwargs)
        arguments = {"jac": True, "callback": step_callback,
                     "method": options.pop("method", self._DEFAULT_METHOD),
                     "constraints": constraints, "bounds": packed_bounds}
        for name in arguments:
            if name == "bounds" and name in options:
                raise ValueError(
                    "Bounds must be set using the var_to_bounds argument")
            if name in options:
                raise ValueError("Optimizer keyword arg '%s' is set "
                                 "automatically and cannot be injected "
                                 "manually" % name)
        import scipy.optimize  # type: ignore
        result = scipy.optimize.minimize(
            loss_and_gradient, np.float64(initial_val), **arguments, **options)
        logging.info(
            "Optimization terminated with:\n  Message: %s\n  Objective "
            "function value: %f\n  Number of iterations: %s\n  Number of "
            "functions evaluations: %s", result.message, result.fun,
            result.get("nit"), result.get("nfev"))
        return result["x"]
