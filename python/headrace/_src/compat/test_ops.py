"""The ops of tensorflow.python.framework.test_ops, for programs that test a front
end. They are in a library of their own, which this module loads."""
import os

from headrace import _headrace
from headrace._src.platform import load_library


def names():
    """{name: function} of the ops, by both of their names.

    Raises errors.NotFoundError if the library was not built."""
    library = load_library.load_op_library(os.path.join(
        os.path.dirname(_headrace.__file__), "libheadrace_test_ops.so"))
    return {name: value for name, value in vars(library).items()
            if not name.startswith("__")}
