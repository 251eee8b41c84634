"""Headrace: a dataflow runtime with the interface of TensorFlow 1.x.

    import headrace as tf

    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.nn.relu(tf.matmul(x, tf.ones([3, 2])))
    with tf.Session() as sess:
        print(sess.run(y, {x: [[1, 2, 3]]}))

Names, arguments and defaults are those of TensorFlow 1.15. Every op that the
library knows is a function of `raw_ops` too. What TensorFlow does not have is
in `headrace`.
"""
import os as _os
import sys as _sys

from headrace import _headrace
from headrace import raw_ops
from headrace._loading import load as _load
from headrace._src.framework import dispatch as _dispatch
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import errors as _errors
from headrace._src.framework import graph as _graph
from headrace._src.framework import tensor as _tensor
from headrace._src.framework import tensor_shape as _tensor_shape
from headrace._src.session import session as _session

_headrace.set_hooks(
    make_error=_errors.make,
    global_graph=_graph.global_graph,
    eager_graph=lambda: _load("_src.eager.context").eager_graph(),
    convert_to_tensor=_tensor._convert,
    to_array=_tensor.to_array,
    feed_to_array=_tensor.feed_to_array,
    as_dtype=_dtypes.as_dtype,
    as_shape_list=_tensor_shape.as_list_or_none,
    bfloat16=_dtypes.bfloat16_numpy,
    make_result_type=raw_ops._make_result_type,
    dispatch=_dispatch.dispatch_op,
    expand_fetch=_session.expand_fetch,
    expand_feed=_session.expand_feed,
    dtypes=_dtypes._by_enum,
    package_dir=_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from headrace import _names  # noqa: E402: needs the hooks
from headrace._src.control import script_ops as _script_ops  # noqa: E402
from headrace._src.ops import math_ops as _math_ops  # noqa: E402

_math_ops.install_operators()
_headrace.set_py_function_caller(_script_ops.call)
_headrace.Message.__reduce__ = lambda message: (
    _names.load("framework.messages")._reduce(message))

__version__ = "1.15.5"  # of TensorFlow, whose interface this is
_names.install(_sys.modules[__name__])
