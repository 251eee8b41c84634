"""tensorflow.python.ops.lookup_ops: tables of words under the argument's name
that it has there."""
from headrace._src.flow import contrib_lookup as _lookup
from headrace._src.framework import dtypes


def index_table_from_tensor(vocabulary_list, num_oov_buckets=0,
                            default_value=-1,
                            hasher_spec=_lookup.FastHashSpec,
                            dtype=dtypes.string, name=None):
    """tf.contrib.lookup.index_table_from_tensor."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    return _lookup.index_table_from_tensor(
        vocabulary_list, num_oov_buckets, default_value, hasher_spec, dtype,
        name)


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK",
                                      name=None):
    """tf.contrib.lookup.index_to_string_table_from_tensor."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    return _lookup.index_to_string_table_from_tensor(
        vocabulary_list, default_value, name)
