"""tf.lookup: tables from keys to values, filled once or changed in runs."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor, is_sparse
from headrace._src.variables.saveables import SaveableObject, SaveSpec


class TextFileIndex:
    """Which part of a line is the key or the value, if it is no column."""
    WHOLE_LINE = -2
    LINE_NUMBER = -1


class _Typed:
    """What has keys and values, each of one type."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)


class _Initializer(_Typed):
    """What fills a table."""

    def _check(self, table):
        for what, mine, other in (
                ("Keys", self.key_dtype, table.key_dtype),
                ("Values", self.value_dtype, table.value_dtype)):
            if mine != other:
                raise TypeError("Signature mismatch. %s must be dtype %s, got "
                                "%s." % (what, mine, other))


class KeyValueTensorInitializer(_Initializer):
    """A table of tensors or lists of keys and values."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None,
                 name=None):
        with name_scope(name, "key_value_init", [keys, values]) as scope:
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype,
                                             name="values")
            self._scope = scope
        super().__init__(self._keys.dtype.base_dtype,
                         self._values.dtype.base_dtype)

    def initialize(self, table):
        """The operation that fills `table`."""
        self._check(table)
        # One value for each key.
        self._values.get_shape()[:1].assert_is_compatible_with(
            self._keys.get_shape()[:1])
        with name_scope(self._scope):
            init = _raw.LookupTableImportV2(table.resource_handle, self._keys,
                                            self._values)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, init)
        return init


class TextFileInitializer(_Initializer):
    """A table of a text file with a line for each entry, in columns that
    `delimiter` parts; see TextFileIndex. vocab_size: how many lines are read,
    by default all."""

    def __init__(self, filename, key_dtype, key_index, value_dtype,
                 value_index, vocab_size=None, delimiter="\t", name=None):
        if isinstance(filename, (str, bytes)) and not filename:
            raise ValueError("Filename required for %s." % name)
        super().__init__(key_dtype, value_dtype)
        for index, kind, what in ((key_index, self.key_dtype, "key"),
                                  (value_index, self.value_dtype, "value")):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError("Invalid %s index %s." % (what, index))
            if index == TextFileIndex.LINE_NUMBER and kind != dtypes.int64:
                raise ValueError(
                    "Signature mismatch. %ss must be dtype %s, got %s."
                    % (what.capitalize(), dtypes.int64, kind))
            if index == TextFileIndex.WHOLE_LINE and not (
                    kind.is_integer or kind == dtypes.string):
                raise ValueError(
                    "Signature mismatch. %ss must be integer or string, got %s."
                    % (what.capitalize(), kind))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError("Invalid vocab_size %s." % vocab_size)
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._filename = convert_to_tensor(filename, dtypes.string,
                                           name="asset_filepath")

    def initialize(self, table):
        """The operation that fills `table`."""
        self._check(table)
        with name_scope(self._name, "text_file_init",
                        [table.resource_handle]):
            init = _raw.InitializeTableFromTextFileV2(
                table.resource_handle, self._filename,
                key_index=self._key_index, value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None
                else self._vocab_size, delimiter=self._delimiter)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, init)
        add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return init


class StaticTable(_Typed):
    """A table whose keys are looked up in a Tensor or SparseTensor."""

    def lookup(self, keys, name=None):
        """The values of a Tensor or SparseTensor of keys."""
        sparse = is_sparse(keys)
        flat = keys.values if sparse else convert_to_tensor(keys)
        if flat.dtype.base_dtype != self._key_dtype:
            raise TypeError("Signature mismatch. Keys must be dtype %s, got %s."
                            % (self._key_dtype, flat.dtype.base_dtype))
        values = self._values_of(flat, name)
        return (SparseTensor(keys.indices, values, keys.dense_shape) if sparse
                else values)


class Table(_Typed):
    """What tables have in common: a handle, `lookup` and `size`."""

    _resource_handle = None  # classes of programs set it

    @property
    def resource_handle(self):
        return (self._handle if self._resource_handle is None
                else self._resource_handle)

    default_value = property(lambda self: self._default)

    @property
    def name(self):
        if executing_eagerly():
            return "hash_table"
        return self._handle.op.name

    def _scope(self, name, what):
        return name_scope(name, "%s_%s" % (self.name.split("/")[-1], what),
                          [self._handle])

    def size(self, name=None):
        """The number of entries."""
        with self._scope(name, "Size"):
            return _raw.LookupTableSizeV2(self._handle)

    def export(self, name=None):
        """(all keys, all values), in no order."""
        with self._scope(name, "lookup_table_export_values"):
            keys, values = _raw.LookupTableExportV2(
                self._handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype)
            keys.set_shape([None] + [None] * (self._key_rank or 0))
            values.set_shape(TensorShape([None]).concatenate(
                self._default.get_shape()))
            return keys, values

    _key_rank = 0

    def _find(self, keys, name, what="Lookup"):
        with self._scope(name, what):
            return _raw.LookupTableFindV2(self._handle, keys, self._default)


class StaticHashTable(StaticTable, Table):
    """A table that its initializer fills once, in tables_initializer();
    `default_value` for other keys."""

    def __init__(self, initializer, default_value, name=None):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default = convert_to_tensor(default_value,
                                          dtype=self._value_dtype)
        self._default.get_shape().assert_has_rank(0)
        self._handle = _raw.HashTableV2(
            key_dtype=self._key_dtype, value_dtype=self._value_dtype,
            name=name or "hash_table")
        self._initializer = initializer.initialize(self)

    initializer = property(lambda self: self._initializer)

    def _values_of(self, keys, name):
        values = self._find(keys, name)
        values.set_shape(keys.get_shape())
        return values


class StaticVocabularyTable(StaticTable):
    """A table of ids that its initializer fills (None: an empty one), and after
    them num_oov_buckets ids, by hash, for all other keys. Keys of
    lookup_key_dtype int32 may be looked up in a table of int64."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None,
                 name=None):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        self._buckets = num_oov_buckets
        self._table = None
        if initializer is None:
            super().__init__(lookup_key_dtype or dtypes.string, dtypes.int64)
            self._named = name or "hash_bucket"
            return
        if initializer.value_dtype != dtypes.int64:
            raise TypeError("Invalid value dtype, expected %s but got %s."
                            % (dtypes.int64, initializer.value_dtype))
        super().__init__(lookup_key_dtype or initializer.key_dtype,
                         dtypes.int64)
        if self._key_dtype.is_integer != initializer.key_dtype.is_integer:
            raise TypeError("Invalid key dtype, expected %s but got %s."
                            % (initializer.key_dtype, self._key_dtype))
        self._table = StaticHashTable(initializer, -1, name=name)

    @property
    def name(self):
        return self._named if self._table is None else self._table.name

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self):
        return (_raw.NoOp() if self._table is None
                else self._table.initializer)

    def size(self, name=None):
        """The number of entries and buckets."""
        with name_scope(name, "%s_Size" % self.name):
            if self._table is None:
                return convert_to_tensor(self._buckets, dtypes.int64)
            return self._table.size() + self._buckets

    def _values_of(self, keys, name):
        with name_scope(name, "%s_Lookup" % self.name):
            text = (keys if self._key_dtype == dtypes.string
                    else _raw.AsString(keys))
            ids = _raw.StringToHashBucketFast(
                text, num_buckets=self._buckets, name="hash_bucket")
            if self._table is None:
                return ids
            found = self._table.lookup(
                _math.cast(keys, self._table.key_dtype))
            return _array.where_v2(
                _math.not_equal(found, self._table.default_value), found,
                ids + self._table.size())


class TableSaveable(SaveableObject):
    """Saves a table as two tensors, of its keys and its values."""

    def __init__(self, table):
        keys, values = table.export()
        name = table.name
        super().__init__(table, [SaveSpec(keys, "", name + "-keys"),
                                 SaveSpec(values, "", name + "-values")], name)

    def restore(self, restored_tensors, restored_shapes):
        with name_scope("%s_table_restore" % self.name):
            return _raw.LookupTableImportV2(self.op.resource_handle,
                                            *restored_tensors)


class DenseHashTable(Table):
    """A table that runs insert into and remove from. empty_key and deleted_key
    are two keys that it never holds; `default_value`, whose shape values have,
    is that of all others. `checkpoint`: a Saver saves it."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key,
                 deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True):
        super().__init__(key_dtype, value_dtype)
        self._default = convert_to_tensor(
            default_value, dtype=self._value_dtype, name="default_value")
        empty = convert_to_tensor(empty_key, dtype=self._key_dtype,
                                  name="empty_key")
        deleted = convert_to_tensor(deleted_key, dtype=self._key_dtype,
                                    name="deleted_key")
        self._key_rank = empty._rank()
        options = {} if initial_num_buckets is None else {
            "initial_num_buckets": initial_num_buckets}
        self._handle = _raw.MutableDenseHashTableV2(
            empty, deleted, value_dtype=self._value_dtype,
            value_shape=self._default.get_shape(), name=name, **options)
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self))

    def _keys(self, keys):
        return convert_to_tensor(keys, dtype=self._key_dtype, name="keys")

    def lookup(self, keys, name=None):
        """The values of a Tensor of keys."""
        keys = self._keys(keys)
        values = self._find(keys, name, "lookup_table_find")
        shape = keys.get_shape()
        if shape.ndims is not None and self._key_rank is not None:
            values.set_shape(shape[:shape.ndims - self._key_rank].concatenate(
                self._default.get_shape()))
        return values

    def insert_or_assign(self, keys, values, name=None):
        """An Operation that gives keys their values."""
        with self._scope(name, "lookup_table_insert"):
            return _raw.LookupTableInsertV2(
                self._handle, self._keys(keys), convert_to_tensor(
                    values, dtype=self._value_dtype, name="values"))

    insert = insert_or_assign

    def erase(self, keys, name=None):
        """An Operation that removes keys; those that are not there are left
        out."""
        with self._scope(name, "lookup_table_remove"):
            return _raw.LookupTableRemoveV2(self._handle, self._keys(keys))

    remove = erase
