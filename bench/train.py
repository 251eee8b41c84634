"""Measures a training step beside TensorFlow's: LeNet, 64 pictures, Adam.

    train.py [--turns 20] [--batch 64] [--peer PYTHON] [--trace]

Both engines run the same program (examples/python/lenet.py builds the network)
on the same random pictures by their default options, in processes of their own.
They take turns of five steps each, so that a noisy machine is noisy for both, after
a rest in which the threads of the one before stop spinning. --trace prints which
ops take the time of a step of Headrace. PYTHON has TensorFlow; by default it is that
of .venv-bench, as for run.py.
"""
import argparse
import collections
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / ".venv" / "bin" / "python"
PEER = ROOT / ".venv-bench" / "bin" / "python"
TURN = 5  # steps
REST = 0.05  # seconds


def load_engine(engine):
    """The module that is `tf`."""
    if engine == "headrace":
        import headrace
        return headrace
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow
    tensorflow.compat.v1.disable_eager_execution()
    return tensorflow.compat.v1


def program(tf, batch):
    """(session, what a step runs, its feeds)"""
    import numpy as np
    sys.modules["headrace"] = tf  # the example builds with this engine
    spec = importlib.util.spec_from_file_location(
        "lenet", ROOT / "examples" / "python" / "lenet.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    tf.disable_resource_variables()
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    y = tf.placeholder(tf.int64, [None])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=example.lenet(x)))
    step = tf.train.AdamOptimizer(1e-3).minimize(
        loss, global_step=tf.train.get_or_create_global_step())
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feeds = {x: random.rand(batch, 28, 28, 1).astype(np.float32),
             y: random.randint(10, size=batch)}
    return session, [step, loss], feeds


def work(engine, batch):
    """Runs a turn for each line of the input; prints seconds a step."""
    session, fetches, feeds = program(load_engine(engine), batch)
    for _ in range(TURN):
        session.run(fetches, feeds)
    print("ready", flush=True)
    for _ in sys.stdin:
        times = []
        for _ in range(TURN):
            start = time.perf_counter()
            session.run(fetches, feeds)
            times.append(time.perf_counter() - start)
        print(" ".join("%.9f" % t for t in times), flush=True)


class Worker:
    """A process with one engine."""

    def __init__(self, engine, python, batch):
        self.times = []
        self._process = subprocess.Popen(
            [str(python), __file__, "--work", engine, "--batch", str(batch)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("%s could not load %s" % (python, engine))

    def turn(self):
        time.sleep(REST)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        self.times += [float(t) for t in line.split()]

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def trace(batch):
    """The ops of a step by their time."""
    tf = load_engine("headrace")
    session, fetches, feeds = program(tf, batch)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    for _ in range(TURN):
        metadata = tf.RunMetadata()
        session.run(fetches, feeds, options=options, run_metadata=metadata)
    found = collections.Counter()
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            found["%s %s" % (node.node_name, node.timeline_label)] += (
                node.op_end_rel_nanos - node.op_start_rel_nanos)
    for label, nanos in found.most_common(20):
        print("%8.3f ms  %s" % (nanos / 1e6, label))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--peer", default=str(PEER))
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.batch)
        return
    if options.trace:
        trace(options.batch)
        return
    workers = {"Headrace": Worker("headrace", OURS, options.batch),
               "TensorFlow": Worker("tensorflow", options.peer,
                                    options.batch)}
    for _ in range(options.turns):
        for worker in workers.values():
            worker.turn()
    print("| engine | best ms | median ms |\n|---|---|---|")
    for name, worker in workers.items():
        worker.end()
        print("| %s | %.2f | %.2f |" % (name, min(worker.times) * 1e3,
                                        statistics.median(worker.times) * 1e3))
    ours, theirs = (w.times for w in workers.values())
    print("TensorFlow / Headrace: best %.2f, median %.2f" % (
        min(theirs) / min(ours),
        statistics.median(theirs) / statistics.median(ours)))


if __name__ == "__main__":
    main()
