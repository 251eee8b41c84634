"""Makes the folder that runs the tests of GPUs on a machine without a network:

    gpu_pack.py BUILD OUT PYTHON

It has the libraries of BUILD, stripped, with what they are linked with except
glibc, libstdc++ and CUDA's; the test programs; the package headrace for PYTHON;
the conformance cases, and a script `run` that calls tests/gpu/run_tests.sh. All
of it stays under 64 MiB. OUT.tar.xz is the same in a fifth of the room.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/packaging"))
import extension  # noqa: E402
from relink import output  # noqa: E402

LIMIT = 64 << 20
LIBRARIES = ("libheadrace.so", "libheadrace_gpu_host.so", "libheadrace_cuda.so", "libtensorflow.so.2")
PROGRAMS = ("gpu_test", "cuda_test", "cuda_ops_test")
FILES = ("tests/gpu/run_tests.sh", "tests/gpu/compare.py", "tests/python/gpu_networks.py", "tools/check_gpu_symbols.py",
         "tests/conformance/run_cases.py", "tests/conformance/gpu_cases.py", "tests/conformance/gpu_differs.txt",
         "tests/conformance/ops", "tests/conformance/graphs")
# Of every machine, or of CUDA and its driver.
GIVEN = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libstdc++.", "libgcc_s.", "ld-linux", "linux-vdso", "libresolv.",
         "libcud", "libcublas", "libnv")
RUN = """#!/bin/sh
# The tests of GPUs, with what is in this folder: ./run [PYTHON [gtest argument...]]
here=$(dirname "$(realpath "$0")")
python=${1:-python3}
[ $# -gt 0 ] && shift
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/tests/gpu/run_tests.sh" "$here/lib" "$here/programs" "$python" "$here" "$@"
"""


def linked_with(path):
    """{name: path} of what the loader takes for a file, but for what every machine has."""
    found = {}
    for line in output("ldd", path).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or name.startswith(GIVEN):
            continue
        if rest.startswith("not found"):
            sys.exit(f"{path} needs {name}, which is not found")
        found[name] = pathlib.Path(rest.split(" (")[0])
    return found


def copy_stripped(path, to):
    shutil.copy(path, to)
    to.chmod(0o755)
    subprocess.run(["strip", "--strip-unneeded", str(to)], check=True)


def copy_package(build, python, out):
    """The package, with an extension for `python` that finds its library in lib/."""
    package = out / "headrace"
    shutil.copytree(ROOT / "python/headrace", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    interpreter = extension.Interpreter(python)
    module = package / ("_headrace" + interpreter.suffix)
    there = build / "lib" / module.name
    if there.exists():
        shutil.copy(there, module)
    else:
        objects = extension.compile_extension(build, interpreter, build / "gpu-pack-objects" / interpreter.tag)
        subprocess.run(["c++", "-shared", "-o", str(module), *map(str, objects), str(build / "lib/libheadrace.so"),
                        *map(str, (build / "lib").glob("libhr_proto.so*")), "-Wl,-rpath,$ORIGIN/../lib"], check=True)
    subprocess.run(["strip", "--strip-unneeded", str(module)], check=True)


def main(build, out, python):
    build, out = pathlib.Path(build).resolve(), pathlib.Path(out).resolve()
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("lib", "programs"):
        (out / folder).mkdir(parents=True)
    needed = {}
    for folder, names, to in (("lib", LIBRARIES, "lib"), ("tests", PROGRAMS, "programs")):
        for name in names:
            source = build / folder / name
            copy_stripped(source, out / to / name)
            needed.update(linked_with(source))
    for name, path in needed.items():
        if not (out / "lib" / name).exists():
            copy_stripped(path, out / "lib" / name)
    copy_package(build, python, out)
    for name in FILES:
        source, to = ROOT / name, out / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, to)
        else:
            shutil.copy(source, to)
    (out / "run").write_text(RUN)
    (out / "run").chmod(0o755)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{out}: {size / (1 << 20):.1f} MiB")
    if size > LIMIT:
        sys.exit("that is more than 64 MiB")
    archive = out.with_name(out.name + ".tar.xz")
    subprocess.run(["tar", "-C", str(out.parent), "-cJf", str(archive), out.name], check=True)
    print(f"{archive}: {archive.stat().st_size / (1 << 20):.1f} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
