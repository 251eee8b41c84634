"""The rarer cells of tf.contrib.rnn, trained a little."""
import numpy as np
import tensorflow as tf

rnn = tf.contrib.rnn
np.set_printoptions(precision=4, suppress=True)
random = np.random.RandomState(0)
data = random.randn(3, 5, 4).astype(np.float32)
times = np.cumsum(random.rand(3, 5, 1), axis=1).astype(np.float32) * 9
cells = {
    "coupled": lambda: rnn.CoupledInputForgetGateLSTMCell(
        6, use_peepholes=True, num_proj=4, proj_clip=0.5, num_unit_shards=2),
    "coupled, normalized": lambda: rnn.CoupledInputForgetGateLSTMCell(
        6, layer_norm=True, norm_gain=0.5, state_is_tuple=False),
    "phased": lambda: rnn.PhasedLSTMCell(6, use_peepholes=True, ratio_on=0.3),
    "phased, fixed": lambda: rnn.PhasedLSTMCell(
        6, leak=0.1, trainable_ratio_on=False, period_init_max=20.0),
    "groups": lambda: rnn.GLSTMCell(6, num_proj=4, number_of_groups=2),
    "one group": lambda: rnn.GLSTMCell(6),
    "intersection": lambda: rnn.IntersectionRNNCell(6, num_in_proj=6),
    "independent": lambda: rnn.IndRNNCell(6),
    "independent GRU": lambda: rnn.IndyGRUCell(6),
    "independent LSTM": lambda: rnn.IndyLSTMCell(6, forget_bias=0.5),
    "simple": lambda: rnn.SRUCell(6),
}


def value(shape, offset):
    n = int(np.prod(shape))
    return (((np.arange(n) + offset) * 7 % 19) / 19.0 - 0.4).reshape(shape)


for name, make in cells.items():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(data)
        inputs = (tf.constant(times), x) if "phased" in name else x
        outputs, state = tf.nn.dynamic_rnn(make(), inputs, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs - 0.2))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        names = []
        for i, v in enumerate(sorted(tf.global_variables(), key=lambda v: v.name)):
            names.append("%s%s" % (v.name, "" if v in tf.trainable_variables() else " fixed"))
            if "ratio_on" in v.name:
                continue
            start = value(v.shape.as_list(), i)
            v.load(np.abs(start) * 9 + 1 if "period" in v.name else start, session)
        print(name, names)
        print(session.run(outputs)[0])
        for step in range(3):
            print("loss %.5f" % session.run([loss, train])[0])
