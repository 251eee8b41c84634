"""tensorflow.python.ops.boosted_trees_ops, and the estimators over it. Bytes and
numbers are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace import _packages, raw_ops
from headrace._src.framework.messages import (
    BoostedDebugOutput, BoostedTreeEnsemble)
from headrace._src.compat import boosted_trees as boosted

needs_package = pytest.mark.skipif(
    not _packages.is_installed(),
    reason="needs pip install tensorflow-estimator==1.15.2")


@pytest.fixture(autouse=True)
def variables_as_before():
    yield
    tf.disable_resource_variables()  # the estimators enable them, for good


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def made(session, serialized=b"", name="trees"):
    trees = boosted.TreeEnsemble(name, serialized_proto=serialized)
    session.run(trees.initializer)
    return trees


def grow(session, trees, features, nodes, gains, thresholds, left, right,
         depth=3, pruning=0):
    session.run(raw_ops.BoostedTreesUpdateEnsemble(
        tree_ensemble_handle=trees.resource_handle, feature_ids=features,
        node_ids=nodes, gains=gains, thresholds=thresholds,
        left_node_contribs=[np.float32(x)[:, None] for x in left],
        right_node_contribs=[np.float32(x)[:, None] for x in right],
        max_depth=depth, learning_rate=0.1, pruning_mode=pruning))


def grown(session):
    """A tree of two layers over a bias."""
    trees = made(session)
    session.run(raw_ops.BoostedTreesCenterBias(
        tree_ensemble_handle=trees.resource_handle, mean_gradients=[[-0.5]],
        mean_hessians=[[2.0]], l1=0.0, l2=0.1))
    grow(session, trees, [2], [[0]], [[0.1]], [[7]], [[0.5]], [[0.7]])
    grow(session, trees, [1], [[1, 2]], [[-0.3, 0.2]], [[3, 4]], [[0.1, 0.2]],
         [[0.3, 0.4]])
    return trees


BUCKETS = [[7, 2, 9, 1], [0, 1, 5, 5], [1, 9, 2, 8]]


def test_trees_grow_and_are_pruned_to_tensorflows_bytes(session):
    trees = grown(session)
    grow(session, trees, [1], [[3, 4, 5]], [[-0.3, -0.2, -0.7]], [[3, 4, 5]],
         [[0.1, 0.2, 0.3]], [[0.3, 0.4, 0.6]], pruning=2)
    stamp, found = session.run(trees.serialize())
    assert stamp == 4
    assert [np.asarray(s).tolist() for s in session.run(trees.get_states())] == [
        4, 2, 1, 3, [0, 1]]
    ensemble = BoostedTreeEnsemble.FromString(found)
    assert [len(t.nodes) for t in ensemble.trees] == [5, 1]
    assert ensemble.trees[0].nodes[1].HasField("leaf")
    updates = ensemble.tree_metadata[0].post_pruned_nodes_meta
    assert [u.new_node_id for u in updates] == [
        0, 1, 2, 1, 1, 3, 4, 1, 1, 1, 1, 3, 3]
    # Examples that ended in a node that is gone.
    changes, _, nodes = session.run(raw_ops.BoostedTreesTrainingPredict(
        tree_ensemble_handle=trees.resource_handle, cached_tree_ids=[0] * 3,
        cached_node_ids=[3, 4, 2], bucketized_features=[
            column[:3] for column in BUCKETS], logits_dimension=1))
    np.testing.assert_allclose(changes[:2, 0], [-0.01, -0.03], atol=1e-6)
    assert nodes.tolist() == [0, 0, 0]


def test_training_predictions_are_the_changes_since_the_cached_node(session):
    trees = grown(session)
    logits = session.run(raw_ops.BoostedTreesPredict(
        tree_ensemble_handle=trees.resource_handle,
        bucketized_features=BUCKETS, logits_dimension=1))
    changes, tree_ids, nodes = session.run(raw_ops.BoostedTreesTrainingPredict(
        tree_ensemble_handle=trees.resource_handle, cached_tree_ids=[0] * 4,
        cached_node_ids=[-1, 1, 2, 0], bucketized_features=BUCKETS,
        logits_dimension=1))
    np.testing.assert_allclose(
        changes[:, 0], [0.298095, 0.01, 0.04, 0.11], atol=1e-5)
    assert tree_ids.tolist() == [0] * 4 and nodes.tolist() == [3, 3, 6, 6]
    np.testing.assert_allclose(
        logits[:, 0], [0.297619, 0.347619, 0.297619, 0.347619], atol=0.06)


@pytest.mark.parametrize("damage, words", [
    (lambda e: None, None),
    (lambda e: e.trees[0].nodes[0].bucketized_split.ClearField("left_id"),
     "child 0 is not in"),
    (lambda e: setattr(e.trees[0].nodes[0].bucketized_split, "right_id", 99),
     "child 99 is not in"),
    (lambda e: setattr(e.trees[0].nodes[0].bucketized_split, "right_id", 1),
     "child 1 has two parents"),
    (lambda e: setattr(e.trees[0].nodes[0].bucketized_split, "feature_id", -1),
     "feature_id -1"),
    (lambda e: e.trees[0].nodes[3].Clear(), "neither a leaf nor"),
    (lambda e: e.trees.add(), "2 trees, 1 tree_weights"),
    (lambda e: e.tree_metadata[0].post_pruned_nodes_meta.add(new_node_id=77),
     "new_node_id 77 is no node")])
def test_a_damaged_ensemble_is_refused_and_the_old_one_stays(
        session, damage, words):
    trees = grown(session)
    before = session.run(trees.serialize())
    ensemble = BoostedTreeEnsemble.FromString(before[1])
    damage(ensemble)
    data = ensemble.SerializeToString()
    if words is None:
        session.run(trees.deserialize(9, data))
        assert session.run(trees.get_stamp_token()) == 9
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(trees.deserialize(9, data))
    assert session.run(trees.serialize()) == before


def test_bytes_that_are_no_ensemble(session):
    trees = grown(session)
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="Unable to parse tree ensemble proto"):
        session.run(trees.deserialize(1, b"\xff\xff"))


@pytest.mark.parametrize("nodes, features, words", [
    ([[5]], [0], "node 5 of the last tree is no leaf"),
    ([[0]], [0], "node 0 of the last tree is no leaf"),
    ([[1]], [-2], "negative id -2")])
def test_an_update_that_does_not_fit_changes_nothing(
        session, nodes, features, words):
    trees = made(session)
    grow(session, trees, [2], [[0]], [[0.1]], [[7]], [[0.5]], [[0.7]])
    before = session.run(trees.serialize())
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        grow(session, trees, features, nodes, [[0.1]], [[7]], [[0.5]], [[0.7]])
    assert session.run(trees.serialize()) == before


@pytest.mark.parametrize("cached, buckets, words", [
    (([1], [0]), [[1], [1], [1]], "node 0 of tree 1"),
    (([0], [9]), [[1], [1], [1]], "node 9 of tree 0"),
    (([0], [0]), [[1], [1]], "asks for feature 2")])
def test_predictions_check_their_places(session, cached, buckets, words):
    trees = grown(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(raw_ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=trees.resource_handle,
            cached_tree_ids=cached[0], cached_node_ids=cached[1],
            bucketized_features=buckets, logits_dimension=1))


def test_a_tree_goes_through_a_checkpoint(session, tmp_path):
    trees = grown(session)
    quantiles = boosted.QuantileAccumulator(0.01, 2, 4, name="quantiles")
    session.run(quantiles.initializer)
    values = np.float32(np.arange(20))
    session.run(quantiles.add_summaries([values, values % 3], [1.0]))
    session.run(quantiles.flush())
    saver = tf.train.Saver()
    path = saver.save(session, str(tmp_path / "model"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == ["quantiles:0_bucket_boundaries_0",
                     "quantiles:0_bucket_boundaries_1",
                     "trees:0_serialized", "trees:0_stamp"]
    before = session.run([trees.serialize(), quantiles.get_bucket_boundaries()])
    with tf.Session(graph=session.graph) as other:
        saver.restore(other, path)
        after = other.run([trees.serialize(),
                           quantiles.get_bucket_boundaries()])
    assert before[0] == after[0]
    for a, b in zip(before[1], after[1]):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("values, weights, want", [
    ([3, 1, 2, 1], [2], [[1, 4, 0, 4], [2, 2, 4, 6], [3, 2, 6, 8]]),
    ([3, 1, 2, 1], [1, 0, -1, 2], [[1, 2, 0, 2], [3, 1, 2, 3]])])
def test_summaries_of_few_values_are_exact(session, values, weights, want):
    found = session.run(raw_ops.BoostedTreesMakeQuantileSummaries(
        float_values=[np.float32(values)],
        example_weights=np.float32(weights), epsilon=0.1))
    assert found[0].tolist() == want


@pytest.mark.parametrize("quantiles, lengths", [
    (False, (10, 13)), (True, (10, 10))])
def test_boundaries_part_the_values(session, quantiles, lengths):
    values = np.float32(np.random.RandomState(0).randn(3, 1000))
    accumulator = boosted.QuantileAccumulator(0.01, 1, 10)
    session.run(accumulator.initializer)
    assert [len(b) for b in session.run(
        accumulator.get_bucket_boundaries())] == [0]
    for part in values:
        session.run(accumulator.add_summaries([part], [1.0]))
    session.run(raw_ops.BoostedTreesQuantileStreamResourceFlush(
        quantile_stream_resource_handle=accumulator.resource_handle,
        num_buckets=10, generate_quantiles=quantiles))
    found = session.run(accumulator.get_bucket_boundaries())[0]
    assert lengths[0] <= len(found) <= lengths[1]
    assert (np.diff(found) > 0).all()
    assert (found[0], found[-1]) == (values.min(), values.max())
    if quantiles:
        np.testing.assert_allclose(
            found, np.quantile(values, np.linspace(0, 1, 10)), atol=0.05)


STATS = np.float32([
    [[0, 0], [0.08, 0.09], [0, 0], [0, 0]],
    [[0, 0], [-0.15, 0.36], [0.06, 0.07], [0.1, 0.2]],
    [[-0.33, 0.58], [0, 0], [0.3, 0.4], [0, 0]],
    [[0, 0], [0, 0], [0, 0], [0, 0]]])


@pytest.mark.parametrize("costs, nodes, gains, thresholds, left, right", [
    ((0, 0, 0, 0), [1, 2, 3], [0.157156, 0.41184, 0], [1, 0, 0],
     [0.416667, 0.568966, 0], [-0.592593, -0.75, 0]),
    ((0.1, 0.1, 0, 0), [1, 2, 3], [0.015165, 0.157794, 0], [1, 0, 0],
     [0.108696, 0.338235, 0], [-0.162162, -0.4, 0]),
    ((0, 0, 0.1, 0.7), [2], [0.31184], [0], [0.568966], [-0.75])])
def test_best_gains(session, costs, nodes, gains, thresholds, left, right):
    found = session.run(raw_ops.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[1, 4], stats_summary_list=[STATS], l1=costs[0],
        l2=costs[1], tree_complexity=costs[2], min_node_weight=costs[3],
        max_splits=4))
    want = nodes, gains, thresholds, left, right
    for one, expected in zip(found, want):
        np.testing.assert_allclose(np.ravel(one[0]), expected, atol=1e-5)


def test_missing_values_go_where_they_gain_most(session):
    found = session.run(raw_ops.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 4], stats_summary=STATS[:, None], l1=0.0, l2=0.0,
        tree_complexity=0.0, min_node_weight=0.5, logits_dimension=1))
    assert found[0].tolist() == [1, 2] and found[3].tolist() == [1, 0]
    assert found[6].tolist() == [b"INEQUALITY_DEFAULT_RIGHT",
                                 b"INEQUALITY_DEFAULT_LEFT"]


def test_sparse_sums_and_splits_are_the_dense_ones(session):
    random = np.random.RandomState(5)
    nodes = random.randint(0, 3, 40).astype(np.int32)
    gradients = np.float32(random.randn(40, 1))
    hessians = np.float32(random.rand(40, 1))
    buckets = random.randint(-1, 5, [40, 3]).astype(np.int32)
    dense = raw_ops.BoostedTreesAggregateStats(
        node_ids=nodes, gradients=gradients, hessians=hessians, feature=buckets,
        max_splits=4, num_buckets=5)
    sparse = raw_ops.BoostedTreesSparseAggregateStats(
        node_ids=nodes, gradients=gradients, hessians=hessians,
        feature_indices=np.argwhere(buckets >= 0).astype(np.int32),
        feature_values=buckets[buckets >= 0], feature_shape=[40, 3],
        max_splits=4, num_buckets=5)
    rest = dict(l1=0.01, l2=0.1, tree_complexity=0.0, min_node_weight=0.1,
                logits_dimension=1)
    one, other, sums, (indices, values, shape) = session.run([
        raw_ops.BoostedTreesCalculateBestFeatureSplit(
            node_id_range=[0, 3], stats_summary=dense, **rest),
        raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
            node_id_range=[0, 3], stats_summary_indices=sparse[0],
            stats_summary_values=sparse[1], stats_summary_shape=sparse[2],
            **rest), dense, sparse])
    again = np.zeros(shape, np.float32)
    again[tuple(indices.T)] = values
    np.testing.assert_allclose(sums, again, atol=1e-4)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-4)
    np.testing.assert_array_equal(one[2], other[2])


@pytest.mark.parametrize("op, arguments, words", [
    ("MakeStatsSummary", dict(
        node_ids=[7], gradients=[[1.0]], hessians=[[1.0]],
        bucketized_features_list=[[0]], max_splits=2, num_buckets=2),
     r"node_ids\[0\] = 7 is not in"),
    ("MakeStatsSummary", dict(
        node_ids=[0], gradients=[[1.0]], hessians=[[1.0]],
        bucketized_features_list=[[-1]], max_splits=2, num_buckets=2),
     "example 0 is in bucket -1"),
    ("AggregateStats", dict(
        node_ids=[0], gradients=[[1.0]], hessians=[[1.0]], feature=[[3]],
        max_splits=2, num_buckets=2), "example 0 is in bucket 3"),
    ("SparseAggregateStats", dict(
        node_ids=[0], gradients=[[1.0]], hessians=[[1.0]],
        feature_indices=[[1, 0]], feature_values=[0], feature_shape=[1, 1],
        max_splits=2, num_buckets=2), "feature_indices.* is not in"),
    ("SparseAggregateStats", dict(
        node_ids=[0], gradients=[[1.0]], hessians=[[1.0]],
        feature_indices=[[0, 0]], feature_values=[0],
        feature_shape=[1, 2**31 - 1], max_splits=2, num_buckets=2),
     "is too large"),
    ("CalculateBestGainsPerFeature", dict(
        node_id_range=[0, 9], stats_summary_list=[STATS], l1=0.0, l2=0.0,
        tree_complexity=0.0, min_node_weight=0.0, max_splits=4),
     r"node_id_range \[0, 9\) is not in"),
    ("MakeQuantileSummaries", dict(
        float_values=[[1.0, 2.0, 3.0]], example_weights=[1.0, 2.0],
        epsilon=0.1), "Weights should be a single value or same size"),
    ("MakeQuantileSummaries", dict(
        float_values=[[float("nan")]], example_weights=[1.0], epsilon=0.1),
     "is NaN")])
def test_ops_refuse(session, op, arguments, words):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError),
                       match=words):
        session.run(getattr(raw_ops, "BoostedTrees" + op)(**arguments))


def test_splits_of_the_second_version(session):
    trees = made(session)
    for types, nodes in (([["EQUALITY_DEFAULT_RIGHT"]], [[0]]),
                         ([["INEQUALITY_DEFAULT_RIGHT"]], [[1]])):
        session.run(boosted.update_ensemble_v2(
            trees.resource_handle, [3], [[1]], nodes, [[0.5]], [[2]], [[[0.5]]],
            [[[0.7]]], types, 5, 0.1, 0))
    first, second = BoostedTreeEnsemble.FromString(
        session.run(trees.serialize())[1]).trees[0].nodes[:2]
    assert (first.categorical_split.value,
            first.categorical_split.dimension_id) == (2, 1)
    assert second.bucketized_split.default_direction == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 'MAYBE'"):
        session.run(boosted.update_ensemble_v2(
            trees.resource_handle, [3], [[1]], [[2]], [[0.5]], [[2]], [[[0.5]]],
            [[[0.7]]], [["MAYBE"]], 5, 0.1, 0))


def test_debug_outputs_tell_the_way_of_an_example(session):
    trees = grown(session)
    found = session.run(raw_ops.BoostedTreesExampleDebugOutputs(
        tree_ensemble_handle=trees.resource_handle,
        bucketized_features=BUCKETS, logits_dimension=1))
    output = BoostedDebugOutput.FromString(found[0])
    assert list(output.feature_ids) == [2, 1]
    np.testing.assert_allclose(output.logits_path,
                               [0.238095, 0.288095, 0.298095], atol=1e-5)


def test_buckets_and_their_sums(session):
    buckets, empty = session.run(raw_ops.BoostedTreesBucketize(
        float_values=[[1., 2., 3., 0., 9.], [1., 2.]],
        bucket_boundaries=[[1., 2.5, 4.], np.zeros([0], np.float32)]))
    assert buckets.tolist() == [0, 1, 2, 0, 2] and empty.tolist() == [0, 0]
    sums = session.run(raw_ops.BoostedTreesMakeStatsSummary(
        node_ids=[0, 1, 1, 0], gradients=[[1.], [2.], [3.], [-4.]],
        hessians=[[5.], [6.], [7.], [8.]],
        bucketized_features_list=[[0, 1, 9, 0]], max_splits=2, num_buckets=2))
    # A bucket beyond the last counts as the last.
    assert sums.tolist() == [[[[-3, 13], [0, 0]], [[0, 0], [5, 13]]]]


def test_flushed_summaries_are_those_that_came(session):
    accumulator = boosted.QuantileAccumulator(0.1, 1, 4)
    session.run(accumulator.initializer)
    session.run(accumulator.add_summaries([np.float32([3, 1, 2, 1])], [2.0]))
    flush = raw_ops.BoostedTreesFlushQuantileSummaries(
        quantile_stream_resource_handle=accumulator.resource_handle,
        num_features=1)
    assert session.run(flush)[0].tolist() == [
        [1, 4, 0, 4], [2, 2, 4, 6], [3, 2, 6, 8]]
    assert session.run(flush)[0].shape == (0, 4)
    assert session.run(accumulator.is_initialized())


# --- with the package tensorflow-estimator.
_RANDOM = np.random.RandomState(0)
X = {"a": np.float32(_RANDOM.randn(200)),
     "b": np.float32(_RANDOM.rand(200) * 10), "c": _RANDOM.randint(0, 3, 200)}
LABELS = ((X["a"] * 2 + np.sin(X["b"]) + X["c"] * .7
           + _RANDOM.randn(200) * .1) > 1).astype(np.int32)
VALUES = np.float32(X["a"] * 2 + np.sin(X["b"]) + X["c"] * .7)


def columns():
    column = tf.feature_column
    return [column.bucketized_column(column.numeric_column("a"),
                                     [-1., -.5, 0., .5, 1.]),
            column.bucketized_column(column.numeric_column("b"),
                                     [float(i) for i in range(1, 10)]),
            column.indicator_column(
                column.categorical_column_with_identity("c", 3))]


def batches(labels, epochs):
    def input_fn():
        features = {k: v if k == "c" else v[:, None] for k, v in X.items()}
        return tf.data.Dataset.from_tensors(
            (features, labels[:, None])).repeat(epochs)
    return input_fn


@needs_package
@pytest.mark.parametrize("options, accuracy, loss, importance", [
    ({}, 0.975, 0.10512, 0.69726),
    (dict(center_bias=True), 0.975, 0.10514, 0.69743),
    (dict(tree_complexity=0.02, pruning_mode="post"), 0.975, 0.15673, 0.77636),
    (dict(tree_complexity=0.01, pruning_mode="pre", l1_regularization=0.01,
          l2_regularization=0.02, min_node_weight=0.01), 0.955, 0.24472,
     0.85216),
    (dict(train_in_memory=True), 0.975, 0.10512, 0.69726)])
def test_classifier_is_that_of_tensorflow(tmp_path, options, accuracy, loss,
                                          importance):
    model = tf.estimator.BoostedTreesClassifier(
        columns(), 1, n_trees=5, max_depth=3, learning_rate=0.3,
        model_dir=str(tmp_path),
        config=tf.estimator.RunConfig(tf_random_seed=1), **options)
    model.train(batches(LABELS, 50), max_steps=40)
    found = model.evaluate(batches(LABELS, 1), steps=1)
    np.testing.assert_allclose([found["accuracy"], found["loss"]],
                               [accuracy, loss], rtol=2e-3)
    name, value = next(iter(
        model.experimental_feature_importances(normalize=True).items()))
    assert name == "a_bucketized"
    np.testing.assert_allclose(value, importance, rtol=2e-3)


@needs_package
def test_regressor_is_that_of_tensorflow(tmp_path):
    model = tf.estimator.BoostedTreesRegressor(
        columns(), 1, n_trees=6, max_depth=3, model_dir=str(tmp_path))
    model.train(batches(VALUES, 60), max_steps=50)
    found = model.evaluate(batches(VALUES, 1), steps=1)
    np.testing.assert_allclose(found["loss"], 0.86525, rtol=1e-3)
    assert found["global_step"] == 18


@needs_package
def test_numeric_columns_get_buckets_of_quantiles(tmp_path):
    column = tf.feature_column
    model = tf.estimator.BoostedTreesRegressor(
        [column.numeric_column("a"), column.numeric_column("b")], 1, n_trees=6,
        max_depth=3, learning_rate=0.5, quantile_sketch_epsilon=0.05,
        center_bias=True, model_dir=str(tmp_path))
    model.train(batches(VALUES, 60), max_steps=50)
    found = model.evaluate(batches(VALUES, 1), steps=1)
    assert found["loss"] < 0.6


@needs_package
@pytest.mark.parametrize("kind, labels, loss", [
    ("classifier", LABELS, 0.42065), ("regressor", VALUES, 2.19765)])
def test_trained_in_memory(tmp_path, kind, labels, loss):
    def all_at_once():
        return ({k: tf.constant(v if k == "c" else v[:, None])
                 for k, v in X.items()}, tf.constant(labels[:, None]))

    train = getattr(tf.contrib.estimator,
                    "boosted_trees_%s_train_in_memory" % kind)
    model = train(all_at_once, columns(), model_dir=str(tmp_path), n_trees=4,
                  max_depth=2)
    found = model.evaluate(batches(labels, 1), steps=1)
    np.testing.assert_allclose(found["loss"], loss, rtol=2e-3)
