"""tf.contrib.training.batch_sequences_with_states: segments and their states, as
TensorFlow 1.15 gives them."""
import pytest

import headrace as tf

training = tf.contrib.training


def batches(lengths, num_unroll=3, batch_size=1, **options):
    """[(key, next key, number, length, values, state)] of the batches."""
    number, length = tf.train.slice_input_producer(
        [tf.constant(list(range(len(lengths)))), tf.constant(lengths)],
        num_epochs=1, shuffle=False)
    values = tf.cast(tf.range(length) + 10 * number, tf.float32)
    batch = training.batch_sequences_with_states(
        tf.string_join(["k", tf.as_string(number)]), {"s": values},
        {"c": tf.stack([number, length])}, length, {"sum": tf.zeros([])},
        num_unroll, batch_size, num_threads=1, **options)
    state = batch.state("sum")
    after = state + tf.reduce_sum(batch.sequences["s"], 1)
    wanted = [batch.key, batch.next_key, batch.sequence, batch.length,
              batch.sequences["s"], state]
    shapes = [x.shape.as_list() for x in (
        batch.sequences["s"], batch.context["c"], batch.total_length)]
    assert shapes == [[None, num_unroll], [None, 2], [None]]
    save, found = batch.save_state("sum", after), []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append([x.tolist() for x in session.run(
                    wanted + [save])[:-1]])
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def test_states_go_from_segment_to_segment():
    assert batches([5, 3]) == [
        [[b"00000_of_00002:k0"], [b"00001_of_00002:k0"], [0], [3],
         [[0., 1., 2.]], [0.]],
        [[b"00001_of_00002:k0"], [b"STOP:k0"], [1], [2], [[3., 4., 0.]], [3.]],
        [[b"00000_of_00001:k1"], [b"STOP:k1"], [0], [3], [[10., 11., 12.]],
         [0.]]]


def test_sequences_of_a_batch_take_turns():
    found = batches([5, 3, 7], 2, 2, capacity=2)
    assert [keys for keys, *_ in found] == [
        [b"00000_of_00003:k0", b"00000_of_00002:k1"],
        [b"00001_of_00003:k0", b"00001_of_00002:k1"],
        [b"00002_of_00003:k0", b"00000_of_00004:k2"],
        [b"00001_of_00004:k2"], [b"00002_of_00004:k2"],
        [b"00003_of_00004:k2"]]
    assert [state for *_, state in found] == [
        [0., 0.], [1., 21.], [6., 0.], [41.], [86.], [135.]]


def test_keys_get_numbers_that_make_them_unique():
    key = batches([3], make_keys_unique=True, make_keys_unique_seed=1)[0][0][0]
    assert key.startswith(b"00000_of_00001:k0") and len(key) > 17


def saver(**options):
    given = dict(
        batch_size=1, num_unroll=2, input_length=tf.constant(4),
        input_key=tf.constant("a"), input_sequences={"s": tf.zeros([4])},
        input_context={}, initial_states={"x": tf.zeros([2])})
    return training.SequenceQueueingStateSaver(**{**given, **options})


def test_parts_of_a_saver():
    made = saver()
    batch = made.next_batch
    assert (made.batch_size, made.num_unroll) == (1, 2)
    assert made.next_batch is batch and made.prefetch_op is made.prefetch_op
    with tf.Session() as session:
        session.run(made.prefetch_op)
        total, size = session.run([batch.total_length, batch.batch_size])
        assert (total.tolist(), size) == ([4], 1)
        session.run(made.close())


@pytest.mark.parametrize("options, error, message", [
    ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
    ({"initial_states": []}, TypeError, "initial_states must be a dict"),
    ({"input_sequences": {}}, ValueError, "at least one sequence tensor"),
    ({"input_sequences": {"a:b": 1}}, ValueError, "may not have a colon"),
    ({"input_context": {3: 1}}, TypeError, "key must be string"),
    ({"input_length": 3.}, TypeError, "length dtype must be int32"),
    ({"input_key": 3}, TypeError, "key dtype must be string"),
    ({"capacity": 1, "batch_size": 2}, ValueError, "needs to be >= batch_size"),
    ({"input_sequences": {"s": tf.SparseTensorValue([[0]], [1], [2])}},
     NotImplementedError, "s is a SparseTensor")])
def test_refusals(options, error, message):
    with pytest.raises(error, match=message):
        saver(**options)


def test_states_are_those_that_were_declared():
    batch = saver().next_batch
    with pytest.raises(KeyError, match="state was not declared: q"):
        batch.save_state("q", 1)
    with pytest.raises(ValueError, match="save_state got shape"):
        batch.save_state("x", tf.zeros([1, 3]))
    with pytest.raises(ValueError, match="state x is not fully defined"):
        saver(initial_states={"x": tf.placeholder(tf.float32)})


def test_lengths_are_checked():
    values = tf.placeholder(tf.float32, [None])
    made = saver(input_sequences={"s": values})
    with tf.Session() as session:
        for count, message in ((3, "Consider setting pad=True"),
                               (2, "Input length should be <=")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(made.prefetch_op, {values: [1.] * count})
