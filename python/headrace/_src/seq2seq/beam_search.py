"""tf.contrib.seq2seq: beam search. Of each example the beam_width best sequences
go on; a step scores all words after each of them and keeps the best.

Tensors of beams are [batch, beam, ...]; the cell sees them as
[batch * beam, ...]."""
import collections

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control.check_ops import assert_equal
from headrace._src.control.control_flow import cond
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.rnn.cells import check_cell
from headrace._src.seq2seq.attention_wrapper import AttentionWrapperState
from headrace._src.seq2seq.decoders import (
    Decoder, check_output_layer, output_size_of)
from headrace._src.seq2seq.helpers import embedding_function, start_and_end


class BeamSearchDecoderState(collections.namedtuple(
        "BeamSearchDecoderState",
        "cell_state log_probs finished lengths accumulated_attention_probs")):
    """The cell's state, the logarithms of the beams' probabilities, which have
    finished, their lengths (int64), and, with a coverage penalty, the sum of
    the attention's weights, otherwise ()."""


class BeamSearchDecoderOutput(collections.namedtuple(
        "BeamSearchDecoderOutput", "scores predicted_ids parent_ids")):
    """Of a step, [batch, beam]: scores, words, and the beams of the step before
    that they go on."""


class FinalBeamSearchDecoderOutput(collections.namedtuple(
        "FinalBeamSearchDecoderOutput",
        "predicted_ids beam_search_decoder_output")):
    """predicted_ids: the words of whole sequences [batch, time, beam], the best
    first; beam_search_decoder_output: what each step gave."""


def tile_batch(t, multiplier, name=None):
    """Tensors [batch, ...] as [batch * multiplier, ...], each entry
    `multiplier` times in a row. ValueError for tensors of unknown rank and for
    scalars."""
    with name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda x: _tiled(x, multiplier), t)


def _tiled(t, multiplier):
    t = convert_to_tensor(t, name="t")
    shape, static = _array.shape(t), t.get_shape()
    if static.ndims is None or static.ndims < 1:
        raise ValueError("t must have statically known rank")
    sizes = [1] * (static.ndims + 1)
    sizes[1] = multiplier
    batch = static[0].value
    if isinstance(multiplier, int) and batch is not None:
        batch *= multiplier
    else:
        batch = None
    tiled = _array.tile(_array.expand_dims(t, 1), sizes)
    tiled = _array.reshape(
        tiled, _array.concat(([shape[0] * multiplier], shape[1:]), 0))
    tiled.set_shape(TensorShape([batch]).concatenate(static[1:]))
    return tiled


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token,
                name=None):
    """The whole sequences int32 [time, batch, beam] of the words step_ids
    [time, batch, beam] and the beams parent_ids that they go on, from the
    last step below max_sequence_lengths [batch] back. After end_token, and from
    that length on, all is end_token."""
    return _raw.GatherTree(step_ids, parent_ids, max_sequence_lengths,
                           end_token, name=name)


def _ordered(t, parent_ids, lengths):
    """An array [time, batch * beam, ...] or [time, batch, beam, ...] in the
    order of the final beams, whose lengths are [batch, beam]."""
    sizes = _array.shape(parent_ids)
    time, batch, beams = sizes[0], sizes[1], sizes[2]
    width = parent_ids.get_shape()[2].value
    ids = _array.tile(_array.expand_dims(_array.expand_dims(
        _math.range(beams), 0), 0), [time, batch, 1])
    ordered = gather_tree(
        ids, parent_ids, _math.cast(_math.reduce_max(lengths, axis=1),
                                    dtypes.int32),
        (beams if width is None else width) + 1)
    within = _array.transpose(_special.sequence_mask(lengths, maxlen=time),
                              perm=[2, 0, 1])
    ordered = _array.where(within, ordered, ids)
    steps = _array.tile(_array.reshape(_math.range(time), [-1, 1, 1]),
                        [1, batch, beams])
    rows = _array.transpose(_array.tile(
        _array.reshape(_math.range(batch), [-1, 1, 1]), [1, time, beams]),
        perm=[1, 0, 2])
    beamed = _array.reshape(t, _array.concat(([time, batch, beams], [-1]), 0))
    found = _array.gather_nd(beamed, _array.stack([steps, rows, ordered], -1))
    found = _array.reshape(found, _array.shape(t))
    found.set_shape(t.get_shape())
    return found


def _check_rank(t):
    if t.get_shape().ndims is None:
        raise ValueError("Expected tensor (%s) to have known rank, but ndims "
                         "== None." % t)


class BeamSearchDecoder(Decoder):
    """Decodes with beam search from start_tokens [batch] until end_token.

    initial_state: the cell's, for [batch * beam_width] examples (tile_batch).
    embedding: a function of ids, or the params of embedding_lookup.
    output_layer: a layer that makes the words' logits of the cell's outputs.
    Scores are log probabilities divided by ((5 + length) / 6) **
    length_penalty_weight, plus coverage_penalty_weight times the sum of
    log(min(sum of the attention's weights, 1)).
    reorder_tensor_arrays: TensorArrays in the cell's state end up in the order
    of the final beams. TypeError and ValueError for arguments that do not
    fit."""

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state,
                 beam_width, output_layer=None, length_penalty_weight=0.0,
                 coverage_penalty_weight=0.0, reorder_tensor_arrays=True):
        check_cell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder = reorder_tensor_arrays
        self._embedding = embedding_function(embedding)
        self._start_tokens, self._end_token = start_and_end(start_tokens,
                                                            end_token)
        self._beam_width = beam_width
        self._length_weight = length_penalty_weight
        self._coverage_weight = coverage_penalty_weight
        self._batch_size = _array.size(start_tokens)
        self._cell_state = nest.map_structure(
            self._split_state, initial_state, cell.state_size)
        self._start_tokens = _array.tile(
            _array.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding(self._start_tokens)
        self._finished = _array.one_hot(
            _array.zeros([self._batch_size], dtype=dtypes.int32),
            depth=beam_width, on_value=False, off_value=True,
            dtype=dtypes.bool_)

    batch_size = property(lambda self: self._batch_size)
    tracks_own_finished = property(lambda self: True)

    @property
    def output_size(self):
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(beams, beams, beams)

    @property
    def output_dtype(self):
        kind = nest.flatten(self._cell_state)[0].dtype.base_dtype
        return BeamSearchDecoderOutput(
            nest.map_structure(lambda _: kind, output_size_of(
                self._cell, self._output_layer)), dtypes.int32, dtypes.int32)

    def initialize(self, name=None):
        kind = nest.flatten(self._cell_state)[0].dtype.base_dtype
        batch, width = self._batch_size, self._beam_width
        log_probs = _array.one_hot(
            _array.zeros([batch], dtype=dtypes.int32), depth=width,
            on_value=convert_to_tensor(0.0, dtype=kind),
            off_value=convert_to_tensor(-np.inf, dtype=kind), dtype=kind)
        attention = _attention_of(self._cell_state, self._coverage_weight)
        return self._finished, self._start_inputs, BeamSearchDecoderState(
            cell_state=self._cell_state, log_probs=log_probs,
            finished=self._finished,
            lengths=_array.zeros([batch, width], dtype=dtypes.int64),
            accumulated_attention_probs=(
                () if attention is None else _array.zeros_like(attention)))

    def finalize(self, outputs, final_state, sequence_lengths):
        """(FinalBeamSearchDecoderOutput, final state)."""
        longest = _math.cast(_math.reduce_max(final_state.lengths, axis=1),
                             dtypes.int32)
        words = gather_tree(outputs.predicted_ids, outputs.parent_ids,
                            longest, self._end_token)
        if self._reorder:
            final_state = final_state._replace(cell_state=nest.map_structure(
                lambda t: self._in_final_order(t, outputs.parent_ids,
                                               final_state.lengths),
                final_state.cell_state))
        return FinalBeamSearchDecoderOutput(
            predicted_ids=words,
            beam_search_decoder_output=outputs), final_state

    def _in_final_order(self, t, parent_ids, lengths):
        if not isinstance(t, TensorArray):
            return t
        shape, batch = t.element_shape, self._static_batch()
        if shape.ndims is None or shape.ndims < 1 or not self._beamed(shape):
            logging.warning(
                "The TensorArray %s in the cell state is not sorted by the "
                "beams: its elements have shape %s, wanted [batch_size * "
                "beam_width, ...] with an unknown second size, or "
                "[batch_size, beam_width, ...]", t.handle.name, shape)
            return t
        stacked = t.stack()
        count = _array.shape(stacked)[1]
        if shape.ndims > 1 and shape[1].value is not None and batch:
            count = count * _array.shape(stacked)[2]
        check = assert_equal(
            count, self._batch_size * self._beam_width, message="TensorArray "
            "of the cell state: elements must be [batch_size * beam_width, "
            "...]")
        with control_dependencies([] if check is None else [check]):
            return _ordered(_array.identity(stacked), parent_ids, lengths)

    def _beamed(self, shape):
        """False for a shape of elements that TensorFlow does not sort."""
        batch, rows = self._static_batch(), shape[0].value
        if batch is None or rows is None:
            return True
        if rows != batch * self._beam_width:
            return False
        return shape.ndims < 2 or shape[1].value is None or (
            rows == batch and shape[1].value == self._beam_width)

    # States of the cell, with batch and beams apart or as one.

    def _static_batch(self):
        batch = constant_value(self._batch_size)
        return None if batch is None else int(batch)

    @staticmethod
    def _shape(size):
        """A size of the cell's state as a shape, as far as it is known."""
        if isinstance(size, Tensor):
            size = constant_value(size)
            return TensorShape(None if size is None else size.tolist())
        return TensorShape(size)

    def _merge(self, t, size):
        shape, batch = _array.shape(t), self._static_batch()
        merged = _array.reshape(t, _array.concat(
            ([self._batch_size * self._beam_width], shape[2:]), 0))
        merged.set_shape(TensorShape(
            [None if batch is None else batch * self._beam_width]
        ).concatenate(self._shape(size)))
        return merged

    def _split(self, t, size):
        shape, batch = _array.shape(t), self._static_batch()
        apart = _array.reshape(t, _array.concat(
            ([self._batch_size, self._beam_width], shape[1:]), 0))
        wanted = TensorShape([batch, self._beam_width]).concatenate(
            self._shape(size))
        if not apart.get_shape().is_compatible_with(wanted):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and "
                "batch size.  The reshaped tensor has shape: %s.  We expected "
                "it to have shape (batch_size, beam_width, depth) == %s.  "
                "Perhaps you forgot to create a zero_state with "
                "batch_size=encoder_batch_size * beam_width?"
                % (apart.get_shape(), wanted))
        apart.set_shape(wanted)
        return apart

    def _split_state(self, t, size):
        if isinstance(t, TensorArray):
            return t
        _check_rank(t)
        return self._split(t, size) if t.get_shape().ndims >= 1 else t

    def _merge_state(self, t, size):
        if isinstance(t, TensorArray):
            return t
        _check_rank(t)
        return self._merge(t, size) if t.get_shape().ndims >= 2 else t

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            cell_inputs = nest.map_structure(
                lambda x: self._merge(x, x.get_shape()[2:]), inputs)
            cell_state = nest.map_structure(
                self._merge_state, state.cell_state, self._cell.state_size)
            logits, cell_state = self._cell(cell_inputs, cell_state)
            logits = nest.map_structure(
                lambda x: self._split(x, x.get_shape()[1:]), logits)
            cell_state = nest.map_structure(
                self._split_state, cell_state, self._cell.state_size)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            output, state = self._best(time, logits, cell_state, state)
            following = cond(
                _math.reduce_all(state.finished), lambda: self._start_inputs,
                lambda: self._embedding(output.predicted_ids))
        return output, state, following, state.finished

    def _best(self, time, logits, cell_state, state):
        """(output, state) of the best continuations."""
        width, batch = self._beam_width, self._batch_size
        unfinished = _math.logical_not(state.finished)
        words = logits.get_shape()[-1].value or _array.shape(logits)[-1]
        step_probs = _only_end(_nn.log_softmax(logits), self._end_token,
                               state.finished)
        total = _array.expand_dims(state.log_probs, 2) + step_probs
        longer = _array.one_hot(
            _array.fill([batch, width], self._end_token), depth=words,
            on_value=np.int64(0), off_value=np.int64(1), dtype=dtypes.int64)
        longer *= _array.expand_dims(_math.cast(unfinished, dtypes.int64), 2)
        lengths = longer + _array.expand_dims(state.lengths, 2)
        accumulated = None
        attention = _attention_of(cell_state, self._coverage_weight)
        if attention is not None:
            attention *= _array.expand_dims(
                _math.cast(unfinished, dtypes.float32), 2)
            accumulated = state.accumulated_attention_probs + attention
        scores = self._scores(total, lengths, state.finished, accumulated)
        best, at = _nn.top_k(_array.reshape(scores, [batch, -1]), k=width)
        static = [self._static_batch(), width]
        best.set_shape(static)
        at.set_shape(static)

        taken = self._gathered
        probs = taken(total, at, width * words, [-1], "next_beam_probs")
        ids = _math.cast(_math.mod(at, words, name="next_beam_word_ids"),
                         dtypes.int32)
        parents = _math.cast(at / words, dtypes.int32,
                             name="next_beam_parent_ids")
        before = taken(state.finished, parents, width, [-1])
        finished = _math.logical_or(before, _math.equal(ids, self._end_token),
                                    name="next_beam_finished")
        lengths = taken(state.lengths, parents, width, [-1]) + _math.cast(
            _math.logical_not(before), dtypes.int64)
        rows = [batch * width, -1]

        def state_taken(x):
            if isinstance(x, TensorArray):
                return x
            _check_rank(x)
            return (taken(x, parents, width, rows)
                    if x.get_shape().ndims >= 2 else x)
        following = BeamSearchDecoderState(
            cell_state=nest.map_structure(state_taken, cell_state),
            log_probs=probs, finished=finished, lengths=lengths,
            accumulated_attention_probs=() if accumulated is None else taken(
                accumulated, parents, width, rows,
                "next_accumulated_attention_probs"))
        return BeamSearchDecoderOutput(best, ids, parents), following

    def _scores(self, total, lengths, finished, accumulated):
        scores = total / _math.cast(
            _length_penalty(lengths, self._length_weight),
            total.dtype.base_dtype)
        weight = convert_to_tensor(self._coverage_weight,
                                   name="coverage_penalty_weight")
        if weight.get_shape().ndims != 0:
            raise ValueError("coverage_penalty_weight should be a scalar, but "
                             "saw shape: %s" % weight.get_shape())
        if accumulated is None:
            return scores
        # Steps after the end of the memory have no weight, and no penalty.
        accumulated = _array.where(
            _math.equal(accumulated, 0.0), _array.ones_like(accumulated),
            accumulated)
        covered = _math.reduce_sum(
            _math.log(_math.minimum(accumulated, 1.0)), 2)
        covered *= _math.cast(finished, dtypes.float32)
        return scores + _array.expand_dims(covered * weight, 2)

    def _gathered(self, x, indices, count, shape, name=None):
        """Of each example the entries `indices` [batch, beam] of its `count`;
        `shape` is that of x with the examples' entries in one dimension."""
        with name_scope(name, "tensor_gather_helper"):
            first = _array.expand_dims(
                _math.range(self._batch_size) * count, 1)
            found = _array.gather(
                _array.reshape(x, shape),
                _array.reshape(indices + first, [-1]))
            rank = 1 + len(shape)
            found = _array.reshape(found, _array.shape(x)[:rank],
                                   name="output")
            found.set_shape(TensorShape([self._static_batch()])
                            .concatenate(x.get_shape()[1:rank]))
            return found


def _length_penalty(lengths, factor):
    factor = convert_to_tensor(factor, name="penalty_factor")
    factor.get_shape().assert_has_rank(0)
    known = constant_value(factor)
    if known is not None and known == 0:
        return 1.0
    return _math.div((5. + _math.to_float(lengths)) ** factor,
                     (5. + 1.) ** factor)


def _only_end(probs, end_token, finished):
    """Log probabilities where a finished beam goes on with end_token alone."""
    words = _array.shape(probs)[2]
    row = _array.one_hot(
        end_token, words, dtype=probs.dtype.base_dtype,
        on_value=convert_to_tensor(0., dtype=probs.dtype.base_dtype),
        off_value=probs.dtype.min)
    rows = _array.tile(
        _array.reshape(row, [1, 1, -1]),
        _array.concat([_array.shape(finished), [1]], 0))
    mask = _array.tile(_array.expand_dims(finished, 2), [1, 1, words])
    return _array.where(mask, rows, probs)


def _attention_of(cell_state, weight):
    """The mean of the attention's weights in a cell's state, or None where
    there are none or no coverage penalty is wanted."""
    if weight == 0.0:
        return None

    def mean(parts):
        return parts[0] if len(parts) == 1 else _math.reduce_mean(
            _array.stack(parts), axis=0)

    def of(state):
        found = state.alignments
        return mean(list(found)) if isinstance(found, tuple) else found
    if isinstance(cell_state, AttentionWrapperState):
        return of(cell_state)
    parts = [of(s) for s in cell_state if isinstance(
        s, AttentionWrapperState)] if isinstance(cell_state, tuple) else []
    if not parts:
        raise ValueError(
            "BeamSearchDecoder: coverage_penalty_weight needs a cell with "
            "AttentionWrapper, got a state %s" % (cell_state,))
    return mean(parts)
