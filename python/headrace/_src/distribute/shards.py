"""The part of a data set that one of several workers reads: some of its files,
or if it reads none, some of its elements."""
from headrace import raw_ops as _raw
from headrace._src.data.datasets import Dataset, moved_options
from headrace._src.data.elements import as_int64
from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import TensorShape

_READERS = {"FixedLengthRecordDataset", "FixedLengthRecordDatasetV2",
            "TFRecordDataset", "TextLineDataset"}
# Their function makes a data set of each element.
_OF_ELEMENTS = {
    "ExperimentalParallelInterleaveDataset", "FlatMapDataset",
    "InterleaveDataset", "LegacyParallelInterleaveDatasetV2",
    "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2",
    "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4"}


def shard(dataset, workers, index):
    """The part of worker `index` of several: of a data set that reads files,
    every so many of them, else of its elements. All of it if its options say
    so. A run raises InvalidArgumentError if there are fewer files than
    workers."""
    if workers == 1 or not dataset.options().experimental_distribute.auto_shard:
        return dataset
    made = _Files(dataset._variant_tensor.graph, workers, index).part(
        dataset._variant_tensor)
    if made is None:
        return dataset.shard(workers, index)
    return Dataset(made, dataset._spec)


class _Files:
    """Makes the nodes of a data set anew, over some of its files."""

    def __init__(self, graph, workers, index):
        self._graph = graph
        self._workers, self._index = workers, index
        self._functions = None
        self._made = {}  # by the id of a node

    def part(self, tensor):
        """The output of the new nodes, or None if an input reads no files."""
        op = tensor.op
        if op._id not in self._made:
            self._made[op._id] = self._copy(op)
        return self._made[op._id]

    def _copy(self, op):
        inputs = list(op.inputs)
        datasets = [i for i, x in enumerate(inputs)
                    if x.dtype.base_dtype == dtypes.variant]
        if op.type in _OF_ELEMENTS and self._reads(op.node_def):
            datasets = datasets[:1]
            first = inputs[0]
            inputs[0] = _raw.ShardDataset(
                first, as_int64(self._workers, "num_shards"),
                as_int64(self._index, "index"), require_non_empty=True,
                **self._elements(first.op))
        else:
            if not datasets:
                return None
            for i in datasets:
                inputs[i] = self.part(inputs[i])
                if inputs[i] is None:
                    return None
        made = self._graph.create_op(
            op.type, inputs, name=op.name.rsplit("/", 1)[-1],
            attrs={k: v for k, v in op.node_def.attr.items()
                   if not k.startswith("_")})
        moved_options(op, made)
        return made.outputs[0]

    def _elements(self, op):
        """The attrs for elements as those of a data set's node."""
        types = ("output_types" if "output_types" in op.node_def.attr
                 else "Toutput_types")
        return {"output_types": op.get_attr(types),
                "output_shapes": [TensorShape(s)
                                  for s in op.get_attr("output_shapes")]}

    def _reads(self, node):
        """Whether a function of a node, or one that it calls, reads files."""
        if self._functions is None:
            self._functions = self._graph._functions
        todo = [a.func.name for a in node.attr.values() if a.func.name]
        seen = set()
        while todo:
            name = todo.pop()
            if name in seen or name not in self._functions:
                continue
            seen.add(name)
            for inner in self._functions[name].node_def:
                if inner.op in _READERS:
                    return True
                todo += [a.func.name for a in inner.attr.values()
                         if a.func.name]
        return False
