"""tf.keras.applications: DenseNet, whose blocks append to what they are given."""
from headrace._src.applications.parts import Network, maker
from headrace._src.layers import backend


def _densenet(name, blocks, arguments, options):
    net = Network(*arguments, options)
    layers = net.layers

    def ready(x, name, relu):
        x = layers.BatchNormalization(axis=net.axis, epsilon=1.001e-5,
                                      name=name)(x)
        return layers.Activation("relu", name=relu)(x)

    def conv(x, filters, size, name, **options):
        return layers.Conv2D(filters, size, use_bias=False, name=name,
                             **options)(x)

    def block(x, name):
        new = conv(ready(x, name + "_0_bn", name + "_0_relu"), 128, 1,
                   name + "_1_conv")
        new = conv(ready(new, name + "_1_bn", name + "_1_relu"), 32, 3,
                   name + "_2_conv", padding="same")
        return layers.Concatenate(axis=net.axis, name=name + "_concat")([x, new])

    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)))(net.inputs)
    x = conv(x, 64, 7, "conv1/conv", strides=2)
    x = ready(x, "conv1/bn", "conv1/relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, count in enumerate(blocks, 2):
        for i in range(1, count + 1):
            x = block(x, "conv%d_block%d" % (stage, i))
        if stage < 5:
            pool = "pool%d" % stage
            x = ready(x, pool + "_bn", pool + "_relu")
            x = conv(x, backend.int_shape(x)[net.axis] // 2, 1, pool + "_conv")
            x = layers.AveragePooling2D(2, strides=2, name=pool + "_pool")(x)
    x = ready(x, "bn", "relu")
    return net.ended(x, name, "fc1000", "avg_pool", "max_pool")


def _maker(layers, blocks):
    def make(arguments, options):
        return _densenet("densenet%d" % layers, blocks, arguments, options)
    return maker("DenseNet%d" % layers, "DenseNet of %d layers" % layers, make)


DenseNet121 = _maker(121, (6, 12, 24, 16))
DenseNet169 = _maker(169, (6, 12, 32, 32))
DenseNet201 = _maker(201, (6, 12, 48, 32))
