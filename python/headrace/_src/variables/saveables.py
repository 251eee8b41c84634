"""What a Saver saves: for each object, the tensors that it reads and what gives
it its state back."""
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework import dtypes
from headrace._src.framework.graph import GraphKeys, device, get_default_graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.variables.base import Variable
from headrace._src.variables.partitions import PartitionedVariable

_REF_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable")


class SaveSpec:
    """A tensor that is saved, and its name in the checkpoint. `slice_spec`: ""
    for a whole tensor, else which slice of one it is."""

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        self.dtype = dtypes.as_dtype(
            tensor.dtype if dtype is None else dtype).base_dtype
        self.device = getattr(tensor, "device", "") if device is None else (
            device)

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """One object: its `specs`, and its `name` among what is saved."""

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    device = property(lambda self: self.specs[0].device)

    def restore(self, restored_tensors, restored_shapes):
        """The operation that takes the state from the tensors. Subclasses have
        it; `restored_shapes` None: shapes must be equal."""
        raise ValueError("Calling an abstract method.")


class _RefVariable(SaveableObject):
    def __init__(self, var, slice_spec, name):
        node = var._as_graph_element() if isinstance(var, Variable) else var
        # A slice is read, a whole variable is handed on by reference.
        tensor = var.value() if slice_spec else node
        super().__init__(node, [SaveSpec(tensor, slice_spec, name,
                                         node.dtype, node.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = _raw.Reshape(value, restored_shapes[0])
        return _raw.Assign(
            self.op, value, validate_shape=restored_shapes is None
            and self.op.get_shape().is_fully_defined())


class _ResourceVariable(SaveableObject):
    def __init__(self, var, slice_spec, name, is_read=True):
        self._var = var
        if var._graph_element is None:  # of eager execution
            is_read = True
        tensor = self._read if is_read else var._graph_element
        super().__init__(var, [SaveSpec(tensor, slice_spec, name, var.dtype,
                                        var.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = _raw.Reshape(value, restored_shapes[0])
        with device(self._var.device):
            value = _raw.Identity(value)
            self._var.get_shape().assert_is_compatible_with(value.get_shape())
            return _raw.AssignVariableOp(self._var.handle, value)

    def _read(self):
        """The value, on the CPU of the variable's task."""
        with device(self._var.device):
            value = self._var.read_value()
            with device("/device:CPU:0"):
                return _raw.Identity(value)


def _as_variable(item):
    """A Variable, or the reference tensor of a variable node; else None."""
    if isinstance(item, Variable):
        return item
    if hasattr(item, "_as_graph_element"):
        item = item._as_graph_element()
    if isinstance(item, Tensor) and item.op.type in _REF_VARIABLES:
        return item
    return None


def saveable_of(var, slice_spec, name, is_read=True):
    """The SaveableObject of a variable, or of a slice. is_read False: what
    reads the value of a resource variable is the node that it has already."""
    if hasattr(var, "_saveable"):  # of several devices
        return var._saveable(name)
    if getattr(var, "_is_resource", False):
        return _ResourceVariable(var, slice_spec, name, is_read)
    return _RefVariable(var, slice_spec, name)


def _check_names(name, names):
    if name in names:
        raise ValueError("At least two variables have the same name: %s"
                         % name)


def named(var_list):
    """{name in checkpoints: variable, slices or saveable} of a list."""
    if not isinstance(var_list, (list, tuple, set)):
        raise TypeError("Variables to save should be passed in a dict or a "
                        "list: %s" % (var_list,))
    names = {}
    for var in sorted(var_list, key=lambda v: str(getattr(v, "name", v))):
        if isinstance(var, (SaveableObject, PartitionedVariable)):
            _check_names(var.name, names)
            names[var.name] = var
            continue
        found = _as_variable(var)
        if found is None:
            raise TypeError("Variable to save is not a Variable: %s" % (var,))
        info = getattr(found, "_save_slice_info", None)
        if info is not None:
            slices = names.setdefault(info.full_name, [])
            if not isinstance(slices, list):
                raise ValueError("Mixing slices and non-slices with the same "
                                 "name: %s" % info.full_name)
            slices.append(found)
            continue
        name = found._shared_name if isinstance(found, Variable) else (
            found.op.name)
        _check_names(name, names)
        names[name] = found
    return names


def op_list_to_dict(op_list, convert_variable_to_tensor=True):
    """What named() gives; variables stay variables, which have the `op` and the
    `device` that TensorFlow's tensors have."""
    del convert_variable_to_tensor
    return named(op_list)


def _of_slices(name, slices):
    whole = None
    for var in slices:
        if not isinstance(var, Variable):
            raise ValueError("Slices must all be Variables: %s" % (var,))
        info = var._get_save_slice_info()
        if info is None:
            raise ValueError("Slices must all be slices: %s" % var)
        if whole not in (None, info.full_name):
            raise ValueError("Slices must all be from the same tensor: %s != %s"
                             % (whole, info.full_name))
        whole = info.full_name
        yield saveable_of(var, info.spec, name)


def saveables(names):
    """The SaveableObjects of {name: variable, slices or saveable}, by name."""
    is_listed = not isinstance(names, dict)
    if is_listed:
        names = named(names)
    for name, item in names.items():
        if not isinstance(name, str):
            raise TypeError("names_to_saveables must be a dict mapping string "
                            "names to trackable operations. Name is not a "
                            "string: %s" % (name,))
    found, seen = [], set()
    for name, item in sorted(names.items()):
        if isinstance(item, (list, tuple, PartitionedVariable)):
            new = list(_of_slices(name, item))
        elif isinstance(item, SaveableObject):
            new = [item]
        else:
            var = _as_variable(item)
            if var is None:
                raise TypeError(
                    "names_to_saveables must be a dict mapping string names to "
                    "Tensors/Variables. Not a variable: %s" % (item,))
            new = [saveable_of(var, "", name, not is_listed)]
        for saveable in new:
            key = id(saveable.op)
            if key in seen:
                raise ValueError("The same saveable will be restored with two "
                                 "names: %s" % saveable.name)
            seen.add(key)
        found += new
    return found


def all_saveables(scope=None):
    """The global variables and other saved objects of the default graph."""
    graph = get_default_graph()
    return (graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
            + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope))


def shape_of(saveable):
    """The shape that a restored value is brought to: a list, or a tensor where
    it is not known."""
    shape = saveable.op.get_shape()
    if shape.is_fully_defined():
        return shape.as_list()
    return _raw.Shape(convert_to_tensor(saveable.op))
