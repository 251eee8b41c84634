"""tf.summary.FileWriter and the events that it writes."""
import os
import subprocess
import threading

import pytest

import headrace as tf
from headrace._src.compat import events_writer
from headrace._src.compat.record_reader import PyRecordReader_New


def events(folder):
    return [[e for e in tf.train.summary_iterator(str(folder / name))]
            for name in sorted(os.listdir(folder))]


def kinds(folder):
    return [[e.WhichOneof("what") for e in file] for file in events(folder)]


def test_what_is_written(tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    summary = tf.summary.scalar("loss", x)
    writer = tf.summary.FileWriter(str(tmp_path / "a" / "b"),
                                   tf.get_default_graph())
    assert writer.get_logdir() == str(tmp_path / "a" / "b")
    metadata = tf.RunMetadata()
    with tf.Session() as sess, writer:
        for step in (1, 2):
            writer.add_summary(sess.run(summary, {x: step / 2},
                                        run_metadata=metadata), step)
    writer.reopen()
    writer.add_run_metadata(metadata, "run 2", 2)
    with pytest.raises(ValueError, match="tag was already used"):
        writer.add_run_metadata(metadata, "run 2", 3)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 5)
    writer.add_event(tf.Event(step=6, summary=tf.Summary()))
    writer.close()
    folder = tmp_path / "a" / "b"
    assert kinds(folder) == [
        ["file_version", "graph_def", "meta_graph_def", "summary", "summary"],
        ["file_version", "tagged_run_metadata", "session_log", "summary"]]
    first, second = events(folder)
    assert first[0].file_version == "brain.Event:2" and first[0].wall_time > 1e9
    graph_def = tf.GraphDef.FromString(first[1].graph_def)
    assert [n.name for n in graph_def.node] == ["x", "loss/tags", "loss"]
    assert tf.MetaGraphDef.FromString(
        first[2].meta_graph_def).graph_def.node[0].name == "x"
    assert [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value)
            for e in first[3:]] == [(1, "loss", 0.5), (2, "loss", 1)]
    assert [e.step for e in second] == [0, 2, 5, 6]
    assert second[1].tagged_run_metadata.tag == "run 2"


def test_metadata_is_written_once(tmp_path):
    text = tf.summary.text("note", tf.constant("hello"))
    with tf.summary.FileWriter(str(tmp_path)) as writer, tf.Session() as sess:
        for step in range(2):
            writer.add_summary(sess.run(text), step)
    _, first, second = events(tmp_path)[0]
    assert first.summary.value[0].metadata.plugin_data.plugin_name == "text"
    assert not second.summary.value[0].HasField("metadata")


def test_events_are_flushed(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=3,
                                   filename_suffix=".end")
    assert os.listdir(tmp_path)[0].endswith(".end")
    assert kinds(tmp_path) == [["file_version"]]
    for step in range(2):
        writer.add_summary(tf.Summary(), step)
    assert kinds(tmp_path) == [["file_version"]]
    writer.add_summary(tf.Summary(), 2)
    assert len(kinds(tmp_path)[0]) == 4
    writer.add_summary(tf.Summary(), 3)
    writer.flush()
    assert len(kinds(tmp_path)[0]) == 5
    now = tf.summary.FileWriter(str(tmp_path / "now"), flush_secs=0)
    now.add_summary(tf.Summary())
    assert len(kinds(tmp_path / "now")[0]) == 2


def test_a_closed_writer_writes_nothing(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    writer.close()
    writer.add_summary(tf.Summary(), 1)
    writer.flush()
    assert kinds(tmp_path) == [["file_version"]]


def test_threads(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))

    def add():
        for step in range(50):
            writer.add_summary(tf.Summary(), step)
    threads = [threading.Thread(target=add) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    writer.close()
    assert len(kinds(tmp_path)[0]) == 201


def test_cache(tmp_path):
    writer = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is writer
    tf.summary.FileWriterCache.clear()
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is not writer
    tf.summary.FileWriterCache.clear()


@pytest.mark.parametrize("error, message, call", [
    (TypeError, "must be an instance of `Graph`", lambda w: w.add_graph(3)),
    (ValueError, "A graph must be specified", lambda w: w.add_graph(None)),
    (ValueError, "not both", lambda w: w.add_graph(
        tf.GraphDef(), graph_def=tf.GraphDef())),
    (TypeError, "must be type MetaGraphDef", lambda w: w.add_meta_graph(3)),
    (tf.errors.UnimplementedError, "session is not supported", lambda w:
     tf.summary.FileWriter(w.get_logdir(), session=3))])
def test_what_is_refused(tmp_path, error, message, call):
    writer = tf.summary.FileWriter(str(tmp_path))
    with pytest.raises(error, match=message):
        call(writer)


def test_damaged_files(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    name, = os.listdir(tmp_path)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:-3])
    with pytest.raises(tf.errors.DataLossError):
        list(tf.train.summary_iterator(str(tmp_path / name)))


@pytest.mark.skipif(not os.environ.get("HEADRACE_ORACLE"),
                    reason="no HEADRACE_ORACLE")
def test_tensorflow_reads_our_events(tmp_path):
    tf.summary.scalar("loss", tf.constant(2.))
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()) as writer:
        writer.add_summary(tf.Summary(value=[
            tf.Summary.Value(tag="a", simple_value=3)]), 7)
    name, = os.listdir(tmp_path)
    program = """if True:
        import sys
        import tensorflow.compat.v1 as tf
        for e in tf.train.summary_iterator(sys.argv[1]):
            print(e.WhichOneof("what"), e.step)
        print(e.summary.value[0].simple_value)"""
    done = subprocess.run([os.environ["HEADRACE_ORACLE"], "-c", program,
                           str(tmp_path / name)], text=True,
                          capture_output=True)
    assert done.stdout.split() == ["file_version", "0", "graph_def", "0",
                                   "meta_graph_def", "0", "summary", "7", "3.0"]


def test_a_reader_goes_on_in_a_file_that_is_still_written(tmp_path):
    path = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in (b"a", b"bb", b"ccc"):
            writer.write(record)
    whole = path.read_bytes()
    path.write_bytes(whole[:17 + 5])
    with tf.errors.raise_exception_on_not_ok_status() as status:
        reader = PyRecordReader_New(str(path).encode(), 0, b"", status)
    reader.GetNext()
    assert (reader.record(), reader.offset()) == (b"a", 17)
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError):
            reader.GetNext()
    path.write_bytes(whole[:17 + 18])
    reader.GetNext()
    assert (reader.record(), reader.offset()) == (b"bb", 35)
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError):
            reader.GetNext()
    path.write_bytes(whole)
    reader.GetNext()
    assert reader.record() == b"ccc"
    later = PyRecordReader_New(str(path), 35, "", None)
    later.GetNext()
    assert later.record() == b"ccc"
    later.Close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        later.GetNext()
    with pytest.raises(tf.errors.NotFoundError):
        PyRecordReader_New(str(tmp_path / "none"), 0, "", None)


def test_a_status_that_the_program_sets_is_raised():
    with pytest.raises(tf.errors.NotFoundError, match="no such thing"):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.code, status.message = tf.errors.NOT_FOUND, "no such thing"
    with pytest.raises(KeyError):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.code = tf.errors.NOT_FOUND
            raise KeyError("x")


def test_a_cached_writer_writes_its_graph(tmp_path):
    with tf.Graph().as_default():
        tf.constant(1, name="only")
        tf.summary.FileWriterCache.get(str(tmp_path))
    tf.summary.FileWriterCache.clear()
    (path,) = tmp_path.iterdir()
    graphs = [e.graph_def for e in tf.train.summary_iterator(str(path))
              if e.HasField("graph_def")]
    assert [[n.name for n in tf.GraphDef.FromString(g).node]
            for g in graphs] == [["only"]]


def test_events_are_written_without_a_file_writer(tmp_path):
    event = tf.Event(wall_time=123.45, step=67)
    writer = events_writer.EventsWriter(str(tmp_path / "run").encode())
    assert list(tmp_path.iterdir()) == []
    path = writer.FileName().decode()
    assert os.path.basename(path).startswith("run.out.tfevents.")
    writer.WriteEvent(event)
    assert writer.Flush() and writer.Close()
    first, second = tf.train.summary_iterator(path)
    assert first.file_version and second == event
    with pytest.raises(TypeError, match="Expected an event_pb2.Event proto, but "
                                        "got <class 'int'>"):
        writer.WriteEvent(3)
    writer.InitWithSuffix(b".end")
    assert writer.FileName().endswith(b".end")
    writer.Close()


def test_event_file_writers_are_opened_again(tmp_path):
    writer = events_writer.EventFileWriter(tmp_path / "a", filename_suffix=".x")
    assert writer.get_logdir() == str(tmp_path / "a")
    for step in range(3):
        writer.add_event(tf.Event(step=step + 1))
    writer.flush()
    writer.close()
    writer.add_event(tf.Event(step=9))
    writer.reopen()
    writer.add_event(tf.Event(step=4))
    writer.close()
    steps = [[e.step for e in tf.train.summary_iterator(str(path))]
             for path in sorted((tmp_path / "a").iterdir())]
    assert steps == [[0, 1, 2, 3], [0, 4]]
