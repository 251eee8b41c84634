#!/usr/bin/env python3
"""Tries the package on other versions of Python.

    tools/other_pythons.py PYTHON... -- PYTEST_ARGUMENTS

Each PYTHON has NumPy, nanobind and pytest. Only the extension is compiled for it,
with the flags that ./run build gave it; the libraries are those of build/lib. The
package lies in build/pythons/VERSION/headrace.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "tools/packaging"))
from extension import Interpreter, compile_extension  # noqa: E402
from relink import output  # noqa: E402


def libraries():
    """What the build links the extension with."""
    link = output("ninja", "-C", str(BUILD), "-t", "commands", "_headrace").splitlines()[-1]
    found = [a for a in link.split() if ".so" in a and "_headrace." not in a]
    return [a if a.startswith("/") else str(BUILD / a) for a in found]


def build(python):
    """Makes the package for an Interpreter and returns the folder that has it."""
    folder = BUILD / "pythons" / ("%d.%d" % python.version)
    objects = compile_extension(BUILD, python, folder / "objects")
    package = folder / "headrace"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python/headrace", package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["g++", "-shared", "-Wl,-s,--gc-sections", "-Wl,-rpath,$ORIGIN",
                    "-o", package / ("_headrace" + python.suffix), *objects, *libraries()],
                   check=True)
    for library in BUILD.glob("lib/lib*.so*"):
        (package / library.name).symlink_to(library)
    return folder


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    pythons, tests = sys.argv[1:at], sys.argv[at + 1:]
    if not pythons:
        sys.exit(__doc__)
    failed = False
    for path in pythons:
        folder = build(Interpreter(path))
        print("== %s: %s" % (path, folder.name), flush=True)
        environment = dict(os.environ, PYTHONPATH=str(folder))
        if tests and subprocess.run([path, "-m", "pytest", "-q", *tests], cwd=ROOT,
                                    env=environment).returncode:
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
