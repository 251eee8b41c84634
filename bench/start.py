"""Measures what is installed and how long a process takes to its first run, beside TensorFlow.

    start.py [--runs 40] [--package FOLDER] [--out FILE] [--readme]

Takes the libraries of ./run build, and those of ./run package from --package (default: build/package), as far as they are there. The libraries
that are measured are stripped copies. A start is a process of its own: tests/package/client.c, which loads a library by dlopen and
runs a graph of two nodes, and a Python program that does the same. The libraries run in turns; a first run of each is not
counted. TensorFlow is that of .venv-bench, as for run.py. Prints a table in Markdown; --readme puts it into README.md.
"""
import argparse
import pathlib
import shutil
import subprocess
import tempfile
import time

from run import ROOT, deliver, say, versions

BENCH_PYTHON = ROOT / ".venv-bench/bin/python"
OUR_PYTHON = ROOT / ".venv/bin/python"

# `tf` is the module; the graph of client.c.
PROGRAM = """
a = tf.placeholder(tf.int32, [])
with tf.Session() as session:
    assert session.run(a + a, {a: 21}) == 42
"""
HEADRACE = "import headrace as tf\n" + PROGRAM
TENSORFLOW = "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\n" + PROGRAM


def output(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def compile_client(folder):
    client = folder / "client"
    subprocess.run(["cc", "-O2", "-DLOAD", f"-I{ROOT}/include", str(ROOT / "tests/package/client.c"), "-o", str(client), "-ldl"], check=True)
    return client


def stripped_size(library):
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copy(library, copy.name)
        subprocess.run(["strip", "--strip-unneeded", copy.name], check=True)
        return pathlib.Path(copy.name).stat().st_size / 1e6


def newest(folder, pattern):
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime, default=None)


def tensorflow_folder():
    code = "import importlib.util as u; print(u.find_spec('tensorflow').submodule_search_locations[0])"
    return pathlib.Path(output(BENCH_PYTHON, "-c", code).strip())


def libraries(package):
    """{title: (the library of the C API, the libraries whose sizes count)}."""
    found = {"./run build": (ROOT / "build/lib/libtensorflow.so.2", [ROOT / "build/lib/libheadrace.so"])}
    for title, pattern in (("./run package", "headrace-*[0-9]-linux-x86_64/lib"), ("./run package --ops", "headrace-*-few-ops-*/lib")):
        if folder := newest(package, pattern):
            library = folder / "libtensorflow.so.2"
            found[title] = library, [path for path in [folder / "libheadrace.so"] if path.exists()]
    folder = tensorflow_folder()
    found["TensorFlow"] = folder / "libtensorflow_cc.so.2", [folder / "libtensorflow_framework.so.2"]
    return found


def milliseconds(command):
    begin = time.perf_counter()
    output(*command)
    return 1e3 * (time.perf_counter() - begin)


def works(title, command):
    """A library of few ops may lack those of the graph."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0 and done.stdout.split() in (["42"], []):
        return True
    say(f"{title}: {done.stdout}{done.stderr[-500:]}")
    return False


def in_turns(commands, runs):
    """{title: (shortest, median) in ms}."""
    commands = {title: command for title, command in commands.items() if works(title, command)}
    times = {title: [] for title in commands}
    for _ in range(runs):
        for title, command in commands.items():
            times[title].append(milliseconds(command))
    return {title: (min(values), sorted(values)[len(values) // 2]) for title, values in times.items()}


def table(sizes, packed, starts, imports):
    titles = list(sizes)
    rows = [("libraries, stripped, MB", {title: f"{size:.1f}" for title, size in sizes.items()}),
            ("what is downloaded, MB", {title: f"{size:.1f}" for title, size in packed.items()}),
            ("process start to the end of a first run, by dlopen, ms", {title: f"{a:.1f} / {b:.1f}" for title, (a, b) in starts.items()}),
            ("the same from Python, ms", {title: f"{a:.0f} / {b:.0f}" for title, (a, b) in imports.items()})]
    lines = ["| | " + " | ".join(titles) + " |", "|---" * (1 + len(titles)) + "|"]
    lines += [f"| {name} | " + " | ".join(values.get(title, "-") for title in titles) + " |" for name, values in rows]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/package")
    parser.add_argument("--out", help="also write the table to this file")
    parser.add_argument("--readme", action="store_true", help="also write the table into README.md")
    args = parser.parse_args()
    found = libraries(args.package)
    say("sizes")
    sizes = {title: stripped_size(library) + sum(map(stripped_size, others)) for title, (library, others) in found.items()}
    packed = {}
    for title, pattern in (("./run package", "headrace-*[0-9]-linux-x86_64.tar.gz"), ("./run package --ops", "headrace-*-few-ops-*.tar.gz")):
        if title in found and (tarball := newest(args.package, pattern)):
            packed[title] = tarball.stat().st_size / 1e6
    wheel = newest(args.package, "*.whl")
    with tempfile.TemporaryDirectory() as folder:
        client = compile_client(pathlib.Path(folder))
        say(f"{args.runs} starts of each library")
        starts = in_turns({title: [client, library] for title, (library, _) in found.items()}, args.runs)
    say("starts of Python")
    imports = in_turns({"./run build": [OUR_PYTHON, "-c", HEADRACE], "TensorFlow": [BENCH_PYTHON, "-c", TENSORFLOW]}, max(3, args.runs // 8))
    text = (f"Sizes and starts ({versions().split(',')[0]}): shortest / median of {args.runs} processes, of {max(3, args.runs // 8)} from Python. Of TensorFlow: its two libraries of the C API."
            + (f" A wheel has {wheel.stat().st_size / 1e6:.1f} MB." if wheel else "") + f"\n\n{table(sizes, packed, starts, imports)}\n")
    deliver(args, text, "start")


if __name__ == "__main__":
    main()
