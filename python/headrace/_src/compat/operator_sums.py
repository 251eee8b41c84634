"""tensorflow.python.ops.linalg.linear_operator_addition: sums of linear
operators."""
import itertools

from headrace._src.framework.graph import name_scope
from headrace._src.math import linear_operators as _operators
from headrace._src.ops import array_ops as _array

# From the narrowest kind to the widest: a sum is of the widest of its kinds.
_KINDS = (_operators.LinearOperatorIdentity,
          _operators.LinearOperatorScaledIdentity,
          _operators.LinearOperatorDiag,
          _operators.LinearOperatorLowerTriangular,
          _operators.LinearOperatorFullMatrix)


def add_operators(operators, operator_name=None, addition_tiers=None,
                  name=None):
    """A list of operators with the same sum, as few as possible: identities,
    diagonals, triangles and full matrices are added, others stay.
    `operator_name`: that of the sums. ValueError if they have different
    sizes; NotImplementedError for `addition_tiers`."""
    if addition_tiers is not None:
        raise NotImplementedError(
            "add_operators: addition_tiers is not supported")
    operators = list(operators)
    if not operators:
        raise ValueError("operators must contain at least one operator. Found: "
                         "%s" % (operators,))
    _check_sizes(operators)
    with name_scope(name or "add_operators"):
        for kind in range(1, len(_KINDS)):
            operators = _added(operators, kind, operator_name)
    return operators


def _check_sizes(operators):
    sizes = [(op.domain_dimension, op.range_dimension) for op in operators]
    for size in sizes[1:]:
        if not all(a.is_compatible_with(b) for a, b in zip(size, sizes[0])):
            raise ValueError("operators must have the same range and domain "
                             "dimensions, found %s" % (sizes,))


def _kind(operator):
    return next((i for i, kind in enumerate(_KINDS)
                 if type(operator) is kind), len(_KINDS))


def _added(operators, kind, operator_name):
    """The operators, after those whose sum is of this kind were added."""
    while True:
        pair = next(((a, b) for a, b in itertools.combinations(operators, 2)
                     if max(_kind(a), _kind(b)) <= kind), None)
        if pair is None:
            return operators
        rest = [op for op in operators if op is not pair[0]
                and op is not pair[1]]
        operators = [_sum(*pair, operator_name)] + rest


def _sum(a, b, operator_name):
    """The sum of two operators, which are of `_KINDS`."""
    if _kind(a) < _kind(b):
        a, b = b, a
    name = operator_name or "Add/%s__%s/" % (a.name, b.name)
    positive = a.is_positive_definite and b.is_positive_definite or None
    hints = {"is_self_adjoint": (
                 a.is_self_adjoint and b.is_self_adjoint or None),
             "is_positive_definite": positive, "is_non_singular": positive,
             "name": name}
    kind = max(1, _kind(a))
    if kind == 1:
        return _operators.LinearOperatorScaledIdentity(
            num_rows=a.range_dimension_tensor(),
            multiplier=_multiplier(a) + _multiplier(b), **hints)
    if kind == 2:
        return _operators.LinearOperatorDiag(a.diag_part() + b.diag_part(),
                                             **hints)
    return _KINDS[kind](b.add_to_tensor(a.to_dense()), **hints)


def _multiplier(operator):
    if isinstance(operator, _operators.LinearOperatorScaledIdentity):
        return operator.multiplier
    return _array.ones(operator.batch_shape_tensor(), dtype=operator.dtype)
