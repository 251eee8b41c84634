"""tensorflow.python.ops.lookup_ops: tables with the arguments that they have
there."""
from headrace._src.flow import contrib_lookup as _contrib
from headrace._src.flow import lookup_ops as _tables


class HashTable(_contrib.HashTable):
    """tf.lookup.StaticHashTable."""

    def __init__(self, initializer, default_value, name=None):
        super().__init__(initializer, default_value, name=name)


class MutableHashTable(_contrib.MutableHashTable):
    """A table that runs insert into and remove from."""

    def __init__(self, key_dtype, value_dtype, default_value,
                 name="MutableHashTable", checkpoint=True):
        super().__init__(key_dtype, value_dtype, default_value, name=name,
                         checkpoint=checkpoint)


# What classes of the contents of tables derive from.
TableInitializerBase = _tables._Initializer
