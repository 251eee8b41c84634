"""Functions that give gradients of Python functions: tf.contrib.eager.
implicit_gradients, gradients_function and others."""
import functools
import inspect

from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.training.gradient_tape import GradientTape


def _checked(result, f):
    if result is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget "
            "to return a value from %s?" % getattr(f, "__name__", f))
    return result


def implicit_value_and_gradients(f):
    """A function that returns (f(...), [(gradient, variable)]) for the trainable
    variables that f reads. ValueError if it reads none, or returns None."""
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        with GradientTape() as tape:
            result = _checked(f(*args, **kwargs), f)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the "
                             "function was being computed.")
        found = tape.gradient(result, list(variables))
        return result, list(zip(found, variables))
    return decorated


def implicit_gradients(f):
    """A function that returns [(gradient of f(...), variable)] for the trainable
    variables that f reads. ValueError if it reads none, or returns None."""
    both = implicit_value_and_gradients(f)

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return both(*args, **kwargs)[1]
    return decorated


def _positions(f, params, args):
    """Which arguments the gradients are by."""
    if params is None:
        if not args:
            raise ValueError("When params is not None, at least one argument is "
                             "needed: f has none")
        return range(len(args))
    if not params:
        raise ValueError("params must be None, or a list of names or numbers of "
                         "parameters")
    if all(isinstance(p, int) for p in params):
        return params
    names = list(inspect.signature(f).parameters)
    found = []
    for p in params:
        if p not in names:
            raise ValueError("params must contain names of parameters: %r is "
                             "none of %s" % (p, names))
        found.append(names.index(p))
    return found


def make_vjp(f, params=None, persistent=True):
    """A function of f's arguments that returns (f(...), vjp): vjp(dy) gives the
    gradients by the parameters in `params` from those of the result."""
    def decorated(*args, **kwargs):
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive "
                             "keyword arguments.")
        args = list(args)
        places = _positions(f, params, args)
        sources, seen = [], {}
        tape = GradientTape(persistent=persistent)
        for i in places:
            tensor = convert_to_tensor(args[i])
            if id(tensor) in seen:
                tensor = _array.identity(tensor)
            seen[id(tensor)] = args[i] = tensor
            sources.append(tensor)
        with tape:
            tape.watch(sources)
            result = _checked(f(*args), f)
            result = nest.map_structure(
                lambda x: _array.identity(convert_to_tensor(x)), result)

        def vjp(dy=None):
            if dy is not None:
                dy = [convert_to_tensor(x) for x in nest.flatten(dy)]
            return tape.gradient(result, sources, output_gradients=dy)
        return result, vjp
    return decorated


def value_and_gradients_function(f, params=None):
    """A function of f's arguments that returns (f(...), gradients by the
    parameters in `params`, by default all)."""
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        dy = kwargs.pop("dy", None)
        value, vjp = make_vjp(f, params, persistent=False)(*args, **kwargs)
        return value, vjp(dy)
    return decorated


def gradients_function(f, params=None):
    """A function of f's arguments that returns the gradients by the parameters
    in `params`: names or numbers, by default all."""
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return both(*args, **kwargs)[1]
    return decorated


