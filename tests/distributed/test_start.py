"""headrace.cluster: how the tasks of a cluster are started."""
import importlib.util
import json
import os
import subprocess
import sys

import pytest

import headrace.cluster as starter

# Each worker adds 1 to a variable of the parameter server, and prints it.
TASK = """
import json, os, sys, time
import headrace as tf
config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
server = tf.train.Server(config["cluster"], job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit()
with tf.device("/job:ps"):
    v = tf.get_variable("v%d" % index, initializer=1.)
# Other workers may have ended by now.
with tf.Session(server.target, config=tf.ConfigProto(
        operation_timeout_in_ms=30000,
        device_filters=["/job:ps", "/job:worker/task:%d" % index])) as s:
    s.run(v.initializer)
    print("worker", index, s.run(v.assign_add(1.)), flush=True)
    time.sleep(float(os.environ.get("STAY", 0)))
"""


def start(*arguments, variables=None, program=(sys.executable, "-c", TASK)):
    return subprocess.run(
        [sys.executable, "-m", "headrace.cluster", *arguments, "--", *program],
        timeout=120, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(os.environ, **(variables or {})))


def test_local_processes():
    run = start("local", "--job", "ps=1", "--job", "worker=2")
    assert run.returncode == 0, run.stderr
    assert sorted(run.stdout.split("\n")[:-1]) == ["worker 0 2.0",
                                                   "worker 1 2.0"]


def test_the_first_failure_ends_all():
    code = "import os, time; 'ps' in os.environ['TF_CONFIG'] and 0; " \
           "import json; t = json.loads(os.environ['TF_CONFIG'])['task']; " \
           "t['index'] == 1 and os._exit(7); time.sleep(100)"
    run = start("local", "--job", "worker=2",
                program=(sys.executable, "-c", code))
    assert run.returncode == 7


def test_ranks_become_tasks(tmp_path):
    """As mpirun starts them."""
    processes = [subprocess.Popen(
        [sys.executable, "-m", "headrace.cluster", "mpi", "--folder",
         str(tmp_path), "--host", "localhost", "--job", "ps=1", "--job",
         "worker=1", "--", sys.executable, "-c", TASK],
        stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, OMPI_COMM_WORLD_RANK=str(rank),
                 OMPI_COMM_WORLD_SIZE="2", HEADRACE_JOIN_UNTIL="worker:3", STAY="4"))
        for rank in range(2)]
    try:
        assert processes[1].communicate(timeout=120)[0] == "worker 0 2.0\n"
        # The join of the parameter server ends with the job.
        assert processes[0].wait(60) == 0
    finally:
        for p in processes:
            p.kill()
            p.wait(10)
            p.stdout.close()


@pytest.mark.parametrize("arguments, words", [
    (["mpi", "--job", "worker=2"], "this process has no rank"),
    (["local", "--job", "worker"], "is no job"),
    (["local", "--job", "worker=0"], "is no job"),
    (["local", "--job", "a=1", "--job", "a=2"], "twice"),
    (["kubernetes", "--job", "worker=2"], "--image"),
    (["cloud", "--job", "worker=2"], "invalid choice")])
def test_refusals(arguments, words):
    run = start(*arguments)
    assert run.returncode in (1, 2)
    assert words in run.stderr


@pytest.mark.parametrize("until", ["worker:x", "worker:0", "other", ""])
def test_a_join_that_cannot_end(until):
    run = subprocess.run(
        [sys.executable, "-c", "import headrace as tf; tf.train.Server("
         "{'ps': ['localhost:0'], 'worker': ['localhost:1']}, job_name='ps', "
         "task_index=0)"], timeout=60, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, HEADRACE_JOIN_UNTIL=until))
    assert run.returncode == 1
    assert "InvalidArgumentError: HEADRACE_JOIN_UNTIL is" in run.stderr


def test_a_number_of_ranks_that_does_not_fit():
    run = start("mpi", "--job", "worker=2", variables={
        "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3"})
    assert run.returncode == 1 and "3 processes" in run.stderr


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None,
                    reason="Ray is installed")
def test_without_ray():
    run = start("ray", "--job", "worker=1")
    assert run.returncode == 1 and "pip install ray" in run.stderr


def test_the_manifest_gives_each_pod_its_task(tmp_path):
    text = starter.kubernetes({"ps": 1, "worker": 2}, [
        sys.executable, "-c", "import os; print(os.environ['TF_CONFIG'])"],
        "an/image")
    parts = [json.loads(p) for p in text.split("---\n")]
    assert [p["kind"] for p in parts] == ["Service", "StatefulSet"] * 2
    pods = parts[3]["spec"]
    assert pods["replicas"] == 2
    container = pods["template"]["spec"]["containers"][0]
    assert container["image"] == "an/image"
    # What the pod's command does.
    done = subprocess.run(
        container["command"], stdout=subprocess.PIPE, text=True, check=True,
        env=dict(os.environ, HOSTNAME="headrace-worker-1",
                 **{e["name"]: e["value"] for e in container["env"]}))
    config = json.loads(done.stdout)
    assert config["task"] == {"type": "worker", "index": 1}
    assert config["cluster"]["worker"] == [
        "headrace-worker-%d.headrace-worker:2222" % i for i in range(2)]
