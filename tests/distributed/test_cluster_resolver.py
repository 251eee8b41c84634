"""tf.distribute.cluster_resolver, and tf.contrib.cluster_resolver, which is the
same."""
import json

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
