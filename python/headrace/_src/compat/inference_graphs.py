"""tensorflow.python.tools.optimize_for_inference_lib: GraphDefs without what only
training needs."""
import collections

import numpy as np

from headrace._src.compat.checkpoints import strip_unused
from headrace._src.framework.graph_rewrites import remove_training_nodes
from headrace._src.framework.messages import GraphDef, NodeDef
from headrace._src.framework.tensor_proto import make_ndarray, make_tensor_proto
from headrace._src.platform import tf_logging

# The inputs of each batch norm, and its attr of the number that is added to the
# variance.
INPUT_ORDER = {
    "BatchNormWithGlobalNormalization": [
        "conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
EPSILON_ATTR = {"BatchNormWithGlobalNormalization": "variance_epsilon",
                "FusedBatchNorm": "epsilon"}


def optimize_for_inference(input_graph_def, input_node_names,
                           output_node_names, placeholder_type_enum,
                           toco_compatible=False):
    """The nodes between inputs and outputs, without those that only training
    needs. Batch norms go into the convolutions before them, and so do, unless
    `toco_compatible`, resizes and pads. ValueError for two nodes of one name and
    for inputs that there are not."""
    ensure_graph_is_valid(input_graph_def)
    graph_def = fold_batch_norms(remove_training_nodes(
        strip_unused(input_graph_def, input_node_names, output_node_names,
                     placeholder_type_enum), output_node_names))
    if not toco_compatible:
        graph_def = fuse_resize_and_conv(graph_def, output_node_names)
    ensure_graph_is_valid(graph_def)
    return graph_def


def _by_name(graph_def):
    found = {}
    for node in graph_def.node:
        if node.name in found:
            raise ValueError("Duplicate node names detected for %s" % node.name)
        found[node.name] = node
    return found


def ensure_graph_is_valid(graph_def):
    """ValueError for two nodes of one name and for inputs that there are
    not."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError("Input for %s not found: %s"
                                 % (node.name, name))


def node_name_from_input(node_name):
    """The node's name of an input, such as "^name" or "name:1"."""
    name, colon, index = node_name.lstrip("^").rpartition(":")
    return name if colon and index.isdigit() else node_name.lstrip("^")


def node_from_map(node_map, name):
    """The node of {name: NodeDef} that an input names. ValueError if there is
    none."""
    found = node_map.get(node_name_from_input(name))
    if found is None:
        raise ValueError("No node named '%s' found in map." % name)
    return found


def values_from_const(node_def):
    """The array of a Const. ValueError for another node."""
    if node_def.op != "Const":
        raise ValueError("Node named '%s' should be a Const op for "
                         "values_from_const." % node_def.name)
    return make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node):
    """Whether a batch norm multiplies with gamma."""
    return node.op != "BatchNormWithGlobalNormalization" or (
        node.attr["scale_after_normalization"].b)


def _constant(name, value, like):
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].CopyFrom(like.attr["dtype"])
    node.attr["value"].tensor.CopyFrom(
        make_tensor_proto(value, like.attr["dtype"].type))
    return node


def _norm_of(nodes, node):
    """{part of a batch norm: NodeDef}, if it follows a convolution and the rest
    are constants of the convolution's channels; else None, with a warning."""
    parts = {what: node_from_map(nodes, name) for what, name in
             zip(INPUT_ORDER[node.op], node.input)}
    conv = parts["conv_op"]
    if conv.op not in ("Conv2D", "DepthwiseConv2dNative"):
        tf_logging.warning("Didn't find expected Conv2D or DepthwiseConv2dNative"
                           " input to '%s'" % node.name)
        return None
    parts["weights_op"] = node_from_map(nodes, conv.input[1])
    for what, part in parts.items():
        if part is not conv and part.op != "Const":
            tf_logging.warning("Didn't find expected %s Constant input to '%s', "
                               "found %s instead. Maybe because freeze_graph "
                               "wasn't run first?" % (what[:-3], node.name, part))
            return None
    shape = values_from_const(parts["weights_op"]).shape
    wanted = (shape[3] if conv.op == "Conv2D" else shape[2] * shape[3],)
    for what in "mean_op", "var_op", "beta_op", "gamma_op":
        got = values_from_const(parts[what]).shape
        if got != wanted:
            tf_logging.warning("Incorrect shape for %s, found %s, expected %s, "
                               "for node %s" % (what[:-3], got, wanted, node.name))
            return None
    return parts


def fold_batch_norms(input_graph_def):
    """The graph with a BiasAdd in place of each batch norm of constants that
    follows a convolution; its scale is in the convolution's weights. ValueError
    for two nodes of one name."""
    nodes = _by_name(input_graph_def)
    replaced, new = set(), []
    for node in input_graph_def.node:
        parts = node.op in INPUT_ORDER and _norm_of(nodes, node)
        if not parts:
            continue
        replaced.update([node.name], (part.name for part in parts.values()))
        conv, weights_op = parts["conv_op"], parts["weights_op"]
        weights, mean, var, beta, gamma = (
            values_from_const(parts[what + "_op"])
            for what in ("weights", "mean", "var", "beta", "gamma"))
        scale = 1. / np.sqrt(var.astype(np.float64)
                             + node.attr[EPSILON_ATTR[node.op]].f)
        if scale_after_normalization(node):
            scale = scale * gamma
        by_channel = (scale if conv.op == "Conv2D"
                      else scale.reshape(weights.shape[2:]))
        new.append(_constant(weights_op.name, (weights * by_channel).astype(
            weights.dtype), weights_op))
        new.append(conv)
        new.append(_constant(conv.name + "_bn_offset", (
            beta - mean * scale).astype(mean.dtype), parts["mean_op"]))
        bias_add = NodeDef(name=node.name, op="BiasAdd",
                           input=[conv.name, new[-1].name])
        for attr in "T", "data_format":
            bias_add.attr[attr].CopyFrom(conv.attr[attr])
        new.append(bias_add)
    return _graph_of(input_graph_def, replaced, new)


def _graph_of(graph_def, left_out, new):
    out = GraphDef()
    out.node.extend([n for n in graph_def.node if n.name not in left_out])
    out.node.extend(new)
    return out


def fuse_resize_and_conv(input_graph_def, output_node_names):
    """The graph with a FusedResizeAndPadConv2D or FusedPadConv2D in place of
    each Conv2D that follows a ResizeBilinear, a MirrorPad or both. ValueError
    for two nodes of one name."""
    nodes = _by_name(input_graph_def)
    readers = collections.Counter(
        [node_name_from_input(name) for node in input_graph_def.node
         for name in node.input] + list(output_node_names))
    replaced, new = set(), []
    for conv in input_graph_def.node:
        if conv.op != "Conv2D":
            continue
        pad = resize = None
        before = node_from_map(nodes, conv.input[0])
        if before.op == "MirrorPad":
            pad, before = before, node_from_map(nodes, before.input[0])
        if before.op == "ResizeBilinear":
            resize = before
        if pad is None and resize is None:
            continue
        replaced.add(conv.name)
        fused = NodeDef(name=conv.name, op="FusedPadConv2D")
        first = resize or pad
        fused.input.append(first.input[0])
        if resize is not None:
            fused.op = "FusedResizeAndPadConv2D"
            fused.input.append(resize.input[1])
            fused.attr["resize_align_corners"].CopyFrom(
                resize.attr["align_corners"])
        if pad is None:
            name = conv.name + "_dummy_paddings"
            paddings = NodeDef(name=name, op="Const")
            paddings.attr["dtype"].type = 3
            paddings.attr["value"].tensor.CopyFrom(
                make_tensor_proto(np.zeros([4, 2], np.int32)))
            new.append(paddings)
            fused.input.append(name)
            fused.attr["mode"].s = b"REFLECT"
        else:
            fused.input.append(pad.input[1])
            fused.attr["mode"].CopyFrom(pad.attr["mode"])
        fused.input.append(conv.input[1])
        for attr in "T", "strides", "padding":
            fused.attr[attr].CopyFrom(conv.attr[attr])
        new.append(fused)
        for node in pad, resize:
            if node is not None:
                readers[node.name] -= 1
                if readers[node.name] <= 0:
                    replaced.add(node.name)
    return _graph_of(input_graph_def, replaced, new)
