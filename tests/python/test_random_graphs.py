"""Graphs that nobody thought of give the same with and without graph passes."""
import re

import numpy as np
import pytest

import headrace as tf
import random_graphs

SEEDS = range(300)


@pytest.mark.parametrize("seed", SEEDS)
def test_passes_do_not_show(seed):
    random_graphs.check(seed)


def test_seeds_make_every_construct():
    missing = {c.function.__name__ for c in random_graphs.CONSTRUCTS}
    for table in ("ACTIVATIONS", "UNARY", "INTEGER_UNARY", "BINARY",
                  "UNCHANGED"):
        missing.update(getattr(random_graphs, table))
    activation = f"[+] ({'|'.join(random_graphs.ACTIVATIONS)}) "
    patterns = {f"{layer} {activation}" for layer in (
        "conv", "conv_same", "depthwise_same", "dense", "dense_same",
        r"while_loop \[ [^]]*conv_same", r"while_loop \[ [^]]*dense_same",
        *(rf"{body} \[ [^]]*(conv|dense)_same" for body in (
            "map_fn", "cond", "defun")))}
    for seed in SEEDS:
        trace = random_graphs.builders(seed)[0].trace
        missing.difference_update(trace)
        text = " ".join(trace) + " "
        patterns = {p for p in patterns if not re.search(p, text)}
        if not missing and not patterns:
            return
    pytest.fail("no seed makes %s" % sorted(missing | patterns))


def test_seeds_have_memory_plans_with_an_arena():
    """Which is there for large tensors that are not fetched."""
    seen = 0
    for seed in SEEDS:
        built = random_graphs.builders(seed)[0]
        has_loops = built.nesting > 0 or "lstm" in built.trace
        if not has_loops and np.prod(built.shape[1:]) > 20000:
            shape = [built.batch or 5, *built.shape[1:]]
            with tf.Session(graph=built.graph) as session:
                plan = session.plan(built.values[-1], {"x:0": shape})
            seen += sum(b.bytes >= 128 << 10 for b in plan.blocks) >= 3
            if seen == 5:
                return
    pytest.fail("only %d seeds do" % seen)


def damage_value(check, session, tensors, feeds, results):
    results[-1] = results[-1] + 1


def damage_bits(check, session, tensors, feeds, results):
    if session is check.other:
        results[-1] = np.nextafter(results[-1], np.float32(np.inf))


def damage_shape(check, session, tensors, feeds, results):
    results[-1] = results[-1][None]


def damage_feed(check, session, tensors, feeds, results):
    check.built.values[0] in feeds and feeds[check.built.values[0]].fill(5)


def damage_earlier(check, session, tensors, feeds, results):
    for _, arrays, _ in check.kept:
        arrays[-1].fill(5)


def damage_step(check, session, tensors, feeds, results):
    raise tf.errors.InternalError(None, None, "no kernel")


@pytest.mark.parametrize("damage, what", [
    (damage_value, "is off by 1, of at most"),
    (damage_bits, "other threads' run .* the bits are not those"),
    (damage_shape, "want"),
    (damage_feed, "the array fed as x:0 was written"),
    (damage_earlier, "its results changed afterwards"),
    (damage_step, "no kernel"),
])
def test_what_is_reported(monkeypatch, damage, what):
    def step(check, session, tensors, feeds):
        try:
            results = session.run(tensors, feeds)
            damage(check, session, tensors, feeds, results)
            return results
        except tf.errors.OpError as error:
            return error

    monkeypatch.setattr(random_graphs.Check, "step", step)
    with pytest.raises(random_graphs.Mismatch, match=what) as raised:
        random_graphs.check(SEEDS[1])
    assert re.search(r"seed 1, case .*\nmade of: \w.*\nagain: .* 0 1$",
                     str(raised.value), re.DOTALL)
