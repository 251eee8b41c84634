"""tensorflow.contrib.testing: a writer of summaries that keeps what it is given,
and what tests look for in event files."""
import glob
import os

import numpy as np

from headrace._src.compat.test_util import assert_meta_graph_protos_equal
from headrace._src.framework.messages import Summary
from headrace._src.summary import event_files as _files


class FakeSummaryWriter:
    """Stands for FileWriter between install() and uninstall()."""

    _replaced_summary_writer = None

    @classmethod
    def install(cls):
        """Puts the class in the place of FileWriter. ValueError if it is
        there."""
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = _files.FileWriter
        setattr(_files, "FileWriter", FakeSummaryWriter)

    @classmethod
    def uninstall(cls):
        """Puts FileWriter back. ValueError if it was not replaced."""
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        setattr(_files, "FileWriter", cls._replaced_summary_writer)
        cls._replaced_summary_writer = None

    def __init__(self, logdir, graph=None):
        self._logdir = logdir
        self._graph = graph
        self._summaries = {}  # by their steps, a list each
        self._added_graphs = []
        self._added_meta_graphs = []
        self._added_session_logs = []
        self._added_run_metadata = {}

    summaries = property(lambda self: self._summaries)

    def assert_summaries(self, test_case, expected_logdir=None,
                         expected_graph=None, expected_summaries=None,
                         expected_added_graphs=None,
                         expected_added_meta_graphs=None,
                         expected_session_logs=None):
        """Fails test_case unless the writer got what is expected. Summaries are
        {step: {tag: value}}; other steps may be there too, and how many steps
        run in a second counts not."""
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(step in self._summaries, msg=(
                "Missing step %s from %s." % (step, self._summaries.keys())))
            test_case.assertEqual(expected, {
                v.tag: v.simple_value for summary in self._summaries[step]
                for v in summary.value if v.tag != "global_step/sec"})
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(len(expected_added_meta_graphs),
                                  len(self._added_meta_graphs))
            for a, b in zip(expected_added_meta_graphs,
                            self._added_meta_graphs):
                assert_meta_graph_protos_equal(test_case, a, b)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs,
                                  self._added_session_logs)

    def add_summary(self, summ, current_global_step):
        """Keeps a Summary, or its bytes, for a step."""
        if isinstance(summ, bytes):
            summ = Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    @staticmethod
    def _check_step(global_step):
        if global_step is not None and global_step < 0:
            raise ValueError("Invalid global_step %s." % global_step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Keeps a graph. ValueError for a GraphDef."""
        self._check_step(global_step)
        if graph_def is not None:
            raise ValueError("Unexpected graph_def %s." % graph_def)
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Keeps a MetaGraphDef."""
        self._check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        """Keeps a SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Keeps a RunMetadata by its tag."""
        self._check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self):
        """Does nothing, as reopen and close."""

    reopen = close = flush


def assert_summary(expected_tags, expected_simple_values, summary_proto):
    """ValueError unless a Summary has these tags and no others; AssertionError
    unless the given values agree to two decimals."""
    tags = {value.tag for value in summary_proto.value}
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value, expected_simple_values[value.tag],
                decimal=2, err_msg=value.tag)
    if set(expected_tags) != tags:
        raise ValueError("Expected tags %s, got %s."
                         % (set(expected_tags), tags))


def to_summary_proto(summary_str):
    """The Summary of these bytes."""
    return Summary.FromString(summary_str)


def latest_event_file(base_dir):
    """The path of the last event file in a folder, or None."""
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


def latest_events(base_dir):
    """The events of the last event file in a folder; none without a file."""
    path = latest_event_file(base_dir)
    return _files.summary_iterator(path) if path else []


def latest_summaries(base_dir):
    """Of these events, those with summaries."""
    return [e for e in latest_events(base_dir) if e.HasField("summary")]


def simple_values_from_events(events, tags):
    """{tag: its value in the last step}. ValueError for one of the tags that
    has no simple value."""
    found = {}  # tag: (step, value)
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError("Summary for %s is not a simple_value."
                                 % value.tag)
            if value.tag not in found or event.step > found[value.tag][0]:
                found[value.tag] = event.step, value.simple_value
    return {tag: value for tag, (_, value) in found.items()}
