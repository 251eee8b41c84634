"""Measures Headrace beside TensorFlow, ONNX Runtime and OpenVINO.

    run.py [--nets vgg16,resnet50,mobilenet_v1,mobilenet_v2,inception_v3] [--batch 1] [--runs 20] [--threads N] [--out FILE]

All engines have a network loaded at the same time and run in turn, one run
each, so that a noisy machine is noisy for all; what counts is the ratio. Prints
tables in Markdown. The peers live in a virtual environment of their own.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = ROOT / ".venv" / "bin" / "python"
PEERS = ROOT / ".venv-bench" / "bin" / "python"
ENGINES = ["headrace", "tensorflow", "onnxruntime", "openvino"]
FOLDER = ROOT / "build" / "bench_nets"


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Worker:
    """A process with one engine; started, asked, and stopped from here."""

    def __init__(self, engine, model, batch, threads):
        python = OURS if engine == "headrace" else PEERS
        self.process = subprocess.Popen(
            [str(python), str(HERE / "worker.py"), engine, str(model), str(batch), str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):
            line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{engine} could not load {model}")
        self.first = json.loads(line)
        self.times = []

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times.append(float(self.process.stdout.readline()))

    def stop(self):
        self.process.stdin.close()
        self.peak_mb = float(self.process.stdout.readline())
        self.process.wait()


def prepare(nets):
    subprocess.run([str(OURS), str(HERE / "nets.py"), str(FOLDER), *nets], check=True)
    for net in nets:
        onnx = FOLDER / f"{net}.onnx"
        if not onnx.exists():
            say(f"converting {net} to ONNX")
            subprocess.run([str(PEERS), str(HERE / "to_onnx.py"), str(FOLDER / f"{net}.pb"), str(onnx)], check=True,
                           stderr=subprocess.DEVNULL)


def bench_net(net, batch, runs, threads):
    """{engine: worker} after the runs; engines that fail are left out and named."""
    workers = {}
    for engine in ENGINES:
        say(f"{net}, batch {batch}: loading {engine}")
        try:
            workers[engine] = Worker(engine, FOLDER / f"{net}.pb", batch, threads)
        except RuntimeError as e:
            say(str(e))
    say(f"{net}, batch {batch}: {runs} runs each, in turn")
    for _ in range(3):  # not counted
        for w in workers.values():
            w.run()
            w.times.clear()
    for _ in range(runs):
        for w in workers.values():
            w.run()
    for w in workers.values():
        w.stop()
    want = workers["headrace"].first["prob"]
    for engine, w in workers.items():
        if any(abs(a - b) > 1e-3 * max(abs(b), 1e-3) + 1e-6 for a, b in zip(w.first["prob"], want)):
            say(f"warning: {engine} computes something else: {w.first['prob'][:4]} and {want[:4]}")
    return workers


def median(values):
    return sorted(values)[len(values) // 2]


def net_table(results):
    lines = ["| network | engine | min ms | median ms | start to first result | peak memory |", "|---|---|---|---|---|---|"]
    ratios = ["| network | time | load | memory |", "|---|---|---|---|"]
    for (net, batch), workers in results.items():
        name = f"{net}, {batch} image{'s' if batch > 1 else ''}"
        for engine, w in workers.items():
            lines.append(f"| {name} | {engine} | {min(w.times):.1f} | {median(w.times):.1f} | {w.first['load_s']:.2f} s | {w.peak_mb:.0f} MB |")
        ours, peers = workers["headrace"], [w for e, w in workers.items() if e != "headrace"]
        if peers:
            ratios.append(f"| {name} | {min(ours.times) / min(min(w.times) for w in peers):.2f} "
                          f"| {ours.first['load_s'] / min(w.first['load_s'] for w in peers):.2f} "
                          f"| {ours.peak_mb / min(w.peak_mb for w in peers):.2f} |")
    return "\n".join(lines) + "\n\nRatio of Headrace to the best peer:\n\n" + "\n".join(ratios)


def parse_pairs(text):
    return {k: float(v) for k, v in (line.split() for line in text.splitlines() if len(line.split()) == 2)}


def floor_table():
    binary = ROOT / "build" / "floor"
    subprocess.run(["cc", "-O2", f"-I{ROOT / 'include'}", str(HERE / "floor.c"), "-o", str(binary), "-ldl"], check=True)
    site = subprocess.run([str(PEERS), "-c", "import importlib.util as u; print(u.find_spec('tensorflow').submodule_search_locations[0])"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    def c(library, **env):
        return parse_pairs(subprocess.run([str(binary), library], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                          env=dict(os.environ, **env)).stdout)
    def py(python, engine):
        return parse_pairs(subprocess.run([str(python), str(HERE / "floor.py"), engine], stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True).stdout)
    say("dispatch: Headrace and TensorFlow in turn")
    ours, theirs = {}, {}
    for _ in range(3):
        for store, values in ((ours, c(str(ROOT / "build/lib/libtensorflow.so.2"))),
                              (theirs, c(f"{site}/libtensorflow_cc.so.2", LD_LIBRARY_PATH=site, TF_CPP_MIN_LOG_LEVEL="3")),
                              (ours, py(OURS, "headrace")), (theirs, py(PEERS, "tensorflow"))):
            for k, v in values.items():
                store[k] = min(v, store.get(k, v))
    names = {"add_us": "C: one scalar add, us", "chain_1000_us": "C: chain of 1,000 adds, us", "chain_10000_us": "C: chain of 10,000 adds, us",
             "build_10000_ms": "C: build 10,000 nodes, ms", "first_run_10000_ms": "C: first run of 10,000 nodes, ms",
             "python_add_us": "Python: one scalar add, us", "python_chain_1000_us": "Python: chain of 1,000 adds, us",
             "python_wide_1000_us": "Python: 1,000 adds side by side, us", "python_cond_us": "Python: cond, us",
             "python_while_1000_us": "Python: while_loop, 1,000 turns of 2 ops, us", "python_while_30x30_us": "Python: while_loop in while_loop, 30 x 30 turns of 2 ops, us",
             "python_build_10000_ms": "Python: build 10,000 nodes, ms", "import_s": "Python: import, s"}
    lines = ["| dispatch | Headrace | TensorFlow | ratio |", "|---|---|---|---|"]
    for key, name in names.items():
        if key in ours:
            peer, ratio = (f"{theirs[key]:.2f}", f"{ours[key] / theirs[key]:.2f}") if key in theirs else ("-", "-")
            lines.append(f"| {name} | {ours[key]:.2f} | {peer} | {ratio} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default="vgg16,resnet50,mobilenet_v1,mobilenet_v2,inception_v3")
    parser.add_argument("--batch", default="1", help="comma-separated batch sizes")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", help="also write the tables to this file")
    parser.add_argument("--no-floor", action="store_true", help="leave the dispatch table out")
    args = parser.parse_args()
    nets = [n for n in args.nets.split(",") if n]
    prepare(nets)
    results = {(n, int(b)): bench_net(n, int(b), args.runs, args.threads) for n in nets for b in args.batch.split(",")}
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    text = f"{args.threads} threads of {cpu}.\n\n{net_table(results)}\n"
    if not args.no_floor:
        text += f"\n{floor_table()}\n"
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)


if __name__ == "__main__":
    main()
