#!/usr/bin/env python3
"""Writes docs/ops.md: every registered op, its kernels, what tests it.

    tools/ops_doc.py [--check]

The ops and types are those of build/bin/headrace; tests are the recorded cases
of tests/conformance whose graphs have the op, and the tests that name it. Needs
the package (./run build). --check: exit 1 if docs/ops.md says something else.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "ops.md"
CASES = ROOT / "tests" / "conformance"

HEAD = """# Ops

Written by `tools/ops_doc.py` from the registry; `headrace ops OP` prints an
op's whole signature.

- **types**: of the kernels on a device, by attr; "any" where a kernel asks for
  none in particular and takes what the op's signature allows.
- **tested by**: recorded cases of `tests/conformance` (ops, graphs, hostile:
  graphs that have the op; models: networks), C++ and Python tests that name it.

"""

# Why an op has no kernel, where that is on purpose.
WITHOUT_KERNEL = {
    "CudnnRNN": "no kernel for the CPU, as in TensorFlow",
    "CudnnRNNBackprop": "no kernel for the CPU, as in TensorFlow",
    "CudnnRNNParamsSize": "no kernel for the CPU, as in TensorFlow",
    "TileGrad": "no kernel, as in TensorFlow: graphs of 2015 have it",
}


def ops_of(graph_def):
    """The op types of a serialised GraphDef, functions included."""
    import headrace
    graph = headrace.GraphDef()
    graph.ParseFromString(graph_def)
    found = {n.op for n in graph.node}
    for function in graph.library.function:
        found |= {n.op for n in function.node_def}
    return found


def model_graphs(case):
    """Serialised GraphDefs of a recorded model."""
    import headrace
    what = json.loads(case.read_text())
    path = case.parent / what["model"]
    if what["kind"] == "graphdef":
        if path.suffix == ".pb":
            yield path.read_bytes()
    elif path.suffix == ".meta":
        meta = headrace.MetaGraphDef()
        meta.ParseFromString(path.read_bytes())
        yield meta.graph_def.SerializeToString()
    elif (path / "saved_model.pb").exists():
        model = headrace.headrace.messages.SavedModel()
        model.ParseFromString((path / "saved_model.pb").read_bytes())
        for meta in model.meta_graphs:
            yield meta.graph_def.SerializeToString()


def coverage(ops):
    """({op: {kind of case: number}}, {op: names of tests}) of `ops`."""
    found = collections.defaultdict(lambda: collections.defaultdict(int))
    for kind in ("ops", "graphs", "hostile"):
        for file in sorted((CASES / kind).glob("*.npz")):
            archive = np.load(file)
            for name in archive.files:
                if not name.endswith("/graph"):
                    continue
                for op in ops_of(bytes(archive[name])):
                    found[op][kind] += 1
    for case in sorted((CASES / "models").rglob("case.json")):
        of_model = set()
        for graph in model_graphs(case):
            of_model |= ops_of(graph)
        for op in of_model:
            found[op]["models"] += 1
    names = collections.defaultdict(set)
    for file in sorted((ROOT / "src").rglob("*_test.cc")):
        for op in set(re.findall(r'"([A-Z_]\w+)"', file.read_text())):
            names[op].add(file.stem)
    from headrace._hints import snake_case
    by_name = {snake_case(op): op for op in ops} | {op: op for op in ops}
    for file in sorted((ROOT / "tests" / "python").glob("test_*.py")):
        for name in set(re.findall(r"\.(\w+)", file.read_text())):
            if name in by_name:
                names[by_name[name]].add(file.stem)
    return found, names


def table():
    lines = subprocess.run(
        [ROOT / "build" / "bin" / "headrace", "ops", "--table"], check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    devices = collections.OrderedDict()
    for line in lines:
        op, device, types = line.split("\t")
        devices.setdefault(op, [])
        if device:
            devices[op].append((device, types or "any"))
    return devices


def document():
    devices = table()
    cases, names = coverage(devices)
    out = [HEAD, "| op | types | tested by |\n|---|---|---|\n"]
    for op, kernels in devices.items():
        if op.startswith("_"):
            continue
        types = "<br>".join("%s: %s" % k for k in kernels) or (
            WITHOUT_KERNEL.get(op, "no kernel"))
        tests = ["%s %d" % (kind, cases[op][kind])
                 for kind in ("ops", "graphs", "hostile", "models")
                 if cases[op][kind]]
        tests += sorted(names[op])
        out.append("| %s | %s | %s |\n" % (op, types, ", ".join(tests)))
    public = [op for op in devices if not op.startswith("_")]
    runnable = sum(1 for op in public if devices[op])
    out.append("\n%d ops, %d with kernels.\n" % (len(public), runnable))
    return "".join(out)


def main():
    text = document()
    if "--check" in sys.argv[1:]:
        if not DOC.exists() or DOC.read_text() != text:
            sys.exit("docs/ops.md is out of date: run tools/ops_doc.py")
        return
    DOC.parent.mkdir(exist_ok=True)
    DOC.write_text(text)


if __name__ == "__main__":
    main()
