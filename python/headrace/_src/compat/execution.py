"""Parts of tensorflow.python.eager.context and framework.ops that tell whether
ops are executed eagerly."""
from headrace import _headrace
from headrace._src.eager import context as _context
from headrace._src.framework import behavior
from headrace._src.testing import test_case

# Names of tensorflow.python.framework.ops.
EagerTensor = _headrace.EagerTensor
executing_eagerly_outside_functions = (
    _context.executing_eagerly_outside_functions)


class NullContextmanager:
    """A context that changes nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


def GraphOrParentsInXlaContext(graph):
    """False: there is no XLA."""
    return False


def enabled():
    """Whether tf.enable_v2_behavior() was called."""
    return behavior.is_second[0]


def main(argv=None):
    """Runs the tests of the program, executed eagerly."""
    _context.enable_eager_execution()
    test_case.main(argv)
