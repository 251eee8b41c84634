"""tensorflow.python.layers.utils: arguments of convolutions, and their sizes."""
from headrace._src.framework.tensor_shape import as_list_or_none
from headrace._src.layers.backend import image_data_format


def convert_data_format(data_format, ndim):
    """channels_last or channels_first as the data format of ops. ValueError for
    others, and for other numbers of dimensions than 3 to 5."""
    formats = {"channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
               "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"}}
    if data_format not in formats:
        raise ValueError("Invalid data_format: %s" % (data_format,))
    if ndim not in formats[data_format]:
        raise ValueError("Input rank not supported: %s" % (ndim,))
    return formats[data_format][ndim]


def normalize_data_format(value):
    """channels_first or channels_last; None stands for the default of
    tf.keras.backend. ValueError for others."""
    found = image_data_format() if value is None else value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of "
                         "\"channels_first\", \"channels_last\". Received: %s"
                         % value)
    return found


def normalize_padding(value):
    found = value.lower()
    if found not in ("valid", "same"):
        raise ValueError("The `padding` argument must be one of \"valid\", "
                         "\"same\". Received: %s" % value)
    return found


def normalize_keras_padding(value):
    """The padding in small letters; tuples and lists as they are. ValueError for
    others than valid, same and causal."""
    if isinstance(value, (list, tuple)):
        return value
    found = value.lower()
    if found not in ("valid", "same", "causal"):
        raise ValueError("The `padding` argument must be a list/tuple or one of "
                         "\"valid\", \"same\" (or \"causal\", only for `Conv1D)."
                         " Received: %s" % found)
    return found


def normalize_tuple(value, n, name):
    """n integers from one or from as many. ValueError for anything else."""
    refusal = ("The `%s` argument must be a tuple of %d integers. Received: %s"
               % (name, n, value))
    if isinstance(value, int):
        return (value,) * n
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(refusal) from None
    if len(found) != n:
        raise ValueError(refusal)
    for single in found:
        try:
            int(single)
        except (ValueError, TypeError):
            raise ValueError("%s including element %s of type %s" % (
                refusal, single, type(single))) from None
    return found


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """How long the result of a convolution is; None if the input is None."""
    if input_length is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    lost = {"same": 0, "causal": 0, "valid": reach - 1,
            "full": 1 - reach}[padding]
    return (input_length - lost + stride - 1) // stride


def conv_input_length(output_length, filter_size, padding, stride):
    """How long the input of a convolution is whose result has this length."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0,
           "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length, filter_size, padding, stride):
    """How long the result of a transposed convolution is."""
    if input_length is None:
        return None
    return input_length * stride + {
        "same": 0, "valid": max(filter_size - stride, 0),
        "full": -(stride + filter_size - 2)}[padding]


def object_list_uid(objects):
    """A string that names the objects of a list."""
    if not isinstance(objects, (list, tuple)):
        objects = [objects]
    return ", ".join(str(abs(id(x))) for x in objects)


def static_shape(x):
    """What is known of a tensor's shape, a list, or None."""
    return as_list_or_none(x.get_shape())


def get_reachable_from_inputs(inputs, targets=None):
    """The tensors that depend on `inputs`, tensors too, which are among them: a
    set. With `targets` no further once all of those are found."""
    wanted = None if targets is None else set(targets)
    found = set(inputs)
    left = list(found)
    while left and not (wanted is not None and wanted <= found):
        for op in left.pop().consumers():
            for y in op.outputs:
                if y not in found:
                    found.add(y)
                    left.append(y)
    return found
