"""Skip-gram word vectors with the NCE loss, from the Zen of Python."""
import collections
import re

import numpy as np
import tensorflow as tf

from data import show, zen

words = re.findall(r"[a-z]+", zen().lower())
count = collections.Counter(words)
vocabulary = sorted(count, key=lambda w: (-count[w], w))
ids = [vocabulary.index(w) for w in words]
pairs = [(ids[i], ids[j]) for i in range(len(ids))
         for j in (i - 2, i - 1, i + 1, i + 2) if 0 <= j < len(ids)]
inputs_np = np.array([p[0] for p in pairs], np.int32)
labels_np = np.array([[p[1]] for p in pairs], np.int32)
V, SIZE, SAMPLED = len(vocabulary), 16, 8

tf.set_random_seed(12)
inputs = tf.placeholder(tf.int32, [32])
labels = tf.placeholder(tf.int32, [32, 1])
embeddings = tf.Variable(tf.random_uniform([V, SIZE], -1.0, 1.0))
embed = tf.nn.embedding_lookup(embeddings, inputs)
nce_weights = tf.Variable(tf.truncated_normal([V, SIZE],
                                              stddev=1.0 / SIZE ** 0.5))
nce_biases = tf.Variable(tf.zeros([V]))
loss = tf.reduce_mean(tf.nn.nce_loss(
    weights=nce_weights, biases=nce_biases, labels=labels, inputs=embed,
    num_sampled=SAMPLED, num_classes=V))
optimizer = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
normalized = embeddings / norm
similarity = tf.matmul(tf.nn.embedding_lookup(normalized, [0, 1]),
                       normalized, transpose_b=True)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    average = 0.0
    for step in range(60):
        i = step * 32 % (len(pairs) - 32)
        feed = {inputs: inputs_np[i:i + 32], labels: labels_np[i:i + 32]}
        _, value = sess.run([optimizer, loss], feed)
        average += value / 20
        if step % 20 == 19:
            show("average loss", average)
            average = 0.0
    near = sess.run(similarity)
    for row, word in zip(near, vocabulary):
        print(word, [vocabulary[k] for k in (-row).argsort()[1:4]])
