"""What is in a checkpoint, read without a graph; and variables that begin with
values of one."""
import os

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._src.framework.graph import device, get_default_graph, init_scope
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.framework.text_compat import as_text
from headrace._src.platform import tf_logging as logging
from headrace._src.training.checkpoint_management import existing_checkpoint
from headrace._src.variables.base import Variable
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.saveables import saveable_of


_ENUM_NAMES = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE"}


class CheckpointReader:
    """The tensors of a checkpoint of version 1 or 2. NotFoundError if there is
    none, DataLossError if its files are damaged."""

    def __init__(self, filename):
        self._reader = _headrace.CheckpointReader(as_text(os.fspath(filename)))
        self._entries = self._reader.entries()

    def get_variable_to_shape_map(self):
        """{name: shape as a list}."""
        return {name: list(shape) for name, (_, shape)
                in self._entries.items()}

    def get_variable_to_dtype_map(self):
        """{name: DType}."""
        return {name: dtype for name, (dtype, _) in self._entries.items()}

    def has_tensor(self, tensor_str):
        return as_text(tensor_str) in self._entries

    def get_tensor(self, tensor_str):
        """The value as a NumPy array. NotFoundError for an unknown name."""
        return self._reader.read(as_text(tensor_str))

    def debug_string(self):
        """A line for each tensor: name, type, shape."""
        return "".join(
            "%s (DT_%s) [%s]\n" % (
                name, _ENUM_NAMES.get(dtype.name, dtype.name.upper()),
                ",".join(map(str, shape)))
            for name, (dtype, shape) in sorted(self._entries.items())).encode()


def NewCheckpointReader(filepattern):
    """A CheckpointReader for a checkpoint's prefix; or for the pattern of the
    files of a checkpoint of version 1.

    get_tensor() gives an array of the tensor's shape and dtype;
    get_variable_to_shape_map() and get_variable_to_dtype_map() tell them.
    NotFoundError for files or tensors that there are not; DataLossError for
    damaged ones."""
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file):
    """A CheckpointReader for a checkpoint's prefix, or for the newest
    checkpoint of a folder. ValueError for a folder that lists none."""
    return CheckpointReader(existing_checkpoint(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file, name):
    """The value of a variable in a checkpoint, a NumPy array; `name` may end in
    ":0"."""
    name = as_text(name)
    return load_checkpoint(ckpt_dir_or_file).get_tensor(
        name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file):
    """[(name, shape)] of a checkpoint, by name."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())


# init_from_checkpoint.

def _graph_variables(name):
    """The variables that get_variable made under this name: a Variable, or the
    list of a partitioned one's slices; None."""
    scopes = get_default_graph()._variable_scopes
    made = scopes._vars if scopes else {}
    if name in made:
        return made[name]
    parts = []
    while "%s/part_%d" % (name, len(parts)) in made:
        parts.append(made["%s/part_%d" % (name, len(parts))])
    return parts or None


def _scope_names(scope):
    """{name within the scope: full name} of what get_variable made in it."""
    scopes = get_default_graph()._variable_scopes
    names = {}
    for name in (scopes._vars if scopes else {}):
        if not scope or name.startswith(scope + "/"):
            full, _, part = name.rpartition("/part_")
            if part.isdigit() and full:
                name = full
            names[name[len(scope) + 1:] if scope else name] = name
    return names


def _describe(variable):
    first = variable[0] if isinstance(variable, list) else variable
    info = first._get_save_slice_info()
    if info is not None and isinstance(variable, list):
        return info.full_name, TensorShape(info.full_shape)
    return first.op.name, first.get_shape()


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Makes the initializers of variables take values of a checkpoint.

    `assignment_map`: {name or scope in the checkpoint: name, scope or variable
    of the graph}; scopes end in "/". A list of pairs is taken too. The variables
    get their values when their initializers run; nothing is restored now.
    ValueError for a tensor that the checkpoint does not have, a variable that
    the graph does not have, and shapes that differ."""
    path = existing_checkpoint(ckpt_dir_or_file)
    reader = CheckpointReader(path)
    shapes = reader.get_variable_to_shape_map()
    pairs = (assignment_map.items() if hasattr(assignment_map, "items")
             else assignment_map)
    for source, target in sorted(pairs, key=lambda pair: pair[0]):
        if isinstance(target, PartitionedVariable):
            target = list(target)
        if isinstance(target, (Variable, list)):
            _take(path, shapes, source, target)
            continue
        if "/" in source and source.endswith("/") or source == "/":
            _take_scope(path, shapes, source, target)
            continue
        variable = _graph_variables(target)
        if variable is None:
            raise ValueError("Assignment map with scope only name %s should map "
                             "to scope only %s. Should be 'scope/': "
                             "'other_scope/'." % (target, source)
                             if target.endswith("/") else
                             "A variable %s, to be initialised from %s, is not "
                             "in the graph: get_variable has not made it"
                             % (target, source))
        _take(path, shapes, source, variable)


def _take_scope(path, shapes, source, target):
    if not target.endswith("/"):
        raise ValueError(
            "Assignment map with scope only name %s should map to scope only "
            "%s. Should be 'scope/': 'other_scope/'." % (source, target))
    source, scope = source.rstrip("/"), target.rstrip("/")
    for name, full in sorted(_scope_names(scope).items()):
        key = "%s/%s" % (source, name) if source else name
        if key not in shapes:
            raise ValueError(
                "Tensor %s (%s in %s) is not found in %s checkpoint"
                % (key, name, target, path))
        _take(path, shapes, key, _graph_variables(full))


def _take(path, shapes, key, variable):
    if key not in shapes:
        raise ValueError("Tensor %s is not found in %s checkpoint %s"
                         % (key, path, sorted(shapes)))
    name, shape = _describe(variable)
    if not shape.is_compatible_with(shapes[key]):
        raise ValueError(
            "Shape of variable %s (%s) doesn't match with shape of tensor %s "
            "(%s) from checkpoint reader."
            % (name, shape, key, shapes[key]))
    for var in variable if isinstance(variable, list) else [variable]:
        info = var._get_save_slice_info()
        spec = info.spec if info is not None and (
            isinstance(variable, list)) else ""
        _initialize_from(var, path, key, spec)
    logging.debug("Initialize variable %s from checkpoint %s with %s",
                  name, path, key)


def _initialize_from(var, path, key, spec):
    """Gives the variable an initializer that reads the checkpoint."""
    saveable = saveable_of(var, spec, key)
    with init_scope(), device("/cpu:0"):
        value, = _raw.RestoreV2(path, [key], [spec], [var.dtype.base_dtype],
                                name="checkpoint_initializer")
    value.set_shape(var.get_shape())
    assigned = saveable.restore([value], None)
    var._initializer_op = getattr(assigned, "op", assigned)
    var._initial_value = value
