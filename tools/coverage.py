#!/usr/bin/env python3
"""Writes docs/coverage.md, which kernels the tests run with which types, and
docs/ops.md, which repeats a part of it.

    tools/coverage.py [--check]

The numbers are those of the last ./run test, in build/coverage: there the
library counts each call of a kernel that succeeds (HEADRACE_COUNT_KERNELS, see
src/framework/kernel/kernel_counts.h). --check writes nothing: exit 1 if there
is a kernel for the CPU that no test runs and that docs/coverage.md does not
list as one.
"""
import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "coverage.md"
COUNTS = ROOT / "build" / "coverage"
DEVICES = ("CPU", "DEFAULT")  # kernels of the latter serve any device

# C++ tests that hold results of kernels against values.
VALUE_PROGRAMS = {"kernels_test": "kernels"}
# Python tests that run ops for other reasons than what they compute: the rest
# compare values.
RUN_ONLY = {
    "conformance-test_determinism", "conformance-test_without_memory",
    "python-test_exit", "python-test_fork", "python-test_large_graph_def",
    "python-test_memory_plan", "python-test_out_of_memory",
    "python-test_programs_without_memory", "python-test_public_names",
    "python-test_random_graphs", "python-test_readme", "python-test_signatures",
    "python-test_static_shapes", "python-test_thread_counts",
    "python-test_tune",
}

HEAD = """# Coverage

Written by `tools/coverage.py` (`./run coverage`) from the kernels that a whole
`./run test` ran: the library counts the calls that succeed.

A test **compares** where it holds the results of ops against values: the C++
tests of the kernels, the recorded cases of `tests/conformance`, and the Python
tests of what ops compute. What other tests run (of sessions, passes, memory,
threads, random graphs) is **run only**. A file of tests counts as a whole: that
one runs a kernel does not prove that it compares each of its results. Where the
executor itself does what an op does (it hands on what `Identity` gets), no
kernel runs.

"""


IDLE = "## Kernels that no test runs"


class Kernel:
    """A registered kernel, with what ran it."""

    def __init__(self, op, device, kernel_class, constraints):
        self.op, self.device, self.kernel_class = op, device, kernel_class
        self.allowed = {}
        for one in filter(None, constraints.split("; ")):
            attr, _, types = one.partition(" in [")
            self.allowed[attr] = types.rstrip("]").split(", ")
        self.runs = set()  # (source, whether it compares, types, algorithm)

    def takes(self, types):
        return all(set(types.get(attr, [])) <= set(allowed)
                   for attr, allowed in self.allowed.items())

    def types(self):
        """"T=float Tidx=int32,int64": what it is registered for."""
        return " ".join("%s=%s" % (attr, ",".join(types))
                        for attr, types in self.allowed.items()) or "any"

    def sources(self, compares):
        return {r[0] for r in self.runs if r[1] == compares}


def source_of(file, program):
    """(name of the tests, whether they compare values)."""
    if file.stem == "cpp":
        return (VALUE_PROGRAMS.get(program, program),
                program in VALUE_PROGRAMS)
    compares = file.stem not in RUN_ONLY and not file.stem.startswith("oracle-")
    if file.stem == "conformance-test_conformance":
        return "conformance", compares
    return file.stem.partition("-")[2] or file.stem, compares


def parse_types(text):
    """{"T": ["float"]} of "T=float Tidx=int32"."""
    return {attr: types.split(",") if types else []
            for attr, _, types in (part.partition("=") for part in text.split())}


def registered():
    lines = subprocess.run(
        [ROOT / "build" / "bin" / "headrace", "ops", "--kernels"], check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    kernels = [Kernel(*line.split("\t")) for line in lines]
    return [k for k in kernels if k.device in DEVICES]


def read_counts(kernels):
    """Adds to each kernel what ran it. False if there are no counts."""
    of_class = collections.defaultdict(list)
    for kernel in kernels:
        of_class[kernel.op, kernel.kernel_class].append(kernel)
    files = sorted(COUNTS.glob("*.tsv"))
    for file in files:
        seen = {line.rpartition("\t")[0]
                for line in file.read_text().splitlines()}
        for line in seen:
            program, op, _, kernel_class, types, algorithm = line.split("\t")
            source = source_of(file, program)
            for kernel in of_class[op, kernel_class]:
                if kernel.takes(parse_types(types)):
                    kernel.runs.add((*source, types, algorithm))
    return bool(files)


def types_cell(kernels):
    """"T: float, half (not int8)": what tests compare, of what is registered."""
    allowed = collections.defaultdict(set)
    compared = collections.defaultdict(set)
    for kernel in kernels:
        for attr, types in kernel.allowed.items():
            allowed[attr] |= set(types)
        for _, compares, types, _ in kernel.runs:
            if compares:
                for attr, values in parse_types(types).items():
                    compared[attr] |= set(values)
    cells = []
    for attr in sorted(allowed or compared):
        # An attr without a constraint has no list of what could have been.
        missing = sorted(allowed[attr] - compared[attr])
        cell = "%s: %s" % (attr, ", ".join(sorted(compared[attr])) or "none")
        cells.append(cell + (" (not %s)" % ", ".join(missing) if missing else ""))
    return "; ".join(cells)


def implementations_cell(kernels):
    """The algorithms that tests compare; else the classes, if they are several."""
    algorithms = {r[3] for k in kernels for r in k.runs if r[1] and r[3]}
    if algorithms:
        return ", ".join(sorted(algorithms))
    names = collections.defaultdict(set)
    for kernel in kernels:
        names[kernel.kernel_class.partition("<")[0]] |= kernel.sources(True)
    if len(names) < 2:
        return ""
    return ", ".join(name if ran else "not " + name
                     for name, ran in sorted(names.items()))


def sources_cell(kernels, compares):
    found = set().union(*(k.sources(compares) for k in kernels))
    first = [s for s in ("kernels", "conformance") if s in found]
    return ", ".join(first + sorted(found - set(first)))


def idle_rows(kernels):
    """Lines of the table of kernels that no test runs, one for an op's on a
    device."""
    found = collections.defaultdict(list)
    for kernel in kernels:
        if not kernel.runs:
            found[kernel.op, kernel.device].append(kernel.types())
    return ["| %s | %s | %s |" % (op, device, "; ".join(sorted(types)))
            for (op, device), types in sorted(found.items())]


def parse_idle(rows):
    """{(op, device, types)} of idle_rows."""
    found = set()
    for row in rows:
        op, device, types = (c.strip() for c in row.split("|")[1:-1])
        found |= {(op, device, one) for one in types.split("; ")}
    return found


def document(kernels):
    of_op = collections.defaultdict(list)
    for kernel in kernels:
        of_op[kernel.op].append(kernel)
    idle = sum(1 for k in kernels if not k.runs)
    uncompared = sorted(op for op, ks in of_op.items()
                        if not any(k.sources(True) for k in ks))
    compared = sum(1 for k in kernels if k.sources(True))
    out = [HEAD]
    out.append("%d ops have %d kernels for the CPU. Tests compare the values of "
               "%d ops and of %d kernels, and run %d more kernels only.\n\n" % (
                   len(of_op), len(kernels), len(of_op) - len(uncompared),
                   compared, len(kernels) - idle - compared))
    out.append("## Ops whose values no test compares\n\n%s\n\n" % (
        ", ".join(uncompared) or "None."))
    out.append("%s\n\n| op | device | kernels for |\n|---|---|---|\n" % IDLE)
    out += ["%s\n" % row for row in idle_rows(kernels)]
    out.append("\n## Ops\n\nUnder types, what is compared, and in brackets what "
               "is registered but not compared.\n\n")
    out.append("| op | types | implementations | compared by | run only by |\n"
               "|---|---|---|---|---|\n")
    for op in sorted(of_op):
        out.append("| %s | %s | %s | %s | %s |\n" % (
            op, types_cell(of_op[op]), implementations_cell(of_op[op]),
            sources_cell(of_op[op], True), sources_cell(of_op[op], False)))
    return "".join(out)


def check(kernels):
    """What is wrong: the rows of kernels that no test runs and the page does not
    list."""
    text = DOC.read_text() if DOC.exists() else ""
    table = text.partition(IDLE)[2].partition("\n## ")[0].splitlines()
    listed = parse_idle(row for row in table if row.count("|") == 4)
    idle = parse_idle(idle_rows(kernels))
    return ["%s on %s for %s" % kernel for kernel in sorted(idle - listed)]


def compared_by():
    """{op: tests}, as docs/coverage.md has them."""
    found = {}
    if not DOC.exists():
        return found
    table = DOC.read_text().partition("\n|---|---|---|---|---|\n")[2]
    for line in table.splitlines():
        op, _, _, compared, _ = (c.strip() for c in line.split("|")[1:-1])
        found[op] = compared
    return found


def main():
    kernels = registered()
    if not read_counts(kernels):
        sys.exit("there are no counts in build/coverage: ./run test makes them")
    if "--check" in sys.argv[1:]:
        wrong = check(kernels)
        if wrong:
            sys.exit("no test runs these kernels; write one that compares their "
                     "values (./run coverage lists them):\n" + "\n".join(wrong))
        return
    DOC.write_text(document(kernels))
    # docs/ops.md names the tests that docs/coverage.md names.
    subprocess.run([sys.executable, ROOT / "tools" / "ops_doc.py"], check=True)


if __name__ == "__main__":
    main()
