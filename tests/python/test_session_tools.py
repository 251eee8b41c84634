"""Sessions: objects of a program that are fetched and fed, callables from
CallableOptions, interactive sessions, and what eval() and run() refuse."""
import json

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import clients, node_tools
from headrace._src.session import session as sessions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


class Squared:
    def __init__(self, tensor):
        self.tensor = tensor


@pytest.fixture
def conversions(monkeypatch):
    monkeypatch.setattr(sessions, "_conversions", [])
    sessions.register_session_run_conversion_functions(
        Squared, lambda x: ([x.tensor], lambda values: values[0] ** 2),
        lambda x, value: [(x.tensor, value)], lambda x: [x.tensor])


def test_objects_are_fetched_and_fed_as_a_program_says(conversions):
    x = Squared(tf.placeholder(tf.float32, []))
    y = x.tensor + 1
    with tf.Session() as session:
        assert session.run(Squared(tf.constant(5.))) == 25
        assert session.run([y, x], {x: 3.}) == [4, 9]
        handle = session.partial_run_setup([y], [x])
        assert session.partial_run(handle, y, {x: 1.}) == 2
    with pytest.raises(ValueError, match="has already been registered"):
        sessions.register_session_run_conversion_functions(Squared, None)


def test_callables_are_made_from_options():
    x = tf.constant(1.)
    y = x + 1
    message = _callable_options()
    message.feed.append(x.name)
    message.fetch.append(y.name)
    message.target.append(y.op.name)
    with tf.Session() as session:
        run = session._make_callable_from_options(message)
        assert run(np.float32(3.)) == [4.]
        message.run_options.trace_level = tf.RunOptions.FULL_TRACE
        metadata = tf.RunMetadata()
        session._make_callable_from_options(message)(
            np.float32(3.), run_metadata=metadata)
        assert metadata.HasField("step_stats")
        message.fetch.append(x.name)
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="Const:0 is both fed and fetched"):
            session._make_callable_from_options(message)


def _callable_options():
    from headrace import _headrace
    return _headrace.message_class("CallableOptions")()


def test_lists_of_feeds_are_lists():
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        with pytest.raises(TypeError, match="must be a list or tuple"):
            session.make_callable(x, feed_list=x)


def test_sessions_are_entered_once():
    with tf.Session() as session:
        with pytest.raises(RuntimeError, match="are not re-entrant"):
            with session:
                pass
        with session.as_default():
            assert tf.constant(1).eval() == 1


def test_interactive_sessions_warn_of_each_other():
    session = tf.InteractiveSession()
    try:
        with pytest.warns(UserWarning, match="already active"):
            other = tf.InteractiveSession()
        other.close()
    finally:
        session.close()
    assert tf.InteractiveSession._active_session_count == 0


@pytest.mark.parametrize("call,text", [
    (lambda x, other: x.eval(), "evaluate tensor using `eval..`: No default"),
    (lambda x, other: x.op.run(), "execute operation using `run..`: No default"),
    (lambda x, other: x.eval(session=other), "Cannot use the given session to "
     "evaluate tensor: the tensor's graph is different"),
    (lambda x, other: x.op.run(session=other), "Cannot use the given session to "
     "execute operation: the operation's graph is different")])
def test_why_nothing_is_evaluated(call, text):
    x = tf.constant(1)
    with tf.Session(graph=tf.Graph()) as other:
        pass
    with pytest.raises(ValueError, match=text):
        call(x, other)


def test_numbers_that_do_not_fit_are_not_fed():
    x = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        with pytest.raises(TypeError, match="is not compatible with Tensor "
                           "type .*larger type"):
            session.run(x + 1, {x: 2 ** 40})


def test_nodes_know_what_they_stand_for(graph):
    x = tf.constant(1.)
    with graph._original_op(x.op):
        y = tf.identity(x)
    assert y.op._original_op is x.op and x.op._original_op is None


def test_devices_are_shown():
    device = sessions._DeviceAttributes("/device:CPU:0", "CPU", 7, 8)
    assert repr(device) == "_DeviceAttributes(/device:CPU:0, CPU, 7, 8)"


def test_configurations_are_messages():
    with pytest.raises(TypeError, match="config must be a tf.ConfigProto"):
        tf.Session(config=37)
    assert tf.constant(1, name=b"bytes").op.name == "bytes"


def test_a_timeline_tells_the_most_bytes_of_an_allocator(graph):
    one, two = tf.Variable(1.0, name="one"), tf.Variable(2.0, name="two")
    total = one + two
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(total, options=options, run_metadata=metadata)
    found = clients.Timeline(metadata.step_stats).analyze_step_stats()
    events = json.loads(found.chrome_trace.format_to_string())["traceEvents"]
    assert all("ph" in event for event in events)
    most = found.allocator_maximums["cpu"]
    assert most.num_bytes >= 8 and most.timestamp > 0
    assert {"one/read", "two/read"} <= most.tensors


def test_a_code_without_a_class_is_an_unknown_error_with_a_warning():
    with pytest.warns(UserWarning, match="Unknown error code: 37"):
        found = clients.make_specific_exception(None, None, None, 37)
    assert type(found) is tf.errors.UnknownError and found.error_code == 37


def test_default_sessions_end_in_their_order():
    x = tf.constant(1)
    outer = tf.Session().as_default()
    outer.__enter__()
    inner = tf.Session().as_default()
    inner.__enter__()
    stack = node_tools.default_session_stack
    assert len(stack.stack) == 2 and stack.get_default() is stack.stack[-1]
    with pytest.raises(AssertionError, match="Nesting violated"):
        outer.__exit__(None, None, None)
    stack.reset()
    inner.__exit__(None, None, None)
    assert stack.is_cleared() and stack.stack == []
    with pytest.raises(ValueError, match="No default session"):
        x.eval()
    with tf.Session().as_default():
        one = tf.InteractiveSession()
    assert stack.stack == [one]
    one.close()


def test_the_graph_def_of_a_session_has_shapes_if_it_is_asked():
    tf.constant([1])
    config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    for session, has in ((tf.Session(), False),
                         (tf.Session(config=config), True)):
        assert ("_output_shapes" in session.graph_def.node[0].attr) is has


def test_a_sparse_placeholder_of_a_known_shape_is_fed_two_arrays():
    x = tf.sparse_placeholder(tf.float32, [7, 9])
    with tf.Session() as session:
        found = session.run(x, {x: ([[3, 2]], [1.])})
        assert found.dense_shape.tolist() == [7, 9]
        with pytest.raises(TypeError, match="SparseTensorValue or a tuple"):
            session.run(x, {x: ([[3, 2]],)})
