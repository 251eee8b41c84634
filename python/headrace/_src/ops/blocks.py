"""Blocks of space as batches or depth, and patches of images."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.ops import array_ops as _array


def space_to_batch(input, paddings, block_size=None, name=None,
                   block_shape=None):
    """Blocks of the spatial dimensions moved into the batch. block_shape: the
    same as block_size."""
    block = _block(block_size, block_shape)
    return _of_images(_raw.SpaceToBatchND(input, block, paddings, name=name),
                      block)


def _block(block_size, block_shape):
    """The sides of a block: of a square, unless there are several."""
    if block_size is not None and block_shape is not None:
        raise ValueError("Cannot specify both 'block_shape' and 'block_size'")
    block = block_size if block_shape is None else block_shape
    if isinstance(block, (int, np.integer)):
        return np.array([block] * 2, np.int32)
    return block


def _of_images(tensor, block):
    """`tensor`, which has rank 4 if there are as many sides as images have."""
    if isinstance(block, np.ndarray) and block.shape == (2,):
        tensor.set_shape(tensor.get_shape().with_rank(4))
    return tensor


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """What space_to_batch did, undone."""
    block = _block(block_size, block_shape)
    return _of_images(_raw.BatchToSpaceND(input, block, crops, name=name),
                      block)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    return _raw.SpaceToDepth(input, block_size, data_format=data_format,
                             name=name)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Blocks of channels as block_size x block_size pixels. InvalidArgument
    if the depth is no multiple of block_size squared.

    `input`: of any type, [batch, height, width, depth], or as data_format
    "NCHW" says; the result is [batch, height * block_size, width * block_size,
    depth / block_size^2], of the same type. ValueError for another rank, a
    known depth that does not fit, and a block_size below 2."""
    return _raw.DepthToSpace(input, block_size, data_format=data_format,
                             name=name)


def extract_image_patches(images, ksizes=None, strides=None, rates=None,
                          padding=None, name=None, sizes=None):
    """Patches of images in the depth dimension."""
    return _raw.ExtractImagePatches(images, ksizes=ksizes or sizes,
                                    strides=strides, rates=rates,
                                    padding=padding, name=name)


def required_space_to_batch_paddings(input_shape, block_shape,
                                     base_paddings=None, name=None):
    """(paddings, crops) that make shapes multiples of the block; constants if
    all is known now."""
    shape_, block = convert_to_tensor(input_shape), convert_to_tensor(
        block_shape)
    if base_paddings is None:
        base = constant(np.zeros([block.get_shape()[0].value, 2], np.int32))
    else:
        base = convert_to_tensor(base_paddings)
    known = [constant_value(v) for v in (shape_, block, base)]
    if any(v is None for v in known):
        with name_scope(name, "required_space_to_batch_paddings",
                        [shape_, block]):
            before, after = base[:, 0], base[:, 1]
            extra = _raw.FloorMod(-(shape_ + before + after), block)
            return (_array.stack([before, after + extra], 1, name="paddings"),
                    _array.stack([_array.zeros_like(extra), extra], 1,
                                 name="crops"))
    shape_, block, base = known
    full = shape_ + base.sum(1)
    extra = (-full) % block
    return (constant(np.stack([base[:, 0], base[:, 1] + extra], 1),
                     dtypes.int32),
            constant(np.stack([0 * extra, extra], 1), dtypes.int32))
