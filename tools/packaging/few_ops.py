"""Links a libtensorflow.so.2 that knows a few ops and needs nothing beside glibc:

    few_ops.py BUILD FEW CACHE OUT LIST        LIST: names of ops, as 'headrace ops --needed MODEL...' prints them

BUILD is a release build, FEW is configured with HEADRACE_OPS=LIST. An object that registers an op of the list is linked, and
what it needs of others. The registration of an op is a constant with the op's name in it, so the objects of BUILD say which
ops they register, and a link of them says which objects are needed. FEW compiles the sources of these, each alone: so less is linked than with several together.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

import old_glibc
import package
import relink

# Objects of these are linked if they register an op of the list, or if another object needs them.
CHOSEN = ("hr_kernels_", "hr_ops_", "hr_gradients", "hr_proto")
# Gradients, messages, and what kernels share, register none that a run needs.
SHARED = ("hr_gradients", "hr_proto", "hr_kernels_lib")
LIBRARIES = ("lib/libheadrace.so", "lib/libtensorflow.so.2")


def room_of(path):
    return next((part for part in path.parts if part.startswith(CHOSEN)), None)


def choose(objects, ops):
    """(objects to link, objects to take if they are needed, ops that no object has)."""
    names = re.compile(rb"(?<![A-Za-z0-9_])(" + b"|".join(re.escape(op.encode()) for op in ops) + rb")\0")
    linked, spare, found = [], [], set()
    for path in objects:
        room = room_of(path)
        if room is None:
            linked.append(path)
            continue
        has = set() if room.startswith(SHARED) else {name.decode() for name in names.findall(path.read_bytes())}
        (linked if has else spare).append(path)
        found |= has
    return linked, spare, sorted(set(ops) - found)


def needed(linker, linked, spare, options, made):
    """The objects that a link takes, as the linker's map names them."""
    text = linker.work / "few_needed.txt"
    link(linker, linked, spare, [*options, f"-Wl,-Map={text}"], made, ())
    contributions = set(re.findall(r" (\S+\.o):\(\.", text.read_text()))
    assert any("hr_framework" in name for name in contributions), f"{text} names no objects"
    return [path for path in [*linked, *spare] if str(path) in contributions]


def link(linker, linked, spare, options, made, stand_ins):
    objects = [*linked, "-Wl,--start-lib", *spare, "-Wl,--end-lib"]
    return linker.finish(made, [*objects, *options], True, stand_ins)


def sources_alone(build, name):
    """The objects that FEW has of the sources of `name`, an object of `build`."""
    if "Unity" not in name.parts:
        return [name]
    target = name.parent.parent  # .../CMakeFiles/hr_<layer>.dir
    folder = package.ROOT / target.parent.parent
    sources = re.findall('#include "(.+)"', (build / name).with_suffix("").read_text())
    return [target / f"{pathlib.Path(source).relative_to(folder)}.o" for source in sources]


def link_options(linker, words):
    script = linker.work / "few_ops.map"
    script.write_text((package.ROOT / "cmake/tensorflow.map").read_text())
    return ["-shared", "-fuse-ld=mold", "-Wl,-Bsymbolic", "-Wl,-soname,libtensorflow.so.2", f"-Wl,--version-script={script}",
            "-Wl,-rpath,$ORIGIN", "-Wl,--icf=all",
            *(word for word in words if word.startswith("-Wl,--wrap=") or word.endswith(".a"))]


def report(text):
    """Prints what takes the space, by room and by archive, from the map of a link."""
    sizes = collections.Counter()
    for size, origin in re.findall(r"^ *0x[0-9a-f]+ +(\d+) +\d+ +(\S+):\(\.(?!bss)", text, re.M):
        room = re.search(r"hr_([a-z_]+?)(?:_fast|_small)?\.dir", origin)
        archive = re.search(r"lib([a-z+_-]+)\.a", origin)
        sizes[room.group(1) if room else archive.group(1).split("_")[0] if archive else "other"] += int(size)
    for name, size in sizes.most_common():
        if size > 20_000:
            print(f"  {name:20} {size / 1e6:.2f} MB")


def main():
    build, few, cache, out = (pathlib.Path(name).resolve() for name in sys.argv[1:5])
    ops = pathlib.Path(sys.argv[5]).read_text().split()
    name = f"headrace-{package.version()}-few-ops-linux-x86_64"
    tree = out / name
    shutil.rmtree(tree, ignore_errors=True)
    archives = [pathlib.Path(line) for line in (cache / "archives").read_text().split()]
    made = tree / "lib/libtensorflow.so.2"

    whole = relink.Linker(build, archives, tree)
    objects = [path for library in LIBRARIES for path in whole.objects(whole.words(library))]
    linked, spare, unknown = choose(objects, ops)
    if unknown:
        sys.exit(f"no such ops: {', '.join(unknown)}")
    options = link_options(whole, whole.words(LIBRARIES[0]))
    names = [path.relative_to(whole.work) for path in needed(whole, linked, spare, options, made)]
    # Of messages there are more: protobuf's own that are used.
    names = [alone for name in names if not (room_of(name) or "").startswith("hr_proto") for alone in sources_alone(build, name)]
    print(f"Compiling {len(names)} sources with {len(ops)} ops", flush=True)
    subprocess.run(["ninja", "-C", str(few), "hr_proto", *map(str, names)], check=True)
    names += sorted(path.relative_to(few) for path in few.glob("CMakeFiles/hr_proto.dir/**/*.pb.cc.o"))

    linker = relink.Linker(few, archives, tree, "few_objects")
    objects = [relink.copy_renamed(few / name, linker.work / name) for name in names]
    linked, spare, _ = choose(objects, ops)
    options = link_options(linker, linker.words(LIBRARIES[0]))
    stand_ins = ()
    text = linker.work / "few_ops.txt"
    for _ in range(2):
        link(linker, linked, spare, [*options, f"-Wl,-Map={text}"], made, stand_ins)
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
    report(text.read_text())
    print(f"{os.path.relpath(made, out)}: {made.stat().st_size / 1e6:.1f} MB with {len(ops)} ops")


if __name__ == "__main__":
    main()
