"""What other tests import of the modules of tensorflow."""
import contextlib
import sys

import headrace.compat


@contextlib.contextmanager
def tensorflow():
    """Inside of `with`, `import tensorflow` finds Headrace; after it, as before:
    other tests ask whether there is a TensorFlow."""
    finders = list(sys.meta_path)
    headrace.compat.install()
    try:
        yield
    finally:
        sys.meta_path[:] = finders
        for name in [n for n in sys.modules if n.split(".")[0] == "tensorflow"]:
            del sys.modules[name]
