"""tensorflow.python.pywrap_tensorflow: the reader of files that are still being
written, with which TensorBoard reads event files."""
from headrace import _headrace
from headrace._src.framework import errors
from headrace._src.platform import file_io

_AROUND = 16  # bytes of a record beside its data: length and two checksums


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class PyRecordReader:
    """The records of a file from a place on. After OutOfRangeError and
    DataLossError GetNext reads on at the same place."""

    def __init__(self, path, offset, compression):
        self._path, self._compression = path, compression
        self._offset = offset  # as if nothing was compressed
        self._record = b""
        self._at = 0  # where the open reader is
        self._reader = None
        self._ended = None  # the file's size and the error at its end
        self._is_closed = False
        self._open()

    def _open(self):
        self._size = file_io.stat(self._path).length
        self._reader = _headrace.RecordReader(self._path, self._compression)
        self._at = 0

    def _next(self):
        record = self._reader.next()
        if record is None:
            raise errors.OutOfRangeError(None, None, "eof")
        self._at += len(record) + _AROUND
        return record

    def GetNext(self):
        """Reads the next record. OutOfRangeError where the file ends for now,
        DataLossError for half a record."""
        if self._is_closed:
            raise errors.FailedPreconditionError(None, None,
                                                 "Reader is closed.")
        if self._ended is not None:
            size, error = self._ended
            if file_io.stat(self._path).length == size:
                raise type(error)(None, None, error.message)
            self._ended = None
        try:
            if self._reader is None:
                self._open()
            while self._at < self._offset:
                self._next()  # what was read before
            record = self._next()
        except (errors.OutOfRangeError, errors.DataLossError) as error:
            self._reader = None
            self._ended = self._size, error
            raise
        self._record, self._offset = record, self._at

    def record(self):
        """The bytes that GetNext read."""
        return self._record

    def offset(self):
        """Where the next record begins."""
        return self._offset

    def Close(self):
        self._reader, self._is_closed = None, True


def PyRecordReader_New(filename, start_offset, compression_type_string, status):
    """A PyRecordReader. NotFoundError for a file that is not there."""
    return PyRecordReader(_text(filename), start_offset,
                          _text(compression_type_string))
