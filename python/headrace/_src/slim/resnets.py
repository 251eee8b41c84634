"""tf.contrib.slim.nets: residual networks, of the first kind (an activation after
each sum) and of the second (activations before the convolutions).

A network is a list of blocks, a block a list of units, and the first or last unit
of a block has its stride. With output_stride, strides beyond it become rates of
the convolutions, so that the output stays that large."""
import collections
import functools

from headrace._src.contrib.arg_scopes import add_arg_scope, arg_scope
from headrace._src.contrib.layer_utils import last_dimension
from headrace._src.contrib.layers import (
    batch_norm, conv2d, max_pool2d, softmax)
from headrace._src.contrib.outputs import (
    collect_named_outputs, convert_collection_to_dict)
from headrace._src.contrib.regularizers import (
    l2_regularizer, variance_scaling_initializer)
from headrace._src.framework.graph import GraphKeys
from headrace._src.nn.activations import relu
from headrace._src.ops.array_ops import pad
from headrace._src.ops.math_ops import reduce_mean
from headrace._src.variables.scopes import variable_scope


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """Units unit_fn(net, rate, **arguments), one for each dict of `args`."""


def subsample(inputs, factor, scope=None):
    """Every factor-th pixel in both directions."""
    if factor == 1:
        return inputs
    return max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution whose padding does not depend on the size of the image, as
    that of "SAME" with a stride does."""
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate,
                      padding="SAME", scope=scope)
    more = (kernel_size - 1) * rate
    inputs = pad(inputs, [[0, 0]] + [[more // 2, more - more // 2]] * 2
                 + [[0, 0]])
    return conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate,
                  padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None,
                       outputs_collections=None):
    """The blocks one after another. ValueError if output_stride is none that
    their strides reach."""
    stride, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for i, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError(
                        "The target output_stride cannot be reached.")
                with variable_scope("unit_%d" % i, values=[net]):
                    own = unit.get("stride", 1)
                    if output_stride is not None and stride == output_stride:
                        net = block.unit_fn(net, rate=rate,
                                            **{**unit, "stride": 1})
                        rate *= own
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= own
            net = collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997,
                     batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """The arg_scope of the residual networks."""
    norm = dict(decay=batch_norm_decay, epsilon=batch_norm_epsilon,
                scale=batch_norm_scale,
                updates_collections=GraphKeys.UPDATE_OPS)
    with arg_scope([conv2d], weights_regularizer=l2_regularizer(weight_decay),
                   weights_initializer=variance_scaling_initializer(),
                   activation_fn=relu, normalizer_fn=batch_norm,
                   normalizer_params=norm):
        with arg_scope([batch_norm], **norm):
            with arg_scope([max_pool2d], padding="SAME") as found:
                return found


def _middle(net, depth, stride, rate):
    net = conv2d(net, depth, [1, 1], stride=1, scope="conv1")
    return conv2d_same(net, depth, 3, stride, rate=rate, scope="conv2")


@add_arg_scope
def bottleneck_v1(inputs, depth, depth_bottleneck, stride, rate=1,
                  outputs_collections=None, scope=None):
    """A unit of the first kind: relu of the sum of the inputs and of three
    convolutions, of which that in the middle has depth_bottleneck channels."""
    with variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride,
                              activation_fn=None, scope="shortcut")
        net = _middle(inputs, depth_bottleneck, stride, rate)
        net = conv2d(net, depth, [1, 1], stride=1, activation_fn=None,
                     scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name,
                                     relu(shortcut + net))


@add_arg_scope
def bottleneck_v2(inputs, depth, depth_bottleneck, stride, rate=1,
                  outputs_collections=None, scope=None):
    """A unit of the second kind: the sum of the inputs and of three convolutions
    of the normalised and activated inputs."""
    with variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        active = batch_norm(inputs, activation_fn=relu, scope="preact")
        plain = dict(activation_fn=None, normalizer_fn=None)
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(active, depth, [1, 1], stride=stride,
                              scope="shortcut", **plain)
        net = _middle(active, depth_bottleneck, stride, rate)
        net = conv2d(net, depth, [1, 1], stride=1, scope="conv3", **plain)
        return collect_named_outputs(outputs_collections, sc.name,
                                     shortcut + net)


def _resnet(version, inputs, blocks, num_classes, is_training, global_pool,
            output_stride, include_root_block, reuse, scope):
    unit = bottleneck_v1 if version == 1 else bottleneck_v2
    with variable_scope(scope, "resnet_v%d" % version, [inputs],
                        reuse=reuse) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([conv2d, unit, stack_blocks_dense],
                       outputs_collections=collection), arg_scope(
                           [batch_norm], is_training=is_training):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError(
                            "The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                root = {} if version == 1 else dict(activation_fn=None,
                                                    normalizer_fn=None)
                with arg_scope([conv2d], **root):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = stack_blocks_dense(net, blocks, output_stride)
            if version == 2:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None,
                             normalizer_fn=None, scope="logits")
            points = convert_collection_to_dict(collection)
            if num_classes is not None:
                points["predictions"] = softmax(net, scope="predictions")
            return net, points


def resnet_v1(inputs, blocks, num_classes=None, is_training=True,
              global_pool=True, output_stride=None, include_root_block=True,
              reuse=None, scope=None):
    """(output, end points) of a network of the first kind: with num_classes the
    logits [batch, 1, 1, classes], and the end point `predictions`; otherwise the
    features, by default their mean over the image. ValueError for an
    output_stride that cannot be."""
    return _resnet(1, inputs, blocks, num_classes, is_training, global_pool,
                   output_stride, include_root_block, reuse, scope)


def resnet_v2(inputs, blocks, num_classes=None, is_training=True,
              global_pool=True, output_stride=None, include_root_block=True,
              reuse=None, scope=None):
    """resnet_v1 of the second kind."""
    return _resnet(2, inputs, blocks, num_classes, is_training, global_pool,
                   output_stride, include_root_block, reuse, scope)


def _block(unit, scope, base_depth, num_units, stride):
    arguments = dict(depth=base_depth * 4, depth_bottleneck=base_depth)
    return Block(scope, unit, [
        dict(arguments, stride=1) for _ in range(num_units - 1)]
        + [dict(arguments, stride=stride)])


def resnet_v1_block(scope, base_depth, num_units, stride):
    """A block of num_units units, of which the last has the stride."""
    return _block(bottleneck_v1, scope, base_depth, num_units, stride)


def resnet_v2_block(scope, base_depth, num_units, stride):
    """A block of num_units units, of which the last has the stride."""
    return _block(bottleneck_v2, scope, base_depth, num_units, stride)


def _of_layers(network, block, layers, units):
    """The function of a network of so many layers, with so many units in each
    of its four blocks."""
    name = "%s_%d" % (network.__name__, layers)

    def make(inputs, num_classes=None, is_training=True, global_pool=True,
             output_stride=None, reuse=None, scope=name):
        blocks = [block("block%d" % (i + 1), 64 * 2 ** i, count,
                        1 if i == 3 else 2) for i, count in enumerate(units)]
        return network(inputs, blocks, num_classes, is_training,
                       global_pool=global_pool, output_stride=output_stride,
                       include_root_block=True, reuse=reuse, scope=scope)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = "%s with %d layers." % (network.__name__, layers)
    return make


_v1 = functools.partial(_of_layers, resnet_v1, resnet_v1_block)
_v2 = functools.partial(_of_layers, resnet_v2, resnet_v2_block)
resnet_v1_50, resnet_v2_50 = (f(50, (3, 4, 6, 3)) for f in (_v1, _v2))
resnet_v1_101, resnet_v2_101 = (f(101, (3, 4, 23, 3)) for f in (_v1, _v2))
resnet_v1_152, resnet_v2_152 = (f(152, (3, 8, 36, 3)) for f in (_v1, _v2))
resnet_v1_200, resnet_v2_200 = (f(200, (3, 24, 36, 3)) for f in (_v1, _v2))
for _net in (resnet_v1, resnet_v2):
    setattr(_net, "default_image_size", 224)
