"""tf.headrace.Image: an array as a picture, in notebooks and files."""
import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG's, by the number of channels


class Image:
    """A picture that a notebook shows: of an array [height, width], or [height,
    width, channels] with 1 to 4 channels (grey, grey and alpha, RGB, RGBA), or a
    batch of such, [n, height, width, channels], side by side.

    uint8 is taken as it is; bool is black and white; floats are from 0 to 1, and
    what lies outside is cut. `png` is the picture as bytes, which save(path)
    writes. TypeError or ValueError for other arrays."""

    def __init__(self, array):
        self.array = _pixels(np.asarray(array))

    @property
    def png(self):
        return _png(self.array)

    def save(self, path):
        """Writes the PNG to a file."""
        with open(path, "wb") as f:
            f.write(self.png)

    def _repr_png_(self):
        return self.png

    def __repr__(self):
        return "<tf.headrace.Image of %d x %d, %d channels>" % (
            self.array.shape[1], self.array.shape[0], self.array.shape[2])


def _pixels(array):
    """uint8 of [height, width, channels]."""
    if array.dtype == bool:
        array = array.astype(np.uint8) * np.uint8(255)
    elif array.dtype.kind == "f":
        array = np.nan_to_num(array.astype(np.float32)).clip(0, 1) * 255 + .5
        array = array.astype(np.uint8)
    elif array.dtype != np.uint8:
        raise TypeError("an image is an array of uint8, bool or floats, but got "
                        "%s; convert it, as by array.astype('uint8')"
                        % array.dtype)
    if array.ndim == 4:
        array = np.concatenate(list(array), axis=1) if len(array) else array[:, 0]
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in _COLOR_TYPES or not array.size:
        raise ValueError(
            "an image has the shape [height, width], [height, width, channels] "
            "or [n, height, width, channels], with 1 to 4 channels and at least "
            "one pixel, but got %s" % (list(array.shape),))
    return np.ascontiguousarray(array)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(
        ">I", zlib.crc32(kind + data))


def _png(array):
    height, width, channels = array.shape
    # Each row begins with the number of its filter: 0, none.
    rows = np.zeros([height, 1 + width * channels], np.uint8)
    rows[:, 1:] = array.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels],
                         0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header)
            + _chunk(b"IDAT", zlib.compress(rows.tobytes()))
            + _chunk(b"IEND", b""))
