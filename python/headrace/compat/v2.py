"""tf.compat.v2: the names and arguments of TensorFlow 2, as TensorFlow 1.15 has
them, for graphs. What needs eager execution is not supported."""
import sys as _sys

from headrace import _names

_names.install_second(_sys.modules[__name__])
