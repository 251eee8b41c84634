"""What `cmake --install` puts into a folder is enough to build and run programs
and libraries of ops: tests/package and the examples of custom ops."""
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

pytestmark = [
    pytest.mark.slow,  # C++ is compiled
    pytest.mark.skipif(
        shutil.which("cmake") is None or shutil.which("c++") is None
        or not (BUILD / "bin" / "headrace").exists(),
        reason="there is no CMake, no compiler or no build folder")]


def call(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    call("cmake", "--install", BUILD, "--prefix", folder)
    return folder


def build(source, folder, installed, *targets):
    call("cmake", "-S", source, "-B", folder,
         "-DCMAKE_PREFIX_PATH=%s" % installed)
    call("cmake", "--build", folder, *(["--target", *targets] if targets else []))
    return folder


def test_programs(installed, tmp_path):
    folder = build(ROOT / "tests" / "package", tmp_path, installed,
                   "client_c", "client_cc", "client_dlopen")
    assert call(folder / "client_c").strip() == "42"
    assert call(folder / "client_cc").strip() == "42"
    library = next(installed.glob("lib*/**/libtensorflow.so.2"))
    assert call(folder / "client_dlopen", library).strip() == "42"
    assert len(call(installed / "bin" / "headrace", "ops").splitlines()) > 1000


def run_python(program, library):
    """In a process of its own: libraries stay loaded."""
    return call(sys.executable, "-c", textwrap.dedent(program), library)


def test_a_library_of_ops_in_c(installed, tmp_path):
    folder = build(ROOT / "examples" / "custom_op_c", tmp_path, installed)
    assert run_python("""
        import sys
        import headrace as tf
        ops = tf.load_op_library(sys.argv[1])
        with tf.Session() as session:
            print(session.run(ops.saturate([5., -5.], low=-1, high=1)).tolist())
        """, folder / "saturate.so") == "[1.0, -1.0]\n"


def test_a_library_of_ops_in_cpp(installed, tmp_path):
    folder = build(ROOT / "examples" / "custom_op_cc", tmp_path, installed)
    assert run_python("""
        import sys
        import headrace as tf
        x = tf.constant([2., 3.])
        y = tf.load_op_library(sys.argv[1]).cube(x)
        with tf.Session() as session:
            print(session.run([y, tf.gradients(y, x)[0]])[1].tolist())
        """, folder / "cube.so") == "[12.0, 27.0]\n"


def protobuf_classes(file, option):
    """The classes of protobuf of which `file` has or wants functions."""
    names = call("nm", "-DC", option, file)
    return set(re.findall(r"\b\w+::protobuf::((?:\w+::)+)\w+", names))


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_extension_wants_of_protobuf_what_the_library_uses():
    """In a package libheadrace.so has protobuf inside, but only what it uses
    itself; the extension takes it from there."""
    extension, = (BUILD / "lib").glob("_headrace*.so")
    used = protobuf_classes(BUILD / "lib" / "libheadrace.so", "--undefined-only")
    wanted = protobuf_classes(extension, "--undefined-only")
    assert "TextFormat::Parser::" in wanted
    # What every message with descriptors, and text, brings along.
    core = ("Descriptor", "EnumDescriptor", "FieldDescriptor", "Message", "Reflection", "TextFormat",
            "io::CodedInputStream")
    assert not {name for name in wanted - used if not name.startswith(core)}
