"""tf.distribute.cluster_resolver: where the tasks of a cluster are.

A resolver is asked when a program starts: for the addresses of all tasks, for
the one that this process is, and for the target of sessions."""
import collections
import json
import os

from headrace._src.training import server_lib


def target_of(address, rpc_layer):
    """The target of sessions at an address."""
    return "%s://%s" % (rpc_layer, address) if rpc_layer and address else address


class ClusterResolver:
    """What resolvers have in common. A subclass gives cluster_spec and
    master."""

    task_type = None
    task_id = None
    rpc_layer = None

    def cluster_spec(self):
        """The tf.train.ClusterSpec of all tasks."""
        raise NotImplementedError()

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target of sessions: of this task, or of the one that is named."""
        raise NotImplementedError()

    @property
    def environment(self):
        """"", or "google"."""
        return ""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """From a type of device to how many of it a task has. Asks the cluster,
        and waits for it."""
        from headrace._src.session import session
        with session.Session(self.master(task_type, task_id),
                             config=config_proto) as s:
            devices = [d.name for d in s.list_devices()]
        if task_type is None:
            task_type = self.task_type
        if task_id is None:
            task_id = self.task_id
        counts = collections.defaultdict(int)
        for name in devices:
            parts = dict(p.split(":", 1) for p in name.split("/")[1:])
            if task_type is not None and parts.get("job") != task_type:
                continue
            if task_id is not None and parts.get("task") != str(task_id):
                continue
            counts[parts["device"].split(":")[0]] += 1
        return counts


class _OfTask(ClusterResolver):
    """A resolver of which task, layer and environment can be given."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None,
                 environment=None):
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self._environment = environment

    @property
    def environment(self):
        return self._environment


class SimpleClusterResolver(_OfTask):
    """Gives what it was made of."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None,
                 environment="", num_accelerators=None, rpc_layer=None):
        super().__init__(task_type, task_id, rpc_layer, environment)
        if not isinstance(cluster_spec, server_lib.ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec, but got %r"
                            % (cluster_spec,))
        self._cluster_spec = cluster_spec
        self._master = master
        self._num_accelerators = num_accelerators

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return target_of(address, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """What was given; {} if nothing was."""
        return self._num_accelerators or {}


def tf_config():
    """What the variable TF_CONFIG says, a dict. ValueError if it is none."""
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return {}
    try:
        config = json.loads(text)
    except ValueError as e:
        raise ValueError("TF_CONFIG is no JSON: %s" % e) from e
    if not isinstance(config, dict):
        raise ValueError("TF_CONFIG must be a JSON object, but is %s" % text)
    for key in ("cluster", "task"):
        if not isinstance(config.get(key, {}), dict):
            raise ValueError("TF_CONFIG: %r must be a JSON object, but is %s"
                             % (key, json.dumps(config[key])))
    return config


class TFConfigClusterResolver(_OfTask):
    """Reads the environment variable TF_CONFIG, whenever it is asked:

        {"cluster": {"ps": ["host0:2222"], "worker": ["host1:2222"]},
         "task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"}

    What is given here comes before what the variable says."""

    @property
    def task_type(self):
        if self._task_type is None:
            return tf_config().get("task", {}).get("type")
        return self._task_type

    @task_type.setter
    def task_type(self, value):
        self._task_type = value

    @property
    def task_id(self):
        if self._task_id is not None:
            return self._task_id
        index = tf_config().get("task", {}).get("index")
        try:
            return None if index is None else int(index)
        except (TypeError, ValueError):
            raise ValueError("TF_CONFIG: the task's index must be an integer, "
                             "but is %r" % (index,)) from None

    @task_id.setter
    def task_id(self, value):
        self._task_id = value

    @property
    def rpc_layer(self):
        if self._rpc_layer is None:
            return tf_config().get("rpc_layer")
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, value):
        self._rpc_layer = value

    def cluster_spec(self):
        cluster = {
            job: {int(i): a for i, a in tasks.items()}
                 if isinstance(tasks, dict) else tasks
            for job, tasks in tf_config().get("cluster", {}).items()}
        return server_lib.ClusterSpec(cluster)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """"" if the cluster has one task or none: sessions are of this
        process."""
        cluster = self.cluster_spec()
        if sum(cluster.num_tasks(job) for job in cluster.jobs) <= 1:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            raise ValueError("TF_CONFIG has a cluster but no task of this "
                             "process")
        return target_of(cluster.task_address(task_type, task_id),
                       rpc_layer or self.rpc_layer)


class UnionClusterResolver(_OfTask):
    """The tasks of several resolvers. What is of one task comes from the
    first."""

    def __init__(self, *args, **kwargs):
        given = {name: kwargs.pop(name, None)
                 for name in ("rpc_layer", "task_type", "task_id")}
        if kwargs:
            raise ValueError("Unexpected kwargs provided %r" % (kwargs,))
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError("every argument must be a ClusterResolver, but "
                                "got %r" % (resolver,))
        self._resolvers = args
        super().__init__(**{
            name: getattr(args[0], name) if value is None else value
            for name, value in given.items()})

    @property
    def environment(self):
        return self._resolvers[0].environment

    def cluster_spec(self):
        """Tasks of one job come one after the other; where a job has indices of
        its own, they are kept, and must differ."""
        found = collections.OrderedDict()
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                found.setdefault(job, []).append(tasks)
        merged = {}
        for job, parts in found.items():
            if all(isinstance(p, list) for p in parts):
                merged[job] = [a for part in parts for a in part]
                continue
            merged[job] = {}
            for part in parts:
                if isinstance(part, list):
                    part = dict(enumerate(part))
                for index, address in part.items():
                    if merged[job].setdefault(index, address) != address:
                        raise ValueError(
                            "two resolvers have a task %d of job %r: %s and %s"
                            % (index, job, merged[job][index], address))
        return server_lib.ClusterSpec(merged)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is None or task_id is None:
            return self._resolvers[0].master(rpc_layer=rpc_layer)
        return target_of(self.cluster_spec().task_address(task_type, task_id),
                       rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id,
                                                   config_proto)


UnionResolver = UnionClusterResolver
