#!/usr/bin/env python3
"""What happens when memory stays away: run_with_little_memory.py LIBRARY FAILING_ALLOCATIONS, with the latter preloaded.

The first step that finds none may use what the library keeps for the end. Then steps, imports and nodes are refused with
RESOURCE_EXHAUSTED until there is memory to keep again; and a string that TF_StringCopy could not copy is no empty one.
"""
import ctypes as C, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
import op_worker, run_cases, without_memory  # noqa: E402

FLOAT, STRING = 1, 7
REFUSED = b"nothing new is begun"
LITTLE = 100 << 10  # enough for any of the calls below, not for what is kept


class LittleMemory(op_worker.OpApi):
    def __init__(self, library, faults):
        super().__init__([library])
        self.limits = without_memory.Failing(faults, 1)
        self.graph = self.NewGraph()

    def limited(self, limit, function, *arguments):
        self.limits.limited(limit, function, [0 if a is None else a for a in arguments])
        return self.GetCode(self.st), self.Message(self.st)

    def placeholder(self, name, limit=without_memory.ALL):
        node = self.NewOperation(self.graph, b"Placeholder", name)
        self.SetAttrType(node, b"dtype", STRING)
        code, message = self.limited(limit, self.FinishOperation, node, self.st)
        return self.GraphOperationByName(self.graph, name), code, message

    def run(self, limit, fed, value):
        """The code and message of a run that joins what is fed with itself, some times over."""
        inputs, outputs = run_cases.Output(fed, 0), run_cases.Output(self.joined, 0)
        values, results = (C.c_void_p * 1)(value), (C.c_void_p * 1)()
        answer = self.limited(limit, self.SessionRun, self.session, None, C.addressof(inputs), C.cast(values, C.c_void_p), 1,
                              C.addressof(outputs), C.cast(results, C.c_void_p), 1, None, 0, None, self.st)
        if results[0]:
            self.DeleteTensor(results[0])
        return answer

    def open(self, fed):
        self.joined = fed
        for i in range(5):
            node = self.NewOperation(self.graph, b"StringJoin", b"join%d" % i)
            self.AddInputList(node, (run_cases.Output * 2)(*[run_cases.Output(self.joined, 0)] * 2), 2)
            self.joined = self.FinishOperation(node, self.st)
            self.check()
        self.session = self.NewSession(self.graph, self.NewSessionOptions(), self.st)
        self.check()

    def import_empty(self, limit):
        buffer, options = self.NewBufferFromString(b"", 0), self.NewImportGraphDefOptions()
        return self.limited(limit, self.GraphImportGraphDef, self.graph, buffer, options, self.st)


def refused(answer):
    code, message = answer
    assert code == without_memory.OUT_OF_MEMORY and REFUSED in message, answer


def runs(answer):
    assert answer[0] == 0, answer


def main():
    api = LittleMemory(*sys.argv[1:])
    fed, code, _ = api.placeholder(b"fed")
    assert fed and code == 0
    api.open(fed)
    text = api.make_tensor((STRING, [1], [b"some text that is not short"]))
    runs(api.run(without_memory.ALL, fed, text))
    # Without any memory: a step may go on by what is kept, which is gone then. None that comes after begins.
    assert api.run(0, fed, text)[0] in (0, without_memory.OUT_OF_MEMORY)
    for _ in range(50):
        assert api.run(0, fed, text)[0] == without_memory.OUT_OF_MEMORY
    for i in range(20):
        refused(api.run(LITTLE, fed, text))
        node, *answer = api.placeholder(b"more%d" % i, LITTLE)
        refused(answer)
        assert not node
        refused(api.import_empty(LITTLE))
    # It goes on as soon as there is memory.
    runs(api.run(without_memory.ALL, fed, text))
    node, code, _ = api.placeholder(b"last")
    assert node and code == 0
    assert api.import_empty(without_memory.ALL)[0] == 0

    # A string that was not copied reads as empty, but is not taken for one.
    at = api.TensorData(text)
    long = C.create_string_buffer(b"x" * 1000)
    api.limited(0, api.StringCopy, at, C.addressof(long), 1000)
    assert api.StringGetSize(at) == 0
    code, message = api.run(without_memory.ALL, fed, text)
    assert code == without_memory.OUT_OF_MEMORY and b"TF_StringCopy" in message and b"fed" in message, (code, message)
    api.StringCopy(at, long, 1000)
    runs(api.run(without_memory.ALL, fed, text))


if __name__ == "__main__":
    main()
