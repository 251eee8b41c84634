"""tf.flags: absl's flags where absl is installed, as in TensorFlow, so that flags
of both are parsed together; our own otherwise (own_flags.py)."""
import importlib

from headrace import _loading


def _choose():
    try:
        importlib.import_module("absl.flags")
    except ImportError:
        return ("_src.platform.own_flags", "_src.platform.flag_parsers")
    return ("_src.platform.absl_flags",)


_HOMES = _choose()
IS_ABSL = len(_HOMES) == 1


def __getattr__(name):
    for home in _HOMES:
        module = _loading.load(home)
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError("tf.flags has no %s" % name)
