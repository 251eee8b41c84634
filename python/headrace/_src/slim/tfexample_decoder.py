"""tf.contrib.slim.tfexample_decoder: items of tf.train.Example records."""
import abc

from headrace._src.control.control_flow import case, cond
from headrace._src.control.functional_ops import map_fn
from headrace._src.framework import dtypes
from headrace._src.image import codecs as _codecs
from headrace._src.io.parsing_ops import FixedLenFeature, parse_single_example
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import sparse_tensor as _sparse_tensor
from headrace._src.ops.string_ops import decode_raw
from headrace._src.slim.datasets import DataDecoder
from headrace._src.sparse.sparse_ops import (
    sparse_reshape, sparse_tensor_to_dense)


class ItemHandler(abc.ABC):
    """Makes an item of the features `keys` of a record."""

    def __init__(self, keys):
        self._keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]

    keys = property(lambda self: self._keys)

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, of {key: tensor}."""


class ItemHandlerCallback(ItemHandler):
    """func({key: tensor})."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """float32 [boxes, 4] of four features, the sides `keys`, by default ymin,
    xmin, ymax, xmax, each with `prefix` before its name."""

    def __init__(self, keys=None, prefix=""):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError("BoundingBox expects 4 keys but got %d"
                             % len(keys))
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors):
        sides = []
        for key in self._keys:
            side = keys_to_tensors[key]
            if isinstance(side, _sparse_tensor.SparseTensor):
                side = side.values
            sides.append(_array.expand_dims(side, 0))
        return _array.transpose(_array.concat(sides, 0))


def _dense(x, default=None):
    if isinstance(x, _sparse_tensor.SparseTensor):
        return sparse_tensor_to_dense(x) if default is None else (
            sparse_tensor_to_dense(x, default_value=default))
    return x


class Tensor(ItemHandler):
    """A feature as a dense tensor, of a shape that is given, or that the
    features shape_keys have."""

    def __init__(self, tensor_key, shape_keys=None, shape=None,
                 default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape "
                             "parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default = default_value
        super().__init__([tensor_key] + (shape_keys or []))

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            shape = _array.reshape(_array.stack(
                [_dense(keys_to_tensors[k]) for k in self._shape_keys]), [-1])
        if isinstance(tensor, _sparse_tensor.SparseTensor):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return _dense(tensor, self._default)
        return tensor if shape is None else _array.reshape(tensor, shape)


class LookupTensor(Tensor):
    """What a lookup table has for a feature."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None,
                 default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of `handler`, or of `backup` where that is empty."""

    def __init__(self, handler, backup):
        for what, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError("%s handler is of type %s instead of "
                                 "ItemHandler" % (what, type(given)))
        self._handler, self._backup = handler, backup
        super().__init__(list(dict.fromkeys(handler.keys + backup.keys)))

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond(
            _math.equal(_math.reduce_prod(_array.shape(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item)


class SparseTensor(ItemHandler):
    """A SparseTensor of two features, its indices and values, with a shape
    that is given or that a third has; or a dense tensor if `densify`."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None,
                 shape=None, densify=False, default_value=0):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default = default_value
        super().__init__([self._indices_key, self._values_key]
                         + ([shape_key] if shape_key else []))

    def tensors_to_item(self, keys_to_tensors):
        indices = keys_to_tensors[self._indices_key]
        values = keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = _array.shape(indices.indices)[1]
        kept = _array.slice(indices.indices, [0, 0],
                            _array.stack([-1, rank - 1]))
        ids = _math.cast(indices.values, dtypes.int64)
        found = _sparse_tensor.SparseTensor(
            _array.concat([kept, _array.reshape(ids, [-1, 1])], 1),
            values.values, shape)
        return _dense(found, self._default) if self._densify else found


class Image(ItemHandler):
    """An image [height, width, channels] of the features image_key, its file or
    its raw bytes, and format_key, where b"raw" says that it is the latter;
    `shape` is then needed. repeated: image_key is a vector of images of one
    size. channels: 0 for those of the file."""

    def __init__(self, image_key=None, format_key=None, shape=None, channels=3,
                 dtype=dtypes.uint8, repeated=False, dct_method=""):
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors):
        data = keys_to_tensors[self._image_key]
        kind = keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn(lambda x: self._decode(x, kind), data,
                          dtype=self._dtype)
        return self._decode(data, kind)

    def _decode(self, data, kind):
        def image():
            return _math.cast(_codecs.decode_image(
                data, channels=self._channels), self._dtype)

        def jpeg():
            return _math.cast(_codecs.decode_jpeg(
                data, channels=self._channels, dct_method=self._dct_method),
                self._dtype)

        def file():
            return cond(_codecs.is_jpeg(data), jpeg, image, name="cond_jpeg")

        def raw():
            return decode_raw(data, out_type=self._dtype)
        is_raw = _math.logical_or(_math.equal(kind, "raw"),
                                  _math.equal(kind, "RAW"))
        found = case([(is_raw, raw)], default=file, exclusive=True)
        found.set_shape([None, None, self._channels])
        return found if self._shape is None else _array.reshape(found,
                                                                self._shape)


class TFExampleDecoder(DataDecoder):
    """Makes items of serialized tf.train.Example: keys_to_features is that of
    tf.parse_single_example, items_to_handlers has an ItemHandler for each
    item."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._features = keys_to_features
        self._handlers = items_to_handlers

    def list_items(self):
        return list(self._handlers)

    def decode(self, serialized_example, items=None):
        """The tensors of `items`, names, by default all."""
        example = parse_single_example(serialized_example, self._features)
        # A default may have lost the shape.
        for key in sorted(self._features):
            feature = self._features[key]
            if isinstance(feature, FixedLenFeature):
                example[key] = _array.reshape(example[key], feature.shape)
        found = []
        for item in items or list(self._handlers):
            handler = self._handlers[item]
            found.append(handler.tensors_to_item(
                {key: example[key] for key in handler.keys}))
        return found
