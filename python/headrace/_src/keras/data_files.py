"""tf.keras.utils: files from the network, kept in a folder; HDF5 data sets as
arrays."""
import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile

import numpy as np

from headrace._src.keras.hdf5_files import h5py
from headrace._src.keras.progress import Progbar


def get_file(fname, origin, untar=False, md5_hash=None, file_hash=None,
             cache_subdir="datasets", hash_algorithm="auto", extract=False,
             archive_format="auto", cache_dir=None):
    """The path of the file `fname` in a folder of files, by default
    ~/.keras/datasets; if it is not there, it is fetched from the URL `origin`,
    which may be of a local file (file://).

    file_hash: the file must have this hash, "sha256" or "md5" as
    hash_algorithm says or its length; else it is fetched again. `extract`: what
    is in it, of archive_format "tar" or "zip", is put into the folder. `untar`:
    the file is fname.tar.gz, and the result the path without that. A fname that
    begins with / is the path itself.

    Exception if the URL cannot be read: an old file then stays as it was.
    ValueError for an archive that writes outside of the folder."""
    cache_dir = os.path.expanduser(cache_dir or os.path.join("~", ".keras"))
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    if not os.access(cache_dir, os.W_OK):
        try:
            os.makedirs(cache_dir, exist_ok=True)
        except OSError:
            cache_dir = os.path.join("/tmp", ".keras")
    folder = os.path.join(cache_dir, cache_subdir)
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, fname)
    path = target + ".tar.gz" if untar else target
    if os.path.exists(path) and not _is_as_said(path, file_hash,
                                                hash_algorithm):
        print("A local file was found, but it seems to be incomplete or "
              "outdated because the %s file hash does not match the original "
              "value of %s so we will re-download the data."
              % (hash_algorithm, file_hash))
        _fetch(origin, path)
    elif not os.path.exists(path):
        _fetch(origin, path)
    if untar:
        if not os.path.exists(target):
            _extract(path, folder, "tar")
        return target
    if extract:
        _extract(path, folder, archive_format)
    return path


def _is_as_said(path, file_hash, algorithm):
    if file_hash is None:
        return True
    kind = hashlib.sha256 if algorithm == "sha256" or (
        algorithm == "auto" and len(file_hash) == 64) else hashlib.md5
    found = kind()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 16), b""):
            found.update(part)
    return found.hexdigest() == str(file_hash)


def _fetch(origin, path):
    """Writes what a URL gives. An old file stays if that fails."""
    print("Downloading data from", origin)
    bar = []

    def show(count, size, total):
        if not bar:
            bar.append(Progbar(None if total == -1 else total))
        else:
            bar[0].update(count * size)
    part = path + ".part"
    try:
        urllib.request.urlretrieve(origin, part, show)
        os.replace(part, path)
    except urllib.error.HTTPError as error:
        raise Exception("URL fetch failure on %s: %s -- %s"
                        % (origin, error.code, error.msg)) from error
    except urllib.error.URLError as error:
        raise Exception("URL fetch failure on %s: %s -- %s"
                        % (origin, error.errno, error.reason)) from error
    finally:
        if os.path.exists(part):
            os.remove(part)


def _extract(path, folder, archive_format):
    """Puts what is in an archive into a folder. False for no archive of these
    formats."""
    if archive_format is None:
        return False
    formats = ["tar", "zip"] if archive_format == "auto" else (
        [archive_format] if isinstance(archive_format, str) else archive_format)
    for kind in formats:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                # Links may not lead outside of the folder either.
                safe = {"filter": "data"} if hasattr(
                    tarfile, "data_filter") else {}
                _all_or_nothing(archive, folder, safe)
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                _all_or_nothing(archive, folder, {})
            return True
    return False


def _all_or_nothing(archive, folder, options):
    names = (archive.getnames() if hasattr(archive, "getnames")
             else archive.namelist())
    outside = [name for name in names
               if os.path.isabs(name) or ".." in name.split("/")]
    if outside:
        raise ValueError("get_file: the archive would write %s, which is "
                         "outside of %s" % (outside[0], folder))
    first = {name.split("/")[0] for name in names} - {"", ".", ".."}
    before = {name for name in first
              if os.path.exists(os.path.join(folder, name))}
    try:
        archive.extractall(folder, **options)
    except BaseException:
        for name in first - before:
            made = os.path.join(folder, name)
            if os.path.isdir(made):
                shutil.rmtree(made)
            elif os.path.exists(made):
                os.remove(made)
        raise


class HDF5Matrix:
    """A data set of an HDF5 file as an array of its shape and dtype, read when
    it is indexed: by an int, a slice, or ints. `start` and `end`: the part of
    it. `normalizer`: a function of what is read. IndexError for what is outside
    of the part; ImportError without h5py."""

    refs: dict = {}  # open files, by their paths

    def __init__(self, datapath, dataset, start=0, end=None, normalizer=None):
        package = h5py("HDF5Matrix")
        if datapath not in self.refs:
            self.refs[datapath] = package.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self):
        return self.end - self.start

    def __getitem__(self, key):
        if isinstance(key, slice):
            first = key.start or 0
            last = self.shape[0] if key.stop is None else key.stop
            most, key = last - 1, slice(first + self.start, last + self.start)
        elif isinstance(key, (int, np.integer)):
            most, key = key, key + self.start
        else:
            most, key = np.max(key), [int(x) + self.start for x in key]
        if most + self.start >= self.end:
            raise IndexError("HDF5Matrix: index %d of %d" % (most, len(self)))
        values = self.data[key]
        return values if self.normalizer is None else self.normalizer(values)

    @property
    def shape(self):
        """The shape of the part."""
        return (self.end - self.start,) + self.data.shape[1:]

    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: int(np.prod(self.shape)))
