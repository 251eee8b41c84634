"""tf.keras.applications: VGG, blocks of convolutions and three dense layers."""
from headrace._src.applications.parts import Network


def _vgg(name, sizes, arguments, options):
    net = Network(*arguments, options)
    layers, x = net.layers, net.inputs
    for block, (filters, count) in enumerate(
            zip((64, 128, 256, 512, 512), sizes), 1):
        for i in range(1, count + 1):
            x = layers.Conv2D(filters, (3, 3), activation="relu",
                              padding="same",
                              name="block%d_conv%d" % (block, i))(x)
        x = layers.MaxPooling2D((2, 2), strides=(2, 2),
                                name="block%d_pool" % block)(x)
    if net.top:
        x = layers.Flatten(name="flatten")(x)
        x = layers.Dense(4096, activation="relu", name="fc1")(x)
        x = layers.Dense(4096, activation="relu", name="fc2")(x)
        x = layers.Dense(net.classes, activation="softmax",
                         name="predictions")(x)
    else:
        x = net.pooled(x)
    return net.model(x, name)


def VGG16(include_top=True, weights="imagenet", input_tensor=None,
          input_shape=None, pooling=None, classes=1000, **kwargs):
    """VGG of 16 layers, as a Model of images [batch, rows, columns, 3].

    Args:
      include_top: with the layers that classify images of 224 x 224, or
        `input_shape`; else up to the last images, or what `pooling` makes of them.
      weights: None, the path of a file, or "imagenet": a file that has to be in
        ~/.keras/models.
      input_tensor: a tensor that the model begins with.
      pooling: None, "avg" or "max".
    Raises:
      ValueError: weights, classes and shapes that do not fit.
      NotFoundError: the file of weights is not there.
    """
    return _vgg("vgg16", (2, 2, 3, 3, 3), (
        include_top, weights, input_tensor, input_shape, pooling, classes),
        kwargs)


def VGG19(include_top=True, weights="imagenet", input_tensor=None,
          input_shape=None, pooling=None, classes=1000, **kwargs):
    """VGG of 19 layers; arguments, shapes and errors as those of VGG16."""
    return _vgg("vgg19", (2, 2, 4, 4, 4), (
        include_top, weights, input_tensor, input_shape, pooling, classes),
        kwargs)
