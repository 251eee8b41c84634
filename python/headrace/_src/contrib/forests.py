"""tensorflow.contrib.tensor_forest: random forests whose trees grow while they
see examples."""
import math
import numbers
import random

import headrace as tf
from headrace import raw_ops as _raw
from headrace._src.framework import messages as _messages
from headrace._src.framework.errors import UnimplementedError
from headrace._src.platform import tf_logging as logging
from headrace._src.training.resources import register_resource
from headrace._src.variables.saveables import SaveableObject, SaveSpec

# The numbers of enums in TensorForestParams.
(MODEL_DENSE_CLASSIFICATION, MODEL_SPARSE_CLASSIFICATION, MODEL_REGRESSION,
 MODEL_SPARSE_OR_DENSE_CLASSIFICATION) = range(4)
(STATS_DENSE_GINI, STATS_SPARSE_GINI, STATS_LEAST_SQUARES_REGRESSION,
 STATS_SPARSE_THEN_DENSE_GINI) = range(4)
COLLECTION_BASIC = 0

CLASSIFICATION_LEAF_MODEL_TYPES = {
    "all_dense": (MODEL_DENSE_CLASSIFICATION, STATS_DENSE_GINI),
    "all_sparse": (MODEL_SPARSE_CLASSIFICATION, STATS_SPARSE_GINI),
    "sparse_then_dense": (MODEL_SPARSE_OR_DENSE_CLASSIFICATION,
                          STATS_SPARSE_THEN_DENSE_GINI),
}
REGRESSION_MODEL_TYPE = (MODEL_REGRESSION, STATS_LEAST_SQUARES_REGRESSION,
                         COLLECTION_BASIC)
FINISH_TYPES = {"basic": 0, "hoeffding": 2, "bootstrap": 3}
PRUNING_TYPES = {"none": 0, "half": 1, "quarter": 2, "10_percent": 3,
                 "hoeffding": 4}
SPLIT_TYPES = {"less_or_equal": 0, "less": 1}


def parse_number_or_string_to_proto(proto, param):
    """Sets a ForestDepthDependentParam to a number, or to what a text says: a
    number or the message's text form."""
    if isinstance(param, numbers.Number):
        proto.constant_value = param
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        _messages.from_text(param, proto)


def build_params_proto(params):
    """The TensorForestParams of a filled ForestHParams."""
    proto = _messages.TensorForestParams(
        num_trees=params.num_trees, max_nodes=params.max_nodes,
        is_regression=params.regression, num_outputs=params.num_classes,
        num_features=params.num_features, leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type, collection_type=COLLECTION_BASIC,
        inequality_test_type=params.split_type, drop_final_class=False,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths)
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    for field, param in (
            (proto.pruning_type.prune_every_samples,
             params.prune_every_samples),
            (proto.finish_type.check_every_steps,
             params.early_finish_check_every_samples),
            (proto.split_after_samples, params.split_after_samples),
            (proto.num_splits_to_consider, params.num_splits_to_consider)):
        parse_number_or_string_to_proto(field, param)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        with open(params.param_file, encoding="utf-8") as file:
            _messages.from_text(file.read(), proto)
    return proto


class ForestHParams:
    """The parameters of a forest; num_classes and num_features are needed, in
    the call or as attributes before fill(). Others may be given by name, too:
    regression (False), base_random_seed (0: another forest each time)."""

    def __init__(self, num_trees=100, max_nodes=10000, bagging_fraction=1.0,
                 num_splits_to_consider=0, feature_bagging_fraction=1.0,
                 max_fertile_nodes=0, split_after_samples=250,
                 valid_leaf_threshold=1, dominate_method="bootstrap",
                 dominate_fraction=0.99, model_name="all_dense",
                 split_finish_name="basic", split_pruning_name="none",
                 prune_every_samples=0, early_finish_check_every_samples=0,
                 collate_examples=False, checkpoint_stats=False,
                 use_running_stats_method=False,
                 initialize_average_splits=False, inference_tree_paths=False,
                 param_file=None, split_name="less_or_equal", **kwargs):
        given = dict(locals())
        for name in ("self", "kwargs"):
            del given[name]
        vars(self).update(given, **kwargs)

    def values(self):
        """{name: value} of all parameters."""
        return self.__dict__

    def fill(self):
        """Sets what follows from the other parameters, and returns the object.
        AttributeError without num_classes and num_features; UnimplementedError
        for pruned candidates and for other ways to finish a node."""
        classes, features = self.num_classes, self.num_features
        self.bagged_num_features = int(
            self.feature_bagging_fraction * features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [
                random.sample(range(features), self.bagged_num_features)
                for _ in range(self.num_trees)]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = classes if self.regression else 1
        self.num_output_columns = classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or min(
            max(10, math.floor(math.sqrt(features))), 1000)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        kinds = (REGRESSION_MODEL_TYPE if self.regression
                 else CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name])
        self.leaf_model_type, self.stats_model_type = kinds[:2]
        self.finish_type = 0 if self.regression else (
            FINISH_TYPES[self.split_finish_name])
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        if self.finish_type or self.pruning_type:
            raise UnimplementedError(
                None, None, "ForestHParams: got split_finish_name %r and "
                "split_pruning_name %r; only 'basic' and 'none' are supported"
                % (self.split_finish_name, self.split_pruning_name))
        self.prune_every_samples = self.early_finish_check_every_samples = 0
        self.split_type = SPLIT_TYPES[self.split_name]
        return self


# The types of columns: numbers, and those that are only equal or not.
DATA_FLOAT, DATA_CATEGORICAL = 0, 1


class DataSpec:
    """The columns of the features: their names and sizes."""

    def __init__(self):
        self.columns = []
        self.dense_features_size = 0

    def add(self, name, tensor):
        """Takes a column of a float Tensor [examples, size]. UnimplementedError
        for another type, and for a SparseTensor."""
        if isinstance(tensor, tf.SparseTensor):
            raise UnimplementedError(
                None, None, "forests take dense features only, got the "
                "SparseTensor %s" % (name,))
        if not tensor.dtype.is_floating:
            raise UnimplementedError(
                None, None, "forests take numbers in columns of floats only; "
                "column %s is %s" % (name, tensor.dtype.name))
        shape = tensor.shape.as_list()
        size = 1 if len(shape) == 1 else shape[1]
        self.columns.append((name, size))
        self.dense_features_size += size
        return tf.cast(tensor, tf.float32)

    def SerializeToString(self):
        """The text that the ops take."""
        return "dense_features_size: %d dense: [%s] sparse: []" % (
            self.dense_features_size, "".join(
                "{name: %s original_type: 0 size: %d}" % column
                for column in self.columns))


def parse_features(data):
    """(float32 [examples, features], DataSpec) of a tensor, or of a dict of
    tensors, side by side in the order of their names."""
    spec = DataSpec()
    if isinstance(data, dict):
        parts = [spec.add(name, data[name]) for name in sorted(data)]
        return tf.concat(parts, 1), spec
    if isinstance(data, tf.SparseTensor):
        spec.add("sparse_features", data)
    return spec.add("dense_features", tf.convert_to_tensor(data)), spec


def parse_labels(labels):
    """float32 labels of a tensor, or of a dict of tensors."""
    if isinstance(labels, dict):
        labels = tf.concat([labels[name] for name in sorted(labels)], 1)
    if isinstance(labels, tf.SparseTensor):
        labels = tf.sparse_tensor_to_dense(labels, default_value=-1)
    return tf.cast(labels, tf.float32)


class _Saveable(SaveableObject):
    """A tree, or statistics, in checkpoints: the bytes of a message."""

    def __init__(self, handle, tensor, create_op, restore, name):
        super().__init__(handle, [SaveSpec(tensor, "", name)], name)
        self._create_op = create_op
        self._restore = restore

    def restore(self, restored_tensors, restored_shapes):
        with tf.control_dependencies([self._create_op]):
            return self._restore(restored_tensors[0])


def _registered(handle, create_op, is_initialized, tensor, restore):
    tf.add_to_collection(
        tf.GraphKeys.SAVEABLE_OBJECTS,
        _Saveable(handle, tensor, create_op, restore, handle.name))
    register_resource(handle, create_op, is_initialized)
    return handle


def tree_variable(params, tree_config, stats_handle, name, container=None):
    """The handle of a tree. `tree_config`: the bytes of a tree, or "";
    `params`: an object with serialized_params_proto."""
    text = params.serialized_params_proto
    with tf.name_scope(name, "TreeVariable") as name:
        handle = _raw.DecisionTreeResourceHandleOp(
            container=container or "", shared_name=name, name=name)
        create_op = _raw.CreateTreeVariable(
            tree_handle=handle, tree_config=tree_config, params=text)
        return _registered(
            handle, create_op, _raw.TreeIsInitializedOp(tree_handle=handle),
            _raw.TreeSerialize(tree_handle=handle),
            lambda data: _raw.TreeDeserialize(
                tree_handle=handle, tree_config=data, params=text))


def fertile_stats_variable(params, stats_config, name, container=None):
    """The handle of the statistics of a tree's leaves. `stats_config`: the bytes
    of FertileStats, or ""."""
    text = params.serialized_params_proto
    with tf.name_scope(name, "FertileStatsVariable") as name:
        handle = _raw.FertileStatsResourceHandleOp(
            container=container or "", shared_name=name, name=name)
        create_op = _raw.CreateFertileStatsVariable(
            stats_handle=handle, stats_config=stats_config, params=text)
        return _registered(
            handle, create_op,
            _raw.FertileStatsIsInitializedOp(stats_handle=handle),
            _raw.FertileStatsSerialize(stats_handle=handle, params=text),
            lambda data: _raw.FertileStatsDeserialize(
                stats_handle=handle, stats_config=data, params=text))


class TreeVariables:
    """The variables of one tree: `tree`, and `stats` if it is trained."""

    def __init__(self, params, tree_num, training, tree_config="",
                 tree_stat=""):
        if not isinstance(getattr(params, "params_proto", None),
                          _messages.TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = (
            params.params_proto.SerializeToString())
        self.stats = None
        if training:
            self.stats = fertile_stats_variable(
                params, tree_stat, self.get_tree_name("stats", tree_num))
        self.tree = tree_variable(params, tree_config, self.stats,
                                  self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name, num):
        """The name of a variable of tree `num`."""
        return "%s-%s" % (name, num)


class ForestVariables:
    """The variables of all trees, by the trees' numbers."""

    def __init__(self, params, device_assigner, training=True,
                 tree_variables_class=TreeVariables, tree_configs=None,
                 tree_stats=None):
        with tf.device(device_assigner):
            # What else a tree has is where its variable is.
            self.device_dummies = [
                tf.get_variable(name="device_dummy_%d" % i, shape=0)
                for i in range(params.num_trees)]
        self.variables = []
        for i in range(params.num_trees):
            options = {}
            if tree_configs is not None:
                options["tree_config"] = tree_configs[i]
            if tree_stats is not None:
                options["tree_stat"] = tree_stats[i]
            with tf.device(self.device_dummies[i].device):
                self.variables.append(
                    tree_variables_class(params, i, training, **options))

    def __setitem__(self, t, val):
        self.variables[t] = val

    def __getitem__(self, t):
        return self.variables[t]


class RandomForestGraphs:
    """The graphs of a forest. `params`: a filled ForestHParams;
    `tree_configs`, `tree_stats`: the bytes of trees to begin with.

    Features are a float tensor [examples, features], or a dict of such; labels
    are the numbers of classes, [examples], or the values of a regression,
    [examples, num_classes]. Run the initializers of resources.shared_resources
    first.
    """

    def __init__(self, params, tree_configs=None, tree_stats=None,
                 device_assigner=None, variables=None,
                 tree_variables_class=TreeVariables, tree_graphs=None,
                 training=True):
        self.params = params
        self.device_assigner = device_assigner or "/device:CPU:0"
        logging.info("Constructing forest with params = ")
        logging.info(self.params.__dict__)
        self.variables = variables or ForestVariables(
            params, device_assigner=self.device_assigner, training=training,
            tree_variables_class=tree_variables_class,
            tree_configs=tree_configs, tree_stats=tree_stats)
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i)
                      for i in range(params.num_trees)]

    def _device(self, i):
        return tf.device(self.variables.device_dummies[i].device)

    def _features_of(self, tree_num, data):
        if not self.params.bagged_features:
            return data
        parts = tf.split(value=data, axis=1,
                         num_or_size_splits=self.params.num_features)
        return tf.concat(
            [parts[i] for i in self.params.bagged_features[tree_num]], 1)

    def get_all_resource_handles(self):
        """The handles of all trees, then those of their statistics."""
        numbers_of_trees = range(len(self.trees))
        return ([self.variables[i].tree for i in numbers_of_trees]
                + [self.variables[i].stats for i in numbers_of_trees])

    def training_graph(self, input_data, input_labels, num_trainers=1,
                       trainer_id=0, **tree_kwargs):
        """The operation that shows the trees a batch of examples. Of
        `num_trainers` processes that share the trees this is `trainer_id`."""
        data, spec = parse_features(input_data)
        labels = parse_labels(input_labels)
        params = self.params
        share = params.num_trees / num_trainers
        graphs = []
        for i in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._device(i):
                seed = params.base_random_seed
                if seed != 0:
                    seed += i
                tree_data, tree_labels = data, labels
                if params.bagging_fraction < 1.0:
                    drawn = tf.random_uniform([tf.shape(data)[0]], seed=seed)
                    chosen = tf.squeeze(
                        tf.where(drawn < params.bagging_fraction), axis=[1])
                    tree_data = tf.gather(data, chosen)
                    tree_labels = tf.gather(labels, chosen)
                graphs.append(self.trees[i].training_graph(
                    self._features_of(i, tree_data), tree_labels, seed,
                    data_spec=spec, **tree_kwargs))
        return tf.group(*graphs, name="train")

    def inference_graph(self, input_data, **inference_args):
        """(probabilities, tree_paths, variance): float32 [examples, classes],
        the mean over the trees; strings [examples, trees], TreePath messages if
        inference_tree_paths was set; float32 [examples, classes]."""
        data, spec = parse_features(input_data)
        found = []
        for i in range(self.params.num_trees):
            with self._device(i):
                found.append(self.trees[i].inference_graph(
                    self._features_of(i, data), spec, **inference_args))
        with self._device(0):
            every = tf.stack([p for p, _ in found], axis=1)
            number = self.params.num_trees
            mean = tf.div(tf.reduce_sum(every, 1), number,
                          name="probabilities")
            paths = tf.stack([path for _, path in found], axis=1)
            squares = tf.div(tf.reduce_sum(every * every, 1), number)
            return mean, paths, tf.maximum(0., squares - mean * mean)

    def average_size(self):
        """A float32 scalar: the mean number of nodes of a tree."""
        sizes = []
        for i in range(self.params.num_trees):
            with self._device(i):
                sizes.append(self.trees[i].size())
        return tf.reduce_mean(tf.cast(tf.stack(sizes), tf.float32))

    def training_loss(self, features, labels, name="training_loss"):
        """A float32 scalar that falls while trees grow: -average_size()."""
        return tf.negative(self.average_size(), name=name)

    def validation_loss(self, features, labels):
        """-average_size()."""
        return tf.negative(self.average_size())

    def feature_importances(self):
        """float [num_features]: which part of all splits asks for a feature."""
        counts = tf.reduce_sum(tf.stack(
            [tree.feature_usage_counts() for tree in self.trees], 0), 0)
        return counts / tf.reduce_sum(counts)


class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables, params, tree_num):
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def _inputs(self, data, spec):
        return dict(tree_handle=self.variables.tree, input_data=data,
                    sparse_input_indices=tf.zeros([0], tf.int64),
                    sparse_input_values=tf.zeros([0]),
                    sparse_input_shape=tf.zeros([0], tf.int64),
                    input_spec=spec.SerializeToString(),
                    params=self.params.serialized_params_proto)

    def training_graph(self, input_data, input_labels, random_seed, data_spec,
                       sparse_features=None, input_weights=None):
        """The operation that shows the tree a batch. `random_seed` 0: from the
        system; `input_weights`: of the examples, None for 1."""
        if sparse_features is not None:
            raise UnimplementedError(
                None, None, "forests take dense features only")
        tree, stats = self.variables.tree, self.variables.stats
        text = self.params.serialized_params_proto
        weights = (tf.zeros([0]) if input_weights is None
                   else tf.convert_to_tensor(input_weights))
        inputs = self._inputs(input_data, data_spec)
        leaf_ids = _raw.TraverseTreeV4(**inputs)
        update = _raw.UpdateModelV4(
            tree_handle=tree, leaf_ids=leaf_ids, input_labels=input_labels,
            input_weights=weights, params=text)
        finished = _raw.ProcessInputV4(
            stats_handle=stats, input_labels=input_labels,
            input_weights=weights, leaf_ids=leaf_ids, random_seed=random_seed,
            **inputs)
        with tf.control_dependencies([update]):
            return _raw.GrowTreeV4(
                tree_handle=tree, stats_handle=stats, finished_nodes=finished,
                params=text)

    def inference_graph(self, input_data, data_spec, sparse_features=None):
        """(float32 [examples, classes], strings [examples])."""
        if sparse_features is not None:
            raise UnimplementedError(
                None, None, "forests take dense features only")
        return _raw.TreePredictionsV4(**self._inputs(input_data, data_spec))

    def size(self):
        """An int32 scalar: the number of nodes."""
        return _raw.TreeSize(tree_handle=self.variables.tree)

    def feature_usage_counts(self):
        """int32 [num_features]: how many splits ask for each feature."""
        return _raw.FeatureUsageCounts(
            tree_handle=self.variables.tree,
            params=self.params.serialized_params_proto)
