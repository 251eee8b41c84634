"""tf.image: how much images differ from each other, and from pixel to pixel."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.image.colors import convert_image_dtype
from headrace._src.image.transforms import _image
from headrace._src.nn.conv import depthwise_conv2d
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _pair(a, b, max_val):
    a = convert_to_tensor(a, name="a")
    b = convert_to_tensor(b, name="b")
    max_val = _math.cast(max_val, a.dtype.base_dtype)
    return (convert_image_dtype(a, dtypes.float32),
            convert_image_dtype(b, dtypes.float32),
            convert_image_dtype(max_val, dtypes.float32))


def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio in dB, for each image of the batch;
    `max_val`: the distance of the largest from the smallest value."""
    with name_scope(name, "PSNR", [a, b]):
        a, b, max_val = _pair(a, b, max_val)
        mse = _math.reduce_mean(_math.squared_difference(a, b), [-3, -2, -1])
        return _math.subtract(
            20 * _math.log(max_val) / np.float32(np.log(10)),
            np.float32(10 / np.log(10)) * _math.log(mse), name="psnr")


def _gaussian(size, sigma):
    along = np.arange(size, dtype=np.float64) - (size - 1) / 2
    g = np.exp(-0.5 * (along[:, None] ** 2 + along[None] ** 2) / sigma ** 2)
    return (g / g.sum()).astype(np.float32)[:, :, None, None]


def _ssim(a, b, max_val, filter_size, filter_sigma, k1, k2):
    """(SSIM, contrast part) for each image and channel."""
    channels = a.get_shape()[-1].value
    kernel = _gaussian(filter_size, filter_sigma)
    if channels is None:
        kernel = _array.tile(kernel, _array.stack(
            [1, 1, _array.shape(a)[-1], 1]))
    else:
        kernel = np.tile(kernel, [1, 1, channels, 1])

    def smooth(x):
        shape = _array.shape(x)
        flat = _array.reshape(x, _array.concat([[-1], shape[-3:]], 0))
        out = depthwise_conv2d(flat, kernel, [1, 1, 1, 1], "VALID")
        return _array.reshape(out, _array.concat(
            [shape[:-3], _array.shape(out)[1:]], 0))
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = smooth(a), smooth(b)
    means = mean_a * mean_b * 2
    squares = _math.square(mean_a) + _math.square(mean_b)
    luminance = (means + c1) / (squares + c1)
    products = smooth(a * b) * 2
    total = smooth(_math.square(a) + _math.square(b))
    contrast = (products - means + c2) / (total - squares + c2)
    axes = [-3, -2]
    return (_math.reduce_mean(luminance * contrast, axes),
            _math.reduce_mean(contrast, axes))


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01,
         k2=0.03):
    """The structural similarity of each pair of images, over Gaussian windows
    of filter_size; images are at least that large."""
    with name_scope(None, "SSIM", [img1, img2]):
        a, b, max_val = _pair(img1, img2, max_val)
        for known in (a.get_shape(), b.get_shape()):
            for size in known[-3:-1].as_list() if known.ndims else ():
                if size is not None and size < filter_size:
                    raise ValueError("images of shape %s are smaller than the "
                                     "filter, %d" % (known, filter_size))
        value, _ = _ssim(a, b, max_val, filter_size, filter_sigma, k1, k2)
        return _math.reduce_mean(value, [-1])


def ssim_multiscale(img1, img2, max_val,
                    power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
                    filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The product of powers of the structural similarities at scales that
    halve, as many as there are power_factors."""
    with name_scope(None, "MS-SSIM", [img1, img2]):
        a, b, max_val = _pair(img1, img2, max_val)
        if a._rank() is None:
            raise ValueError("the rank of the images must be known")
        parts = []
        for i in range(len(power_factors)):
            if i:
                a, b = _halved(a), _halved(b)
            value, contrast = _ssim(a, b, max_val, filter_size, filter_sigma,
                                    k1, k2)
            parts.append(_raw.Relu(contrast))
        parts[-1] = _raw.Relu(value)
        stacked = _array.stack(parts, axis=-1)
        return _math.reduce_mean(_math.reduce_prod(
            _math.pow(stacked, np.float32(power_factors)), [-1]), [-1])


def _halved(x):
    shape = _array.shape(x)
    flat = _array.reshape(x, _array.concat([[-1], shape[-3:]], 0))
    odd = _array.concat([[0], shape[-3:-1] % 2, [0]], 0)
    flat = _array.pad(flat, _array.stack([_array.zeros_like(odd), odd], axis=1),
                      mode="SYMMETRIC")
    out = _raw.AvgPool(flat, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
                       padding="VALID")
    out = _array.reshape(out, _array.concat(
        [shape[:-3], _array.shape(out)[1:]], 0))
    out.set_shape(x.get_shape()[:-3].concatenate(
        [None, None, x.get_shape()[-1]]))
    return out


def total_variation(images, name=None):
    """The sum of distances of neighbouring pixels, for each image."""
    with name_scope(name, "total_variation"):
        images, batch = _image(images, "images", may_be_empty=True)
        down = images[..., 1:, :, :] - images[..., :-1, :, :]
        right = images[..., :, 1:, :] - images[..., :, :-1, :]
        axes = [1, 2, 3] if batch else None
        return (_math.reduce_sum(_math.abs(down), axes)
                + _math.reduce_sum(_math.abs(right), axes))


def image_gradients(image):
    """(dy, dx): differences of neighbouring pixels, 0 in the last row and
    column, of a batch."""
    image = convert_to_tensor(image)
    if image._rank() != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, "
                         "w, d], not %s." % image.get_shape())
    dy = image[:, 1:] - image[:, :-1]
    dx = image[:, :, 1:] - image[:, :, :-1]
    dy = _array.concat([dy, _array.zeros_like(image[:, :1])], 1)
    dx = _array.concat([dx, _array.zeros_like(image[:, :, :1])], 2)
    return dy, dx


def sobel_edges(image):
    """[batch, height, width, channels, 2]: the Sobel filter along y and x, over
    the image mirrored at its edges."""
    image = convert_to_tensor(image)
    known = image.get_shape().with_rank(4)
    channels = _array.shape(image)[3] if known[3].value is None else (
        known[3].value)
    kernel = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
                       [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], np.float32)
    kernel = kernel.transpose(1, 2, 0)[:, :, None]
    kernel = _array.tile(kernel, _array.stack([1, 1, channels, 1]))
    padded = _array.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]],
                        mode="REFLECT")
    out = _raw.DepthwiseConv2dNative(padded, kernel, strides=[1, 1, 1, 1],
                                     padding="VALID")
    out = _array.reshape(out, _array.concat([_array.shape(image), [2]], 0))
    out.set_shape(known.concatenate([2]))
    return out
