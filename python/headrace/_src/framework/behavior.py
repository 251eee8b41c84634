"""The version of the interface, and the switches of TensorFlow 2's behaviour,
which is never on here."""
from headrace import _headrace

VERSION = "1.15.5"  # the interface that holds here
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


def executing_eagerly():
    """Whether ops that this thread calls are executed at once, after
    tf.enable_eager_execution(): False inside of tf.Graph().as_default() and of
    a function that is being traced. It has no arguments and raises nothing;
    shapes and dtypes do not matter."""
    return _headrace.executing_eagerly()


def disable_v2_behavior():
    """Does nothing: this is the behaviour of 1.x. Returns None; it has no
    arguments, changes no shapes or dtypes, and raises nothing."""


disable_v2_tensorshape = disable_v2_behavior
disable_control_flow_v2 = disable_tensor_equality = disable_v2_behavior


def control_flow_v2_enabled():
    """False: cond and while_loop make the nodes of 1.x."""
    return False
