#!/usr/bin/env python3
"""Run conformance cases against any library that exports the TensorFlow C API.

    run_cases.py LIBRARY CASES_DIR... [--only Op,Op] [--verbose] [--json FILE]

LIBRARY is a shared object exporting TF_* (colon-separate several: all are loaded, in order).
Needs numpy alone. Every case runs in a worker process; a crash costs that one case.
The last line is 'N passed, N failed'; the exit status is 0 only if all passed.
"""
import argparse, ctypes as C, glob, json, os, resource, subprocess, sys, threading
import numpy as np

DT = {1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8, 8: np.complex64, 9: np.int64,
      10: np.bool_, 17: np.uint16, 18: np.complex128, 19: np.float16, 22: np.uint32, 23: np.uint64}
CODE = {np.dtype(v): k for k, v in DT.items()}


class Output(C.Structure):
    _fields_ = [("oper", C.c_void_p), ("index", C.c_int)]


class Buffer(C.Structure):
    _fields_ = [("data", C.c_void_p), ("length", C.c_size_t), ("dealloc", C.c_void_p)]


class Api:
    """The part of the C API that the cases need, by ctypes."""

    def __init__(self, paths):
        for p in paths[:-1]:
            C.CDLL(p, mode=C.RTLD_GLOBAL)
        lib = C.CDLL(paths[-1], mode=C.RTLD_GLOBAL)
        P, S, I, Z = C.c_void_p, C.c_char_p, C.c_int, C.c_size_t
        for name, res, args in (
            ("NewStatus", P, []), ("DeleteStatus", None, [P]), ("GetCode", I, [P]), ("Message", S, [P]),
            ("NewGraph", P, []), ("DeleteGraph", None, [P]), ("NewBufferFromString", P, [S, Z]), ("DeleteBuffer", None, [P]),
            ("NewImportGraphDefOptions", P, []), ("DeleteImportGraphDefOptions", None, [P]), ("GraphImportGraphDef", None, [P, P, P, P]),
            ("GraphOperationByName", P, [P, S]), ("NewSessionOptions", P, []), ("DeleteSessionOptions", None, [P]),
            ("NewSession", P, [P, P, P]), ("CloseSession", None, [P, P]), ("DeleteSession", None, [P, P]),
            ("AllocateTensor", P, [I, P, I, Z]), ("DeleteTensor", None, [P]), ("TensorData", P, [P]), ("TensorType", I, [P]),
            ("NumDims", I, [P]), ("Dim", C.c_int64, [P, I]), ("TensorByteSize", Z, [P]),
            ("SessionRun", None, [P, P, P, P, I, P, P, I, P, I, P, P]), ("AddGradients", None, [P, P, I, P, I, P, P, P]),
            ("SessionPRunSetup", None, [P, P, I, P, I, P, I, P, P]), ("SessionPRun", None, [P, S, P, P, I, P, P, I, P, I, P]), ("DeletePRunHandle", None, [P]),
        ):
            f = getattr(lib, "TF_" + name)
            f.restype, f.argtypes = res, args
            setattr(self, name, f)
        self.st = self.NewStatus()

    def check(self):
        code = self.GetCode(self.st)
        if code:
            raise ApiError(code, self.Message(self.st).decode("utf8", "replace"))

    def tensor(self, a):
        a = np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a)
        dims = (C.c_int64 * max(1, a.ndim))(*a.shape)
        t = self.AllocateTensor(CODE[a.dtype], C.addressof(dims), a.ndim, a.nbytes)
        if a.nbytes:
            C.memmove(self.TensorData(t), a.ctypes.data, a.nbytes)
        return t

    def array(self, t):
        shape = [self.Dim(t, i) for i in range(self.NumDims(t))]
        code = self.TensorType(t)
        if code not in DT:
            raise ApiError(-1, f"output has unexpected data type {code}")
        n = self.TensorByteSize(t)
        raw = C.string_at(self.TensorData(t), n) if n else b""
        return np.frombuffer(raw, DT[code]).reshape(shape)


class ApiError(Exception):
    def __init__(self, code, msg):
        super().__init__(f"code {code}: {msg}")
        self.code = code


def run_case(api, d, k):
    """Run case k of the loaded archive d; raise on any difference."""
    meta = json.loads(bytes(d[k + "/meta"]))
    graph, blob = api.NewGraph(), bytes(d[k + "/graph"])
    session, handles = None, []
    try:
        buf, opts = api.NewBufferFromString(blob, len(blob)), api.NewImportGraphDefOptions()
        api.GraphImportGraphDef(graph, buf, opts, api.st)
        api.DeleteImportGraphDefOptions(opts), api.DeleteBuffer(buf)
        api.check()

        def out(name):
            op, _, i = name.partition(":")
            p = api.GraphOperationByName(graph, op.encode())
            if not p:
                raise ApiError(-1, f"no operation {op!r} after import")
            return Output(p, int(i or 0))

        def outs(names):
            return (Output * max(1, len(names)))(*map(out, names))

        grads = []
        for g in meta.get("gradients", []):
            dy = (Output * len(g["x"]))()
            api.AddGradients(graph, outs(g["y"]), len(g["y"]), outs(g["x"]), len(g["x"]), None, api.st, dy)
            api.check()
            grads += list(dy)
        so = api.NewSessionOptions()
        session = api.NewSession(graph, so, api.st)
        api.DeleteSessionOptions(so)
        api.check()
        for pr in meta.get("prun", []):
            h = C.c_void_p()
            tg = (C.c_void_p * max(1, len(pr["targets"])))(*[out(n).oper for n in pr["targets"]])
            api.SessionPRunSetup(session, C.cast(outs(pr["feeds"]), C.c_void_p), len(pr["feeds"]), C.cast(outs(pr["fetches"]), C.c_void_p), len(pr["fetches"]),
                                 C.cast(tg, C.c_void_p), len(pr["targets"]), C.addressof(h), api.st)
            api.check()
            handles.append(h)
        for j, step in enumerate(meta["steps"]):
            feeds = [api.tensor(d[f"{k}/{j}/feed/{n}"]) for n in step["feeds"]]
            want = [(n, d[f"{k}/{j}/fetch/{n}"]) for n in step["fetches"]]
            fo = (Output * max(1, len(want)))(*[grads[int(n[5:])] if n.startswith("grad:") else out(n) for n, _ in want])
            ins, res = (C.c_void_p * max(1, len(feeds)))(*feeds), (C.c_void_p * max(1, len(want)))()
            tg = (C.c_void_p * max(1, len(step["targets"])))(*[out(n).oper for n in step["targets"]])
            fi = outs(step["feeds"])
            common = (C.cast(fi, C.c_void_p), C.cast(ins, C.c_void_p), len(feeds), C.cast(fo, C.c_void_p), C.cast(res, C.c_void_p), len(want),
                      C.cast(tg, C.c_void_p), len(step["targets"]))
            if "handle" in step:
                api.SessionPRun(session, C.cast(handles[step["handle"]], C.c_char_p), *common, api.st)
            else:
                api.SessionRun(session, None, *common, None, api.st)
            for t in feeds:
                api.DeleteTensor(t)
            api.check()
            unread = meta.get("error") or meta.get("any")
            got = [] if unread else [api.array(t) for t in res[: len(want)]]
            for t in res[: len(want)]:
                api.DeleteTensor(t)
            if unread:
                continue
            for (n, w), g in zip(want, got):
                if g.dtype != w.dtype or g.shape != w.shape:
                    raise AssertionError(f"step {j} {n}: got {g.dtype}{list(g.shape)}, want {w.dtype}{list(w.shape)}")
                if w.dtype.kind in "fc":
                    tol = 4e-3 if w.dtype == np.float16 else None
                    np.testing.assert_allclose(g, w, rtol=tol or meta["rtol"], atol=tol or meta["atol"], err_msg=f"step {j} {n}")
                else:
                    np.testing.assert_array_equal(g, w, err_msg=f"step {j} {n}")
        if meta.get("error"):
            raise AssertionError(f"no error was reported; one of the codes {meta['error']} was due ({meta.get('why', '')})")
    except ApiError as e:
        if meta.get("any"):
            return
        if not meta.get("error") or e.code not in meta["error"]:
            raise
    finally:
        for h in handles:
            api.DeletePRunHandle(h)
        if session:
            api.CloseSession(session, api.st), api.DeleteSession(session, api.st)
        api.DeleteGraph(graph)


def worker(lib, files):
    """Read 'file case' lines from stdin order in argv; print one JSON line per case, before and after it."""
    if "CASES_NO_MEMORY_LIMIT" not in os.environ:  # set under AddressSanitizer, whose shadow is larger
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # a request for all memory must come back as an error
    api = Api(lib.split(":"))
    skip = int(os.environ.get("CASES_SKIP", "0"))
    n = 0
    for f in files:
        d = np.load(f)
        for k in sorted({x.split("/")[0] for x in d.files}):
            n += 1
            if n <= skip:
                continue
            print(json.dumps(["start", f, k]), flush=True)
            try:
                run_case(api, d, k)
                print(json.dumps(["pass", f, k]), flush=True)
            except Exception as e:
                print(json.dumps(["fail", f, k, f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"]), flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("library"), ap.add_argument("dirs", nargs="+")
    ap.add_argument("--only"), ap.add_argument("--verbose", action="store_true"), ap.add_argument("--json")
    ap.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    ap.add_argument("--timeout", type=float, default=60, help="seconds without progress before a case counts as hung")
    a = ap.parse_args()
    if a.worker:
        return worker(a.library, a.dirs)
    files = sorted(f for d in a.dirs for f in (glob.glob(d + "/*.npz") if os.path.isdir(d) else [d]))
    if a.only:
        files = [f for f in files if os.path.basename(f)[:-4] in a.only.split(",")]
    total = sum(len({x.split("/")[0] for x in np.load(f).files}) for f in files)
    res, done = {}, 0
    while done < total:
        env = dict(os.environ, CASES_SKIP=str(done), TF_CPP_MIN_LOG_LEVEL="3")
        p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", a.library, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE if not a.verbose else None, env=env, text=True)
        cur, started = None, done
        timer = None
        for line in p.stdout:
            if timer: timer.cancel()
            timer = threading.Timer(a.timeout, p.kill); timer.start()
            if not line.startswith('["'):
                continue
            m = json.loads(line)
            if m[0] == "start":
                cur = (m[1], m[2])
            else:
                res[m[1], m[2]] = (m[0], m[3] if len(m) > 3 else "")
                cur, done = None, done + 1
        if timer: timer.cancel()
        err = (p.stderr.read() if p.stderr else "")[-400:]
        rc = p.wait()
        if cur:
            res[cur] = ("fail", f"the process ended with {rc} (crash or hang) {' '.join(err.split())[-200:]}")
            done += 1
        elif done == started:
            print(f"the worker could not start (exit {rc}): {err}", file=sys.stderr)
            break
    per = {}
    for (f, k), (r, why) in res.items():
        o = per.setdefault(os.path.basename(f)[:-4], [0, 0, ""])
        o[r == "fail"] += 1
        o[2] = o[2] or why
    for o, (ok, bad, why) in sorted(per.items()):
        if bad or a.verbose:
            print(f"{'FAIL' if bad else 'ok  '} {o:40s} {ok}/{ok + bad}  {why[:220]}")
    ok, bad = sum(v[0] for v in per.values()), total - sum(v[0] for v in per.values())
    if a.json:  # {archive: why it failed, or ""}
        with open(a.json, "w") as f:
            json.dump({k: (v[2] or "failed") if v[1] else "" for k, v in per.items()}, f, indent=1)
    print(f"ops fully passing: {sum(1 for v in per.values() if not v[1])} of {len(files)}")
    print(f"{ok} passed, {bad} failed")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
