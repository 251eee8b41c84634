"""Runs the table of ops with 1, 2 and 5 threads: the bits must be the same.

HEADRACE_LIBTENSORFLOW names another library than build/lib/libtensorflow.so.2.
"""
import ctypes
import json
import os
import subprocess
import sys

import numpy as np

import run_cases
import test_conformance

THREADS = (1, 2, 5)
# Draw other numbers in every run unless they are given seeds.
STATEFUL = "Random"


class Api(run_cases.Api):
    """Whose sessions have `threads` threads for the loops within an op."""

    def __init__(self, library):
        super().__init__([library])
        self._lib = ctypes.CDLL(library)
        self.threads = 1
        self._lib.TF_SetConfig.restype = None
        self._lib.TF_SetConfig.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
        make = self.NewSessionOptions

        def make_with_threads():
            options = make()
            # ConfigProto: intra_op_parallelism_threads is field 2.
            config = bytes([0x10, self.threads])
            self._lib.TF_SetConfig(options, config, len(config), self.st)
            self.check()
            return options
        self.NewSessionOptions = make_with_threads

    def array(self, tensor):
        value = super().array(tensor)
        self.seen.append((value.dtype.str, value.shape, value.tobytes()))
        return value


def compare(library, files):
    """Prints a line for each case whose results differ, and their number."""
    api = Api(library)
    cases = 0
    for file in files:
        archive = np.load(file)
        for case in sorted({name.split("/")[0] for name in archive.files}):
            if STATEFUL in bytes(archive[case + "/graph"]).decode("latin1"):
                continue
            results = []
            for api.threads in THREADS:
                api.seen = []
                try:
                    run_cases.run_case(api, archive, case)
                except (AssertionError, run_cases.ApiError) as error:
                    api.seen.append(type(error).__name__)
                results.append(api.seen)
            cases += 1
            if any(r != results[0] for r in results[1:]):
                print(json.dumps([os.path.basename(file), case]))
    print(json.dumps(cases))


def test_thread_count_does_not_show():
    files = sorted((test_conformance.HERE / "ops").glob("*.npz"))
    out = subprocess.run(
        [sys.executable, __file__, test_conformance.LIBRARY, *map(str, files)],
        stdout=subprocess.PIPE, check=True)
    *different, cases = map(json.loads, out.stdout.splitlines())
    assert cases > 100
    assert not different


if __name__ == "__main__":
    compare(sys.argv[1], sys.argv[2:])
