"""tf.custom_gradient of ops that are executed eagerly."""
import inspect

from headrace import _headrace
from headrace._headrace import EagerTensor
from headrace._src.eager.tape import source_of
from headrace._src.eager.variables import variable_of
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.variables.base import Variable


def watching(function):
    """(the result of function(), the trainable variables that it read)."""
    watcher = _headrace.TapeCore(True)
    watcher.push()
    try:
        result = function()
    finally:
        watcher.pop()
    found = [variable_of(h) for h in watcher.handles]
    return result, [v for v in found if v is not None]


def call(f, args, kwargs):
    """f(*args, **kwargs), which returns (results, function of the gradients):
    the results, with that function for the tapes."""
    (result, grad_fn), read = watching(lambda: f(*args, **kwargs))
    given = list(args) + list(kwargs.values())
    variables = [v for v in read if all(v is not x for x in given)]
    parameters = inspect.signature(grad_fn).parameters
    takes_variables = "variables" in parameters or any(
        p.kind is p.VAR_KEYWORD for p in parameters.values())
    if variables and not takes_variables:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, "
            "then grad_fn must accept a keyword argument 'variables'.")
    flat = nest.flatten(result)
    outputs = [convert_to_tensor(x)._copy() for x in flat]
    inputs = [x.handle if isinstance(x, Variable) else
              source_of(x) if isinstance(x, EagerTensor) else
              convert_to_tensor(x) for x in args]
    inputs += [v.handle for v in variables]

    def backward(*grads):
        if variables:
            by_args, by_variables = grad_fn(*grads, variables=variables)
            by_variables = list(by_variables)
            if len(by_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from "
                                 "@custom_gradient grad_fn.")
        else:
            by_args, by_variables = grad_fn(*grads), []
        by_args = nest.flatten(by_args)
        if len(by_args) != len(args):
            raise ValueError(
                "custom_gradient function expected to return %d gradients but "
                "returned %d instead." % (len(args), len(by_args)))
        return by_args + by_variables
    _headrace.record_gradient(inputs, outputs, backward)
    return nest.pack_sequence_as(result, outputs)
