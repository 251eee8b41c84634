"""ShampooOptimizer, and the powers of matrices that it needs."""
from headrace import raw_ops as _raw
from headrace._src.control import control_flow as _control
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import colocate_with, name_scope
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import contractions as _contractions
from headrace._src.ops import math_ops as _math
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables import variables as _variables


def matrix_square_root(mat_a, mat_a_size, iter_count=100, ridge_epsilon=1e-4):
    """The square root of a symmetric matrix without negative eigenvalues, by
    an iteration of matrix products that ends when the error no longer falls.
    `ridge_epsilon` times the identity is added first."""
    identity = _array.eye(_math.cast(mat_a_size, dtypes.int32))
    mat_a = mat_a + ridge_epsilon * identity
    norm = _math.sqrt(_math.reduce_sum(mat_a * mat_a))

    def falls(i, y, last_y, z, error, last_error):
        return _math.logical_and(i < iter_count, error < last_error)

    def better(i, y, last_y, z, error, last_error):
        factor = 0.5 * (3.0 * identity - _math.matmul(z, y))
        new_y, new_z = _math.matmul(y, factor), _math.matmul(factor, z)
        root = new_y * _math.sqrt(norm)
        rest = mat_a - _math.matmul(root, root)
        new_error = _math.sqrt(_math.reduce_sum(rest * rest)) / norm
        return i + 1, new_y, y, new_z, new_error, error

    start = mat_a / norm
    found = _control.while_loop(
        falls, better, [0, start, start, identity, norm, norm + 1.0])
    return found[2] * _math.sqrt(norm)


def _power(matrix, exponent):
    """A matrix to a positive whole power."""
    result = None
    while exponent > 0:
        if exponent % 2 == 1:
            result = (matrix if result is None
                      else _math.matmul(matrix, result))
        exponent //= 2
        matrix = _math.matmul(matrix, matrix)
    return result


def matrix_inverse_pth_root(mat_g, mat_g_size, alpha, iter_count=100,
                            epsilon=1e-6, ridge_epsilon=1e-6):
    """A symmetric positive matrix to the power `alpha`, -1 / p for a whole p,
    by an iteration that ends when no number is further than `epsilon` from
    its limit. `ridge_epsilon` times the identity is added first."""
    if mat_g_size == 1:
        return _math.pow(mat_g + ridge_epsilon, alpha)
    identity = _array.eye(_math.cast(mat_g_size, dtypes.int32))
    p = -1.0 / alpha
    if p != int(p) or p <= 0:
        raise ValueError("alpha must be -1 / p for a positive integer p: %s"
                         % alpha)

    def unfinished(i, m, x):
        return _math.logical_and(
            i < iter_count,
            _math.reduce_max(_math.abs(m - identity)) > epsilon)

    def better(i, m, x):
        factor = (1 - alpha) * identity + alpha * m
        return (i + 1, _math.matmul(_power(factor, int(p)), m),
                _math.matmul(x, factor))

    damped = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * _linalg.norm(damped))
    _, _, root = _control.while_loop(
        unfinished, better,
        [0, damped * scale, identity * _math.pow(scale, -alpha)])
    return root


def _at(parameter, step):
    return parameter(step) if callable(parameter) else parameter


class ShampooOptimizer(Optimizer):
    """Adagrad with a matrix for each dimension of a variable, by which the
    gradient is multiplied (https://arxiv.org/abs/1802.09568).

    For step t and dimension j, with g_j the gradient as a matrix whose rows
    are of dimension j:
    gbar = gbar_decay * gbar + gbar_weight * g;
    mat_gbar_j = mat_gbar_decay * mat_gbar_j + mat_gbar_weight * g_j g_j^T;
    var -= learning_rate * gbar, times mat_gbar_j ^ (-alpha / rank) along each j.
    Dimensions greater than `max_matrix_size` have the diagonal of the matrix
    only. The hyperparameters, `alpha` and the intervals may be functions of t.

    `svd_interval`, `precond_update_interval`: the steps between two powers, and
    two updates, of the matrices. `epsilon` times the identity is added before a
    power. `use_iterative_root`: powers by matrix products instead of
    decompositions, for float32 only."""

    def __init__(self, global_step=0, max_matrix_size=768, gbar_decay=0.0,
                 gbar_weight=1.0, mat_gbar_decay=1.0, mat_gbar_weight=1.0,
                 learning_rate=1.0, svd_interval=1, precond_update_interval=1,
                 epsilon=1e-4, alpha=0.5, use_iterative_root=False,
                 use_locking=False, name="Shampoo"):
        super().__init__(use_locking, name)
        self._global_step = _math.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                self._zeros_slot(v, "gbar", self._name)
                for i, size in enumerate(v.get_shape().as_list()):
                    self._create_matrices(v, i, size)

    def _create_matrices(self, v, i, size):
        if size > self._max_matrix_size:
            self._get_or_make_slot(v, _array.zeros([size]), "Gbar_%d" % i,
                                   self._name)
            return
        if self._power_is_kept():
            self._get_or_make_slot(v, _array.eye(size), "H_%d" % i, self._name)
        self._get_or_make_slot(v, _array.zeros([size, size]), "Gbar_%d" % i,
                               self._name)

    def _power_is_kept(self):
        return callable(self._svd_interval) or self._svd_interval > 1

    def _apply_dense(self, grad, var):
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad, handle):
        return self._apply_gradient(grad, handle)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._apply_rows(grad, indices, handle)

    def _apply_rows(self, values, indices, var):
        if (var.get_shape().as_list()[0] > self._max_matrix_size
                and self._gbar_decay == 0.0):
            return self._apply_gradient(values, var, indices)
        dense = _raw.ScatterNd(
            _array.expand_dims(indices, axis=1), values,
            _array.shape(var, out_type=indices.dtype))
        return self._apply_gradient(dense, var)

    def _averaged(self, slot, decay, decay_now, new):
        """decay * slot + new. Without decay the slot is never read, so it is
        not written."""
        if decay == 0.0:
            return new
        if decay == 1.0:
            return _variables.assign_add(slot, new)
        return slot.assign_add((decay_now - 1) * slot + new)

    def _apply_gradient(self, grad, var, indices=None):
        """The update by a gradient: of the whole variable, or of the rows
        `indices`."""
        step = self._global_step + 1
        moved = grad
        if indices is None:
            moved = self._averaged(
                self.get_slot(var, "gbar"), self._gbar_decay,
                _at(self._gbar_decay, step),
                _at(self._gbar_weight, step) * grad)
        sizes = var.get_shape().as_list()
        for i, size in enumerate(sizes):
            others = [j for j in range(len(sizes)) if j != i]
            part = (self._by_matrix if size <= self._max_matrix_size
                    else self._by_diagonal)
            # The first dimension becomes the last; after all it is the first.
            moved = part(moved, grad, var, i, others, step,
                         indices if i == 0 else None, indices is not None)
        rate = _at(self._learning_rate, step)
        if indices is None:
            return _variables.assign_sub(var, rate * moved)
        return _flow.group(_variables.scatter_add(var, indices,
                                                  -rate * moved))

    def _exponent(self, var, step):
        return -_at(self._alpha, step) / len(var.get_shape().as_list())

    def _by_matrix(self, moved, grad, var, i, others, step, indices, rows):
        size = var.get_shape().as_list()[i]
        slot = self.get_slot(var, "Gbar_%d" % i)
        interval = _at(self._precond_update_interval, step)

        def updated():
            outer = _contractions.tensordot(
                grad, grad, axes=(others, others), name="grad_outer_%d" % i)
            weight = _at(self._mat_gbar_weight, step) * interval
            return _array.identity(self._averaged(
                slot, self._mat_gbar_decay, _at(self._mat_gbar_decay, step),
                weight * outer))
        matrix = _control.cond(_math.mod(step, interval) < 1, updated,
                               lambda: _array.identity(slot))
        matrix = matrix / float(size)
        exponent = self._exponent(var, step)
        if not self._power_is_kept():
            power = self._power_of(matrix, size, exponent)
        else:
            kept = self.get_slot(var, "H_%d" % i)
            power = _control.cond(
                _math.mod(step, _at(self._svd_interval, step)) < 1,
                lambda: _array.identity(_variables.assign(
                    kept, self._power_of(matrix, size, exponent))),
                lambda: _array.identity(kept))
        return _contractions.tensordot(moved, power, axes=([0], [0]),
                                       name="precond_%d" % i)

    def _power_of(self, matrix, size, exponent):
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size,
                                          ridge_epsilon=self._epsilon)
                return matrix_inverse_pth_root(root, size, 2 * exponent,
                                               ridge_epsilon=0.0)
            if size == 1:
                return _math.pow(matrix + self._epsilon, exponent)
            damped = matrix + self._epsilon * _array.eye(size)
            values, left, right = _linalg.svd(damped, full_matrices=True)
            powers = _math.pow(_math.maximum(values, self._epsilon), exponent)
            return _math.matmul(right * powers, _array.transpose(left))

    def _by_diagonal(self, moved, grad, var, i, others, step, indices, rows):
        squares = grad * grad
        if others:
            count = 1.0 if rows else float(var.get_shape().as_list()[i])
            squares = _math.reduce_sum(squares, axis=others) / count
        slot = self.get_slot(var, "Gbar_%d" % i)
        new = _at(self._mat_gbar_weight, step) * squares
        if indices is None:
            diagonal = self._averaged(slot, self._mat_gbar_decay,
                                      _at(self._mat_gbar_decay, step), new)
        else:
            if self._mat_gbar_decay != 1.0:
                raise ValueError(
                    "Shampoo: mat_gbar_decay must be 1 for sparse gradients "
                    "of %s, whose first dimension is greater than "
                    "max_matrix_size" % var.op.name)
            diagonal = _array.gather(
                _variables.scatter_add(slot, indices, new), indices)
        diagonal = _array.identity(diagonal)
        power = _array.where(
            diagonal > 0, _math.pow(diagonal, self._exponent(var, step)),
            _array.zeros_like(diagonal))
        rank = len(var.get_shape().as_list())
        return _array.transpose(moved, list(range(1, rank)) + [0]) * power
