"""TensorArray, map_fn, scan, foldl and foldr against NumPy."""
import numpy as np
import pytest

import headrace as tf

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


class TestTensorArray:
    def test_write_read_stack_size(self):
        a = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
        for i in range(3):
            a = a.write(i, X[i])
        got = run([a.stack(), a.read(1), a.size(), a.gather([2, 0])])
        np.testing.assert_array_equal(got[0], X[:3])
        np.testing.assert_array_equal(got[1], X[1])
        assert got[2] == 3
        np.testing.assert_array_equal(got[3], X[[2, 0]])
        assert a.stack().shape.as_list() == [None, 3]

    def test_unstack_scatter_split_concat(self):
        a = tf.TensorArray(tf.float32, size=4).unstack(X)
        np.testing.assert_array_equal(run(a.stack()), X)
        a = tf.TensorArray(tf.float32, size=4).scatter([3, 1, 0, 2], X)
        np.testing.assert_array_equal(run(a.stack()), X[[2, 1, 3, 0]])
        a = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(
            X, [1, 3])
        np.testing.assert_array_equal(run(a.concat()), X)
        a = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(
            X, [1, 3])
        np.testing.assert_array_equal(run(a.read(1)), X[1:])

    def test_parts_of_one_length_have_a_known_shape(self):
        x = tf.zeros([4, 3])
        def array():
            return tf.TensorArray(tf.float32, 2)
        assert array().split(x, [2, 2]).read(0).shape.as_list() == [2, 3]
        assert array().split(x, [3, 1]).read(0).shape.ndims is None

    def test_in_a_loop(self):
        a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        _, a = tf.while_loop(lambda i, a: i < 6,
                             lambda i, a: (i + 1, a.write(i, i * i)), (0, a))
        assert run(a.stack()).tolist() == [0, 1, 4, 9, 16, 25]

    def test_in_a_branch(self):
        pred = tf.placeholder(tf.bool, [])
        a = tf.TensorArray(tf.int32, size=1)
        a = tf.cond(pred, lambda: a.write(0, 1), lambda: a.write(0, 2))
        assert run(a.stack(), {pred: False}).tolist() == [2]

    def test_refusals(self):
        with pytest.raises(ValueError, match="size or a handle"):
            tf.TensorArray(tf.float32)
        a = tf.TensorArray(tf.float32, size=2)
        with pytest.raises((TypeError, ValueError)):
            a.write(0, tf.constant(1))
        a = a.write(0, [1., 2.])
        with pytest.raises(ValueError, match="Inconsistent shapes"):
            a.write(1, [1.])
        with pytest.raises(tf.errors.OpError):
            run(a.write(7, [1., 2.]).flow)


class TestMap:
    def test_one_tensor(self):
        out = tf.map_fn(lambda r: r * 2 + tf.reduce_sum(r), X)
        assert out.shape.as_list() == [4, 3]
        np.testing.assert_allclose(run(out), X * 2 + X.sum(1, keepdims=True))

    def test_several_and_other_types(self):
        out = tf.map_fn(lambda e: (tf.cast(e[0], tf.int32), e[0] + e[1]),
                        (X, X[::-1].copy()), dtype=(tf.int32, tf.float32))
        a, b = run(out)
        np.testing.assert_array_equal(a, X.astype(np.int32))
        np.testing.assert_array_equal(b, X + X[::-1])

    def test_unknown_length(self):
        x = tf.placeholder(tf.float32, [None, 3])
        out = tf.map_fn(lambda r: r + 1, x)
        np.testing.assert_array_equal(run(out, {x: X}), X + 1)
        np.testing.assert_array_equal(run(out, {x: X[:1]}), X[:1] + 1)

    def test_nested(self):
        out = tf.map_fn(lambda r: tf.map_fn(lambda v: v * v, r), X)
        np.testing.assert_array_equal(run(out), X * X)

    def test_sparse_tensors_are_refused(self):
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.map_fn(lambda x: x, tf.SparseTensor([[0]], [1], [3]))

    def test_scalars_are_refused(self):
        with pytest.raises(ValueError, match="not a scalar"):
            tf.map_fn(lambda x: x, 1.)


class TestScan:
    def test_without_and_with_initializer(self):
        np.testing.assert_array_equal(run(tf.scan(lambda a, x: a + x, X)),
                                      np.cumsum(X, 0))
        np.testing.assert_array_equal(
            run(tf.scan(lambda a, x: a + tf.reduce_sum(x), X,
                        initializer=10.)), 10 + np.cumsum(X.sum(1)))

    def test_reverse(self):
        out = tf.scan(lambda a, x: a + x, X, reverse=True)
        np.testing.assert_array_equal(run(out), np.cumsum(X[::-1], 0)[::-1])

    def test_fibonacci(self):
        out = tf.scan(lambda a, _: (a[1], a[0] + a[1]), np.zeros(8),
                      initializer=(np.int32(0), np.int32(1)))
        assert run(out)[0].tolist() == [1, 1, 2, 3, 5, 8, 13, 21]


class TestFold:
    def test_left_and_right(self):
        x = np.array([1., 2., 3., 4.], np.float32)
        assert run(tf.foldl(lambda a, v: a - v, x)) == -8
        assert run(tf.foldr(lambda a, v: a - v, x)) == -2
        assert run(tf.foldl(lambda a, v: a * 2 + v, x, initializer=1.)) == 42
        assert run(tf.foldr(lambda a, v: a * 2 + v, x, initializer=1.)) == 65


def test_nodes_have_the_names_they_are_given():
    array = tf.TensorArray(tf.float32, 2).unstack([1., 2.], name="u")
    tf.TensorArray(tf.float32, 2).split([1., 2.], [1, 1], name="p")
    array.stack(name="s")
    array.stack()
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"u/u/value", "u/u/u", "p/p", "s/s", "s/range",
            "TensorArrayStack/TensorArrayGatherV3"} <= names


@pytest.mark.parametrize("call,kind,text", [
    (lambda: tf.TensorArray(tf.float32, 3).write(0, "x"), TypeError,
     "TensorArray dtype is float32 but Op is trying to write dtype string"),
    (lambda: tf.TensorArray(tf.float32, 3, handle=tf.constant(1)), ValueError,
     "Cannot provide both a handle and size at the same time"),
    (lambda: tf.strings.format("{}", [1, 2]), ValueError,
     r"1 placeholder\(s\) in template does not match 2 tensor\(s\) provided")])
def test_what_is_refused_when_a_node_is_made(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
