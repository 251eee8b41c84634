"""tensorflow.python.util.nest: structures walked as far as another one reaches,
and the paths to their leaves."""
import collections.abc

from headrace._src.framework import nest


# What errors say, with the names of TensorFlow's fields.
NO_SEQUENCE = ("If shallow structure is a sequence, input must also be a "
               "sequence. Input has type: {}.")
OTHER_TYPE = ("The two structures don't have the same sequence type. Input "
              "structure has type {input_type}, while shallow structure has "
              "type {shallow_type}.")
OTHER_LENGTH = ("The two structures don't have the same sequence length. Input "
                "structure has length {input_length}, while shallow structure "
                "has length {shallow_length}.")
FEWER = ("The input_tree has fewer elements than the shallow_tree. Input "
         "structure has length {input_size}, while shallow structure has "
         "length {shallow_size}.")
OTHER_KEYS = ("The shallow_tree's keys are not a subset of the input_tree's "
              "keys. The shallow_tree has the following keys that are not in "
              "the input_tree: {}.")


def _items(structure):
    """[(key, child)] in order."""
    if isinstance(structure, collections.abc.Mapping):
        return [(k, structure[k]) for k in nest._sorted_keys(structure)]
    if hasattr(structure, "_fields"):
        return list(zip(structure._fields, structure))
    return list(enumerate(structure))


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """TypeError or ValueError unless shallow_tree is the top of input_tree."""
    if not nest.is_nested(shallow_tree):
        return
    if not nest.is_nested(input_tree):
        raise TypeError(NO_SEQUENCE.format(type(input_tree)))
    both_dicts = all(isinstance(t, collections.abc.Mapping)
                     for t in (shallow_tree, input_tree))
    if (check_types and not both_dicts
            and type(shallow_tree) is not type(input_tree)):
        raise TypeError(OTHER_TYPE.format(input_type=type(input_tree),
                                          shallow_type=type(shallow_tree)))
    if len(shallow_tree) != len(input_tree):
        raise ValueError(OTHER_LENGTH.format(
            input_length=len(input_tree), shallow_length=len(shallow_tree)))
    if both_dicts and set(shallow_tree) != set(input_tree):
        raise ValueError(OTHER_KEYS.format(
            [k for k in shallow_tree if k not in input_tree]))
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


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True,
                                   expand_composites=False):
    """[(path, part)]: the parts of input_tree where shallow_tree has leaves."""
    return list(zip(yield_flat_paths(shallow_tree), flatten_up_to(
        shallow_tree, input_tree, check_types)))


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """func(path, *parts): of each of `inputs` the part where shallow_tree has a
    leaf."""
    paths = iter(list(yield_flat_paths(shallow_tree)))
    return map_structure_up_to(
        shallow_tree, lambda *parts: func(next(paths), *parts), *inputs,
        **kwargs)


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """func(path, *leaves), a path being a tuple of keys."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure,
                                                **kwargs)


def map_structure_with_paths(func, *structure, **kwargs):
    """func(path, *leaves), the keys of a path joined by slashes."""
    return map_structure_with_tuple_paths_up_to(
        structure[0],
        lambda path, *leaves, **kwargs: func(
            "/".join(str(k) for k in path), *leaves, **kwargs),
        *structure, **kwargs)


def get_traverse_shallow_structure(traverse_fn, structure,
                                   expand_composites=False):
    """A structure of bools that reaches as far into `structure` as traverse_fn
    says: it returns a bool, or a structure of them for the children."""
    traverse = traverse_fn(structure)
    if not nest.is_nested(structure):
        if not isinstance(traverse, bool):
            raise TypeError("traverse_fn returned structure: %s for "
                            "non-structure: %s" % (traverse, structure))
        return traverse
    children = [child for _, child in _items(structure)]
    if nest.is_nested(traverse):
        assert_shallow_structure(traverse, structure)
        found = []
        for (_, go), child in zip(_items(traverse), children):
            if not isinstance(go, bool):
                raise TypeError("traverse_fn didn't return a depth=1 structure "
                                "of bools.  saw: %s  for structure: %s"
                                % (traverse, structure))
            found.append(go and get_traverse_shallow_structure(traverse_fn,
                                                               child))
        return nest._like(structure, found)
    if not isinstance(traverse, bool):
        raise TypeError("traverse_fn returned a non-bool scalar: %s for input: "
                        "%s" % (traverse, structure))
    return nest._like(structure, [
        get_traverse_shallow_structure(traverse_fn, child)
        for child in children]) if traverse else False


def sequence_like(instance, args):
    """A structure of the type of `instance` with these children."""
    return nest._like(instance, list(args))


def same_namedtuples(nest1, nest2):
    """Whether two named tuples have the same class name and fields."""
    return (type(nest1).__name__ == type(nest2).__name__
            and nest1._fields == nest2._fields)


def yield_sorted_items(iterable):
    """(key, child) in order."""
    yield from _items(iterable)


def is_namedtuple(instance, strict=False):
    """Whether it is a named tuple."""
    return nest._is_named_tuple(instance)


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
            if len(nest.flatten(keys)) != len(nest.flatten(values)):
                raise ValueError(
                    "Could not flatten dictionary. Key had %d elements, but "
                    "value had %d elements. Key: %s, value: %s." % (
                        len(nest.flatten(keys)), len(nest.flatten(values)),
                        nest.flatten(keys), nest.flatten(values)))
            pairs = zip(nest.flatten(keys), nest.flatten(values))
        for key, value in pairs:
            if key in found:
                raise ValueError("Could not flatten dictionary: key %s is not "
                                 "unique." % (key,))
            found[key] = value
    return found
