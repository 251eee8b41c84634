"""Nested structures: lists, tuples, named tuples and dicts, and what is at
their leaves. Dicts go in the order of their sorted keys."""
import collections.abc


def is_nested(x):
    return (isinstance(x, (list, tuple))
            or isinstance(x, collections.abc.Mapping))


is_sequence = is_nested


def _children(x):
    if isinstance(x, collections.abc.Mapping):
        return [x[k] for k in sorted(x)]
    return list(x)


def flatten(structure):
    """The leaves in order; a structure that is a leaf gives [structure]."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure, flat_sequence):
    """`structure` again, its leaves replaced in order by `flat_sequence`.
    ValueError if their numbers differ."""
    flat = list(flat_sequence)
    wanted = len(flatten(structure))
    if len(flat) != wanted:
        raise ValueError(
            "Could not pack sequence. Structure had %d elements, but "
            "flat_sequence had %d elements.  Structure: %s, flat_sequence: %s."
            % (wanted, len(flat), structure, flat))
    return _pack(structure, iter(flat))


def _pack(structure, leaves):
    if not is_nested(structure):
        return next(leaves)
    return _like(structure, [_pack(c, leaves) for c in _children(structure)])


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


def map_structure(function, *structures, check_types=True):
    """`function` of the leaves that correspond, in the first's structure."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types)
    results = [function(*leaves)
               for leaves in zip(*[flatten(s) for s in structures])]
    return pack_sequence_as(structures[0], results)


def assert_same_structure(nest1, nest2, check_types=True):
    """ValueError if the shapes of the structures differ, TypeError if only
    the types of their sequences do."""
    try:
        _assert_same(nest1, nest2, check_types)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "%s\nEntire first structure:\n%s\nEntire second structure:\n%s"
            % (error, _dots(nest1), _dots(nest2))) from None


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
