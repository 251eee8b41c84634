"""Tests marked oracle run beside TensorFlow, and only where it is named."""
import os

ORACLE = "HEADRACE_ORACLE"


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "oracle: runs beside TensorFlow, as an interpreter has it "
        "that the variable %s names" % ORACLE)


def pytest_collection_modifyitems(config, items):
    if os.environ.get(ORACLE):
        return
    left_out = [i for i in items if i.get_closest_marker("oracle")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [i for i in items if i not in left_out]
