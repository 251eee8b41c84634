"""Latency and throughput between processes, beside TensorFlow's servers.

    distributed.py PYTHON... [--rounds 7] [--docs]

Each PYTHON has TensorFlow. For Headrace, and for each of these, starts a
parameter server and a worker on this machine and a client, all of the same
package. The clients take turns, so that they see the same machine:

  add         session.run of x + 1 on the worker, which is the master
  adds        the same by four threads of the client at once, time of all by
              number of steps
  recv_1K...  a step in which the worker receives a variable of that size
  copy        for comparison: a copy of 64 MB of memory, by NumPy

Prints the shortest time of a step and the median, and the bytes in a second of
the shortest. --docs puts the table into docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"1K": 1 << 10, "1M": 1 << 20, "64M": 64 << 20}
CASES = {"add": 300, "adds": 400, "recv_1K": 200, "recv_1M": 50, "recv_64M": 4}
TITLES = {"add": "one remote add", "adds": "remote adds, 4 threads at once",
          "recv_1K": "RecvTensor, 1 KB", "recv_1M": "RecvTensor, 1 MB",
          "recv_64M": "RecvTensor, 64 MB", "copy": "copy of 64 MB by NumPy"}
PACKAGE = """
import sys
if sys.argv[1] == "headrace":
    import headrace as tf
else:
    import tensorflow
    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
"""
SERVER = PACKAGE + """
server = tf.train.Server(eval(sys.argv[2]), job_name=sys.argv[3], task_index=0)
print("serving", flush=True)
server.join()
"""
CLIENT = PACKAGE + """
import json, threading, time
spec, sizes = eval(sys.argv[2]), eval(sys.argv[3])
with tf.device("/job:worker/task:0"):
    x = tf.placeholder(tf.float32, [])
    steps = {"add": (x + 1., {x: 1.})}
for name, size in sizes.items():
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v" + name, shape=[size // 4], use_resource=False,
                            initializer=tf.zeros_initializer())
    with tf.device("/job:worker/task:0"):
        steps["recv_" + name] = (tf.identity(v)[0], {})
session = tf.Session("grpc://" + spec["worker"][0])
session.run(tf.global_variables_initializer())
print("ready", flush=True)
def run(name, runs):
    fetch, feeds = steps[name]
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        session.run(fetch, feeds)
        times.append(time.perf_counter() - begin)
    return times
def run_by_threads(runs, n=4):
    threads = [threading.Thread(target=run, args=("add", runs // n))
               for _ in range(n)]
    begin = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return [(time.perf_counter() - begin) / (runs // n * n)]
for line in sys.stdin:
    name, runs = line.split()
    runs = int(runs)
    times = run_by_threads(runs) if name == "adds" else run(name, runs)
    print(json.dumps(times), flush=True)
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Deployment:
    def __init__(self, name, python):
        self.name = name
        kind = "headrace" if name == "headrace" else "tensorflow"
        ports = free_ports(2)
        spec = {"ps": ["localhost:%d" % ports[0]],
                "worker": ["localhost:%d" % ports[1]]}
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
        self.processes = []

        def start(code, *arguments):
            p = subprocess.Popen(
                [python, "-c", code, kind, repr(spec)] + list(arguments),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                stderr=subprocess.DEVNULL, env=environment)
            self.processes.append(p)
            return p

        for job in spec:
            start(SERVER, job)
        for p in self.processes:
            assert p.stdout.readline().strip() == "serving", name
        self.client = start(CLIENT, repr(SIZES))
        assert self.client.stdout.readline().strip() == "ready", name

    def times(self, case, runs):
        self.client.stdin.write("%s %d\n" % (case, runs))
        self.client.stdin.flush()
        return json.loads(self.client.stdout.readline())

    def close(self):
        for p in self.processes:
            p.kill()
            p.wait()


def copy_times(runs):
    """Of memory copies between buffers that are there."""
    source = numpy.ones(SIZES["64M"], numpy.uint8)
    target = numpy.zeros_like(source)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        numpy.copyto(target, source)
        times.append(time.perf_counter() - begin)
    return times


def cell(case, times):
    best, median = min(times), statistics.median(times)
    size = SIZES["64M" if case == "copy" else case.partition("_")[2] or "1K"]
    rate = ""
    if case == "adds":
        rate = ", %.0f steps/s" % (1 / best)
    elif size >= SIZES["1M"]:
        rate = ", %.2f GB/s" % (size / best / 1e9)
    return "%.0f (%.0f)%s" % (best * 1e6, median * 1e6, rate)


def measure(deployments, rounds):
    """Yields the cells of a line of the table."""
    for case, runs in CASES.items():
        for d in deployments:
            d.times(case, max(4, runs // 10))
        times = [[] for _ in deployments]
        for _ in range(rounds):
            for d, all_times in zip(deployments, times):
                all_times += d.times(case, runs)
                time.sleep(.01)
        best, middle = [[f(t) for t in times] for f in (min, statistics.median)]
        yield [TITLES[case]] + [cell(case, t) for t in times] + [
            "%.2f, %.2f" % (best[0] / b, middle[0] / m)
            for b, m in zip(best[1:], middle[1:])]
    yield ([TITLES["copy"], cell("copy", copy_times(4 * rounds))] +
           [""] * 2 * (len(deployments) - 1))


def row(cells):
    return "| %s |\n" % " | ".join(cells)


def version(python):
    return "TensorFlow " + subprocess.run(
        [python, "-c", "import tensorflow; print(tensorflow.__version__)"],
        stdout=subprocess.PIPE, text=True, check=True,
        stderr=subprocess.DEVNULL).stdout.split()[-1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", metavar="PYTHON", nargs="*")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    deployments = []
    try:
        deployments.append(Deployment("headrace", sys.executable))
        for python in options.pythons:
            deployments.append(Deployment(version(python), python))
        peers = [d.name for d in deployments[1:]]
        head = (["us a step"] + ["Headrace"] + peers +
                ["ratio to %s, of medians" % p for p in peers])
        text = row(head) + "|" + "---|" * len(head) + "\n"
        print(text, end="")
        for cells in measure(deployments, options.rounds):
            text += row(cells)
            print(row(cells), end="", flush=True)
    finally:
        for d in deployments:
            d.close()
    if options.docs:
        from run import replace_between
        replace_between(ROOT / "docs" / "performance.md", "distributed", text)


if __name__ == "__main__":
    main()
