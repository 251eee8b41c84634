"""GGTOptimizer: Adagrad with the whole matrix of the last gradients."""
from headrace._src.control import control_flow as _control
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, get_default_graph
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.optimizer import Optimizer, _cast
from headrace._src.variables import variables as _variables


class GGTOptimizer(Optimizer):
    """Adagrad with a whole matrix, made of the averages m of the last `window`
    gradients (https://arxiv.org/abs/1806.02958).

    All variables are one vector, by their names. M has as its columns the last
    averages over the root of their number; with U diag(s) U^T = M^T M + svd_eps
    the step is M U diag((sqrt(s) + sigma_eps)^-3) U^T M^T m, and, if the least
    sqrt(s) is greater than `eps`, what M does not reach of m over that least.

    Gradients must be dense (NotImplementedError), and all variables of one
    type."""

    _HYPERPARAMETERS = ("lr", "beta1", "window", "eps", "svd_eps", "sigma_eps")

    def __init__(self, learning_rate=0.001, beta1=0.9, use_locking=False,
                 name="GGT", window=10, eps=1e-4, svd_eps=1e-6,
                 sigma_eps=1e-2):
        super().__init__(use_locking, name)
        self._given = dict(zip(self._HYPERPARAMETERS, (
            learning_rate, beta1, window, eps, svd_eps, sigma_eps)))
        self._places = {}  # name of a variable: (its begin, its end)

    def minimize(self, loss, global_step=None, var_list=None,
                 gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                 name=None, grad_loss=None, stop_gradients=None,
                 scale_loss_by_num_replicas=False):
        """As of other optimizers. `stop_gradients`: tensors that count as
        constants. `scale_loss_by_num_replicas` changes nothing: there is one
        replica."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss,
            stop_gradients, scale_loss_by_num_replicas)
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None,
                          gate_gradients=Optimizer.GATE_OP,
                          aggregation_method=None, grad_loss=None,
                          stop_gradients=None,
                          scale_loss_by_num_replicas=False):
        return super().compute_gradients(
            loss, var_list, gate_gradients, aggregation_method,
            grad_loss=grad_loss, _stop_gradients=stop_gradients)

    def _create_slots(self, var_list):
        end = 0
        for v in sorted(var_list, key=lambda v: v.name):
            begin, end = end, end + v.get_shape().num_elements()
            self._places[v.name] = begin, end
        first, dtype = var_list[0], var_list[0].dtype.base_dtype
        window = self._call_if_callable(self._given["window"])
        for name, value in (
                ("global_step", _math.cast(0., dtype)),
                ("grad_buffer", _array.zeros([window, end], dtype)),
                ("moment1", _array.zeros([end], dtype)),
                ("flat_grad", _array.zeros([end], dtype))):
            self._create_non_slot_variable(value, name, first)

    def _prepare(self):
        self._updated = []  # the variables
        self._hyper = {name: self._hyperparameter(value, name)
                       for name, value in self._given.items()}

    def _kept(self, name):
        return self._get_non_slot_variable(name, graph=get_default_graph())

    def _apply_dense(self, grad, var):
        self._updated.append(var)
        begin, end = self._places[var.name]
        return _flow.group(_variables.scatter_update(
            self._kept("flat_grad"), _math.range(begin, end),
            _array.reshape(grad, [-1])))

    def _resource_apply_dense(self, grad, handle):
        return self._apply_dense(grad, handle)

    def _apply_sparse_duplicate_indices(self, grad, var):
        raise NotImplementedError("GGTOptimizer: the gradient of %s is sparse; "
                                  "only dense ones can be used" % var.op.name)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        self._apply_sparse_duplicate_indices(grad, handle)

    def _finish(self, update_ops, name_scope):
        dtype = self._updated[0].dtype.base_dtype
        lr = _cast(self._hyper["lr"], dtype)
        with control_dependencies(update_ops):
            step = self._step(dtype)
            moved = []
            for var in self._updated:
                begin, end = self._places[var.name]
                part = _array.reshape(step[begin:end], var.get_shape())
                moved.append(_variables.assign_sub(
                    var, lr * part, use_locking=self._use_locking))
        return _flow.group(*moved, name=name_scope)

    def _step(self, dtype):
        """What the vector of all variables moves by, over -lr."""
        m, averages, count = self._with_last_average(dtype)
        eps, svd_eps, sigma_eps = [_cast(self._hyper[name], dtype) for name in (
            "eps", "svd_eps", "sigma_eps")]
        window = self._hyper["window"]
        m = _array.expand_dims(m, -1)
        recent = _math.minimum(count, _cast(window, dtype))
        columns = _array.transpose(averages / _math.sqrt(recent))
        squares, u, _ = _linalg.svd(
            _math.matmul(columns, columns, transpose_a=True)
            + svd_eps * _array.eye(window, dtype=dtype))
        roots = _math.sqrt(squares)
        least = _math.reduce_min(roots)
        in_u = _math.matmul(u, _math.matmul(columns, m, transpose_a=True),
                            transpose_a=True)

        def scaled(scales):
            return _math.matmul(columns, _math.matmul(
                u, _array.expand_dims(scales, -1) * in_u))

        inside = scaled(1. / _math.pow(roots + sigma_eps, 3))
        outside = (m - scaled(1. / squares)) / least
        return _array.reshape(_control.cond(
            least > eps, lambda: inside + outside, lambda: inside), [-1])

    def _with_last_average(self, dtype):
        """(m, the last averages by rows, the number of the step)"""
        beta1 = _cast(self._hyper["beta1"], dtype)
        count = _array.identity(self._kept("global_step").assign_add(
            _math.cast(1., dtype)))
        average = self._kept("moment1")
        m = _array.identity(average.assign(
            beta1 * average.read_value()
            + (1. - beta1) * self._kept("flat_grad").read_value()))
        row = _math.floormod(_math.cast(count - 1., dtypes.int32),
                             self._hyper["window"])
        averages = _array.identity(_variables.scatter_update(
            self._kept("grad_buffer"), [row], _array.expand_dims(m, 0)))
        return m, averages, count
