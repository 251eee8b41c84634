"""Collective ops whose bytes go over MPI: by mpirun, with the results of gRPC."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import headrace as tf

HERE = pathlib.Path(__file__).parent
N = 3
LIBRARY = pathlib.Path(tf.__file__).parent / "libheadrace_mpi.so"
needs_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None or not LIBRARY.exists(),
    reason="there is no mpirun, or no MPI when this was built")


def run_workers(command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    run = subprocess.run(
        command + ["--", sys.executable, str(HERE / "collective_program.py")],
        timeout=240, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines() if line]
    assert sorted(r["rank"] for r in lines) == list(range(N)), run.stderr
    return {r.pop("rank"): r for r in lines}


@pytest.fixture(scope="module")
def over_grpc():
    return run_workers([sys.executable, "-m", "headrace.cluster", "local",
                        "--job", "worker=%d" % N])


def check(results):
    first = results[0]
    for r in results.values():
        assert r["gathered"] == [[i, i] for i in range(N)]
        assert r["alone"] == "DeadlineExceededError"
        # Who has seen the other shape leaves; the rest waits in vain.
        assert r["other"] in ("InvalidArgumentError", "DeadlineExceededError")
        assert r["again"] == [N]
        for same in ("reduced", "sent", "trained"):
            assert r[same] == first[same]
    assert "InvalidArgumentError" in [r["other"] for r in results.values()]


def test_workers_with_a_master_each(over_grpc):
    check(over_grpc)


@needs_mpi
def test_mpi_gives_the_bits_of_grpc(over_grpc):
    results = run_workers(
        ["mpirun", "-n", str(N), sys.executable, "-m", "headrace.cluster",
         "mpi", "--collectives", "mpi", "--job", "worker=%d" % N])
    check(results)
    for rank, r in results.items():
        for same in ("reduced", "sent", "trained"):
            assert r[same] == over_grpc[rank][same]


def start_server(collectives):
    return subprocess.run(
        [sys.executable, "-c",
         "import headrace as tf; tf.train.Server.create_local_server(); "
         "print('started')"],
        timeout=60, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(os.environ, HEADRACE_COLLECTIVES=collectives))


def test_an_unknown_way_is_refused():
    run = start_server("pigeons")
    assert run.returncode == 1
    assert "InvalidArgumentError: HEADRACE_COLLECTIVES is 'pigeons'" in run.stderr


def test_nccl_is_not_supported():
    run = start_server("nccl")
    assert run.returncode == 1
    assert ("UnimplementedError: HEADRACE_COLLECTIVES=nccl: collective ops over "
            "NCCL are not supported" in run.stderr)
    config = tf.ConfigProto()
    config.experimental.collective_nccl = True
    for make in (lambda: tf.Session(config=config),
                 lambda: tf.train.Server.create_local_server(config=config)):
        with pytest.raises(tf.errors.UnimplementedError,
                           match="collective_nccl: collective ops over NCCL"):
            make()


@pytest.mark.skipif(LIBRARY.exists(), reason="there is libheadrace_mpi.so")
def test_without_mpi_the_error_names_the_library():
    run = start_server("mpi")
    assert run.returncode == 1
    assert "libheadrace_mpi.so" in run.stderr


@needs_mpi
def test_a_process_without_mpirun_is_warned():
    run = start_server("mpi")
    assert run.returncode == 0 and run.stdout == "started\n", run.stderr
    assert "MPI has one process" in run.stderr
