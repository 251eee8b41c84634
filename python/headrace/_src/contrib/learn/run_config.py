"""tf.contrib.learn.RunConfig: tf.estimator.RunConfig with the older arguments,
which tf.estimator.Estimator takes too. Where the program runs is in the variable
TF_CONFIG: `cluster`, `task` (`type`, `index`) and `environment`."""
import copy
import functools
import operator

from headrace import _packages
from headrace._src.framework.messages import ConfigProto, GPUOptions
from headrace._src.training.cluster_resolver import tf_config
from headrace._src.training.server_lib import ClusterSpec

# What a program may change between two runs that go on with each other.
_CHANGEABLE = """
    tf_random_seed save_summary_steps save_checkpoints_steps
    save_checkpoints_secs session_config keep_checkpoint_max
    keep_checkpoint_every_n_hours log_step_count_steps""".split()


class Environment:
    """Where a program runs."""
    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


class TaskType:
    """The types of tasks: the strings that TF_CONFIG has."""
    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


def _tasks(cluster, *jobs):
    """How many tasks the jobs have together."""
    known = cluster.as_dict()
    return sum(len(known.get(job, ())) for job in jobs)


def _address(cluster, job, index):
    """The target of sessions: "" where a program runs alone or for itself."""
    known = cluster.as_dict()
    if not job or sum(map(len, known.values())) < 2:
        return ""
    if job not in known:
        raise ValueError(
            "%s is not a valid task_type in the cluster_spec:\n%s\n\n"
            "It is what TF_CONFIG has as task type." % (job, known))
    if not 0 <= index < len(known[job]):
        raise ValueError(
            "%d is not a valid task_id for task_type %s in the cluster_spec:\n"
            "%s\n\nIt is what TF_CONFIG has as task index."
            % (index, job, known))
    return "grpc://" + cluster.job_tasks(job)[index]


class ClusterConfig:
    """Where a program is in a cluster, as TF_CONFIG says it. `master` None: the
    address of this task. ValueError for a task that the cluster does not
    have."""

    def __init__(self, master=None, evaluation_master=None):
        found = tf_config()
        self._task_type = found.get("task", {}).get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec = cluster = ClusterSpec(found.get("cluster", {}))
        self._master = master if master is not None else _address(
            cluster, self._task_type, self._task_id)
        self._evaluation_master = evaluation_master or ""
        self._num_ps_replicas = _tasks(cluster, TaskType.PS)
        self._num_worker_replicas = _tasks(cluster, TaskType.WORKER,
                                           TaskType.MASTER)
        self._environment = found.get("environment", "local")
        chief = (TaskType.MASTER if self._environment == "cloud"
                 else TaskType.WORKER)
        self._is_chief = (self._task_id == 0
                          and self._task_type in (None, chief))

    @staticmethod
    def get_task_id():
        """The index of this task in TF_CONFIG, or 0."""
        return int(tf_config().get("task", {}).get("index") or 0)


for _name in ("cluster_spec environment evaluation_master is_chief master "
              "num_ps_replicas num_worker_replicas task_id task_type").split():
    setattr(ClusterConfig, _name, property(operator.attrgetter("_" + _name)))


class _Config(ClusterConfig):
    """How an Estimator runs: how often it saves, and where it is in a cluster.

    `master` None: the address of this task in TF_CONFIG's cluster.
    `num_cores`, `log_device_placement` and `gpu_memory_fraction` go into
    `tf_config`, a ConfigProto, and no further; `session_config` is what sessions
    get. `save_checkpoints_secs` is 600 unless one of the two is given. Other
    arguments are tf.estimator.RunConfig's. It makes no tensors: there are no shapes or dtypes. ValueError for a
    task that the cluster does not have, and for another model_dir than
    TF_CONFIG's."""

    def __init__(self, master=None, num_cores=0, log_device_placement=False,
                 gpu_memory_fraction=1, tf_random_seed=None,
                 save_summary_steps=100, save_checkpoints_secs=0,
                 save_checkpoints_steps=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000,
                 log_step_count_steps=100, protocol=None, evaluation_master="",
                 model_dir=None, session_config=None,
                 session_creation_timeout_secs=7200):
        ClusterConfig.__init__(self, master, evaluation_master)
        self._tf_config = ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(
                per_process_gpu_memory_fraction=gpu_memory_fraction))
        if save_checkpoints_secs == 0:
            save_checkpoints_secs = (600 if save_checkpoints_steps is None
                                     else None)
        of_environment = tf_config().get("model_dir")
        if None not in (model_dir, of_environment) \
                and model_dir != of_environment:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have "
                "the same value as the model_dir in TF_CONFIG. model_dir: %s\n"
                "TF_CONFIG[\"model_dir\"]: %s." % (model_dir, of_environment))
        # Under these names the properties of the base class find them.
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        self._save_checkpoints_secs = save_checkpoints_secs
        self._save_checkpoints_steps = save_checkpoints_steps
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._log_step_count_steps = log_step_count_steps
        self._protocol = protocol
        self._session_config = session_config
        self._model_dir = model_dir or of_environment
        self._session_creation_timeout_secs = session_creation_timeout_secs
        self._train_distribute = self._eval_distribute = None
        self._experimental_max_worker_delay_secs = self._device_fn = None

    tf_config = property(lambda self: self._tf_config)

    def uid(self, whitelist=None):
        """A text that is the same for configurations whose properties are,
        but for those of `whitelist`: by default what a program may change."""
        left_out = {"_" + name for name in (
            _CHANGEABLE if whitelist is None else whitelist)}
        state = {name: value for name, value in sorted(vars(self).items())
                 if name not in left_out}
        state["_cluster_spec"] = sorted(self._cluster_spec.as_dict().items())
        return ", ".join("%s=%r" % item for item in state.items())


class _Replaceable:
    """What a RunConfig takes from tf.estimator's where that is not there."""

    def replace(self, **kwargs):
        """A copy with other values of `model_dir` and of what a program may
        change. ValueError for other names."""
        changed = copy.deepcopy(self)
        for name, value in kwargs.items():
            if name not in ("model_dir", *_CHANGEABLE):
                raise ValueError("Replacing %s is not supported. Allowed "
                                 "properties are %s." % (
                                     name, ["model_dir", *_CHANGEABLE]))
            setattr(changed, "_" + name, value)
        return changed


for _name in ("protocol model_dir session_creation_timeout_secs "
              "train_distribute eval_distribute device_fn "
              + " ".join(_CHANGEABLE)).split():
    setattr(_Replaceable, _name, property(operator.attrgetter("_" + _name)))


@functools.cache
def _run_config():
    base = _Replaceable
    if _packages.is_installed():
        base = _packages.load(
            "tensorflow_estimator.python.estimator.run_config").RunConfig
    return type("RunConfig", (_Config, base), {
        "__doc__": _Config.__doc__, "__module__": __name__})


def new_config():
    """A RunConfig of no arguments."""
    return _run_config()()


def __getattr__(name):
    # Made when it is asked for: its base class is the package's.
    if name == "RunConfig":
        return _run_config()
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
