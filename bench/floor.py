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
session = tf.Session()
one = np.float32(1)
print(f"python_add_us {shortest_us(lambda: session.run(y, {x: one}), 3000):.2f}")
print(f"python_chain_1000_us {shortest_us(lambda: session.run(z, {x: one}), 200):.1f}")
graph = tf.Graph()
with graph.as_default():
    a = b = tf.placeholder(tf.float32, [])
    begin = time.perf_counter()
    for _ in range(10000):
        b = b + a
    print(f"python_build_10000_ms {(time.perf_counter() - begin) * 1e3:.1f}")
