"""Worker processes that run graphs, each with one library.

A library that dies or hangs ends its worker; the next request gets a new one.
"""
import os
import pathlib
import pickle
import select
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORKER = pathlib.Path(__file__).with_name("op_worker.py")


class Died(Exception):
    """The worker's process ended, or did not answer in time."""


class Library:
    def __init__(self, python, paths, timeout=60):
        self.command = [str(python), str(WORKER), ":".join(map(str, paths))]
        self.timeout = timeout
        self.process = None

    def start(self):
        # TensorFlow's own kernels are the reference, not those of oneDNN.
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3",
                           TF_ENABLE_ONEDNN_OPTS="0")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def read(self, size):
        data = b""
        pipe = self.process.stdout
        while len(data) < size:
            ready, _, _ = select.select([pipe], [], [], self.timeout)
            if not ready:
                self.stop()
                raise Died("no answer in %d s" % self.timeout)
            piece = os.read(pipe.fileno(), size - len(data))
            if not piece:
                status = self.process.wait()
                self.stop()
                raise Died("exit status %d" % status)
            data += piece
        return data

    def ask(self, request):
        if self.process is None:
            self.start()
        data = pickle.dumps(request)
        try:
            self.process.stdin.write(struct.pack("<Q", len(data)) + data)
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            raise Died("it had ended before") from None
        return pickle.loads(self.read(struct.unpack("<Q", self.read(8))[0]))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def headrace():
    """The library of this build, or what HEADRACE_LIBTENSORFLOW names."""
    path = os.environ.get("HEADRACE_LIBTENSORFLOW",
                          ROOT / "build" / "lib" / "libtensorflow.so.2")
    return Library(sys.executable, [path])


def oracle(python):
    """TensorFlow, as the interpreter `python` has it installed."""
    folder = pathlib.Path(subprocess.check_output(
        [python, "-c", "import importlib.util as u;"
         "print(u.find_spec('tensorflow').submodule_search_locations[0])"],
        text=True).strip())
    if (folder / "libtensorflow_cc.so.2").exists():
        names = "libtensorflow_framework.so.2", "libtensorflow_cc.so.2"
    else:
        folder = folder.with_name("tensorflow_core")
        names = ("libtensorflow_framework.so.1",
                 "python/_pywrap_tensorflow_internal.so")
    return Library(python, [folder / name for name in names])
