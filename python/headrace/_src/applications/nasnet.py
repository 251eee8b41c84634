"""tf.keras.applications: NASNet, whose cells take the outputs of the two cells
before them. Data is channels last, whatever backend.image_data_format() is."""
import functools

from headrace._src.applications.parts import Network, maker
from headrace._src.framework.graph import name_scope
from headrace._src.layers import backend

_FACTOR = 2  # by which a reduction multiplies the filters


class _Cells:
    """The parts of cells. `layers`: the module that the layers are from."""

    def __init__(self, layers):
        self.layers = layers
        self.conv = functools.partial(
            layers.Conv2D, kernel_size=(1, 1), padding="same", use_bias=False,
            kernel_initializer="he_normal")

    def relu(self, x, name=None):
        return self.layers.Activation("relu", name=name)(x)

    def normal(self, x, name):
        return self.layers.BatchNormalization(
            axis=-1, momentum=.9997, epsilon=1e-3, name=name)(x)

    def padding(self, x, size):
        """The zeros around `x`, [(before, after)], so that a window of this size
        with a stride of 2 gives half of it."""
        sides = backend.int_shape(x)[1:3]
        half = size // 2
        less = [1 if sides[0] is None else 1 - n % 2 for n in sides]
        return tuple((half - n, half) for n in less)

    def separable(self, x, filters, size, block, reduces=False):
        """Two separable convolutions, of which the first may halve the image."""
        with name_scope("separable_conv_block_" + block):
            x = self.relu(x)
            if reduces:
                x = self.layers.ZeroPadding2D(
                    padding=self.padding(x, size),
                    name="separable_conv_1_pad_" + block)(x)
            for i, halves in ((1, reduces), (2, False)):
                name = "separable_conv_%d_" % i
                x = self.layers.SeparableConv2D(
                    filters, (size, size), strides=(2, 2) if halves else (1, 1),
                    name=name + block, padding="valid" if halves else "same",
                    use_bias=False, kernel_initializer="he_normal")(x)
                x = self.normal(x, name + "bn_" + block)
                x = self.relu(x) if i == 1 else x
        return x

    def pool(self, kind, x, name, strides=(1, 1), size=(3, 3)):
        return getattr(self.layers, kind + "Pooling2D")(
            size, strides=strides, name=name,
            padding="same" if strides == (1, 1) else "valid")(x)

    def before(self, p, x, filters, block):
        """The output of the cell before the last, with the size of `x` and so
        many filters; without one, `x`."""
        with name_scope("adjust_block"):
            if p is None:
                return x
            if backend.int_shape(p)[-2] != backend.int_shape(x)[-2]:
                with name_scope("adjust_reduction_block_" + block):
                    return self._halved(p, filters, block)
            if backend.int_shape(p)[-1] != filters:
                with name_scope("adjust_projection_block_" + block):
                    p = self.conv(filters, strides=(1, 1), name=(
                        "adjust_conv_projection_" + block))(self.relu(p))
                    return self.normal(p, "adjust_bn_" + block)
        return p

    def _halved(self, p, filters, block):
        p = self.relu(p, "adjust_relu_1_" + block)
        shifted, parts = p, []
        for i in (1, 2):
            if i == 2:
                shifted = self.layers.Cropping2D(cropping=((1, 0), (1, 0)))(
                    self.layers.ZeroPadding2D(padding=((0, 1), (0, 1)))(p))
            part = self.pool("Average", shifted, "adjust_avg_pool_%d_%s" % (
                i, block), (2, 2), (1, 1))
            parts.append(self.conv(filters // 2, name="adjust_conv_%d_%s" % (
                i, block))(part))
        return self.normal(self.layers.concatenate(parts, axis=-1),
                           "adjust_bn_" + block)

    def start(self, x, filters, kind, block):
        """What a cell makes of the output of the last one."""
        h = self.conv(filters, strides=(1, 1), name="%s_conv_1_%s" % (
            kind, block))(self.relu(x))
        return self.normal(h, "%s_bn_1_%s" % (kind, block))

    def normal_cell(self, x, p, filters, block):
        add, concatenate = self.layers.add, self.layers.concatenate

        def sides(i, first, second):
            """The sum of two separable convolutions (input, size)."""
            with name_scope("block_%d" % i):
                return add([
                    self.separable(y, filters, size, "normal_%s%d_%s" % (
                        side, i, block))
                    for side, (y, size) in (("left", first), ("right", second))
                ], name="normal_add_%d_%s" % (i, block))
        with name_scope("normal_A_block_" + block):
            p = self.before(p, x, filters, block)
            h = self.start(x, filters, "normal", block)
            x1 = sides(1, (h, 5), (p, 3))
            x2 = sides(2, (p, 5), (p, 3))
            with name_scope("block_3"):
                x3 = self.pool("Average", h, "normal_left3_" + block)
                x3 = add([x3, p], name="normal_add_3_" + block)
            with name_scope("block_4"):
                x4 = [self.pool("Average", p, "normal_%s4_%s" % (side, block))
                      for side in ("left", "right")]
                x4 = add(x4, name="normal_add_4_" + block)
            with name_scope("block_5"):
                x5 = self.separable(h, filters, 3, "normal_left5_" + block)
                x5 = add([x5, h], name="normal_add_5_" + block)
            found = concatenate([p, x1, x2, x3, x4, x5], axis=-1,
                                name="normal_concat_" + block)
        return found, x

    def reduction_cell(self, x, p, filters, block):
        add = self.layers.add

        def of_before(size, side):
            return self.separable(p, filters, size, "reduction_%s_%s" % (
                side, block), True)
        with name_scope("reduction_A_block_" + block):
            p = self.before(p, x, filters, block)
            h = self.start(x, filters, "reduction", block)
            padded = self.layers.ZeroPadding2D(
                padding=self.padding(h, 3), name="reduction_pad_1_" + block)(h)
            with name_scope("block_1"):
                left = self.separable(h, filters, 5, "reduction_left1_" + block,
                                      True)
                x1 = add([left, of_before(7, "right1")],
                         name="reduction_add_1_" + block)
            with name_scope("block_2"):
                left = self.pool("Max", padded, "reduction_left2_" + block,
                                 (2, 2))
                x2 = add([left, of_before(7, "right2")],
                         name="reduction_add_2_" + block)
            with name_scope("block_3"):
                left = self.pool("Average", padded, "reduction_left3_" + block,
                                 (2, 2))
                x3 = add([left, of_before(5, "right3")],
                         name="reduction_add3_" + block)
            with name_scope("block_4"):
                x4 = add([x2, self.pool("Average", x1,
                                        "reduction_left4_" + block)])
            with name_scope("block_5"):
                left = self.separable(x1, filters, 3, "reduction_left4_" + block)
                right = self.pool("Max", padded, "reduction_right5_" + block,
                                  (2, 2))
                x5 = add([left, right], name="reduction_add4_" + block)
            found = self.layers.concatenate(
                [x2, x3, x4, x5], axis=-1, name="reduction_concat_" + block)
        return found, x


def _nasnet(size, last_filters, blocks, stem_filters, skips, arguments, options):
    """`last_filters`: of the last cell; `blocks`: the cells between reductions;
    `skips`: the cell after a reduction takes the output before the last cell,
    not what the reduction got."""
    top, weights, tensor, shape, pooling, classes = arguments
    given = top, weights, tensor, shape or (size, size, 3), pooling, classes
    net = Network(*given, options, size)
    cells, filters = _Cells(net.layers), last_filters // 24
    x = net.layers.Conv2D(
        stem_filters, (3, 3), strides=(2, 2), padding="valid", use_bias=False,
        name="stem_conv1", kernel_initializer="he_normal")(net.inputs)
    x, p = cells.normal(x, "stem_bn1"), None
    for i, divisor in ((1, _FACTOR ** 2), (2, _FACTOR)):
        x, p = cells.reduction_cell(x, p, filters // divisor, "stem_%d" % i)
    for stage in range(3):
        width = filters * _FACTOR ** stage
        first = stage * blocks + (stage > 0)
        if stage:
            x, before = cells.reduction_cell(
                x, p, width, "reduce_%d" % (stage * blocks))
            p = p if skips else before
        for i in range(blocks):
            x, p = cells.normal_cell(x, p, width, "%d" % (first + i))
    x = cells.relu(x)
    if net.top:
        x = net.layers.GlobalAveragePooling2D()(x)
        x = net.layers.Dense(net.classes, activation="softmax",
                             name="predictions")(x)
    else:
        x = net.pooled(x)
    kind = "mobile" if size == 224 else "large"
    return net.model(x, "NASNet", "nasnet_%s%s.h5" % (
        kind, "" if net.top else "_no_top"))


def _maker(name, *network):
    def make(arguments, options):
        before = backend.image_data_format()
        backend.set_image_data_format("channels_last")
        try:
            return _nasnet(*network, arguments, options)
        finally:
            backend.set_image_data_format(before)
    return maker(name, "NASNet, data channels last", make, shape_first=True)


NASNetLarge = _maker("NASNetLarge", 331, 4032, 6, 96, True)
NASNetMobile = _maker("NASNetMobile", 224, 1056, 4, 32, False)
