"""Sequences turned around: an encoder, attention, a training decoder, greedy and
beam search."""
import numpy as np
import tensorflow as tf

from data import show

V, SIZE, BATCH, END, START = 12, 16, 32, 0, 1
lengths = 3 + np.arange(BATCH) % 4
source = np.zeros([BATCH, 6], np.int32)
target = np.zeros([BATCH, 7], np.int32)
for i, n in enumerate(lengths):
    source[i, :n] = 2 + (i * 7 + np.arange(n) * (1 + i % 3)) % (V - 2)
    target[i, :n] = source[i, :n][::-1]
decoder_in = np.concatenate([np.full([BATCH, 1], START), target[:, :-1]], 1)

tf.set_random_seed(25)
x = tf.placeholder(tf.int32, [None, None])
x_len = tf.placeholder(tf.int32, [None])
y_in = tf.placeholder(tf.int32, [None, None])
y_out = tf.placeholder(tf.int32, [None, None])
y_len = x_len + 1
start = tf.random_uniform_initializer(-0.3, 0.3, seed=7)
embedding = tf.get_variable("embedding", [V, SIZE])
with tf.variable_scope("encoder"):
    outputs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(SIZE), tf.nn.embedding_lookup(embedding, x),
        x_len, dtype=tf.float32)
project = tf.layers.Dense(V, use_bias=False, name="project")


def decoder_cell(memory, memory_len):
    attention = tf.contrib.seq2seq.BahdanauAttention(SIZE, memory, memory_len)
    return tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(SIZE), attention, attention_layer_size=SIZE)


with tf.variable_scope("decoder", initializer=start):
    cell = decoder_cell(outputs, x_len)
    first = cell.zero_state(tf.shape(x)[0], tf.float32).clone(cell_state=state)
    helper = tf.contrib.seq2seq.TrainingHelper(
        tf.nn.embedding_lookup(embedding, y_in), y_len)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, first, project)
    found, _, steps = tf.contrib.seq2seq.dynamic_decode(decoder)
    mask = tf.sequence_mask(y_len, dtype=tf.float32)
    loss = tf.contrib.seq2seq.sequence_loss(
        found.rnn_output, y_out[:, :tf.reduce_max(y_len)], mask)
with tf.variable_scope("decoder", reuse=True):
    starts = tf.fill([tf.shape(x)[0]], START)
    greedy = tf.contrib.seq2seq.BasicDecoder(
        cell, tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, starts, END),
        first, project)
    said, _, _ = tf.contrib.seq2seq.dynamic_decode(greedy, maximum_iterations=8)
with tf.variable_scope("decoder", reuse=True):
    tiled = [tf.contrib.seq2seq.tile_batch(t, 3)
             for t in (outputs, x_len, state)]
    wide = decoder_cell(tiled[0], tiled[1])
    wide_first = wide.zero_state(tf.shape(x)[0] * 3, tf.float32).clone(
        cell_state=tiled[2])
    beam = tf.contrib.seq2seq.BeamSearchDecoder(
        wide, embedding, starts, END, wide_first, 3, project)
    best, _, _ = tf.contrib.seq2seq.dynamic_decode(beam, maximum_iterations=8)
gradients, variables = zip(*tf.train.AdamOptimizer(0.02).compute_gradients(
    loss))
clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
train = tf.train.AdamOptimizer(0.02).apply_gradients(zip(clipped, variables))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: source, x_len: lengths, y_in: decoder_in, y_out: target}
    show("steps", sess.run(steps, feed))
    for step in range(31):
        value, n, _ = sess.run([loss, norm, train], feed)
        if step % 10 == 0:
            show("loss %d" % step, value, n)
    one = {x: source[:2], x_len: lengths[:2]}
    print(source[:2].tolist())
    print(sess.run(said.sample_id, one).tolist())
    print(sess.run(best.predicted_ids, one)[:, :, 0].tolist())
print([v.name for v in tf.trainable_variables()])
