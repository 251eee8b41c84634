"""The default session, which runs operations that are given no session."""
import threading

_sessions = threading.local()


def default_sessions():
    """The default sessions of this thread, the innermost last."""
    if not hasattr(_sessions, "stack"):
        _sessions.stack = []
    return _sessions.stack


def get_default_session():
    """The innermost default session of this thread, or None."""
    stack = default_sessions()
    return stack[-1] if stack else None


def session_for(session, graph):
    """`session` or the default one, if it is of `graph`; else ValueError."""
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()` or run an operation "
                "using `run()`: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to "
                "`eval(session=sess)` or `run(session=sess)`.")
    if session.graph is not graph:
        raise ValueError("Cannot use the given or default session: the "
                         "tensor's graph is different from the session's "
                         "graph.")
    return session
