"""The version of the interface, and the switches of TensorFlow 2's behaviour,
which is never on here."""
from headrace import _headrace
from headrace._loading import load

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


is_second = [False]  # after enable_v2_behavior()
_compares_values = [False]  # after enable_tensor_equality()


def enable_v2_behavior():
    """Executes ops eagerly, makes `Variable` and get_variable make resource
    variables, and gives shapes whose sizes are ints and tensors that `==`
    compares by their values.

    Returns None; it has no arguments. ValueError after the default graph has got
    operations."""
    load("_src.eager.context").enable_eager_execution()
    load("_src.variables.variables").enable_resource_variables()
    enable_v2_tensorshape()
    enable_tensor_equality()
    is_second[0] = True


def disable_v2_behavior():
    """Takes back what enable_v2_behavior does. Returns None; it has no
    arguments, changes no shapes or dtypes, and raises nothing."""
    if is_second[0]:
        load("_src.eager.context").disable_eager_execution()
        load("_src.variables.variables").disable_resource_variables()
        is_second[0] = False
    disable_v2_tensorshape()
    disable_tensor_equality()


def enable_v2_tensorshape():
    """Makes TensorShape give sizes as ints, None for those that are not known,
    in place of Dimension objects. Returns None and raises nothing."""
    load("_src.framework.tensor_shape").gives_ints[0] = True


def disable_v2_tensorshape():
    """Takes back what enable_v2_tensorshape does. Returns None and raises
    nothing."""
    load("_src.framework.tensor_shape").gives_ints[0] = False


def enable_tensor_equality():
    """Makes `==` of tensors and variables compare their values, element by
    element; they have no hash then. Returns None and raises nothing."""
    _compares_values[0] = True
    load("_src.eager.equality").enable()


def disable_tensor_equality():
    """Makes `==` of tensors tell whether they are the same object. Returns None
    and raises nothing."""
    if _compares_values[0]:
        _compares_values[0] = False
        load("_src.eager.equality").disable()


def disable_control_flow_v2():
    """Does nothing: cond and while_loop make the nodes of 1.x. Returns None and
    raises nothing."""


def control_flow_v2_enabled():
    """False: cond and while_loop make the nodes of 1.x."""
    return False
