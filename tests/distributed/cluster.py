"""Clusters of processes on this machine, for tests.

    with Cluster({"ps": 1, "worker": 2}) as cluster:
        with tf.Session(cluster.target("worker"), config=CONFIG) as session:
            ...

Every wait has a deadline, and whatever happens the processes end.
"""
import os
import selectors
import socket
import subprocess
import sys
import time

import headrace as tf

START_SECONDS = 60
# Interpreters with TensorFlow, for tests beside it.
ORACLES = [p for p in os.environ.get("HEADRACE_ORACLE", "").split(":") if p]
# A step that takes longer has failed.
CONFIG = tf.ConfigProto(operation_timeout_in_ms=30000)

_SERVER = """
import sys
import headrace as tf
cluster, job, task = eval(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(cluster, job_name=job, task_index=task)
print("serving", server.target, flush=True)
server.join()
"""

# The same with TensorFlow.
_ORACLE_SERVER = _SERVER.replace(
    "import headrace as tf", "import tensorflow as tf; tf = tf.compat.v1")


def free_ports(n):
    """Ports that nobody listens on, found all at once so that they differ."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def bringing(spec, **fields):
    """CONFIG of a session that brings a cluster."""
    config = tf.ConfigProto(cluster_def=tf.train.ClusterSpec(
        spec).as_cluster_def(), **fields)
    config.MergeFrom(CONFIG)
    return config


class Cluster:
    """`jobs`: from name to number of tasks. `oracle`: from (job, task) to an
    interpreter with TensorFlow, whose server that task is. With `alone` no
    server is told of the others: sessions bring the cluster (`config`)."""

    def __init__(self, jobs, oracle=None, start=None, alone=False):
        self._oracle = oracle or {}
        self.alone = alone
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: ["localhost:%d" % next(ports) for _ in range(n)]
                     for job, n in jobs.items()}
        self._processes = {}
        try:
            tasks = [(job, i) for job, n in jobs.items() for i in range(n)]
            for job, task in tasks if start is None else start:
                self._launch(job, task)
            for job, task in list(self._processes):
                self._wait_until_it_serves(job, task)
        except BaseException:
            self.close()
            raise

    def _launch(self, job, task):
        python = self._oracle.get((job, task))
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2")
        told = (self.spec, job, task)
        if self.alone:
            told = ({"alone": [self.spec[job][task]]}, "alone", 0)
        self._processes[job, task] = subprocess.Popen(
            [python or sys.executable, "-c",
             _ORACLE_SERVER if python else _SERVER] + [str(t) for t in told],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if python else None, env=environment)

    def _wait_until_it_serves(self, job, task):
        out = self._processes[job, task].stdout
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            if not selector.select(START_SECONDS):
                raise TimeoutError("%s:%d did not start in %d s"
                                   % (job, task, START_SECONDS))
        line = out.readline().decode()
        if not line.startswith("serving "):
            raise RuntimeError("%s:%d did not start: %r" % (job, task, line))

    def start(self, job, task=0):
        """A task that was killed, or never started, begins a new life."""
        self._launch(job, task)
        self._wait_until_it_serves(job, task)

    def kill(self, job, task=0):
        process = self._processes.pop((job, task), None)
        if process is None:
            return
        process.kill()
        process.wait(10)
        process.stdout.close()

    def config(self, **fields):
        """Of a session that brings the cluster."""
        return bringing(self.spec, **fields)

    def target(self, job, task=0):
        return "grpc://" + self.spec[job][task]

    def close(self):
        for job, task in list(self._processes):
            self.kill(job, task)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Program:
    """A Python program of a test, in a process of its own. `output` is the file
    that it writes to, `environment` has variables beside this process's. The
    block ends it."""

    def __init__(self, path, *arguments, output, environment=()):
        self._output = str(output)
        with open(self._output, "wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, str(path)] + [str(a) for a in arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=dict(os.environ, **dict(environment)))

    def text(self):
        with open(self._output, errors="replace") as f:
            return f.read()

    def lines(self, word):
        """What follows `word` in the whole lines that begin with it."""
        return [line[len(word):].strip()
                for line in self.text().splitlines(keepends=True)
                if line.startswith(word + " ") and line.endswith("\n")]

    def wait_for(self, word, number=1, seconds=START_SECONDS):
        """The last of `number` lines that begin with `word`."""
        end = time.monotonic() + seconds
        while len(self.lines(word)) < number:
            assert self._process.poll() is None, (
                "ended with %d before %r:\n%s"
                % (self._process.returncode, word, self.text()))
            assert time.monotonic() < end, (
                "no %r in %d s:\n%s" % (word, seconds, self.text()))
            time.sleep(.02)
        return self.lines(word)[number - 1]

    def go_on(self, word, more=5):
        """Waits for `more` lines that begin with `word`."""
        return self.wait_for(word, len(self.lines(word)) + more)

    def end(self, seconds=START_SECONDS):
        """Waits until the program has ended, which must not be by an error."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError("still runs after %d s:\n%s" % (
                seconds, self.text())) from None
        assert code == 0, "ended with %d:\n%s" % (code, self.text())

    def kill(self):
        self._process.kill()
        self._process.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.kill()


class Deadline:
    """Fails if the block takes longer."""

    def __init__(self, seconds):
        self._seconds = seconds

    def __enter__(self):
        self._end = time.monotonic() + self._seconds

    def __exit__(self, kind, *unused):
        if kind is None:
            assert time.monotonic() < self._end, (
                "took more than %d s" % self._seconds)
