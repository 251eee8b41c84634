#!/usr/bin/env python3
"""Builds and runs graphs through the C API of one library, for two to compare.

    op_worker.py LIBRARY

LIBRARY exports TF_*; colon-separate several, which are loaded in order. Reads
pickled requests from stdin and answers each on the descriptor that stdout was:
what the library prints goes to stderr. Needs NumPy alone, so that any
interpreter can run it beside either library.

A request is "ops", answered by the serialised OpList, "kernels", answered by
the KernelList, or a case:

    {"nodes": [{"name", "op", "inputs", "attrs"}], "fetches": [(name, index)],
     "feeds": [(name, tensor)], "build_only": whether not to run it}

`inputs` has a (name, index) for each argument, or a list of them; `attrs` has
(kind, value). A tensor is (enum of its type, dims, bytes), of strings (7, dims,
list of bytes). The answer names what failed, if anything, and has the static
shape of each output of the last node, None for an unknown rank:

    {"stage": "ok" | "build" | "run", "code", "message", "node",
     "shapes": [dims or None], "values": [tensor or None]}
"""
import ctypes as C
import os
import pathlib
import pickle
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "conformance"))
import run_cases  # noqa: E402

STRING = 7
# Bytes of an element; what is not here has no bytes to compare.
SIZES = {1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 8: 8, 9: 8, 10: 1, 11: 1, 12: 1,
         13: 4, 14: 2, 15: 2, 16: 2, 17: 2, 18: 16, 19: 2, 22: 4, 23: 8}
TSTRING_BYTES = 24
MAX_BYTES = 1 << 28  # of larger values only type and dims are told
# RunOptions{timeout_in_ms: 3000}: queues and barriers wait for ever otherwise.
RUN_OPTIONS = b"\x10\xb8\x17"

P, S, I, Z, L = C.c_void_p, C.c_char_p, C.c_int, C.c_size_t, C.c_int64


def strings(values):
    return (S * max(1, len(values)))(*values)


def numbers(ctype, values):
    return (ctype * max(1, len(values)))(*values)


class OpApi(run_cases.Api):
    """What single ops need of the C API beyond what recorded cases do."""

    def __init__(self, paths):
        super().__init__(paths)
        lib = C.CDLL(paths[-1], mode=C.RTLD_GLOBAL)
        framework = C.CDLL(paths[0], mode=C.RTLD_GLOBAL)
        for name, result, arguments in (
                ("GetAllOpList", C.POINTER(run_cases.Buffer), []),
                ("GetAllRegisteredKernels", C.POINTER(run_cases.Buffer), [P]),
                ("NewOperation", P, [P, S, S]),
                ("AddInput", None, [P, run_cases.Output]),
                ("AddInputList", None, [P, P, I]),
                ("FinishOperation", P, [P, P]),
                ("SetAttrString", None, [P, S, S, Z]),
                ("SetAttrInt", None, [P, S, L]),
                ("SetAttrFloat", None, [P, S, C.c_float]),
                ("SetAttrBool", None, [P, S, C.c_ubyte]),
                ("SetAttrType", None, [P, S, I]),
                ("SetAttrShape", None, [P, S, P, I]),
                ("SetAttrTensor", None, [P, S, P, P]),
                ("SetAttrStringList", None, [P, S, P, P, I]),
                ("SetAttrIntList", None, [P, S, P, I]),
                ("SetAttrFloatList", None, [P, S, P, I]),
                ("SetAttrBoolList", None, [P, S, P, I]),
                ("SetAttrTypeList", None, [P, S, P, I]),
                ("SetAttrShapeList", None, [P, S, P, P, I]),
                ("OperationNumOutputs", I, [P]),
                ("OperationOutputType", I, [run_cases.Output]),
                ("GraphGetTensorNumDims", I, [P, run_cases.Output, P]),
                ("GraphGetTensorShape", None, [P, run_cases.Output, P, I, P]),
                ("StringInit", None, [P]),
                ("StringCopy", None, [P, S, Z]),
                ("StringGetDataPointer", P, [P]),
                ("StringGetSize", Z, [P])):
            symbol = "TF_" + name
            source = lib if hasattr(lib, symbol) else framework
            if not hasattr(source, symbol):
                continue  # TensorFlow 1.x has no TF_String*
            function = getattr(source, symbol)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def make_tensor(self, value):
        dtype, dims, data = value
        size = TSTRING_BYTES if dtype == STRING else SIZES[dtype]
        count = 1
        for d in dims:
            count *= d
        dims_array = numbers(L, dims)
        t = self.AllocateTensor(dtype, C.addressof(dims_array),
                                len(dims), count * size)
        if not t:
            raise MemoryError("TF_AllocateTensor gave no tensor")
        to = self.TensorData(t)
        if dtype == STRING:
            for i, text in enumerate(data):
                self.StringInit(to + i * TSTRING_BYTES)
                self.StringCopy(to + i * TSTRING_BYTES, text, len(text))
        elif count:
            C.memmove(to, data, count * size)
        return t

    def read_tensor(self, t):
        dtype = self.TensorType(t)
        dims = [self.Dim(t, i) for i in range(self.NumDims(t))]
        count = 1
        for d in dims:
            count *= d
        if dtype == STRING:
            at = self.TensorData(t)
            data = []
            for i in range(count):
                s = at + i * TSTRING_BYTES
                data.append(C.string_at(self.StringGetDataPointer(s),
                                        self.StringGetSize(s)))
        elif dtype in SIZES and count * SIZES[dtype] <= MAX_BYTES:
            data = (C.string_at(self.TensorData(t), count * SIZES[dtype])
                    if count else b"")
        else:
            data = None
        return dtype, dims, data

    def set_attr(self, node, name, kind, v):
        name = name.encode()
        if kind == "string":
            self.SetAttrString(node, name, v, len(v))
        elif kind == "int":
            self.SetAttrInt(node, name, v)
        elif kind == "float":
            self.SetAttrFloat(node, name, v)
        elif kind == "bool":
            self.SetAttrBool(node, name, v)
        elif kind == "type":
            self.SetAttrType(node, name, v)
        elif kind == "shape":
            dims = numbers(L, v or [])
            self.SetAttrShape(node, name, dims, -1 if v is None else len(v))
        elif kind == "tensor":
            t = self.make_tensor(v)
            self.SetAttrTensor(node, name, t, self.st)
            self.DeleteTensor(t)
            self.check()
        elif kind == "list(string)":
            self.SetAttrStringList(node, name, strings(v),
                                   numbers(Z, [len(s) for s in v]), len(v))
        elif kind == "list(shape)":
            dims = [numbers(L, s or []) for s in v]
            pointers = numbers(P, [C.addressof(d) for d in dims])
            ranks = numbers(I, [-1 if s is None else len(s) for s in v])
            self.SetAttrShapeList(node, name, pointers, ranks, len(v))
        else:
            ctype, setter = {
                "list(int)": (L, self.SetAttrIntList),
                "list(float)": (C.c_float, self.SetAttrFloatList),
                "list(bool)": (C.c_ubyte, self.SetAttrBoolList),
                "list(type)": (I, self.SetAttrTypeList)}[kind]
            setter(node, name, numbers(ctype, v), len(v))

    def static_shape(self, graph, output):
        rank = self.GraphGetTensorNumDims(graph, output, self.st)
        self.check()
        if rank < 0:
            return None
        dims = numbers(L, [0] * rank)
        self.GraphGetTensorShape(graph, output, dims, rank, self.st)
        self.check()
        return list(dims[:rank])

    def build(self, graph, nodes, answer):
        """Operations by name; `answer` says where it stands."""
        made = {}

        def endpoint(source):
            return run_cases.Output(made[source[0]], source[1])

        for n in nodes:
            answer["node"] = n["name"]
            node = self.NewOperation(graph, n["op"].encode(),
                                     n["name"].encode())
            for source in n["inputs"]:
                if isinstance(source, list):
                    list_of = (run_cases.Output * max(1, len(source)))(
                        *map(endpoint, source))
                    self.AddInputList(node, list_of, len(source))
                else:
                    self.AddInput(node, endpoint(source))
            for name, (kind, value) in n["attrs"].items():
                self.set_attr(node, name, kind, value)
            made[n["name"]] = self.FinishOperation(node, self.st)
            self.check()
        last = made[nodes[-1]["name"]]
        answer["shapes"] = [
            self.static_shape(graph, run_cases.Output(last, i))
            for i in range(self.OperationNumOutputs(last))]
        return made

    def run(self, graph, made, case, answer):
        options = self.NewSessionOptions()
        session = self.NewSession(graph, options, self.st)
        self.DeleteSessionOptions(options)
        self.check()
        feeds = []
        try:
            feeds = [self.make_tensor(t) for _, t in case["feeds"]]
            ends = [run_cases.Output(made[n], 0) for n, _ in case["feeds"]]
            fetches = [run_cases.Output(made[n], i) for n, i in case["fetches"]]
            target = numbers(P, [made[case["nodes"][-1]["name"]]])
            results = (P * max(1, len(fetches)))()
            run_options = self.NewBufferFromString(RUN_OPTIONS,
                                                   len(RUN_OPTIONS))
            self.SessionRun(
                session, run_options,
                C.cast((run_cases.Output * max(1, len(ends)))(*ends), P),
                numbers(P, feeds), len(feeds),
                C.cast((run_cases.Output * max(1, len(fetches)))(*fetches), P),
                results, len(fetches), target, 1, None, self.st)
            self.DeleteBuffer(run_options)
            self.check()
            answer["values"] = [self.read_tensor(t)
                                for t in results[:len(fetches)]]
            for t in results[:len(fetches)]:
                self.DeleteTensor(t)
        finally:
            for t in feeds:
                self.DeleteTensor(t)
            closing = self.NewStatus()
            self.CloseSession(session, closing)
            self.DeleteSession(session, closing)
            self.DeleteStatus(closing)

    def answer(self, case):
        answer = {"stage": "build", "code": 0, "message": "", "node": "",
                  "shapes": [], "values": []}
        graph = self.NewGraph()
        try:
            made = self.build(graph, case["nodes"], answer)
            answer["stage"] = "run"
            if case.get("build_only"):
                return answer
            self.run(graph, made, case, answer)
            answer["stage"] = "ok"
        except run_cases.ApiError as error:
            answer["code"], answer["message"] = error.code, str(error)
        finally:
            self.DeleteGraph(graph)
        return answer

    def op_list(self):
        return self.bytes_of(self.GetAllOpList())

    def kernel_list(self):
        return self.bytes_of(self.GetAllRegisteredKernels(self.st))

    @staticmethod
    def bytes_of(buffer):
        return C.string_at(buffer.contents.data, buffer.contents.length)


def main():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    api = OpApi(sys.argv[1].split(":"))
    requests = sys.stdin.buffer
    while True:
        head = requests.read(8)
        if len(head) < 8:
            return
        request = pickle.loads(requests.read(struct.unpack("<Q", head)[0]))
        lists = {"ops": api.op_list, "kernels": api.kernel_list}
        reply = (lists[request]() if isinstance(request, str)
                 else api.answer(request))
        data = pickle.dumps(reply)
        answers.write(struct.pack("<Q", len(data)) + data)
        answers.flush()


if __name__ == "__main__":
    main()
