"""Makes libraries that stand for an old glibc when something is linked: the same symbols, in versions that it has.

A program that is linked on a new machine asks for the newest version of each symbol (pthread_create@GLIBC_2.34), which
older machines lack, though most old versions are still there and mean the same. What an old glibc has in no version is
in support.c.
"""
import collections
import re
import subprocess

from relink import output

LIBRARIES = {name: f"/lib/x86_64-linux-gnu/{name}" for name in ("libc.so.6", "libm.so.6")}
LOADER = "ld-linux-x86-64.so.2"


def number(version):
    return tuple(map(int, version.split(".")))


def symbols(path, *what):
    """(name, version, type, size, defined) of the dynamic symbols of `path`."""
    for line in output("readelf", "-W", "--dyn-syms", path).splitlines():
        found = re.match(r"\s*\d+: [0-9a-f]+\s+(\S+)\s+(<OS specific>: \d+|\S+)\s+\S+\s+\S+\s+(\S+) ([^@\s]+)@@?GLIBC_([0-9.]+)", line)
        if found:
            size, kind, section, name, version = found.groups()
            yield name, version, kind, int(size, 0), section != "UND"


def available():
    """What this machine's glibc has: {name: [(version, library, type, size)]}."""
    found = collections.defaultdict(list)
    for library, path in {**LIBRARIES, LOADER: f"/lib64/{LOADER}"}.items():
        for name, version, kind, size, defined in symbols(path):
            if defined:
                found[name].append((version, library, kind, size))
    return found


def make(linked, newest, folder):
    """Makes stand-ins under `folder` for what the files `linked` need; returns their paths.

    Raises LookupError with the names that no glibc up to `newest` has.
    """
    has = available()
    wanted = collections.defaultdict(dict)
    missing = set()
    for path in linked:
        for name, _, _, _, defined in symbols(str(path)):
            if defined:
                continue
            old = [entry for entry in has[name] if number(entry[0]) <= number(newest)]
            if not old:
                missing.add(name)
                continue
            version, library, kind, size = max(old, key=lambda entry: number(entry[0]))
            # libc.so.6 took these libraries in, from glibc 2.32 to 2.34, and gave their functions new versions.
            if any(number(entry[0]) > number(newest) for entry in has[name]):
                if name.startswith("dl"):
                    library = "libdl.so.2"
                elif re.match("(__)?(pthread|sem)_", name):
                    library = "libpthread.so.0"
            wanted[library][name] = version, kind, size
    if missing:
        raise LookupError(f"glibc {newest} has no {', '.join(sorted(missing))}")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for library, names in sorted(wanted.items()):
        code, nodes = [], collections.defaultdict(list)
        for name, (version, kind, size) in sorted(names.items()):
            nodes[version].append(name)
            data = kind == "OBJECT"
            code += [".bss" if data else ".text", ".balign 32", f".globl {name}", f".type {name}, {'@object' if data else '@function'}",
                     f".size {name}, {size if data else 1}", f"{name}: .zero {max(size, 1) if data else 1}"]
        source, script = folder / f"{library}.s", folder / f"{library}.map"
        source.write_text("\n".join(code) + "\n")
        script.write_text("".join(f"GLIBC_{version} {{ {'; '.join(names)}; }};\n" for version, names in sorted(nodes.items())))
        subprocess.run(["cc", "-nostdlib", "-shared", f"-Wl,-soname,{library}", f"-Wl,--version-script={script}",
                        str(source), "-o", str(folder / library)], check=True)
        made.append(folder / library)
    return made
