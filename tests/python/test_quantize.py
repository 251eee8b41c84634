"""tf.contrib.quantize beside TensorFlow 1.15.5 (quantize_programs.py): which
nodes the rewriting adds and changes, and what the networks give."""
import json

import numpy as np
import pytest
import quantize_programs as programs

import headrace as tf

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_networks(name):
    wanted = VALUES[name]
    got = programs.run(tf, *name.split())
    nodes = programs.unpacked(wanted["nodes"])
    assert {n for n in nodes if n not in got["nodes"]} == set()
    assert {n for n in got["nodes"] if n not in nodes} == set()
    assert {n: (got["nodes"][n], nodes[n]) for n in nodes
            if got["nodes"][n] != nodes[n]} == {}
    assert got["variables"] == wanted["variables"]
    # Sums that differ in their last bits may be rounded to other steps.
    np.testing.assert_allclose(got["outputs"], wanted["outputs"],
                               rtol=.02,
                               atol=.12 if name.endswith("own") else .04)


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()


def test_only_what_is_in_a_scope():
    x, y = programs.dense(tf, True)
    tf.contrib.quantize.experimental_create_training_graph(scope="b")
    quant = sorted(op.name for op in tf.get_default_graph().get_operations()
                   if op.type.startswith("FakeQuant"))
    assert quant == ["b/weights_quant/FakeQuantWithMinMaxVars"]


def test_a_graph_that_has_an_optimizer():
    v = tf.Variable(1.)
    tf.train.GradientDescentOptimizer(.1).minimize(v * 2)
    with pytest.raises(ValueError, match="Training op found in graph, exiting "
                                         "\\['ApplyGradientDescent'\\]"):
        tf.contrib.quantize.create_training_graph()


def test_moving_averages_that_no_layer_updates():
    x = tf.placeholder(tf.float32, [2, 4, 4, 3])
    y = tf.nn.conv2d(x, tf.Variable(tf.ones([1, 1, 3, 3])), [1, 1, 1, 1], "SAME")
    y, _, _ = tf.nn.fused_batch_norm(y, tf.ones([3]), tf.zeros([3]))
    tf.nn.relu(y)
    with pytest.raises(ValueError, match="moving averages of FusedBatchNorm.* "
                                         "are not updated"):
        tf.contrib.quantize.create_training_graph()
