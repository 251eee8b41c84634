#!/usr/bin/env python3
"""Run real models with recorded inputs and outputs against any library that exports the TensorFlow C API.

    run_models.py LIBRARY DIR... [--only TEXT] [--list FILE] [--verbose] [--json FILE]

Each folder below DIR with a case.json is one case: a frozen GraphDef, a SavedModel or a checkpoint with its MetaGraph, fed with data.npz
and compared with the outputs in it; 'train/*' cases run training steps and compare losses and final variables. Needs numpy alone.
Every case runs in a worker process; the last line is 'N passed, N failed'.
"""
import argparse, ctypes as C, glob, json, os, subprocess, sys, time
import numpy as np
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_cases import Api, ApiError, Output

STRING, BFLOAT16 = 7, 14


def bfloat16(bits):
    """uint16 bit patterns of bfloat16 as float32 values."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


class ModelApi(Api):
    """The C API plus strings (TF_TString elements of 24 bytes) and SavedModel loading."""

    def __init__(self, paths):
        super().__init__(paths)
        lib = C.CDLL(paths[-1])
        P, S, I, Z = C.c_void_p, C.c_char_p, C.c_int, C.c_size_t
        for name, res, args in (("StringInit", None, [P]), ("StringCopy", None, [P, S, Z]), ("StringGetDataPointer", P, [P]), ("StringGetSize", Z, [P]),
                                ("LoadSessionFromSavedModel", P, [P, P, S, P, I, P, P, P]), ("OperationOpType", S, [P])):
            f = getattr(lib, "TF_" + name)
            f.restype, f.argtypes = res, args
            setattr(self, name, f)

    def string_tensor(self, shape, items):
        dims = (C.c_int64 * max(1, len(shape)))(*shape)
        t = self.AllocateTensor(STRING, C.addressof(dims), len(shape), 24 * len(items))
        p = self.TensorData(t)
        for i, s in enumerate(items):
            self.StringInit(p + 24 * i), self.StringCopy(p + 24 * i, s, len(s))
        return t

    def array(self, t):
        if self.TensorType(t) == BFLOAT16:
            raw = np.frombuffer(C.string_at(self.TensorData(t), self.TensorByteSize(t)), np.uint16)
            return bfloat16(raw).reshape([self.Dim(t, i) for i in range(self.NumDims(t))])
        if self.TensorType(t) != STRING:
            return super().array(t)
        shape = [self.Dim(t, i) for i in range(self.NumDims(t))]
        p, n = self.TensorData(t), int(np.prod(shape, dtype=np.int64))
        items = [C.string_at(self.StringGetDataPointer(p + 24 * i), self.StringGetSize(p + 24 * i)) for i in range(n)]
        return np.array(items, dtype=object).reshape(shape)


def value(d, spec):
    """The array of a feed or fetch: strings come as lists of bytes."""
    a = d[spec["key"]]
    if spec["dtype"] == "bfloat16":
        return bfloat16(np.ascontiguousarray(a)).reshape(a.shape)
    if spec["dtype"] != "string":
        return a
    if spec["key"] + "_len" in d.files:
        ends = np.cumsum(d[spec["key"] + "_len"])
        raw = a.tobytes()
        items = [raw[e - n: e] for e, n in zip(ends.tolist(), d[spec["key"] + "_len"].tolist())]
    else:
        items = [bytes(x) for x in a.ravel()]
    return np.array(items + [b""], dtype=object)[:-1].reshape(spec["shape"])


def meta_graph(blob):
    """(GraphDef bytes, {field: value} of the SaverDef) of a serialized MetaGraphDef: fields 2 and 3."""
    def fields(b):
        i = 0
        while i < len(b):
            key, i = varint(b, i)
            if key & 7 == 2:
                n, i = varint(b, i)
                yield key >> 3, b[i: i + n]
                i += n
            elif key & 7 == 0:
                v, i = varint(b, i)
                yield key >> 3, v
            else:
                i += 8 if key & 7 == 1 else 4

    def varint(b, i):
        v = s = 0
        while True:
            v |= (b[i] & 127) << s
            s += 7
            i += 1
            if b[i - 1] < 128:
                return v, i
    f = dict(fields(blob))
    return f[2], dict(fields(f.get(3, b"")))


def close(got, want, rtol, atol, what):
    if want.dtype == object or got.dtype == object:
        if got.shape != want.shape or any(a.rstrip(b"\0") != b.rstrip(b"\0") for a, b in zip(got.ravel(), want.ravel())):
            raise AssertionError(f"{what}: strings differ: got {list(got.ravel())[:3]}, want {list(want.ravel())[:3]}")
        return
    if got.dtype != want.dtype or got.shape != want.shape:
        raise AssertionError(f"{what}: got {got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}")
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)


def run(api, path):
    case = json.load(open(path + "/case.json"))
    d = np.load(path + "/data.npz")
    graph, kind = api.NewGraph(), case["kind"].split("/")[-1]
    opts = api.NewSessionOptions()
    restore = None
    if kind == "saved_model":
        tags = [t.encode() for t in case.get("tags") or ["serve"]]
        arr = (C.c_char_p * len(tags))(*tags)
        session = api.LoadSessionFromSavedModel(opts, None, os.path.join(path, case["model"]).encode(), C.cast(arr, C.c_void_p), len(tags), graph, None, api.st)
    else:
        blob = open(os.path.join(path, case["model"]), "rb").read()
        if kind in ("checkpoint", "meta"):
            blob, saver = meta_graph(blob)
            restore = (saver[1].decode(), saver[3].decode())
        buf, io = api.NewBufferFromString(bytes(blob), len(blob)), api.NewImportGraphDefOptions()
        api.GraphImportGraphDef(graph, buf, io, api.st)
        api.check()
        api.DeleteBuffer(buf)
        session = api.NewSession(graph, opts, api.st)
    api.check()

    def op(name):
        p = api.GraphOperationByName(graph, name.encode())
        if not p:
            raise ApiError(-1, f"no operation {name!r} after import")
        return p

    def out(name):
        o, _, i = name.partition(":")
        return Output(op(o), int(i or 0))

    def step(feeds, fetches, targets=()):
        fi = (Output * max(1, len(feeds)))(*[out(n) for n in feeds])
        vals = [api.string_tensor(v.shape, list(v.ravel())) if v.dtype == object else api.tensor(v) for v in feeds.values()]
        fv = (C.c_void_p * max(1, len(vals)))(*vals)
        fo, res = (Output * max(1, len(fetches)))(*[out(n) for n in fetches]), (C.c_void_p * max(1, len(fetches)))()
        tg = (C.c_void_p * max(1, len(targets)))(*[op(t.split(":")[0]) for t in targets])
        api.SessionRun(session, None, C.cast(fi, C.c_void_p), C.cast(fv, C.c_void_p), len(vals), C.cast(fo, C.c_void_p), C.cast(res, C.c_void_p), len(fetches),
                       C.cast(tg, C.c_void_p), len(targets), None, api.st)
        api.check()
        got = [api.array(t) for t in res[: len(fetches)]]
        for t in vals + list(res[: len(fetches)]):
            api.DeleteTensor(t)
        return got

    if restore:
        step({restore[0]: np.array(os.path.join(path, case["prefix"]).encode(), dtype=object)}, [], [restore[1]])
    rtol, atol = case["rtol"], case["atol"]
    names, specs = list(case["fetches"]), list(case["fetches"].values())
    if "steps" not in case:
        got = step({n: value(d, s) for n, s in case["feeds"].items()}, names)
        for n, g, s in zip(names, got, specs):
            if case.get("check") == "shape-only":
                if list(g.shape) != list(s["shape"]):
                    raise AssertionError(f"{n}: got shape {g.shape}, want {s['shape']}")
            else:
                close(g, value(d, s), rtol, atol, n)
        return
    for j, feeds in enumerate(case["steps"]):
        got = step({n: value(d, s) for n, s in feeds.items()}, names, case["targets"])
        for n, g, s in zip(names, got, specs):
            close(g, d[s["key"]][j], rtol, atol, f"step {j} {n}")
    for n, s in case.get("final_variables", {}).items():
        t = n if api.OperationOpType(op(n)) != b"VarHandleOp" else n + "/Read/ReadVariableOp"
        close(step({}, [t + ":0"])[0], d[s["key"]], rtol, atol, f"variable {n}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("dirs", nargs="+")
    ap.add_argument("--only"), ap.add_argument("--list", help="file with one case name a line"), ap.add_argument("--verbose", action="store_true"), ap.add_argument("--timeout", type=float, default=120)
    ap.add_argument("--json", help="file to write {case: why it failed, or ''} to")
    ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    a = ap.parse_args()
    if a.worker:
        api = ModelApi(a.library.split(":"))
        for line in sys.stdin:
            t = time.time()
            try:
                run(api, line.strip())
                print(f"RESULT pass {time.time() - t:.2f} s", flush=True)
            except Exception as e:
                print(f"RESULT fail {type(e).__name__}: {' '.join(str(e).split())[:300]}", flush=True)
        return 0
    cases = sorted(os.path.dirname(f) for d in a.dirs for f in glob.glob(d + "/**/case.json", recursive=True))
    cases = [c for c in cases if not a.only or a.only in c]
    if a.list:
        names = set(open(a.list).read().split())
        cases = [c for c in cases if os.path.basename(c) in names]
    ok, p, results = 0, None, {}
    import select
    for c in cases:
        if p is None:
            p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", a.library, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=None if a.verbose else subprocess.DEVNULL, text=True, env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"))
        p.stdin.write(os.path.abspath(c) + "\n")
        p.stdin.flush()
        line = ""
        while not line.startswith("RESULT"):
            if not select.select([p.stdout], [], [], a.timeout)[0]:
                p.kill()
                line = f"RESULT fail no answer in {a.timeout:g} s"
                break
            line = p.stdout.readline()
            if not line:
                line = f"RESULT fail the process ended with {p.wait()}"
                break
        if p.poll() is not None or "no answer" in line:
            p.wait()
            p = None
        good = line.startswith("RESULT pass")
        ok += good
        root = next(d for d in map(os.path.abspath, a.dirs) if os.path.abspath(c).startswith(d))
        results[os.path.relpath(os.path.abspath(c), root)] = "" if good else line[12:].strip()[:260] or "failed"
        if a.verbose or not good:
            print(("ok   " if good else "FAIL ") + os.path.basename(c), line[12:].strip()[:260])
    if p:
        p.stdin.close(), p.wait()
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)
    print(f"{ok} passed, {len(cases) - ok} failed")
    return 0 if ok == len(cases) and cases else 1


if __name__ == "__main__":
    sys.exit(main())
