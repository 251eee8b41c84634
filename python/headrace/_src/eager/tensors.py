"""EagerTensor: a tensor that has its value. What Python asks of it beyond the
extension's class."""
import numpy as np

from headrace import _headrace
from headrace._headrace import EagerTensor
from headrace._src.framework.tensor_shape import TensorShape


def _kept(name):
    """An attribute that tensors of a graph find otherwise."""
    def get(self):
        if name not in self.__dict__:
            return _get_attribute(self, name)
        return self.__dict__[name]
    return property(get, lambda self, value: self.__dict__.__setitem__(
        name, value))


def _meaningless(name):
    def get(self):
        raise AttributeError("Tensor.%s is meaningless when eager execution is "
                             "enabled." % name)
    return property(get)


def numpy_text(tensor, is_repr=False):
    """How the value is printed; "<unprintable>" for resources and variants."""
    if tensor.dtype.is_numpy_compatible:
        value = tensor._numpy()
        text = repr(value) if is_repr else str(value)
        if is_repr and isinstance(value, np.generic):
            text = repr(value.item())
            if isinstance(value, np.floating):
                text = str(value)
    else:
        text = "<unprintable>"
    if "\n" in text:
        text = "\n" + text
    return text


def _str(self):
    return "tf.Tensor(%s, shape=%s, dtype=%s)" % (
        numpy_text(self), self.shape, self.dtype.name)


def _repr(self):
    return "<tf.Tensor: id=%s, shape=%s, dtype=%s, numpy=%s>" % (
        self._id, self.shape, self.dtype.name, numpy_text(self, True))


def _numpy(self):
    """The value as a NumPy scalar, bytes or an array of its own."""
    return self._numpy()


def _scalar(convert):
    def function(self):
        return convert(self._numpy())
    return function


def _index(self):
    value = self._numpy()
    return value.__index__() if isinstance(value, np.ndarray) else int(value)


def _len(self):
    if not self._rank():
        raise TypeError("Scalar tensor has no `len()`")
    return self._shape_list()[0]


def _iter(self):
    if not self._rank():
        raise TypeError("Cannot iterate over a scalar tensor.")
    for i in range(self._shape_list()[0]):
        yield self[i]


def _array(self, dtype=None, copy=None):
    value = self._array()
    return value if dtype is None else value.astype(dtype)


def _set_shape(self, shape):
    if not self.shape.is_compatible_with(shape):
        raise ValueError("Tensor's shape %s is not compatible with supplied "
                         "shape %s" % (self.shape, shape))


def _eval(self, feed_dict=None, session=None):
    raise NotImplementedError("eval is not supported when eager execution is "
                              "enabled, is .numpy() what you're looking for?")


def _consumers(self):
    raise NotImplementedError("Tensor.consumers is meaningless when eager "
                              "execution is enabled.")


def _get_attribute(self, name):
    if name in ("op", "graph", "name", "value_index", "_op"):
        raise AttributeError("Tensor.%s is meaningless when eager execution is "
                             "enabled." % name)
    raise AttributeError("'%s' object has no attribute '%s'"
                         % (type(self).__name__, name))


def _copy_to(kind):
    def copy(self, number=0):
        """The tensor on that device."""
        wanted = "/device:%s:%d" % (kind, number)
        if not any(d[0].endswith(wanted) for d in _headrace.eager_devices()):
            raise RuntimeError("%s:%d unknown device." % (kind, number))
        return _on_device(self, "/device:%s:%d" % (kind, number))
    return copy


def _cpu(self):
    """The tensor in the memory of the host."""
    return _on_device(self, "/device:CPU:0")


def _on_device(tensor, name):
    from headrace._src.ops.array_ops import identity
    if _headrace.num_tapes():
        from headrace._src.framework.graph import device
        with device(name):
            return identity(tensor)
    return tensor._copy_to_device(name)


def _format(self, spec):
    return format(self._numpy(), spec) if spec else str(self)


def _make(value):
    return _headrace.eager_constant(value, None)


def _reduce(self):
    return _make, (self._array(),)


def _deepcopy(self, memo):
    return self._copy()


def install():
    """Gives EagerTensor its methods."""
    if EagerTensor.__repr__ is _repr:
        return
    attributes = dict(
        op=_meaningless("op"), graph=_meaningless("graph"),
        name=_meaningless("name"), value_index=_meaningless("value_index"),
        _op=_meaningless("op"),
        shape=property(lambda self: TensorShape(self._shape_list())),
        ndim=property(lambda self: self._rank()),
        __str__=_str, __repr__=_repr, numpy=_numpy, eval=_eval,
        __bool__=_scalar(bool), __nonzero__=_scalar(bool),
        __int__=_scalar(int), __long__=_scalar(int), __float__=_scalar(float),
        __complex__=_scalar(complex), __index__=_index, __format__=_format,
        __round__=lambda self, *n: round(self._numpy(), *n),
        __len__=_len, __iter__=_iter, __array__=_array,
        __dlpack__=lambda self, **kwargs: self._array().__dlpack__(**kwargs),
        __dlpack_device__=lambda self: (1, 0),
        set_shape=_set_shape, _set_shape=_set_shape, consumers=_consumers,
        cpu=_cpu, gpu=_copy_to("GPU"), __copy__=lambda self: self,
        __reduce__=_reduce, __deepcopy__=_deepcopy,
        __getattr__=_get_attribute, __setattr__=object.__setattr__,
        __delattr__=object.__delattr__,
        assign=_kept("assign"), _keras_history=_kept("_keras_history"),
        _as_graph_element=lambda self: None,
        _shape_tuple=lambda self: tuple(self._shape_list()),
        _datatype_enum=lambda self: self.dtype._enum)
    for name, value in attributes.items():
        setattr(EagerTensor, name, value)
    EagerTensor.get_shape = lambda self: TensorShape(self._shape_list())
    EagerTensor.__hash__ = lambda self: self._id
    EagerTensor.__doc__ = """A tensor that has its value: what ops give that are
executed eagerly."""
