"""tf.contrib.seq2seq: what a decoder takes of its outputs, and what it gets as
its next inputs."""
import abc

from headrace._headrace import Tensor
from headrace._src.control.control_flow import cond
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.rnn.loops import transpose_batch_time


class Helper(abc.ABC):
    """Samples the outputs of a decoder and makes its next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """An int32 scalar."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of what `sample` gives, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The type of what `sample` gives."""

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs); finished is bool [batch]."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """What is sampled of the outputs at step `time`."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(finished, next inputs, next state)."""


def _kind(helper):
    return type(helper).__name__


class CustomHelper(Helper):
    """A helper of functions: initialize_fn() gives (finished, first inputs),
    sample_fn(time=, outputs=, state=) what is sampled, by default int32
    [batch], and next_inputs_fn(time=, outputs=, state=, sample_ids=) (finished,
    next inputs, next state)."""

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn,
                 sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize = initialize_fn
        self._sample = sample_fn
        self._next_inputs = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = TensorShape(
            [] if sample_ids_shape is None else sample_ids_shape)
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._sample_ids_shape)
    sample_ids_dtype = property(lambda self: self._sample_ids_dtype)

    def initialize(self, name=None):
        with name_scope(name, "%sInitialize" % _kind(self)):
            finished, inputs = self._initialize()
            if self._batch_size is None:
                self._batch_size = _array.size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "%sSample" % _kind(self),
                        (time, outputs, state)):
            return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "%sNextInputs" % _kind(self),
                        (time, outputs, state, sample_ids)):
            return self._next_inputs(time=time, outputs=outputs, state=state,
                                     sample_ids=sample_ids)


class _OfIds(Helper):
    """Samples int32 [batch]."""

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: TensorShape([]))
    sample_ids_dtype = property(lambda self: dtypes.int32)


def _as_array(x):
    """The steps of a tensor [time, ...]."""
    return TensorArray(dtype=x.dtype.base_dtype, size=_array.shape(x)[0],
                       element_shape=x.get_shape()[1:]).unstack(x)


def _either(condition, values, make):
    """`values` if the condition holds, otherwise what `make` gives."""
    flat = cond(condition, lambda: nest.flatten(values),
                lambda: nest.flatten(make()))
    if not isinstance(flat, (list, tuple)):
        flat = [flat]
    return nest.pack_sequence_as(values, flat)


class TrainingHelper(_OfIds):
    """The inputs are given: [batch, time, ...], or [time, batch, ...] with
    time_major, or a structure of these. sequence_length: int32 [batch], after
    which the inputs are 0 once all have ended; ValueError if it is no vector.
    Samples are the numbers of the largest outputs."""

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(
                lambda x: convert_to_tensor(x, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._arrays = nest.map_structure(_as_array, inputs)
            self._sequence_length = convert_to_tensor(sequence_length,
                                                      name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received "
                    "shape: %s" % self._sequence_length.get_shape())
            self._zero_inputs = nest.map_structure(
                lambda x: _array.zeros_like(x[0, :]), inputs)
            self._batch_size = _array.size(sequence_length)

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)

    def _read(self, finished, time):
        return _either(
            _math.reduce_all(finished), self._zero_inputs,
            lambda: nest.map_structure(lambda a: a.read(time), self._arrays))

    def initialize(self, name=None):
        with name_scope(name, "TrainingHelperInitialize"):
            finished = _math.equal(0, self._sequence_length)
            return finished, self._read(finished, 0)

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return _math.cast(_math.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperNextInputs",
                        [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(finished, following), state


def _probability(value):
    value = convert_to_tensor(value, name="sampling_probability")
    if value.get_shape().ndims not in (0, 1):
        raise ValueError("sampling_probability must be either a scalar or a "
                         "vector. saw shape: %s" % value.get_shape())
    return value


def _chosen(probability, batch_size, seed):
    """bool [batch], True with a probability."""
    shape = (_array.stack([batch_size])
             if probability.get_shape().ndims == 0 else
             _array.concat(([batch_size], _array.shape(probability)), 0))
    uniform = _random.random_uniform(shape, seed=seed,
                                     dtype=probability.dtype.base_dtype)
    return _math.less(uniform, probability)


def _random_ids(logits, seed):
    """int32 [batch], with the probabilities that logits [batch, n] have."""
    return _array.squeeze(_random.multinomial(
        logits, 1, seed=seed, output_dtype=dtypes.int32), [1])


def _mixed(chosen, of_chosen, others):
    """Rows of_chosen(indices) where `chosen` is True, those of `others`
    elsewhere."""
    at = _math.cast(_array.where(chosen), dtypes.int32)
    not_at = _math.cast(_array.where(_math.logical_not(chosen)), dtypes.int32)
    shape = _array.shape(others)
    return (_special.scatter_nd(indices=at, updates=of_chosen(at), shape=shape)
            + _special.scatter_nd(
                indices=not_at, updates=_array.gather_nd(others, not_at),
                shape=shape))


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """TrainingHelper that takes, with sampling_probability, the embedding of an
    id drawn from the outputs in place of the given input. Samples are these
    ids, -1 where the input is the given one. `embedding`: a function of ids, or
    the params of embedding_lookup."""

    def __init__(self, inputs, sequence_length, embedding,
                 sampling_probability, time_major=False, seed=None,
                 scheduling_seed=None, name=None):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper",
                        [embedding, sampling_probability]):
            self._embedding = embedding_function(embedding)
            self._probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length,
                             time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample",
                        [time, outputs, state]):
            chosen = _chosen(self._probability, self._batch_size,
                             self._scheduling_seed)
            return _array.where(chosen, _random_ids(outputs, self._seed),
                                _array.fill([self._batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs",
                        [time, outputs, state, sample_ids]):
            finished, given, state = super().next_inputs(
                time=time, outputs=outputs, state=state)

            def mixed():
                return _mixed(sample_ids > -1, lambda at: self._embedding(
                    _array.gather_nd(sample_ids, at)), given)
            return finished, _either(_math.reduce_all(finished), given,
                                     mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """TrainingHelper that takes, with sampling_probability, the last outputs,
    or next_inputs_fn of these, in place of the given inputs. Samples are 1
    where it does. auxiliary_inputs are put beside all inputs."""

    def __init__(self, inputs, sequence_length, sampling_probability,
                 time_major=False, seed=None, next_inputs_fn=None,
                 auxiliary_inputs=None, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelper",
                        [inputs, auxiliary_inputs, sampling_probability]):
            self._probability = _probability(sampling_probability)
            self._auxiliary = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary = convert_to_tensor(auxiliary_inputs,
                                              name="auxiliary_inputs")
                inputs = _array.concat((inputs, auxiliary), -1)
                if not time_major:
                    auxiliary = transpose_batch_time(auxiliary)
                self._auxiliary = _as_array(auxiliary)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=inputs, sequence_length=sequence_length,
                             time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperSample",
                        [time, outputs, state]):
            return _math.cast(_chosen(self._probability, self._batch_size,
                                      self._seed), dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs",
                        [time, outputs, state, sample_ids]):
            finished, given, state = super().next_inputs(
                time=time, outputs=outputs, state=state)
            chosen = _math.cast(sample_ids, dtypes.bool_)

            def beside(values, at=None):
                if self._auxiliary is None:
                    return values
                more = self._auxiliary.read(time + 1)
                if at is not None:
                    more = _array.gather_nd(more, at)
                return _array.concat((values, more), -1)

            def mixed():
                if self._next_inputs_fn is None:
                    return _array.where(chosen, beside(outputs), given)
                return _mixed(chosen, lambda at: beside(
                    self._next_inputs_fn(_array.gather_nd(outputs, at)), at),
                    given)
            none = _math.logical_not(_math.reduce_any(chosen))
            return finished, _either(
                _math.logical_or(_math.reduce_all(finished), none), given,
                mixed), state


def embedding_function(embedding):
    if callable(embedding):
        return embedding
    return lambda ids: embedding_lookup(embedding, ids)


def start_and_end(start_tokens, end_token):
    """The tokens as int32 tensors. ValueError unless they are a vector and a
    scalar."""
    start = convert_to_tensor(start_tokens, dtype=dtypes.int32,
                              name="start_tokens")
    end = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
    if start.get_shape().ndims != 1:
        raise ValueError("start_tokens must be a vector")
    if end.get_shape().ndims != 0:
        raise ValueError("end_token must be a scalar")
    return start, end


class GreedyEmbeddingHelper(_OfIds):
    """Samples the number of the largest output, and takes its embedding as the
    next input, from start_tokens int32 [batch] until end_token. `embedding`: a
    function of ids, or the params of embedding_lookup."""

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding = embedding_function(embedding)
        self._start_tokens, self._end_token = start_and_end(start_tokens,
                                                            end_token)
        self._batch_size = _array.size(start_tokens)
        self._start_inputs = self._embedding(self._start_tokens)

    def initialize(self, name=None):
        return (_array.tile([False], [self._batch_size]), self._start_inputs)

    def _check(self, outputs):
        if not isinstance(outputs, Tensor):
            raise TypeError("Expected outputs to be a single Tensor, got: %s"
                            % type(outputs))

    def sample(self, time, outputs, state, name=None):
        self._check(outputs)
        return _math.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = _math.equal(sample_ids, self._end_token)
        inputs = _either(_math.reduce_all(finished), self._start_inputs,
                         lambda: self._embedding(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """GreedyEmbeddingHelper that draws ids with the probabilities
    softmax(outputs / softmax_temperature)."""

    def __init__(self, embedding, start_tokens, end_token,
                 softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature = softmax_temperature
        self._seed = seed

    def sample(self, time, outputs, state, name=None):
        self._check(outputs)
        logits = (outputs if self._temperature is None
                  else outputs / self._temperature)
        return _random_ids(logits, self._seed)


class InferenceHelper(Helper):
    """sample_fn(outputs) gives samples [batch] + sample_shape of sample_dtype,
    next_inputs_fn of these the next inputs, by default themselves, and end_fn
    of these bool [batch]. The first inputs are start_inputs."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs,
                 end_fn, next_inputs_fn=None):
        self._sample = sample_fn
        self._end = end_fn
        self._shape = TensorShape(sample_shape)
        self._dtype = sample_dtype
        self._next_inputs = next_inputs_fn
        self._start_inputs = convert_to_tensor(start_inputs,
                                               name="start_inputs")
        self._batch_size = _array.shape(self._start_inputs)[0]

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: self._shape)
    sample_ids_dtype = property(lambda self: self._dtype)

    def initialize(self, name=None):
        return (_array.tile([False], [self._batch_size]), self._start_inputs)

    def sample(self, time, outputs, state, name=None):
        return self._sample(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        inputs = (sample_ids if self._next_inputs is None
                  else self._next_inputs(sample_ids))
        return self._end(sample_ids), inputs, state
