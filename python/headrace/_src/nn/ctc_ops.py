"""tf.nn: connectionist temporal classification."""
from headrace import raw_ops as _raw
from headrace._src.control import functional_ops as _functional
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _renamed
from headrace._src.ops.array_special import sequence_mask, unique
from headrace._src.ops.sparse_tensor import SparseTensor


def _time_major(inputs, name="inputs"):
    return _array.transpose(convert_to_tensor(inputs, name=name), [1, 0, 2])


def ctc_loss(labels, inputs=None, sequence_length=None,
             preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True,
             logits=None):
    """For each row of the batch -log of the probability that the logits
    [time, batch, classes] spell its labels: a SparseTensor of int32
    [batch, time]. The last class is the blank, which parts labels and repeats.
    `time_major` False: the logits are [batch, time, classes]."""
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            "Expected labels (first argument) to be a SparseTensor")
    inputs = _renamed("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = _time_major(inputs)
    return _raw.CTCLoss(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)[0]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """([labels], scores): the likeliest class of each time step without blanks
    (the last class) and, if merge_repeated, without repeats, as a SparseTensor
    of int64; and minus the sum of the picked logits, [batch, 1]."""
    out = _raw.CTCGreedyDecoder(inputs, sequence_length,
                                merge_repeated=merge_repeated)
    return [SparseTensor(*out[:3])], out[3]


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100,
                            top_paths=1, merge_repeated=True):
    """(labellings, log-probabilities [batch, top_paths]): the likeliest
    labellings, best first, each a SparseTensor of int64 [batch, longest].
    merge_repeated also joins equal labels that a blank kept apart."""
    out = _raw.CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths,
        merge_repeated=merge_repeated)
    return ([SparseTensor(*parts) for parts in zip(*out[:3])],
            out[3])


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100,
                               top_paths=1):
    """ctc_beam_search_decoder without merge_repeated."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width,
                                   top_paths, merge_repeated=False)


def ctc_loss_dense(labels, logits, label_length, logit_length,
                   logits_time_major=True, unique=None, blank_index=0,
                   name=None):
    """ctc_loss_v2 of dense labels."""
    return ctc_loss_v2(labels, logits, label_length, logit_length,
                       logits_time_major, unique, blank_index, name)


def ctc_loss_v2(labels, logits, label_length, logit_length,
                logits_time_major=True, unique=None, blank_index=None,
                name=None):
    """For each row of the batch -log of the probability that the logits
    [time, batch, classes] spell its labels: the first label_length ones of a
    dense [batch, longest], or a SparseTensor, which label_length does not
    matter for. The class blank_index, from the end if negative, parts labels
    and repeats: by default 0; for a SparseTensor it must be given. inf for
    labels that logit_length steps have no room for. `unique` changes nothing:
    it is ctc_unique_labels of the labels, which other implementations need."""
    dense = not isinstance(labels, SparseTensor)
    if not dense and blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor "
                         "labels.")
    with name_scope(name, "ctc_loss_dense" if dense else "ctc_loss",
                    [logits]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        if not logits_time_major:
            logits = _array.transpose(logits, [1, 0, 2])
        if dense:
            labels = convert_to_tensor(labels, name="labels")
            label_length = convert_to_tensor(label_length,
                                             name="label_length")
            labels, repeats = _as_sparse(labels, label_length)
            blank_index = 0 if blank_index is None else blank_index
        logit_length = _math.cast(
            convert_to_tensor(logit_length, name="logit_length"), dtypes.int32)
        logits, labels = _blank_last(logits, labels, blank_index)
        labels = SparseTensor(
            labels.indices, _math.cast(labels.values, dtypes.int32),
            labels.dense_shape)
        if not dense:
            return ctc_loss(labels, logits, logit_length)
        loss = ctc_loss(labels, logits, logit_length,
                        ignore_longer_outputs_than_inputs=True)
        needed = _math.cast(label_length, dtypes.int32) + repeats
        return _array.where(
            needed <= logit_length, loss,
            _array.ones_like(loss) * float("inf"), name=scope)


def _as_sparse(labels, label_length):
    """(the labels as a SparseTensor, how many of each row are equal to the one
    before them)."""
    used = sequence_mask(label_length, _array.shape(labels)[1])
    at = _raw.Where(used)
    sparse = SparseTensor(at, _array.gather_nd(labels, at),
                          _array.shape(labels, out_type=dtypes.int64))
    equal = _math.logical_and(_math.equal(labels[:, 1:], labels[:, :-1]),
                              used[:, 1:])
    return sparse, _math.reduce_sum(_math.cast(equal, dtypes.int32), 1)


def dense_labels_to_sparse(dense, length):
    """The first length[i] labels of each row i of a matrix, as a
    SparseTensor."""
    return _as_sparse(convert_to_tensor(dense, name="dense"),
                      convert_to_tensor(length, name="length"))[0]


def _blank_last(logits, labels, blank_index):
    """The logits with the class of the blank at the end, and labels for
    them."""
    classes = _array._size_of_axis(logits, 2)
    if blank_index < 0:
        blank_index = blank_index + classes
    if (isinstance(blank_index, int) and isinstance(classes, int)
            and blank_index == classes - 1):
        return logits, labels
    logits = _array.concat(
        [logits[:, :, :blank_index], logits[:, :, blank_index + 1:],
         logits[:, :, blank_index:blank_index + 1]], axis=2)
    values = labels.values
    moved = _array.where(values < blank_index, values, values - 1)
    # A blank among the labels stays none of the classes.
    moved = _array.where(_math.equal(values, blank_index),
                         _array.ones_like(values) * (classes - 1), moved)
    return logits, SparseTensor(labels.indices, moved, labels.dense_shape)


def ctc_unique_labels(labels, name=None):
    """(the distinct labels of each row in order of appearance, filled with 0 up
    to the width; for each label where it stands among them)."""
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def row(x):
            found = unique(x)
            missing = _array.shape(x)[0] - _array.shape(found[0])[0]
            distinct = _array.pad(_math.cast(found[0], dtypes.int64),
                                  _array.reshape(_array.stack([0, missing]),
                                                 [1, 2]))
            return [distinct, found[1]]
        return _functional.map_fn(row, labels,
                                  dtype=[dtypes.int64, dtypes.int32])


def collapse_repeated(labels, seq_length, name=None):
    """(labels without those that are equal to the one before them, within the
    first seq_length of each row, filled with 0; the new lengths)."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = _array.ones_like(labels[:, :1], dtypes.bool_)
        new = _array.concat(
            [first, _math.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        used = sequence_mask(seq_length, _array.shape(labels)[1])
        new = _math.logical_and(new, used)
        lengths = _math.reduce_sum(
            _math.cast(new, seq_length.dtype.base_dtype), axis=1)
        # With nothing in the batch the width is 0.
        width = _math.reduce_max(_array.concat([[0], _math.cast(
            lengths, dtypes.int32)], 0))
        batch = _array.shape(labels)[0]
        target = _raw.Where(sequence_mask(lengths, width))
        values = _array.boolean_mask(labels, new)
        out = _raw.ScatterNd(target, values, _math.cast(
            _array.stack([batch, width]), dtypes.int64))
        out.set_shape([labels.get_shape()[0].value, None])
        return out, lengths
