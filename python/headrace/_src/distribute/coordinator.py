"""What runs a function for the tasks of a cluster: as one program that each
task runs, or from one client that has a thread for each worker.

In a program that runs as every task, each starts its server. Workers then run
the function, with a context that has the target of their sessions; parameter
servers serve until they are ended."""
import collections
import copy
import threading
import time

from headrace._src.distribute.multi_worker import normalize_cluster_spec
from headrace._src.framework import errors
from headrace._src.framework.graph import Graph, device
from headrace._src.framework.messages import ConfigProto, RunOptions
from headrace._src.framework.tensor import constant
from headrace._src.ops.collective_ops import all_reduce
from headrace._src.platform import tf_logging
from headrace._src.session import session as _session
from headrace._src.training import monitored_session
from headrace._src.training.cluster_resolver import tf_config
from headrace._src.training.coordinator import Coordinator
from headrace._src.training.server_lib import Server
from headrace._src.training.worker_context import (
    get_current_worker_context, set_current_worker_context)

_thread = threading.local()


class _TaskType:
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
    CLIENT = "client"


class CoordinatorMode:
    """Whether one client runs the workers' functions in threads, or each worker
    is a process that runs its own."""
    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


class DistributeConfig(collections.namedtuple(
        "DistributeConfig",
        ["train_distribute", "eval_distribute", "remote_cluster"])):
    """The strategies of an Estimator: for training and for evaluation.
    `remote_cluster`: a ClusterSpec, or what one is made of, which
    train_and_evaluate uses as its client. It has no shape and no dtype;
    TypeError for other arguments."""

    def __new__(cls, train_distribute=None, eval_distribute=None,
                remote_cluster=None):
        return super().__new__(cls, train_distribute, eval_distribute,
                               remote_cluster)


class _Barrier:
    """Lets threads go on together, again and again."""

    def __init__(self, num_participants):
        self._barrier = threading.Barrier(num_participants)

    def wait(self):
        """Waits until all threads wait."""
        self._barrier.wait()


def _workers(cluster):
    """[(job, task)] of the tasks that train."""
    return [(job, task) for job in (_TaskType.CHIEF, _TaskType.WORKER)
            if cluster and job in cluster.jobs
            for task in cluster.task_indices(job)]


# Errors of a meeting that another worker has not come to, or has left.
_TRY_AGAIN = (errors.AbortedError, errors.CancelledError,
              errors.DeadlineExceededError, errors.FailedPreconditionError,
              errors.UnavailableError)
_MEETING_MS = 3000


def meet_all_workers(strategy, target, config):
    """Waits until all workers of a strategy with collective ops do this, where
    the session on `target` has this ConfigProto. A worker that goes on after
    another was lost would otherwise begin a step by what it knows of the old
    one, and fail alone: the others would wait for its part for ever."""
    filters = ["/job:" + _TaskType.CHIEF, "/job:" + _TaskType.WORKER]
    with _session.Session(target, graph=Graph(), config=ConfigProto(
            device_filters=filters)) as session:
        session.list_devices()  # all serve
    extended = strategy.extended
    devices = extended.worker_devices
    with Graph().as_default() as graph:
        met = []
        # Of initial values and of gradients.
        for key, members in enumerate({devices[:1]: 1, devices: 2}):
            for where in members:
                with device(where):
                    met.append(all_reduce(
                        constant(1.), len(members) * extended._num_workers,
                        extended._collective_keys.get_group_key(members),
                        key + 1, "Add", "Id").op)
        options = RunOptions(timeout_in_ms=_MEETING_MS)
        with _session.Session(target, graph=graph, config=config) as session:
            while True:
                try:
                    session.run(met, options=options)
                    return
                except _TRY_AGAIN as e:
                    tf_logging.info("Not all workers are there: %s", e.message)
                    time.sleep(.1)


class _CreatorOfWorkers(monitored_session.SessionCreator):
    """Makes the sessions of another creator when all workers make theirs."""

    def __init__(self, creator, strategy):
        self._creator = creator
        self._strategy = strategy

    def create_session(self):
        meet_all_workers(self._strategy, self._creator._master,
                         self._creator._config)
        return self._creator.create_session()


class _WorkerContext:
    """What a function that the coordinator runs may ask about its task."""

    def __init__(self, strategy, cluster_spec, task_type, task_id,
                 session_config=None, rpc_layer="grpc", worker_barrier=None):
        self._strategy = strategy
        self._cluster_spec = cluster_spec
        self._task_type = task_type
        self._task_id = task_id
        self._session_config = session_config
        self._rpc_layer = rpc_layer
        self._worker_barrier = worker_barrier
        self._master_target = self._target()

    def _target(self):
        """The server of this task, or of the chief if it is none."""
        if not self._cluster_spec:
            return ""
        job, task = self._task_type, self._task_id or 0
        if not job:
            job, task = _workers(self._cluster_spec)[0]
        address = self._cluster_spec.job_tasks(job)[task]
        return "%s://%s" % (self._rpc_layer, address) if self._rpc_layer \
            else address

    def _text(self):
        if not self._cluster_spec:
            return "[local]"
        return "[cluster_spec: %r, task_type: %r, task_id: %r]" % (
            self._cluster_spec, self._task_type, self._task_id)

    def __enter__(self):
        if get_current_worker_context():
            raise ValueError("You cannot run distribute coordinator in a "
                             "`worker_fn`.\t" + self._text())
        set_current_worker_context(self)

    def __exit__(self, *error):
        set_current_worker_context(None)

    cluster_spec = property(lambda self: copy.deepcopy(self._cluster_spec))
    task_type = property(lambda self: self._task_type)
    task_id = property(lambda self: self._task_id)
    master_target = property(lambda self: self._master_target)
    session_config = property(
        lambda self: copy.deepcopy(self._session_config))
    num_workers = property(lambda self: len(_workers(self._cluster_spec)))
    has_barrier = property(lambda self: self._worker_barrier is not None)
    distributed_mode = property(
        lambda self: bool(self._cluster_spec)
        and self._task_type != _TaskType.EVALUATOR)
    experimental_should_init = property(
        lambda self: self._strategy.extended.experimental_should_init)
    should_checkpoint = property(
        lambda self: self._strategy.extended.should_checkpoint)
    should_save_summary = property(
        lambda self: self._strategy.extended.should_save_summary)

    @property
    def is_chief(self):
        """Whether this task is the chief, or alone."""
        if not self._cluster_spec or self._task_type in (
                _TaskType.CHIEF, _TaskType.EVALUATOR, None):
            return True
        return (_TaskType.CHIEF not in self._cluster_spec.jobs
                and self._task_type == _TaskType.WORKER
                and self._task_id == 0)

    def wait_for_other_workers(self):
        """Waits until all workers of this client call it."""
        if self._worker_barrier:
            self._worker_barrier.wait()

    def session_creator(self, scaffold=None, config=None, checkpoint_dir=None,
                        checkpoint_filename_with_path=None,
                        max_wait_secs=7200):
        """What makes this task's sessions: those that initialise, or those that
        wait for the chief, as the strategy has it."""
        if config:
            merged = copy.deepcopy(config)
            if self._session_config:
                merged.MergeFrom(self._session_config)
            config = merged
        else:
            config = self._session_config
        if not self._strategy or (
                self._strategy.extended.experimental_should_init):
            return monitored_session.ChiefSessionCreator(
                scaffold, master=self._master_target, config=config,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path)
        return monitored_session.WorkerSessionCreator(
            scaffold, master=self._master_target, config=config,
            max_wait_secs=max_wait_secs)


    def training_session_creator(self, *args, **kwargs):
        """session_creator() of a session that all workers have: with collective
        ops they begin together."""
        made = self.session_creator(*args, **kwargs)
        extended = getattr(self._strategy, "extended", None)
        if self.distributed_mode and hasattr(extended, "_collective_keys") and (
                extended._num_workers > 1):
            return _CreatorOfWorkers(made, self._strategy)
        return made


def _run_single_worker(worker_fn, strategy, cluster_spec, task_type, task_id,
                       session_config, rpc_layer="", worker_barrier=None,
                       coord=None):
    """What worker_fn(a copy of the strategy) returns in the context of a
    task."""
    session_config = copy.deepcopy(session_config)
    strategy = copy.deepcopy(strategy)
    if task_type == _TaskType.EVALUATOR:
        if strategy:
            strategy.configure(session_config)
    else:
        if strategy is None:
            raise ValueError("run_distribute_coordinator: strategy of task "
                             "%s:%s is None" % (task_type, task_id))
        strategy.configure(session_config, cluster_spec, task_type, task_id)
    context = _WorkerContext(strategy, cluster_spec, task_type, task_id,
                             session_config, rpc_layer, worker_barrier)
    with context:
        if coord is None:
            return worker_fn(strategy)
        with coord.stop_on_exception():
            return worker_fn(strategy)


def _without_others(cluster_spec, task_type):
    """The cluster that a task's server sees: an evaluator knows no worker, and
    no worker the evaluator."""
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type == _TaskType.EVALUATOR:
        jobs = {task_type: jobs[task_type]}
    else:
        jobs.pop(_TaskType.EVALUATOR, None)
    return normalize_cluster_spec(jobs)


class _FakeServer:
    """A server that other programs run; a session starts it."""

    def __init__(self, target, config):
        self._arguments = target, config

    def start(self):
        """Makes a session."""
        target, config = self._arguments
        _session.Session(target=target, config=config)

    def join(self):
        """Never returns."""
        while True:
            time.sleep(5)


def _run_std_server(cluster_spec=None, task_type=None, task_id=None,
                    session_config=None, rpc_layer=None, environment=None):
    """The server of a task, which this thread starts once. ValueError if the
    thread has started another."""
    about = {"cluster_spec": cluster_spec, "task_type": task_type,
             "task_id": task_id, "session_config": repr(session_config),
             "rpc_layer": rpc_layer, "environment": environment}
    server = getattr(_thread, "server", None)
    if server is not None:
        for name, value in about.items():
            if _thread.about[name] != value:
                raise ValueError(
                    "the server of this thread runs with %s=%s, so it cannot "
                    "run with %s" % (name, _thread.about[name], value))
        return server
    target = cluster_spec.task_address(task_type, task_id)
    tf_logging.info("Starting standard TensorFlow server, target = %r, "
                    "session_config= %r", target, session_config)
    if environment == "google":
        server = _FakeServer("%s://%s" % (rpc_layer, target) if rpc_layer
                             else target, session_config)
    else:
        server = Server(_without_others(cluster_spec, task_type),
                        job_name=task_type, task_index=task_id,
                        config=session_config, protocol=rpc_layer,
                        start=False)
    server.start()
    _thread.server, _thread.about = server, about
    return server


def _run_client(worker_fn, strategy, eval_fn, eval_strategy, cluster,
                session_config, rpc_layer):
    """Runs the functions of all tasks in threads of this process. With a
    strategy that has one graph for all workers there is one function, whose
    result is returned."""
    coord = Coordinator()
    threads = []

    def start(function, strategy, job, task, barrier):
        thread = threading.Thread(
            target=_run_single_worker,
            args=(function, strategy, cluster, job, task, session_config),
            kwargs={"rpc_layer": rpc_layer, "coord": coord,
                    "worker_barrier": barrier}, daemon=True)
        thread.start()
        threads.append(thread)
    if _TaskType.EVALUATOR in cluster.jobs:
        start(eval_fn, eval_strategy, _TaskType.EVALUATOR, 0, None)
    result = None
    if strategy.extended.experimental_between_graph:
        workers = _workers(cluster)
        barrier = _Barrier(len(workers)) if workers else None
        for job, task in workers:
            start(worker_fn, strategy, job, task, barrier)
    else:
        result = _run_single_worker(worker_fn, strategy, cluster, None, None,
                                    session_config, rpc_layer, coord=coord)
    coord.join(threads)
    return result


def _configure_servers(strategy, eval_strategy, session_config, cluster,
                       task_type, task_id):
    """Changes the ConfigProto of a task's server as its strategy does."""
    if task_type == _TaskType.EVALUATOR:
        if eval_strategy:
            eval_strategy.configure(session_config=session_config)
        return
    # The strategy of this object has no task then, and is not changed.
    strategy = copy.deepcopy(strategy)
    strategy.configure(session_config=session_config, cluster_spec=cluster,
                       task_type=task_type, task_id=task_id)
    # A server has more sessions than the strategy's.
    del session_config.device_filters[:]


def run_standard_tensorflow_server(session_config=None):
    """The started server of the task that TF_CONFIG has, a tf.train.Server.
    `session_config`: a ConfigProto for its devices. What runs there may be of
    any shape and dtype. ValueError without a cluster or a task in TF_CONFIG,
    and for a cluster without a chief and workers."""
    config = tf_config()
    if "cluster" not in config:
        raise ValueError('"cluster" is not found in TF_CONFIG.')
    cluster = normalize_cluster_spec(config["cluster"])
    if "task" not in config:
        raise ValueError('"task" is not found in TF_CONFIG.')
    task = config["task"]
    if "type" not in task:
        raise ValueError('"task_type" is not found in the `task` part of '
                         'TF_CONFIG.')
    session_config = session_config or ConfigProto()
    workers = _workers(cluster)
    if not workers:
        raise ValueError("You must have `chief` or `worker` jobs in the "
                         "`cluster_spec`.")
    session_config.experimental.collective_group_leader = (
        "/job:%s/replica:0/task:0" % workers[0][0])
    return _run_std_server(
        cluster_spec=cluster, task_type=task["type"],
        task_id=int(task.get("index", 0)), session_config=session_config,
        rpc_layer=config.get("rpc_layer", "grpc"))


def run_distribute_coordinator(
        worker_fn, strategy, eval_fn=None, eval_strategy=None,
        mode=CoordinatorMode.STANDALONE_CLIENT, cluster_spec=None,
        task_type=None, task_id=None, session_config=None, rpc_layer="grpc"):
    """Runs worker_fn(strategy) for the tasks of a cluster, by default that of
    TF_CONFIG; without one, here. An "evaluator" runs eval_fn(eval_strategy), by
    default worker_fn. `mode` says what this process is. Returns what worker_fn
    does, but None without a cluster and for a client of several. ValueError
    for another mode, for what is no cluster and in a worker_fn."""
    config = tf_config()
    if not cluster_spec:
        cluster_spec = config.get("cluster", {})
        task = config.get("task", {})
        if task:
            task_type = task.get("type", task_type)
            task_id = int(task.get("index", task_id))
    if cluster_spec:
        cluster_spec = normalize_cluster_spec(cluster_spec)
    rpc_layer = config.get("rpc_layer", rpc_layer)
    session_config = session_config or ConfigProto(allow_soft_placement=True)
    if not cluster_spec:
        tf_logging.info("Running local Distribute Coordinator.")
        _run_single_worker(worker_fn, strategy, None, None, None,
                           session_config, rpc_layer)
        if eval_fn:
            _run_single_worker(eval_fn, eval_strategy or strategy, None, None,
                               None, session_config, rpc_layer)
        else:
            tf_logging.warning("Skipped evaluation since `eval_fn` is not "
                               "passed in.")
        return None
    tf_logging.info(
        "Running Distribute Coordinator with mode = %r, cluster_spec = %r, "
        "task_type = %r, task_id = %r, rpc_layer = %r", mode,
        cluster_spec.as_dict(), task_type, task_id, rpc_layer)
    if mode not in (CoordinatorMode.STANDALONE_CLIENT,
                    CoordinatorMode.INDEPENDENT_WORKER):
        raise ValueError("Unexpected coordinator mode: %r" % mode)
    if not eval_fn:
        tf_logging.warning("`eval_fn` is not passed in. The `worker_fn` will "
                           "be used if an \"evaluator\" task exists in the "
                           "cluster.")
    if not eval_strategy:
        tf_logging.warning("`eval_strategy` is not passed in. No distribution "
                           "strategy will be used for evaluation.")
    eval_fn = eval_fn or worker_fn
    is_client = mode == CoordinatorMode.STANDALONE_CLIENT
    if is_client and task_type in (_TaskType.CLIENT, None):
        return _run_client(worker_fn, strategy, eval_fn, eval_strategy,
                           cluster_spec, session_config, rpc_layer)
    _configure_servers(strategy, eval_strategy, session_config, cluster_spec,
                       task_type, task_id)
    server = _run_std_server(
        cluster_spec=cluster_spec, task_type=task_type, task_id=task_id,
        session_config=session_config, rpc_layer=rpc_layer,
        environment=config.get("environment"))
    if is_client or task_type == _TaskType.PS:
        return server.join()
    if task_type == _TaskType.EVALUATOR:
        return _run_single_worker(eval_fn, eval_strategy, cluster_spec,
                                  task_type, task_id, session_config,
                                  rpc_layer)
    if task_type not in (_TaskType.CHIEF, _TaskType.WORKER):
        raise ValueError("Unexpected task_type: %r" % task_type)
    if strategy.extended.experimental_between_graph:
        return _run_single_worker(worker_fn, strategy, cluster_spec, task_type,
                                  task_id, session_config, rpc_layer)
    if _WorkerContext(strategy, cluster_spec, task_type, task_id).is_chief:
        return _run_single_worker(worker_fn, strategy, cluster_spec, None,
                                  None, session_config, rpc_layer)
    return server.join()
