"""Says in a library that mold linked with --pack-dyn-relocs=relr that it needs a glibc which knows these relocations.

    need_relr.py LIBRARY

The loader refuses a library with such relocations if it does not ask libc.so.6 for the version GLIBC_ABI_DT_RELR, and mold 1 does
not write that. So the library is linked with a stand-in (cmake/HeadraceRelr.cmake), libr.so.6, whose one function has this
version. Here the stand-in gets the name of glibc, and the function becomes weak, since glibc has the version without a function.
"""
import pathlib
import struct
import sys

FUNCTION = b"hr_relr\0"
STB_WEAK = 2


def main():
    path = pathlib.Path(sys.argv[1])
    data = bytearray(path.read_bytes())
    if FUNCTION not in data:
        return
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    symbols = next(section for section in sections if section[1] == 11)  # SHT_DYNSYM
    names = sections[symbols[6]]
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name = names[4] + struct.unpack_from("<I", data, at)[0]
        if data[name:name + len(FUNCTION)] == FUNCTION:
            data[at + 4] = STB_WEAK << 4 | data[at + 4] & 15
    for at in range(names[4], names[4] + names[5]):
        if data[at:at + 10] == b"libr.so.6\0":
            data[at:at + 10] = b"libc.so.6\0"
    path.write_bytes(data)


if __name__ == "__main__":
    main()
