"""tf.distribute.cluster_resolver, and tf.contrib.cluster_resolver, which is the
same."""
import json
import os
import sys
import types

import pytest

import headrace as tf
from cluster import CONFIG, Cluster

resolvers = tf.distribute.cluster_resolver
SPEC = {"ps": ["p:1"], "worker": ["w:1", "w:2"]}


def simple(spec, **arguments):
    return resolvers.SimpleClusterResolver(tf.train.ClusterSpec(spec),
                                           **arguments)


@pytest.fixture
def config(monkeypatch):
    def put(value):
        if value is None:
            monkeypatch.delenv("TF_CONFIG", raising=False)
        else:
            monkeypatch.setenv("TF_CONFIG", value if isinstance(value, str)
                               else json.dumps(value))
    return put


def test_names():
    contrib = tf.contrib.cluster_resolver
    assert contrib.SimpleClusterResolver is resolvers.SimpleClusterResolver
    assert contrib.TFConfigClusterResolver is resolvers.TFConfigClusterResolver
    assert contrib.UnionClusterResolver is resolvers.UnionResolver
    assert issubclass(resolvers.UnionResolver, resolvers.ClusterResolver)


def test_simple():
    r = simple(SPEC)
    assert r.cluster_spec().as_dict() == SPEC
    assert (r.master(), r.task_type, r.task_id, r.environment, r.rpc_layer) == (
        "", None, None, "", None)
    assert r.master("worker", 1) == "w:2"
    assert r.master("worker", 1, "grpc") == "grpc://w:2"
    assert r.num_accelerators() == {}
    r = simple(SPEC, master="m:1", task_type="worker", task_id=1,
               rpc_layer="grpc", environment="e", num_accelerators={"GPU": 2})
    assert r.master() == "grpc://m:1" and r.master(rpc_layer="x") == "x://m:1"
    assert (r.task_type, r.task_id, r.environment) == ("worker", 1, "e")
    assert r.num_accelerators() == {"GPU": 2}
    r.task_type = "ps"
    assert r.task_type == "ps"


@pytest.mark.parametrize("value, master, task, of_ps", [
    (None, "", (None, None, None), ""),
    ({}, "", (None, None, None), ""),
    ({"cluster": SPEC, "task": {"type": "worker", "index": 1}}, "w:2",
     ("worker", 1, None), "p:1"),
    ({"cluster": SPEC, "task": {"type": "worker", "index": "1"},
      "rpc_layer": "grpc"}, "grpc://w:2", ("worker", 1, "grpc"), "grpc://p:1"),
    ({"cluster": {"worker": ["w:1"]}, "task": {"type": "worker", "index": 0}},
     "", ("worker", 0, None), ""),
    ({"cluster": {"ps": {"0": "p:1"}, "worker": {"3": "w:4"}},
      "task": {"type": "worker", "index": 3}}, "w:4", ("worker", 3, None),
     "p:1")])
def test_tf_config(config, value, master, task, of_ps):
    config(value)
    r = resolvers.TFConfigClusterResolver()
    assert (r.task_type, r.task_id, r.rpc_layer) == task
    assert r.master() == master and r.master("ps", 0) == of_ps
    assert r.environment is None


def test_what_is_given_comes_before_tf_config(config):
    config({"cluster": SPEC, "task": {"type": "worker", "index": 1}})
    r = resolvers.TFConfigClusterResolver("ps", 0, "q", "e")
    assert (r.master(), r.task_type, r.task_id, r.rpc_layer, r.environment) == (
        "q://p:1", "ps", 0, "q", "e")
    r.task_type, r.task_id, r.rpc_layer = "worker", 0, "z"
    assert r.master() == "z://w:1"


@pytest.mark.parametrize("value, words", [
    ("not json", "TF_CONFIG is no JSON"), ("[]", "JSON object"),
    ({"cluster": 3}, "'cluster'"), ({"task": []}, "'task'"),
    ({"cluster": SPEC}, "no task"),
    ({"cluster": SPEC, "task": {"type": "worker", "index": "x"}}, "integer"),
    ({"cluster": SPEC, "task": {"type": "nope", "index": 0}}, "nope"),
    ({"cluster": SPEC, "task": {"type": "worker", "index": 7}}, "index 7")])
def test_tf_config_that_is_wrong(config, value, words):
    config(value)
    with pytest.raises(ValueError, match=words):
        resolvers.TFConfigClusterResolver().master()


def test_union():
    a = simple({"ps": ["p:1"], "worker": ["w:1"]}, master="m", rpc_layer="grpc",
               task_type="ps", task_id=3, environment="E")
    b = simple({"worker": ["w:2", "w:1"], "x": {2: "y:1"}})
    u = resolvers.UnionResolver(a, b)
    assert u.cluster_spec().as_dict() == {
        "ps": ["p:1"], "worker": ["w:1", "w:2", "w:1"], "x": {2: "y:1"}}
    assert (u.master(), u.task_type, u.task_id, u.rpc_layer, u.environment) == (
        "grpc://m", "ps", 3, "grpc", "E")
    assert u.master("worker", 1) == "grpc://w:2" and u.num_accelerators() == {}
    u = resolvers.UnionResolver(a, b, rpc_layer="L", task_type="t", task_id=9)
    assert (u.master("worker", 0), u.task_type, u.task_id) == (
        "L://w:1", "t", 9)
    first, second = simple({"w": {0: "a:1"}}), simple({"w": {1: "b:1"}})
    assert resolvers.UnionResolver(first, second).cluster_spec().as_dict() == {
        "w": ["a:1", "b:1"]}


def test_refusals():
    sparse, other = simple({"w": {1: "a:1"}}), simple({"w": {1: "b:1"}})
    with pytest.raises(ValueError, match="two resolvers have a task 1"):
        resolvers.UnionResolver(sparse, other).cluster_spec()
    with pytest.raises(ValueError, match="At least one"):
        resolvers.UnionResolver()
    with pytest.raises(TypeError, match="ClusterResolver"):
        resolvers.UnionResolver(3)
    with pytest.raises(ValueError, match="bad"):
        resolvers.UnionResolver(sparse, bad=1)
    with pytest.raises(TypeError, match="ClusterSpec"):
        resolvers.SimpleClusterResolver(SPEC)
    with pytest.raises(NotImplementedError):
        resolvers.ClusterResolver().cluster_spec()


def test_a_program_finds_its_cluster(config):
    with Cluster({"ps": 1, "worker": 1}) as cluster:
        config({"cluster": cluster.spec, "rpc_layer": "grpc",
                "task": {"type": "worker", "index": 0}})
        r = resolvers.TFConfigClusterResolver()
        assert r.num_accelerators(config_proto=CONFIG) == {"CPU": 1}
        with tf.Session(r.master(), config=CONFIG) as s:
            assert s.run(tf.constant(3)) == 3


HOSTS = ["t0", "t1", "t2"]


@pytest.fixture
def slurm(monkeypatch):
    def put(**variables):
        for name in ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE",
                     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "none")
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(resolvers.SlurmClusterResolver, "_resolve_hostnames",
                        lambda self: HOSTS)
    return put


@pytest.mark.parametrize("variables, arguments, jobs, task, gpus", [
    (dict(SLURM_PROCID=3, SLURM_NTASKS=3),
     dict(jobs={"worker": 3}, tasks_per_node=1),
     {"worker": ["t0:8888", "t1:8888", "t2:8888"]}, (None, None), None),
    (dict(SLURM_PROCID=1, SLURM_NTASKS=3, SLURM_NTASKS_PER_NODE=1),
     dict(jobs={"worker": 2, "ps": 1}, port_base=90),
     {"ps": ["t0:90"], "worker": ["t1:90", "t2:90"]}, ("worker", 0), "0"),
    (dict(OMPI_COMM_WORLD_RANK=5, OMPI_COMM_WORLD_SIZE=6, SLURM_PROCID=0,
          SLURM_NTASKS=1),
     dict(jobs={"ps": 2, "worker": 4}, tasks_per_node=2, gpus_per_node=4,
          gpus_per_task=2),
     {"ps": ["t0:8888", "t0:8889"],
      "worker": ["t1:8888", "t1:8889", "t2:8888", "t2:8889"]}, ("worker", 3),
     "2,3"),
    (dict(SLURM_PROCID=0, SLURM_NTASKS=2),
     dict(jobs={"worker": 2}, tasks_per_node=1, auto_set_gpu=False,
          rpc_layer=None),
     {"worker": ["t0:8888", "t1:8888"]}, ("worker", 0), "none")])
def test_slurm(slurm, variables, arguments, jobs, task, gpus):
    slurm(**variables)
    r = resolvers.SlurmClusterResolver(**arguments)
    assert r.get_task_info() == (None, None) and r.master() == ""
    if gpus is None:  # a rank without a place
        with pytest.raises(IndexError):
            r.cluster_spec()
        return
    assert r.cluster_spec().as_dict() == jobs
    assert r.get_task_info() == task == (r.task_type, r.task_id)
    layer = arguments.get("rpc_layer", "grpc")
    wanted = jobs[task[0]][task[1]]
    assert r.master() == ("grpc://" + wanted if layer else wanted)
    assert r.master("worker", 1, "x") == "x://" + jobs["worker"][1]
    assert r.num_accelerators() == {"GPU": arguments.get("gpus_per_node", 1)}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == gpus


@pytest.mark.parametrize("variables, arguments, words", [
    ({}, dict(jobs={"worker": 1}), "SLURM_PROCID and SLURM_NTASKS"),
    (dict(SLURM_PROCID=0, SLURM_NTASKS=1), dict(jobs={"worker": 1}),
     "Neither `tasks_per_node` or"),
    (dict(SLURM_PROCID=0, SLURM_NTASKS=1),
     dict(jobs={"worker": 2}, tasks_per_node=1), "Got 2 tasks .* has 1"),
    (dict(SLURM_PROCID=0, SLURM_NTASKS=4),
     dict(jobs={"worker": 4}, tasks_per_node=2, gpus_per_node=1),
     "tasks_per_node=2, gpus_per_task=1, gpus_per_node=1")])
def test_slurm_refuses(slurm, variables, arguments, words):
    slurm(**variables)
    with pytest.raises(RuntimeError, match=words):
        resolvers.SlurmClusterResolver(**arguments)


class _Pods:
    """A client of Kubernetes."""

    def __init__(self, pods):
        self._pods = pods

    def list_pod_for_all_namespaces(self, label_selector):
        def thing(**fields):
            return types.SimpleNamespace(**fields)
        return thing(items=[
            thing(metadata=thing(name=name),
                  status=thing(phase=phase, host_ip=ip))
            for name, phase, ip in self._pods[label_selector]])


def test_kubernetes():
    client = _Pods({
        "job-name=tensorflow": [("b", "Running", "10.2"),
                                ("a", "Running", "10.1")],
        "ps": [("c", "Running", "10.3")], "new": [("d", "Pending", "")]})
    make = resolvers.KubernetesClusterResolver
    r = make(override_client=client)
    assert r.cluster_spec().as_dict() == {
        "worker": ["10.1:8470", "10.2:8470"]}
    assert r.master() == "" and r.master("worker", 1) == "grpc://10.2:8470"
    r.task_type, r.task_id = "worker", 0
    assert r.master(rpc_layer="x") == "x://10.1:8470"
    r = make({"ps": ["ps"], "worker": ["job-name=tensorflow", "ps"]}, 5, None,
             client)
    assert r.cluster_spec().as_dict() == {
        "ps": ["10.3:5"], "worker": ["10.1:5", "10.2:5", "10.3:5"]}
    assert r.master("ps", 0) == "10.3:5"
    with pytest.raises(RuntimeError, match='"d" is not running; phase: "Pend'):
        make({"worker": ["new"]}, override_client=client).cluster_spec()


class _Machines:
    """A service of Compute Engine, which lists one machine a page."""

    def __init__(self, addresses):
        self._addresses = addresses
        self.instanceGroups = self.instances = lambda: self

    def _request(self, response):
        return types.SimpleNamespace(execute=lambda: response)

    def listInstances(self, project, zone, instanceGroups, body, orderBy,
                      begin=0):
        assert (project, zone, instanceGroups) == ("p", "z", "g")
        self._begin = begin
        return self._request({"items": [{"instance": "x/y/%d" % begin}]})

    def listInstances_next(self, previous_request, previous_response):
        if self._begin + 1 == len(self._addresses):
            return None
        return self.listInstances("p", "z", "g", {}, "", self._begin + 1)

    def get(self, project, zone, instance):
        return self._request({"networkInterfaces": [
            {"networkIP": self._addresses[int(instance)]}]})


def test_compute_engine():
    r = resolvers.GCEClusterResolver("p", "z", "g", 80,
                                     service=_Machines(["10.2", "10.1"]))
    assert r.cluster_spec().as_dict() == {"worker": ["10.1:80", "10.2:80"]}
    assert (r.task_type, r.task_id, r.rpc_layer) == ("worker", 0, "grpc")
    assert r.master() == "grpc://10.1:80"
    r.task_id, r.rpc_layer = 1, "x"
    assert r.master() == "x://10.2:80" and r.master("worker", 0) == (
        "x://10.1:80")
    with pytest.raises(RuntimeError, match="cannot reset the task_type"):
        r.task_type = "ps"


@pytest.mark.parametrize("package, make", [
    ("kubernetes.client", resolvers.KubernetesClusterResolver),
    ("googleapiclient.discovery",
     lambda: resolvers.GCEClusterResolver("p", "z", "g", 80))])
def test_packages_that_are_missing(monkeypatch, package, make):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="needs the Python package %s, and .*"
                       "pip install" % "(kubernetes|google-api-python-client)"):
        make()
