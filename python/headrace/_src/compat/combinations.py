"""tensorflow.python.framework.combinations: a test for each combination of
arguments. Those for eager execution and for TensorFlow 2 are left out."""
import functools
import inspect
import itertools
import unittest
from collections import OrderedDict

from headrace._src.framework.graph import Graph
from headrace._src.session.config import list_physical_devices


class NamedObject:
    """An object with a name, for the arguments of a test."""

    def __init__(self, name, obj):
        self._name = name
        self._obj = obj

    def __getattr__(self, name):
        return getattr(self._obj, name)

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __iter__(self):
        return iter(self._obj)

    def __repr__(self):
        return self._name


class NamedDistribution:
    """A strategy for the arguments of a test, which gets what distribution_fn()
    returns if the process has so many GPUs."""

    def __init__(self, name, distribution_fn, required_gpus=None,
                 required_tpu=False):
        self._name = name
        self._distribution_fn = distribution_fn
        self.required_gpus = required_gpus
        self.required_tpu = required_tpu

    strategy = property(lambda self: self._distribution_fn())

    def __repr__(self):
        return self._name


def _strategy(value):
    return value.strategy if isinstance(value, NamedDistribution) else value


def combine(**kwargs):
    """Dictionaries with each combination of the arguments' values, of which a
    list has several."""
    keys = sorted(kwargs)
    values = [kwargs[k] if isinstance(kwargs[k], list) else [kwargs[k]]
              for k in keys]
    return [OrderedDict(zip(keys, chosen))
            for chosen in itertools.product(*values)]


def times(*combined):
    """Each dictionary of one list joined with each of the others. ValueError if
    they have keys in common."""
    out = []
    for parts in itertools.product(*combined):
        joined = OrderedDict()
        for part in parts:
            for key, value in part.items():
                if key in joined:
                    raise ValueError(
                        "Keys need to not overlap: {} vs {}".format(
                            list(joined), list(part)))
                joined[key] = value
        out.append(joined)
    return out


def _is_here(combination):
    """Whether it is of graphs, of TensorFlow 1, and of devices that there
    are."""
    given = [v for v in combination.values()
             if isinstance(v, NamedDistribution)]
    gpus = max([combination.get("required_gpus") or 0]
               + [d.required_gpus or 0 for d in given])
    if gpus and len(list_physical_devices("GPU")) < gpus:
        return False
    if any(d.required_tpu for d in given) or combination.get(
            "required_tpu") or combination.get("required_tpus"):
        return False
    return (combination.get("mode", "graph") == "graph"
            and combination.get("tf_api_version", 1) == 1)


def generate(combinations, test_combinations=()):
    """A decorator of a test, or of a class of them: the test runs once for each
    combination, with an empty graph and its setUp. It gets the arguments; `mode`
    and `tf_api_version` only if it has such parameters. It is skipped if no
    combination is left."""
    mine = [c for c in combinations if _is_here(c)]

    def decorate(test):
        if isinstance(test, type):
            for name, value in list(vars(test).items()):
                if (name.startswith(unittest.TestLoader.testMethodPrefix)
                        and inspect.isfunction(value)):
                    setattr(test, name, decorate(value))
            return test
        parameters = inspect.signature(test).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

        def arguments(combination):
            return {k: _strategy(v) for k, v in combination.items()
                    if k in parameters or takes_all or k not in (
                        "mode", "tf_api_version", "required_gpus",
                        "required_tpu", "required_tpus")}

        # The parameters are the combinations', not pytest's.
        def run(self):
            if not mine:
                self.skipTest("needs eager execution or TensorFlow 2")
            for i, combination in enumerate(mine):
                if i:
                    self.tearDown()
                    self.setUp()
                with self.subTest(**{k: str(v) for k, v in
                                     combination.items()}), \
                        Graph().as_default():
                    test(self, **arguments(combination))
        functools.update_wrapper(run, test)
        del run.__wrapped__
        return run
    return decorate
