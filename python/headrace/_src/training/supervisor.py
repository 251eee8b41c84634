"""Supervisor: a session that is initialised or restored, and threads that save
checkpoints and summaries beside the training loop."""
import contextlib
import logging
import os
import time

import headrace
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import errors, messages
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection, get_default_graph)
from headrace._src.training import coordinator as _coordinator
from headrace._src.training import global_step as _step
from headrace._src.training import summary as _summary
from headrace._src.training.session_manager import SessionManager
from headrace._src.variables import variables as _variables

_log = logging.getLogger("tensorflow")


def _first(key, make):
    """The first item of the collection; what make() returns joins an empty
    one."""
    found = get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(key, made)
    return made


class Supervisor:
    """A training program's helper:

        supervisor = Supervisor(logdir="/tmp/mydir")
        with supervisor.managed_session() as session:
            while not supervisor.should_stop():
                session.run(train_op)

    The session begins with the newest checkpoint of `logdir`, or with
    `init_op`. Threads save a checkpoint every `save_model_secs` and summaries
    every `save_summaries_secs`. Arguments that are not given come from the
    graph's collections, or are made; None switches them off. The graph is
    finalized.

    Tensors and variables may be of any shape and dtype. RuntimeError for
    sessions of a Supervisor without a graph that is ready; ValueError for a
    chief without what it needs, such as `logdir` for checkpoints that are asked
    for; what a thread raises, stop() raises."""

    # What an argument is that was not given.
    USE_DEFAULT = 0

    def __init__(self, graph=None, ready_op=USE_DEFAULT,
                 ready_for_local_init_op=USE_DEFAULT, is_chief=True,
                 init_op=USE_DEFAULT, init_feed_dict=None,
                 local_init_op=USE_DEFAULT, logdir=None,
                 summary_op=USE_DEFAULT, saver=USE_DEFAULT,
                 global_step=USE_DEFAULT, save_summaries_secs=120,
                 save_model_secs=600, recovery_wait_secs=30,
                 stop_grace_secs=120, checkpoint_basename="model.ckpt",
                 session_manager=None, summary_writer=USE_DEFAULT,
                 init_fn=None, local_init_run_options=None):
        def given(value, key, make):
            return _first(key, make) if value is self.USE_DEFAULT else value
        self._graph = get_default_graph() if graph is None else graph
        self._is_chief = is_chief
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs
        self._save_model_secs = save_model_secs
        self._stop_grace_secs = stop_grace_secs
        self._save_path = (os.path.join(logdir, checkpoint_basename)
                           if self._logdir else None)
        with self._graph.as_default():
            self._init_op = given(init_op, GraphKeys.INIT_OP,
                                  _variables.global_variables_initializer)
            self._ready_op = given(ready_op, GraphKeys.READY_OP,
                                   _variables.report_uninitialized_variables)
            self._ready_for_local_init_op = given(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: None)
            self._local_init_op = given(
                local_init_op, GraphKeys.LOCAL_INIT_OP, self._local_init)
            self._saver = given(saver, GraphKeys.SAVERS, self._new_saver)
            self._summary_op = given(summary_op, GraphKeys.SUMMARY_OP,
                                     _summary.merge_all)
            self._global_step = (_step.get_global_step()
                                 if global_step is self.USE_DEFAULT
                                 else global_step)
            if summary_writer is self.USE_DEFAULT:
                summary_writer = (headrace.summary.FileWriter(self._logdir)
                                  if self._logdir else None)
        self._summary_writer = summary_writer
        self._coord = _coordinator.Coordinator()
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph, recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options)
        self._graph.finalize()

    @staticmethod
    def _local_init():
        parts = []
        if _variables.local_variables():
            parts.append(_variables.local_variables_initializer())
        if get_collection(GraphKeys.TABLE_INITIALIZERS):
            parts.append(_variables.tables_initializer())
        return _flow.group(*parts) if parts else None

    @staticmethod
    def _new_saver():
        if not _variables.global_variables() or not hasattr(
                headrace.train, "Saver"):
            return None
        return headrace.train.Saver()

    is_chief = property(lambda self: self._is_chief)
    session_manager = property(lambda self: self._session_manager)
    coord = property(lambda self: self._coord)
    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(
        lambda self: self._ready_for_local_init_op)
    summary_writer = property(lambda self: self._summary_writer)
    summary_op = property(lambda self: self._summary_op)
    save_summaries_secs = property(lambda self: self._save_summaries_secs)
    global_step = property(lambda self: self._global_step)
    saver = property(lambda self: self._saver)
    save_model_secs = property(lambda self: self._save_model_secs)
    save_path = property(lambda self: self._save_path)

    @contextlib.contextmanager
    def managed_session(self, master="", config=None,
                        start_standard_services=True,
                        close_summary_writer=True):
        """A session; at the end of the block the threads are stopped, and the
        first error of the block or of a thread is raised. OutOfRangeError ends
        the block without an error."""
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master=master, config=config,
                start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    with contextlib.suppress(errors.OpError):
                        session.close()

    def prepare_or_wait_for_session(self, master="", config=None,
                                    wait_for_checkpoint=False,
                                    max_wait_secs=7200,
                                    start_standard_services=True):
        """A session that is ready; the threads and the queue runners are
        started if `start_standard_services`."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master, init_op=self._init_op, saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                _log.info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            _log.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def _write_graph(self):
        if self._logdir:
            headrace.train.write_graph(
                self._graph.as_graph_def(add_shapes=True), self._logdir,
                "graph.pbtxt")
        if self._summary_writer:
            self._summary_writer.add_graph(self._graph)

    def start_standard_services(self, sess):
        """Starts the threads that save; they need a `logdir`. Returns them."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because "
                "only chief supervisors can write events.")
        if not self._logdir:
            _log.warning("Standard services need a 'logdir' passed to the "
                         "SessionManager")
            return None
        services = []
        if self._global_step is not None and self._summary_writer:
            self._summary_writer.add_session_log(
                messages.SessionLog(status=messages.SessionLog.START),
                _step.global_step(sess, self._global_step))
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                services.append((self._save_summaries_secs,
                                 self._save_summaries))
            if self._global_step is not None:
                services.append((self._save_summaries_secs,
                                 _StepRate(self).record))
        if self._saver and self._save_model_secs:
            services.append((self._save_model_secs, self._save_model))
        return [_coordinator.LooperThread.loop(
            self._coord, seconds, target=service, args=(sess,))
            for seconds, service in services]

    def _step_of(self, sess):
        return (None if self._global_step is None
                else _step.global_step(sess, self._global_step))

    def _save_summaries(self, sess):
        summary, step = sess.run(self._summary_op), self._step_of(sess)
        self._summary_writer.add_summary(summary, step)

    def _save_model(self, sess):
        _log.info("Saving checkpoint to path %s", self._save_path)
        self._saver.save(sess, self._save_path, global_step=self._global_step)
        if self._summary_writer and self._global_step is not None:
            self._summary_writer.add_session_log(
                messages.SessionLog(status=messages.SessionLog.CHECKPOINT,
                                    checkpoint_path=self._save_path),
                self._step_of(sess))

    def start_queue_runners(self, sess, queue_runners=None):
        """Starts queue runners, by default those of the graph; their
        threads."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self._coord,
                                             daemon=True, start=True)
        return threads

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """A thread that calls target(...) every so many seconds until the
        stop; with None, without a pause."""
        return _coordinator.LooperThread.loop(
            self._coord, timer_interval_secs, target=target, args=args,
            kwargs=kwargs)

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary that the program computed. RuntimeError without a
        summary writer."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None:
            global_step = self._step_of(sess)
        self._summary_writer.add_summary(summary, global_step)

    def stop(self, threads=None, close_summary_writer=True,
             ignore_live_threads=False):
        """Stops the threads and waits for them; raises what one of them
        reported."""
        self._coord.request_stop()
        try:
            self._coord.join(threads,
                             stop_grace_period_secs=self._stop_grace_secs,
                             ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(
                    messages.SessionLog(status=messages.SessionLog.STOP))
                self._summary_writer.close()

    def request_stop(self, ex=None):
        """As Coordinator.request_stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        return self._coord.should_stop()

    def stop_on_exception(self):
        """As Coordinator.stop_on_exception."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        """Blocks until a stop is asked for."""
        self._coord.wait_for_stop()

    # The names of the first releases.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class _StepRate:
    """Writes the steps per second since the last call."""

    def __init__(self, supervisor):
        self._supervisor = supervisor
        self._before = None  # (time, step)

    def record(self, sess):
        own = self._supervisor
        now = time.monotonic(), own._step_of(sess)
        if self._before is not None and now[0] > self._before[0]:
            rate = (now[1] - self._before[1]) / (now[0] - self._before[0])
            summary = messages.Summary()
            summary.value.add(tag=own.global_step.op.name + "/sec",
                              simple_value=rate)
            own.summary_writer.add_summary(summary, now[1])
            _log.info("%s/sec: %g", own.global_step.op.name, rate)
        self._before = now


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None,
                     master=""):
    """Calls train_step_fn(session, *args, **kwargs) until the supervisor asks
    to stop; after AbortedError again in a new session."""
    should_retry = True
    while should_retry:
        try:
            should_retry = False
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except errors.AbortedError:
            should_retry = True
