"""tf.contrib.graph_editor: views of parts of a graph."""
from headrace._src.framework.graph import Graph
from headrace._src.graph_editor import select, util


def _indices(places, ts, name, repetition):
    """`places` as indices of `ts`, of which they are elements or indices."""
    found = [p if isinstance(p, int) else list(ts).index(p) for p in places]
    for i in found:
        if not 0 <= i < len(ts):
            raise ValueError("%s: index %d is not in [0, %d)"
                             % (name, i, len(ts)))
    if not repetition and len(set(found)) != len(found):
        raise ValueError("%s: repetition in %s" % (name, found))
    return found


class SubGraphView:
    """A part of a graph: operations, the tensors that go in and the tensors
    that come out, of any shape and dtype. A view changes nothing in the graph.

    inside_ops: the operations. passthrough_ts: tensors that are both input and
    output; those that belong to the operations are left out. TypeError for what
    is no operation or tensor; ValueError for elements of several graphs."""

    def __init__(self, inside_ops=(), passthrough_ts=()):
        ops = util.make_list_of_op(inside_ops)
        ts = util.make_list_of_t(passthrough_ts)
        self._graph = util.get_unique_graph(ops + ts, none_if_empty=True)
        self._ops = ops
        inputs, outputs, insides = select.compute_boundary_ts(ops)
        own = {*inputs, *outputs, *insides}
        self._passthrough_ts = [t for t in ts if t not in own]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self):
        new = type(self).__new__(type(self))
        for name, value in vars(self).items():
            setattr(new, name, value if name == "_graph" else list(value))
        return new

    def copy(self):
        """Another view of the same part."""
        return self.__copy__()

    def _assign_from(self, other):
        if not isinstance(other, SubGraphView):
            raise TypeError("Expected SubGraphView, got: %s" % type(other))
        vars(self).update(vars(other.copy()))

    # In place, for functions that change the graph.

    def _remap_default(self, remove_input_map=True, remove_output_map=True):
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            self._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            self._output_ts = outputs + self._passthrough_ts

    def _remap_inputs(self, new_input_indices):
        self._input_ts = [self._input_ts[i] for i in _indices(
            new_input_indices, self._input_ts, "new_input_indices", False)]

    def _remap_outputs(self, new_output_indices):
        self._output_ts = [self._output_ts[i] for i in _indices(
            new_output_indices, self._output_ts, "new_output_indices", True)]

    def _remap_outputs_make_unique(self):
        self._output_ts = list(dict.fromkeys(self._output_ts))

    def _remap_outputs_to_consumers(self):
        self._remap_outputs_make_unique()
        self._output_ts = [t for t in self._output_ts for _ in t.consumers()]

    def _remove_unused_ops(self, control_inputs=True):
        used = set(select.get_walks_union_ops(
            self.connected_inputs, self.connected_outputs,
            within_ops=self._ops, control_inputs=control_inputs))
        self._ops = [op for op in self._ops if op in used]

    def _changed(self, change, *args):
        new = self.copy()
        getattr(new, change)(*args)
        return new

    # New views.

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """A view of the same operations with the inputs and outputs that they
        have."""
        return self._changed("_remap_default", remove_input_map,
                             remove_output_map)

    def remap_outputs_make_unique(self):
        """A view with each output once."""
        return self._changed("_remap_outputs_make_unique")

    def remap_outputs_to_consumers(self):
        """A view with each output as often as operations take it."""
        return self._changed("_remap_outputs_to_consumers")

    def remove_unused_ops(self, control_inputs=True):
        """A view of those operations that depend on the inputs, or that the
        outputs depend on. `control_inputs`: by control inputs, too."""
        return self._changed("_remove_unused_ops", control_inputs)

    def remap_inputs(self, new_input_indices):
        """A view with some of the inputs, each once, in this order.

        new_input_indices: indices of inputs, or the tensors. ValueError for
        what is no input, an index that is out of range, and a repetition."""
        return self._changed("_remap_inputs", new_input_indices)

    def remap_outputs(self, new_output_indices):
        """A view with some of the outputs, in this order.

        new_output_indices: indices of outputs, or the tensors, also several
        times. ValueError for what is no output and an index that is out of
        range."""
        return self._changed("_remap_outputs", new_output_indices)

    def remap(self, new_input_indices=None, new_output_indices=None):
        """remap_inputs and remap_outputs at once; None leaves them."""
        new = self.copy()
        if new_input_indices is not None:
            new._remap_inputs(new_input_indices)
        if new_output_indices is not None:
            new._remap_outputs(new_output_indices)
        return new

    # What there is.

    def find_op_by_name(self, op_name):
        """The operation of this name. ValueError if there is none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError("%s not in subgraph." % op_name)

    def __str__(self):
        if not self:
            return "SubGraphView: empty"
        lines = ["SubGraphView (graphid=%d):" % id(self._graph)]
        for title, values in (("ops", self._ops), ("inputs", self._input_ts),
                              ("outputs", self._output_ts)):
            lines.append("** %s[%d]:" % (title, len(values)) if values
                         else "** %s: empty" % title)
            lines += ["  %s%s" % (v.name, " *" if self.is_passthrough(v)
                                  else "") for v in values]
        return "\n".join(lines) + "\n"

    @property
    def graph(self):
        """The graph; None for an empty view."""
        return self._graph

    @property
    def ops(self):
        """The list of operations."""
        return self._ops

    @property
    def inputs(self):
        """The tensors that go in."""
        return util.ListView(self._input_ts)

    @property
    def connected_inputs(self):
        """The tensors that operations of the view take."""
        return [t for t in self._input_ts if not self.is_passthrough(t)]

    @property
    def outputs(self):
        """The tensors that come out."""
        return util.ListView(self._output_ts)

    @property
    def connected_outputs(self):
        """The tensors that operations of the view give."""
        return [t for t in self._output_ts if not self.is_passthrough(t)]

    @property
    def passthroughs(self):
        """The tensors that go straight from input to output."""
        return util.ListView(self._passthrough_ts)

    def __bool__(self):
        return self._graph is not None

    def op(self, op_id):
        """The operation at this index."""
        return self._ops[op_id]

    def is_passthrough(self, t):
        """True for a tensor that goes straight from input to output."""
        return t in self._passthrough_ts

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        pass

    def input_index(self, t):
        """The index of an input. ValueError for what is none."""
        if t not in self._input_ts:
            raise ValueError("Can't find %s in inputs of subgraph." % t.name)
        return self._input_ts.index(t)

    def output_index(self, t):
        """The index of an output. ValueError for what is none."""
        if t not in self._output_ts:
            raise ValueError("Can't find %s in outputs of subgraph." % t.name)
        return self._output_ts.index(t)

    def consumers(self):
        """The operations outside that take an output, each once, as a list."""
        own = set(self._ops)
        return list(dict.fromkeys(
            op for t in self._output_ts for op in t.consumers()
            if op not in own))


def make_view(*args, **kwargs):
    """The SubGraphView of the operations and tensors, of any shape and dtype,
    that select_ops_and_ts finds; a tensor that is no operation's goes straight
    through. A view stays as it is.

    graph: the graph of names and of all elements. TypeError and ValueError as
    from select_ops_and_ts; ValueError for elements of another graph."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select.select_ops_and_ts(*args, **kwargs))
    graph = kwargs.get("graph")
    if graph is not None and view.graph is not None:
        if not isinstance(graph, Graph):
            raise TypeError("Expected a tf.Graph, got: %s" % type(graph))
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


def make_view_from_scope(scope, graph):
    """The SubGraphView of the operations of `graph` in the name scope `scope`,
    with tensors of any shape and dtype. TypeError if `graph` is neither a graph
    nor operations."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
