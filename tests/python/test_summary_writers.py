"""tf.contrib.summary and tf.compat.v2.summary: what their nodes write."""
import glob

import numpy as np
import pytest

import headrace as tf

first, second = tf.contrib.summary, tf.compat.v2.summary


def written(folder):
    """{tag: (step, value)} of the event files in a folder."""
    found = {}
    for path in glob.glob(str(folder) + "/*"):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                found[value.tag] = event.step, value
    return found


def array(value):
    return tf.make_ndarray(value.tensor)


def test_summaries_that_write_themselves(tmp_path):
    step = tf.train.create_global_step()
    writer = first.create_file_writer(str(tmp_path), flush_millis=1000)
    with writer.as_default(), first.always_record_summaries():
        with tf.name_scope("outer"):
            loss = first.scalar("my loss", 2.5)
        first.histogram("h", [1., 2.], family="fam")
        first.generic("g", [1, 2], step=7)
        first.image("im", tf.zeros([1, 2, 2, 3]))
        first.audio("au", tf.zeros([1, 20]), 8000., 1)
        with first.never_record_summaries():
            never = first.scalar("never", 1.)
    assert first.scalar("nowhere", 1.).type == "NoOp"
    with tf.Session() as session, writer.as_default():
        session.run(step.initializer)
        first.initialize(tf.get_default_graph(), session)
        session.run(step.assign(3))
        assert session.run([loss, never]) == [True, False]
        session.run(first.all_summary_ops())
        session.run(writer.close())
    found = written(tmp_path)
    assert {tag: at for tag, (at, _) in found.items()} == {
        "outer/my_loss": 3, "fam/fam/h": 3, "g": 7, "im/image/0": 3,
        "au/audio": 3}
    assert found["outer/my_loss"][1].simple_value == 2.5
    assert array(found["g"][1]).tolist() == [1, 2]


def test_summaries_of_every_second_step(tmp_path):
    step = tf.train.create_global_step()
    writer = first.create_file_writer(str(tmp_path))
    with writer.as_default(), first.record_summaries_every_n_global_steps(2):
        node = first.scalar("x", tf.cast(step, tf.float32))
        with tf.Session() as session:
            session.run(step.initializer)
            session.run(first.summary_writer_initializer_op())
            due = []
            for _ in range(3):
                due.append(session.run(node))
                session.run(step.assign_add(1))
    assert due == [True, False, True]


def test_summaries_of_plug_ins(tmp_path):
    writer = second.create_file_writer(str(tmp_path))
    assert tf.get_static_value(second.scalar("nowhere", 1., step=1)) == False
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            second.scalar("x", 1.)
        with tf.name_scope("outer"):
            second.scalar("my loss", 2.5, step=3, description="d")
        second.experimental.set_step(tf.constant(4, tf.int64))
        second.histogram("h", [1., 2., 4.], buckets=3)
        second.histogram("same", [2., 2.])
        second.histogram("none", tf.zeros([0]))
        second.text("t", ["a", "b"])
        second.image("im", tf.zeros([2, 3, 4, 3]), max_outputs=1)
        second.audio("au", tf.zeros([2, 20, 1]), 8000)
        second.write("raw", [1])
        with second.record_if(False):
            second.scalar("never", 1.)
        with second.record_if(lambda: tf.constant(True)):
            second.scalar("yes", 1.)
        second.experimental.set_step(None)
    assert len(tf.summary.all_v2_summary_ops()) == 10
    with tf.Session() as session:
        session.run(writer.init())
        session.run(tf.summary.all_v2_summary_ops())
        session.run(writer.flush())
    found = written(tmp_path)
    assert {tag: (at, value.metadata.plugin_data.plugin_name)
            for tag, (at, value) in found.items()} == {
        "outer/my loss": (3, "scalars"), "h": (4, "histograms"),
        "same": (4, "histograms"), "none": (4, "histograms"), "t": (4, "text"),
        "im": (4, "images"), "au": (4, "audio"), "raw": (4, ""),
        "yes": (4, "scalars")}
    values = {tag: array(value) for tag, (_, value) in found.items()}
    np.testing.assert_array_equal(
        values["h"], [[1, 2, 1], [2, 3, 1], [3, 4, 1]])
    np.testing.assert_array_equal(values["same"], [[1.5, 2.5, 2]])
    assert values["none"].shape == (0, 3)
    assert values["im"].tolist()[:2] == [b"4", b"3"] and len(values["im"]) == 3
    assert values["au"].shape == (2, 2)
    assert found["outer/my loss"][1].metadata.summary_description == "d"


def test_writers_that_write_nothing():
    for writer in [second.create_noop_writer(), first.create_file_writer(None)]:
        assert isinstance(writer, first.SummaryWriter)
        with writer.as_default():
            assert (writer.init(), writer.flush(), writer.close()) == (
                None, None, None)


@pytest.mark.parametrize("refused, error, message", [
    (lambda: second.create_file_writer(None), ValueError, "logdir"),
    (lambda: first.initialize(), RuntimeError, "No default"),
    (lambda: first.import_event(""), RuntimeError, "No default"),
    (lambda: first.graph("g"), TypeError, "needs a tf.Tensor"),
    (lambda: first.create_db_writer("x", run_name="<"), ValueError, "run_name"),
    (lambda: second.scalar("x", [1., 2.], step=1), ValueError, "scalar"),
    (lambda: second.text("x", 1, step=1), TypeError, "string"),
    (lambda: second.image("x", tf.zeros([2, 2]), step=1), ValueError, "rank 4"),
    (lambda: second.audio("x", tf.zeros([1, 2, 1]), 8, 1, encoding="mp3"),
     ValueError, "mp3")])
def test_summaries_that_are_refused(refused, error, message):
    with pytest.raises(error, match=message):
        refused()
