"""tensorflow.python.ops.linalg.linear_operator_algebra: functions that programs
register for classes of operators."""
from headrace._src.framework.graph import name_scope
from headrace._src.math import operator_functions as _functions
from headrace._src.math.operator_functions import Registration, registered


class RegisterAdjoint(Registration):
    """Decorates a function(a) that gives the adjoint of a class."""
    table, what = _functions.ADJOINTS, "Adjoint"

    def __init__(self, lin_op_cls_a):
        super().__init__(lin_op_cls_a)


class RegisterCholesky(Registration):
    """Decorates a function(a) that gives the Cholesky factor of a class."""
    table, what = _functions.CHOLESKYS, "Cholesky"

    def __init__(self, lin_op_cls_a):
        super().__init__(lin_op_cls_a)


class RegisterInverse(Registration):
    """Decorates a function(a) that gives the inverse of a class."""
    table, what = _functions.INVERSES, "Inverse"

    def __init__(self, lin_op_cls_a):
        super().__init__(lin_op_cls_a)


class RegisterMatmul(Registration):
    """Decorates a function(a, b) that gives the product of two classes."""
    table, what = _functions.PRODUCTS, "Matmul"

    def __init__(self, lin_op_cls_a, lin_op_cls_b):
        super().__init__(lin_op_cls_a, lin_op_cls_b)


class RegisterSolve(Registration):
    """Decorates a function(a, b) that solves for two classes."""
    table, what = _functions.SOLUTIONS, "Solve"

    def __init__(self, lin_op_cls_a, lin_op_cls_b):
        super().__init__(lin_op_cls_a, lin_op_cls_b)


def registered_adjoint(type_a):
    """The function of a class or of its nearest base, or None."""
    return registered(_functions.ADJOINTS, type_a)


def registered_cholesky(type_a):
    """The function of a class or of its nearest base, or None."""
    return registered(_functions.CHOLESKYS, type_a)


def registered_inverse(type_a):
    """The function of a class or of its nearest base, or None."""
    return registered(_functions.INVERSES, type_a)


def registered_matmul(type_a, type_b):
    """The function of two classes or of their nearest bases, or None."""
    return registered(_functions.PRODUCTS, type_a, type_b)


def registered_solve(type_a, type_b):
    """The function of two classes or of their nearest bases, or None."""
    return registered(_functions.SOLUTIONS, type_a, type_b)


def adjoint(lin_op_a, name=None):
    """The operator of the conjugate transposes."""
    with name_scope(name, "Adjoint"):
        return lin_op_a.adjoint()


def cholesky(lin_op_a, name=None):
    """The operator of the Cholesky factors."""
    with name_scope(name, "Cholesky"):
        return lin_op_a.cholesky()


def inverse(lin_op_a, name=None):
    """The operator of the inverses."""
    with name_scope(name, "Inverse"):
        return lin_op_a.inverse()


def matmul(lin_op_a, lin_op_b, name=None):
    """The operator of the products."""
    with name_scope(name, "Matmul"):
        return lin_op_a.matmul(lin_op_b)


def solve(lin_op_a, lin_op_b, name=None):
    """The operator X with a X = b."""
    with name_scope(name, "Solve"):
        return lin_op_a.solve(lin_op_b)
