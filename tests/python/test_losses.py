"""tf.losses: values, reductions, weights, collections."""
import numpy as np
import pytest

import headrace as tf

R = np.random.RandomState(7)
X = R.uniform(0.05, 0.95, (4, 3)).astype(np.float32)
Y = R.uniform(0.05, 0.95, (4, 3)).astype(np.float32)
BITS = (Y > 0.5).astype(np.float32)
ONE = np.eye(3, dtype=np.float32)[[0, 2, 1, 2]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def huber(labels, x, delta):
    e = np.abs(x - labels)
    return np.where(e <= delta, e * e / 2, delta * e - delta * delta / 2)


LOSSES = [
    ("absolute_difference", (Y, X), {}, np.abs(X - Y)),
    ("mean_squared_error", (Y, X), {}, (X - Y) ** 2),
    ("cosine_distance", (Y, X), dict(axis=1),
     1 - (X * Y).sum(1, keepdims=True)),
    ("hinge_loss", (BITS, X * 3), {},
     np.maximum(0, 1 - (2 * BITS - 1) * X * 3)),
    ("huber_loss", (Y, X * 4), dict(delta=0.7), huber(Y, X * 4, 0.7)),
    ("log_loss", (BITS, X), {},
     -BITS * np.log(X + 1e-7) - (1 - BITS) * np.log(1 - X + 1e-7)),
    ("sigmoid_cross_entropy", (BITS, X), {},
     -BITS * np.log(1 / (1 + np.exp(-X)))
     - (1 - BITS) * np.log(1 - 1 / (1 + np.exp(-X)))),
    ("sigmoid_cross_entropy", (BITS, X), dict(label_smoothing=0.2),
     np.log1p(np.exp(X)) - X * (0.8 * BITS + 0.1)),
    ("softmax_cross_entropy", (ONE, X), {}, -(ONE * log_softmax(X)).sum(1)),
    ("softmax_cross_entropy", (ONE, X), dict(label_smoothing=0.3),
     -((ONE * 0.7 + 0.1) * log_softmax(X)).sum(1)),
    ("sparse_softmax_cross_entropy", ([0, 2, 1, 2], X), {},
     -(ONE * log_softmax(X)).sum(1)),
    ("sparse_softmax_cross_entropy", ([[0], [2], [1], [2]], X), {},
     -(ONE * log_softmax(X)).sum(1))]


@pytest.mark.parametrize("name, given, options, wanted", LOSSES)
def test_losses_and_reductions(name, given, options, wanted):
    weights = np.float32([1, 0, 2, 0.5])
    if wanted.ndim == 2:
        weights = weights[:, None]
    loss = getattr(tf.losses, name)
    weighted = wanted * weights
    wide = np.broadcast_to(weights, wanted.shape)
    reduction = tf.losses.Reduction
    for how, value in (
            (reduction.NONE, weighted), (reduction.SUM, weighted.sum()),
            (reduction.MEAN, weighted.sum() / wide.sum()),
            (reduction.SUM_OVER_BATCH_SIZE, weighted.mean()),
            (reduction.SUM_BY_NONZERO_WEIGHTS,
             weighted.sum() / (wide != 0).sum())):
        got = run(loss(*given, weights=weights, reduction=how, **options))
        np.testing.assert_allclose(got, value, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run(loss(*given, **options)), wanted.mean(),
                               rtol=1e-4)
    assert len(tf.losses.get_losses()) == 6


def test_mean_pairwise_squared_error():
    d = X - Y
    pairs = [(d[:, i] - d[:, j]) ** 2 for i in range(3) for j in range(i)]
    each = np.mean(pairs, 0)
    np.testing.assert_allclose(
        run(tf.losses.mean_pairwise_squared_error(Y, X)), each.sum(),
        rtol=1e-4)
    weights = np.float32([[1], [0], [2], [1]])
    np.testing.assert_allclose(
        run(tf.losses.mean_pairwise_squared_error(Y, X, weights)),
        (each * weights[:, 0]).sum(), rtol=1e-4)


def test_losses_are_collected():
    with tf.name_scope("a"):
        first = tf.losses.mean_squared_error(Y, X)
    second = tf.losses.absolute_difference(Y, X, scope="b")
    tf.losses.hinge_loss(BITS, X, loss_collection=None)
    tf.losses.log_loss(BITS, X, loss_collection="mine")
    own = tf.constant(3.)
    tf.losses.add_loss(own)
    assert tf.losses.get_losses() == [first, second, own]
    assert tf.losses.get_losses("a") == [first]
    assert len(tf.get_collection("mine")) == 1
    assert first.name == "a/mean_squared_error/value:0"
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(5.))
    total = tf.losses.get_total_loss()
    assert total.name == "total_loss:0"
    both = ((X - Y) ** 2).mean() + np.abs(X - Y).mean()
    np.testing.assert_allclose(run(total), both + 8, rtol=1e-5)
    np.testing.assert_allclose(
        run(tf.losses.get_total_loss(add_regularization_losses=False)),
        both + 3, rtol=1e-5)
    assert run(tf.losses.get_regularization_loss()) == 5
    assert run(tf.losses.get_regularization_loss(scope="none")) == 0


def test_weights_of_unknown_shape():
    x, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.losses.absolute_difference(tf.zeros([4, 3]), x, w)
    for weights in (2., [[1.], [2.], [3.], [0.]], np.ones([1, 3])):
        wide = np.broadcast_to(np.float32(weights), (4, 3))
        np.testing.assert_allclose(
            run(loss, {x: X, w: weights}),
            (X * wide).sum() / (wide != 0).sum(), rtol=1e-5)
    for weights in ([1., 2., 3.], [[1.], [2.]]):
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="weights can not be broadcast"):
            run(loss, {x: X, w: weights})


def test_no_weight_at_all_gives_0():
    assert run(tf.losses.mean_squared_error(Y, X, weights=0.)) == 0
    assert run(tf.losses.mean_pairwise_squared_error(Y, X, weights=0.)) == 0


@pytest.mark.parametrize("call, message", [
    (lambda: tf.losses.mean_squared_error(None, X), "labels must not be None"),
    (lambda: tf.losses.hinge_loss(Y, None), "logits must not be None"),
    (lambda: tf.losses.mean_squared_error(Y, X, weights=[1., 2.]),
     "weights can not be broadcast to values. values.rank=2. weights.rank=1"),
    (lambda: tf.losses.mean_squared_error(Y, X, weights=[[1.], [2.]]),
     "Mismatch at dim 0"),
    (lambda: tf.losses.mean_squared_error(Y[:2], X), "not compatible|incompat"),
    (lambda: tf.losses.compute_weighted_loss(X, reduction="all"),
     "Invalid Reduction Key all"),
    (lambda: tf.losses.cosine_distance(Y, X), "must specify 'axis'")])
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
