"""tf.contrib.factorization.WALSModel: weighted alternating least squares."""
import collections.abc
import numbers

import headrace as tf
from headrace import raw_ops as _raw
from headrace._src.framework.graph import colocate_with


def _values_of_shards(init, shards, is_shard):
    """A list of what each shard begins with."""
    if shards == 1 and not is_shard:
        init = [init]
    assert len(init) == shards, (
        "%d values were given for %d shards" % (len(init), shards))
    return init


def _matrix_variable(make, name, **options):
    return tf.Variable(make, dtype=tf.float32, name=name, **options)


class _Side:
    """What the model knows of rows, or of columns."""

    def __init__(self, size, shards, factors, weights, gramian):
        self.size = size
        self.shards = shards
        self.factors = factors
        self.weights = weights
        self.gramian = gramian


class WALSModel:
    r"""A factorization A ~ U V^T of a sparse matrix by weighted alternating least
    squares.

    It makes the sum of w_ij (A_ij - u_i v_j)^2, plus regularization (|U|^2 +
    |V|^2), small. The weight w_ij is unobserved_weight, and row_weights[i]
    col_weights[j] more where A has an entry.

    `input_rows`, `input_cols`: the size of A; `n_components`: the columns of U
    and V. `regularization`: None for none. `row_init`, `col_init`: the first U
    and V, float32: "random", a matrix, a list of one matrix for each shard, or a
    function that gives such. `row_weights`, `col_weights`: both None (all
    weights are unobserved_weight), a number, or numbers, in a list for each
    shard. `use_factors_weights_cache`, `use_gramian_cache`: updates read local
    copies, which initialize_row_update_op and initialize_col_update_op make.
    `use_scoped_vars`: variables are in name scopes.
    ValueError for other weights.
    """

    def __init__(self, input_rows, input_cols, n_components,
                 unobserved_weight=0.1, regularization=None, row_init="random",
                 col_init="random", num_row_shards=1, num_col_shards=1,
                 row_weights=1, col_weights=1, use_factors_weights_cache=True,
                 use_gramian_cache=True, use_scoped_vars=False):
        assert (row_weights is None) == (col_weights is None)
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._regularization_matrix = (
            None if regularization is None
            else regularization * tf.eye(n_components))
        self._use_factors_weights_cache = use_factors_weights_cache
        self._use_gramian_cache = use_gramian_cache

        def scoped(name, make):
            if not use_scoped_vars:
                return make(name)
            with tf.name_scope(name):
                return make(name)

        sides = ("row", input_rows, num_row_shards, row_weights, row_init), (
            "col", input_cols, num_col_shards, col_weights, col_init)
        weights, factors = [], []
        for axis, size, shards, weight, _ in sides:
            weights.append(scoped(
                axis + "_weights",
                lambda name: self._create_weights(weight, size, shards, name)))
        for axis, size, shards, _, init in sides:
            factors.append(scoped(
                axis + "_factors", lambda name: self._create_factors(
                    size, n_components, shards, init, name)))
        gramians = [_matrix_variable(tf.zeros([n_components, n_components]),
                                     axis + "_gramian")
                    for axis in ("row", "col")]
        self._row, self._col = [
            _Side(side[1], side[2], *rest)
            for side, *rest in zip(sides, factors, weights, gramians)]
        with tf.name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = self._prepare_gramian(
                self._col.factors, self._col.gramian)
        with tf.name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = self._prepare_gramian(
                self._row.factors, self._row.gramian)
        with tf.name_scope("transient_vars"):
            self._create_transient_vars()

    row_factors = property(lambda self: self._row.factors, doc="""
        A list of float32 variables, the shards of U.""")
    col_factors = property(lambda self: self._col.factors, doc="""
        A list of float32 variables, the shards of V.""")
    row_weights = property(lambda self: self._row.weights, doc="""
        A list of float32 variables, or None.""")
    col_weights = property(lambda self: self._col.weights, doc="""
        A list of float32 variables, or None.""")

    @property
    def initialize_op(self):
        """An operation that initializes the model's variables."""
        variables = [*self._row.factors, *self._col.factors, self._row.gramian,
                     self._col.gramian, *(self._row.weights or ()),
                     *(self._col.weights or ())]
        return tf.variables_initializer(variables)

    worker_init = property(lambda self: self._worker_init, doc="""
        An operation that each worker runs first: it copies the weights.""")
    row_update_prep_gramian_op = property(
        lambda self: self._row_update_prep_gramian, doc="""
        An operation to run before each sweep over rows: it computes V^T V.""")
    col_update_prep_gramian_op = property(
        lambda self: self._col_update_prep_gramian, doc="""
        An operation to run before each sweep over columns: it computes
        U^T U.""")
    initialize_row_update_op = property(
        lambda self: self._row_updates_init, doc="""
        An operation that each worker runs before a sweep over rows, after
        row_update_prep_gramian_op: it copies what the sweep reads.""")
    initialize_col_update_op = property(
        lambda self: self._col_updates_init, doc="""
        An operation that each worker runs before a sweep over columns.""")

    @classmethod
    def _shard_sizes(cls, dims, num_shards):
        size, more = divmod(dims, num_shards)
        return [size + 1] * more + [size] * (num_shards - more)

    @classmethod
    def _create_factors(cls, rows, cols, num_shards, init, name):
        if callable(init):
            init = init()
        is_random = isinstance(init, str) and init == "random"
        if not is_random:
            init = _values_of_shards(init, num_shards, isinstance(init, list))
        found = []
        for i, size in enumerate(cls._shard_sizes(rows, num_shards)):
            found.append(_matrix_variable(
                (lambda size=size: tf.random_normal([size, cols])) if is_random
                else (lambda i=i: init[i]), "%s_shard_%d" % (name, i)))
        return found

    @classmethod
    def _create_weights(cls, wt_init, num_wts, num_shards, name):
        if wt_init is None:
            return None
        sizes = cls._shard_sizes(num_wts, num_shards)
        if isinstance(wt_init, collections.abc.Iterable):
            values = _values_of_shards(
                wt_init, num_shards,
                not (num_shards == 1 and len(wt_init) == num_wts))
        elif isinstance(wt_init, numbers.Real) and wt_init >= 0:
            values = [wt_init * tf.ones([size]) for size in sizes]
        else:
            raise ValueError(
                "Invalid weight initialization argument. Must be one of these: "
                "None, a real non-negative real number, or a list of lists of "
                "non-negative real numbers (or equivalent iterables) "
                "corresponding to sharded factors. Got %r for %s."
                % (wt_init, name))
        return [_matrix_variable(value, "%s_shard_%d" % (name, i))
                for i, value in enumerate(values)]

    def _prepare_gramian(self, factors, gramian):
        products = []
        for shard in factors:
            with colocate_with(shard):
                products.append(tf.matmul(shard, shard, transpose_a=True))
        with colocate_with(gramian):
            return tf.assign(gramian, tf.add_n(products)).op

    @staticmethod
    def _cached_copies(names, is_copied):
        """Of variables by the names of their copies: (local variables, what fills
        them, what frees them); without a copy, the variables themselves."""
        if not is_copied:
            return list(names.values()), tf.no_op(), tf.no_op()
        copies, frees, filled = [], [], None
        for shard, variable in names.items():
            copy = _matrix_variable(
                1.0, shard, trainable=False,
                collections=[tf.GraphKeys.LOCAL_VARIABLES],
                validate_shape=False)
            # One after another, which takes less memory at once.
            with colocate_with(copy), tf.control_dependencies(
                    [] if filled is None else [filled]):
                filled = tf.assign(copy, variable, validate_shape=False)
            with colocate_with(copy):
                frees.append(tf.assign(copy, 1.0, validate_shape=False))
            copies.append(copy)
        return copies, filled, tf.group(*frees)

    def _create_transient_vars(self):
        cached = self._use_factors_weights_cache

        def shards(name, variables):
            return {"%s_shard_%d" % (name, i): variable
                    for i, variable in enumerate(variables)}

        sides = {"row": self._row, "col": self._col}
        fills, frees, filled_weights = {}, {}, []
        for axis, side in sides.items():
            side.factors_cache, filled, freed = self._cached_copies(
                shards(axis + "_factors_cache", side.factors), cached)
            fills[axis], frees[axis] = [filled], [freed]
        for axis, side in sides.items():
            side.weights_cache = None
            if side.weights is not None:
                side.weights_cache, filled, _ = self._cached_copies(
                    shards(axis + "_wt_cache", side.weights), cached)
                filled_weights.append(filled)
        for axis, side in sides.items():
            (side.gramian_cache,), filled, freed = self._cached_copies(
                {axis + "_gramian_cache": side.gramian},
                self._use_gramian_cache)
            fills[axis].append(filled)
            frees[axis].append(freed)
        self._row_updates_init = tf.group(*fills["col"], *frees["row"])
        self._col_updates_init = tf.group(*fills["row"], *frees["col"])
        self._worker_init = (
            tf.group(*filled_weights, name="worker_init") if filled_weights
            else tf.no_op(name="worker_init"))

    @staticmethod
    def _get_sharding_func(size, num_shards):
        """A function of indices of rows: (shard, index in the shard)."""
        def function(ids):
            if num_shards == 1:
                return None, ids
            smaller, more = divmod(size, num_shards)
            # The first `more` shards have one row more.
            shard = tf.maximum(ids // (smaller + 1), (ids - more) // smaller)
            return shard, tf.where(shard < more, ids % (smaller + 1),
                                   (ids - more) % smaller)
        return function

    @classmethod
    def scatter_update(cls, factor, indices, values, sharding_func, name=None):
        """The operation that sets rows of the shards `factor` (a list of
        variables): row `indices`[i] becomes `values`[i]. `sharding_func` gives
        the shards and the rows there."""
        assert isinstance(factor, list)
        if len(factor) == 1:
            with colocate_with(factor[0]):
                return tf.scatter_update(factor[0], indices, values,
                                         name=name).op
        shard, ids = sharding_func(indices)
        shard = tf.cast(shard, tf.int32)
        ids, values = [tf.dynamic_partition(part, shard, len(factor))
                       for part in (ids, values)]
        return tf.group(*map(tf.scatter_update, factor, ids, values), name=name)

    def update_row_factors(self, sp_input=None, transpose_input=False):
        """The update of the rows of U of which `sp_input` has entries: a
        SparseTensor of float32, some rows of A at their places, transposed if
        `transpose_input`.

        (new_values, update_op, unregularized_loss, regularization, sum_weights):
        new rows of U, in the order in which `sp_input` first names them; the
        operation that sets them; float32 scalars, the loss of these rows, the
        regularization and the sum of the weights, as for all rows.
        """
        return self._process(True, sp_input, transpose_input)

    def update_col_factors(self, sp_input=None, transpose_input=False):
        """The update of rows of V, as update_row_factors: `sp_input` has some
        columns of A at their places, transposed if `transpose_input`."""
        return self._process(False, sp_input, transpose_input)

    def project_row_factors(self, sp_input=None, transpose_input=False,
                            projection_weights=None):
        """Rows of U for rows of another matrix, float32 [rows, n_components].

        `sp_input`: a SparseTensor of float32 with the columns of A.
        `projection_weights`: weights of the rows, a scalar or a vector; 1 if
        None.
        """
        return self._process(
            True, sp_input, transpose_input,
            1 if projection_weights is None else projection_weights)[0]

    def project_col_factors(self, sp_input=None, transpose_input=False,
                            projection_weights=None):
        """Rows of V for columns of another matrix, as project_row_factors."""
        return self._process(
            False, sp_input, transpose_input,
            1 if projection_weights is None else projection_weights)[0]

    def _process(self, is_row, sp_input, transpose_input, row_weights=None):
        assert isinstance(sp_input, tf.SparseTensor)
        left, right = self._row, self._col
        if not is_row:
            left, right = right, left
            transpose_input = not transpose_input
        gramian = right.gramian_cache

        # Rows and columns get the numbers 0, 1, ... in the order in which they
        # come: the kernel takes all rows of a dense range.
        found, numbers_of_entries = zip(*[
            tf.unique(sp_input.indices[:, axis]) for axis in (0, 1)])
        indices = tf.stack([tf.cast(n, tf.int64) for n in numbers_of_entries],
                           axis=1)
        sizes = [tf.shape(f, out_type=tf.int64)[0] for f in found]
        updated, others = found[::-1] if transpose_input else found
        num_rows = sizes[1 if transpose_input else 0]
        entries = tf.SparseTensor(indices, sp_input.values, tf.stack(sizes))
        right_rows = tf.nn.embedding_lookup(right.factors_cache, others,
                                            partition_strategy="div")

        lhs = self._unobserved_weight * gramian
        if self._regularization_matrix is not None:
            lhs += self._regularization_matrix
        if left.weights is None:  # one matrix for all rows
            rhs = self._unobserved_weight * tf.sparse_tensor_dense_matmul(
                entries, right_rows, adjoint_a=transpose_input)
            values = tf.transpose(tf.matrix_solve(lhs, tf.transpose(rhs)))
            row_weight = col_weight = tf.constant(0.)
        else:
            row_weight = self._weights_of_rows(left, updated, row_weights)
            col_weight = tf.nn.embedding_lookup(right.weights_cache, others,
                                                partition_strategy="div")
            partial, rhs = _raw.WALSComputePartialLhsAndRhs(
                factors=right_rows, factor_weights=col_weight,
                unobserved_weights=self._unobserved_weight,
                input_weights=row_weight, input_indices=entries.indices,
                input_values=entries.values,
                entry_weights=tf.zeros([0]), input_block_size=num_rows,
                input_is_transpose=transpose_input,
                name="wals_compute_partial_lhs_rhs")
            values = tf.squeeze(tf.matrix_solve(
                tf.expand_dims(lhs, 0) + partial, tf.expand_dims(rhs, -1)), [2])
            row_weight = tf.expand_dims(row_weight, 1)
            col_weight = tf.expand_dims(col_weight, 0)
        update_op = self.scatter_update(
            left.factors, updated, values,
            self._get_sharding_func(left.size, left.shards),
            name="row_update" if is_row else "col_update")
        return (values, update_op, *self._loss(
            left, right,
            tf.sparse_transpose(entries) if transpose_input else entries,
            values, right_rows, num_rows, row_weight, col_weight))

    @staticmethod
    def _weights_of_rows(left, rows, weights):
        if weights is None:
            return tf.nn.embedding_lookup(left.weights_cache, rows,
                                          partition_strategy="div")
        weights = tf.convert_to_tensor(weights)
        rank = tf.rank(weights)
        with tf.control_dependencies([tf.assert_less_equal(rank, 1)]):
            return tf.cond(
                tf.equal(rank, 0),
                lambda: tf.ones([tf.shape(rows)[0]]) * tf.cast(
                    weights, tf.float32),
                lambda: tf.cast(weights, tf.float32))

    def _loss(self, left, right, entries, values, right_rows, num_rows,
              row_weight, col_weight):
        """(loss, regularization, sum of weights) of `entries`, the rows of which
        are those of `values`, times the rows of A for each of these."""
        gramian = right.gramian_cache
        known = _raw.MaskedMatmul(a=values, b=right_rows,
                                  mask_indices=entries.indices,
                                  transpose_a=False, transpose_b=True)

        def total(numbers_of_entries, *weights):
            sparse = tf.SparseTensor(entries.indices, numbers_of_entries,
                                     entries.dense_shape)
            for weight in weights:
                sparse = sparse * weight
            return tf.sparse_reduce_sum(sparse)

        residual = tf.square(entries.values - known)
        row_gramian = tf.matmul(values, values, transpose_a=True)
        scale = left.size / tf.cast(num_rows, tf.float32)
        loss = scale * (
            self._unobserved_weight * (
                total(residual) - total(tf.square(known))
                + tf.trace(tf.matmul(row_gramian, gramian)))
            + total(residual, col_weight, row_weight))
        regularization = tf.constant(0.)
        if self._regularization is not None:
            regularization = self._regularization * (
                tf.trace(row_gramian) * scale + tf.trace(gramian))
        weights = self._unobserved_weight * tf.cast(left.size * right.size,
                                                    tf.float32)
        if left.weights is not None:
            weights += scale * total(tf.ones(tf.shape(entries.values)),
                                     col_weight, row_weight)
        return loss, regularization, weights
