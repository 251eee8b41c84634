"""tf.contrib.slim.nets.inception: the networks Inception V1, V2 and V3, for
images [batch, height, width, channels].

Tables say what each network has. A line names an end point and what makes it:
one layer, or a module of branches, divided by "|". A layer is written

    DEPTHxSIZE    a convolution: 64x1, or 64x1x7 for a kernel of 1 x 7;
    max3, avg3    a pool of 3 x 3;
    ...*0.09      weights from the normal distribution of this deviation;
    .../2         with a stride of 2, .../2V and padding "VALID";
    ...:NAME      of that name, not of the next letter and its size;
    (A B)         two layers side by side, concatenated."""
import re

from headrace._src.contrib.arg_scopes import arg_scope
from headrace._src.contrib.layers import (
    avg_pool2d, batch_norm, conv2d, dropout, fully_connected, max_pool2d,
    separable_conv2d, softmax)
from headrace._src.contrib.regularizers import (
    l2_regularizer, variance_scaling_initializer)
from headrace._src.framework.graph import GraphKeys
from headrace._src.nn.activations import relu
from headrace._src.ops.array_ops import concat, squeeze
from headrace._src.variables.initializers import TruncatedNormal
from headrace._src.variables.scopes import variable_scope

_V1 = """
    Conv2d_1a_7x7    64x7/2
    MaxPool_2a_3x3   max3/2
    Conv2d_2b_1x1    64x1
    Conv2d_2c_3x3    192x3
    MaxPool_3a_3x3   max3/2
    Mixed_3b         64x1 | 96x1 128x3 | 16x1 32x3 | max3 32x1
    Mixed_3c         128x1 | 128x1 192x3 | 32x1 96x3 | max3 64x1
    MaxPool_4a_3x3   max3/2
    Mixed_4b         192x1 | 96x1 208x3 | 16x1 48x3 | max3 64x1
    Mixed_4c         160x1 | 112x1 224x3 | 24x1 64x3 | max3 64x1
    Mixed_4d         128x1 | 128x1 256x3 | 24x1 64x3 | max3 64x1
    Mixed_4e         112x1 | 144x1 288x3 | 32x1 64x3 | max3 64x1
    Mixed_4f         256x1 | 160x1 320x3 | 32x1 128x3 | max3 128x1
    MaxPool_5a_2x2   max2/2
    Mixed_5b         256x1 | 160x1 320x3 | 32x1 128x3:Conv2d_0a_3x3 | max3 128x1
    Mixed_5c         384x1 | 192x1 384x3 | 48x1 128x3 | max3 128x1
"""
_V2 = """
    Conv2d_1a_7x7    separable64x7*1.0/2
    MaxPool_2a_3x3   max3/2
    Conv2d_2b_1x1    64x1*0.1
    Conv2d_2c_3x3    192x3
    MaxPool_3a_3x3   max3/2
    Mixed_3b         64x1 | 64x1*0.09 64x3 | 64x1*0.09 96x3 96x3 | avg3 32x1*0.1
    Mixed_3c         64x1 | 64x1*0.09 96x3 | 64x1*0.09 96x3 96x3 | avg3 64x1*0.1
    Mixed_4a         128x1*0.09 160x3/2 | 64x1*0.09 96x3 96x3/2 | max3/2
    Mixed_4b         224x1 | 64x1*0.09 96x3 | 96x1*0.09 128x3 128x3 | avg3 128x1*0.1
    Mixed_4c         192x1 | 96x1*0.09 128x3 | 96x1*0.09 128x3 128x3 | avg3 128x1*0.1
    Mixed_4d         160x1 | 128x1*0.09 160x3 | 128x1*0.09 160x3 160x3 | avg3 96x1*0.1
    Mixed_4e         96x1 | 128x1*0.09 192x3 | 160x1*0.09 192x3 192x3 | avg3 96x1*0.1
    Mixed_5a         128x1*0.09 192x3/2 | 192x1*0.09 256x3 256x3/2 | max3/2
    Mixed_5b         352x1 | 192x1*0.09 320x3 | 160x1*0.09 224x3 224x3 | avg3 128x1*0.1
    Mixed_5c         352x1 | 192x1*0.09 320x3 | 192x1*0.09 224x3 224x3 | max3 128x1*0.1
"""
_V3 = """
    Conv2d_1a_3x3    32x3/2V
    Conv2d_2a_3x3    32x3/1V
    Conv2d_2b_3x3    64x3
    MaxPool_3a_3x3   max3/2V
    Conv2d_3b_1x1    80x1/1V
    Conv2d_4a_3x3    192x3/1V
    MaxPool_5a_3x3   max3/2V
    Mixed_5b         64x1 | 48x1 64x5 | 64x1 96x3 96x3 | avg3 32x1
    Mixed_5c         64x1 | 48x1:Conv2d_0b_1x1 64x5:Conv_1_0c_5x5 | 64x1 96x3 96x3 | avg3 64x1
    Mixed_5d         64x1 | 48x1 64x5 | 64x1 96x3 96x3 | avg3 64x1
    Mixed_6a         384x3/2V:Conv2d_1a_1x1 | 64x1 96x3 96x3/2V:Conv2d_1a_1x1 | max3/2V
    Mixed_6b         192x1 | 128x1 128x1x7 192x7x1 | 128x1 128x7x1 128x1x7 128x7x1 192x1x7 | avg3 192x1
    Mixed_6c         192x1 | 160x1 160x1x7 192x7x1 | 160x1 160x7x1 160x1x7 160x7x1 192x1x7 | avg3 192x1
    Mixed_6d         192x1 | 160x1 160x1x7 192x7x1 | 160x1 160x7x1 160x1x7 160x7x1 192x1x7 | avg3 192x1
    Mixed_6e         192x1 | 192x1 192x1x7 192x7x1 | 192x1 192x7x1 192x1x7 192x7x1 192x1x7 | avg3 192x1
    Mixed_7a         192x1 320x3/2V | 192x1 192x1x7 192x7x1 192x3/2V | max3/2V
    Mixed_7b         320x1 | 384x1 (384x1x3 384x3x1:Conv2d_0b_3x1) | 448x1 384x3 (384x1x3 384x3x1) | avg3 192x1
    Mixed_7c         320x1 | 384x1 (384x1x3 384x3x1) | 448x1 384x3 (384x1x3 384x3x1) | avg3 192x1
"""
_LAYER = re.compile(
    r"(?P<kind>max|avg|(separable)?(?P<depth>\d+)x)(?P<height>\d+)"
    r"(x(?P<width>\d+))?(\*(?P<deviation>[\d.]+))?"
    r"(/(?P<stride>\d)(?P<valid>V)?)?(:(?P<name>\w+))?$")


def trunc_normal(stddev):
    """An initializer of the tails-cut normal distribution of mean 0."""
    return TruncatedNormal(0.0, stddev)


def _layer(net, text, depth, name=None, letter="a"):
    """A layer as the tables write it. `name`: if the table gives none and the
    next letter of a branch does not count."""
    found = _LAYER.match(text)
    kind, height = found["kind"], int(found["height"])
    size = [height, int(found["width"] or height)]
    stride = int(found["stride"] or 1)
    of_pool = kind in ("max", "avg")
    name = name or found["name"] or "%s_%d%s_%dx%d" % (
        {"max": "MaxPool", "avg": "AvgPool"}.get(kind, "Conv2d"), stride - 1,
        letter if stride == 1 else "a", *size)
    options = dict(stride=stride, padding="VALID" if found["valid"] else "SAME",
                   scope=name)
    if of_pool:
        return (max_pool2d if kind == "max" else avg_pool2d)(
            net, size, **options)
    if found["deviation"]:
        options["weights_initializer"] = trunc_normal(
            float(found["deviation"]))
    channels = depth(int(found["depth"]))
    if kind.startswith("separable"):
        return separable_conv2d(
            net, channels, size, depth_multiplier=min(channels // 3, 8),
            **options)
    return conv2d(net, channels, size, **options)


def _branch(net, text, depth):
    letter = ord("a")
    for group in re.findall(r"\([^)]*\)|\S+", text):
        made = []
        for layer in group.strip("()").split():
            made.append(_layer(net, layer, depth, letter=chr(letter)))
            # Both layers of a pair may have one letter: the table says so.
            letter += 1
        net = made[0] if len(made) == 1 else concat(made, 3)
    return net


def _base(table, inputs, final_endpoint, depth):
    """(output, end points) of the layers of a table up to final_endpoint."""
    points, net = {}, inputs
    for line in table.strip().splitlines():
        name, text = line.split(None, 1)
        if name.startswith("Mixed"):
            branches = []
            with variable_scope(name):
                for i, branch in enumerate(text.split("|")):
                    with variable_scope("Branch_%d" % i):
                        branches.append(_branch(net, branch, depth))
                net = concat(branches, 3)
        else:
            net = _layer(net, text.strip(), depth, name)
        points[name] = net
        if name == final_endpoint:
            return net, points
    raise ValueError("Unknown final endpoint %s" % final_endpoint)


def _depth(min_depth, multiplier):
    if multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * multiplier), min_depth)


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """(output, end points) of Inception V1 up to final_endpoint, without its
    logits. ValueError for an end point that there is not."""
    with variable_scope(scope, "InceptionV1", [inputs]), arg_scope(
            [conv2d, fully_connected], weights_initializer=trunc_normal(0.01)):
        return _base(_V1, inputs, final_endpoint, lambda depth: depth)


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16,
                      depth_multiplier=1.0, scope=None):
    """inception_v1_base of V2. The channels are times depth_multiplier, at
    least min_depth."""
    depth = _depth(min_depth, depth_multiplier)
    with variable_scope(scope, "InceptionV2", [inputs]):
        return _base(_V2, inputs, final_endpoint, depth)


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16,
                      depth_multiplier=1.0, scope=None):
    """inception_v2_base of V3."""
    depth = _depth(min_depth, depth_multiplier)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return _base(_V3, inputs, final_endpoint, depth)


def _smaller(net, size):
    """The size of a kernel, at most that of the image if this is known."""
    known = net.get_shape().as_list()[1:3]
    return size if None in known else [min(a, b) for a, b in zip(known, size)]


def _finish(points, name, logits, spatial_squeeze):
    if spatial_squeeze:
        logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
    points[name] = logits
    return logits


def _logits(net, num_classes, scope, **options):
    return conv2d(net, num_classes, [1, 1], activation_fn=None,
                  normalizer_fn=None, scope=scope, **options)


def inception_v1(inputs, num_classes=1000, is_training=True,
                 dropout_keep_prob=0.8, prediction_fn=softmax,
                 spatial_squeeze=True, reuse=None, scope="InceptionV1"):
    """(logits, end points) of Inception V1, for images of 224 x 224; the end
    points have `Logits` and `Predictions`, prediction_fn of the logits."""
    with variable_scope(scope, "InceptionV1", [inputs, num_classes],
                        reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, points = inception_v1_base(inputs, scope=scope)
            with variable_scope("Logits"):
                net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = _finish(points, "Logits", _logits(
                    net, num_classes, "Conv2d_0c_1x1"), spatial_squeeze)
                points["Predictions"] = prediction_fn(logits,
                                                      scope="Predictions")
    return logits, points


def _head(net, points, size, keep_prob, num_classes, prediction_fn,
          spatial_squeeze, keeps_features):
    """The logits of V2 and V3."""
    with variable_scope("Logits"):
        size = _smaller(net, size)
        net = avg_pool2d(net, size, padding="VALID",
                         scope="AvgPool_1a_%dx%d" % tuple(size))
        net = dropout(net, keep_prob, scope="Dropout_1b")
        if keeps_features:
            points["PreLogits"] = net
        logits = _finish(points, "Logits", _logits(
            net, num_classes, "Conv2d_1c_1x1"), spatial_squeeze)
    points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, points


def inception_v2(inputs, num_classes=1000, is_training=True,
                 dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=softmax, spatial_squeeze=True, reuse=None,
                 scope="InceptionV2"):
    """inception_v1 of V2."""
    with variable_scope(scope, "InceptionV2", [inputs, num_classes],
                        reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, points = inception_v2_base(
                inputs, scope=scope, min_depth=min_depth,
                depth_multiplier=depth_multiplier)
            return _head(net, points, [7, 7], dropout_keep_prob, num_classes,
                         prediction_fn, spatial_squeeze, False)


def inception_v3(inputs, num_classes=1000, is_training=True,
                 dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=softmax, spatial_squeeze=True, reuse=None,
                 scope="InceptionV3"):
    """inception_v1 of V3, for images of 299 x 299; the end points also have
    `AuxLogits`, made from layers in the middle."""
    depth = _depth(min_depth, depth_multiplier)
    with variable_scope(scope, "InceptionV3", [inputs, num_classes],
                        reuse=reuse) as scope:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, points = inception_v3_base(
                inputs, scope=scope, min_depth=min_depth,
                depth_multiplier=depth_multiplier)
            with variable_scope("AuxLogits"):
                aux = avg_pool2d(points["Mixed_6e"], [5, 5], stride=3,
                                 padding="VALID", scope="AvgPool_1a_5x5")
                aux = conv2d(aux, depth(128), [1, 1], scope="Conv2d_1b_1x1")
                size = _smaller(aux, [5, 5])
                aux = conv2d(aux, depth(768), size, padding="VALID",
                             weights_initializer=trunc_normal(0.01),
                             scope="Conv2d_2a_%dx%d" % tuple(size))
                _finish(points, "AuxLogits", _logits(
                    aux, num_classes, "Conv2d_2b_1x1",
                    weights_initializer=trunc_normal(0.001)), spatial_squeeze)
            return _head(net, points, [8, 8], dropout_keep_prob, num_classes,
                         prediction_fn, spatial_squeeze, True)


def _scope(weight_decay, variables, normalizes=True, **norm):
    params = dict(norm, variables_collections={
        "beta": None, "gamma": None, "moving_mean": [variables],
        "moving_variance": [variables]})
    normalizer = dict(normalizer_fn=batch_norm, normalizer_params=params) if (
        normalizes) else dict(normalizer_fn=None, normalizer_params={})
    with arg_scope([conv2d, fully_connected],
                   weights_regularizer=l2_regularizer(weight_decay)):
        with arg_scope([conv2d], activation_fn=relu,
                       weights_initializer=variance_scaling_initializer(),
                       **normalizer) as found:
            return found


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True,
                           batch_norm_var_collection="moving_vars"):
    """The arg_scope of Inception V1."""
    return _scope(weight_decay, batch_norm_var_collection, use_batch_norm,
                  decay=0.9997, epsilon=0.001,
                  updates_collections=GraphKeys.UPDATE_OPS)


def inception_v2_arg_scope(weight_decay=0.00004,
                           batch_norm_var_collection="moving_vars"):
    """The arg_scope of Inception V2."""
    return _scope(weight_decay, batch_norm_var_collection, decay=0.9997,
                  epsilon=0.001, updates_collections=GraphKeys.UPDATE_OPS)


def inception_v3_arg_scope(
        weight_decay=0.00004, batch_norm_var_collection="moving_vars",
        batch_norm_decay=0.9997, batch_norm_epsilon=0.001,
        updates_collections=GraphKeys.UPDATE_OPS, use_fused_batchnorm=True):
    """The arg_scope of Inception V3."""
    return _scope(weight_decay, batch_norm_var_collection,
                  decay=batch_norm_decay, epsilon=batch_norm_epsilon,
                  updates_collections=updates_collections,
                  fused=use_fused_batchnorm)


for _net, _size in ((inception_v1, 224), (inception_v2, 224),
                    (inception_v3, 299)):
    setattr(_net, "default_image_size", _size)
