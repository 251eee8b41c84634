"""Graphs by pickle and copy.deepcopy."""
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf


def make_graph():
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.get_variable("v", [2, 2], initializer=tf.ones_initializer())
        y = tf.matmul(x, v, name="y")
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
        tf.add_to_collection("outs", y)
        tf.add_to_collection("n", 3)
        tf.train.GradientDescentOptimizer(.1).minimize(tf.reduce_sum(y),
                                                       name="train")
        tf.random_normal([2], name="random")
    return graph


COPIES = [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy]


def run(graph):
    with tf.Session(graph=graph) as session:
        session.run("init")
        feed = {"x:0": [[1, 2]]}
        first = session.run("y:0", feed)
        session.run("train", feed)
        return [first, session.run("y:0", feed), session.run("random:0")]


@pytest.mark.parametrize("make_copy", COPIES)
def test_a_copy_runs_as_the_graph(make_copy):
    graph = make_graph()
    with graph.as_default():
        tf.global_variables_initializer()
    copied = make_copy(graph)
    assert copied is not graph and copied.seed == 3 and not copied.finalized
    assert copied.as_graph_def() == graph.as_graph_def()
    assert copied.graph_def_versions == graph.graph_def_versions
    assert copied.get_collection("n") == [3]
    assert copied.get_collection("outs") == [copied.get_tensor_by_name("y:0")]
    assert copied.get_collection("variables") == copied.get_collection(
        "trainable_variables")
    for got, wanted in zip(run(copied), run(graph)):
        np.testing.assert_array_equal(got, wanted)
    with copied.as_default():
        y, v = (copied.get_tensor_by_name(n) for n in ("y:0", "v/read:0"))
        assert tf.gradients(y, v)[0] is not None
        assert tf.constant(1, name="x").name == "x_1:0"


@pytest.mark.parametrize("make_copy", COPIES)
def test_a_finalized_graph_stays_so(make_copy):
    graph = make_graph()
    graph.finalize()
    assert make_copy(graph).finalized
    assert make_copy(tf.Graph())._num_nodes() == 0


def test_another_process_takes_it(tmp_path):
    (tmp_path / "graph").write_bytes(pickle.dumps(make_graph()))
    done = subprocess.run(
        [sys.executable, "-c", "import pickle, sys, headrace as tf\n"
         "g = pickle.load(open(sys.argv[1], 'rb'))\n"
         "print(g, g.get_collection('variables')[0].name)",
         str(tmp_path / "graph")], capture_output=True, text=True)
    assert "v:0" in done.stdout, done.stderr


def test_python_functions_stay_in_their_process():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.py_func(lambda a: a + 1, [x], tf.float32, name="call")
    with pytest.raises(TypeError, match="node 'call' .* calls a Python function"):
        pickle.dumps(graph)
    copied = copy.deepcopy(graph)
    del graph, x
    with tf.Session(graph=copied) as session:
        np.testing.assert_array_equal(session.run(y.name, {"x:0": [1]}), [2])


def test_python_functions_of_functions_of_the_graph():
    with tf.Graph().as_default() as graph:
        tf.data.Dataset.range(3).map(lambda x: tf.py_func(
            lambda a: a, [x], tf.int64)).make_one_shot_iterator()
    with pytest.raises(TypeError, match="calls a Python function"):
        pickle.dumps(graph)


def test_graphs_of_other_classes():
    class Own(tf.Graph):
        pass
    for make_copy in COPIES:
        with pytest.raises(TypeError, match="a Own"):
            make_copy(Own())
