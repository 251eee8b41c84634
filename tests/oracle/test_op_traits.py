"""What schemas say of ops beside their signatures holds for what kernels do."""
import collections
import subprocess

import numpy as np
import pytest

import libraries
import op_defs
import random_ops

SEEDS = range(12)
TOOL = libraries.ROOT / "build" / "bin" / "headrace"
# Another order of many terms may round otherwise.
SUMS_OF_MANY = {"AddN", "AccumulateNV2"}


def read_traits():
    """{op: {trait: value or True}}"""
    lines = subprocess.run([TOOL, "ops", "--traits"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    traits = {}
    for line in lines:
        op, words = line.split("\t")
        traits[op] = {name: value if colon else True for name, colon, value in
                      (word.partition(":") for word in words.split())}
    return traits


def flat(inputs):
    return [e for i in inputs for e in (i if isinstance(i, list) else [i])]


def direct(case, values):
    """The last node of `case` alone, fed with `values`, one an input."""
    last, values = case["nodes"][-1], iter(values)
    nodes, feeds = [], []

    def fed(_):
        value = next(values)
        name = "in%d" % len(nodes)
        nodes.append({"name": name, "op": "Placeholder", "inputs": [],
                      "attrs": {"dtype": ("type", value[0]),
                                "shape": ("shape", None)}})
        feeds.append((name, value))
        return name, 0

    inputs = [[fed(e) for e in i] if isinstance(i, list) else fed(i)
              for i in last["inputs"]]
    return {"nodes": nodes + [{**last, "inputs": inputs}], "feeds": feeds,
            "fetches": case["fetches"]}


def constant(case):
    """`case`, as `direct` gives it, with constants: it may be folded."""
    fed = dict(case["feeds"])
    nodes = [{**n, "op": "Const", "attrs": {"dtype": ("type", fed[n["name"]][0]),
                                            "value": ("tensor", fed[n["name"]])}}
             if n["name"] in fed else n for n in case["nodes"]]
    return {**case, "nodes": nodes, "feeds": []}


class Run:
    """A case of an op that runs: what its inputs are and what it gives."""

    def __init__(self, library, case):
        count, fed = len(case["fetches"]), dict(case["feeds"])
        ends = flat(case["nodes"][-1]["inputs"])
        answer = library.ask({**case, "fetches": case["fetches"] + [
            e for e in ends if e[0] not in fed]})
        self.ran = (answer["stage"] == "ok" and count > 0 and
                    all(v[2] is not None for v in answer["values"]))
        if not self.ran:
            return
        self.library, fetched = library, iter(answer["values"][count:])
        self.inputs = [fed.get(e[0]) or next(fetched) for e in ends]
        self.case = direct(case, self.inputs)
        self.outputs = self.again(self.inputs)
        self.ran = self.outputs is not None

    def again(self, inputs, form=lambda case: case):
        """What the op gives; None if it fails."""
        answer = self.library.ask(form(direct(self.case, inputs)))
        return answer["values"] if answer["stage"] == "ok" else None

    def is_refused(self, form):
        """Shape functions may refuse values that kernels take."""
        return self.library.ask(
            form(direct(self.case, self.inputs)))["stage"] == "build"


def equal(a, b):
    """The same bits, but for the bits of NaN."""
    if a[:2] != b[:2]:
        return False
    if a[2] == b[2]:
        return True
    if a[0] not in random_ops.FLOATS | random_ops.COMPLEX:
        return False
    return np.array_equal(random_ops.decode(a), random_ops.decode(b),
                          equal_nan=True)


def check_pure(run, _):
    for form in (lambda case: case, constant):
        got = run.again(run.inputs, form)
        assert got is not None or run.is_refused(form)
        assert got is None or all(map(equal, got, run.outputs))
    return True


def check_keeps_shape(run, _):
    assert run.outputs[0][1] == run.inputs[0][1]
    return True


def check_commutative(run, name):
    if len(run.inputs) < 2:
        return False
    got = run.again(run.inputs[::-1])
    assert got is not None
    if name in SUMS_OF_MANY:
        values = [random_ops.decode(t).astype(np.complex128)
                  for t in run.inputs]
        if not np.all(np.isfinite(values)):
            return False
        np.testing.assert_allclose(
            random_ops.decode(got[0]).astype(np.complex128),
            random_ops.decode(run.outputs[0]).astype(np.complex128),
            rtol=.02, atol=.02 * np.max(np.abs(values), initial=0))
    else:
        assert all(map(equal, got, run.outputs))
    return True


def check_elementwise(run, _):
    """A slice of the inputs gives that slice of the output."""
    arrays = np.broadcast_arrays(*map(random_ops.decode, run.inputs))
    dtype, dims, _ = run.outputs[0]
    assert list(arrays[0].shape) == dims
    if dtype in (random_ops.BFLOAT16, random_ops.STRING) or arrays[0].size < 2:
        return False
    flat_arrays = [a.ravel()[1:] for a in arrays]
    got = run.again([random_ops.encode(t[0], a)
                     for t, a in zip(run.inputs, flat_arrays)])
    want = random_ops.decode(run.outputs[0]).ravel()[1:]
    assert got is not None
    assert equal(got[0], random_ops.encode(dtype, want))
    return True


def check_output(run, how):
    """Elements that are an input's are the same; whose memory they are in,
    src/kernels/lib/op_traits_test.cc checks."""
    if how == "input":
        assert all(equal(o, run.inputs[0]) for o in run.outputs)
    elif how == "each-input":
        assert all(map(equal, run.outputs, run.inputs))
    elif how == "view":
        assert run.outputs[0][2] == run.inputs[0][2]
    else:
        return False
    return True


def check_no_op(run, when):
    if when == "always":
        assert all(map(equal, run.outputs, run.inputs))
    elif when == "type-is-kept" and run.inputs[0][0] == run.outputs[0][0]:
        assert equal(run.outputs[0], run.inputs[0])
    elif when == "shape-is-kept" and run.inputs[0][1] == run.outputs[0][1]:
        assert equal(run.outputs[0], run.inputs[0])
    else:
        return False
    return True


def check_floats_never_fail(run, _):
    """NaNs, infinities and zeros in the place of the floats."""
    if run.inputs[0][0] not in (random_ops.FLOAT, random_ops.DOUBLE):
        return False
    odd = [np.resize([np.nan, np.inf, -np.inf, 0., -0., 1e300], t[1])
           if t[0] == run.inputs[0][0] else None for t in run.inputs]
    with np.errstate(over="ignore"):
        got = run.again([t if a is None else random_ops.encode(t[0], a)
                         for t, a in zip(run.inputs, odd)])
    assert got is not None
    return True


def check_activation(run, kind):
    x, y = random_ops.decode(run.inputs[0]), random_ops.decode(run.outputs[0])
    assert x.shape == y.shape and run.inputs[0][0] == run.outputs[0][0]
    if kind == "relu":
        np.testing.assert_array_equal(y, np.maximum(x, 0))
    elif kind == "relu6":
        np.testing.assert_array_equal(y, np.minimum(np.maximum(x, 0), 6))
    return True


CHECKS = {"effects": check_pure, "keeps-shape": check_keeps_shape,
          "commutative": check_commutative, "elementwise": check_elementwise,
          "output": check_output, "no-op": check_no_op,
          "activation": check_activation,
          "floats-never-fail": check_floats_never_fail}
# Of how many ops the cases can tell, at least. Some traits hold now and then.
REACHED = {"effects": 440, "keeps-shape": 100, "commutative": 13,
           "elementwise": 40, "output": 9, "no-op": 7, "activation": 6,
           "floats-never-fail": 4}


@pytest.mark.slow
def test_traits_hold_for_kernels():
    """`reached` counts the ops of which a case could tell."""
    traits, wrong = read_traits(), []
    stated, reached = collections.Counter(), collections.defaultdict(set)
    with libraries.headrace() as library:
        ops = op_defs.parse(library.ask("ops"))
        assert set(ops) == set(traits)
        for name in sorted(ops):
            checks = {t: v for t, v in traits[name].items() if t in CHECKS and
                      (t != "effects" or v == "pure")}
            if not checks or not random_ops.usable(ops[name]):
                continue
            stated.update(checks.keys())
            ranks = random_ops.accepted_ranks(library, ops[name])
            for seed in SEEDS:
                todo = [t for t in checks if name not in reached[t]]
                if not todo:
                    break
                try:
                    run = Run(library, random_ops.make_case(
                        ops, name, seed, ranks))
                except random_ops.Refused:
                    continue
                for trait in todo if run.ran else ():
                    value = checks[trait]
                    argument = name if trait == "commutative" else value
                    try:
                        if CHECKS[trait](run, argument):
                            reached[trait].add(name)
                    except AssertionError as error:
                        wrong.append("%s, seed %d, %s %s: %s" % (
                            name, seed, trait, value, error))
    print({t: "%d of %d" % (len(reached[t]), stated[t]) for t in CHECKS})
    assert not wrong, "\n".join(wrong)
    for trait, least in REACHED.items():
        assert len(reached[trait]) >= least, (trait, sorted(reached[trait]))


@pytest.mark.parametrize("trait, value, inputs, outputs", [
    ("keeps-shape", True, [[1., 2.]], [[1.]]),
    ("output", "input", [[1., 2.]], [[1., 3.]]),
    ("output", "view", [[1., 2.]], [[2., 2.]]),
    ("no-op", "always", [[1., 2.]], [[2., 2.]]),
    ("activation", "relu", [[-1., 2.]], [[-1., 2.]]),
    ("activation", "relu6", [[1., 8.]], [[1., 8.]]),
])
def test_traits_that_do_not_hold_are_found(trait, value, inputs, outputs):
    run = Run.__new__(Run)
    run.inputs, run.outputs = (
        [random_ops.encode(random_ops.FLOAT, x) for x in side]
        for side in (inputs, outputs))
    with pytest.raises(AssertionError):
        CHECKS[trait](run, value)


def test_effects_that_a_policy_asks_for_are_stated():
    traits = read_traits()
    effects = {op: set(t["effects"].split("|")) for op, t in traits.items()}
    assert not [op for op, e in effects.items() if "unknown" in e]
    for op, wanted in {
            "ReadFile": "reads-files", "RestoreV2": "reads-files",
            "TFRecordDataset": "reads-files", "WriteFile": "writes-files",
            "SaveV2": "writes-files", "CreateSummaryFileWriter": "writes-files",
            "PrintV2": "prints", "Assert": "stops",
            "RandomUniform": "random", "ReadVariableOp": "reads-state",
            "AssignVariableOp": "writes-state", "AssignAdd": "writes-state",
            "StatefulPartitionedCall": "calls-functions", "_Send": "transfers",
            "Add": "pure"}.items():
        assert wanted in effects[op], op
