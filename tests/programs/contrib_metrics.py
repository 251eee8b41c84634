"""tf.contrib.metrics: metrics at thresholds, agreement and values kept, over three
batches."""
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
metrics = tf.contrib.metrics
METRICS = {
    "f1": lambda p, l, w, a, b: metrics.f1_score(l, p),
    "f1 weighted": lambda p, l, w, a, b: metrics.f1_score(
        l, p, w, num_thresholds=11),
    "precision at recall": lambda p, l, w, a, b: metrics.precision_at_recall(
        l, p, .8),
    "recall at precision": lambda p, l, w, a, b: metrics.recall_at_precision(
        l, p, .8, w),
    "strict": lambda p, l, w, a, b: metrics.recall_at_precision(
        l, p, .8, strict_mode=True),
    "ROC": lambda p, l, w, a, b: metrics.streaming_curve_points(
        l, p, num_thresholds=5),
    "PR": lambda p, l, w, a, b: metrics.streaming_curve_points(
        l, p, w, num_thresholds=5, curve="PR"),
    "false negative rate": lambda p, l, w, a, b:
        metrics.streaming_false_negative_rate_at_thresholds(p, l, [.3, .6]),
    "false positive rate": lambda p, l, w, a, b:
        metrics.streaming_false_positive_rate_at_thresholds(p, l, [.3, .6], w),
    "equal thresholds": lambda p, l, w, a, b:
        metrics.precision_recall_at_equal_thresholds(l, p, w,
                                                     num_thresholds=6),
    "kappa": lambda p, l, w, a, b: metrics.cohen_kappa(a, b, 3),
    "kappa weighted": lambda p, l, w, a, b: metrics.cohen_kappa(a, b, 3, w),
    "concat": lambda p, l, w, a, b: metrics.streaming_concat(p[:4]),
    "concat of 30": lambda p, l, w, a, b: metrics.streaming_concat(
        p, max_size=30),
    "concat of columns": lambda p, l, w, a, b: metrics.streaming_concat(
        tf.reshape(p[:6], [2, 3]), axis=-1),
    "bad recall": lambda p, l, w, a, b: metrics.precision_at_recall(l, p, 1.8),
    "bad precision": lambda p, l, w, a, b: metrics.recall_at_precision(
        l, p, -1),
    "bad curve": lambda p, l, w, a, b: metrics.streaming_curve_points(
        l, p, curve="X"),
    "bad classes": lambda p, l, w, a, b: metrics.cohen_kappa(a, b, 1),
    "bad axis": lambda p, l, w, a, b: metrics.streaming_concat(p, axis=3),
    "bad shape": lambda p, l, w, a, b: metrics.streaming_concat(
        tf.reshape(p, [4, -1]), axis=0)}

for name in sorted(METRICS):
    with tf.Graph().as_default(), tf.Session() as session:
        p, w = [tf.placeholder(tf.float32, [None]) for _ in range(2)]
        l = tf.placeholder(tf.bool, [None])
        a, b = [tf.placeholder(tf.int64, [None]) for _ in range(2)]
        try:
            value, update = METRICS[name](p, l, w, a, b)
        except ValueError as error:
            print(name, error)
            continue
        random = np.random.RandomState(1)
        session.run(tf.local_variables_initializer())
        for _ in range(3):
            predicted = random.rand(20)
            feeds = {p: predicted, l: predicted + random.randn(20) * .3 > .5,
                     w: random.rand(20), a: random.randint(0, 3, 20)}
            feeds[b] = np.where(predicted > .4, feeds[a],
                                random.randint(0, 3, 20))
            session.run(update, feeds)
        for part in (value if isinstance(value, tuple) else [value]):
            print(name, *["%.5f" % n for n in np.ravel(session.run(part))])
        print(name, *sorted(v.op.name for v in tf.local_variables()))
