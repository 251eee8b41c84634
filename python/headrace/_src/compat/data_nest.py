"""tensorflow.python.data.util.nest: structures of tuples and dicts. A list is a
leaf there, as it is an element's tensor, and so is a SparseTensorValue."""
from headrace._src.data.elements import flatten, is_nested, parts_of
from headrace._src.framework import nest as _nest

is_sequence = is_nested


def pack_sequence_as(structure, flat_sequence):
    """The structure with other leaves.

    Raises:
      TypeError: flat_sequence is no sequence.
      ValueError: it has more or fewer leaves than the structure.
    """
    if not (is_sequence(flat_sequence) or isinstance(flat_sequence, list)):
        raise TypeError("flat_sequence must be a sequence")
    count = len(flatten(structure))
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError("Structure is a scalar but len(flat_sequence) == %d "
                             "> 1" % len(flat_sequence))
        return flat_sequence[0]
    if count != len(flat_sequence):
        raise ValueError(
            "Could not pack sequence. Structure had %d elements, but "
            "flat_sequence had %d elements.  Structure: %s, flat_sequence: %s."
            % (count, len(flat_sequence), structure, flat_sequence))
    leaves = iter(flat_sequence)

    def packed(value):
        if not is_sequence(value):
            return next(leaves)
        return _nest._like(value, [packed(part) for part in parts_of(value)])
    return packed(structure)


def _difference(a, b, check_types):
    """(an error class, what differs) of two structures, or None."""
    if is_sequence(a) != is_sequence(b):
        one, other = (a, b) if is_sequence(a) else (b, a)
        return ValueError, (
            'Substructure "type=%s str=%s" is a sequence, while substructure '
            '"type=%s str=%s" is not' % (type(one).__name__, one,
                                         type(other).__name__, other))
    if not is_sequence(a):
        return None
    if check_types and type(a) is not type(b):
        return TypeError, (
            "The two structures don't have the same sequence type. First "
            "structure has type %s, while second structure has type %s."
            % (type(a), type(b)))
    if len(a) != len(b):
        return ValueError, (
            "The two structures don't have the same number of elements. First "
            "structure: %s. Second structure: %s" % (a, b))
    if isinstance(a, dict) and set(a) != set(b):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First "
            "structure has keys %s, while second structure has keys %s"
            % (sorted(a), sorted(b)))
    for one, other in zip(parts_of(a), parts_of(b)):
        found = _difference(one, other, check_types)
        if found:
            return found
    return None


def assert_same_structure(nest1, nest2, check_types=True):
    """ValueError or, for sequences of different types, TypeError unless both
    have the same structure."""
    found = _difference(nest1, nest2, check_types)
    if found:
        error, text = found
        raise error(
            "The two structures don't have the same nested structure.\n\n"
            "First structure: type=%s str=%s\n\nSecond structure: type=%s str=%s"
            "\n\nMore specifically: %s" % (
                type(nest1).__name__, nest1, type(nest2).__name__, nest2, text))


def map_structure(func, *structure, **check_types_dict):
    """What `func` makes of the leaves of one or more structures, in the
    structure of the first. ValueError and TypeError as of
    assert_same_structure."""
    if not callable(func):
        raise TypeError("func must be callable, got: %s" % func)
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = check_types_dict.pop("check_types", True)
    if check_types_dict:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return pack_sequence_as(structure[0], [
        func(*leaves) for leaves in zip(*map(flatten, structure))])


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """TypeError or ValueError unless input_tree is the structure shallow_tree
    with anything as its leaves."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also be "
                        "a sequence. Input has type: %s." % type(input_tree))
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input "
            "structure has type %s, while shallow structure has type %s."
            % (type(input_tree), type(shallow_tree)))
    if len(input_tree) != len(shallow_tree):
        raise ValueError(
            "The two structures don't have the same sequence length. Input "
            "structure has length %s, while shallow structure has length %s."
            % (len(input_tree), len(shallow_tree)))
    if isinstance(shallow_tree, dict) and set(shallow_tree) != set(input_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has "
            "keys %s, while shallow structure has keys %s."
            % (list(input_tree), list(shallow_tree)))
    for shallow, deep in zip(parts_of(shallow_tree), parts_of(input_tree)):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree, input_tree):
    """What input_tree has where shallow_tree has leaves, a list. Errors as of
    assert_shallow_structure."""
    assert_shallow_structure(shallow_tree, input_tree)

    def found(shallow, deep):
        if not is_sequence(shallow):
            return [deep]
        return [x for s, d in zip(parts_of(shallow), parts_of(deep))
                for x in found(s, d)]
    return found(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree, func, *inputs):
    """What `func` makes of flatten_up_to of the inputs, in the structure of
    shallow_tree."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, x) for x in inputs]
    return pack_sequence_as(shallow_tree, [func(*x) for x in zip(*flat)])
