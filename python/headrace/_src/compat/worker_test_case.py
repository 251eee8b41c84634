"""tensorflow.python.distribute.multi_worker_test_base: clusters of servers in
this process, and tests whose workers are threads, each with a TF_CONFIG of its
own."""
import collections.abc
import contextlib
import json
import os
import socket
import threading
import unittest
from unittest import mock

from headrace._src.distribute import coordinator as _coordinator
from headrace._src.distribute.multi_worker import normalize_cluster_spec
from headrace._src.framework import errors
from headrace._src.framework.graph import Graph
from headrace._src.framework.messages import ConfigProto
from headrace._src.session.session import Session
from headrace._src.testing.test_case import TestCase
from headrace._src.training.cluster_resolver import tf_config
from headrace._src.training.coordinator import Coordinator
from headrace._src.training.server_lib import Server

_given: set = set()  # ports


def pick_unused_port():
    """A port on which nobody listens, and which was not given before."""
    while True:
        with socket.socket() as s:
            s.bind(("", 0))
            port = s.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


def create_cluster_spec(has_chief=False, num_workers=1, num_ps=0,
                        has_eval=False, test_obj=None):
    """{job: ["localhost:port"]} of tasks that do not run yet."""
    counts = {"chief": int(has_chief), "worker": num_workers, "ps": num_ps,
              "evaluator": int(has_eval)}
    return {job: ["localhost:%d" % pick_unused_port() for _ in range(n)]
            for job, n in counts.items() if n}


def create_in_process_cluster(num_workers, num_ps, has_chief=False,
                              has_eval=False, rpc_layer="grpc"):
    """create_cluster_spec() of tasks whose servers this process starts."""
    cluster = create_cluster_spec(has_chief, num_workers, num_ps, has_eval)
    for job, tasks in cluster.items():
        config = ConfigProto()
        if job in ("chief", "worker"):
            config.experimental.collective_group_leader = (
                "/job:%s/replica:0/task:0" % (
                    "chief" if has_chief else "worker"))
        for task in range(len(tasks)):
            Server(cluster, job_name=job, task_index=task, protocol=rpc_layer,
                   config=config)
    return cluster


@contextlib.contextmanager
def skip_if_grpc_server_cant_be_started(test_obj):
    """Skips the test where servers cannot be started."""
    try:
        yield
    except (errors.UnimplementedError, errors.UnknownError) as e:
        if isinstance(e, errors.UnknownError) and (
                "Could not start gRPC server" not in e.message):
            raise
        test_obj.skipTest("Cannot start std servers.")


class MultiWorkerTestBase(TestCase):
    """A test whose sessions are of the first worker of two, with a parameter
    server, all of this process."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls._cluster_spec = create_in_process_cluster(num_workers=2,
                                                          num_ps=1)
        except errors.UnimplementedError as e:
            raise unittest.SkipTest(e.message) from e
        cls._default_target = "grpc://" + cls._cluster_spec["worker"][0]

    def setUp(self):
        super().setUp()
        self._thread_local = threading.local()
        self._coord = Coordinator()

    @staticmethod
    def _config(config):
        if config is not None:
            return config
        return ConfigProto(allow_soft_placement=True)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, target=None):
        """A new session on `target`, by default the first worker."""
        with Session(target or self._default_target, graph=graph,
                     config=self._config(config)) as s:
            yield s

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, target=None):
        """The session of this thread, which is made once."""
        kept = self._thread_local
        if getattr(kept, "session", None) is None:
            kept.session = Session(target or self._default_target,
                                   config=self._config(config))
        with kept.session.graph.as_default(), kept.session.as_default():
            yield kept.session

    def _run_client(self, client_fn, task_type, task_id, num_gpus, eager_mode,
                    *args, **kwargs):
        with self._coord.stop_on_exception(), Graph().as_default():
            client_fn(task_type, task_id, num_gpus, *args, **kwargs)

    def _run_between_graph_clients(self, client_fn, cluster_spec, num_gpus,
                                   *args, **kwargs):
        """client_fn(job, task, num_gpus, ...) for each chief and worker, in a
        thread and a graph each."""
        threads = []
        for job in "chief", "worker":
            for task in range(len(cluster_spec.get(job, ()))):
                thread = threading.Thread(
                    target=self._run_client, daemon=True,
                    args=(client_fn, job, task, num_gpus, False) + args,
                    kwargs=kwargs)
                thread.start()
                threads.append(thread)
        self._coord.join(threads)


class MockOsEnv(collections.abc.MutableMapping):
    """Stands for os.environ; each thread has a TF_CONFIG of its own."""

    def __init__(self, *args):
        self._thread_local = threading.local()
        self._dict = dict(*args) if args else dict(os.environ)

    def __getitem__(self, key):
        if key != "TF_CONFIG":
            return self._dict[key]
        value = getattr(self._thread_local, "config", None)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        if key == "TF_CONFIG":
            self._thread_local.config = value
        else:
            self._dict[key] = value

    def __delitem__(self, key):
        if key == "TF_CONFIG":
            self._thread_local.config = None
        else:
            del self._dict[key]

    def __iter__(self):
        if getattr(self._thread_local, "config", None) is not None:
            yield "TF_CONFIG"
        yield from (k for k in self._dict if k != "TF_CONFIG")

    def __len__(self):
        return sum(1 for _ in self)

    def copy(self):
        """A dict with the same variables."""
        return dict(self)


class IndependentWorkerTestBase(TestCase):
    """A test whose tasks are threads, each of which starts its server."""

    def setUp(self):
        self._mock_os_env = MockOsEnv()
        self._mock_context = mock.patch.object(os, "environ",
                                               self._mock_os_env)
        self._coord = Coordinator()
        self._thread_local = threading.local()
        super().setUp()
        self._mock_context.__enter__()

    def tearDown(self):
        self._mock_context.__exit__(None, None, None)
        super().tearDown()

    def _make_mock_run_std_server(self):
        """_run_std_server of the coordinator, which waits in each thread until
        `self._barrier` lets all go on."""
        run = _coordinator._run_std_server

        def started(*args, **kwargs):
            with skip_if_grpc_server_cant_be_started(self):
                server = run(*args, **kwargs)
            if not getattr(self._thread_local, "server_started", False):
                self._barrier.wait()
            self._thread_local.server_started = True
            return server
        return started

    def _task_thread(self, task_fn, config, *args, **kwargs):
        with self._coord.stop_on_exception():
            os.environ["TF_CONFIG"] = json.dumps(config)
            with Graph().as_default():
                task_fn(*args, **kwargs)

    def _run_task_in_thread(self, task_fn, cluster_spec, task_type, task_id,
                            *args, **kwargs):
        config = kwargs.pop("tf_config", None)
        if config is None:
            config = {"cluster": cluster_spec}
            if task_type:
                config["task"] = {"type": task_type, "index": task_id}
        thread = threading.Thread(target=self._task_thread, daemon=True,
                                  args=(task_fn, config) + args, kwargs=kwargs)
        thread.start()
        return thread

    def run_multiple_tasks_in_threads(self, task_fn, cluster_spec, *args,
                                      **kwargs):
        """{job: [thread]}: each runs task_fn as a task of the cluster."""
        return {job: [self._run_task_in_thread(task_fn, cluster_spec, job, i,
                                               *args, **kwargs)
                      for i in range(len(tasks))]
                for job, tasks in cluster_spec.items()}

    def join_independent_workers(self, worker_threads):
        """Waits for threads, and raises what one of them raised."""
        with skip_if_grpc_server_cant_be_started(self):
            self._coord.join(worker_threads)


def get_tf_config_task():
    """The task of TF_CONFIG, a dict."""
    return tf_config()["task"]


def get_tf_config_cluster_spec():
    """The cluster of TF_CONFIG, a dict."""
    return tf_config()["cluster"]


def get_task_type():
    """The job of this task."""
    return get_tf_config_task()["type"]


def get_task_index():
    """The number of this task in its job."""
    return get_tf_config_task()["index"]


def is_chief():
    """Whether this task is the chief, or the first worker of a cluster without
    one."""
    jobs = normalize_cluster_spec(get_tf_config_cluster_spec()).jobs
    return get_task_type() == "chief" or ("chief" not in jobs and (
        get_task_type(), get_task_index()) == ("worker", 0))
