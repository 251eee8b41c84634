"""Files that are there as a whole or not at all, also after a crash."""
import os


def write_atomically(path, data):
    """Writes `data`, bytes, to `path`: beside it first, synced, then renamed.
    A reader sees the old contents or the new ones."""
    path = os.fspath(path)
    temporary = "%s.tmp%d" % (path, os.getpid())
    try:
        with open(temporary, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
