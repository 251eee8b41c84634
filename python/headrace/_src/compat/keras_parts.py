"""tensorflow.python.keras: helpers of configs, kernels and training data that
programs and tests use though tf does not export them."""
import inspect
import re

import numpy as np

from headrace._src.compat import layer_sizes as _sizes
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend, function_code, named
from headrace._src.ops import math_ops as _math
from headrace._src.ops.contractions import tensordot


# generic_utils.

def to_list(x):
    """`x`, or a list of it alone."""
    return x if isinstance(x, list) else [x]


def has_arg(fn, name, accept_all=False):
    """Whether `fn` has a parameter `name`, or with `accept_all` takes any
    keyword."""
    spec = inspect.getfullargspec(fn)
    return bool(accept_all and spec.varkw) or (
        name in spec.args or name in spec.kwonlyargs)


def func_dump(func):
    """(code as text, default values, values of the closure) of a function."""
    return function_code.dump(func)


def func_load(code, defaults=None, closure=None, globs=None):
    """The function that func_dump described, `code` alone or all three.
    ValueError for the code of another version of Python."""
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    return function_code.function_of(
        (code, defaults, closure), globals() if globs is None else globs)


def to_snake_case(name):
    """The name of a class as that of its layers: max_pooling2d."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return words if words[0] != "_" else "private" + words


def is_all_none(structure):
    """Whether all in a structure are None."""
    return all(x is None for x in nest.flatten(structure))


def check_for_unexpected_keys(name, input_dict, expected_values):
    """ValueError for keys of a dict that are not expected."""
    unknown = set(input_dict) - set(expected_values)
    if unknown:
        raise ValueError("Unknown entries in %s dictionary: %s. Only expected "
                         "following keys: %s"
                         % (name, list(unknown), expected_values))


def validate_kwargs(kwargs, allowed_kwargs,
                    error_message="Keyword argument not understood:"):
    """TypeError for a keyword that is not allowed."""
    for key in kwargs:
        if key not in allowed_kwargs:
            raise TypeError(error_message, key)


def make_batches(size, batch_size):
    """(start, end) of each batch of `size` examples."""
    return [(start, min(size, start + batch_size))
            for start in range(0, size, batch_size)]


def slice_arrays(arrays, start=None, stop=None):
    """The examples start to stop of an array or of each in a list; if `start`
    is a list, those of these numbers. None for what has no examples."""
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("The stop argument has to be None if the value of "
                         "start is a list.")
    many = isinstance(arrays, list)
    if hasattr(start, "__len__"):
        rows = start.tolist() if hasattr(start, "shape") else start
        found = [None if x is None else x[rows]
                 for x in (arrays if many else [arrays])]
    elif many or hasattr(start, "__len__"):
        found = [None if x is None or not hasattr(x, "__getitem__")
                 else x[start:stop] for x in arrays]
    elif hasattr(arrays, "__getitem__"):
        found = [arrays[start:stop]]
    else:
        return [None]
    return found if many else found[0]


def serialize_keras_class_and_config(cls_name, cls_config):
    """The dict of a class and its config."""
    return {"class_name": cls_name, "config": cls_config}


def class_and_config_for_serialized_keras_object(
        config, module_objects=None, custom_objects=None,
        printable_module_name="object"):
    """(class, config) of a dict with class_name and config. ValueError for a
    class that is not known."""
    if not isinstance(config, dict) or not (
            {"class_name", "config"} <= set(config)):
        raise ValueError("Improper config format: %s" % (config,))
    known = {**(module_objects or {}), **named.get_custom_objects(),
             **(custom_objects or {})}
    name = config["class_name"]
    if name not in known:
        raise ValueError("Unknown %s: %s" % (printable_module_name, name))
    return known[name], config["config"]


# conv_utils.

def _per_dimension(value, count, what):
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError("Number of %s dimensions should match the number of "
                         "input dimensions: got %d, wanted %d"
                         % (what, len(values), count))
    return values


def _taps(size, kernel, stride, padding):
    """For each output of a convolution over `size` inputs, (start, end) of the
    inputs that it takes."""
    count = _sizes.conv_output_length(size, kernel, padding, stride)
    found = []
    for i in range(count if size else 0):
        center = i * stride + (kernel // 2 if padding == "valid" else 0)
        start = center - kernel // 2
        found.append((max(0, start), min(size, start + kernel)))
    return found


def conv_output_shape(input_shape, kernel_shape, strides, padding):
    """The spatial shape of what a convolution makes, a tuple. ValueError for
    other numbers of dimensions."""
    count = len(input_shape)
    kernel_shape = _per_dimension(kernel_shape, count, "kernel")
    strides = _per_dimension(strides, count, "stride")
    return tuple(
        _sizes.conv_output_length(*sizes[:2], padding, sizes[2])
        if sizes[0] else 0
        for sizes in zip(input_shape, kernel_shape, strides))


def conv_connected_inputs(input_shape, kernel_shape, output_position, strides,
                          padding):
    """For each dimension, the range of the inputs that the output at
    `output_position` takes."""
    count = len(input_shape)
    kernel_shape = _per_dimension(kernel_shape, count, "kernel")
    strides = _per_dimension(strides, count, "stride")
    return [range(*_taps(n, k, s, padding)[at]) for n, k, s, at in zip(
        input_shape, kernel_shape, strides, output_position)]


def conv_kernel_mask(input_shape, kernel_shape, strides, padding):
    """Which inputs of a convolution have an effect on which outputs: an array
    of bool of input_shape + output_shape. NotImplementedError for paddings
    other than "same" and "valid"; ValueError for other numbers of
    dimensions."""
    if padding not in ("same", "valid"):
        raise NotImplementedError("Padding type %s not supported. Only \"valid\""
                                  " and \"same\" are implemented." % (padding,))
    count = len(input_shape)
    kernel_shape = _per_dimension(kernel_shape, count, "kernel")
    strides = _per_dimension(strides, count, "stride")
    mask = np.ones((), bool)
    for size, kernel, stride in zip(input_shape, kernel_shape, strides):
        taps = _taps(size, kernel, stride, padding)
        own = np.zeros((size, len(taps)), bool)
        for i, (start, end) in enumerate(taps):
            own[start:end, i] = True
        mask = np.multiply.outer(mask, own)
    return mask.transpose([*range(0, 2 * count, 2), *range(1, 2 * count, 2)])


def convert_kernel(kernel):
    """A kernel of a convolution, an array of rank 3 to 5, turned around in all
    its spatial dimensions. ValueError for other ranks."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.flip(kernel, tuple(range(kernel.ndim - 2)))


# kernelized_utils.

def inner_product(u, v):
    """The inner products of the rows of `u` [m, d] and `v` [n, d], or of
    vectors."""
    u, v = convert_to_tensor(u), convert_to_tensor(v)
    return tensordot(u, v, [[-1], [-1]])


def _distances(x, y, function):
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if x.get_shape().ndims == 1:
        x = x[None, :]
    if y.get_shape().ndims == 1:
        y = y[None, :]
    for matrix in x, y:
        if matrix.get_shape().ndims != 2:
            raise ValueError("Expected a vector or a matrix, got shape %s"
                             % matrix.get_shape())
    return _math.reduce_sum(function(x[:, None, :] - y[None, :, :]), -1)


def exact_gaussian_kernel(x, y, stddev):
    """exp(-|x_i - y_j|^2 / (2 stddev^2)) of the rows of `x` [m, d] and `y`
    [n, d]: [m, n]."""
    return _math.exp(-_distances(x, y, _math.square) / (2. * stddev * stddev))


def exact_laplacian_kernel(x, y, stddev):
    """exp(-|x_i - y_j|_1 / stddev) of the rows of `x` [m, d] and `y` [n, d]:
    [m, n]."""
    return _math.exp(-_distances(x, y, _math.abs) / stddev)


# tf_utils.

class ListWrapper:
    """A list that is one value of a structure."""

    def __init__(self, list_to_wrap):
        self._list = list_to_wrap

    def as_list(self):
        return self._list


def map_structure_with_atomic(is_atomic_fn, map_fn, nested):
    """The structure `nested` with map_fn of all for which is_atomic_fn holds.
    ValueError for a value that is neither one nor a list, tuple or dict."""
    if is_atomic_fn(nested):
        return map_fn(nested)
    if isinstance(nested, dict):
        return type(nested)((key, map_structure_with_atomic(
            is_atomic_fn, map_fn, value)) for key, value in nested.items())
    if not isinstance(nested, (list, tuple)):
        raise ValueError("Received non-atomic and non-sequence element: {}"
                         .format(nested))
    values = [map_structure_with_atomic(is_atomic_fn, map_fn, x)
              for x in nested]
    if hasattr(nested, "_fields"):
        return type(nested)(*values)
    return type(nested)(values)


def convert_inner_node_data(nested, wrap=False):
    """The entries [layer, node, tensor] of a config as ListWrappers, with
    `wrap`, or those as lists."""
    def is_serialized(x):
        return isinstance(x, list) and len(x) in (3, 4) and isinstance(
            x[0], str)

    def convert(x):
        if wrap:
            return x if isinstance(x, ListWrapper) else ListWrapper(x)
        return x.as_list() if isinstance(x, ListWrapper) else x
    return map_structure_with_atomic(
        lambda x: (isinstance(x, ListWrapper) or is_serialized(x)
                   or not isinstance(x, (list, tuple, dict))),
        lambda x: convert(x) if isinstance(x, (ListWrapper, list)) else x,
        nested)


# training_utils.

def standardize_weights(y, sample_weight=None, class_weight=None,
                        sample_weight_mode=None):
    """The weights of the examples of labels `y`: `sample_weight` times those
    of their classes, a dict by class. None if there are none. ValueError for
    weights of other shapes and for classes without a weight."""
    if sample_weight_mode not in (None, "temporal"):
        raise ValueError("\"sample_weight_mode\" should be None or "
                         "\"temporal\". Found: %s" % (sample_weight_mode,))
    least = 3 if sample_weight_mode == "temporal" else None
    if least and len(y.shape) < least:
        raise ValueError(
            "Found a sample_weight array for an input with shape %s. "
            "Timestep-wise sample weighting (use of "
            "sample_weight_mode=\"temporal\") is restricted to outputs that "
            "are at least 3D, i.e. that have a time dimension." % (y.shape,))
    if sample_weight is not None:
        limit = 2 if least else 1
        if (least and len(sample_weight.shape) != limit) or (
                not least and len(sample_weight.shape) > len(y.shape)):
            raise ValueError(
                "Found a sample_weight with shape %s. Expected sample_weight "
                "with rank less than or equal to %d"
                % (sample_weight.shape, limit if least else len(y.shape)))
    if not isinstance(class_weight, dict):
        return sample_weight
    if len(y.shape) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional "
                         "targets.")
    classes = y
    if len(y.shape) == 2:
        classes = (np.argmax(y, axis=1) if y.shape[1] > 1
                   else np.reshape(y, y.shape[0]))
    missing = {c.item() for c in np.unique(classes)} - set(class_weight)
    if missing:
        raise ValueError("`class_weight` must contain all classes in the data. "
                         "The classes %s exist in the data but not in "
                         "`class_weight`." % missing)
    weights = np.asarray([class_weight[c.item()] for c in classes])
    return weights if sample_weight is None else weights * sample_weight


class ModelInputs:
    """The names and placeholders of the inputs of a model that arrays, in a
    list or a dict or one alone, are given to."""

    def __init__(self, inputs):
        self._inputs = inputs
        self._is_dict = isinstance(inputs, dict)
        self._is_single = not isinstance(inputs, (list, tuple, dict))
        self._flat = [inputs] if self._is_single else list(inputs)
        self._names = ["input_%d" % (i + 1) for i in range(len(self._flat))]
        if self._is_dict:
            self._names = sorted(inputs)
            self._flat = [inputs[name] for name in self._names]

    def get_input_names(self):
        return self._names

    def get_symbolic_inputs(self, return_single_as_list=False):
        """A placeholder for each, with any number of examples. What is a
        tensor is its own."""
        found = []
        for name, value in zip(self._names, self._flat):
            if isinstance(value, (list, float, int)):
                value = np.asarray(value)
                if value.ndim == 1:
                    value = np.expand_dims(value, 1)
            if isinstance(value, np.ndarray):
                value = backend.placeholder(
                    shape=(None,) + value.shape[1:], dtype=backend.floatx()
                    if value.dtype.kind == "f" else value.dtype, name=name)
            found.append(value)
        if self._is_dict:
            return dict(zip(self._names, found))
        return found[0] if (self._is_single
                            and not return_single_as_list) else found
