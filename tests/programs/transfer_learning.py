"""A new head on the features of a frozen network that was trained on CIFAR-10."""
import tensorflow as tf

from data import model, photo, show

graph_def = tf.GraphDef()
with tf.gfile.GFile(model("resnet8_cifar10.pb"), "rb") as file:
    graph_def.ParseFromString(file.read())
for node in graph_def.node:  # an attr that 1.15 does not know yet
    if "exponential_avg_factor" in node.attr:
        del node.attr["exponential_avg_factor"]
placeholders = [n.name for n in graph_def.node if n.op == "Placeholder"]
last = [n.name for n in graph_def.node if n.op == "MatMul"][-1]
features_name = [n for n in graph_def.node if n.name == last][0].input[0]
print(placeholders, last, features_name)


def load(name):
    image = tf.image.decode_png(tf.read_file(photo(name)), channels=3)
    image = tf.image.resize_images(tf.to_float(image), [32, 32])
    return image


tf.set_random_seed(23)
images = tf.stack([load("cat.png"), load("horse.png")])
images = tf.concat([images, tf.image.flip_left_right(images),
                    images * 0.8], 0)
features, = tf.import_graph_def(
    graph_def, {placeholders[0]: images},
    [features_name if ":" in features_name else features_name + ":0"])
features = tf.stop_gradient(tf.reshape(features, [6, -1]))
labels = tf.constant([0, 1] * 3)
logits = tf.layers.dense(features, 2, name="head")
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("features", *sess.run([tf.reduce_mean(features),
                                tf.reduce_max(features)]))
    for step in range(12):
        _, value = sess.run([train, loss])
        if step % 4 == 0:
            show("loss", value)
    show("probabilities", sess.run(tf.nn.softmax(logits)))
print([v.name for v in tf.global_variables()])
