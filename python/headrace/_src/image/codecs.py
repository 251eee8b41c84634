"""tf.image: images in files."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True,
                try_recover_truncated=False, acceptable_fraction=1,
                dct_method="", name=None):
    """A JPEG file as uint8 [height, width, channels]. `channels`: 0 (as in the
    file), 1 or 3. `ratio` 2, 4, 8: that many times smaller. `dct_method`:
    "INTEGER_ACCURATE", or fast. InvalidArgument for what is no image.

    `contents`: a scalar string. ValueError for other shapes; TypeError for
    another type; InvalidArgumentError for another number of channels, too."""
    return _raw.DecodeJpeg(
        contents, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1,
                         fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1, dct_method="", name=None):
    """The part [y, x, height, width] of a JPEG file."""
    return _raw.DecodeAndCropJpeg(
        contents, crop_window, channels=channels, ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name)


def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """A PNG file as [height, width, channels] of uint8 or uint16.

    `contents`: a scalar string; `channels`: 0 (as in the file), 1, 2, 3 or 4.
    ValueError for other shapes; TypeError for another dtype;
    InvalidArgumentError in the run for what is no image and other numbers."""
    return _raw.DecodePng(contents, channels=channels, dtype=dtype, name=name)


def decode_gif(contents, name=None):
    """A GIF file as uint8 [frames, height, width, 3]."""
    return _raw.DecodeGif(contents, name=name)


def decode_bmp(contents, channels=0, name=None):
    """A BMP file as uint8 [height, width, channels]."""
    return _raw.DecodeBmp(contents, channels=channels, name=name)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None,
                 expand_animations=True):
    """A BMP, GIF, JPEG or PNG file by its first bytes, as uint8, uint16 or
    float32 in [0, 1]. A GIF gives [frames, height, width, 3], or its first
    frame if `expand_animations` is false."""
    return _raw.DecodeImage(contents, channels=channels or 0, dtype=dtype,
                            expand_animations=expand_animations, name=name)


def encode_jpeg(image, format="", quality=95, progressive=False,
                optimize_size=False, chroma_downsampling=True,
                density_unit="in", x_density=300, y_density=300,
                xmp_metadata="", name=None):
    """A uint8 image [height, width, 1 or 3] as the bytes of a JPEG file, a
    scalar string.

    `format`: "" (by the channels), "grayscale" or "rgb". `quality`: 0 to 100.
    ValueError for another rank; TypeError for other types; InvalidArgumentError
    in the run for other channels or arguments."""
    return _raw.EncodeJpeg(
        image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name)


def encode_png(image, compression=-1, name=None):
    """A uint8 or uint16 image of 1 to 4 channels as the bytes of a PNG file."""
    return _raw.EncodePng(convert_to_tensor(image), compression=compression,
                          name=name)


def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """[height, width, channels] of a JPEG file, from its header."""
    return _raw.ExtractJpegShape(contents, output_type=output_type, name=name)


def is_jpeg(contents, name=None):
    """Whether the bytes begin as those of a JPEG file."""
    with name_scope(name, "is_jpeg"):
        return _raw.Equal(_raw.Substr(contents, 0, 3), b"\xff\xd8\xff")
