"""tf.metrics: values after two batches, beside NumPy."""
import numpy as np
import pytest

import headrace as tf
from headrace import _names

R = np.random.RandomState(5)
BATCHES = [(R.randint(0, 2, (4, 6)), R.uniform(0, 1, (4, 6)).astype(np.float32))
           for _ in range(2)]
WEIGHTS = np.float32([[1], [0], [2], [0.5]])
LABELS = np.concatenate([b[0] for b in BATCHES])
X = np.concatenate([b[1] for b in BATCHES])
WIDE = np.broadcast_to(np.concatenate([WEIGHTS, WEIGHTS]), X.shape)
ONES = np.ones_like(WIDE)
metrics = tf.metrics


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def check(make, wanted, update_too=True):
    """make(labels, predictions) gives a metric."""
    labels = tf.placeholder(tf.int64, [None, 6])
    x = tf.placeholder(tf.float32, [None, 6])
    value, update = make(labels, x)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for a, b in BATCHES:
            last = session.run(update, {labels: a, x: b})
        got = session.run(value)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    if update_too:
        np.testing.assert_allclose(last, wanted, rtol=1e-4, atol=1e-5)


def counts(weights, limit=0.5):
    yes, label = X > limit, LABELS == 1
    return [(weights * mask).sum() for mask in (
        yes & label, yes & ~label, ~yes & ~label, ~yes & label)]


@pytest.mark.parametrize("weighted", [False, True])
def test_counts(weighted):
    given = WIDE[:4].copy() if weighted else None
    tp, fp, tn, fn = counts(WIDE if weighted else ONES)
    for name, wanted in (
            ("true_positives", tp), ("false_positives", fp),
            ("true_negatives", tn), ("false_negatives", fn),
            ("precision", tp / (tp + fp)), ("recall", tp / (tp + fn)),
            ("accuracy", (tp + tn) / (tp + fp + tn + fn))):
        check(lambda y, x: getattr(metrics, name)(y, x > 0.5, given), wanted)


LIMITS = [0.2, 0.5, 0.8]


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_at_thresholds(weighted):
    given = WEIGHTS if weighted else None
    tp, fp, tn, fn = np.transpose([
        counts(WIDE if weighted else ONES, t) for t in LIMITS])
    for name, wanted in (
            ("true_positives", tp), ("false_positives", fp),
            ("true_negatives", tn), ("false_negatives", fn),
            ("precision", tp / (tp + fp)), ("recall", tp / (tp + fn))):
        check(lambda y, x: getattr(metrics, name + "_at_thresholds")(
            y, x, LIMITS, given), wanted)


def even(n):
    return [-1e-7] + [i / (n - 1) for i in range(1, n - 1)] + [1 + 1e-7]


@pytest.mark.parametrize("curve", ["ROC", "PR"])
@pytest.mark.parametrize("method, height", [
    ("trapezoidal", lambda a, b: (a + b) / 2), ("minoring", np.minimum),
    ("majoring", np.maximum)])
def test_auc(curve, method, height):
    tp, fp, tn, fn = np.transpose([counts(ONES, t) for t in even(30)])
    e = 1e-6
    recall = (tp + e) / (tp + fn + e)
    x, y = ((fp / (fp + tn + e), recall) if curve == "ROC"
            else (recall, (tp + e) / (tp + fp + e)))
    area = ((x[:-1] - x[1:]) * height(y[:-1], y[1:])).sum()
    check(lambda labels, p: metrics.auc(
        labels, p, curve=curve, num_thresholds=30, summation_method=method),
        area)


def test_auc_is_that_of_pairs():
    # The area is the share of pairs (yes, no) in the right order.
    yes, no = X[LABELS == 1], X[LABELS == 0]
    share = (yes[:, None] > no[None]).mean()
    labels, x = tf.constant(LABELS), tf.constant(X)
    value, update = metrics.auc(labels, x, num_thresholds=3000)
    careful, more = metrics.auc(labels, x, curve="PR",
                                summation_method="careful_interpolation")
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run([update, more])
        assert abs(session.run(value) - share) < 0.01
        assert 0 < session.run(careful) < 1


def test_sensitivity_and_specificity():
    tp, fp, tn, fn = np.transpose([counts(ONES, t) for t in even(200)])
    specificity, sensitivity = tn / (tn + fp), tp / (tp + fn)
    at = np.argmin(abs(specificity - 0.6))
    check(lambda y, x: metrics.sensitivity_at_specificity(y, x, 0.6),
          sensitivity[at])
    away = abs(sensitivity - 0.6)
    at = np.flatnonzero(away == away.min())[-1]
    check(lambda y, x: metrics.specificity_at_sensitivity(y, x, 0.6),
          specificity[at])


def test_means():
    error = X - LABELS
    for make, wanted in (
            (lambda y, x: metrics.mean(x, WEIGHTS), (X * WIDE).sum()
             / WIDE.sum()),
            (lambda y, x: metrics.mean(x), X.mean()),
            (lambda y, x: metrics.mean_absolute_error(tf.to_float(y), x),
             abs(error).mean()),
            (lambda y, x: metrics.mean_squared_error(
                tf.to_float(y), x, WEIGHTS),
             (error ** 2 * WIDE).sum() / WIDE.sum()),
            (lambda y, x: metrics.root_mean_squared_error(tf.to_float(y), x),
             np.sqrt((error ** 2).mean())),
            (lambda y, x: metrics.mean_relative_error(
                tf.to_float(y), x, tf.to_float(y)),
             np.where(LABELS == 0, 0, abs(error)).mean()),
            (lambda y, x: metrics.mean_cosine_distance(tf.to_float(y), x, 1),
             1 - (X * LABELS).sum(1).mean()),
            (lambda y, x: metrics.percentage_below(x, 0.3), (X < 0.3).mean()),
            (lambda y, x: metrics.mean_tensor(tf.reshape(x, [4, 6])),
             (X[:4] + X[4:]) / 2)):
        check(make, wanted)


def test_classes():
    yes = (X > 0.5).astype(int)
    each = [((yes == c) & (LABELS == c)).sum() / (LABELS == c).sum()
            for c in range(2)]
    check(lambda y, x: metrics.mean_per_class_accuracy(y, x > 0.5, 2),
          np.mean(each), update_too=False)
    both = [((yes == c) & (LABELS == c)).sum()
            / ((yes == c) | (LABELS == c)).sum() for c in range(2)]
    # Class 2 occurs nowhere, and does not count.
    check(lambda y, x: metrics.mean_iou(y, tf.to_int64(x > 0.5), 3),
          np.mean(both), update_too=False)


SETS = [[1, 2], [3], [0, 5, 4], [4, 1]]


def label_forms():
    dense = np.full([4, 3], -1)
    for row, labels in enumerate(SETS):
        dense[row, :len(labels)] = labels
    at = [[r, c] for r in range(4) for c in range(len(SETS[r]))]
    sparse = tf.SparseTensor(np.int64(at),
                             np.int64([x for s in SETS for x in s]), [4, 3])
    return tf.constant(dense, tf.int64), sparse


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("k", [1, 3])
def test_top_k(k, form):
    x = BATCHES[0][1]
    best = np.argsort(-x, 1)[:, :k]
    hits = [len(set(b) & set(s)) for b, s in zip(best, SETS)]
    in_class = [1 in b and 1 in s for b, s in zip(best, SETS)]
    average = []
    for b, s in zip(best, SETS):
        found = np.cumsum([c in s for c in b])
        average.append(sum(found[i] / (i + 1) for i in range(k) if b[i] in s)
                       / min(k, len(s)))
    labels = label_forms()[form]
    predicted = sum(1 in b for b in best)
    for (value, update), wanted in (
            (metrics.precision_at_k(labels, x, k), sum(hits) / (4 * k)),
            (metrics.sparse_precision_at_k(labels, x, k),
             sum(hits) / (4 * k)),
            (metrics.precision_at_top_k(labels, tf.constant(best), k),
             sum(hits) / (4 * k)),
            (metrics.precision_at_k(labels, x, k, class_id=1),
             sum(in_class) / predicted if predicted else np.nan),
            (metrics.recall_at_k(labels, x, k, class_id=1),
             sum(in_class) / 2),
            (metrics.average_precision_at_k(labels, x, k),
             np.mean(average)),
            (metrics.sparse_average_precision_at_k(labels, x, k),
             np.mean(average))):
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            last = session.run(update)
            np.testing.assert_allclose([last, session.run(value)], wanted,
                                       rtol=1e-6, err_msg=value.name)


# As TensorFlow 1.15.5 counts them: dense labels that are no class are left out,
# and each different one of sparse labels counts.
@pytest.mark.parametrize("second, k, dense, sparse", [
    ([2, 9, -3], 2, 0.25, 0.25),
    ([2, 9, -3], 3, (5 / 9 + 1 / 3) / 2, (5 / 6 + 1 / 9) / 2),
    ([2, 9, 7], 3, (5 / 9 + 1 / 3) / 2, (5 / 6 + 1 / 6) / 2)])
def test_average_precision_with_labels_that_are_no_class(second, k, dense,
                                                         sparse):
    x = tf.constant([[.4, .1, .0, .7, .9], [.2, .3, .4, .8, .9]])
    at = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
    updates = [metrics.average_precision_at_k(labels, x, k)[1] for labels in (
        tf.constant([[0, 4, 4], second], tf.int64),
        tf.SparseTensor(at, tf.constant([0, 4] + second, tf.int64), [2, 3]))]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose(session.run(updates), [dense, sparse])


def test_recall_of_one_label_each():
    x = BATCHES[0][1]
    labels = np.int64([1, 3, 0, 4])
    best = np.argsort(-x, 1)[:, :3]
    value, update = metrics.recall_at_k(labels, x, 3, weights=[1., 2, 3, 4])
    top, more = metrics.recall_at_top_k(labels, best, 3)
    hits = np.array([a in b for a, b in zip(labels, best)])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run([update, more])
        np.testing.assert_allclose(session.run(value),
                                   (hits * [1, 2, 3, 4]).sum() / 10)
        np.testing.assert_allclose(session.run(top), hits.mean())


def test_names_and_collections():
    with tf.name_scope("n"), tf.variable_scope("s"):
        value, update = metrics.accuracy(
            [1, 0], [1, 1], metrics_collections="m", updates_collections="u")
    assert [v.name for v in tf.local_variables()] == [
        "n/s/accuracy/total:0", "n/s/accuracy/count:0"]
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == (
        tf.local_variables())
    assert not tf.trainable_variables() and not tf.global_variables()
    assert tf.get_collection("m") == [value]
    assert tf.get_collection("u") == [update]
    assert value.name == "n/s/accuracy/value:0"
    assert update.name == "n/s/accuracy/update_op:0"
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0
        assert session.run(update) == 0.5


@pytest.mark.parametrize("call, message", [
    (lambda: metrics.auc([1], [0.5], curve="XY"), "XY unknown"),
    (lambda: metrics.auc([1], [0.5], summation_method="x"), "Invalid summ"),
    (lambda: metrics.sensitivity_at_specificity([1], [0.5], 2.),
     "`specificity` must be in the range"),
    (lambda: metrics.specificity_at_sensitivity([1], [0.5], -1.),
     "`sensitivity` must be in the range"),
    (lambda: metrics.average_precision_at_k([[1]], [[0.5]], 0), "Invalid k=0"),
    (lambda: metrics.mean([[1., 2.]], weights=[[1.], [2.]]),
     "weights can not be broadcast"),
    (lambda: metrics.accuracy([1, 2], [1, 2, 3]), "not compatible|incompat")])
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_predictions_beyond_1():
    x = tf.placeholder(tf.float32, [None])
    _, update = metrics.auc([1, 0], x)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match=r"predictions must be in \[0, 1\]"):
            session.run(update, {x: [0.5, 1.5]})


# What tensorflow.python has of metrics.

def parts():
    return _names.load("compat.metric_parts")


def updated(metric):
    """(its value, its update) after one run."""
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        update = session.run(metric[1])
        return session.run(metric[0]), update


def test_counts_by_short_names():
    labels, x = tf.constant([1, 0, 1, 1]), tf.constant([[.5], [.7], [.6], [.2]])
    for found in updated(parts().confusion_matrix_at_thresholds(
            labels, x, [.3, .55, .9], includes=["fp", "tp"])):
        assert list(found) == ["tp", "fp"]
        assert found["tp"].tolist() == [2, 1, 0]
        assert found["fp"].tolist() == [1, 1, 0]
    found, _ = updated(parts().confusion_matrix_at_thresholds(
        labels, x, [.55], weights=[2., 3., 4., 5.]))
    assert {k: v.tolist() for k, v in found.items()} == {
        "tp": [4], "fn": [7], "tn": [0], "fp": [3]}
    with pytest.raises(ValueError, match="Invalid key: xx"):
        parts().confusion_matrix_at_thresholds(labels, x, [.5], includes=["xx"])


def test_a_confusion_matrix_over_runs():
    found, update = updated(parts().streaming_confusion_matrix(
        tf.constant([1, 0, 2, 2]), tf.constant([[1], [2], [2], [0]]), 3,
        tf.constant([1., 2., 3., 4.])))
    assert found.tolist() == update.tolist() == [
        [0, 0, 2], [0, 1, 0], [4, 0, 3]]


# Values of TensorFlow 1.15.5.
@pytest.mark.parametrize("labels, weights, wanted", [
    ([[0, 2], [3, 4]], None, 0.375), ([[0, 2], [3, 4]], [1., .5], 11 / 36),
    ([[1], [2]], None, 0.75), ([[1], [2]], [1., .5], 2 / 3),
    ([[5, 5], [9, -1]], None, 0.), ([7, 4], None, 1 / 6),
    ([7, 4], [1., .5], 1 / 9)])
def test_average_precision_of_sorted_classes(labels, weights, wanted):
    metric = _names.load("metrics.top_k").average_precision_at_top_k
    best = tf.constant([[4, 1, 0], [2, 3, 4]])
    np.testing.assert_allclose(updated(metric(
        tf.constant(labels, tf.int64), best, weights)), [wanted, wanted])


@pytest.mark.parametrize("shape", [None, [], [2, None]])
def test_the_number_of_sorted_classes_is_known(shape):
    metric = _names.load("metrics.top_k").average_precision_at_top_k
    with pytest.raises(ValueError, match="predictions_idx must be known"):
        metric([[1]], tf.placeholder(tf.int32, shape))


def test_shapes_that_match():
    def shapes(tensors):
        return [t.shape.as_list() for t in tensors]
    assert shapes(parts().matched_shapes(
        tf.zeros([3, 1]), tf.zeros([3]), tf.zeros([3, 1]))) == [[3]] * 3
    assert shapes(parts().matched_shapes(
        tf.zeros([3, 2]), tf.zeros([3, 2, 1]), tf.zeros([3]))) == [
            [3, 2], [3, 2], [3, 1]]
    assert shapes(parts().remove_squeezable_dimensions(
        tf.zeros([3]), tf.zeros([3, 2, 1]), 1)) == [[3], [3, 2]]


def test_parts_of_values():
    v = tf.Variable(3.)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(parts().confusion_matrix(
            [1, 2], [1, 0], 3, tf.constant([2., .5]), tf.float32)).tolist() == [
                [0, 0, 0], [0, 2, 0], [.5, 0, 0]]
        assert session.run([parts().safe_scalar_div(
            tf.constant(3.), tf.constant(x), "q") for x in (0., 2., -2.)]) == [
                0, 1.5, -1.5]
        value = parts().aggregate_variable(v, ["of_variables"])
        both = parts().aggregate_across_replicas(
            ["of_both"], lambda strategy, a, b: a + b, v, 2.)
        assert session.run([value, both]) == [3, 5]
    assert tf.get_collection("of_variables") == [value]
    assert tf.get_collection("of_both") == [both]


def test_a_metrics_variable_that_grows():
    v = _names.load("metrics.streaming").metric_variable(
        [0], tf.float32, validate_shape=False, name="v")
    assert v.shape.ndims is None
    assert v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    with tf.Session() as session:
        session.run(v.initializer)
        grown = tf.assign(v, [1., 2.], validate_shape=False)
        assert session.run(grown).tolist() == [1, 2]


# tf.contrib.metrics.

contrib = tf.contrib.metrics
SCORES = [np.random.RandomState(i).rand(4, 2).astype(np.float32)
          for i in range(6)]


def after_batches(make, label_of=lambda x: x):
    """(update, value) of make(predictions, labels) after three batches."""
    x, y = tf.placeholder(tf.float32, [4, 2]), tf.placeholder(
        tf.float32, [4, 2])
    value, update = make(x, y)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for a, b in zip(SCORES[:3], SCORES[3:]):
            last = session.run(update, {x: a, y: label_of(b)})
        return last, session.run(value)


@pytest.mark.parametrize("weights", [None, [[1.], [2.], [0.], [3.]]])
def test_covariance_and_correlation(weights):
    often = np.broadcast_to(
        np.ones((4, 1)) if weights is None else weights, (4, 2)).astype(int)
    a, b = [np.repeat(np.ravel(part), np.tile(often.ravel(), 3))
            for part in (SCORES[:3], SCORES[3:])]
    given = None if weights is None else tf.constant(weights)
    np.testing.assert_allclose(after_batches(
        lambda x, y: contrib.streaming_covariance(x, y, given)),
        [np.cov(a, b)[0, 1]] * 2, rtol=1e-4)
    np.testing.assert_allclose(after_batches(
        lambda x, y: contrib.streaming_pearson_correlation(x, y, given)),
        [np.corrcoef(a, b)[0, 1]] * 2, rtol=1e-4)
    assert np.sum(often) * 3 == after_batches(
        lambda x, y: contrib.count(x, given))[1]


def test_one_sample_has_no_covariance():
    value, update = contrib.streaming_covariance(
        tf.constant([1.]), tf.constant([2.]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert np.isnan(session.run(update)) and np.isnan(session.run(value))


@pytest.mark.parametrize("kind, of_label, of_score", [
    ("true_positives", 1, 1), ("false_positives", 0, 1),
    ("true_negatives", 0, 0), ("false_negatives", 1, 0)])
def test_counts_and_rates_of_contrib(kind, of_label, of_score):
    scores, labels = np.ravel(SCORES[:3]), np.ravel(SCORES[3:]) > 0.5

    def number(limit, of_score=of_score):
        return np.sum((labels == of_label) & ((scores > limit) == of_score))
    metric = getattr(contrib, "streaming_%s_at_thresholds" % kind)
    for found in after_batches(lambda x, y: metric(x, y, [.3, .7]),
                               lambda b: b > 0.5):
        assert found.tolist() == [number(.3), number(.7)]
    if kind.startswith("false"):
        rate = getattr(contrib, "streaming_%s_rate" % kind[:-1])
        wrong, right = number(.4), number(.4, 1 - of_score)
        np.testing.assert_allclose(after_batches(
            lambda x, y: rate(x > .4, y), lambda b: b > 0.5),
            [wrong / (wrong + right)] * 2, rtol=1e-6)


# Values of TensorFlow 1.15.5.
@pytest.mark.parametrize("make, wanted", [
    (lambda x, best, labels: contrib.streaming_sparse_average_precision_at_k(
        x, labels, 2), 0.875),
    (lambda x, best, labels:
     contrib.streaming_sparse_average_precision_at_top_k(best, labels), 0.75),
    (lambda x, best, labels: contrib.streaming_sparse_precision_at_top_k(
        best, labels), 0.5),
    (lambda x, best, labels: contrib.sparse_recall_at_top_k(labels, best), 1.)])
def test_sorted_classes_of_contrib(make, wanted):
    x = tf.constant([[.9, .1], [.2, .8], [.7, .3], [.6, .4]])
    labels = tf.constant([[0], [1], [1], [0]], tf.int64)
    best = tf.constant([[0, 1]] * 4, tf.int64)
    assert [float(v) for v in updated(make(x, best, labels))] == [wanted] * 2


def test_sets_of_contrib():
    union = contrib.set_union(tf.constant([[1, 2], [3, 3]]),
                              tf.constant([[2, 5], [3, 4]]))
    with tf.Session() as session:
        assert session.run(contrib.set_size(union)).tolist() == [3, 2]
