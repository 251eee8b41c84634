"""A linear-chain CRF that tags the letters of the Zen of Python: vowel, consonant
or other."""
import numpy as np
import tensorflow as tf

from data import show, zen

text = zen().lower()[:240]
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text]).reshape(8, 30)
tags = np.array([0 if c in "aeiou" else 1 if c.isalpha() else 2
                 for c in text]).reshape(8, 30)
lengths = np.array([30, 28, 26, 24, 22, 20, 18, 16])

tf.set_random_seed(26)
x = tf.placeholder(tf.int32, [None, 30])
y = tf.placeholder(tf.int32, [None, 30])
n = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [len(chars), 8])
scores = tf.layers.dense(tf.nn.embedding_lookup(table, x), 3)
likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, y, n)
loss = tf.reduce_mean(-likelihood)
train = tf.train.AdamOptimizer(0.05).minimize(loss)
decoded, best = tf.contrib.crf.crf_decode(scores, transitions, n)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: ids, y: tags, n: lengths}
    for step in range(16):
        value, _ = sess.run([loss, train], feed)
        if step % 5 == 0:
            show("loss %d" % step, value)
    found, score, matrix = sess.run([decoded, best, transitions], feed)
    right = sum(int((f[:k] == t[:k]).sum())
                for f, t, k in zip(found, tags, lengths))
    print("right: %d of %d" % (right, lengths.sum()))
    show("scores", score[:3])
    show("transitions", matrix)
    one, _ = tf.contrib.crf.viterbi_decode(
        sess.run(scores, feed)[0, :10], matrix)
    print([int(t) for t in one])
