"""tensorflow.python.eager.context: graphs are all there is."""
import contextlib

# How a thread runs ops; only graphs are run here.
GRAPH_MODE, EAGER_MODE = 0, 1


class EagerTensor:
    """Of no value: what runs at once in TensorFlow 2."""


class NullContextmanager:
    """A context that changes nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


class _Context:
    def executing_eagerly(self):
        return False

    in_eager_mode = executing_eagerly

    def in_graph_mode(self):
        return True

    def num_gpus(self):
        return 0


_context = _Context()


def context():
    """An object that tells that graphs are built."""
    return _context


def executing_eagerly_outside_functions():
    return False


def GraphOrParentsInXlaContext(graph):
    """False: there is no XLA."""
    return False


def in_eager_mode():
    return False


def in_graph_mode():
    return True


def num_gpus():
    return 0


@contextlib.contextmanager
def graph_mode():
    """Changes nothing: the default graph stays the same."""
    yield


def eager_mode():
    raise NotImplementedError("eager execution is not supported")


def executing_eagerly():
    return False
