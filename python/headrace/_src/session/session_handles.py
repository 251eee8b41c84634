"""Tensors that stay with a session: get_session_handle and its kin.

    h = sess.run(tf.get_session_handle(a * b))   # a TensorHandle, no value
    p, x = tf.get_session_tensor(h.handle, tf.float32)
    y = sess.run(10 * x, feed_dict={p: h.handle})
"""
import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest as _nest
from headrace._src.ops import array_ops as _array

_OPS = ("GetSessionHandle", "GetSessionHandleV2")


class TensorHandle:
    """Stands for a tensor that a session keeps until the handle is deleted or
    nobody has it any more. Fed in place of a value it gives that value."""

    def __init__(self, handle, dtype, session):
        self._handle = handle
        self._dtype = dtype
        self._session = session
        self._deleted = False

    handle = property(lambda self: self._handle,
                      doc="The string to feed to get_session_tensor's holder.")
    dtype = property(lambda self: self._dtype)

    def __str__(self):
        return self._handle

    def __repr__(self):
        return "<tf.TensorHandle %s of %s>" % (self._handle, self._dtype.name)

    def __array__(self, dtype=None, copy=None):
        if dtype is not None and np.dtype(dtype) == object:
            return np.array(self._handle, dtype=object)
        value = self.eval()
        return np.array(value, object) if isinstance(value, bytes) else (
            np.asarray(value, dtype))

    def get_raw_handle(self):
        """The string, which stays valid until delete_session_tensor: the end
        of this object no longer deletes the tensor."""
        self._deleted = True
        return self._handle

    def eval(self):
        """The value."""
        holder, value = _reader(self._session.graph, self._dtype)
        return self._session.run(value, {holder: self._handle})

    def delete(self):
        """Lets the session forget the tensor."""
        if self._deleted:
            raise ValueError("Handle %s was deleted or given away already"
                             % self._handle)
        self._deleted = True
        _delete(self._session, [self._handle])

    def __del__(self):
        # The session may be in the middle of a run: it deletes later.
        if not self._deleted:
            self._session._dead_handles.append(self._handle)


def get_session_handle(data, name=None):
    """A tensor that, fetched, leaves `data` in the session and gives a
    TensorHandle for it."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    data.graph._prepare_fetches = _prepare
    with _graph.colocate_with(data):
        return _raw.GetSessionHandle(data, name=name)


def get_session_tensor(handle, dtype, name=None):
    """(holder, tensor): the tensor is that of the handle that is fed to the
    holder. `handle` is one of the handles that will be fed."""
    _string(handle)
    holder = _array.placeholder(_dtypes.string, [])
    return holder, _raw.GetSessionTensor(holder, dtype=_dtypes.as_dtype(dtype),
                                         name=name)


def delete_session_tensor(handle, name=None):
    """(holder, operation): the operation deletes the tensor of the handle that
    is fed to the holder."""
    _string(handle)
    holder = _array.placeholder(_dtypes.string, [])
    return holder, _raw.DeleteSessionTensor(holder, name=name)


def _string(handle):
    if not isinstance(handle, (str, bytes, TensorHandle)):
        raise TypeError("handle must be the string of a TensorHandle, but got "
                        "%s" % type(handle))


def _reader(graph, dtype):
    nodes = graph.__dict__.setdefault("_handle_readers", {})
    if dtype not in nodes:
        with graph.as_default(), graph.control_dependencies(None):
            nodes[dtype] = get_session_tensor("", dtype)
    return nodes[dtype]


def _delete(session, handles):
    graph = session.graph
    if not hasattr(graph, "_handle_deleter"):
        with graph.as_default(), graph.control_dependencies(None):
            graph._handle_deleter = delete_session_tensor("")
    holder, deleter = graph._handle_deleter
    for handle in handles:
        session._run(deleter, {holder: handle}, None, None)


class _HandleFetch:
    """A fetch whose value becomes a TensorHandle."""

    def __init__(self, tensor, session):
        self._tensor = tensor
        self._session = session

    def _fetch_components(self):
        def wrap(value):
            return TensorHandle(value.decode(), self._tensor.op.inputs[0].dtype,
                                self._session)
        return self._tensor, wrap


def _prepare(session, fetches):
    """`fetches` with what session handles need; deletes what handles that are
    gone have left."""
    if len(session._dead_handles) >= 10:
        dead, session._dead_handles = session._dead_handles, []
        _delete(session, dead)

    def expand(f):
        if isinstance(f, Tensor) and f.op.type in _OPS:
            return _HandleFetch(f, session)
        return f
    if not _nest.is_nested(fetches):
        return expand(fetches)
    return _nest.map_structure(expand, fetches)
