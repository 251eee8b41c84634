"""Small programs of tf.contrib, run here and in TensorFlow 1.15. contrib_values.json
has what TensorFlow gives: names of variables and nodes, shapes and numbers.

    PYTHON tests/python/contrib_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import json
import os
import sys

import numpy as np

PROGRAMS = {}
VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "contrib_values.json")

# Programs whose results may have other names than in TensorFlow.
# By the beginning of a program's name; None: all of them.
FREE_NAMES = {"crf": None, "fused": None, "layers: group_norm": None,
              "distribution": None, "diagonal": None, "divergences": None,
              "metrics": None, "convolutional_cells": None}


def program(*cases):
    """Decorates a function (tf, case) that builds a graph and returns tensors,
    and names as strings."""
    def add(function):
        for case in cases or (None,):
            name = function.__name__ + ("" if case is None else
                                        ": " + "_".join(map(str, case)))
            PROGRAMS[name] = (function, case or ())
        return function
    return add


def waves(tf):
    """An initializer whose values depend on nothing but the shape."""
    def initializer(shape, dtype=tf.float32, partition_info=None):
        shape = [int(n) for n in shape]
        count = int(np.prod(shape)) if shape else 1
        return tf.reshape(tf.cast(tf.sin(
            tf.range(count, dtype=tf.float32) * 1.7 + 0.3), dtype), shape)
    return initializer


def numbers(*shape, **options):
    random = np.random.RandomState(options.get("seed", 3))
    return random.uniform(-1, 1, shape).astype(np.float32)


def leaves(x):
    if isinstance(x, dict):
        return [leaf for k in sorted(x) for leaf in leaves(x[k])]
    if isinstance(x, (list, tuple)):
        return [leaf for y in x for leaf in leaves(y)]
    return [x]


def summary(value):
    """Of an array: its shape and its numbers, or two sums of many."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        return [v.decode() if isinstance(v, bytes) else str(v)
                for v in value.ravel().tolist()]
    flat = value.ravel().astype(np.float64)
    if flat.size > 24:
        flat = np.array([flat.sum(), (flat * np.cos(np.arange(flat.size))).sum()])
    return [list(value.shape), [round(float(v), 5) for v in flat]]


def run(tf, name):
    """What a program gives, as JSON has it."""
    function, case = PROGRAMS[name]
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        with tf.variable_scope("m", initializer=waves(tf)):
            results = leaves(function(tf, *case))
        fetched = [r for r in results if not isinstance(r, str)]
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(),
                         tf.local_variables_initializer(),
                         tf.tables_initializer()])
            values = iter(session.run(fetched))
            return {
                "variables": [v.name for v in tf.global_variables()],
                "results": [r if isinstance(r, str) else
                            [r.name if getattr(r, "name", None) else "",
                             r.get_shape().as_list()
                             if r.get_shape().ndims is not None else None]
                            + summary(next(values)) for r in results]}


# tf.contrib.legacy_seq2seq

def steps(tf):
    symbols = [tf.constant(x) for x in ([1, 4], [3, 0], [2, 2])]
    vectors = [tf.constant(numbers(2, 3, seed=i)) for i in range(3)]
    return symbols, vectors


@program(("basic_rnn_seq2seq",), ("tied_rnn_seq2seq",))
def legacy_rnn(tf, name):
    _, x = steps(tf)
    cell = tf.contrib.rnn.BasicLSTMCell(4)
    return getattr(tf.contrib.legacy_seq2seq, name)(x, x[:2], cell)


@program(*[(name, feeds) for feeds in (False, True, "run") for name in (
    "rnn", "tied_rnn", "attention", "attention_heads", "projected")])
def legacy_embedding(tf, name, feeds):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)
    if feeds == "run":
        feeds = tf.constant(True)
    cell = tf.contrib.rnn.BasicLSTMCell(4)
    if name == "rnn":
        return legacy.embedding_rnn_seq2seq(x, x[:2], cell, 5, 6, 3,
                                            feed_previous=feeds)
    if name == "projected":
        w = tf.constant(numbers(4, 6)), tf.constant(numbers(6))
        return legacy.embedding_rnn_seq2seq(
            x, x[:2], cell, 5, 6, 3, output_projection=w, feed_previous=feeds)
    if name == "tied_rnn":
        return legacy.embedding_tied_rnn_seq2seq(
            x, x[:2], tf.contrib.rnn.GRUCell(4), 5, 3, feed_previous=feeds)
    options = {} if name == "attention" else dict(
        num_heads=2, initial_state_attention=True)
    return legacy.embedding_attention_seq2seq(
        x, x[:2], cell, 5, 6, 3, feed_previous=feeds, **options)


@program((True,), (False,))
def legacy_one2many(tf, feeds):
    x, _ = steps(tf)
    cells = {n: tf.contrib.rnn.BasicLSTMCell(4) for n in "ab"}
    return tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        x, {"a": x[:2], "b": x[1:]}, tf.contrib.rnn.BasicLSTMCell(4), cells, 5,
        {"a": 5, "b": 6}, 3, feed_previous=feeds)


@program((True, True), (True, False), (False, True), (False, False))
def legacy_losses(tf, steps_, batch):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)
    logits = [tf.constant(numbers(2, 5, seed=i)) for i in range(3)]
    weights = [tf.constant([1., 0.5]), tf.constant([0., 1.]), tf.zeros([2])]
    return (legacy.sequence_loss(logits, x, weights, steps_, batch),
            legacy.sequence_loss_by_example(logits, x, weights, steps_),
            legacy.sequence_loss_by_example(
                logits, x, weights, steps_, softmax_loss_function=lambda
                labels, logits: tf.cast(labels, tf.float32) * logits[:, 0]))


@program((False,), (True,))
def legacy_buckets(tf, each):
    legacy = tf.contrib.legacy_seq2seq
    x, _ = steps(tf)

    def model(encoder, decoder):
        return legacy.embedding_rnn_seq2seq(
            encoder, decoder, tf.contrib.rnn.GRUCell(3), 5, 5, 2)
    outputs, losses = legacy.model_with_buckets(
        x, x, x, [tf.ones([2])] * 3, [(1, 2), (3, 3)], model,
        per_example_loss=each)
    return outputs[1], losses


# tf.contrib.seq2seq

def decoder_parts(tf, mechanism=None, batch=2, steps=4, **options):
    """A cell, with attention over an encoder's outputs [batch, 4, 6], whose
    static number of steps is `steps`."""
    s2s = tf.contrib.seq2seq
    memory = tf.placeholder_with_default(numbers(2, 4, 6), [2, steps, 6])
    lengths = tf.constant([4, 3])
    if batch != 2:
        memory = s2s.tile_batch(memory, batch // 2)
        lengths = s2s.tile_batch(lengths, batch // 2)
    cell = tf.contrib.rnn.LSTMCell(5)
    if mechanism is None:
        return cell
    made = []
    for name in mechanism.split("+"):
        name, _, option = name.partition("=")
        arguments = eval("dict(%s)" % option.replace("_is_", "="))
        units = 6 if "Bahdanau" in name else 5
        made.append(getattr(s2s, name)(
            units, memory, memory_sequence_length=lengths, **arguments))
    return s2s.AttentionWrapper(
        cell, made if len(made) > 1 else made[0], **options)


def trained(tf, cell, helper=None, size=None, **options):
    s2s = tf.contrib.seq2seq
    inputs = tf.constant(numbers(2, 3, 3, seed=5))
    helper = helper or s2s.TrainingHelper(inputs, tf.constant([3, 2]))
    layer = size and tf.layers.Dense(size, name="projection")
    decoder = s2s.BasicDecoder(
        cell, helper, cell.zero_state(2, tf.float32), output_layer=layer)
    # Random numbers of steps that run beside each other come in any order.
    return s2s.dynamic_decode(decoder, parallel_iterations=1, **options)


@program((False, False, 0), (True, True, 0), (False, True, 2), (True, False, 1),
         (False, True, 7))
def decode(tf, time_major, impute, most):
    outputs, state, lengths = trained(
        tf, decoder_parts(tf), size=4, output_time_major=time_major,
        impute_finished=impute, maximum_iterations=most or None)
    return outputs.rnn_output, outputs.sample_id, state, lengths


@program(*[(name, size) for name in (
    "LuongAttention", "LuongAttention=scale_is_True", "BahdanauAttention",
    "BahdanauAttention=normalize_is_True", "LuongMonotonicAttention",
    "LuongMonotonicAttention=mode_is_'hard'",
    "BahdanauMonotonicAttention=mode_is_'recursive',score_bias_init_is_0.5",
    "BahdanauMonotonicAttention=normalize_is_True") for size in (None, 7)])
def attend(tf, mechanism, size):
    cell = decoder_parts(tf, mechanism, attention_layer_size=size,
                         alignment_history=True)
    outputs, state, lengths = trained(tf, cell, size=4)
    return (outputs.rnn_output, outputs.sample_id, state.cell_state,
            state.attention, state.alignments, state.alignment_history.stack(),
            state.time, lengths)


@program((True,), (False,))
def attend_twice(tf, attention):
    cell = decoder_parts(
        tf, "LuongAttention+BahdanauAttention", attention_layer_size=[3, 4],
        output_attention=attention)
    outputs, state, lengths = trained(tf, cell)
    return outputs.rnn_output, state.cell_state, state.alignments, lengths


@program((None,), ("hardmax",))
def attend_otherwise(tf, function):
    s2s = tf.contrib.seq2seq
    memory = tf.constant(numbers(2, 4, 6))
    options = {} if function is None else dict(probability_fn=s2s.hardmax)
    cell = s2s.AttentionWrapper(
        tf.contrib.rnn.GRUCell(6), s2s.LuongAttention(6, memory, **options),
        cell_input_fn=lambda x, attention: x + attention[:, :3],
        attention_layer=tf.layers.Dense(4, name="mine"),
        initial_cell_state=tf.constant(numbers(2, 6)))
    return trained(tf, cell)[0].rnn_output


@program(("recursive",), ("parallel",), ("hard",))
def monotonic(tf, mode):
    p = np.abs(numbers(2, 5))
    if mode == "hard":
        p = np.round(p)
    before = np.float32([[0, 1, 0, 0, 0], [0.5, 0, 0.5, 0, 0]])
    s2s = tf.contrib.seq2seq
    return (s2s.monotonic_attention(p, before, mode),
            s2s.safe_cumprod(p, axis=1, exclusive=True),
            s2s.hardmax(numbers(3, 4)))


@program(("greedy",), ("sample",), ("warm",), ("inference",), ("custom",),
         ("callable",))
def helpers(tf, name):
    s2s = tf.contrib.seq2seq
    embedding = tf.constant(numbers(5, 3))
    start, end = tf.constant([1, 2]), 3
    if name == "greedy":
        helper = s2s.GreedyEmbeddingHelper(embedding, start, end)
    elif name == "callable":
        helper = s2s.GreedyEmbeddingHelper(
            lambda ids: tf.one_hot(ids, 3), start, end)
    elif name in ("sample", "warm"):
        helper = s2s.SampleEmbeddingHelper(
            embedding, start, end, seed=4,
            softmax_temperature=2.5 if name == "warm" else None)
    elif name == "inference":
        helper = s2s.InferenceHelper(
            sample_fn=lambda outputs: outputs[:, :3], sample_shape=[3],
            sample_dtype=tf.float32, start_inputs=tf.constant(numbers(2, 3)),
            end_fn=lambda ids: ids[:, 0] > 1e5,
            next_inputs_fn=lambda ids: ids * 0.5)
    else:
        helper = s2s.CustomHelper(
            lambda: (tf.constant([False, False]), tf.zeros([2, 3])),
            lambda time, outputs, state: tf.cast(
                tf.argmin(outputs, axis=-1), tf.int32),
            lambda time, outputs, state, sample_ids: (
                tf.stack([time >= 1, time >= 2]),
                tf.gather(embedding, sample_ids), state))
    outputs, state, lengths = trained(
        tf, decoder_parts(tf), helper, size=5, maximum_iterations=4)
    return outputs.rnn_output, outputs.sample_id, state, lengths


@program((0.0,), (0.5,), (1.0,))
def scheduled_embedding(tf, probability):
    s2s = tf.contrib.seq2seq
    helper = s2s.ScheduledEmbeddingTrainingHelper(
        tf.constant(numbers(2, 3, 3, seed=5)), tf.constant([3, 2]),
        tf.constant(numbers(4, 3)), probability, seed=2, scheduling_seed=8)
    outputs, state, lengths = trained(tf, decoder_parts(tf), helper, size=4)
    return outputs.rnn_output, outputs.sample_id, state, lengths


@program((0.5, None, False), (1.0, "half", False), (0.5, "half", True),
         (0.5, None, True))
def scheduled_output(tf, probability, function, auxiliary):
    s2s = tf.contrib.seq2seq
    helper = s2s.ScheduledOutputTrainingHelper(
        tf.constant(numbers(2, 3, 4, seed=5)), tf.constant([3, 2]),
        probability, seed=2,
        next_inputs_fn=(lambda x: x * 0.5) if function else None,
        auxiliary_inputs=tf.constant(numbers(2, 3, 2)) if auxiliary else None)
    outputs, state, lengths = trained(tf, decoder_parts(tf), helper, size=4)
    return outputs.rnn_output, outputs.sample_id, state, lengths


@program((3, 0.0, 0.0, None), (3, 1.0, 0.0, None), (1, 0.0, 0.0, None),
         (2, 0.6, 0.0, "LuongAttention"), (2, 0.6, 0.4, "LuongAttention"),
         (3, 0.0, 0.2, "LuongAttention+BahdanauAttention"))
def beams(tf, width, length_weight, coverage_weight, mechanism):
    s2s = tf.contrib.seq2seq
    cell = decoder_parts(tf, mechanism, 2 * width, 4 if coverage_weight else
                         None, alignment_history=True) \
        if mechanism else decoder_parts(tf)
    first = cell.zero_state(2 * width, tf.float32)
    decoder = s2s.BeamSearchDecoder(
        cell, tf.constant(numbers(6, 3)), tf.constant([1, 2]), 3, first, width,
        output_layer=tf.layers.Dense(6, name="projection"),
        length_penalty_weight=length_weight,
        coverage_penalty_weight=coverage_weight)
    outputs, state, lengths = s2s.dynamic_decode(decoder,
                                                 maximum_iterations=5)
    found = [outputs.predicted_ids, outputs.beam_search_decoder_output,
             state.log_probs, state.finished, state.lengths, lengths]
    if mechanism:
        found += [h.stack() if hasattr(h, "stack") else h for h in leaves(
            state.cell_state.alignment_history)]
        found += [state.cell_state.cell_state,
                  state.accumulated_attention_probs]
    return found


@program()
def trees(tf):
    s2s = tf.contrib.seq2seq
    words = np.int32([[[1, 2, 3], [7, 8, 9]], [[4, 5, 6], [1, 10, 3]],
                      [[7, 8, 9], [4, 5, 6]], [[0, 0, 0], [7, 8, 9]]])
    parents = np.int32([[[0, 0, 0], [0, 0, 0]], [[0, 1, 1], [2, 1, 0]],
                        [[2, 1, 2], [0, 2, 2]], [[0, 0, 0], [1, 0, 1]]])
    return [s2s.gather_tree(words, parents, lengths, end_token=10)
            for lengths in ([3, 4], [4, 2], [0, 9])] + [
        s2s.tile_batch(tf.constant(numbers(2, 3)), 2),
        s2s.tile_batch((tf.constant([1, 2]), tf.constant(numbers(1, 1, 2))), 3)]


@program((True, True, False, False), (False, True, False, False),
         (True, False, False, False), (False, False, False, False),
         (False, False, True, True), (False, False, True, False),
         (False, False, False, True))
def losses_of_sequences(tf, *how):
    logits = tf.constant(numbers(2, 3, 5))
    targets = tf.constant([[1, 4, 0], [3, 3, 2]])
    weights = tf.constant([[1., 0.5, 0.], [1., 1., 0.]])
    loss = tf.contrib.seq2seq.sequence_loss
    return (loss(logits, targets, weights, *how),
            loss(logits, targets, weights, *how, softmax_loss_function=lambda
                 labels, logits: tf.cast(labels, tf.float32) * logits[:, 1]))


# tf.contrib.crf and tf.contrib.rnn

@program((4, 3), (1, 1), (3, 0))
def crf(tf, steps_, length):
    crf = tf.contrib.crf
    x = tf.constant(numbers(2, steps_, 3))
    tags = tf.constant(np.arange(2 * steps_).reshape(2, steps_) % 3, tf.int32)
    lengths = tf.constant([steps_, length])
    likely, transitions = crf.crf_log_likelihood(x, tags, lengths)
    decoded, score = crf.crf_decode(x, transitions, lengths)
    return (likely, decoded, score,
            crf.crf_log_norm(x, lengths, transitions),
            crf.crf_sequence_score(x, tags, lengths, transitions),
            crf.crf_multitag_sequence_score(
                x, tf.constant(numbers(2, steps_, 3) < 0.5), lengths,
                transitions))


@program()
def viterbi(tf):
    tags, score = tf.contrib.crf.viterbi_decode(numbers(5, 3), numbers(3, 3))
    return tf.constant(tags), tf.constant(score)


@program(("LSTMBlockCell", "{}"), ("LSTMBlockCell", "dict(use_peephole=True)"),
         ("LSTMBlockCell", "dict(cell_clip=0.2, forget_bias=0.5)"),
         ("GRUBlockCell", "{}"), ("GRUBlockCellV2", "{}"),
         ("LayerNormBasicLSTMCell", "{}"), ("NASCell", "{}"))
def cells(tf, name, options):
    cell = getattr(tf.contrib.rnn, name)(4, **eval(options))
    return tf.nn.dynamic_rnn(cell, tf.constant(numbers(2, 3, 5)),
                             dtype=tf.float32)


@program((None, False), ([3, 0], False), ([2, 3], True))
def fused(tf, lengths, peephole):
    cell = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=peephole)
    outputs, state = cell(tf.constant(numbers(3, 2, 5)), dtype=tf.float32,
                          sequence_length=lengths)
    return outputs, state


@program((True,), (False,))
def stacked(tf, dynamic):
    rnn = tf.contrib.rnn
    cells = [[rnn.GRUCell(2 + i) for i in range(2)] for _ in range(2)]
    x = numbers(2, 3, 4)
    if dynamic:
        return rnn.stack_bidirectional_dynamic_rnn(
            *cells, inputs=tf.constant(x), dtype=tf.float32,
            sequence_length=[3, 2])
    return rnn.stack_bidirectional_rnn(
        *cells, inputs=tf.unstack(tf.constant(x), axis=1), dtype=tf.float32)


# tf.contrib.layers

@program(*[(name, options) for name, options in (
    ("fully_connected", "dict(num_outputs=3)"),
    ("relu6", "dict(num_outputs=3)"), ("linear", "dict(num_outputs=3)"),
    ("elu", "dict(num_outputs=2)"),
    ("fully_connected", "dict(num_outputs=2, biases_initializer=None)"),
    ("layer_norm", "{}"), ("layer_norm", "dict(begin_norm_axis=-1)"),
    ("bias_add", "dict(activation_fn=tf.nn.relu)"),
    ("maxout", "dict(num_units=2)"), ("unit_norm", "dict(dim=1)"),
    ("softmax", "{}"), ("instance_norm", "{}"),
    ("instance_norm", "dict(data_format='NCHW', center=False)"),
    ("group_norm", "dict(groups=2)"),
    ("group_norm", "dict(groups=5, channels_axis=1, reduction_axes=[2, 3])"),
    ("conv2d", "dict(num_outputs=2, kernel_size=3, stride=2)"),
    ("conv2d", "dict(num_outputs=2, kernel_size=[1, 2], padding='VALID',"
     " normalizer_fn=tf.contrib.layers.layer_norm)"),
    ("conv2d_in_plane", "dict(kernel_size=[2, 3], stride=[1, 1])"),
    ("conv2d_transpose", "dict(num_outputs=2, kernel_size=3, stride=2)"),
    ("separable_conv2d", "dict(num_outputs=3, kernel_size=2, "
     "depth_multiplier=2)"),
    ("separable_conv2d", "dict(num_outputs=None, kernel_size=2)"),
    ("max_pool2d", "dict(kernel_size=2)"),
    ("avg_pool2d", "dict(kernel_size=[3, 2], stride=1, padding='SAME')"))])
def layers(tf, name, options):
    layer = getattr(tf.contrib.layers, name)
    return layer(tf.constant(numbers(2, 5, 4, 4)), **eval(options, {"tf": tf}))


@program(("conv1d", 3, "dict(num_outputs=2, kernel_size=2)"),
         ("conv3d", 5, "dict(num_outputs=2, kernel_size=2, stride=2)"),
         ("conv3d_transpose", 5, "dict(num_outputs=2, kernel_size=2)"),
         ("max_pool3d", 5, "dict(kernel_size=2)"),
         ("avg_pool3d", 5, "dict(kernel_size=[1, 2, 2], stride=1)"))
def layers_of_rank(tf, name, rank, options):
    x = tf.constant(numbers(*([2, 4, 3, 4, 3][:rank - 1] + [3])))
    return getattr(tf.contrib.layers, name)(x, **eval(options))


@program(("embed_sequence", "{}"), ("embed_sequence", "dict(unique=True)"),
         ("bow_encoder", "{}"), ("bow_encoder", "dict(sparse_lookup=False)"))
def embeddings(tf, name, options):
    ids = tf.constant([[1, 3, 0], [4, 4, 2]])
    layer = getattr(tf.contrib.layers, name)
    return layer(ids, vocab_size=5, embed_dim=3, **eval(options))


# tf.distributions

@program(("Normal", "dict(loc=[1., 2.], scale=[[1.], [3.]])", [[0.5, 2.]]),
         ("Laplace", "dict(loc=1., scale=[2., 3.])", [0.5, 2.]),
         ("Uniform", "dict(low=[0., 1.], high=3.)", [0.5, 4.]),
         ("Exponential", "dict(rate=[1., 2.])", [0.5, 2.]),
         ("Bernoulli", "dict(logits=[1., -2.])", [1, 0]),
         ("Bernoulli", "dict(probs=[0.2, 0.7])", [1, 1]),
         ("Categorical", "dict(logits=[[1., 2., 3.], [0., 5., 1.]])", [2, 0]),
         ("Categorical", "dict(probs=[0.2, 0.3, 0.5], dtype=tf.int64)", [2, 0]))
def distribution(tf, name, options, value):
    d = getattr(tf.distributions, name)(**eval(options, {"tf": tf}))
    found = [d.sample(3, seed=5), d.sample(seed=6), d.sample([2, 1], seed=7),
             d.log_prob(value), d.prob(value), d.entropy(),
             d.batch_shape_tensor(), d.event_shape_tensor()]
    if name != "Categorical":
        found += [d.mean(), d.variance(), d.stddev()]
    if name not in ("Uniform",):
        found.append(d.mode())
    if name in ("Normal", "Bernoulli", "Categorical"):
        other = d.copy()
        found += [tf.distributions.kl_divergence(d, other),
                  d.cross_entropy(other)]
    if name in ("Normal", "Laplace", "Uniform", "Exponential"):
        found += [d.cdf(value), d.log_cdf(value), d.survival_function(value)]
    return found + [str(d.batch_shape), str(d.event_shape), d.dtype.name]


@program()
def divergences(tf):
    d = tf.distributions
    return (d.kl_divergence(d.Normal(0., 1.), d.Normal([1., 2.], 3.)),
            d.kl_divergence(d.Bernoulli(0.5), d.Bernoulli([0.1, 2.])),
            d.kl_divergence(d.Categorical([0.5, 1.]), d.Categorical([2., 1.])))


@program()
def diagonal(tf):
    d = tf.contrib.distributions.MultivariateNormalDiag(
        loc=[[1., 2.], [0., 1.]], scale_diag=[2., 3.])
    other = tf.contrib.distributions.MultivariateNormalDiag([0., 1.])
    return (d.log_prob([1., 1.]), d.entropy(), d.mean(), d.stddev(),
            tf.contrib.distributions.kl_divergence(d, other),
            str(d.batch_shape), str(d.event_shape))


# tf.contrib.metrics

@program(*[(name, more) for name, more in (
    ("streaming_mean_absolute_error", "[]"),
    ("streaming_mean_squared_error", "[]"),
    ("streaming_root_mean_squared_error", "[]"),
    ("streaming_mean_relative_error", "[[1., 2., 4.]]"),
    ("streaming_auc", "[]"), ("streaming_mean_iou", "[2]"),
    ("streaming_precision_at_thresholds", "[[0.2, 0.7]]"),
    ("streaming_recall_at_thresholds", "[[0.2, 0.7]]"),
    ("streaming_sensitivity_at_specificity", "[0.5]"),
    ("streaming_true_positives", "[]"), ("streaming_false_negatives", "[]"),
    ("streaming_accuracy", "[]"), ("streaming_recall", "[]"))])
def metrics(tf, name, more):
    x, y = np.float32([0.9, 0.3, 0.6]), np.float32([1, 0, 0])
    if name in ("streaming_mean_iou", "streaming_true_positives", "streaming_recall",
                "streaming_false_negatives", "streaming_accuracy"):
        x = np.round(x)
    _, update = getattr(tf.contrib.metrics, name)(
        tf.constant(x), tf.constant(y), *eval(more))
    return update, [v.name for v in tf.local_variables()]


@program()
def metrics_of_batches(tf):
    metrics = tf.contrib.metrics
    x = tf.constant(numbers(3, 4))
    found = [metrics.streaming_recall_at_k(x, tf.constant([0, 1, 2]), 2),
             metrics.streaming_sparse_recall_at_k(
                 x, tf.constant([[0], [1], [2]], tf.int64), 2),
             metrics.streaming_percentage_less(x, 0.2),
             metrics.streaming_mean_tensor(x)]
    _, updates = metrics.aggregate_metrics(*found)
    a, b = tf.constant([1, 2, 3]), tf.constant([1, 3, 3])
    return (updates, metrics.accuracy(a, b),
            metrics.accuracy(a, b, tf.constant([1., 2., 0.])),
            metrics.confusion_matrix(a, b))


@program(("UGRNNCell(4)",), ("HighwayWrapper(rnn.GRUCell(5))",),
         ("HighwayWrapper(rnn.GRUCell(5), False, 0.5)",),
         ("EmbeddingWrapper(rnn.GRUCell(4), 7, 3)",),
         ("InputProjectionWrapper(rnn.GRUCell(4), 3)",),
         ("OutputProjectionWrapper(rnn.LSTMCell(4), 2, tf.nn.relu)",))
def wrappers(tf, cell):
    cell = eval("rnn." + cell, {"rnn": tf.contrib.rnn, "tf": tf})
    x = tf.constant(numbers(2, 5))
    if type(cell).__name__ == "EmbeddingWrapper":
        x = tf.constant([3, 6])
    return cell(x, cell.zero_state(2, tf.float32))


@program((1, False, True), (2, True, True), (2, False, False), (3, False, True))
def convolutional_cells(tf, rank, skips, bias):
    sizes = [4, 3, 2][:rank]
    cell = getattr(tf.contrib.rnn, "Conv%dDLSTMCell" % rank)(
        input_shape=sizes + [3], output_channels=2, kernel_shape=[2] * rank,
        skip_connection=skips, use_bias=bias)
    return cell(tf.constant(numbers(*[2] + sizes + [3])),
                cell.zero_state(2, tf.float32))


if __name__ == "__main__":
    import tensorflow
    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    found = {}
    for name in sorted(PROGRAMS):
        if len(sys.argv) < 2 or sys.argv[1] in name:
            print(name)
            found[name] = run(tensorflow, name)
    if len(sys.argv) < 2:
        with open(VALUES, "w") as f:
            f.write("{\n" + ",\n".join(
                "%s: %s" % (json.dumps(n), json.dumps(v, sort_keys=True))
                for n, v in sorted(found.items())) + "\n}\n")
    else:
        print(json.dumps(found, indent=1))
