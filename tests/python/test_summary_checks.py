"""tensorflow.contrib.testing, tensorboard_logging and the registry of
benchmarks: what tests of TensorFlow's own are written with."""
import unittest

import pytest

import headrace as tf
from headrace._src.compat import (
    benchmarks, event_logging, summary_checks, training_tools)
from headrace._src.compat.summary_checks import FakeSummaryWriter


def test_a_writer_that_keeps_summaries(tmp_path):
    case = unittest.TestCase()
    with tf.Graph().as_default() as graph:
        step = tf.train.get_or_create_global_step()
        summary = tf.summary.scalar("s", tf.constant(2.))
        FakeSummaryWriter.install()
        try:
            with pytest.raises(ValueError, match="already installed"):
                FakeSummaryWriter.install()
            hook = tf.train.SummarySaverHook(
                save_steps=1, output_dir=str(tmp_path), summary_op=summary)
            hook.begin()
            writer = tf.summary.FileWriterCache.get(str(tmp_path))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                writer.add_summary(session.run(summary), 3)
                writer.add_graph(graph)
            writer.assert_summaries(
                case, expected_logdir=str(tmp_path),
                expected_summaries={3: {"s": 2.}}, expected_added_graphs=[graph])
            for wrong in ({4: {}}, {3: {"s": 1.}}):
                with pytest.raises(AssertionError):
                    writer.assert_summaries(case, expected_summaries=wrong)
            with pytest.raises(ValueError, match="Invalid global_step -1"):
                writer.add_graph(graph, -1)
        finally:
            FakeSummaryWriter.uninstall()
        assert step is not None
    with pytest.raises(ValueError, match="not installed"):
        FakeSummaryWriter.uninstall()


def test_what_event_files_have(tmp_path):
    assert summary_checks.latest_events(str(tmp_path)) == []
    with tf.Graph().as_default(), tf.summary.FileWriter(str(tmp_path)) as file:
        for step, value in ((1, .5), (2, 1.5)):
            file.add_summary(tf.Summary(value=[tf.Summary.Value(
                tag="a", simple_value=value)]), step)
    found = summary_checks.latest_summaries(str(tmp_path))
    assert [e.step for e in found] == [1, 2]
    assert summary_checks.simple_values_from_events(found, ["a"]) == {"a": 1.5}
    message = summary_checks.to_summary_proto(
        found[0].summary.SerializeToString())
    summary_checks.assert_summary(["a"], {"a": .5}, message)
    with pytest.raises(ValueError, match="Expected tags"):
        summary_checks.assert_summary(["b"], {}, message)
    with pytest.raises(AssertionError):
        summary_checks.assert_summary(["a"], {"a": .7}, message)


def test_messages_in_event_files():
    class Writer:
        events: list = []

        def add_event(self, event):
            self.events.append((event.log_message.level,
                                event.log_message.message))
    with pytest.raises(RuntimeError, match="set_summary_writer"):
        event_logging.info("x")
    event_logging.set_summary_writer(Writer())
    try:
        event_logging.error("a %d", 3)
        event_logging.debug("not written")
        event_logging.set_verbosity(event_logging.DEBUG)
        event_logging.debug("b")
        for wrong in (event_logging.set_verbosity,
                      lambda level: event_logging.log(level, "x")):
            with pytest.raises(ValueError, match="not a valid"):
                wrong("q")
    finally:
        event_logging.set_verbosity(event_logging.WARN)
        event_logging.clear_summary_writer()
    assert Writer.events == [(40, "a 3"), (10, "b")]


def test_benchmarks_are_registered():
    ran = []

    class Measures(tf.test.Benchmark):

        def benchmark_first(self):
            ran.append(1)

        def benchmark_second(self):
            ran.append(2)
    assert Measures in benchmarks.GLOBAL_BENCHMARK_REGISTRY
    benchmarks.run_benchmarks("Measures.*first$")
    assert ran == [1]
    benchmarks.benchmarks_main(None, ["program", "--benchmarks=Measures"])
    assert ran == [1, 1, 2]
    assert benchmarks.benchmarks_main(lambda: "main", ["program"]) == "main"


def test_a_hook_for_runs_of_several_steps():
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        steps = training_tools.get_or_create_steps_per_run_variable()
        assert training_tools.get_or_create_steps_per_run_variable() is steps
        train = tf.assign_add(step, tf.cast(steps, tf.int64))
        hook = training_tools.MultiStepStopAtStepHook(
            last_step=7, steps_per_run=3)
        done = []
        with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                done.append(session.run(train))
        assert done == [3, 6, 7]
    with pytest.raises(ValueError, match="greater than 0"):
        training_tools.MultiStepStopAtStepHook(last_step=1, steps_per_run=0)
