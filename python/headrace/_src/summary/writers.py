"""tf.contrib.summary: nodes that write to event files themselves, and the writers
that they write to. tf.compat.v2.summary (compat/second_summaries.py) has the same writers."""
import contextlib
import getpass
import os
import re
import threading
import time

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import (
    smart_cond, smart_constant_value)
from headrace._src.framework import default_session, dtypes
from headrace._src.framework.graph import (
    add_to_collection, control_dependencies, device, get_collection,
    get_default_graph, init_scope, name_scope)
from headrace._src.framework.tensor import Tensor, convert_to_tensor
from headrace._src.ops.array_ops import (
    constant, identity, no_op, placeholder)
from headrace._src.ops.math_ops import equal
from headrace._src.training import summary as _summary
from headrace._src.training.global_step import get_or_create_global_step

_WRITTEN = "_SUMMARY_V2"
_INITIALIZERS = "_SUMMARY_WRITER_V2"
_CPU = "cpu:0"


class _State(threading.local):
    """What a thread's summaries go to, whether, and the step of those of 2.x."""

    writer = None
    recording = None  # None: what is usual there
    step = None


state = _State()


class SummaryWriter:
    """What summaries go to: the base of the writers that create_file_writer and
    others return."""

    def set_as_default(self):
        """Summaries of this thread go to the writer from now on."""
        raise NotImplementedError()

    def as_default(self):
        """A scope in which summaries go to the writer."""
        raise NotImplementedError()

    def init(self):
        """An operation that opens the writer's file."""
        raise NotImplementedError()

    def flush(self):
        """An operation that writes to the file what is waiting."""
        raise NotImplementedError()

    def close(self):
        """An operation that writes what is waiting and closes the file."""
        raise NotImplementedError()


class ResourceSummaryWriter(SummaryWriter):
    """A writer that is a resource of the session. `init_op_fn` makes, of its
    handle, the operation that opens it."""

    def __init__(self, shared_name, init_op_fn, name=None, v2=False):
        self._resource = _raw.SummaryWriter(shared_name=shared_name or "",
                                            name=name)
        self._init_op = init_op_fn(self._resource)
        add_to_collection(_INITIALIZERS, self._init_op)

    def set_as_default(self):
        state.writer = self

    @contextlib.contextmanager
    def as_default(self):
        """A scope in which summaries of this thread go to the writer."""
        outer = state.writer
        state.writer = self
        try:
            yield self
            self.flush()
        finally:
            state.writer = outer

    def init(self):
        return self._init_op

    def flush(self):
        return flush(self)

    def close(self):
        with control_dependencies([self.flush()]), device(_CPU):
            return _raw.CloseSummaryWriter(self._resource)


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing; its operations are None."""

    def set_as_default(self):
        pass

    @contextlib.contextmanager
    def as_default(self):
        """A scope that changes nothing."""
        yield

    def init(self):
        pass

    def flush(self):
        pass

    def close(self):
        pass


def create_file_writer(logdir, max_queue=None, flush_millis=None,
                       filename_suffix=None, name=None):
    """A writer of an event file in the folder `logdir`; None writes nothing.

    The file gets what waits when `max_queue` summaries do (10), after
    `flush_millis` milliseconds (two minutes), and by flush. `filename_suffix`:
    how its name ends, ".v2". Writers of one `name`, by default one of the
    folder, are the same. The writer's init, or initialize, opens it."""
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device(_CPU):
        queue, millis, suffix = _options(max_queue, flush_millis,
                                         filename_suffix)
        return ResourceSummaryWriter(
            "logdir:" + logdir if name is None else name,
            lambda resource: _raw.CreateSummaryFileWriter(
                resource, logdir, queue, millis, suffix))


def _options(max_queue, flush_millis, filename_suffix):
    return (constant(10) if max_queue is None else max_queue,
            constant(2 * 60 * 1000) if flush_millis is None else flush_millis,
            constant(".v2") if filename_suffix is None else filename_suffix)


_writers = 0  # of 2.x, of this process


def create_file_writer_v2(logdir, max_queue=None, flush_millis=None,
                          filename_suffix=None, name=None):
    """A writer of an event file of its own in the folder `logdir`.

    See tf.contrib.summary.create_file_writer; `name`: of its nodes. ValueError
    if `logdir` is None."""
    global _writers
    if logdir is None:
        raise ValueError("logdir cannot be None")
    with name_scope(name, "create_file_writer") as scope, device(_CPU):
        with init_scope():
            logdir = convert_to_tensor(logdir, dtypes.string)
            queue, millis, suffix = _options(max_queue, flush_millis,
                                             filename_suffix)
            _writers += 1
            suffix = constant(".%d.%d" % (os.getpid(), _writers)) + suffix
            return ResourceSummaryWriter(
                scope.rstrip("/"),
                lambda resource: _raw.CreateSummaryFileWriter(
                    resource, logdir, queue, millis, suffix), name=name)


def create_noop_writer():
    """A writer that writes nothing."""
    return NoopSummaryWriter()


def create_summary_file_writer(*args, **kwargs):
    """create_file_writer."""
    return create_file_writer(*args, **kwargs)


_NAMES_IN_DB = r"^[^\x00-\x1F<>]{0,%d}$"


def create_db_writer(db_uri, experiment_name=None, run_name=None, user_name=None,
                     name=None):
    """A writer of an SQLite database, where the session's device has one.

    The names are today's date, the time and the user by default. ValueError for
    names that TensorBoard would not take. A run says if there is no kernel."""
    now = time.localtime()
    with device(_CPU):
        names = [_name_in_db(*item) for item in (
            ("experiment_name", experiment_name, time.strftime("%Y-%m-%d", now),
             _NAMES_IN_DB % 256),
            ("run_name", run_name, time.strftime("%H:%M:%S", now),
             _NAMES_IN_DB % 512),
            ("user_name", user_name, None,
             r"(?i)^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$"))]
        return ResourceSummaryWriter(
            name, lambda resource: _raw.CreateSummaryDbWriter(
                resource, db_uri, *names))


def _name_in_db(what, given, usual, pattern):
    value = given
    if value is None:
        value = getpass.getuser() if usual is None else usual
    if isinstance(value, str) and not re.search(pattern, value):
        raise ValueError("%s (%s) must match %s" % (what, value, pattern))
    return convert_to_tensor(value, dtypes.string)


def initialize(graph=None, session=None):
    """Opens the writers of this graph in a session, by default the default one,
    and writes `graph`, a Graph or a GraphDef, if it is given.

    RuntimeError without a default writer, ValueError without a session."""
    if state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = default_session.get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session "
                             "exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        described = graph
        if hasattr(graph, "as_graph_def"):
            described = graph.as_graph_def(add_shapes=True)
        text = placeholder(dtypes.string)
        session.run(_graph(text, 0), {text: described.SerializeToString()})


def summary_writer_initializer_op():
    """The operations that open the writers of the graph, a list."""
    return get_collection(_INITIALIZERS)


def all_summary_ops():
    """The nodes of the graph that write summaries, a list."""
    return get_collection(_WRITTEN)


# Whether summaries are written.

def _said(usual):
    """A bool or a bool scalar; `usual`: where nothing was said."""
    said = state.recording
    if callable(said):
        said = said()
    return usual if said is None else said


def should_record_summaries():
    """Whether summaries are written here, a bool scalar."""
    return _raw.LogicalAnd(True, _said(False))


@contextlib.contextmanager
def record_if(condition):
    """A scope in which summaries are written if `condition` holds: a bool, a bool
    scalar, or a function that gives either."""
    outer = state.recording
    state.recording = condition
    try:
        yield
    finally:
        state.recording = outer


def always_record_summaries():
    """A scope in which summaries are written."""
    return record_if(True)


def never_record_summaries():
    """A scope in which no summaries are written."""
    return record_if(False)


def record_summaries_every_n_global_steps(n, global_step=None):
    """A scope in which summaries are written if the global step is a multiple of
    `n`. `global_step`: another variable or tensor, of an integer type."""
    if global_step is None:
        global_step = get_or_create_global_step()
    with device(_CPU):
        is_due = equal(global_step % n, 0)
    return record_if(is_due)


# The summaries.

def _false():
    return constant(False)


def written(function, usual, name):
    """A bool scalar, whether the summary that `function` adds was written. It
    joins all_summary_ops(). `usual`: if summaries are, where nothing was said."""
    with device(_CPU):
        said = _said(usual)
        both = _raw.LogicalAnd(True, said)
        known = smart_constant_value(said)
        result = smart_cond(both if known is None else known, function, _false,
                            name=name)
        add_to_collection(_WRITTEN, result)
    return result


def _step(step):
    if step is None:
        return get_or_create_global_step()
    if isinstance(step, Tensor):
        return step
    return convert_to_tensor(step, dtypes.int64)


def _write(name, tensor, family, add):
    """`add(writer, tag, scope)` adds the node. An operation that does nothing
    without a writer."""
    if state.writer is None:
        return no_op()
    outer = get_default_graph().get_name_scope()

    def record():
        with name_scope(outer + "/" if outer else ""), _summary._scope(
                name, family, values=[tensor]) as (tag, scope):
            with control_dependencies(
                    [add(state.writer._resource, tag, scope)]):
                return constant(True)

    return written(record, False, "")


def summary_writer_function(name, tensor, function, family=None):
    """Writes a summary of one's own: `function(tag, scope)` adds its node.
    Returns a bool scalar, whether it was written."""
    return _write(name, tensor, family,
                  lambda writer, tag, scope: function(tag, scope))


def generic(name, tensor, metadata=None, family=None, step=None):
    """Writes a tensor of any type. `metadata`: a SummaryMetadata, or its bytes;
    `step`: the global step by default. Returns a bool scalar, whether it was
    written."""
    def add(writer, tag, scope):
        described = constant("") if metadata is None else metadata
        if hasattr(metadata, "SerializeToString"):
            described = constant(metadata.SerializeToString())
        return _raw.WriteSummary(writer, _step(step), identity(tensor), tag,
                                 described, name=scope)
    return _write(name, tensor, family, add)


def scalar(name, tensor, family=None, step=None):
    """Writes one real number. `family` groups tags; `step`: the global step by
    default. Returns a bool scalar, whether it was written."""
    return _write(name, tensor, family, lambda writer, tag, scope: (
        _raw.WriteScalarSummary(writer, _step(step), tag, identity(tensor),
                                name=scope)))


def histogram(name, tensor, family=None, step=None):
    """Writes how many values of a tensor lie where. See scalar."""
    return _write(name, tensor, family, lambda writer, tag, scope: (
        _raw.WriteHistogramSummary(writer, _step(step), tag, identity(tensor),
                                   name=scope)))


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    """Writes the first `max_images` of [batch, height, width, channels]. See
    scalar. `bad_color`: uint8, of pixels that are no numbers; red."""
    def add(writer, tag, scope):
        color = bad_color
        if color is None:
            color = constant([255, 0, 0, 255], dtype=dtypes.uint8)
        return _raw.WriteImageSummary(
            writer, _step(step), tag, identity(tensor), color,
            max_images=max_images, name=scope)
    return _write(name, tensor, family, add)


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    """Writes the first `max_outputs` of [batch, frames] or [batch, frames,
    channels] samples in [-1, 1]. See scalar."""
    return _write(name, tensor, family, lambda writer, tag, scope: (
        _raw.WriteAudioSummary(
            writer, _step(step), tag, identity(tensor),
            sample_rate=sample_rate, max_outputs=max_outputs, name=scope)))


def graph(param, step=None, name=None):
    """An operation that writes the graph whose serialized GraphDef is the string
    tensor `param`, whether or not summaries are recorded. TypeError if it is no
    tensor."""
    if not isinstance(param, Tensor):
        raise TypeError("graph() needs a tf.Tensor (e.g. tf.placeholder) in "
                        "graph mode, but was: %s" % type(param))
    if state.writer is None:
        return no_op()
    with device(_CPU):
        return _raw.WriteGraphSummary(state.writer._resource, _step(step),
                                      identity(param), name=name)


_graph = graph  # for a function whose argument has that name


def import_event(tensor, name=None):
    """An operation that writes the serialized Event `tensor`, a string scalar,
    to the default writer. RuntimeError without one."""
    if state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    return _raw.ImportEvent(state.writer._resource, tensor, name=name)


def flush(writer=None, name=None):
    """An operation that writes to the file what waits in `writer`, by default the
    default writer."""
    if writer is None:
        writer = state.writer
        if writer is None:
            return no_op()
    resource = getattr(writer, "_resource", writer)
    with device(_CPU):
        return _raw.FlushSummaryWriter(resource, name=name)


def eval_dir(model_dir, name=None):
    """The folder for the event files of an evaluation: below `model_dir`."""
    return os.path.join(model_dir, "eval_" + name if name else "eval")
