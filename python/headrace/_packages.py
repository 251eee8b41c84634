"""Namespaces whose names a package beside TensorFlow's defines, as in 1.15.

tf.estimator is all of the package tensorflow-estimator's public interface. That
package says `import tensorflow`, so the finder of headrace.compat is installed
when the first of its names is used.
"""
import functools
import importlib
from importlib import metadata, util
import re

from headrace import _loading
from headrace._interface import NAMES as TENSORFLOW

PACKAGE, VERSION = "tensorflow-estimator", "1.15.2"
_ROOT = "tensorflow_estimator"
_PUBLIC = _ROOT + ".python.estimator.api._v1."
_TPU = _ROOT + ".python.estimator.tpu."

# Of each namespace, modules with the names that come from each; None: all that
# TensorFlow has in the namespace.
_HOMES = {
    "contrib.estimator": {_ROOT + ".contrib.estimator": None},
    # Classes of ours below those of the package.
    "contrib.factorization": {
        "headrace._src.factorization.kmeans_estimator": "KMeansClustering",
    },
    "contrib.tpu": {
        _TPU + "tpu_config": "InputPipelineConfig RunConfig TPUConfig",
        _TPU + "tpu_estimator": """
            TPUEstimator TPUEstimatorSpec export_estimator_savedmodel""",
    },
    "estimator": {_PUBLIC + "estimator": None},
    "estimator.experimental": {_PUBLIC + "estimator.experimental": None},
    "estimator.export": {_PUBLIC + "estimator.export": None},
    "estimator.inputs": {_PUBLIC + "estimator.inputs": None},
    "estimator.tpu": {_PUBLIC + "estimator.tpu": None},
    "estimator.tpu.experimental": {
        _PUBLIC + "estimator.tpu.experimental": None},
}


@functools.cache
def homes(space):
    """{name: module of the package} of the namespace `space`."""
    return {name: module for module, names in _HOMES.get(space, {}).items()
            for name in (names or TENSORFLOW[space]).split()
            if "%s.%s" % (space, name) not in TENSORFLOW}


def is_installed():
    """Whether the package is there, in a version with TensorFlow 1.15's
    interface."""
    return _missing() is None


def _missing():
    """What is wrong with the package, or None."""
    if util.find_spec(_ROOT) is None:
        return "which is not installed"
    try:
        version = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None  # a folder on sys.path
    return None if re.match(r"1\.15\b", version) else (
        "of which %s is installed" % version)


def message(full):
    """What to do where the package of the name `full` is not there."""
    return "%s is in the package %s, %s: pip install %s==%s" % (
        full, PACKAGE, _missing(), PACKAGE, VERSION)


def load(module):
    """A module of the package. ModuleNotFoundError, which says how to install
    it, where it is not there; ImportError where another tensorflow was
    imported."""
    if not is_installed():
        raise ModuleNotFoundError(message(module))
    _loading.load("_src.compat.finder").install(removed_names=False)
    return importlib.import_module(module)


def find(space, name):
    """The value of one of homes(space)."""
    return getattr(load(homes(space)[name]), name)
