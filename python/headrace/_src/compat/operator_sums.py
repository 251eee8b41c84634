"""tensorflow.python.ops.linalg.linear_operator_addition: sums of linear
operators."""
import abc
import collections.abc

from headrace._src.framework.graph import name_scope
from headrace._src.math import linear_operators as _operators
from headrace._src.math.linear_operator import LinearOperator
from headrace._src.ops import array_ops as _array

_DIAGONALS = (_operators.LinearOperatorIdentity,
              _operators.LinearOperatorScaledIdentity,
              _operators.LinearOperatorDiag)


class Hints:
    """What is promised of a sum; None where its parts tell."""

    def __init__(self, is_non_singular=None, is_positive_definite=None,
                 is_self_adjoint=None):
        self.is_non_singular = is_non_singular
        self.is_positive_definite = is_positive_definite
        self.is_self_adjoint = is_self_adjoint

    def of(self, a, b):
        """The promises as arguments, for the sum of two operators."""
        adjoint, positive = self.is_self_adjoint, self.is_positive_definite
        if adjoint is None:
            adjoint = a.is_self_adjoint and b.is_self_adjoint
        regular = self.is_non_singular
        if positive is None:
            positive = a.is_positive_definite and b.is_positive_definite
            regular = True if positive else regular
        return {"is_non_singular": regular, "is_self_adjoint": adjoint,
                "is_positive_definite": positive}


class Adder(abc.ABC):
    """Adds two operators of kinds that it knows."""

    name = property(lambda self: type(self).__name__)

    @abc.abstractmethod
    def can_add(self, op1, op2):
        """Whether it knows the kinds of both."""

    @abc.abstractmethod
    def _add(self, op1, op2, operator_name, hints):
        """The sum; hints are arguments."""

    def add(self, op1, op2, operator_name, hints=None):
        """The sum as an operator, with the promises of a Hints."""
        if operator_name is None:
            operator_name = "Add/%s__%s/" % (op1.name, op2.name)
        with name_scope(self.name.lstrip("_")):
            return self._add(op1, op2, operator_name,
                             (hints or Hints()).of(op1, op2))


def _all_of(kinds, *ops):
    return all(isinstance(op, kinds) for op in ops)


def _multiplier(operator):
    if isinstance(operator, _operators.LinearOperatorScaledIdentity):
        return operator.multiplier
    return _array.ones(operator.batch_shape_tensor(), dtype=operator.dtype)


def _dense_sum(a, b):
    """The matrices of the sum: a diagonal is added to the other operator."""
    if not isinstance(a, _DIAGONALS):
        a, b = b, a
    return a.add_to_tensor(b.to_dense())


class AddAndReturnScaledIdentity(Adder):
    """Adds identities and their multiples."""

    def can_add(self, op1, op2):
        """Whether both are such."""
        return _all_of(_DIAGONALS[:2], op1, op2)

    def _add(self, op1, op2, operator_name, hints):
        return _operators.LinearOperatorScaledIdentity(
            num_rows=op1.range_dimension_tensor(),
            multiplier=_multiplier(op1) + _multiplier(op2),
            name=operator_name, **hints)


class AddAndReturnDiag(Adder):
    """Adds diagonals."""

    def can_add(self, op1, op2):
        """Whether both are such, or identities."""
        return _all_of(_DIAGONALS, op1, op2)

    def _add(self, op1, op2, operator_name, hints):
        return _operators.LinearOperatorDiag(
            op1.diag_part() + op2.diag_part(), name=operator_name, **hints)


class AddAndReturnTriL(Adder):
    """Adds lower triangles."""

    def can_add(self, op1, op2):
        """Whether both are such, or diagonals."""
        return _all_of(_DIAGONALS + (
            _operators.LinearOperatorLowerTriangular,), op1, op2)

    def _add(self, op1, op2, operator_name, hints):
        return _operators.LinearOperatorLowerTriangular(
            _dense_sum(op1, op2), name=operator_name, **hints)


class AddAndReturnMatrix(Adder):
    """Adds any operators, as full matrices."""

    def can_add(self, op1, op2):
        """Whether both are operators."""
        return _all_of(LinearOperator, op1, op2)

    def _add(self, op1, op2, operator_name, hints):
        return _operators.LinearOperatorFullMatrix(
            _dense_sum(op1, op2), name=operator_name, **hints)


DEFAULT_TIERS = [[AddAndReturnScaledIdentity()], [AddAndReturnDiag()],
                 [AddAndReturnTriL()], [AddAndReturnMatrix()]]


def add_operators(operators, operator_name=None, addition_tiers=None,
                  name=None):
    """A list of operators with the same sum, as few as possible.

    Args:
      operators: operators of one size whose batch shapes broadcast.
      operator_name: that of the sums.
      addition_tiers: a list of lists of Adders; all that one list can add is
        added before the next is tried. By default identities, diagonals,
        triangles and full matrices are added, in this order.
      name: of the scope.

    Raises:
      TypeError: for others than operators.
      ValueError: without operators, and for those of different sizes.
    """
    if isinstance(operators, LinearOperator) or not isinstance(
            operators, collections.abc.Iterable):
        raise TypeError("Expected argument \"operators\" to be iterable, found: "
                        "%s" % (operators,))
    operators = list(operators)[::-1]
    if not operators:
        raise ValueError("Argument 'operators' must contain at least one "
                         "operator.  Found: %s" % operators)
    if not _all_of(LinearOperator, *operators):
        raise TypeError("Argument 'operators' must contain only LinearOperator "
                        "instances.  Found: %s" % operators)
    _check_sizes(operators)
    with name_scope(name or "add_operators"):
        for tier in DEFAULT_TIERS if addition_tiers is None else addition_tiers:
            left, operators = operators, []
            while left:
                op = left.pop()
                other, adder = _match(op, left, tier)
                if adder is None:
                    operators.append(op)
                else:
                    left.remove(other)
                    left.append(adder.add(op, other, operator_name))
        return operators


def _match(op, others, tier):
    """The last of the others that an Adder can add to op, and this Adder."""
    for other in others[::-1]:
        for adder in tier:
            if adder.can_add(op, other):
                return other, adder
    return None, None


def _check_sizes(operators):
    for what in ("domain", "range"):
        sizes = [getattr(op, what + "_dimension") for op in operators]
        found = [(op.name, size.value) for op, size in zip(operators, sizes)
                 if size.value is not None]
        if len({size for _, size in found}) > 1:
            raise ValueError("Operators must have the same %s dimension. Found: "
                             "%s" % (what, found))
    shape = operators[0].batch_shape
    for op in operators[1:]:
        shape = _array.broadcast_static_shape(shape, op.batch_shape)
