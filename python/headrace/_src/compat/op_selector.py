"""tensorflow.python.ops.op_selector: the operations before others."""
from headrace._headrace import Operation, Tensor
from headrace._src.framework.graph import Graph


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

    def is_within(op):
        return (within is None or op in within) and (
            within_ops_fn is None or within_ops_fn(op))

    if within is not None:
        seeds = [op for op in seeds if op in within]
    found, order, queue = set(seeds), list(seeds), list(seeds)
    while queue:
        op = queue.pop(0)
        before = [t.op for t in op.inputs if t not in stops]
        if control_inputs:
            before += op.control_inputs
        for other in before:
            if other not in found and is_within(other):
                found.add(other)
                order.append(other)
                queue.append(other)
    return order if inclusive else order[len(seeds):]
