"""Files that are there as a whole or not at all, also after a crash."""
import functools
import os
import zlib


@functools.lru_cache(maxsize=None)
def _process_space():
    """Names where the numbers of processes mean the same as here."""
    try:
        pids = os.readlink("/proc/self/ns/pid")
    except OSError:
        pids = ""
    return "%x" % zlib.crc32(("%s/%s" % (os.uname().nodename, pids)).encode())


def _has_ended(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _delete_temporaries_of_the_dead(path):
    """Deletes what killed processes of this machine left of writing `path`."""
    folder, name = os.path.split(path)
    for other in os.listdir(folder or "."):
        pid, _, space = other[len(name):].partition("-")
        if (other.startswith(name) and pid.startswith(".tmp")
                and pid[4:].isdecimal() and space == _process_space()
                and _has_ended(int(pid[4:]))):
            try:
                os.remove(os.path.join(folder, other))
            except OSError:  # another process was faster
                pass


def write_atomically(path, data):
    """Writes `data`, bytes, to `path`: beside it first, synced, then renamed.
    A reader sees the old contents or the new ones."""
    path = os.path.realpath(path)  # a link stays one
    temporary = "%s.tmp%d-%s" % (path, os.getpid(), _process_space())
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
    _delete_temporaries_of_the_dead(path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
