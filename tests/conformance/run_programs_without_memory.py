#!/usr/bin/env python3
"""Run programs of several steps with allocations that fail.

    run_programs_without_memory.py LIBRARY FAILING_ALLOCATIONS CASES [--failures N] [--timeout SECONDS]

CASES is a pickled list of (name, GraphDef's bytes, steps), a step (names of fetched tensors, names of targets, (name,
array) of what is fed). For each way to make allocations fail a program runs once, in a session of its own, its steps in
order; what fails ends it. A crash or a hang is a failure. 'alone' is said of programs that do not run by themselves, with
memory. The last line is 'N passed, N failed'.
"""
import argparse, ctypes as C, os, pickle, sys
import run_cases
import without_memory


class Program:
    def __init__(self, api, graph_def, steps):
        self.api, self.steps = api, steps
        self.graph = api.NewGraph()
        buffer = api.NewBufferFromString(graph_def, len(graph_def))
        options = api.NewImportGraphDefOptions()
        api.GraphImportGraphDef(self.graph, buffer, options, api.st)
        api.DeleteImportGraphDefOptions(options), api.DeleteBuffer(buffer)
        api.check()
        # RunOptions{timeout_in_ms: 5000}
        self.options = api.NewBufferFromString(b"\x10\x88\x27", 3)

    def delete(self):
        self.api.DeleteBuffer(self.options)
        self.api.DeleteGraph(self.graph)

    def operation(self, name):
        return self.api.GraphOperationByName(self.graph, name.encode())

    def outputs(self, names):
        ends = [name.rsplit(":", 1) for name in names]
        return (run_cases.Output * max(1, len(ends)))(*[run_cases.Output(self.operation(n), int(i)) for n, i in ends])

    def run(self, chosen, call):
        """Each step, the one numbered `chosen` by call(function, arguments); the code of the first that fails."""
        api = self.api
        options = api.NewSessionOptions()
        session = api.NewSession(self.graph, options, api.st)
        api.check()
        code = 0
        for i, (fetches, targets, feeds) in enumerate(self.steps):
            outputs, inputs = self.outputs(fetches), self.outputs([name for name, _ in feeds])
            values = (C.c_void_p * max(1, len(feeds)))(*[api.tensor(value) for _, value in feeds])
            results = (C.c_void_p * max(1, len(fetches)))()
            nodes = (C.c_void_p * max(1, len(targets)))(*[self.operation(t) for t in targets])
            arguments = (session, self.options, C.cast(inputs, C.c_void_p), C.cast(values, C.c_void_p), len(feeds), C.cast(outputs, C.c_void_p), results, len(fetches),
                         C.cast(nodes, C.c_void_p), len(targets), None, api.st)
            if i == chosen:
                call(api.SessionRun, [0 if x is None else x for x in arguments])
            else:
                api.SessionRun(*arguments)
            code = api.GetCode(api.st)
            for t in results[:len(fetches)] + values[:len(feeds)]:
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


def worker(a):
    api = run_cases.Api(a.library.split(":"))
    failing = without_memory.Failing(a.faults, a.failures)

    def run(case):
        name, graph_def, steps = case
        try:
            program = Program(api, graph_def, steps)
        except run_cases.ApiError as e:
            return without_memory.tell("alone", name, e)
        if program.run(None, None):
            return without_memory.tell("alone", name, api.Message(api.st).decode("utf8", "replace"))
        # In each step apart: the others run as they should.
        for chosen in range(len(steps)):
            failing.sweep(lambda call: program.run(chosen, call))
        program.delete()

    without_memory.serve(run)
    without_memory.tell_codes(failing.codes)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("faults"), ap.add_argument("cases", nargs="?")
    ap.add_argument("--failures", type=int, default=30), ap.add_argument("--timeout", type=float, default=60)
    ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    a = ap.parse_args()
    if a.worker:
        return worker(a)
    with open(a.cases, "rb") as f:
        cases = pickle.load(f)
    results = without_memory.drive(os.path.abspath(__file__), [a.library, a.faults, "--failures", a.failures],
                                   [name for name, _, _ in cases], cases, a.faults, a.timeout)
    for words in results.told:
        if words[0] == "alone":
            print(*words)
    return results.report()


if __name__ == "__main__":
    sys.exit(main())
