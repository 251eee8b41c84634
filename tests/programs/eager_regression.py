"""A line through points, a variable at a time: gradients by tape, a model of
Keras, functions of tf.contrib.eager."""
import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tf.set_random_seed(7)
tfe = tf.contrib.eager

noise = tf.random_normal([60, 1], seed=3)
x = tf.random_normal([60, 1], seed=4)
y = 3. * x - 2. + 0.1 * noise
print("data", tf.reduce_sum(y).numpy(), y.shape, y.dtype.name)


class Line(tf.keras.Model):
    def __init__(self):
        super(Line, self).__init__()
        self.slope = tf.Variable(5., name="slope")
        self.offset = tf.Variable(0., name="offset")

    def call(self, inputs):
        return inputs * self.slope + self.offset


def loss(model, inputs, targets):
    return tf.reduce_mean(tf.square(model(inputs) - targets))


model = Line()
optimizer = tf.train.GradientDescentOptimizer(0.1)
step = tf.train.get_or_create_global_step()
for i in range(30):
    with tf.GradientTape() as tape:
        error = loss(model, x, y)
    found = tape.gradient(error, [model.slope, model.offset])
    optimizer.apply_gradients(zip(found, [model.slope, model.offset]),
                              global_step=step)
    if i % 10 == 0:
        print("loss", i, error.numpy())
print("line", model.slope.numpy(), model.offset.numpy(), step.numpy())
print(model.slope)
print(repr(model.offset.read_value()).split("numpy")[0].split("shape")[1])

w = tf.contrib.eager.Variable(2.)
print("implicit", [(float(g), v.name) for g, v in
                   tfe.implicit_gradients(lambda a: w * w * a)(3.)])
print("by arguments", [float(g) for g in
                       tfe.gradients_function(lambda a, b: a * a * b)(2., 5.)])
value, grads = tfe.value_and_gradients_function(
    lambda a: tf.sin(a), params=["a"])(0.5)
print("value", value.numpy(), grads[0].numpy())


def derivative(f):
    return lambda a: tfe.gradients_function(f)(a)[0]


f = lambda a: a ** 4
for order in range(4):
    print("order", order, f(tf.constant(1.5)).numpy())
    f = derivative(f)

optimizer = tf.train.AdamOptimizer(0.3)
bowl = tf.Variable([4., -3.])
for i in range(40):
    optimizer.minimize(lambda: tf.reduce_sum(tf.square(bowl)))
print("bowl", bowl.numpy(), [v.name for v in optimizer.variables()])

matrix = tf.constant(np.arange(6.).reshape(2, 3))
for row in matrix:
    print("row", row.numpy(), float(tf.reduce_sum(row)))
try:
    tf.matmul(matrix, matrix)
except tf.errors.InvalidArgumentError as e:
    print(e.message)
try:
    tf.placeholder(tf.float32)
except RuntimeError as e:
    print(e)
