"""TensorShape and Dimension: what is known of a tensor's shape."""
import sys

from headrace._loading import load


class Dimension:
    """The size of one dimension; `value` is None if it is not known."""

    __slots__ = ("_value",)

    def __init__(self, value):
        if isinstance(value, Dimension):
            value = value._value
        if value is not None:
            number = int(value)
            if not isinstance(value, (str, bytes)) and number != value:
                raise ValueError("Ambiguous dimension: %s" % (value,))
            if number < 0:
                raise ValueError("Dimension %d must be >= 0" % number)
            value = number
        self._value = value

    value = property(lambda self: self._value)

    def __repr__(self):
        return "Dimension(%r)" % (self._value,)

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __int__(self):
        return self._value

    def __index__(self):
        if self._value is None:
            raise TypeError("the dimension is not known")
        return self._value

    def __hash__(self):
        return hash(self._value)

    def __eq__(self, other):
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def _compare(self, other, f):
        """None where one of both is not known."""
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return f(self._value, other._value)

    def _combine(self, other, f):
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(f(self._value, other._value))

    def __add__(self, other):
        return self._combine(other, lambda a, b: a + b)

    def __radd__(self, other):
        return self._combine(other, lambda a, b: b + a)

    def __sub__(self, other):
        return self._combine(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._combine(other, lambda a, b: a * b)

    def __rmul__(self, other):
        return self._combine(other, lambda a, b: b * a)

    def __floordiv__(self, other):
        return self._combine(other, lambda a, b: a // b)

    def __rfloordiv__(self, other):
        return self._combine(other, lambda a, b: b // a)

    def __mod__(self, other):
        return self._combine(other, lambda a, b: a % b)

    def __rmod__(self, other):
        return self._combine(other, lambda a, b: b % a)

    __div__ = __floordiv__

    def __truediv__(self, other):
        """TypeError: dimensions are whole numbers."""
        raise TypeError("unsupported operand type(s) for /: 'Dimension' and "
                        "'%s', please use // instead" % type(other).__name__)

    def __rtruediv__(self, other):
        raise TypeError("unsupported operand type(s) for /: '%s' and "
                        "'Dimension', please use // instead"
                        % type(other).__name__)

    def is_compatible_with(self, other):
        other = as_dimension(other)
        return (self._value is None or other._value is None
                or self._value == other._value)

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError("Dimensions %s and %s are not compatible"
                             % (self, other))

    def merge_with(self, other):
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)


def as_dimension(value):
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    """The number in a Dimension; anything else as it is."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


# Whether programs get sizes as ints, and None: tf.enable_v2_tensorshape. Our own
# modules get Dimensions.
gives_ints = [False]


def _is_for_program():
    return gives_ints[0] and not sys._getframe(2).f_globals.get(
        "__name__", "").startswith("headrace")


class TensorShape:
    """A shape of which the rank or some dimensions may not be known.

    `dims`: None for an unknown rank, an int for a vector, or a list of ints and
    None; another shape. A shape has no dtype. as_list() raises ValueError if
    the rank is not known; merge_with(), with_rank() and so on raise it for what
    does not fit; TypeError for sizes that are no integers."""

    __slots__ = ("_dims",)

    def __init__(self, dims):
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            self._dims = None if dims.unknown_rank else [
                Dimension(None if d.size < 0 else d.size) for d in dims.dim]
        elif isinstance(dims, (str, bytes)):
            raise TypeError("A string has ambiguous TensorShape, please wrap "
                            "in a list or convert to an int: %s" % (dims,))
        elif hasattr(dims, "__iter__"):
            self._dims = [as_dimension(d) for d in dims]
        else:
            self._dims = [as_dimension(dims)]

    @property
    def dims(self):
        """A list of Dimensions, or None for an unknown rank."""
        return self._dims

    @property
    def rank(self):
        return None if self._dims is None else len(self._dims)

    ndims = rank

    def __repr__(self):
        if gives_ints[0] and self._dims is not None:
            return "TensorShape(%r)" % (self.as_list(),)
        return "TensorShape(%r)" % (self._dims,)

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return "(%s,)" % self._dims[0]
        return "(%s)" % ", ".join(str(d) for d in self._dims)

    def _known(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown "
                             "rank.")
        return self._dims

    def __len__(self):
        return len(self._known())

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        if _is_for_program():
            return iter([d.value for d in self._dims])
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is None:
            if isinstance(key, slice):
                if key.step is not None:
                    raise ValueError("Steps are not yet handled")
                start = key.start or 0
                if key.stop is not None and start >= 0 and key.stop >= 0:
                    return TensorShape([None] * (key.stop - start))
                return TensorShape(None)
            return None if _is_for_program() else Dimension(None)
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        if _is_for_program():
            return self._dims[key].value
        return self._dims[key]

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        # Sizes that are not known are equal only if they are the same object.
        return self._dims == other._dims

    def __ne__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is "
                             "undefined.")
        return self._dims != other._dims

    def __hash__(self):
        values = self._values()
        return hash(None if values is None else tuple(values))

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __reduce__(self):
        return TensorShape, (self._values(),)

    def _values(self):
        if self._dims is None:
            return None
        return [d._value for d in self._dims]

    def as_list(self):
        """Sizes, None where not known; ValueError for an unknown rank."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown "
                             "TensorShape.")
        return self._values()

    def as_proto(self):
        proto = load("_src.framework.messages").TensorShapeProto()
        if self._dims is None:
            proto.unknown_rank = True
        else:
            for d in self._dims:
                proto.dim.add(size=-1 if d._value is None else d._value)
        return proto

    def num_elements(self):
        """The product of the sizes, or None."""
        if not self.is_fully_defined():
            return None
        n = 1
        for d in self._dims:
            n *= d._value
        return n

    def is_fully_defined(self):
        return (self._dims is not None
                and all(d._value is not None for d in self._dims))

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError("Shape %s is not fully defined" % self)

    def is_compatible_with(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a.is_compatible_with(b) for a, b in zip(self._dims, other._dims))

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError("Shapes %s and %s are incompatible"
                             % (self, other))

    def merge_with(self, other):
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError("Shapes %s and %s are not compatible"
                             % (self, other))
        return TensorShape([a.merge_with(b)
                            for a, b in zip(self._dims, other._dims)])

    def most_specific_compatible_shape(self, other):
        """The most that is known of a shape that may be this or `other`."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or (
                len(self._dims) != len(other._dims)):
            return TensorShape(None)
        return TensorShape([a if a == b else None
                            for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def with_rank(self, rank):
        if self._dims is None:
            return TensorShape([None] * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank):
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError("Shape %s must have rank at least %d"
                             % (self, rank))
        return self

    def with_rank_at_most(self, rank):
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError("Shape %s must have rank at most %d"
                             % (self, rank))
        return self

    def assert_has_rank(self, rank):
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError("Shape %s must have rank %d" % (self, rank))

    def assert_same_rank(self, other):
        other = as_shape(other)
        if (self._dims is not None and other._dims is not None
                and len(self._dims) != len(other._dims)):
            raise ValueError("Shapes %s and %s must have the same rank"
                             % (self, other))


def as_shape(value):
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank=None):
    return TensorShape(None if rank is None else [None] * rank)


def scalar():
    return TensorShape([])


def _size_or_none(value):
    """As Dimension says, but -1 means the same as None."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value._value
    number = int(value)
    if not isinstance(value, (str, bytes)) and number != value:
        raise ValueError("Ambiguous dimension: %s" % (value,))
    return number


def as_list_or_none(shape):
    """What the extension takes for a shape: a list of int or None, or None."""
    if shape is None:
        return None
    if type(shape) in (list, tuple):
        return [d if type(d) is int else _size_or_none(d) for d in shape]
    return as_shape(shape)._values()
