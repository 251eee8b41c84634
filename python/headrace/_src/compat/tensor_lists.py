"""tensorflow.python.ops.list_ops: lists of tensors, kept as variants. The shape
of elements may be a Tensor, a TensorShape, a list with None, or None."""
from headrace import raw_ops as _raw
from headrace._src.control.control_flow import cond
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.framework.tensor_shape import Dimension, TensorShape

tensor_list_push_back = _raw.TensorListPushBack
tensor_list_push_back_batch = _raw.TensorListPushBackBatch
tensor_list_length = _raw.TensorListLength
tensor_list_resize = _raw.TensorListResize
tensor_list_concat_lists = _raw.TensorListConcatLists
tensor_list_element_shape = _raw.TensorListElementShape


def _element_shape(shape):
    """`shape` as the ops take it: -1 stands for what is unknown."""
    if is_tensor(shape):
        return shape
    if isinstance(shape, TensorShape):
        shape = None if shape.ndims is None else shape.as_list()
    if shape is None:
        return -1
    sizes = [d.value if isinstance(d, Dimension) else d for d in shape]
    if not sizes:
        return convert_to_tensor([], dtypes.int32)
    return [-1 if d is None else d for d in sizes]


def empty_tensor_list(element_shape, element_dtype, max_num_elements=None,
                      name=None):
    """A list of no elements, with room for max_num_elements."""
    return _raw.EmptyTensorList(
        _element_shape(element_shape),
        -1 if max_num_elements is None else max_num_elements,
        element_dtype=element_dtype, name=name)


def tensor_list_reserve(element_shape, num_elements, element_dtype, name=None):
    """A list of num_elements that are not set yet."""
    return _raw.TensorListReserve(
        _element_shape(element_shape), num_elements,
        element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(tensor, element_shape, name=None):
    """The list of the rows of a tensor."""
    return _raw.TensorListFromTensor(tensor, _element_shape(element_shape),
                                     name=name)


def tensor_list_get_item(input_handle, index, element_dtype,
                         element_shape=None, name=None):
    """An element of a list."""
    return _raw.TensorListGetItem(
        input_handle, index, _element_shape(element_shape),
        element_dtype=element_dtype, name=name)


def tensor_list_set_item(input_handle, index, item,
                         resize_if_index_out_of_bounds=False, name=None):
    """The list with another element at `index`."""
    if resize_if_index_out_of_bounds:
        size = _raw.TensorListLength(input_handle)
        input_handle = cond(
            _raw.GreaterEqual(index, size),
            lambda: _raw.TensorListResize(input_handle, _raw.Add(index, 1)),
            lambda: input_handle)
    return _raw.TensorListSetItem(input_handle, index, item, name=name)


def tensor_list_pop_back(input_handle, element_dtype, name=None):
    """(the list without its last element, that element)."""
    return _raw.TensorListPopBack(input_handle, -1, element_dtype=element_dtype,
                                  name=name)


def tensor_list_gather(input_handle, indices, element_dtype,
                       element_shape=None, name=None):
    """The elements at `indices`, stacked."""
    return _raw.TensorListGather(
        input_handle, indices, _element_shape(element_shape),
        element_dtype=element_dtype, name=name)


def tensor_list_scatter(tensor, indices, element_shape=None, input_handle=None,
                        name=None):
    """The list with the rows of `tensor` at `indices`: a new one, or
    input_handle changed."""
    if input_handle is not None:
        return _raw.TensorListScatterIntoExistingList(input_handle, tensor,
                                                      indices, name=name)
    return _raw.TensorListScatterV2(tensor, indices,
                                    _element_shape(element_shape), -1,
                                    name=name)


def tensor_list_stack(input_handle, element_dtype, num_elements=-1,
                      element_shape=None, name=None):
    """The elements, stacked."""
    return _raw.TensorListStack(
        input_handle, _element_shape(element_shape),
        element_dtype=element_dtype, num_elements=num_elements, name=name)


def tensor_list_concat(input_handle, element_dtype, element_shape=None,
                       name=None):
    """The elements, joined along their first dimensions."""
    return _raw.TensorListConcatV2(
        input_handle, _element_shape(element_shape),
        convert_to_tensor([], dtypes.int64), element_dtype=element_dtype,
        name=name)[0]


def tensor_list_split(tensor, element_shape, lengths, name=None):
    """The list of the pieces of a tensor that have these lengths."""
    return _raw.TensorListSplit(tensor, _element_shape(element_shape), lengths,
                                name=name)
