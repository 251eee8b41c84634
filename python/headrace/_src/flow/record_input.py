"""tf.contrib.framework.RecordInput: records of files, in random order."""
from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.io.readers import TFRecordOptions
from headrace._src.ops import array_ops as _array


class RecordInput:
    """Batches of records from all files of a pattern, in random order and
    without an end.

    `file_pattern`: names of TFRecord files, with wildcards. `batch_size`: the
    number of records of a batch; `batches`: None, or the number of batches that
    a run gives. `buffer_size`: the most records that are held to choose from;
    `parallelism`: the number of files that are read at a time. `shift_ratio`:
    by which part of the files the first one moves in each epoch; `seed` makes
    the order the same each time. `compression_type`: one of
    tf.io.TFRecordCompressionType, by default none.

    Records are strings of the shape [batch_size]. A run raises
    InvalidArgumentError for arguments that are not positive and NotFoundError
    if there are no files."""

    def __init__(self, file_pattern, batch_size=1, buffer_size=1, parallelism=1,
                 shift_ratio=0, seed=0, name=None, batches=None,
                 compression_type=None):
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._batches = batches
        self._name = name
        self._options = dict(
            file_pattern=file_pattern, file_buffer_size=buffer_size,
            file_parallelism=parallelism, file_shuffle_shift_ratio=shift_ratio,
            file_random_seed=seed, batch_size=self._batch_size,
            compression_type=TFRecordOptions.get_compression_type_string(
                TFRecordOptions(compression_type or 0)))

    def get_yield_op(self):
        """A tensor of the records of a batch; with `batches`, a list of lists
        of scalars, one for each batch."""
        records = _raw.RecordInput(name=self._name, **self._options)
        if self._batches is None:
            return records
        with name_scope(self._name, "RecordInput"):
            single = [_array.reshape(r, [])
                      for r in _array.split(records, self._batch_size, 0)]
        return [single[i::self._batches] for i in range(self._batches)]
