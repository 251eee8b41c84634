"""The options that a dataset's Options consist of, as objects of their own."""
from headrace._src.data.datasets import Options


class _Known(Options):
    """Options of certain names and types. AttributeError for other names,
    TypeError for other types; None where nothing was set."""

    _TYPES: dict = {}
    _DEFAULTS: dict = {}

    def __getattr__(self, name):
        if name not in self._TYPES:
            raise AttributeError(name)
        if issubclass(self._TYPES[name], Options):
            object.__setattr__(self, name, self._TYPES[name]())
            return vars(self)[name]
        return self._DEFAULTS.get(name)

    def __setattr__(self, name, value):
        if name not in self._TYPES:
            raise AttributeError("Cannot set the property %s on %s."
                                 % (name, type(self).__name__))
        if value is not None and not isinstance(value, self._TYPES[name]):
            raise TypeError(
                'Property "%s" must be of type %s, got: %r (type: %s)'
                % (name, self._TYPES[name], value, type(value)))
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name)
            for name in self._TYPES)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        raise TypeError("unhashable type: %r" % type(self).__name__)


class MapVectorizationOptions(_Known):
    """What `map_vectorization` of OptimizationOptions may say. Maps are not
    vectorized here; nothing changes."""
    _TYPES = {"enabled": bool, "use_choose_fastest": bool}


class OptimizationOptions(_Known):
    """Which changes of a dataset are made before it is iterated: those that
    tf.data.Options say."""
    _TYPES = {
        **dict.fromkeys("""
            apply_default_optimizations autotune autotune_buffers filter_fusion
            filter_with_random_uniform_fusion hoist_random_uniform
            map_and_batch_fusion map_and_filter_fusion map_fusion
            map_parallelization noop_elimination parallel_batch
            shuffle_and_repeat_fusion""".split(), bool),
        "autotune_algorithm": int, "autotune_cpu_budget": int,
        "map_vectorization": MapVectorizationOptions}


class ThreadingOptions(_Known):
    """How many threads a dataset may have. Datasets here run in the threads of
    the session; nothing changes."""
    _TYPES = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class DistributeOptions(_Known):
    """How a dataset is shared out to workers. Programs share out their own
    here (Dataset.shard); nothing changes."""
    _TYPES = {"auto_shard": bool, "num_devices": int}
    _DEFAULTS = {"auto_shard": True}
