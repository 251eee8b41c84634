"""Embeddings with sparse updates: what optimizers do with IndexedSlices."""
import tensorflow as tf

from data import show

ids = tf.placeholder(tf.int32, [None])
bags = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 2]], [1, 3, 3, 0], [3, 3])
weights = tf.SparseTensor(bags.indices, [1.0, 2.0, 0.5, 1.0], [3, 3])
optimizers = [tf.train.GradientDescentOptimizer(0.1),
              tf.train.MomentumOptimizer(0.1, 0.9),
              tf.train.AdagradOptimizer(0.1), tf.train.AdamOptimizer(0.1),
              tf.train.FtrlOptimizer(0.1), tf.train.RMSPropOptimizer(0.1),
              tf.train.AdadeltaOptimizer(0.5)]
tf.set_random_seed(21)
for optimizer in optimizers:
    name = type(optimizer).__name__[:-9]
    with tf.variable_scope(name):
        table = tf.get_variable(
            "table", [5, 2],
            initializer=tf.random_uniform_initializer(-1, 1, seed=5))
        rows = tf.nn.embedding_lookup(table, ids)
        bag = tf.nn.embedding_lookup_sparse(table, bags, weights,
                                            combiner="mean")
        loss = tf.reduce_sum(tf.square(rows)) + tf.reduce_sum(bag)
        grads = optimizer.compute_gradients(loss, [table])
        train = optimizer.apply_gradients(grads)
    kinds = type(grads[0][0]).__name__
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(3):
            sess.run(train, {ids: [1, 1, 4]})
        print(name, kinds, [v.op.name for v in optimizer.variables()])
        show("table", sess.run(table))
parts = tf.get_variable("parts", [5, 2], partitioner=tf.fixed_size_partitioner(
    2), initializer=tf.random_uniform_initializer(seed=3))
looked = tf.nn.embedding_lookup(list(parts), [0, 3, 4], "div")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("parts", sess.run(looked))
