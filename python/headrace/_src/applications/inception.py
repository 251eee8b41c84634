"""tf.keras.applications: Inception, whose blocks join branches of convolutions; of
InceptionResNet, what they join is added to their inputs."""
from headrace._src.applications.parts import Network
from headrace._src.layers import backend


class _Third:
    """The layers of InceptionV3. A branch is a list of (filters, rows, columns)
    and perhaps "half": valid, with stride 2."""

    def __init__(self, net):
        self.layers, self.axis = net.layers, net.axis

    def conv(self, x, filters, rows, columns, half=None, padding="same",
             strides=(1, 1)):
        if half:
            padding, strides = "valid", (2, 2)
        x = self.layers.Conv2D(filters, (rows, columns), strides=strides,
                               padding=padding, use_bias=False)(x)
        x = self.layers.BatchNormalization(axis=self.axis, scale=False)(x)
        return self.layers.Activation("relu")(x)

    def along(self, x, *branch):
        for sizes in branch:
            x = self.conv(x, *sizes)
        return x

    def pool(self, x):
        return self.layers.MaxPooling2D((3, 3), strides=(2, 2))(x)

    def averaged(self, x, filters):
        x = self.layers.AveragePooling2D((3, 3), strides=(1, 1),
                                         padding="same")(x)
        return self.conv(x, filters, 1, 1)

    def join(self, branches, name=None):
        return self.layers.concatenate(branches, axis=self.axis, name=name)


def InceptionV3(include_top=True, weights="imagenet", input_tensor=None,
                input_shape=None, pooling=None, classes=1000, **kwargs):
    """Inception of version 3, of images of 299 x 299 by default and 75 x 75 at
    least; arguments, shapes and errors as those of tf.keras.applications.VGG16."""
    net = Network(include_top, weights, input_tensor, input_shape, pooling,
                  classes, kwargs, 299, 75)
    parts = _Third(net)
    along = parts.along
    x = along(net.inputs, (32, 3, 3, "half"), (32, 3, 3, None, "valid"),
              (64, 3, 3))
    x = parts.pool(x)
    x = along(x, (80, 1, 1, None, "valid"), (192, 3, 3, None, "valid"))
    x = parts.pool(x)
    for i, pooled in enumerate((32, 64, 64)):
        x = parts.join([
            along(x, (64, 1, 1)), along(x, (48, 1, 1), (64, 5, 5)),
            along(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
            parts.averaged(x, pooled)], "mixed%d" % i)
    x = parts.join([
        along(x, (384, 3, 3, "half")),
        along(x, (64, 1, 1), (96, 3, 3), (96, 3, 3, "half")),
        parts.pool(x)], "mixed3")
    for i, n in enumerate((128, 160, 160, 192), 4):
        x = parts.join([
            along(x, (192, 1, 1)), along(x, (n, 1, 1), (n, 1, 7), (192, 7, 1)),
            along(x, (n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7)),
            parts.averaged(x, 192)], "mixed%d" % i)
    x = parts.join([
        along(x, (192, 1, 1), (320, 3, 3, "half")),
        along(x, (192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, "half")),
        parts.pool(x)], "mixed8")
    for i in range(2):
        one = along(x, (320, 1, 1))
        three = along(x, (384, 1, 1))
        three = parts.join([along(three, (384, 1, 3)), along(three, (384, 3, 1))],
                           "mixed9_%d" % i)
        twice = along(x, (448, 1, 1), (384, 3, 3))
        twice = parts.join([along(twice, (384, 1, 3)), along(twice, (384, 3, 1))])
        x = parts.join([one, three, twice, parts.averaged(x, 192)],
                       "mixed%d" % (9 + i))
    return net.ended(x, "inception_v3")


def _scaled_sum(inputs, scale):
    return inputs[0] + inputs[1] * scale


class _ResNet:
    """The layers of InceptionResNetV2. A branch is a list of (filters, size) and
    perhaps the stride, with which it is valid."""

    _BRANCHES = {
        "block35": [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]],
        "block17": [[(192, 1)], [(128, 1), (160, [1, 7]), (192, [7, 1])]],
        "block8": [[(192, 1)], [(192, 1), (224, [1, 3]), (256, [3, 1])]]}

    def __init__(self, net):
        self.layers, self.axis = net.layers, net.axis

    def conv(self, x, filters, size, stride=None, name=None):
        x = self.layers.Conv2D(
            filters, size, strides=stride or 1,
            padding="valid" if stride else "same", use_bias=False, name=name)(x)
        x = self.layers.BatchNormalization(
            axis=self.axis, scale=False, name=name and name + "_bn")(x)
        return self.layers.Activation("relu", name=name and name + "_ac")(x)

    def along(self, x, *branch):
        for sizes in branch:
            x = self.conv(x, *sizes)
        return x

    def join(self, branches, name):
        return self.layers.Concatenate(axis=self.axis, name=name)(branches)

    def pool(self, x):
        return self.layers.MaxPooling2D(3, strides=2, padding="valid")(x)

    def block(self, x, scale, kind, i, relu=True):
        name = "%s_%d" % (kind, i)
        shape = backend.int_shape(x)
        mixed = self.join([self.along(x, *b) for b in self._BRANCHES[kind]],
                          name + "_mixed")
        up = self.layers.Conv2D(shape[self.axis], 1, strides=1, padding="same",
                                use_bias=True, name=name + "_conv")(mixed)
        x = self.layers.Lambda(_scaled_sum, output_shape=shape[1:],
                               arguments={"scale": scale}, name=name)([x, up])
        return self.layers.Activation("relu", name=name + "_ac")(x) if relu else x


def InceptionResNetV2(include_top=True, weights="imagenet", input_tensor=None,
                      input_shape=None, pooling=None, classes=1000, **kwargs):
    """Inception with sums, version 2, of images of 299 x 299 by default and 75 x 75
    at least; arguments, shapes and errors as those of
    tf.keras.applications.VGG16."""
    net = Network(include_top, weights, input_tensor, input_shape, pooling,
                  classes, kwargs, 299, 75)
    parts, layers = _ResNet(net), net.layers
    along = parts.along
    x = along(net.inputs, (32, 3, 2), (32, 3, 1), (64, 3))
    x = layers.MaxPooling2D(3, strides=2)(x)
    x = along(x, (80, 1, 1), (192, 3, 1))
    x = layers.MaxPooling2D(3, strides=2)(x)
    branches = [along(x, (96, 1)), along(x, (48, 1), (64, 5)),
                along(x, (64, 1), (96, 3), (96, 3))]
    pooled = layers.AveragePooling2D(3, strides=1, padding="same")(x)
    x = parts.join(branches + [along(pooled, (64, 1))], "mixed_5b")
    for i in range(1, 11):
        x = parts.block(x, .17, "block35", i)
    x = parts.join([along(x, (384, 3, 2)),
                    along(x, (256, 1), (256, 3), (384, 3, 2)), parts.pool(x)],
                   "mixed_6a")
    for i in range(1, 21):
        x = parts.block(x, .1, "block17", i)
    x = parts.join([along(x, (256, 1), (384, 3, 2)),
                    along(x, (256, 1), (288, 3, 2)),
                    along(x, (256, 1), (288, 3), (320, 3, 2)), parts.pool(x)],
                   "mixed_7a")
    for i in range(1, 10):
        x = parts.block(x, .2, "block8", i)
    x = parts.block(x, 1., "block8", 10, relu=False)
    x = parts.conv(x, 1536, 1, name="conv_7b")
    return net.ended(x, "inception_resnet_v2")
