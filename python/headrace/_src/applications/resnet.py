"""tf.keras.applications: ResNet, whose blocks add to their inputs; of the second
version, blocks normalise before they convolve."""
from headrace._src.applications.parts import Network, maker


class _Parts:
    """The layers of a network, by name."""

    def __init__(self, net):
        self.layers, self.axis = net.layers, net.axis

    def normal(self, x, name, relu=""):
        x = self.layers.BatchNormalization(
            axis=self.axis, epsilon=1.001e-5, name=name)(x)
        return self.layers.Activation("relu", name=relu)(x) if relu else x

    def conv(self, x, filters, size, name, stride=1, **options):
        return self.layers.Conv2D(filters, size, strides=stride, name=name,
                                  **options)(x)

    def block(self, x, filters, stride, name, shortcut):
        """1x1, 3x3 and 1x1, each normalised after it."""
        past = x
        if shortcut:
            past = self.normal(self.conv(x, 4 * filters, 1, name + "_0_conv",
                                         stride), name + "_0_bn")
        x = self.normal(self.conv(x, filters, 1, name + "_1_conv", stride),
                        name + "_1_bn", name + "_1_relu")
        x = self.normal(self.conv(x, filters, 3, name + "_2_conv",
                                  padding="SAME"),
                        name + "_2_bn", name + "_2_relu")
        x = self.normal(self.conv(x, 4 * filters, 1, name + "_3_conv"),
                        name + "_3_bn")
        x = self.layers.Add(name=name + "_add")([past, x])
        return self.layers.Activation("relu", name=name + "_out")(x)

    def second_block(self, x, filters, stride, name, shortcut):
        """The same, normalised before."""
        ready = self.normal(x, name + "_preact_bn", name + "_preact_relu")
        if shortcut:
            past = self.conv(ready, 4 * filters, 1, name + "_0_conv", stride)
        else:
            past = self.layers.MaxPooling2D(1, strides=stride)(
                x) if stride > 1 else x
        x = self.normal(self.conv(ready, filters, 1, name + "_1_conv",
                                  use_bias=False),
                        name + "_1_bn", name + "_1_relu")
        x = self.layers.ZeroPadding2D(padding=((1, 1), (1, 1)),
                                      name=name + "_2_pad")(x)
        x = self.normal(self.conv(x, filters, 3, name + "_2_conv", stride,
                                  use_bias=False),
                        name + "_2_bn", name + "_2_relu")
        x = self.conv(x, 4 * filters, 1, name + "_3_conv")
        return self.layers.Add(name=name + "_out")([past, x])


def _resnet(name, blocks, second, arguments, options):
    net = Network(*arguments, options)
    parts, layers = _Parts(net), net.layers
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(
        net.inputs)
    x = parts.conv(x, 64, 7, "conv1_conv", 2, use_bias=True)
    if not second:
        x = parts.normal(x, "conv1_bn", "conv1_relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stack, count in enumerate(blocks):
        # The images get smaller in the first block of a stack but the first,
        # or, in the second version, in the last block of a stack but the last.
        small = len(blocks) - 1 if second else 0
        strided = count if second else 1
        for i in range(1, count + 1):
            stride = 2 if i == strided and stack != small else 1
            make = parts.second_block if second else parts.block
            x = make(x, 64 << stack, stride,
                     "conv%d_block%d" % (stack + 2, i), i == 1)
    if second:
        x = parts.normal(x, "post_bn", "post_relu")
    return net.ended(x, name, "probs", "avg_pool", "max_pool")


def _maker(layers, blocks, second=False):
    version = "V2" if second else ""

    def make(arguments, options):
        return _resnet("resnet%d%s" % (layers, version.lower()), blocks, second,
                       arguments, options)
    return maker("ResNet%d%s" % (layers, version), "ResNet of %d layers%s" % (
        layers, ", second version" if second else ""), make)


ResNet50 = _maker(50, (3, 4, 6, 3))
ResNet101 = _maker(101, (3, 4, 23, 3))
ResNet152 = _maker(152, (3, 8, 36, 3))
ResNet50V2 = _maker(50, (3, 4, 6, 3), second=True)
ResNet101V2 = _maker(101, (3, 4, 23, 3), second=True)
ResNet152V2 = _maker(152, (3, 8, 36, 3), second=True)
