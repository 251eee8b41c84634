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


def _bundled_include():
    """The folder of Abseil's, protobuf's and Eigen's headers, which packages
    have; else those of the system are meant."""
    return os.path.join(get_include(), "headrace_bundled")


def get_compile_flags():
    """Arguments for the compiler."""
    flags = ["-I%s" % get_include()]
    if os.path.isdir(_bundled_include()):
        flags.append("-I%s" % _bundled_include())
    return flags + ["-D_GLIBCXX_USE_CXX11_ABI=%d" % CXX11_ABI_FLAG]


def get_link_flags():
    """Arguments for the linker: of libraries in C++ and in C."""
    flags = ["-L%s" % get_lib(), "-l:libheadrace.so", "-l:libtensorflow.so.2"]
    if os.path.exists(os.path.join(get_lib(), "libheadrace_absl.a")):
        flags.append("-l:libheadrace_absl.a")  # Abseil of the package
    return flags
