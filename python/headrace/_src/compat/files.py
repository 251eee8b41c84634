"""tensorflow.python.lib.io.file_io: whole files at once."""
import os
import uuid
import zlib

from headrace._src.platform import file_io


def read_file_to_string(filename, binary_mode=False):
    """What the file has: text, or bytes in binary mode."""
    with file_io.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, file_content):
    """Makes or replaces the file."""
    with file_io.GFile(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes another file and renames it, so that none is half written."""
    other = "%s.tmp%s" % (filename, uuid.uuid4().hex)
    write_string_to_file(other, contents)
    try:
        file_io.Rename(other, filename, overwrite)
    except Exception:
        os.unlink(other)
        raise


def filecmp(filename_a, filename_b):
    """Whether two files have the same bytes."""
    return (read_file_to_string(filename_a, True)
            == read_file_to_string(filename_b, True))


def file_crc32(filename, block_size=1 << 24):
    """The CRC-32 of a file, which is read in parts of block_size bytes, as a
    hexadecimal number: "0x352441c2"."""
    crc = 0
    with file_io.GFile(filename, "rb") as f:
        while True:
            part = f.read(block_size)
            if not part:
                return hex(crc)
            crc = zlib.crc32(part, crc)
