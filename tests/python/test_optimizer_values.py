"""The update ops of optimizers against their formulas, on references, on
resources, dense and by rows."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import expect_close

LR, EPS = .1, .01


def sign(x):
    return np.sign(x)


def shrink(x, by, l2):
    """The proximal step: towards zero by `by`, and divided."""
    return sign(x) * np.maximum(np.abs(x) - by, 0) / l2


def gradient_descent(s, g):
    return {"var": s["var"] - LR * g}


def proximal_descent(s, g):
    return {"var": shrink(s["var"] - LR * g, LR * .2, 1 + LR * .3)}


def adadelta(s, g):
    accum = .9 * s["accum"] + .1 * g * g
    update = np.sqrt(s["accum_update"] + EPS) / np.sqrt(accum + EPS) * g
    return {"var": s["var"] - LR * update, "accum": accum,
            "accum_update": .9 * s["accum_update"] + .1 * update ** 2}


def adagrad(s, g):
    accum = s["accum"] + g * g
    return {"var": s["var"] - LR * g / np.sqrt(accum), "accum": accum}


def adagrad_v2(s, g):
    accum = s["accum"] + g * g
    return {"var": s["var"] - LR * g / (np.sqrt(accum) + EPS), "accum": accum}


def proximal_adagrad(s, g):
    accum = s["accum"] + g * g
    rate = LR / np.sqrt(accum)
    return {"var": shrink(s["var"] - rate * g, rate * .2, 1 + rate * .3),
            "accum": accum}


def adagrad_da(s, g, step=7):
    total = s["gradient_accumulator"] + g
    squared = s["gradient_squared_accumulator"] + g * g
    shrunk = sign(total) * np.maximum(np.abs(total) - .2 * step, 0)
    return {"var": -LR * shrunk / (step * LR * .3 + np.sqrt(squared)),
            "gradient_accumulator": total, "gradient_squared_accumulator": squared}


def ftrl(s, g, power=-.5, shrinkage=0.):
    shrunk = g + 2 * shrinkage * s["var"]
    accum = s["accum"] + g * g
    linear = s["linear"] + shrunk - (
        accum ** -power - s["accum"] ** -power) / LR * s["var"]
    quadratic = accum ** -power / LR + 2 * .3
    var = np.where(np.abs(linear) > .2, (sign(linear) * .2 - linear) / quadratic, 0)
    return {"var": var, "accum": accum, "linear": linear}


def ftrl_v2(s, g):
    return ftrl(s, g, shrinkage=.15)


def momentum(s, g):
    accum = .9 * s["accum"] + g
    return {"var": s["var"] - LR * accum, "accum": accum}


def keras_momentum(s, g):
    accum = .9 * s["accum"] - LR * g
    return {"var": s["var"] + accum, "accum": accum}


def rms_prop(s, g):
    ms = .9 * s["ms"] + .1 * g * g
    mom = .5 * s["mom"] + LR * g / np.sqrt(ms + EPS)
    return {"var": s["var"] - mom, "ms": ms, "mom": mom}


def centered_rms_prop(s, g):
    ms, mg = .9 * s["ms"] + .1 * g * g, .9 * s["mg"] + .1 * g
    mom = .5 * s["mom"] + LR * g / np.sqrt(ms - mg * mg + EPS)
    return {"var": s["var"] - mom, "mg": mg, "ms": ms, "mom": mom}


def adam(s, g):
    m, v = .9 * s["m"] + .1 * g, .99 * s["v"] + .01 * g * g
    rate = LR * np.sqrt(1 - .99 ** 2) / (1 - .9 ** 2)
    return {"var": s["var"] - rate * m / (np.sqrt(v) + EPS), "m": m, "v": v}


def adam_amsgrad(s, g):
    new = adam(s, g)
    vhat = np.maximum(s["vhat"], new["v"])
    rate = LR * np.sqrt(1 - .99 ** 2) / (1 - .9 ** 2)
    return {"var": s["var"] - rate * new["m"] / (np.sqrt(vhat) + EPS),
            "m": new["m"], "v": new["v"], "vhat": vhat}


def ada_max(s, g):
    m, v = .9 * s["m"] + .1 * g, np.maximum(.99 * s["v"], np.abs(g))
    return {"var": s["var"] - LR / (1 - .9 ** 2) * m / (v + EPS), "m": m, "v": v}


def add_sign(s, g):
    m = .9 * s["m"] + .1 * g
    return {"var": s["var"] - LR * (1.5 + .7 * sign(g) * sign(m)) * g, "m": m}


def power_sign(s, g):
    m = .9 * s["m"] + .1 * g
    return {"var": s["var"] - LR * np.exp(1.5 * .7 * sign(g) * sign(m)) * g, "m": m}


# op: (formula, names of the slots after var, arguments before the gradient,
# arguments after it), as the op has them.
DENSE = {
    "GradientDescent": (gradient_descent, [], [LR], []),
    "ProximalGradientDescent": (proximal_descent, [], [LR, .2, .3], []),
    "Adadelta": (adadelta, ["accum", "accum_update"], [LR, .9, EPS], []),
    "Adagrad": (adagrad, ["accum"], [LR], []),
    "AdagradV2": (adagrad_v2, ["accum"], [LR, EPS], []),
    "ProximalAdagrad": (proximal_adagrad, ["accum"], [LR, .2, .3], []),
    "AdagradDA": (adagrad_da, ["gradient_accumulator", "gradient_squared_accumulator"],
                  [], [LR, .2, .3, np.int64(7)]),
    "Ftrl": (ftrl, ["accum", "linear"], [], [LR, .2, .3, -.5]),
    "FtrlV2": (ftrl_v2, ["accum", "linear"], [], [LR, .2, .3, .15, -.5]),
    "Momentum": (momentum, ["accum"], [LR], [.9]),
    "RMSProp": (rms_prop, ["ms", "mom"], [LR, .9, .5, EPS], []),
    "CenteredRMSProp": (centered_rms_prop, ["mg", "ms", "mom"], [LR, .9, .5, EPS], []),
    "Adam": (adam, ["m", "v"], [.9 ** 2, .99 ** 2, LR, .9, .99, EPS], []),
    "AdaMax": (ada_max, ["m", "v"], [.9 ** 2, LR, .9, .99, EPS], []),
    "AddSign": (add_sign, ["m"], [LR, 1.5, .7, .9], []),
    "PowerSign": (power_sign, ["m"], [LR, 1.5, .7, .9], []),
    "KerasMomentum": (keras_momentum, ["accum"], [LR], [.9]),
    "AdamWithAmsgrad": (adam_amsgrad, ["m", "v", "vhat"],
                        [.9 ** 2, .99 ** 2, LR, .9, .99, EPS], []),
}
RESOURCE_ONLY = {"KerasMomentum", "AdamWithAmsgrad"}
SPARSE = ["Adadelta", "Adagrad", "AdagradV2", "ProximalAdagrad", "AdagradDA", "Ftrl",
          "FtrlV2", "Momentum", "RMSProp", "CenteredRMSProp", "ProximalGradientDescent",
          "KerasMomentum"]


def tolerance(dtype):
    return {np.float16: 2e-2, np.float32: 1e-4, np.float64: 1e-9}[dtype]


def start(slots, dtype):
    random = np.random.RandomState(0)
    state = {"var": random.randn(4, 3)}
    for slot in slots:
        state[slot] = random.uniform(.3, 1.5, (4, 3))
    if "mg" in state:
        state["mg"] *= .3  # ms - mg^2 stays positive
    return {k: v.astype(dtype) for k, v in state.items()}


def apply(name, state, gradient, before, after, resource, indices=None):
    """The state after the op."""
    dtype = gradient.dtype
    with tf.Graph().as_default(), tf.Session() as session:
        variables = [tf.Variable(v, use_resource=resource) for v in state.values()]
        session.run([v.initializer for v in variables])
        given = [v.handle if resource else v.op.outputs[0] for v in variables]
        scalar = lambda x: x if isinstance(x, np.integer) else np.array(x, dtype)
        operands = list(map(scalar, before))
        operands.append(gradient)
        if indices is not None:
            operands.append(indices)
        operands += list(map(scalar, after))
        done = getattr(raw_ops, name)(*given, *operands)
        session.run(done.op if hasattr(done, "op") else done)
        return dict(zip(state, session.run([v.read_value() for v in variables])))


def compare(got, wanted, dtype):
    for slot, value in wanted.items():
        expect_close(got[slot], value, tolerance(dtype), tolerance(dtype))


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", DENSE)
def test_dense_updates(name, dtype, resource):
    if name in RESOURCE_ONLY and not resource:
        return
    formula, slots, before, after = DENSE[name]
    state = start(slots, dtype)
    gradient = np.random.RandomState(1).randn(4, 3).astype(dtype)
    op = ("ResourceApply" if resource else "Apply") + name
    got = apply(op, state, gradient, before, after, resource)
    wide = {k: v.astype(np.float64) for k, v in state.items()}
    compare(got, formula(wide, gradient.astype(np.float64)), dtype)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SPARSE)
def test_updates_of_rows(name, dtype, index, resource):
    if name in RESOURCE_ONLY and not resource:
        return
    formula, slots, before, after = DENSE[name]
    state = start(slots, dtype)
    rows = np.array([3, 1], index)
    gradient = np.random.RandomState(1).randn(2, 3).astype(dtype)
    op = ("ResourceSparseApply" if resource else "SparseApply") + name
    got = apply(op, state, gradient, before, after, resource, rows)
    of_rows = {k: v[rows].astype(np.float64) for k, v in state.items()}
    wanted = {k: v.astype(np.float64) for k, v in state.items()}
    for slot, value in formula(of_rows, gradient.astype(np.float64)).items():
        wanted[slot][rows] = value
    compare(got, wanted, dtype)
