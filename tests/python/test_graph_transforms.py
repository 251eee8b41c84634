"""TransformGraph of tensorflow.tools.graph_transforms beside TensorFlow 1.15.5
(graph_transform_programs.py), and what it refuses."""
import json

import graph_transform_programs as programs
import pytest

import headrace as tf
from headrace._src.compat.graph_transforms import TransformGraph

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.mark.parametrize("name", sorted(programs.CASES))
def test_transforms(name):
    got = json.loads(json.dumps(programs.run(tf, TransformGraph, name)))
    assert got == VALUES[name]


@pytest.mark.parametrize("transform, error, message", [
    ("fold_constants", tf.errors.UnimplementedError,
     "'fold_constants' is not supported yet; there are: obfuscate_names"),
    ("remove_nodes(op=Identity)", tf.errors.UnimplementedError,
     "'remove_nodes' is not supported yet"),
    ("rename_op(", tf.errors.InvalidArgumentError, "wanted name\\(argument"),
    ("rename_op(a)", tf.errors.InvalidArgumentError,
     "transform 'rename_op': got 'a', wanted argument=value"),
    ("rename_attribute(op_name=Mul)", tf.errors.InvalidArgumentError,
     "rename_attribute expects exactly one"),
    ('strip_unused_nodes(shape="a")', tf.errors.InvalidArgumentError,
     "Couldn't understand shape argument 'a'"),
    ("strip_unused_nodes(name=x, type_for_name=int32, type_for_name=int8)",
     tf.errors.InvalidArgumentError,
     "'type_for_name' arg for every 'name'.*got 2 for 1 names"),
    ("strip_unused_nodes(name=x, type_for_name=int32)",
     tf.errors.InvalidArgumentError,
     "You must pass a 'shape_for_name' arg for every 'name'")])
def test_transforms_that_are_refused(transform, error, message):
    with pytest.raises(error, match=message):
        TransformGraph(programs.graph_def(tf), ["x"], ["out"], [transform])


def test_a_graph_whose_nodes_wait_for_each_other():
    graph = tf.GraphDef()
    for name, other in ("a", "b"), ("b", "a"):
        graph.node.add(name=name, op="Identity", input=[other])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 of 2 nodes"):
        TransformGraph(graph, ["a"], ["b"], ["sort_by_execution_order"])
