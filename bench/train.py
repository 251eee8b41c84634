"""Measures training steps beside TensorFlow's.

    train.py [--nets lenet,lstm] [--turns 10] [--seconds 0.3] [--peer PYTHON] [--readme]
    train.py --trace NET [--top 20]
    train.py --check

Both engines build the same network by the API of TensorFlow 1.x (training.py),
differentiate it, and train it on the same random numbers with their default
options, in processes of their own. They take turns of about --seconds each (at
least one step), so that a noisy machine is noisy for both, after a rest in which
the threads of the one before stop spinning. Peak memory is that of the process,
less what it had when the engine was loaded. --trace prints which ops take the time
of a step of Headrace, --check the losses of both after a few steps. PYTHON has
TensorFlow; by default it is that of .venv-bench, as for run.py. --readme puts the
table into README.md.
"""
import argparse
import collections
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / ".venv" / "bin" / "python"
PEER = ROOT / ".venv-bench" / "bin" / "python"
NETS = ("lenet", "convolutions", "lstm", "char_lstm", "resnet50",
        "transformer", "word2vec")
TITLES = {
    "lenet": "LeNet, 64 pictures, Adam",
    "convolutions": "six 3x3 convolutions, 32x32, 16 pictures, momentum",
    "lstm": "LSTM unrolled, 50 steps, batch 32, 256 units, Adam",
    "char_lstm": "character LSTM by while_loop, Adam",
    "resnet50": "ResNet-50, 8 pictures, momentum",
    "transformer": "transformer encoder, 4 layers, 8 x 128 words, Adam",
    "word2vec": "word2vec, NCE, sparse Adam",
}
WARM_UP = 3  # steps
CHECKED = 5  # steps
TRACED = 8  # steps
REST = 0.05  # seconds


def load_engine(engine):
    """The module that is `tf`."""
    if engine == "headrace":
        import headrace
        return headrace
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow
    tensorflow.compat.v1.disable_v2_behavior()
    return tensorflow.compat.v1


def peak_memory():
    """Most memory that this process has had, in MB."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


def build(engine, net):
    import training
    return training.build(load_engine(engine), net)


def work(engine, net, seconds):
    """Runs a turn for each line of the input; prints seconds a step."""
    load_engine(engine)
    before = peak_memory()
    session, fetches, feeds = build(engine, net)
    for _ in range(WARM_UP):
        session.run(fetches, feeds)
    print("ready", flush=True)
    for _ in sys.stdin:
        times = []
        end = time.perf_counter() + seconds
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            session.run(fetches, feeds)
            times.append(time.perf_counter() - start)
        print("%.1f" % (peak_memory() - before),
              " ".join("%.9f" % t for t in times), flush=True)


class Worker:
    """A process with one engine."""

    def __init__(self, engine, python, net, seconds):
        self.times = []
        self.memory = 0
        self._process = subprocess.Popen(
            [str(python), __file__, "--work", engine, "--nets", net,
             "--seconds", str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("%s could not train %s with %s" % (
                python, net, engine))

    def turn(self):
        time.sleep(REST)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        memory, *times = self._process.stdout.readline().split()
        self.memory = float(memory)
        self.times += [float(t) for t in times]

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def measure(net, options):
    """(Headrace, TensorFlow), each a Worker that has ended."""
    workers = (Worker("headrace", OURS, net, options.seconds),
               Worker("tensorflow", options.peer, net, options.seconds))
    for _ in range(options.turns):
        for worker in workers:
            worker.turn()
    for worker in workers:
        worker.end()
    return workers


def row(net, ours, theirs):
    """A line of the table, and the ratio of the shortest times."""
    best = [min(w.times) for w in (ours, theirs)]
    middle = [statistics.median(w.times) for w in (ours, theirs)]
    cells = [TITLES[net]]
    cells += ["%.2f (%.2f)" % (b * 1e3, m * 1e3)
              for b, m in zip(best, middle)]
    cells += ["%.2f" % (best[0] / best[1]), "%.2f" % (middle[0] / middle[1]),
              "%.0f" % ours.memory, "%.0f" % theirs.memory]
    return "| %s |" % " | ".join(cells), best[0] / best[1]


HEAD = ("| training step | Headrace ms | TensorFlow ms | ratio of shortest | "
        "of medians | Headrace MB | TensorFlow MB |\n" + "|---" * 7 + "|")


def table(results):
    lines, ratios = [HEAD], []
    for net, workers in results.items():
        line, ratio = row(net, *workers)
        lines.append(line)
        ratios.append(ratio)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines.append("| geometric mean | | | %.2f | | | |" % mean)
    return "\n".join(lines) + "\n"


def trace(net, top):
    """The kernels and the nodes of a step by their shortest time of some."""
    tf = load_engine("headrace")
    session, fetches, feeds = build("headrace", net)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    found = {}
    for i in range(WARM_UP + TRACED):
        metadata = tf.RunMetadata()
        session.run(fetches, feeds, options=options, run_metadata=metadata)
        times = collections.Counter()
        for device in metadata.step_stats.dev_stats:
            for node in device.node_stats:
                times[node.node_name, node.timeline_label] += (
                    node.op_end_rel_nanos - node.op_start_rel_nanos)
        if i >= WARM_UP:
            for key, nanos in times.items():
                found[key] = min(nanos, found.get(key, nanos))
    kernels, counts = collections.Counter(), collections.Counter()
    for (_, label), nanos in found.items():
        kernel = label.partition(" (")[0]
        kernels[kernel] += nanos
        counts[kernel] += 1
    print("%8.3f ms in %d nodes" % (sum(found.values()) / 1e6, len(found)))
    for kernel, nanos in kernels.most_common(top):
        print("%8.3f ms  %5d  %s" % (nanos / 1e6, counts[kernel], kernel))
    print()
    for key in sorted(found, key=found.get, reverse=True)[:top]:
        print("%8.3f ms  %s" % (found[key] / 1e6, " ".join(key)[:200]))


def losses(engine, python, net):
    """The losses of the first steps, in a process with `engine`."""
    out = subprocess.run(
        [str(python), __file__, "--losses", engine, "--nets", net],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True).stdout
    return out.strip()


def print_losses(engine, net):
    session, fetches, feeds = build(engine, net)
    print(" ".join("%.5f" % session.run(fetches, feeds)[1]
                   for _ in range(CHECKED)))


def parse_nets(parser, names):
    nets = names.split(",")
    for net in nets:
        if net not in NETS:
            parser.error("no network %s; there are %s" % (
                net, ", ".join(NETS)))
    return nets


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--peer", default=str(PEER))
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--trace", choices=NETS)
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--losses", help=argparse.SUPPRESS)
    options = parser.parse_args()
    nets = parse_nets(parser, options.nets)
    if options.work:
        work(options.work, nets[0], options.seconds)
    elif options.losses:
        print_losses(options.losses, nets[0])
    elif options.trace:
        trace(options.trace, options.top)
    elif options.check:
        for net in nets:
            print(net)
            for engine, python in (("headrace", OURS),
                                   ("tensorflow", options.peer)):
                print("    %-10s %s" % (engine, losses(engine, python, net)))
    else:
        results = {}
        for net in nets:
            results[net] = measure(net, options)
            print(row(net, *results[net])[0], file=sys.stderr, flush=True)
        text = table(results)
        print(text, end="")
        if options.readme:
            from run import replace_between
            replace_between(ROOT / "README.md", "train", text)


if __name__ == "__main__":
    main()
