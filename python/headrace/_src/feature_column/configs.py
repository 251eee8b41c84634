"""Feature columns as configs: plain values, from which the columns can be made
again. tensorflow.python.feature_column.serialization."""
from headrace._src.feature_column import columns as _columns
from headrace._src.feature_column import sequences as _sequences
from headrace._src.framework import dtypes
from headrace._src.layers import initializers

_CLASSES = {cls.__name__: cls for cls in (
    _columns.BucketizedColumn, _columns.CrossedColumn,
    _columns.EmbeddingColumn, _columns.HashedCategoricalColumn,
    _columns.IdentityCategoricalColumn, _columns.IndicatorColumn,
    _columns.NumericColumn, _sequences.SequenceCategoricalColumn,
    _sequences.SequenceNumericColumn,
    _columns.VocabularyFileCategoricalColumn,
    _columns.VocabularyListCategoricalColumn,
    _columns.WeightedCategoricalColumn)}


def name_with_class(column):
    """The class and the name of a column, which together are its own."""
    return "%s:%s" % (type(column).__name__, column.name)


def serialize_feature_column(fc):
    """{"class_name", "config"} of a column; a key as it is. ValueError for
    other objects."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, _columns.Column):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError("Instance: %s is not a FeatureColumn" % (fc,))


def serialize_feature_columns(feature_columns):
    """The same of each of several columns."""
    return [serialize_feature_column(fc) for fc in feature_columns]


def deserialize_feature_column(config, custom_objects=None,
                               columns_by_name=None):
    """The column of what serialize_feature_column returned.

    custom_objects: {name: class or function} beside the library's.
    columns_by_name: the columns made so far; one that is in it is taken from
      there.

    ValueError for a config of another form and for a class that is not
    known."""
    if isinstance(config, str):
        return config
    if (not isinstance(config, dict) or "class_name" not in config
            or "config" not in config):
        raise ValueError("Improper config format: %s" % (config,))
    name = config["class_name"]
    cls = {**_CLASSES, **(custom_objects or {})}.get(name)
    if cls is None:
        raise ValueError("Unknown feature_column_v2: %s" % name)
    made = cls._from_config(config["config"], custom_objects=custom_objects,
                            columns_by_name=columns_by_name)
    if columns_by_name is None:
        return made
    return columns_by_name.setdefault(name_with_class(made), made)


def deserialize_feature_columns(configs, custom_objects=None):
    """The columns of several configs; those alike are one object."""
    made = {}
    return [deserialize_feature_column(c, custom_objects, made)
            for c in configs]


def config_of(column):
    """{field: plain value} of a column of the library."""
    return {field: _plain(field, value)
            for field, value in zip(column._fields, column)}


def _plain(field, value):
    if field in ("source_column", "categorical_column"):
        return serialize_feature_column(value)
    if field == "keys":
        return tuple(serialize_feature_column(k) for k in value)
    if field == "dtype":
        return value.name
    if field == "initializer":
        return initializers.serialize(value)
    if field == "normalizer_fn":
        return None if value is None else value.__name__
    return value


def from_config(cls, config, custom_objects=None, columns_by_name=None):
    """The column of a class of the library from its config."""
    return cls(**{field: _value(field, value, custom_objects, columns_by_name)
                  for field, value in config.items()})


def _value(field, value, custom_objects, columns_by_name):
    if field in ("source_column", "categorical_column"):
        return deserialize_feature_column(value, custom_objects,
                                          columns_by_name)
    if field == "keys":
        return tuple(deserialize_feature_column(k, custom_objects,
                                                columns_by_name)
                     for k in value)
    if field == "dtype":
        return dtypes.as_dtype(value)
    if field == "initializer":
        return initializers.deserialize(value, custom_objects)
    if field == "normalizer_fn":
        if isinstance(value, str):
            if value not in (custom_objects or {}):
                raise ValueError("Unknown normalizer_fn: %s; give it in "
                                 "custom_objects" % value)
            return custom_objects[value]
        return value
    return _tuples(value)


def _tuples(x):
    """Nested lists, as JSON has them, as tuples."""
    return tuple(map(_tuples, x)) if isinstance(x, (list, tuple)) else x
