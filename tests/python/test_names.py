"""Names of nodes: as TensorFlow 1.15 gives them."""
import numpy as np
import pytest

import headrace as tf


def P(*shape):
    return tf.placeholder(tf.float32, shape)


# What is built, and the nodes that it adds after its placeholders.
CASES = {
    "add": (lambda: tf.add(P(2), 1.), "Add/y Add"),
    "plus": (lambda: P(2) + 1., "add/y add"),
    "rplus": (lambda: 1. + P(2), "add/x add"),
    "mul": (lambda: tf.multiply(P(2), 2.), "Mul/y Mul"),
    "mixed": (lambda: (2. - P(2)) * 3., "sub/x sub mul/y mul"),
    "truediv": (lambda: P(2) / 2., "truediv/y truediv"),
    "int_truediv": (lambda: tf.constant(1, name="c") / 2,
                    "c truediv/y truediv/Cast truediv/Cast_1 truediv"),
    "sum": (lambda: tf.reduce_sum(P(2, 3)), "Const Sum"),
    "mean": (lambda: tf.reduce_mean(P(2, 3), 1),
             "Mean/reduction_indices Mean"),
    "matmul": (lambda: tf.matmul(P(2, 3), P(3, 2)), "MatMul"),
    "at": (lambda: P(2, 3) @ P(3, 2), "matmul"),
    "concat": (lambda: tf.concat([P(2), P(3)], 0), "concat/axis concat"),
    "stack": (lambda: tf.stack([P(2), P(2)], 1), "stack"),
    "split": (lambda: tf.split(P(4), 2)[0], "Const split/split_dim split"),
    "slice": (lambda: P(4)[1:],
              "strided_slice/stack strided_slice/stack_1 "
              "strided_slice/stack_2 strided_slice"),
    "transpose": (lambda: tf.transpose(P(2, 3)), "transpose/perm transpose"),
    "reshape": (lambda: tf.reshape(P(2, 3), [-1]), "Reshape/shape Reshape"),
    "expand_dims": (lambda: tf.expand_dims(P(2), 0),
                    "ExpandDims/dim ExpandDims"),
    "zeros": (lambda: tf.zeros([2]), "zeros"),
    "big_zeros": (lambda: tf.zeros([100, 100]),
                  "zeros/shape_as_tensor zeros/Const zeros"),
    "one_hot": (lambda: tf.one_hot([1], 3),
                "one_hot/on_value one_hot/off_value one_hot/indices "
                "one_hot/depth one_hot"),
    "conv2d": (lambda: tf.nn.conv2d(P(1, 4, 4, 2), P(3, 3, 2, 4),
                                    [1, 1, 1, 1], "SAME"), "Conv2D"),
    "max_pool": (lambda: tf.nn.max_pool(
        P(1, 4, 4, 2), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), "MaxPool"),
    "relu": (lambda: tf.nn.relu(P(2)), "Relu"),
    "softmax": (lambda: tf.nn.softmax(P(2, 3)), "Softmax"),
    "batchnorm": (lambda: tf.nn.batch_normalization(
        P(2, 3), P(3), P(3), P(3), P(3), .1),
        "batchnorm/add/y batchnorm/add batchnorm/Rsqrt batchnorm/mul "
        "batchnorm/mul_1 batchnorm/mul_2 batchnorm/sub batchnorm/add_1"),
    "random_uniform": (
        lambda: tf.random_uniform([2]),
        "random_uniform/shape random_uniform/min random_uniform/max "
        "random_uniform/RandomUniform random_uniform/sub random_uniform/mul "
        "random_uniform"),
    "variable": (lambda: tf.Variable(1.0),
                 "Variable/initial_value Variable Variable/Assign "
                 "Variable/read"),
    "resource": (lambda: tf.Variable(1.0, use_resource=True),
                 "Variable/Initializer/initial_value Variable "
                 "Variable/IsInitialized/VarIsInitializedOp Variable/Assign "
                 "Variable/Read/ReadVariableOp"),
    "get_variable": (
        lambda: tf.get_variable("w", [2], initializer=tf.zeros_initializer()),
        "w/Initializer/zeros w w/Assign w/read"),
    "packed": (lambda: tf.convert_to_tensor([P(), 1.0]),
               "packed/1 packed"),
    "packed_cast": (lambda: tf.convert_to_tensor([P(), 1, P()], tf.int32),
                    "Cast Cast_1 packed/1 packed"),
    "group": (lambda: tf.group(P(2)), "group_deps"),
}


@pytest.mark.parametrize("case", CASES)
def test_nodes(case):
    build, names = CASES[case]
    build()
    made = [o.name for o in tf.get_default_graph().get_operations()
            if o.type != "Placeholder"]
    assert made == names.split()


def test_scopes():
    with tf.name_scope("a") as a:
        assert a == "a/"
        x = tf.constant(1.)
        with tf.name_scope("b") as b:
            y = x + 1.
    with tf.name_scope("a"):
        z = x + 1.
    with tf.name_scope(b):
        w = x + 1.
    with tf.name_scope(None):
        q = tf.constant(2., name="q")
    assert [t.op.name for t in (x, y, z, w, q)] == [
        "a/Const", "a/b/add", "a_1/add", "a/b/add_1", "q"]


def test_names_ignore_case():
    assert tf.constant(1., name="x").op.name == "x"
    assert tf.constant(1., name="X").op.name == "X_1"
    assert tf.constant(1., name="x_1").op.name == "x_1_1"
    assert tf.constant(1., name="x").op.name == "x_2"


def test_exact_name():
    assert tf.constant(1., name="x/").op.name == "x"
    with pytest.raises(ValueError, match="x"):
        tf.constant(1., name="x/")


@pytest.mark.parametrize("name", ["a b", "-a", "a$", "/a"])
def test_bad_names(name):
    with pytest.raises(ValueError):
        tf.constant(1., name=name)
    with pytest.raises(ValueError):
        with tf.name_scope(name):
            pass


def test_unique_name():
    g = tf.get_default_graph()
    assert [g.unique_name("n") for _ in range(3)] == ["n", "n_1", "n_2"]
    assert g.unique_name("m", mark_as_used=False) == "m"
    assert g.unique_name("m") == "m"


def test_control_dependencies():
    a, b = tf.constant(1., name="a"), tf.constant(2., name="b")
    with tf.control_dependencies([a, b.op]):
        c = tf.identity(a)
        d = tf.negative(c)
        with tf.control_dependencies(None):
            e = tf.constant(1.)
    names = [[i.name for i in t.op.control_inputs] for t in (c, d, e)]
    assert names == [["b"], [], []]


def test_devices():
    with tf.device("/job:worker/task:1"):
        with tf.device("/cpu:0"):
            a = tf.constant(1.)
            with tf.device(None):
                b = tf.constant(1.)
        with tf.device(lambda op: "/gpu:2" if op.type == "Const" else ""):
            c = tf.constant(1.)
    assert a.device == "/job:worker/task:1/device:CPU:0"
    assert b.device == ""
    assert c.device == "/job:worker/task:1/device:GPU:2"
    with pytest.raises(ValueError, match="Unknown attribute: 'nonsense'"):
        with tf.device("/nonsense"):
            pass


def test_colocation():
    with tf.device("/cpu:0"):
        a = tf.constant(1., name="a")
    with tf.colocate_with(a):
        b = tf.constant(1.)
    assert b.op.get_attr("_class") == [b"loc:@a"]
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert b.device == a.device


def test_sources():
    here = tf.constant(1.0)
    assert here.op.source.startswith("test_names.py:")
    assert here.op.source.endswith(" in test_sources")
    assert tf.nn.dropout(P(3), 0.5).op.source.endswith(" in test_sources")


def test_graph():
    g = tf.get_default_graph()
    c = tf.constant(1.0, name="c")
    assert g.get_operation_by_name("c") is c.op
    assert g.as_graph_element("c:0") is c
    with pytest.raises(KeyError, match="does not exist"):
        g.get_tensor_by_name("d:0")
    with pytest.raises(KeyError, match="only has 1 outputs"):
        g.get_tensor_by_name("c:1")
    with pytest.raises(ValueError, match="Tensor names"):
        g.get_tensor_by_name("c")
    with pytest.raises(KeyError):
        g.get_operation_by_name("d")
    g.add_to_collection("k", c)
    assert tf.get_collection("k") == [c] and tf.get_collection("none") == []
    assert tf.get_collection("k", scope="x") == []
    version = g.version
    g.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1.0)
    assert g.version == version


def test_import():
    x = P(2)
    tf.add(x, tf.constant([1., 2.], name="c"), name="y")
    graph_def = tf.get_default_graph().as_graph_def()
    assert [n.name for n in graph_def.node] == ["Placeholder", "c", "y"]
    for source in (graph_def, graph_def.SerializeToString()):
        with tf.Graph().as_default():
            z = tf.constant([5., 5.])
            y, op = tf.import_graph_def(
                source, {"Placeholder:0": z}, ["y:0", "y"])
            assert y.op is op and op.name == "import/y"
            again, = tf.import_graph_def(source, {"Placeholder:0": z}, ["y"])
            assert again.name == "import_1/y"
            with tf.Session() as sess:
                np.testing.assert_array_equal(sess.run(y), [6, 7])
            with pytest.raises(ValueError, match="not found in graph_def"):
                tf.import_graph_def(source, {"nothing:0": z})
    bad = tf.GraphDef()
    bad.node.add(name="a", op="NoSuchOp")
    with pytest.raises((ValueError, tf.errors.NotFoundError),
                       match="NoSuchOp"):
        tf.import_graph_def(bad)


def test_messages():
    node = tf.NodeDef(name="n", op="Const")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["l"].list.i.extend([1, 2])
    node.input.append("a")
    again = tf.NodeDef.FromString(node.SerializeToString())
    assert again == node and again != tf.NodeDef() and again != None  # noqa
    assert list(again.attr["l"].list.i) == [1, 2]
    assert sorted(again.attr) == ["dtype", "l"] and "x" not in again.attr
    assert again.attr["dtype"].WhichOneof("value") == "type"
    config = tf.ConfigProto()
    assert not config.HasField("gpu_options")
    config.gpu_options.allow_growth
    assert not config.HasField("gpu_options")
    options = config.gpu_options
    options.allow_growth = True
    assert config.HasField("gpu_options")
    config.ClearField("gpu_options")
    options.allow_growth  # still there to look at
    copy = tf.ConfigProto()
    copy.CopyFrom(tf.ConfigProto(device_count={"CPU": 3}))
    assert copy.device_count["CPU"] == 3
    assert 'key: "CPU"' in str(copy)
    with pytest.raises(AttributeError):
        config.nothing = 1
    with pytest.raises(AttributeError):
        config.nothing
    with pytest.raises(TypeError):
        node.name = 1
    with pytest.raises(ValueError):
        tf.ConfigProto(nothing=1)
    with pytest.raises(tf.errors.DataLossError):
        tf.GraphDef.FromString(b"\xff\xff")
    assert isinstance(copy, tf.ConfigProto)
