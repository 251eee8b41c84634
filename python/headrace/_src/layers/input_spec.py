"""What a layer wants of its inputs."""
from headrace._src.framework import dtypes, nest


class InputSpec:
    """The type, shape or number of dimensions of an input; `axes` has the
    sizes of single dimensions. What is None may be anything."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None,
                 min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = None if shape is None else tuple(shape)
        self.ndim = ndim if shape is None else len(self.shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(k): axes[k] for k in axes} if axes else {}

    def __repr__(self):
        return "InputSpec(%s)" % ", ".join(
            "%s=%s" % (k, v) for k, v in vars(self).items() if v)


def check_inputs(spec, inputs, layer):
    """ValueError if the tensors `inputs` are not as `spec` says: an InputSpec,
    or a list of one for each tensor."""
    if not spec:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(spec)
    if len(inputs) != len(specs):
        raise ValueError("Layer %s expects %d inputs, but it received %d input "
                         "tensors. Inputs received: %s"
                         % (layer, len(specs), len(inputs), inputs))
    for i, (x, spec) in enumerate(zip(inputs, specs)):
        if spec is None:
            continue
        fault = _fault(spec, x)
        if fault:
            raise ValueError("Input %d of layer %s is incompatible with the "
                             "layer: %s" % (i, layer, fault))


def _fault(spec, x):
    shape = x.get_shape()
    if shape.ndims is None:
        if spec.ndim is None and spec.min_ndim is None:
            return None
        return "its rank is undefined, but the layer requires a defined rank."
    n, sizes = shape.ndims, shape.as_list()
    received = "found ndim=%d. Full shape received: %s" % (n, sizes)
    if spec.ndim is not None and n != spec.ndim and spec.shape is None:
        return "expected ndim=%d, %s" % (spec.ndim, received)
    if spec.max_ndim is not None and n > spec.max_ndim:
        return "expected max_ndim=%d, found ndim=%d" % (spec.max_ndim, n)
    if spec.min_ndim is not None and n < spec.min_ndim:
        return ": expected min_ndim=%d, %s" % (spec.min_ndim, received)
    if spec.dtype is not None and x.dtype.base_dtype.name != spec.dtype:
        return "expected dtype=%s, found dtype=%s" % (
            spec.dtype, x.dtype.base_dtype.name)
    for axis, wanted in spec.axes.items():
        wanted = getattr(wanted, "value", wanted)
        if wanted is None or not -n <= axis < n:
            continue
        if sizes[axis] not in (wanted, None):
            return ("expected axis %d of input shape to have value %d but "
                    "received input with shape %s" % (axis, wanted, sizes))
    if spec.shape is not None:
        if n != len(spec.shape) or any(
                a is not None and b is not None and a != b
                for a, b in zip(spec.shape, sizes)):
            return "expected shape=%s, found shape=%s" % (spec.shape, sizes)
    return None
