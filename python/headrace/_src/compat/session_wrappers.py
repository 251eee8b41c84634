"""tensorflow.python.training.monitored_session: the parts that a monitored
session is made of in TensorFlow, each a session around another one."""
from headrace._src.platform import tf_logging as logging
from headrace._src.training import monitored_session as _monitored

PREEMPTION_ERRORS = _monitored._PREEMPTION


class _NoCoordinator:
    def should_stop(self):
        return False


class WrappedSession:
    """A session around another one, which it closes."""

    def __init__(self, sess):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, WrappedSession)

    graph = property(lambda self: self._sess.graph)
    sess_str = property(lambda self: self._sess.sess_str)

    def should_stop(self):
        """True if it was closed, or it or a session in it is to stop."""
        if self._check_stop():
            return True
        if not self._sess:
            return True
        return self._wrapped_is_stoppable and self._sess.should_stop()

    def _check_stop(self):
        return False

    def close(self):
        """Closes the session in it; that a worker is lost is no error then."""
        if self._sess:
            try:
                self._sess.close()
            except PREEMPTION_ERRORS as error:
                logging.warning("An error occurred when attempting to close "
                                "the session: %s", error)
            finally:
                self._sess = None

    def run(self, *args, **kwargs):
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        """step_fn of a StepContext, with or without hooks."""
        run_with_hooks = run_with_hooks or self.run
        return step_fn(_monitored._StepContext(raw_session, run_with_hooks))


class RecoverableSession(WrappedSession):
    """Begins again in a new session after AbortedError and
    UnavailableError."""

    def __init__(self, sess_creator):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self):
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                logging.info("An error was raised while a session was being "
                             "created. A new session is created: %s", error)

    def _drop(self, error):
        logging.info("A worker was lost. The session is closed and a new one "
                     "is created: %s", error)
        self.close()
        self._sess = None

    def _check_stop(self):
        try:
            return self._sess._check_stop() if self._sess else True
        except PREEMPTION_ERRORS as error:
            self._drop(error)
            self._sess = self._create_session()
            return False
        except Exception:  # a stop is no error
            return True

    def _again(self, function):
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return function(self._sess)
            except PREEMPTION_ERRORS as error:
                self._drop(error)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._again(lambda session: session.run(
            fetches, feed_dict=feed_dict, options=options,
            run_metadata=run_metadata))

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        return self._again(lambda session: session.run_step_fn(
            step_fn, raw_session, run_with_hooks))


class CoordinatedSession(WrappedSession):
    """Tells a coordinator to stop when it is closed, and raises what the
    coordinator's threads raised."""

    def __init__(self, sess, coord, stop_grace_period_secs=120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs,
                ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception:  # join has raised what counts
                pass

    def run(self, *args, **kwargs):
        runs = _monitored._HookedRuns(None, (), self._coord, 0)
        return runs.coordinated(self._sess.run, *args, **kwargs)


class HookedSession(WrappedSession):
    """Calls hooks around each run; one of them may stop it."""

    def __init__(self, sess, hooks):
        super().__init__(sess)
        self._hooks = hooks
        self._runs = _monitored._HookedRuns(sess, hooks, _NoCoordinator(), 0)

    def _check_stop(self):
        return self._runs._stop

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        return self._runs.run(fetches, feed_dict, options, run_metadata)
