"""tf.contrib.seq2seq: a cell whose inputs and outputs have a weighted mean of a
memory beside them."""
import collections

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control.check_ops import assert_equal
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers.functions import Dense
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import RNNCell, check_cell, zero_tensors
from headrace._src.seq2seq.attention import AttentionMechanism


class AttentionWrapperState(collections.namedtuple(
        "AttentionWrapperState",
        "cell_state attention time alignments alignment_history "
        "attention_state")):
    """The state of an AttentionWrapper: of its cell, the last attention
    [batch, size], the step, the last weights, those of all steps (TensorArrays
    or ()), and the mechanisms' states. With several mechanisms the last three
    are tuples."""

    def clone(self, **kwargs):
        """The state with other values of the fields that are given. ValueError
        for tensors whose shapes do not fit; what is not known of the shapes is
        checked by the run."""
        return nest.map_structure(_of_same_shape, self, self._replace(**kwargs))


def _of_same_shape(old, new):
    if not isinstance(old, Tensor) or not isinstance(new, Tensor):
        return new
    shape = old.get_shape()
    if not shape.is_compatible_with(new.get_shape()):
        raise ValueError(
            "AttentionWrapperState.clone: expected shape %s, got %s with shape %s"
            % (shape, new.name, new.get_shape()))
    if shape.is_fully_defined() and new.get_shape().is_fully_defined():
        return new
    # As many nodes as in TensorFlow, with their names.
    with name_scope(new.op.name + "/"):
        wanted = _array.shape(old, name="expected_shape")
        with name_scope("assert_shape"):
            found = _array.shape(new, name="actual")
            with name_scope("is_shape") as scope:
                # The rank stands in the graph twice: the shapes are vectors.
                is_rank = _math.equal(_array.size(wanted, name="Size"),
                                      _array.rank(new, name="is_rank/actual"),
                                      name="is_rank")
                with name_scope("shape_tensor_equal") as all_scope:
                    unknown = _math.equal(wanted, -1, name="Equal")
                    same = _math.logical_or(
                        unknown, _math.equal(wanted, found, name="equal_1"),
                        name="exclude_partial_shape")
                    same = _math.reduce_all(same, name=all_scope)
                same = _math.logical_and(is_rank, same, name=scope)
            text = "Wrong shape for %s [expected] [actual]." % new.name
            convert_to_tensor(text)  # nothing uses it, there either
            check = _raw.Assert(same, [text, wanted, found], name="Assert")
        with control_dependencies([check]):
            return _array.identity(new, name="Identity")


def _compute_attention(attention_mechanism, cell_output, attention_state,
                       attention_layer):
    """(attention, weights, next state) of one mechanism."""
    weights, state = attention_mechanism(cell_output, state=attention_state)
    context = _array.squeeze(_math.matmul(
        _array.expand_dims(weights, 1), attention_mechanism.values), [1])
    attention = context if attention_layer is None else attention_layer(
        _array.concat([cell_output, context], 1))
    return attention, weights, state


class AttentionWrapper(RNNCell):
    """A cell that looks at a memory: its inputs are cell_input_fn(inputs, last
    attention), by default both side by side; its query is the cell's output.

    attention_mechanism: an AttentionMechanism, or several in a list.
    attention_layer_size: the attention is a matrix product, of this size, of
    the cell's output and the weighted mean; without it, the mean; a list for
    several mechanisms. attention_layer: a layer that takes its place.
    alignment_history: the state has the weights of all steps. output_attention:
    the outputs are the attention, otherwise the cell's. initial_cell_state: the
    cell's state in zero_state. attention_fn(mechanism, cell output, attention
    state, layer) gives (attention, weights, next attention state)."""

    def __init__(self, cell, attention_mechanism, attention_layer_size=None,
                 alignment_history=False, cell_input_fn=None,
                 output_attention=True, initial_cell_state=None, name=None,
                 attention_layer=None, attention_fn=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        check_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = (tuple(attention_mechanism) if self._is_multi
                      else (attention_mechanism,))
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of "
                    "AttentionMechanism, saw type: %s"
                    % type(mechanism).__name__)
        if cell_input_fn is None:
            def cell_input_fn(inputs, attention):
                return _array.concat([inputs, attention], -1)
        elif not callable(cell_input_fn):
            raise TypeError("cell_input_fn must be callable, saw type: %s"
                            % type(cell_input_fn).__name__)
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._cell_input_fn = cell_input_fn
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._attention_fn = attention_fn or _compute_attention
        self._make_layers(attention_layer_size, attention_layer, dtype)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                self._initial_cell_state = self._checked(
                    last, initial_cell_state, "check_initial_cell_state",
                    "constructor AttentionWrapper(initial_cell_state)")

    def _make_layers(self, sizes, layers, dtype):
        count = len(self._attention_mechanisms)

        def each(what, given):
            given = tuple(given) if isinstance(given, (list, tuple)) else (
                given,)
            if len(given) != count:
                raise ValueError(
                    "If provided, %s must contain exactly one %s per "
                    "attention_mechanism, saw: %d vs %d"
                    % (what, "integer" if what == "attention_layer_size"
                       else "layer", len(given), count))
            return given
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and "
                             "attention_layer should be set")
        self._attention_layers = None
        if sizes is not None:
            sizes = each("attention_layer_size", sizes)
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False,
                      dtype=dtype) for size in sizes)
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            self._attention_layers = each("attention_layer", layers)
            self._attention_layer_size = sum(
                TensorShape(layer.compute_output_shape([
                    None, self._cell.output_size
                    + mechanism.values.get_shape()[-1].value]))[-1].value
                for layer, mechanism in zip(self._attention_layers,
                                            self._attention_mechanisms))
        else:
            self._attention_layer_size = sum(
                mechanism.values.get_shape()[-1].value
                for mechanism in self._attention_mechanisms)

    def _checked(self, tensor, values, name, where):
        """`values` after the check that the batch of `tensor` is that of the
        memory."""
        known = tensor.get_shape()[0].value
        return self._after_check(
            _array.shape(tensor)[0] if known is None else known, values, name,
            where)

    def _after_check(self, batch_size, values, name, where):
        message = (
            "When calling %s of %s: Non-matching batch sizes between the "
            "memory (encoder output) and the requested batch size. With a "
            "beam search decoder, the encoder's output and state must be "
            "tiled with tf.contrib.seq2seq.tile_batch, and batch_size be that "
            "times beam_width." % (where, self.name))
        checks = self._batch_size_checks(batch_size, message)
        with control_dependencies([c for c in checks if c is not None]):
            return nest.map_structure(
                lambda s: _array.identity(s, name=name), values)

    def _batch_size_checks(self, batch_size, error_message):
        return [assert_equal(batch_size, mechanism.batch_size,
                             message=error_message)
                for mechanism in self._attention_mechanisms]

    def _item_or_tuple(self, values):
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self):
        return (self._attention_layer_size if self._output_attention
                else self._cell.output_size)

    @property
    def state_size(self):
        sizes = [m.alignments_size for m in self._attention_mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(
                m.state_size for m in self._attention_mechanisms),
            alignment_history=self._item_or_tuple(
                size if self._alignment_history else () for size in sizes))

    def zero_state(self, batch_size, dtype):
        """The state before the first step. A run whose batch_size is not the
        memory's fails with InvalidArgument."""
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(
                    batch_size=batch_size, dtype=dtype)
            cell_state = self._after_check(
                batch_size, cell_state, "checked_cell_state", "zero_state")
            weights = [m.initial_alignments(batch_size, dtype)
                       for m in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=_array.zeros([], dtype=dtypes.int32),
                attention=zero_tensors(self._attention_layer_size, batch_size,
                                       dtype),
                alignments=self._item_or_tuple(weights),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype)
                    for m in self._attention_mechanisms),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True,
                                element_shape=w.get_shape())
                    if self._alignment_history else () for w in weights))

    def call(self, inputs, state):
        """One step. TypeError for a state that is no AttentionWrapperState."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of "
                            "AttentionWrapperState. Received type %s instead."
                            % type(state))
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, cell_state = self._cell(cell_inputs, state.cell_state)
        cell_output = self._checked(cell_output, cell_output,
                                    "checked_cell_output", "call()")

        def each(value):
            return value if self._is_multi else [value]
        attentions, weights, states, histories = [], [], [], []
        for i, (mechanism, before, history) in enumerate(zip(
                self._attention_mechanisms, each(state.attention_state),
                each(state.alignment_history))):
            attention, w, after = self._attention_fn(
                mechanism, cell_output, before,
                self._attention_layers[i] if self._attention_layers else None)
            attentions.append(attention)
            weights.append(w)
            states.append(after)
            histories.append(history.write(state.time, w)
                             if self._alignment_history else ())
        attention = _array.concat(attentions, 1)
        following = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(weights),
            alignment_history=self._item_or_tuple(histories))
        return (attention if self._output_attention else cell_output,
                following)
