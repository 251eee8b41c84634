"""Batch normalisation as a part of the layer before it, as a quantized network
has it: kernels are scaled, and the layer has a bias."""
import collections
import re

from headrace import raw_ops as _raw
from headrace._headrace import message_class
from headrace._src.contrib.graph_patterns import (
    SKIPPED, Consumers, Node, OneOf, matches, reroute)
from headrace._src.control.control_flow import smart_cond
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, device, get_default_graph)
from headrace._src.nn import conv as _conv
from headrace._src.nn.conv import depthwise_conv2d
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.gradients import RegisterGradient
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.initializers import zeros_initializer
from headrace._src.variables.records import VariableAggregation
from headrace._src.variables.variables import assign_add

_batch_to_space = _raw.BatchToSpaceND
_GRADIENT = "FoldFusedBatchNormGrad"

# A layer, the batch normalisation after it, and the tensors of both.
_Norm = collections.namedtuple("_Norm", """
    layer bn output input weights gamma beta mean variance moving_mean
    moving_variance mean_decay variance_decay epsilon batch_to_space""")


def quantization_step():
    """The number of steps so far, which each step counts."""
    name = "fake_quantization_step"
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(name + "/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = _scopes.get_variable(
            name, shape=[], dtype=dtypes.int64,
            initializer=zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA)
        with graph.name_scope(step.op.name + "/"):
            return _array.identity(assign_add(step, 1))


def fold_batch_norms(graph, is_training, freeze_delay=None):
    """Folds those of fused nodes, and those of tf.contrib.layers.batch_norm
    that consist of several nodes. `freeze_delay`: the step from which on
    training uses the moving averages."""
    _fold_fused(graph, freeze_delay)
    _fold_unfused(graph, is_training, freeze_delay)


# Fused batch normalisation.

def _fold_fused(graph, freeze_delay):
    for norm in _fused(graph):
        scope, sep, _ = norm.layer.name.rpartition("/")
        with graph.as_default(), graph.name_scope(scope + sep):
            with graph.name_scope(scope + sep + "BatchNorm_Fold" + sep):
                scale = norm.gamma * _math.rsqrt(norm.variance + norm.epsilon)
                bias = _math.subtract(norm.beta, norm.mean * scale,
                                      name="bias")
                correction = reciprocal = offset = None
                if norm.bn.get_attr("is_training"):
                    correction, reciprocal, offset = _corrections(
                        "", norm, freeze_delay)
                weights = norm.weights
                if norm.layer.type == "DepthwiseConv2dNative":
                    shape = weights.get_shape().as_list()[2:]
                    scale = _array.reshape(scale, shape, name="scale_reshape")
                    if correction is not None:
                        correction = _array.reshape(
                            correction, shape, name="correction_reshape")
            if correction is not None:
                weights = _math.multiply(correction, weights,
                                         name="correction_mult")
            weights = _math.multiply(weights, scale, name="mul_fold")
            made = _layer_again(norm, weights)
            if reciprocal is not None:
                made = _math.multiply(reciprocal, made, name="post_conv_mul")
                made = _math.add(made, offset, "correction_add")
            made = _math.add(made, bias, name="add_fold")
            if not reroute(made, norm.output):
                raise ValueError("Folding batch norms failed, %s had no "
                                 "outputs." % norm.output.name)


def _fused(graph):
    """A _Norm of each fused batch normalisation after a layer, once for each
    layer."""
    inputs, weights = Node("*"), Node("*")
    gamma, beta, mean, variance = (Node("*") for _ in range(4))
    layer = Node("Conv2D|DepthwiseConv2dNative|MatMul", inputs, weights)
    to_space = Node("BatchToSpaceND", layer, Node("*"), Node("*"))
    with_identity = Node("Identity", OneOf(to_space, layer))
    output = OneOf(with_identity, layer, to_space)
    bn = Node("FusedBatchNorm|FusedBatchNormV3", OneOf(
        Node("Reshape", output, Node("*")), output), gamma, beta, mean,
        variance)
    reshaped = Node("Reshape", bn, Node("*"))
    found = {}
    for pattern in Node("Identity", bn, reshaped), OneOf(reshaped, bn):
        for match in matches(pattern, graph):
            norm = _fused_norm(graph, match, {
                "layer": layer, "bn": bn, "reshaped": reshaped,
                "to_space": to_space, "input": inputs, "weights": weights,
                "gamma": gamma, "beta": beta, "mean": mean,
                "variance": variance})
            if norm is not None:
                found.setdefault(norm.layer.name, norm)
    return list(found.values())


def _fused_norm(graph, match, patterns):
    layer, bn = match.op(patterns["layer"]), match.op(patterns["bn"])
    output = bn.outputs[0]
    if layer.type == "MatMul":
        reshape = match.op(patterns["reshaped"])
        if reshape is None:
            return None
        output = reshape.outputs[0]
    if not output.consumers():
        return None
    mean = match.tensor(patterns["mean"])
    variance = match.tensor(patterns["variance"])
    moving = dict.fromkeys(("moving_mean", "moving_variance", "mean_decay",
                            "variance_decay"))
    if bn.get_attr("is_training"):
        mean, variance, moving = _of_training(
            graph, bn, match.tensor(patterns["layer"]), patterns["bn"])
    return _Norm(
        layer=layer, bn=bn, output=output, mean=mean, variance=variance,
        epsilon=bn.get_attr("epsilon"),
        batch_to_space=match.op(patterns["to_space"]), **moving,
        **{name: match.tensor(patterns[name])
           for name in ("input", "weights", "gamma", "beta")})


def _of_training(graph, bn, layer_output, bn_pattern):
    """(mean, variance, what moves) of a node that learns."""
    bn._set_attr("_gradient_op_type",
                 message_class("AttrValue")(s=_GRADIENT.encode()))
    mean = bn.outputs[1]
    scope, sep, _ = bn.name.rpartition("/")
    with graph.as_default(), graph.name_scope(scope + sep):
        n = _math.cast(_array.size(layer_output) / _array.size(mean),
                       dtypes.float32)
        variance = _math.multiply(bn.outputs[2], (n - 1) / n,
                                  name="Undo_Bessel_Correction")
    moving = {}
    average, decay = Node("*"), Node("*")
    subtract = Node("Sub", average, bn_pattern)
    for match in matches(Node("Mul", subtract, decay), graph):
        sub = match.op(subtract)
        for i, kind in (1, "mean"), (2, "variance"):
            if sub.inputs[1].name == bn.outputs[i].name:
                moving["moving_" + kind] = sub.inputs[0]
                moving[kind + "_decay"] = match.tensor(decay)
    if len(moving) < 4:
        raise ValueError(
            "create_training_graph: the moving averages of %s are not updated "
            "by nodes of tf.layers or tf.contrib.layers" % bn.name)
    return mean, variance, moving


def _layer_again(norm, weights):
    """The layer with other weights."""
    layer = norm.layer
    name = layer.name.split("/")[-1] + "_Fold"
    if layer.type == "MatMul":
        return _math.matmul(norm.input, weights,
                            transpose_a=layer.get_attr("transpose_a"),
                            transpose_b=layer.get_attr("transpose_b"),
                            name=name)
    made = _convolution_again(layer, norm.input, weights, name)
    if layer.type == "DepthwiseConv2dNative" and norm.batch_to_space:
        op = layer.outputs[0].consumers()[0]
        made = _batch_to_space(
            made, op.inputs[1], op.inputs[2],
            name=op.name.split("/")[-1] + "_Fold")
    return made


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _convolution_again(layer, x, weights, name):
    options = {"strides": list(layer.get_attr("strides")),
               "padding": _text(layer.get_attr("padding")), "name": name}
    if layer.type == "DepthwiseConv2dNative":
        return depthwise_conv2d(x, weights, **options)
    return _conv.conv2d(
        x, weights, use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
        data_format=_text(layer.get_attr("data_format")), **options)


def _corrections(context, norm, freeze_delay):
    """(factor of the kernels, its reciprocal, offset) by which training sees
    the statistics of the batch though kernels have those of the moving
    averages; from the step freeze_delay on it does not, and these stay."""
    with get_default_graph().name_scope(context + "batch_norm_correction"):
        moving = _math.rsqrt(norm.moving_variance + norm.epsilon)
        current = _math.rsqrt(norm.variance + norm.epsilon)
        scale = _math.divide(moving, current, name="scale_compute")
        scale = _array.identity(scale, name="correction_scale")
        reciprocal = _raw.Reciprocal(scale, name="reciprocal_compute")
        offset = _math.multiply(
            norm.gamma, norm.mean * current - norm.moving_mean * moving,
            name="offset_compute")
        frozen = False
        if freeze_delay is not None:
            frozen = _math.greater_equal(quantization_step(), freeze_delay,
                                         name="use_moving_average")
        for decay, name in ((norm.mean_decay, "freeze_moving_mean"),
                            (norm.variance_decay, "freeze_moving_var")):
            consumers = list(decay.consumers())
            reroute(smart_cond(frozen, lambda: 0., lambda d=decay: d,
                               name=name) if freeze_delay is not None
                    else decay, decay, consumers)
        computed = reciprocal, offset
        reciprocal = smart_cond(
            frozen, lambda: _array.ones(scale.shape), lambda: computed[0],
            name="correction_recip")
        offset = smart_cond(
            frozen, lambda: computed[1],
            lambda: _array.zeros(computed[1].shape), name="correction_offset")
    return scale, reciprocal, offset


@RegisterGradient(_GRADIENT)
def _gradient_of_statistics(op, unused_y, mean, variance, *unused):
    """Of the mean and the variance of a batch, which are all that the kernels
    have of the normalisation."""
    x = op.inputs[0]
    n = _math.cast(_array.size(x) / _array.size(mean), dtypes.float32)
    of_mean = mean / n
    of_variance = 2 * variance * (x - op.outputs[1]) / (n - 1)
    return of_mean + of_variance, None, None, None, None


# Batch normalisation of several nodes, known by their names.

def _fold_unfused(graph, is_training, freeze_delay):
    consumers = Consumers(graph)
    for context in _groups(graph):
        rsqrt = graph.get_operation_by_name(
            context + "BatchNorm/batchnorm_1/Rsqrt")
        has_scale = sum(op.type == "Mul" for op in consumers.of(rsqrt)) == 1
        shift = graph.get_operation_by_name(
            context + "BatchNorm/batchnorm_1/add_1")
        if not shift.outputs[0].consumers():
            continue
        folded = _folded(graph, context, shift, has_scale, freeze_delay,
                         is_training)
        user = _activation(graph, context)
        if user is None:
            above = re.search("^(.*)/([^/]+)", context)
            user = graph.get_operation_by_name(
                (above.group(1) + "/" if above else "") + "AddV2")
        if reroute(folded, shift.outputs[0], [user]) != 1:
            raise ValueError("Unexpected inputs to op: %s" % user.name)


def _groups(graph):
    """The prefixes of names before BatchNorm/batchnorm, in order."""
    found = {}
    for op in graph.get_operations():
        match = re.search("^(.*)BatchNorm/batchnorm", op.name)
        if match and not match.group(1).startswith(SKIPPED):
            found[match.group(1)] = None
    return list(found)


def _activation(graph, prefix):
    for suffix in "Relu6", "Relu", "Identity":
        try:
            return graph.get_operation_by_name(prefix + suffix)
        except KeyError:
            pass
    return None


def _nearest(graph, suffix, context):
    """The tensor of the node whose name ends so and shares most of its parts
    with the context, or None."""
    parts, best = set(context.split("/")), None
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            shared = len(set(op.name.split("/")) & parts)
            if (shared or not context) and (best is None or shared > best[0]):
                best = shared, op
    return best and best[1].outputs[0]


def _unfused_norm(graph, context, has_scale):
    if _scopes.get_variable_scope().use_resource:
        read, gamma = "/Read/ReadVariableOp", "/Read/ReadVariableOp"
    else:
        read, gamma = "/read", ""

    def find(name):
        return _nearest(graph, "BatchNorm/" + name, context)
    moving_mean = find("moving_mean" + read)
    return _Norm(
        layer=None, bn=None, output=None, input=None, weights=None,
        gamma=find("gamma" + gamma) if has_scale else _array.ones(
            moving_mean.shape),
        beta=None, mean=find("moments/Squeeze"),
        variance=find("moments/Squeeze_1"), moving_mean=moving_mean,
        moving_variance=find("moving_variance" + read),
        mean_decay=find("AssignMovingAvg/decay"),
        variance_decay=find("AssignMovingAvg_1/decay"),
        epsilon=find("batchnorm_1/add/y"), batch_to_space=None)


def _folded(graph, context, shift, has_scale, freeze_delay, is_training):
    """The output of the layer that has the normalisation in it."""
    inner = context + "BatchNorm/batchnorm_1/"
    multiply = graph.get_operation_by_name(
        inner + ("mul_1" if has_scale else "mul"))
    layer, to_space = multiply.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, to_space = layer.inputs[0].op, layer
    if layer.type not in ("Conv2D", "DepthwiseConv2dNative", "MatMul"):
        raise ValueError("Cannot handle operation of type: %s" % layer.type)
    weights = layer.inputs[1]
    norm = _unfused_norm(graph, context, has_scale)
    correction = reciprocal = offset = None
    if is_training:
        correction, reciprocal, offset = _corrections(context, norm,
                                                      freeze_delay)
    scale = multiply.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.get_shape().as_list()[2:]
        scale = graph.get_operation_by_name(
            inner + ("mul" if has_scale else "Rsqrt")).outputs[0]
        scale = _array.reshape(scale, shape, context + "scale_reshape")
        if correction is not None:
            correction = _array.reshape(correction, shape,
                                        context + "correction_reshape")
    if correction is not None:
        with device(multiply.device):
            weights = _math.multiply(correction, weights,
                                     context + "correction_mult")
    weights = _math.multiply(weights, scale, name=context + "mul_fold")
    name = layer.name + "_Fold"
    if layer.type == "MatMul":
        made = _math.matmul(
            layer.inputs[0], weights,
            transpose_a=layer.get_attr("transpose_a"),
            transpose_b=layer.get_attr("transpose_b"), name=name)
    else:
        made = _convolution_again(layer, layer.inputs[0], weights, name)
    where = made.op.device
    if to_space is not None:
        made = _batch_to_space(made, to_space.inputs[1],
                                        to_space.inputs[2],
                                        name=to_space.name + "_Fold")
    if offset is not None:
        with device(where):
            made = _math.multiply(reciprocal, made, context + "post_conv_mul")
            made = _math.add(made, offset, context + "correction_add")
    made = _math.add(made, shift.inputs[1], name=context + "add_fold")
    return made
