"""Random training steps, each from a seed, with all graph passes and without
any: the losses and the variables after some steps agree."""
import random

import numpy as np
import pytest

import headrace as tf

STEPS = 3
OPTIMIZERS = [
    lambda: tf.train.AdamOptimizer(.01),
    lambda: tf.train.MomentumOptimizer(.01, .9, use_nesterov=True),
    lambda: tf.train.RMSPropOptimizer(.01, centered=True),
    lambda: tf.train.AdagradOptimizer(.1),
    lambda: tf.train.AdadeltaOptimizer(.5),
    lambda: tf.train.FtrlOptimizer(.1),
    lambda: tf.train.GradientDescentOptimizer(.1),
    lambda: tf.contrib.opt.AdaMaxOptimizer(.01),
    lambda: tf.contrib.opt.LazyAdamOptimizer(.01),
]
ACTIVATIONS = [tf.nn.relu, tf.tanh, tf.sigmoid, tf.nn.elu, tf.nn.relu6,
               lambda v: v * tf.sigmoid(v)]


class Builder:
    """Layers with variables that have random values."""

    def __init__(self, seed):
        self.choices = random.Random(seed)
        self.numbers = np.random.RandomState(seed)
        self.count = 0

    def variable(self, *shape, value=None):
        self.count += 1
        values = (self.numbers.randn(*shape) / np.sqrt(np.prod(shape[:-1]))
                  if value is None else np.full(shape, value))
        return tf.get_variable("v%d" % self.count,
                               initializer=values.astype(np.float32))

    def activation(self, x):
        return self.choices.choice(ACTIVATIONS)(x)

    def conv(self, x):
        size, out = self.choices.choice([1, 3, 5]), self.choices.choice([8, 20])
        strides = [1, *[self.choices.choice([1, 1, 2])] * 2, 1]
        x = tf.nn.conv2d(x, self.variable(size, size, int(x.shape[-1]), out),
                         strides, self.choices.choice(["SAME", "VALID"]))
        if self.choices.random() < .5:
            return self.activation(tf.nn.bias_add(
                x, self.variable(out, value=.1)))
        x, mean, _ = tf.nn.fused_batch_norm(
            x, self.variable(out, value=1), self.variable(out, value=0))
        average = tf.get_variable("average%d" % self.count, trainable=False,
                                  initializer=tf.zeros([out]))
        tf.add_to_collection(
            tf.GraphKeys.UPDATE_OPS,
            tf.assign_sub(average, (average - mean) * .1))
        return self.activation(x)

    def dense(self, x):
        out = self.choices.choice([5, 16])
        return self.activation(tf.matmul(
            x, self.variable(int(x.shape[-1]), out)) +
            self.variable(out, value=.1))

    def recurrent(self, x, steps=3):
        size = int(x.shape[-1])
        w, b = self.variable(2 * size, 4 * size), self.variable(
            4 * size, value=0)

        def cell(c, h):
            i, j, f, o = tf.split(tf.nn.bias_add(
                tf.matmul(tf.concat([x, h], 1), w), b), 4, axis=1)
            c = c * tf.sigmoid(f + 1.) + tf.sigmoid(i) * tf.tanh(j)
            return c, tf.tanh(c) * tf.sigmoid(o)
        c = h = tf.zeros_like(x)
        if self.choices.random() < .5:
            return tf.while_loop(
                lambda t, *_: t < steps,
                lambda t, *state: (t + 1, *cell(*state)), [0, c, h])[2]
        for _ in range(steps):
            c, h = cell(c, h)
        return h

    def looked_up(self, batch):
        table = self.variable(11, 6)
        ids = tf.constant(self.numbers.randint(11, size=batch))
        return tf.nn.embedding_lookup(table, ids)


def program(seed):
    """(what a step runs, the variables)"""
    b = Builder(seed)
    tf.set_random_seed(seed)
    batch = 4
    x = tf.constant(b.numbers.randn(batch, 9, 8, 3).astype(np.float32))
    for _ in range(b.choices.randint(0, 2)):
        x = b.conv(x)
    x = tf.concat([tf.reduce_mean(x, [1, 2]), b.looked_up(batch)], axis=1)
    for _ in range(b.choices.randint(1, 2)):
        x = b.choices.choice([b.dense, b.recurrent])(x)
    logits = tf.matmul(x, b.variable(int(x.shape[-1]), 4))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=b.numbers.randint(4, size=batch), logits=logits))
    optimizer = b.choices.choice(OPTIMIZERS)()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = optimizer.minimize(loss)
    return [loss, step], tf.global_variables()


def trained(seed, passes):
    options = tf.ConfigProto()
    if not passes:
        options.headrace.disabled_passes.append("all")
    with tf.Graph().as_default():
        fetches, variables = program(seed)
        with tf.Session(config=options) as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run(fetches)[0] for _ in range(STEPS)]
            return losses, dict(zip((v.name for v in variables),
                                    session.run(variables)))


@pytest.mark.parametrize("seed", range(25))
def test_a_step_is_the_same_with_passes_and_without(seed):
    losses, values = trained(seed, passes=True)
    want_losses, want = trained(seed, passes=False)
    assert losses == pytest.approx(want_losses, rel=1e-4)
    assert losses[-1] != losses[0]
    for name, value in want.items():
        np.testing.assert_allclose(values[name], value, rtol=2e-3, atol=2e-4,
                                   err_msg=name)


def test_a_chain_that_is_assigned_is_one_node():
    """The passes keep what each of several updates of a variable reads."""
    start = np.linspace(1, 4, 4 * 300).reshape(4, 300).astype(np.float32)
    got = []
    for passes in (True, False):
        options = tf.ConfigProto()
        if not passes:
            options.headrace.disabled_passes.append("all")
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=start)
            scaled = tf.assign(v, v * .5 + v[1])  # a row of itself
            with tf.control_dependencies([scaled]):
                subtracted = tf.assign_sub(v, tf.sqrt(scaled) * .25)
            with tf.control_dependencies([subtracted]):
                added = tf.assign_add(v, tf.square(v.read_value()))
            with tf.Session(config=options) as session:
                session.run(v.initializer)
                metadata = tf.RunMetadata()
                values = session.run(added, options=tf.RunOptions(
                    output_partition_graphs=True), run_metadata=metadata)
            ops = [n.op for g in metadata.partition_graphs for n in g.node]
            assert ops.count("_FusedAssign") == (3 if passes else 0)
            got.append(values)
    want = start * np.float32(.5) + start[1]
    want = want - np.sqrt(want) * np.float32(.25)
    np.testing.assert_allclose(got[0], want + want * want, rtol=1e-6)
    assert (got[0] == got[1]).all()
