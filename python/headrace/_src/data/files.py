"""Datasets of the contents of files, and the writer of record files."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.data import experimental as _experimental
from headrace._src.data.datasets import Dataset
from headrace._src.data.elements import TensorLeaf, as_int64, attrs
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.ops import array_ops as _array

_STRING = TensorLeaf(_dtypes.string, [])


def _read_files(filenames, read, num_parallel_reads=None):
    """The dataset read(paths), where `filenames` may be a dataset itself."""
    if not isinstance(filenames, Dataset):
        paths = convert_to_tensor(filenames, dtype=_dtypes.string)
        filenames = Dataset.from_tensor_slices(
            _array.reshape(paths, [-1], name="flat_filenames"))
    if num_parallel_reads is None:
        return filenames.flat_map(read)
    return filenames.apply(_experimental.parallel_interleave(
        read, cycle_length=num_parallel_reads))


def _text(value, name=None):
    return convert_to_tensor("" if value is None else value,
                             dtype=_dtypes.string, name=name)


class _StringsOfFiles(Dataset):
    """Scalar strings: those of read(paths), a variant tensor."""

    def __init__(self, read, filenames, num_parallel_reads):
        made = _read_files(filenames, lambda paths: Dataset(read(paths), _STRING),
                           num_parallel_reads)
        super().__init__(made._variant_tensor, made._spec)


class TFRecordDataset(_StringsOfFiles):
    """The records of files: scalar strings. `compression_type`: "", "ZLIB" or
    "GZIP".

    `filenames`: a scalar or vector of strings, or a dataset of these.
    InvalidArgumentError when it is made for another compression_type; iterators
    raise NotFoundError for a missing file and DataLossError for a damaged one.
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None,
                 num_parallel_reads=None):
        super().__init__(lambda paths: _raw.TFRecordDataset(
            paths, _text(compression_type),
            as_int64(buffer_size or 0, "buffer_size")),
            filenames, num_parallel_reads)


class TextLineDataset(_StringsOfFiles):
    """The lines of files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None,
                 num_parallel_reads=None):
        super().__init__(lambda paths: _raw.TextLineDataset(
            paths, _text(compression_type),
            as_int64(buffer_size or 0, "buffer_size")),
            filenames, num_parallel_reads)


class FixedLengthRecordDataset(_StringsOfFiles):
    """Files in pieces of `record_bytes`, between header and footer."""

    def __init__(self, filenames, record_bytes, header_bytes=None,
                 footer_bytes=None, buffer_size=None, compression_type=None,
                 num_parallel_reads=None):
        super().__init__(lambda paths: _raw.FixedLengthRecordDatasetV2(
            paths, as_int64(header_bytes or 0, "header_bytes"),
            as_int64(record_bytes, "record_bytes"),
            as_int64(footer_bytes or 0, "footer_bytes"),
            as_int64(buffer_size or 0, "buffer_size"),
            _text(compression_type)), filenames, num_parallel_reads)


class CsvDataset(Dataset):
    """The records of comma-separated files: a tuple of scalars, one for each of
    `record_defaults`: a type for a required field, else what a missing one
    becomes. `select_cols`: the numbers of the columns that are taken."""

    def __init__(self, filenames, record_defaults, compression_type=None,
                 buffer_size=None, header=False, field_delim=",",
                 use_quote_delim=True, na_value="", select_cols=None):
        def default(value):
            if not isinstance(value, (_dtypes.DType, type)):
                if not is_tensor(value) and np.ndim(value) == 0:
                    value = [value]
                value = convert_to_tensor(value)
                return value if value.get_shape().ndims else \
                    _raw.Reshape(value, [1])
            dtype = _dtypes.as_dtype(value)
            return convert_to_tensor(np.zeros([0], dtype.as_numpy_dtype),
                                     dtype=dtype)
        filenames = convert_to_tensor(filenames, dtype=_dtypes.string,
                                      name="filenames")
        compression_type = _text(compression_type, "compression_type")
        defaults = [default(value) for value in record_defaults]
        spec = tuple(TensorLeaf(d.dtype, []) for d in defaults)
        made = _raw.CSVDataset(
            filenames, compression_type,
            as_int64(buffer_size or 4 << 20, "buffer_size"),
            convert_to_tensor(header, dtype=_dtypes.bool_, name="header"),
            _text(field_delim, "field_delim"),
            convert_to_tensor(use_quote_delim, dtype=_dtypes.bool_,
                              name="use_quote_delim"),
            _text(na_value, "na_value"),
            as_int64(np.asarray(select_cols or [], np.int64), "select_cols"),
            defaults, output_shapes=attrs(spec)["output_shapes"])
        super().__init__(made, spec)


class TFRecordWriter:
    """Writes a dataset of scalar strings to a record file."""

    def __init__(self, filename, compression_type=None):
        self._filename = _text(filename)
        self._compression_type = _text(compression_type)

    def write(self, dataset):
        return _raw.DatasetToTFRecord(dataset._variant_tensor, self._filename,
                                      self._compression_type)
