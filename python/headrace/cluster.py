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
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid

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


def _write(path, text):
    with open(path + ".part", "w") as f:
        f.write(text)
    os.replace(path + ".part", path)


def _read(path):
    try:
        with open(path) as f:
            return f.read()
    except FileNotFoundError:
        return None


class _Meeting:
    """The ranks of one job find each other in a folder that all see, in which
    there may be files of earlier jobs.

    Each rank writes a token that nobody has seen before. Rank 0 answers with the
    tokens that it has read and the name of a new subfolder. A rank that finds its
    own token in the answer knows that this is rank 0 of its job, and writes its
    address into that subfolder; so what is there is of this job."""

    def __init__(self, folder, rank, size, timeout):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(folder).st_uid != os.getuid():
            raise RuntimeError("%s belongs to somebody else" % folder)
        self._folder, self._rank, self._size = folder, rank, size
        self._token, self._timeout = uuid.uuid4().hex, timeout
        self._end = time.monotonic() + timeout

    def _file(self, name):
        return os.path.join(self._folder, name)

    def _tokens(self):
        return [_read(self._file("token%d" % r)) for r in range(self._size)]

    def _wait(self, missing):
        if time.monotonic() > self._end:
            raise TimeoutError("after %d s still waiting for %s in %s" % (
                self._timeout, missing, self._folder))
        time.sleep(.02)

    def _begin(self):
        """Rank 0 opens a subfolder; the others' old ones go."""
        for name in os.listdir(self._folder):
            if name.startswith("job-"):
                shutil.rmtree(self._file(name), ignore_errors=True)
        os.mkdir(self._file("job-" + self._token))
        return "job-" + self._token

    def _find(self):
        """Another rank waits until rank 0 has answered to it."""
        while True:
            answer = json.loads(_read(self._file("answer")) or "{}")
            if answer.get("tokens", {}).get(str(self._rank)) == self._token:
                return answer["job"]
            self._wait("rank 0")

    def addresses(self, address):
        """Those of all ranks, in their order. `address` is this rank's."""
        _write(self._file("token%d" % self._rank), self._token)
        job = self._begin() if self._rank == 0 else self._find()
        _write(os.path.join(self._file(job), str(self._rank)), address)
        answered = None
        while True:
            if self._rank == 0:
                tokens = self._tokens()
                if tokens != answered:
                    _write(self._file("answer"), json.dumps(
                        {"job": job, "tokens": dict(enumerate(tokens))}))
                    answered = tokens
            found = [_read(os.path.join(self._file(job), str(r)))
                     for r in range(self._size)]
            if None not in found:
                return found
            self._wait("ranks %s" % [r for r, a in enumerate(found)
                                     if a is None])


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
    name = (os.environ.get("PMIX_NAMESPACE") or os.environ.get("PMI_JOBID")
            or "").replace(os.sep, "_")
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "headrace-%d-%s" % (
            os.getuid(), name or os.getppid()))
        host = host or "localhost"
    elif name:
        folder = os.path.join(folder, name)
    host = host or socket.gethostname()
    meeting = _Meeting(folder, rank, size, timeout=60)
    addresses = meeting.addresses("%s:%d" % (host, free_port()))
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


# What Ray runs as an actor. A program that fails is an exception, so that Ray
# runs it again.
class _RayTask:
    def place(self):
        """Of its node: an id, an address, and a free port there."""
        import ray as engine
        return (engine.get_runtime_context().get_node_id(),
                engine.util.get_node_ip_address(), free_port())

    def run(self, program, node, variables):
        import ray as engine
        if engine.get_runtime_context().get_node_id() != node:
            raise RuntimeError("Ray has moved a task to another node, where the "
                               "other tasks do not look for it")
        code = subprocess.call(program, env=dict(os.environ, **variables))
        if code != 0:
            raise RuntimeError("the program has ended with %d" % code)


def _ray_cluster(jobs, places, tls):
    """{job: ["host:port"]} of tasks at `places`, by (job, index)."""
    nodes = {node for node, _, _ in places.values()}
    if tls is None and len(nodes) > 1 and os.environ.get(
            "HEADRACE_ALLOW_UNENCRYPTED_NETWORK") != "1":
        raise RuntimeError(
            "Ray has put the tasks on %d nodes, and connections between them are "
            "not encrypted: --tls DIR names a folder of `headrace certs`, which "
            "all nodes have" % len(nodes))
    # Beside certificates, which name hosts, and on several nodes by address.
    local = tls is None and len(nodes) == 1
    return {job: ["%s:%d" % ("localhost" if local else places[job, i][1],
                             places[job, i][2]) for i in range(n)]
            for job, n in jobs.items()}


def ray(jobs, program, address=None, tls=None, restarts=0):
    """Runs `program` as tasks of a Ray cluster, and waits for those of the last
    job; the others are ended then. `tls` is a folder of `headrace certs` that all
    nodes have, whose certificate names their addresses; without it, all tasks
    must be on one node. A program that fails is started again, `restarts` times
    (-1: always). The exit statuses by (job, index)."""
    try:
        import ray as engine
    except ImportError:
        raise RuntimeError("Ray is not installed: pip install ray") from None
    tasks = _tasks(jobs)
    engine.init(address=address, ignore_reinit_error=True)
    actor = engine.remote(_RayTask)
    actors = {task: actor.options(max_restarts=restarts,
                                  max_task_retries=restarts).remote()
              for task in tasks}
    places = {task: engine.get(actors[task].place.remote()) for task in tasks}
    cluster = _ray_cluster(jobs, places, tls)
    last_job = list(jobs)[-1]
    runs = {}
    for job, i in tasks:
        variables = environment(cluster, job, i)
        if tls is not None:
            variables["HEADRACE_TLS_DIR"] = tls
        if job != last_job:
            variables["HEADRACE_JOIN_UNTIL"] = last_job
        runs[job, i] = actors[job, i].run.options(
            retry_exceptions=restarts != 0).remote(
                list(program), places[job, i][0], variables)
    codes = {}
    for task, run in runs.items():
        if task[0] != last_job:
            continue
        try:
            engine.get(run)
            codes[task] = 0
        except engine.exceptions.RayError as e:
            print("headrace.cluster: %s:%d: %s" % (*task, e), file=sys.stderr)
            codes[task] = 1
    for a in actors.values():
        engine.kill(a)
    return codes


# Kubernetes starts what has failed again after up to five minutes. Then the
# servers of other jobs must still be there.
_KUBERNETES_PATIENCE_S = 360
_TLS_FOLDER = "/etc/headrace-tls"


def _check_kubernetes_name(what, name, longest):
    if not re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", name):
        raise ValueError(
            "%s is '%s'; Kubernetes wants names of small letters, digits and "
            "hyphens, the first one a letter" % (what, name))
    if len(name) > longest:
        raise ValueError("%s is '%s', of %d characters; the names that are made "
                         "of it have room for %d" % (what, name, len(name),
                                                     longest))


def _kubernetes_container(cluster, job, last_job, program, image, port,
                          encrypted):
    # A pod's host name ends with its number.
    script = ("export TF_CONFIG=\"{\\\"cluster\\\": $CLUSTER, \\\"task\\\": "
              "{\\\"type\\\": \\\"%s\\\", \\\"index\\\": "
              "${HOSTNAME##*-}}}\"; exec \"$@\"" % job)
    variables = {"CLUSTER": json.dumps(cluster, sort_keys=True)}
    if job != last_job:
        variables["HEADRACE_JOIN_UNTIL"] = "%s:%d" % (last_job,
                                                      _KUBERNETES_PATIENCE_S)
    if encrypted:
        variables["HEADRACE_TLS_DIR"] = _TLS_FOLDER
    else:
        variables["HEADRACE_ALLOW_UNENCRYPTED_NETWORK"] = "1"
    container = {
        "name": "task", "image": image,
        "command": ["/bin/sh", "-c", script, "task"] + list(program),
        "env": [{"name": n, "value": v} for n, v in variables.items()],
        "ports": [{"containerPort": port}]}
    if encrypted:
        container["volumeMounts"] = [
            {"name": "tls", "mountPath": _TLS_FOLDER, "readOnly": True}]
    return container


def kubernetes(jobs, program, image, name="headrace", port=2222,
               tls_secret=None, unencrypted=False):
    """The manifest: for each job an Indexed Job, whose pods are started again
    until they end well, and a Service that names them. Some minutes after the
    last job has ended, Server.join of the others ends. `tls_secret` names the
    Secret with the files of `headrace certs`; without one, `unencrypted` must
    say that the pods' network is closed to others."""
    _tasks(jobs)
    if tls_secret is None and not unencrypted:
        raise ValueError(
            "pods are different machines: --tls-secret names a Secret with the "
            "files of `headrace certs`, or --allow-unencrypted-network says that "
            "nobody else reaches their network")
    _check_kubernetes_name("name", name, 63)
    for job, n in jobs.items():
        _check_kubernetes_name("a job", job,
                               63 - len(name) - len("--%d" % (n - 1)))
    last_job = list(jobs)[-1]
    cluster = {job: ["%s-%s-%d.%s-%s:%d" % (name, job, i, name, job, port)
                     for i in range(n)] for job, n in jobs.items()}
    parts = []
    for job, count in jobs.items():
        app = "%s-%s" % (name, job)
        labels = {"app": app}
        pod = {"subdomain": app, "restartPolicy": "OnFailure",
               "containers": [_kubernetes_container(
                   cluster, job, last_job, program, image, port,
                   tls_secret is not None)]}
        if tls_secret is not None:
            pod["volumes"] = [{"name": "tls",
                               "secret": {"secretName": tls_secret}}]
        parts.append({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": app},
            "spec": {"clusterIP": "None", "selector": labels,
                     "publishNotReadyAddresses": True,
                     "ports": [{"port": port}]}})
        parts.append({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": app},
            "spec": {"completionMode": "Indexed", "completions": count,
                     "parallelism": count, "backoffLimit": 1000000,
                     "template": {"metadata": {"labels": labels},
                                  "spec": pod}}})
    head = ""
    if tls_secret is not None:
        head = "# The Secret, once:\n# headrace certs certs%s\n" % "".join(
            " --host " + address.rpartition(":")[0]
            for addresses in cluster.values() for address in addresses)
        head += ("# kubectl create secret generic %s --from-file=certs/ca.pem "
                 "--from-file=certs/server.pem --from-file=certs/server.key\n"
                 % tls_secret)
    # YAML's flow style is JSON.
    return head + "---\n".join(json.dumps(p, indent=2) + "\n" for p in parts)


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
    parser.add_argument("--tls", metavar="DIR", help=(
        "ray: of `headrace certs`, the same on all nodes"))
    parser.add_argument("--restarts", type=int, default=0, help=(
        "ray: how often a program that fails is started again; -1: always"))
    parser.add_argument("--image", help="kubernetes: with PROGRAM")
    parser.add_argument("--name", default="headrace",
                        help="kubernetes: that of all objects begins with it")
    parser.add_argument("--tls-secret", metavar="NAME", help=(
        "kubernetes: the Secret with the files of `headrace certs`"))
    parser.add_argument("--allow-unencrypted-network", action="store_true",
                        help="kubernetes: nobody else reaches the pods' network")
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
            return max(ray(jobs, program, o.address, o.tls,
                           o.restarts).values())
        manifest = kubernetes(jobs, program, o.image, o.name,
                              tls_secret=o.tls_secret,
                              unencrypted=o.allow_unencrypted_network)
    except (RuntimeError, ValueError, OSError) as e:
        print("headrace.cluster: %s" % e, file=sys.stderr)
        return 1
    print(manifest, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
