#!/usr/bin/env python3
"""Random single ops, run by this library and by TensorFlow, side by side.

    differential.py --oracle PYTHON [--seconds N] [--seed N] [--op NAME,...]

PYTHON (or the variable HEADRACE_ORACLE) is an interpreter that has TensorFlow
installed: 2.x, or 1.15 for what 2.x changed. Each library runs in a process of
its own; one that dies or hangs costs a case. What is compared:

- error: one refuses what the other does (not where the oracle has no kernel);
- death: this library died or hung;
- shape: the static shape contradicts the oracle's or what the run gives;
- vague: the static shape says less than the oracle's;
- value: type, shape or elements differ;
- late, accepts: refused in the run where the oracle refuses to build, or not at
  all (--kinds all reports these, too).

Differences that are meant are in allowed.py, each with its reason.
"""
import argparse
import collections
import fnmatch
import os
import sys
import time

import numpy as np

import libraries
import op_defs
import random_ops
from allowed import ALLOWED, EXTREME, NEAR, UNSORTED

# Relative to the larger of the element and, for sums that cancel, a part of
# the largest element.
TOLERANCES = {random_ops.HALF: 4e-3, random_ops.BFLOAT16: 3e-2,
              random_ops.FLOAT: 2e-5, random_ops.COMPLEX64: 5e-5,
              random_ops.DOUBLE: 1e-8, random_ops.COMPLEX128: 1e-8}
# Kernels that the oracle's build lacks; nothing can be said of these.
NO_KERNEL = ("No OpKernel was registered", "not available in GraphDef",
             "Op type not registered", "NodeDef mentions attr",
             "is not in the list of allowed values", "removed in version",
             "Could not find device", "no CPU kernel", "no kernel for op",
             "Unsupported", "not supported")


def compatible(a, b):
    return a is None or b is None or len(a) == len(b) and all(
        x == y or x < 0 or y < 0 for x, y in zip(a, b))


def says_less(ours, theirs):
    if theirs is None:
        return False
    return ours is None or any(x < 0 <= y for x, y in zip(ours, theirs))


def close(dtype, got, want):
    """Whether they are the same number, both NaN, or both as infinite."""
    if dtype in random_ops.COMPLEX:
        return close(None, got.real, want.real) & close(None, got.imag,
                                                        want.imag)
    with np.errstate(all="ignore"):
        got, want = got.astype(np.float64), want.astype(np.float64)
    tolerance = TOLERANCES.get(dtype, 5e-5)
    with np.errstate(all="ignore"):
        finite = np.abs(want[np.isfinite(want)])
        largest = finite.max() if finite.size else 0
        near = np.abs(got - want) <= tolerance * np.maximum(
            np.abs(want), largest * .2) + 1e-36
        near &= np.isfinite(got) & np.isfinite(want)
        return near | (got == want) | (np.isnan(got) & np.isnan(want))


def is_near(dtype, got, want):
    """Whether all are numbers that agree to two digits."""
    if dtype not in random_ops.FLOATS and dtype not in random_ops.COMPLEX:
        return False
    with np.errstate(all="ignore"):
        got, want = (np.asarray(v).astype(np.complex128) for v in (got, want))
        size = np.abs(want)
        return bool(np.all(np.abs(got - want) <= .01 * np.maximum(
            size, .2 * size.max())))


def difference(got, want):
    """What is different, as text, or None."""
    if got[0] != want[0]:
        return "type %d, not %d" % (got[0], want[0])
    if got[1] != want[1]:
        return "shape %s, not %s" % (got[1], want[1])
    if got[2] is None or got[2] == want[2]:
        return None
    dtype, ours, theirs = got[0], *map(random_ops.decode, (got, want))
    if dtype in random_ops.FLOATS or dtype in random_ops.COMPLEX:
        same = close(dtype, ours, theirs)
    else:
        same = ours == theirs
    if np.all(same):
        return None
    at = np.unravel_index(np.argmin(same), same.shape)
    return "%d of %d elements, the first at %s: %r, not %r%s" % (
        np.size(same) - np.sum(same), np.size(same), list(map(int, at)),
        ours[at], theirs[at], NEAR if is_near(dtype, ours, theirs) else "")


def compare(ours, theirs, random_values=False):
    """[(kind, what)] of two answers."""
    if theirs["stage"] != "ok" and any(n in theirs["message"]
                                       for n in NO_KERNEL):
        return []
    found = []
    if (ours["stage"] == "ok") != (theirs["stage"] == "ok"):
        if ours["stage"] == "ok":
            found.append(("accepts", "TensorFlow: %s" % theirs["message"]))
        elif any(n in ours["message"] for n in NO_KERNEL):
            found.append(("kernel", ours["message"]))
        else:
            found.append(("refuses", "%s: %s" % (ours["stage"],
                                                 ours["message"])))
    elif (ours["stage"] == "run") and theirs["stage"] == "build" and \
            ours["node"] == theirs["node"]:
        found.append(("late", "TensorFlow when it builds: %s" %
                      theirs["message"]))
    runs = [v[1] for v in ours["values"]] if ours["stage"] == "ok" else []
    truths = [v[1] for v in theirs["values"]] if theirs["stage"] == "ok" else []
    for i, (mine, other) in enumerate(zip(ours["shapes"], theirs["shapes"])):
        # Shapes and values are in step only if every output was fetched.
        known = truths or runs
        truth = known[i] if len(known) == len(ours["shapes"]) else None
        if mine == other:
            continue
        if truth is not None and not compatible(mine, truth):
            found.append(("shape", "output %d: %s, the run gives %s" %
                          (i, mine, truth)))
        elif truth is None and not compatible(mine, other):
            found.append(("shape", "output %d: %s, not %s" % (i, mine, other)))
        elif says_less(mine, other) and (truth is None or
                                         compatible(other, truth)):
            found.append(("vague", "output %d: %s, not %s" % (i, mine, other)))
    for i, (mine, other) in enumerate(zip(ours["values"], theirs["values"])):
        if random_values:
            mine, other = (*mine[:2], None), (*other[:2], None)
        what = difference(mine, other)
        if what:
            found.append(("value", "output %d: %s" % (i, what)))
    return found


def is_unsorted(case, name):
    return any(n["op"] == name and n["attrs"]["sorted"][1] is False
               for n in case["nodes"] if "sorted" in n["attrs"])


def allowed(op, kind, what):
    return any(fnmatch.fnmatchcase(op, pattern) and kind in kinds.split() and
               all(part in what for part in
                   ((parts,) if isinstance(parts, str) else parts))
               for pattern, kinds, parts, _ in ALLOWED)


class Search:
    """Cases of each op in turn, from `seed` on."""

    def __init__(self, ours, theirs, only=None):
        self.ours, self.theirs = ours, theirs
        mine = op_defs.parse(ours.ask("ops"))
        other = op_defs.parse(theirs.ask("ops"))
        self.ops = {name: op for name, op in mine.items()
                    if name in other and random_ops.usable(op) and
                    (not only or name in only)}
        self.ranks = {}
        self.counts = collections.Counter()

    def case(self, name, seed):
        if name not in self.ranks:
            try:
                self.ranks[name] = random_ops.accepted_ranks(
                    self.theirs, self.ops[name])
            except libraries.Died:
                self.ranks[name] = {}
        return random_ops.make_case(self.ops, name, seed, self.ranks[name])

    def differences(self, name, seed):
        """[(kind, what)] of one case, without those that are allowed."""
        try:
            case = self.case(name, seed)
        except random_ops.Refused:
            self.counts["no case"] += 1
            return []
        try:
            theirs = self.theirs.ask(case)
        except libraries.Died:
            self.counts["oracle died"] += 1
            theirs = None
        try:
            ours = self.ours.ask(case)
        except libraries.Died as error:
            return [("death", str(error))]
        if theirs is None:
            return []
        self.counts[theirs["stage"]] += 1
        random_values = self.ops[name].stateful or "Random" in name
        found = compare(ours, theirs, random_values)
        marks = (EXTREME if random_ops.is_extreme(case) else "") + (
            UNSORTED if is_unsorted(case, name) else "")
        found = [(kind, what + (marks if kind == "value" else ""))
                 for kind, what in found]
        found = [d for d in found if not allowed(name, *d)]
        if any(kind == "value" for kind, _ in found) and \
                not self.repeats(case, theirs):
            self.counts["oracle unsteady"] += 1
            found = [d for d in found if d[0] != "value"]
        return found

    def repeats(self, case, theirs):
        """Whether the oracle gives the same again. It leaves some outputs as
        they lay in memory."""
        try:
            return all(self.theirs.ask(case)["values"] == theirs["values"]
                       for _ in range(2))
        except libraries.Died:
            return False


def show(search, name, seed):
    """Prints a case and both answers."""
    case = search.case(name, seed)
    for n in case["nodes"]:
        attrs = {k: readable(v[1]) for k, v in n["attrs"].items()}
        print(n["name"], n["op"], n["inputs"], attrs)
    for feed, value in case["feeds"]:
        print("feed", feed, readable(value))
    for library in (search.ours, search.theirs):
        answer = library.ask(case)
        print(answer["stage"], answer["message"], answer["shapes"])
        for value in answer["values"]:
            print("  ", readable(value))


def readable(value):
    if isinstance(value, tuple) and len(value) == 3 and value[2] is not None:
        return "%s %s" % (value[1], random_ops.decode(value).tolist())
    return value


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default=os.environ.get("HEADRACE_ORACLE"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--op", default="", help="these alone")
    parser.add_argument("--kinds", help="which are reported, or all",
                        default="death,value,shape,vague,refuses,kernel")
    parser.add_argument("--show", action="store_true",
                        help="the case of --op and --seed in full")
    args = parser.parse_args()
    if not args.oracle:
        parser.error("which interpreter has TensorFlow? --oracle")
    end = time.time() + args.seconds
    kinds = args.kinds.split(",")
    cases = differing = 0
    with libraries.headrace() as ours, libraries.oracle(args.oracle) as theirs:
        search = Search(ours, theirs, set(filter(None, args.op.split(","))))
        if args.show:
            return show(search, args.op, args.seed)
        seed = args.seed
        while time.time() < end:
            for name in sorted(search.ops):
                if time.time() >= end:
                    break
                cases += 1
                for kind, what in search.differences(name, seed):
                    if args.kinds != "all" and kind not in kinds:
                        continue
                    differing += 1
                    print("%-7s %s %d: %s" % (kind, name, seed,
                                              " ".join(what.split())[:300]),
                          flush=True)
            seed += 1
    print("%d cases to seed %d, %d differences; %s" % (
        cases, seed, differing, dict(search.counts)))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
