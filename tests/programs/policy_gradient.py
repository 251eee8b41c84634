"""REINFORCE on a pole on a cart, whose physics are here."""
import math

import numpy as np
import tensorflow as tf

from data import show


class Cart(object):
    def reset(self):
        self.state = np.array([0.01, -0.02, 0.03, 0.02])
        return self.state

    def step(self, action):
        x, v, angle, w = self.state
        force = 10.0 if action else -10.0
        temp = (force + 0.05 * w * w * math.sin(angle)) / 1.1
        a = (9.8 * math.sin(angle) - math.cos(angle) * temp) / (
            0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1))
        acc = temp - 0.05 * a * math.cos(angle) / 1.1
        self.state = np.array([x + 0.02 * v, v + 0.02 * acc,
                               angle + 0.02 * w, w + 0.02 * a])
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state, 1.0, done


tf.set_random_seed(13)
state_in = tf.placeholder(tf.float32, [None, 4])
hidden = tf.contrib.layers.fully_connected(
    state_in, 8, biases_initializer=None, activation_fn=tf.nn.relu)
output = tf.contrib.layers.fully_connected(
    hidden, 2, activation_fn=tf.nn.softmax, biases_initializer=None)
reward = tf.placeholder(tf.float32, [None])
action = tf.placeholder(tf.int32, [None])
indexes = tf.range(0, tf.shape(output)[0]) * tf.shape(output)[1] + action
responsible = tf.gather(tf.reshape(output, [-1]), indexes)
loss = -tf.reduce_mean(tf.log(responsible) * reward)
tvars = tf.trainable_variables()
holders = [tf.placeholder(tf.float32, name="%d_holder" % i)
           for i in range(len(tvars))]
gradients = tf.gradients(loss, tvars)
update = tf.train.AdamOptimizer(0.02).apply_gradients(zip(holders, tvars))

draws = np.random.RandomState(5).uniform(size=5000)
cart, used, lengths = Cart(), 0, []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    buffer = [np.zeros(v.shape.as_list()) for v in tvars]
    for episode in range(20):
        states, actions = [], []
        s, done = cart.reset(), False
        while not done and len(states) < 60:
            p = sess.run(output, {state_in: [s]})
            a = int(draws[used] > p[0, 0])
            used += 1
            states.append(s)
            actions.append(a)
            s, _, done = cart.step(a)
        n = len(states)
        lengths.append(n)
        returns = np.zeros(n)
        total = 0.0
        for t in reversed(range(n)):
            total = 1.0 + 0.95 * total
            returns[t] = total
        for i, g in enumerate(sess.run(gradients, {
                state_in: states, action: actions, reward: returns})):
            buffer[i] += g
        if episode % 4 == 3:
            sess.run(update, dict(zip(holders, buffer)))
            buffer = [0 * b for b in buffer]
    print("lengths:", lengths)
    show("policy", sess.run(output, {state_in: np.eye(4)})[:, 0])
