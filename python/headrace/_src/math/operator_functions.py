"""What programs register for their classes of linear operators: how to take the
adjoint, the Cholesky factor and the inverse, to multiply and to solve."""

ADJOINTS: dict = {}  # {(class,): function}
CHOLESKYS: dict = {}
INVERSES: dict = {}
PRODUCTS: dict = {}  # {(class, class): function}
SOLUTIONS: dict = {}


def registered(table, *types):
    """The function of the classes, or of those among their bases that are
    nearest; None if there is none."""
    if not table:
        return None
    places = [list(t.__mro__) for t in types]
    found = [key for key in table if len(key) == len(places) and all(
        k in mro for k, mro in zip(key, places))]
    if not found:
        return None
    return table[min(found, key=lambda key: sum(
        mro.index(k) for k, mro in zip(key, places)))]


class Registration:
    """Decorates a function of one or two operators as that of their classes.
    TypeError if it cannot be called, ValueError if there is one already."""

    table: dict = {}
    what = ""

    def __init__(self, *types):
        self._key = types

    def __call__(self, function):
        if not callable(function):
            raise TypeError("%s_fn must be callable, received: %s"
                            % (self.what.lower(), function))
        if self._key in self.table:
            raise ValueError("%s(%s) has already been registered to: %s" % (
                self.what, ", ".join(t.__name__ for t in self._key),
                self.table[self._key]))
        self.table[self._key] = function
        return function
