"""Numbers that belong to operations: what RegisterStatistics keeps, and how many
floating point operations ("flops") an operation of a known type does."""
import math

from headrace._src.framework.graph_rewrites import (
    tensor_shape_from_node_def_name)


class OpStats:
    """A number of a statistic; `+=` adds them up. None is not known."""

    def __init__(self, statistic_type, value=None):
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other):
        if other.statistic_type != self.statistic_type:
            raise ValueError("Can't add an OpStat of type %s to one of %s." % (
                self.statistic_type, other.statistic_type))
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


_functions: dict = {}


class RegisterStatistics:
    """A decorator of functions (graph, NodeDef) -> OpStats of an op."""

    def __init__(self, op_type, statistic_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f):
        if self._key in _functions:
            raise KeyError("Registering two statistics with name '%s,%s'!"
                           % self._key)
        _functions[self._key] = f
        return f


def get_stats_for_node_def(graph, node, statistic_type):
    """The OpStats of a NodeDef: what RegisterStatistics has for its op, or None
    as value. ValueError where a shape that it needs is not known."""
    function = _functions.get((node.op, statistic_type))
    return (OpStats(statistic_type) if function is None
            else function(graph, node))


class _Shapes:
    """The shapes of a node's inputs and of its first output. ValueError for one
    that is not fully defined."""

    def __init__(self, graph, node):
        self._graph, self.node = graph, node

    def _known(self, name):
        shape = tensor_shape_from_node_def_name(self._graph, name)
        shape.assert_is_fully_defined()
        return shape.as_list()

    def input(self, i):
        return self._known(self.node.input[i])

    @property
    def output(self):
        return self._known(self.node.name)

    def ints(self, attr):
        return list(self.node.attr[attr].list.i)

    def check_layout(self):
        if self.node.attr["data_format"].s != b"NHWC":
            raise ValueError(
                "Only NHWC format is supported in flops computations")


def _per_input_element(factor):
    return lambda x: math.prod(x.input(0)) * factor


def _per_output_element(factor):
    return lambda x: math.prod(x.output) * factor


def _reduction(last):
    """One for each input element, `last` - 1 for each result."""
    return lambda x: math.prod(x.input(0)) + math.prod(x.output) * (last - 1)


def _product(k):
    """Of matrices; `k`: the axis of the first that is summed over, without and
    with transpose_a."""
    def flops(x):
        axis = k[1] if x.node.attr["transpose_a"].b else k[0]
        return x.input(0)[axis] * math.prod(x.output) * 2
    return flops


def _convolution(axes):
    """`axes`: how many of the filter's count for each output element."""
    def flops(x):
        x.input(0)
        return math.prod(x.output) * math.prod(x.input(1)[:axes]) * 2
    return flops


def _pool(x):
    x.check_layout()
    return math.prod(x.ints("ksize")) * math.prod(x.output)


def _average_pool_gradient(x):
    x.check_layout()
    return math.prod(x.ints("ksize")) * math.prod(x.input(1)) * 2


def _max_pool_gradient(x):
    x.check_layout()
    return (math.prod(x.ints("ksize")) + 1) * math.prod(x.input(1))


def _convolution_gradient(image, kernel):
    """`image` and `kernel` give the shapes of the picture and the filter."""
    def flops(x):
        x.check_layout()
        picture, strides = image(x), x.ints("strides")
        return (2 * math.prod(picture) * math.prod(kernel(x))
                / (picture[-1] * strides[1] * strides[2]))
    return flops


_FLOPS = {
    "AddN": lambda x: (math.prod(x.input(0)) * (len(x.node.input) - 1)
                       if x.node.input else 0),
    "AvgPool": _pool,
    "AvgPoolGrad": _average_pool_gradient,
    "BatchMatMul": _product((-1, -2)),
    "BiasAdd": _per_input_element(1),
    "BiasAddGrad": _reduction(0),
    "Conv2D": _convolution(3),
    "Conv2DBackpropFilter": _convolution_gradient(
        lambda x: x.input(0), lambda x: x.output),
    "Conv2DBackpropInput": _convolution_gradient(
        lambda x: x.output, lambda x: x.input(1)),
    "Conv3D": _convolution(4),
    "DepthwiseConv2dNative": _convolution(2),
    "Dilation2D": _convolution(2),
    "L2Loss": lambda x: math.prod(x.input(0)) * 3 - 1,
    "MatMul": _product((1, 0)),
    "MaxPool": _pool,
    "MaxPoolGrad": _max_pool_gradient,
    "Mean": _reduction(1),
    "Rsqrt": _per_input_element(2),
    "RsqrtGrad": _per_output_element(4),
    "Softmax": _per_input_element(5),
    "SquaredDifference": _per_output_element(2),
    **dict.fromkeys(("ArgMax", "ArgMin", "Sum"), _reduction(0)),
    **dict.fromkeys(("AssignAdd", "AssignSub", "Log", "Neg", "Reciprocal",
                     "Square"), _per_input_element(1)),
    **dict.fromkeys(("Add", "Equal", "Greater", "GreaterEqual", "Less",
                     "LessEqual", "Maximum", "Minimum", "Mul", "NotEqual",
                     "Pow", "RealDiv", "Sub"), _per_output_element(1)),
}


def _registered(flops):
    return lambda graph, node: OpStats("flops", flops(_Shapes(graph, node)))


for _op, _count in _FLOPS.items():
    RegisterStatistics(_op, "flops")(_registered(_count))
