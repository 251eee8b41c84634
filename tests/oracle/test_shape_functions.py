"""What shape functions infer holds for what the kernels then give."""
import collections
import copy

import pytest

import libraries
import op_defs
import random_ops

# Cases of each op, each in three forms.
SEEDS = range(3)
# Ops that are taken at their word: what they promise of values that only the
# run brings need not hold, as in TensorFlow.
PROMISES = {
    "AccumulateNV2": "the attr says the shape of inputs that are not known",
    "PlaceholderWithDefault": "the attr says the shape of a fed value",
    "FusedBatchNormV3": "data_format says five dimensions, four are taken too",
    "FusedBatchNormGradV3": "the same",
}


def with_constants(case):
    """`case` with constants for placeholders."""
    case = copy.deepcopy(case)
    fed = dict(case["feeds"])
    for node in case["nodes"]:
        if node["name"] in fed:
            node["op"] = "Const"
            node["attrs"] = {"dtype": node["attrs"]["dtype"],
                             "value": ("tensor", fed[node["name"]])}
    case["feeds"] = []
    return case


def with_placeholders(case):
    """`case` with placeholders of unknown shapes for constants."""
    case = copy.deepcopy(case)
    feeds = dict(case["feeds"])
    for node in case["nodes"][:-1]:
        if node["op"] == "Const":
            feeds[node["name"]] = node["attrs"]["value"][1]
        elif node["op"] != "Placeholder":
            continue
        node["op"] = "Placeholder"
        node["attrs"] = {"dtype": node["attrs"]["dtype"],
                         "shape": ("shape", None)}
    case["feeds"] = list(feeds.items())
    return case


def contradictions(answer, case):
    """What is inferred of outputs and does not hold for their values."""
    for (_, i), value in zip(case["fetches"], answer["values"]):
        inferred = answer["shapes"][i]
        if inferred is not None and (
                len(inferred) != len(value[1]) or
                any(d not in (-1, n) for d, n in zip(inferred, value[1]))):
            yield "output %d: inferred %s, got %s" % (i, inferred, value[1])


def test_inferred_shapes_hold():
    found, ran, died = [], collections.Counter(), []
    with libraries.headrace() as library:
        ops = op_defs.parse(library.ask("ops"))
        names = [n for n in sorted(ops) if random_ops.usable(ops[n]) and
                 n not in PROMISES]
        for name in names:
            ranks = random_ops.accepted_ranks(library, ops[name])
            for seed in SEEDS:
                try:
                    mixed = random_ops.make_case(ops, name, seed, ranks)
                except random_ops.Refused:
                    continue
                for form in (lambda c: c, with_constants, with_placeholders):
                    case = form(mixed)
                    try:
                        answer = library.ask(case)
                    except libraries.Died as error:
                        died.append("%s %d: %s" % (name, seed, error))
                        break
                    ran[name] += answer["stage"] == "ok"
                    found += ["%s %d: %s" % (name, seed, what)
                              for what in contradictions(answer, case)]
    assert not died
    assert not found, "\n".join(found)
    # The generator makes sense of most ops.
    assert sum(n > 0 for n in ran.values()) > len(names) * .5


@pytest.mark.parametrize("inferred, value, holds", [
    ([2, 3], [2, 3], True), ([-1, 3], [2, 3], True), (None, [2], True),
    ([2, 4], [2, 3], False), ([], [1], False), ([-1], [], False),
])
def test_contradictions_are_found(inferred, value, holds):
    answer = {"shapes": [inferred], "values": [(1, value, b"")]}
    assert holds != any(contradictions(answer, {"fetches": [("n", 0)]}))
