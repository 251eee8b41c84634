"""tf.contrib.data: what it has beside tf.data.experimental."""
import numpy as np

from headrace._src.data import experimental as _experimental
from headrace._src.data import reading as _reading
from headrace._src.data.datasets import Dataset
from headrace._src.data.elements import (
    TensorLeaf, flatten, leaves_like, map_leaves, pack)
from headrace._src.data.files import TFRecordDataset
from headrace._src.framework.tensor_shape import TensorShape


def batch_and_drop_remainder(batch_size):
    """A function for Dataset.apply: batches of exactly `batch_size` elements;
    what is left over at the end is dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes,
                                    padding_values=None):
    """The same with Dataset.padded_batch."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes=padded_shapes, padding_values=padding_values,
        drop_remainder=True)


def bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes,
        padded_shapes=None, padding_values=None, pad_to_bucket_boundary=False,
        no_padding=False):
    """tf.data.experimental.bucket_by_sequence_length, which keeps the
    remainder."""
    return _experimental.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes,
        padded_shapes, padding_values, pad_to_bucket_boundary, no_padding)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """tf.data.experimental.parallel_interleave, in any order."""
    return _experimental.parallel_interleave(
        map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size, stride=None, window_shift=None,
                         window_stride=1):
    """Batches of `window_size` elements, `window_stride` apart, that begin
    `window_shift` (1) apart. Windows that the end cuts off are left out.
    `stride` is the old name of `window_shift`; ValueError for both."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = next((s for s in (window_shift, stride) if s is not None), 1)

    def make(dataset):
        def batch(*window):
            return Dataset.zip(window if len(window) > 1 else window[0]).batch(
                window_size)
        return dataset.window(window_size, shift, window_stride,
                              drop_remainder=True).flat_map(batch)
    return make


def assert_element_shape(expected_shapes):
    """Elements with shapes that are as `expected_shapes` says, a structure like
    theirs; None stands for any. ValueError if shapes are known to be others; a
    run raises InvalidArgumentError."""
    from headrace._src.ops.array_special import ensure_shape

    def make(dataset):
        shapes = leaves_like(dataset._spec, expected_shapes, TensorShape)
        spec = pack(dataset._spec, [
            TensorLeaf(leaf.dtype, leaf.shape.merge_with(shape))
            for leaf, shape in zip(flatten(dataset._spec), shapes)])

        def check(*element):
            whole = element if isinstance(dataset._spec, tuple) else element[0]
            checked = iter(shapes)
            return map_leaves(
                lambda t: ensure_shape(t, next(checked)), whole)
        checked = dataset.map(check)
        return Dataset(checked._variant_tensor, spec)
    return make


def make_csv_dataset(
        file_pattern, batch_size, column_names=None, column_defaults=None,
        label_name=None, select_columns=None, field_delim=",",
        use_quote_delim=True, na_value="", header=True, num_epochs=None,
        shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
        prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
        num_rows_for_inference=100, compression_type=None):
    """tf.data.experimental.make_csv_dataset, for which rows that cannot be read
    are errors."""
    return _reading.make_csv_dataset(
        file_pattern, batch_size, column_names, column_defaults, label_name,
        select_columns, field_delim, use_quote_delim, na_value, header,
        num_epochs, shuffle, shuffle_buffer_size, shuffle_seed,
        prefetch_buffer_size, num_parallel_reads, sloppy,
        num_rows_for_inference, compression_type)


def read_batch_features(file_pattern, batch_size, features,
                        reader=TFRecordDataset, reader_args=None,
                        randomize_input=True, num_epochs=None, capacity=10000):
    """The next batch of tf.data.experimental.make_batched_features_dataset: a
    dict of tensors. `capacity`: the size of the buffer from which rows are
    drawn."""
    return _reading.make_batched_features_dataset(
        file_pattern, batch_size, features, reader=reader,
        reader_args=reader_args, shuffle=randomize_input, num_epochs=num_epochs,
        shuffle_buffer_size=capacity).make_one_shot_iterator().get_next()


def reduce_dataset(dataset, reducer):
    """The last state of a Reducer, without `finalize_func`. TypeError for what
    is no dataset."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)
