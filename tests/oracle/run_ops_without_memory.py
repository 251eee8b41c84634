#!/usr/bin/env python3
"""Run every op that a case can be made for, with allocations that fail.

    run_ops_without_memory.py LIBRARY FAILING_ALLOCATIONS [--ops Op,Op]
        [--but Op,Op] [--failures N] [--timeout SECONDS] [--ran FILE]

FAILING_ALLOCATIONS is the library that build/tests has
(tests/faults/failing_allocations.cc); it is preloaded. A case that runs is
looked for by seeds, and its run repeated: the n-th allocation fails, all large
ones from the n-th on, or all beyond a limit, for some n and limits. Any error
passes and any result; a crash or a hang does not. FILE gets the names of the
ops that ran so. The last line is 'N passed, N failed'.
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "conformance"))
import op_defs  # noqa: E402
import op_worker  # noqa: E402
import random_ops  # noqa: E402
import run_without_memory  # noqa: E402
import without_memory  # noqa: E402

SEEDS = range(40)
# Ops of which only a program makes sense: what they wait for never comes.
WAITING = ("Queue", "Barrier", "Reader", "LMDBReader", "RecordInput",
           "AccumulatorTake", "SparseAccumulatorTake")


class FailingOpApi(run_without_memory.FailingApi, op_worker.OpApi):
    """Runs of single ops, tried without memory first."""


class Here:
    """The library in this process, as random_ops asks one."""

    def __init__(self, api):
        self.api = api

    def ask(self, request):
        return (self.api.op_list() if request == "ops"
                else self.api.answer(request))


def plain_name(name):
    """What the older and newer spellings of an op have in common."""
    return re.sub(r"^(Batch|Experimental)|V\d$", "", name)


def respelled(case, op):
    """The case with its last node an `op` instead."""
    last = case["nodes"][-1]
    known = {a.name for a in op.attrs}
    attrs = {k: v for k, v in last["attrs"].items() if k in known}
    return {**case, "nodes": case["nodes"][:-1] + [
        {**last, "op": op.name, "attrs": attrs}]}


def case_that_runs(ops, name, library):
    """Of the op as it is called, or of another spelling that it understands."""
    others = [n for n in ops if n != name and
              plain_name(n) == plain_name(name) and random_ops.usable(ops[n])]
    for spelling in [name] + others:
        ranks = random_ops.accepted_ranks(library, ops[spelling])
        for seed in SEEDS:
            try:
                case = random_ops.make_case(ops, spelling, seed, ranks)
            except random_ops.Refused:
                continue
            case = respelled(case, ops[name])
            if library.ask(case)["stage"] == "ok":
                return case
    return None


def worker(arguments):
    paths = arguments.library.split(":")
    plain = Here(op_worker.OpApi(paths))
    api = FailingOpApi(paths, arguments.faults, arguments.failures)
    ops = op_defs.parse(plain.ask("ops"))

    def run(name):
        case = case_that_runs(ops, name, plain)
        if case is None:
            return without_memory.tell("none", name)
        api.answer(case)
        without_memory.tell("ran", *{n["op"] for n in case["nodes"]})

    without_memory.serve(run)
    without_memory.tell_codes(api.failing.codes)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("faults")
    parser.add_argument("--ops", default="")
    parser.add_argument("--but", default="", help="leaves these out")
    parser.add_argument("--failures", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--ran")
    parser.add_argument("--worker", action="store_true",
                        help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    names = [n for n in arguments.ops.split(",") if n]
    if not names:
        ops = op_defs.parse(
            op_worker.OpApi(arguments.library.split(":")).op_list())
        names = [n for n in sorted(ops) if random_ops.usable(ops[n]) and
                 not n.startswith(WAITING)]
    names = [n for n in names if n not in arguments.but.split(",")]
    results = without_memory.drive(
        __file__, [arguments.library, arguments.faults, "--failures",
                   arguments.failures],
        names, names, arguments.faults, arguments.timeout)
    ran = sorted({op for words in results.told if words[0] == "ran"
                  for op in words[1:]})
    if arguments.ran:
        pathlib.Path(arguments.ran).write_text("\n".join(ran))
    print("no case for:", *[words[1] for words in results.told
                            if words[0] == "none"])
    return results.report()


if __name__ == "__main__":
    sys.exit(main())
