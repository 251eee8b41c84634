"""tf.contrib.lookup: tables from words to numbers and back, and tables that
runs change."""
import collections

from headrace import raw_ops as _raw
from headrace._src.flow.lookup_ops import (
    DenseHashTable, KeyValueTensorInitializer, StaticHashTable, StaticTable,
    Table, TableSaveable, TextFileIndex, TextFileInitializer)
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that nobody can foresee who does not know `key`, two integers.
    ValueError for other keys."""
    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError("key must have size 2, got %s." % len(key))
        if not all(isinstance(k, int) and not isinstance(k, bool)
                   for k in key):
            raise TypeError("Invalid key %s. Must be unsigned integer values."
                            % (key,))
        return super().__new__(cls, "stronghash", key)


class HashTable(StaticHashTable):
    """tf.lookup.StaticHashTable."""

    def __init__(self, initializer, default_value, shared_name=None,
                 name=None):
        super().__init__(initializer, default_value, name=name)

    init = property(lambda self: self.initializer)


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from numbers to words: by default the lines of a file by
    their numbers."""

    def __init__(self, filename, key_column_index=TextFileIndex.LINE_NUMBER,
                 value_column_index=TextFileIndex.WHOLE_LINE, vocab_size=None,
                 delimiter="\t", name="text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index,
                         dtypes.string, value_column_index,
                         vocab_size=vocab_size, delimiter=delimiter, name=name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from words to numbers: by default from the lines of a file
    to their numbers."""

    def __init__(self, filename, key_column_index=TextFileIndex.WHOLE_LINE,
                 value_column_index=TextFileIndex.LINE_NUMBER, vocab_size=None,
                 delimiter="\t", name="text_file_id_table_init",
                 key_dtype=dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64,
                         value_column_index, vocab_size=vocab_size,
                         delimiter=delimiter, name=name)


class IdTableWithHashBuckets(StaticTable):
    """A table of ids, or None for an empty one, and after its ids
    num_oov_buckets more, by hash, for all other keys. ValueError and TypeError
    for arguments that do not fit."""

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec,
                 name=None, key_dtype=None):
        if table is not None:
            key_dtype = key_dtype or table.key_dtype
            if table.value_dtype != dtypes.int64:
                raise TypeError("Invalid value dtype, expected %s but got %s."
                                % (dtypes.int64, table.value_dtype))
        elif num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        super().__init__(key_dtype or dtypes.string, dtypes.int64)
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError("hasher_spec must be of type HasherSpec, got %s"
                            % hasher_spec)
        self._hasher_spec = hasher_spec
        self._table = table
        self._buckets = num_oov_buckets
        self._named = name.split("/")[-1] if name else (
            "hash_bucket" if table is None else table.name.split("/")[-1])

    def _hash(self, *args, **kwargs):
        spec = self._hasher_spec
        hashes = {"fasthash": _raw.StringToHashBucketFast,
                  "legacy": _raw.StringToHashBucket}
        if spec.hasher == "stronghash":
            return _raw.StringToHashBucketStrong(*args, key=list(spec.key),
                                                 **kwargs)
        if spec.hasher not in hashes:
            raise ValueError("Unknown hasher %s" % spec.hasher)
        return hashes[spec.hasher](*args, **kwargs)

    name = property(lambda self: self._named)
    initializer = property(lambda self: _raw.NoOp() if self._table is None
                           else self._table.initializer)
    init = initializer
    resource_handle = property(lambda self: None if self._table is None
                               else self._table.resource_handle)

    def size(self, name=None):
        """The number of entries and buckets."""
        with name_scope(name, "%s_Size" % self.name):
            buckets = convert_to_tensor(self._buckets, dtype=dtypes.int64)
            return buckets if self._table is None else (
                self._table.size() + buckets)

    def _values_of(self, keys, name):
        with name_scope(name, "%s_Lookup" % self.name):
            found = None if self._table is None else self._table.lookup(
                _math.cast(keys, self._table.key_dtype)
                if self._table.key_dtype != dtypes.string else keys)
            if not self._buckets:
                return found
            text = (keys if keys.dtype.base_dtype == dtypes.string
                    else _raw.AsString(keys))
            ids = self._hash(text, num_buckets=self._buckets,
                             name="hash_bucket")
            if found is None:
                return ids
            return _array.where(
                _math.not_equal(found, self._table.default_value), found,
                ids + self._table.size())


class MutableHashTable(Table):
    """A table that runs insert into and remove from; default_value, whose shape
    values have, is that of all other keys. `checkpoint`: a Saver saves it."""

    def __init__(self, key_dtype, value_dtype, default_value,
                 name="MutableHashTable", checkpoint=True):
        super().__init__(key_dtype, value_dtype)
        self._default = convert_to_tensor(default_value,
                                          dtype=self._value_dtype)
        shape = self._default.get_shape()
        if shape.ndims == 0:
            self._handle = _raw.MutableHashTableV2(
                key_dtype=self._key_dtype, value_dtype=self._value_dtype,
                name=name)
        else:
            self._handle = _raw.MutableHashTableOfTensorsV2(
                key_dtype=self._key_dtype, value_dtype=self._value_dtype,
                value_shape=shape, name=name)
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self))

    def _keys(self, keys):
        keys = convert_to_tensor(keys, name="keys")
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError("Signature mismatch. Keys must be dtype %s, got %s."
                            % (self._key_dtype, keys.dtype.base_dtype))
        return keys

    def lookup(self, keys, name=None):
        """The values of a Tensor of keys. TypeError for keys of another
        type."""
        keys = self._keys(keys)
        values = self._find(keys, name, "lookup_table_find")
        values.set_shape(keys.get_shape().concatenate(
            self._default.get_shape()))
        return values

    def insert(self, keys, values, name=None):
        """An Operation that gives keys their values."""
        with self._scope(name, "lookup_table_insert"):
            return _raw.LookupTableInsertV2(
                self._handle, self._keys(keys), convert_to_tensor(
                    values, dtype=self._value_dtype, name="values"))

    def remove(self, keys, name=None):
        """An Operation that removes keys; those that are not there are left
        out."""
        with self._scope(name, "lookup_table_remove"):
            return _raw.LookupTableRemoveV2(self._handle, self._keys(keys))


class MutableDenseHashTable(DenseHashTable):
    """tf.lookup.experimental.DenseHashTable."""


def _with_buckets(table, num_oov_buckets, hasher_spec, name, key_dtype):
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(table, num_oov_buckets=num_oov_buckets,
                                  hasher_spec=hasher_spec, name=name,
                                  key_dtype=key_dtype)


def index_table_from_file(
        vocabulary_file=None, num_oov_buckets=0, vocab_size=None,
        default_value=-1, hasher_spec=FastHashSpec, key_dtype=dtypes.string,
        name=None, key_column_index=TextFileIndex.WHOLE_LINE,
        value_column_index=TextFileIndex.LINE_NUMBER, delimiter="\t"):
    """A table from the lines of a file to their numbers; other words have
    default_value, or one of num_oov_buckets numbers after these. Run
    tf.tables_initializer() first. ValueError for arguments that do not fit."""
    if vocabulary_file is None or isinstance(
            vocabulary_file, str) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be "
                         "empty.")
    _check_index(num_oov_buckets, vocab_size)
    key_dtype = dtypes.as_dtype(key_dtype)
    if not (key_dtype.is_integer or key_dtype == dtypes.string):
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        wide = dtypes.int64 if key_dtype.is_integer else key_dtype
        table = HashTable(TextFileIdTableInitializer(
            vocabulary_file, vocab_size=vocab_size, key_dtype=wide,
            name="table_init", key_column_index=key_column_index,
            value_column_index=value_column_index, delimiter=delimiter),
            default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, None,
                             key_dtype)


def _check_index(num_oov_buckets, vocab_size=None):
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must be greater or equal than 0, got "
                         "%d." % num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError("vocab_size must be greater than 0, got %d."
                         % vocab_size)


def string_to_index_table_from_file(
        vocabulary_file=None, num_oov_buckets=0, vocab_size=None,
        default_value=-1, hasher_spec=FastHashSpec, name=None):
    """index_table_from_file."""
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size,
                                 default_value, hasher_spec, name=name)


def index_table_from_tensor(mapping, num_oov_buckets=0, default_value=-1,
                            hasher_spec=FastHashSpec, dtype=dtypes.string,
                            name=None):
    """A table from words or integers to their numbers in `mapping`; others have
    default_value, or one of num_oov_buckets numbers after these. Run
    tf.tables_initializer() first. ValueError and TypeError for arguments that
    do not fit."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    _check_index(num_oov_buckets)
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype == dtypes.string):
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if dtype.is_integer != keys.dtype.is_integer:
            raise ValueError("Expected %s, got %s." % (
                "integer" if dtype.is_integer else "non-integer", keys.dtype))
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError("Expected %s, got %s." % (dtype, keys.dtype))
        count = _array.size(keys)
        values = _math.cast(_math.range(count), dtypes.int64)
        if keys.dtype.is_integer:
            keys = _math.cast(keys, dtypes.int64)
        table = HashTable(KeyValueTensorInitializer(
            keys, values, keys.dtype.base_dtype, dtypes.int64,
            name="table_init"), default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, None, dtype)


def string_to_index_table_from_tensor(
        mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec,
        name=None):
    """index_table_from_tensor of words."""
    with name_scope(name, "string_to_index"):
        mapping = convert_to_tensor(mapping)
    if mapping.dtype != dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value,
                                   hasher_spec, dtypes.string, name)


def index_to_string_table_from_file(
        vocabulary_file, vocab_size=None, default_value="UNK", name=None,
        key_column_index=TextFileIndex.LINE_NUMBER,
        value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t"):
    """A table from numbers, int64, to the lines of a file; others have
    default_value."""
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified.")
    _check_index(0, vocab_size)
    with name_scope(name, "index_to_string"):
        return HashTable(TextFileStringTableInitializer(
            vocabulary_file, vocab_size=vocab_size, name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index, delimiter=delimiter),
            default_value)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from numbers, int64, to the words of `mapping`; others have
    default_value."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(mapping, dtype=dtypes.string)
        keys = _math.cast(_math.range(_array.size(values)), dtypes.int64)
        return HashTable(KeyValueTensorInitializer(
            keys, values, dtypes.int64, dtypes.string, name="table_init"),
            default_value)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The numbers of words in `mapping`."""
    return index_table_from_tensor(
        mapping=mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The words of `mapping` at numbers, int64."""
    return index_to_string_table_from_tensor(
        mapping=mapping, default_value=default_value, name=name).lookup(tensor)
