"""tf.contrib.layers: reversible layers, whose inputs gradients compute from their
outputs, and functions that gradients compute once more. Both save memory."""
import functools
import re

import numpy as np

from headrace._headrace import Tensor, executing_eagerly
from headrace._src.contrib import arg_scopes as _scopes_of_arguments
from headrace._src.control.control_flow_ops import tuple as _tuple
from headrace._src.framework import nest
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers.legacy import Layer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.gradient_tape import GradientTape
from headrace._src.training.gradients import custom_gradient, gradients
from headrace._src.variables.base import Variable
from headrace._src.variables.scopes import (
    get_variable_scope, variable_scope)

_OF_LAYER = re.compile(r".*revlayer_([0-9]*)/([fg])/.*")
_DEFAULT = "__rev_block_lib_default"
_WRONG_VARIABLES = (
    "The variables used on recompute were different than the variables "
    "originally used. The function wrapped with @recompute_grad likely creates "
    "its own variable scope with a default name and has been called twice in "
    "the same enclosing scope. To fix, ensure each call to the function happens "
    "in its own unique variable scope.")


def _sums(*lists):
    """The sums of gradients at the same place, None where there are none."""
    found = []
    for grads in zip(*lists):
        grads = [g for g in grads if g is not None]
        found.append(_math.add_n(grads) if grads else None)
    return found


def _apply(function, x, side):
    return function(x, side) if side else function(x)


def _keeps_name(function):
    """functools.wraps, also for a functools.partial."""
    if isinstance(function, functools.partial):
        return lambda wrapped: wrapped
    return functools.wraps(function)


def _in_scope(function, scope):
    @_keeps_name(function)
    def wrapped(*args, **kwargs):
        with variable_scope(scope, use_resource=True):
            return function(*args, **kwargs)
    return wrapped


def _layer_backward(ys, grads, f, g, f_variables, f_side, g_variables, g_side):
    """Of one layer: (inputs, their gradients, (gradients of f's variables, of
    its side inputs), the same of g)."""
    y1, y2 = ys
    grad_y1, grad_y2 = grads
    y1_stop = _array.stop_gradient(y1)
    g_side = [_array.stop_gradient(t) for t in g_side]
    gy1 = _apply(g, y1_stop, g_side)
    x2 = y2 - gy1
    x2_stop = _array.stop_gradient(x2)
    f_side = [_array.stop_gradient(t) for t in f_side]
    fx2 = _apply(f, x2_stop, f_side)
    x1 = y1 - fx2
    by_g, = gradients(gy1, y1_stop, grad_y2)
    grad_x1 = grad_y1 + by_g
    grad_x2 = (gradients(fx2, x2_stop, grad_y1)[0] + grad_y2
               + gradients(fx2, x2_stop, by_g)[0])
    of_g = gradients(gy1, g_variables + g_side, grad_y2)
    of_f = _sums(gradients(fx2, f_variables + f_side, grad_y1),
                 gradients(fx2, f_variables + f_side, by_g))
    n, m = len(f_variables), len(g_variables)
    found = ((x1, x2), (grad_x1, grad_x2), (of_f[:n], of_f[n:]),
             (of_g[:m], of_g[m:]))
    return nest.pack_sequence_as(found, _tuple(nest.flatten(found)))


class RevBlock(Layer):
    """Reversible layers: y1 = x1 + f(x2), y2 = x2 + g(y1), num_layers times.

    f and g are functions from a float tensor to one of the same shape and
    dtype, or lists of one for each layer; with f_side_input and g_side_input,
    lists of tensors, they take these as a second argument. A call takes [x1,
    x2]; `backward` computes these of the results. With use_efficient_backprop
    gradients do so, and results of the layers are not kept. ValueError for lists
    of another length."""

    def __init__(self, f, g, num_layers=1, f_side_input=None,
                 g_side_input=None, use_efficient_backprop=True,
                 name="revblock", **kwargs):
        super().__init__(name=name, **kwargs)
        for what, functions in (("f", f), ("g", g)):
            if isinstance(functions, list) and len(functions) != num_layers:
                raise ValueError("RevBlock: %s has %d functions for %d layers"
                                 % (what, len(functions), num_layers))
        f = f if isinstance(f, list) else [f] * num_layers
        g = g if isinstance(g, list) else [g] * num_layers
        self.f = [_in_scope(function, "revlayer_%d/f" % i)
                  for i, function in enumerate(f)]
        self.g = [_in_scope(function, "revlayer_%d/g" % i)
                  for i, function in enumerate(g)]
        self.num_layers = num_layers
        self.f_side_input = list(f_side_input or [])
        self.g_side_input = list(g_side_input or [])
        self._use_efficient_backprop = use_efficient_backprop

    def build(self, input_shape):
        """Nothing: the first call makes the variables."""
        self.built = True

    def call(self, inputs, forward=True):
        scope = get_variable_scope()
        before = {id(v) for v in scope.global_variables()}
        a, b = inputs
        outputs = self._forward(a, b) if forward else self._backward(a, b)
        trained = {id(v) for v in scope.trainable_variables()}
        for v in scope.global_variables():
            if id(v) not in before:
                (self._trainable_weights if id(v) in trained
                 else self._non_trainable_weights).append(v)
        return outputs

    def forward(self, x1, x2):
        """(y1, y2)"""
        return self([x1, x2])

    def backward(self, y1, y2):
        """(x1, x2)"""
        return self([y1, y2], forward=False)

    def _layers(self, x1, x2, f_side, g_side):
        for f, g in zip(self.f, self.g):
            y1 = x1 + _apply(f, x2, f_side)
            y2 = x2 + _apply(g, y1, g_side)
            x1, x2 = (_tuple([y1, y2]) if self._use_efficient_backprop
                      else (y1, y2))
        return x1, x2

    def _forward(self, x1, x2):
        n = len(self.f_side_input)
        sides = self.f_side_input + self.g_side_input
        if not self._use_efficient_backprop:
            return self._layers(x1, x2, self.f_side_input, self.g_side_input)
        scope = get_variable_scope()

        @custom_gradient
        def with_gradient(a, b, *sides):
            outputs = self._layers(a, b, list(sides[:n]), list(sides[n:]))
            return outputs, functools.partial(self._gradient, scope, outputs,
                                              sides)
        return with_gradient(x1, x2, *sides)

    def _gradient(self, scope, ys, sides, *grads, variables=()):
        variables = list(variables)
        places = [([], []) for _ in range(self.num_layers)]
        for i, v in enumerate(variables):
            layer, function = _OF_LAYER.match(v.name).groups()
            places[int(layer)]["fg".index(function)].append(i)
        n = len(self.f_side_input)
        f_side, g_side = list(sides[:n]), list(sides[n:])
        by_variable = [None] * len(variables)
        f_grads, g_grads = [], []
        with variable_scope(scope, reuse=True):
            for i in reversed(range(self.num_layers)):
                of_f, of_g = places[i]
                ys, grads, f_found, g_found = _layer_backward(
                    ys, grads, self.f[i], self.g[i],
                    [variables[j] for j in of_f], f_side,
                    [variables[j] for j in of_g], g_side)
                for j, grad in zip(of_f + of_g,
                                   list(f_found[0]) + list(g_found[0])):
                    by_variable[j] = grad
                f_grads.append(f_found[1])
                g_grads.append(g_found[1])
        by_argument = list(grads) + _sums(*f_grads) + _sums(*g_grads)
        return (by_argument, by_variable) if variables else by_argument

    def _backward(self, y1, y2):
        for f, g in zip(reversed(self.f), reversed(self.g)):
            x2 = y2 - _apply(g, y1, self.g_side_input)
            x1 = y1 - _apply(f, x2, self.f_side_input)
            y1, y2 = x1, x2
        return y1, y2


def rev_block(x1, x2, f, g, num_layers=1, f_side_input=None, g_side_input=None,
              is_training=True):
    """(y1, y2) of reversible layers: y1 = x1 + f(x2), y2 = x2 + g(y1),
    num_layers times. x1 and x2 are float tensors of one shape and dtype, which f
    and g keep; see RevBlock. `is_training`: gradients compute the inputs of
    layers from their results. ValueError for lists of functions of another
    length."""
    return RevBlock(
        f, g, num_layers, f_side_input, g_side_input,
        use_efficient_backprop=is_training,
        _reuse=get_variable_scope().reuse).forward(x1, x2)


def recompute_grad(fn=None, use_data_dep=_DEFAULT, tupleize_grads=False):
    """A decorator of functions of float tensors of any shapes: gradients call
    the function once more, and what it computes is not kept until then. Variables
    must be made by get_variable in a scope that both calls share; where the
    function has an argument `is_recomputing`, it tells which call it is.

    `use_data_dep`: the second call waits for the gradients by a sum, not by a
    control dependency alone. `tupleize_grads`: all gradients are had together.
    ValueError for a function that has tensors or variables from outside, for
    arguments that are no tensors, and for other variables in the second
    call."""
    if fn is None or not callable(fn):
        return lambda function: recompute_grad(
            function, use_data_dep if fn is None else fn, tupleize_grads)
    use_data_dep = use_data_dep is True  # by default for TPUs alone
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        if isinstance(cell.cell_contents, (Tensor, Variable)):
            raise ValueError(
                "fn decorated with @recompute_grad closes over Tensor %s (local "
                "variable name: %s). The decorated fn must not close over "
                "Tensors or Variables because gradients will NOT be computed "
                "for them through fn. To ensure correct gradients, make the "
                "Tensor an input to fn." % (cell.cell_contents.name, name))
    tells = "is_recomputing" in fn.__code__.co_varnames[
        :fn.__code__.co_argcount + fn.__code__.co_kwonlyargcount]

    def run(args, again):
        with GradientTape() as tape:
            outputs = fn(*args, **({"is_recomputing": again} if tells else {}))
        return outputs, set(map(id, tape.watched_variables()))

    @_keeps_name(fn)
    def wrapped(*args):
        for arg in args:
            if not isinstance(arg, Tensor):
                raise ValueError("All inputs to function must be Tensors, got "
                                 "%r" % (arg,))

        @custom_gradient
        def with_gradient(*inputs):
            scope = get_variable_scope()
            arguments = _scopes_of_arguments.current_arg_scope()
            outputs, original = run(inputs, False)

            def gradient(*grads, variables=()):
                variables = list(variables)
                if set(map(id, variables)) != original:
                    raise ValueError(_WRONG_VARIABLES)
                again = [_array.identity(x) for x in inputs]
                with control_dependencies([g for g in grads if g is not None]):
                    if use_data_dep:
                        again = _after(grads, again)
                    with _scopes_of_arguments.arg_scope(arguments):
                        with variable_scope(scope, reuse=True):
                            made, read = run(again, True)
                if read != original:
                    raise ValueError(_WRONG_VARIABLES)
                made = list(made) if isinstance(made, (list, tuple)) else [made]
                found = gradients(made, again + variables, list(grads))
                if tupleize_grads:
                    found = (_after(found, found) if use_data_dep
                             else _tuple(found))
                n = len(again)
                return (found[:n], found[n:]) if variables else found[:n]
            return outputs, gradient
        return with_gradient(*args)
    return wrapped


def _after(first, second):
    """The tensors `second`, with a sum of 0 that needs all of `first`."""
    def element(x):
        rank = x.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of Tensor %s must be known" % x)
        return _array.reshape(_array.slice(
            x, convert_to_tensor([0] * rank, dtype="int32"),
            convert_to_tensor([1] * rank, dtype="int32")), [])
    total = _math.add_n([element(x) for x in first if x is not None])
    if not total.dtype.is_floating:
        raise ValueError("recompute_grad: use_data_dep needs floats, got %s"
                         % total.dtype.name)
    zero = _array.stop_gradient(
        np.finfo(total.dtype.as_numpy_dtype).tiny * total)
    return [None if x is None else _array.identity(x) + zero for x in second]


def recompute_grad_of_tape(f):
    """A decorator of functions of float tensors of any shapes: gradients call
    the function once more. Its variables must exist before the first call:
    TypeError for those that it makes and that are no resources."""
    @custom_gradient
    def inner(*args, **kwargs):
        result = f(*args, **kwargs)

        def gradient(*grads, variables=None):
            again = [_array.identity(x) for x in args]
            with control_dependencies([g for g in grads if g is not None]):
                sources = again + list(variables or ())
            if executing_eagerly():
                with GradientTape() as tape:
                    tape.watch(sources)
                    made = nest.flatten(f(*again, **kwargs))
                found = tape.gradient(made, sources, list(grads))
            else:
                made = nest.flatten(f(*again, **kwargs))
                found = gradients(made, sources, list(grads))
            n = len(again)
            return (found[:n], found[n:]) if variables else found[:n]
        return result, gradient
    return inner
