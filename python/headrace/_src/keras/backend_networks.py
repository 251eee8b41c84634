"""tf.keras.backend: convolutions, pooling, normalization, losses and recurrent
loops. data_format is "channels_last" or "channels_first", by default
`image_data_format()`; padding is "valid" or "same"."""
import numpy as np

from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.image import transforms as _images
from headrace._src.keras import losses as _losses
from headrace._src.keras.backend_arrays import _seed, repeat_elements
from headrace._src.layers import backend as _backend
from headrace._src.layers.backend import int_shape, ndim
from headrace._src.nn import conv as _conv
from headrace._src.nn import ctc_ops as _ctc
from headrace._src.nn import normalization as _normalization
from headrace._src.nn import activations as _activations
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_special import sequence_mask
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse.sparse_ops import sparse_to_dense
from headrace._src.training.moving_averages import assign_moving_average


def _channels_first(data_format):
    data_format = data_format or _backend.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format: %s" % (data_format,))
    return data_format == "channels_first"


def _to_last(x, first):
    """x with the channels in the last dimension."""
    x = convert_to_tensor(x)
    if not first:
        return x
    return _array.transpose(x, [0] + list(range(2, ndim(x))) + [1])


def _from_last(x, first):
    """The other way round."""
    if not first:
        return x
    return _array.transpose(x, [0, ndim(x) - 1] + list(range(1, ndim(x) - 1)))


def _pad_name(padding):
    if padding not in ("same", "valid"):
        raise ValueError("Unknown padding: %s" % (padding,))
    return padding.upper()


def _numbers(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def _convolved(x, kernel, strides, padding, data_format, dilation_rate, rank):
    first = _channels_first(data_format)
    out = _conv.convolution(_to_last(x, first), kernel, _pad_name(padding),
                            _numbers(strides, rank),
                            _numbers(dilation_rate, rank))
    return _from_last(out, first)


def conv1d(x, kernel, strides=1, padding="valid", data_format=None,
           dilation_rate=1):
    """[batch, time, channels] convolved with kernel [width, channels, out].
    padding "causal": the output at a time depends on nothing later."""
    if padding == "causal":
        first = _channels_first(data_format)
        before = _numbers(dilation_rate, 1)[0] * (int_shape(kernel)[0] - 1)
        x = _array.pad(_to_last(x, first), [[0, 0], [before, 0], [0, 0]])
        out = _convolved(x, kernel, strides, "valid", "channels_last",
                         dilation_rate, 1)
        return _from_last(out, first)
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate,
                      1)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None,
           dilation_rate=(1, 1)):
    """Images convolved with kernel [height, width, channels, out]."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate,
                      2)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None,
           dilation_rate=(1, 1, 1)):
    """Volumes convolved with kernel [depth, height, width, channels, out]."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate,
                      3)


def conv2d_transpose(x, kernel, output_shape, strides=(1, 1), padding="valid",
                     data_format=None, dilation_rate=(1, 1)):
    """The gradient of a convolution: images of output_shape from kernel
    [height, width, out, channels]."""
    if _numbers(dilation_rate, 2) != (1, 1):
        raise NotImplementedError(
            "keras.backend.conv2d_transpose: dilation_rate %s is not supported"
            "; use tf.nn.atrous_conv2d_transpose" % (dilation_rate,))
    first = _channels_first(data_format)
    shape = list(output_shape) if isinstance(
        output_shape, (tuple, list)) else _array.unstack(output_shape)
    if first:
        shape = [shape[0], shape[2], shape[3], shape[1]]
    x = _to_last(x, first)
    if shape[0] is None:
        shape[0] = _array.shape(x)[0]
    if any(hasattr(d, "op") for d in shape):
        shape = _array.stack(shape)
    return _from_last(_conv.conv2d_transpose(
        x, kernel, shape, (1,) + _numbers(strides, 2) + (1,),
        padding=_pad_name(padding)), first)


def separable_conv2d(x, depthwise_kernel, pointwise_kernel, strides=(1, 1),
                     padding="valid", data_format=None, dilation_rate=(1, 1)):
    """Each channel of images convolved by itself, then mixed."""
    first = _channels_first(data_format)
    return _from_last(_conv.separable_conv2d(
        _to_last(x, first), depthwise_kernel, pointwise_kernel,
        (1,) + _numbers(strides, 2) + (1,), _pad_name(padding),
        _numbers(dilation_rate, 2)), first)


def _pooled(x, size, strides, padding, data_format, mode, ops):
    if mode not in ("max", "avg"):
        raise ValueError("Invalid pooling mode: %s" % (mode,))
    first = _channels_first(data_format)
    rank = ndim(convert_to_tensor(x)) - 2
    op = ops[mode == "avg"]
    return _from_last(op(
        _to_last(x, first), (1,) + _numbers(size, rank) + (1,),
        (1,) + _numbers(strides, rank) + (1,), _pad_name(padding)), first)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None,
           pool_mode="max"):
    """The largest ("max") or the mean ("avg") of each window of images."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode,
                   (_conv.max_pool, _conv.avg_pool))


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None,
           pool_mode="max"):
    """The largest ("max") or the mean ("avg") of each window of volumes."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode,
                   (_conv.max_pool3d, _conv.avg_pool3d))


def _local(inputs, kernel, kernel_size, strides, output_shape, data_format):
    """A convolution whose kernel [places, inputs of a window, out] differs
    from place to place."""
    first = _channels_first(data_format)
    x = _to_last(inputs, first)
    out = int_shape(kernel)[-1]
    windows = []
    for place in np.ndindex(*output_shape):
        part = (slice(None),) + tuple(
            slice(p * s, p * s + k)
            for p, s, k in zip(place, strides, kernel_size))
        window = x[part]
        if first:  # the kernel counts channels before places
            window = _from_last(window, True)
        windows.append(_array.reshape(window, [1, -1, int_shape(kernel)[1]]))
    result = _math.matmul(_array.concat(windows, 0), kernel)
    result = _array.reshape(result, tuple(output_shape) + (-1, out))
    n = len(output_shape)
    return _from_last(
        _array.transpose(result, [n] + list(range(n)) + [n + 1]), first)


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """[batch, time, channels] with another kernel at each place: kernel
    [places, kernel_size * channels, out]. kernel_size and strides are tuples
    of one number."""
    return _local(inputs, kernel, kernel_size, strides,
                  (int_shape(kernel)[0],), data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape,
                 data_format=None):
    """Images with another kernel at each place: kernel [places, height * width
    * channels, out], for output_shape (rows, columns)."""
    return _local(inputs, kernel, kernel_size, strides, output_shape,
                  data_format)


def bias_add(x, bias, data_format=None):
    """x plus a bias of one dimension, the channels, or of all but the
    batch."""
    first = _channels_first(data_format)
    x, bias = convert_to_tensor(x), convert_to_tensor(bias)
    rank, dims = ndim(x), int_shape(bias)
    if len(dims) not in (1, rank - 1):
        raise ValueError("Unexpected bias dimensions %d, expect to be 1 or %d "
                         "dimensions" % (len(dims), rank - 1))
    if first and rank > 2:
        shape = ((1, dims[0]) + (1,) * (rank - 2) if len(dims) == 1
                 else (1, dims[-1]) + dims[:-1])
    else:
        shape = ((1,) * (rank - 1) + dims if len(dims) == 1 else (1,) + dims)
    return x + _array.reshape(bias, shape)


def resize_images(x, height_factor, width_factor, data_format,
                  interpolation="nearest"):
    """Images, larger by the factors, integers; "nearest" or "bilinear"."""
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError("interpolation should be one of \"nearest\" or "
                         "\"bilinear\", got %s" % (interpolation,))
    first = _channels_first(data_format)
    x = _to_last(x, first)
    known = int_shape(x)
    size = _array.shape(x)[1:3] * [height_factor, width_factor]
    resize = (_images.resize_nearest_neighbor if interpolation == "nearest"
              else _images.resize_bilinear)
    out = resize(x, size, half_pixel_centers=True)
    out.set_shape((known[0], known[1] and known[1] * height_factor,
                   known[2] and known[2] * width_factor, known[3]))
    return _from_last(out, first)


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Volumes, each element repeated by the factors, integers."""
    axes = (2, 3, 4) if _channels_first(data_format) else (1, 2, 3)
    for axis, factor in zip(axes, (depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis)
    return x


def dropout(x, level, noise_shape=None, seed=None):
    """x with the share `level` of its elements set to 0, and the rest scaled
    to the same sum."""
    return _activations.dropout(x, rate=level, noise_shape=noise_shape,
                                   seed=_seed(seed))


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """(x - mean) / sqrt(var + epsilon) * gamma + beta; beta and gamma may be
    None. `axis` is that of the channels."""
    x = convert_to_tensor(x)
    axis %= ndim(x)

    def along(v):
        if v is None or axis == ndim(x) - 1 or ndim(v) != 1:
            return v
        return _array.reshape(v, [-1 if i == axis else 1
                                  for i in range(ndim(x))])
    return _normalization.batch_normalization(
        x, along(mean), along(var), along(beta), along(gamma), epsilon)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """(x normalized by its own mean and variance over reduction_axes, the
    mean, the variance)."""
    x = convert_to_tensor(x)
    axes = [a % ndim(x) for a in reduction_axes]
    mean, variance = _normalization.moments(x, axes)
    if sorted(axes) != list(range(ndim(x) - 1)):
        shape = _array.stack([1 if i in axes else _array.shape(x)[i]
                              for i in range(ndim(x))])

        def along(v):
            return None if v is None else _array.reshape(v, shape)
    else:
        def along(v):
            return v
    return _normalization.batch_normalization(
        x, along(mean), along(variance), along(beta), along(gamma),
        epsilon), mean, variance


def moving_average_update(x, value, momentum):
    """The op that sets the variable x to x * momentum + value * (1 - momentum),
    corrected for its beginning at 0."""
    return assign_moving_average(x, value, momentum, zero_debias=True)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """-sum(target * log(output)) over `axis`; `output` are probabilities, or
    logits if from_logits."""
    output = convert_to_tensor(output)
    if axis % ndim(output) != ndim(output) - 1:
        if not from_logits and output.op.type == "Softmax":
            # As for the last axis: of a softmax, whatever its axis is, what it
            # was computed from are the logits.
            output, from_logits = output.op.inputs[0], True
        order = [i for i in range(ndim(output)) if i != axis % ndim(output)]
        order.append(axis % ndim(output))
        target = _array.transpose(target, order)
        output = _array.transpose(output, order)
    return _losses.categorical_crossentropy(target, output, from_logits)


def sparse_categorical_crossentropy(target, output, from_logits=False,
                                    axis=-1):
    """-log(output) of the class `target`, int; the shape of target."""
    return _losses.sparse_categorical_crossentropy(target, output, from_logits,
                                                   axis)


def binary_crossentropy(target, output, from_logits=False):
    """Of each element: -target log(output) - (1 - target) log(1 - output)."""
    output = convert_to_tensor(output)
    # The mean over a dimension of one element is the element.
    return _losses.binary_crossentropy(
        _array.expand_dims(convert_to_tensor(target, output.dtype), -1),
        _array.expand_dims(output, -1), from_logits)


def ctc_label_dense_to_sparse(labels, label_lengths):
    """A SparseTensor of the first label_lengths [batch] of each row of labels
    [batch, n]."""
    labels = convert_to_tensor(labels)
    lengths = _math.cast(label_lengths, dtypes.int32)
    there = _array.where(sequence_mask(
        lengths, _array.shape(labels)[1]))
    return SparseTensor(there, _array.gather_nd(labels, there),
                        _math.cast(_array.shape(labels), dtypes.int64))


def _log_time_major(y_pred):
    return _math.log(_array.transpose(y_pred, [1, 0, 2]) + _backend.epsilon())


def _vector(lengths):
    return _math.cast(_array.squeeze(lengths, [-1]), dtypes.int32)


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """[batch, 1], the CTC loss of y_pred [batch, time, classes], softmax with
    the blank last, for the labels y_true [batch, n]; the lengths are [batch,
    1]."""
    labels = _math.cast(ctc_label_dense_to_sparse(
        y_true, _vector(label_length)), dtypes.int32)
    return _array.expand_dims(_ctc.ctc_loss(
        labels, _log_time_major(y_pred), _vector(input_length)), 1)


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """([labels [batch, n], padded with -1, of each of top_paths], log
    probabilities [batch, top_paths]) of y_pred [batch, time, classes], softmax
    with the blank last; input_length is [batch]."""
    inputs = _log_time_major(y_pred)
    lengths = _math.cast(input_length, dtypes.int32)
    if greedy:
        decoded, scores = _ctc.ctc_greedy_decoder(inputs, lengths)
    else:
        decoded, scores = _ctc.ctc_beam_search_decoder(
            inputs, lengths, beam_width, top_paths)
    return [sparse_to_dense(d.indices, d.dense_shape, d.values, -1)
            for d in decoded], scores


def _swap(x):
    return _array.transpose(x, [1, 0] + list(range(2, ndim(x))))


def _chosen(mask, a, b):
    """a where mask [batch, 1] or [batch] is true, else b."""
    mask = _array.reshape(mask, [-1] + [1] * (ndim(a) - 1))
    return _array.where(_math.logical_and(mask, _array.ones_like(
        a, dtype=dtypes.bool_)), a, b)


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None,
        constants=None, unroll=False, input_length=None, time_major=False,
        zero_output_for_mask=False):
    """(last output, outputs, new states) of a loop over time.

    step_function: from (the inputs of one step, states) to (output, states).
      With `constants`, a list, states end with these.
    inputs: [batch, time, ...], or [time, batch, ...] if time_major; may be
      nested. The outputs are alike.
    initial_states: a list of [batch, ...]; may be nested too.
    mask: bool [batch, time]: a step that is False repeats the output before
      it (zeros if zero_output_for_mask) and leaves the states.
    unroll: each step is in the graph; the number of steps is known.
    input_length: more steps than that are not made; what they would give is
      0."""
    constants = list(constants or [])
    flat = [convert_to_tensor(x) for x in nest.flatten(inputs)]
    if not time_major:
        flat = [_swap(x) for x in flat]
    if mask is not None:
        mask = convert_to_tensor(mask)
        mask = _math.cast(mask, dtypes.bool_)
        if ndim(mask) == 3:
            mask = _array.squeeze(mask, [-1])
        if not time_major:
            mask = _array.transpose(mask)
    known = int_shape(flat[0])[0]
    batch = int_shape(flat[0])[1]

    def step(now, at_mask, states, before):
        """(outputs, states) of the inputs `now`, all of them flat lists."""
        outputs, new = step_function(
            nest.pack_sequence_as(inputs, now),
            tuple(nest.pack_sequence_as(structure, states)) + tuple(constants))
        structures.append(outputs)
        outputs = [convert_to_tensor(x) for x in nest.flatten(outputs)]
        new = nest.flatten(list(new))
        for a, b in zip(new, states):
            a.set_shape(b.get_shape())
        if at_mask is not None:
            if before is None or zero_output_for_mask:
                before = [_array.zeros_like(x) for x in outputs]
            outputs = [_chosen(at_mask, a, b) for a, b in zip(outputs, before)]
            new = [_chosen(at_mask, a, b) for a, b in zip(new, states)]
        return outputs, new

    structure, structures = list(initial_states), []
    states = [convert_to_tensor(s) for s in nest.flatten(structure)]
    if mask is not None and not states:
        raise ValueError("No initial states provided! With a mask, the first "
                         "state is the output of the step before.")
    if unroll:
        if not known:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        every, before = [], None
        for t in (reversed(range(known)) if go_backwards else range(known)):
            before, states = step([x[t] for x in flat],
                                  None if mask is None else mask[t], states,
                                  before)
            every.append(before)
        results = [_array.stack(x, 0) for x in zip(*every)]
        lasts = every[-1]
    else:
        steps = _array.shape(flat[0])[0]
        if go_backwards:
            flat = [_array.reverse(x, [0]) for x in flat]
            mask = mask if mask is None else _array.reverse(mask, [0])

        def array_of(x):
            return TensorArray(x.dtype, size=steps,
                               element_shape=x.get_shape()[1:]).unstack(x)
        arrays = [array_of(x) for x in flat]
        masks = None if mask is None else array_of(mask)
        # The shapes and types of the outputs, from a step outside of the loop.
        # It takes no element of an array: each is there for one read.
        first, _ = step([x[0] for x in flat], None, states, None)
        made = [TensorArray(x.dtype, size=steps, element_shape=x.get_shape())
                for x in first]

        def body(t, made, before, states):
            outputs, new = step([x.read(t) for x in arrays],
                                None if masks is None else masks.read(t),
                                states, before)
            made = [array.write(t, x) for array, x in zip(made, outputs)]
            return t + 1, made, [] if masks is None else outputs, new
        _, made, _, states = while_loop(
            lambda t, *_: t < steps, body,
            (0, made, [] if masks is None else [
                _array.zeros_like(x) for x in first], states),
            parallel_iterations=32, maximum_iterations=input_length)
        results = [x.stack() for x in made]
        lasts = [x[-1] for x in results]
    for x in results:
        x.set_shape([known, batch] + x.get_shape().as_list()[2:])
    results = results if time_major else [_swap(x) for x in results]
    return (nest.pack_sequence_as(structures[0], lasts),
            nest.pack_sequence_as(structures[0], results),
            nest.pack_sequence_as(structure, states))
