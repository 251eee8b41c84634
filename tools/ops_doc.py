#!/usr/bin/env python3
"""Writes docs/ops.md: every registered op, its kernels, what tests it.

    tools/ops_doc.py [--check]

The ops and types are those of build/bin/headrace; the tests are those that
docs/coverage.md says compare values (tools/coverage.py). --check: exit 1 if
docs/ops.md says something else.
"""
import collections
import pathlib
import subprocess
import sys

import coverage

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "ops.md"

HEAD = """# Ops

Written by `tools/ops_doc.py` from the registry; `headrace ops OP` prints an
op's whole signature.

- **types**: of the kernels on a device, by attr; "any" where a kernel asks for
  none in particular and takes what the op's signature allows.
- **tested by**: what runs a kernel of the op and compares values: the C++ tests
  of the kernels, the recorded cases of `tests/conformance`, files of Python
  tests. [coverage.md](coverage.md) has the types and implementations.

"""

# Why an op has no kernel, where that is on purpose.
WITHOUT_KERNEL = {
    "CudnnRNN": "no kernel for the CPU, as in TensorFlow",
    "CudnnRNNBackprop": "no kernel for the CPU, as in TensorFlow",
    "CudnnRNNParamsSize": "no kernel for the CPU, as in TensorFlow",
    "TileGrad": "no kernel, as in TensorFlow: graphs of 2015 have it",
}


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
    compared_by = coverage.compared_by()
    out = [HEAD, "| op | types | tested by |\n|---|---|---|\n"]
    for op, kernels in devices.items():
        if op.startswith("_"):
            continue
        types = "<br>".join("%s: %s" % k for k in kernels) or (
            WITHOUT_KERNEL.get(op, "no kernel"))
        out.append("| %s | %s | %s |\n" % (op, types, compared_by.get(op, "")))
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
