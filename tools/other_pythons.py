#!/usr/bin/env python3
"""Tries the package on other versions of Python.

    tools/other_pythons.py PYTHON... -- PYTEST_ARGUMENTS

Each PYTHON has NumPy, nanobind and pytest. Only the extension is compiled for it,
with the flags that ./run build gave it; the libraries are those of build/lib. The
package lies in build/pythons/VERSION/headrace.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
QUESTION = """
import json, sysconfig, numpy, nanobind
print(json.dumps([sysconfig.get_python_version(), sysconfig.get_config_var("EXT_SUFFIX"),
                  sysconfig.get_paths()["include"], numpy.get_include(),
                  nanobind.include_dir(), nanobind.source_dir()]))
"""
RULES = """
rule pch
 command = g++ {flags} -x c++-header $in -o $out -MD -MF $out.d
 depfile = $out.d
rule ext
 command = g++ {flags} -include pch.hxx -c $in -o $out -MD -MF $out.d
 depfile = $out.d
rule nanobind
 command = g++ {nanobind} -c $in -o $out
rule link
 command = g++ -shared -Wl,-s,--gc-sections -Wl,-rpath,'$$ORIGIN' -o $out $in {libraries}
"""


def flags_of_extension():
    """Its flags and sources, without what belongs to the build's Python."""
    commands = [c for c in json.loads((BUILD / "compile_commands.json").read_text())
                if "/python/ext/" in c["file"]]
    arguments = iter(shlex.split(commands[0]["command"])[1:])
    flags = []
    for argument in arguments:
        if argument in ("-o", "-c", "-include", "-isystem"):
            value = next(arguments)
            if argument == "-isystem" and not ("python3" in value or "numpy" in value):
                flags += [argument, value]
        elif "nanobind" not in argument:
            flags.append(argument)
    return flags, [c["file"] for c in commands]


def write_ninja(folder, include, numpy, nanobind, sources):
    flags, files = flags_of_extension()
    robin_map = pathlib.Path(sources).parent / "ext/robin_map/include"
    python = ["-isystem", include, "-isystem", numpy, "-isystem", nanobind]
    of_nanobind = ["-DNB_BUILD", "-DNB_COMPACT_ASSERTIONS", "-DNDEBUG", "-Os", "-fPIC",
                   "-fvisibility=hidden", "-ffunction-sections", "-fno-strict-aliasing",
                   "-std=c++20", *python, "-isystem", str(robin_map)]
    text = RULES.format(flags=shlex.join(flags + python), nanobind=shlex.join(of_nanobind),
                        libraries=libraries())
    objects = ["nanobind.o"]
    text += "build nanobind.o: nanobind %s/nb_combined.cpp\n" % sources
    text += "build pch.hxx.gch: pch pch.hxx\n"
    for file in files:
        objects.append(pathlib.Path(file).stem + ".o")
        text += "build %s: ext %s | pch.hxx.gch\n" % (objects[-1], file)
    text += "build _headrace.so: link %s\n" % " ".join(objects)
    (folder / "build.ninja").write_text(text)
    shutil.copy2(BUILD / "CMakeFiles/_headrace.dir/cmake_pch.hxx", folder / "pch.hxx")


def libraries():
    """What the build links the extension with."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "_headrace"],
                              check=True, capture_output=True, text=True).stdout
    found = [a for a in commands.splitlines()[-1].split()
             if ".so" in a and "_headrace." not in a]
    return shlex.join(a if a.startswith("/") else str(BUILD / a) for a in found)


def build(python):
    """Makes the package for `python` and returns its folder."""
    version, suffix, *paths = json.loads(subprocess.run(
        [python, "-c", QUESTION], check=True, capture_output=True, text=True).stdout)
    folder = BUILD / "pythons" / version
    package = folder / "headrace"
    folder.mkdir(parents=True, exist_ok=True)
    write_ninja(folder, *paths)
    subprocess.run(["ninja", "--quiet", "-C", folder], check=True)
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python/headrace", package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(folder / "_headrace.so", package / ("_headrace" + suffix))
    for library in BUILD.glob("lib/lib*.so*"):
        (package / library.name).symlink_to(library)
    return folder


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    pythons, tests = sys.argv[1:at], sys.argv[at + 1:]
    if not pythons:
        sys.exit(__doc__)
    failed = False
    for python in pythons:
        folder = build(python)
        print("== %s: %s" % (python, folder.name), flush=True)
        environment = dict(os.environ, PYTHONPATH=str(folder))
        if tests and subprocess.run([python, "-m", "pytest", "-q", *tests], cwd=ROOT,
                                    env=environment).returncode:
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
