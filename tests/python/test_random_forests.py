"""tensorflow.contrib.tensor_forest: forests that grow while they see examples."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops
from headrace._src.contrib import forests
from headrace._src.framework.messages import (
    ForestFertileStats, ForestModel, ForestTreePath, TensorForestParams)
from headrace._src.training import resources

_RANDOM = np.random.RandomState(0)
X = np.float32(_RANDOM.randn(1000, 6))
LABELS = np.argmax(X @ _RANDOM.randn(6, 3), 1)
VALUES = X[:, :1] * 2 + X[:, 1:2]


def hparams(**changes):
    options = dict(num_classes=3, num_features=6, num_trees=3, max_nodes=60,
                   split_after_samples=30, base_random_seed=5)
    options.update(changes)
    return forests.ForestHParams(**options).fill()


class Forest:
    """A forest in a graph of its own, trained with `steps` batches."""

    def __init__(self, labels=LABELS, steps=40, **changes):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.forest = forests.RandomForestGraphs(hparams(**changes))
            self.x = tf.placeholder(tf.float32, [None, 6])
            self.y = tf.placeholder(
                tf.float32 if labels.ndim == 2 else tf.int32,
                [None, *labels.shape[1:]])
            self.train = self.forest.training_graph(self.x, self.y)
            self.loss = self.forest.training_loss(self.x, self.y)
            self.result, self.paths, self.variance = (
                self.forest.inference_graph(self.x))
            self.importances = self.forest.feature_importances()
            self.saver = tf.train.Saver()
            init = tf.group(tf.global_variables_initializer(),
                            resources.initialize_resources(
                                resources.shared_resources()))
        self.session = tf.Session(graph=self.graph)
        self.session.run(init)
        random = np.random.RandomState(1)
        for _ in range(steps):
            rows = random.randint(0, len(X), 100)
            self.session.run(self.train,
                             {self.x: X[rows], self.y: labels[rows]})

    def run(self, tensor, rows=slice(None)):
        return self.session.run(tensor, {self.x: X[rows]})


def test_a_forest_learns_classes():
    before, after = Forest(steps=1), Forest()
    found = after.run(after.result)
    assert found.shape == (1000, 3)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)
    assert (found.argmax(1) == LABELS).mean() > 0.75
    assert after.session.run(after.loss) < before.session.run(before.loss)
    importances = after.session.run(after.importances)
    np.testing.assert_allclose(importances.sum(), 1)
    assert after.run(after.variance, slice(4)).shape == (4, 3)
    with after.graph.as_default():
        assert max(after.session.run(
            [tree.size() for tree in after.forest.trees])) <= 61


def test_a_forest_learns_values():
    forest = Forest(VALUES, num_classes=1, regression=True)
    found = forest.run(forest.result)
    assert ((found - VALUES) ** 2).mean() < VALUES.var() / 4


@pytest.mark.parametrize("changes", [
    dict(bagging_fraction=0.7), dict(feature_bagging_fraction=0.5),
    dict(model_name="all_sparse"), dict(model_name="sparse_then_dense"),
    dict(split_name="less"), dict(
        split_after_samples="linear {slope: 5 y_intercept: 20 min_val: 20 "
        "max_val: 60}")])
def test_kinds_of_forests(changes):
    forest = Forest(**changes)
    assert (forest.run(forest.result).argmax(1) == LABELS).mean() > 0.5


def test_the_first_split_is_tensorflows():
    # TensorFlow's first candidates: the generator's draws from the seed.
    trees = [Forest(num_trees=1, steps=6).session for _ in range(2)]
    handles = [s.graph.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
               for s in trees]
    one, other = [
        [s.run(saveable.specs[0].tensor) for saveable in h]
        for s, h in zip(trees, handles)]
    assert one == other
    model = ForestModel.FromString(one[1])
    assert model.decision_tree.nodes[0].HasField("binary_node")


def test_paths_lead_from_the_root_to_a_leaf():
    forest = Forest(inference_tree_paths=True)
    paths = forest.run(forest.paths, slice(5))
    assert paths.shape == (5, 3)
    for data in paths.ravel():
        nodes = ForestTreePath.FromString(data).nodes_visited
        assert nodes[-1].HasField("leaf")
        assert all(node.HasField("binary_node") for node in nodes[:-1])
    assert Forest(steps=0).run(forest.paths.name, slice(1)).tolist() == [
        [b""] * 3]


@pytest.mark.parametrize("keeps_stats", [True, False])
def test_a_forest_goes_through_a_checkpoint(tmp_path, keeps_stats):
    forest = Forest(checkpoint_stats=keeps_stats)
    path = forest.saver.save(forest.session, str(tmp_path / "model"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names[-2:] == ["tree-1:0", "tree-2:0"] and "stats-0:0" in names
    want = forest.run(forest.result)
    with forest.graph.as_default():
        handle = forest.forest.variables[0].stats
        stats = ForestFertileStats.FromString(forest.session.run(
            raw_ops.FertileStatsSerialize(
                stats_handle=handle,
                params=forest.forest.params.serialized_params_proto)))
    assert any(slot.candidates for slot in stats.node_to_slot) == keeps_stats
    other = Forest(steps=0, checkpoint_stats=keeps_stats)
    other.saver.restore(other.session, path)
    np.testing.assert_array_equal(other.run(other.result), want)
    other.session.run(other.train, {other.x: X[:200], other.y: LABELS[:200]})


@pytest.mark.parametrize("make, words", [
    (lambda: hparams(split_finish_name="bootstrap"), "split_finish_name"),
    (lambda: hparams(split_pruning_name="half"), "split_pruning_name"),
    (lambda: forests.parse_features({"c": tf.constant([["a"]])}),
     "columns of floats only"),
    (lambda: forests.parse_features(tf.SparseTensor([[0, 0]], [1.], [1, 1])),
     "dense features only")])
def test_what_is_not_supported(make, words):
    with tf.Graph().as_default(), pytest.raises(
            tf.errors.UnimplementedError, match=words):
        make()


def _tree(change):
    model = ForestModel()
    for _ in range(3):
        model.decision_tree.nodes.add()
    split = model.decision_tree.nodes[0].binary_node
    split.left_child_id.value, split.right_child_id.value = 1, 2
    split.inequality_left_child_test.feature_id.id.value = "0"
    for node in model.decision_tree.nodes[1:]:
        for _ in range(3):
            node.leaf.vector.value.add(float_value=1.0)
    change(model.decision_tree.nodes)
    return model.SerializeToString()


@pytest.mark.parametrize("data, words", [
    (lambda: _tree(lambda nodes: None), None),
    (lambda: b"\xff", "Unable to parse tree proto"),
    (lambda: _tree(lambda nodes: setattr(
        nodes[0].binary_node.left_child_id, "value", 7)), "child 7"),
    (lambda: _tree(lambda nodes: setattr(
        nodes[0].binary_node.right_child_id, "value", 1)), "two parents"),
    (lambda: _tree(lambda nodes: setattr(
        nodes[0].binary_node.inequality_left_child_test.feature_id.id, "value",
        "x")), "no test"),
    (lambda: _tree(lambda nodes: nodes[1].leaf.vector.value.add()),
     "4 values of a leaf for 3 outputs")])
def test_a_damaged_tree_is_refused(data, words):
    with tf.Graph().as_default(), tf.Session() as session:
        text = forests.build_params_proto(hparams()).SerializeToString()
        handle = raw_ops.DecisionTreeResourceHandleOp(shared_name="tree")
        made = raw_ops.CreateTreeVariable(
            tree_handle=handle, tree_config=data(), params=text)
        if words is None:
            session.run(made)
            assert session.run(raw_ops.TreeSize(tree_handle=handle)) == 3
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(made)


@pytest.mark.parametrize("x, labels, words", [
    (np.zeros([2, 6], np.float32), [0, 3], r"input_labels\[1\] = 3 is no class"),
    (np.zeros([2, 6], np.float32), [0], "input_labels must have 1 numbers"),
    (np.zeros([2, 0], np.float32), [0, 1], "input_data needs features")])
def test_examples_are_checked(x, labels, words):
    with tf.Graph().as_default(), tf.Session() as session:
        forest = forests.RandomForestGraphs(hparams())
        train = forest.training_graph(tf.constant(x), tf.constant(labels))
        session.run(resources.initialize_resources(
            resources.shared_resources()))
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(train)


@pytest.mark.parametrize("data, error", [
    (b"\xff", tf.errors.InvalidArgumentError),
    (TensorForestParams().SerializeToString(),
     tf.errors.InvalidArgumentError)])
def test_params_are_checked(data, error):
    with tf.Graph().as_default(), tf.Session() as session:
        handle = raw_ops.DecisionTreeResourceHandleOp(shared_name="tree")
        made = raw_ops.CreateTreeVariable(tree_handle=handle, tree_config="",
                                          params=data)
        with pytest.raises(error, match="params"):
            session.run(made)
