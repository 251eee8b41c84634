"""Which part a task has in a cluster that trains: whether it is the chief, who
leads collective ops, how many workers there are and which of them it is.

Jobs are "chief" (at most one task), "worker", "ps" and "evaluator" (at most
one). Without a chief the first worker is it."""
from headrace._src.framework.messages import ClusterDef
from headrace._src.training.server_lib import ClusterSpec
from headrace._src.training.worker_context import get_current_worker_context


def has_worker_context():
    """Whether the coordinator runs this thread's function."""
    return get_current_worker_context() is not None


def normalize_cluster_spec(cluster_spec):
    """The ClusterSpec of a dict, a ClusterDef or a ClusterSpec. ValueError for
    what is none of them."""
    if isinstance(cluster_spec, (dict, ClusterDef)):
        return ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, ClusterSpec):
        raise ValueError(
            "`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a "
            "`tf.train.ClusterDef` object, got %r" % (cluster_spec,))
    return cluster_spec


def _checked(cluster_spec, task_type, task_id):
    """The cluster as a dict. ValueError for a task that is not in it."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` "
                         "should be `None`.")
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in ("chief", "worker", "evaluator", "ps"):
        raise ValueError(
            "Unrecognized task_type: %r, valid task types are: \"chief\", "
            "\"worker\", \"evaluator\" and \"ps\"." % task_type)
    if task_type not in jobs:
        raise ValueError("`task_type` %r not found in cluster_spec."
                         % task_type)
    for job in "chief", "evaluator":
        if len(jobs.get(job, ())) > 1:
            raise ValueError("There must be at most one '%s' job." % job)
    if task_id >= len(jobs[task_type]):
        raise ValueError("The `task_id` %d exceeds the maximum id of %s."
                         % (task_id, task_type))
    return jobs


def is_chief(cluster_spec=None, task_type=None, task_id=None):
    """Whether a task is the chief, or the evaluator, which is its own. Under
    the coordinator the arguments are not needed. ValueError for a task that
    is not in the cluster."""
    if has_worker_context():
        return get_current_worker_context().is_chief
    jobs = _checked(cluster_spec, task_type, task_id)
    return task_type in ("chief", "evaluator") or (
        "chief" not in jobs and task_type == "worker" and task_id == 0)


def collective_leader(cluster_spec, task_type, task_id):
    """The name of the task that leads collective ops; "" for an evaluator and
    without a cluster. ValueError for a task that is not in the cluster."""
    cluster_spec = normalize_cluster_spec(cluster_spec)
    if not cluster_spec.as_dict():
        return ""
    jobs = _checked(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return "/job:%s/replica:0/task:0" % (
        "chief" if "chief" in jobs else "worker")


def worker_count(cluster_spec, task_type):
    """How many tasks train with one of `task_type`. ValueError for "ps" and a
    job that is not in the cluster."""
    jobs = _checked(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError("Unexpected `task_type` %r" % task_type)
    if task_type == "evaluator":
        return len(jobs["evaluator"])
    return len(jobs.get("chief", ())) + len(jobs.get("worker", ()))


def id_in_cluster(cluster_spec, task_type, task_id):
    """The number of a task among those that train with it: the chief is 0.
    ValueError for "ps" and a task that is not in the cluster."""
    jobs = _checked(cluster_spec, task_type, task_id)
    if task_type == "chief":
        return 0
    if task_type == "worker":
        return task_id + len(jobs.get("chief", ()))
    if task_type == "evaluator":
        return task_id
    raise ValueError("There is no id for task_type %r" % task_type)


def should_save_checkpoint():
    """Whether this worker, which the coordinator runs, saves checkpoints."""
    return get_current_worker_context().should_checkpoint


def should_load_checkpoint():
    """Whether this worker, which the coordinator runs, loads checkpoints."""
    return get_current_worker_context().experimental_should_init


def wait_for_other_workers():
    """Waits until all workers that one client runs have called it."""
    return get_current_worker_context().wait_for_other_workers()
