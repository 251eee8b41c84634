"""Latency and throughput between processes: distributed.py [PYTHON...]

Each PYTHON has TensorFlow. For Headrace, and for each of these, starts a
parameter server and a worker on this machine and a client, all of the same
package. The clients take turns, so that they see the same machine:

  add         session.run of x + 1 on the worker, which is the master
  recv_1K...  a step in which the worker receives a variable of that size

Prints the shortest and the median time of a step in us, and GB/s. Needs quiet cores.
"""
import json
import os
import socket
import statistics
import subprocess
import sys
import time

SIZES = {"1K": 1 << 10, "1M": 1 << 20, "64M": 64 << 20}
ROUNDS = 7
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
import json, time
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
for line in sys.stdin:
    name, runs = line.split()
    fetch, feeds = steps[name]
    times = []
    for _ in range(int(runs)):
        begin = time.perf_counter()
        session.run(fetch, feeds)
        times.append(time.perf_counter() - begin)
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


def main(pythons):
    deployments = []
    try:
        deployments.append(Deployment("headrace", sys.executable))
        for python in pythons:
            version = subprocess.run(
                [python, "-c", "import tensorflow; print(tensorflow."
                 "__version__)"], stdout=subprocess.PIPE, text=True,
                stderr=subprocess.DEVNULL).stdout.strip()
            deployments.append(Deployment("tensorflow " + version, python))
        cases = {"add": 300, "recv_1K": 200, "recv_1M": 50, "recv_64M": 4}
        for case, runs in cases.items():
            for d in deployments:
                d.times(case, max(2, runs // 10))
            all_times = {d.name: [] for d in deployments}
            for _ in range(ROUNDS):
                for d in deployments:
                    all_times[d.name] += d.times(case, runs)
                    time.sleep(.01)
            for name, times in all_times.items():
                best, median = min(times), statistics.median(times)
                size = SIZES.get(case.partition("_")[2])
                print("%-20s %-10s %10.1f %10.1f us %s" % (
                    name, case, best * 1e6, median * 1e6,
                    "" if size is None else "%6.2f GB/s" % (
                        size / best / 1e9)), flush=True)
    finally:
        for d in deployments:
            d.close()


if __name__ == "__main__":
    main(sys.argv[1:])
