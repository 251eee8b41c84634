"""tensorflow.python.pywrap_tensorflow.EventsWriter, and the EventFileWriter of
summary.writer.event_file_writer: event files without what FileWriter knows."""
import os

from headrace._src.framework import messages
from headrace._src.summary.event_files import EventFile


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class EventsWriter:
    """Writes Events to a file PREFIX.out.tfevents.SECONDS.HOST, which is made
    when it is first needed."""

    def __init__(self, file_prefix):
        self._folder, self._prefix = os.path.split(_text(file_prefix))
        self._suffix = ""
        self._file = None

    def InitWithSuffix(self, suffix):
        """Makes the file, whose name ends in `suffix`."""
        self._suffix = _text(suffix)
        self._opened()

    def _opened(self):
        if self._file is None:
            self._file = EventFile(self._folder or ".", 1 << 30, float("inf"),
                                   self._suffix, self._prefix)
        return self._file

    def FileName(self):
        """The path of the file, as bytes."""
        return self._opened().path.encode()

    def WriteEvent(self, event):
        """Adds an Event message. TypeError for anything else."""
        if not isinstance(event, messages.Event):
            raise TypeError("Expected an event_pb2.Event proto, but got %s"
                            % type(event))
        self._WriteSerializedEvent(event.SerializeToString())

    def _WriteSerializedEvent(self, event_str):
        self._opened().add(event_str)

    def Flush(self):
        """Hands what was added to the system."""
        self._opened().flush()
        return True

    def Close(self):
        """Closes the file. A later event goes to a new one."""
        if self._file is not None:
            self._file.close()
            self._file = None
        return True


class EventFileWriter:
    """Writes Events to a file in the folder `logdir`: at the latest after
    `max_queue` of them or `flush_secs` seconds they are handed to the system.
    The file's name ends in `filename_suffix`."""

    def __init__(self, logdir, max_queue=10, flush_secs=120,
                 filename_suffix=None):
        self._logdir = str(logdir)
        self._file = EventFile(self._logdir, max_queue, flush_secs,
                               filename_suffix or "")
        self._closed = False

    def get_logdir(self):
        return self._logdir

    def reopen(self):
        """Makes a closed writer write again, to a new file."""
        self._closed = False

    def add_event(self, event):
        """Adds an Event message, unless the writer is closed."""
        if not self._closed:
            self._file.add(event.SerializeToString())

    def flush(self):
        self._file.flush()

    def close(self):
        """Writes what is left and closes the file."""
        self._closed = True
        self._file.close()
