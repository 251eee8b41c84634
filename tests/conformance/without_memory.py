"""What the runners without memory share: calls of C functions whose allocations fail, and worker processes that may die
of them. tests/faults/failing_allocations.cc is what makes them fail; it is preloaded into the workers.
"""
import ctypes as C, os, pickle, subprocess, sys, threading

ALL = 2**63 - 1
LARGE = (64 << 10) + 1
OUT_OF_MEMORY = 8  # RESOURCE_EXHAUSTED
# How allocations fail: one, all large ones from one on (number, least bytes), or whatever goes beyond a limit.
WAYS = ((1, 0), (ALL, LARGE), "limit")


class Failing:
    """Calls of C functions with up to 12 arguments, none of them a floating-point number."""

    def __init__(self, faults, failures):
        self.lib, self.failures, self.codes = C.CDLL(faults), failures, {}
        arguments = [C.c_void_p, C.POINTER(C.c_int64)]
        for name, types in (("call_failing", [C.c_int64] * 3 + arguments), ("call_limited", [C.c_int64] + arguments),
                            ("allocations", []), ("least_memory_left", [])):
            function = getattr(self.lib, "hr_" + name)
            function.restype, function.argtypes = C.c_int64, types

    @staticmethod
    def pack(function, arguments):
        return C.cast(function, C.c_void_p), (C.c_int64 * 12)(
            *[a if isinstance(a, int) else C.cast(a, C.c_void_p).value or 0 for a in arguments])

    def limited(self, limit, function, arguments):
        """Calls it with so many bytes left; how many it took."""
        limit = min(limit, ALL // 2)  # what is given back adds to it
        self.lib.hr_call_limited(limit, *self.pack(function, arguments))
        return limit - self.lib.hr_least_memory_left()

    def failing(self, n, count, least, function, arguments):
        """Calls it; of the allocations of `least` bytes and more `count` fail, from the n-th on. How many there were."""
        self.lib.hr_call_failing(n, count, least, *self.pack(function, arguments))
        return self.lib.hr_allocations()

    def sweep(self, attempt):
        """attempt(call) runs again and again, in each way, first as it should. It has a function called by
        call(function, arguments), once, and returns the status code."""
        for way in WAYS:
            total, at = 1, 0
            while at <= total:
                seen = [0]

                def call(function, arguments):
                    if way == "limit":
                        # From all that it wants down to nothing.
                        seen[0] = self.limited(total - at if at else ALL, function, arguments)
                    else:
                        seen[0] = self.failing(at or ALL, *way, function, arguments)

                code = attempt(call)
                self.codes[code] = self.codes.get(code, 0) + 1
                if at == 0:
                    total = seen[0]
                    step = max(1, total // self.failures)
                # The first few one by one, then some.
                at += 1 if at < 8 and way != "limit" else step


def serve(run):
    """A worker's main: run(case) for those that come on the standard input. Lines of its own: tell()."""
    for case in pickle.load(sys.stdin.buffer):
        tell("start")
        run(case)
        tell("pass")


def tell(kind, *values):
    print(kind, *values, flush=True)


class Results:
    def __init__(self, passed, failed, told):
        self.passed, self.failed, self.told = passed, failed, told

    def codes(self):
        total = {}
        for words in self.told:
            if words[0] == "code":
                total[int(words[1])] = total.get(int(words[1]), 0) + int(words[2])
        return total

    def report(self):
        print("results by code:", dict(sorted(self.codes().items())))
        print(f"{self.passed} passed, {len(self.failed)} failed")
        return 1 if self.failed or not self.passed else 0


def tell_codes(codes):
    for code, n in codes.items():
        tell("code", code, n)


def environment(faults):
    """Of a process that has the library preloaded; under ASan, too."""
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=0"
    return dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", ASAN_OPTIONS=asan,
                LD_PRELOAD=":".join(filter(None, [str(faults), os.environ.get("LD_PRELOAD")])))


def drive(script, arguments, names, cases, faults, timeout):
    """Runs the cases in `script --worker`. A worker that crashes, or is silent for `timeout` seconds, fails one case. Prints
    the failures."""
    first, told, failed = 0, [], []
    while first < len(cases):
        process = subprocess.Popen([sys.executable, script, "--worker", *map(str, arguments)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(faults))
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read().decode("utf8", "replace")))
        reader.start()
        try:
            pickle.dump(cases[first:], process.stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass
        timer = None
        for line in process.stdout:
            if timer is not None:
                timer.cancel()
            timer = threading.Timer(timeout, process.kill)
            timer.start()
            words = line.decode("utf8", "replace").split()
            if words[:1] == ["pass"]:
                first += 1
            elif words and words[0] != "start":
                told.append(words)
        if timer is not None:
            timer.cancel()
        status = process.wait()
        reader.join()
        if status == 0:
            break
        name = names[first] if first < len(names) else "the end of the worker"
        failed.append(name)
        print(f"FAIL {name}: the process ended with {status} (crash or hang) {' '.join(errors[0].split())[-1500:]}", flush=True)
        first += 1
    return Results(len(cases) - len(failed), failed, told)
