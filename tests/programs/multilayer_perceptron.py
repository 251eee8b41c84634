"""A perceptron with two hidden layers and dropout: tf.layers, tf.losses, Adam."""
import tensorflow as tf

from data import fashion, show

images, labels = fashion(count=2000)
tf.set_random_seed(4)
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
training = tf.placeholder_with_default(False, [])
net = tf.layers.dense(x, 64, activation=tf.nn.relu, name="hidden1")
net = tf.layers.dropout(net, 0.3, training=training)
net = tf.layers.dense(net, 32, tf.nn.relu, name="hidden2",
                      kernel_regularizer=tf.keras.regularizers.l2(1e-3))
logits = tf.layers.dense(net, 10, name="logits")
tf.losses.sparse_softmax_cross_entropy(y, logits)
loss = tf.losses.get_total_loss()
global_step = tf.train.get_or_create_global_step()
train = tf.train.AdamOptimizer(1e-3).minimize(loss, global_step)
top = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 1), tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("kernel", sess.run("hidden1/kernel:0").ravel()[:4])
    for step in range(60):
        i = step * 50 % 2000
        _, value = sess.run([train, loss], {
            x: images[i:i + 50], y: labels[i:i + 50], training: True})
        if step % 15 == 14:
            show("loss", value)
    show("accuracy", sess.run(top, {x: images[:500], y: labels[:500]}))
    print("global step:", sess.run(global_step))
print([v.op.name for v in tf.global_variables()])
