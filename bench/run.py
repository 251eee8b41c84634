"""Measures Headrace beside TensorFlow, ONNX Runtime and OpenVINO.

    run.py [--nets vgg16,vgg16:8,resnet50] [--runs 21] [--threads N] [--readme]

A net is NAME or NAME:BATCH, of those that nets.py builds. All engines have a
network loaded at the same time and run in turn, so that a noisy machine is noisy
for all: three runs each, after a rest in which the threads of the one before stop
spinning. What counts is the ratio. What loads within ten seconds is loaded three
times, the shortest counts. Prints tables in Markdown;
--readme puts them into README.md, where the last ones stand. The peers live in a
virtual environment of their own.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = ROOT / ".venv" / "bin" / "python"
PEERS = ROOT / ".venv-bench" / "bin" / "python"
NAMES = {"headrace": "Headrace", "tensorflow": "TensorFlow", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
ENGINES = list(NAMES)
FOLDER = ROOT / "build" / "bench_nets"
TURN = 3  # runs
REST = 0.05  # seconds


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Worker:
    """A process with one engine; started, asked, and stopped from here."""

    def __init__(self, engine, model, batch, threads):
        self.engine = engine
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

    def turn(self):
        time.sleep(REST)
        for _ in range(TURN):
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
        model, onnx = FOLDER / f"{net}.pb", FOLDER / f"{net}.onnx"
        if spec(net)["onnx"] and not (onnx.exists() and onnx.stat().st_mtime > model.stat().st_mtime):
            say(f"converting {net} to ONNX")
            subprocess.run([str(PEERS), str(HERE / "to_onnx.py"), str(model), str(onnx)], check=True, stderr=subprocess.DEVNULL)


def spec(net):
    return json.loads((FOLDER / f"{net}.json").read_text())


def compiled(name, *flags):
    """bench/NAME.c as a program."""
    binary = ROOT / "build" / name
    subprocess.run(["cc", "-O2", *flags, str(HERE / f"{name}.c"), "-o", str(binary), "-ldl"], check=True)
    return str(binary)


def limits(threads):
    """{"fma_gflops", "read_gbs"} of this machine, now."""
    say("limits of the machine")
    program = compiled("limits", "-O3", "-march=native", "-ffast-math", "-pthread")
    return parse_pairs(subprocess.run([program, str(threads)], stdout=subprocess.PIPE, text=True, check=True).stdout)


def load(engine, model, batch, threads):
    worker = Worker(engine, model, batch, threads)
    for _ in range(2):
        if worker.first["load_s"] > 10:
            break
        worker.stop()
        last, worker = worker, Worker(engine, model, batch, threads)
        worker.first["load_s"] = min(worker.first["load_s"], last.first["load_s"])
    return worker


def bench_net(net, batch, runs, threads):
    """{engine: worker} after the runs; engines that fail are left out and named."""
    workers = {}
    for engine in ENGINES:
        say(f"{net}, batch {batch}: loading {engine}")
        try:
            workers[engine] = load(engine, FOLDER / f"{net}.pb", batch, threads)
        except RuntimeError as e:
            say(str(e))
    say(f"{net}, batch {batch}: {runs} runs each, in turn")
    for w in workers.values():  # not counted
        w.turn()
        w.times.clear()
    for _ in range(runs // TURN):
        for w in workers.values():
            w.turn()
    for w in workers.values():
        w.stop()
    want = workers["headrace"].first["prob"]
    for engine, w in workers.items():
        if any(abs(a - b) > 1e-3 * max(abs(b), 1e-3) + 1e-6 for a, b in zip(w.first["prob"], want)):
            say(f"warning: {engine} computes something else: {w.first['prob'][:4]} and {want[:4]}")
    return workers


def median(values):
    return sorted(values)[len(values) // 2]


def title(net, batch):
    name = {"vgg16": "VGG16", "resnet50": "ResNet-50", "mobilenet_v1": "MobileNet v1", "mobilenet_v2": "MobileNet v2",
            "inception_v3": "Inception v3", "lstm_unrolled": "LSTM language model, unrolled",
            "lstm_dynamic": "LSTM language model, while_loop"}[net]
    return name if batch == 1 else f"{name}, {batch} images"


def limit_ms(net, batch, machine):
    """What a run takes at least: its multiply-adds at peak, or its weights read once."""
    cost = spec(net)
    return max(2e-6 * cost["multiply_adds"] * batch / machine["fma_gflops"], 1e-6 * cost["weight_bytes"] / machine["read_gbs"])


def net_table(results, machine):
    lines = ["| network | limit | " + " | ".join(NAMES.values()) + " | time | load | memory |", "|---" * (len(NAMES) + 5) + "|"]
    for (net, batch), workers in results.items():
        cells = [title(net, batch), f"{limit_ms(net, batch, machine):.1f} ms"]
        for engine in ENGINES:
            w = workers.get(engine)
            cells.append(f"{min(w.times):.1f} / {median(w.times):.1f} ms, {w.first['load_s']:.2f} s, {w.peak_mb:.0f} MB" if w else "-")
        ours, peers = workers["headrace"], [w for e, w in workers.items() if e != "headrace"]
        for value in (lambda w: min(w.times), lambda w: w.first["load_s"], lambda w: w.peak_mb):
            cells.append(f"{value(ours) / min(map(value, peers)):.2f}" if peers else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def parse_pairs(text):
    return {k: float(v) for k, v in (line.split() for line in text.splitlines() if len(line.split()) == 2)}


def floor_table():
    binary = compiled("floor", f"-I{ROOT / 'include'}")
    site = subprocess.run([str(PEERS), "-c", "import importlib.util as u; print(u.find_spec('tensorflow').submodule_search_locations[0])"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    def c(library, **env):
        return parse_pairs(subprocess.run([binary, library], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
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


def versions():
    code = "import importlib.metadata as m; print(m.version('tensorflow-cpu'), m.version('onnxruntime'), m.version('openvino'))"
    tensorflow, ort, openvino = subprocess.run([str(PEERS), "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return f"TensorFlow {tensorflow}, ONNX Runtime {ort}, OpenVINO {openvino.split('-')[0]}"


def replace_between(path, text):
    """Puts text between the two bench marks of a Markdown file."""
    begin, end = "<!-- bench -->\n", "<!-- /bench -->"
    old = path.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        raise SystemExit(f"{path} does not have one {begin.strip()} and one {end}")
    head, rest = old.split(begin)
    path.write_text(head + begin + text + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default="vgg16,vgg16:8,resnet50,mobilenet_v1,mobilenet_v2,inception_v3,lstm_unrolled,lstm_dynamic",
                        help="default: %(default)s; '' for none")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", help="also write the tables to this file")
    parser.add_argument("--readme", action="store_true", help="also write the tables into README.md")
    parser.add_argument("--no-floor", action="store_true", help="leave the dispatch table out")
    args = parser.parse_args()
    args.runs = -(-args.runs // TURN) * TURN  # whole turns
    nets = []
    for net in filter(None, args.nets.split(",")):
        name, _, batch = net.partition(":")
        if not (batch or "1").isdigit():
            parser.error(f"{net}: a net is NAME or NAME:BATCH")
        nets.append((name, int(batch or 1)))
    prepare(sorted({name for name, _ in nets}))
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    machine = limits(args.threads)
    results = {net: bench_net(*net, args.runs, args.threads) for net in nets}
    text = (f"{args.threads} threads of {cpu}, which give {machine['fma_gflops']:.0f} GFLOP/s of float32 multiply-adds and read "
            f"{machine['read_gbs']:.1f} GB/s. {versions()}.\n")
    if nets:
        text += (f"Networks: float32, all engines loaded at once and run in turn, three runs each after a rest; shortest / median of {args.runs} runs, import of the engine "
                 "to the first result where Python and NumPy are there, peak memory of the process; then the ratios of Headrace's to the best peer's. The limit is that of "
                 "direct convolution at the machine's peak, or of reading the weights once.\n\n" + net_table(results, machine) + "\n")
    if not args.no_floor:
        text += f"\n{floor_table()}\n"
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    if args.readme:
        replace_between(ROOT / "README.md", text)


if __name__ == "__main__":
    main()
