"""Datasets of batches of the rows of CSV files and of Examples, and of the rows
of a database."""
import collections
import csv
import gzip

import numpy as np

from headrace._src.data.datasets import AUTOTUNE, Dataset, Options
from headrace._src.data.elements import flatten, map_leaves, pack
from headrace._src.data.experimental import (
    ignore_errors as _ignore_errors, parallel_interleave,
    parse_example_dataset, shuffle_and_repeat)
from headrace._src.data.files import CsvDataset, TFRecordDataset
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import constant, constant_value, is_tensor
from headrace._src.io.readers import ReaderBase
from headrace._src.platform.file_io import GFile, glob

_CSV_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64,
              dtypes.string)


def _paths(file_pattern):
    """The files that match one pattern or several, sorted."""
    patterns = (file_pattern if isinstance(file_pattern, list)
                else [file_pattern])
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = sorted(path for pattern in patterns
                   for path in glob(pattern))
    if not found:
        raise ValueError("No files match %s." % (file_pattern,))
    return found


def _shuffled_and_repeated(dataset, num_epochs, shuffle, buffer_size, seed):
    if not shuffle:
        return dataset if num_epochs == 1 else dataset.repeat(num_epochs)
    if num_epochs == 1:
        return dataset.shuffle(buffer_size, seed)
    return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))


def _read_in_turn(files, read, threads, sloppy):
    """The elements of read(file), of `threads` files in turn."""
    if threads != AUTOTUNE:
        return files.apply(parallel_interleave(
            read, cycle_length=threads, sloppy=sloppy))
    options = Options()
    options.experimental_deterministic = not sloppy
    return files.interleave(read, num_parallel_calls=threads).with_options(
        options)


# CSV files.

class _CsvFiles:
    """What the first rows of CSV files tell about their columns."""

    def __init__(self, paths, field_delim, use_quote_delim, compression_type):
        self._paths = paths
        self._delimiter = field_delim
        self._quoting = (csv.QUOTE_MINIMAL if use_quote_delim
                         else csv.QUOTE_NONE)
        self._open = self._opener(compression_type)

    @staticmethod
    def _opener(compression_type):
        kind = compression_type
        if kind is not None and is_tensor(kind):
            kind = constant_value(kind)
            if kind is None:
                raise ValueError("compression_type must be known to find the "
                                 "names or types of columns")
            kind = kind.item()
        if isinstance(kind, bytes):
            kind = kind.decode()
        if kind == "GZIP":
            return lambda path: gzip.open(path, "rt")
        if kind == "ZLIB":
            raise ValueError("compression_type (ZLIB) is not supported for "
                             "probing columns")
        if kind:
            raise ValueError("compression_type (%s) is not supported" % kind)
        return lambda path: GFile(path, "r")

    def _rows(self, path):
        with self._open(path) as file:
            yield from csv.reader(file, delimiter=self._delimiter,
                                  quoting=self._quoting)

    def names(self):
        """The header, which all files have."""
        headers = [next(self._rows(path), None) for path in self._paths]
        if None in headers:
            raise ValueError("%s has no header line: it is empty"
                             % self._paths[headers.index(None)])
        if any(header != headers[0] for header in headers):
            raise ValueError(
                "Files have different column names in the header row.")
        return headers[0]

    def types(self, count, columns, na_value, header, most):
        """The narrowest types of `columns` by the first `most` rows."""
        types = dict.fromkeys(columns)
        for i, row in enumerate(self._data(count, header)):
            if most is not None and i >= most:
                break
            for column in columns:
                types[column] = _wider(types[column], row[column], na_value)
        return [types[column] or dtypes.string for column in columns]

    def _data(self, count, header):
        for path in self._paths:
            rows = self._rows(path)
            if header:
                next(rows, None)
            for row in rows:
                if len(row) != count:
                    raise ValueError(
                        "Problem inferring types: CSV row has different number "
                        "of fields than expected: %d in place of %d in %s"
                        % (len(row), count, path))
                yield row


def _wider(known, text, na_value):
    """The narrowest type for a field, and for what `known` is for."""
    if text in ("", na_value):
        return known
    first = 0 if known is None else _CSV_TYPES.index(known)
    return next(t for t in _CSV_TYPES[first:] if _is_of(text, t))


def _is_of(text, dtype):
    if dtype == dtypes.string:
        return True
    try:
        if dtype.is_floating:
            with np.errstate(over="ignore"):
                return bool(dtype.as_numpy_dtype(text) < np.inf)
        bounds = np.iinfo(dtype.as_numpy_dtype)
        return bounds.min <= int(text) <= bounds.max
    except ValueError:
        return False


def _column_numbers(select_columns, names):
    """The numbers of columns, sorted, of their numbers or names."""
    numbers = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError("Column index %d specified in select_columns "
                                 "out of valid range." % column)
            numbers.append(column)
        elif column in names:
            numbers.append(names.index(column))
        else:
            raise ValueError("Value '%s' specified in select_columns not a "
                             "valid column index or name." % column)
    if len(set(numbers)) != len(numbers):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(numbers)


def _csv_columns(files, column_names, column_defaults, select_columns, na_value,
                 header, most):
    """(numbers of the columns that are taken, or None for all; their names;
    their defaults)"""
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = files().names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    every = list(range(len(column_names)))
    taken = every if select_columns is None else _column_numbers(
        select_columns, list(column_names))
    if column_defaults is None:
        column_defaults = [
            constant(["" if t == dtypes.string else 0], dtype=t)
            for t in files().types(len(every), taken, na_value, header, most)]
    elif select_columns is not None and len(column_defaults) != len(taken):
        raise ValueError("If specified, column_defaults and select_columns must "
                         "have same length.")
    return (None if select_columns is None else taken,
            [column_names[i] for i in taken], column_defaults)


def make_csv_dataset(
        file_pattern, batch_size, column_names=None, column_defaults=None,
        label_name=None, select_columns=None, field_delim=",",
        use_quote_delim=True, na_value="", header=True, num_epochs=None,
        shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
        prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
        num_rows_for_inference=100, compression_type=None,
        ignore_errors=False):
    """Batches of the rows of CSV files: dicts of columns by their names, or
    (dict, label) with `label_name`.

    Names are those of the header, unless `column_names` has them. Types are
    found in the first `num_rows_for_inference` rows, None for all, unless
    `column_defaults` has types, of required fields, or default values.
    `select_columns`: numbers or names of the columns that are taken.
    `ignore_errors`: rows that cannot be read are left out. ValueError for no
    files, and for columns that do not fit."""
    paths = _paths(file_pattern)
    files = Dataset.from_tensor_slices(paths)
    if shuffle:
        files = files.shuffle(len(paths), shuffle_seed)
    numbers, names, defaults = _csv_columns(
        lambda: _CsvFiles(paths, field_delim, use_quote_delim,
                          compression_type),
        column_names, column_defaults, select_columns, na_value, header,
        num_rows_for_inference)
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def read(path):
        rows = CsvDataset(
            path, record_defaults=defaults, field_delim=field_delim,
            use_quote_delim=use_quote_delim, na_value=na_value,
            select_cols=numbers, header=header,
            compression_type=compression_type)
        return rows.apply(_ignore_errors()) if ignore_errors else rows

    def named(*columns):
        features = collections.OrderedDict(zip(names, columns))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = _read_in_turn(files, read, 1 if num_parallel_reads is None
                            else num_parallel_reads, sloppy)
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle,
                                     shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    return dataset.map(named).prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


# Record files.

def make_batched_features_dataset(
        file_pattern, batch_size, features, reader=TFRecordDataset,
        label_key=None, reader_args=None, num_epochs=None, shuffle=True,
        shuffle_buffer_size=10000, shuffle_seed=None,
        prefetch_buffer_size=None, reader_num_threads=None,
        parser_num_threads=None, sloppy_ordering=False,
        drop_final_batch=False):
    """Batches of the Examples in files: dicts of `features`, or (dict, label)
    with `label_key`.

    `reader`: what makes a dataset of serialized Examples, or of pairs whose
    second is one, of a path and `reader_args`. TypeError for a tf.ReaderBase,
    ValueError for a label that is no feature."""
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. "
            "`tf.ReaderBase` subclasses are not supported. For example, pass "
            "`tf.data.TFRecordDataset` instead of `tf.TFRecordReader`.")
    files = Dataset.list_files(file_pattern, shuffle=shuffle,
                               seed=shuffle_seed)
    dataset = _read_in_turn(
        files, lambda path: reader(path, *(reader_args or [])),
        1 if reader_num_threads is None else reader_num_threads,
        sloppy_ordering)
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, v: v)
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle,
                                     shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(
        batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(
        features, num_parallel_calls=2 if parser_num_threads is None
        else parser_num_threads))
    if label_key:
        if label_key not in features:
            raise ValueError("The `label_key` provided (%r) must be one of the "
                             "`features` keys." % label_key)
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_tf_record_dataset(
        file_pattern, batch_size, parser_fn=None, num_epochs=None,
        shuffle=True, shuffle_buffer_size=None, shuffle_seed=None,
        prefetch_buffer_size=None, num_parallel_reads=None,
        num_parallel_parser_calls=None, drop_final_batch=False):
    """Batches of the records of files, or of what `parser_fn` makes of a
    record. The last batch is dropped without `num_epochs`."""
    files = Dataset.list_files(file_pattern, shuffle=shuffle,
                               seed=shuffle_seed)
    dataset = TFRecordDataset(files, num_parallel_reads=(
        24 if num_parallel_reads is None else num_parallel_reads))
    dataset = _shuffled_and_repeated(
        dataset, num_epochs, shuffle,
        10000 if shuffle_buffer_size is None else shuffle_buffer_size,
        shuffle_seed)
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, num_parallel_calls=(
            batch_size if num_parallel_parser_calls is None
            else num_parallel_parser_calls))
    dataset = dataset.batch(
        batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(
        AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


# Databases.

_SQL_TYPES = (dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32,
              dtypes.int64, dtypes.bool_, dtypes.float64)


class SqlDataset(Dataset):
    """The rows that `query` gives: scalars, one for each column, in a structure
    like that of `output_types`. `driver_name` is "sqlite", `data_source_name`
    the path of the database. A missing value is 0, "" or False.

    Python's sqlite3 runs the query, in this process: graphs with such a dataset
    cannot be saved. Runs raise UnknownError for a query that fails, and for
    another number of columns; ValueError for another driver or type."""

    def __init__(self, driver_name, data_source_name, query, output_types):
        types = map_leaves(dtypes.as_dtype, output_types)
        for dtype in flatten(types):
            if dtype not in _SQL_TYPES:
                raise ValueError(
                    "output_types has %s; columns may be of %s" % (
                        dtype.name, ", ".join(t.name for t in _SQL_TYPES)))
        if not is_tensor(driver_name) and driver_name not in ("sqlite",
                                                              b"sqlite"):
            raise ValueError("The database type, %s, is not supported by "
                             "SqlDataset. The set of supported databases is: "
                             "{'sqlite'}." % (driver_name,))

        def rows(driver, path, text):
            for row in _sqlite_rows(driver.decode(), path.decode(),
                                    text.decode(), len(flatten(types))):
                yield pack(types, [_sql_value(value, dtype) for value, dtype
                                   in zip(row, flatten(types))])

        made = Dataset.from_generator(
            rows, types, map_leaves(lambda _: [], types),
            args=(driver_name, data_source_name, query))
        super().__init__(made._variant_tensor, made._spec)


def _sqlite_rows(driver, path, query, columns):
    import sqlite3
    if driver != "sqlite":
        raise ValueError("The database type, %s, is not supported by "
                         "SqlDataset." % driver)
    # One thread at a time runs it, which may be another for each row.
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        cursor = connection.execute(query)
        found = len(cursor.description or ())
        if found != columns:
            raise ValueError(
                "The number of columns in query (%d) must match the number of "
                "elements in output_types (%d)." % (found, columns))
        yield from cursor
    finally:
        connection.close()


def _sql_value(value, dtype):
    if dtype == dtypes.string:
        return b"" if value is None else (
            value if isinstance(value, bytes) else str(value).encode())
    if dtype == dtypes.bool_:
        return bool(value)
    return dtype.as_numpy_dtype(0 if value is None else value)
