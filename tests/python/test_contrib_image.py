"""tf.contrib.image: rotations, translations, projections and warps."""
import numpy as np
import pytest

import headrace as tf

image = tf.contrib.image
IMAGES = np.random.RandomState(0).rand(2, 6, 5, 3).astype("f")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetch):
    with tf.Session() as session:
        return session.run(fetch)


@pytest.mark.parametrize("shape", [(6, 6), (6, 6, 3), (2, 6, 6, 3)])
def test_rotate_by_quarters(shape):
    x = np.random.RandomState(1).randint(0, 255, shape).astype(np.uint8)
    axes = (0, 1) if len(shape) < 4 else (1, 2)
    for quarters in (1, 2, 3):
        got = run(image.rotate(x, quarters * np.pi / 2))
        np.testing.assert_array_equal(got, np.rot90(x, quarters, axes))


def test_each_image_has_its_angle():
    both = run(image.rotate(IMAGES, [0.3, -1.0], "BILINEAR"))
    for i, angle in enumerate((0.3, -1.0)):
        np.testing.assert_array_equal(
            both[i], run(image.rotate(IMAGES[i], angle, "BILINEAR")))


def test_translate():
    got = run(image.translate(IMAGES, [2.0, -1.0]))
    wanted = np.zeros_like(IMAGES)
    wanted[:, :-1, 2:] = IMAGES[:, 1:, :-2]
    np.testing.assert_array_equal(got, wanted)


def test_composed_is_one_after_another():
    first, second = [1, 0, -1, 0, 1, 2, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0]
    one = run(image.transform(IMAGES, image.compose_transforms(first, second),
                              output_shape=[5, 6]))
    both = image.transform(IMAGES, np.array(first, "f"))
    both = run(image.transform(both, np.array(second, "f"), output_shape=[5, 6]))
    np.testing.assert_array_equal(one, both)


def test_flat_transforms_and_matrices():
    flat = np.random.RandomState(2).rand(3, 8).astype("f")
    matrices = image.flat_transforms_to_matrices(flat)
    assert matrices.shape.as_list() == [3, 3, 3]
    np.testing.assert_array_equal(
        run(image.matrices_to_flat_transforms(matrices)), flat)


def test_static_shapes():
    x = tf.placeholder(tf.float32, [None, None, 7, 3])
    assert image.rotate(x, 0.1).shape.as_list() == [None, None, 7, 3]
    assert image.transform(x, [1.0] * 8, output_shape=[3, 4]).shape.as_list() \
        == [None, 3, 4, 3]


def warped(x, flow):
    out = np.zeros_like(x)
    n, height, width, _ = x.shape
    for b, i, j in np.ndindex(n, height, width):
        y, u = np.clip([i, j] - flow[b, i, j], 0, [height - 1, width - 1])
        top, left = min(int(y), height - 2), min(int(u), width - 2)
        y, u = y - top, u - left
        part = x[b, top:top + 2, left:left + 2]
        rows = part[0] * (1 - y) + part[1] * y
        out[b, i, j] = rows[0] * (1 - u) + rows[1] * u
    return out


def test_dense_image_warp():
    flow = 2 * np.random.RandomState(3).randn(2, 6, 5, 2).astype("f")
    np.testing.assert_allclose(run(image.dense_image_warp(IMAGES, flow)),
                               warped(IMAGES, flow), atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_spline_passes_through_its_points(order):
    random = np.random.RandomState(4)
    points, values = random.rand(2, 7, 2), random.rand(2, 7, 3)
    np.testing.assert_allclose(
        run(image.interpolate_spline(points, values, points, order)), values,
        atol=1e-4)
    # A plane stays a plane.
    query = random.rand(2, 4, 2)
    plane = points @ np.array([[2.0], [3.0]]) + 1
    np.testing.assert_allclose(
        run(image.interpolate_spline(points, plane, query, order)),
        query @ np.array([[2.0], [3.0]]) + 1, atol=1e-6)


def test_a_regularized_spline_stays_away_from_its_points():
    random = np.random.RandomState(5)
    points, values = random.rand(1, 7, 2), random.rand(1, 7, 1)
    got = run(image.interpolate_spline(points, values, points, 2, 1.0))
    assert 0.01 < np.abs(got - values).max() < 1


def test_sparse_image_warp_moves_its_points():
    x = np.zeros((1, 9, 9, 1), "f")
    x[0, 2, 3] = 1
    got, flow = run(image.sparse_image_warp(
        x, np.array([[[2, 3]]], "f"), np.array([[[5, 4]]], "f"),
        num_boundary_points=2))
    np.testing.assert_allclose(got[0, 5, 4], 1, atol=1e-4)
    np.testing.assert_allclose(flow[0, 5, 4], [3, 1], atol=1e-4)
    for corner in ((0, 0), (0, 8), (8, 0), (8, 8)):
        np.testing.assert_allclose(flow[0][corner], 0, atol=1e-4)


@pytest.mark.parametrize("make, error, words", [
    (lambda: image.rotate(tf.constant(["a"]), 1.0), TypeError, "rank between 2 and 4"),
    (lambda: image.rotate(tf.constant([["a"]]), 1.0), TypeError, "string"),
    (lambda: image.rotate(IMAGES, [[1.0]]), TypeError, "Angles"),
    (lambda: image.translate(IMAGES, 1.0), TypeError, "Translations"),
    (lambda: image.transform(IMAGES, [[[1.0] * 8]]), TypeError, "Transforms"),
    (lambda: image.transform(IMAGES, [1.0] * 8, output_shape=[1, 2, 3]),
     ValueError, "output_shape"),
    (lambda: image.transform(IMAGES, [1.0] * 7), ValueError, "8"),
    (lambda: image.compose_transforms(), ValueError, "empty"),
    (lambda: image.dense_image_warp(IMAGES[:, :1], IMAGES[:, :1, :, :2]),
     ValueError, "at least 2"),
    (lambda: image.dense_image_warp(IMAGES[0], IMAGES[0]), ValueError, "4 dimensions"),
    (lambda: image.interpolate_spline(np.ones((1, 2, 2)), np.ones((1, 2, 1)),
                                      np.ones((1, 2, 2)), 0), ValueError, "order"),
    (lambda: image.sparse_image_warp(
        tf.placeholder(tf.float32, [1, None, 4, 1]), np.ones((1, 1, 2), "f"),
        np.ones((1, 1, 2), "f")), ValueError, "must be known")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_gradient_of_another_fill_mode_is_refused():
    x = tf.constant(IMAGES)
    y = tf.raw_ops.ImageProjectiveTransformV2(
        images=x, transforms=[[1.0] * 8], output_shape=[6, 5],
        interpolation="NEAREST", fill_mode="WRAP")
    with pytest.raises(Exception, match="fill_mode CONSTANT, got WRAP"):
        tf.gradients(y, x)


_SPREAD = np.random.RandomState(0).rand(5, 4)
_EQUAL = np.random.RandomState(1).randint(0, 3, (4, 6))
_BAD = [[np.nan, 1], [2, np.nan]], [[np.inf, np.inf], [np.inf, 0]]


# What TensorFlow 1.15.5 gives; it decides between equal distances by its heap.
@pytest.mark.parametrize("distances, valid, top_k, rows, columns", [
    ([[.5, .8, .1], [.3, .2, .15]], -1, -1, [2, 1],
     [-1, 1, 0]),
    ([[.5, .8, .1], [.3, .2, .15]], [1], -1, [2, -1],
     [-1, -1, 0]),
    ([[.5, .8, .1], [.3, .2, .15]], 2, 1, [2, -1],
     [-1, -1, 0]),
    ([[.5, .8, .1], [.3, .2, .15]], 2, 0, [2, 1],
     [-1, 1, 0]),
    ([[1, 1], [1, 1], [1, 1]], -1, -1, [0, -1, 1],
     [0, 2]),
    (_SPREAD, -1, 3, [-1, -1, 1, 2, 0],
     [4, 2, 3, -1]),
    (_EQUAL, -1, 99, [1, 0, 2, 3],
     [1, 0, 2, 3, -1, -1]),
    (_EQUAL, 3, 2, [1, 0, -1, -1],
     [1, 0, -1, -1, -1, -1]),
    (_BAD[0], -1, -1, [0, 1],
     [0, 1]),
    (_BAD[1], -1, -1, [0, 1],
     [0, 1]),
    (np.zeros((0, 3)), -1, -1, [],
     [-1, -1, -1]),
    ([[1, 2]], 0, -1, [-1],
     [-1, -1]),
    (np.zeros((7, 5)), -1, -1, [0, 1, 4, -1, -1, 2, 3],
     [0, 1, 5, 6, 2]),
    (_EQUAL.T, -1, -1, [1, 0, 2, 3, -1, -1],
     [1, 0, 2, 3])])
def test_bipartite_match(distances, valid, top_k, rows, columns):
    pairs = image.bipartite_match(tf.constant(distances, tf.float32), valid,
                                  top_k)
    assert [v.get_shape().as_list() for v in pairs] == [
        [len(rows)], [len(columns)]]
    got = run(pairs)
    assert got.row_to_col_match_indices.tolist() == rows
    assert got.col_to_row_match_indices.tolist() == columns
    assert got[0].dtype == got[1].dtype == np.int32


@pytest.mark.parametrize("distances, valid, top_k, error, message", [
    ([1.], 1, -1, ValueError, "rank 2 but is rank 1"),
    ([[1.]], 1, [1], TypeError, "Expected int for argument 'top_k' not"),
    ([[1.]], 2, -1, tf.errors.InvalidArgumentError,
     "at least 2 rows in distance_mat, but only got 1"),
    ([[1.]], [1, 1], -1, tf.errors.InvalidArgumentError,
     "num_valid_rows has 2 elements, must have 1")])
def test_bipartite_match_refuses(distances, valid, top_k, error, message):
    with pytest.raises(error, match=message):
        run(image.bipartite_match(distances, valid, top_k))
