"""Measures Headrace beside TensorFlow, ONNX Runtime and OpenVINO.

    run.py [--nets vgg16,vgg16:8,resnet50] [--zoo] [--runs 40] [--threads N] [--readme] [--docs]

A net is NAME or NAME:BATCH, of those that nets.py and zoo.py build. Every engine has its default options, as a program
gets it that asks for nothing; one column has the same with the number of threads set. OpenVINO's default precision is bfloat16 where the processor has it:
then it is measured twice, the ratios are of float32, and one column compares it with Headrace's bfloat16. All engines have a network loaded at the same time. They run in turns, so that a noisy machine is noisy
for all: five runs back to back, after a rest in which the threads of the one before stop spinning. What counts is the
ratio. What loads within ten seconds is loaded three times, the shortest counts. Prints tables in Markdown;
--readme puts them into README.md, --docs those of --zoo into docs/performance.md, where the last ones stand. The peers live in a
virtual environment of their own.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = ROOT / ".venv" / "bin" / "python"
PEERS = ROOT / ".venv-bench" / "bin" / "python"
NAMES = {"headrace": "Headrace", "headrace:bfloat16": "Headrace, bf16", "tensorflow": "TensorFlow", "onnxruntime": "ONNX Runtime", "openvino:f32": "OpenVINO", "openvino": "OpenVINO"}
OWN_CHOICE = "openvino"  # the engine with a precision that it chooses
BFLOAT16 = "headrace:bfloat16"  # measured where OWN_CHOICE is bfloat16
FLOAT32 = [e for e in NAMES if e not in (OWN_CHOICE, BFLOAT16)]  # what the ratios are of
TITLES = {"vgg16": "VGG16", "resnet50": "ResNet-50", "mobilenet_v1": "MobileNet v1", "mobilenet_v2": "MobileNet v2",
          "inception_v3": "Inception v3", "lstm_unrolled": "LSTM language model, unrolled",
          "lstm_dynamic": "LSTM language model, while_loop"}  # the networks of nets.py; others are zoo.py's
FOLDER = ROOT / "build" / "bench_nets"
TURN = 5  # runs
REST = 0.05  # seconds


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Worker:
    """A process with one engine; started, asked, and stopped from here."""

    def __init__(self, engine, model, batch, threads):
        self.engine = engine
        python = OURS if engine.startswith("headrace") else PEERS
        with tempfile.NamedTemporaryFile(suffix=".npz") as results:
            self.process = subprocess.Popen(
                [str(python), str(HERE / "worker.py"), engine, str(model), str(batch), str(threads), results.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            line = self.process.stdout.readline()
            while line and not line.startswith("{"):
                line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{engine} could not load {model}")
            with np.load(results.name) as values:
                self.results = list(values.values())
        self.__dict__.update(json.loads(line))  # load_s, precision
        self.times = []

    def ask(self, runs, clients=1):
        """{"ms": the time of each run, "wall_s"}, of `runs` runs by each of `clients` threads."""
        self.process.stdin.write(f"{runs} {clients}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.peak_mb = float(self.process.stdout.readline())
        self.process.wait()


def prepare(nets):
    for python, builder, names in ((OURS, "nets.py", [n for n in nets if n in TITLES]), (PEERS, "zoo.py", [n for n in nets if n not in TITLES])):
        if names:
            subprocess.run([str(python), str(HERE / builder), str(FOLDER), *names], check=True)
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


def load(engine, model, batch, threads, times):
    """A worker, loaded up to `times` times; the shortest load counts."""
    worker = Worker(engine, model, batch, threads)
    for _ in range(times - 1):
        if worker.load_s > 10:
            break
        worker.stop()
        last, worker = worker, Worker(engine, model, batch, threads)
        worker.load_s = min(worker.load_s, last.load_s)
    return worker


def load_all(net, batch, threads=0, leave_out=(), times=1):
    """{engine: worker}; engines that fail are left out and named."""
    workers = {}
    for engine in sorted(NAMES, key=BFLOAT16.__eq__):  # that one last
        if engine in leave_out or engine == "onnxruntime" and not spec(net)["onnx"]:
            continue
        if engine == BFLOAT16 and OWN_CHOICE not in workers:
            continue
        say(f"{net}, batch {batch}: loading {engine}" + (f", {threads} threads" if threads else ""))
        try:
            worker = load(engine, FOLDER / f"{net}.pb", batch, threads, times)
        except RuntimeError as e:
            say(str(e))
            continue
        if engine == OWN_CHOICE and worker.precision == "f32":
            worker.stop()
        else:
            workers[engine] = worker
    return workers


def run_in_turns(workers, runs):
    for count in [None] + [TURN] * (runs // TURN):  # the first turn is not counted
        for w in workers.values():
            time.sleep(REST)
            times = w.ask(count or TURN)["ms"]
            w.times += times if count else []
    for w in workers.values():
        w.stop()


def bench_net(net, batch, runs, threads):
    """The workers of the default options and those with `threads` threads, after the runs."""
    workers = load_all(net, batch, times=3)
    say(f"{net}, batch {batch}: {runs} runs each, in turns")
    run_in_turns(workers, runs)
    for engine, w in workers.items():
        if engine in FLOAT32 and difference(workers["headrace"], w) > 1e-3:
            say(f"warning: {net}: Headrace and {engine} differ by {difference(workers['headrace'], w):.1e} of the largest value")
    by_option = load_all(net, batch, threads, leave_out=[OWN_CHOICE, BFLOAT16])
    run_in_turns(by_option, runs)
    return workers, by_option


def difference(ours, theirs):
    """The largest difference of two workers' results, relative to the largest value."""
    worst = 0.0
    for a, b in zip(ours.results, theirs.results):
        if a.shape != b.shape:
            return math.inf
        if b.size:
            worst = max(worst, float(np.abs(a.astype(float) - b).max() / max(np.abs(b).max(), 1e-30)))
    return worst


def shortest(w):
    return min(w.times)


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def ms(*values):
    """Milliseconds, with two digits behind the point where they are short."""
    digits = 1 if values[0] >= 1 else 2
    return " / ".join(f"{v:.{digits}f}" for v in values) + " ms"


def median(w):
    return percentile(w.times, 0.5)


def ratio(workers, value):
    """Headrace's to the best peer's; None without a peer."""
    peers = [value(w) for engine, w in workers.items() if engine in FLOAT32 and engine != "headrace"]
    return value(workers["headrace"]) / min(peers) if peers else None


def bfloat16_ratio(workers):
    """Of the shortest runs in bfloat16; None where they were not measured."""
    if BFLOAT16 not in workers:
        return None
    return shortest(workers[BFLOAT16]) / shortest(workers[OWN_CHOICE])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def title(net, batch):
    name = TITLES.get(net, net)
    return name if batch == 1 else f"{name}, {batch} {'images' if net in TITLES else 'examples'}"


def limit_ms(net, batch, machine):
    """What a run takes at least: its multiply-adds at peak, or its weights read once."""
    cost = spec(net)
    return max(2e-6 * cost["multiply_adds"] * batch / machine["fma_gflops"], 1e-6 * cost["weight_bytes"] / machine["read_gbs"])


RATIOS = {"shortest": shortest, "median": median, "95 %": lambda w: percentile(w.times, 0.95), "load": lambda w: w.load_s, "memory": lambda w: w.peak_mb}


def column(engine, precision):
    """The name of an engine's column: with its precision, where it is not float32's only."""
    return NAMES[engine] + (f", {precision}" if precision and engine != BFLOAT16 else "")


def net_table(results, machine):
    """A row for each network, and the geometric means of the ratios."""
    engines = [e for e in NAMES if any(e in workers for workers, _ in results.values())]
    precisions = {e: w.precision for workers, _ in results.values() for e, w in workers.items() if w.precision}
    columns = ["network", "limit", *(column(e, precisions.get(e)) for e in engines), *RATIOS, "bf16", "threads set", "difference"]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    means = []
    for (net, batch), (workers, by_option) in results.items():
        cells = [title(net, batch), ms(limit_ms(net, batch, machine))]
        for engine in engines:
            w = workers.get(engine)
            cells.append(f"{ms(shortest(w), median(w), percentile(w.times, 0.95))}, {w.load_s:.2f} s, {w.peak_mb:.0f} MB" if w else "-")
        ratios = [ratio(workers, value) for value in RATIOS.values()] + [bfloat16_ratio(workers), ratio(by_option, shortest)]
        means.append(ratios)
        cells += [f"{r:.2f}" if r else "-" for r in ratios[:-1]]
        cells.append(f"{ms(shortest(by_option['headrace']))}, {ratios[-1]:.2f}" if ratios[-1] else "-")
        cells.append(f"{difference(workers['headrace'], workers['tensorflow']):.0e}" if "tensorflow" in workers else "-")
        lines.append("| " + " | ".join(cells) + " |")
    means = [[r for r in column if r] for column in zip(*means)]
    if len(results) > 1:
        cells = ["geometric mean", *[""] * (1 + len(engines)), *(f"{geometric_mean(column):.2f}" if column else "-" for column in means), ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def net_text(results, machine, args):
    return (f"Networks: every engine with its default options, all loaded at once and run in turns of {TURN} runs; shortest / median / 95th percentile of {args.runs} runs, "
            "import of the engine to the first result where Python and NumPy are there, peak memory of the process; then the ratios of Headrace's to the best peer's in float32. "
            f"\"Threads set\": the shortest run of Headrace with {args.threads} threads set by an option, and its ratio to the best peer's that has the same. "
            "\"bf16\": the ratio of the shortest runs of the two columns in bfloat16. The difference is the largest from TensorFlow's results, relative to the largest value. The limit is that of "
            f"direct convolution at the machine's peak, or of reading the weights once.\n\n{net_table(results, machine)}\n")


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


def replace_between(path, mark, text):
    """Puts text between the two marks of a Markdown file."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    old = path.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        raise SystemExit(f"{path} does not have one {begin.strip()} and one {end}")
    head, rest = old.split(begin)
    path.write_text(head + begin + text + end + rest.split(end)[1])


def deliver(args, text, mark):
    """Prints text, and puts it into the file of --out and, with --readme, between two marks of README.md."""
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    if args.readme:
        replace_between(ROOT / "README.md", mark, text)


def parse_nets(parser, names):
    nets = []
    for net in filter(None, names.split(",")):
        name, _, batch = net.partition(":")
        if not (batch or "1").isdigit():
            parser.error(f"{net}: a net is NAME or NAME:BATCH")
        nets.append((name, int(batch or 1)))
    return nets


def zoo_names():
    return subprocess.run([str(PEERS), str(HERE / "zoo.py"), "--list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default="vgg16,vgg16:8,resnet50,mobilenet_v1,mobilenet_v2,inception_v3,lstm_unrolled,lstm_dynamic",
                        help="default: %(default)s; '' for none")
    parser.add_argument("--zoo", action="store_true", help="all networks of zoo.py instead, and no dispatch table")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the column with threads set")
    parser.add_argument("--out", help="also write the tables to this file")
    parser.add_argument("--readme", action="store_true", help="also write the tables into README.md")
    parser.add_argument("--docs", action="store_true", help="also write those of --zoo into docs/performance.md")
    parser.add_argument("--no-floor", action="store_true", help="leave the dispatch table out")
    args = parser.parse_args()
    if args.readme and args.zoo or args.docs and not args.zoo:
        parser.error("--docs goes with --zoo, --readme without it")
    args.runs = -(-args.runs // TURN) * TURN  # whole turns
    nets = parse_nets(parser, ",".join(zoo_names()) if args.zoo else args.nets)
    prepare(sorted({name for name, _ in nets}))
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    machine = limits(args.threads)
    results = {net: bench_net(*net, args.runs, args.threads) for net in nets}
    text = (f"{args.threads} threads of {cpu}, which give {machine['fma_gflops']:.0f} GFLOP/s of float32 multiply-adds and read "
            f"{machine['read_gbs']:.1f} GB/s. {versions()}.\n")
    if nets:
        text += net_text(results, machine, args)
    if args.zoo:
        text += "\nONNX Runtime does not read GraphDefs: it is left out.\n"
    if not (args.no_floor or args.zoo):
        text += f"\n{floor_table()}\n"
    deliver(args, text, "bench")
    if args.docs:
        replace_between(ROOT / "docs" / "performance.md", "zoo", text)


if __name__ == "__main__":
    main()
