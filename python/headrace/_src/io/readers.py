"""Readers, which turn files named by a queue into records, and record files
that Python reads and writes (tf.python_io)."""
from headrace import _headrace
from headrace import raw_ops as _raw


class ReaderBase:
    """What all readers can do."""

    def __init__(self, reader_ref, supports_serialize=False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self):
        return self._reader_ref

    @property
    def supports_serialize(self):
        """Whether serialize_state and restore_state work."""
        return self._supports_serialize

    @staticmethod
    def _handle(queue):
        handle = queue if hasattr(queue, "op") else queue.queue_ref
        return handle

    def read(self, queue, name=None):
        """(key, value) of the next record; takes work from `queue` as it is
        needed."""
        return _raw.ReaderReadV2(self._reader_ref, self._handle(queue),
                                 name=name)

    def read_up_to(self, queue, num_records, name=None):
        """(keys, values) of the next records of one work unit, `num_records`
        of them at most."""
        return _raw.ReaderReadUpToV2(
            self._reader_ref, self._handle(queue), num_records, name=name)

    def num_records_produced(self, name=None):
        return _raw.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        return _raw.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name=None):
        return _raw.ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        return _raw.ReaderRestoreStateV2(self._reader_ref, state, name=name)

    def reset(self, name=None):
        """An operation that takes the reader back to its beginning."""
        return _raw.ReaderResetV2(self._reader_ref, name=name)


class IdentityReader(ReaderBase):
    """Each record is a work unit: key and value are it."""

    def __init__(self, name=None):
        super().__init__(_raw.IdentityReaderV2(name=name),
                         supports_serialize=True)


class WholeFileReader(ReaderBase):
    """Each record is a file: read(queue) gives (its name, what it holds),
    scalar strings; `queue` holds names of files.

    A run raises OutOfRangeError at the end of a closed queue, NotFoundError for
    a missing file."""

    def __init__(self, name=None):
        super().__init__(_raw.WholeFileReaderV2(name=name))


class TextLineReader(ReaderBase):
    """Lines of files; keys are "file:number"."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(_raw.TextLineReaderV2(
            skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Pieces of `record_bytes`, which begin `hop_bytes` apart (by default
    behind each other), between header and footer."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None,
                 hop_bytes=None, name=None, encoding=None):
        super().__init__(_raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes, header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0, hop_bytes=hop_bytes or 0,
            encoding=encoding or "", name=name))


class TFRecordReader(ReaderBase):
    """Records of record files; keys are "file:offset".

    read(queue) gives (key, record), scalar strings; `queue` holds names of
    files. `options`: a TFRecordOptions. A run raises OutOfRangeError at the end
    of a closed queue, NotFoundError for a missing file and DataLossError for a
    damaged one."""

    def __init__(self, name=None, options=None):
        super().__init__(_raw.TFRecordReaderV2(
            compression_type=_compression(options), name=name))


class TFRecordCompressionType:
    NONE, ZLIB, GZIP = 0, 1, 2


_COMPRESSIONS = {TFRecordCompressionType.NONE: "",
                 TFRecordCompressionType.ZLIB: "ZLIB",
                 TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions:
    """How a record file is compressed: a TFRecordCompressionType, or its name.
    `compression_level`: 0 to 9. What else TensorFlow's options say changes no
    file's contents."""

    compression_type_map = _COMPRESSIONS

    def __init__(self, compression_type=None, flush_mode=None,
                 input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None,
                 compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options):
        """"", "ZLIB" or "GZIP" for options, a type, or a name of one."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        if options is None:
            return ""
        if options in _COMPRESSIONS:
            return _COMPRESSIONS[options]
        if options in _COMPRESSIONS.values():
            return options
        raise ValueError('Not a valid compression_type: "%s"' % (options,))


_compression = TFRecordOptions.get_compression_type_string


class TFRecordWriter:
    """Writes records, bytes, to a file: write(record), flush(), close(), or as
    a context manager.

    `options`: a TFRecordOptions or compression type. Records are bytes, often a
    serialized Example; there are no shapes and dtypes here. NotFoundError if
    the folder is missing, TypeError for a record that is no bytes."""

    def __init__(self, path, options=None):
        level = getattr(options, "compression_level", None)
        self._writer = _headrace.RecordWriter(
            path.decode() if isinstance(path, bytes) else str(path),
            _compression(options), -1 if level is None else level)

    def write(self, record):
        if isinstance(record, str):
            record = record.encode()
        self._writer.write(record)

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def tf_record_iterator(path, options=None):
    """The records of a file, bytes. DataLossError where it is damaged."""
    reader = _headrace.RecordReader(
        path.decode() if isinstance(path, bytes) else str(path),
        _compression(options))

    def records():
        while True:
            record = reader.next()
            if record is None:
                return
            yield record
    return records()
