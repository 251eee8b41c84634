"""Event files, which TensorBoard reads: FileWriter writes them."""
import os
import socket
import threading
import time

from headrace import _headrace
from headrace._loading import load
from headrace._src.framework import messages
from headrace._src.framework.errors import UnimplementedError
from headrace._src.framework.graph import Graph, get_default_graph
from headrace._src.io.readers import tf_record_iterator
from headrace._src.platform import tf_logging as logging

_numbers_lock = threading.Lock()
_last_seconds: dict = {}  # by folder: two files never have one name


def _file_name(logdir, suffix, prefix):
    """A new file: PREFIX.out.tfevents.SECONDS.HOST, which TensorBoard orders by
    name."""
    with _numbers_lock:
        seconds = int(time.time())
        while True:
            path = os.path.join(logdir, "%s.out.tfevents.%010d.%s%s" % (
                prefix, seconds, socket.gethostname(), suffix))
            if seconds > _last_seconds.get(path.rpartition("/")[0], 0) and (
                    not os.path.exists(path)):
                _last_seconds[path.rpartition("/")[0]] = seconds
                return path
            seconds += 1


class EventFile:
    """One file. It is opened with its first event; any thread may add."""

    def __init__(self, logdir, max_queue, flush_secs, suffix,
                 prefix="events"):
        os.makedirs(logdir, exist_ok=True)
        self._logdir = logdir
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._suffix, self._prefix = suffix, prefix
        self._lock = threading.Lock()
        self._records = None
        self._pending = 0
        self._pid = None
        self._open()

    def _open(self):
        self._pid = os.getpid()
        self.path = _file_name(self._logdir, self._suffix, self._prefix)
        self._records = _headrace.RecordWriter(self.path, "", -1)
        self._last_flush = time.monotonic()
        self._records.write(messages.Event(
            wall_time=time.time(),
            file_version="brain.Event:2").SerializeToString())
        self._records.flush()

    def add(self, event):
        with self._lock:
            if self._records is None or self._pid != os.getpid():
                self._open()
            self._records.write(event)
            self._pending += 1
            if (self._pending >= max(self._max_queue, 1)
                    or time.monotonic() - self._last_flush
                    >= self._flush_secs):
                self._flush()

    def _flush(self):
        self._records.flush()
        self._pending = 0
        self._last_flush = time.monotonic()

    def flush(self):
        with self._lock:
            if self._records is not None:
                self._flush()

    def close(self):
        with self._lock:
            if self._records is not None:
                records, self._records = self._records, None
                self._pending = 0
                records.close()


class FileWriter:
    """Writes summaries and graphs to an event file in `logdir`, which is made.

        writer = tf.summary.FileWriter("/tmp/run", sess.graph)
        writer.add_summary(sess.run(merged), step)

    `graph`: written first, with its meta graph. Events reach the file after
    `max_queue` of them, after `flush_secs` seconds, at flush() and at close().
    `filename_suffix` ends the file's name. A closed writer writes nothing until
    reopen(), and then to a new file. Any thread may use it.

    add_summary() takes a Summary or its bytes, as a scalar string is fetched,
    of any shapes and dtypes inside. TypeError for a `graph` that is no Graph,
    ValueError for both a graph and a graph_def; what the folder does not allow
    is an OpError such as PermissionDeniedError."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120,
                 graph_def=None, filename_suffix=None, session=None):
        if session is not None:
            raise UnimplementedError(
                None, None, "FileWriter: session is not supported: summaries "
                "that nodes of the graph write; use session=None and "
                "add_summary")
        self._logdir = os.fspath(logdir)
        if isinstance(self._logdir, bytes):
            self._logdir = self._logdir.decode()
        self._file = EventFile(self._logdir, max_queue, flush_secs,
                                filename_suffix or "")
        self._tags = set()      # of run metadata
        self._described = set()  # tags whose metadata is written
        self._closed = False
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            if isinstance(graph, Graph):
                create = load("_src.training.meta_graph").create_meta_graph_def
                self.add_meta_graph(create(
                    graph=graph, graph_def=graph_def
                    or graph.as_graph_def(add_shapes=True)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def get_logdir(self):
        return self._logdir

    def _add(self, global_step=None, **content):
        event = messages.Event(wall_time=time.time(), **content)
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def add_event(self, event):
        """Writes an Event message."""
        if not self._warned():
            self._file.add(event.SerializeToString())

    def _warned(self):
        """True, with a warning, if the writer is closed."""
        if self._closed:
            logging.warning("Attempting to use a closed FileWriter. The "
                            "operation will be a noop unless the FileWriter is "
                            "explicitly reopened.")
        return self._closed

    def add_summary(self, summary, global_step=None):
        """Writes a Summary, or its bytes as a run gives them. What says how a
        tag is shown is written with its first value only."""
        if isinstance(summary, (bytes, bytearray)):
            summary = messages.Summary.FromString(bytes(summary))
        else:
            summary = messages.Summary.FromString(summary.SerializeToString())
        for value in summary.value:
            if value.HasField("metadata"):
                if value.tag in self._described:
                    value.ClearField("metadata")
                else:
                    self._described.add(value.tag)
        self._add(global_step, summary=summary)

    def add_session_log(self, session_log, global_step=None):
        """Writes a SessionLog: that a session began, was saved or ended."""
        self._add(global_step, session_log=session_log)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Writes a Graph, or a GraphDef in its place."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), "
                             "but not both.")
        if isinstance(graph, Graph):
            graph_def = graph.as_graph_def(add_shapes=True)
        elif graph is not None:
            if not isinstance(graph, messages.GraphDef):
                raise TypeError("The passed graph must be an instance of `Graph` "
                                "or the deprecated `GraphDef`, not %r"
                                % (graph,))
            logging.warning("Passing a `GraphDef` to the SummaryWriter is "
                            "deprecated. Pass a `Graph` object instead, such as "
                            "`sess.graph`.")
            graph_def = graph
        elif graph_def is None:
            raise ValueError("A graph must be specified for the call to "
                             "`add_graph`.")
        self._add(global_step, graph_def=graph_def.SerializeToString())

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Writes a MetaGraphDef."""
        if not isinstance(meta_graph_def, messages.MetaGraphDef):
            raise TypeError("meta_graph_def must be type MetaGraphDef, saw type: "
                            "%s" % type(meta_graph_def))
        self._add(global_step,
                  meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Writes the RunMetadata of a run. ValueError for a tag that was used
        before."""
        if tag in self._tags:
            raise ValueError("The provided tag was already used for this event "
                             "type")
        self._tags.add(tag)
        self._add(global_step, tagged_run_metadata=messages.TaggedRunMetadata(
            tag=tag, run_metadata=run_metadata.SerializeToString()))

    def flush(self):
        """Hands all events to the system."""
        if not self._warned():
            self._file.flush()

    def close(self):
        """Writes what is left and closes the file."""
        self._closed = True
        self._file.close()

    def reopen(self):
        """Makes a closed writer write again, to a new file."""
        self._closed = False


class FileWriterCache:
    """One FileWriter for each folder."""
    _cache: dict = {}
    _lock = threading.Lock()

    @staticmethod
    def get(logdir):
        """The FileWriter of a folder. A new one writes the default graph."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(
                    logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear():
        """Closes all of them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}


def summary_iterator(path):
    """Yields the Events of a file. DataLossError where it is damaged."""
    for record in tf_record_iterator(path):
        yield messages.Event.FromString(record)
