"""tensorflow.python.ops.op_selector: the operations before others."""
from headrace._headrace import Operation, Tensor
from headrace._src.framework.graph import Graph
from headrace._src.graph_editor.select import reached_ops


def _operations(values):
    if isinstance(values, Graph):
        return values.get_operations()
    if not isinstance(values, (list, tuple, set, frozenset)):
        values = [values]
    found = []
    for x in values:
        if not isinstance(x, (Operation, Tensor)):
            raise TypeError("Expected tf.Operation or tf.Tensor, got %s"
                            % type(x))
        op = x.op if isinstance(x, Tensor) else x
        if op not in found:
            found.append(op)
    return found


def get_backward_walk_ops(seed_ops, inclusive=True, within_ops=None,
                          within_ops_fn=None, stop_at_ts=(),
                          control_inputs=False):
    """The operations that `seed_ops`, operations or tensors, depend on, as a
    list.

    inclusive: with the seeds themselves. within_ops, within_ops_fn: only these
    operations, and those that the function is true of. stop_at_ts: tensors
    that the walk does not pass. control_inputs: it goes by control inputs too.
    TypeError for what is neither operation nor tensor."""
    seeds = _operations(seed_ops)
    within = None if not within_ops else set(_operations(within_ops))
    stops = set(stop_at_ts)

    def following(op):
        before = [t.op for t in op.inputs if t not in stops]
        return [*before, *op.control_inputs] if control_inputs else before
    return reached_ops(seeds, following, inclusive, within, within_ops_fn)
