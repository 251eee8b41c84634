"""tensorflow.python.ops.cond_v2 and while_v2: cond and while_loop with the
arguments that they have there. The nodes are those of cond and while_loop: their
values and gradients are the same."""
from headrace._src.control import control_flow as _control


def cond_v2(pred, true_fn, false_fn, name="cond"):
    """What the function of the branch gives, in its structure.

    `pred`: a bool scalar; both functions take nothing and return tensors of the
    same structure and types, or TypeError or ValueError."""
    return _control.cond(pred, true_fn, false_fn, strict=True, name=name)


def while_loop(cond, body, loop_vars, shape_invariants=None,
               parallel_iterations=10, maximum_iterations=None, name=None,
               return_same_structure=True):
    """The last values of loop_vars, in their structure; with
    return_same_structure=False a single one without its list. As tf.while_loop."""
    return _control.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, name=name,
        maximum_iterations=maximum_iterations,
        return_same_structure=return_same_structure)
