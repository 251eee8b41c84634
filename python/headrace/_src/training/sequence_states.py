"""tf.contrib.training.batch_sequences_with_states: long sequences in segments, whose
states go from one step to the next.

A barrier holds the segments, by the key "00000_of_00003:KEY". The first segment of
a sequence has its initial states; save_state() gives the next one those that it
waits for. A queue holds one token for each sequence that is under way."""
from headrace import raw_ops as _raw
from headrace._src.control.control_flow import Assert
from headrace._src.control.control_flow_ops import group
from headrace._src.flow.barriers import Barrier
from headrace._src.flow.queues import FIFOQueue
from headrace._src.framework import dtypes, errors
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops import string_ops as _string
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.training import summary as _summary
from headrace._src.training.coordinator import QueueRunner, add_queue_runner

_FIRST = ("length", "total_length", "next_key", "sequence", "sequence_count")


def _tensors(what, given):
    """{name: tensor}, sorted by the names. TypeError for what is no dict by
    strings, ValueError for names with a colon."""
    if not isinstance(given, dict):
        raise TypeError("%s must be a dict, got %r" % (what, given))
    for name, value in given.items():
        if not isinstance(name, str):
            raise TypeError("%s: a key must be string: %s" % (what, name))
        if ":" in name:
            raise ValueError("%s: a key may not have a colon: '%s'"
                             % (what, name))
        if isinstance(value, (SparseTensor, SparseTensorValue)):
            raise NotImplementedError(
                "%s: %s is a SparseTensor, which is not supported; use "
                "tf.sparse.to_dense" % (what, name))
    return {name: convert_to_tensor(given[name]) for name in sorted(given)}


def _check_shapes(what, tensors, first=0):
    """ValueError for a shape that is not known, from the dimension `first`."""
    for name, x in tensors.items():
        if not x.get_shape()[first:].is_fully_defined():
            raise ValueError(
                "Shape for %s %s is not fully defined %s: %s" % (
                    what, name, "(ignoring first dimension)" if first else "",
                    x.get_shape()))


def _checked(condition, words, value):
    """The value, after a check that fails with these words."""
    with control_dependencies([Assert(condition, words)]):
        return _array.identity(value)


def _part(name):
    return property(lambda self: self._saver._received[name])


class NextQueuedSequenceBatch:
    """A batch of segments: `sequences`, {name: [batch, num_unroll, ...]};
    `context`, {name: [batch, ...]}; the strings `key` and `next_key`; int32
    vectors `length`, of the segment, `total_length`, of the sequence, `sequence`,
    the segment's number, and `sequence_count`; `insertion_index`, an int64
    vector; and `batch_size`, a scalar. state() and save_state() give and take
    what goes to the next segment. KeyError for other names of states."""

    def __init__(self, state_saver):
        self._saver = state_saver

    total_length = _part("total_length")
    length = _part("length")
    batch_size = _part("batch_size")
    insertion_index = _part("insertion_index")
    key = _part("key")
    next_key = _part("next_key")
    sequence = _part("sequence")
    sequence_count = _part("sequence_count")
    context = _part("context")
    sequences = _part("sequences")

    def state(self, state_name):
        """The state [batch, ...] that the segments begin with."""
        return self._saver._received["states"][state_name]

    def save_state(self, state_name, value, name=None):
        """An operation that gives `value`, [batch, ...], to the next segments of
        the sequences."""
        states = self._saver._received["states"]
        if state_name not in states:
            raise KeyError("state was not declared: %s" % state_name)
        with name_scope(name, "InputQueueingStateSaver_SaveState", [value]):
            value = convert_to_tensor(value, name="convert_%s" % state_name)
            wanted = states[state_name]
            if not value.get_shape().is_compatible_with(wanted.get_shape()):
                raise ValueError(
                    "Shape check failed for %s: save_state got shape %s, wanted "
                    "%s" % (state_name, value.get_shape(), wanted.get_shape()))
            shape = _array.shape(wanted)
            value = _checked(
                _math.reduce_all(_math.equal(shape, _array.shape(value))),
                ["save_state: the shape of the state, and of the value:",
                 shape, _array.shape(value)], value)
            going_on = _array.reshape(_array.where_v2(_raw.LogicalNot(
                self._saver._is_last)), [-1])
            return self._saver.barrier.insert_many(
                self._saver._index["state", state_name],
                _array.gather(self.next_key, going_on),
                _array.gather(value, going_on),
                name="BarrierInsertState_%s" % state_name)


class SequenceQueueingStateSaver:
    """Cuts sequences into segments of `num_unroll` steps, and gives batches of them
    with the states of the segments before.

    `prefetch_op` takes in one sequence; `next_batch` is a
    NextQueuedSequenceBatch, whose states must all be saved before the next one.

    Args:
      batch_size, num_unroll: numbers; batch_size may be a scalar int32.
      input_length, input_key: the length, a scalar int32, and a string that no
        other sequence has.
      input_sequences: {name: tensor [length, ...]}, the length a multiple of
        num_unroll.
      input_context, initial_states: {name: tensor}, of fully known shapes.
      capacity: how many sequences may be under way; None: any number.
      allow_small_batch: whether the last batches may be smaller.
    Raises:
      TypeError: no dicts by strings, or other dtypes of length and key.
      ValueError: no sequences or states, unknown shapes, or a capacity below
        the size of batches.
      NotImplementedError: sparse tensors.
    """

    def __init__(self, batch_size, num_unroll, input_length, input_key,
                 input_sequences, input_context, initial_states, capacity=None,
                 allow_small_batch=False, name=None):
        if capacity is not None and isinstance(batch_size, int) and (
                capacity < batch_size):
            raise ValueError("capacity %d needs to be >= batch_size %d"
                             % (capacity, batch_size))
        states = _tensors("initial_states", initial_states)
        if not states:
            raise ValueError(
                "initial_states may not be empty: at least one state variable "
                "is required to properly enqueue split sequences to run in "
                "separate iterations")
        self._batch_size, self._num_unroll = batch_size, num_unroll
        self._allow_small_batch = allow_small_batch
        self._tokens = FIFOQueue(capacity or 2**31 - 1, [dtypes.int32], [[]])
        with name_scope(name, "InputQueueingStateSaver") as scope:
            self._name = self._scope = scope
            self._sequences = _tensors("sequences", input_sequences)
            if not self._sequences:
                raise ValueError("must have at least one sequence tensor")
            self._context, self._states = _tensors(
                "context", input_context), states
            _check_shapes("state", states)
            _check_shapes("context", self._context)
            _check_shapes("sequence", self._sequences, 1)
            self._key = self._scalar("key", input_key, dtypes.string)
            self._length = self._scalar("length", input_length, dtypes.int32)
            self._check_lengths()
            self._make_barrier()
        self._prefetch_op = self._next_batch = self._received = None

    name = property(lambda self: self._name)
    barrier = property(lambda self: self._barrier)
    batch_size = property(lambda self: self._batch_size)
    num_unroll = property(lambda self: self._num_unroll)

    @staticmethod
    def _scalar(what, value, dtype):
        value = convert_to_tensor(value)
        if value.dtype != dtype:
            raise TypeError("%s dtype must be %s, but received: %s"
                            % (what, dtype.name, value.dtype))
        value.get_shape().assert_is_compatible_with([])
        return value

    def _check_lengths(self):
        """The padded length, which is that of all sequences, and checks of it."""
        first = next(iter(self._sequences.values()))
        padded = _array.identity(_array.shape(first)[0], name="padded_length")
        padded = _checked(
            _math.logical_and(_math.equal(padded % self._num_unroll, 0),
                              _math.not_equal(padded, 0)),
            [_string.string_join([
                "Tensor %s should be a multiple of: " % padded.name,
                _string.as_string(self._num_unroll), ", but saw value: ",
                _string.as_string(padded),
                ". Consider setting pad=True."])], padded)
        self._sequences = {
            name: _checked(
                _math.equal(padded, _array.shape(x)[0]),
                ["Dimension 0 of tensor labeled sorted_sequences_%s should be: "
                 % name, padded, ", shape received: ", _array.shape(x)], x)
            for name, x in self._sequences.items()}
        self._length = _checked(
            self._length <= padded,
            ["Input length should be <= than length from sequences:",
             self._length, " vs. ", padded], self._length)
        self._padded_length = padded

    def _make_barrier(self):
        parts = [("first", name) for name in _FIRST]
        types = [dtypes.int32, dtypes.int32, dtypes.string, dtypes.int32,
                 dtypes.int32]
        shapes = [[]] * len(_FIRST)
        for kind, tensors in (("sequence", self._sequences),
                              ("context", self._context),
                              ("state", self._states)):
            for name, x in tensors.items():
                parts.append((kind, name))
                types.append(x.dtype.base_dtype)
                shape = x.get_shape().as_list()
                shapes.append([self._num_unroll] + shape[1:]
                              if kind == "sequence" else shape)
        self._index = {part: i for i, part in enumerate(parts)}
        self._barrier = Barrier(types=types, shapes=shapes)

    @property
    def prefetch_op(self):
        """An operation that takes in the segments of one sequence."""
        if self._prefetch_op is None:
            with name_scope(self._scope):
                self._prefetch_op = self._make_prefetch_op()
        return self._prefetch_op

    def _make_prefetch_op(self):
        count = self._padded_length // self._num_unroll
        number = _math.range(count)
        ones = _array.ones(_array.expand_dims(count, 0), dtypes.int32)
        keys = _string.string_join([
            _raw.AsString(number, width=5, fill="0"), "_of_",
            _raw.AsString(count, width=5, fill="0"), ":", self._key],
            name="StringJoinCurrentKeys")
        last = _string.string_join(["STOP:", self._key], name="StringJoinStop")
        values = {
            ("first", "length"): _math.minimum(self._num_unroll, _math.maximum(
                0, self._length - self._num_unroll * number)),
            ("first", "total_length"): self._length * ones,
            ("first", "next_key"): _array.concat(
                [keys[1:], _array.expand_dims(last, 0)], 0),
            ("first", "sequence"): number,
            ("first", "sequence_count"): count * ones}
        for name, x in self._sequences.items():
            values["sequence", name] = _array.reshape(x, _array.concat(
                [[count, self._num_unroll], _array.shape(x)[1:]], 0))
        for name, x in self._context.items():
            values["context", name] = _array.tile(
                _array.expand_dims(x, 0), _array.concat(
                    [[count], [1] * x.get_shape().ndims], 0)
                if x.get_shape().ndims else [count])
        inserts = {part: self._barrier.insert_many(
            self._index[part], keys, value, name="BarrierInsert_%s" % part[1])
            for part, value in values.items()}
        token = self._tokens.enqueue((0,))
        # A segment with states may be taken: the token and the numbers that
        # order the segments are there first.
        with control_dependencies([inserts["first", "sequence"], token]):
            begun = [self._barrier.insert_many(
                self._index["state", name], keys[:1],
                _array.expand_dims(x, 0),
                name="BarrierInitialInsertState_%s" % name)
                for name, x in self._states.items()]
        return group(token, *inserts.values(), *begun,
                     name="StateSaverPrefetchGroup")

    @property
    def next_batch(self):
        """The NextQueuedSequenceBatch."""
        if self._next_batch is None:
            self.prefetch_op
            with name_scope(self._scope):
                self._receive()
            self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def _receive(self):
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany")
        found = {"insertion_index": indices, "key": keys}
        for name in _FIRST:
            found[name] = values[self._index["first", name]]
        found["batch_size"] = _array.squeeze(_array.shape(found["length"]))
        for kind, of, tensors in (("sequences", "sequence", self._sequences),
                                  ("context", "context", self._context)):
            found[kind] = {name: values[self._index[of, name]]
                           for name in tensors}
        self._is_last = found["sequence"] + 1 >= found["sequence_count"]
        ended = self._tokens.dequeue_many(_math.reduce_sum(
            _math.cast(self._is_last, dtypes.int32)))
        with control_dependencies([ended]):
            found["states"] = {
                name: _array.identity(values[self._index["state", name]])
                for name in self._states}
        self._received = found

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation that takes in no more sequences; segments of those that
        are under way still come."""
        with name_scope(name, "SQSSClose") as scope:
            return group(
                self._barrier.close(cancel_pending_enqueues, "BarrierClose"),
                self._tokens.close(cancel_pending_enqueues, "FIFOClose"),
                name=scope)


def _padded(sequences, num_unroll):
    """(the length, the sequences with zeros or "" up to a multiple of
    num_unroll)"""
    if not isinstance(num_unroll, int):
        raise ValueError("Unsupported num_unroll expected int, got: %s"
                         % (num_unroll,))
    sequences = _tensors("sequences", sequences)
    if not sequences:
        return 0, {}
    lengths = [_array.shape(x)[0] for x in sequences.values()]
    with control_dependencies([Assert(
            _math.equal(n, lengths[0]),
            ["All sequence lengths must match, but received lengths: ",
             *lengths]) for n in lengths]):
        length = _array.identity(lengths[0])
    whole = length + (-length) % num_unroll
    found = {}
    for name, x in sequences.items():
        shape = _array.concat([[whole - _array.shape(x)[0]],
                               _array.shape(x)[1:]], 0)
        empty = convert_to_tensor("") if x.dtype == dtypes.string else (
            _math.cast(0, x.dtype))
        found[name] = _array.concat([x, _raw.Fill(shape, empty)], 0)
        found[name].set_shape([None] + x.get_shape().as_list()[1:])
    return length, found


def batch_sequences_with_states(
        input_key, input_sequences, input_context, input_length, initial_states,
        num_unroll, batch_size, num_threads=3, capacity=1000,
        allow_small_batch=True, pad=True, make_keys_unique=False,
        make_keys_unique_seed=None, name=None):
    """A NextQueuedSequenceBatch of segments of sequences, which a queue runner with
    `num_threads` threads takes in. Step by step, the states of a sequence go
    from one segment to the next by save_state(), which must run for all states.

    Arguments and errors as those of SequenceQueueingStateSaver. `pad`: sequences
    get zeros at their end up to a multiple of num_unroll; input_length may be
    None then. `make_keys_unique`: a random number is appended to each key."""
    with name_scope(name, "batch_sequences_with_states"):
        if pad:
            length, input_sequences = _padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        if make_keys_unique:
            input_key = _string.string_join([input_key, _string.as_string(
                _random.random_uniform([], 0, 100000000, dtypes.int32,
                                       make_keys_unique_seed))])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length, input_key, input_sequences,
            input_context, initial_states, capacity, allow_small_batch)
        _summary.scalar(
            "queue/%s/ready_segment_batches_" % saver.barrier.name,
            _math.cast(saver.barrier.ready_size(), dtypes.float32))
        add_queue_runner(QueueRunner(
            saver, [saver.prefetch_op] * num_threads,
            queue_closed_exception_types=(errors.OutOfRangeError,
                                          errors.CancelledError)))
        return saver.next_batch
