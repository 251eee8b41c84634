"""Headrace: a dataflow runtime with the interface of TensorFlow 1.x.

    import headrace as tf

    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.nn.relu(tf.matmul(x, tf.ones([3, 2])))
    with tf.Session() as sess:
        print(sess.run(y, {x: [[1, 2, 3]]}))

Names, arguments and defaults are those of TensorFlow 1.15. Every op that the
library knows is a function of `raw_ops` too.
"""
import os as _os

from headrace import _headrace
from headrace import dtypes
from headrace import errors
from headrace import raw_ops
from headrace import session as _session
from headrace import tensor as _tensor
from headrace import tensor_shape as _tensor_shape
from headrace import graph as _graph

_headrace.set_hooks(
    make_error=errors.make,
    global_graph=_graph.global_graph,
    convert_to_tensor=_tensor._convert,
    to_array=_tensor.to_array,
    feed_to_array=_tensor.feed_to_array,
    as_dtype=dtypes.as_dtype,
    as_shape_list=_tensor_shape.as_list_or_none,
    bfloat16=dtypes.bfloat16_numpy,
    make_result_type=raw_ops.make_result_type,
    expand_fetch=_session.expand_fetch,
    expand_feed=_session.expand_feed,
    dtypes=dtypes._by_enum,
    package_dir=_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from headrace import _api  # noqa: E402: needs the hooks
from headrace import math_ops as _math_ops  # noqa: E402
from headrace import script_ops as _script_ops  # noqa: E402

_math_ops.install_operators()
_headrace.set_py_function_caller(_script_ops.call)

# What is not imported here, `_api` finds when it is asked for.
globals().update({name: value for name, value in vars(_api).items()
                  if not name.startswith("_")})
__version__ = _api.__version__
__getattr__ = _api.__getattr__
__dir__ = _api.__dir__
