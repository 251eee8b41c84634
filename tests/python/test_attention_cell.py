"""tf.contrib.rnn.AttentionCellWrapper. Values recorded with TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf

rnn = tf.contrib.rnn


@pytest.mark.parametrize("state_is_tuple", [True, False])
def test_values_and_names(state_is_tuple):
    with tf.Graph().as_default(), tf.Session() as session, \
            tf.variable_scope("s", initializer=tf.constant_initializer(.1)):
        x = tf.constant(np.arange(12, dtype="f").reshape(2, 3, 2) / 10 - .5)
        cell = rnn.AttentionCellWrapper(rnn.GRUCell(3), 2, attn_size=2,
                                        attn_vec_size=4,
                                        state_is_tuple=state_is_tuple)
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        assert cell.output_size == 2
        assert cell.state_size == ((3, 2, 4) if state_is_tuple else 9)
        outputs, state = session.run([outputs, state])
        names = [v.op.name[len("s/rnn/attention_cell_wrapper/"):]
                 for v in tf.trainable_variables()]
    one = [[-.00147131, -.00212023, -.00208087],
           [.00048197, .00154771, .00313869]]
    np.testing.assert_allclose(outputs, np.stack([one, one], -1), atol=1e-7)
    if state_is_tuple:
        state = np.concatenate(state, 1)
    np.testing.assert_allclose(state, [
        [-.00573905] * 3 + [-.00179576] * 2 + [-.00212023] * 2
        + [-.00208087] * 2,
        [.00978571] * 3 + [.00101486] * 2 + [.00154771] * 2
        + [.00313869] * 2], atol=2e-8)
    assert names == [
        "kernel", "bias", "gru_cell/gates/kernel", "gru_cell/gates/bias",
        "gru_cell/candidate/kernel", "gru_cell/candidate/bias",
        "attention/attn_w", "attention/attn_v", "attention/kernel",
        "attention/bias", "attn_output_projection/kernel",
        "attn_output_projection/bias"]


@pytest.mark.parametrize("make, error, words", [
    (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(3), 0), ValueError,
     "attn_length should be greater than zero, got 0"),
    (lambda: rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 2,
                                      state_is_tuple=False), ValueError,
     "returns tuple of states, but the flag state_is_tuple is not set"),
    (lambda: rnn.AttentionCellWrapper(3, 2), TypeError, "cell")])
def test_refusals(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()
