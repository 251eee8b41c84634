"""The graph of k-means: tensorflow.python.ops.clustering_ops.KMeans, and
tf.contrib.factorization.KMeans, which differs in its seed."""
import headrace as tf
from headrace import raw_ops as _raw
from headrace._src.factorization.choices import (
    CLUSTERS_VAR_NAME, COSINE_DISTANCE, KMC2_INIT, KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT, SQUARED_EUCLIDEAN_DISTANCE, check_distance, check_start)
from headrace._src.framework.graph import colocate_with
from headrace._src.ops.random_ops import get_seed

# Keeps a center that no point is near to from being 0 / 0.
_EPSILON = 1e-6


def _beside(tensor):
    return colocate_with(tensor, ignore_existing=True)


def _normal(rows):
    return tf.nn.l2_normalize(rows, axis=1)


def _number_of_rows(parts):
    return tf.add_n([tf.shape(part)[0] for part in parts])


class KMeans:
    """The graph of k-means.

    `inputs`: a float matrix of points, one a row, or a list of such matrices.
    `num_clusters`: an integer or a scalar tensor.
    `initial_clusters`: a matrix of `num_clusters` centers, a function of
    `inputs` as a list and the number of centers still missing, which gives some
    of them, or "random", "kmeans_plus_plus", "kmc2".
    `distance_metric`: "squared_euclidean" or "cosine".
    `use_mini_batch`: moves the centers towards the points of each step, instead
    of computing them anew of all points;
    `mini_batch_steps_per_iteration`: after so many steps the moved centers
    become those that points are compared with.
    `random_seed`, `kmeans_plus_plus_num_retries`, `kmc2_chain_length`: how
    centers are chosen.
    ValueError for other names of metrics or of ways to choose centers.
    """

    def __init__(self, inputs, num_clusters, initial_clusters=RANDOM_INIT,
                 distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
                 use_mini_batch=False, mini_batch_steps_per_iteration=1,
                 random_seed=0, kmeans_plus_plus_num_retries=2,
                 kmc2_chain_length=200):
        check_start(initial_clusters,
                    (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT))
        check_distance(distance_metric)
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._distance_metric = distance_metric
        self._use_mini_batch = use_mini_batch
        self._mini_batch_steps_per_iteration = int(
            mini_batch_steps_per_iteration)
        self._seed = self._first_seed(random_seed)
        self._kmeans_plus_plus_num_retries = kmeans_plus_plus_num_retries
        self._kmc2_chain_length = kmc2_chain_length

    @staticmethod
    def _first_seed(seed):
        return get_seed(seed)[0]

    @staticmethod
    def _no_centers():
        return tf.placeholder_with_default([], shape=None)

    @property
    def _is_cosine(self):
        return self._distance_metric == COSINE_DISTANCE

    @property
    def _has_copy(self):
        """Whether the centers that move are others than those that points are
        compared with."""
        return self._use_mini_batch and self._mini_batch_steps_per_iteration > 1

    @property
    def _keeps_normal_centers(self):
        return self._is_cosine and (not self._use_mini_batch or self._has_copy)

    def training_graph(self):
        """(all_scores, cluster_idx, scores, cluster_centers_initialized,
        init_op, training_op).

        The first three are tuples, one element for each matrix of the inputs:
        float [points, clusters], the distances; int64 [points], the nearest
        center; float [points], the distance to it. Run init_op until the
        variable cluster_centers_initialized is True, then training_op.
        InvalidArgumentError from init_op where the inputs have too few points.
        """
        wanted = self._initial_clusters
        if isinstance(wanted, str) or callable(wanted):
            number = tf.convert_to_tensor(self._num_clusters)
        else:
            number = tf.shape(tf.convert_to_tensor(wanted))[0]
        inputs = self._inputs
        centers = tf.Variable(self._no_centers(), name=CLUSTERS_VAR_NAME,
                              validate_shape=False)
        ready = tf.Variable(False, dtype=tf.bool, name="initialized")
        moved, counts, steps_left = centers, None, None
        if self._has_copy:
            moved = tf.Variable(self._no_centers(), name="clusters_updated",
                                validate_shape=False)
            steps_left = tf.Variable(self._mini_batch_steps_per_iteration,
                                     dtype=tf.int64, name="update_in_steps")
            counts = tf.Variable(tf.zeros([number], tf.int64))
        elif self._use_mini_batch:
            counts = tf.Variable(tf.ones([number], tf.int64))
        init_op = _FirstCenters(self, number, centers, moved, ready).op()
        compared = centers
        if self._is_cosine:
            inputs = [_normal(part) for part in inputs]
            if not self._keeps_normal_centers:
                compared = _normal(compared)
        all_scores, scores, nearest = self._infer(inputs, compared)
        if self._use_mini_batch:
            synced = self._sync_op(steps_left, centers, moved, counts)
            with tf.control_dependencies([synced]):
                train_op = self._mini_batch_op(inputs, nearest, moved, counts)
        else:
            train_op = self._full_batch_op(inputs, number, nearest, centers)
        return all_scores, nearest, scores, ready, init_op, train_op

    def _distances(self, part, centers):
        """[points, clusters]; of the cosine, points and centers are normal."""
        product = tf.matmul(part, centers, transpose_b=True)
        if self._is_cosine:
            return 1 - product
        squares = [tf.reduce_sum(tf.square(rows), 1, keepdims=True)
                   for rows in (part, centers)]
        return squares[0] - 2 * product + tf.transpose(squares[1])

    def _infer(self, inputs, centers):
        found = []
        for part in inputs:
            with _beside(part):
                scores = self._distances(part, centers)
                # Of normal vectors the cosine distance is half the squared
                # Euclidean distance.
                index, distance = _raw.NearestNeighbors(
                    points=part, centers=centers, k=1)
                if self._is_cosine:
                    distance *= 0.5
                found.append((scores, tf.squeeze(distance, [-1]),
                              tf.squeeze(index, [-1])))
        return tuple(zip(*found))

    def _sync_op(self, steps_left, centers, moved, counts):
        """Once the iteration is over, takes the moved centers over."""
        if not self._has_copy:
            return tf.no_op()

        # The counter is reset first, so that other workers do not take the
        # centers over too, and the counts last.
        def take_over():
            reset = tf.assign(steps_left,
                              self._mini_batch_steps_per_iteration - 1)
            with tf.control_dependencies([reset]):
                value = _normal(moved) if self._is_cosine else moved
                taken = tf.assign(centers, value)
            with tf.control_dependencies([taken]):
                emptied = tf.assign(counts, tf.zeros_like(counts))
            with tf.control_dependencies([emptied]):
                return tf.identity(steps_left)

        with _beside(steps_left):
            return tf.cond(steps_left <= 0, take_over,
                           lambda: tf.assign_sub(steps_left, 1))

    @staticmethod
    def _mini_batch_op(inputs, nearest, centers, counts):
        """x += (sum of the new points - k x) / (n + k) for a center x of n points
        that gets k more."""
        updates = []
        for part, index in zip(inputs, nearest):
            with _beside(part):
                ids, where = tf.unique(tf.reshape(index, [-1]))
                size = tf.size(ids)
                before = tf.gather(counts, ids)
                old = tf.gather(centers, ids)
                more = tf.unsorted_segment_sum(
                    tf.ones_like(where, dtype=counts.dtype.base_dtype), where,
                    size)
                column = tf.concat(
                    [tf.reshape(size, [1]),
                     tf.ones(tf.reshape(tf.rank(part) - 1, [1]), tf.int32)], 0)
                change = tf.unsorted_segment_sum(part, where, size)
                change -= tf.reshape(tf.cast(more, part.dtype), column) * old
                change *= tf.reshape(tf.reciprocal(
                    tf.cast(before + more, part.dtype)), column)
            updates += [tf.scatter_add(counts, ids, more),
                        tf.scatter_add(centers, ids, change)]
        return tf.group(*updates)

    def _full_batch_op(self, inputs, number, nearest, centers):
        """Sets each center to the mean of its points."""
        sums, sizes = [], []
        for part, index in zip(inputs, nearest):
            with _beside(part):
                sums.append(tf.unsorted_segment_sum(part, index, number))
                ones = tf.ones(tf.stack([tf.shape(part)[0], 1]))
                sizes.append(tf.unsorted_segment_sum(ones, index, number))
        with _beside(centers):
            total = tf.add_n(sums)
            found = total / (tf.cast(tf.add_n(sizes), total.dtype)
                             + tf.constant(_EPSILON, dtype=total.dtype))
            if self._keeps_normal_centers:
                found = _normal(found)
        return tf.assign(centers, found)


class ContribKMeans(KMeans):
    __doc__ = KMeans.__doc__

    @staticmethod
    def _first_seed(seed):
        return seed

    @staticmethod
    def _no_centers():
        return tf.constant([], dtype=tf.float32)


class _FirstCenters:
    """Makes the operation that chooses centers. It may be run with several
    batches: each adds what it can, and the variable `ready` becomes True when
    none is missing."""

    def __init__(self, model, number, centers, moved, ready):
        self._model = model
        self._inputs = model._inputs
        self._number = number
        self._centers = centers
        self._moved = moved
        self._ready = ready
        self._selected = tf.shape(centers)[0]
        self._missing = number - self._selected
        self._points = _number_of_rows(self._inputs)

    def op(self):
        """The operation. Its failures are InvalidArgumentErrors."""
        return tf.cond(tf.equal(self._missing, 0),
                       lambda: tf.assert_equal(self._ready, True), self._choose)

    def _choose(self):
        wanted = self._model._initial_clusters
        with tf.control_dependencies([tf.assert_positive(self._missing)]):
            if isinstance(wanted, str) and wanted == KMC2_INIT:
                missing = self._chains()
            else:
                missing = self._add(wanted)
            return tf.cond(tf.equal(missing, 0),
                           lambda: tf.assign(self._ready, True), tf.no_op)

    def _assign(self, centers):
        """The number of those that are missing, after the assignment."""
        found = tf.assign(self._centers, centers, validate_shape=False)
        if self._moved is not self._centers:
            found = tf.assign(self._moved, found, validate_shape=False)
        return self._number - tf.shape(found)[0]

    def _add(self, wanted):
        new = self._new_centers(wanted)
        if self._model._is_cosine:
            new = _normal(new)
        # Without centers the variable is a vector.
        return self._assign(tf.cond(
            tf.equal(self._selected, 0), lambda: new,
            lambda: tf.concat([self._centers, new], 0)))

    def _new_centers(self, wanted):
        if callable(wanted):
            return wanted(self._inputs, self._missing)
        if not isinstance(wanted, str):
            with tf.control_dependencies([tf.assert_equal(
                    self._missing, tf.shape(wanted)[0])]):
                return tf.convert_to_tensor(wanted)
        if wanted == RANDOM_INIT:
            return tf.cond(self._points <= self._missing,
                           lambda: tf.concat(self._inputs, 0), self._random)
        with tf.control_dependencies([tf.assert_greater_equal(
                self._points, self._missing)]):
            return self._plus_plus()

    def _random(self):
        indices = tf.random_uniform(
            tf.reshape(self._missing, [-1]), minval=0,
            maxval=tf.cast(self._points, tf.int64), seed=self._model._seed,
            dtype=tf.int64)
        return tf.nn.embedding_lookup(self._inputs, indices,
                                      partition_strategy="div")

    def _plus_plus(self):
        """Chooses among the points of the first matrix."""
        points = self._inputs[0]
        if self._model._is_cosine:
            points = _normal(points)
        return _raw.KmeansPlusPlusInitialization(
            points=points, num_to_sample=tf.cast(self._missing, tf.int64),
            seed=self._model._seed,
            num_retries_per_sample=self._model._kmeans_plus_plus_num_retries)

    def _chains(self):
        """Chooses a center of each `kmc2_chain_length` points of the first
        matrix, of all its points where there are fewer."""
        points = self._inputs[0]
        length = self._model._kmc2_chain_length
        chains = tf.cast(tf.shape(points)[0] / length, tf.int32)
        number = tf.maximum(tf.minimum(self._missing, chains), 1)

        def normal(center):
            return _normal(center) if self._model._is_cosine else center

        def first():  # the points are in random order
            return normal(tf.reshape(points[0], [1, -1]))

        def next_one(i):
            subset = points[i * length:(i + 1) * length]
            distances = _raw.NearestNeighbors(
                points=subset, centers=self._centers, k=1)[1]
            index = _raw.KMC2ChainInitialization(
                distances=tf.squeeze(distances), seed=self._model._seed)
            center = normal(tf.reshape(subset[index], [1, -1]))
            return tf.concat([self._centers, center], 0)

        def body(i, _):
            return i + 1, self._assign(tf.cond(
                tf.equal(self._selected, 0), first, lambda: next_one(i)))

        return tf.while_loop(lambda i, _: i < number, body, [0, 0])[1]
