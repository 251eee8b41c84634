"""MetaGraphDefs: a graph with its collections, and what saves it.

Collections travel as the names of nodes, as numbers and strings, or, for those
of PROTOS, as messages that describe variables, savers and queue runners.
"""
import contextlib
import functools
import numbers
import os

from headrace import _headrace
from headrace._headrace import Message
from headrace._loading import load
from headrace._src.framework import errors, messages
from headrace._src.framework.graph import Graph, GraphKeys, get_default_graph
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.newer_attrs import (
    drop_newer_attrs, drop_newer_definitions)
from headrace._src.framework.text_compat import as_bytes, as_str
from headrace._src.platform import tf_logging as logging
from headrace._src.platform.durable import write_atomically
from headrace._src.variables.records import under_scope, without_scope

_UNBOUND = "$unbound_inputs_"
_UNBOUND_KEY = "unbound_inputs"

_VARIABLE = ("VariableDef", "_src.variables.base", "Variable")
# Collection: (message, module of the class, class). The class has to_proto() and
# from_proto().
PROTOS = {
    GraphKeys.GLOBAL_VARIABLES: _VARIABLE,
    GraphKeys.TRAINABLE_VARIABLES: _VARIABLE,
    GraphKeys.LOCAL_VARIABLES: _VARIABLE,
    GraphKeys.MODEL_VARIABLES: _VARIABLE,
    GraphKeys.MOVING_AVERAGE_VARIABLES: _VARIABLE,
    GraphKeys.METRIC_VARIABLES: _VARIABLE,
    GraphKeys.GLOBAL_STEP: _VARIABLE,
    GraphKeys.QUEUE_RUNNERS: ("QueueRunnerDef", "_src.training.coordinator",
                              "QueueRunner"),
    GraphKeys.SAVERS: ("SaverDef", "_src.training.saver", "Saver"),
}


# What programs registered: {collection: (message, to_proto, from_proto)}.
registered: dict = {}


def proto_functions(key):
    """(message, to_proto(item, export_scope=), from_proto(message,
    import_scope=)) of a collection, or None."""
    if key in registered:
        return registered[key]
    if key not in PROTOS:
        return None
    message, module, name = PROTOS[key]
    cls = getattr(load(module), name)
    return getattr(messages, message), cls.to_proto, cls.from_proto


# Collections out.

def _name_in_scope(item, scope):
    """The name of an item for a node_list; None if it is outside of `scope`."""
    name = item.name
    if scope and not name.startswith(scope.rstrip("/") + "/"):
        return None
    return without_scope(name, scope)


def _fill_collection(out, graph, key, items, scope, excluded):
    first = items[0]
    functions = proto_functions(key)
    if functions is not None and functions[1] is not None:
        for item in items:
            proto = (item.to_proto if key in PROTOS and key not in registered
                     else functools.partial(functions[1], item))(
                         export_scope=scope)
            if proto is not None:
                out.bytes_list.value.append(proto.SerializeToString())
    elif isinstance(first, Message) or hasattr(first, "SerializeToString"):
        for item in items:
            if type(item).__name__ == "Any":
                # It may be a class of the package protobuf.
                out.any_list.value.add().MergeFromString(
                    item.SerializeToString())
            else:
                raise TypeError("a message of type %s" % type(item).__name__)
    elif isinstance(first, (bytes, str)):
        out.bytes_list.value.extend([as_bytes(item) for item in items])
    elif isinstance(first, numbers.Integral):
        out.int64_list.value.extend([int(item) for item in items])
    elif isinstance(first, numbers.Real):
        out.float_list.value.extend([float(item) for item in items])
    else:
        for item in items:
            graph.as_graph_element(item.name)  # fails for what is no node
            name = _name_in_scope(item, scope)
            if name is not None and _node_of(name) not in excluded:
                out.node_list.value.append(name)


def add_collection_def(meta_graph_def, key, graph=None, export_scope=None,
                       excluded=()):
    """Writes a collection of the graph into the message. A collection that
    cannot be written is left out, with a warning."""
    graph = graph or get_default_graph()
    items = graph.get_collection(key)
    if not items:
        return
    out = messages.CollectionDef()
    try:
        _fill_collection(out, graph, key, items, export_scope, excluded)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        logging.warning("The collection %s is not exported: its items are of "
                        "types that no meta graph holds (%s)", key, error)
        return
    if out.WhichOneof("kind") is not None:
        meta_graph_def.collection_def[key].CopyFrom(out)


# Graphs out.

def _node_of(name):
    return name.lstrip("^").partition(":")[0]


def _saver_nodes(graph):
    """The names of the scopes that savers of the collection made."""
    scopes = set()
    for saver in graph.get_collection(GraphKeys.SAVERS):
        if saver.saver_def is not None:
            scopes.add(saver.saver_def.restore_op_name.rpartition("/")[0])
    return scopes


def _in_any(name, scopes):
    return any(name.startswith(s + "/") for s in scopes if s)


def _rename_node(node, scope, unbound):
    """Takes a node out of its scope: its name, inputs and colocation."""
    prefix = scope + "/"
    node.name = node.name[len(prefix):]
    for i, name in enumerate(node.input):
        if _node_of(name).startswith(prefix):
            node.input[i] = without_scope(name, scope)
        else:
            node.input[i] = _UNBOUND + name.lstrip("^")
            unbound.add(node.input[i])
    if "_class" in node.attr:
        groups = list(node.attr["_class"].list.s)
        kept = [without_scope(g.decode(), scope).encode() for g in groups
                if not g.startswith(b"loc:@")
                or g[5:].decode().startswith(prefix)]
        node.attr["_class"].list.ClearField("s")
        if kept:
            node.attr["_class"].list.s.extend(kept)
        else:
            del node.attr["_class"]


def _copy_graph_def(graph_def, scope, clear_devices, excluded, unbound):
    out = messages.GraphDef()
    out.CopyFrom(graph_def)
    if scope or excluded:
        out.ClearField("node")
        for node in graph_def.node:
            if ((not scope or node.name.startswith(scope + "/"))
                    and not _in_any(node.name, excluded)):
                new = out.node.add()
                new.CopyFrom(node)
                if scope:
                    _rename_node(new, scope, unbound)
    if clear_devices:
        for node in out.node:
            node.device = ""
    return out


@contextlib.contextmanager
def naming(what, kinds=(KeyError, ValueError)):
    """Errors of a graph that is damaged are ValueErrors that begin with
    `what`."""
    try:
        yield
    except kinds as error:
        raise ValueError("%s: %s" % (what, error.args[0] if isinstance(
            error, KeyError) else error)) from error


def all_nodes(graph_def):
    """The nodes of a GraphDef, those in functions too."""
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


def _ops_of(graph_def):
    """The names of the ops of a graph's nodes, those in functions too."""
    functions = {f.signature.name for f in graph_def.library.function}
    return sorted({node.op for node in all_nodes(graph_def)} - functions)


def _op_defs(names):
    """The definitions of ops, by name; what the registry lacks is left out."""
    found = messages.OpList()
    for name in names:
        proto = _headrace.op_def(name)
        if proto is not None:
            found.op.add().CopyFrom(proto)
    return found


def _strip_defaults(graph_def, op_list):
    """Drops the attrs that equal their defaults."""
    defaults = {op.name: {a.name: a.default_value for a in op.attr
                          if a.HasField("default_value")}
                for op in op_list.op}
    for node in all_nodes(graph_def):
        known = defaults.get(node.op, {})
        for name in [n for n in node.attr if n in known
                     and node.attr[n] == known[n]]:
            del node.attr[name]


def strip_graph_default_valued_attrs(meta_graph_def):
    """Drops the attrs of its nodes that equal their defaults, and notes it."""
    _strip_defaults(meta_graph_def.graph_def,
                    _op_defs(_ops_of(meta_graph_def.graph_def)))
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def create_meta_graph_def(meta_info_def=None, graph_def=None, saver_def=None,
                          collection_list=None, graph=None, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False,
                          strip_default_attrs=False):
    """A MetaGraphDef of `graph`, by default the default graph. See
    export_meta_graph."""
    if graph is None:
        graph = get_default_graph()
    if not isinstance(graph, Graph):
        raise TypeError("graph must be of type Graph, not %s" % type(graph))
    if saver_def is not None and not isinstance(saver_def, messages.SaverDef):
        raise TypeError("saver_def must be of type SaverDef, not %s"
                        % type(saver_def))
    for what, value, kind in (
            ("graph_def", graph_def, messages.GraphDef),
            ("meta_info_def", meta_info_def,
             messages.MetaGraphDef.MetaInfoDef)):
        if value is not None and not isinstance(value, kind) and not hasattr(
                value, "SerializeToString"):
            raise TypeError("%s must be of type %s, not %s"
                            % (what, kind.__name__, type(value)))
    scope = export_scope.rstrip("/") if export_scope else ""
    out = messages.MetaGraphDef()
    if meta_info_def is not None:
        out.meta_info_def.CopyFrom(meta_info_def)
    excluded = set()
    if clear_extraneous_savers:
        excluded = _saver_nodes(graph)
        if saver_def is not None:
            excluded.discard(saver_def.restore_op_name.rpartition("/")[0])
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    unbound = set()
    out.graph_def.CopyFrom(_copy_graph_def(
        graph_def, scope, clear_devices, excluded, unbound))
    if not out.meta_info_def.stripped_op_list.op:
        out.meta_info_def.stripped_op_list.CopyFrom(
            _op_defs(_ops_of(out.graph_def)))
    drop_newer_attrs(out.graph_def)
    drop_newer_definitions(out.graph_def, out.meta_info_def.stripped_op_list)
    if strip_default_attrs:
        _strip_defaults(out.graph_def, out.meta_info_def.stripped_op_list)
    out.meta_info_def.stripped_default_attrs = strip_default_attrs
    out.meta_info_def.tensorflow_version = "1.15.5"
    if saver_def is not None:
        out.saver_def.CopyFrom(saver_def)
    keys = (graph.get_all_collection_keys() if collection_list is None
            else collection_list)
    gone = {node.name for node in graph_def.node
            if _in_any(node.name, excluded)}
    for key in keys:
        if key == GraphKeys.SAVERS and clear_extraneous_savers:
            continue
        # What is saved beside variables is no message.
        if isinstance(key, str) and key not in (
                _UNBOUND_KEY, GraphKeys.SAVEABLE_OBJECTS):
            add_collection_def(out, key, graph, scope or None, gone)
    for name in sorted(unbound):
        out.collection_def[_UNBOUND_KEY].bytes_list.value.append(name.encode())
    return out


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None,
                      saver_def=None, collection_list=None, as_text=False,
                      graph=None, export_scope=None, clear_devices=False,
                      clear_extraneous_savers=False, strip_default_attrs=False,
                      save_debug_info=False, **kwargs):
    """The graph as a MetaGraphDef, also written to the file `filename`.

    `graph_def`: what is written in place of `graph`, the default graph.
    `collection_list`: the collections that are written, by default all.
    `export_scope`: only the nodes in this name scope, whose prefix they lose;
    inputs from outside are bound again by import_meta_graph's input_map.
    Attrs that TensorFlow 1.15 does not know are left out where they have their
    defaults. `clear_devices`: without the devices of nodes. `clear_extraneous_savers`:
    without the nodes of savers other than `saver_def`'s. `strip_default_attrs`:
    without attrs that have their default values."""
    if kwargs:
        raise TypeError("export_meta_graph() got an unexpected keyword "
                        "argument %r" % next(iter(kwargs)))
    if save_debug_info:
        raise NotImplementedError(
            "export_meta_graph: save_debug_info=True is not supported; the "
            "lines of the program that made the nodes are not written")
    meta_graph_def = create_meta_graph_def(
        meta_info_def, graph_def, saver_def, collection_list, graph,
        export_scope, clear_devices, clear_extraneous_savers,
        strip_default_attrs)
    if filename:
        data = (str(meta_graph_def).encode() if as_text
                else meta_graph_def.SerializeToString())
        write_atomically(filename, data)
    return meta_graph_def


# Graphs in.

def read_meta_graph_file(filename):
    """The MetaGraphDef of a file, binary or text. OSError if there is none, or
    it is no such file."""
    filename = os.fspath(filename)
    try:
        with open(filename, "rb") as f:
            data = f.read()
    except (FileNotFoundError, IsADirectoryError):
        raise OSError("File %s does not exist." % as_str(filename)) from None
    try:
        return messages.MetaGraphDef.FromString(data)
    except Exception:  # then it may be text
        pass
    try:
        meta_graph_def = messages.MetaGraphDef()
        meta_graph_def.MergeText(data.decode())
        return meta_graph_def
    except UnicodeDecodeError:
        raise OSError(
            "Cannot parse file %s: its %d bytes are no MetaGraphDef, or only "
            "a part of one." % (as_str(filename), len(data))) from None
    except ValueError as error:
        raise OSError("Cannot parse file %s: %s."
                      % (as_str(filename), error)) from None


def _as_meta_graph_def(meta_graph_or_file):
    if isinstance(meta_graph_or_file, messages.MetaGraphDef):
        return meta_graph_or_file
    if isinstance(meta_graph_or_file, (str, bytes, os.PathLike)):
        return read_meta_graph_file(meta_graph_or_file)
    if hasattr(meta_graph_or_file, "SerializeToString"):
        # Protobuf's own Python classes, as those of TensorFlow.
        return messages.MetaGraphDef.FromString(
            meta_graph_or_file.SerializeToString())
    raise TypeError("meta_graph_or_file must be a MetaGraphDef or the name of "
                    "a file, but got %r" % (meta_graph_or_file,))


def _read_collection(graph, key, collection, scope, known):
    kind = collection.WhichOneof("kind")
    if kind is None:
        logging.error("Cannot identify data type for collection %s. Skipping.",
                      key)
        return
    values = getattr(collection, kind).value
    functions = proto_functions(key)
    if kind == "bytes_list" and functions is not None and (
            functions[2] is not None):
        for data in values:
            if data not in known:
                proto = functions[0].FromString(data)
                known[data] = functions[2](proto, import_scope=scope)
            graph.add_to_collection(key, known[data])
    elif kind == "node_list":
        for name in values:
            graph.add_to_collection(key, graph.as_graph_element(
                under_scope(name, scope)))
    elif kind == "bytes_list":
        for data in values:
            graph.add_to_collection(key, data)
    else:
        for value in values:
            graph.add_to_collection(key, value)


def _check_unbound(meta_graph_def, input_map, key):
    if key not in meta_graph_def.collection_def:
        return
    names = [as_str(v) for v
             in meta_graph_def.collection_def[key].bytes_list.value]
    missing = sorted({n for n in names if n not in (input_map or {})})
    if missing:
        raise ValueError("Graph contains unbound inputs: %s. Must provide these "
                         "inputs through input_map." % ",".join(missing))


def _with_frames_in(graph_def, scope):
    """`graph_def` with the frames of its loops named below `scope`: a loop may
    be imported into another that has its name."""
    enters = ("Enter", "RefEnter")
    if not scope or all(node.op not in enters for node in graph_def.node):
        return graph_def
    out = messages.GraphDef()
    out.CopyFrom(graph_def)
    for node in out.node:
        if node.op in enters:
            node.attr["frame_name"].s = b"%s/%s" % (
                scope.encode(), node.attr["frame_name"].s)
    return out


def import_scoped_meta_graph(meta_graph_or_file, clear_devices=False,
                             import_scope=None, input_map=None,
                             unbound_inputs_col_name=_UNBOUND_KEY,
                             restore_collections_predicate=lambda key: True,
                             return_elements=None):
    """Adds the nodes and collections to the default graph: (MetaGraphDef, scope
    that they are in, returned elements)."""
    graph = get_default_graph()
    graph._check_not_finalized()
    meta_graph_def = _as_meta_graph_def(meta_graph_or_file)
    if unbound_inputs_col_name:
        _check_unbound(meta_graph_def, input_map, unbound_inputs_col_name)
    graph_def = meta_graph_def.graph_def
    if clear_devices:
        graph_def = messages.GraphDef()
        graph_def.CopyFrom(meta_graph_def.graph_def)
        for node in graph_def.node:
            node.device = ""
    scope = graph.unique_name(import_scope, mark_as_used=False) if (
        import_scope) else ""
    inherited = graph.get_name_scope()
    full_scope = scope
    if inherited and not scope.startswith(inherited):
        full_scope = "%s/%s" % (inherited, scope) if scope else inherited
    elements = import_graph_def(
        _with_frames_in(graph_def, full_scope), name=import_scope or "", input_map=input_map,
        return_elements=return_elements,
        producer_op_list=meta_graph_def.meta_info_def.stripped_op_list)
    scope = full_scope
    known = {}  # a variable of several collections is one object
    for key in sorted(meta_graph_def.collection_def):
        if key != unbound_inputs_col_name and (
                restore_collections_predicate(key)):
            with naming("Collection %r of the MetaGraphDef does not fit its "
                        "graph" % key,
                        (KeyError, ValueError, errors.DataLossError)):
                _read_collection(graph, key, meta_graph_def.collection_def[key],
                                 scope, known)
    return meta_graph_def, scope, elements


def import_meta_graph(meta_graph_or_file, clear_devices=False,
                      import_scope=None, **kwargs):
    """Adds a MetaGraphDef, or that of a file, to the default graph: nodes and
    collections, under `import_scope`. Returns a Saver that saves and restores
    as the graph says; None if it has no variables.

    `clear_devices`: nodes forget their devices. kwargs: `input_map`, as
    import_graph_def has it. OSError for a missing or damaged file.

    Tensors have the shapes and dtypes of the graph that was written. ValueError
    for nodes that do not fit, RuntimeError when executing eagerly."""
    meta_graph_def, scope, _ = import_scoped_meta_graph(
        meta_graph_or_file, clear_devices, import_scope, **kwargs)
    return load("_src.training.saver").saver_of(meta_graph_def, scope)
