"""tf.image: files against Pillow, the rest against NumPy."""
import io

import numpy as np
import pytest
from PIL import Image

import headrace as tf

Y, X = np.mgrid[0:21, 0:33]
RGB = np.stack([X * 7 + Y * 3, X * Y, 255 - X * 5], -1).astype(np.uint8)
RGBA = np.concatenate([RGB, ((X + Y) * 4)[..., None].astype(np.uint8)], -1)
FLOAT = np.random.RandomState(0).rand(2, 6, 5, 3).astype(np.float32)


def run(x, feed=None):
    with tf.Session() as sess:
        return sess.run(x, feed)


def save(array, kind, **options):
    mode = {1: "L", 3: "RGB", 4: "RGBA"}[array.shape[2]]
    out = io.BytesIO()
    Image.frombytes(mode, array.shape[1::-1], array.tobytes()).save(
        out, kind, **options)
    return out.getvalue()


def load(data):
    image = np.array(Image.open(io.BytesIO(data)))
    return image if image.ndim == 3 else image[..., None]


# Files.

@pytest.mark.parametrize("image", [RGB, RGBA, RGB[..., :1]])
def test_png(image):
    data = save(image, "PNG")
    for decode in (tf.image.decode_png, tf.image.decode_jpeg,
                   tf.image.decode_image):
        np.testing.assert_array_equal(run(decode(data)), image)
    encoded = run(tf.image.encode_png(image))
    np.testing.assert_array_equal(load(encoded), image)
    np.testing.assert_array_equal(run(tf.image.decode_png(encoded)), image)
    got = run(tf.image.decode_png(data, channels=3))
    np.testing.assert_array_equal(
        got, image[..., :3] if image.shape[2] > 1 else np.repeat(image, 3, 2))
    got = run(tf.image.decode_png(data, channels=1))
    gray = (image[..., :3] @ [.299, .587, .114] if image.shape[2] > 1
            else image[..., 0])
    assert np.abs(got[..., 0] - gray).max() <= 1
    got = run(tf.image.decode_png(data, channels=4))
    alpha = image[..., 3] if image.shape[2] == 4 else 255
    np.testing.assert_array_equal(got[..., 3], alpha + 0 * image[..., 0])


def test_png_depths():
    deep = RGB.astype(np.uint16) * 200 + 3
    data = run(tf.image.encode_png(deep))
    np.testing.assert_array_equal(
        run(tf.image.decode_png(data, dtype=tf.uint16)), deep)
    np.testing.assert_array_equal(run(tf.image.decode_png(data)), deep >> 8)
    shallow = save(RGB, "PNG")
    np.testing.assert_array_equal(
        run(tf.image.decode_png(shallow, dtype=tf.uint16)),
        RGB.astype(np.uint16) * 257)
    np.testing.assert_allclose(
        run(tf.image.decode_image(shallow, dtype=tf.float32)),
        RGB.astype(np.float32) / 255, rtol=1e-6)
    bits = np.array([[1, 0, 1], [0, 1, 1]], np.uint8) * 255
    out = io.BytesIO()
    Image.fromarray(bits).convert("1").save(out, "PNG")
    np.testing.assert_array_equal(run(tf.image.decode_png(out.getvalue())),
                                  bits[..., None])
    out = io.BytesIO()
    Image.fromarray(RGB).convert("P", palette=Image.ADAPTIVE,
                                 colors=16).save(out, "PNG")
    np.testing.assert_array_equal(
        run(tf.image.decode_png(out.getvalue())),
        np.array(Image.open(io.BytesIO(out.getvalue())).convert("RGB")))
    batch = run(tf.image.encode_png(np.stack([RGB, RGB[::-1]])))
    np.testing.assert_array_equal(load(batch[1]), RGB[::-1])


def test_jpeg():
    data = save(RGB, "JPEG", quality=90)
    want = load(data)
    got = run(tf.image.decode_jpeg(data, dct_method="INTEGER_ACCURATE"))
    assert np.abs(got.astype(int) - want).max() <= 1
    assert np.abs(run(tf.image.decode_jpeg(data)).astype(int)
                  - want).max() < 40
    assert run(tf.image.decode_jpeg(data, channels=1)).shape == (21, 33, 1)
    assert run(tf.image.decode_jpeg(data, ratio=2)).shape == (11, 17, 3)
    assert run(tf.image.extract_jpeg_shape(data)).tolist() == [21, 33, 3]
    whole = run(tf.image.decode_jpeg(data))
    # Colours at the window's edge are not smoothed with what is beyond it.
    np.testing.assert_array_equal(
        run(tf.image.decode_and_crop_jpeg(data, [2, 3, 10, 11]))[:, 1:-1],
        whole[2:12, 4:13])
    np.testing.assert_array_equal(
        run(tf.image.decode_image(data, dtype=tf.uint16)),
        whole.astype(np.uint16) * 256)
    assert run(tf.image.is_jpeg(data)) and not run(tf.image.is_jpeg(b"abcd"))
    gray = save(RGB[..., :1], "JPEG")
    assert run(tf.image.decode_jpeg(gray)).shape == (21, 33, 1)
    cmyk = io.BytesIO()
    Image.fromarray(RGB).convert("CMYK").save(cmyk, "JPEG", quality=95)
    got = run(tf.image.decode_jpeg(cmyk.getvalue()))
    assert np.abs(got.astype(int) - RGB)[2:-2, 2:-2].mean() < 40


def test_encode_jpeg():
    smooth = np.stack([X * 4, Y * 9, X + Y], -1).astype(np.uint8)
    for options in ({}, {"progressive": True}, {"optimize_size": True},
                    {"chroma_downsampling": False}, {"format": "rgb"}):
        data = run(tf.image.encode_jpeg(smooth, quality=95, **options))
        assert np.abs(load(data).astype(int) - smooth).mean() < 3
    coarse = run(tf.raw_ops.EncodeJpegVariableQuality(smooth, 5))
    assert len(coarse) < len(data)
    data = run(tf.image.encode_jpeg(smooth, xmp_metadata="<x/>", x_density=72,
                                    y_density=36, density_unit="cm"))
    assert b"http://ns.adobe.com/xap/1.0/\0<x/>" in data
    assert Image.open(io.BytesIO(data)).info["jfif_density"] == (72, 36)
    assert load(run(tf.image.encode_jpeg(smooth[..., :1]))).shape[2] == 1
    for image, options in ((RGBA, {}), (RGB, {"format": "grayscale"}),
                           (RGB, {"quality": 101}), (RGB[0], {})):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            run(tf.image.encode_jpeg(image, **options))


def gif(frames, **options):
    out = io.BytesIO()
    images = [Image.fromarray(f).convert("P", palette=Image.ADAPTIVE)
              for f in frames]
    images[0].save(out, "GIF", save_all=True, append_images=images[1:],
                   **options)
    return out.getvalue()


def test_gif():
    frames = [np.full((8, 6, 3), 10 * i, np.uint8) for i in range(1, 4)]
    frames[1][2:4, 1:3] = 200
    data = gif(frames)
    got = run(tf.image.decode_gif(data))
    np.testing.assert_array_equal(got, np.stack(frames))
    np.testing.assert_array_equal(run(tf.image.decode_image(data)), got)
    np.testing.assert_array_equal(
        run(tf.image.decode_image(data, expand_animations=False)), frames[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 frames"):
        run(tf.image.decode_png(data))
    one = gif(frames[:1])
    np.testing.assert_array_equal(run(tf.image.decode_png(one)), frames[0])
    np.testing.assert_array_equal(run(tf.image.decode_gif(save(RGB, "PNG"))),
                                  RGB[None])
    # What is whole of a file that ends early.
    assert run(tf.image.decode_gif(data[:-20])).shape[0] == 2


@pytest.mark.parametrize("image", [RGB, RGBA, RGB[..., :1]])
def test_bmp(image):
    if image.shape[2] == 1:  # Pillow writes a palette
        data = bytearray(save(image, "BMP"))
    else:
        data = bytearray(save(image, "BMP"))
    np.testing.assert_array_equal(run(tf.image.decode_bmp(bytes(data))), image)
    height = int.from_bytes(data[22:26], "little", signed=True)
    data[22:26] = (-height).to_bytes(4, "little", signed=True)
    np.testing.assert_array_equal(run(tf.image.decode_image(bytes(data))),
                                  image[::-1])


def test_bad_files():
    good = {"JPEG": save(RGB, "JPEG"), "PNG": save(RGB, "PNG"),
            "GIF": gif([RGB]), "BMP": save(RGB, "BMP")}
    decode = tf.image.decode_image
    bytes_ = tf.placeholder(tf.string, [])
    image = decode(bytes_)
    random = np.random.RandomState(0)
    with tf.Session() as sess:
        for bad in (b"", b"hello", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n",
                    b"GIF89a", b"BM"):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(image, {bytes_: bad})
        for kind, data in good.items():
            for n in range(0, len(data), 7):
                try:
                    got = sess.run(image, {bytes_: data[:n]})
                    assert got.ndim in (3, 4)
                except tf.errors.InvalidArgumentError:
                    pass
            for _ in range(300):
                damaged = bytearray(data)
                for _ in range(random.randint(1, 5)):
                    damaged[random.randint(len(data))] = random.randint(256)
                try:
                    sess.run(image, {bytes_: bytes(damaged)})
                except (tf.errors.InvalidArgumentError,
                        tf.errors.ResourceExhaustedError):
                    pass
            # Asks for 65535 x 65535 pixels.
            huge = bytearray(data)
            if kind == "PNG":
                import zlib
                huge[16:24] = b"\x00\x00\xff\xff" * 2
                huge[29:33] = zlib.crc32(bytes(huge[12:29])).to_bytes(4, "big")
            elif kind == "JPEG":
                at = huge.index(b"\xff\xc0")
                huge[at + 5:at + 9] = b"\xff\xdc" * 2
            elif kind == "BMP":
                huge[18:26] = b"\xff\xff\x00\x00" * 2
            else:
                at = huge.index(b"\x2c\x00\x00\x00\x00")
                huge[at + 5:at + 9] = b"\xff" * 4
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(image, {bytes_: bytes(huge)})
        truncated = tf.image.decode_jpeg(bytes_, acceptable_fraction=.3)
        recovered = tf.image.decode_jpeg(bytes_, try_recover_truncated=True)
        half = good["JPEG"][:-60]
        assert sess.run(truncated, {bytes_: half}).shape == RGB.shape
        assert sess.run(recovered, {bytes_: half}).shape == RGB.shape
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(tf.image.decode_jpeg(bytes_), {bytes_: half})
        cropped = tf.image.decode_and_crop_jpeg(bytes_, [8, 9, 10, 11])
        for n in range(0, len(good["JPEG"]), 3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(cropped, {bytes_: good["JPEG"][:n - 300]})
    for function, options in (
            (tf.image.decode_jpeg, {"ratio": 3}),
            (tf.image.decode_jpeg, {"dct_method": "x"}),
            (tf.image.decode_jpeg, {"channels": 4}),
            (tf.image.decode_png, {"channels": 2})):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(function(good["JPEG"], **options))
    for window in ([0, 0, 22, 33], [-1, 0, 3, 3], [5, 5, 0, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.image.decode_and_crop_jpeg(good["JPEG"], window))


# Shapes.

def test_crop_and_pad():
    for image in (FLOAT, FLOAT[0]):
        np.testing.assert_array_equal(
            run(tf.image.crop_to_bounding_box(image, 1, 2, 3, 2)),
            image[..., 1:4, 2:4, :])
        padded = run(tf.image.pad_to_bounding_box(image, 1, 2, 9, 8))
        assert padded.shape[-3:] == (9, 8, 3)
        np.testing.assert_array_equal(padded[..., 1:7, 2:7, :], image)
        assert padded.sum() == pytest.approx(image.sum(), rel=1e-5)
        got = run(tf.image.resize_image_with_crop_or_pad(image, 4, 9))
        np.testing.assert_array_equal(got[..., 2:7, :], image[..., 1:5, :, :])
        np.testing.assert_array_equal(
            run(tf.image.central_crop(image, .5)), image[..., 1:5, 1:4, :])
    with pytest.raises(ValueError):
        tf.image.crop_to_bounding_box(FLOAT, 1, 2, 9, 2)
    with pytest.raises(ValueError):
        tf.image.central_crop(FLOAT, 0)
    unknown = tf.placeholder(tf.float32, [None, None, None, 3])
    got = tf.image.resize_image_with_crop_or_pad(unknown, 8, 3)
    assert got.get_shape().as_list() == [None, 8, 3, 3]
    np.testing.assert_array_equal(
        run(got, {unknown: FLOAT})[:, 1:7], FLOAT[:, :, 1:4])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.image.crop_to_bounding_box(unknown, 1, 2, 9, 2),
            {unknown: FLOAT})


def test_resize():
    for method in range(4):
        out = tf.image.resize_images(FLOAT, [12, 10], method)
        assert out.get_shape() == [2, 12, 10, 3]
        assert run(out).dtype == np.float32
    np.testing.assert_array_equal(
        run(tf.image.resize_images(FLOAT[0], [12, 10], 1))[::2, ::2], FLOAT[0])
    kept = run(tf.image.resize_images(FLOAT, [12, 20],
                                      preserve_aspect_ratio=True))
    assert kept.shape == (2, 12, 10, 3)
    assert run(tf.image.resize_image_with_pad(FLOAT, 12, 20)).shape == (
        2, 12, 20, 3)
    bytes_ = tf.image.resize_images(RGB, [21, 33])
    assert bytes_.dtype == tf.uint8  # nothing to do
    with pytest.raises(ValueError):
        tf.image.resize_images(FLOAT, [3])
    with pytest.raises(ValueError):
        tf.image.resize_images(FLOAT[0, 0], [3, 3])


def test_flips():
    for image in (FLOAT, FLOAT[0]):
        np.testing.assert_array_equal(run(tf.image.flip_left_right(image)),
                                      image[..., ::-1, :])
        np.testing.assert_array_equal(run(tf.image.flip_up_down(image)),
                                      image[..., ::-1, :, :])
        axes = (0, 2, 1, 3) if image.ndim == 4 else (1, 0, 2)
        np.testing.assert_array_equal(run(tf.image.transpose_image(image)),
                                      image.transpose(axes))
        for k in range(-1, 5):
            np.testing.assert_array_equal(
                run(tf.image.rot90(image, k)),
                np.rot90(image, k, (1, 2) if image.ndim == 4 else (0, 1)))
    flipped = tf.image.random_flip_left_right(FLOAT[0], seed=3)
    batch = tf.image.random_flip_up_down(FLOAT, seed=3)
    seen = set()
    with tf.Session() as sess:
        for _ in range(20):
            a, b = sess.run([flipped, batch])
            is_flipped = np.array_equal(a, FLOAT[0, :, ::-1])
            assert is_flipped or np.array_equal(a, FLOAT[0])
            seen.add(is_flipped)
            for got, want in zip(b, FLOAT):
                assert (np.allclose(got, want)
                        or np.allclose(got, want[::-1]))
    assert seen == {True, False}


# Values.

def test_convert_image_dtype():
    convert = tf.image.convert_image_dtype
    np.testing.assert_allclose(run(convert(RGB, tf.float32)),
                               RGB.astype(np.float32) / 255, rtol=1e-6)
    np.testing.assert_array_equal(
        run(convert(RGB.astype(np.float32) / 255, tf.uint8)), RGB)
    np.testing.assert_array_equal(run(convert(RGB, tf.int16)),
                                  RGB.astype(np.int16) * 128)
    np.testing.assert_array_equal(
        run(convert(RGB.astype(np.int16) * 128, tf.uint8)), RGB)
    assert run(convert(np.float32([-1, 2]), tf.uint8, saturate=True)
               ).tolist() == [0, 255]
    with pytest.raises(AttributeError):
        convert(tf.constant(["a"]), tf.uint8)


def test_colors():
    gray = run(tf.image.rgb_to_grayscale(FLOAT))
    np.testing.assert_allclose(
        gray[..., 0], FLOAT @ np.float32([.2989, .587, .114]), rtol=1e-5)
    assert run(tf.image.rgb_to_grayscale(RGB)).dtype == np.uint8
    np.testing.assert_array_equal(run(tf.image.grayscale_to_rgb(gray)),
                                  np.repeat(gray, 3, -1))
    for there, back in (("rgb_to_yuv", "yuv_to_rgb"),
                        ("rgb_to_yiq", "yiq_to_rgb"),
                        ("rgb_to_hsv", "hsv_to_rgb")):
        t = getattr(tf.image, back)(getattr(tf.image, there)(FLOAT))
        np.testing.assert_allclose(run(t), FLOAT, atol=1e-4)
    np.testing.assert_allclose(run(tf.image.adjust_brightness(FLOAT, .1)),
                               FLOAT + .1, rtol=1e-5)
    got = run(tf.image.adjust_brightness(RGB, .1))
    assert got.dtype == np.uint8
    assert np.abs(got - np.minimum(RGB + 25.5, 255)).max() <= 1
    mean = FLOAT.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(run(tf.image.adjust_contrast(FLOAT, 2.)),
                               (FLOAT - mean) * 2 + mean, atol=1e-5)
    np.testing.assert_allclose(run(tf.image.adjust_gamma(FLOAT, 2, 3)),
                               3 * FLOAT ** 2, rtol=1e-5)
    np.testing.assert_allclose(run(tf.image.adjust_saturation(FLOAT, 1.)),
                               FLOAT, atol=1e-5)
    np.testing.assert_allclose(run(tf.image.adjust_hue(FLOAT, 0.)), FLOAT,
                               atol=1e-5)
    for name, args in (("brightness", [.2]), ("contrast", [.5, 1.5]),
                       ("hue", [.2]), ("saturation", [.5, 1.5])):
        function = getattr(tf.image, "random_" + name)
        t = function(FLOAT[0], *args, seed=1)
        with tf.Session() as sess:
            assert not np.array_equal(sess.run(t), sess.run(t))
        with pytest.raises(ValueError):
            function(FLOAT[0], *[-1] * len(args))


def test_standardization():
    got = run(tf.image.per_image_standardization(FLOAT))
    np.testing.assert_allclose(got.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(got.std((1, 2, 3)), 1, rtol=1e-4)
    flat = np.full((4, 4, 1), 7, np.uint8)
    assert not run(tf.image.per_image_standardization(flat)).any()


def test_comparisons():
    big = np.random.RandomState(1).rand(2, 200, 190, 3).astype(np.float32)
    noisy = np.clip(big + .1 * (np.random.RandomState(2).rand(*big.shape) - .5),
                    0, 1).astype(np.float32)
    mse = ((big - noisy) ** 2).mean((1, 2, 3))
    np.testing.assert_allclose(run(tf.image.psnr(big, noisy, 1.)),
                               -10 * np.log10(mse), rtol=1e-4)
    for ssim in (tf.image.ssim, tf.image.ssim_multiscale):
        np.testing.assert_allclose(run(ssim(big, big, 1.)), [1, 1], rtol=1e-5)
        assert (run(ssim(big, noisy, 1.)) < .999).all()
    # One window: the definition.
    a, b = big[:1, :11, :11, :1], noisy[:1, :11, :11, :1]
    g = np.exp(-.5 * (np.arange(11) - 5.) ** 2 / 1.5 ** 2)
    g = np.outer(g, g) / np.outer(g, g).sum()

    def mean(x):
        return (g * x[0, ..., 0]).sum()
    ma, mb = mean(a), mean(b)
    va, vb, vab = (mean(a * a) - ma ** 2, mean(b * b) - mb ** 2,
                   mean(a * b) - ma * mb)
    c1, c2 = .01 ** 2, .03 ** 2
    want = ((2 * ma * mb + c1) * (2 * vab + c2)
            / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2)))
    np.testing.assert_allclose(run(tf.image.ssim(a, b, 1.)), [want], rtol=1e-4)
    with pytest.raises(ValueError):
        tf.image.ssim(FLOAT, FLOAT, 1.)


def test_gradients():
    dy, dx = np.diff(FLOAT, axis=1), np.diff(FLOAT, axis=2)
    np.testing.assert_allclose(
        run(tf.image.total_variation(FLOAT)),
        np.abs(dy).sum((1, 2, 3)) + np.abs(dx).sum((1, 2, 3)), rtol=1e-5)
    got_y, got_x = run(tf.image.image_gradients(FLOAT))
    np.testing.assert_array_equal(got_y[:, :-1], dy)
    np.testing.assert_array_equal(got_x[:, :, :-1], dx)
    edges = run(tf.image.sobel_edges(FLOAT))
    assert edges.shape == FLOAT.shape + (2,)
    window = FLOAT[0, 0:3, 1:4, 2]
    ky = np.float32([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    np.testing.assert_allclose(edges[0, 1, 2, 2],
                               [(window * ky).sum(), (window * ky.T).sum()],
                               rtol=1e-4, atol=1e-5)


# Recorded from TensorFlow: the same crops for the same seeds.
SAMPLES = [[11, 20, 0, 46, 46, -1], [5, 1, 0, 40, 36, -1],
           [17, 28, 0, 41, 31, -1], [1, 21, 0, 38, 33, -1],
           [19, 37, 0, 32, 33, -1], [1, 8, 0, 52, 58, -1]]


def test_sample_distorted_bounding_box():
    boxes = np.float32([[[.1, .2, .9, .8]]])
    begin, size, box = tf.image.sample_distorted_bounding_box(
        [60, 80, 3], boxes, seed=5, seed2=7, min_object_covered=.3)
    with tf.Session() as sess:
        for want in SAMPLES:
            got = sess.run([begin, size, box])
            assert got[0].tolist() + got[1].tolist() == want
            np.testing.assert_allclose(
                got[2][0, 0], [want[0] / 60, want[1] / 80,
                               (want[0] + want[3]) / 60,
                               (want[1] + want[4]) / 80], rtol=1e-6)


def test_decode_bmp_does_not_ask_for_the_two_letters():
    """TensorFlow 1.15 does not; decode_image cannot do without."""
    data = save(RGB, "BMP")
    for letters in (b"XX", b"\0\0", b"BA"):
        other = letters + data[2:]
        np.testing.assert_array_equal(run(tf.image.decode_bmp(other)),
                                      run(tf.image.decode_bmp(data)))
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.image.decode_image(other))
    with pytest.raises(tf.errors.InvalidArgumentError, match="PNG"):
        run(tf.image.decode_bmp(save(RGB, "PNG")))


def test_the_gradient_of_an_empty_enlargement_is_zero():
    for shape, want in (([1, 0, 2, 3], (1, 4, 4, 3)), ([1, 2, 0, 3], (1, 4, 4, 3)), ([0, 2, 2, 3], (0, 4, 4, 3))):
        with tf.Graph().as_default(), tf.Session() as s:
            got = s.run(tf.raw_ops.ResizeNearestNeighborGrad(grads=tf.zeros(shape), size=[4, 4]))
        assert got.shape == want and not got.any()


@pytest.mark.parametrize("dtype, want", [
    ("uint8", [0, 0, 0, 0, 0, 0, 17, 52, 86, 121, 156, 190]),
    ("int16", [-190, -155, -121, -86, -51, -17, 17, 51, 86, 121, 155, 190]),
    ("int32", [-190, -155, -121, -86, -51, -17, 17, 51, 86, 121, 155, 190]),
    ("int8", [-128, -128, -121, -86, -52, -17, 17, 52, 86, 121, 127, 127])])
def test_integers_are_standardized_as_what_they_stand_for(dtype, want):
    image = (np.arange(12).reshape(2, 2, 3) * 10).astype(dtype)
    got = run(tf.image.per_image_standardization(image))
    assert got.dtype == dtype and got.ravel().tolist() == want


@pytest.mark.parametrize("name, method", [
    ("bilinear", "BILINEAR"), ("nearest", "NEAREST_NEIGHBOR"),
    ("bicubic", "BICUBIC"), ("area", "AREA")])
def test_resize_by_the_name_of_the_method(name, method):
    np.testing.assert_array_equal(
        run(tf.image.resize_images(FLOAT, [5, 3], name)),
        run(tf.image.resize_images(
            FLOAT, [5, 3], getattr(tf.image.ResizeMethod, method))))


def test_images_of_a_rank_that_is_wrong_or_not_known():
    with pytest.raises(ValueError, match="contains no shape"):
        tf.image.resize_images(tf.placeholder(tf.float32), [2, 2])
    with pytest.raises(ValueError, match="rank 4"):
        tf.image.sobel_edges(FLOAT[0])
    image = np.random.RandomState(1).rand(1, 16, 16, 3).astype(np.float32)
    fed = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        got, want = sess.run([tf.image.ssim(fed, fed * .9, 1.),
                              tf.image.ssim(image, image * .9, 1.)],
                             {fed: image})
        assert sess.run(tf.image.resize_image_with_pad(fed, 4, 6),
                        {fed: image[0]}).shape == (4, 6, 3)
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("function", [
    lambda x: tf.image.crop_to_bounding_box(x, 0, 0, 1, 1),
    lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 4, 4),
    lambda x: tf.image.resize_image_with_crop_or_pad(x, 4, 4),
    lambda x: tf.image.central_crop(x, 0.5),
    tf.image.per_image_standardization, tf.image.flip_left_right,
    tf.image.transpose_image, tf.image.random_flip_left_right])
def test_an_image_without_pixels_is_refused(function):
    with pytest.raises(ValueError, match="all dims of 'image.shape' must be > 0"):
        function(tf.ones([0, 2, 1]))
