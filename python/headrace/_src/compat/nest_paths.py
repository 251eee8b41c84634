"""tensorflow.python.util.nest: structures walked as far as another one reaches,
and the paths to their leaves."""
import collections.abc

from headrace._src.framework import nest


def _items(structure):
    """[(key, child)] in order."""
    if isinstance(structure, collections.abc.Mapping):
        return [(k, structure[k]) for k in sorted(structure)]
    if hasattr(structure, "_fields"):
        return list(zip(structure._fields, structure))
    return list(enumerate(structure))


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """TypeError or ValueError unless shallow_tree is the top of input_tree."""
    if not nest.is_nested(shallow_tree):
        return
    if not nest.is_nested(input_tree):
        raise TypeError("If shallow structure is a sequence, input must also "
                        "be a sequence. Input has type: %s."
                        % type(input_tree))
    both_dicts = all(isinstance(t, collections.abc.Mapping)
                     for t in (shallow_tree, input_tree))
    if (check_types and not both_dicts
            and type(shallow_tree) is not type(input_tree)):
        raise TypeError("The two structures don't have the same sequence type. "
                        "Input structure has type %s, while shallow structure "
                        "has type %s." % (type(input_tree), type(shallow_tree)))
    if len(shallow_tree) != len(input_tree):
        raise ValueError("The two structures don't have the same sequence "
                         "length. Input structure has length %d, while shallow "
                         "structure has length %d."
                         % (len(input_tree), len(shallow_tree)))
    if both_dicts and set(shallow_tree) != set(input_tree):
        raise ValueError("The two structures don't have the same keys. Input "
                         "structure has keys %s, while shallow structure has "
                         "keys %s." % (sorted(input_tree), sorted(shallow_tree)))
    for (_, shallow), (_, deep) in zip(_items(shallow_tree),
                                       _items(input_tree)):
        assert_shallow_structure(shallow, deep, check_types)


def _up_to(shallow, deep):
    if not nest.is_nested(shallow):
        return [deep]
    return [leaf for (_, s), (_, d) in zip(_items(shallow), _items(deep))
            for leaf in _up_to(s, d)]


def flatten_up_to(shallow_tree, input_tree, check_types=True,
                  expand_composites=False):
    """The parts of input_tree where shallow_tree has leaves."""
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return _up_to(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """func of the parts of each of `inputs` where shallow_tree has leaves."""
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise ValueError("unknown keyword arguments: %s" % sorted(kwargs))
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, t, check_types) for t in inputs]
    return nest.pack_sequence_as(shallow_tree,
                                 [func(*leaves) for leaves in zip(*parts)])


def yield_flat_paths(nest_structure):
    """The path of each leaf: a tuple of keys."""
    if not nest.is_nested(nest_structure):
        yield ()
        return
    for key, child in _items(nest_structure):
        for path in yield_flat_paths(child):
            yield (key,) + path


def flatten_with_tuple_paths(structure, expand_composites=False):
    """[(path, leaf)], a path being a tuple of keys."""
    return list(zip(yield_flat_paths(structure), nest.flatten(structure)))


def flatten_with_joined_string_paths(structure, separator="/",
                                     expand_composites=False):
    """[(path, leaf)], the keys of a path joined by `separator`."""
    return [(separator.join(str(key) for key in path), leaf)
            for path, leaf in flatten_with_tuple_paths(structure)]


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """func(path, *leaves), a path being a tuple of keys."""
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        nest.assert_same_structure(structure[0], other,
                                   check_types=kwargs.get("check_types", True))
    flat = [nest.flatten(s) for s in structure]
    return nest.pack_sequence_as(structure[0], [
        func(path, *leaves) for path, leaves in zip(
            yield_flat_paths(structure[0]), zip(*flat))])


def map_structure_with_paths(func, *structure, **kwargs):
    """func(path, *leaves), the keys of a path joined by slashes."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves: func("/".join(str(k) for k in path), *leaves),
        *structure, **kwargs)


def flatten_dict_items(dictionary):
    """{key: value} of a dictionary whose keys and values are structures alike:
    {(a, b): (1, 2)} becomes {a: 1, b: 2}. ValueError for a key that comes
    twice."""
    if not isinstance(dictionary, collections.abc.Mapping):
        raise TypeError("input must be a dictionary")
    found = {}
    for keys, values in dictionary.items():
        pairs = [(keys, values)]
        if nest.is_nested(keys):
            nest.assert_same_structure(list(keys), list(values))
            pairs = zip(nest.flatten(keys), nest.flatten(values))
        for key, value in pairs:
            if key in found:
                raise ValueError("Could not flatten dictionary: key %s is not "
                                 "unique." % (key,))
            found[key] = value
    return found
