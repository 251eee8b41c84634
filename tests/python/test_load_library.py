"""tf.load_op_library and tf.load_library, with examples/custom_op_c."""
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import headrace as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "custom_op_c" / "saturate.c"
CC = shutil.which("cc") or shutil.which("gcc")

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def compile_library(source, path):
    """With what the package has, and nothing else."""
    subprocess.run([CC, *tf.sysconfig.get_compile_flags(), "-shared", "-fPIC",
                    str(source), "-o", str(path),
                    *tf.sysconfig.get_link_flags()], check=True)
    return str(path)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_library(EXAMPLE,
                           tmp_path_factory.mktemp("ops") / "saturate.so")


def test_the_ops_of_a_library_are_functions(library):
    ops = tf.load_op_library(library)
    assert ops.saturate is ops.Saturate
    assert "low" in ops.saturate.signature_text
    assert [op.name for op in ops.OP_LIST.op] == ["Saturate"]
    x = tf.placeholder(tf.float32, [None, 2])
    y = ops.saturate(x, low=-1, high=2.5)
    assert y.shape.as_list() == [None, 2]
    values = np.float32([[-3, 0], [2, 7]])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y, {x: values}),
                                      np.clip(values, -1, 2.5))
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="low must not exceed high"):
            session.run(ops.saturate(x, low=2, high=1), {x: values})


def test_the_package_has_the_headers():
    include = pathlib.Path(tf.sysconfig.get_include())
    for name in ("tensorflow/c/c_api.h", "tensorflow/c/kernels.h",
                 "headrace/op_kernel.h", "headrace/cc/scope.h",
                 "headrace/tensor_bundle.pb.h"):
        assert (include / name).is_file(), name


def test_a_library_is_loaded_once(library):
    assert tf.load_op_library(library) is tf.load_op_library(library)


def test_a_folder_of_libraries(library, tmp_path):
    shutil.copy(library, tmp_path / "one.so")
    (tmp_path / "notes.txt").write_text("no library")
    tf.load_library(str(tmp_path))
    tf.load_library(library)
    assert tf.raw_ops.Saturate([0.5]).dtype == tf.float32


@pytest.mark.parametrize("content, words", [
    (None, "No such file"), (b"text", "file too short"),
    (b"text" * 1000, "invalid ELF header")])
def test_what_is_no_library(content, words, tmp_path):
    path = tmp_path / "none.so"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(tf.errors.NotFoundError, match=words):
        tf.load_op_library(str(path))
    if content is None:
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            tf.load_library(str(path))


def test_a_library_that_lacks_its_end(library, tmp_path):
    whole = pathlib.Path(library).read_bytes()
    path = tmp_path / "part.so"
    for share in (.1, .5):
        path.write_bytes(whole[:int(share * len(whole))])
        with pytest.raises(tf.errors.NotFoundError,
                           match="part.so.*lacks its end"):
            tf.load_op_library(str(path))


def test_an_op_that_clashes(library, tmp_path):
    tf.load_op_library(library)
    other = compile_library(ROOT / "tests" / "custom_ops" / "other_saturate.c",
                            tmp_path / "other.so")
    for _ in range(2):
        with pytest.raises(tf.errors.AlreadyExistsError, match="Saturate"):
            tf.load_op_library(other)


def test_another_copy_of_the_runtime(tmp_path):
    own = pathlib.Path(tf.sysconfig.get_lib()) / "libheadrace.so"
    path = tmp_path / "any_name.so"
    shutil.copy(own, path)
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="any_name.so.*another copy of libheadrace.so"):
        tf.load_op_library(str(path))
    tf.load_op_library(str(own))  # the one that is there
