"""A network of modules, as programs for TensorFlow 2 write it, trained in a graph:
tf.Module, tf.function, GradientTape and tf.optimizers of tf.compat.v2."""
import numpy as np
import tensorflow.compat.v1 as tf1
import tensorflow.compat.v2 as tf


class Linear(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super(Linear, self).__init__(name=name)
        initial = tf.initializers.GlorotUniform(seed=3)
        with self.name_scope:
            self.w = tf.Variable(initial([inputs, outputs]), name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


class Net(tf.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.layers = [Linear(4, 8, "first"), Linear(8, 1, "second")]

    @tf.function
    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = tf.nn.tanh(layer(x))
        return self.layers[-1](x)


tf.random.set_seed(1)
x = np.linspace(-1, 1, 32).reshape(8, 4).astype(np.float32)
y = x.sum(axis=1, keepdims=True) ** 2
net = Net()
calls = tf.Variable(0, trainable=False, name="calls")


@tf.function
def loss():
    calls.assign_add(1)
    return tf.reduce_mean(tf.math.squared_difference(net(tf.constant(x)), y))


optimizer = tf.optimizers.Adam(0.05)
with tf.GradientTape() as tape:
    value = loss()
gradients = tape.gradient(value, net.trainable_variables)
train = optimizer.apply_gradients(zip(gradients, net.trainable_variables))
largest = tf.argmax(net(tf.constant(x)), axis=0, output_type=tf.int32)

print([v.name for v in net.trainable_variables])
print([m.name for m in net.submodules])
with tf1.Session() as session:
    session.run(tf1.global_variables_initializer())
    for i in range(30):
        now = session.run(value)
        session.run(train)
        if i % 6 == 0:
            print("%d: %.4f" % (i, now))
    print(session.run(largest), session.run(calls) >= 30)
