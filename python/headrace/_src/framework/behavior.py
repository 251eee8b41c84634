"""The version of the interface, and the switches of TensorFlow 2's behaviour,
which is never on here."""
VERSION = "1.15.5"  # the interface that holds here
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


def executing_eagerly():
    """False: nodes are run by sessions alone."""
    return False


def disable_v2_behavior():
    """Does nothing: this is the behaviour of 1.x. Returns None; it has no
    arguments, changes no shapes or dtypes, and raises nothing."""


disable_eager_execution = disable_v2_tensorshape = disable_v2_behavior
disable_control_flow_v2 = disable_tensor_equality = disable_v2_behavior


def control_flow_v2_enabled():
    """False: cond and while_loop make the nodes of 1.x."""
    return False


def enable_eager_execution(config=None, device_policy=None,
                           execution_mode=None):
    """NotImplementedError: nodes are run by sessions alone."""
    raise NotImplementedError("eager execution is not supported")
