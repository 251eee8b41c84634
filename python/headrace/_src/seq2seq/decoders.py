"""tf.contrib.seq2seq: a loop that runs a decoder until all examples have
finished."""
import abc
import collections

from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers.engine import Layer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import check_cell, zero_tensors
from headrace._src.rnn.loops import transpose_batch_time
from headrace._src.seq2seq.helpers import Helper
from headrace._src.variables.scopes import variable_scope


class Decoder(abc.ABC):
    """What dynamic_decode runs."""

    @property
    def batch_size(self):
        """An int32 scalar."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The shapes of the outputs, without the batch; a structure."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The types of the outputs, in the same structure."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs, first state); finished is bool [batch]."""

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, finished)."""

    def finalize(self, outputs, final_state, sequence_lengths):
        """(outputs, final state) of those of all steps, time first."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """True if `finished` of a step counts alone; otherwise an example that
        has finished stays so."""
        return False


def dynamic_decode(decoder, output_time_major=False, impute_finished=False,
                   maximum_iterations=None, parallel_iterations=32,
                   swap_memory=False, scope=None, **kwargs):
    """(outputs, final state, lengths): runs a Decoder until all examples have
    finished, or for maximum_iterations steps.

    Outputs are [batch, time, ...], or [time, batch, ...] with
    output_time_major; lengths is int32 [batch]. impute_finished: after the end
    of an example its outputs are 0 and its state stays. TypeError for what is
    no Decoder, ValueError for maximum_iterations that is no scalar."""
    if not isinstance(decoder, Decoder):
        raise TypeError("Expected decoder to be type Decoder, but saw: %s"
                        % type(decoder))
    if kwargs:
        raise TypeError("dynamic_decode: unknown arguments %s"
                        % ", ".join(sorted(kwargs)))
    with variable_scope(scope, "decoder") as opened:
        if opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(
                maximum_iterations, dtype=dtypes.int32,
                name="maximum_iterations")
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        zeros = nest.map_structure(
            lambda size, kind: zero_tensors(size, decoder.batch_size, kind),
            decoder.output_size, decoder.output_dtype)
        if maximum_iterations is not None:
            finished = _math.logical_or(finished, 0 >= maximum_iterations)
        lengths = _array.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)

        def array(size, kind):
            shape = None
            if isinstance(size, TensorShape) and size.ndims != 0:
                batch = constant_value(convert_to_tensor(
                    decoder.batch_size, name="batch_size"))
                shape = TensorShape([batch if batch is None else int(batch)]
                                    ).concatenate(size)
            return TensorArray(dtype=kind, size=0, dynamic_size=True,
                               element_shape=shape)
        arrays = nest.map_structure(array, decoder.output_size,
                                    decoder.output_dtype)

        def body(time, arrays, state, inputs, finished, lengths):
            outputs, new_state, new_inputs, ends = decoder.step(time, inputs,
                                                                state)
            if not decoder.tracks_own_finished:
                ends = _math.logical_or(ends, finished)
            new_lengths = _array.where(
                _math.logical_not(finished),
                _array.fill(_array.shape(lengths), time + 1), lengths)
            nest.assert_same_structure(state, new_state)
            nest.assert_same_structure(arrays, outputs)
            nest.assert_same_structure(inputs, new_inputs)
            if impute_finished:
                outputs = nest.map_structure(
                    lambda out, zero: _array.where(finished, zero, out),
                    outputs, zeros)
                new_state = nest.map_structure(
                    lambda new, old: _kept(finished, new, old), new_state,
                    state)
            arrays = nest.map_structure(lambda a, out: a.write(time, out),
                                        arrays, outputs)
            return time + 1, arrays, new_state, new_inputs, ends, new_lengths
        _, arrays, state, _, _, lengths = while_loop(
            lambda *loop: _math.logical_not(_math.reduce_all(loop[4])), body,
            (time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations, swap_memory=swap_memory)
        outputs = nest.map_structure(lambda a: a.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state, lengths


def _kept(finished, new, old):
    """`old` for examples that have finished."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.get_shape())
    return new if new.get_shape().ndims == 0 else _array.where(finished, old,
                                                               new)


def check_output_layer(layer):
    """TypeError for what is neither a layer nor None."""
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError("output_layer must be a Layer, received: %s"
                        % type(layer))


def output_size_of(cell, layer):
    """The shape of a cell's outputs after a layer, without the batch."""
    size = cell.output_size
    if layer is None:
        return size
    return nest.map_structure(
        lambda s: TensorShape(layer.compute_output_shape(
            TensorShape([None]).concatenate(TensorShape(s))))[1:], size)


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput",
                                                "rnn_output sample_id")):
    """rnn_output: of the cell, or of the output layer; sample_id: of the
    helper."""


class BasicDecoder(Decoder):
    """A cell whose inputs a Helper makes, and a layer over its outputs if
    output_layer is given. TypeError for arguments of other kinds."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError("helper must be a Helper, received: %s"
                            % type(helper))
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    batch_size = property(lambda self: self._helper.batch_size)

    @property
    def output_size(self):
        return BasicDecoderOutput(
            output_size_of(self._cell, self._output_layer),
            self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        kind = nest.flatten(self._initial_state)[0].dtype.base_dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: kind, self.output_size.rnn_output),
            self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        finished, inputs = self._helper.initialize()
        return finished, inputs, self._initial_state

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished
