"""Monitored sessions: they initialise or restore the variables, call hooks
around each run, and begin again when a worker was lost."""
import inspect
import logging
import os

import headrace
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import errors, messages
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection, get_default_graph)
from headrace._src.ops import array_ops as _array
from headrace._src.training import basic_session_run_hooks as _hooks
from headrace._src.training import coordinator as _coordinator
from headrace._src.training import resources as _resources
from headrace._src.training import summary as _summary
from headrace._src.training.session_manager import SessionManager
from headrace._src.training.session_run_hook import (
    SessionRunArgs, SessionRunContext, SessionRunValues)
from headrace._src.training.worker_context import get_current_worker_context
from headrace._src.variables import variables as _variables

_log = logging.getLogger("tensorflow")

# Lost workers: what a session survives.
_PREEMPTION = (errors.AbortedError, errors.UnavailableError)

# How often a worker asks whether the chief has initialised the variables.
_RECOVERY_WAIT_SECS = 1

# Stands for an argument that was not given.
_USE_DEFAULT = object  # TensorFlow's signature has the class itself


def _default_saver():
    """The saver of the collection SAVERS, or a new one there."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError("More than one item in collection %s. Please "
                           "indicate which one to use by passing it to the "
                           "constructor." % GraphKeys.SAVERS)
    if savers:
        return savers[0]
    if not hasattr(headrace.train, "Saver"):
        return None
    saver = headrace.train.Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver


class Scaffold:
    """What a training needs of a graph: `init_op`, `ready_op`,
    `local_init_op`, `summary_op`, `saver`... finalize() takes what was not
    given from the graph's collections, or makes it.

    `init_fn`: a function of the scaffold and the session, which runs after
    init_op. `copy_from_scaffold`: where what is not given comes from."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None,
                 ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None,
                 copy_from_scaffold=None):
        if copy_from_scaffold is not None and not isinstance(
                copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(name, value):
            if value is None and copy_from_scaffold is not None:
                return getattr(copy_from_scaffold, "_" + name)
            return value
        self._init_op = given("init_op", init_op)
        self._init_feed_dict = given("init_feed_dict", init_feed_dict)
        self._user_init_fn = given("user_init_fn", init_fn)
        self._ready_op = given("ready_op", ready_op)
        self._ready_for_local_init_op = given("ready_for_local_init_op",
                                              ready_for_local_init_op)
        self._local_init_op = given("local_init_op", local_init_op)
        self._summary_op = given("summary_op", summary_op)
        self._saver = given("saver", saver)

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(
        lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)

    @property
    def init_fn(self):
        """A function of the session, or None."""
        if self._user_init_fn is None:
            return None
        return lambda session: self._user_init_fn(self, session)

    def finalize(self):
        """Makes what is missing, and finalizes the graph."""
        def or_made(value, name, key, make):
            return (self.get_or_default(name, key, make) if value is None
                    else value)
        self._init_op = or_made(
            self._init_op, "init_op", GraphKeys.INIT_OP,
            lambda: _flow.group(
                _variables.global_variables_initializer(),
                _resources.initialize_resources(
                    _resources.shared_resources())))
        self._ready_op = or_made(
            self._ready_op, "ready_op", GraphKeys.READY_OP,
            lambda: _array.concat(
                [_variables.report_uninitialized_variables(),
                 _resources.report_uninitialized_resources()], 0))
        self._ready_for_local_init_op = or_made(
            self._ready_for_local_init_op, "ready_for_local_init_op",
            GraphKeys.READY_FOR_LOCAL_INIT_OP,
            lambda: _array.concat(
                [_variables.report_uninitialized_variables(
                    _variables.global_variables()),
                 _resources.report_uninitialized_resources(
                     _resources.shared_resources())], 0))
        self._local_init_op = or_made(
            self._local_init_op, "local_init_op", GraphKeys.LOCAL_INIT_OP,
            Scaffold.default_local_init_op)
        self._summary_op = or_made(
            self._summary_op, "summary_op", GraphKeys.SUMMARY_OP,
            _summary.merge_all)
        if self._saver is None:
            self._saver = _default_saver()
        if self._saver is not None:
            self._saver.build()
        get_default_graph().finalize()
        _log.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The one item of the collection; if it is empty, what the function
        makes, which joins it. RuntimeError for several."""
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                'More than one item in the collection "%s". Please indicate '
                "which one to use by passing it to the tf.Scaffold constructor "
                "as:  tf.Scaffold(%s=item to use)"
                % (collection_key, arg_name))
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op():
        """Initialises the local variables, the tables and the local
        resources."""
        return _flow.group(
            _variables.local_variables_initializer(),
            _variables.tables_initializer(),
            _resources.initialize_resources(_resources.local_resources()))


class SessionCreator:
    """Makes sessions: create_session()."""

    def create_session(self):
        raise NotImplementedError(
            "create_session is not implemented for %s." % self)


class _ScaffoldCreator(SessionCreator):
    """Finalizes its scaffold, and makes sessions by a SessionManager."""

    def _prepare(self, scaffold, master, config):
        self._scaffold = scaffold or Scaffold()
        self._manager = None
        self._master = master
        self._config = config

    def _finalized_manager(self):
        self._scaffold.finalize()
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=(
                    self._scaffold.ready_for_local_init_op),
                graph=get_default_graph(),
                recovery_wait_secs=_RECOVERY_WAIT_SECS)
        return self._manager


class ChiefSessionCreator(_ScaffoldCreator):
    """Makes sessions that are restored from a checkpoint or initialised."""

    def __init__(self, scaffold=None, master="", config=None,
                 checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._prepare(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self):
        manager, scaffold = self._finalized_manager(), self._scaffold
        return manager.prepare_session(
            self._master, saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config, init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict, init_fn=scaffold.init_fn)


class WorkerSessionCreator(_ScaffoldCreator):
    """Waits until the chief has initialised the variables, which are those of
    the cluster at `master`. Without one they lie in the session itself, so that
    needs init ops that make them ready. DeadlineExceededError after
    `max_wait_secs`."""

    def __init__(self, scaffold=None, master="", config=None,
                 max_wait_secs=30 * 60):
        self._prepare(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        return self._finalized_manager().wait_for_session(
            self._master, config=self._config,
            max_wait_secs=self._max_wait_secs)


class _StepContext:
    """What run_step_fn gives to its function: `session`, the session without
    hooks, and run_with_hooks, as the monitored session's run()."""

    def __init__(self, session, run_with_hooks_fn):
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    session = property(lambda self: self._session)

    def run_with_hooks(self, *args, **kwargs):
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self):
        """Ends the training: the `with` block of the monitored session ends as
        after its last step."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _HookedSession:
    """A session, or what is like one, and hooks around its runs."""

    def __init__(self, sess, hooks):
        self._sess = sess
        self._hooks = hooks
        self._stop = False

    @property
    def graph(self):
        return self._sess.graph

    def should_stop(self):
        inner = getattr(self._sess, "should_stop", None)
        return self._stop or inner is not None and inner()

    def close(self):
        self._sess.close()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict),
                                    self._sess)
        wanted, hook_feeds, asked = {}, {}, options
        for i, hook in enumerate(self._hooks):
            request = hook.before_run(context)
            if request is None:
                continue
            if not isinstance(request, SessionRunArgs):
                raise TypeError("%s.before_run must return SessionRunArgs or "
                                "None, got %r"
                                % (type(hook).__name__, request))
            if request.fetches is not None:
                wanted[i] = request.fetches
            if request.feed_dict:
                _refuse_conflicts(hook_feeds, request.feed_dict,
                                  "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                asked = _merged_options(asked, request.options)
        feeds = feed_dict
        if hook_feeds:
            _refuse_conflicts(
                feed_dict or {}, hook_feeds,
                "Same tensor is fed by a SessionRunHook and user.")
            feeds = {**hook_feeds, **(feed_dict or {})}
        # Only runs that ask for metadata pay for it.
        metadata = run_metadata
        if metadata is None:
            metadata = messages.RunMetadata()
        traced = asked is not None or run_metadata is not None
        results = self._sess.run(
            [fetches, list(wanted.values())], feed_dict=feeds, options=asked,
            run_metadata=metadata if traced else None)
        by_hook = dict(zip(wanted, results[1]))
        shown = messages.RunOptions() if asked is None else asked
        for i, hook in enumerate(self._hooks):
            hook.after_run(context, SessionRunValues(
                results=by_hook.get(i), options=shown, run_metadata=metadata))
        self._stop = self._stop or context.stop_requested
        return results[0]


class _HookedRuns(_HookedSession):
    """A session with its coordinator."""

    def __init__(self, session, hooks, coord, grace):
        super().__init__(session, hooks)
        self._coord = coord
        self._grace = grace

    session = property(lambda self: self._sess)

    def should_stop(self):
        return self._stop or self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace,
                             ignore_live_threads=True)
        finally:
            try:
                self.session.close()
            except errors.OpError:
                # What the runs raised is what the program is told.
                pass

    def coordinated(self, function, *args, **kwargs):
        """function(...); an error of a thread goes before an error of it."""
        try:
            return function(*args, **kwargs)
        except _PREEMPTION:
            raise
        except Exception as error:
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION:
                raise
            except Exception as first:
                raise first from error
            raise


class _Layer:
    """Stands between a monitored session and the session inside: programs
    count the `_sess` from one to the other."""

    def __init__(self, sess):
        self._sess = sess

    def __getattr__(self, name):
        return getattr(self._sess, name)


def _refuse_conflicts(feeds, others, message):
    both = [t for t in feeds if t in others]
    if both:
        raise RuntimeError("%s Conflict(s): %s" % (message, both))


def _merged_options(options, others):
    """The longer timeout and the fuller trace of both."""
    merged = messages.RunOptions()
    if options is not None:
        merged.CopyFrom(options)
    merged.trace_level = max(merged.trace_level, others.trace_level)
    merged.timeout_in_ms = max(merged.timeout_in_ms, others.timeout_in_ms)
    merged.inter_op_thread_pool = max(merged.inter_op_thread_pool,
                                      others.inter_op_thread_pool)
    merged.output_partition_graphs = (merged.output_partition_graphs
                                      or others.output_partition_graphs)
    return merged


class _MonitoredSession:
    """What both monitored sessions are. `recovers`: a run that fails because a
    worker was lost is run again in a new session."""

    StepContext = _StepContext

    def __init__(self, session_creator, hooks, recovers, grace):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or [])
        for hook in self._hooks:
            hook.begin()
        self._creator = session_creator
        self._recovers = recovers
        self._grace = grace
        self._closed = False
        self._runs = None
        self._runs = self._made()

    def _made(self):
        """A new session with its threads; again and again while that fails
        because a worker was lost."""
        while True:
            try:
                session = self._creator.create_session()
                coord = _coordinator.Coordinator(
                    clean_stop_exception_types=[])
                if get_collection(GraphKeys.QUEUE_RUNNERS):
                    _coordinator.start_queue_runners(sess=session, coord=coord)
                for hook in self._hooks:
                    hook.after_create_session(session, coord)
                return _HookedRuns(session, self._hooks, coord, self._grace)
            except _PREEMPTION as error:
                if not self._recovers:
                    raise
                _log.info("An error was raised while a session was being "
                          "created: %s. A new session is created.", error)

    def _tf_sess(self):
        """The session itself; None once it is closed."""
        return None if self._closed or self._runs is None else (
            self._runs.session)

    @property
    def _sess(self):
        if self._closed or self._runs is None:
            return None
        coordinated = _Layer(self._runs)
        return _Layer(coordinated) if self._recovers else coordinated

    def _is_closed(self):
        return self._closed

    @property
    def graph(self):
        """The graph, or None once the session is closed."""
        return None if self._closed or self._runs is None else (
            self._runs.session.graph)

    def _attempt(self, function):
        """function(runs), again in a new session if a worker was lost."""
        if self._closed:
            raise RuntimeError("Session is already closed.")
        while True:
            try:
                if self._runs is None:
                    self._runs = self._made()
                return self._runs.coordinated(function, self._runs)
            except _PREEMPTION as error:
                if not self._recovers:
                    raise
                _log.info("A run was aborted. The session is closed and a new "
                          "one is created: %s", error)
                runs, self._runs = self._runs, None
                if runs is not None:
                    runs.close()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """As Session.run, with the hooks around it. RuntimeError after a
        stop."""
        return self._attempt(lambda runs: runs.run(
            fetches, feed_dict=feed_dict, options=options,
            run_metadata=run_metadata))

    def run_step_fn(self, step_fn):
        """step_fn(step_context), which may run parts of a step with the hooks
        and others without them."""
        arguments = tuple(inspect.getfullargspec(step_fn).args)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or "
                "`self` and `step_context` arguments if it's an instance "
                "method. Got %s instead." % (arguments,))
        return self._attempt(lambda runs: step_fn(
            _StepContext(runs.session, runs.run)))

    def should_stop(self):
        return self._closed or (self._runs is not None
                                and self._runs.should_stop())

    def close(self):
        """Calls the hooks' end() and closes the session."""
        self._close(None)

    def __enter__(self):
        return self

    def __exit__(self, error_type, error, traceback):
        if error_type in (errors.OutOfRangeError, StopIteration):
            error_type = None  # how a training ends
        self._close(error_type)
        return error_type is None

    def _close(self, error_type):
        if self._closed:
            raise RuntimeError("Session is already closed.")
        try:
            if error_type is None and self._runs is not None:
                for hook in self._hooks:
                    hook.end(self._runs.session)
        finally:
            self._closed = True
            graph = get_default_graph()
            try:
                if self._runs is not None:
                    graph = self._runs.session.graph
                    self._runs.close()
            finally:
                if not self._graph_was_finalized:
                    graph._unsafe_unfinalize()


class MonitoredSession(_MonitoredSession):
    """A session for training:

        with MonitoredSession(hooks=[StopAtStepHook(last_step=100)]) as session:
            while not session.should_stop():
                session.run(train_op)

    It calls the hooks, starts the queue runners, finalizes the graph while it
    is open, and goes on in a new session after AbortedError and
    UnavailableError. OutOfRangeError ends the block without an error."""

    def __init__(self, session_creator=None, hooks=None,
                 stop_grace_period_secs=120):
        context = get_current_worker_context()
        if session_creator is None and context is not None:
            session_creator = context.session_creator()
        super().__init__(session_creator or ChiefSessionCreator(), hooks, True,
                         stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A MonitoredSession that does not go on in a new session after a failure,
    and that a Saver takes for a session by raw_session()."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None,
                 checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(
            ChiefSessionCreator(
                scaffold=scaffold, master=master, config=config,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path),
            hooks, False, stop_grace_period_secs)

    def raw_session(self):
        """The session itself; None once it is closed."""
        return self._tf_sess()


def MonitoredTrainingSession(
        master="", is_chief=True, checkpoint_dir=None, scaffold=None,
        hooks=None, chief_only_hooks=None, save_checkpoint_secs=_USE_DEFAULT,
        save_summaries_steps=_USE_DEFAULT, save_summaries_secs=_USE_DEFAULT,
        config=None, stop_grace_period_secs=120, log_step_count_steps=100,
        max_wait_secs=7200, save_checkpoint_steps=_USE_DEFAULT,
        summary_dir=None):
    """A MonitoredSession that restores itself from `checkpoint_dir` and saves
    checkpoints (every 600 seconds) and summaries (every 100 steps) there.
    `summary_dir`: another folder for the summaries. Hooks that are given come
    beside those.

    It runs tensors of any shape and dtype. What a run raises closes the session
    and goes on to the caller, but OutOfRangeError and StopIteration end `with`
    quietly; AbortedError and UnavailableError start a new session. ValueError
    for both save_summaries_steps and save_summaries_secs."""
    if save_summaries_steps is _USE_DEFAULT:
        save_summaries_steps = (100 if save_summaries_secs is _USE_DEFAULT
                                else None)
    if save_summaries_secs is _USE_DEFAULT:
        save_summaries_secs = None
    if save_checkpoint_secs is _USE_DEFAULT:
        save_checkpoint_secs = (600 if save_checkpoint_steps is _USE_DEFAULT
                                else None)
    if save_checkpoint_steps is _USE_DEFAULT:
        save_checkpoint_steps = None
    scaffold = scaffold or Scaffold()
    context = get_current_worker_context()
    if context is not None:
        return _session_of_task(
            context, scaffold, checkpoint_dir, hooks, chief_only_hooks,
            save_checkpoint_secs, save_summaries_steps, save_summaries_secs,
            config, stop_grace_period_secs, log_step_count_steps,
            max_wait_secs, save_checkpoint_steps, summary_dir)
    if not is_chief:
        return MonitoredSession(
            WorkerSessionCreator(scaffold=scaffold, master=master,
                                 config=config, max_wait_secs=max_wait_secs),
            hooks, stop_grace_period_secs)
    made = list(chief_only_hooks or [])
    made += _summary_hooks(summary_dir or checkpoint_dir, scaffold,
                           log_step_count_steps, save_summaries_steps,
                           save_summaries_secs)
    made += _checkpoint_hooks(checkpoint_dir, scaffold, save_checkpoint_steps,
                              save_checkpoint_secs)
    return MonitoredSession(
        ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir,
                            master=master, config=config),
        made + list(hooks or []), stop_grace_period_secs)


def _summary_hooks(folder, scaffold, count_steps, save_steps, save_secs):
    made = []
    if folder and (count_steps or 0) > 0:
        made.append(_hooks.StepCounterHook(output_dir=folder,
                                           every_n_steps=count_steps))
    if folder and ((save_steps or 0) > 0 or (save_secs or 0) > 0):
        made.append(_hooks.SummarySaverHook(
            scaffold=scaffold, save_steps=save_steps, save_secs=save_secs,
            output_dir=folder))
    return made


def _checkpoint_hooks(folder, scaffold, save_steps, save_secs):
    if not folder or not ((save_secs or 0) > 0 or (save_steps or 0) > 0):
        return []
    return [_hooks.CheckpointSaverHook(folder, save_steps=save_steps,
                                       save_secs=save_secs, scaffold=scaffold)]


def _session_of_task(
        context, scaffold, checkpoint_dir, hooks, chief_only_hooks,
        save_checkpoint_secs, save_summaries_steps, save_summaries_secs, config,
        stop_grace_period_secs, log_step_count_steps, max_wait_secs,
        save_checkpoint_steps, summary_dir):
    """The monitored session of a task that the coordinator runs. Where what is
    saved may need collective ops, all workers save: those that are not the
    chief, into folders of their own."""
    made = list(hooks or [])
    if context.is_chief:
        made += chief_only_hooks or []
    own = None
    if hasattr(getattr(context._strategy, "extended", None),
               "_collective_keys"):
        own = ("tmp_%s_%d" % (context.task_type, context.task_id)
               if context.task_type else "tmp")
        if save_checkpoint_secs:
            _log.warning(
                "save_checkpoint_secs=%s: workers with collective ops must "
                "save after the same step, so there is save_checkpoint_steps="
                "1000 in its place", save_checkpoint_secs)
            save_checkpoint_secs, save_checkpoint_steps = None, 1000
        if save_summaries_secs:
            _log.warning("save_summaries_secs=%s: use save_summaries_steps, so "
                         "that workers with collective ops save after the same "
                         "step", save_summaries_secs)

    def folder(given, is_saved):
        if not given or is_saved:
            return given
        return own and os.path.join(given, own)
    made += _summary_hooks(
        folder(summary_dir or checkpoint_dir, context.should_save_summary),
        scaffold, log_step_count_steps, save_summaries_steps,
        save_summaries_secs)
    made += _checkpoint_hooks(
        folder(checkpoint_dir, context.should_checkpoint), scaffold,
        save_checkpoint_steps, save_checkpoint_secs)
    return MonitoredSession(
        context.training_session_creator(
            scaffold, config=config, checkpoint_dir=checkpoint_dir,
            max_wait_secs=max_wait_secs),
        made, stop_grace_period_secs)
