"""SyncReplicasOptimizer: one update from the gradients of several workers."""
import functools

from headrace import _headrace
from headrace._src.control import control_flow_ops as _flow
from headrace._src.flow.accumulators import (
    ConditionalAccumulator, SparseConditionalAccumulator)
from headrace._src.flow.queues import FIFOQueue
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, control_dependencies, device, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging as logging
from headrace._src.session.session import Session
from headrace._src.training.coordinator import QueueRunner
from headrace._src.training.optimizer import Optimizer
from headrace._src.training.session_manager import SessionManager
from headrace._src.training.session_run_hook import SessionRunHook
from headrace._src.variables import variables as _variables


class SyncReplicasOptimizer(Optimizer):
    """Updates variables by `opt` once `replicas_to_aggregate` gradients of the
    same step have come from the workers of a cluster, by their mean. Gradients
    of earlier steps are dropped.

    The variables and what gathers the gradients lie on the parameter servers,
    which all workers share. A worker waits for a token before its next step; the
    chief hands out tokens after each update. So the chief runs
    get_chief_queue_runner and get_init_tokens_op, or all workers use
    make_session_run_hook with MonitoredTrainingSession.

    total_num_replicas: the number of workers, by default
    `replicas_to_aggregate`; more of them are backups.
    variable_averages, variables_to_average: an ExponentialMovingAverage that
    is updated after each step, and its variables."""

    def __init__(self, opt, replicas_to_aggregate, total_num_replicas=None,
                 variable_averages=None, variables_to_average=None,
                 use_locking=False, name="sync_replicas"):
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        logging.info("SyncReplicasV2: replicas_to_aggregate=%s; "
                     "total_num_replicas=%s", replicas_to_aggregate,
                     total_num_replicas)
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._chief_queue_runner = None
        self._global_step = None
        self._sync_token_queue = None

    def compute_gradients(self, *args, **kwargs):
        """Those of the optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of a worker's step: it hands in the gradients, and
        waits for a token. ValueError without variables or `global_step`."""
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        # By default the no_op lies on this worker.
        with colocate_with(_array.no_op()):
            local_step = _variables.Variable(
                0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype, name="sync_rep_local_step")
        self.local_step_init_op = local_step.assign(global_step)
        self.ready_for_local_init_op = (
            _variables.report_uninitialized_variables(
                _variables.global_variables()))
        with name_scope(None, self._name):
            handed_in, means, accumulators = self._gather(
                grads_and_vars, local_step)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(
                    [(mean, v) for mean, (_, v) in zip(means, grads_and_vars)],
                    global_step)
                self._sync_token_queue = FIFOQueue(
                    -1, global_step.dtype.base_dtype, shapes=(),
                    name="sync_token_q", shared_name="sync_token_q")
                # The runner closes this one when it stops, not that of tokens,
                # which other workers still use.
                dummy_queue = FIFOQueue(1, dtypes.int32, shapes=(),
                                        name="dummy_queue",
                                        shared_name="dummy_queue")
                with control_dependencies(handed_in):
                    token = self._sync_token_queue.dequeue()
                train_op = local_step.assign(token)
                with control_dependencies([update]):
                    tokens = _array.fill([self._tokens_per_step], global_step)
                    sync = self._sync_token_queue.enqueue_many((tokens,))
                if self._variable_averages is not None:
                    with control_dependencies([sync]):
                        sync = self._variable_averages.apply(
                            self._variables_to_average)
                self._chief_queue_runner = _Updates(dummy_queue, [sync])
            chief_init = [self.local_step_init_op]
            for accumulator, where in accumulators:
                with device(where):
                    chief_init.append(accumulator.set_global_step(
                        global_step, name="SetGlobalStep"))
            self.chief_init_op = _flow.group(*chief_init)
            self._gradients_applied = True
            return train_op

    def _gather(self, grads_and_vars, local_step):
        """(operations that hand in gradients, means of gradients or None,
        accumulators with their devices)."""
        handed_in, means, accumulators = [], [], []
        for grad, var in grads_and_vars:
            with device(var.device):
                if grad is None:
                    means.append(None)
                    continue
                shared = var.name + "/grad_accum"
                if isinstance(grad, IndexedSlices):
                    gathered = SparseConditionalAccumulator(
                        grad.dtype, shape=(), shared_name=shared)
                    handed_in.append(gathered.apply_indexed_slices_grad(
                        grad, local_step=local_step))
                    means.append(gathered.take_indexed_slices_grad(
                        self._replicas_to_aggregate))
                else:
                    gathered = ConditionalAccumulator(
                        grad.dtype, shape=var.get_shape(), shared_name=shared)
                    handed_in.append(gathered.apply_grad(
                        grad, local_step=local_step))
                    means.append(gathered.take_grad(
                        self._replicas_to_aggregate))
                accumulators.append((gathered, var.device))
        return handed_in, means, accumulators

    def get_chief_queue_runner(self):
        """The QueueRunner with the updates, for the chief alone. ValueError
        before apply_gradients."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens=-1):
        """The operation that puts in the first tokens, for the chief alone,
        before its queue runner starts. num_tokens: -1 for
        `replicas_to_aggregate`. ValueError for too few, or before
        apply_gradients."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after "
                             "apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                "Too few tokens to finish the first step: %d (given) vs %d "
                "(needed)" % (num_tokens, needed))
        if num_tokens <= 0:
            return _array.no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._sync_token_queue.enqueue_many(
                (_array.fill([num_tokens], self._global_step),))

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """A hook for a MonitoredTrainingSession, which initialises what this
        optimizer needs and, for the chief, runs its queue runner."""
        return _Hook(self, is_chief, num_tokens)


class _Updates(QueueRunner):
    """The chief's thread that updates the variables. It waits for gradients,
    which may not come any more: a stop cancels it, as no queue can."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._cancellations = {}  # by session

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        with self._lock:
            if not self._runs_per_session.get(sess):
                self._cancellations[sess] = _headrace.CancellationManager()
        return super().create_threads(sess, coord, daemon, start)

    def _filler(self, session, op):
        fill = super()._filler(session, op)
        if not isinstance(session, Session):
            return fill
        return functools.partial(
            fill, cancellation=self._cancellations.get(session))

    def _close_on_stop(self, sess, cancel_op, coord):
        super()._close_on_stop(sess, cancel_op, coord)
        cancellation = self._cancellations.pop(sess, None)
        if cancellation is not None:
            cancellation.start_cancel()


class _Hook(SessionRunHook):
    def __init__(self, optimizer, is_chief, num_tokens):
        self._sync_optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self):
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be "
                             "called before using the hook.")
        self._init_op = optimizer.local_step_init_op
        self._tokens_op = self._runner = None
        if self._is_chief:
            self._init_op = optimizer.chief_init_op
            self._tokens_op = optimizer.get_init_tokens_op(self._num_tokens)
            self._runner = optimizer.get_chief_queue_runner()

    def after_create_session(self, session, coord):
        ready, why = SessionManager._ready(
            self._sync_optimizer.ready_for_local_init_op, session)
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready for "
                "SyncReplicasOptimizer local_init. Init op: %s, error: %s"
                % (self._init_op.name, why))
        session.run(self._init_op)
        if self._tokens_op is not None:
            session.run(self._tokens_op)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True,
                                        start=True)
