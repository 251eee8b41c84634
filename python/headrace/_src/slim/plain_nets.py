"""tf.contrib.slim.nets: VGG, AlexNet and OverFeat, for images [batch, height,
width, channels]. Their last layers are convolutions, so larger images give
several predictions.

Each returns (logits, end points): {name of a layer: its output}."""
from headrace._src.contrib.arg_scopes import arg_scope
from headrace._src.contrib.layers import (
    conv2d, dropout, fully_connected, max_pool2d, repeat)
from headrace._src.contrib.outputs import convert_collection_to_dict
from headrace._src.contrib.regularizers import l2_regularizer
from headrace._src.nn.activations import relu
from headrace._src.ops.array_ops import squeeze
from headrace._src.variables.initializers import (
    Constant, TruncatedNormal, Zeros)
from headrace._src.variables.scopes import variable_scope


def _scope(weight_decay, biases, pool_padding):
    """The arg_scope of a network; pool_padding None is that of the layer."""
    with arg_scope([conv2d, fully_connected], activation_fn=relu,
                   weights_regularizer=l2_regularizer(weight_decay),
                   biases_initializer=biases):
        with arg_scope([conv2d], padding="SAME") as found:
            if pool_padding is None:
                return found
            with arg_scope([max_pool2d], padding=pool_padding) as pooled:
                return pooled


def vgg_arg_scope(weight_decay=0.0005):
    """The arg_scope of the VGG networks."""
    return _scope(weight_decay, Zeros(), None)


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """The arg_scope of AlexNet."""
    return _scope(weight_decay, Constant(0.1), "VALID")


def overfeat_arg_scope(weight_decay=0.0005):
    """The arg_scope of OverFeat."""
    return _scope(weight_decay, Zeros(), "VALID")


def trunc_normal(stddev):
    """An initializer of the tails-cut normal distribution of mean 0."""
    return TruncatedNormal(0.0, stddev)


def _network(default, inputs, scope, body, head, num_classes, is_training,
             keep_prob, spatial_squeeze, **of_head):
    """body(inputs), then the layers fc6 [size, depth of `head`], fc7 and fc8 as
    convolutions with arguments of_head."""
    with variable_scope(scope, default, [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d],
                       outputs_collections=[collection]):
            net = body(inputs)
            size, depth = head
            with arg_scope([conv2d], **of_head):
                net = conv2d(net, depth, [size, size], padding="VALID",
                             scope="fc6")
                net = dropout(net, keep_prob, is_training=is_training,
                              scope="dropout6")
                net = conv2d(net, 4096, [1, 1], scope="fc7")
                net = dropout(net, keep_prob, is_training=is_training,
                              scope="dropout7")
                net = conv2d(net, num_classes, [1, 1], activation_fn=None,
                             normalizer_fn=None, scope="fc8", **(
                                 {"biases_initializer": Zeros()} if of_head
                                 else {}))
        points = convert_collection_to_dict(collection)
        if spatial_squeeze:
            net = squeeze(net, [1, 2], name="fc8/squeezed")
            points[sc.name + "/fc8"] = net
        return net, points


def _vgg(layers):
    """The part of a VGG network that has `layers` layers of 64, 128, 256, 512
    and 512 channels."""
    def body(net):
        for i, (count, depth) in enumerate(
                zip(layers, (64, 128, 256, 512, 512)), 1):
            net = repeat(net, count, conv2d, depth, [3, 3], scope="conv%d" % i)
            net = max_pool2d(net, [2, 2], scope="pool%d" % i)
        return net
    return body


def vgg_a(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5,
          spatial_squeeze=True, scope="vgg_a"):
    """VGG with 11 layers, for images of 224 x 224."""
    return _network("vgg_a", inputs, scope, _vgg((1, 1, 2, 2, 2)), (7, 4096),
                    num_classes, is_training, dropout_keep_prob,
                    spatial_squeeze)


def vgg_16(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5,
           spatial_squeeze=True, scope="vgg_16"):
    """VGG with 16 layers, for images of 224 x 224."""
    return _network("vgg_16", inputs, scope, _vgg((2, 2, 3, 3, 3)), (7, 4096),
                    num_classes, is_training, dropout_keep_prob,
                    spatial_squeeze)


def vgg_19(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5,
           spatial_squeeze=True, scope="vgg_19"):
    """VGG with 19 layers, for images of 224 x 224."""
    return _network("vgg_19", inputs, scope, _vgg((2, 2, 4, 4, 4)), (7, 4096),
                    num_classes, is_training, dropout_keep_prob,
                    spatial_squeeze)


vgg_d, vgg_e = vgg_16, vgg_19


def alexnet_v2(inputs, num_classes=1000, is_training=True,
               dropout_keep_prob=0.5, spatial_squeeze=True,
               scope="alexnet_v2"):
    """AlexNet in its one-column form, for images of 224 x 224."""
    def body(net):
        net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = max_pool2d(net, [3, 3], 2, scope="pool1")
        net = conv2d(net, 192, [5, 5], scope="conv2")
        net = max_pool2d(net, [3, 3], 2, scope="pool2")
        for i, depth in ((3, 384), (4, 384), (5, 256)):
            net = conv2d(net, depth, [3, 3], scope="conv%d" % i)
        return max_pool2d(net, [3, 3], 2, scope="pool5")
    return _network(
        "alexnet_v2", inputs, scope, body, (5, 4096), num_classes, is_training,
        dropout_keep_prob, spatial_squeeze,
        weights_initializer=trunc_normal(0.005),
        biases_initializer=Constant(0.1))


def overfeat(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5,
             spatial_squeeze=True, scope="overfeat"):
    """OverFeat's fast network, for images of 231 x 231."""
    def body(net):
        net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = max_pool2d(net, [2, 2], scope="pool1")
        net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
        net = max_pool2d(net, [2, 2], scope="pool2")
        for i, depth in ((3, 512), (4, 1024), (5, 1024)):
            net = conv2d(net, depth, [3, 3], scope="conv%d" % i)
        return max_pool2d(net, [2, 2], scope="pool5")
    return _network(
        "overfeat", inputs, scope, body, (6, 3072), num_classes, is_training,
        dropout_keep_prob, spatial_squeeze,
        weights_initializer=trunc_normal(0.005),
        biases_initializer=Constant(0.1))


for _net in (vgg_a, vgg_16, vgg_19, alexnet_v2):
    setattr(_net, "default_image_size", 224)
