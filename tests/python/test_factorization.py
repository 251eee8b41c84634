"""tf.contrib.factorization and tensorflow.python.ops.clustering_ops. Numbers are
those of TensorFlow 1.15.5 for the same seeds."""
import numpy as np
import pytest

import headrace as tf
from headrace import _packages
from headrace._src.factorization import kmeans as core

needs_package = pytest.mark.skipif(
    not _packages.is_installed(),
    reason="needs pip install tensorflow-estimator==1.15.2")

_RANDOM = np.random.RandomState(1)
CENTERS = np.float32([[0, 0], [5, 5], [-5, 5], [5, -6]])
POINTS = np.float32(np.concatenate(
    [_RANDOM.randn(30, 2) + center for center in CENTERS]))
_RANDOM.shuffle(POINTS)


def trained(make, points, steps, **options):
    """(centers, summed scores, how often the start ran) of a k-means."""
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.constant(part) for part in (
            points if isinstance(points, list) else [points])]
        scores, _, losses, ready, init_op, train_op = make(
            parts, 4, **options).training_graph()
        session.run(tf.global_variables_initializer())
        runs = 0
        while not session.run(ready):
            session.run(init_op)
            runs += 1
        for _ in range(steps):
            session.run(train_op)
        centers = [v for v in tf.global_variables()
                   if v.op.name == "clusters"][0]
        assert len(scores) == len(losses)
        return session.run(centers), sum(
            np.sum(part) for part in session.run(losses)), runs


@pytest.mark.parametrize("make", [tf.contrib.factorization.KMeans, core.KMeans])
@pytest.mark.parametrize("start, runs", [
    ("random", 1), ("kmeans_plus_plus", 1), ("kmc2", 1), (POINTS[:4], 1),
    (lambda inputs, k: inputs[0][:2], 2)])
@pytest.mark.parametrize("metric", ["squared_euclidean", "cosine"])
@pytest.mark.parametrize("mini, steps", [(False, 1), (True, 1), (True, 3)])
def test_kmeans_gets_nearer(make, start, runs, metric, mini, steps):
    options = dict(initial_clusters=start, distance_metric=metric,
                   use_mini_batch=mini, mini_batch_steps_per_iteration=steps,
                   random_seed=7, kmc2_chain_length=20)
    _, before, made = trained(make, POINTS, 0, **options)
    centers, after, _ = trained(make, POINTS, 12, **options)
    assert made >= runs and centers.shape == (4, 2)
    assert after <= before * 1.0001


@pytest.mark.parametrize("start, loss", [
    (POINTS[:4], 963.900), ("random", 212.336), ("kmeans_plus_plus", 212.336)])
def test_full_batch_is_that_of_tensorflow(start, loss):
    points = [POINTS[:50], POINTS[50:]]
    _, found, _ = trained(tf.contrib.factorization.KMeans, points, 12,
                          initial_clusters=start, random_seed=7)
    np.testing.assert_allclose(found, loss, rtol=0.1)


def test_mini_batch_moves_centers_by_the_share_of_new_points():
    want, counts = POINTS[:4].astype(float), np.ones(4)
    for _ in range(5):
        nearest = ((POINTS[:, None] - want[None]) ** 2).sum(-1).argmin(1)
        for j in range(4):
            own = POINTS[nearest == j]
            want[j] += (own.sum(0) - len(own) * want[j]) / (
                counts[j] + len(own))
            counts[j] += len(own)
    centers, _, _ = trained(
        tf.contrib.factorization.KMeans, POINTS, 5,
        initial_clusters=POINTS[:4], use_mini_batch=True)
    np.testing.assert_allclose(centers, want, atol=1e-5)


@pytest.mark.parametrize("points, options, error, words", [
    (POINTS, dict(initial_clusters="best"), ValueError,
     "Unsupported initialization algorithm 'best'"),
    (POINTS, dict(distance_metric="taxi"), ValueError,
     "Unsupported distance metric 'taxi'"),
    (POINTS[:2], dict(initial_clusters="kmeans_plus_plus"),
     tf.errors.InvalidArgumentError, "")])
def test_kmeans_refuses(points, options, error, words):
    with pytest.raises(error, match=words):
        trained(tf.contrib.factorization.KMeans, points, 1,
                **options)


@needs_package
@pytest.mark.parametrize("options", [
    {}, dict(initial_clusters="kmeans_plus_plus", use_mini_batch=False),
    dict(distance_metric="cosine", relative_tolerance=0.01)])
def test_estimator_of_kmeans(tmp_path, options):
    def input_fn():
        return tf.train.limit_epochs(tf.constant(POINTS), num_epochs=1)

    def repeated():
        return tf.constant(POINTS)

    kmeans = tf.contrib.factorization.KMeansClustering(
        4, model_dir=str(tmp_path), random_seed=3, **options)
    kmeans.train(repeated, steps=10)
    centers = kmeans.cluster_centers()
    assert centers.shape == (4, 2)
    distances = np.array(list(kmeans.transform(input_fn)))
    assert distances.shape == (len(POINTS), 4)
    np.testing.assert_array_equal(
        list(kmeans.predict_cluster_index(input_fn)), distances.argmin(1))
    np.testing.assert_allclose(kmeans.score(input_fn), distances.min(1).sum(),
                               rtol=1e-4, atol=1e-3)
    with pytest.raises(ValueError, match="kmc2"):
        tf.contrib.factorization.KMeansClustering(2, initial_clusters="kmc2")


@pytest.mark.parametrize("covariance, params", [
    ("full", "wmc"), ("diag", "wmc"), ("full", "m"), ("diag", "m")])
def test_mixture_of_gaussians(covariance, params):
    with tf.Graph().as_default(), tf.Session() as session:
        loss, scores, assignments, train_op, init_op, ready = (
            tf.contrib.factorization.gmm(tf.constant(POINTS), CENTERS, 4, 4,
                                         covariance, params))
        session.run(tf.global_variables_initializer())
        assert not session.run(ready)
        session.run(init_op)
        assert session.run(ready)
        before = session.run(loss)
        for _ in range(4):
            session.run(train_op)
        after, found = session.run([loss, assignments[0][0]])
        assert np.isfinite(after) and np.isfinite(before)
        assert session.run(scores).shape == (len(POINTS), 1)
        nearest = ((POINTS[:, None] - CENTERS) ** 2).sum(-1).argmin(1)
        assert (found == nearest).mean() > 0.9
    with tf.Graph().as_default(), pytest.raises(
            Exception, match="Invalid covariance type: round"):
        tf.contrib.factorization.GmmAlgorithm([tf.constant(POINTS)], 2,
                                              covariance_type="round")


MATRIX = np.float32([[0.1, 0, 0.2, 0, 0.4, 0.5, 0], [0, 1.1, 0, 1.3, 1.4, 0, 1.6],
                     [2, 0, 0, 2.3, 0, 2.5, 0], [3, 0, 3.2, 3.3, 0, 3.5, 0],
                     [0, 4.1, 0, 0, 4.4, 0, 4.6]])
ROWS = np.float32(np.random.RandomState(3).randn(5, 3))
COLS = np.float32(np.random.RandomState(4).randn(7, 3))


def solved(rows, right, w0, regularization, row_weights, col_weights):
    """The rows of U that make the loss least, one after another."""
    found = []
    for i, row in enumerate(rows):
        w = w0 + np.where(row != 0, row_weights[i] * col_weights, 0)
        lhs = (right.T * w) @ right + regularization * np.eye(3)
        found.append(np.linalg.solve(lhs, right.T @ (w * row)))
    return np.array(found)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("row_shards, col_shards, row_weights, col_weights", [
    (1, 1, 1, 1), (1, 1, [0.1, 0.2, 0.3, 0.4, 0.5], 0.5),
    (2, 3, [[0.1, 0.2, 0.3], [0.4, 0.5]], 1.0), (2, 3, None, None)])
@pytest.mark.parametrize("transposed", [True, False])
def test_alternating_least_squares(cache, row_shards, col_shards, row_weights,
                                   col_weights, transposed):
    def shards(matrix, n):
        return np.array_split(matrix, n) if n > 1 else matrix

    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.contrib.factorization.WALSModel(
            5, 7, 3, unobserved_weight=0.1, regularization=0.01,
            row_init=shards(ROWS, row_shards), col_init=shards(COLS, col_shards),
            num_row_shards=row_shards, num_col_shards=col_shards,
            row_weights=row_weights, col_weights=col_weights,
            use_factors_weights_cache=cache, use_gramian_cache=cache)
        places = np.argwhere(MATRIX != 0)
        sparse = tf.SparseTensor(
            places[:, ::-1] if transposed else places, MATRIX[MATRIX != 0],
            MATRIX.shape[::-1] if transposed else MATRIX.shape)
        update = model.update_row_factors(sparse, transpose_input=transposed)
        project = model.project_row_factors(sparse, transpose_input=transposed)
        session.run([model.initialize_op])
        session.run(model.worker_init)
        session.run(model.row_update_prep_gramian_op)
        session.run(model.initialize_row_update_op)
        session.run(update[1])
        loss, regularization, weights = session.run(list(update[2:]))
        found = np.concatenate(session.run(model.row_factors))
        assert session.run(project).shape == (5, 3)
    rw = np.zeros(5) if row_weights is None else (
        np.ones(5) * row_weights if isinstance(row_weights, int)
        else np.concatenate([np.ravel(part) for part in row_weights]))
    cw = np.ones(7) * (col_weights or 0)
    want = solved(MATRIX, COLS, 0.1, 0.01, rw, cw)
    np.testing.assert_allclose(found, want, rtol=2e-3, atol=1e-3)
    w = 0.1 + np.where(MATRIX != 0, rw[:, None] * cw, 0)
    np.testing.assert_allclose(weights, w.sum(), rtol=1e-4)
    np.testing.assert_allclose(
        loss, (w * (MATRIX - found @ COLS.T) ** 2).sum(), rtol=1e-3)
    np.testing.assert_allclose(
        regularization, 0.01 * ((found ** 2).sum() + (COLS ** 2).sum()),
        rtol=1e-3)


def test_columns_are_solved_as_rows_of_the_transposed_matrix():
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.contrib.factorization.WALSModel(
            5, 7, 3, unobserved_weight=0.1, regularization=0.01, row_init=ROWS,
            col_init=COLS)
        places = np.argwhere(MATRIX != 0)[::-1]  # in another order
        sparse = tf.SparseTensor(places, MATRIX[tuple(places.T)], MATRIX.shape)
        values, update, *_ = model.update_col_factors(sparse)
        session.run(model.initialize_op)
        session.run(model.worker_init)
        session.run(model.col_update_prep_gramian_op)
        session.run(model.initialize_col_update_op)
        session.run([values, update])
        found = session.run(model.col_factors)[0]
    np.testing.assert_allclose(
        found, solved(MATRIX.T, ROWS, 0.1, 0.01, np.ones(7), np.ones(5)),
        rtol=2e-3, atol=1e-3)


def test_weights_of_least_squares_are_not_negative():
    with tf.Graph().as_default(), pytest.raises(ValueError,
                                                match="row_weights"):
        tf.contrib.factorization.WALSModel(5, 7, 3, row_weights=-1)
