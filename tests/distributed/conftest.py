"""Each test builds in a graph of its own. Tests marked oracle need interpreters
with TensorFlow, which HEADRACE_ORACLE names, separated by colons."""
import pathlib

import pytest

import headrace as tf

from cluster import ORACLES

HERE = pathlib.Path(__file__).parent


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "oracle: runs beside TensorFlow, as an interpreter has it "
        "that the variable HEADRACE_ORACLE names")


def _cannot_serve():
    """Why there are no servers here; None if there are."""
    try:
        tf.train.Server.create_local_server(start=False)
    except tf.errors.UnimplementedError as e:
        return e.message


def pytest_collection_modifyitems(config, items):
    why = _cannot_serve()
    if why is not None:
        for item in items:
            if pathlib.Path(item.fspath).parent == HERE:
                item.add_marker(pytest.mark.skip(reason=why))
    if ORACLES:
        return
    left_out = [i for i in items if i.get_closest_marker("oracle")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [i for i in items if i not in left_out]


@pytest.fixture(autouse=True)
def fresh_graph():
    yield
    tf.reset_default_graph()
