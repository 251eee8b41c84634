#!/usr/bin/env python3
"""Run programs of several steps with allocations that fail.

    run_programs_without_memory.py LIBRARY FAILING_ALLOCATIONS CASES [--failures N] [--timeout SECONDS]

CASES is a pickled list of (name, GraphDef's bytes, steps), a step (names of fetched tensors, names of targets). For
each way to make allocations fail a program runs once, in a session of its own, its steps in order; what fails ends it.
A crash or a hang is a failure. The last line is 'N passed, N failed'.
"""
import argparse, ctypes as C, os, pickle, subprocess, sys, threading
import run_cases

ALL = 2**63 - 1
LARGE = (64 << 10) + 1


class Program:
    def __init__(self, api, graph_def, steps):
        self.api, self.steps = api, steps
        self.graph = api.NewGraph()
        buffer = api.NewBufferFromString(graph_def, len(graph_def))
        options = api.NewImportGraphDefOptions()
        api.GraphImportGraphDef(self.graph, buffer, options, api.st)
        api.check()
        # RunOptions{timeout_in_ms: 5000}
        self.options = api.NewBufferFromString(b"\x10\x88\x27", 3)

    def operation(self, name):
        return self.api.GraphOperationByName(self.graph, name.encode())

    def run(self, call):
        """Each step by call(function, arguments); the code of the first that fails."""
        api = self.api
        options = api.NewSessionOptions()
        session = api.NewSession(self.graph, options, api.st)
        api.check()
        code = 0
        for fetches, targets in self.steps:
            ends = [f.rsplit(":", 1) for f in fetches]
            outputs = (run_cases.Output * max(1, len(ends)))(*[run_cases.Output(self.operation(n), int(i)) for n, i in ends])
            results = (C.c_void_p * max(1, len(ends)))()
            nodes = (C.c_void_p * max(1, len(targets)))(*[self.operation(t) for t in targets])
            call(api.SessionRun, (session, self.options, 0, 0, 0, C.cast(outputs, C.c_void_p).value, C.cast(results, C.c_void_p).value,
                                  len(ends), C.cast(nodes, C.c_void_p).value, len(targets), 0, api.st))
            code = api.GetCode(api.st)
            for t in results[:len(ends)]:
                if t:
                    api.DeleteTensor(t)
            if code:
                break
        closing = api.NewStatus()
        api.CloseSession(session, closing)
        api.DeleteSession(session, closing)
        api.DeleteStatus(closing)
        api.DeleteSessionOptions(options)
        return code


def worker(a, cases):
    api = run_cases.Api(a.library.split(":"))
    faults = C.CDLL(a.faults)
    faults.hr_call_failing.restype = faults.hr_allocations.restype = C.c_int64
    faults.hr_call_failing.argtypes = [C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.POINTER(C.c_int64)]
    codes = {}
    for name, graph_def, steps in cases:
        print("start", name, flush=True)
        program = Program(api, graph_def, steps)
        # In each step apart: the others run as they should.
        for chosen in range(len(steps)):
            for count, least in ((1, 0), (ALL, LARGE)):
                total, n = 1, 0
                while n <= total:
                    at = [0]

                    def call(function, arguments):
                        packed = (C.c_int64 * 12)(*[C.cast(x, C.c_void_p).value or 0 if not isinstance(x, int) else x for x in arguments])
                        fails = at[0] == chosen
                        at[0] += 1
                        faults.hr_call_failing((n or ALL) if fails else ALL, count, least, C.cast(function, C.c_void_p), packed)
                        if fails:
                            call.seen = faults.hr_allocations()

                    code = program.run(call)
                    codes[code] = codes.get(code, 0) + 1
                    if n == 0:
                        if code:
                            raise RuntimeError(f"{name} fails with memory, too: {api.Message(api.st)}")
                        total = call.seen
                        step = max(1, total // a.failures)
                    n += 1 if n < 8 else step
        print("pass", name, flush=True)
    print("codes", ",".join(f"{c}:{n}" for c, n in sorted(codes.items())), flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("faults"), ap.add_argument("cases")
    ap.add_argument("--failures", type=int, default=30), ap.add_argument("--timeout", type=float, default=60)
    ap.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    a = ap.parse_args()
    with open(a.cases, "rb") as f:
        cases = pickle.load(f)
    if a.worker:
        return worker(a, cases[a.first:])
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", LD_PRELOAD=":".join(filter(None, [a.faults, os.environ.get("LD_PRELOAD")])),
               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0")
    first, passed, failed = 0, 0, 0
    while first < len(cases):
        p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", a.library, a.faults, a.cases, "--first", str(first),
                              "--failures", str(a.failures)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(p.stderr.read()))
        reader.start()
        timer, last = None, ""
        for line in p.stdout:
            if timer:
                timer.cancel()
            timer = threading.Timer(a.timeout, p.kill)
            timer.start()
            last = line.strip()
            if last.startswith("pass"):
                passed, first = passed + 1, first + 1
            elif last.startswith("codes"):
                print(last)
        if timer:
            timer.cancel()
        rc = p.wait()
        reader.join()
        if rc == 0:
            break
        failed += 1
        print(f"FAIL {cases[first][0] if first < len(cases) else last}: the process ended with {rc} (crash or hang) {' '.join(errors[0].split())[-600:]}")
        first += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
