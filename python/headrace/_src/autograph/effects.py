"""Nodes that have effects in functions of the graph: checks, prints, writes.
Nothing reads them, so what a body returns waits for them."""
import re

from headrace._src.control.contexts import context_of, output_context
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import is_tensor
from headrace._src.ops.array_ops import identity

# Stateful nodes that matter only to those who read them.
_VALUES = re.compile(
    r"(Random|Truncated|Parameterized|Multinomial|Stateless|Var|Read|"
    r"Placeholder|TensorArray|Tensor_?List|Stack|Iterator|Generator|Get|"
    r"Lookup).*|.*(Dataset(V\d)?|HashTable(V2)?|Queue(V2)?|Handle(Op)?|"
    r"Accumulator|Reader(V2)?|PartitionedCall|VarHandleOp)")


class Watch:
    """Knows the nodes that were made in this graph and control flow context
    since the Watch was made, or all of them. In a plain graph it sees none:
    there the user says what runs."""

    def __init__(self, whole=False):
        self._graph = _graph.get_default_graph()
        self._begin = 0 if whole else self._graph._last_id

    def nodes(self):
        """The nodes with effects, in the order in which they were made."""
        graph = self._graph
        if not graph._captures:
            return []
        here = graph._get_control_flow_context()
        staged = graph.__dict__.setdefault("_staged_effects", [])
        made = [op for op in map(graph._operation_by_id,
                                 range(self._begin, graph._last_id))
                if op is not None]
        found = [op for op in made if context_of(op) is here
                 and op.op_def.is_stateful and not _VALUES.fullmatch(op.type)]
        return found + [op for op in staged if op._id >= self._begin
                        and output_context(op) is here]

    def after(self, result):
        """The tensors of a structure, to be had after the nodes."""
        waits_for = self.nodes()
        if not waits_for:
            return result
        with _graph.control_dependencies(waits_for):
            return nest.map_structure(
                lambda x: identity(x) if is_tensor(x)
                and not hasattr(x, "_flow_components") else x, result)


def staged(results):
    """Notes that the nodes of a branch or loop run with these results."""
    graph = _graph.get_default_graph()
    if graph._captures:
        op = next((x.op for x in results if is_tensor(x)
                   and hasattr(x, "op")), None)
        if op is not None:
            graph.__dict__.setdefault("_staged_effects", []).append(op)
