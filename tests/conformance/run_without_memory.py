#!/usr/bin/env python3
"""Run conformance cases with allocations that fail.

    run_without_memory.py LIBRARY FAILING_ALLOCATIONS CASES_DIR... [--only Op,Op] [--cases N] [--failures N]

FAILING_ALLOCATIONS is the library that build/tests has (tests/faults/failing_allocations.cc); it is preloaded. In each
of the first N cases of each archive the import of the graph and the run of each step are repeated: the n-th allocation
fails, and all large ones from the n-th on, for some n. Any error passes and any result; a crash or a hang does not. Afterwards the
case is run once more and has to pass. The last line is 'N passed, N failed'.
"""
import argparse, ctypes as C, glob, json, os, subprocess, sys, threading
import numpy as np
import run_cases

ALL = 2**63 - 1
LARGE = (64 << 10) + 1


class FailingApi(run_cases.Api):
    """Api whose imports and runs are tried without memory first."""

    def __init__(self, paths, faults, failures):
        super().__init__(paths)
        self.faults, self.failures = C.CDLL(faults), failures
        self.faults.hr_call_failing.restype = self.faults.hr_allocations.restype = C.c_int64
        self.faults.hr_call_failing.argtypes = [C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.POINTER(C.c_int64)]
        self.plain = {}
        for name in ("SessionRun", "GraphImportGraphDef"):
            self.plain[name] = getattr(self, name)
        self.SessionRun, self.GraphImportGraphDef = self.run_failing, self.import_failing
        self.codes = {}
        # For graphs that wait for what a run before took: 50 ms.
        self.deadline, self.waits = self.NewBufferFromString(b"\x10\x32", 2), False

    def try_all(self, function, make_args, undo):
        """Calls it with the allocations failing; makes its arguments each time."""
        pointer = C.cast(function, C.c_void_p)
        for count, least in ((1, 0), (ALL, LARGE)):
            total, n = 1, 0
            while n <= total:
                keep, args = make_args()
                packed = (C.c_int64 * 12)(*[C.cast(a, C.c_void_p).value or 0 if not isinstance(a, int) else a for a in args])
                self.faults.hr_call_failing(n or ALL, count, least, pointer, packed)
                code = self.GetCode(self.st)
                self.codes[code] = self.codes.get(code, 0) + 1
                undo(keep)
                if n == 0:
                    total = self.faults.hr_allocations()
                    step = max(1, total // self.failures)
                # The first few one by one, then some.
                n += 1 if n < 8 else step

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
            return mine, (mine, buf, opts, st, 0, 0, 0, 0, 0, 0, 0, 0)

        self.try_all(self.plain["GraphImportGraphDef"], make, self.DeleteGraph)
        self.plain["GraphImportGraphDef"](graph, buf, opts, st)


def worker(a):
    api = FailingApi(a.library.split(":"), a.faults, a.failures)
    for f in a.files:
        d = np.load(f)
        for k in sorted({x.split("/")[0] for x in d.files})[: a.cases]:
            print(json.dumps(["start", f, k]), flush=True)
            api.waits = any(op in bytes(d[k + "/graph"]) for op in (b"Dequeue", b"Take", b"Unstage", b"Reader", b"Lock"))
            try:
                run_cases.run_case(api, d, k)
                print(json.dumps(["pass", f, k]), flush=True)
            except Exception as e:  # of a step that changes state, and ran before: only a crash counts
                print(json.dumps(["pass", f, k, f"{type(e).__name__}: {' '.join(str(e).split())[:200]}"]), flush=True)
    print(json.dumps(["codes", api.codes]), flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("faults"), ap.add_argument("files", nargs="+")
    ap.add_argument("--only"), ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    ap.add_argument("--cases", type=int, default=1), ap.add_argument("--failures", type=int, default=30)
    ap.add_argument("--timeout", type=float, default=60, help="seconds without progress before a case counts as hung")
    a = ap.parse_args()
    if a.worker:
        return worker(a)
    files = sorted(f for d in a.files for f in (glob.glob(d + "/*.npz") if os.path.isdir(d) else [d]))
    if a.only:
        files = [f for f in files if os.path.basename(f)[:-4] in a.only.split(",")]
    passed, failed, codes = 0, 0, {}
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", ASAN_OPTIONS=asan,
               LD_PRELOAD=":".join(filter(None, [a.faults, os.environ.get("LD_PRELOAD")])))
    while files:
        p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", a.library, a.faults, *files,
                              "--cases", str(a.cases), "--failures", str(a.failures)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(p.stderr.read()))
        reader.start()
        cur, timer = None, None
        for line in p.stdout:
            if timer:
                timer.cancel()
            timer = threading.Timer(a.timeout, p.kill)
            timer.start()
            if not line.startswith('["'):
                continue
            m = json.loads(line)
            if m[0] == "start":
                cur = (m[1], m[2])
            elif m[0] == "pass":
                passed, cur = passed + 1, None
            else:
                for code, n in m[1].items():
                    codes[code] = codes.get(code, 0) + n
        if timer:
            timer.cancel()
        rc = p.wait()
        reader.join()
        if cur is None:
            if rc:
                print(f"the worker ended with {rc}: {errors[0][-300:]}")
                failed += 1
            break
        failed += 1
        print(f"FAIL {os.path.basename(cur[0])} {cur[1]}: the process ended with {rc} (crash or hang) {' '.join(errors[0].split())[-300:]}")
        files = files[files.index(cur[0]) + 1:]
    print("results by code:", dict(sorted(codes.items(), key=lambda c: int(c[0]))))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
