"""SessionManager: a session whose variables have values, from a checkpoint or
from an init op."""
import logging
import time

import numpy as np

import headrace
from headrace._src.framework import errors
from headrace._src.framework.graph import get_default_graph
from headrace._src.session.session import Session

_log = logging.getLogger("tensorflow")


def _name(op):
    return getattr(op, "name", op)


class SessionManager:
    """Makes sessions that are ready: whose `ready_op`, the names of variables
    without a value, is empty. `ready_for_local_init_op`: the same, asked
    before `local_init_op` runs."""

    def __init__(self, local_init_op=None, ready_op=None,
                 ready_for_local_init_op=None, graph=None,
                 recovery_wait_secs=30, local_init_run_options=None):
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must "
                             "also pass a local_init_op , "
                             "ready_for_local_init_op [%s]"
                             % (ready_for_local_init_op,))

    def prepare_session(self, master, init_op=None, saver=None,
                        checkpoint_dir=None,
                        checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200,
                        config=None, init_feed_dict=None, init_fn=None):
        """A session that is ready. It begins with the checkpoint, if there is
        one; otherwise `init_op` and then init_fn(session) run. RuntimeError if
        it is not ready then."""
        session, loaded = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path,
            wait_for_checkpoint, max_wait_secs, config)
        if not loaded:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or "
                                   "init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        done, why = self._run_local_init_op(session)
        if not done:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                "Init op: %s, init fn: %s, error: %s"
                % (_name(init_op), init_fn, why))
        ready, why = self._ready(self._ready_op, session)
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready.  Init op: %s, init "
                "fn: %s, local_init_op: %s, error: %s" % (
                    _name(init_op), init_fn, _name(self._local_init_op),
                    why))
        return session

    def recover_session(self, master, saver=None, checkpoint_dir=None,
                        checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200,
                        config=None):
        """(session, whether it could be restored and is ready)"""
        session, loaded = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path,
            wait_for_checkpoint, max_wait_secs, config)
        done, why = self._run_local_init_op(session)
        if not loaded:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not done:
            _log.info("Restoring model from %s did not make model ready for "
                      "local init: %s", source, why)
            return session, False
        ready, why = self._ready(self._ready_op, session)
        if not ready:
            _log.info("Restoring model from %s did not make model ready: %s",
                      source, why)
            return session, False
        _log.info("Restored model from %s", source)
        return session, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session once it is ready, which somebody else sees to.
        DeadlineExceededError after `max_wait_secs`."""
        end = time.monotonic() + (float("inf") if max_wait_secs is None
                                  else max_wait_secs)
        while True:
            session = Session(master, graph=self._graph, config=config)
            done, why = self._run_local_init_op(session)
            if done:
                ready, why = self._ready(self._ready_op, session)
                if ready:
                    return session
            session.close()
            if time.monotonic() + self._recovery_wait_secs > end:
                raise errors.DeadlineExceededError(
                    None, None, "Session was not ready after waiting %d secs."
                    % max_wait_secs)
            _log.info("Waiting for model to be ready.  %s", why)
            time.sleep(self._recovery_wait_secs)

    def _restored(self, master, saver, folder, path, wait, max_wait_secs,
                  config):
        """(session, whether a checkpoint was restored)"""
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and "
                             "checkpoint_filename_with_path.")
        session = Session(master, graph=self._graph, config=config)
        if not saver or not (folder or path):
            return session, False
        if path:
            saver.restore(session, path)
            return session, True
        waited = 0
        state = headrace.train.get_checkpoint_state(folder)
        while not state or not state.model_checkpoint_path:
            if not wait or waited >= max_wait_secs:
                return session, False
            _log.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = headrace.train.get_checkpoint_state(folder)
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def _run_local_init_op(self, session):
        """(whether the op ran, why not)"""
        if self._local_init_op is None:
            return True, None
        ready, why = self._ready(self._ready_for_local_init_op, session)
        if not ready:
            return False, why
        _log.info("Running local_init_op.")
        session.run(self._local_init_op, options=self._local_init_run_options)
        _log.info("Done running local_init_op.")
        return True, None

    @staticmethod
    def _ready(op, session):
        """(whether nothing is missing, what is)"""
        if op is None:
            return True, None
        try:
            missing = session.run(op)
        except errors.FailedPreconditionError as error:
            if "uninitialized" not in str(error):
                raise
            return False, str(error)
        if missing is None or np.size(missing) == 0 or (
                np.asarray(missing).dtype == np.int32):
            return True, None
        return False, "Variables not initialized: " + ", ".join(
            name.decode() for name in missing)
