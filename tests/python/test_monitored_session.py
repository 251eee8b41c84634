"""Monitored sessions, hooks, scaffolds, session managers and supervisors."""
import json
import logging
import types

import numpy as np
import pytest

import headrace as tf
from headrace import _names, train

needs_saver = pytest.mark.skipif(
    not hasattr(train, "Saver") or not hasattr(tf.summary, "FileWriterCache"),
    reason="tf.train.Saver and FileWriterCache are not supported yet")


@pytest.fixture
def log(caplog):
    """The lines that training logs."""
    caplog.set_level(logging.INFO, logger="tensorflow")
    return lambda: [record.getMessage() for record in caplog.records]


def count():
    """(global step, the operation that adds to it)"""
    step = train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def run_until_stop(session, fetches):
    found = []
    while not session.should_stop():
        found.append(session.run(fetches))
    return found


class Recorder(train.SessionRunHook):
    """What is called, in order."""

    def __init__(self, fetches=None, feeds=None, options=None):
        self.calls = []
        self.args = train.SessionRunArgs(fetches, feeds, options)

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        assert isinstance(coord, train.Coordinator)
        assert session.graph.finalized
        self.calls.append("create")

    def before_run(self, run_context):
        assert not run_context.stop_requested
        self.calls.append(run_context.original_args)
        return self.args

    def after_run(self, run_context, run_values):
        self.values = run_values
        self.calls.append(run_values.results)

    def end(self, session):
        self.calls.append("end")


def test_hooks_are_called_around_runs():
    _, add = count()
    x = tf.constant(3., name="x")
    hook, silent = Recorder(["x:0", {"y": x}]), train.SessionRunHook()
    graph = tf.get_default_graph()
    with train.MonitoredSession(hooks=[hook, silent]) as session:
        assert session.graph is graph and graph.finalized
        assert session.run(add) == 1
        assert not session.should_stop()
    assert hook.calls == ["begin", "create", (add, None, None),
                          [3., {"y": 3.}], "end"]
    assert session.should_stop() and session.graph is None
    assert not graph.finalized
    with pytest.raises(RuntimeError, match="already closed"):
        session.run(add)
    with pytest.raises(RuntimeError, match="already closed"):
        session.close()


def test_hooks_feed():
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    total = x + 10 * y
    feeder = train.FeedFnHook(lambda: {x: 1.})
    with train.MonitoredSession(hooks=[feeder]) as session:
        assert session.run(total, {y: 2.}) == 21
        with pytest.raises(RuntimeError, match="fed by a SessionRunHook and"):
            session.run(total, {x: 1., y: 2.})
    with train.MonitoredSession(hooks=[feeder, feeder]) as session:
        with pytest.raises(RuntimeError, match="fed by two hooks"):
            session.run(total, {y: 2.})


def test_hooks_ask_for_options():
    x = tf.constant(1.) + 2.
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE,
                            timeout_in_ms=50000)
    tracer, other = Recorder(options=options), Recorder(
        options=tf.RunOptions(timeout_in_ms=70000))
    with train.MonitoredSession(hooks=[tracer, other]) as session:
        session.run(x)
    assert tracer.values.run_metadata.step_stats.dev_stats
    assert tracer.values.options.trace_level == tf.RunOptions.FULL_TRACE
    assert tracer.values.options.timeout_in_ms == 70000


@pytest.mark.parametrize("hook, wanted", [
    (lambda: train.StopAtStepHook(last_step=3), [1, 2, 3]),
    (lambda: train.StopAtStepHook(num_steps=2), [1, 2])])
def test_stop_at_step(hook, wanted):
    _, add = count()
    with train.MonitoredSession(hooks=[hook()]) as session:
        assert run_until_stop(session, add) == wanted
        with pytest.raises(RuntimeError, match="even after should_stop"):
            session.run(add)


def test_nan():
    loss = tf.placeholder_with_default(1., [])
    with train.MonitoredSession(
            hooks=[train.NanTensorHook(loss, fail_on_nan_loss=False)]) as s:
        s.run(loss)
        assert not s.should_stop()
        s.run(loss, {loss: float("nan")})
        assert s.should_stop()
    with pytest.raises(train.NanLossDuringTrainingError, match="NaN loss"):
        with train.MonitoredSession(hooks=[train.NanTensorHook(loss)]) as s:
            s.run(loss, {loss: float("nan")})


def test_logging(log):
    step, add = count()
    x = tf.constant(3., name="x")
    with train.MonitoredSession(hooks=[
            train.LoggingTensorHook({"loss": x, "s": step}, every_n_iter=2,
                                    at_end=True),
            train.LoggingTensorHook(["x"], every_n_secs=1000),
            train.LoggingTensorHook([x], at_end=True,
                                    formatter=lambda v: "f%s" % v[x]),
            train.StopAtStepHook(3)]) as session:
        run_until_stop(session, add)
    lines = [line.partition(" (")[0] for line in log()]
    assert lines[3] in ("loss = 3.0, s = 0", "loss = 3.0, s = 1")
    assert lines[4] == "x = 3.0"
    assert lines[-2:] == ["loss = 3.0, s = 3", "f3.0"]
    assert len(lines) == 8


def test_final_ops():
    step, add = count()
    hook = train.FinalOpsHook([step, {"x": tf.constant(2.)}])
    assert hook.final_ops_values is None
    with train.MonitoredSession(hooks=[hook]) as session:
        session.run(add)
    assert hook.final_ops_values == [1, {"x": 2.}]


def test_waiting_for_a_step():
    step, add = count()
    hook = train.GlobalStepWaiterHook(3)
    hook._PAUSE = .001

    class Other(train.SessionRunHook):
        def after_create_session(self, session, coord):
            train.LooperThread.loop(coord, .001, lambda: session.run(add))
    with train.MonitoredSession(hooks=[Other(), hook]) as session:
        assert session.run(step) >= 3


def test_step_counter(log):
    class Writer:
        found = []

        def add_summary(self, summary, step):
            self.found.append((summary.value[0].tag, step))
    _, add = count()
    hook = train.StepCounterHook(every_n_steps=2, summary_writer=Writer())
    with train.MonitoredSession(
            hooks=[hook, train.StopAtStepHook(5)]) as session:
        run_until_stop(session, add)
    assert Writer.found and all(
        tag == "global_step/sec" for tag, _ in Writer.found)
    assert any(line.startswith("global_step/sec: ") for line in log())


def test_summaries_are_written_at_their_steps():
    class Writer:
        steps, flushed = [], 0

        def add_summary(self, summary, step):
            assert tf.Summary.FromString(summary).value[0].tag == "x"
            self.steps.append(int(step))

        def add_session_log(self, session_log, step):
            assert session_log.status == tf.SessionLog.START

        def flush(self):
            self.flushed += 1
    _, add = count()
    summary, writer = tf.summary.scalar("x", 1.), Writer()
    with train.MonitoredSession(hooks=[
            train.SummarySaverHook(save_steps=2, summary_writer=writer,
                                   summary_op=summary),
            train.StopAtStepHook(5)]) as session:
        run_until_stop(session, add)
    assert writer.steps == [1, 3, 5] and writer.flushed == 1


@pytest.mark.parametrize("base, options, names", [
    (train.SummarySaverHook, dict(save_steps=1, summary_op=[]),
     "_summary_writer _output_dir _global_step_tensor _timer _request_summary"),
    (train.CheckpointSaverHook, dict(save_steps=1),
     "_summary_writer _checkpoint_dir _save_path _global_step_tensor _timer"),
    (train.StepCounterHook, dict(),
     "_summary_writer _output_dir _summary_tag _global_step_tensor _timer"),
    (train.LoggingTensorHook, dict(tensors=["x:0"], every_n_iter=1),
     "_tag_order _current_tensors _iter_count _should_trigger _log_tensors"),
    (train.StopAtStepHook, dict(last_step=9), "_global_step_tensor")])
def test_what_hooks_of_programs_use_of_their_base_class(tmp_path, base, options,
                                                        names):
    seen = []

    class Hook(base):
        def after_run(self, run_context, run_values):
            seen.extend(name for name in names.split() if hasattr(self, name))
            super().after_run(run_context, run_values)
    tf.constant(1, name="x")
    step = train.get_or_create_global_step()
    if base in (train.SummarySaverHook, train.StepCounterHook):
        options["output_dir"] = str(tmp_path)
    if base is train.CheckpointSaverHook:
        options.update(checkpoint_dir=str(tmp_path), saver=train.Saver())
    with train.SingularMonitoredSession([Hook(**options)]) as session:
        session.run(step)
    assert seen == names.split()


def test_monitors_are_called_by_a_hook():
    monitors, calls = tf.contrib.learn.monitors, []

    class Each(monitors.BaseMonitor):
        def step_begin(self, step):
            super().step_begin(step)
            return ["x", "x:0"]

        def step_end(self, step, output):
            super().step_end(step, output)
            calls.append((step, output))
            return step == 7

    class Some(monitors.EveryN):
        def every_n_step_end(self, step, outputs):
            calls.append(step)

        def every_n_post_step(self, step, session):
            calls.append(-step)
    tf.constant(5, name="x")
    add = tf.assign_add(train.get_or_create_global_step(), 1)
    stop = train.StopAtStepHook(last_step=100)
    chief = types.SimpleNamespace(config=types.SimpleNamespace(is_chief=True))
    other = types.SimpleNamespace(config=types.SimpleNamespace(is_chief=False))
    both = [Each(), stop, Some(every_n_steps=4)]
    replace = monitors.replace_monitors_with_hooks
    assert replace(None, chief) == [] and replace(both, other) == [stop]
    with train.SingularMonitoredSession(replace(both, chief)) as session:
        while not session.should_stop():
            session.run(add)
    values = {"x": 5, "x:0": 5}
    assert calls == [(1, values), 1, -1, (2, values), (3, values), (4, values),
                     (5, values), 5, -5, (6, values), (7, values), -7]


@pytest.mark.parametrize("make, error, words", [
    (lambda m: m.ValidationMonitor(), ValueError, "Either x or input_fn"),
    (lambda m: m.BaseMonitor().end(), ValueError, "end called without begin"),
    (lambda m: m.BaseMonitor().step_end(1, {}), ValueError, "step_end expected"),
    (lambda m: m.BaseMonitor().step_begin(-1), ValueError, "Invalid step"),
    (lambda m: m.BaseMonitor().epoch_begin(-1), ValueError, "Invalid epoch"),
    (lambda m: m.replace_monitors_with_hooks([m.EveryN()], None), ValueError,
     "Missing estimator"),
    (lambda m: m.RunHookAdapterForMonitors([]).begin(), RuntimeError,
     "Global step should be created")])
def test_what_monitors_refuse(make, error, words):
    with pytest.raises(error, match=words):
        make(tf.contrib.learn.monitors)


def test_profiles(tmp_path):
    _, add = count()
    with train.MonitoredSession(hooks=[
            train.ProfilerHook(save_steps=2, output_dir=str(tmp_path)),
            train.StopAtStepHook(5)]) as session:
        run_until_stop(session, add)
    files = sorted(tmp_path.glob("timeline-*.json"))
    assert [file.name for file in files] == ["timeline-2.json",
                                             "timeline-4.json"]
    tf.summary.FileWriterCache.clear()
    written, = tmp_path.glob("events*")
    tags = [event.tagged_run_metadata.tag
            for event in train.summary_iterator(str(written))]
    assert [tag for tag in tags if tag] == ["step_2", "step_4"]
    events = json.loads(files[0].read_text())["traceEvents"]
    assert "AssignAdd" in {e["name"] for e in events}


def test_timer():
    timer = train.SecondOrStepTimer(every_steps=2)
    assert [timer.should_trigger_for_step(1),
            timer.update_last_triggered_step(1)] == [True, (None, None)]
    assert [timer.should_trigger_for_step(n) for n in (1, 2, 3)] == [
        False, False, True]
    assert timer.update_last_triggered_step(4)[1] == 3
    assert timer.last_triggered_step() == 4
    timer.reset()
    assert timer.last_triggered_step() is None
    slow, quick = (train.SecondOrStepTimer(every_secs=s) for s in (1000, 0))
    for t in (slow, quick):
        t.update_last_triggered_step(1)
    assert not slow.should_trigger_for_step(9)
    assert quick.should_trigger_for_step(2)


@pytest.mark.parametrize("make, error, words", [
    (lambda: train.StopAtStepHook(), ValueError, "One of num_steps or"),
    (lambda: train.StopAtStepHook(1, 2), ValueError, "Only one of num_steps"),
    (lambda: train.SecondOrStepTimer(), ValueError, "Either every_secs or"),
    (lambda: train.SecondOrStepTimer(1, 2), ValueError, "Can not provide both"),
    (lambda: train.LoggingTensorHook(["x"]), ValueError, "either at_end"),
    (lambda: train.LoggingTensorHook(["x"], 1, 2), ValueError, "either at_end"),
    (lambda: train.LoggingTensorHook(["x"], 0), ValueError,
     "invalid every_n_iter=0"),
    (lambda: train.CheckpointSaverHook("d"), ValueError, "Either every_secs"),
    (lambda: train.CheckpointSaverHook(
        "d", save_steps=1, saver=1, scaffold=train.Scaffold()), ValueError,
     "cannot provide both saver and scaffold"),
    (lambda: train.SummarySaverHook(save_steps=1), ValueError,
     "Exactly one of scaffold or summary_op"),
    (lambda: train.StepCounterHook(None), ValueError,
     "exactly one of every_n_steps"),
    (lambda: train.Scaffold(copy_from_scaffold=1), TypeError,
     "not a Scaffold"),
    (lambda: train.SessionCreator().create_session(), NotImplementedError,
     "create_session"),
    (lambda: train.SessionManager(ready_for_local_init_op=1), ValueError,
     "must also pass a local_init_op")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("make", [
    lambda: train.StopAtStepHook(1), lambda: train.StepCounterHook(),
    lambda: train.GlobalStepWaiterHook(1), lambda: train.ProfilerHook(1),
    lambda: train.CheckpointSaverHook("d", save_steps=1),
    lambda: train.SummarySaverHook(1, summary_op=1)])
def test_hooks_that_need_a_global_step(make):
    with pytest.raises(RuntimeError, match="Global step should be created"):
        train.MonitoredSession(hooks=[make()])


# How a monitored session ends, and begins again.

@pytest.mark.parametrize("error, passes", [
    (tf.errors.OutOfRangeError(None, None, "the end"), True),
    (StopIteration(), True), (KeyError("other"), False)])
def test_what_ends_the_block(error, passes):
    x, hook = tf.constant(1.), Recorder()
    try:
        with train.MonitoredSession(hooks=[hook]) as session:
            session.run(x)
            raise error
    except KeyError:
        assert not passes
    assert ("end" in hook.calls) == passes


class Losing(train.SessionRunHook):
    """The second run fails as when a worker was lost."""
    runs = created = 0

    def after_create_session(self, session, coord):
        self.created += 1

    def before_run(self, run_context):
        self.runs += 1
        if self.runs == 2:
            raise tf.errors.AbortedError(None, None, "gone")


def test_a_lost_worker():
    _, add = count()
    hook = Losing()
    with train.MonitoredSession(hooks=[hook]) as session:
        # The variables of the new session begin anew.
        assert [session.run(add) for _ in range(3)] == [1, 1, 2]
    assert (hook.runs, hook.created) == (4, 2)
    with pytest.raises(tf.errors.AbortedError, match="gone"):
        with train.SingularMonitoredSession(hooks=[Losing()]) as session:
            session.run(add)
            session.run(add)


def test_queue_runners_run_and_their_errors_are_raised():
    queue = tf.FIFOQueue(10, tf.float32, shapes=[])
    train.add_queue_runner(train.QueueRunner(
        queue, [queue.enqueue(tf.constant(1.))]))
    item = queue.dequeue()
    with train.MonitoredSession() as session:
        assert session.run(item) == 1
    tf.reset_default_graph()
    queue = tf.FIFOQueue(10, tf.float32, shapes=[])
    bad = tf.placeholder(tf.float32, [], name="bad")
    train.add_queue_runner(train.QueueRunner(queue, [queue.enqueue(bad)]))
    item = queue.dequeue()
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        with train.MonitoredSession() as session:
            session.run(item)


def test_run_step_fn():
    x, hook = tf.constant(1.) + 1., Recorder()

    def both(step_context):
        return (step_context.session.run(x), step_context.run_with_hooks(x))

    def stop(step_context):
        step_context.request_stop()
    with train.MonitoredSession(hooks=[hook]) as session:
        assert session.run_step_fn(both) == (2., 2.)
        assert len(hook.calls) == 4
        with pytest.raises(ValueError, match="may either have one `step_cont"):
            session.run_step_fn(lambda other: None)
        session.run_step_fn(stop)
        raise AssertionError("the block ends with the stop")
    assert hook.calls[-1] == "end"


def test_singular_session():
    _, add = count()
    with train.SingularMonitoredSession(
            hooks=[train.StopAtStepHook(num_steps=2)]) as session:
        assert isinstance(session.raw_session(), tf.Session)
        assert run_until_stop(session, add) == [1, 2]
    assert session.raw_session() is None


# What a session begins with.

def test_scaffold_initialises():
    v, local = tf.Variable(1.), tf.Variable(
        2., collections=["local_variables"])
    p = tf.placeholder(tf.float32, [])
    called = []
    scaffold = train.Scaffold(
        init_op=v.assign(p), init_feed_dict={p: 5.},
        init_fn=lambda s, session: called.append((s, session.run(v))))
    with train.MonitoredTrainingSession(scaffold=scaffold) as session:
        assert session.run([v, local]) == [5., 2.]
    assert called == [(scaffold, 5.)]
    assert train.Scaffold(copy_from_scaffold=scaffold).init_op is (
        scaffold.init_op)


def test_scaffold_takes_from_collections():
    v = tf.Variable(1.)
    tf.add_to_collection("init_op", v.assign(7.))
    with train.MonitoredSession() as session:
        assert session.run(v) == 7.
    tf.add_to_collection("init_op", v.initializer)
    with pytest.raises(RuntimeError, match="More than one item in the coll.*"
                       "tf.Scaffold.init_op=item to use"):
        train.MonitoredSession()


@pytest.mark.parametrize("scaffold, words", [
    (lambda: train.Scaffold(init_op=tf.no_op()),
     "not make model ready for local_init.  Init op: NoOp, init fn: None, "
     "error: Variables not initialized: v"),
    (lambda: train.Scaffold(local_init_op=tf.no_op()),
     "not make model ready.  .*Variables not initialized: local")])
def test_what_is_not_initialised(scaffold, words):
    tf.Variable(1., name="v")
    tf.Variable(1., name="local", collections=["local_variables"])
    with pytest.raises(RuntimeError, match=words):
        train.MonitoredSession(train.ChiefSessionCreator(scaffold()))


def test_session_manager_waits():
    v = tf.Variable(1., name="v")
    ready = tf.report_uninitialized_variables()
    manager = train.SessionManager(ready_op=ready, recovery_wait_secs=.01)
    with pytest.raises(tf.errors.DeadlineExceededError,
                       match="not ready after waiting 0 secs"):
        manager.wait_for_session("", max_wait_secs=0)
    session, restored = manager.recover_session("")
    assert not restored
    session.close()
    with pytest.raises(RuntimeError, match="no init_op or init_fn"):
        manager.prepare_session("")
    with pytest.raises(ValueError, match="Can not provide both"):
        manager.prepare_session("", checkpoint_dir="a",
                                checkpoint_filename_with_path="b")
    with manager.prepare_session("", init_op=v.initializer) as session:
        assert session.run(v) == 1.


def test_a_worker():
    # It has the variables itself, so its local init op must fill them.
    step = train.get_or_create_global_step()
    scaffold = train.Scaffold(local_init_op=step.initializer,
                              ready_for_local_init_op=tf.constant(
                                  [], tf.string))
    with train.MonitoredTrainingSession(is_chief=False,
                                        scaffold=scaffold) as session:
        assert session.run(step) == 0


# Supervisors.

def test_supervisor():
    _, add = count()
    supervisor = train.Supervisor()
    assert tf.get_default_graph().finalized
    seen = []
    with supervisor.managed_session() as session:
        supervisor.loop(.001, lambda: seen.append(1))
        for _ in range(3):
            last = session.run(add)
        while not seen:
            pass
        supervisor.request_stop()
    assert last == 3 and supervisor.should_stop()


def test_errors_of_a_supervised_block():
    x = tf.constant(1.)
    with train.Supervisor().managed_session() as session:
        session.run(x)
        raise tf.errors.OutOfRangeError(None, None, "the end")
    with pytest.raises(KeyError):
        with train.Supervisor().managed_session():
            raise KeyError("other")
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        train.Supervisor().summary_computed(None, b"")
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        train.Supervisor(is_chief=False).start_standard_services(None)


def test_basic_train_loop():
    _, add = count()
    supervisor = train.Supervisor()
    seen = []

    def step(session, limit, by):
        if len(seen) == 1 and by:
            seen.append("lost")
            raise tf.errors.AbortedError(None, None, "gone")
        seen.append(int(session.run(add)))
        if len(seen) >= limit:
            supervisor.request_stop()
    train.basic_train_loop(supervisor, step, args=(5,), kwargs={"by": 1})
    assert seen == [1, "lost", 1, 2, 3]


# With checkpoints.

@needs_saver
def test_training_goes_on_from_its_checkpoint(tmp_path):
    class Listener(train.CheckpointSaverListener):
        calls = []

        def before_save(self, session, global_step_value):
            self.calls.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):
            self.calls.append(("after", int(global_step_value)))
            return global_step_value >= 6
    folder = str(tmp_path)
    for wanted in ([1, 2, 3], [4, 5, 6]):
        tf.reset_default_graph()
        _, add = count()
        hooks = [train.CheckpointSaverHook(
            folder, save_steps=3, listeners=[Listener()])]
        if wanted[0] == 1:
            hooks.append(train.StopAtStepHook(last_step=3))
        with train.MonitoredTrainingSession(
                checkpoint_dir=folder, save_checkpoint_secs=None,
                save_summaries_steps=None, log_step_count_steps=None,
                chief_only_hooks=hooks) as session:
            assert run_until_stop(session, add) == wanted
        assert train.latest_checkpoint(folder).endswith(
            "model.ckpt-%d" % wanted[-1])
    steps = [n for what, n in Listener.calls if what == "after"]
    assert steps == [0, 3, 3, 6] and (tmp_path / "graph.pbtxt").exists()
    # Each session writes the MetaGraphDef with its Saver; FileWriters write one
    # without.
    meta_graphs = [tf.MetaGraphDef.FromString(e.meta_graph_def)
                   for path in sorted(tmp_path.glob("events*"))
                   for e in train.summary_iterator(str(path))
                   if e.HasField("meta_graph_def")]
    of_hooks = [m for m in meta_graphs if m.HasField("saver_def")]
    assert len(of_hooks) == 2
    for meta_graph in of_hooks:
        assert any(n.name == "global_step" for n in meta_graph.graph_def.node)


@needs_saver
def test_default_hooks_write_to_the_checkpoint_folder(tmp_path):
    _, add = count()
    tf.summary.scalar("x", 1.)
    with train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_summaries_steps=2,
            log_step_count_steps=2,
            hooks=[train.StopAtStepHook(last_step=5)]) as session:
        run_until_stop(session, add)
    assert list(tmp_path.glob("events.out.tfevents.*"))
    assert train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


@needs_saver
def test_supervisor_saves_and_restores(tmp_path):
    for wanted in (1, 2):
        tf.reset_default_graph()
        step, add = count()
        supervisor = train.Supervisor(logdir=str(tmp_path), save_model_secs=0,
                                      save_summaries_secs=0)
        with supervisor.managed_session() as session:
            assert session.run(add) == wanted
            supervisor.saver.save(session, supervisor.save_path,
                                  global_step=step)


# A small network learns.

def test_a_network_learns():
    random = np.random.RandomState(0)
    centres = random.randn(3, 4)
    labels = random.randint(3, size=300)
    points = (centres[labels] + .3 * random.randn(300, 4)).astype(np.float32)
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.int64, [None])
    w1, w2 = tf.get_variable("w1", [4, 16]), tf.get_variable("w2", [16, 3])
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=logits))
    step = train.AdamOptimizer(.02).minimize(
        loss, global_step=train.get_or_create_global_step())
    losses = []
    with train.MonitoredSession(hooks=[
            train.StopAtStepHook(last_step=60),
            train.NanTensorHook(loss)]) as session:
        while not session.should_stop():
            rows = random.randint(300, size=64)
            losses.append(session.run([loss, step], {
                x: points[rows], y: labels[rows]})[0])
    assert len(losses) == 60
    assert losses[0] > .7 and np.mean(losses[-10:]) < .1


@pytest.mark.parametrize("make, layers", [
    (train.MonitoredTrainingSession, 4), (train.SingularMonitoredSession, 3)])
def test_the_session_inside(make, layers):
    train.create_global_step()
    with make() as session:
        inside = session._tf_sess()
        assert isinstance(inside, tf.Session)
        # Programs count them, or go on until they find a Session.
        found = session
        for _ in range(layers):
            assert not isinstance(found, tf.Session)
            found = found._sess
        assert found is inside
        assert session._sess._sess.graph is tf.get_default_graph()
    assert session._tf_sess() is None and session._sess is None


def test_hooks_around_a_session_of_the_program():
    hooked = _names.load("training.monitored_session")._HookedSession
    x = tf.constant(3.)

    class Hook(train.SessionRunHook):
        seen = []

        def before_run(self, context):
            return train.SessionRunArgs(x * 2)

        def after_run(self, context, values):
            self.seen.append(values.results)
            if len(self.seen) == 2:
                context.request_stop()

    with tf.Session() as inner:
        session = hooked(inner, [Hook()])
        assert session.graph is inner.graph
        assert session.run(x) == 3 and not session.should_stop()
        assert session.run([]) == [] and session.should_stop()
        assert Hook.seen == [6, 6]
        with pytest.raises(RuntimeError, match="after should_stop"):
            session.run(x)
