"""tensorflow.contrib.rnn.python.ops.core_rnn_cell: the product inside of cells;
tensorflow.python.ops.rnn_cell_impl: sizes of states."""
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn import cells as _cells
from headrace._src.variables import initializers as _init
from headrace._src.variables import scopes as _scopes


class Linear:
    """concat(args) * kernel + bias, of matrices [batch, n]. The variables
    `kernel` and `bias` are made in the current scope."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None,
                 kernel_initializer=None):
        args = _checked(args)
        shapes = [a.get_shape() for a in args]
        total = 0
        for shape in shapes:
            if shape.ndims != 2:
                raise ValueError("linear is expecting 2D arguments: %s"
                                 % shapes)
            if shape.as_list()[1] is None:
                raise ValueError("linear expects shape[1] to be provided for "
                                 "shape %s, but saw %s" % (shape, shape[1]))
            total += shape.as_list()[1]
        dtype = args[0].dtype.base_dtype
        self._weights = _scopes.get_variable(
            "kernel", [total, output_size], dtype, kernel_initializer)
        self._biases = None
        if build_bias:
            if bias_initializer is None:
                bias_initializer = _init.constant_initializer(0, dtype)
            self._biases = _scopes.get_variable(
                "bias", [output_size], dtype, bias_initializer)

    def __call__(self, args):
        args = _checked(args)
        x = args[0] if len(args) == 1 else _array.concat(args, 1)
        y = _math.matmul(x, self._weights)
        return y if self._biases is None else _nn.bias_add(y, self._biases)


def _checked(args):
    if args is None or isinstance(args, (list, tuple)) and not args:
        raise ValueError("`args` must be specified")
    if not isinstance(args, (list, tuple)):
        args = [args]
    return [convert_to_tensor(a) for a in args]


def linear(args, output_size, bias, bias_initializer=None,
           kernel_initializer=None):
    """concat(args) * kernel, and + bias if `bias` is true."""
    return Linear(args, output_size, bias, bias_initializer,
                  kernel_initializer)(args)


# tensorflow.python.ops.rnn_cell_impl.

_BIAS_VARIABLE_NAME = "bias"
# What assert_like_rnncell's message matches.
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
_WEIGHTS_VARIABLE_NAME = "kernel"


def concat(prefix, suffix, static=False):
    """The sizes `prefix` and then `suffix`, each an int, a TensorShape, a
    tensor or a list of ints: as a tensor, or if `static` as a list or None.
    ValueError for a tensor of sizes that are not known."""
    if static:
        return _cells.static_shape(prefix, suffix)
    try:
        return _cells.joined_shape(prefix, suffix)
    except ValueError as e:
        raise ValueError("Provided a prefix or suffix of None: %s and %s (%s)"
                         % (prefix, suffix, e)) from None


def assert_like_rnncell(cell_name, cell):
    """TypeError if `cell`, which messages call `cell_name`, is no RNNCell."""
    _cells.check_cell(cell_name, cell)
