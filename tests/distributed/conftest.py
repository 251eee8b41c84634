"""Each test builds in a graph of its own. Tests marked oracle need interpreters
with TensorFlow, which HEADRACE_ORACLE names, separated by colons."""
import os

import pytest

import headrace as tf

ORACLES = [p for p in os.environ.get("HEADRACE_ORACLE", "").split(":") if p]


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "oracle: runs beside TensorFlow, as an interpreter has it "
        "that the variable HEADRACE_ORACLE names")


def pytest_collection_modifyitems(config, items):
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
