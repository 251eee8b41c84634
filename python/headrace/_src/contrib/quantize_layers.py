"""Where a network for quantized training has FakeQuant nodes: after the weights
and the outputs of layers, and after what adds or multiplies these."""
import collections
import re

from headrace import raw_ops as _raw
from headrace._src.contrib.fold_batch_norms import quantization_step
from headrace._src.contrib.graph_patterns import (
    Consumers, Node, OneOf, matches, reroute)
from headrace._src.control.control_flow import cond
from headrace._src.framework.graph import GraphKeys, get_default_graph
from headrace._src.ops import math_ops as _math
from headrace._src.training.moving_averages import assign_moving_average
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.initializers import Constant
from headrace._src.variables.records import VariableAggregation

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADD = "Add|AddV2"
_RELUS = ("Relu", "Relu6")
_ACTIVATIONS = _RELUS + ("Identity",)
_SUMS = ("Add", "AddV2", "Mul")
_PASSES_ON = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND",
              "MaxPool", "Max")
_FAKE_QUANTS = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs",
                "FakeQuantWithMinMaxVarsPerChannel")

# A layer, and the ops after it that have numbers of their own.
_Layer = collections.namedtuple(
    "_Layer", "op weights activation bypass later_bypass bias")

Options = collections.namedtuple("Options", """
    is_training weight_bits activation_bits symmetric quant_delay scope""")


def quantize(graph, options):
    """Adds the FakeQuant nodes of a graph."""
    scope = options.scope
    if scope and not scope.endswith("/"):
        options = options._replace(scope=scope + "/")
    consumers, done = Consumers(graph), set()
    for layer in _layers(graph):
        _quantize_layer(layer, consumers, done, options)
    consumers = Consumers(graph)
    for op in graph.get_operations():
        if _needs_quant(op, done):
            _insert(op.name, "activation_%s_quant" % op.type, op,
                    consumers.of(op), options._replace(symmetric=False),
                    producer_in=True)


def _above(name):
    """The scope of a name."""
    found = re.search("^(.*)/([^/]+)", name)
    return found.group(1) if found else ""


def _quantize_layer(layer, consumers, done, options):
    context = outer = _above(layer.op.name)
    if layer.weights is not None:
        op = layer.weights.op
        _insert(context, "weights_quant", op, consumers.of(op), options,
                is_weight=True, consumers_in=True)
    if layer.activation is not None:
        if layer.bypass is not None:
            outer = _above(context)
        _insert(outer, "act_quant", layer.activation,
                consumers.of(layer.activation), options, lowest=0.,
                producer_in=True)
        done.add(layer.activation.name)
    if layer.bypass is not None:
        _insert(context, "conv_quant", layer.bias, consumers.of(layer.bias),
                options, producer_in=True, consumers_in=True)
        done.add(layer.bias.name)
        users = consumers.of(layer.bypass)
        if not any(user.type in _ACTIVATIONS for user in users):
            _insert(outer, "add_quant", layer.bypass, users, options,
                    producer_in=True, consumers_in=True)
            done.add(layer.bypass.name)
    later = layer.later_bypass
    if later is not None:
        users = consumers.of(later)
        if not any(user.type in _RELUS for user in users):
            _insert(_above(later.name), "post_activation_bypass_quant", later,
                    users, options, producer_in=True)
            done.add(later.name)


def _needs_quant(op, done):
    """Whether an op adds or multiplies numbers of which some are quantized, and
    nothing after it has a FakeQuant node in its place."""
    if op.name in done or op.type not in _SUMS:
        return False
    users = op.outputs[0].consumers()
    if len(users) == 1 and users[0].type in _RELUS:
        return False
    for x in op.inputs:
        before = x.op
        while before.type in _PASSES_ON:
            before = before.inputs[0].op
        if before.type == "FakeQuantWithMinMaxVars" or (
                before.name.find("delayed_quant/Merge") > 0):
            return True
        if before.type in _SUMS and any(
                _needs_quant(inner.op, done) for inner in before.inputs):
            return True
    return False


def _layers(graph):
    """The layers whose weights and outputs are quantized, once each."""
    def any_order(types, *inputs):
        return Node(types, *inputs, ordered=False)
    anything = Node("*")
    variable = Node("Variable|VariableV2")
    part = Node("Identity", variable)
    parts = Node("ConcatV2", part, Node("*"), Node("*"))
    read = Node("Identity", OneOf(part, parts, variable))
    resource, folded = Node("ReadVariableOp"), Node("Mul")
    layer = any_order(_LAYERS, anything, OneOf(read, resource, folded))
    output = OneOf(Node("BatchToSpaceND", layer, Node("*"), Node("*")), layer)
    separable = any_order(_LAYERS, OneOf(output), Node("*"))
    corrected = any_order(
        _ADD, any_order("Mul", Node("*"), output), Node("*"))
    # With a correction of training, or without.
    folded_bias = any_order(_ADD, corrected, Node("*"))
    identity = Node("Identity", folded_bias)
    bias = any_order("Add|AddV2|BiasAdd", output, Node("*"))
    bypass = any_order(_ADD, OneOf(bias, folded_bias, identity), Node("*"))
    activation = Node("|".join(_ACTIVATIONS), OneOf(
        bias, folded_bias, identity, bypass, layer))
    later = any_order(_ADD, Node("*"), activation)
    found = {}

    def take(match, weights=True, **others):
        op = match.op(layer)
        if op.name in found:
            return
        kinds = (read, resource, folded) if weights else (read, resource)
        tensors = [t for t in map(match.tensor, kinds) if t is not None]
        found[op.name] = _Layer(
            op, tensors[0] if tensors else None, **{
                "activation": None, "bypass": None, "later_bypass": None,
                "bias": None, **others})

    def of_bias(match):
        return match.op(bias) or match.op(folded_bias)
    for match in matches(later, graph):
        take(match, activation=match.op(activation), bias=of_bias(match),
             bypass=match.op(bypass), later_bypass=match.op(later))
    for match in matches(activation, graph):
        if not _feeds_norm(match.op(activation)):
            take(match, activation=match.op(activation), bias=of_bias(match),
                 bypass=match.op(bypass))
    for match in matches(OneOf(bias, folded_bias), graph):
        take(match, activation=of_bias(match))
    for match in matches(separable, graph):
        take(match, weights=False, activation=match.op(layer))
    return list(found.values())


def _feeds_norm(op):
    """Whether an Identity has a fused batch normalisation after it alone."""
    users = op.outputs[0].consumers()
    return op.type == "Identity" and len(users) == 1 and users[0].type in (
        "FusedBatchNorm", "FusedBatchNormV3")


def _is_quantized(tensor):
    """Whether a FakeQuant node follows, perhaps behind nodes that pass values
    on."""
    todo = list(tensor.consumers())
    while todo:
        op = todo.pop()
        if op.type in _FAKE_QUANTS:
            return True
        if op.type in ("Reshape", "Identity"):
            for output in op.outputs:
                todo.extend(output.consumers())
    return False


def _insert(context, name, producer, consumers, options, is_weight=False,
            lowest=-6., producer_in=False, consumers_in=False):
    """A FakeQuant node between the producer and its consumers, if these are in
    the scope of the options: the producer, the consumers, or both."""
    scope = options.scope
    if scope and producer_in and not producer.name.startswith(scope):
        return
    if scope and consumers_in and not all(
            op.name.startswith(scope) for op in consumers):
        return
    prefix = "%s/%s" % (context, name) if context else name
    around = get_default_graph().get_name_scope()
    if around and prefix.startswith(around + "/"):
        prefix = prefix[len(around) + 1:]
    inputs = producer.outputs[0]
    if _is_quantized(inputs):
        return
    quant = _quantized(inputs, prefix, options, is_weight, lowest)
    if options.quant_delay and options.quant_delay > 0:
        active = _math.greater_equal(
            quantization_step(), options.quant_delay,
            name=prefix + "/activate_quant")
        given = quant
        quant = cond(active, lambda: given, lambda: inputs,
                     name=prefix + "/delayed_quant")
    if consumers and reroute(quant, inputs, consumers) < len(consumers):
        raise ValueError("No inputs quantized for ops: [%s]" % ", ".join(
            op.name for op in consumers))


def _variable(name, value):
    keys = [GraphKeys.GLOBAL_VARIABLES] * 2
    return _scopes.get_variable(
        name, shape=[], initializer=Constant(value), collections=keys,
        trainable=False, aggregation=VariableAggregation.MEAN)


def _quantized(inputs, prefix, options, is_weight, lowest):
    """The inputs, as with few bits between variables min and max. In training
    these are of the last weights, or averages over batches."""
    bits = options.weight_bits if is_weight else options.activation_bits
    with _scopes.variable_scope(None, default_name=prefix,
                                values=[inputs]) as scope:
        scope.set_partitioner(None)
        low, high = _variable("min", lowest), _variable("max", 6.)
        if options.is_training:
            low, high = _moved(inputs, low, high, bits, options.symmetric,
                               is_weight)
        return _raw.FakeQuantWithMinMaxVars(
            inputs, low, high, num_bits=bits, narrow_range=is_weight)


def _moved(inputs, low, high, bits, symmetric, is_weight):
    """The variables, after an update by the inputs."""
    least = _math.reduce_min(inputs, name="BatchMin")
    most = _math.reduce_max(inputs, name="BatchMax")
    if symmetric:
        ratio = -1 if is_weight else -((1 << bits) - 2) / (1 << bits)
        first = _math.minimum(least, most / ratio)
        last = _math.maximum(most, least * ratio)
    else:
        first = _math.minimum(least, 0.)
        last = _math.maximum(most, 0.)
    if is_weight:
        return (low.assign(first, name="AssignMinLast"),
                high.assign(last, name="AssignMaxLast"))
    return (assign_moving_average(low, first, .999, name="AssignMinEma"),
            assign_moving_average(high, last, .999, name="AssignMaxEma"))
