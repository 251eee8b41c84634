"""tensorflow.python.eager.execute and tape, for libraries that call ops by their
names and tell tapes of them."""
from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._src.eager.variables import NoRecording, variable_of
from headrace._src.framework import dtypes, errors
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape


def execute(op_name, num_outputs, inputs, attrs=None, ctx=None, name=None):
    """Executes the op `op_name`, a string. `inputs`: EagerTensors, one after the
    other; `attrs`: names and values, one after the other. A list of the outputs.
    AttributeError if there is no such op; ValueError if it has another number of
    outputs."""
    if isinstance(op_name, bytes):
        op_name = op_name.decode()
    attrs = list(attrs or ())
    options = dict(zip(attrs[::2], attrs[1::2]))
    definition = _headrace.op_def(op_name)
    if definition is None:
        from headrace._src.eager.backward import call_of
        found = call_of(op_name)(list(inputs))
    else:
        arguments, rest = [], list(inputs)
        singles = [a for a in definition.input_arg
                   if not (a.number_attr or a.type_list_attr)]
        for a in definition.input_arg:
            if a.number_attr or a.type_list_attr:
                given = options.get(a.number_attr or a.type_list_attr)
                n = (given if isinstance(given, int) else
                     len(given) if given is not None else
                     len(rest) - len(singles))
                arguments.append(rest[:n])
                rest = rest[n:]
            else:
                arguments.append(rest.pop(0))
        found = getattr(_raw, op_name)(*arguments, **options)
    flat = []
    for x in ([] if found is None else found if isinstance(
            found, (list, tuple)) else [found]):
        flat += x if isinstance(x, (list, tuple)) else [x]
    if len(flat) != num_outputs:
        raise ValueError("op %s has %d outputs, wanted %d"
                         % (op_name, len(flat), num_outputs))
    return flat


def args_to_matching_eager(l, ctx=None, default_dtype=None):
    """(dtype, EagerTensors) of values that become tensors of one type."""
    dtype = next((x.dtype for x in l if hasattr(x, "dtype")), None)
    found = []
    for x in l:
        tensor = convert_to_tensor(x, dtype=dtype, preferred_dtype=(
            default_dtype if dtype is None else None))
        dtype = tensor.dtype
        found.append(tensor)
    return dtype, found


def record_operation(op_type, output_tensors, input_tensors,
                     backward_function):
    """Tells the tapes that outputs were computed from inputs, and how gradients
    go from the former to the latter."""
    def backward(*grads):
        found = backward_function(*grads)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) < len(input_tensors):
            raise errors.InternalError(
                None, None, "Recorded operation '%s' returned too few gradients. "
                "Expected %d but received %d"
                % (op_type, len(input_tensors), len(found)))
        return found
    _headrace.record_gradient(input_tensors, output_tensors, backward)


def could_possibly_record():
    """Whether a tape records."""
    return _headrace.num_tapes() > 0


def should_record(tensors):
    """Whether a tape would record an op with these inputs."""
    return _headrace.tapes_want(tensors)


def stop_recording():
    """Inside of `with`, no tape records."""
    return NoRecording()


class VariableWatcher:
    """`with`: notes the trainable variables that are read."""

    def __init__(self):
        self._core = _headrace.TapeCore(True)

    def __enter__(self):
        self._core.push()
        return self

    def __exit__(self, *error):
        self._core.pop()

    def watched_variables(self):
        """Those variables, a tuple."""
        found = [variable_of(h) for h in self._core.handles]
        return tuple(v for v in found if v is not None)


# Kinds of attrs, as the C API numbers them.
_KINDS = ("string", "int", "float", "bool", "type", "shape", "tensor",
          "placeholder", "func")


def op_attr_type(op_type, attr_name):
    """The number of the kind of an attr of an op, or a list of it for a list of
    such. ValueError if there is none."""
    definition = _headrace.op_def(op_type)
    for attr in definition.attr if definition is not None else ():
        if attr.name == attr_name:
            kind = attr.type
            if kind.startswith("list("):
                return [_KINDS.index(kind[5:-1])]
            return _KINDS.index(kind)
    raise ValueError("op %s has no attr %s" % (op_type, attr_name))


def make_attr(attr_type, value):
    """The value of an attr of this kind: a DType, a TensorShapeProto, or as it
    is; a list of them for a list of one kind."""
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], v) for v in value]
    if attr_type == _KINDS.index("type"):
        return dtypes.as_dtype(value)
    if attr_type == _KINDS.index("shape"):
        return TensorShape(value).as_proto()
    return value
