"""tf.contrib.factorization.KMeansClustering, an Estimator of the package
tensorflow-estimator."""
import time
import typing

import headrace as tf
from headrace import _packages
from headrace._src.factorization.choices import (
    CLUSTERS_VAR_NAME, COSINE_DISTANCE, KMEANS_PLUS_PLUS_INIT, RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE, check_distance, check_start)
from headrace._src.factorization.kmeans import ContribKMeans
from headrace._src.framework.graph import colocate_with
from headrace._src.platform import tf_logging as logging
from headrace._src.saved_model.export_outputs import PredictOutput


_Estimator: typing.Any = _packages.find("estimator", "Estimator")


class InitializeClustersHook(tf.train.SessionRunHook):
    """The chief runs `init_op` until the variable `is_initialized_var` is True;
    other tasks wait for that."""

    def __init__(self, init_op, is_initialized_var, is_chief):
        self._init_op = init_op
        self._is_initialized_var = is_initialized_var
        self._is_chief = is_chief

    def after_create_session(self, session, coord):
        assert self._init_op.graph is tf.get_default_graph()
        assert self._is_initialized_var.graph is self._init_op.graph
        while True:
            try:
                if session.run(self._is_initialized_var):
                    return
                if self._is_chief:
                    session.run(self._init_op)
                else:
                    time.sleep(1)
            except RuntimeError as error:
                logging.info(error)


class LossRelativeChangeHook(tf.train.SessionRunHook):
    """Stops the training when |change of the loss| / (1 + |loss before|) is less
    than `tolerance`."""

    def __init__(self, loss_tensor, tolerance):
        self._loss_tensor = loss_tensor
        self._tolerance = tolerance
        self._prev_loss = None

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        loss, before = run_values.results, self._prev_loss
        assert loss is not None
        if before and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._prev_loss = loss


def points_of(features, feature_columns=None):
    """The matrix of points: of a dict, what the columns make of it, or its
    values side by side in the order of their keys."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return tf.feature_column.input_layer(features, feature_columns)
    keys = sorted(features)
    with colocate_with(features[keys[0]]):
        return tf.concat([features[key] for key in keys], axis=1)


class KMeansClustering(_Estimator):
    """An Estimator that finds centers of clusters by k-means.

    `num_clusters`, `initial_clusters`, `distance_metric`, `random_seed`,
    `use_mini_batch`, `mini_batch_steps_per_iteration`,
    `kmeans_plus_plus_num_retries`: as those of tf.contrib.factorization.KMeans,
    without "kmc2".
    `relative_tolerance`: training stops when the loss changes by less than that
    part. `feature_columns`: what of a dict of features are coordinates.
    `input_fn`s give a float matrix of points, or a dict of such matrices.
    ValueError for unknown names of metrics and of ways to choose centers.
    """
    SQUARED_EUCLIDEAN_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = CLUSTERS_VAR_NAME

    def __init__(self, num_clusters, model_dir=None,
                 initial_clusters=RANDOM_INIT,
                 distance_metric=SQUARED_EUCLIDEAN_DISTANCE, random_seed=0,
                 use_mini_batch=True, mini_batch_steps_per_iteration=1,
                 kmeans_plus_plus_num_retries=2, relative_tolerance=None,
                 config=None, feature_columns=None):
        check_start(initial_clusters, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT))
        check_distance(distance_metric)

        def model_fn(features, mode, config):
            model = ContribKMeans(
                points_of(features, feature_columns), num_clusters,
                initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed,
                kmeans_plus_plus_num_retries)
            return self._spec(model, mode, config, relative_tolerance)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def _spec(self, model, mode, config, relative_tolerance):
        distances, indices, losses, ready, init_op, train_op = (
            model.training_graph())
        loss = tf.reduce_sum(losses)
        tf.summary.scalar("loss/raw", loss)
        step = tf.assign_add(tf.train.get_global_step(), 1)
        with tf.control_dependencies([train_op, step]):
            train_op = tf.identity(loss)
        hooks = [InitializeClustersHook(init_op, ready, config.is_chief)]
        if relative_tolerance is not None:
            hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
        results = {self.ALL_DISTANCES: distances[0],
                   self.CLUSTER_INDEX: indices[0]}
        outputs = {key: PredictOutput(value) for key, value in results.items()}
        outputs["serving_default"] = PredictOutput(indices[0])
        return tf.estimator.EstimatorSpec(
            mode=mode, predictions=results, loss=loss, train_op=train_op,
            eval_metric_ops={self.SCORE: tf.metrics.mean(loss)},
            training_hooks=hooks, export_outputs=outputs)

    def _predict_one_key(self, input_fn, predict_key):
        for result in self.predict(input_fn=input_fn,
                                   predict_keys=[predict_key]):
            yield result[predict_key]

    def predict_cluster_index(self, input_fn):
        """A generator: of each point, the index of its nearest center."""
        yield from self._predict_one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn):
        """The sum of the distances from the points of one batch to their
        centers."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn):
        """A generator: of each point, its distances to all centers, squared if
        they are Euclidean."""
        yield from self._predict_one_key(input_fn, self.ALL_DISTANCES)

    def cluster_centers(self):
        """The centers, float32 [clusters, coordinates], of the last
        checkpoint."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
