"""tf.contrib.graph_editor: copies of parts of a graph."""
from headrace._headrace import Operation, Tensor
from headrace._src.framework.graph import Graph
from headrace._src.graph_editor import reroute, select, subgraph, util


# Handlers: what a Transformer does with one element. `info` is its _TmpInfo.

def replace_t_with_placeholder_handler(info, t):
    """A placeholder of the shape and dtype of tensor `t`, in the graph and
    scope of the copy. TypeError if `t` is no tensor."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t):
    """Tensor `t` itself, if the copy is in the same graph; else a placeholder
    of its shape and dtype. TypeError if `t` is no tensor."""
    if info.graph is info.graph_:
        return t
    return replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info, elem, elem_):
    """Adds the copy `elem_` to the collections that have the operation or
    tensor `elem`, of any shape and dtype. Those that GraphKeys does not name
    get the copy's scope. ValueError for a collection outside the source
    scope."""
    for name, values in info.collections.items():
        if any(value is elem for value in values):
            known = name in util.get_predefined_collection_names()
            info.graph_.add_to_collection(
                name if known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """The copy of operation `op`, if it is copied, with outputs of any shape
    and dtype. Else `op` itself in the same graph, or None; without
    `keep_if_possible` always None. KeyError if its copy is not made yet."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info, op, new_inputs, copy_shape=False, nodedef_fn=None):
    """(copy, its outputs) of operation `op` in the graph of the copy.

    new_inputs: the tensors that it takes, of the dtypes that `op` takes.
    copy_shape: its outputs have the static shapes of those of `op`. nodedef_fn:
    a function from the copy's NodeDef to the one to use. TypeError if
    `new_inputs` is a bool; ValueError for inputs that do not fit."""
    if isinstance(new_inputs, bool):
        raise TypeError("copy_op_handler: new_inputs must be an iterable of "
                        "tensors, got: %s" % new_inputs)
    graph = info.graph_
    node_def = op.node_def
    node_def.name = graph.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node_def = nodedef_fn(node_def)
    new = _new_operation(graph, node_def, list(new_inputs))
    if copy_shape:
        for t, t_ in zip(op.outputs, new.outputs):
            t_.set_shape(t.shape)
    if graph is not info.graph and "PyFunc" in op.type:
        graph._py_functions.extend(f for f in info.graph._py_functions
                                   if f not in graph._py_functions)
    return new, new.outputs


def _new_operation(graph, node_def, inputs):
    """The node alone decides about its name, device and order: scopes of the
    graph do not."""
    scope, graph._name_scope = graph._name_scope, ""
    control = graph._suspend_control()
    try:
        new = graph.create_op(node_def.op, inputs, name=node_def.name + "/",
                              attrs=dict(node_def.attr))
    finally:
        graph._resume_control(control)
        graph._name_scope = scope
    new._set_device(node_def.device)
    return new


class TransformerInfo:
    """What a Transformer made: which operation or tensor is the copy of which.
    Tensors have any shape and dtype; a copy has the dtype of its original."""

    def __init__(self, info):
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _map_of(self, top):
        if isinstance(top, Operation):
            return self._transformed_ops
        if isinstance(top, Tensor):
            return self._transformed_ts
        raise TypeError("Expected a tf.Tensor or a tf.Operation, got a %s"
                        % type(top))

    def transformed(self, original, missing_fn=None):
        """The copy of an operation or tensor; for nested iterables, a nest of
        copies. `missing_fn` gives what stands for an element that has no copy;
        without it None does. TypeError for other things."""
        def copy_of(top):
            copies = self._map_of(top)
            if top in copies:
                return copies[top]
            return None if missing_fn is None else missing_fn(top)
        return util.transform_tree(original, copy_of)

    def original(self, transformed, missing_fn=None):
        """The operation or tensor that an element is the copy of. Arguments and
        errors are those of transformed."""
        def original_of(top):
            for old, new in self._map_of(top).items():
                if new is top:
                    return old
            return None if missing_fn is None else missing_fn(top)
        return util.transform_tree(transformed, original_of)

    def __str__(self):
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append("  Within graph[%d]%s" % (
                id(self._graph), "" if self._scope_ else " IN-PLACE"))
        else:
            lines.append("  graph[%d] => graph[%d]" % (id(self._graph),
                                                       id(self._graph_)))
        if self._scope:
            lines.append("  Relative to source scope: %s" % self._scope)
        if self._scope_:
            lines.append("  Scope destination: %s" % self._scope_)
        lines.append("Operations mapping:")
        lines += ["  %s => %s" % (op.name, op_.name)
                  for op, op_ in self._transformed_ops.items()]
        return "\n".join(lines) + "\n"


class _TmpInfo:
    """The state of one copy. Names that end in "_" are of the copy."""

    def __init__(self, sgv, dst_graph, dst_scope, src_scope):
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = util.ControlOutputs(sgv.graph)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops: dict = {}
        self.transformed_ts: dict = {}
        self.collections = {
            name: sgv.graph.get_collection(name)
            for name in sgv.graph.get_all_collection_keys()}
        self.cyclic_ops: list = []
        self.transform_original_op_handler = transform_op_if_inside_handler
        # Of loops: (tensor without a copy yet, what stands for it, its taker).
        self.tmp_cyclic_ts: list = []

    def new_name(self, name):
        """The copy's name. ValueError for a name outside the source scope."""
        if not name.startswith(self.scope):
            raise ValueError("%s does not belong to source scope: %s."
                             % (name, self.scope))
        return self.scope_ + name[len(self.scope):]


class Transformer:
    """Copies parts of graphs, with tensors of any shape and dtype. Its
    attributes are the functions that decide about single elements; programs set
    others: transform_op_handler(info, op, inputs) makes the copy,
    transform_control_input_handler(info, op) gives the control input,
    assign_collections_handler(info, elem, copy) adds to collections,
    transform_external_input_handler(info, t) gives an input of the part,
    transform_external_hidden_input_handler(info, t) one that the view leaves
    out, transform_original_op_handler(info, op) what the copy stands for.

    TypeError if the destination is no graph; ValueError if a handler returns
    the operation itself in the place of a copy."""

    def __init__(self):
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = (
            replace_t_with_placeholder_handler)
        self.transform_external_hidden_input_handler = (
            keep_t_if_possible_handler)
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="",
                 reuse_dst_scope=False):
        """(view of the copy, TransformerInfo). Arguments: those of copy."""
        sgv = subgraph.make_view(sgv)
        _check_graph(dst_graph)
        dst_scope = util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = dst_graph.unique_name(dst_scope[:-1]) + "/"
        if sgv.graph is None:
            raise ValueError("copy: sgv has no operation to copy")
        info = _TmpInfo(sgv, dst_graph, dst_scope,
                        util.scope_finalize(src_scope))
        self._copy_ops(info)
        self._close_loops(info)
        self._copy_control_inputs(info)
        return self._view_of_copy(info), TransformerInfo(info)

    def _copy_ops(self, info):
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            inputs = [self._transformed_t(info, t, op) for t in op.inputs]
            op_, outputs_ = self.transform_op_handler(info, op, inputs)
            if op_ is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = op_
            self.assign_collections_handler(info, op, op_)
            for t, t_ in zip(op.outputs, outputs_):
                info.transformed_ts[t] = t_
                self.assign_collections_handler(info, t, t_)

    def _transformed_t(self, info, t, consumer_op):
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        if t in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, t)
        if t.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, t)
        # It closes a loop: its operation is newer than the one that takes it.
        if consumer_op.type in ("Merge", "RefMerge"):
            stand_in = self._transformed_t(info, consumer_op.inputs[0],
                                           consumer_op)
        else:
            with info.graph_.as_default():
                stand_in = util.make_placeholder_from_tensor(
                    t, scope=info.scope_, prefix="geph_tmp")
        info.tmp_cyclic_ts.append((t, stand_in, consumer_op))
        return stand_in

    def _close_loops(self, info):
        for t, _, op in info.tmp_cyclic_ts:
            for i, taken in enumerate(op.inputs):
                if taken is t:
                    info.transformed_ops[op]._update_input(
                        i, info.transformed_ts[t])

    def _copy_control_inputs(self, info):
        for op in info.sgv.ops:
            op_ = info.transformed_ops[op]
            if op._original_op is not None:
                original = self.transform_original_op_handler(
                    info, op._original_op)
                if original is not None:
                    op_.graph._originals[op_._id] = original
            cops = [self.transform_control_input_handler(info, c)
                    for c in op.control_inputs]
            reroute.add_control_inputs(op_, [c for c in cops if c is not None])

    def _view_of_copy(self, info):
        view = subgraph.SubGraphView(list(info.transformed_ops.values()))

        def kept(ts, ts_):
            copies = [info.transformed_ts.get(t) for t in ts]
            return [t for t in copies if t is not None and t in set(ts_)]
        return view.remap(kept(info.sgv.inputs, view.inputs),
                          kept(info.sgv.outputs, view.outputs))


def _check_graph(graph):
    if not isinstance(graph, Graph):
        raise TypeError("dst_graph must be a tf.Graph, got: %s" % type(graph))


def copy(sgv, dst_graph=None, dst_scope="", src_scope="",
         reuse_dst_scope=False):
    """Copies a part of a graph; placeholders of the same shapes and dtypes
    become its inputs.

    sgv: a view, or what make_view takes. dst_graph: where the copy is; None for
    the same graph. dst_scope: the scope that it gets, made unique unless
    `reuse_dst_scope`. src_scope: the scope that its names lose. Returns (view
    of the copy, TransformerInfo). TypeError if `dst_graph` is no graph;
    ValueError for names outside `src_scope`."""
    sgv = subgraph.make_view(sgv)
    return Transformer()(sgv, sgv.graph if dst_graph is None else dst_graph,
                         dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(sgv, replacement_ts, dst_graph=None,
                                 dst_scope="", src_scope="",
                                 reuse_dst_scope=False):
    """Copies a part of a graph; it takes other inputs where `replacement_ts`
    says so, and else the same ones.

    replacement_ts: {input: tensor of the same dtype and a shape that fits}. In
    another graph, placeholders become the inputs that are not replaced. The
    other arguments, the result and the errors are those of copy."""
    sgv = subgraph.make_view(sgv)

    def new_input(info, t):
        if t in replacement_ts:
            return replacement_ts[t]
        return keep_t_if_possible_handler(info, t)

    copier = Transformer()
    copier.transform_external_input_handler = new_input
    return copier(sgv, sgv.graph if dst_graph is None else dst_graph,
                  dst_scope, src_scope, reuse_dst_scope)


def _complete_loops(ops, control_ios):
    """Adds the rest of each loop of which `ops` has a part."""
    contexts = dict.fromkeys(op._control_flow_context for op in ops)
    for context in contexts:
        if context is not None and context.IsWhileContext():
            util.concatenate_unique(ops, select.get_walks_intersection_ops(
                [t.op for t in context.loop_enters],
                [t.op for t in context.loop_exits], control_ios=control_ios))


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="",
                  reuse_dst_scope=False):
    """The targets as they are with other tensors: what is between is copied.

    target_ts: a tensor or nested iterables of them, of any shape and dtype.
    replacement_ts: {tensor: tensor of the same dtype and a shape that fits}.
    dst_scope, src_scope, reuse_dst_scope: as for copy. Returns tensors in the
    nest of `target_ts`; a target that depends on no replaced tensor stays.
    ValueError if no target depends on one."""
    targets = util.flatten_tree(target_ts)
    graph = util.get_unique_graph(targets, check_types=Tensor)
    control_ios = util.ControlOutputs(graph)
    ops = select.get_walks_intersection_ops(
        list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _complete_loops(ops, control_ios)
    _, info = copy_with_input_replacements(
        ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda t: t)
