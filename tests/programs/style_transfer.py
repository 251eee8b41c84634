"""Content and style loss through a network shaped like VGG, and steps on the
image itself."""
import tensorflow as tf

from data import photo, show

LAYERS = [("conv1_1", 3, 8), ("conv1_2", 8, 8), "pool1", ("conv2_1", 8, 16),
          ("conv2_2", 16, 16), "pool2", ("conv3_1", 16, 32)]
tf.set_random_seed(14)
filters = {}
for layer in LAYERS:
    if isinstance(layer, tuple):
        name, n, m = layer
        filters[name] = tf.get_variable(
            name, [3, 3, n, m], trainable=False,
            initializer=tf.variance_scaling_initializer(2.0, seed=len(name)))


def network(image):
    found, net = {}, image
    for layer in LAYERS:
        if isinstance(layer, tuple):
            layer = layer[0]
            net = tf.nn.relu(tf.nn.conv2d(net, filters[layer], [1, 1, 1, 1],
                                          "SAME"))
        else:
            net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        found[layer] = net
    return found


def gram(features):
    _, h, w, c = features.get_shape().as_list()
    matrix = tf.reshape(features, [-1, c])
    return tf.matmul(matrix, matrix, transpose_a=True) / (h * w * c)


def load(name):
    image = tf.image.decode_png(tf.read_file(photo(name)), channels=3)
    image = tf.image.resize_images(tf.cast(image, tf.float32), [24, 24])
    return tf.expand_dims(image, 0) / 255. - 0.5


with tf.Session() as sess:
    content_image, style_image = sess.run([load("cat.png"), load("horse.png")])
    show("means", content_image.mean(), style_image.mean())
    image = tf.Variable(content_image)
    now, content = network(image), network(tf.constant(content_image))
    style = network(tf.constant(style_image))
    content_loss = 2 * tf.nn.l2_loss(
        now["conv3_1"] - content["conv3_1"]) / content_image.size
    style_loss = tf.add_n([
        2 * tf.nn.l2_loss(gram(now[n]) - gram(style[n]))
        for n in ("conv1_1", "conv2_1", "conv3_1")])
    tv_loss = tf.reduce_sum(tf.image.total_variation(image)) / 1e4
    loss = content_loss + 20 * style_loss + tv_loss
    train = tf.train.AdamOptimizer(0.02).minimize(loss, var_list=[image])
    sess.run(tf.global_variables_initializer())
    for i in range(13):
        values = sess.run([content_loss, style_loss, tv_loss])
        if i % 4 == 0:
            show("step %d" % i, *values)
        sess.run(train)
