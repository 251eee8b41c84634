"""The default session, which runs operations that are given no session."""
import threading

_sessions = threading.local()


def default_sessions():
    """The default sessions of this thread, the innermost last."""
    if not hasattr(_sessions, "stack"):
        _sessions.stack = []
    return _sessions.stack


def get_default_session():
    """The innermost default session of this thread, or None.

    It has no arguments and raises nothing; what the session runs may be of any
    shape and dtype."""
    stack = default_sessions()
    return stack[-1] if stack else None


def session_for(session, graph, is_run=False):
    """`session` or the default one, if it is of `graph`; else ValueError.
    is_run: to run an operation, not to evaluate a tensor."""
    given = session is not None
    what, method = (("execute operation", "run") if is_run
                    else ("evaluate tensor", "eval"))
    if not given:
        session = get_default_session()
        if session is None:
            raise ValueError(
                "Cannot %s using `%s()`: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to "
                "`%s(session=sess)`" % (what, method, method))
    if session.graph is not graph:
        raise ValueError(
            "Cannot use the %s session to %s: the %s's graph is different from "
            "the session's graph.%s" % (
                "given" if given else "default", what, what.split()[1],
                "" if given else " Pass an explicit session to "
                "`%s(session=sess)`." % method))
    return session
