"""tf.sysconfig: what a library of ops is compiled and linked with."""
import os

CXX11_ABI_FLAG = 1
MONOLITHIC_BUILD = 0


def get_lib():
    """The folder of the package, with the library."""
    return os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def get_include():
    """The folder of the headers."""
    return os.path.join(get_lib(), "include")


def get_compile_flags():
    """Arguments for the compiler."""
    return ["-I%s" % get_include(),
            "-D_GLIBCXX_USE_CXX11_ABI=%d" % CXX11_ABI_FLAG]


def get_link_flags():
    """Arguments for the linker: of libraries in C++ and in C."""
    return ["-L%s" % get_lib(), "-l:libheadrace.so", "-l:libtensorflow.so.2"]
