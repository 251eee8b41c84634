"""Optimizers of tf.contrib.opt for the workers of a cluster that train variables
of their own and meet now and then: ModelAverageOptimizer,
ElasticAverageOptimizer and AGNOptimizer."""
from headrace._src.control import control_flow as _control
from headrace._src.control import control_flow_ops as _flow
from headrace._src.flow.accumulators import ConditionalAccumulator
from headrace._src.flow.queues import FIFOQueue
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, control_dependencies, device,
    get_collection_ref, name_scope)
from headrace._src.framework.tensor import constant
from headrace._src.nn.losses import l2_loss
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training import saver as _saver
from headrace._src.training.optimizer import Optimizer
from headrace._src.training.session_run_hook import SessionRunHook
from headrace._src.variables import variables as _variables
from headrace._src.variables.scopes import get_variable

_GLOBAL = "global_center_variable"
_LOCAL = "local_center_variable"
_GRADIENT = "grad_variable"


class _Getter:
    """A custom_getter: a trainable variable becomes a local one, on the device
    of the worker; beside it stands a global one."""

    def __init__(self, worker_device):
        self._worker_device = worker_device
        self._global_map = {}

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            return self._get_other(getter, name, collections, *args, **kwargs)
        with device(self._worker_device):
            local = getter(name, *args, trainable=True,
                           collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        if kwargs.get("reuse") is True:
            return local

        def beside(prefix, collection):
            return getter("%s/%s" % (prefix, name), *args, trainable=False,
                          collections=[collection], **kwargs)
        self._add(self._global_map, local,
                  beside(_GLOBAL, GraphKeys.GLOBAL_VARIABLES), **kwargs)
        self._add_own(local, beside, **kwargs)
        return local

    def _get_other(self, getter, name, collections, *args, **kwargs):
        kwargs.update(trainable=False, collections=collections)
        if GraphKeys.LOCAL_VARIABLES in (collections or []):
            with device(self._worker_device):
                return getter(name, *args, **kwargs)
        return getter(name, *args, **kwargs)

    def _add_own(self, local, beside, **kwargs):
        """Makes further variables."""

    @staticmethod
    def _add(known, local, other, partitioner=None, **kwargs):
        if partitioner is None:
            known[local] = other
        else:
            known.update(zip(list(local), list(other)))


class ElasticAverageCustomGetter(_Getter):
    """A custom_getter for ElasticAverageOptimizer, to be used under
    tf.train.replica_device_setter. It makes of a trainable variable a local one
    on `worker_device`, the center that all workers share, as
    "global_center_variable/NAME", and a local copy of the center."""

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._local_map = {}

    def _add_own(self, local, beside, **kwargs):
        with device(self._worker_device):
            self._add(self._local_map, local,
                      beside(_LOCAL, GraphKeys.LOCAL_VARIABLES), **kwargs)


class AGNCustomGetter(_Getter):
    """A custom_getter for AGNOptimizer, to be used under
    tf.train.replica_device_setter. It makes of a trainable variable a local one
    on `worker_device`, the one that all workers share, as
    "global_center_variable/NAME", and a local sum of gradients."""

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._grad_map = {}

    def _get_other(self, getter, name, collections, *args, **kwargs):
        return getter(name, *args, trainable=False, collections=collections,
                      **kwargs)

    def _add_own(self, local, beside, **kwargs):
        with device(self._worker_device):
            self._add(self._grad_map, local,
                      beside(_GRADIENT, GraphKeys.LOCAL_VARIABLES), **kwargs)


class ModelAverageCustomGetter(_Getter):
    """A custom_getter for ModelAverageOptimizer, to be used under
    tf.train.replica_device_setter. It makes of a trainable variable a local one
    on `worker_device`, and the average that all workers share, as
    "global_center_variable/NAME"."""

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            return self._get_other(getter, name, collections, *args, **kwargs)
        with device(self._worker_device):
            local = getter(name, *args, trainable=True,
                           collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        self._global_map[local] = _variables.Variable(
            local.initialized_value(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            name="%s/%s" % (_GLOBAL, name), use_resource=local._is_resource)
        return local

    # Where programs look for it.
    _local_2_global = property(lambda self: self._global_map)


class _OfWorkers(Optimizer):
    """What the three optimizers have: another one, and a count of the worker's
    own steps."""

    def __init__(self, opt, num_worker, period, getter, use_locking, name):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = period
        self._global_map = getter._global_map
        self._local_step = get_variable(
            "local_step", initializer=0, trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES])
        self._opt._prepare()

    def _count(self):
        return _variables.assign_add(self._local_step, 1,
                                     name="local_step_update").op

    def _every_period(self, update):
        return _control.cond(
            _math.equal(_math.mod(self._local_step.read_value(), self._period),
                        0), update, _array.no_op)

    def _apply_locally(self, pairs):
        """The optimizer's update. The variables that it makes are local."""
        known = {v.op.name for v in _variables.global_variables()}
        update = self._opt.apply_gradients(pairs)
        everything = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        made = [v for v in everything if v.op.name not in known]
        everything[:] = [v for v in everything if v.op.name in known]
        get_collection_ref(GraphKeys.LOCAL_VARIABLES).extend(made)
        return update

    def _centers(self, local):
        return [self._global_map[v] for v in local]

    def _starting_values(self, others):
        """(trainable variables, their centers). ValueError if there are none,
        or one was not made with the custom getter."""
        local = _variables.trainable_variables()
        if not local:
            raise ValueError("The lists of local_variables, "
                             "global_center_variables, %s should not be empty"
                             % others)
        for v in local:
            if v not in self._global_map:
                raise ValueError("%s has no global_center_variable; use the "
                                 "custom getter for all trainable variables"
                                 % v.op.name)
        return local, self._centers(local)


class _StartHook(SessionRunHook):
    """Gives the variables of a worker their values when a session begins."""

    def __init__(self, make_init_op):
        self._make_init_op = make_init_op

    def begin(self):
        self._init_op = self._make_init_op()

    def after_create_session(self, session, coord):
        session.run(self._init_op)


class ElasticAverageOptimizer(_OfWorkers):
    """Trains the variables of a worker by `opt`. Every `communication_period`
    steps a worker moves its variables and the center towards each other, by
    `moving_rate` of their difference (https://arxiv.org/abs/1412.6651).

    moving_rate: by default 0.9 / communication_period / num_worker.
    rho: the weight of the distance from the center in the loss, by default
    moving_rate over the learning rate of `opt`.
    synchronous: all workers wait for each other before they start."""

    BETA = 0.9

    def __init__(self, opt, num_worker, ea_custom_getter,
                 communication_period=10, moving_rate=None, rho=None,
                 use_locking=True, synchronous=False,
                 name="ElasticAverageOptimizer"):
        self._local_map = ea_custom_getter._local_map
        self._synchronous = synchronous
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        self._rho = (moving_rate / opt._learning_rate if rho is None else rho)
        super().__init__(opt, num_worker, communication_period,
                         ea_custom_getter, use_locking, name)

    def compute_gradients(self, loss, var_list=None,
                          gate_gradients=Optimizer.GATE_OP,
                          aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """The optimizer's, of the loss and the distance from the center."""
        if not var_list:
            var_list = _variables.trainable_variables()
        distance = _math.add_n([l2_loss(v - self._local_map[v])
                                for v in var_list])
        return self._opt.compute_gradients(
            loss + self._rho * distance, var_list, gate_gradients,
            aggregation_method, colocate_gradients_with_ops, grad_loss)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables and, every so many steps, the
        center's, and then adds 1 to `global_step`."""
        pairs = list(grads_and_vars)
        local = [v for g, v in pairs if g is not None]
        with control_dependencies([self._apply_locally(pairs)]):
            counted = self._count()
        with control_dependencies([counted]):
            return self._every_period(lambda: self._meet(local, global_step))

    def _meet(self, local, global_step):
        copies = [self._local_map[v] for v in local]
        centers = self._centers(local)
        copied = [copy.assign(center) for copy, center in zip(copies, centers)]
        moves, updates = [], []
        with control_dependencies(copied):
            for v, copy in zip(local, copies):
                with device(v.device):
                    moves.append(self._moving_rate * (
                        v.read_value() - copy.read_value()))
            for v, center, move in zip(local, centers, moves):
                with device(v.device), control_dependencies(moves):
                    updates.append(_variables.assign_sub(v, move))
                with device(center.device), control_dependencies(moves):
                    updates.append(_variables.assign_add(center, move))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(_variables.assign_add(global_step, 1))
        return _flow.group(*updates)

    def get_init_op(self, task_index):
        """The operation that gives the worker's variables the values of the
        center."""
        local, centers = self._starting_values("local_center_variables")
        started = []
        for v, center in zip(local, centers):
            started += [_variables.assign(v, center),
                        _variables.assign(self._local_map[v], center)]
        started = _flow.group(*started)
        return (self._wait_for_others(started, task_index)
                if self._synchronous else started)

    def _wait_for_others(self, started, task_index):
        """Tells all other workers that this one has started, and waits for
        them."""
        queues = [FIFOQueue(self._num_worker, [dtypes.bool_], shapes=[[]],
                            shared_name="variable_init_sync_queue%d" % i)
                  for i in range(self._num_worker)]
        token = constant(False)
        with control_dependencies([started]):
            told = [queue.enqueue(token) for i, queue in enumerate(queues)
                    if i != task_index]
        return _flow.group(
            *told, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief, task_index):
        """A hook that runs get_init_op."""
        return _StartHook(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that saves the centers under the names of the variables.
        RuntimeError if no variable was made with the custom getter."""
        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is "
                "called after model created and ElasticAverageCustomGetter is "
                "used when declaring you model")
        if var_list is None:
            var_list = _variables.trainable_variables()
        if not isinstance(var_list, dict):
            var_list = {v.op.name: v for v in var_list}

        def center(v):
            return ([self._global_map.get(part, part) for part in v]
                    if isinstance(v, list) else self._global_map.get(v, v))
        return _saver.Saver({key: center(v) for key, v in var_list.items()},
                            name=name, **kwargs)


class AGNOptimizer(_OfWorkers):
    """Trains the variables of a worker by `optimizer`. Every
    `communication_period` steps a worker updates the shared variables by the
    mean of its gradients since, and takes their values
    (https://arxiv.org/abs/1710.02368)."""

    def __init__(self, optimizer, num_worker, custom_getter,
                 communication_period=10, use_locking=True,
                 name="AGNOptimizer"):
        self._grad_map = custom_getter._grad_map
        super().__init__(optimizer, num_worker, communication_period,
                         custom_getter, use_locking, name)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables and, every so many steps, the shared
        ones, and then adds 1 to `global_step`."""
        pairs = list(grads_and_vars)
        local = [v for g, v in pairs if g is not None]
        sums = [self._grad_map[v] for v in local]
        updates = [self._apply_locally(pairs)] + [
            _variables.assign_add(total, g) for total, g in zip(
                sums, [g for g, _ in pairs if g is not None])]
        with control_dependencies(updates + [self._count()]):
            return self._every_period(
                lambda: self._meet(local, sums, global_step))

    def _meet(self, local, sums, global_step):
        centers = self._centers(local)
        means = [_variables.assign(total, total.read_value() / self._period)
                 for total in sums]
        with control_dependencies(means):
            applied = self._opt.apply_gradients(
                [(total.read_value(), center)
                 for total, center in zip(sums, centers)])
        with control_dependencies([applied]):
            updates = []
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(_variables.assign_add(global_step, 1))
            for v, center, total in zip(local, centers, sums):
                updates += [
                    _variables.assign(v, center.read_value()),
                    _variables.assign(total, _array.zeros_like(
                        total.read_value()))]
        return _flow.group(*updates)

    def get_init_op(self, task_index):
        """The operation that gives the worker's variables the values of the
        shared ones."""
        local, centers = self._starting_values("grad_center_variables")
        started = []
        for v, center in zip(local, centers):
            total = self._grad_map[v]
            started += [_variables.assign(v, center),
                        _variables.assign(total, _array.zeros_like(total))]
        return _flow.group(*started)

    def make_session_run_hook(self, is_chief, task_index):
        """A hook that runs get_init_op."""
        return _StartHook(lambda: self.get_init_op(task_index))


class ModelAverageOptimizer(_OfWorkers):
    """Trains the variables of a worker by `opt`. Every `interval_steps` steps
    all workers wait for each other, the chief takes the mean of their variables
    as the shared ones, and every worker goes on from these."""

    def __init__(self, opt, num_worker, is_chief, ma_custom_getter,
                 interval_steps=100, use_locking=True,
                 name="ModelAverageOptimizer"):
        self._is_chief = is_chief
        super().__init__(opt, num_worker, interval_steps, ma_custom_getter,
                         use_locking, name)

    def compute_gradients(self, *args, **kwargs):
        """Those of the optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables and, every so many steps, the average,
        and then adds 1 to `global_step`. ValueError without variables or
        `global_step`."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        local = [v for g, v in pairs if g is not None]
        with control_dependencies([self._opt.apply_gradients(pairs)]):
            counted = self._count()
        with control_dependencies([counted]):
            return self._every_period(lambda: self._meet(local, global_step))

    def _meet(self, local, global_step):
        centers = self._centers(local)
        with colocate_with(global_step):
            queue = FIFOQueue(-1, [dtypes.bool_], shapes=[[]],
                              shared_name="sync_queue")
        given, means = [], []
        with name_scope(None, self._name + "/global"):
            for v, center in zip(local, centers):
                with device(center.device):
                    accumulator = ConditionalAccumulator(
                        v.dtype.base_dtype, shape=v.get_shape(),
                        shared_name=center.name + "/var_accum")
                    given.append(accumulator.apply_grad(
                        v.read_value(), local_step=global_step))
                    means.append(accumulator.take_grad(self._num_worker))
        met = (self._lead(given, means, centers, queue, global_step)
               if self._is_chief else self._follow(given, queue, global_step))
        with control_dependencies([met]):
            return self._take_centers(local)

    def _lead(self, given, means, centers, queue, global_step):
        updates = []
        with control_dependencies(given):
            for mean, center in zip(means, centers):
                with device(center.device):
                    updates.append(_variables.assign(center, mean))
            with device(global_step.device):
                updates.append(_variables.assign_add(global_step, 1))
        with control_dependencies(updates), device(global_step.device):
            return queue.enqueue_many(
                _array.fill([self._num_worker - 1], constant(False)))

    @staticmethod
    def _follow(given, queue, global_step):
        with control_dependencies(given), device(global_step.device):
            return queue.dequeue()

    def _take_centers(self, local):
        if not local:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for v, center in zip(local, self._centers(local)):
            with device(v.device):
                updates.append(_variables.assign(v, center.read_value()))
        return _flow.group(*updates)

    def get_init_op(self):
        """The operation that gives the worker's variables the values of the
        average."""
        return self._take_centers(_variables.trainable_variables())

    def make_session_run_hook(self):
        """A hook that runs get_init_op."""
        return _StartHook(self.get_init_op)
