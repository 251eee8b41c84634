"""What the package tensorflow-estimator takes from
tensorflow.python.distribute: how an Estimator with a strategy learns of its
cluster and runs on it."""
import copy

from headrace._src.distribute.coordinator import (
    CoordinatorMode, run_distribute_coordinator)
from headrace._src.distribute.multi_worker import normalize_cluster_spec
from headrace._src.platform import tf_logging as logging
from headrace._src.training.server_lib import ClusterSpec
from headrace._src.training.worker_context import get_current_worker_context

_MODES = (CoordinatorMode.STANDALONE_CLIENT,
          CoordinatorMode.INDEPENDENT_WORKER)


def init_run_config(config, tf_config):
    """Sets the strategies and the cluster of a RunConfig, from its arguments
    and from `tf_config`, a dict as TF_CONFIG has it. ValueError for a strategy
    or a cluster that is given twice."""
    experimental = config._experimental_distribute
    for name in "train_distribute", "eval_distribute":
        given = experimental and getattr(experimental, name)
        if not given:
            continue
        if getattr(config, "_" + name):
            raise ValueError("Either `%s` or`experimental_distribute.%s` can "
                             "be set." % (name, name))
        setattr(config, "_" + name, given)
    cluster = ClusterSpec(tf_config.get("cluster", {}))  # its errors first
    remote = experimental and experimental.remote_cluster
    config._init_distributed_setting_from_environment_var({})
    if config._train_distribute and remote:
        if cluster:
            raise ValueError('Cannot set both "cluster_spec" of TF_CONFIG and '
                             '`experimental_distribute.remote_cluster`')
        config._distribute_coordinator_mode = CoordinatorMode.STANDALONE_CLIENT
        config._cluster_spec = normalize_cluster_spec(remote)
    elif cluster and config._train_distribute and (
            "master" not in cluster.jobs):
        config._distribute_coordinator_mode = (
            CoordinatorMode.INDEPENDENT_WORKER)
        config._cluster_spec = cluster
    else:
        config._distribute_coordinator_mode = None
        config._init_distributed_setting_from_environment_var(tf_config)
        config._maybe_overwrite_session_config_for_distributed_training()
        logging.info("Not using Distribute Coordinator.")
        return
    logging.info("RunConfig initialized for Distribute Coordinator with %s "
                 "mode", config._distribute_coordinator_mode.upper())


def should_run_distribute_coordinator(config):
    """Whether a RunConfig has a cluster whose workers the coordinator runs."""
    mode = getattr(config, "_distribute_coordinator_mode", None)
    if mode is None:
        logging.info("Not using Distribute Coordinator.")
        return False
    if mode not in _MODES:
        logging.warning("Unexpected distribute_coordinator_mode: %r", mode)
        return False
    if not config.cluster_spec:
        logging.warning("Running `train_and_evaluate` locally, ignoring "
                        "`experimental_distribute_coordinator_mode`.")
        return False
    return True


def _set_task(config, context):
    """Makes a RunConfig that of the task of a worker context."""
    cluster = context.cluster_spec
    config._service = None
    config._task_type, config._task_id = context.task_type, context.task_id
    config._master = config._evaluation_master = context.master_target
    config._is_chief = context.is_chief
    jobs = cluster.as_dict() if cluster else {}
    if not jobs or context.task_type == "evaluator":
        config._cluster_spec = ClusterSpec({}) if jobs else cluster
        config._num_ps_replicas = 0
        config._num_worker_replicas = 0 if jobs else 1
        config._global_id_in_cluster = None if jobs else 0
        return
    config._cluster_spec = cluster
    config._num_ps_replicas = len(jobs.get("ps", ()))
    config._num_worker_replicas = len(jobs.get("worker", ())) + len(
        jobs.get("chief", ()))
    # The chief comes first, parameter servers last.
    order = sorted(jobs, key=lambda job: (job != "chief", job == "ps", job))
    number = 0
    for job in order:
        if not context.task_type:
            break
        if job == context.task_type:
            number += context.task_id
            break
        number += len(jobs[job])
    config._global_id_in_cluster = number


def _of_task(estimator, name, strategy):
    """A copy of an estimator for the task that the coordinator runs, whose
    strategy `name`_distribute is this."""
    context = get_current_worker_context()
    made = copy.deepcopy(estimator)
    setattr(made._config, "_%s_distribute" % name, strategy)
    setattr(made, "_%s_distribution" % name, strategy)
    _set_task(made._config, context)
    logging.info("Updated config: %s", vars(made._config))
    return made, context


def train_and_evaluate(estimator, train_spec, eval_spec, executor_cls):
    """Trains on the workers of the estimator's cluster, and evaluates on its
    evaluator. ValueError without a mode of the coordinator."""
    run_config = estimator.config
    mode = run_config._distribute_coordinator_mode
    if not mode:
        raise ValueError("Distribute coordinator mode is not specified in "
                         "`RunConfig`.")
    is_client = mode == CoordinatorMode.STANDALONE_CLIENT

    def train(strategy):
        mine, context = _of_task(estimator, "train", strategy)
        mine._config._distribute_coordinator_mode = None
        # Hooks of one client are for one graph alone.
        hooks = list(train_spec.hooks) if (
            not is_client or context.is_chief) else []
        mine.train(input_fn=train_spec.input_fn,
                   max_steps=train_spec.max_steps, hooks=hooks)

    def evaluate(strategy):
        mine, _ = _of_task(estimator, "eval", strategy)
        mine._config._distribute_coordinator_mode = None
        executor_cls(mine, train_spec,
                     eval_spec)._start_continuous_evaluation()
    run_distribute_coordinator(
        train, run_config.train_distribute, evaluate,
        run_config.eval_distribute, mode=mode,
        cluster_spec=run_config.cluster_spec if is_client else None,
        session_config=run_config.session_config)


def _run_alone(estimator, function, hooks, method, name):
    """Runs function(estimator, strategy, hooks) for a method of an estimator
    that is the client of a cluster."""
    config = estimator._config
    cluster = normalize_cluster_spec(config.cluster_spec)
    strategy = getattr(config, "_%s_distribute" % name)
    if "evaluator" in cluster.jobs:
        raise ValueError("'evaluator' job is not supported if you don't use "
                         "`train_and_evaluate`")
    if config._distribute_coordinator_mode != (
            CoordinatorMode.STANDALONE_CLIENT):
        raise ValueError("Only `STANDALONE_CLIENT` mode is supported when you "
                         "call `%s`" % method)
    if strategy.extended.experimental_between_graph:
        raise ValueError(
            "`%s` API is not supported for %s with `STANDALONE_CLIENT` mode."
            % (method[0].upper() + method[1:], type(strategy).__name__))

    def work(strategy):
        mine, context = _of_task(estimator, name, strategy)
        result = function(mine, strategy, hooks if context.is_chief else [])
        return mine if name == "train" else result
    return run_distribute_coordinator(
        work, strategy, mode=config._distribute_coordinator_mode,
        cluster_spec=cluster, session_config=config.session_config)


def estimator_train(estimator, train_distributed_fn, hooks):
    """Estimator.train on a cluster whose client this is, with a strategy of one
    graph. ValueError for others."""
    return _run_alone(estimator, train_distributed_fn, hooks,
                      "estimator.train", "train")


def estimator_evaluate(estimator, evaluate_distributed_fn, hooks):
    """Estimator.evaluate on a cluster whose client this is, with a strategy of
    one graph. ValueError for others."""
    return _run_alone(estimator, evaluate_distributed_fn, hooks,
                      "Estimator.evaluate", "eval")
