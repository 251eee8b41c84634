"""tf.contrib.seq2seq and legacy_seq2seq: what they refuse, and a model that
learns."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.seq2seq import attention, attention_wrapper

s2s = tf.contrib.seq2seq
legacy = tf.contrib.legacy_seq2seq


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def memory():
    return tf.zeros([2, 3, 4])


def wrapper(**options):
    return s2s.AttentionWrapper(tf.contrib.rnn.GRUCell(4),
                                s2s.LuongAttention(4, memory()), **options)


def helper():
    return s2s.TrainingHelper(tf.zeros([2, 3, 4]), [3, 2])


def beams(**options):
    cell = tf.contrib.rnn.GRUCell(4)
    return s2s.BeamSearchDecoder(**{**dict(
        cell=cell, embedding=tf.zeros([5, 4]), start_tokens=[1, 1],
        end_token=2, initial_state=cell.zero_state(6, tf.float32),
        beam_width=3), **options})


@pytest.mark.parametrize("make, error, message", [
    (lambda: s2s.dynamic_decode("x"), TypeError,
     "Expected decoder to be type Decoder, but saw: <class 'str'>"),
    (lambda: s2s.dynamic_decode(beams(), maximum_iterations=[1]), ValueError,
     "maximum_iterations must be a scalar"),
    (lambda: s2s.dynamic_decode(beams(), steps=3), TypeError,
     "unknown arguments steps"),
    (lambda: s2s.BasicDecoder(tf.contrib.rnn.GRUCell(4), "x", None), TypeError,
     "helper must be a Helper"),
    (lambda: s2s.BasicDecoder("x", helper(), None), TypeError,
     "is not an RNNCell"),
    (lambda: s2s.BasicDecoder(tf.contrib.rnn.GRUCell(4), helper(), None,
                              output_layer=len), TypeError,
     "output_layer must be a Layer"),
    (lambda: s2s.TrainingHelper(tf.zeros([2, 3, 4]), 3), ValueError,
     "Expected sequence_length to be a vector"),
    (lambda: s2s.ScheduledOutputTrainingHelper(
        tf.zeros([2, 3, 4]), [3, 3], tf.zeros([1, 1])), ValueError,
     "sampling_probability must be either a scalar or a vector"),
    (lambda: s2s.GreedyEmbeddingHelper(tf.zeros([3, 2]), 1, 2), ValueError,
     "start_tokens must be a vector"),
    (lambda: s2s.GreedyEmbeddingHelper(tf.zeros([3, 2]), [1], [2]), ValueError,
     "end_token must be a scalar"),
    (lambda: s2s.CustomHelper(None, None, None).batch_size, ValueError,
     "batch_size accessed before initialize"),
    (lambda: s2s.LuongAttention(4, tf.placeholder(tf.float32, [2, 3, None])),
     ValueError, "fully defined inner dims"),
    (lambda: s2s.LuongAttention(4, memory(), probability_fn=3), TypeError,
     "probability_fn must be callable, saw type: int"),
    (lambda: s2s.LuongAttention(3, memory())(tf.zeros([2, 4]), None),
     ValueError, "units: 4.* have units: 3"),
    (lambda: s2s.monotonic_attention(tf.zeros([1, 2]), tf.zeros([1, 2]), "x"),
     ValueError, "mode must be 'recursive', 'parallel', or 'hard'"),
    (lambda: wrapper(attention_layer_size=[1, 2]), ValueError,
     "exactly one integer per attention_mechanism, saw: 2 vs 1"),
    (lambda: wrapper(attention_layer_size=1,
                     attention_layer=tf.layers.Dense(1)), ValueError,
     "Only one of attention_layer_size and attention_layer"),
    (lambda: s2s.AttentionWrapper(tf.contrib.rnn.GRUCell(4), "x"), TypeError,
     "only instances of AttentionMechanism, saw type: str"),
    (lambda: wrapper(cell_input_fn=3), TypeError, "cell_input_fn must be"),
    (lambda: wrapper()(tf.zeros([2, 4]), tf.zeros([2, 4])), TypeError,
     "Expected state to be instance of AttentionWrapperState"),
    (lambda: wrapper().zero_state(2, tf.float32).clone(
        attention=tf.zeros([3, 4])), ValueError,
     r"expected shape \(2, 4\), got .* \(3, 4\)"),
    (lambda: beams(start_tokens=1), ValueError, "start_tokens must be a vec"),
    (lambda: beams(initial_state=tf.zeros([2, 4])), ValueError,
     "batch_size=encoder_batch_size . beam_width|reshape"),
    (lambda: s2s.dynamic_decode(beams(coverage_penalty_weight=1.)), ValueError,
     "coverage_penalty_weight needs a cell with AttentionWrapper"),
    (lambda: s2s.tile_batch(tf.placeholder(tf.float32), 2), ValueError,
     "statically known rank"),
    (lambda: s2s.gather_tree([1], [[[1]]], [1], 2), ValueError,
     "Shape must be rank 3 but is rank 1"),
    (lambda: s2s.sequence_loss(tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32),
                               tf.zeros([2, 3])), ValueError,
     "Logits must be a .batch_size x sequence_length x logits. tensor"),
    (lambda: s2s.sequence_loss(
        tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.zeros([2, 3]),
        sum_over_batch=True), ValueError, "cannot be set to True at same time"),
    (lambda: legacy.sequence_loss([1], [1], []), ValueError,
     "must be the same 1, 0, 1"),
    (lambda: legacy.attention_decoder([], None, memory(), None), ValueError,
     "at least 1 input"),
    (lambda: legacy.attention_decoder([1], None, memory(), None, num_heads=0),
     ValueError, "less than 1 heads"),
    (lambda: legacy.model_with_buckets([1], [1], [1], [1], [(2, 1)], None),
     ValueError, r"encoder_inputs \(1\) must be at least that of last "
     r"bucket \(2\)"),
    (lambda: tf.contrib.rnn.OutputProjectionWrapper(
        tf.contrib.rnn.GRUCell(4), 0), ValueError, "output_size must be > 0"),
    (lambda: tf.contrib.rnn.EmbeddingWrapper(
        tf.contrib.rnn.GRUCell(4), 0, 1), ValueError, "must be > 0: 0, 1"),
])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_wrong_batch_size_is_said_in_the_run():
    cell = wrapper()
    with pytest.raises(Exception, match="tile_batch"):
        state = cell.zero_state(tf.placeholder_with_default(3, []), tf.float32)
        with tf.Session() as session:
            session.run(state.cell_state)


QUERY = np.float32([[1, 2], [3, -1]])
KEYS = np.arange(12, dtype="f").reshape(2, 3, 2) / 10


@pytest.mark.parametrize("make, values", [
    (lambda: attention._luong_score(tf.constant(QUERY), tf.constant(KEYS), 2.),
     [[.4, 1.6, 2.8], [2.2, 3., 3.8]]),
    (lambda: attention._bahdanau_score(tf.constant(QUERY), KEYS,
                                       np.float32([.5, -2])),
     [[-1.5601, -1.5434, -1.5306], [1.0819, .6988, .3003]]),
    (lambda: attention._bahdanau_score(
        tf.constant(QUERY), KEYS, np.float32([.5, -2]), 3.,
        np.float32([.1, .2])),
     [[-2.2701, -2.2445, -2.2257], [1.0168, .4369, -.1206]]),
    (lambda: attention._prepare_memory(
        KEYS, memory_mask=[[True, False, True], [False, True, True]]),
     [[[0, .1], [0, 0], [.4, .5]], [[0, 0], [.8, .9], [1, 1.1]]]),
    (lambda: attention._maybe_mask_score(
        tf.constant(QUERY), memory_mask=[[True, False], [False, True]],
        score_mask_value=-7.), [[1, -7], [-7, -1]])])
def test_parts_that_other_mechanisms_are_made_of(make, values):
    # Of TensorFlow 1.15.5.
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(make()), values, atol=6e-5)


@pytest.mark.parametrize("refused", [
    lambda: attention._prepare_memory(KEYS, [1, 2], [[True]]),
    lambda: attention._maybe_mask_score(KEYS, [1], [[True]])])
def test_lengths_and_a_mask(refused):
    with pytest.raises(ValueError, match="can't be provided at same time"):
        refused()


def test_a_mechanism_of_a_program():
    class Mechanism(attention._Mechanism):
        def __init__(self, memory, lengths):
            super().__init__(
                query_layer=None, memory=memory, name="M",
                probability_fn=lambda score, _: tf.nn.softmax(score),
                memory_sequence_length=lengths, check_inner_dims_defined=False,
                memory_layer=tf.layers.Dense(
                    2, use_bias=False, dtype=tf.float32,
                    kernel_initializer=tf.ones_initializer()))

        def __call__(self, query, state):
            weights = self._probability_fn(
                attention._luong_score(query, self.keys, .5), state)
            return weights, weights

    mechanism = Mechanism(tf.constant(KEYS), [2, 3])
    assert mechanism.dtype == tf.float32 and mechanism.state_size == 3
    context, weights, _ = attention_wrapper._compute_attention(
        mechanism, tf.constant(QUERY), None, None)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        context, weights = session.run([context, weights])
    np.testing.assert_allclose(context, [[.1291, .2291], [.852, .952]],
                               atol=6e-5)
    np.testing.assert_allclose(
        weights, [[.3543, .6457, 0], [.212, .3162, .4718]], atol=6e-5)


def test_a_wrapper_of_a_program():
    class Wrapper(s2s.AttentionWrapper):
        def call(self, inputs, state):
            with tf.control_dependencies(
                    self._batch_size_checks(2, "no such batch")):
                inputs = tf.identity(inputs)
            output, after = super().call(inputs, state)
            return output, after.clone(
                alignments=self._item_or_tuple([after.alignments + 1]))

    cell = Wrapper(tf.contrib.rnn.GRUCell(4), s2s.LuongAttention(4, memory()))
    _, state = cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(state.alignments),
                                   np.full([2, 3], 4 / 3), rtol=1e-6)


def test_a_model_with_attention_learns_to_copy():
    tf.set_random_seed(1)
    random = np.random.RandomState(0)
    words, steps, batch, end = 6, 4, 16, 0
    source = tf.placeholder(tf.int32, [batch, steps])
    embedding = tf.get_variable("embedding", [words, 8])
    encoded, state = tf.nn.dynamic_rnn(
        tf.contrib.rnn.GRUCell(16), tf.nn.embedding_lookup(embedding, source),
        dtype=tf.float32)
    inner = tf.contrib.rnn.GRUCell(16)
    layer = tf.layers.Dense(words, name="words")

    def decoder(helper, width=None):
        tiled = (lambda x: s2s.tile_batch(x, width)) if width else (lambda x: x)
        cell = s2s.AttentionWrapper(
            inner, s2s.BahdanauAttention(16, tiled(encoded)),
            attention_layer_size=16)
        first = cell.zero_state(batch * (width or 1), tf.float32).clone(
            cell_state=tiled(state))
        if width is None:
            return s2s.BasicDecoder(cell, helper, first, layer)
        return s2s.BeamSearchDecoder(
            cell, embedding, tf.fill([batch], end), end, first, width,
            output_layer=layer)
    shifted = tf.concat([tf.fill([batch, 1], end), source[:, :-1]], 1)
    with tf.variable_scope("decode"):
        outputs, _, _ = s2s.dynamic_decode(decoder(s2s.TrainingHelper(
            tf.nn.embedding_lookup(embedding, shifted), [steps] * batch)))
    loss = s2s.sequence_loss(outputs.rnn_output, source,
                             tf.ones([batch, steps]))
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    with tf.variable_scope("decode", reuse=True):
        greedy, _, _ = s2s.dynamic_decode(
            decoder(s2s.GreedyEmbeddingHelper(
                embedding, tf.fill([batch], end), end)),
            maximum_iterations=steps)
    with tf.variable_scope("decode", reuse=True):
        best, _, _ = s2s.dynamic_decode(decoder(None, 3),
                                        maximum_iterations=steps)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(400):
            session.run(step, {source: random.randint(1, words,
                                                      [batch, steps])})
        given = random.randint(1, words, [batch, steps])
        one, three = session.run([greedy.sample_id, best.predicted_ids],
                                 {source: given})
    assert (one == given).mean() > 0.9
    assert (three[:, :, 0] == given).mean() > 0.9


@pytest.mark.parametrize("make, message", [
    (lambda: tf.contrib.crf.crf_log_likelihood(
        tf.placeholder(tf.float32, [2, 3, None]), [[1]], [1]),
     "number of tags must be known"),
    (lambda: tf.contrib.rnn.GRUBlockCell(), "Exactly one of num_units or"),
    (lambda: tf.contrib.rnn.LSTMBlockFusedCell(2)(tf.zeros([1, 2, 3])),
     "Either initial_state or dtype"),
    (lambda: tf.contrib.rnn.stack_bidirectional_rnn([], [], []),
     "at least one fw cell"),
    (lambda: tf.contrib.rnn.stack_bidirectional_rnn([1], [1, 2], []),
     "must have the same depth")])
def test_refusals_of_cells(make, message):
    with pytest.raises(ValueError, match=message):
        make()
