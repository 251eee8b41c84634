"""tf.contrib.legacy_seq2seq: sequences as lists with a tensor for each step.

An encoder makes a state of one list, a decoder makes a list of outputs of that
state and another list. Inputs of the embedding models are integers [batch];
the others take [batch, size]. With `feed_previous` a decoder gets the symbol
of its last output in place of all inputs but the first; it may be a bool
tensor, which says so in each run."""
import copy

from headrace._src.contrib.linear import Linear
from headrace._src.contrib.projections import (
    EmbeddingWrapper, OutputProjectionWrapper)
from headrace._src.control.control_flow import cond
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.nn.losses import sparse_softmax_cross_entropy_with_logits
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.loops import static_rnn
from headrace._src.variables.scopes import (
    get_variable, get_variable_scope, variable_scope)


def _most_likely(embedding, projection, learns):
    """A loop function: the row of `embedding` of the largest output."""
    def loop_function(previous, _):
        if projection is not None:
            weights, biases = projection
            previous = _nn.bias_add(_math.matmul(previous, weights), biases)
        row = embedding_lookup(embedding, _math.argmax(previous, 1))
        return row if learns else _array.stop_gradient(row)
    return loop_function


def _check_projection(projection, num_symbols, dtype, inner=None):
    """ValueError unless it is a pair of weights [inner, num_symbols] and
    biases [num_symbols]."""
    if projection is None:
        return
    if inner is not None or dtype is not None:
        weights = convert_to_tensor(projection[0], dtype=dtype)
        weights.get_shape().assert_is_compatible_with([inner, num_symbols])
    biases = convert_to_tensor(projection[1], dtype=dtype)
    biases.get_shape().assert_is_compatible_with([num_symbols])


def _steps(inputs, loop_function, step):
    """The outputs of step(i, input) for each of `inputs`, or of what
    loop_function makes of the last output."""
    outputs, previous = [], None
    for i, x in enumerate(inputs):
        if loop_function is not None and previous is not None:
            with variable_scope("loop_function", reuse=True):
                x = loop_function(previous, i)
        if i > 0:
            get_variable_scope().reuse_variables()
        output = step(i, x)
        outputs.append(output)
        if loop_function is not None:
            previous = output
    return outputs


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None,
                scope=None):
    """(outputs, final state) of `cell` over a list of inputs. With a
    loop_function(output, step) only the first input counts: what it returns is
    the next.

    `decoder_inputs`: a list of [batch, size], of float16, float32 or float64;
    outputs are [batch, output size]; `initial_state` [batch, state size]. It
    raises what `cell` raises: ValueError for sizes that do not fit."""
    state = [initial_state]

    def step(_, x):
        output, state[0] = cell(x, state[0])
        return output
    with variable_scope(scope or "rnn_decoder"):
        return _steps(decoder_inputs, loop_function, step), state[0]


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell,
                      dtype=dtypes.float32, scope=None):
    """(outputs, final state): a copy of `cell` runs over encoder_inputs, and
    `cell` from that state over decoder_inputs."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None,
                     dtype=dtypes.float32, scope=None):
    """basic_rnn_seq2seq with the same variables for both."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell,
                           loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(
        decoder_inputs, initial_state, cell, num_symbols, embedding_size,
        output_projection=None, feed_previous=False,
        update_embedding_for_previous=True, scope=None):
    """rnn_decoder of symbols. `output_projection`: (weights, biases) that make
    num_symbols numbers of an output, needed to feed it back where outputs are
    no such numbers. Gradients reach the embedding of symbols that were fed
    back if update_embedding_for_previous."""
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = _most_likely(
            embedding, output_projection,
            update_embedding_for_previous) if feed_previous else None
        return rnn_decoder(
            [embedding_lookup(embedding, i) for i in decoder_inputs],
            initial_state, cell, loop_function=loop_function)


def _either(feed_previous, decode, structure):
    """decode(feed_previous), whose value a run may decide. decode gives
    (outputs, state); `structure` is that of the state."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(feeds):
        with variable_scope(get_variable_scope(),
                            reuse=None if feeds else True):
            outputs, state = decode(feeds, False)
        return list(outputs) + nest.flatten(state)
    flat = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    count = len(flat) - len(nest.flatten(structure))
    return flat[:count], nest.pack_sequence_as(structure, flat[count:])


def _encoder(cell, inputs, num_symbols, embedding_size, dtype):
    """(outputs, state) of a copy of `cell` over symbols."""
    return static_rnn(
        EmbeddingWrapper(copy.deepcopy(cell), embedding_classes=num_symbols,
                         embedding_size=embedding_size),
        inputs, dtype=dtype)


def _set_dtype(scope, dtype):
    if dtype is not None:
        scope.set_dtype(dtype)
    return scope.dtype


def embedding_rnn_seq2seq(
        encoder_inputs, decoder_inputs, cell, num_encoder_symbols,
        num_decoder_symbols, embedding_size, output_projection=None,
        feed_previous=False, dtype=None, scope=None):
    """basic_rnn_seq2seq of symbols. Without an output_projection, outputs are
    [batch, num_decoder_symbols]."""
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        dtype = _set_dtype(opened, dtype)
        _, state = _encoder(cell, encoder_inputs, num_encoder_symbols,
                            embedding_size, dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return _either(feed_previous, lambda feeds, learns:
                       embedding_rnn_decoder(
                           decoder_inputs, state, cell, num_decoder_symbols,
                           embedding_size, output_projection=output_projection,
                           feed_previous=feeds,
                           update_embedding_for_previous=learns), state)


def embedding_tied_rnn_seq2seq(
        encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size,
        num_decoder_symbols=None, output_projection=None, feed_previous=False,
        dtype=None, scope=None):
    """tied_rnn_seq2seq of symbols, which have one embedding. Without an
    output_projection, outputs are [batch, num_decoder_symbols], by default
    num_symbols."""
    with variable_scope(scope or "embedding_tied_rnn_seq2seq",
                        dtype=dtype) as opened:
        dtype = opened.dtype
        _check_projection(output_projection, num_symbols, dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size],
                                 dtype=dtype)
        encoder_rows = [embedding_lookup(embedding, x) for x in encoder_inputs]
        decoder_rows = [embedding_lookup(embedding, x) for x in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols
                                           or num_symbols)

        def decode(feeds, learns):
            loop_function = _most_likely(embedding, output_projection,
                                         learns) if feeds else None
            return tied_rnn_seq2seq(encoder_rows, decoder_rows, cell,
                                    loop_function=loop_function, dtype=dtype)
        return _either(feed_previous, decode, cell.state_size)


def attention_decoder(
        decoder_inputs, initial_state, attention_states, cell,
        output_size=None, num_heads=1, loop_function=None, dtype=None,
        scope=None, initial_state_attention=False):
    """rnn_decoder whose cell also gets a mean of attention_states
    [batch, length, size], weighted by what it asks for: num_heads of these.
    Outputs are [batch, output_size], by default the cell's size.
    `initial_state_attention`: the first weights come from initial_state,
    otherwise the first means are 0. ValueError without inputs or heads, and
    for attention_states of unknown size."""
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.get_shape()[2].value is None:
        raise ValueError("Shape[2] of attention_states must be known: %s"
                         % attention_states.get_shape())
    if output_size is None:
        output_size = cell.output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        dtype = opened.dtype
        batch_size = _array.shape(decoder_inputs[0])[0]
        length = attention_states.get_shape()[1].value
        if length is None:
            length = _array.shape(attention_states)[1]
        size = attention_states.get_shape()[2].value
        hidden = _array.reshape(attention_states, [-1, length, 1, size])
        features, directions = [], []
        for head in range(num_heads):
            k = get_variable("AttnW_%d" % head, [1, 1, size, size],
                             dtype=dtype)
            features.append(_conv.conv2d(hidden, k, [1, 1, 1, 1], "SAME"))
            directions.append(get_variable("AttnV_%d" % head, [size],
                                           dtype=dtype))

        def attention(query):
            """The weighted means that the state `query` asks for."""
            if nest.is_nested(query):
                parts = nest.flatten(query)
                for part in parts:
                    if part.get_shape().ndims:
                        part.get_shape().assert_has_rank(2)
                query = _array.concat(parts, 1)
            means = []
            for head in range(num_heads):
                with variable_scope("Attention_%d" % head):
                    y = Linear(query, size, True)(query)
                    y = _math.cast(_array.reshape(y, [-1, 1, 1, size]), dtype)
                    score = _math.reduce_sum(
                        directions[head] * _math.tanh(features[head] + y),
                        [2, 3])
                    weights = _math.cast(_nn.softmax(_math.cast(
                        score, dtypes.float32)), dtype)
                    mean = _math.reduce_sum(
                        _array.reshape(weights, [-1, length, 1, 1]) * hidden,
                        [1, 2])
                    means.append(_array.reshape(mean, [-1, size]))
            return means
        state = initial_state
        means = []
        for _ in range(num_heads):
            zero = _array.zeros(_array.stack([batch_size, size]), dtype=dtype)
            zero.set_shape([None, size])
            means.append(zero)
        if initial_state_attention:
            means = attention(initial_state)

        def step(i, x):
            nonlocal state, means
            width = x.get_shape().with_rank(2)[1].value
            if width is None:
                raise ValueError("Could not infer input size from input: %s"
                                 % x.name)
            parts = [_math.cast(part, dtype) for part in [x] + means]
            output, state = cell(Linear(parts, width, True)(parts), state)
            if i == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    means = attention(state)
            else:
                means = attention(state)
            with variable_scope("AttnOutputProjection"):
                parts = [_math.cast(output, dtype)] + means
                return Linear(parts, output_size, True)(parts)
        return _steps(decoder_inputs, loop_function, step), state


def embedding_attention_decoder(
        decoder_inputs, initial_state, attention_states, cell, num_symbols,
        embedding_size, num_heads=1, output_size=None, output_projection=None,
        feed_previous=False, update_embedding_for_previous=True, dtype=None,
        scope=None, initial_state_attention=False):
    """attention_decoder of symbols."""
    if output_size is None:
        output_size = cell.output_size
    _check_projection(output_projection and (None, output_projection[1]),
                      num_symbols, None)
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = _most_likely(
            embedding, output_projection,
            update_embedding_for_previous) if feed_previous else None
        return attention_decoder(
            [embedding_lookup(embedding, i) for i in decoder_inputs],
            initial_state, attention_states, cell, output_size=output_size,
            num_heads=num_heads, loop_function=loop_function,
            initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(
        encoder_inputs, decoder_inputs, cell, num_encoder_symbols,
        num_decoder_symbols, embedding_size, num_heads=1,
        output_projection=None, feed_previous=False, dtype=None, scope=None,
        initial_state_attention=False):
    """embedding_rnn_seq2seq whose decoder looks at the encoder's outputs."""
    with variable_scope(scope or "embedding_attention_seq2seq",
                        dtype=dtype) as opened:
        dtype = opened.dtype
        tops, state = _encoder(cell, encoder_inputs, num_encoder_symbols,
                               embedding_size, dtype)
        states = _array.concat([_array.reshape(x, [-1, 1, cell.output_size])
                                for x in tops], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols
        return _either(feed_previous, lambda feeds, learns:
                       embedding_attention_decoder(
                           decoder_inputs, state, states, cell,
                           num_decoder_symbols, embedding_size,
                           num_heads=num_heads, output_size=output_size,
                           output_projection=output_projection,
                           feed_previous=feeds,
                           update_embedding_for_previous=learns,
                           initial_state_attention=initial_state_attention),
                       state)


def one2many_rnn_seq2seq(
        encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict,
        num_encoder_symbols, num_decoder_symbols_dict, embedding_size,
        feed_previous=False, dtype=None, scope=None):
    """embedding_rnn_seq2seq with several decoders: ({name: outputs}, {name:
    final state}) of decoder_inputs_dict, {name: list of inputs}."""
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        _, state = static_rnn(
            EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols,
                             embedding_size=embedding_size),
            encoder_inputs, dtype=dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope("one2many_decoder_" + str(name)):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                outputs[name], states[name] = _either(
                    feed_previous, lambda feeds, learns:
                    embedding_rnn_decoder(
                        inputs, state, cell, symbols, embedding_size,
                        feed_previous=feeds,
                        update_embedding_for_previous=learns), state)
    return outputs, states


def sequence_loss_by_example(logits, targets, weights,
                             average_across_timesteps=True,
                             softmax_loss_function=None, name=None):
    """Cross entropy [batch], the sum over the steps of weight * loss, divided
    by the sum of the weights with average_across_timesteps.

    Lists of the same length: logits [batch, symbols], targets integers
    [batch], weights [batch]; ValueError for other lengths.
    softmax_loss_function(labels=, logits=) may replace the loss.

    Logits and weights are float32, as is the result."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError("Lengths of logits, weights, and targets must be the "
                         "same %d, %d, %d."
                         % (len(logits), len(weights), len(targets)))
    with name_scope(name, "sequence_loss_by_example",
                    list(logits) + list(targets) + list(weights)):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(
                    labels=_array.reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = _math.add_n(losses)
        if average_across_timesteps:
            total /= _math.add_n(weights) + 1e-12  # all weights may be 0
        return total


def sequence_loss(logits, targets, weights, average_across_timesteps=True,
                  average_across_batch=True, softmax_loss_function=None,
                  name=None):
    """The sum of sequence_loss_by_example, or its mean with
    average_across_batch."""
    with name_scope(name, "sequence_loss",
                    list(logits) + list(targets) + list(weights)):
        cost = _math.reduce_sum(sequence_loss_by_example(
            logits, targets, weights,
            average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        count = _array.shape(targets[0])[0]
        return cost / _math.cast(count, cost.dtype)


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights,
                       buckets, seq2seq, softmax_loss_function=None,
                       per_example_loss=False, name=None):
    """(outputs, losses), lists with an entry for each of `buckets`, pairs
    (input length, output length): seq2seq(encoder inputs, decoder inputs) of
    the first inputs. All have the same variables. ValueError for fewer inputs,
    targets or weights than the last bucket has."""
    for what, given, at in (("encoder_inputs", encoder_inputs, 0),
                            ("targets", targets, 1), ("weights", weights, 1)):
        if len(given) < buckets[-1][at]:
            raise ValueError("Length of %s (%d) must be at least that of last "
                             "bucket (%d)."
                             % (what, len(given), buckets[-1][at]))
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets",
                    list(encoder_inputs) + list(decoder_inputs)
                    + list(targets) + list(weights)):
        for i, (length, steps) in enumerate(buckets):
            with variable_scope(get_variable_scope(),
                                reuse=True if i > 0 else None):
                result, _ = seq2seq(encoder_inputs[:length],
                                    decoder_inputs[:steps])
                outputs.append(result)
                loss = (sequence_loss_by_example if per_example_loss
                        else sequence_loss)
                losses.append(loss(
                    result, targets[:steps], weights[:steps],
                    softmax_loss_function=softmax_loss_function))
    return outputs, losses
