#!/usr/bin/env python3
"""Run conformance cases with allocations that fail.

    run_without_memory.py LIBRARY FAILING_ALLOCATIONS CASES_DIR... [--only Op,Op] [--cases N] [--failures N]

FAILING_ALLOCATIONS is the library that build/tests has (tests/faults/failing_allocations.cc); it is preloaded. In each
of the first N cases of each archive the import of the graph and the run of each step are repeated: the n-th allocation
fails, all large ones from the n-th on, or all beyond a limit, for some n and limits. Any error passes and any result; a
crash or a hang does not. Afterwards the case is run once more and has to pass. The last line is 'N passed, N failed'.
"""
import argparse, ctypes as C, glob, os, sys
import numpy as np
import run_cases
import without_memory


class FailingApi(run_cases.Api):
    """Api whose imports and runs are tried without memory first."""

    def __init__(self, paths, faults, failures):
        super().__init__(paths)
        self.failing = without_memory.Failing(faults, failures)
        self.plain = {}
        for name in ("SessionRun", "GraphImportGraphDef"):
            self.plain[name] = getattr(self, name)
        self.SessionRun, self.GraphImportGraphDef = self.run_failing, self.import_failing
        # For graphs that wait for what a run before took: 50 ms.
        self.deadline, self.waits = self.NewBufferFromString(b"\x10\x32", 2), False

    def try_all(self, function, make_args, undo):
        """Calls it with the allocations failing; makes its arguments each time."""
        def attempt(call):
            keep, args = make_args()
            call(function, args)
            code = self.GetCode(self.st)
            undo(keep)
            return code

        self.failing.sweep(attempt)

    def run_failing(self, session, options, fi, ins, ninputs, fo, res, noutputs, tg, ntargets, metadata, st):
        options = self.deadline if self.waits else options

        def make():
            mine = (C.c_void_p * max(1, noutputs))()
            return mine, (session, options, fi, ins, ninputs, fo, C.cast(mine, C.c_void_p), noutputs, tg, ntargets, metadata, st)

        def undo(mine):
            for t in mine[:noutputs]:
                if t:
                    self.DeleteTensor(t)

        if ins is not None:
            ins = C.cast(ins, C.c_void_p)
        self.try_all(self.plain["SessionRun"], make, undo)
        self.plain["SessionRun"](session, options, fi, ins, ninputs, fo, res, noutputs, tg, ntargets, metadata, st)

    def import_failing(self, graph, buf, opts, st):
        def make():
            mine = self.NewGraph()
            return mine, (mine, buf, opts, st)

        self.try_all(self.plain["GraphImportGraphDef"], make, self.DeleteGraph)
        self.plain["GraphImportGraphDef"](graph, buf, opts, st)


def worker(a):
    api = FailingApi(a.library.split(":"), a.faults, a.failures)

    def run(case):
        f, k = case
        d = np.load(f)
        api.waits = any(op in bytes(d[k + "/graph"]) for op in (b"Dequeue", b"Take", b"Unstage", b"Reader", b"Lock"))
        try:
            run_cases.run_case(api, d, k)
        except Exception as e:  # of a step that changes state, and ran before: only a crash counts
            without_memory.tell("note", os.path.basename(f), k, type(e).__name__, " ".join(str(e).split())[:200])

    without_memory.serve(run)
    without_memory.tell_codes(api.failing.codes)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("faults"), ap.add_argument("files", nargs="*")
    ap.add_argument("--only"), ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    ap.add_argument("--cases", type=int, default=1), ap.add_argument("--failures", type=int, default=30)
    ap.add_argument("--timeout", type=float, default=60, help="seconds without progress before a case counts as hung")
    a = ap.parse_args()
    if a.worker:
        return worker(a)
    files = sorted(f for d in a.files for f in (glob.glob(d + "/*.npz") if os.path.isdir(d) else [d]))
    if a.only:
        files = [f for f in files if os.path.basename(f)[:-4] in a.only.split(",")]
    cases = [(f, k) for f in files for k in sorted({x.split("/")[0] for x in np.load(f).files})[: a.cases]]
    results = without_memory.drive(os.path.abspath(__file__), [a.library, a.faults, "--failures", a.failures],
                                   [f"{os.path.basename(f)} {k}" for f, k in cases], cases, a.faults, a.timeout)
    return results.report()


if __name__ == "__main__":
    sys.exit(main())
