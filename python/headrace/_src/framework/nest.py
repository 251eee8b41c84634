"""Nested structures: lists, tuples, named tuples and dicts, and what is at
their leaves. Dicts go in the order of their sorted keys."""
import collections.abc


def is_nested(seq):
    """True for lists, tuples and dictionaries."""
    return (isinstance(seq, (list, tuple))
            or isinstance(seq, collections.abc.Mapping))


is_sequence = is_nested


def _children(x):
    if isinstance(x, collections.abc.Mapping):
        return [x[k] for k in sorted(x)]
    return list(x)


def flatten(structure, expand_composites=False):
    """The leaves in order; a structure that is a leaf gives [structure].
    expand_composites: a SparseTensor or IndexedSlices is no leaf, its tensors
    are."""
    if not is_nested(structure):
        if expand_composites and _is_composite(structure):
            return list(structure._flow_components())
        return [structure]
    return [leaf for child in _children(structure)
            for leaf in flatten(child, expand_composites)]


def _is_composite(x):
    # A TensorArray goes through loops as its parts, but is a leaf here.
    return hasattr(x, "_flow_components") and hasattr(x, "dense_shape")


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """`structure` again, its leaves replaced in order by `flat_sequence`.
    ValueError if their numbers differ."""
    flat = list(flat_sequence)
    wanted = len(flatten(structure, expand_composites))
    if len(flat) != wanted:
        raise ValueError(
            "Could not pack sequence. Structure had %d elements, but "
            "flat_sequence had %d elements.  Structure: %s, flat_sequence: %s."
            % (wanted, len(flat), structure, flat))
    return _pack(structure, iter(flat), expand_composites)


def _pack(structure, leaves, expand):
    if not is_nested(structure):
        if expand and _is_composite(structure):
            return structure._from_flow_components(
                [next(leaves) for _ in structure._flow_components()])
        return next(leaves)
    return _like(structure, [_pack(c, leaves, expand)
                             for c in _children(structure)])


def _like(structure, children):
    if isinstance(structure, collections.abc.Mapping):
        packed = dict(zip(sorted(structure), children))
        ordered = [(k, packed[k]) for k in structure]
        if isinstance(structure, collections.defaultdict):
            return collections.defaultdict(structure.default_factory, ordered)
        return type(structure)(ordered)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def map_structure(func, *structure, **kwargs):
    """`func` of the leaves that correspond, in the first's structure. Options:
    check_types (True), as for assert_same_structure, and expand_composites
    (False)."""
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and "
                         "`expand_composites`, not: `%s`" % ", ".join(kwargs))
    if not callable(func):
        raise TypeError("func must be callable, got: %s" % (func,))
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    results = [func(*leaves)
               for leaves in zip(*[flatten(s, expand) for s in structure])]
    return pack_sequence_as(structure[0], results, expand)


def assert_same_structure(nest1, nest2, check_types=True,
                          expand_composites=False):
    """ValueError if the shapes of the structures differ, TypeError if only
    the types of their sequences do. expand_composites: a SparseTensor or
    IndexedSlices meets one of its kind."""
    try:
        _assert_same(nest1, nest2, check_types)
        if expand_composites:
            _assert_same_composites(nest1, nest2)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "%s\nEntire first structure:\n%s\nEntire second structure:\n%s"
            % (error, _dots(nest1), _dots(nest2))) from None


def _assert_same_composites(a, b):
    for x, y in zip(flatten(a), flatten(b)):
        if (_is_composite(x) or _is_composite(y)) and type(x) is not type(y):
            raise TypeError(
                "The two structures don't have the same nested structure: one "
                "has %s where the other has %s" % (type(x), type(y)))


def _dots(structure):
    return pack_sequence_as(structure, ["."] * len(flatten(structure)))


def _assert_same(a, b, check_types):
    if is_nested(a) != is_nested(b):
        which = ("first", "second") if is_nested(a) else ("second", "first")
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            "First structure: %s\n\nSecond structure: %s\n\nMore specifically: "
            "the %s is a sequence, while the %s is not" % ((a, b) + which))
    if not is_nested(a):
        return
    if check_types and type(a) is not type(b):
        mappings = [isinstance(x, collections.abc.Mapping) for x in (a, b)]
        if not all(mappings):
            raise TypeError(
                "The two structures don't have the same sequence type. First "
                "structure has type %s, while second structure has type %s."
                % (type(a), type(b)))
    if (isinstance(a, collections.abc.Mapping)
            and isinstance(b, collections.abc.Mapping)
            and set(a) != set(b)):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First "
            "structure has keys %s, while second structure has keys %s."
            % (sorted(a), sorted(b)))
    if len(a) != len(b):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            "First structure: %s\n\nSecond structure: %s\n\nMore specifically: "
            "they have %d and %d elements" % (a, b, len(a), len(b)))
    for x, y in zip(_children(a), _children(b)):
        _assert_same(x, y, check_types)
