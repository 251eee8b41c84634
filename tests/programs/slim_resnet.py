"""A residual network in slim's style: arg scopes, end points, regularisation."""
import tensorflow as tf
import tensorflow.contrib.slim as slim

from data import fashion, show

images_np, labels_np = fashion(count=128)


@slim.add_arg_scope
def bottleneck(inputs, depth, base, stride, scope=None):
    with tf.variable_scope(scope, "bottleneck", [inputs]):
        if depth == inputs.get_shape()[-1].value and stride == 1:
            shortcut = inputs
        else:
            shortcut = slim.conv2d(inputs, depth, [1, 1], stride=stride,
                                   activation_fn=None, scope="shortcut")
        net = slim.conv2d(inputs, base, [1, 1], scope="conv1")
        net = slim.conv2d(net, base, [3, 3], stride=stride, scope="conv2")
        net = slim.conv2d(net, depth, [1, 1], activation_fn=None,
                          scope="conv3")
        return tf.nn.relu(shortcut + net)


def arg_scope(is_training, weight_decay=1e-4):
    with slim.arg_scope(
            [slim.conv2d],
            weights_regularizer=slim.l2_regularizer(weight_decay),
            weights_initializer=slim.variance_scaling_initializer(),
            activation_fn=tf.nn.relu, normalizer_fn=slim.batch_norm):
        with slim.arg_scope(
                [slim.batch_norm], is_training=is_training, decay=0.9,
                scale=True) as scope:
            return scope


def resnet(inputs, classes, scope="resnet"):
    with tf.variable_scope(scope, values=[inputs]):
        net = slim.conv2d(inputs, 8, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.stack(net, bottleneck, [(16, 4, 2), (16, 4, 1)],
                         scope="block1")
        net = slim.repeat(net, 2, bottleneck, 16, 4, 1, scope="block2")
        net = tf.reduce_mean(net, [1, 2], keepdims=True, name="pool5")
        net = slim.conv2d(net, classes, [1, 1], activation_fn=None,
                          normalizer_fn=None, scope="logits")
        return tf.squeeze(net, [1, 2], name="SpatialSqueeze")


tf.set_random_seed(24)
images = tf.placeholder(tf.float32, [None, 28, 28, 1])
labels = tf.placeholder(tf.int64, [None])
with slim.arg_scope(arg_scope(is_training=True)):
    logits = resnet(images, 10)
tf.losses.sparse_softmax_cross_entropy(labels, logits)
total = tf.losses.get_total_loss()
step = tf.train.get_or_create_global_step()
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.MomentumOptimizer(0.02, 0.9).minimize(total, step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {images: images_np.reshape(-1, 28, 28, 1), labels: labels_np}
    show("regularization", *sess.run(tf.losses.get_regularization_losses())[:3])
    for i in range(4):
        value, _ = sess.run([total, train], feed)
        show("loss", value)
names = [v.op.name for v in slim.get_model_variables()]
print(len(names), names[:6], names[-2:])
print(len(slim.get_variables_to_restore(exclude=["resnet/logits"])),
      logits.op.name)
