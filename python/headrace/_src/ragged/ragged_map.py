"""Functions applied to the values of ragged tensors."""
from headrace._src.framework.graph import control_dependencies
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged.ragged_tensor import (
    convert, is_ragged, same_partition_dtype)


def map_flat_values(op, *args, **kwargs):
    """op(*args, **kwargs), where the innermost values stand for each ragged
    argument, also inside of lists, tuples and dicts; a RaggedTensor of the
    result with the same rows. Without a ragged argument, the result itself.

    ValueError for ragged arguments of different ragged_rank or types of
    row_splits, and for a result that has another number of values; the run
    fails if the rows differ."""
    found = []
    flat_args = _flat(args, found)
    flat_kwargs = _flat(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    same_partition_dtype(*found)
    checks = _rows.check_same(*[rt.nested_row_splits for rt in found])
    with control_dependencies(checks):
        return found[0].with_flat_values(op(*flat_args, **flat_kwargs))


def _flat(value, found):
    if is_ragged(value):
        found.append(convert(value))
        return found[-1].flat_values
    if isinstance(value, (list, tuple)):
        return type(value)([_flat(v, found) for v in value]) \
            if not hasattr(value, "_fields") else value
    if isinstance(value, dict):
        return {k: _flat(v, found) for k, v in value.items()}
    return value
