"""tf.gfile and tf.io.gfile: files and folders of this machine, with the errors
of tf.errors."""
import collections
import contextlib
import errno
import io
import os
import shutil
import stat as _stat

from headrace._headrace import glob as _glob
from headrace._src.framework import errors
from headrace._src.framework.text_compat import as_bytes, as_str_any

_CODES = {
    errno.ENOENT: errors.NOT_FOUND, errno.ESRCH: errors.NOT_FOUND,
    errno.ENOTDIR: errors.FAILED_PRECONDITION,
    errno.EISDIR: errors.FAILED_PRECONDITION,
    errno.ENOTEMPTY: errors.FAILED_PRECONDITION,
    errno.EEXIST: errors.ALREADY_EXISTS,
    errno.EACCES: errors.PERMISSION_DENIED,
    errno.EPERM: errors.PERMISSION_DENIED,
    errno.EROFS: errors.PERMISSION_DENIED,
    errno.EINVAL: errors.INVALID_ARGUMENT,
    errno.ENOSPC: errors.RESOURCE_EXHAUSTED,
    errno.EMFILE: errors.RESOURCE_EXHAUSTED,
    errno.EDQUOT: errors.RESOURCE_EXHAUSTED,
}

FileStatistics = collections.namedtuple(
    "FileStatistics", ["length", "mtime_nsec", "is_directory"])


def _path(name):
    """A path as text. UnimplementedError for one of a file system that is not
    this machine's."""
    name = as_str_any(os.fspath(name))
    scheme, found, rest = name.partition("://")
    if not found:
        return name
    if scheme == "file":
        return rest
    raise errors.UnimplementedError(
        None, None, "File system scheme '%s' not implemented (file: '%s')"
        % (scheme, name))


@contextlib.contextmanager
def _tf_errors(path):
    """Turns OSError into the class of tf.errors."""
    try:
        yield
    except OSError as error:
        cls = errors.exception_type_from_error_code(
            _CODES.get(error.errno, errors.UNKNOWN))
        raise cls(None, None, "%s; %s" % (path, error.strerror or error)
                  ) from None


class GFile:
    """A file: `with GFile(name, "w") as f: f.write("text")`.

    Modes are r, w and a, with b for bytes and + for both ways; without b, text
    is UTF-8. It is opened at its first use, so a missing one is found then:
    NotFoundError.

    read() gives a str, or bytes with "b"; there are no shapes and dtypes here.
    Other errors are PermissionDeniedError, FailedPreconditionError for a
    folder, and InvalidArgumentError for a mode that is none."""

    def __init__(self, name, mode="r"):
        kind = mode.replace("b", "")
        if kind not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or "
                "'a+'")
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        self._reads = kind == "r" or "+" in kind
        self._writes = kind != "r"
        self._file = None
        self._end = kind == "a"

    name = property(lambda self: self._name)
    mode = property(lambda self: self._mode)

    def _open(self, to_write):
        if to_write and not self._writes:
            raise errors.PermissionDeniedError(
                None, None, "File isn't open for writing")
        if not to_write and not self._reads:
            raise errors.PermissionDeniedError(
                None, None, "File isn't open for reading")
        return self._opened()

    def _opened(self):
        if self._file is None:
            path = _path(self._name)
            with _tf_errors(path):
                self._file = io.open(path, self._mode.replace("b", "") + "b")
        return self._file

    def _out(self, data):
        return data if self._binary else data.decode("utf-8")

    def size(self):
        """The file's length in bytes."""
        if self._file is not None and self._writes:
            self.flush()
        return stat(self._name).length

    def write(self, file_content):
        """Appends text (or bytes)."""
        f = self._open(to_write=True)
        with _tf_errors(self._name):
            f.write(as_bytes(file_content))

    def read(self, n=-1):
        """`n` bytes, or the rest of the file: text unless the mode has b."""
        return self._out(self._open(to_write=False).read(n))

    def readline(self):
        """The next line with its end; "" at the end of the file."""
        return self._out(self._open(to_write=False).readline())

    def readlines(self):
        """The rest of the lines."""
        return [self._out(line) for line in self._open(to_write=False)]

    def seek(self, offset=None, whence=0, position=None):
        """Goes to a place in bytes: from the start (whence 0), from here (1) or
        from the end (2). OutOfRangeError beyond the file."""
        f = self._open(to_write=False)
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        offset = position if offset is None else offset
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, "Invalid whence argument: %s. Valid values are 0, 1, "
                "or 2." % whence)
        start = (0, f.tell(), self.size())[whence]
        if start + offset < 0:
            raise errors.InvalidArgumentError(
                None, None, "%s: seeking to a negative place: %d"
                % (self._name, start + offset))
        if start + offset > max(self.size(), f.tell()):
            raise errors.OutOfRangeError(
                None, None, "%s: place %d is not in the file of %d bytes"
                % (self._name, start + offset, self.size()))
        f.seek(start + offset)

    def tell(self):
        """The place in the file, in bytes."""
        if self._file is None and not self._reads and not self._end:
            return 0
        return self._opened().tell()

    def seekable(self):
        return True

    def flush(self):
        """Hands what was written to the system."""
        if self._file is not None:
            with _tf_errors(self._name):
                self._file.flush()

    def close(self):
        """Closes the file; a later use opens it again."""
        if self._file is None and self._writes and self._mode[0] == "w":
            self._opened()  # an empty file
        if self._file is not None:
            with _tf_errors(self._name):
                self._file.close()
            self._file = None
            # It is not emptied a second time.
            self._mode = self._mode.replace("w", "a")

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class FastGFile(GFile):
    """As GFile, under an older name: a file with str, or bytes with "b" in the
    mode. There are no shapes and dtypes here. NotFoundError for a file that is
    missing, InvalidArgumentError for a mode that is none."""


def exists(path):
    """True if there is a file or a folder."""
    return os.path.lexists(_path(path)) and os.path.exists(_path(path))


def remove(path):
    """Deletes a file. NotFoundError if there is none."""
    path = _path(path)
    with _tf_errors(path):
        os.unlink(path)


def glob(pattern):
    """The paths that match a pattern, or one of a list of patterns: those of
    each in their order. In a pattern, * and ? match a leading dot too; paths
    begin with "./" if the pattern has no folder. NotFoundError if the folder
    in front of the first wildcard is missing."""
    if isinstance(pattern, (str, bytes, os.PathLike)):
        pattern = [pattern]
    return [os.fsdecode(p) for one in pattern
            for p in _glob(os.fsencode(_path(one)))]


def mkdir(path):
    """Makes a folder in one that is there."""
    path = _path(path)
    with _tf_errors(path):
        os.mkdir(path)


def makedirs(path):
    """Makes a folder and those around it; none is no error."""
    path = _path(path)
    with _tf_errors(path):
        os.makedirs(path, exist_ok=True)


def copy(src, dst, overwrite=False):
    """Copies a file. AlreadyExistsError if `dst` is there, unless
    `overwrite`."""
    src, dst = _path(src), _path(dst)
    if not overwrite and os.path.exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with _tf_errors(dst if os.path.exists(src) else src):
        shutil.copyfile(src, dst)


def rename(src, dst, overwrite=False):
    """Renames a file or folder. AlreadyExistsError if `dst` is there, unless
    `overwrite`."""
    src, dst = _path(src), _path(dst)
    if not overwrite and os.path.exists(dst):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with _tf_errors(src):
        os.replace(src, dst)


def rmtree(path):
    """Deletes a folder with all that is in it. NotFoundError if there is
    none."""
    path = _path(path)
    with _tf_errors(path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def isdir(path):
    """True if there is a folder."""
    return os.path.isdir(_path(path))


def listdir(path):
    """The names in a folder, in no order. NotFoundError if it is none."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, "Could not find directory %s"
                                   % as_str_any(path))
    with _tf_errors(path):
        return os.listdir(_path(path))


def stat(path):
    """length, mtime_nsec and is_directory of a file."""
    path = _path(path)
    with _tf_errors(path):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns,
                          _stat.S_ISDIR(found.st_mode))


def walk(top, topdown=True, onerror=None):
    """Yields (folder, names of its folders, names of its files) for a folder and
    all below it."""
    top = _path(top)
    try:
        listing = sorted(listdir(top))
    except errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    folders = [n for n in listing if isdir(os.path.join(top, n))]
    here = top, folders, [n for n in listing if n not in folders]
    if topdown:
        yield here
    for name in folders:
        yield from walk(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here


# tf.gfile: the same under other names.

def Exists(filename):
    """Whether there is a file or folder of this name, a bool.

    `filename`: a string or bytes; there are no shapes and dtypes here. Errors
    other than that there is none, such as PermissionDeniedError, are raised."""
    return exists(filename)


def Remove(filename):
    """Deletes a file. Returns None; there are no shapes and dtypes here.
    NotFoundError if there is none, FailedPreconditionError or
    PermissionDeniedError for a folder and where it may not."""
    remove(filename)


def Glob(filename):
    """The list of the paths that fit a pattern, or any of several: strings,
    sorted.

    `filename`: a string or bytes, or a list; * stands for any name's part.
    There are no shapes and dtypes here. An empty list if nothing fits; OpErrors
    such as PermissionDeniedError are raised."""
    return glob(filename)


def MkDir(dirname):
    """As tf.io.gfile.mkdir."""
    mkdir(dirname)


def MakeDirs(dirname):
    """Makes a folder and those above it that are missing; one that exists is
    fine. Returns None; there are no shapes and dtypes here.
    FailedPreconditionError or AlreadyExistsError where a file stands in the
    way, PermissionDeniedError where it may not."""
    makedirs(dirname)


def Copy(oldpath, newpath, overwrite=False):
    """As tf.io.gfile.copy."""
    copy(oldpath, newpath, overwrite)


def Rename(oldname, newname, overwrite=False):
    """As tf.io.gfile.rename."""
    rename(oldname, newname, overwrite)


def DeleteRecursively(dirname):
    """Deletes a folder and all in it. Returns None; there are no shapes and
    dtypes here. NotFoundError if there is none, PermissionDeniedError where it
    may not."""
    rmtree(dirname)


def IsDirectory(dirname):
    """As tf.io.gfile.isdir."""
    return isdir(dirname)


def ListDirectory(dirname):
    """As tf.io.gfile.listdir."""
    return listdir(dirname)


def Stat(filename):
    """As tf.io.gfile.stat."""
    return stat(filename)


def Walk(top, in_order=True):
    """As tf.io.gfile.walk; `in_order` False: the folders below come first."""
    return walk(top, in_order)
