"""tf.distribute.cluster_resolver: clusters that Slurm, Kubernetes or Google's
Compute Engine runs, which are asked for the tasks each time."""
import collections
import importlib
import os
import subprocess

from headrace._src.training.cluster_resolver import ClusterResolver, target_of
from headrace._src.training.server_lib import ClusterSpec


class _OfManager(ClusterResolver):
    """A resolver whose target is that of its task, or of the one asked for."""

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return target_of(self.cluster_spec().task_address(task_type, task_id),
                         rpc_layer or self.rpc_layer)


class SlurmClusterResolver(_OfManager):
    """The tasks of a Slurm allocation, `tasks_per_node` on each of its hosts (by
    default SLURM_NTASKS_PER_NODE), at ports from `port_base` on. `jobs`: from
    job to number of tasks, which take ranks in the order of their names. This
    process is the one of its rank, SLURM_PROCID or OMPI_COMM_WORLD_RANK, after
    cluster_spec(), which with `auto_set_gpu` sets CUDA_VISIBLE_DEVICES to its
    `gpus_per_task` GPUs.

    There are no shapes and dtypes here. RuntimeError if the jobs have not as
    many tasks as the allocation, for more GPUs than `gpus_per_node`, and
    without the variables or the program scontrol."""

    def __init__(self, jobs, port_base=8888, gpus_per_node=1, gpus_per_task=1,
                 tasks_per_node=None, auto_set_gpu=True, rpc_layer="grpc"):
        for rank, size in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                           ("SLURM_PROCID", "SLURM_NTASKS")):
            if rank in os.environ and size in os.environ:
                self._rank = int(os.environ[rank])
                tasks = int(os.environ[size])
                break
        else:
            raise RuntimeError(
                "SlurmClusterResolver: SLURM_PROCID and SLURM_NTASKS are not "
                "set; start the program with srun or mpirun")
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or "
                                   "SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError(
                "Requested more GPUs per node then available. Got "
                "tasks_per_node=%d, gpus_per_task=%d, gpus_per_node=%d"
                % (tasks_per_node, gpus_per_task, gpus_per_node))
        if sum(jobs.values()) != tasks:
            raise RuntimeError(
                "Requested more tasks then assigned tasks. Got %d tasks in "
                "jobs, the allocation has %d" % (sum(jobs.values()), tasks))
        self._jobs = collections.OrderedDict(sorted(jobs.items()))
        self._port_base = port_base
        self._tasks_per_node = tasks_per_node
        self._gpus_per_node = gpus_per_node
        self._gpus_per_task = gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.rpc_layer = rpc_layer

    def _resolve_hostnames(self):
        """The names of the hosts of the allocation."""
        try:
            out = subprocess.check_output(["scontrol", "show", "hostname"])
        except OSError as e:
            raise RuntimeError("SlurmClusterResolver: scontrol cannot be run, "
                               "which names the hosts: %s" % e) from e
        return out.decode("utf-8").strip().split("\n")

    def cluster_spec(self):
        """The tf.train.ClusterSpec of all tasks, of which this process is one
        from then on."""
        addresses, gpus = [], []
        for host in self._resolve_hostnames():
            # A GPU that no task could have ends the host's tasks too.
            firsts = range(0, self._gpus_per_node, self._gpus_per_task) if (
                self._gpus_per_task) else [0] * self._tasks_per_node
            for i, first in zip(range(self._tasks_per_node), firsts):
                addresses.append("%s:%d" % (host, self._port_base + i))
                gpus.append(",".join(str(g) for g in range(
                    first, first + self._gpus_per_task)))
        jobs, begin = {}, 0
        for job, tasks in self._jobs.items():
            jobs[job] = addresses[begin:begin + tasks]
            if begin <= self._rank < begin + tasks:
                self.task_type, self.task_id = job, self._rank - begin
            begin += tasks
        if self._auto_set_gpu is True:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return ClusterSpec(jobs)

    def get_task_info(self):
        """(job, task) of this process; None each before cluster_spec()."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_node}


def _package(name, resolver, package):
    """A module of a package that a resolver needs. ImportError that says what
    to install."""
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise ImportError("%s needs the Python package %s, and %s cannot be "
                          "imported: pip install %s"
                          % (resolver, package, name, package)) from e


class KubernetesClusterResolver(_OfManager):
    """The running pods of Kubernetes whose labels fit, at `tf_server_port` of
    their hosts. `job_to_label_mapping`: from job to a list of label selectors,
    by default {"worker": ["job-name=tensorflow"]}. `override_client`: a
    CoreV1Api in place of that of the package kubernetes.

    There are no shapes and dtypes here. ImportError without the package and a
    client, RuntimeError for a pod that is not running."""

    def __init__(self, job_to_label_mapping=None, tf_server_port=8470,
                 rpc_layer="grpc", override_client=None):
        if not override_client:
            _package("kubernetes.client", "KubernetesClusterResolver",
                     "kubernetes")
        self._labels = job_to_label_mapping or {
            "worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._client = override_client
        self.rpc_layer = rpc_layer

    def _api(self):
        if self._client:
            return self._client
        _package("kubernetes.config", "KubernetesClusterResolver",
                 "kubernetes").load_kube_config()
        return _package("kubernetes.client", "KubernetesClusterResolver",
                        "kubernetes").CoreV1Api()

    def cluster_spec(self):
        """The tf.train.ClusterSpec of the pods, by their names' order."""
        client = self._api()
        jobs = {}
        for job, selectors in self._labels.items():
            jobs[job] = []
            for selector in selectors:
                found = client.list_pod_for_all_namespaces(
                    label_selector=selector)
                for pod in sorted(found.items, key=lambda p: p.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(
                            'Pod "%s" is not running; phase: "%s"'
                            % (pod.metadata.name, pod.status.phase))
                    jobs[job].append("%s:%s" % (pod.status.host_ip,
                                                self._port))
        return ClusterSpec(jobs)


class GCEClusterResolver(_OfManager):
    """The running machines of an instance group of Google's Compute Engine, at
    `port`, which are the tasks of the job `task_type`; this one is `task_id`.
    `service`: what googleapiclient.discovery.build("compute", "v1") gives, if
    it is not to be made with `credentials`.

    There are no shapes and dtypes here. ImportError without the packages and a
    service, RuntimeError for another task_type later."""

    def __init__(self, project, zone, instance_group, port, task_type="worker",
                 task_id=0, rpc_layer="grpc", credentials="default",
                 service=None):
        if service is None:
            discovery = _package("googleapiclient.discovery",
                                 "GCEClusterResolver",
                                 "google-api-python-client")
            if credentials == "default":
                credentials = _package(
                    "oauth2client.client", "GCEClusterResolver",
                    "oauth2client"
                ).GoogleCredentials.get_application_default()
            service = discovery.build("compute", "v1", credentials=credentials)
        self._service = service
        self._where = {"project": project, "zone": zone}
        self._group = instance_group
        self._port = port
        self._task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer

    @property
    def task_type(self):
        return self._task_type

    @task_type.setter
    def task_type(self, value):
        raise RuntimeError("You cannot reset the task_type of the "
                           "GCEClusterResolver after it has been created.")

    def cluster_spec(self):
        """The tf.train.ClusterSpec of the group, by the order of addresses."""
        groups, machines = (self._service.instanceGroups(),
                            self._service.instances())
        addresses = []
        request = groups.listInstances(
            instanceGroups=self._group, body={"instanceState": "RUNNING"},
            orderBy="name", **self._where)
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                asked = machines.get(instance=item["instance"].split("/")[-1],
                                     **self._where)
                if asked is not None:
                    about = asked.execute()["networkInterfaces"][0]
                    addresses.append("%s:%s" % (about["networkIP"],
                                                self._port))
            request = groups.listInstances_next(previous_request=request,
                                                previous_response=response)
        return ClusterSpec({self._task_type: sorted(addresses)})
