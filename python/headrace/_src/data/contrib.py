"""tf.contrib.data: what it has beside tf.data.experimental."""
from headrace._src.data import experimental as _experimental


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
