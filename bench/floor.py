"""Dispatch through Python: floor.py headrace|tensorflow. Prints "name value" lines."""
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402

begin = time.perf_counter()
if sys.argv[1] == "headrace":
    import headrace as tf
else:
    import tensorflow.compat.v1 as tf
    tf.disable_eager_execution()
print(f"import_s {time.perf_counter() - begin:.3f}")


def shortest_us(f, runs):
    for _ in range(runs // 10):
        f()
    best = 1e9
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(runs):
            f()
        best = min(best, (time.perf_counter() - begin) / runs)
    return best * 1e6


x = tf.placeholder(tf.float32, [])
y = x + 1.0
z = x
for _ in range(1000):
    z = z + x
wide = tf.add_n([x + float(i) for i in range(1000)])
branch = tf.cond(x > 0, lambda: x + 1.0, lambda: x - 1.0)


def loop(count, x):
    """`count` turns of two ops, and a third for the condition."""
    return tf.while_loop(lambda i, _: i < count, lambda i, v: (i + 1, v * 0.5), [0, x])[1]


once = loop(1000, x)
nested = tf.while_loop(lambda i, _: i < 30, lambda i, v: (i + 1, loop(30, v)), [0, x])[1]
session = tf.Session()
one = np.float32(1)
for name, fetch, runs in (("add", y, 3000), ("chain_1000", z, 200), ("wide_1000", wide, 200), ("cond", branch, 3000),
                          ("while_1000", once, 100), ("while_30x30", nested, 100)):
    print(f"python_{name}_us {shortest_us(lambda: session.run(fetch, {x: one}), runs):.2f}")
graph = tf.Graph()
with graph.as_default():
    a = b = tf.placeholder(tf.float32, [])
    begin = time.perf_counter()
    for _ in range(10000):
        b = b + a
    print(f"python_build_10000_ms {(time.perf_counter() - begin) * 1e3:.1f}")
