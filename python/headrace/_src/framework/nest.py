"""Nested structures: lists, tuples, named tuples and dicts, and what is at
their leaves. Dicts go in the order of their sorted keys."""
import collections.abc


def is_nested(seq):
    """True for lists, tuples and dictionaries, and for views of these."""
    return isinstance(seq, (list, tuple, collections.abc.Mapping,
                            collections.abc.MappingView))


def is_sequence(o):
    """is_nested, by the name that it has in contrib."""
    return is_nested(o)


def _sorted_keys(mapping):
    """The keys in order. TypeError if they have none."""
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError("nest only supports dicts with sortable keys. %s"
                        % error) from None


def _children(x):
    if isinstance(x, collections.abc.Mapping):
        return [x[k] for k in _sorted_keys(x)]
    return list(x)


def flatten(structure, expand_composites=False):
    """The leaves in order; a structure that is a leaf gives [structure].
    expand_composites: a SparseTensor, RaggedTensor or IndexedSlices is no leaf,
    its tensors are."""
    if not is_nested(structure):
        if expand_composites and _is_composite(structure):
            return list(structure._flow_components())
        return [structure]
    return [leaf for child in _children(structure)
            for leaf in flatten(child, expand_composites)]


def _is_composite(x):
    # A TensorArray goes through loops as its parts, but is a leaf here.
    return getattr(x, "_composite", False)


def is_sequence_or_composite(seq):
    """True for what is_nested takes, and for sparse and ragged tensors and
    IndexedSlices, of any shapes and dtypes. Raises nothing."""
    return is_nested(seq) or bool(_is_composite(seq))


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """`structure` again, its leaves replaced in order by `flat_sequence`.
    ValueError if their numbers differ."""
    if isinstance(flat_sequence, (str, bytes)) or not hasattr(
            flat_sequence, "__iter__"):
        raise TypeError("flat_sequence must be a sequence")
    flat = list(flat_sequence)
    if not is_nested(structure) and len(flat) != 1 and not (
            expand_composites and _is_composite(structure)):
        raise ValueError("Structure is a scalar but len(flat_sequence) == %d > "
                         "1" % len(flat))
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
        packed = dict(zip(_sorted_keys(structure), children))
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
    (False).

    Leaves may be tensors of any shape and dtype, and everything else. TypeError
    for a `func` that cannot be called and for types of structures that differ;
    ValueError for other structures and without one."""
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
    IndexedSlices meets one of its kind, whose types and shape are compatible.
    """
    _assert_same(nest1, nest2, check_types, expand_composites, True)


def _assert_same(nest1, nest2, check_types, expand_composites, has_specs):
    """assert_same_structure; without `has_specs`, types and shapes of composite
    tensors may differ."""
    problem = _difference(nest1, nest2, check_types)
    if problem is None and expand_composites:
        problem = _difference_of_composites(nest1, nest2, has_specs)
    if problem is not None:
        kind, text = problem
        raise kind(
            "The two structures don't have the same nested structure.\n\n"
            "First structure: %s\n\nSecond structure: %s\n\nMore specifically: "
            "%s\nEntire first structure:\n%s\nEntire second structure:\n%s" % (
                _shown(nest1), _shown(nest2), text, _dots(nest1),
                _dots(nest2)))


class _Dot(str):
    """Shown without quotes."""

    def __repr__(self):
        return str(self)


def _dots(structure):
    return pack_sequence_as(structure,
                            [_Dot(".")] * len(flatten(structure)))


def _shown(x):
    return "type=%s str=%s" % (type(x).__name__, x)


def _difference_of_composites(a, b, has_specs):
    for x, y in zip(flatten(a), flatten(b)):
        if not _is_composite(x) and not _is_composite(y):
            continue
        if _is_composite(x) and _is_composite(y) and type(x) is not type(y):
            return TypeError, "one has %s where the other has %s" % (
                type(x), type(y))
        if len(flatten(x, True)) != len(flatten(y, True)):
            return ValueError, "%s does not have the tensors of %s" % (
                _shown(x), _shown(y))
        if has_specs and hasattr(x, "_type_spec") and hasattr(
                y, "_type_spec"):
            try:
                x._type_spec.most_specific_compatible_type(y._type_spec)
            except ValueError:
                return ValueError, "%s is not compatible with %s" % (
                    x._type_spec, y._type_spec)
    return None


def _is_named_tuple(x):
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _same_types(a, b):
    if isinstance(a, collections.abc.Mapping) and isinstance(
            b, collections.abc.Mapping):
        return True
    if _is_named_tuple(a) and _is_named_tuple(b):
        return (type(a).__name__, a._fields) == (type(b).__name__, b._fields)
    return type(a) is type(b)


def _difference(a, b, check_types):
    """(the kind of error, what differs), or None."""
    if is_nested(a) != is_nested(b):
        inner, leaf = (a, b) if is_nested(a) else (b, a)
        return ValueError, (
            'Substructure "%s" is a sequence, while substructure "%s" is not'
            % (_shown(inner), _shown(leaf)))
    if not is_nested(a):
        return None
    if check_types and not _same_types(a, b):
        return TypeError, (
            "The two namedtuples don't have the same sequence type. First "
            "structure %s has type %s, while second structure %s has type %s" % (
                _shown(a), type(a).__name__, _shown(b),
                type(b).__name__))
    if (isinstance(a, collections.abc.Mapping)
            and isinstance(b, collections.abc.Mapping)
            and set(a) != set(b)):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First "
            "structure has keys %s, while second structure has keys %s"
            % (_shown(list(a)), _shown(list(b))))
    if len(a) != len(b):
        return ValueError, (
            "The two structures don't have the same number of elements. First "
            "structure: %s. Second structure: %s" % (_shown(a), _shown(b)))
    for x, y in zip(_children(a), _children(b)):
        problem = _difference(x, y, check_types)
        if problem is not None:
            return problem
    return None
