"""Says what takes the space in libheadrace.so, by room, as a Markdown table.

    library_size.py [BUILD]        BUILD: a release build, default build

Counts the code and constants that the objects of a room define. A function that several objects define inline is
counted once, where it comes first. Unwinding tables, relocations and names of symbols are counted for the library.
"""
import collections
import pathlib
import re
import subprocess
import sys


def output(*command, cwd=None):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=cwd).stdout


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    link = output("ninja", "-C", str(build), "-t", "commands", "headrace").strip().splitlines()[-1]
    seen, sizes = set(), collections.Counter()
    for name in re.findall(r"\S+\.o\b", link):
        room = re.search(r"hr_([a-z_]+)\.dir", name)
        room = re.sub("_(fast|small)$", "", room.group(1)) if room else "other"
        for line in output("nm", "-S", "--defined-only", name, cwd=build).splitlines():
            words = line.split()
            if len(words) != 4 or words[2] in "bB" or words[3] in seen:
                continue
            if words[2] in "WVu":
                seen.add(words[3])
            sizes[room] += int(words[1], 16)
    library = build / "lib" / "libheadrace.so"
    sections = dict(re.findall(r"^(\.\S+)\s+(\d+)", output("size", "-A", str(library)), re.M))
    for title, names in (("unwinding tables", (".eh_frame", ".eh_frame_hdr", ".gcc_except_table")),
                         ("relocations", (".rela.dyn", ".rela.plt", ".relr.dyn")), ("names of symbols", (".dynsym", ".dynstr", ".gnu.hash"))):
        sizes[title] = sum(int(sections.get(name, 0)) for name in names)
    print("| | MB |\n|---|---|")
    small = 0
    for room, size in sizes.most_common():
        if size < 100_000:
            small += size
        else:
            print(f"| {room.replace('kernels_', 'kernels/').replace('ops_', 'ops/')} | {size / 1e6:.2f} |")
    print(f"| all others | {small / 1e6:.2f} |")


if __name__ == "__main__":
    main()
