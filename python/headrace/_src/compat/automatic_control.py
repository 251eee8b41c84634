"""tensorflow.python.framework.auto_control_deps: nodes with effects of a block run
in the order in which the code made them, before what the block returns."""
from headrace import raw_ops as _raw
from headrace._src.compat.decorators import make_decorator
from headrace._src.control.contexts import context_of
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework import graph as _graph
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.ops.array_ops import identity
from headrace._src.ops.sparse_tensor import SparseTensor

# Stateful ops whose order with others does not matter.
_UNORDERED = frozenset("""
    CollectiveGather CollectiveReduce CollectiveBcastSend CollectiveBcastRecv
    NcclAllReduce RandomUniform RandomUniformInt RandomStandardNormal
    ParameterizedTruncatedNormal TruncatedNormal RandomShuffle Multinomial
    RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2""".split())


def op_is_stateful(op):
    """Whether its order with other stateful operations matters."""
    return op.op_def.is_stateful and op.type not in _UNORDERED


def _key(tensor):
    return tensor.op._id, tensor.value_index


class _Order:
    """The order of a block's operations. A resource inside of a cond comes from
    a Switch; a Merge of the Switch's outputs, in the context around, stands for
    all uses in the branches."""

    def __init__(self):
        self.must_run = {}   # by id: operations with effects
        self._last = {}      # by resource, and None for state without one
        self._merges = {}    # by output of a Switch: the Merge

    def add(self, op):
        """The next operation that was made."""
        context = context_of(op)
        if context is not None and context.while_context() is not None:
            return  # a loop has its own order
        if op_is_stateful(op):
            self.must_run[op._id] = op
        resources = {_key(x): x for x in op.inputs
                     if x.dtype == dtypes.resource}
        if op.type == "Switch" and resources:
            return  # its uses bring it in
        if op.type == "Merge":
            self._close(op)
            return
        waits_for = [self._use(op, key, x) for key, x in resources.items()]
        if not resources and context is None and op_is_stateful(op):
            waits_for.append(self._last.get(None))
            self._last[None] = op
        op._add_control_inputs([
            w for w in waits_for
            if w is not None and context_of(w) is context])

    def _close(self, merge):
        """The result of a cond waits for the effects of its branches."""
        for op in self.must_run.values():
            merge._add_control_input(op)
            for x in op.inputs:
                if _key(x) in self._last:
                    self._last[_key(x)] = merge
        self.must_run = {merge._id: merge}

    def _use(self, op, key, resource):
        """Notes a use of a resource, and returns the one before."""
        if resource.op.type == "Switch":
            self._enter(resource.op)
        before = self._last.get(key)
        if key in self._merges:
            self._merges[key]._add_control_input(op)
        self._last[key] = op
        return before

    def _enter(self, switch):
        """Brings a Switch in: it waits for the uses before, and the uses that
        follow wait for its Merge."""
        outer = switch.inputs[0]
        if outer.op.type == "Switch":
            self._enter(outer.op)
        if _key(switch.outputs[0]) in self._merges:
            return
        merge = self._merge(switch)
        self.must_run[merge._id] = merge
        before = self._last.get(_key(outer))
        if before is not None:
            switch._add_control_input(before)
        self._last[_key(outer)] = merge
        if _key(outer) in self._merges:
            self._merges[_key(outer)]._add_control_input(merge)
        for x in switch.outputs:
            self._merges[_key(x)] = merge

    @staticmethod
    def _merge(switch):
        graph, context = switch.graph, context_of(switch)
        before, graph._flow_context = graph._flow_context, None
        try:
            with graph.control_dependencies(None):
                merge = _raw.Merge(list(switch.outputs),
                                   name="artificial_merge")[0].op
        finally:
            graph._flow_context = before
        around = None if context is None else context.outer_context
        if around is not None:
            around._adopt(merge)
        return merge


class AutomaticControlDependencies:
    """`with AutomaticControlDependencies() as a`: stateful operations made in
    the block run in their order, those of one resource and those without one,
    and before what a.mark_as_return returned. Variables must be made
    outside. RuntimeError if the default graph is another at the end."""

    def __init__(self):
        self._returned = []
        self.ops_which_must_run = set()

    def mark_as_return(self, tensor):
        """What stands for a tensor, of any kind, outside of the block."""
        if isinstance(tensor, IndexedSlices):
            return IndexedSlices(self._identity(tensor.values),
                                 self._identity(tensor.indices),
                                 tensor.dense_shape)
        if isinstance(tensor, SparseTensor):
            return SparseTensor(self._identity(tensor.indices),
                                self._identity(tensor.values),
                                tensor.dense_shape)
        if isinstance(tensor, TensorArray):
            return tensor._with_flow(self._identity(tensor.flow))
        return self._identity(tensor)

    def _identity(self, tensor):
        self._returned.append(identity(tensor))
        return self._returned[-1]

    def __enter__(self):
        self._graph = _graph.get_default_graph()
        self._begin = self._graph._last_id
        return self

    def __exit__(self, *error):
        graph = self._graph
        if graph is not _graph.get_default_graph():
            raise RuntimeError("Graph changed while trying to add control "
                               "dependencies.")
        order = _Order()
        for op in [op for op in map(graph._operation_by_id,
                                    range(self._begin, graph._last_id))
                   if op is not None]:
            order.add(op)
        self.ops_which_must_run.update(order.must_run.values())
        for tensor in self._returned:
            tensor.op._add_control_inputs([
                op for op in self.ops_which_must_run
                if context_of(op) is context_of(tensor.op)])


def automatic_control_dependencies(f):
    """A decorator: the function's results wait for its effects, which run in
    order."""
    def wrapper(*args, **kwargs):
        with AutomaticControlDependencies() as block:
            return nest.map_structure(block.mark_as_return, f(*args, **kwargs))
    return make_decorator(f, wrapper)
