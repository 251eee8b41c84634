"""headrace.cluster: how the tasks of a cluster are started."""
import importlib.util
import json
import os
import subprocess
import sys
import time

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


def test_ranks_that_meet_in_a_folder_of_an_earlier_job(tmp_path):
    """What lies there is not taken for this job's, whoever comes first."""
    code = "import os; print(os.environ['TF_CONFIG'])"
    clusters = set()
    for order in (0, 1), (1, 0), (0, 1):
        ranks = {}
        for rank in order:
            ranks[rank] = subprocess.Popen(
                [sys.executable, "-m", "headrace.cluster", "mpi", "--folder",
                 str(tmp_path), "--host", "localhost", "--job", "ps=1",
                 "--job", "worker=1", "--", sys.executable, "-c", code],
                stdout=subprocess.PIPE, text=True,
                env=dict(os.environ, OMPI_COMM_WORLD_RANK=str(rank),
                         OMPI_COMM_WORLD_SIZE="2"))
            time.sleep(.5)  # the other one finds what this one has written
        found = [json.dumps(json.loads(p.communicate(timeout=120)[0])["cluster"])
                 for p in ranks.values()]
        assert found[0] == found[1]
        clusters.add(found[0])
    assert len(clusters) == 3


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
    (["kubernetes", "--job", "worker=2", "--image", "i"], "--tls-secret"),
    (["kubernetes", "--job", "a_b=2", "--image", "i", "--tls-secret", "s"],
     "'a_b'"),
    (["kubernetes", "--job", "a=2", "--image", "i", "--tls-secret", "s",
      "--name", "2"], "'2'"),
    (["kubernetes", "--job", "a" * 60 + "=2", "--image", "i", "--tls-secret",
      "s"], "have room for 52"),
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


@pytest.fixture(scope="module")
def ray_variables():
    pytest.importorskip("ray")
    return {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def test_ray_on_one_node(ray_variables):
    run = start("ray", "--job", "ps=1", "--job", "worker=2",
                variables=ray_variables)
    assert run.returncode == 0, run.stderr
    for i in range(2):
        assert "worker %d 2.0" % i in run.stdout + run.stderr


def test_ray_starts_a_program_again_that_fails(ray_variables, tmp_path):
    code = ("import os, sys; path = %r\n"
            "there = os.path.exists(path); open(path, 'w').close()\n"
            "sys.exit(0 if there else 5)" % str(tmp_path / "ran"))
    for restarts, status in ("0", 1), ("2", 0):
        (tmp_path / "ran").unlink(missing_ok=True)
        run = start("ray", "--restarts", restarts, "--job", "worker=1",
                    program=(sys.executable, "-c", code),
                    variables=ray_variables)
        assert run.returncode == status, run.stderr
    assert (tmp_path / "ran").exists()


def test_the_manifest_gives_each_pod_its_task(tmp_path):
    text = starter.kubernetes({"ps": 1, "worker": 2}, [
        sys.executable, "-c", "import os; print(os.environ['TF_CONFIG'])"],
        "an/image", tls_secret="the-secret")
    comment, text = text.split("{", 1)
    assert all(line.startswith("#") for line in comment.splitlines())
    assert "--host headrace-worker-1.headrace-worker" in comment
    parts = [json.loads(p) for p in ("{" + text).split("---\n")]
    assert [p["kind"] for p in parts] == ["Service", "Job"] * 2
    pods = parts[3]["spec"]
    assert pods["completions"] == pods["parallelism"] == 2
    assert pods["completionMode"] == "Indexed"
    pod = pods["template"]["spec"]
    assert pod["subdomain"] == parts[2]["metadata"]["name"]
    container = pod["containers"][0]
    assert container["image"] == "an/image"
    mount = container["volumeMounts"][0]
    assert pod["volumes"] == [{"name": mount["name"],
                               "secret": {"secretName": "the-secret"}}]

    def variables(part):
        container = part["spec"]["template"]["spec"]["containers"][0]
        return {e["name"]: e["value"] for e in container["env"]}

    assert variables(parts[3])["HEADRACE_TLS_DIR"] == mount["mountPath"]
    assert "HEADRACE_JOIN_UNTIL" not in variables(parts[3])
    assert variables(parts[1])["HEADRACE_JOIN_UNTIL"].startswith("worker:")
    # What the pod's command does.
    done = subprocess.run(
        container["command"], stdout=subprocess.PIPE, text=True, check=True,
        env=dict(os.environ, HOSTNAME="headrace-worker-1",
                 **{e["name"]: e["value"] for e in container["env"]}))
    config = json.loads(done.stdout)
    assert config["task"] == {"type": "worker", "index": 1}
    assert config["cluster"]["worker"] == [
        "headrace-worker-%d.headrace-worker:2222" % i for i in range(2)]
