"""tf.keras.applications: MobileNet, whose convolutions are depthwise and then of
single pixels; of the second version, blocks widen before and narrow after."""
from headrace._src.applications.parts import Network
from headrace._src.layers import backend


def _normal(net, x, name, relu="", **options):
    x = net.layers.BatchNormalization(axis=net.axis, name=name, **options)(x)
    return net.layers.ReLU(6., name=relu)(x) if relu else x


_SIZES = (96, 128, 160, 192, 224)  # of images that there are weights for


def _sides(shape):
    """Rows and columns of the shape of an image."""
    first = backend.image_data_format() == "channels_first"
    return tuple(shape[1:] if first else shape[:2])


def _size_of(input_shape):
    """The size of images by default: that of a square which was given."""
    if input_shape is None:
        return 224
    rows, columns = _sides(input_shape)
    return rows if rows == columns and rows in _SIZES else 224


def MobileNet(input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3,
              include_top=True, weights="imagenet", input_tensor=None,
              pooling=None, classes=1000, **kwargs):
    """MobileNet, as a Model of images [batch, rows, columns, 3].

    Args:
      alpha: a factor of the numbers of filters.
      depth_multiplier: how many depthwise filters a channel has.
      dropout: the rate before the last layer.
      input_shape, include_top, weights, input_tensor, pooling, classes: as those of
        tf.keras.applications.VGG16.
    Raises:
      ValueError: weights, classes and shapes that do not fit; with weights of
        ImageNet, other values of alpha than 0.25, 0.5, 0.75 and 1, or a
        depth_multiplier that is not 1.
      NotFoundError: the file of weights is not there.
    """
    if weights == "imagenet":
        if depth_multiplier != 1:
            raise ValueError("If imagenet weights are being loaded, depth "
                             "multiplier must be 1; got %s" % depth_multiplier)
        if alpha not in (.25, .5, .75, 1.):
            raise ValueError("If imagenet weights are being loaded, alpha can be "
                             "one of`0.25`, `0.50`, `0.75` or `1.0` only; got %s"
                             % alpha)
    net = Network(include_top, weights, input_tensor, input_shape, pooling,
                  classes, kwargs, _size_of(input_shape))
    layers, x = net.layers, net.inputs
    x = layers.ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(x)
    x = layers.Conv2D(int(32 * alpha), (3, 3), padding="valid", use_bias=False,
                      strides=(2, 2), name="conv1")(x)
    x = _normal(net, x, "conv1_bn", "conv1_relu")
    blocks = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
              *[(512, 1)] * 5, (1024, 2), (1024, 1))
    for i, (filters, stride) in enumerate(blocks, 1):
        if stride > 1:
            x = layers.ZeroPadding2D(((0, 1), (0, 1)),
                                     name="conv_pad_%d" % i)(x)
        x = layers.DepthwiseConv2D(
            (3, 3), padding="same" if stride == 1 else "valid",
            depth_multiplier=depth_multiplier, strides=(stride, stride),
            use_bias=False, name="conv_dw_%d" % i)(x)
        x = _normal(net, x, "conv_dw_%d_bn" % i, "conv_dw_%d_relu" % i)
        x = layers.Conv2D(int(filters * alpha), (1, 1), padding="same",
                          use_bias=False, strides=(1, 1),
                          name="conv_pw_%d" % i)(x)
        x = _normal(net, x, "conv_pw_%d_bn" % i, "conv_pw_%d_relu" % i)
    if include_top:
        one = int(1024 * alpha)
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Reshape((one, 1, 1) if net.axis == 1 else (1, 1, one),
                           name="reshape_1")(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation("softmax", name="act_softmax")(x)
    else:
        x = net.pooled(x)
    width = {1.: "1_0", .75: "7_5", .5: "5_0"}.get(alpha, "2_5")
    return net.model(x, "mobilenet_%0.2f_%s" % (alpha, _sides(net.shape)[0]),
                     "mobilenet_%s_%d_tf%s.h5" % (
                         width, _size_of(net.shape),
                         "" if include_top else "_no_top"))


def _multiple_of_8(value):
    """The nearest one, unless that is less than nine tenths."""
    near = max(8, int(value + 4) // 8 * 8)
    return near + 8 if near < .9 * value else near


def _padding(net, x):
    """That of a 3x3 window with stride 2, for images of even or odd sizes."""
    sides = backend.int_shape(x)[2 if net.axis == 1 else 1:][:2]
    return tuple((0 if side is None else side % 2, 1) for side in sides)


def _inverted(net, x, i, filters, stride, widen):
    layers, before = net.layers, x
    channels = backend.int_shape(x)[net.axis]
    name = "block_%d_" % i if i else "expanded_conv_"
    exact = {"epsilon": 1e-3, "momentum": .999}
    if i:
        x = layers.Conv2D(widen * channels, kernel_size=1, padding="same",
                          use_bias=False, activation=None,
                          name=name + "expand")(x)
        x = _normal(net, x, name + "expand_BN", name + "expand_relu", **exact)
    if stride == 2:
        x = layers.ZeroPadding2D(padding=_padding(net, x), name=name + "pad")(x)
    x = layers.DepthwiseConv2D(
        kernel_size=3, strides=stride, activation=None, use_bias=False,
        padding="same" if stride == 1 else "valid", name=name + "depthwise")(x)
    x = _normal(net, x, name + "depthwise_BN", name + "depthwise_relu", **exact)
    x = layers.Conv2D(filters, kernel_size=1, padding="same", use_bias=False,
                      activation=None, name=name + "project")(x)
    x = _normal(net, x, name + "project_BN", **exact)
    if channels == filters and stride == 1:
        x = layers.Add(name=name + "add")([before, x])
    return x


def MobileNetV2(input_shape=None, alpha=1.0, include_top=True,
                weights="imagenet", input_tensor=None, pooling=None,
                classes=1000, **kwargs):
    """The second MobileNet, as a Model of images [batch, rows, columns, 3].

    Args:
      alpha: a factor of the numbers of filters.
      input_shape, include_top, weights, input_tensor, pooling, classes: as those of
        tf.keras.applications.VGG16.
    Raises:
      ValueError: weights, classes and shapes that do not fit; with weights of
        ImageNet, other values of alpha than 0.35, 0.5, 0.75, 1, 1.3 and 1.4.
      NotFoundError: the file of weights is not there.
    """
    if weights == "imagenet" and alpha not in (.35, .5, .75, 1., 1.3, 1.4):
        raise ValueError("If imagenet weights are being loaded, alpha can be one "
                         "of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4` only; "
                         "got %s" % alpha)
    if input_shape is None and input_tensor is not None and (
            backend.is_keras_tensor(input_tensor)):
        input_shape = backend.int_shape(input_tensor)[1:]
    net = Network(include_top, weights, input_tensor, input_shape, pooling,
                  classes, kwargs, _size_of(input_shape))
    layers, x = net.layers, net.inputs
    exact = {"epsilon": 1e-3, "momentum": .999}
    x = layers.ZeroPadding2D(padding=_padding(net, x), name="Conv1_pad")(x)
    x = layers.Conv2D(_multiple_of_8(32 * alpha), kernel_size=3, strides=(2, 2),
                      padding="valid", use_bias=False, name="Conv1")(x)
    x = _normal(net, x, "bn_Conv1", "Conv1_relu", **exact)
    blocks = ((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), *[(32, 1, 6)] * 2,
              (64, 2, 6), *[(64, 1, 6)] * 3, *[(96, 1, 6)] * 3, (160, 2, 6),
              *[(160, 1, 6)] * 2, (320, 1, 6))
    for i, (filters, stride, widen) in enumerate(blocks):
        x = _inverted(net, x, i, _multiple_of_8(int(filters * alpha)), stride,
                      widen)
    last = _multiple_of_8(1280 * alpha) if alpha > 1 else 1280
    x = layers.Conv2D(last, kernel_size=1, use_bias=False, name="Conv_1")(x)
    x = _normal(net, x, "Conv_1_bn", "out_relu", **exact)
    if include_top:
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Dense(classes, activation="softmax", use_bias=True,
                         name="Logits")(x)
    else:
        x = net.pooled(x)
    return net.model(
        x, "mobilenetv2_%0.2f_%s" % (alpha, _sides(net.shape)[0]),
        "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_%s_%d%s.h5" % (
            float(alpha), _size_of(net.shape),
            "" if include_top else "_no_top"))
