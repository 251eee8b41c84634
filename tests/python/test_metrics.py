"""tf.metrics: values after two batches, beside NumPy."""
import numpy as np
import pytest

import headrace as tf

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
