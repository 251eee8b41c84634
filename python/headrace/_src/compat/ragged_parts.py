"""What programs use of tensorflow.python.ops.ragged beyond the interface."""
from headrace._src.ragged.ragged_tensor import convert, same_partition_dtype


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None,
                                       name=None):
    """`convert`, with TensorFlow's order of arguments."""
    return convert(value, dtype, name, preferred_dtype)


def match_row_splits_dtypes(*tensors, **kwargs):
    """The tensors, whose ragged ones have the same type of row_splits; with
    `return_dtype` (that type, the tensors). ValueError if they differ."""
    wants_dtype = kwargs.pop("return_dtype", False)
    if kwargs:
        raise ValueError("Unexpected keyword args %r" % kwargs)
    dtype = same_partition_dtype(*tensors)
    return (dtype, tensors) if wants_dtype else tensors
