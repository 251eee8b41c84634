"""Links a libtensorflow.so.2 that knows a few ops and needs nothing beside glibc:

    few_ops.py BUILD CACHE OUT LIST        LIST: names of ops, as 'headrace ops --needed MODEL...' prints them

An object that registers an op of the list is linked, and what it needs of others. The registration of an op is a
constant with the op's name in it, so the objects themselves say which ops they register.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import old_glibc
import package
import relink

# Objects of these are linked if they register an op of the list, or if another object needs them.
CHOSEN = ("hr_kernels_", "hr_ops_", "hr_gradients")
# Gradients, and what kernels share, register none that a run needs.
SHARED = ("hr_gradients", "hr_kernels_lib")


def choose(objects, ops):
    """(objects to link, objects to take if they are needed, ops that no object has)."""
    names = re.compile(rb"(?<![A-Za-z0-9_])(" + b"|".join(re.escape(op.encode()) for op in ops) + rb")\0")
    linked, spare, found = [], [], set()
    for path in objects:
        room = next((part for part in path.parts if part.startswith(CHOSEN)), None)
        if room is None:
            linked.append(path)
            continue
        has = set() if room.startswith(SHARED) else {name.decode() for name in names.findall(path.read_bytes())}
        (linked if has else spare).append(path)
        found |= has
    return linked, spare, sorted(set(ops) - found)


def main():
    build, cache, out = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
    ops = pathlib.Path(sys.argv[4]).read_text().split()
    name = f"headrace-{package.version()}-few-ops-linux-x86_64"
    tree = out / name
    shutil.rmtree(tree, ignore_errors=True)
    linker = relink.Linker(build, [pathlib.Path(line) for line in (cache / "archives").read_text().split()], tree)
    words = linker.words("lib/libheadrace.so")
    linked, spare, unknown = choose(linker.objects(words), ops)
    if unknown:
        sys.exit(f"no such ops: {', '.join(unknown)}")
    archive = linker.work / "few_ops.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "qcs", str(archive), *map(str, spare)], check=True)
    script = linker.work / "few_ops.map"
    script.write_text((package.ROOT / "cmake/tensorflow.map").read_text())
    options = ["-shared", "-fuse-ld=mold", "-Wl,-Bsymbolic", "-Wl,-soname,libtensorflow.so.2", f"-Wl,--version-script={script}",
               "-Wl,-rpath,$ORIGIN", *(word for word in words if word.startswith("-Wl,--wrap=") or word.endswith(".a"))]
    objects = [*linked, *linker.objects(linker.words("lib/libtensorflow.so.2")), archive]
    made = tree / "lib/libtensorflow.so.2"
    stand_ins = ()
    for _ in range(2):
        linker.finish(made, [*objects, *options], True, stand_ins)
        stand_ins = stand_ins or old_glibc.make([made], package.GLIBC, linker.work / "glibc-few")
    subprocess.run(["strip", "--strip-unneeded", str(made)], check=True)
    package.check(made)
    (tree / "lib/libtensorflow.so").symlink_to(made.name)
    shutil.rmtree(tree / "bin")
    shutil.copytree(package.ROOT / "include/tensorflow", tree / "include/tensorflow")
    package.fill_in(package.ROOT / "cmake/tensorflow.pc.in", tree / "lib/pkgconfig/tensorflow.pc",
                    {"HEADRACE_PREFIX_FROM_PC": "../..", "HEADRACE_VERSION": package.version()})
    package.install_licences(tree / "share/doc/headrace/licences", [])
    package.write_tarball(tree, out / f"{name}.tar.gz")
    print(f"{made.relative_to(out)}: {made.stat().st_size / 1e6:.1f} MB with {len(ops)} ops")


if __name__ == "__main__":
    main()
