"""tf.nn: recurrent networks, which run a cell over the steps of a sequence."""
from headrace._headrace import Tensor
from headrace._src.control.control_flow import cond, while_loop
from headrace._src.control.control_flow import Assert
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import check_cell, joined_shape, static_shape
from headrace._src.variables.scopes import variable_scope


def transpose_batch_time(x):
    """[batch, time, ...] as [time, batch, ...]; a tensor of fewer dimensions
    as it is."""
    static = x.get_shape()
    if static.ndims is not None and static.ndims < 2:
        return x
    rank = _array.rank(x)
    swapped = _array.transpose(
        x, _array.concat(([1, 0], _math.range(2, rank)), axis=0))
    if static.ndims is not None:
        sizes = static.as_list()
        swapped.set_shape([sizes[1], sizes[0]] + sizes[2:])
    return swapped


def _batch_size(tensors):
    """Of tensors [time, batch, ...]: a number, or a tensor if it is not
    known."""
    for x in tensors:
        shape = x.get_shape()
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError("Expected input tensor %s to have rank at least 2"
                             % x)
        if shape[1].value is not None:
            return shape[1].value
    return _array.shape(tensors[0])[1]


def _state_dtype(dtype, state):
    if dtype is not None:
        return dtype
    found = [x.dtype.base_dtype for x in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(d != found[0] for d in found):
        raise ValueError("State has tensors of different inferred_dtypes. "
                         "Unable to infer a single representative dtype.")
    return found[0]


def _first_state(cell, batch_size, dtype):
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size,
                                      dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _cache_variables(scope):
    """Reads variables once for all steps."""
    if scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def _kept(finished, olds, news):
    """`olds` for the examples that have finished, `news` for the others. They
    are not colocated: a cell whose nodes others name does not run as one."""
    results = []
    for old, new in zip(olds, news):
        if isinstance(old, TensorArray) or old.get_shape().ndims == 0:
            results.append(new)
            continue
        results.append(_array.where(finished, old, new))
    return results


def _step(time, lengths, shortest, longest, zero_output, state, call,
          conditional):
    """One step where examples end at `lengths`: after those, outputs are 0 and
    states stay. `conditional`: the cell does not run when all have ended."""
    states, zeros = nest.flatten(state), nest.flatten(zero_output)

    def run():
        output, new_state = call()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output) + nest.flatten(new_state)
    ended = time >= lengths

    def run_some():
        new = run()
        return cond(time < shortest, lambda: new,
                    lambda: _kept(ended, zeros + states, new))
    if conditional:
        results = cond(time >= longest, lambda: zeros + states, run_some)
    else:
        results = _kept(ended, zeros + states, run())
    for result, like in zip(results, zeros + states):
        if not isinstance(result, TensorArray):
            result.set_shape(like.get_shape())
    return (nest.pack_sequence_as(zero_output, results[:len(zeros)]),
            nest.pack_sequence_as(state, results[len(zeros):]))


def _check_lengths(lengths, batch_size):
    shape, wanted = _array.shape(lengths), _array.stack([batch_size])
    return Assert(_math.reduce_all(_math.equal(shape, wanted)), [
        "Expected shape for Tensor %s is " % lengths.name, wanted,
        " but saw shape: ", shape])


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None,
                dtype=None, parallel_iterations=None, swap_memory=False,
                time_major=False, scope=None):
    """(outputs, final state) of `cell` over the steps of `inputs`, a tensor
    [batch, time, ...] or with `time_major` [time, batch, ...], or a structure
    of such.

    `sequence_length`: [batch] integers, how many steps of each example count;
    outputs after those are 0, and the final state is that of the last of them.
    `dtype` is needed without `initial_state`. ValueError for inputs of unknown
    sizes, or of different batch sizes or numbers of steps.

    The outputs are [batch, time, output size] or time-major, of the type of the
    inputs; the state has the cell's structure, sizes [batch, ...] and `dtype`.
    TypeError for what is no cell."""
    check_cell("cell", cell)
    with variable_scope(scope or "rnn") as opened:
        _cache_variables(opened)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [convert_to_tensor(x) for x in flat]
            flat = [transpose_batch_time(x) for x in flat]
        if sequence_length is not None:
            sequence_length = _math.cast(sequence_length, dtypes.int32)
            if sequence_length.get_shape().ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length "
                                 "batch_size, but saw shape: %s"
                                 % sequence_length.get_shape())
            sequence_length = _array.identity(sequence_length,
                                              name="sequence_length")
        batch_size = _batch_size(flat)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give "
                                 "a dtype.")
            state = _first_state(cell, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies(
                    [_check_lengths(sequence_length, batch_size)]):
                sequence_length = _array.identity(sequence_length,
                                                  name="CheckSeqLen")
        outputs, state = _loop(
            cell, nest.pack_sequence_as(inputs, flat), state,
            parallel_iterations or 32, swap_memory, sequence_length, dtype)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _check_steps(flat):
    """The static shapes of the inputs."""
    shapes = [x.get_shape().with_rank_at_least(3) for x in flat]
    steps, batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible "
                             "via shape inference, but saw value None.")
        if shape[0].value != steps:
            raise ValueError("Time steps is not the same for all the elements "
                             "in the input in a batch.")
        if shape[1].value != batch:
            raise ValueError("Batch_size is not the same for all the elements "
                             "in the input.")
    return shapes


def _size(size):
    """A cell's size as a shape, as far as it is known."""
    if isinstance(size, Tensor):
        return TensorShape(constant_value(size))
    return TensorShape(size)


def _loop(cell, inputs, state, parallel_iterations, swap_memory, lengths,
          dtype):
    flat = nest.flatten(inputs)
    sizes = nest.flatten(cell.output_size)
    steps = _array.shape(flat[0])[0]
    batch_size = _batch_size(flat)
    shapes = _check_steps(flat)
    static_steps, static_batch = shapes[0].as_list()[:2]
    kind = _state_dtype(dtype, state)
    zero_output = nest.pack_sequence_as(cell.output_size, [
        _array.zeros(_array.stack(joined_shape(batch_size, size)), kind)
        for size in sizes])
    shortest = longest = None
    if lengths is not None:
        shortest = _math.reduce_min(lengths)
        longest = _math.reduce_max(lengths)
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base:
        pass

    def array(name, shape, kind):
        return TensorArray(kind, size=steps, element_shape=shape,
                           tensor_array_name=base + name)
    outputs = tuple(
        array("output_%d" % i, TensorShape([static_batch]).concatenate(
            _size(size)), kind) for i, size in enumerate(sizes))
    arrays = tuple(array("input_%d" % i, x.get_shape()[1:], x.dtype)
                   for i, x in enumerate(flat))
    arrays = tuple(a.unstack(x) for a, x in zip(arrays, flat))

    def body(time, outputs, state):
        now = [a.read(time) for a in arrays]
        for x, shape in zip(now, shapes):
            x.set_shape(shape[1:])
        now = nest.pack_sequence_as(inputs, now)
        if lengths is None:
            output, new_state = cell(now, state)
        else:
            output, new_state = _step(
                time, lengths, shortest, longest, zero_output, state,
                lambda: cell(now, state), conditional=False)
        outputs = tuple(a.write(time, x) for a, x in zip(
            outputs, nest.flatten(output)))
        return time + 1, outputs, new_state
    bound = _math.minimum(steps, _math.maximum(
        1, steps if longest is None else longest))
    _, outputs, state = while_loop(
        lambda time, *_: time < bound, body, (time, outputs, state),
        parallel_iterations=parallel_iterations, maximum_iterations=steps,
        swap_memory=swap_memory)
    stacked = []
    for a, size in zip(outputs, sizes):
        x = a.stack()
        x.set_shape(static_shape([static_steps, static_batch], size))
        stacked.append(x)
    return nest.pack_sequence_as(cell.output_size, stacked), state


def bidirectional_dynamic_rnn(
        cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None,
        initial_state_bw=None, dtype=None, parallel_iterations=None,
        swap_memory=False, time_major=False, scope=None):
    """((outputs forward, outputs backward), (their final states)): dynamic_rnn
    of the inputs as they are and in reverse. All outputs are in the order of
    the inputs.

    `inputs`: [batch, time, ...], or with `time_major` [time, batch, ...], of
    the type of the outputs; states have the cells' structures and `dtype`.
    TypeError for what is no cell; ValueError for inputs of unknown sizes and
    without both `dtype` and initial states."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    time, batch = (0, 1) if time_major else (1, 0)

    def reverse(x):
        if sequence_length is None:
            return _array.reverse(x, axis=[time])
        return _array.reverse_sequence(
            input=x, seq_lengths=sequence_length, seq_axis=time,
            batch_axis=batch)
    options = dict(
        sequence_length=sequence_length, dtype=dtype,
        parallel_iterations=parallel_iterations, swap_memory=swap_memory,
        time_major=time_major)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=inner,
                **options)
        with variable_scope("bw") as inner:
            backward, state_bw = dynamic_rnn(
                cell_bw, nest.map_structure(reverse, inputs),
                initial_state=initial_state_bw, scope=inner, **options)
    return ((forward, nest.map_structure(reverse, backward)),
            (state_fw, state_bw))


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False,
            scope=None):
    """(TensorArrays of what was emitted, final state, final loop state): runs
    `cell` until all examples have finished.

    loop_fn(time, cell_output, cell_state, loop_state) gives (finished, next
    input, next cell state, what to emit, next loop state). It is first called
    with time 0 and None for the rest; what it then emits tells shapes and
    types, or None for the cell's."""
    check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as opened:
        _cache_variables(opened)
        time = constant(0, dtype=dtypes.int32)
        finished, first, state, emitted, first_loop_state = loop_fn(
            time, None, None, None)
        loop_state = (constant(0, dtype=dtypes.int32)
                      if first_loop_state is None else first_loop_state)
        shapes = [x.get_shape() for x in nest.flatten(first)]
        static = shapes[0][0]
        for shape in shapes:
            static = static.merge_with(shape[0])
        batch_size = static.value
        if batch_size is None:
            batch_size = _array.shape(nest.flatten(first)[0])[0]
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [convert_to_tensor(x) for x in nest.flatten(state)]
        state = nest.pack_sequence_as(state, flat_state)
        if emitted is None:
            emitted = cell.output_size
            sizes = nest.flatten(emitted)
            kinds = [flat_state[0].dtype.base_dtype] * len(sizes)
        else:
            sizes = [x.get_shape() if x.get_shape().is_fully_defined()
                     else _array.shape(x) for x in nest.flatten(emitted)]
            kinds = [x.dtype.base_dtype for x in nest.flatten(emitted)]
        arrays = nest.pack_sequence_as(emitted, [
            TensorArray(kind, dynamic_size=True, size=0,
                        element_shape=TensorShape([static]).concatenate(
                            _size(size)), name="rnn_output_%d" % i)
            for i, (kind, size) in enumerate(zip(kinds, sizes))])
        zeros = nest.pack_sequence_as(emitted, [
            _array.zeros(joined_shape(batch_size, size), kind)
            for kind, size in zip(kinds, sizes)])

        def body(time, finished, inputs, arrays, state, loop_state):
            output, cell_state = cell(inputs, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            then = time + 1
            ends, following, next_state, emit, next_loop_state = loop_fn(
                then, output, cell_state, loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(inputs, following)
            nest.assert_same_structure(arrays, emit)
            if next_loop_state is None:
                next_loop_state = loop_state

            def keep(old, new):
                return nest.pack_sequence_as(new, _kept(
                    finished, nest.flatten(old), nest.flatten(new)))
            emit = keep(zeros, emit)
            next_state = keep(state, next_state)
            arrays = nest.map_structure(lambda a, x: a.write(time, x), arrays,
                                        emit)
            return (then, _math.logical_or(finished, ends), following, arrays,
                    next_state, next_loop_state)
        results = while_loop(
            lambda time, finished, *_: _math.logical_not(
                _math.reduce_all(finished)), body,
            [time, finished, first, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory)
        arrays, state, loop_state = results[-3:]
        return (arrays, state,
                None if first_loop_state is None else loop_state)


def static_rnn(cell, inputs, initial_state=None, dtype=None,
               sequence_length=None, scope=None):
    """(list of outputs, final state) of `cell` over the list `inputs` of
    tensors [batch, size]: the graph has the cell once for each.

    Outputs are [batch, output size] of the type of the inputs; the state has
    the cell's structure and `dtype`. `sequence_length`: int32 or int64 [batch].
    TypeError for what is no cell or no list; ValueError for an empty list,
    unknown sizes, and without both `dtype` and `initial_state`."""
    check_cell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as opened:
        _cache_variables(opened)
        flat = nest.flatten(inputs)
        first = nest.flatten(inputs[0])[0]
        static = None
        if first.get_shape().ndims != 1:
            static = first.get_shape().with_rank_at_least(2)[0].value
            for x in flat:
                shape = x.get_shape()
                if shape.ndims is not None and shape[0].value is not None:
                    if static is not None and static != shape[0].value:
                        raise ValueError(
                            "static_rnn: inputs have batch sizes %d and %d"
                            % (static, shape[0].value))
                    static = shape[0].value
                if shape.ndims is not None and None in shape[1:].as_list():
                    raise ValueError(
                        "Input size (dimension %d of inputs) must be "
                        "accessible via shape inference, but saw value None."
                        % (1 + shape[1:].as_list().index(None)))
        else:
            static = first.get_shape().with_rank_at_least(1)[0].value
        batch_size = static if static else _array.shape(first)[0]
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If no initial_state is provided, dtype must "
                                 "be specified")
            state = _first_state(cell, batch_size, dtype)
        options = None
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length,
                                        name="sequence_length")
            if lengths.get_shape().ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length "
                                 "batch_size")
            kind, zeros = _state_dtype(dtype, state), []
            for size in nest.flatten(cell.output_size):
                zero = _array.zeros(_array.stack(
                    joined_shape(batch_size, size)), kind)
                zero.set_shape(static_shape(static, size))
                zeros.append(zero)
            lengths = _math.cast(lengths, dtypes.int32)
            options = (lengths, _math.reduce_min(lengths),
                       _math.reduce_max(lengths),
                       nest.pack_sequence_as(cell.output_size, zeros))
        outputs = []
        for time, x in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if options is None:
                output, state = cell(x, state)
            else:
                output, state = _step(
                    time, *options, state,
                    lambda: cell(x, state), conditional=True)
            outputs.append(output)
        return outputs, state


def static_state_saving_rnn(cell, inputs, state_saver, state_name,
                            sequence_length=None, scope=None):
    """static_rnn that takes the first state from state_saver.state(name), and
    gives the last to state_saver.save_state(name, state); `state_name` has the
    structure of the cell's state."""
    nested = nest.is_nested(cell.state_size)
    if nested != nest.is_nested(state_name):
        raise ValueError("state_name should be the same type as "
                         "cell.state_size.  state_name: %s, cell.state_size: "
                         "%s" % (state_name, cell.state_size))
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(cell.state_size)):
        raise ValueError("#elems(state_name) != #elems(state_size): %d vs. %d"
                         % (len(names), len(nest.flatten(cell.state_size))))
    state = nest.pack_sequence_as(
        cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=state,
                                sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, x)
             for name, x in zip(names, nest.flatten(state))]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(_array.identity, outputs[-1])
        state = nest.map_structure(_array.identity, state)
    return outputs, state


def _reversed(sequence, lengths):
    """The steps in reverse; with lengths, those of each example's."""
    if lengths is None:
        return list(reversed(sequence))
    results = [[] for _ in sequence]
    for steps in zip(*[nest.flatten(x) for x in sequence]):
        shape = steps[0].get_shape()
        turned = _array.unstack(_array.reverse_sequence(
            _array.stack(steps), lengths, 0, 1), num=len(steps))
        for x, result in zip(turned, results):
            x.set_shape(shape)
            result.append(x)
    return [nest.pack_sequence_as(x, result)
            for x, result in zip(sequence, results)]


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None,
                             initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """(outputs of both directions side by side, final state forward, final
    state backward): static_rnn of the inputs and of their reverse.

    `inputs`: a list of [batch, size], of float16, float32 or float64; outputs
    are [batch, both sizes] of that type. TypeError for what is no cell or no
    list; ValueError for an empty list, unknown sizes, and without both `dtype`
    and initial states."""
    check_cell("cell_fw", cell_fw)
    check_cell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length,
                scope=inner)
        with variable_scope("bw") as inner:
            backward, state_bw = static_rnn(
                cell_bw, _reversed(inputs, sequence_length), initial_state_bw,
                dtype, sequence_length, scope=inner)
    backward = _reversed(backward, sequence_length)
    both = [_array.concat([a, b], 1) for a, b in zip(
        nest.flatten(forward), nest.flatten(backward))]
    return nest.pack_sequence_as(forward, both), state_fw, state_bw
