"""Starts the tasks of a cluster: `python -m headrace.cluster HOW --job NAME=COUNT
-- PROGRAM...`. Each task is PROGRAM, with the cluster and its own place in the
variable TF_CONFIG, which tf.train.Server programs and ClusterSpec users read.

  local       processes on this machine; when one fails, the others are ended
  mpi         run under `mpirun`, once for each task: ranks become tasks
  ray         tasks of a Ray cluster
  kubernetes  prints a manifest, and starts nothing

Restarts, logs and machines are the work of mpirun, Ray and Kubernetes.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

__all__ = ["environment", "free_port", "kubernetes", "local", "main", "mpi",
           "ray"]


def free_port(host="127.0.0.1"):
    """A port on which nobody listens at the moment."""
    with socket.socket() as s:
        s.bind((host, 0))
        return s.getsockname()[1]


def environment(cluster, job, index):
    """{"TF_CONFIG": ...} of a task. `cluster` is {job: ["host:port"]}."""
    return {"TF_CONFIG": json.dumps(
        {"cluster": cluster, "task": {"type": job, "index": index}},
        sort_keys=True)}


def _tasks(jobs):
    tasks = [(job, i) for job, n in jobs.items() for i in range(n)]
    if not tasks:
        raise ValueError("a cluster needs a job with tasks, as worker=2")
    return tasks


def local(jobs, program, timeout=None):
    """Runs `program`, a list of arguments, as all tasks of `jobs`, {job: count}.
    Returns when those of the last job have ended; the others, which may serve
    for ever, are ended then. The first exit status that is not 0, or 0."""
    tasks = _tasks(jobs)
    cluster = {job: [] for job in jobs}
    holders = []
    for job, _ in tasks:  # held together, so that they differ
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        holders.append(s)
        cluster[job].append("localhost:%d" % s.getsockname()[1])
    for s in holders:
        s.close()
    last_job = list(jobs)[-1]
    processes = []
    end = None if timeout is None else time.monotonic() + timeout
    try:
        for job, i in tasks:
            processes.append((job, subprocess.Popen(
                program, env=dict(os.environ, **environment(cluster, job, i)))))
        while True:
            codes = [(job, p.poll()) for job, p in processes]
            failed = [code for _, code in codes if code not in (None, 0)]
            if failed:
                return failed[0] if failed[0] > 0 else 128 - failed[0]
            if all(code == 0 for job, code in codes if job == last_job):
                return 0
            if end is not None and time.monotonic() > end:
                raise TimeoutError("the tasks have not ended in %s s" % timeout)
            time.sleep(.05)
    finally:
        for _, p in processes:
            if p.poll() is None:
                p.terminate()
        for _, p in processes:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def _rank():
    for rank, size in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                       ("PMI_RANK", "PMI_SIZE"),
                       ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    raise RuntimeError(
        "this process has no rank: start it under mpirun, as in `mpirun -n 3 "
        "python -m headrace.cluster mpi --job ps=1 --job worker=2 -- ...`")


def _meet(folder, rank, size, address, timeout=60):
    """All addresses by rank; each writes a file into a folder that all see."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.stat(folder).st_uid != os.getuid():
        raise RuntimeError("%s belongs to somebody else" % folder)
    path = os.path.join(folder, "rank%d" % rank)
    with open(path + ".part", "w") as f:
        f.write(address)
    os.replace(path + ".part", path)
    end = time.monotonic() + timeout
    addresses = {}
    while len(addresses) < size:
        for r in range(size):
            try:
                with open(os.path.join(folder, "rank%d" % r)) as f:
                    addresses[r] = f.read()
            except FileNotFoundError:
                pass
        if len(addresses) < size and time.monotonic() > end:
            raise TimeoutError("after %d s still waiting for ranks %s in %s" % (
                timeout, sorted(set(range(size)) - set(addresses)), folder))
        time.sleep(.02)
    return [addresses[r] for r in range(size)]


def mpi(jobs, program, folder=None, host=None, collectives=None):
    """Becomes `program` as the task of this process's rank. `folder` is one that
    all ranks see; without it, all are on one machine. Servers of other jobs end
    their join some seconds after the last job's tasks have gone. `collectives`
    says how the bytes of collective ops travel, "grpc" or "mpi"; without it, as
    the variable HEADRACE_COLLECTIVES says."""
    tasks = _tasks(jobs)
    rank, size = _rank()
    if size != len(tasks):
        raise ValueError("mpirun starts %d processes, and the jobs have %d "
                         "tasks" % (size, len(tasks)))
    if folder is None:
        name = (os.environ.get("PMIX_NAMESPACE")
                or os.environ.get("PMI_JOBID") or str(os.getppid()))
        folder = os.path.join(tempfile.gettempdir(), "headrace-%d-%s" % (
            os.getuid(), name.replace(os.sep, "_")))
        host = host or "localhost"
    host = host or socket.gethostname()
    addresses = _meet(folder, rank, size, "%s:%d" % (host, free_port()))
    cluster = {job: [] for job in jobs}
    for (job, _), address in zip(tasks, addresses):
        cluster[job].append(address)
    job, index = tasks[rank]
    variables = dict(os.environ, **environment(cluster, job, index))
    if collectives is not None:
        variables["HEADRACE_COLLECTIVES"] = collectives
    last_job = list(jobs)[-1]
    if job != last_job:  # Server.join of the others ends with its tasks
        variables.setdefault("HEADRACE_JOIN_UNTIL", last_job)
    os.execvpe(program[0], program, variables)


def ray(jobs, program, address=None):
    """Runs `program` as tasks of a Ray cluster, and waits for those of the last
    job. The exit statuses by (job, index)."""
    try:
        import ray as engine  # type: ignore[import-not-found]
    except ImportError:
        raise RuntimeError("Ray is not installed: pip install ray") from None
    tasks = _tasks(jobs)
    engine.init(address=address, ignore_reinit_error=True)

    @engine.remote(max_restarts=0)
    class Task:
        def __init__(self):
            self.process = None

        def address(self):
            return "%s:%d" % (engine.util.get_node_ip_address(), free_port())

        def run(self, variables):
            self.process = subprocess.Popen(
                program, env=dict(os.environ, **variables))
            return self.process.wait()

    actors = {task: Task.options(max_concurrency=2).remote() for task in tasks}
    cluster = {job: [engine.get(actors[job, i].address.remote())
                     for i in range(n)] for job, n in jobs.items()}
    runs = {(job, i): actors[job, i].run.remote(environment(cluster, job, i))
            for job, i in tasks}
    last_job = list(jobs)[-1]
    codes = {task: engine.get(run) for task, run in runs.items()
             if task[0] == last_job}
    for actor in actors.values():
        engine.kill(actor)
    return codes


def kubernetes(jobs, program, image, name="headrace", port=2222):
    """The manifest: for each job a StatefulSet, and a Service that names its
    tasks. Connections between pods are not this machine's: see the README on
    certificates."""
    _tasks(jobs)
    cluster = {job: ["%s-%s-%d.%s-%s:%d" % (name, job, i, name, job, port)
                     for i in range(n)] for job, n in jobs.items()}
    parts = []
    for job, count in jobs.items():
        app = "%s-%s" % (name, job)
        # A pod's name ends with its number.
        script = ("export TF_CONFIG=\"{\\\"cluster\\\": $CLUSTER, \\\"task\\\": "
                  "{\\\"type\\\": \\\"%s\\\", \\\"index\\\": "
                  "${HOSTNAME##*-}}}\"; exec \"$@\"" % job)
        labels = {"app": app}
        parts.append({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": app},
            "spec": {"clusterIP": "None", "selector": labels,
                     "publishNotReadyAddresses": True,
                     "ports": [{"port": port}]}})
        parts.append({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": app},
            "spec": {
                "serviceName": app, "replicas": count,
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{
                        "name": "task", "image": image,
                        "command": ["/bin/sh", "-c", script, "task"] + program,
                        "env": [{"name": "CLUSTER",
                                 "value": json.dumps(cluster,
                                                     sort_keys=True)}],
                        "ports": [{"containerPort": port}]}]}}}})
    # YAML's flow style is JSON.
    return "---\n".join(json.dumps(p, indent=2) + "\n" for p in parts)


def _job(text):
    name, equals, count = text.partition("=")
    if not equals or not name or not count.isdigit() or int(count) < 1:
        raise argparse.ArgumentTypeError(
            "'%s' is no job; wanted NAME=COUNT, as worker=2" % text)
    return name, int(count)


def main(arguments=None):
    """The command; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    program = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, program = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(
        prog="python -m headrace.cluster", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("how", choices=["local", "mpi", "ray", "kubernetes"])
    parser.add_argument("--job", type=_job, action="append", required=True,
                        metavar="NAME=COUNT")
    parser.add_argument("--folder", help="mpi: one that all ranks see")
    parser.add_argument("--host", help="mpi: this machine's name for others")
    parser.add_argument("--collectives", choices=["grpc", "mpi"],
                        help="mpi: how the bytes of collective ops travel")
    parser.add_argument("--address", help="ray: of the cluster")
    parser.add_argument("--image", help="kubernetes: with PROGRAM")
    o = parser.parse_args(arguments)
    if not program:
        parser.error("a program is needed, after --")
    jobs = dict(o.job)
    if len(jobs) != len(o.job):
        parser.error("a job is there twice")
    if o.collectives and o.how != "mpi":
        parser.error("--collectives is for mpi: only mpirun's processes have MPI")
    if o.how == "kubernetes" and not o.image:
        parser.error("kubernetes needs --image")
    try:
        if o.how == "local":
            return local(jobs, program)
        if o.how == "mpi":
            return mpi(jobs, program, o.folder, o.host, o.collectives)
        if o.how == "ray":
            return max(ray(jobs, program, o.address).values())
    except (RuntimeError, ValueError, OSError) as e:
        print("headrace.cluster: %s" % e, file=sys.stderr)
        return 1
    print(kubernetes(jobs, program, o.image), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
