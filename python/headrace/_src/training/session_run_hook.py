"""What a hook is: an object that a monitored session calls around its runs."""
import collections


class SessionRunHook:
    """The base of hooks. What a hook does not need it leaves as it is."""

    def begin(self):
        """Called once, before the session is made: the graph can still be
        changed."""

    def after_create_session(self, session, coord):
        """Called when a session was made, also one after a failure: the graph
        can no longer be changed, the variables have values."""

    def before_run(self, run_context):
        """Called before each run: returns SessionRunArgs with what the hook
        wants fetched and feeds, or None."""
        return None

    def after_run(self, run_context, run_values):
        """Called after each run that did not fail; run_values.results is what
        before_run asked for. run_context.request_stop() ends the training."""

    def end(self, session):
        """Called at the end, but not after an exception."""


class SessionRunArgs(collections.namedtuple(
        "SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a run is asked for: as the arguments of Session.run."""

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


SessionRunValues = collections.namedtuple(
    "SessionRunValues", ["results", "options", "run_metadata"])


class SessionRunContext:
    """A run that is about to begin, or has ended."""

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    original_args = property(lambda self: self._original_args)
    session = property(lambda self: self._session)
    stop_requested = property(lambda self: self._stop_requested)

    def request_stop(self):
        """Makes should_stop() of the monitored session True."""
        self._stop_requested = True
