"""tf.flags over absl.flags: the objects are absl's. As in TensorFlow, FLAGS parses
the command line at the first use of a value, and the commonest DEFINE_...
functions take the old names of their arguments."""
import functools
import logging
import sys

from absl import flags

# Flags belong to the module that calls DEFINE_..., not to this one.
flags.disclaim_key_flags()

_OLD_NAMES = {"flag_name": "name", "default_value": "default",
              "docstring": "help"}


def __getattr__(name):
    return getattr(flags, name)


def _with_old_names(define):
    @functools.wraps(define)
    def define_flag(*args, **kwargs):
        if not _OLD_NAMES.keys().isdisjoint(kwargs):
            kwargs = {_OLD_NAMES.get(k, k): v for k, v in kwargs.items()}
            logging.warning(
                "Use of the keyword argument names (flag_name, default_value, "
                "docstring) is deprecated, please use (name, default, help) "
                "instead.")
        return define(*args, **kwargs)
    return define_flag


DEFINE_string = _with_old_names(flags.DEFINE_string)
DEFINE_boolean = _with_old_names(flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_old_names(flags.DEFINE_float)
DEFINE_integer = _with_old_names(flags.DEFINE_integer)


class _Flags:
    """absl.flags.FLAGS, which parses sys.argv when a value is first asked
    for."""

    def __init__(self, flag_values):
        self.__dict__["_values"] = flag_values

    def __getattr__(self, name):
        values = self.__dict__["_values"]
        if not name.startswith("_") and name in values and not (
                values.is_parsed()):
            values(sys.argv)
        return getattr(values, name)

    def __setattr__(self, name, value):
        setattr(self._values, name, value)

    def __delattr__(self, name):
        delattr(self._values, name)

    def __dir__(self):
        return dir(self._values)

    def __getitem__(self, name):
        return self._values[name]

    def __setitem__(self, name, flag):
        self._values[name] = flag

    def __contains__(self, name):
        return name in self._values

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __str__(self):
        return str(self._values)

    def __call__(self, *args, **kwargs):
        return self._values(*args, **kwargs)


FLAGS = _Flags(flags.FLAGS)
