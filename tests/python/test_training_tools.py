"""tensorflow.python.training: the sessions that a monitored session is made of,
and other parts of modules that tf does not export."""
import pytest

import headrace as tf
from headrace._src.compat import session_wrappers, training_tools
from headrace._src.training.server_lib import _make_server_def


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


class Failing:
    """Sessions whose first runs fail because a worker was lost."""

    def __init__(self, failures):
        self.failures = failures
        self.made = 0

    def create_session(self):
        self.made += 1
        return session_wrappers.CoordinatedSession(
            _Lossy(self), tf.train.Coordinator())


class _Lossy(session_wrappers.WrappedSession):
    def __init__(self, owner):
        super().__init__(tf.Session())
        self._owner = owner

    def run(self, *args, **kwargs):
        if self._owner.failures:
            self._owner.failures -= 1
            raise tf.errors.AbortedError(None, None, "lost")
        return super().run(*args, **kwargs)


def test_a_wrapped_session_is_stopped_once_it_is_closed():
    x = tf.constant(3)
    inner = tf.Session()
    session = session_wrappers.WrappedSession(inner)
    assert session.graph is inner.graph and session.run(x) == 3
    assert session.run_step_fn(lambda c: c.session.run(x), inner, None) == 3
    assert not session.should_stop()
    session.close()
    assert session.should_stop()


def test_a_recoverable_session_begins_again():
    x = tf.constant(3)
    creator = Failing(failures=2)
    session = session_wrappers.RecoverableSession(creator)
    assert session.run(x) == 3 and creator.made == 3
    assert not session.should_stop()
    session.close()
    assert session.should_stop()


def test_a_coordinated_session_raises_what_its_threads_raise():
    x = tf.constant(3)
    coord = tf.train.Coordinator()
    session = session_wrappers.CoordinatedSession(tf.Session(), coord, 1)
    assert session.run(x) == 3 and not session.should_stop()
    coord.request_stop(ValueError("of a thread"))
    with pytest.raises(ValueError, match="of a thread"):
        session.should_stop()
    with pytest.raises(ValueError, match="of a thread"):
        session.close()


class Counting(tf.train.SessionRunHook):
    def __init__(self, fetch):
        self.fetch, self.seen = fetch, []

    def before_run(self, context):
        return tf.train.SessionRunArgs(self.fetch)

    def after_run(self, context, values):
        self.seen.append(values.results)
        if len(self.seen) == 2:
            context.request_stop()


def test_a_hooked_session_calls_its_hooks():
    x, y = tf.constant(3), tf.constant(4)
    hook = Counting(y)
    session = session_wrappers.HookedSession(tf.Session(), [hook])
    assert session.run(x) == 3 and not session.should_stop()
    assert session.run({"x": x}) == {"x": 3} and session.should_stop()
    assert hook.seen == [4, 4]
    with pytest.raises(RuntimeError, match="after should_stop requested"):
        session.run(x)


@pytest.mark.parametrize("make,depth", [
    (tf.train.MonitoredSession, 4), (tf.train.SingularMonitoredSession, 3)])
def test_programs_go_down_to_the_session_itself(make, depth):
    # As those do that save in the middle of a training.
    x = tf.constant(3)
    with make() as monitored:
        session = monitored
        for _ in range(depth):
            assert type(session).__name__ != "Session"
            session = session._sess
        assert type(session) is tf.Session and session.run(x) == 3
        assert monitored._sess.run(x) == 3
        assert monitored._tf_sess() is session and not monitored._is_closed()
    assert monitored._sess is None and monitored._tf_sess() is None


def test_weighted_averages():
    # (0 * .5 + 1 * 2 * .5) / (0 * .5 + 2 * .5)
    average = training_tools.weighted_moving_average(
        tf.constant(1.), 0.5, tf.constant(2.))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(average) == 1
    assert [v.op.name for v in tf.global_variables()] == [
        "WeightedMovingAvg/value_x_weight", "WeightedMovingAvg/weight"]


def test_slices_of_one_index_are_added():
    values, indices = training_tools.deduplicate_indexed_slices(
        tf.constant([1., 2., 4.]), tf.constant([7, 0, 7]))
    with tf.Session() as session:
        assert session.run([values, indices])[0].tolist() == [5., 2.]


def test_timers_that_never_trigger():
    timer = training_tools.NeverTriggerTimer()
    assert not timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    assert timer.last_triggered_step() is None


def test_servers_of_clusters_are_described():
    made = _make_server_def({"local": ["localhost:0"]}, None, None, None, None)
    assert (made.job_name, made.task_index, made.protocol) == ("local", 0,
                                                               "grpc")
    two = {"a": ["x:1"], "b": ["y:1", "z:1"]}
    with pytest.raises(ValueError, match="explicit `job_name`"):
        _make_server_def(two, None, None, None, None)
    with pytest.raises(ValueError, match="explicit `task_index`"):
        _make_server_def(two, "b", None, None, None)
    with pytest.raises(TypeError, match="Could not convert"):
        tf.train.Server(3)


def test_integers_as_what_is_missing_mean_ready():
    # As ready_op gave in old versions.
    with tf.Session() as session:
        assert training_tools.ready(tf.constant([1]), session, "") == (True,
                                                                       None)
        assert training_tools.ready(tf.constant(["v"]), session, "") == (
            False, "Variables not initialized: v")
