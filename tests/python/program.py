"""The program `headrace`, for tests that call it."""
import os
import pathlib
import subprocess

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "bin" / "headrace"
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the command line was not built")


def headrace(*args, **env):
    return subprocess.run([PROGRAM, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **env), timeout=120)
