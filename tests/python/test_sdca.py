"""Ops of stochastic dual coordinate ascent, and tf.estimator's LinearSDCA.
Numbers are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace import _packages, raw_ops

needs_package = pytest.mark.skipif(
    not _packages.is_installed(),
    reason="needs pip install tensorflow-estimator==1.15.2")


def step(loss, l1=0.0, dual=0.2, **changes):
    """One example of a sparse feature with two values and a dense one."""
    arguments = dict(
        sparse_example_indices=[np.int64([0, 0])],
        sparse_feature_indices=[np.int64([3, 5])],
        sparse_feature_values=[np.float32([1, 2])],
        dense_features=[np.float32([[1, -1, .5]])], example_weights=[1.5],
        example_labels=[1.0], sparse_indices=[np.int64([3, 5])],
        sparse_weights=[np.float32([.1, -.7])],
        dense_weights=[np.float32([[.2], [.1], [-.9]])],
        example_state_data=np.float32([[dual, 0, 0, 0]]))
    arguments.update(changes)
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(raw_ops.SdcaOptimizerV2(
            loss_type=loss, l1=l1, l2=.7, num_loss_partitions=2,
            num_inner_iterations=1, **arguments))


@pytest.mark.parametrize("loss, l1, dual, state, sparse", [
    ("logistic_loss", 0, 0, [.11788, 2.73851, 0], .2526),
    ("logistic_loss", .3, .2, [.2589, 1.73455, -.7506], .12622),
    ("squared_loss", 0, .2, [.27639, 5.26688, -.27], .1637),
    ("hinge_loss", .3, .2, [.25724, 2.66786, -.3], .12266),
    ("smooth_hinge_loss", .3, 0, [.05546, 1.91786, 0], .11884),
    ("poisson_loss", 0, .2, [.2441, 2.76308, -1.46777], .09449)])
def test_step_of_one_example(loss, l1, dual, state, sparse):
    found = step(loss, l1, dual)
    np.testing.assert_allclose(found[0][0], state + [1.5], atol=2e-5)
    np.testing.assert_allclose(found[1][0], [sparse, 2 * sparse], atol=2e-5)
    np.testing.assert_allclose(
        found[2][0], [[sparse], [-sparse], [sparse / 2]], atol=2e-5)


@pytest.mark.parametrize("loss, changes, words", [
    ("logistic_loss", dict(example_labels=[3.0]),
     "Only labels of 0.0 or 1.0 are supported"),
    ("poisson_loss", dict(example_labels=[-1.0]),
     "Only non-negative labels"),
    ("squared_loss", dict(sparse_example_indices=[np.int64([0, 1])]),
     "example 1 must be in"),
    ("squared_loss", dict(sparse_feature_indices=[np.int64([3, 4])]),
     "feature 4 in sparse_indices"),
    ("squared_loss", dict(example_state_data=np.zeros([2, 4], np.float32)),
     "for example_state_data"),
    ("squared_loss", dict(dense_weights=[np.float32([[.2], [.1]])]),
     "dense_weights n elements")])
def test_refusals(loss, changes, words):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError),
                       match=words):
        step(loss, **changes)


def test_adaptive_steps_lower_the_loss():
    random = np.random.RandomState(0)
    x = np.float32(random.randn(50, 3))
    y = np.float32(x[:, 0] > x[:, 1])
    weights, state = np.zeros([3, 1], np.float32), np.zeros([50, 4], np.float32)
    losses = []
    for _ in range(8):
        with tf.Graph().as_default(), tf.Session() as session:
            state, _, (delta,) = session.run(raw_ops.SdcaOptimizerV2(
                sparse_example_indices=[], sparse_feature_indices=[],
                sparse_feature_values=[], dense_features=[x],
                example_weights=np.ones(50, np.float32), example_labels=y,
                sparse_indices=[], sparse_weights=[], dense_weights=[weights],
                example_state_data=state, loss_type="logistic_loss",
                adaptive=True, l1=0.0, l2=1.0, num_loss_partitions=1,
                num_inner_iterations=1))
        weights = weights + delta
        losses.append(np.log1p(np.exp(-(2 * y - 1) * (x @ weights)[:, 0])).sum())
    assert losses[-1] < 15 < 50 * np.log(2)


def test_the_first_version_calls_an_attr_otherwise():
    with tf.Graph().as_default(), tf.Session() as session:
        state, _, (delta,) = session.run(raw_ops.SdcaOptimizer(
            sparse_example_indices=[], sparse_feature_indices=[],
            sparse_feature_values=[], dense_features=[[[2.]]],
            example_weights=[1.], example_labels=[3.], sparse_indices=[],
            sparse_weights=[], dense_weights=[[[0.]]],
            example_state_data=[[0., 0, 0, 0]], loss_type="squared_loss",
            adaptative=False, l1=0.0, l2=1.0, num_loss_partitions=1,
            num_inner_iterations=1))
    np.testing.assert_allclose(state, [[.6, 4.5, 0, 1]], rtol=1e-6)
    np.testing.assert_allclose(delta, [[1.2]], rtol=1e-6)


def test_shrink_and_fingerprint():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([1., -2., .1], use_resource=False)
        session.run(variable.initializer)
        session.run(raw_ops.SdcaShrinkL1(weights=[variable._ref()], l1=.5,
                                         l2=1.))
        np.testing.assert_allclose(session.run(variable), [.5, -1.5, 0])
        found = session.run(raw_ops.SdcaFprint(input=["", "a", "abcdefgh"]))
    assert found.tolist() == [
        [4463240938071824939, 4374473821787594281],
        [7969074168056553668, 5955762262185338209],
        [6985830856738084079, 6264954680145817547]]


@needs_package
@pytest.mark.parametrize("kind", ["LinearClassifier", "LinearRegressor"])
def test_estimator(tmp_path, kind):
    random = np.random.RandomState(0)
    x = np.float32(random.randn(100, 3))
    c = random.randint(0, 4, 100)
    y = (x[:, 0] - 2 * x[:, 1] + (c == 2)) > 0

    def input_fn():
        return {"id": tf.constant([str(i) for i in range(100)]),
                "x": tf.constant(x), "c": tf.constant(c[:, None])}, tf.constant(
                    y[:, None].astype(np.float32 if kind == "LinearRegressor"
                                      else np.int64))

    column = tf.feature_column
    model = getattr(tf.estimator, kind)(
        [column.numeric_column("x", shape=3),
         column.categorical_column_with_identity("c", 4)],
        optimizer=tf.estimator.experimental.LinearSDCA(
            example_id_column="id", symmetric_l2_regularization=0.1,
            symmetric_l1_regularization=0.01), model_dir=str(tmp_path))
    model.train(input_fn, steps=30)
    found = model.evaluate(input_fn, steps=1)
    if kind == "LinearClassifier":
        assert found["accuracy"] > 0.95 and found["average_loss"] < 0.08
    else:
        assert found["average_loss"] < 0.15
