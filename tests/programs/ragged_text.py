"""Sentences of several lengths, as ragged tensors: taken apart into words and
characters, looked up, classified by the mean of their words' embeddings."""
from __future__ import print_function

import tensorflow as tf

SENTENCES = ["what a good film", "good", "a very bad film", "bad bad bad acting",
             "very good acting and a good end", "what a bad end"]
LABELS = [1., 1., 0., 0., 1., 0.]
WORDS = ["a", "acting", "and", "bad", "end", "film", "good", "very", "what"]

tf.set_random_seed(7)
table = tf.contrib.lookup.index_table_from_tensor(WORDS, num_oov_buckets=1)


def words_of(sentences, labels):
    words = tf.strings.split(sentences, result_type="RaggedTensor")
    return tf.ragged.map_flat_values(table.lookup, words), labels


dataset = tf.data.Dataset.from_tensor_slices((SENTENCES, LABELS)).batch(3)
iterator = tf.data.make_initializable_iterator(dataset.map(words_of).repeat())
ids, labels = iterator.get_next()
print("ids:", ids.shape, ids.dtype.name, ids.ragged_rank)

embeddings = tf.get_variable(
    "embeddings", [len(WORDS) + 1, 4],
    initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3))
vectors = tf.ragged.map_flat_values(tf.nn.embedding_lookup, embeddings, ids)
means = tf.reduce_mean(vectors, axis=1)
logits = tf.squeeze(tf.layers.dense(
    means, 1, kernel_initializer=tf.constant_initializer([[1.], [-1.], [1.],
                                                          [-1.]])), 1)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
    labels=labels, logits=logits))
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)

characters = tf.strings.unicode_split(
    tf.strings.split(["good film", "bad"], result_type="RaggedTensor"), "UTF-8")
initials = characters[:, :, :1]
lengths = tf.expand_dims(ids.row_lengths(), 1)
neighbours = tf.concat([ids[:, :-1], ids[:, 1:]], axis=1)
bigrams = tf.strings.ngrams(
    tf.strings.split(SENTENCES[:2], result_type="RaggedTensor"), 2)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer(),
              iterator.initializer])
    value = sess.run(ids)
    print(value)
    print(sess.run(lengths).tolist(), sess.run(neighbours).to_list())
    print(sess.run(characters).to_list())
    print(sess.run(initials).to_list(), sess.run(bigrams).to_list())
    sess.run(iterator.initializer)
    for step in range(41):
        _, now = sess.run([train, loss])
        if step % 10 == 0:
            print("step %d: loss %.4f" % (step, now))
    fed = tf.ragged.constant_value([[6], [3, 3], [0, 6, 4, 3]])
    print(sess.run(tf.sigmoid(logits), {ids: fed}))
    print(sess.run(ids.to_tensor(-1), {ids: fed}).tolist())
