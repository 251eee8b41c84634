"""tf.switch_case: one of several branches, by its number."""
from headrace._headrace import Tensor
from headrace._src.control.control_flow import cond
from headrace._src.framework.graph import name_scope
from headrace._src.ops import math_ops as _math


def _branches(branch_fns, default):
    """The functions in order, that for other numbers last."""
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = (list(branch_fns.items()) if isinstance(branch_fns, dict)
             else list(branch_fns))
    if not pairs:
        raise ValueError("Must provide at least one item in branch_fns")
    if all(callable(f) for f in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        if not isinstance(pair[0], int):
            raise TypeError("key must be a Python `int`, got %s"
                            % type(pair[0]))
        if not callable(pair[1]):
            raise TypeError("fn for key %d must be callable." % pair[0])
    if sorted(key for key, _ in pairs) != list(range(len(pairs))):
        raise ValueError(
            "branch indices (keys) must form contiguous range of [0 to %d) but "
            "found {%s}" % (len(pairs), ",".join(
                str(key) for key in sorted(key for key, _ in pairs))))
    functions = [f for _, f in sorted(pairs, key=lambda pair: pair[0])]
    if default is not None:
        if not callable(default):
            raise TypeError("default must be callable.")
        functions.append(default)
    return functions


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """What the function with the number branch_index returns; of a number that
    there is none of, `default` or else the last function. branch_fns: a list,
    or pairs or a dictionary with the numbers from 0 on. Only the nodes of that
    branch run."""
    functions = _branches(branch_fns, default)
    if not isinstance(branch_index, Tensor):
        raise TypeError("branch_index must a Tensor, got %s"
                        % type(branch_index))
    if not branch_index.dtype.is_integer:
        raise TypeError("branch_index must an integer Tensor, got %s"
                        % branch_index.dtype)

    def choose(first):
        if first == len(functions) - 1:
            return functions[first]()
        return cond(_math.equal(branch_index, first), functions[first],
                    lambda: choose(first + 1), strict=True)
    with name_scope(name, "switch_case", [branch_index]):
        result = choose(0)
    if isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result
