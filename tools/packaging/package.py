"""Makes what is handed to others, from a release build:

    package.py BUILD CACHE OUT [PYTHON...]

OUT/headrace-VERSION-linux-x86_64.tar.gz has the libraries, headers and the program; OUT/*.whl the package for each
PYTHON, an interpreter with NumPy and nanobind. Both need nothing but glibc 2.28. CACHE is what dependencies.sh made.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import extension
import old_glibc
import relink

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GLIBC = "2.28"
PLATFORM = "manylinux_2_28_x86_64"

# Debian's packages of which a part is linked in: libraries, and headers that leave code behind.
BUNDLED = ("libabsl-dev", "libprotobuf-dev", "libpng-dev", "zlib1g-dev", "libjpeg62-turbo-dev", "libgif-dev", "libsnappy-dev",
           "libre2-dev", "libxsmm-dev", "libeigen3-dev", "libstdc++-12-dev", "libgcc-12-dev")

# Beside the libraries that the build has; those that need an accelerator, gRPC or MPI are not in a package, nor is the one for programs
# that test a front end; protobuf is linked in.
PLUGINS = ("libheadrace_cuda", "libheadrace_gpu_host", "libheadrace_distributed", "libheadrace_mpi", "libheadrace_test_ops",
           "libhr_proto.")


def version():
    return re.search(r"project\(headrace VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def targets(build):
    """The shared libraries and programs of `build`, libheadrace.so first."""
    found = [path.relative_to(build) for path in sorted((build / "lib").glob("lib*.so*")) + sorted((build / "bin").glob("headrace*"))
             if not path.is_symlink() and not path.name.startswith(PLUGINS)]
    first = pathlib.Path("lib/libheadrace.so")
    return [str(first)] + [str(path) for path in found if path != first]


def install_headers(build, include):
    """Our headers, and those of Abseil, protobuf and Eigen that they include, in the namespaces of the libraries."""
    shutil.copytree(ROOT / "include", include, dirs_exist_ok=True)
    bundled = include / "headrace_bundled"
    for name, folder in (("absl", "absl"), ("google/protobuf", "google/protobuf"), ("Eigen", "eigen3/Eigen")):
        shutil.copytree(pathlib.Path("/usr/include") / folder, bundled / name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.proto", "compiler"))
    shutil.copytree(build / "gen/headrace", include / "headrace", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.cc"))
    for path in [*bundled.glob("google/**/*"), *include.glob("headrace/**/*.pb.h")]:
        if path.is_file():
            text = path.read_text()
            text = re.sub(r"\bnamespace google\b", f"namespace {relink.PROTOBUF_NAMESPACE}", text)
            text = text.replace("google_2fprotobuf", f"{relink.PROTOBUF_NAMESPACE}_2fprotobuf")
            path.write_text(re.sub(r"\bgoogle(?=::)", relink.PROTOBUF_NAMESPACE, text))
    options = bundled / "absl/base/options.h"
    text, count = re.subn(r"(#define ABSL_OPTION_INLINE_NAMESPACE_NAME) \w+", rf"\1 {relink.ABSL_NAMESPACE}", options.read_text())
    assert count == 1
    options.write_text(text)


def fill_in(source, target, values):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(re.sub(r"@(\w+)@", lambda found: values[found.group(1)], source.read_text()))


def install_descriptions(lib):
    """What find_package and pkg-config read."""
    values = {
        "HEADRACE_VERSION": version(), "HEADRACE_INCLUDE_FROM_LIB": "../include", "HEADRACE_PREFIX_FROM_PC": "../..",
        "HEADRACE_CONFIG_DEPENDENCIES": "find_package(Threads REQUIRED)",
        "HEADRACE_CONFIG_INCLUDES": "${_headrace_include};${_headrace_include}/headrace_bundled",
        "HEADRACE_CONFIG_LIBRARIES": "${_headrace_lib}/libheadrace_absl.a;Threads::Threads",
        "HEADRACE_PROTOBUF_DEFINITIONS": "", "HEADRACE_PC_REQUIRES": "", "HEADRACE_PC_LIBS": "-lheadrace_absl -pthread",
        "HEADRACE_PC_CFLAGS": "-I${includedir}/headrace_bundled -std=c++20 -pthread"}
    for name in ("headrace.pc", "tensorflow.pc"):
        fill_in(ROOT / "cmake" / f"{name}.in", lib / "pkgconfig" / name, values)
    config = lib / "cmake/Headrace"
    fill_in(ROOT / "cmake/HeadraceConfig.cmake.in", config / "HeadraceConfig.cmake", values)
    major, minor = version().split(".")[:2]
    (config / "HeadraceConfigVersion.cmake").write_text(
        f'set(PACKAGE_VERSION "{version()}")\n'
        f'if(PACKAGE_FIND_VERSION MATCHES "^{major}(\\\\.{minor}(\\\\.|$)|$)"\n'
        '   AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION\n'
        '   OR NOT PACKAGE_FIND_VERSION)\n'
        '  set(PACKAGE_VERSION_COMPATIBLE TRUE)\n'
        '  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n'
        '    set(PACKAGE_VERSION_EXACT TRUE)\n'
        '  endif()\n'
        'endif()\n')


def install_licences(folder, nanobind):
    folder.mkdir(parents=True, exist_ok=True)
    for name in BUNDLED:
        source = pathlib.Path("/usr/share/doc", name, "copyright")
        if not source.exists():  # it may be a link to the package of the library
            raise FileNotFoundError(f"{source}: the licence of what is bundled")
        shutil.copy(source.resolve(), folder / f"{name}.txt")
    for path in nanobind:
        shutil.copy(path, folder / f"{path.parent.name}-{path.name}.txt".replace(".txt.txt", ".txt"))


def merge_archives(linker, made):
    """One archive of Abseil, for what programs in C++ use of it and libheadrace.so does not have."""
    script = [f"CREATE {made}"] + [f"ADDLIB {path}" for path in linker.archives if "absl" in path.name] + ["SAVE", "END"]
    made.unlink(missing_ok=True)
    subprocess.run(["ar", "-M"], input="\n".join(script) + "\n", text=True, check=True)


def link_all(linker, build, pythons):
    """Links everything, first with this machine's glibc to see what is asked of it, then with an old one."""
    names = targets(build)
    for name in names:
        linker.objects(linker.words(name))
    for path in (build / "lib").glob("libheadrace*.a"):
        relink.copy_renamed(path, linker.work / "CMakeFiles" / path.name)
    modules = []
    exports = linker.work / "module.map"
    exports.write_text("{ global: PyInit_*; local: *; };\n")
    for python in pythons:
        print(f"Compiling the extension for Python {'%d.%d' % python.version}", flush=True)
        objects = extension.compile_extension(build, python, linker.work / "CMakeFiles" / python.tag)
        renamed = [relink.copy_renamed(path, path.with_suffix(".renamed.o")) for path in objects]
        modules.append((linker.out.parent / python.tag / ("_headrace" + python.suffix), renamed))
    stand_ins = ()
    for _ in range(2):
        made = [linker.link(name, name == names[0], stand_ins) for name in names]
        for module, objects in modules:
            module.parent.mkdir(exist_ok=True)
            options = ["-shared", "-fuse-ld=mold", f"-Wl,--version-script={exports}", "-Wl,-rpath,$ORIGIN"]
            made.append(linker.finish(module, [*objects, *options, linker.out / names[0]], False, stand_ins))
        stand_ins = stand_ins or old_glibc.make(made, GLIBC, linker.work / "glibc")
    for path in made:
        subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)
        check(path)


def check(path):
    """Raises if `path` needs more than it may, or shows more than is ours."""
    text = relink.output("readelf", "-dW", str(path))
    needed = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", text))
    ours = {found.name for found in path.parent.parent.glob("**/lib*.so*")}
    foreign = needed - relink.SYSTEM_LIBRARIES - ours
    assert not foreign, f"{path} needs {foreign}"
    runpath = re.search(r"\(RUNPATH\).*\[(.+)\]", text)
    assert runpath and all(part.startswith("$ORIGIN") for part in runpath.group(1).split(":")), f"{path}: {runpath}"
    newest = max(re.findall(r"GLIBC_([0-9.]+)", relink.output("readelf", "-VW", str(path))), key=old_glibc.number)
    assert old_glibc.number(newest) <= old_glibc.number(GLIBC), f"{path} needs glibc {newest}"
    if path.suffix == ".so" or ".so." in path.name:
        for line in relink.output("nm", "-DC", "--defined-only", str(path)).splitlines():
            name = line.split(" ", 2)[2]
            assert re.search(rf"\b(headrace|absl::{relink.ABSL_NAMESPACE}|{relink.PROTOBUF_NAMESPACE})::|^(TFE?_|HR_|TSL_|VERS_|PyInit_)",
                             name), f"{path} exports {name}"


def write_tarball(tree, made):
    def rooted(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        return info
    with tarfile.open(made, "w:gz") as tar:
        tar.add(tree, arcname=made.name[:-len(".tar.gz")], filter=rooted)


def stubs(python, files):
    """{name in the wheel: bytes} of the type stubs, which the package in `files` is loaded for."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            path = pathlib.Path(folder, "site", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        made = pathlib.Path(folder, "headrace")
        subprocess.run([str(python.path), str(ROOT / "tools/stubs.py"), str(made)], check=True,
                       env=dict(os.environ, PYTHONPATH=f"{folder}/site", PYTHONDONTWRITEBYTECODE="1"))
        return {f"headrace/{path.relative_to(made)}": path.read_bytes() for path in sorted(made.rglob("*.pyi"))}


def write_wheel(python, linker, out, licences, include):
    made = out / f"headrace-{version()}-{python.tag}-{PLATFORM}.whl"
    info = f"headrace-{version()}.dist-info"
    files = {}
    package = ROOT / "python/headrace"
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"headrace/{path.relative_to(package)}"] = path.read_bytes()
    # The C API is for libraries of kernels in C.
    for name in ("libheadrace.so", "libtensorflow.so.2", "libtensorflow_framework.so.2"):
        path = linker.out / "lib" / name
        if path.exists() and not path.is_symlink():
            files[f"headrace/{name}"] = path.read_bytes()
    # What libraries of ops are compiled and linked with: tf.sysconfig.
    for path in sorted(include.rglob("*")):
        if path.is_file():
            files[f"headrace/include/{path.relative_to(include)}"] = path.read_bytes()
    files["headrace/libheadrace_absl.a"] = (linker.out / "lib/libheadrace_absl.a").read_bytes()
    module = "_headrace" + python.suffix
    files[f"headrace/{module}"] = (linker.out.parent / python.tag / module).read_bytes()
    files.update(stubs(python, files))
    for path in sorted(licences.iterdir()):
        files[f"{info}/licenses/{path.name}"] = path.read_bytes()
    project = (ROOT / "pyproject.toml").read_text()
    summary = re.search(r'^description = "(.+)"', project, re.M).group(1)
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: headrace\nVersion: {version()}\nSummary: {summary}\nRequires-Python: >=3.9\n"
        f"Requires-Dist: numpy\nDescription-Content-Type: text/markdown\n\n{(ROOT / 'README.md').read_text()}").encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: headrace\nRoot-Is-Purelib: false\nTag: {python.tag}-{PLATFORM}\n").encode()
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return made


def main():
    build, cache, out = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
    pythons = [extension.Interpreter(pathlib.Path(name)) for name in sys.argv[4:]]
    name = f"headrace-{version()}-linux-x86_64"
    tree = out / name
    shutil.rmtree(tree, ignore_errors=True)
    archives = [pathlib.Path(line) for line in (cache / "archives").read_text().split()]
    linker = relink.Linker(build, archives, tree)
    link_all(linker, build, pythons)
    for path in (build / "lib").glob("lib*.so*"):
        if path.is_symlink() and (tree / "lib" / path.readlink()).exists():
            (tree / "lib" / path.name).symlink_to(path.readlink())
    for path in (build / "lib").glob("libheadrace*.a"):
        relink.copy_renamed(path, tree / "lib" / path.name)
    merge_archives(linker, tree / "lib/libheadrace_absl.a")
    install_headers(build, tree / "include")
    install_descriptions(tree / "lib")
    licences = tree / "share/doc/headrace/licences"
    nanobind = []
    if pythons:
        nanobind = list(pathlib.Path(pythons[0].nanobind).parent.parent.glob("nanobind-*.dist-info/**/LICENSE*"))
    install_licences(licences, nanobind)
    tarball = out / f"{name}.tar.gz"
    write_tarball(tree, tarball)
    made = [tarball] + [write_wheel(python, linker, out, licences, tree / "include") for python in pythons]
    for path in [*map(tree.joinpath, targets(build)), *made]:
        print(f"{path.relative_to(out)}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
