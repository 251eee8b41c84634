"""tensorflow.python.framework.meta_graph and training.saver_test_utils: parts of
graphs out and in again, and an op of tests that savers save."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import GraphKeys, get_default_graph
from headrace._src.compat.graphs import strip_name_scope
from headrace._src.training import global_step as _global_step
from headrace._src.training import meta_graph as _meta_graph
from headrace._src.training.checkpoint_management import write_state
from headrace._src.variables.saveables import SaveableObject, SaveSpec
from headrace._src.variables.variables import Variable

UNBOUND_INPUT_PREFIX = _meta_graph._UNBOUND


def export_scoped_meta_graph(filename=None, graph_def=None, graph=None,
                             export_scope=None, as_text=False,
                             unbound_inputs_col_name="unbound_inputs",
                             clear_devices=False, saver_def=None,
                             clear_extraneous_savers=False,
                             strip_default_attrs=False, save_debug_info=False,
                             **kwargs):
    """(MetaGraphDef of what is in a name scope, {name without the scope:
    variable}). Inputs from outside are named in the collection
    unbound_inputs_col_name."""
    graph = graph or get_default_graph()
    meta_graph_def = _meta_graph.export_meta_graph(
        filename, graph_def=graph_def, saver_def=saver_def, as_text=as_text,
        graph=graph, export_scope=export_scope, clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info, **kwargs)
    collections = meta_graph_def.collection_def
    key = _meta_graph._UNBOUND_KEY
    if key in collections and unbound_inputs_col_name != key:
        if unbound_inputs_col_name:
            collections[unbound_inputs_col_name].CopyFrom(collections[key])
        del collections[key]
    variables = graph.get_collection(
        GraphKeys.GLOBAL_VARIABLES,
        scope=export_scope and export_scope.rstrip("/") + "/")
    return meta_graph_def, {
        strip_name_scope(v.name, export_scope): v for v in variables}


def import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices=False, graph=None, import_scope=None,
        input_map=None, unbound_inputs_col_name="unbound_inputs",
        restore_collections_predicate=lambda key: True, return_elements=None):
    """({name without the scope: variable} of a meta graph that is added to
    `graph`, what return_elements names)."""
    graph = graph or get_default_graph()
    with graph.as_default():
        _, scope, elements = _meta_graph.import_scoped_meta_graph(
            meta_graph_or_file, clear_devices, import_scope, input_map,
            unbound_inputs_col_name, restore_collections_predicate,
            return_elements)
        prefix = scope and scope.rstrip("/") + "/"
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES,
                                         scope=prefix or None)
    return {strip_name_scope(v.name, scope): v for v in variables}, elements


def import_scoped_meta_graph(
        meta_graph_or_file, clear_devices=False, graph=None, import_scope=None,
        input_map=None, unbound_inputs_col_name="unbound_inputs",
        restore_collections_predicate=lambda key: True):
    """{name without the scope: variable} of a meta graph that is added to
    `graph`."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map,
        unbound_inputs_col_name, restore_collections_predicate)[0]


def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None,
                           to_graph=None):
    """Copies what is in a name scope into another: {name without the scope:
    variable of the copy}."""
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different "
                         "when performing copy in the same graph.")
    meta_graph_def, _ = export_scoped_meta_graph(export_scope=from_scope,
                                                 graph=from_graph)
    return import_scoped_meta_graph(meta_graph_def, graph=to_graph,
                                    import_scope=to_scope)


def ops_used_by_graph_def(graph_def):
    """The names of the ops of its nodes, those of its functions too."""
    return set(_meta_graph._ops_of(graph_def))


def stripped_op_list_for_graph(graph_def):
    """The OpDefs of the ops of its nodes, without descriptions. ValueError for
    an op that there is not."""
    used = _meta_graph._ops_of(graph_def)
    found = _meta_graph._op_defs(used)
    functions = {f.signature.name for f in graph_def.library.function}
    missing = sorted(set(used) - {op.name for op in found.op} - functions)
    if missing:
        raise ValueError("Op %s is used by the graph, but is not registered"
                         % ", ".join(missing))
    return found


def update_checkpoint_state_internal(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
        latest_filename=None, save_relative_paths=False,
        all_model_checkpoint_timestamps=None,
        last_preserved_timestamp=None):
    """Writes the file that tells the latest checkpoint of a directory.
    RuntimeError if that is the file of the checkpoint itself."""
    from headrace._src.training import checkpoint_management as management
    if management._state_path(save_dir,
                              latest_filename) == model_checkpoint_path:
        raise RuntimeError(
            "Save path '%s' conflicts with path used for checkpoint state.  "
            "Please use a different save path." % model_checkpoint_path)
    write_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths,
                latest_filename, save_relative_paths,
                all_model_checkpoint_timestamps, last_preserved_timestamp)


def prefix_to_checkpoint_path(prefix, format_version):
    """The path of a checkpoint's file by its prefix."""
    return prefix + ".index" if format_version == 2 else prefix


class CheckpointedOp:
    """A table of strings to floats that savers save, for tests."""

    def __init__(self, name, table_ref=None):
        if table_ref is None:
            table_ref = _raw.MutableHashTableV2(
                key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self.table_ref = table_ref
        self.name = name
        self.saveable = self.CustomSaveable(self, name)
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS,
                                              self.saveable)

    def insert(self, keys, values):
        return _raw.LookupTableInsertV2(self.table_ref, keys, values)

    def lookup(self, keys, default):
        return _raw.LookupTableFindV2(self.table_ref, keys, default)

    def keys(self):
        return self._export()[0]

    def values(self):
        return self._export()[1]

    def _export(self):
        return _raw.LookupTableExportV2(self.table_ref, dtypes.string,
                                        dtypes.float32)

    class CustomSaveable(SaveableObject):
        def __init__(self, table, name):
            keys, values = table._export()
            super().__init__(table, [SaveSpec(keys, "", name + "-keys"),
                                     SaveSpec(values, "", name + "-values")],
                             name)

        def restore(self, restored_tensors, restored_shapes):
            return _raw.LookupTableImportV2(self.op.table_ref,
                                            *restored_tensors)


# The step that sessions of several steps read.

def get_global_step_read(graph=None):
    """The tensor that hooks fetch as the global step, or None."""
    graph = graph or get_default_graph()
    with graph.as_default():
        found = graph.get_collection(_global_step.GLOBAL_STEP_READ_KEY)
        if len(found) > 1:
            raise RuntimeError(
                "There are multiple items in collection %s. There should be "
                "only one." % _global_step.GLOBAL_STEP_READ_KEY)
        return found[0] if found else None


def get_or_create_global_step_read(graph=None):
    """The tensor that hooks fetch as the global step; None if there is no
    step."""
    graph = graph or get_default_graph()
    with graph.as_default():
        return _global_step.get_or_create_read(create=False)


def increment_global_step(increment, graph=None):
    """Adds to the global step, which must be there. ValueError if it is
    not."""
    graph = graph or get_default_graph()
    step = _global_step.get_global_step(graph)
    if step is None:
        raise ValueError("Global step tensor should be created by "
                         "tf.train.get_or_create_global_step before calling "
                         "increment.")
    read = get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(
            step.op.name + "/"), g.control_dependencies([read]):
        if isinstance(step, Variable):
            return step.assign_add(increment)
        return _raw.AssignAdd(step, increment)
