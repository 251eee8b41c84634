"""Each test builds in a graph of its own and leaves none behind."""
import pytest

import headrace as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    yield
    tf.reset_default_graph()
