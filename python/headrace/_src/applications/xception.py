"""tf.keras.applications: Xception, blocks of separable convolutions that add to
their inputs."""
from headrace._src.applications.parts import Network


def Xception(include_top=True, weights="imagenet", input_tensor=None,
             input_shape=None, pooling=None, classes=1000, **kwargs):
    """Xception, of images of 299 x 299 by default and 71 x 71 at least; arguments,
    shapes and errors as those of tf.keras.applications.VGG16."""
    net = Network(include_top, weights, input_tensor, input_shape, pooling,
                  classes, kwargs, 299, 71)
    layers = net.layers

    def normal(x, name=None):
        return layers.BatchNormalization(axis=net.axis, name=name)(x)

    def relu(x, name):
        return layers.Activation("relu", name=name + "_act")(x)

    def separable(x, filters, name):
        x = layers.SeparableConv2D(filters, (3, 3), padding="same",
                                   use_bias=False, name=name)(x)
        return normal(x, name + "_bn")

    def narrowing(x, block, filters):
        """A block whose images are half as large. The first has no ReLU before
        its first convolution."""
        name = "block%d_" % block
        past = normal(layers.Conv2D(filters[-1], (1, 1), strides=(2, 2),
                                    padding="same", use_bias=False)(x))
        for i, count in enumerate(filters, 1):
            if block > 2 or i > 1:
                x = relu(x, "%ssepconv%d" % (name, i))
            x = separable(x, count, "%ssepconv%d" % (name, i))
        x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same",
                                name=name + "pool")(x)
        return layers.add([x, past])

    x = net.inputs
    for i, filters in ((1, 32), (2, 64)):
        name = "block1_conv%d" % i
        x = layers.Conv2D(filters, (3, 3), strides=(2, 2) if i == 1 else (1, 1),
                          use_bias=False, name=name)(x)
        x = relu(normal(x, name + "_bn"), name)
    for block, count in ((2, 128), (3, 256), (4, 728)):
        x = narrowing(x, block, (count, count))
    for block in range(5, 13):
        past = x
        for i in (1, 2, 3):
            name = "block%d_sepconv%d" % (block, i)
            x = separable(relu(x, name), 728, name)
        x = layers.add([x, past])
    x = narrowing(x, 13, (728, 1024))
    for i, count in ((1, 1536), (2, 2048)):
        name = "block14_sepconv%d" % i
        x = relu(separable(x, count, name), name)
    return net.ended(x, "xception")
