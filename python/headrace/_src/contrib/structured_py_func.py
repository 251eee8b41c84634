"""tf.contrib.framework.py_func: a Python function of structures."""
from headrace._src.compat import nest_paths
from headrace._src.control import script_ops
from headrace._src.framework import nest
from headrace._src.framework.tensor_shape import as_shape


def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None,
            stateful=True, name=None):
    """func(*args, **kwargs) in the run, where `args` and `kwargs` may be
    structures of tensors, which func gets as arrays.

    `output_types`, and `output_shapes` if given, have the structure of what
    func returns, or are functions that give it from args and kwargs. Returns
    tensors in that structure. TypeError for args that are no list or tuple and
    kwargs that are no dict."""
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError("args must be list and not %s. args: %s"
                        % (type(args), args))
    if not isinstance(kwargs, dict):
        raise TypeError("kwargs must be dict and not %s. args: %s"
                        % (type(kwargs), kwargs))
    if callable(output_types):
        output_types = output_types(*args, **kwargs)
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    given = (args, kwargs)

    def flat_func(*arrays):
        arrays, named = nest.pack_sequence_as(given, arrays)
        result = func(*arrays, **named)
        nest_paths.assert_shallow_structure(output_types, result)
        return nest.flatten(result)

    flat = script_ops.py_func(flat_func, nest.flatten(given),
                              nest.flatten(output_types), stateful, name)
    if output_shapes is not None:
        shapes = nest_paths.flatten_up_to(output_types, output_shapes)
        for tensor, shape in zip(flat, shapes):
            tensor.set_shape(as_shape(shape))
    return nest.pack_sequence_as(output_types, flat)
