"""Attrs that ops have got since TensorFlow 1.15.

TensorFlow 1.15 refuses a node with an attr that it does not know. So files leave
these out where they have their defaults.
"""
from headrace import _headrace

# Attrs: the ops that have got them.
_OPS = {
    "Tk index_type": """
        TopKV2""",
    "Treal Tcomplex": """
        IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D""",
    "Tsegmentids": """
        SparseSegmentMeanGrad SparseSegmentSqrtNGrad""",
    "Tsegmentids sparse_gradient": """
        SparseSegmentMean SparseSegmentMeanWithNumSegments
        SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments
        SparseSegmentSum SparseSegmentSumWithNumSegments""",
    "Tshape": """
        TensorListGetItem""",
    "allow_missing_files": """
        MergeV2Checkpoints""",
    "axis": """
        QuantizeAndDequantizeV2 QuantizeAndDequantizeV3""",
    "bad_indices_policy": """
        GatherNd ResourceScatterNdAdd ResourceScatterNdSub
        ResourceScatterNdUpdate ScatterNd ScatterNdAdd
        ScatterNdNonAliasingAdd ScatterNdSub ScatterNdUpdate
        TensorScatterAdd TensorScatterSub TensorScatterUpdate""",
    "blank_index": """
        CTCGreedyDecoder""",
    "buffer_size_min metadata": """
        PrefetchDataset""",
    "cardinality_options": """
        DatasetCardinality""",
    "debug_name allowed_devices": """
        VarHandleOp""",
    "drop_remainder": """
        SlidingWindowDataset""",
    "explicit_paddings": """
        DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
        DepthwiseConv2dNativeBackpropInput MaxPool MaxPoolGrad""",
    "exponential_avg_factor": """
        FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3""",
    "force_synchronous": """
        ExperimentalMapDataset""",
    "force_synchronous metadata": """
        MapDataset""",
    "grad_a grad_b": """
        MatMul""",
    "grad_x grad_y": """
        BatchMatMul BatchMatMulV2""",
    "is_files metadata replicate_on_split": """
        TensorSliceDataset""",
    "log_warning": """
        ExperimentalIgnoreErrorsDataset IgnoreErrorsDataset""",
    "metadata": """
        BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2
        ConcatenateDataset DatasetToSingleElement FilterDataset
        FixedLengthRecordDataset FixedLengthRecordDatasetV2
        FlatMapDataset GeneratorDataset GroupByWindowDataset
        InterleaveDataset MapAndBatchDataset PaddedBatchDataset
        PaddedBatchDatasetV2 ParallelInterleaveDataset
        ParallelInterleaveDatasetV2 ParallelMapDataset
        RandomDataset ReduceDataset RepeatDataset ShardDataset
        ShuffleDataset ShuffleDatasetV2 SkipDataset
        TFRecordDataset TakeDataset TakeWhileDataset TensorDataset
        TextLineDataset UnbatchDataset UniqueDataset WindowDataset
        ZipDataset""",
    "metadata replicate_on_split": """
        RangeDataset""",
    "multiply_linear_by_lr": """
        ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl
        ResourceApplyFtrlV2 ResourceSparseApplyFtrl
        ResourceSparseApplyFtrlV2 SparseApplyFtrl
        SparseApplyFtrlV2""",
    "narrow_range axis dtype": """
        Dequantize""",
    "narrow_range axis ensure_minimum_range": """
        QuantizeV2""",
    "offset": """
        InitializeTableFromTextFile InitializeTableFromTextFileV2""",
    "padding_list": """
        QuantizedDepthwiseConv2DWithBiasAndRelu
        QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize""",
    "perturb_singular": """
        TridiagonalSolve""",
    "ragged_keys ragged_value_types ragged_split_types": """
        ParseExampleDataset""",
    "ram_budget": """
        ModelDataset""",
    "reshuffle_each_iteration metadata": """
        ShuffleAndRepeatDataset""",
    "resize_if_index_out_of_bounds": """
        TensorListSetItem""",
    "shape_type": """
        ConcatOffset""",
    "stop_on_empty_dataset": """
        DirectedInterleaveDataset""",
    "use_default_device metadata": """
        ScanDataset""",
    "validate_shape": """
        AssignVariableOp""",
}
NEWER_ATTRS = {op: attrs.split() for attrs, ops in _OPS.items()
               for op in ops.split()}


def drop_newer_attrs(graph_def):
    """Takes the attrs that TensorFlow 1.15 does not know, and that have their
    defaults, out of a GraphDef."""
    _headrace.drop_default_attrs(graph_def, NEWER_ATTRS)


def drop_newer_definitions(graph_def, op_list):
    """Takes the newer attrs that no node of `graph_def` has out of `op_list`, an
    OpList with the ops of the graph."""
    bodies = [graph_def.node] + [f.node_def for f
                                 in graph_def.library.function]
    used = {(node.op, name) for nodes in bodies for node in nodes
            for name in NEWER_ATTRS.get(node.op, ()) if name in node.attr}
    for op in op_list.op:
        if op.name in NEWER_ATTRS:
            kept = [a for a in op.attr if a.name not in NEWER_ATTRS[op.name]
                    or (op.name, a.name) in used]
            if len(kept) < len(op.attr):
                copies = [type(a).FromString(a.SerializeToString())
                          for a in kept]
                op.ClearField("attr")
                op.attr.extend(copies)
