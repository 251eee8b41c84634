"""tf.contrib.framework: where variables go in turn, functions of Python with
structures, and a variable of zeros."""
from headrace._src.control.script_ops import py_func as _py_func
from headrace._src.framework import nest
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.ops import array_ops as _array


class VariableDeviceChooser:
    """A device function for tf.device: variables, of any shapes and dtypes, go in
    turn to the `num_tasks` tasks of the job; with 0, all to one device.
    ValueError for a device's parts that are none."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU",
                 device_index=0, replica=None):
        self._num_tasks, self._job_name = num_tasks, job_name
        self._options = {"replica": replica, "device_type": device_type,
                         "device_index": device_index}
        self._next_task_id = 0

    def __call__(self, op):
        job = {}
        if self._num_tasks > 0:
            job = {"job": self._job_name, "task": self._next_task_id}
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return DeviceSpec(**self._options, **job).to_string()


def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None,
            stateful=True, name=None):
    """What func(*args, **kwargs) returns for arrays, when the node runs.

    args, kwargs: structures of tensors. `output_types`: the structure of what
    `func` returns, of dtypes; output_shapes: as that, of shapes, or None.
    `stateful`: a run calls it even if its inputs are those of before.
    Returns tensors in the structure of output_types. ValueError if output_types
    is None; a run fails where `func` returns another structure."""
    if output_types is None:
        raise ValueError("py_func: output_types must be given")
    given = (args, {} if kwargs is None else kwargs)

    def call(*arrays):
        own_args, own_kwargs = nest.pack_sequence_as(given, arrays)
        found = func(*own_args, **own_kwargs)
        nest.assert_same_structure(output_types, found)
        return nest.flatten(found)
    values = _py_func(call, nest.flatten(given), nest.flatten(output_types),
                      stateful=stateful, name=name)
    found = nest.pack_sequence_as(output_types, values)
    if output_shapes is not None:
        shapes = _shapes_like(output_types, output_shapes)
        for x, shape in zip(nest.flatten(found), shapes):
            x.set_shape(shape)
    return found


def _shapes_like(types, shapes):
    """The shapes of a structure, which end where `types` ends."""
    if isinstance(types, dict):
        return [s for key in sorted(types)
                for s in _shapes_like(types[key], shapes[key])]
    if isinstance(types, (list, tuple)):
        return [s for t, inner in zip(types, shapes)
                for s in _shapes_like(t, inner)]
    return [shapes]


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Gives a variable of get_variable, of a known shape and any dtype of numbers,
    zeros, and returns it as it then is. ValueError for a resource variable."""
    if getattr(ref, "_is_resource", False):
        raise ValueError("zero_initializer: %s is a resource variable; run its "
                         "initializer" % ref.name)
    return ref.assign(_array.zeros(ref.get_shape(), ref.dtype.base_dtype),
                      use_locking=use_locking, name=name)
