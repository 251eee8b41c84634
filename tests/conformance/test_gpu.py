"""The recorded cases with GPUs of the host platform: what has a kernel for the GPU
runs there, the rest on the CPU."""
import os
import pathlib

import pytest

import gpu_cases
from test_conformance import LIBRARY, known_names

PARTS = 6  # of ops; the first runs in ./run test --fast too


@pytest.fixture(autouse=True)
def host_platform(monkeypatch):
    folder = pathlib.Path(os.path.realpath(LIBRARY)).parent
    if not (folder / "libheadrace_gpu_host.so").exists():
        pytest.skip("this build has no host platform of GPUs")
    monkeypatch.setenv("HEADRACE_GPU_PLATFORM", "host")


def check(results):
    lines = gpu_cases.wrong(results)
    assert results
    assert not lines, "\n".join(lines)


def test_listed_cases_exist():
    unknown = set(gpu_cases.listed()) - known_names()
    assert not unknown, f"gpu_differs.txt lists cases that are not there: {sorted(unknown)}"


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, PARTS))])
def test_ops(part):
    check(gpu_cases.run(LIBRARY, "ops", part, PARTS))


def test_graphs():
    check(gpu_cases.run(LIBRARY, "graphs"))
