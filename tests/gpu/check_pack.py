"""Runs what tools/gpu_pack.py made in an empty root without a network: glibc, libstdc++, an interpreter with NumPy
and the programs that a shell script uses. There is no GPU in it, so the host's part has to pass, and nothing may say
that the GPU's did:

    check_pack.py PACK WORK PYTHON

Needs root, for chroot.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/packaging"))
import check_package  # noqa: E402
from relink import output  # noqa: E402

PROGRAMS = ("sh", "bash", "env", "realpath", "dirname", "sed", "tr", "tail", "cat", "ls", "ldd")
NO_GPU = 3


def copy_program(root, name):
    path = pathlib.Path(shutil.which(name)).resolve()
    to = root / "usr/bin" / name
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, to)
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)  # a script has none
    check_package.copy_linked(root, done.stdout)


def main(pack, work, python):
    work = pathlib.Path(work).resolve()
    root = work / "root"
    check_package.make_root(root, work / "packages")
    interpreter = check_package.install_interpreter(root, python)
    for program in PROGRAMS:
        copy_program(root, program)
    if not (root / "bin").exists():
        (root / "bin").symlink_to("usr/bin")
    numpy = pathlib.Path(output(python, "-c", "import numpy; print(numpy.__path__[0])").strip())
    for folder in (numpy, numpy.parent / "numpy.libs"):
        if folder.exists():
            shutil.copytree(folder, root / "site" / folder.name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    check_package.copy_cxx_runtime(root)
    shutil.copytree(pack, root / "pack", symlinks=True)
    done = subprocess.run(["/usr/bin/unshare", "-m", "-n", "/bin/sh", "-c", check_package.ENTER, str(root), "/usr/bin/bash",
                           "/pack/run", interpreter],
                          env={"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": "/tmp", "PYTHONHOME": "/python", "PYTHONPATH": "/site"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    lines = done.stdout.splitlines()
    if done.returncode != NO_GPU or "There is no GPU: CUDA's part was not run" not in lines or "GPU tests passed" in lines:
        sys.exit(f"the pack ended with {done.returncode}, wanted {NO_GPU}")
    print("the pack runs in an empty root")


if __name__ == "__main__":
    main(*sys.argv[1:])
