"""Runs what package.py made in an empty root, which has glibc and, for the wheels, an interpreter and NumPy:

    check_package.py OUT WORK [PYTHON...]

Needs root, for chroot; GLIBC_PACKAGE may name a libc6 package to use instead of this machine's version.
"""
import glob
import os
import pathlib
import shutil
import subprocess
import sys

from relink import output

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLIENTS = ROOT / "tests/package"

# In mounts of its own: the loader asks /proc for the folder of the program ($ORIGIN).
ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def make_root(root, packages):
    """A root with glibc alone: the libc6 package, and no program at all."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("tmp", "proc"):
        (root / name).mkdir(parents=True)
    package = os.environ.get("GLIBC_PACKAGE")
    if not package:
        packages.mkdir(parents=True, exist_ok=True)
        if not list(packages.glob("libc6_*.deb")):
            run("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", "libc6", cwd=packages)
        package = next(packages.glob("libc6_*.deb"))
    run("dpkg", "-x", package, root)
    shutil.rmtree(root / "usr/share", ignore_errors=True)
    # Threads and random numbers are asked of these.
    (root / "dev").mkdir(exist_ok=True)
    run("mknod", "-m", "666", root / "dev/null", "c", "1", "3")
    run("mknod", "-m", "444", root / "dev/urandom", "c", "1", "9")


def in_root(root, *command, **env):
    return run("/usr/bin/unshare", "-m", "/bin/sh", "-c", ENTER, root, *command,
               env={"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": "/tmp", **env})


def expect_42(what, text):
    if text.split() != ["42"]:
        sys.exit(f"{what} printed {text!r}, wanted 42")
    print(f"{what}: works", flush=True)


def check_tarball(tarball, root, work):
    run("tar", "xzf", tarball, "-C", root, "--strip-components=1", "--one-top-level=headrace")
    unpacked = root / "headrace"
    shutil.rmtree(work, ignore_errors=True)
    run("cmake", "-G", "Ninja", "-S", CLIENTS, "-B", work / "cmake", f"-DCMAKE_PREFIX_PATH={unpacked}",
        "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN/lib", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON")
    run("cmake", "--build", work / "cmake")
    for name in ("client_c", "client_cc", "client_dlopen"):
        shutil.copy(work / "cmake" / name, unpacked)
    expect_42("C, by find_package(Headrace)", in_root(root, "/headrace/client_c"))
    expect_42("C++, by find_package(Headrace)", in_root(root, "/headrace/client_cc"))
    expect_42("dlopen", in_root(root, "/headrace/client_dlopen", "/headrace/lib/libtensorflow.so.2"))
    env = dict(os.environ, PKG_CONFIG_PATH=str(unpacked / "lib/pkgconfig"))
    for compiler, source, package in (("cc", "client.c", "tensorflow"), ("c++", "client.cc", "headrace")):
        flags = run("pkg-config", "--cflags", "--libs", package, env=env).split()
        run(compiler, CLIENTS / source, "-o", unpacked / "client", *flags, "-Wl,-rpath,$ORIGIN/lib", "-static-libgcc",
            *(["-static-libstdc++"] if compiler == "c++" else []))
        expect_42(f"{source} by pkg-config", in_root(root, "/headrace/client"))
    ops = in_root(root, "/headrace/bin/headrace", "ops").splitlines()
    if len(ops) < 1000:
        sys.exit(f"bin/headrace knows {len(ops)} ops")
    print(f"bin/headrace: works, {len(ops)} ops", flush=True)


def copy_linked(root, ldd_output):
    """Copies the libraries that ldd found to where they lie."""
    for line in ldd_output.splitlines():
        words = line.split()
        if "=>" in words and words[2].startswith("/"):
            target = root / words[2].lstrip("/")
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(words[2], target)


def copy_cxx_runtime(root):
    for name in ("libstdc++.so.6", "libgcc_s.so.1"):
        shutil.copy(output("gcc", f"-print-file-name={name}").strip(), root / "lib/x86_64-linux-gnu" / name)


def install_interpreter(root, python):
    """The interpreter of `python`, with what its own modules are linked with. Returns its path inside the root."""
    prefix, executable, version = output(str(python), "-c", "import os, sys; print(sys.base_prefix, os.path.realpath("
                                         "sys.executable), 'python%d.%d' % sys.version_info[:2])").split()
    library = pathlib.Path(prefix, "lib", version)
    shutil.copytree(library, root / "python/lib" / version, symlinks=True,
                    ignore=shutil.ignore_patterns("test", "tests", "site-packages", "dist-packages", "__pycache__", "config-*", "idlelib"))
    (root / "python/bin").mkdir(parents=True)
    shutil.copy(executable, root / "python/bin/python")
    for path in [executable, *glob.glob(f"{library}/lib-dynload/*.so")]:
        copy_linked(root, output("ldd", path))
    return "/python/bin/python"


def check_wheel(wheel, root, python):
    inside = install_interpreter(root, python)
    site = root / "site"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:", "--target", site, wheel,
        "pillow")
    copy_cxx_runtime(root)  # NumPy's
    shutil.copy(CLIENTS / "client.py", root)
    paths = {"PYTHONHOME": "/python", "PYTHONPATH": "/site"}
    expect_42(wheel.name, in_root(root, inside, "/client.py", **paths))
    run_example(root, inside, paths)


def run_example(root, inside, paths):
    """examples/conv2d.py, which reads a photo with Pillow."""
    example = root / "examples"
    (example / "photos").mkdir(parents=True)
    shutil.copy(ROOT / "examples/conv2d.py", example)
    shutil.copy(ROOT / "examples/photos/cat.png", example / "photos")
    text = in_root(root, inside, "/examples/conv2d.py", **paths)
    if "float32" not in text or "Conv2DOp" not in text:
        sys.exit(f"examples/conv2d.py printed {text!r}, wanted the node of Conv2D")
    print("examples/conv2d.py: works", flush=True)


def main():
    out, work = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    root = work / "root"
    make_root(root, work / "packages")
    check_tarball(next(out.glob("headrace-*[0-9]-linux-x86_64.tar.gz")), root, work / "clients")
    for python in sys.argv[3:]:
        tag = "cp" + output(python, "-c", "import sys; print('%d%d' % sys.version_info[:2])").strip()
        make_root(root, work / "packages")
        check_wheel(next(out.glob(f"headrace-*-{tag}-*.whl")), root, python)
    shutil.rmtree(root)


if __name__ == "__main__":
    main()
