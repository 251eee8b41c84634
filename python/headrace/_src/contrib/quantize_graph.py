"""tf.contrib.quantize: rewrites networks for training and evaluation as with
few bits."""
from headrace._src.contrib.fold_batch_norms import fold_batch_norms
from headrace._src.contrib.quantize_layers import Options, quantize
from headrace._src.framework.graph import get_default_graph

_TRAINING = """
    ApplyAdagrad ApplyAdagradDA ApplyAdam ApplyAddSign ApplyCenteredRMSProp
    ApplyFtrl ApplyFtrlV2 ApplyGradientDescent ApplyMomentum ApplyPowerSign
    ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp
    ResourceApplyAdadelta ResourceApplyAdagrad ResourceApplyAdagradDA
    ResourceApplyAdam ResourceApplyAddSign ResourceApplyCenteredRMSProp
    ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyGradientDescent
    ResourceApplyMomentum ResourceApplyPowerSign ResourceApplyProximalAdagrad
    ResourceApplyProximalGradientDescent ResourceApplyRMSProp
    ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad
    ResourceSparseApplyAdagradDA ResourceSparseApplyCenteredRMSProp
    ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2
    ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad
    ResourceSparseApplyProximalGradientDescent ResourceSparseApplyRMSProp
    SparseApplyAdadelta SparseApplyAdagrad SparseApplyAdagradDA
    SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2
    SparseApplyMomentum SparseApplyProximalAdagrad
    SparseApplyProximalGradientDescent SparseApplyRMSProp""".split()


def _rewrite(graph, freeze_bn_delay, options):
    graph = graph or get_default_graph()
    trains = sorted({op.type for op in graph.get_operations()} & set(_TRAINING))
    if trains:
        raise ValueError("Training op found in graph, exiting %s" % trains)
    with graph.as_default():
        fold_batch_norms(graph, options.is_training, freeze_bn_delay)
        quantize(graph, options)


def create_training_graph(input_graph=None, quant_delay=0):
    """Rewrites a graph, by default the default graph, for training that knows
    of a later quantization to 8 bits. Call it before the optimizer's minimize.

    Batch normalisation becomes a part of the layer before it, and
    FakeQuantWithMinMaxVars nodes follow the weights and the outputs of layers,
    float32 of any shape. Their bounds are new variables `min` and `max`.
    `quant_delay`: the step from which on numbers are quantized.

    ValueError for a graph that has ops of an optimizer already, and for batch
    normalisation whose moving averages are not updated as by tf.layers or
    tf.contrib.layers."""
    _rewrite(input_graph, None, Options(
        is_training=True, weight_bits=8, activation_bits=8, symmetric=False,
        quant_delay=quant_delay, scope=None))


def create_eval_graph(input_graph=None):
    """Rewrites a graph, by default the default graph, for evaluation or
    inference with the variables that create_training_graph trained: as it does,
    without updates of the bounds of the float32 numbers of any shape.
    ValueError for a graph that has ops of an optimizer."""
    _rewrite(input_graph, None, Options(
        is_training=False, weight_bits=8, activation_bits=8, symmetric=False,
        quant_delay=None, scope=None))


def experimental_create_training_graph(
        input_graph=None, weight_bits=8, activation_bits=8, symmetric=False,
        quant_delay=0, freeze_bn_delay=None, scope=None):
    """create_training_graph with more options.

    Args:
      input_graph: the graph, by default the default graph.
      weight_bits, activation_bits: of the weights and outputs, float32 of any
        shape.
      symmetric: the bounds are as far from 0 below as above.
      quant_delay: the step from which on numbers are quantized.
      freeze_bn_delay: the step from which on batch normalisation has the moving
        averages, and these stay.
      scope: the prefix of names of what is rewritten.

    Raises:
      ValueError: as create_training_graph."""
    _rewrite(input_graph, freeze_bn_delay, Options(
        is_training=True, weight_bits=weight_bits,
        activation_bits=activation_bits, symmetric=symmetric,
        quant_delay=quant_delay, scope=scope))


def experimental_create_eval_graph(
        input_graph=None, weight_bits=8, activation_bits=8, symmetric=False,
        quant_delay=None, scope=None):
    """create_eval_graph with more options; see
    experimental_create_training_graph. The numbers are float32 of any shape.
    ValueError for a graph that has ops of an optimizer."""
    _rewrite(input_graph, None, Options(
        is_training=False, weight_bits=weight_bits,
        activation_bits=activation_bits, symmetric=symmetric,
        quant_delay=quant_delay, scope=scope))
