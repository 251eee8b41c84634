"""An autoencoder: 784-64-16-64-784, RMSProp, dictionaries of weights."""
import tensorflow as tf

from data import fashion, show

images, _ = fashion(count=1000)
tf.set_random_seed(6)
sizes = [784, 64, 16, 64, 784]
weights, biases = {}, {}
for i in range(4):
    weights[i] = tf.Variable(tf.random_normal(sizes[i:i + 2], stddev=0.1))
    biases[i] = tf.Variable(tf.random_normal([sizes[i + 1]], stddev=0.1))
X = tf.placeholder("float", [None, 784])
net = X
for i in range(4):
    net = tf.nn.sigmoid(tf.add(tf.matmul(net, weights[i]), biases[i]))
    if i == 1:
        code = net
loss = tf.reduce_mean(tf.pow(X - net, 2))
optimizer = tf.train.RMSPropOptimizer(0.005).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, 61):
        i = step * 100 % 1000
        _, value = sess.run([optimizer, loss], {X: images[i:i + 100]})
        if step % 20 == 0 or step == 1:
            show("step %d" % step, value)
    codes = sess.run(code, {X: images[:3]})
    print(codes.shape)
    show("code", codes.mean(1))
