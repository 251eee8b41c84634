"""Sparse tensors, sets, embeddings by sparse ids, and einsum."""
import numpy as np
import pytest

import headrace as tf

MATRIX = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [3, 0, 0, 4]], np.float32)


def run(x, feed=None):
    with tf.Session() as sess:
        return sess.run(x, feed)


def sparse(a):
    a = np.asarray(a)
    at = np.argwhere(a != 0)
    return tf.SparseTensor(at, a[tuple(at.T)], a.shape)


def dense(value):
    out = np.zeros(value.dense_shape, value.values.dtype)
    out[tuple(value.indices.T)] = value.values
    return out


def check(got, want):
    np.testing.assert_allclose(dense(run(got)), want, rtol=1e-6)


def test_sparse_tensor():
    s = sparse(MATRIX)
    assert s.dtype == tf.float32 and s.get_shape() == [3, 4]
    value = run(s)
    assert isinstance(value, tf.SparseTensorValue)
    np.testing.assert_array_equal(dense(value), MATRIX)
    np.testing.assert_array_equal(dense(run({"a": [s]})["a"][0]), MATRIX)
    with tf.Session():
        np.testing.assert_array_equal(s.eval().values, [1, 2, 3, 4])
    assert tf.SparseTensor.from_value(s) is s
    again = tf.SparseTensor.from_value(value)
    assert again.dense_shape.get_shape() == [2]
    with pytest.raises(TypeError):
        tf.SparseTensor.from_value(3)
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 1]], [1., 2.], [3, 4])
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 1]], [1.], [3, 4, 5])
    check(s * 2., MATRIX * 2)
    check(s / np.float32([[1], [2], [4]]), MATRIX / [[1], [2], [4]])


def test_general_functions():
    s = sparse(MATRIX)
    check(tf.cast(s, tf.int32), MATRIX.astype(np.int32))
    assert run(tf.cast(s, tf.int32)).values.dtype == np.int32
    assert run(tf.shape(s)).tolist() == [3, 4]
    assert run([tf.rank(s), tf.size(s)]) == [2, 12]


def test_placeholder():
    s = tf.sparse_placeholder(tf.float32, name="s")
    assert s.values.name == "s/values:0" and s.indices.name == "s/indices:0"
    total = tf.sparse_reduce_sum(s)
    value = run(sparse(MATRIX))
    assert run(total, {s: value}) == 10
    assert run(total, {s: tuple(value)}) == 10
    np.testing.assert_array_equal(
        dense(run(tf.sparse_reorder(s), {s: value})), MATRIX)
    with pytest.raises(TypeError):
        run(total, {s: np.float32(3)})
    known = tf.sparse_placeholder(tf.float32, [3, 4])
    assert known.get_shape() == [3, 4]
    assert run(tf.sparse_reduce_sum(known), {known: value}) == 10
    partly = tf.sparse_placeholder(tf.float32, [None, 4])
    assert partly.dense_shape.get_shape() == [2]


def test_dense_and_back():
    s = sparse(MATRIX)
    np.testing.assert_array_equal(run(tf.sparse_tensor_to_dense(s)), MATRIX)
    np.testing.assert_array_equal(run(tf.sparse.to_dense(s, -1.)),
                                  np.where(MATRIX == 0, -1, MATRIX))
    words = tf.SparseTensor([[1]], ["x"], [2])
    assert list(run(tf.sparse_tensor_to_dense(words, ""))) == [b"", b"x"]
    assert list(run(tf.sparse_tensor_to_dense(words))) == [b"", b"x"]
    np.testing.assert_array_equal(
        run(tf.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [3, 4])),
        [[0, 3], [4, 0]])
    np.testing.assert_array_equal(run(tf.sparse_to_dense([2, 0], [3], 7,
                                                         -1, False)),
                                  [7, -1, 7])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.sparse_to_dense([2, 0], [3], 7))
    check(tf.sparse.from_dense(MATRIX), MATRIX)
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 3], [2, 2])
    np.testing.assert_array_equal(
        run(tf.sparse_to_indicator(ids, 4)),
        [[0, 0, 1, 0], [1, 0, 0, 1]])


def test_products_and_sums():
    b = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_allclose(
        run(tf.sparse_tensor_dense_matmul(sparse(MATRIX), b)), MATRIX @ b)
    np.testing.assert_allclose(
        run(tf.sparse.sparse_dense_matmul(sparse(MATRIX), b[:3].T,
                                          adjoint_a=True, adjoint_b=True)),
        MATRIX.T @ b[:3])
    other = np.zeros_like(MATRIX)
    other[0, 1], other[2, 2] = -1, 5
    check(tf.sparse_add(sparse(MATRIX), sparse(other)), MATRIX + other)
    kept = run(tf.sparse_add(sparse(MATRIX), sparse(other), 0.5))
    assert [0, 1] not in kept.indices.tolist() and len(kept.values) == 4
    for x, y in ((sparse(MATRIX), other), (other, sparse(MATRIX))):
        np.testing.assert_array_equal(run(tf.sparse_add(x, y)), MATRIX + other)
    with pytest.raises(TypeError):
        tf.sparse_add(MATRIX, other)
    check(tf.sparse_maximum(sparse(MATRIX), sparse(other)),
          np.maximum(MATRIX, other))
    check(tf.sparse_minimum(sparse(MATRIX), sparse(other)),
          np.minimum(MATRIX, other))
    for axis in (None, 0, [1], -1, [0, 1]):
        axes = tuple(axis) if isinstance(axis, list) else axis
        np.testing.assert_array_equal(
            run(tf.sparse_reduce_sum(sparse(MATRIX), axis)), MATRIX.sum(axes))
        np.testing.assert_array_equal(
            run(tf.sparse_reduce_max(sparse(MATRIX), axis, keepdims=True)),
            MATRIX.max(axes, keepdims=True))
    check(tf.sparse_reduce_sum_sparse(sparse(MATRIX), 1), MATRIX.sum(1))
    got = run(tf.sparse_softmax(sparse(MATRIX)))
    np.testing.assert_allclose(
        got.values, [1, 1, 1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6)


def test_shapes():
    s = sparse(MATRIX)
    check(tf.sparse_reshape(s, [2, -1]), MATRIX.reshape(2, 6))
    check(tf.sparse_slice(s, [1, 0], [2, 3]), MATRIX[1:, :3])
    check(tf.sparse_transpose(s), MATRIX.T)
    check(tf.sparse.expand_dims(s, 1), MATRIX[:, None])
    check(tf.sparse.expand_dims(s), MATRIX[..., None])
    check(tf.sparse_concat(1, [s, s]), np.concatenate([MATRIX, MATRIX], 1))
    small = sparse(MATRIX[:2])
    got = run(tf.sparse_concat(-1, [s, small], expand_nonconcat_dim=True))
    want = np.concatenate([MATRIX, np.zeros_like(MATRIX)], 1)
    want[:2, 4:] = MATRIX[:2]
    np.testing.assert_array_equal(dense(got), want)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.sparse_concat(1, [s, small]))
    for part, want in zip(tf.sparse_split(sp_input=s, num_split=3, axis=1),
                          (MATRIX[:, :2], MATRIX[:, 2:3], MATRIX[:, 3:])):
        check(part, want)
    with pytest.raises(ValueError):
        tf.sparse_split(1, s, 2, 1)
    check(tf.sparse_retain(s, [True, False, False, True]),
          MATRIX * np.isin(MATRIX, [1, 4]))
    mixed = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
    assert run(tf.sparse_reorder(mixed)).indices.tolist() == [[0, 1], [1, 0]]
    assert run(tf.sparse_reset_shape(mixed, [3, 5])).dense_shape.tolist() == [
        3, 5]
    assert run(tf.sparse_reset_shape(sparse(MATRIX[:2]))
               ).dense_shape.tolist() == [2, 3]
    with pytest.raises(ValueError, match="should have dimension sizes >="):
        tf.sparse_reset_shape(mixed, [1, 5])
    smaller = tf.placeholder_with_default(np.int64([1, 5]), [2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.sparse_reset_shape(mixed, smaller).dense_shape)
    holes = tf.SparseTensor([[1, 1]], [5.], [3, 2])
    filled, empty = run(tf.sparse_fill_empty_rows(holes, -1.))
    np.testing.assert_array_equal(dense(filled), [[-1, 0], [0, 5], [-1, 0]])
    assert empty.tolist() == [True, False, True]
    check(tf.sparse.eye(2, 3), np.eye(2, 3))
    merged = tf.sparse_merge(
        tf.SparseTensor([[0, 0], [1, 0]], [3, 1], [2, 1]),
        tf.SparseTensor([[0, 0], [1, 0]], [.5, 2.], [2, 1]), 4)
    check(merged, [[0, 0, 0, .5], [0, 2, 0, 0]])


def test_serialized():
    s = sparse(MATRIX)
    row = run(tf.serialize_sparse(s))
    assert row.shape == (3,)
    check(tf.headrace.deserialize_sparse(row, tf.float32), MATRIX)
    check(tf.deserialize_many_sparse(np.stack([row, row]), tf.float32),
          np.stack([MATRIX, MATRIX]))
    check(tf.deserialize_many_sparse(tf.serialize_many_sparse(s), tf.float32,
                                     rank=1), MATRIX)


def test_tensors_map():
    s = sparse(MATRIX)
    with tf.Session() as sess:
        handles = tf.raw_ops.AddManySparseToTensorsMap(
            s.indices, s.values, s.dense_shape, shared_name="m")
        at = tf.placeholder(tf.int64, [None])
        taken = tf.raw_ops.TakeManySparseFromTensorsMap(
            at, dtype=tf.float32, shared_name="m")
        h = sess.run(handles)
        got = sess.run(list(taken), {at: h[::-1]})
        np.testing.assert_array_equal(dense(tf.SparseTensorValue(*got)),
                                      MATRIX[::-1])
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(list(taken), {at: h})


def test_cross():
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    numbers = np.int64([[7, 8], [-9, 10]])
    names = run(tf.sparse.cross([words, numbers]))
    assert names.values.tolist() == [b"a_X_7", b"a_X_8", b"b_X_7", b"b_X_8",
                                     b"c_X_-9", b"c_X_10"]
    assert names.dense_shape.tolist() == [2, 4]
    hashes = run(tf.sparse.cross_hashed([words, numbers], num_buckets=100))
    assert hashes.values.dtype == np.int64
    assert ((0 <= hashes.values) & (hashes.values < 100)).all()
    with pytest.raises(TypeError):
        tf.sparse.cross([3])


def test_sets():
    a = np.array([[3, 1, 3], [4, 4, 5]])
    b = np.array([[1, 2], [9, 4]])
    for name, want in (("union", [1, 2, 3, 4, 5, 9]),
                       ("intersection", [1, 4]), ("difference", [3, 5])):
        op = getattr(tf.sets, name)
        for x in (a, sparse(a)):
            for y in (b, sparse(b)):
                assert run(op(x, y)).values.tolist() == want
    assert run(tf.sets.difference(a, b, aminusb=False)).values.tolist() == [
        2, 9]
    assert run(tf.sets.set_size(sparse(a))).tolist() == [2, 2]
    with pytest.raises(TypeError):
        tf.sets.set_union(a, b.astype(np.int32))


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_lookup_sparse(combiner, weighted):
    table = np.random.RandomState(0).rand(5, 3).astype(np.float32)
    rows, ids = [0, 0, 1, 2, 2, 2], [1, 3, 0, 4, 4, 2]
    at = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]
    w = np.float32([1, 2, .5, 3, 1, 1]) if weighted else np.ones(6, np.float32)
    want = []
    for r in range(3):
        mine = [i for i in range(6) if rows[i] == r]
        total = sum(table[ids[i]] * w[i] for i in mine)
        by = {"sum": 1, "mean": sum(w[mine]),
              "sqrtn": np.sqrt(sum(w[mine] ** 2))}[combiner]
        want.append(total / by)
    sp_ids = tf.SparseTensor(at, np.int64(ids), [3, 3])
    sp_weights = tf.SparseTensor(at, w, [3, 3]) if weighted else None
    got = run(tf.nn.embedding_lookup_sparse(table, sp_ids, sp_weights,
                                            combiner=combiner))
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("equation,shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]),
    ("bij, bjk -> bik", [(2, 3, 4), (2, 4, 5)]), ("ii", [(3, 3)]),
    ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("i,j,k->kji",
                                              [(2,), (3,), (4,)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 5), (5, 6)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
    ("ij,ik,il->jkl", [(2, 3), (2, 4), (2, 5)]),
    ("a,ab,abc->abc", [(2,), (2, 3), (2, 3, 4)])])
def test_einsum(equation, shapes):
    r = np.random.RandomState(0)
    inputs = [r.rand(*s).astype(np.float32) for s in shapes]
    np.testing.assert_allclose(run(tf.einsum(equation, *inputs)),
                               np.einsum(equation, *inputs), rtol=1e-5)


def test_einsum_refusals():
    a = np.ones((2, 3), np.float32)
    for equation, inputs in (("ij->ik", [a]), ("ij,jk->ik", [a]),
                             ("i1->i", [a]), ("i..j->i", [a])):
        with pytest.raises(ValueError):
            tf.einsum(equation, *inputs)
    with pytest.raises(TypeError):
        tf.einsum("ij->ji", a, bogus=1)


# Connectionist temporal classification.

LOGITS = np.array([[[1.8, 0.4, 0.1], [-1.9, -0.3, -0.4]],
                   [[-0.1, -0.6, 0.0], [-0.5, -1.3, 0.9]],
                   [[0.9, 1.7, 0.1], [-0.4, -0.5, -1.5]],
                   [[1.0, -1.1, -1.2], [-0.2, 1.5, 0.2]]], np.float32)


@pytest.mark.parametrize("time_major", [True, False])
def test_ctc_loss(time_major):
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]],
                             np.array([0, 0, 1], np.int32), [2, 2])
    logits = LOGITS if time_major else LOGITS.transpose(1, 0, 2)
    loss = tf.nn.ctc_loss(labels, logits, [4, 3], time_major=time_major)
    assert loss.get_shape() == [2]
    np.testing.assert_allclose(run(loss), [2.052498, 1.510564], rtol=1e-5)
    with pytest.raises(TypeError, match="to be a SparseTensor"):
        tf.nn.ctc_loss([[0, 0]], logits, [4, 3])


def test_ctc_decoders():
    # 0 twice, parted by a blank in the first row alone.
    x = np.log(np.array([[[.8, .1, .1], [.1, .8, .1]],
                         [[.1, .1, .8], [.1, .8, .1]],
                         [[.8, .1, .1], [.8, .1, .1]]], np.float32))
    decoded, score = tf.nn.ctc_greedy_decoder(x, [3, 3])
    np.testing.assert_array_equal(dense(run(decoded[0])), [[0, 0], [1, 0]])
    np.testing.assert_allclose(run(score), np.full([2, 1], -3 * np.log(.8)),
                               rtol=1e-5)
    paths, scores = tf.nn.ctc_beam_search_decoder(x, [3, 3], top_paths=2,
                                                  merge_repeated=False)
    assert len(paths) == 2 and scores.get_shape() == [2, 2]
    assert run(paths[0]).values.tolist() == [0, 0, 1, 0]
    assert np.all(np.diff(run(scores)) <= 0)
    merged, _ = tf.nn.ctc_beam_search_decoder(x, [3, 3])
    assert run(merged[0]).values.tolist() == [0, 1, 0]


def test_deserialized_tensors_have_the_rank_that_is_said():
    x = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])
    rows = tf.deserialize_many_sparse(tf.serialize_many_sparse(x), tf.int32,
                                      rank=2)
    whole = tf.headrace.deserialize_sparse(tf.serialize_sparse(x), tf.int32,
                                           rank=2)
    for made in (rows, whole):
        assert made.indices.shape.as_list() == [None, 2]
        assert made.get_shape().ndims == 2
        np.testing.assert_array_equal(dense(run(made)), dense(run(x)))


def test_a_tuple_of_tables_is_one_table():
    table = (tf.constant([[1.]]), tf.constant([[2.]]))
    assert run(tf.nn.embedding_lookup(table, [0, 1])).tolist() == [
        [[1.]], [[2.]]]
    assert run(tf.nn.embedding_lookup(list(table), [0, 1])).tolist() == [
        [1.], [2.]]


def test_sparse_concat_refuses_an_argument_by_both_of_its_names():
    parts = [tf.SparseTensor([[0]], [1], [2])] * 2
    with pytest.raises(ValueError, match="both 'concat_dim' and 'axis'"):
        tf.sparse_concat(0, parts, concat_dim=1)
    with pytest.raises(ValueError, match="both 'expand_nonconcat_dim' and"):
        tf.sparse_concat(0, parts, expand_nonconcat_dim=True,
                         expand_nonconcat_dims=True)


def test_the_name_of_a_sparse_product():
    with tf.Graph().as_default():
        product = tf.sparse_tensor_dense_matmul(
            tf.SparseTensor([[0, 1]], [1.], [2, 3]), tf.ones([3, 2]), name="x")
        assert product.op.name == "x/SparseTensorDenseMatMul"
