"""Candidate samplers and the losses made of them: TensorFlow's numbers."""
import numpy as np
import pytest

import headrace as tf

CLASSES = np.array([[0, 3], [7, 1]], np.int64)


def runs(fetch, n):
    with tf.Session() as sess:
        return [sess.run(fetch) for _ in range(n)]


def sample(op, n, seed=2, num_sampled=6, **attrs):
    """n runs of an op with seeds (1, 2)."""
    tf.set_random_seed(1)
    return runs(getattr(tf.nn, op)(CLASSES, 2, num_sampled, seed=seed,
                                   **attrs), n)


@pytest.mark.parametrize("op, attrs, want", [
    ("uniform_candidate_sampler", dict(unique=False, range_max=10),
     [[9, 6, 7, 1, 3, 8], [7, 0, 2, 6, 8, 3]]),
    ("log_uniform_candidate_sampler", dict(unique=False, range_max=1000),
     [[4, 20, 6, 4, 721, 306], [127, 1, 246, 8, 794, 3]]),
    ("log_uniform_candidate_sampler", dict(unique=True, range_max=10),
     [[0, 1, 8, 6, 2, 3], [4, 0, 5, 1, 9, 3]]),
    ("learned_unigram_candidate_sampler", dict(unique=False, range_max=10),
     [[9, 5, 2, 9, 1, 6], [4, 6, 8, 9, 3, 9], [1, 1, 3, 4, 7, 0]]),
    ("learned_unigram_candidate_sampler", dict(unique=True, range_max=10),
     [[9, 5, 2, 1, 6, 3], [4, 6, 8, 9, 3, 1], [1, 3, 4, 7, 0, 2]]),
    ("fixed_unigram_candidate_sampler",
     dict(unique=True, range_max=10,
          unigrams=[1, 2, 3, 4, .5, 7, 1.5, 2.25, 3.5, 10]),
     [[5, 9, 6, 3, 8, 7], [1, 7, 9, 5, 3, 8]]),
])
def test_each_run_goes_on(op, attrs, want):
    got = sample(op, len(want), **attrs)
    assert [list(g.sampled_candidates) for g in got] == want


def test_learned_counts():
    got = sample("learned_unigram_candidate_sampler", 3, unique=False,
                 range_max=10)
    np.testing.assert_allclose(got[1].true_expected_count,
                               np.full([2, 2], .8571429), rtol=1e-6)
    np.testing.assert_allclose(
        got[2].sampled_expected_count, [1, 1, 1, 1 / 3, 1, 1], rtol=1e-6)


def test_thread_unsafe_unigrams():
    op = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
        CLASSES, num_true=2, num_sampled=6, unique=True, range_max=11, seed=1,
        seed2=2)
    assert [list(r.sampled_candidates) for r in runs(op, 3)] == [
        [5, 6, 9, 3, 0, 1], [3, 9, 1, 10, 7, 0], [7, 10, 3, 2, 4, 9]]


def test_all_candidates():
    got, = runs(tf.nn.all_candidate_sampler(CLASSES, 2, 8, True), 1)
    assert list(got.sampled_candidates) == list(range(8))
    assert (got.true_expected_count == 1).all()


def test_accidental_hits():
    hits = tf.nn.compute_accidental_hits(
        CLASSES, np.array([7, 3, 5, 7, 0], np.int64), 2)
    rows, ids, weights = runs(hits, 1)[0]
    assert list(rows) == [0, 0, 1] and list(ids) == [4, 1, 3]
    assert (weights == np.finfo(np.float32).min).all()


def problem():
    w = tf.constant(np.arange(60, dtype=np.float32).reshape(20, 3) % 7 * .1
                    - .3)
    b = tf.constant(np.arange(20, dtype=np.float32) * .01)
    x = tf.constant(np.array([[.1, .2, .3], [.4, -.5, .6]], np.float32))
    return w, b, x


# What TensorFlow 1.15 gives; seeds come from the numbers of the nodes.
def test_losses():
    tf.set_random_seed(3)
    w, b, x = problem()
    labels = tf.constant([[3], [5]])
    softmax = tf.nn.sampled_softmax_loss(w, b, labels, x, 5, 20)
    nce = tf.nn.nce_loss(w, b, labels, x, 5, 20)
    got = runs([softmax, nce], 2)
    want = [[[2.0272377, 1.5216008], [8.4845705, 8.570936]],
            [[2.2483861, 2.193019], [6.507165, 6.4327173]]]
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_losses_of_a_given_sample():
    tf.set_random_seed(3)
    w, b, x = problem()
    labels = tf.constant(np.array([[3, 4], [5, 4]], np.int64))
    values = tf.nn.log_uniform_candidate_sampler(labels, 2, 4, True, 20, seed=7)
    softmax = tf.nn.sampled_softmax_loss(w, b, labels, x, 4, 20, num_true=2,
                                         sampled_values=values)
    nce = tf.nn.nce_loss(w, b, labels, x, 4, 20, num_true=2,
                         sampled_values=values, remove_accidental_hits=True)
    want = [[[2.0232205, 1.7526742], [8.417635, 6.564262]],
            [[2.1661344, 2.1898904], [8.568471, 8.603777]]]
    np.testing.assert_allclose(runs([softmax, nce], 2), want, rtol=1e-5)


def test_names():
    """Those of TensorFlow 1.15, as far as the seed depends on them."""
    w, b, x = problem()
    labels = tf.constant([[3], [5]])
    before = len(tf.get_default_graph().get_operations())
    tf.nn.sampled_softmax_loss(w, b, labels, x, 5, 20)
    names = [op.name[len("sampled_softmax_loss/"):] for op in
             tf.get_default_graph().get_operations()[before:]]
    assert names[:13] == [
        "Cast", "Reshape/shape", "Reshape", "LogUniformCandidateSampler",
        "StopGradient", "StopGradient_1", "StopGradient_2", "concat/axis",
        "concat", "embedding_lookup/axis", "embedding_lookup",
        "embedding_lookup/Identity", "Shape"]


def test_refusals():
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="range is too small"):
        sample("uniform_candidate_sampler", 1, unique=True, range_max=8,
               num_sampled=9)
    with pytest.raises(ValueError, match="range_max"):
        sample("uniform_candidate_sampler", 1, unique=True, range_max=0)
    labels = tf.placeholder(tf.int64, [None, 1])
    sampler = tf.nn.log_uniform_candidate_sampler(labels, 1, 2, True, 5)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match=r"must be in \[0, 5\), got 5"):
            sess.run(sampler, {labels: [[5]]})


def test_logits_without_the_expected_counts():
    from headrace._src.nn import candidate_sampling

    def logits(**options):
        with tf.Graph().as_default(), tf.Session() as session:
            return session.run(candidate_sampling.sampled_logits_and_labels(
                tf.ones([4, 2]), tf.ones([4]), tf.constant([[1]], tf.int64),
                tf.ones([1, 2]), 2, 4, sampled_values=([0, 2], [[1.]], [1., np.e]),
                **options))
    np.testing.assert_allclose(logits()[0], [[3., 3., 2.]], rtol=1e-6)
    plain, labels = logits(subtract_log_q=False)
    assert plain.tolist() == [[3., 3., 3.]] and labels.tolist() == [[1., 0., 0.]]


def contrib_losses(fn):
    r = np.random.RandomState(0)
    weights, biases, inputs = [
        r.randn(*s).astype(np.float32) for s in ([20, 4], [20], [3, 4])]
    labels = np.array([[1, 2], [5, 6], [7, 0]], np.int64)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        return session.run(fn(weights, biases, tf.constant(inputs), labels))


@pytest.mark.parametrize("strategy, hits, want", [
    ("div", True, [2.7516, 5.2199, 0.8321]), ("mod", True, [3.0242, 1.8381, 5.4485])])
def test_rank_sampled_softmax_loss(strategy, hits, want):
    got = contrib_losses(lambda w, b, x, labels: (
        tf.contrib.nn.rank_sampled_softmax_loss(
            [tf.constant(w[:10]), tf.constant(w[10:])], b, tf.constant(labels),
            x, 8, 5, 20, 2, tf.nn.log_uniform_candidate_sampler(
                labels, 2, 8, True, 20, seed=4), .7, hits, strategy)))
    np.testing.assert_allclose(got, want, atol=1e-4)


def test_sampled_sparse_softmax_loss():
    got = contrib_losses(lambda w, b, x, labels: (
        tf.contrib.nn.sampled_sparse_softmax_loss(
            w, b, tf.constant(labels[:, :1]), x, 8, 20,
            tf.nn.log_uniform_candidate_sampler(
                labels[:, :1], 1, 8, True, 20, seed=4))))
    np.testing.assert_allclose(got, [1.152, 0.0355, 0.9027], atol=1e-4)


@pytest.mark.parametrize("sampled, resampled, strategy, message", [
    (30, 5, "div", "cannot be greater"), (5, 5, "div", "must be less"),
    (8, 5, "no", "unsupported partition_strategy")])
def test_rank_sampled_softmax_loss_refuses(sampled, resampled, strategy,
                                           message):
    with pytest.raises(ValueError, match=message):
        contrib_losses(lambda w, b, x, labels: (
            tf.contrib.nn.rank_sampled_softmax_loss(
                w, b, labels, x, sampled, resampled, 20, 2, None, 1., True,
                strategy)))
