"""Session: fetches, feeds, lifetimes, interruption."""
import collections
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as s:
        yield s


def test_structures(sess):
    a, b = tf.constant(1.0, name="a"), tf.constant([2.0], name="b")
    Pair = collections.namedtuple("Pair", "x y")
    out = sess.run({"l": [a, (b, a.op)], "p": Pair(a, b), "n": "b:0",
                    "o": "a", "d": collections.OrderedDict(k=a)})
    assert out["l"][0] == 1 and out["l"][1][1] is None
    assert isinstance(out["l"], list) and isinstance(out["l"][1], tuple)
    assert out["p"].x == 1 and out["p"].y.tolist() == [2]
    assert type(out["p"]) is Pair
    assert out["n"].tolist() == [2] and out["o"] is None
    assert type(out["d"]) is collections.OrderedDict
    assert sess.run([]) == [] and sess.run({}) == {} and sess.run(()) == ()
    assert sess.run([a, a, a]) == [1, 1, 1]


@pytest.mark.parametrize("fetch, error", [
    (None, TypeError), ([None], TypeError), (1, TypeError),
    ("nothing", ValueError), ("a:1", ValueError), ("a:x", ValueError)])
def test_bad_fetches(sess, fetch, error):
    tf.constant(1.0, name="a")
    with pytest.raises(error, match="Fetch argument"):
        sess.run(fetch)


def test_feeds(sess):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = x + 1.0
    for value in ([[1, 2]], np.ones((1, 2)), np.ones((3, 2), np.float32),
                  [np.ones(2), [1, 2]]):
        np.testing.assert_array_equal(sess.run(y, {x: value}),
                                      np.asarray(value) + 1)
    assert sess.run(y, {"x:0": [[0, 0]]}).tolist() == [[1, 1]]
    inner = tf.constant(1.0)
    assert sess.run(inner * 2.0, {inner: 5}) == 10


@pytest.mark.parametrize("value, error, message", [
    (np.ones(2, np.float32), ValueError, r"shape \(2,\) for Tensor 'x:0'"),
    ([[1, 2, 3]], ValueError, r"\(1, 3\).*'\(\?, 2\)'.*test_session.py"),
    ([["a", "b"]], ValueError, "x:0"),
    ([[1], [1, 2]], ValueError, "x:0"),
    (None, ValueError, "x:0")])
def test_bad_feeds(sess, value, error, message):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with pytest.raises(error, match=message):
        sess.run(x + 1.0, {x: value})


def test_feeds_are_converted_as_numpy_does(sess):
    i, f = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    assert sess.run(i + 0, {i: [1.0, 2.0]}).tolist() == [1, 2]
    assert sess.run(f + 0, {f: [True, False]}).tolist() == [1, 0]
    assert sess.run(f + 0, {f: np.float64(.5)}) == .5
    b = tf.placeholder(tf.bool)
    assert sess.run(tf.identity(b), {b: True}) == True  # noqa: E712
    with pytest.raises((TypeError, OverflowError)):
        sess.run(i + 0, {i: 2 ** 40})


def test_bad_feed_keys(sess):
    x = tf.placeholder(tf.float32, name="x")
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        sess.run(x, {1: 1.0})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        sess.run(x, {"x": 1.0})
    with pytest.raises(TypeError, match="cannot be a tf.Tensor"):
        sess.run(x, {x: tf.constant(1.0)})
    with pytest.raises(TypeError, match="feed_dict"):
        sess.run(x, [1])


def test_other_graph(sess):
    tf.constant(0.0)
    with tf.Graph().as_default():
        y = tf.constant(1.0)
    with pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(y)
    with pytest.raises(ValueError):
        tf.add(tf.constant(1.0), y)


def test_unfed_placeholder_names_the_line(sess):
    x = tf.placeholder(tf.float32, name="x")
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="(?s)placeholder.*test_session.py") as e:
        sess.run(x + 1.0)
    assert e.value.op is x.op


def test_closed(sess):
    c = tf.constant(1.0)
    other = tf.Session()
    assert other.run(c) == 1
    other.close()
    with pytest.raises(RuntimeError, match="closed"):
        other.run(c)


def test_empty_graph():
    with tf.Graph().as_default(), tf.Session() as s:
        with pytest.raises(RuntimeError, match="empty"):
            s.run([])


def test_default_session():
    with tf.Graph().as_default():
        c = tf.constant(3)
        with pytest.raises(ValueError, match="No default session"):
            c.eval()
        with tf.Session() as s:
            assert tf.get_default_session() is s
            assert c.eval() == 3
        assert tf.get_default_session() is None
        s = tf.InteractiveSession()
        assert c.eval() == 3
        s.close()
        assert tf.get_default_session() is None


def test_graph_grows_between_runs(sess):
    a = tf.constant(1.0)
    for i in range(5):
        a = a + 1.0
        assert sess.run(a) == i + 2


def test_metadata(sess):
    x = tf.placeholder(tf.float32, [4])
    y = tf.nn.relu(x * 2.0, name="out")
    metadata = tf.RunMetadata()
    sess.run(y, {x: np.ones(4)}, tf.RunOptions(
        trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True),
        metadata)
    names = [n.node_name for d in metadata.step_stats.dev_stats
             for n in d.node_stats]
    assert any("out" in n for n in names)
    assert metadata.partition_graphs[0].node
    with pytest.raises(TypeError, match="options must be a RunOptions"):
        sess.run(y, {x: np.ones(4)}, tf.ConfigProto())


def test_config():
    config = tf.ConfigProto(device_count={"CPU": 2},
                            allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    with tf.Graph().as_default(), tf.Session(config=config) as s:
        assert [d.name[-5:] for d in s.list_devices()] == ["CPU:0", "CPU:1"]
        with tf.device("/cpu:1"):
            c = tf.constant(2.0) * 3.0
        assert c.op.device == "/device:CPU:1"
        assert s.run(c) == 6


def test_unknown_target():
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError):
        tf.Session("nosuch://host")


def test_callable(sess):
    x = tf.placeholder(tf.float32, [2])
    y = tf.placeholder(tf.float32, [])
    f = sess.make_callable({"s": x * y, "o": x.op}, [x, y])
    assert f([1, 2], 3.0)["s"].tolist() == [3, 6]
    assert f(np.ones(2, np.float32), np.float32(2))["o"] is None
    with pytest.raises(TypeError, match="Expected 2 feeds"):
        f(1)
    with pytest.raises(ValueError):
        f([1, 2, 3], 1)


def test_threads(sess):
    x = tf.placeholder(tf.float32, [100])
    y = tf.reduce_sum(tf.exp(x * 0.0) * x)
    wrong = []

    def work(k):
        for _ in range(50):
            if sess.run(y, {x: np.full(100, k, np.float32)}) != 100 * k:
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_graphs_are_freed():
    with tf.Graph().as_default() as g:
        v = tf.Variable(tf.ones([10]))
        with tf.Session() as s:
            s.run(v.initializer)
            s.run(v + 1.0)
    ref = weakref.ref(g)
    del g, v, s
    gc.collect()
    assert ref() is None


def test_objects_are_the_same():
    with tf.Graph().as_default() as g:
        c = tf.constant(1.0, name="c")
        assert g.get_tensor_by_name("c:0") is c
        assert c.op.outputs[0] is c
        assert (c + 1.0).op.inputs[0] is c
        assert {c: 1}[g.get_operations()[0].outputs[0]] == 1


def test_interrupt():
    with tf.Graph().as_default(), tf.Session() as s:
        q = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
        wait = tf.raw_ops.QueueDequeueV2(q, [tf.float32])
        one = tf.constant(1.0)
        for _ in range(2):  # the second: after an interrupted run
            timer = threading.Timer(
                0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                s.run(wait)
            assert time.monotonic() - start < 30
            assert s.run(one) == 1


def test_cancellation_manager():
    with tf.Graph().as_default(), tf.Session() as s:
        q = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
        wait = tf.raw_ops.QueueDequeueV2(q, [tf.float32])
        # Nothing can interrupt a function.
        naps = tf.py_func(lambda: time.sleep(2) or 1.0, [], tf.double)
        x = tf.placeholder(tf.float32)
        one = x + 1.0
        takes_one = s.make_callable(one, [x])
        runs = [lambda c: s.run(wait, cancellation=c),
                lambda c: s.run(naps, cancellation=c),
                lambda c: s.make_callable(wait)(cancellation=c),
                lambda c: s.partial_run(s.partial_run_setup([wait]), wait,
                                        cancellation=c)]
        for run in runs:
            token = tf.headrace.CancellationManager()
            assert s.run(one, {x: 1.0}, cancellation=token) == 2
            assert takes_one(2.0, cancellation=token) == 3
            assert not token.is_cancelled
            timer = threading.Timer(0.05, token.start_cancel)
            timer.start()
            start = time.monotonic()
            with pytest.raises(tf.errors.CancelledError):
                run(token)
            assert time.monotonic() - start < 1.5
            timer.join()
            assert token.is_cancelled
            with pytest.raises(tf.errors.CancelledError):
                run(token)
            assert s.run(one, {x: 3.0}) == 4
        with pytest.raises(TypeError, match="CancellationManager"):
            s.run(one, {x: 1.0}, cancellation=object())


def test_interrupt_of_a_run_with_a_token():
    with tf.Graph().as_default(), tf.Session() as s:
        q = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
        wait = tf.raw_ops.QueueDequeueV2(q, [tf.float32])
        token = tf.headrace.CancellationManager()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            s.run(wait, cancellation=token)
        assert not token.is_cancelled


# Keys of feed_dict that are tuples.

def feed_pair(key, value):
    with tf.Graph().as_default(), tf.Session() as s:
        a = tf.placeholder(tf.float32, [], name="a")
        b = tf.placeholder(tf.float32, [], name="b")
        return s.run([a + 0.0, b + 0.0], {key(a, b): value})


@pytest.mark.parametrize("key, value", [
    (lambda a, b: ((a,), b), ((1.0,), 2.0)),
    (lambda a, b: ((a,), b), (1.0, 2.0)),
    (lambda a, b: (a, (b,)), [1.0, [2.0]]),
    (lambda a, b: ("a:0", b), (1.0, 2.0)),
    (lambda a, b: collections.namedtuple("P", "x y")(a, b), (1.0, 2.0)),
])
def test_nested_tuples_as_feed_keys(key, value):
    assert feed_pair(key, value) == [1.0, 2.0]


@pytest.mark.parametrize("key, value, error, text", [
    (lambda a, b: (a, 5), (1.0, 2.0), TypeError, "convert a int into a Tensor"),
    (lambda a, b: (a, None), (1.0, 2.0), TypeError,
     "convert a NoneType into a Tensor"),
    (lambda a, b: (a, b.op), (1.0, 2.0), TypeError,
     "convert a Operation into a Tensor"),
    (lambda a, b: ((a,), b), ((1.0,),), ValueError,
     "Key had 2 elements, but value had 1"),
    (lambda a, b: (a, b), 1.0, ValueError,
     "Key had 2 elements, but value had 1"),
    (lambda a, b: (a, b), np.array([1.0, 2.0]), ValueError,
     "Key had 2 elements, but value had 1"),
    (lambda a, b: (a, a), (1.0, 2.0), ValueError, "a:0 is fed twice"),
    (lambda a, b: ("a", b), (1.0, 2.0), TypeError,
     "'a' refers to an Operation, not a Tensor"),
    (lambda a, b: ("c:0", b), (1.0, 2.0), TypeError,
     "The operation, 'c', does not exist"),
    (lambda a, b: ("a:1", b), (1.0, 2.0), TypeError, "only has 1 outputs"),
])
def test_tuples_as_feed_keys_that_hold_other_things(key, value, error, text):
    with pytest.raises(error, match=text):
        feed_pair(key, value)


# Structures without end.

def nested(value, depth):
    for _ in range(depth):
        value = [value]
    return value


def test_fetches_that_are_nested_too_deep_or_hold_themselves():
    one = tf.constant(1.0)
    itself, mapping = [one], {"x": one}
    itself.append(itself)
    mapping["y"] = mapping

    class Endless:
        _as_graph_element = property(lambda self: lambda: self)

    with tf.Session() as s:
        assert s.run(nested(one, 100)) == nested(1.0, 100)
        for fetches in nested(one, 100000), itself, mapping, Endless():
            for use in (s.run, s.make_callable, s.partial_run_setup):
                with pytest.raises(RecursionError, match="nested more than"):
                    use(fetches)


@pytest.mark.parametrize("value, wanted", [
    ("text", "text"), (b"bytes", b"bytes"), (["a", b"b"], ["a", b"b"]),
    (np.array(["a", "\xe9"]), ["a", "\xe9"])])
def test_strings_that_are_fed_and_fetched_stay_text_or_bytes(value, wanted):
    x = tf.placeholder(tf.string)
    with tf.Session() as session:
        fed, read = session.run([x, tf.identity(x)], {x: value})
    assert fed.dtype == object and fed.tolist() == wanted
    assert all(isinstance(r, bytes) for r in np.ravel(read))


def test_fed_values_that_are_nested_too_deep_or_hold_themselves():
    x = tf.placeholder(tf.float32)
    itself = [1.0]
    itself.append(itself)
    with tf.Session() as s:
        for value in nested(1.0, 100000), itself:
            with pytest.raises(ValueError, match="Cannot feed"):
                s.run(x + 1.0, {x: value})


def test_fetches_and_feeds_that_change_while_they_are_read():
    one, x = tf.constant(1.0), tf.placeholder(tf.float32, [])
    fetches, feeds = [], {}

    class Clears:
        def __init__(self, container):
            self._container = container

        def _as_graph_element(self):
            self._container.clear()
            return x

    fetches += [Clears(fetches), one, [one] * 100]
    feeds[Clears(feeds)] = 5.0
    feeds.update((tf.placeholder(tf.float32, []), 1.0) for _ in range(9))
    with tf.Session() as s:
        assert s.run(fetches, feeds) == [5.0]


def test_a_graph_whose_init_was_not_called():
    class Bare(tf.Graph):
        def __init__(self):
            pass

    for use in (lambda: Bare().get_operations(),
                lambda: Bare().get_tensor_by_name("a:0"),
                lambda: Bare().as_default().__enter__(),
                lambda: tf.Session(graph=Bare()),
                lambda: tf.Graph.get_operations(5),
                lambda: tf.Operation.outputs.fget(5)):
        with pytest.raises(TypeError):
            use()


# Signals other than that of Ctrl-C.

class Alarm(Exception):
    pass


@pytest.fixture
def alarm():
    def ring(number, frame):
        raise Alarm
    old = signal.signal(signal.SIGALRM, ring)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.1)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


def test_what_a_signal_handler_raises_ends_the_run(alarm):
    with tf.Graph().as_default(), tf.Session() as s:
        wait = tf.FIFOQueue(1, tf.float32).dequeue()
        nap = tf.py_func(lambda: threading.Event().wait(5), [], tf.bool)
        takes = s.make_callable(wait)
        for run in (lambda: s.run(wait), takes, lambda: s.run(nap),
                    lambda: s.run(wait, cancellation=tf.headrace.CancellationManager()),
                    lambda: s.partial_run(s.partial_run_setup([wait]), wait)):
            start = time.monotonic()
            alarm()
            with pytest.raises(Alarm):
                run()
            assert time.monotonic() - start < 4
            assert s.run(tf.constant(1)) == 1


def test_interrupt_of_a_function_that_the_main_thread_is_in():
    with tf.Graph().as_default(), tf.Session() as s:
        end = threading.Event()
        end.set()
        y = tf.py_func(lambda: end.wait(20), [], tf.bool)
        for _ in range(5):  # quick ones: later runs are taken for such too
            assert s.run(y)
        end.clear()
        start = time.monotonic()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            s.run(y)
        assert time.monotonic() - start < 15
        assert s.run(tf.constant(1)) == 1


def test_a_signal_handler_runs_while_a_run_waits():
    with tf.Graph().as_default(), tf.Session() as s:
        q = tf.FIFOQueue(1, tf.float32)
        put, take = q.enqueue(7.0), q.dequeue()
        old = signal.signal(signal.SIGUSR1, lambda *args: s.run(put))
        try:
            threading.Timer(0.1, os.kill,
                            (os.getpid(), signal.SIGUSR1)).start()
            assert s.run(take) == 7
        finally:
            signal.signal(signal.SIGUSR1, old)


def test_a_handler_of_ctrl_c_that_raises_nothing_lets_the_run_go_on():
    with tf.Graph().as_default(), tf.Session() as s:
        q = tf.FIFOQueue(1, tf.float32)
        put, take = q.enqueue(7.0), q.dequeue()
        calls = []
        old = signal.signal(signal.SIGINT, lambda *args: calls.append(1))
        try:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Timer(0.4, s.run, (put,)).start()
            assert s.run(take) == 7
            assert calls == [1]
        finally:
            signal.signal(signal.SIGINT, old)


def test_ctrl_c_between_runs_does_not_cancel_the_next():
    nap = tf.py_func(lambda: threading.Event().wait(0.02), [], tf.bool)
    with tf.Session() as s:
        s.run(tf.constant(1))  # from here on, signals are watched
        for _ in range(30):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            s.run(nap)


def test_a_program_ends_by_sigterm_while_a_run_waits():
    script = """
import os, signal, sys, threading
import headrace as tf
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, lambda *args: sys.exit(7))
wait = tf.FIFOQueue(1, tf.float32).dequeue()
with tf.Session() as s:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    s.run(wait)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True,
                         timeout=60, text=True)
    assert (out.returncode, out.stderr) == (7, "")


def test_an_array_that_changes_between_the_calls_of_a_partial_run():
    x, y = tf.placeholder(tf.float32, [8]), tf.placeholder(tf.float32, [8])
    total = x + y
    with tf.Session() as s:
        handle = s.partial_run_setup([total], [x, y])
        values = np.ones(8, np.float32)
        s.partial_run(handle, [], {x: values})
        values[:] = 100
        got = s.partial_run(handle, total, {y: values})
    np.testing.assert_array_equal(got, np.full(8, 101))


def test_a_callable_from_options():
    v = tf.Variable(1.)
    x = tf.placeholder(tf.float32, [None], name="x")
    more = v.assign_add(tf.reduce_sum(x))
    options = tf.headrace.messages.CallableOptions(feed=["x:0"], fetch=[(x * 2).name],
                                 target=[more.op.name])
    with tf.Session() as sess:
        sess.run(v.initializer)
        run = sess._make_callable_from_options(options)
        assert run(np.float32([1, 2]))[0].tolist() == [2, 4]
        assert sess.run(v) == 4
        metadata = tf.RunMetadata()
        options.run_options.trace_level = tf.RunOptions.FULL_TRACE
        run = sess._make_callable_from_options(options)
        assert len(run(np.float32([1]), run_metadata=metadata)) == 1
        assert metadata.step_stats.dev_stats
        for part, error in (("feed", tf.errors.InvalidArgumentError),
                            ("fetch", tf.errors.InvalidArgumentError),
                            ("target", tf.errors.NotFoundError)):
            wrong = tf.headrace.messages.CallableOptions()
            wrong.CopyFrom(options)
            getattr(wrong, part).append("none:0"[:4 if part == "target" else 6])
            with pytest.raises(error, match="none"):
                sess._make_callable_from_options(wrong)


def test_a_callable_with_connections_of_tensors():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = (tf.placeholder(tf.float32, [], name=n) for n in "xy")
        number = tf.random_uniform([], name="number")
        tf.multiply(number, 2, name="doubled")
        v = tf.Variable(3., name="v")
        tf.add_n([x, y], name="total")
        changed = tf.assign_add(v, x)
        sess.run(v.initializer)
        # (connections, feeds and their values, fetches, what is right of these)
        for pairs, feed, fetches, is_right in [
                ([("v:0", "x:0")], {"y:0": 2}, ["total:0"],
                 lambda t: t == 5),
                ([("v:0", "x:0"), ("v:0", "y:0")], {}, ["total:0"],
                 lambda t: t == 6),
                # The tensor has one value in a run.
                ([("number:0", "x:0"), ("number:0", "y:0")], {},
                 ["total:0", "doubled:0", "number:0"],
                 lambda t, d, n: t == d == 2 * n),
                # It may be computed from what is fed.
                ([("total:0", "number:0")], {"x:0": 1, "y:0": 3},
                 ["doubled:0"], lambda d: d == 8),
                ([("v:0", "x:0")], {}, [changed.name], lambda c: c == 6)]:
            options = tf.headrace.messages.CallableOptions(
                feed=list(feed), fetch=fetches)
            for start, end in pairs:
                options.tensor_connection.add(from_tensor=start, to_tensor=end)
            run = sess._make_callable_from_options(options)
            assert is_right(*run(*map(np.float32, feed.values()))), pairs
        options = tf.headrace.messages.CallableOptions()
        options.tensor_connection.add(from_tensor="x:0", to_tensor="none:0")
        with pytest.raises(tf.errors.InvalidArgumentError, match="none"):
            sess._make_callable_from_options(options)


def test_objects_of_the_program_are_fetched_and_fed():
    from headrace._src.session import session as sessions
    register = sessions.register_session_run_conversion_functions

    class Pair:
        def __init__(self, x):
            self.x = x

    class OfPair(Pair):
        pass

    class Other:
        pass

    x = tf.placeholder(tf.float32)
    y = x + 0.0
    before = list(sessions._conversions)
    try:
        register(Pair, lambda p: ([p.x, p.x * 2.0], tuple),
                 lambda p, value: [(p.x, value + 1)], lambda p: [p.x])
        with tf.Session() as session:
            assert session.run([Pair(x), y], {Pair(x): 1.0}) == [(2, 4), 2]
            assert session.run({"k": OfPair(x)}, {x: 1.0}) == {"k": (1, 2)}
            handle = session.partial_run_setup([y], [Pair(x)])
            assert session.partial_run(handle, y, {Pair(x): 3.0}) == 4
            with pytest.raises(TypeError, match="invalid type .*Other"):
                session.run(Other())
            with pytest.raises(ValueError, match="already been registered"):
                register(Pair, None)
            register(OfPair, lambda p: ([p.x], lambda values: values[0] + 10))
            register(Other, lambda o: ([y], lambda values: values[0]))
            assert session.run([OfPair(x), Pair(x), Other()], {x: 1.0}) == [
                11, (1, 2), 1]
            with pytest.raises(TypeError, match="feed_dict key"):
                session.run(y, {Other(): 5.0})
            with pytest.raises(ValueError, match="already been registered"):
                register(Pair, None)
    finally:
        sessions._conversions[:] = before
