"""import_graph_def, and graphs as files."""
import contextlib
import os

from headrace import _headrace
from headrace._loading import load
from headrace._src.framework import messages
from headrace._src.framework.errors import DataLossError
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor import convert_to_tensor


def _unknown_defaults(op_list):
    """{op: {attr: default}} of the attrs with defaults in an OpList that our
    ops of the same names do not have."""
    unknown = {}
    for op in op_list.op:
        ours = _headrace.op_def(op.name)
        if ours is None:
            continue
        names = {attr.name for attr in ours.attr}
        defaults = {attr.name: attr.default_value for attr in op.attr
                    if attr.name not in names
                    and attr.HasField("default_value")}
        if defaults:
            unknown[op.name] = defaults
    return unknown


def _read_graph_def(path, graph_def):
    """Reads a file with a GraphDef, binary or text, into `graph_def`. False if
    that fails."""
    try:
        with open(path, "rb") as f:
            data = f.read()
        try:
            graph_def.ParseFromString(data)
        except DataLossError:
            graph_def.MergeText(data.decode())
    except (OSError, ValueError):
        return False
    return True


def _drop_unknown_defaults(graph_def, op_list):
    """`graph_def` (as import_graph_def takes it), or, if its nodes may have
    attrs from `op_list` that our ops do not know, a copy without those that
    have their defaults: the ops compute the same without them."""
    unknown = _unknown_defaults(op_list)
    if not unknown:
        return graph_def
    copy = messages.GraphDef()
    if isinstance(graph_def, str):
        if not _read_graph_def(graph_def, copy):
            return graph_def  # the import says why
    elif isinstance(graph_def, bytes):
        copy.ParseFromString(graph_def)
    else:
        copy.CopyFrom(graph_def)
    for nodes in [copy.node] + [f.node_def for f in copy.library.function]:
        for node in nodes:
            defaults = unknown.get(node.op, {})
            for name in [n for n in node.attr if n in defaults
                         and node.attr[n] == defaults[n]]:
                del node.attr[name]
    return copy


def import_graph_def(graph_def, input_map=None, return_elements=None,
                     name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef (or its bytes) to the default graph, under
    the scope `name` ("import" by default).

    A pathlib.Path, or another os.PathLike, names a file of one, binary or text.
    It is mapped and not read whole: loading is faster and takes less memory.
    The file must not be written over in place while the graph is in use.

    `input_map`: {"node:0" of the GraphDef: Tensor to take instead}.
    `producer_op_list`: an OpList, the ops as the program that wrote the
    GraphDef knows them. An attr that only that program knows is left out if it has its
    default there.
    Returns the Tensors and Operations that `return_elements` names. ValueError
    for a GraphDef that is not valid; the graph is unchanged then.

    The tensors have the dtypes and shapes that the ops' shape functions find.
    TypeError for what is no GraphDef and for an input_map that is no dict."""
    if isinstance(graph_def, os.PathLike):
        graph_def = os.fsdecode(graph_def)
    elif (not isinstance(graph_def, bytes)
            and type(graph_def) is not messages.GraphDef):
        # Protobuf's own Python classes, as those of TensorFlow.
        if not hasattr(graph_def, "SerializeToString"):
            raise TypeError(
                "graph_def must be a GraphDef proto, its bytes, or a "
                "pathlib.Path of a file that holds one, but got %r%s"
                % (graph_def, "; for the file of that name, give "
                   "pathlib.Path(%r)" % graph_def
                   if isinstance(graph_def, str) else ""))
        graph_def = messages.GraphDef.FromString(
            graph_def.SerializeToString())
    if producer_op_list is not None:
        graph_def = _drop_unknown_defaults(graph_def, producer_op_list)
    if return_elements is not None:
        if isinstance(return_elements, (str, bytes)) or not all(
                isinstance(x, (str, bytes)) for x in return_elements):
            raise TypeError("return_elements must be a list of strings.")
        return_elements = [_text(x) for x in return_elements]
    graph = get_default_graph()
    mapped = []
    if not isinstance(input_map or {}, dict):
        raise TypeError("input_map must be a dictionary mapping strings to "
                        "Tensor objects.")
    for key, value in (input_map or {}).items():
        if not isinstance(key, (str, bytes)):
            raise TypeError("input_map must be a dictionary mapping strings to "
                            "Tensor objects.")
        key = _text(key)
        if key.startswith("^"):
            mapped.append((key, graph.as_graph_element(value)))
        else:
            with graph.as_default():
                mapped.append((key, convert_to_tensor(value)))
    prefix = "import" if name is None else name
    if prefix:
        prefix = (prefix[:-1] if prefix.endswith("/")
                  else graph.unique_name(prefix))
    context = graph._flow_context
    known = 0 if context is None else len(graph.get_operations())
    with _without_device(graph):
        first = graph._last_id
        found = graph._import_graph_def(graph_def, prefix, mapped,
                                        list(return_elements or ()))
    if context is not None:
        load("_src.control.contexts").adopt_imported(
            context, graph.get_operations()[known:])
    if graph._device_stack:
        _place(graph, first)
    return None if return_elements is None else found


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


@contextlib.contextmanager
def _without_device(graph):
    """Nodes that are imported keep the devices that their NodeDefs have."""
    device, graph._device = graph._device, ""
    try:
        yield
    finally:
        graph._device = device


def _place(graph, first):
    """Gives the nodes from an id on the devices that the blocks around ask for,
    beside those they have; those that stand beside a node of the graph have
    the device of that one."""
    beside = []
    for node_id in range(first, graph._last_id):
        op = graph._operation_by_id(node_id)
        if op is None:
            continue
        others = [group[5:].decode() for group in op.colocation_groups()
                  if group.startswith(b"loc:@")
                  and group[5:].decode() != op.name]
        if others:
            beside.append((op, others))
            continue
        own = op.device
        with graph.device(own) if own else contextlib.nullcontext():
            graph._apply_device_functions(op)
    for op, others in beside:
        found = (graph._operation(name) for name in others)
        op._set_device(next((o.device for o in found if o and o.device), ""))


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a GraphDef to logdir/name, as text or, unless `as_text`, as bytes,
    and returns that path, a string.

    `graph_or_graph_def`: a Graph or GraphDef, with nodes of any shape and
    dtype. The folder is made if it is missing; an OpError such as
    PermissionDeniedError where that may not be."""
    graph_def = graph_or_graph_def
    if hasattr(graph_def, "as_graph_def"):
        graph_def = graph_def.as_graph_def()
    os.makedirs(logdir or ".", exist_ok=True)
    path = os.path.join(logdir, name)
    data = str(graph_def).encode() if as_text else (
        graph_def.SerializeToString())
    file = os.path.realpath(path)  # a link stays one
    with open(file + ".tmp", "wb") as f:
        f.write(data)
    os.replace(file + ".tmp", file)
    return path
