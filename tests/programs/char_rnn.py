"""A character RNN over the Zen of Python: two LSTM layers, dropout, clipped
gradients, and text drawn from it."""
import numpy as np
import tensorflow as tf

from data import show, zen

text = zen()
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
BATCH, STEPS, SIZE = 8, 12, 32
tf.set_random_seed(9)

x = tf.placeholder(tf.int32, [None, None])
y = tf.placeholder(tf.int32, [None, None])
keep = tf.placeholder_with_default(1.0, [])
with tf.variable_scope("rnnlm", initializer=tf.random_uniform_initializer(
        -0.1, 0.1)):
    embedding = tf.get_variable("embedding", [len(chars), SIZE])
    inputs = tf.nn.embedding_lookup(embedding, x)
    cells = []
    for _ in range(2):
        cell = tf.nn.rnn_cell.BasicLSTMCell(SIZE, forget_bias=1.0)
        cells.append(tf.nn.rnn_cell.DropoutWrapper(cell,
                                                   output_keep_prob=keep))
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    zero = cell.zero_state(tf.shape(x)[0], tf.float32)
    outputs, last = tf.nn.dynamic_rnn(cell, inputs, initial_state=zero)
    w = tf.get_variable("softmax_w", [SIZE, len(chars)])
    b = tf.get_variable("softmax_b", [len(chars)],
                        initializer=tf.zeros_initializer())
logits = tf.matmul(tf.reshape(outputs, [-1, SIZE]), w) + b
probs = tf.nn.softmax(logits)
cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=tf.reshape(y, [-1]), logits=logits))
lr = tf.Variable(0.0, trainable=False)
grads, norm = tf.clip_by_global_norm(
    tf.gradients(cost, tf.trainable_variables()), 5.0)
train = tf.train.AdamOptimizer(lr).apply_gradients(
    zip(grads, tf.trainable_variables()))

length = BATCH * STEPS
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(tf.assign(lr, 0.02))
    for step in range(36):
        i = step * length % (len(ids) - length - 1)
        feed = {x: ids[i:i + length].reshape(BATCH, STEPS),
                y: ids[i + 1:i + 1 + length].reshape(BATCH, STEPS)}
        value, n, _ = sess.run([cost, norm, train], feed)
        if step % 12 == 0 or step == 35:
            show("step %d" % step, value, n)
    state = sess.run(cell.zero_state(1, tf.float32))
    current, out = chars.index("T"), ""
    for _ in range(20):
        p, state = sess.run([probs, last], {x: [[current]], zero: state})
        current = int(np.argmax(p[0]))
        out += chars[current]
    print(repr(out))
print([v.name for v in tf.trainable_variables()])
