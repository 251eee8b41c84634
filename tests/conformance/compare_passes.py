#!/usr/bin/env python3
"""Run the models with all graph passes and with none, and compare what comes out.

    compare_passes.py LIBRARY DIR... [--only TEXT] [--passes A,B] [--json FILE]

Every fetch of every step must agree: floating point within 1e-4 of the largest value of the tensor, everything else exactly. --passes names
the passes to switch off in the second run instead of all. Cases that fail both times are left to run_models.py. Needs numpy alone.
"""
import argparse
import glob
import json
import os
import pickle
import select
import subprocess
import sys
import tempfile

import numpy as np

import run_models

TOLERANCE = 1e-4


def worker(library):
    """Reads lines 'CASE FILE'; leaves what the case computed, or why it failed, in the file."""
    api = run_models.ModelApi(library.split(":"))
    for line in sys.stdin:
        case, path = line.rstrip("\n").split("\t")
        seen = []
        run_models.close = lambda got, want, rtol, atol, what: seen.append((what, np.array(got)))
        try:
            run_models.run(api, case)
            result = seen
        except Exception as e:
            result = f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"
        with open(path, "wb") as f:
            pickle.dump(result, f)
        print("done", flush=True)


class Worker:
    """A process that runs cases, started again when one ends or hangs."""

    def __init__(self, library, disabled, timeout, folder):
        self.library, self.timeout = library, timeout
        self.file = os.path.join(folder, disabled or "none")
        self.env = dict(os.environ, HEADRACE_DISABLE_PASSES=disabled, TF_CPP_MIN_LOG_LEVEL="3")
        self.process = None

    def run(self, case):
        """[(name, array)], or why the case failed."""
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", self.library, "-"],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.env)
        self.process.stdin.write(f"{case}\t{self.file}\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], self.timeout)[0]:
            why = f"no answer in {self.timeout:g} s"
        elif self.process.stdout.readline() == "done\n":
            with open(self.file, "rb") as f:
                return pickle.load(f)
        else:
            why = "the process ended"
        self.stop()
        return why

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def difference(on, off):
    """What differs between two lists of results; '' if they agree."""
    if isinstance(on, str) or isinstance(off, str):
        return "" if isinstance(on, str) and isinstance(off, str) else f"with passes: {on}; without: {off}"[:400]
    for (what, a), (_, b) in zip(on, off):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{what}: {a.dtype}{list(a.shape)} with passes, {b.dtype}{list(b.shape)} without"
        if a.dtype.kind not in "fc":
            if not np.array_equal(a, b):
                return f"{what}: values differ"
            continue
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return f"{what}: other values are not finite"
        scale = float(np.abs(b[finite]).max(initial=0))
        worst = float(np.abs(a[finite] - b[finite]).max(initial=0))
        if worst > TOLERANCE * scale:
            return f"{what}: differs by {worst:g}, the largest value is {scale:g}"
    return "" if len(on) == len(off) else "another number of results"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("--only")
    parser.add_argument("--passes", default="all")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--json", help="file to write {case: what differs, or ''} to")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.library)
    cases = sorted(os.path.dirname(f) for d in args.dirs for f in glob.glob(d + "/**/case.json", recursive=True))
    cases = [c for c in cases if not args.only or args.only in c]
    results, ran = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(args.library, disabled, args.timeout, folder) for disabled in ("", args.passes)]
        for case in cases:
            on, off = (w.run(os.path.abspath(case)) for w in workers)
            ran += not isinstance(on, str)
            name = os.path.relpath(case, next(d for d in args.dirs if case.startswith(d)))
            results[name] = difference(on, off)
            if results[name]:
                print("DIFFERS", name, results[name])
        for w in workers:
            w.stop()
    if args.json:
        with open(args.json, "w") as f:
            json.dump(results, f, indent=1)
    differ = sum(map(bool, results.values()))
    print(f"{ran} of {len(cases)} ran, {differ} differ")
    return 1 if differ or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
