"""Beam search as a while loop, over a Markov chain of letters."""
import numpy as np
import tensorflow as tf

from data import show, zen

letters = sorted(set(zen().lower()) & set("abcdefghijklmnopqrstuvwxyz "))
V, WIDTH, LENGTH = len(letters), 3, 8
counts = np.ones([V, V], np.float32) * 0.1
text = [letters.index(c) for c in zen().lower() if c in letters]
for a, b in zip(text, text[1:]):
    counts[a, b] += 1
log_probs = tf.constant(np.log(counts / counts.sum(1, keepdims=True)))


def step(i, sequences, scores, lengths):
    last = sequences[:, -1]
    total = tf.expand_dims(scores, 1) + tf.gather(log_probs, last)
    best, index = tf.nn.top_k(tf.reshape(total, [-1]), WIDTH)
    parents, chosen = index // V, index % V
    sequences = tf.concat([tf.gather(sequences, parents),
                           tf.expand_dims(chosen, 1)], 1)
    return i + 1, sequences, best, lengths.write(i, tf.shape(sequences)[1])


start = letters.index("t")
i, sequences, scores, lengths = tf.while_loop(
    lambda i, *_: i < LENGTH, step,
    [0, tf.fill([WIDTH, 1], start), tf.constant([0.0, -1e9, -1e9]),
     tf.TensorArray(tf.int32, LENGTH)],
    shape_invariants=[tf.TensorShape([]), tf.TensorShape([WIDTH, None]),
                      tf.TensorShape([WIDTH]), tf.TensorShape(None)])

with tf.Session() as sess:
    n, found, values, sizes = sess.run([i, sequences, scores, lengths.stack()])
    for row in found:
        print(repr("".join(letters[k] for k in row)))
    show("scores", values)
    print(n, sizes.tolist())
