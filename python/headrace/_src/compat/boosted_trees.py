"""tensorflow.python.ops.boosted_trees_ops: ensembles of boosted trees and the
boundaries of features' buckets, as variables of a program."""
from headrace import raw_ops as _raw
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, control_dependencies, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework import dtypes
from headrace._src.ops import array_ops as _array
from headrace._src.training.resources import register_resource
from headrace._src.variables.saveables import SaveableObject, SaveSpec


class PruningMode:
    """How trees are pruned."""
    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
    _map = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode):
        """The number of a mode's name. ValueError for another name."""
        if mode not in cls._map:
            raise ValueError("pruning_mode mode must be one of: %s, got %r"
                             % (", ".join(sorted(cls._map)), mode))
        return cls._map[mode]


def update_ensemble_v2(tree_ensemble_handle, feature_ids, dimension_ids,
                       node_ids, gains, thresholds, left_node_contribs,
                       right_node_contribs, split_types, max_depth,
                       learning_rate, pruning_mode, name=None):
    """BoostedTreesUpdateEnsembleV2 as TensorFlow 1.15 has it: `feature_ids` is
    one int32 vector, an element for each of the other lists'. They are lists of
    vectors, one element a node; contributions are float32 [nodes, 1]."""
    ids = convert_to_tensor(feature_ids, dtypes.int32)
    return _raw.BoostedTreesUpdateEnsembleV2(
        tree_ensemble_handle=tree_ensemble_handle, feature_ids=[ids],
        dimension_ids=dimension_ids, node_ids=node_ids, gains=gains,
        thresholds=thresholds, left_node_contribs=left_node_contribs,
        right_node_contribs=right_node_contribs, split_types=split_types,
        max_depth=max_depth, learning_rate=learning_rate,
        pruning_mode=pruning_mode, name=name)


class _Resource:
    """What both resources are: a handle, and the operation that makes it."""

    def __init__(self, is_initialized, is_local=False):
        self._resource_handle = self._create_resource()
        self._init_op = self._initialize()
        self._is_initialized = is_initialized
        self._saveable = None
        initialized = self.is_initialized()
        if not is_local:
            self._saveable = self._make_saveable()
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        register_resource(self._resource_handle, self._init_op, initialized,
                          is_shared=not is_local)

    resource_handle = property(lambda self: self._resource_handle)
    initializer = property(lambda self: self._init_op)
    saveable = property(lambda self: self._saveable)

    def is_initialized(self):
        """A bool scalar: whether the initializer ran."""
        return self._is_initialized(self._resource_handle)


class TreeEnsembleSavable(SaveableObject):
    """An ensemble in checkpoints: its stamp and its message."""

    def __init__(self, resource_handle, create_op, name):
        stamp, serialized = _raw.BoostedTreesSerializeEnsemble(
            tree_ensemble_handle=resource_handle)
        super().__init__(resource_handle, [
            SaveSpec(stamp, "", name + "_stamp"),
            SaveSpec(serialized, "", name + "_serialized")], name)
        self._resource_handle = resource_handle
        self._create_op = create_op

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return _raw.BoostedTreesDeserializeEnsemble(
                tree_ensemble_handle=self._resource_handle,
                stamp_token=restored_tensors[0],
                tree_ensemble_serialized=restored_tensors[1])


class TreeEnsemble(_Resource):
    """An ensemble of boosted trees.

    `stamp_token`: a number that grows with each change; `serialized_proto`: the
    bytes of a TreeEnsemble to begin with. An ensemble that `is_local` is not
    saved.
    """

    def __init__(self, name, stamp_token=0, is_local=False,
                 serialized_proto=""):
        self._stamp_token = stamp_token
        self._serialized_proto = serialized_proto
        self._is_local = is_local
        with name_scope(name, "TreeEnsemble") as name:
            self._name = name
            super().__init__(_raw.IsBoostedTreesEnsembleInitialized, is_local)

    def _create_resource(self):
        return _raw.BoostedTreesEnsembleResourceHandleOp(
            container="", shared_name=self._name, name=self._name)

    def _initialize(self):
        return _raw.BoostedTreesCreateEnsemble(
            tree_ensemble_handle=self._resource_handle,
            stamp_token=self._stamp_token,
            tree_ensemble_serialized=self._serialized_proto)

    def _make_saveable(self):
        return TreeEnsembleSavable(self._resource_handle, self._init_op,
                                   self._resource_handle.name)

    def _gather_saveables_for_checkpoint(self):
        return None if self._is_local else {"tree_ensemble": self._saveable}

    def get_stamp_token(self):
        """An int64 scalar."""
        return _raw.BoostedTreesGetEnsembleStates(
            tree_ensemble_handle=self._resource_handle)[0]

    def get_states(self):
        """(stamp_token, num_trees, num_finalized_trees, num_attempted_layers,
        last_layer_nodes_range): an int64 scalar, three int32 scalars, and int32
        [2], the first and the last + 1 node that the next layer splits."""
        states = _raw.BoostedTreesGetEnsembleStates(
            tree_ensemble_handle=self._resource_handle)
        names = ("stamp_token", "num_trees", "num_finalized_trees",
                 "num_attempted_layers", "last_layer_nodes_range")
        return tuple(_array.identity(state, name=name)
                     for state, name in zip(states, names))

    def serialize(self):
        """(stamp_token, an int64 scalar; the bytes of the TreeEnsemble, a string
        scalar)."""
        return _raw.BoostedTreesSerializeEnsemble(
            tree_ensemble_handle=self._resource_handle)

    def deserialize(self, stamp_token, serialized_proto):
        """The operation that takes the trees of a serialized TreeEnsemble.
        InvalidArgumentError if the bytes are none."""
        return _raw.BoostedTreesDeserializeEnsemble(
            tree_ensemble_handle=self._resource_handle, stamp_token=stamp_token,
            tree_ensemble_serialized=serialized_proto)


class QuantileAccumulatorSaveable(SaveableObject):
    """The boundaries of buckets in checkpoints: a tensor for each feature."""

    def __init__(self, resource_handle, create_op, num_streams, name):
        boundaries = _boundaries(resource_handle, num_streams)
        super().__init__(resource_handle, [
            SaveSpec(tensor, "", "%s_bucket_boundaries_%d" % (name, i))
            for i, tensor in enumerate(boundaries)], name)
        self._resource_handle = resource_handle
        self._create_op = create_op

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return _raw.BoostedTreesQuantileStreamResourceDeserialize(
                quantile_stream_resource_handle=self._resource_handle,
                bucket_boundaries=list(restored_tensors))


def _boundaries(handle, num_streams):
    return _raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
        quantile_stream_resource_handle=handle, num_features=num_streams)


class QuantileAccumulator(_Resource):
    """The boundaries of the buckets of `num_streams` features, found from their
    values. `epsilon`: how much of the weight a rank may be wrong by;
    `num_quantiles`: how many buckets a feature gets."""

    def __init__(self, epsilon, num_streams, num_quantiles, name=None,
                 max_elements=None):
        self._eps = epsilon
        self._num_streams = num_streams
        self._num_quantiles = num_quantiles
        with name_scope(name, "QuantileAccumulator") as name:
            self._name = name
            super().__init__(
                _raw.IsBoostedTreesQuantileStreamResourceInitialized)

    def _create_resource(self):
        return _raw.BoostedTreesQuantileStreamResourceHandleOp(
            container="", shared_name=self._name, name=self._name)

    def _initialize(self):
        return _raw.BoostedTreesCreateQuantileStreamResource(
            quantile_stream_resource_handle=self._resource_handle,
            epsilon=self._eps, num_streams=self._num_streams)

    def _make_saveable(self):
        return QuantileAccumulatorSaveable(
            self._resource_handle, self._init_op, self._num_streams,
            self._resource_handle.name)

    def _gather_saveables_for_checkpoint(self):
        return {"quantile_accumulator": self._saveable}

    def add_summaries(self, float_columns, example_weights):
        """The operation that takes a batch: a list of float32 vectors, one for
        each feature, and a vector of weights, or of one weight for all."""
        summaries = _raw.BoostedTreesMakeQuantileSummaries(
            float_values=float_columns, example_weights=example_weights,
            epsilon=self._eps)
        return _raw.BoostedTreesQuantileStreamResourceAddSummaries(
            quantile_stream_resource_handle=self._resource_handle,
            summaries=summaries)

    def flush(self):
        """The operation that makes boundaries of what came since the last."""
        return _raw.BoostedTreesQuantileStreamResourceFlush(
            quantile_stream_resource_handle=self._resource_handle,
            num_buckets=self._num_quantiles)

    def get_bucket_boundaries(self):
        """A list of float32 vectors, empty ones before the first flush."""
        return _boundaries(self._resource_handle, self._num_streams)
