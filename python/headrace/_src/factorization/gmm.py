"""tf.contrib.factorization: mixtures of Gaussians, fitted by expectation and
maximization."""
import numpy as np

import headrace as tf
from headrace._src.factorization.choices import (
    DIAG_COVARIANCE, FULL_COVARIANCE)
from headrace._src.framework.graph import colocate_with

_EPSILON = np.finfo(float).eps
# Added to variances, so that covariances can be inverted.
_LEAST_VARIANCE = 1e-3


def covariance(x, diag):
    """The covariance of the rows of the float matrix `x`: [columns, columns], or
    [1, columns] of its diagonal if `diag`."""
    freedom = tf.cast(tf.shape(x)[0], tf.float32) - 1
    x -= tf.reduce_mean(x, 0, keepdims=True)
    if diag:
        return tf.reduce_sum(tf.square(x), 0, keepdims=True) / freedom
    return tf.matmul(x, x, transpose_a=True) / freedom


def _random_rows(parts, number, seed):
    count = tf.add_n([tf.shape(part)[0] for part in parts])
    with tf.control_dependencies([tf.assert_less_equal(number, count)]):
        count = tf.cast(count, tf.int64)
        rows = tf.random_uniform([number], minval=0, maxval=count, seed=seed,
                                 dtype=tf.int64)
    return tf.nn.embedding_lookup(parts, rows % count, partition_strategy="div")


class GmmAlgorithm:
    """The graph of a mixture of Gaussians.

    `data`: a list of float32 matrices of points, one a row. `num_classes`: the
    number of Gaussians. `initial_means`: float32 [num_classes, coordinates];
    None: points drawn by `random_seed`. `params`: the letters of what training
    changes, of "w" weights, "m" means, "c" covariances. `covariance_type`:
    "full" or "diag"; Exception for another.
    """
    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(self, data, num_classes, initial_means=None, params="wmc",
                 covariance_type=FULL_COVARIANCE, random_seed=0):
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception("programmer error: Invalid covariance type: %s"
                            % covariance_type)
        self._params = params
        self._random_seed = random_seed
        self._is_full = covariance_type == FULL_COVARIANCE
        self._num_classes = num_classes
        self._dimensions = tf.shape(data[0])[1]
        self._min_var = _LEAST_VARIANCE * tf.diag(
            tf.ones(tf.stack([self._dimensions])))
        nothing = tf.constant([], dtype=tf.float32)
        self._means = tf.Variable(nothing, name=self.CLUSTERS_VARIABLE,
                                  validate_shape=False)
        self._covs = tf.Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE,
                                 validate_shape=False)
        self._alpha = tf.Variable(tf.tile([1.0 / num_classes], [num_classes]),
                                  name=self.CLUSTERS_WEIGHT,
                                  validate_shape=False)
        self._ready = tf.Variable(False, dtype=tf.bool, name="initialized")
        self._init_ops = self._first_values(data, initial_means)
        self._w = []
        priors, self._points_in_k, w_x, w_x2 = [], [], [], []
        for part in data:
            self._expect(part, priors, w_x, w_x2)
        self._train_ops = self._maximize(len(data), w_x, w_x2)
        self._log_likelihood_op = tf.reduce_logsumexp(
            [tf.reduce_logsumexp(prior) for prior in priors])
        scores = [prior + tf.log(w) for prior, w in zip(priors, self._w)]
        self._scores = tf.squeeze(
            tf.reduce_logsumexp(scores, axis=2, keepdims=True), axis=0)

    def _first_values(self, data, means):
        if means is None:
            means = _random_rows(data, self._num_classes, self._random_seed)
        means = tf.expand_dims(means, 1)
        cov = covariance(data[0], not self._is_full) + self._min_var
        if not self._is_full:
            cov = tf.diag_part(cov)
        covs = tf.tile(tf.expand_dims(cov, 0),
                       [self._num_classes] + [1] * (2 if self._is_full else 1))
        with colocate_with(self._ready):
            with tf.control_dependencies([means, covs]):
                ready = tf.identity(self._ready)
        ops = []
        for variable, value in (self._means, means), (self._covs, covs):
            with colocate_with(variable):
                assigned = tf.assign(variable, value, validate_shape=False)
                with tf.control_dependencies([assigned]):
                    done = tf.identity(tf.assign(self._ready, True))
                ops.append(tf.cond(ready, tf.no_op, lambda: done).op)
        return ops

    def _log_densities(self, points):
        """[points, classes]; `points`: [1, points, coordinates]."""
        constant = tf.cast(self._dimensions, tf.float32) * tf.log(2 * np.pi)
        if self._is_full:
            root = tf.cholesky(self._covs + self._min_var)
            log_det = 2.0 * tf.reduce_sum(
                tf.log(tf.matrix_diag_part(root)), 1)
            away = tf.transpose(points - self._means, perm=[0, 2, 1])
            away = tf.matrix_triangular_solve(root, away, lower=True)
            distances = tf.transpose(tf.reduce_sum(tf.square(away), 1))
        else:
            variances = self._covs + _LEAST_VARIANCE
            log_det = tf.transpose(
                tf.reduce_sum(tf.log(variances), 1, keepdims=True))
            squares = tf.squared_difference(points, self._means)
            distances = tf.matmul(squares, tf.expand_dims(1.0 / variances, 2))
            distances = tf.transpose(tf.squeeze(distances, [2]))
        return -0.5 * (distances + constant + log_det)

    def _expect(self, part, priors, w_x, w_x2):
        """What maximization needs of one matrix of points."""
        points = tf.expand_dims(part, 0)
        densities = self._log_densities(points) + tf.log(self._alpha)
        prior = tf.reduce_logsumexp(densities, axis=1, keepdims=True)
        w = tf.reshape(tf.exp(tf.expand_dims(densities, 0) - prior),
                       tf.stack([tf.shape(part)[0], self._num_classes]))
        priors.append(prior)
        self._w.append(w)
        self._points_in_k.append(tf.reduce_sum(w, 0, keepdims=True))
        w_x.append(tf.expand_dims(tf.matmul(w, part, transpose_a=True), 1))
        # [classes, coordinates, points], each point by its weight.
        weighted = (tf.expand_dims(tf.transpose(part), 0)
                    * tf.expand_dims(tf.transpose(w), 1))
        w_x2.append(tf.matmul(
            weighted, tf.tile(points, [self._num_classes, 1, 1])))

    def _maximize(self, parts, w_x, w_x2):
        with tf.control_dependencies(self._w):
            number = tf.squeeze(tf.add_n(self._points_in_k), axis=[0])
            alpha_op = means_op = tf.no_op()
            if "w" in self._params:
                share = number / parts
                total = tf.cast(tf.reduce_sum(share), tf.float32)
                alpha_op = tf.assign(self._alpha, share / (total + _EPSILON))
            ops = [alpha_op]
            divisor = tf.reshape(number, [self._num_classes, 1, 1]) + _EPSILON
            if "m" in self._params:
                means_op = tf.assign(self._means, tf.add_n(w_x) / divisor)
            with tf.control_dependencies([means_op]):
                means = self._means.value()
                covs = (tf.add_n(w_x2) / divisor
                        - tf.matmul(means, means, transpose_a=True)
                        + self._min_var)
                if not self._is_full:
                    covs = tf.matrix_diag_part(covs)
            if "c" in self._params:
                with tf.control_dependencies([means_op, covs]):
                    ops.append(tf.assign(self._covs, covs,
                                         validate_shape=False))
            return ops

    def init_ops(self):
        """An operation that sets means and covariances, once."""
        return tf.group(*self._init_ops)

    def training_ops(self):
        """An operation that improves the mixture by one step."""
        return tf.group(*self._train_ops)

    def is_initialized(self):
        """A bool variable: whether init_ops ran."""
        return self._ready

    def alphas(self):
        """A float32 variable [num_classes], the weights."""
        return self._alpha

    def clusters(self):
        """A float32 variable [num_classes, 1, coordinates], the means."""
        return self._means

    def covariances(self):
        """A float32 variable: [num_classes, coordinates, coordinates], or
        [num_classes, coordinates] of diagonals."""
        return self._covs

    def assignments(self):
        """A list of int64 vectors: of each point, the likeliest class."""
        return [tf.argmax(w, 1) for w in self._w]

    def scores(self):
        """float32 [points, 1], the log-likelihood of each point."""
        return self._scores

    def log_likelihood_op(self):
        """A float32 scalar, the log of the sum of the points' likelihoods."""
        return self._log_likelihood_op


def gmm(inp, initial_clusters, num_clusters, random_seed,
        covariance_type=FULL_COVARIANCE, params="wmc"):
    """The graph of a mixture of Gaussians: (log-likelihood, scores, assignments,
    training_op, init_op, is_initialized), as GmmAlgorithm has them; assignments
    are a list of one list.

    `inp`: a float32 matrix of points, one a row, or a list of such matrices.
    `initial_clusters`: means [num_clusters, coordinates], or "random".
    """
    means = None
    if isinstance(initial_clusters, tf.Tensor):
        pass  # as TensorFlow has it: a tensor is taken for "random"
    elif not isinstance(initial_clusters, str) or initial_clusters != "random":
        means = tf.constant(initial_clusters, dtype=tf.float32)
    model = GmmAlgorithm(inp if isinstance(inp, list) else [inp], num_clusters,
                         means, params, covariance_type, random_seed)
    return (model.log_likelihood_op(), model.scores(), [model.assignments()],
            model.training_ops(), model.init_ops(), model.is_initialized())
