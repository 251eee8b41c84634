#!/usr/bin/env python3
"""Run every op that a case can be made for, with allocations that fail.

    run_ops_without_memory.py LIBRARY FAILING_ALLOCATIONS [--ops Op,Op]
        [--but Op,Op] [--failures N] [--timeout SECONDS]

FAILING_ALLOCATIONS is the library that build/tests has
(tests/faults/failing_allocations.cc); it is preloaded. A case that runs is
looked for by seeds, and its run repeated: the n-th allocation fails, and all
large ones from the n-th on, for some n. Any error passes and any result; a
crash or a hang does not. The last line is 'N passed, N failed'.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "conformance"))
import op_defs  # noqa: E402
import op_worker  # noqa: E402
import random_ops  # noqa: E402
import run_without_memory  # noqa: E402

SEEDS = range(12)
OUT_OF_MEMORY = 8


class FailingOpApi(run_without_memory.FailingApi, op_worker.OpApi):
    """Runs of single ops, tried without memory first."""


class Here:
    """The library in this process, as random_ops asks one."""

    def __init__(self, api):
        self.api = api

    def ask(self, request):
        return (self.api.op_list() if request == "ops"
                else self.api.answer(request))


def case_that_runs(ops, name, library):
    ranks = random_ops.accepted_ranks(library, ops[name])
    for seed in SEEDS:
        try:
            case = random_ops.make_case(ops, name, seed, ranks)
        except random_ops.Refused:
            continue
        if library.ask(case)["stage"] == "ok":
            return case
    return None


def worker(arguments):
    paths = arguments.library.split(":")
    plain = Here(op_worker.OpApi(paths))
    failing = FailingOpApi(paths, arguments.faults, arguments.failures)
    ops = op_defs.parse(plain.ask("ops"))
    for name in arguments.ops.split(","):
        print("start", name, flush=True)
        case = case_that_runs(ops, name, plain)
        if case is None:
            print("none", name, flush=True)
            continue
        failing.answer(case)
        print("pass", name, flush=True)
    print("codes", failing.codes.get(OUT_OF_MEMORY, 0), flush=True)


def run_worker(arguments, names):
    """(lines that the worker printed, how it ended, the end of its errors)."""
    faults = [arguments.faults, os.environ.get("LD_PRELOAD")]
    asan = os.environ.get("ASAN_OPTIONS", "")
    environment = dict(
        os.environ, LD_PRELOAD=":".join(filter(None, faults)),
        ASAN_OPTIONS=asan + ":verify_asan_link_order=0:detect_leaks=0")
    process = subprocess.Popen(
        [sys.executable, __file__, arguments.library, arguments.faults,
         "--worker", "--failures", str(arguments.failures),
         "--ops", ",".join(names)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        text=True)
    errors = []
    reader = threading.Thread(target=lambda: errors.append(
        process.stderr.read()))
    reader.start()
    lines, timer = [], None
    for line in process.stdout:
        if timer is not None:
            timer.cancel()
        timer = threading.Timer(arguments.timeout, process.kill)
        timer.start()
        lines.append(line.split())
    if timer is not None:
        timer.cancel()
    status = process.wait()
    reader.join()
    return lines, status, " ".join(errors[0].split())[-2000:]


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
    parser.add_argument("--worker", action="store_true",
                        help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    names = [n for n in arguments.ops.split(",") if n]
    if not names:
        ops = op_defs.parse(
            op_worker.OpApi(arguments.library.split(":")).op_list())
        names = [n for n in sorted(ops) if random_ops.usable(ops[n])]
    names = [n for n in names if n not in arguments.but.split(",")]
    passed, failed, refused = 0, 0, 0
    without_case = []
    while names:
        lines, status, errors = run_worker(arguments, names)
        done = [name for how, name in lines if how in ("pass", "none")]
        passed += sum(how == "pass" for how, _ in lines)
        without_case += [name for how, name in lines if how == "none"]
        refused += sum(int(n) for how, n in lines if how == "codes")
        if status == 0:
            break
        failed += 1
        names = names[len(done):]
        print("FAIL %s: the process ended with %d (crash or hang) %s"
              % (names[0], status, errors), flush=True)
        names = names[1:]
    print("no case for:", *without_case)
    print("runs that ended for want of memory:", refused)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
