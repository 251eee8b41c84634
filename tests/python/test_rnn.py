"""tf.nn.rnn_cell, and the loops that run cells, beside NumPy."""
import numpy as np
import pytest

import headrace as tf

BATCH, STEPS, SIZE, UNITS = 4, 5, 3, 2
R = np.random.RandomState(11)
X = R.uniform(-1, 1, (BATCH, STEPS, SIZE)).astype(np.float32)
LENGTHS = [1, 5, 3, 0]
cells = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def names(variables):
    return [v.name for v in variables]


def run(fetches, feed=None):
    """(values, {name: value of each variable})"""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = {v.name: v for v in tf.global_variables()}
        return session.run([fetches, values], feed)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The steps, of ([variables in order], x, state).

def basic_rnn(w, x, state):
    h = np.tanh(np.concatenate([x, state], 1) @ w[0] + w[1])
    return h, h


def gru(w, x, state):
    gates = sigmoid(np.concatenate([x, state], 1) @ w[0] + w[1])
    r, u = np.split(gates, 2, 1)
    c = np.tanh(np.concatenate([x, r * state], 1) @ w[2] + w[3])
    h = u * state + (1 - u) * c
    return h, h


def lstm(w, x, state, forget=1., peep=None, proj=None, clip=None):
    c, h = state
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w[0] + w[1], 4, 1)
    pf, pi, po = (0, 0, 0) if peep is None else peep
    c = c * sigmoid(f + forget + pf * c) + sigmoid(i + pi * c) * np.tanh(j)
    if clip is not None:
        c = np.clip(c, -clip, clip)
    h = sigmoid(o + po * c) * np.tanh(c)
    if proj is not None:
        h = h @ proj
    return h, (c, h)


def full_lstm(w, x, state):
    return lstm(w, x, state, peep=w[2:5], proj=w[5], clip=0.05)


CELLS = {
    "basic_rnn": (lambda: cells.BasicRNNCell(UNITS), basic_rnn,
                  ["kernel", "bias"]),
    "gru": (lambda: cells.GRUCell(UNITS), gru,
            ["gates/kernel", "gates/bias", "candidate/kernel",
             "candidate/bias"]),
    "basic_lstm": (lambda: cells.BasicLSTMCell(UNITS), lstm,
                   ["kernel", "bias"]),
    "lstm": (lambda: cells.LSTMCell(
        UNITS, use_peepholes=True, num_proj=3, cell_clip=0.05), full_lstm,
        ["kernel", "bias", "w_f_diag", "w_i_diag", "w_o_diag",
         "projection/kernel"])}
CLASSES = {"basic_rnn": "basic_rnn_cell", "gru": "gru_cell",
           "basic_lstm": "basic_lstm_cell", "lstm": "lstm_cell"}


def zeros_of(name):
    if name == "basic_lstm":
        return np.zeros([BATCH, UNITS]), np.zeros([BATCH, UNITS])
    if name == "lstm":
        return np.zeros([BATCH, UNITS]), np.zeros([BATCH, 3])
    return np.zeros([BATCH, UNITS])


def wanted(step, w, state, lengths=None):
    lengths = [STEPS] * BATCH if lengths is None else lengths
    outputs = []
    for t in range(STEPS):
        going = (t < np.array(lengths))[:, None]
        h, new = step(w, X[:, t], state)
        outputs.append(np.where(going, h, 0))
        state = (tuple(np.where(going, a, b) for a, b in zip(new, state))
                 if isinstance(new, tuple) else np.where(going, new, state))
    return np.stack(outputs, 1), state


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4,
                               atol=1e-5)


def same(got, want):
    if isinstance(want, tuple):
        for g, w in zip(got, want):
            close(g, w)
    else:
        close(got, want)


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("name", sorted(CELLS))
def test_dynamic_rnn(name, time_major, lengths):
    make, step, variables = CELLS[name]
    x = tf.placeholder(tf.float32, [None, None, SIZE])
    outputs, state = tf.nn.dynamic_rnn(make(), x, sequence_length=lengths,
                                       time_major=time_major,
                                       dtype=tf.float32)
    assert names(tf.trainable_variables()) == [
        "rnn/%s/%s:0" % (CLASSES[name], v) for v in variables]
    (got, last), values = run([outputs, state], {
        x: X.transpose(1, 0, 2) if time_major else X})
    want, want_last = wanted(step, list(values.values()), zeros_of(name),
                             lengths)
    close(got.transpose(1, 0, 2) if time_major else got, want)
    same(last, want_last)


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("name", sorted(CELLS))
def test_static_rnn(name, lengths):
    make, step, _ = CELLS[name]
    outputs, state = tf.nn.static_rnn(
        make(), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32,
        sequence_length=lengths)
    assert len(outputs) == STEPS
    (got, last), values = run([outputs, state])
    want, want_last = wanted(step, list(values.values()), zeros_of(name),
                             lengths)
    close(np.stack(got, 1), want)
    same(last, want_last)


@pytest.mark.parametrize("make, static, lengths", [
    (lambda: cells.BasicLSTMCell(UNITS), False, None),
    (lambda: cells.BasicLSTMCell(UNITS), False, LENGTHS),
    (lambda: cells.LSTMCell(UNITS), False, LENGTHS),
    (lambda: cells.LSTMCell(UNITS), True, None)])
def test_an_lstm_runs_as_one_node(make, static, lengths):
    x = tf.placeholder(tf.float32, [BATCH, STEPS, SIZE])
    if static:
        out, _ = tf.nn.static_rnn(make(), tf.unstack(x, axis=1),
                                  dtype=tf.float32)
    else:
        out, _ = tf.nn.dynamic_rnn(make(), x, sequence_length=lengths,
                                   dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        session.run(out, {x: X},
                    options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                    run_metadata=metadata)
    changes = {p.name: p.changes for p in metadata.headrace_passes}
    assert changes["fuse_lstm"] > 0


def test_multi_rnn_cell():
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(UNITS),
                               cells.GRUCell(3)])
    assert cell.state_size == ((UNITS, UNITS), 3) and cell.output_size == 3
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    assert names(cell.trainable_weights) == names(tf.trainable_variables())
    assert names(cell.trainable_weights)[::2] == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel:0"]
    assert isinstance(state[0], cells.LSTMStateTuple)
    (got, last), values = run([outputs, state])
    w = list(values.values())
    h, c, top = np.zeros([BATCH, 2]), np.zeros([BATCH, 2]), np.zeros([BATCH, 3])
    for t in range(STEPS):
        _, (c, h) = lstm(w[:2], X[:, t], (c, h))
        _, top = gru(w[2:], h, top)
    close(last[0].c, c)
    close(last[1], top)
    close(got[:, -1], top)


def test_states_in_one_tensor():
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(UNITS, state_is_tuple=False),
                               cells.LSTMCell(3, state_is_tuple=False)],
                              state_is_tuple=False)
    assert cell.state_size == 10
    _, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    with tf.variable_scope("other"):
        tuples = cells.MultiRNNCell([cells.BasicLSTMCell(UNITS),
                                     cells.LSTMCell(3)])
        _, parts = tf.nn.dynamic_rnn(tuples, tf.constant(X), dtype=tf.float32)
    first = tf.global_variables()[:4]
    copies = [tf.assign(b, a) for a, b in zip(first, tf.global_variables()[4:])]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(copies)
        one, many = session.run([state, parts])
    close(one, np.concatenate([a for pair in many for a in pair], 1))


def test_bidirectional_rnns():
    def pair():
        return cells.BasicRNNCell(UNITS), cells.GRUCell(3)
    (fw, bw), (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
        *pair(), tf.constant(X), sequence_length=LENGTHS, dtype=tf.float32)
    assert names(tf.global_variables())[::2] == [
        "bidirectional_rnn/fw/basic_rnn_cell/kernel:0",
        "bidirectional_rnn/bw/gru_cell/gates/kernel:0",
        "bidirectional_rnn/bw/gru_cell/candidate/kernel:0"]
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        outputs, one, two = tf.nn.static_bidirectional_rnn(
            *pair(), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32,
            sequence_length=LENGTHS)
    (got, static), values = run([[fw, bw, state_fw, state_bw],
                                 [outputs, one, two]])
    w = list(values.values())
    forward, last = wanted(basic_rnn, w[:2], np.zeros([BATCH, UNITS]), LENGTHS)
    close(got[0], forward)
    close(got[2], last)
    for row, n in enumerate(LENGTHS):
        state = np.zeros([1, 3])
        for t in reversed(range(n)):
            _, state = gru(w[2:], X[row:row + 1, t], state)
            close(got[1][row, t], state[0])
        close(got[3][row], state[0])
        assert (got[1][row, n:] == 0).all()
    close(np.stack(static[0], 1), np.concatenate(got[:2], 2))
    close(static[1], got[2])
    close(static[2], got[3])


def test_raw_rnn():
    cell = cells.GRUCell(UNITS)
    inputs = tf.TensorArray(tf.float32, STEPS).unstack(
        tf.constant(X.transpose(1, 0, 2)))

    def loop(time, output, state, count):
        first = output is None
        finished = time >= tf.constant(LENGTHS)
        given = tf.cond(tf.reduce_all(finished),
                        lambda: tf.zeros([BATCH, SIZE]),
                        lambda: inputs.read(time))
        return (finished, given,
                cell.zero_state(BATCH, tf.float32) if first else state,
                output, tf.constant(0) if first else count + 1)
    outputs, state, count = tf.nn.raw_rnn(cell, loop)
    (got, last, steps), values = run([outputs.stack(), state, count])
    want, want_last = wanted(gru, list(values.values()),
                             np.zeros([BATCH, UNITS]), LENGTHS)
    close(got.transpose(1, 0, 2), want)
    close(last, want_last)
    assert steps == 5


def test_state_saving_rnn():
    saved = {}

    class Saver:
        def state(self, name):
            return tf.ones([BATCH, UNITS])

        def save_state(self, name, value):
            saved[name] = value
            return tf.identity(value, name="saved").op
    outputs, state = tf.nn.static_state_saving_rnn(
        cells.GRUCell(UNITS), tf.unstack(tf.constant(X), axis=1), Saver(), "s")
    (got, last, kept), values = run([outputs, state, saved["s"]])
    want, _ = wanted(gru, list(values.values()), np.ones([BATCH, UNITS]))
    close(got[-1], want[:, -1])
    close(last, kept)
    with pytest.raises(ValueError, match="state_name should be the same type"):
        tf.nn.static_state_saving_rnn(cells.GRUCell(UNITS), [], Saver(),
                                      ("a", "b"))


# Wrappers.

def test_dropout_wrapper():
    def last(**keep):
        cell = cells.DropoutWrapper(cells.BasicRNNCell(50), seed=3, **keep)
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            return tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    plain, half = last(), last(output_keep_prob=tf.constant(0.5))
    state = last(state_keep_prob=0.3)
    (a, b, c), _ = run([plain, half, state])
    ratios = b[0][a[0] != 0] / a[0][a[0] != 0]
    kept = ratios != 0
    close(ratios[kept], 2.)
    assert 0.4 < kept.mean() < 0.6
    assert 0.5 < (c[1] == 0).mean() < 0.9
    # The state of the cell below is not dropped, nor are its outputs.
    close(b[1], a[1])


def test_variational_dropout_is_the_same_at_each_step():
    cell = cells.DropoutWrapper(
        cells.BasicRNNCell(40), output_keep_prob=0.5, dtype=tf.float32,
        variational_recurrent=True, seed=1)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    got, _ = run(outputs)
    dropped = got == 0
    assert (dropped == dropped[:1, :1]).all() and 0.2 < dropped.mean() < 0.8


def test_memory_of_an_lstm_is_not_dropped():
    cell = cells.DropoutWrapper(cells.BasicLSTMCell(60), state_keep_prob=0.4,
                                seed=5)
    _, state = cell(tf.ones([BATCH, SIZE]), cell.zero_state(BATCH, tf.float32))
    got, _ = run(state)
    assert (got.c != 0).all() and 0.4 < (got.h == 0).mean() < 0.8


def test_residual_and_device_wrappers(graph):
    cell = cells.ResidualWrapper(cells.BasicRNNCell(SIZE))
    x = tf.ones([BATCH, SIZE])
    out, state = cell(x, cell.zero_state(BATCH, tf.float32))
    (a, b), _ = run([out, state])
    close(a, b + 1)
    own = cells.ResidualWrapper(cells.BasicRNNCell(SIZE),
                                residual_fn=lambda i, o: i * 7)
    out, _ = own(x, own.zero_state(BATCH, tf.float32))
    close(run(out)[0], 7)
    cell = cells.DeviceWrapper(cells.BasicRNNCell(SIZE), "/cpu:0")
    out, _ = cell(x, cell.zero_state(BATCH, tf.float32))
    assert "CPU:0" in out.op.device
    # They are the cell's inside alone.
    assert len(cell.cell.trainable_weights) == 2
    assert cell.trainable_weights == []


def test_cells_of_ones_own():
    class Sum(cells.RNNCell):
        state_size = output_size = SIZE

        def call(self, inputs, state):
            scale = tf.get_variable("scale", [],
                                    initializer=tf.ones_initializer())
            return state, state + scale * inputs
    cell = Sum()
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)
    assert names(cell.trainable_weights) == ["rnn/sum/scale:0"]
    (got, last), _ = run([outputs, state])
    close(last, X.sum(1))
    close(got[:, -1], X[:, :-1].sum(1))


@pytest.mark.parametrize("call, error, message", [
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(2), x), ValueError,
     "must give a dtype"),
    (lambda x: tf.nn.dynamic_rnn(3, x), TypeError, "is not an RNNCell"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(2), x, dtype=tf.float32,
                                 sequence_length=[[1]]), ValueError,
     "must be a vector of length batch_size"),
    (lambda x: tf.nn.dynamic_rnn(
        cells.GRUCell(2), tf.placeholder(tf.float32, [2, 3, None]),
        dtype=tf.float32), ValueError, "must be accessible via shape"),
    (lambda x: tf.nn.static_rnn(cells.GRUCell(2), x), TypeError,
     "must be a sequence"),
    (lambda x: tf.nn.static_rnn(cells.GRUCell(2), []), ValueError,
     "must not be empty"),
    (lambda x: cells.MultiRNNCell([]), ValueError, "at least one cell"),
    (lambda x: cells.MultiRNNCell(cells.GRUCell(2)), TypeError,
     "must be a list or tuple"),
    (lambda x: cells.MultiRNNCell([cells.LSTMCell(2)], state_is_tuple=False),
     ValueError, "return tuples of states"),
    (lambda x: cells.DropoutWrapper(cells.GRUCell(2), output_keep_prob=2.),
     ValueError, "output_keep_prob must be between 0 and 1"),
    (lambda x: cells.DropoutWrapper(cells.GRUCell(2),
                                    variational_recurrent=True), ValueError,
     "dtype must be provided"),
    (lambda x: cells.GRUCell(2, dtype=tf.int32), ValueError,
     "only supports floating point")])
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(tf.constant(X))


def test_lengths_of_another_batch():
    lengths = tf.placeholder(tf.int32, [None])
    x = tf.placeholder(tf.float32, [None, STEPS, SIZE])
    out, _ = tf.nn.dynamic_rnn(cells.GRUCell(2), x, sequence_length=lengths,
                               dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="Expected shape for Tensor"):
        run(out, {x: X, lengths: [1, 2]})


def test_steps_after_all_sequences_in_a_batch_of_unknown_size():
    x = tf.placeholder(tf.float32, [None, None, 3])
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, lengths,
                                   dtype=tf.float32)
    gradients = tf.gradients(tf.reduce_sum(outputs ** 2),
                             tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {x: np.ones([2, 6, 3]), lengths: [3, 4]}
        value, _ = session.run([outputs, gradients], feed)
    assert value.shape == (2, 6, 4)
    assert not value[:, 4:].any() and not value[0, 3:].any()
    assert value[:, :3].all() and value[1, 3].all()


@pytest.mark.parametrize("shape", [None, [None, 4], [2, 4]])
@pytest.mark.parametrize("infer_shape", [True, False])
def test_what_a_tensor_array_asks_of_its_elements(shape, infer_shape):
    array = tf.TensorArray(tf.float32, 3, element_shape=shape,
                           infer_shape=infer_shape)
    assert array.handle.op.get_attr("identical_element_shapes") == infer_shape


def test_wrappers_have_configurations():
    cell = tf.nn.rnn_cell.BasicLSTMCell(3)
    for wrapper, own in [
            (tf.nn.rnn_cell.DropoutWrapper(cell, .5, seed=3), dict(
                input_keep_prob=.5, output_keep_prob=1., state_keep_prob=1.,
                variational_recurrent=False, input_size=None, seed=3)),
            (tf.nn.rnn_cell.DeviceWrapper(cell, "/cpu:0"),
             dict(device="/cpu:0")),
            (tf.nn.rnn_cell.ResidualWrapper(cell), {})]:
        config = wrapper.get_config()
        assert config["cell"]["class_name"] == "BasicLSTMCell"
        assert config["cell"]["config"]["num_units"] == 3
        assert {k: v for k, v in config.items() if k not in (
            "cell", "name", "trainable", "dtype")} == own
        with pytest.raises(ValueError, match="cannot reconstruct"):
            type(wrapper).from_config(config)
        config["cell"] = tf.nn.rnn_cell.GRUCell(2)
        again = type(wrapper).from_config(config, custom_objects={})
        assert again.output_size == 2 and "cell" in config
    with pytest.raises(NotImplementedError, match="with a function"):
        tf.nn.rnn_cell.ResidualWrapper(cell, lambda a, b: a).get_config()


@pytest.mark.parametrize("cell, want", [
    ("LSTMBlockCell", [6.827, 47.563, 7.253]),
    ("GRUBlockCellV2", [30.857, -9.943, -2.488, 20.804, 4.691]),
])
def test_gradients_of_cells_of_one_op(cell, want):
    # The numbers are TensorFlow 1.15.5's.
    x = tf.constant(np.random.RandomState(0).uniform(
        -1, 1, (2, 2, 3, 5)).astype("f")[0 if cell[0] == "G" else 1])
    with tf.variable_scope(cell, initializer=tf.constant_initializer(.3)):
        outputs, _ = tf.nn.dynamic_rnn(getattr(tf.contrib.rnn, cell)(4), x,
                                       dtype=tf.float32)
    got, _ = run(tf.gradients(tf.reduce_sum(tf.square(outputs)),
                              [x] + tf.trainable_variables()))
    weighed = [np.sum(g * (1 + np.arange(g.size).reshape(g.shape)))
               for g in got]
    np.testing.assert_allclose(weighed, want, atol=1e-3)


def test_a_cell_with_the_weights_of_cudnn():
    # The values are those of TensorFlow 1.15.5.
    cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(3)
    x = tf.constant(np.arange(8, dtype="f").reshape(1, 4, 2) / 10)
    with tf.variable_scope("s", initializer=tf.constant_initializer(.1)):
        outputs, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.MultiRNNCell([cell]), x, dtype=tf.float32)
    assert [v.name for v in tf.global_variables()] == [
        "s/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/%s:0" % name
        for name in ("kernel", "bias")]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, memory = session.run([outputs, state[0].c])
    np.testing.assert_allclose(found[0, :, 0], [.00252, .01465, .03359, .05798],
                               atol=1e-5)
    np.testing.assert_allclose(memory, np.full([1, 3], .10881), atol=1e-5)
