"""A matrix product of tensors side by side, with the variables `kernel` and
`bias` of the scope where it is made."""
from headrace._src.framework import nest
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.initializers import Constant
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, variable_scope)


class Linear:
    """y = [args] x kernel + bias. `args`: the tensors [batch, size] that calls
    will have, or one; ValueError unless their shapes are such."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None,
                 kernel_initializer=None):
        args = args if nest.is_nested(args) else [args]
        if not args:
            raise ValueError("`args` must be specified")
        width = 0
        for x in args:
            shape = x.get_shape()
            if shape.ndims != 2:
                raise ValueError("linear is expecting 2D arguments: %s"
                                 % [a.get_shape() for a in args])
            if shape[1].value is None:
                raise ValueError("linear expects shape[1] to be provided for "
                                 "shape %s, but saw %s" % (shape, shape[1]))
            width += shape[1].value
        kind = args[0].dtype.base_dtype
        self._bias = None
        scope = get_variable_scope()
        with variable_scope(scope) as outer:
            self._kernel = get_variable("kernel", [width, output_size],
                                        dtype=kind,
                                        initializer=kernel_initializer)
            if build_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    self._bias = get_variable(
                        "bias", [output_size], dtype=kind,
                        initializer=bias_initializer
                        or Constant(0.0, dtype=kind))

    def __call__(self, args):
        args = args if nest.is_nested(args) else [args]
        x = args[0] if len(args) == 1 else _array.concat(args, 1)
        y = _math.matmul(x, self._kernel)
        return y if self._bias is None else _nn.bias_add(y, self._bias)
