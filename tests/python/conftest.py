"""Each test builds in a graph of its own and leaves none behind."""
import signal

import pytest

import headrace as tf

# Tests interrupt runs. A shell that starts a job in the background lets it ignore
# SIGINT, and so would the tests and the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_graph():
    yield
    tf.reset_default_graph()
