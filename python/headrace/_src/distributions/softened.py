"""tf.contrib.distributions: those that take softplus of some parameters."""
from headrace import raw_ops as _raw
from headrace._src.distributions.continuous import (
    Beta, Gamma, InverseGamma, StudentT)
from headrace._src.distributions.distributions import (
    Exponential, Laplace, Normal)
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math


def _softened(cls, name, changed, absolute=None):
    """The class that takes softplus of the parameters `changed`, and of
    `absolute` the absolute value without its fraction."""
    def __init__(self, *args, **kwargs):
        names = cls.__init__.__code__.co_varnames[1:]
        given = dict(zip(names, args), **kwargs)
        given.setdefault("name", name)
        values = dict(given)
        with name_scope(given["name"], values=[
                given[key] for key in changed if key in given]) as scope:
            for key in changed:
                values[key] = _raw.Softplus(
                    convert_to_tensor(given[key]), name="softplus_" + key)
            if absolute:
                values[absolute] = _math.floor(_math.abs(
                    convert_to_tensor(given[absolute])))
            values["name"] = scope
            cls.__init__(self, **values)
        self._parameters = given

    return type(name, (cls,), {
        "__init__": __init__, "__module__": __name__,
        "__doc__": "%s of softplus of its %s." % (
            cls.__name__, " and ".join(changed))})


BetaWithSoftplusConcentration = _softened(
    Beta, "BetaWithSoftplusConcentration",
    ["concentration1", "concentration0"])
ExponentialWithSoftplusRate = _softened(
    Exponential, "ExponentialWithSoftplusRate", ["rate"])
GammaWithSoftplusConcentrationRate = _softened(
    Gamma, "GammaWithSoftplusConcentrationRate", ["concentration", "rate"])
InverseGammaWithSoftplusConcentrationRate = _softened(
    InverseGamma, "InverseGammaWithSoftplusConcentrationRate",
    ["concentration", "rate"])
LaplaceWithSoftplusScale = _softened(
    Laplace, "LaplaceWithSoftplusScale", ["scale"])
NormalWithSoftplusScale = _softened(
    Normal, "NormalWithSoftplusScale", ["scale"])
StudentTWithAbsDfSoftplusScale = _softened(
    StudentT, "StudentTWithAbsDfSoftplusScale", ["scale"], "df")
