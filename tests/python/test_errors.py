"""Errors: their classes, what they say, and when."""
import pickle

import numpy as np
import pytest

import headrace as tf


@pytest.mark.parametrize("code, name", [
    (1, "CancelledError"), (2, "UnknownError"), (3, "InvalidArgumentError"),
    (4, "DeadlineExceededError"), (5, "NotFoundError"),
    (6, "AlreadyExistsError"), (7, "PermissionDeniedError"),
    (8, "ResourceExhaustedError"), (9, "FailedPreconditionError"),
    (10, "AbortedError"), (11, "OutOfRangeError"), (12, "UnimplementedError"),
    (13, "InternalError"), (14, "UnavailableError"), (15, "DataLossError"),
    (16, "UnauthenticatedError")])
def test_classes(code, name):
    cls = getattr(tf.errors, name)
    e = cls(None, None, "why")
    assert isinstance(e, tf.errors.OpError) and isinstance(e, Exception)
    assert (e.message, e.error_code, str(e)) == ("why", code, "why")
    assert tf.errors.exception_type_from_error_code(code) is cls
    again = pickle.loads(pickle.dumps(e))
    with_node = tf.errors.AbortedError(tf.NodeDef(name="n"), None, "m")
    assert pickle.loads(pickle.dumps(with_node)).node_def.name == "n"
    assert type(again) is cls and again.message == "why"


def test_run_error_has_op_and_line():
    x = tf.placeholder(tf.int32)
    y = tf.reshape(x, [7], name="seven")
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="seven") as e:
        sess.run(y, {x: [1, 2]})
    assert e.value.op is y.op
    assert e.value.node_def.name == "seven"
    assert "test_errors.py" in e.value.message


def test_uninitialized_variable():
    v = tf.Variable(1.0, name="v")
    with tf.Session() as sess, pytest.raises(
            tf.errors.FailedPreconditionError, match="v"):
        sess.run(v + 1.0)


def test_build_errors():
    a = tf.zeros([2, 3])
    with pytest.raises(ValueError, match="test_errors.py"):
        tf.matmul(a, a)
    with pytest.raises(ValueError):
        tf.reshape(a, [7])
    with pytest.raises(TypeError, match="int32.*float32"):
        tf.add(a, tf.zeros([2, 3], tf.int32))
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.nn.relu(tf.constant("a"))
    with pytest.raises(TypeError, match="missing required argument"):
        tf.raw_ops.Placeholder()
    with pytest.raises(TypeError, match="unexpected keyword"):
        tf.raw_ops.Add(1, 2, z=3)
    with pytest.raises(TypeError, match="at most"):
        tf.raw_ops.Add(1, 2, "n", 4)
    with pytest.raises(TypeError, match="Expected list"):
        tf.raw_ops.AddN(a)
    with pytest.raises(ValueError, match="minimum length"):
        tf.raw_ops.AddN([])
    with pytest.raises(TypeError, match="strides"):
        tf.raw_ops.Conv2D(a, a, strides=3, padding="SAME")
    with pytest.raises(ValueError, match="padding"):
        tf.raw_ops.Conv2D(a, a, strides=[1, 1, 1, 1], padding="BIG")
    with pytest.raises(AttributeError):
        tf.raw_ops.NoSuchOp
    with pytest.raises(AttributeError):
        tf.no_such_function


def test_failed_build_leaves_the_graph_alone():
    a = tf.zeros([2, 3])
    before = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError):
        tf.raw_ops.MatMul(a, a)
    assert len(tf.get_default_graph().get_operations()) == before


def test_tensor_is_no_bool():
    with pytest.raises(TypeError, match="bool"):
        bool(tf.constant(True))
    with pytest.raises(TypeError):
        iter(tf.constant([1, 2]))
    with pytest.raises(TypeError):
        len(tf.constant([1, 2]))


def test_timeout():
    q = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32])
    wait = tf.raw_ops.QueueDequeueV2(q, [tf.float32])
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(wait, options=tf.RunOptions(timeout_in_ms=50))


@pytest.mark.parametrize("module, name", [
    (tf.contrib.tpu, "shard"), (tf, "lite"), (tf, "xla"),
    (tf.data.experimental, "TensorArrayStructure")])
def test_unsupported_parts_say_so(module, name):
    with pytest.raises(AttributeError, match=r"tf\..*%s is not supported yet" % name):
        getattr(module, name)
    with pytest.raises(AttributeError, match="has no attribute"):
        getattr(module, name + "x_no_such_thing")


def test_a_shape_of_half_an_element():
    for shape in ([1.5, 4], (np.float32(1.5),), np.array([1.5])):
        with pytest.raises(ValueError, match="Ambiguous dimension: 1.5"):
            tf.placeholder(tf.float32, shape)
    assert tf.placeholder(tf.float32, [2., np.int64(3), -1, "4", None]).shape.as_list() == [2, 3, None, 4, None]


def test_an_argument_of_a_wrong_type_is_no_runtime_error():
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [], name="x")
    with pytest.raises(TypeError, match="Expected string for an attr, got 1"):
        x.op._set_attr("_names", [1])
    with pytest.raises(TypeError, match="is of a type that is not taken here"):
        graph._import_graph_def(b"", "", [(1, x)], [])


def test_import_of_a_name_says_what_is_taken():
    with pytest.raises(TypeError, match=r"GraphDef proto, its bytes, or a "
                       r"pathlib.Path .* pathlib.Path\('model.pb'\)"):
        tf.import_graph_def("model.pb")
    with pytest.raises(TypeError, match="but got None"):
        tf.import_graph_def(None)


def test_a_value_of_a_wrong_type_names_op_and_argument():
    for make in (lambda: tf.constant(1) + 1.5,
                 lambda: tf.constant(1) + tf.Variable(1.5),
                 lambda: tf.add(tf.constant(1), "a")):
        with pytest.raises(TypeError, match="'y' of .*'Add"):
            make()
    with pytest.raises(TypeError, match="^Expected int32 passed to parameter "
                       "'y' of op 'AddV2', got 1.5 of type 'float' instead"):
        tf.constant(1) + 1.5
    with pytest.raises(ValueError, match="'y' to a tensor.*None values not "
                       "supported.*op 'Add'"):
        tf.add(tf.constant(1), None)
    with pytest.raises(TypeError) as error:
        tf.add(tf.constant(1), [0.5] * 100000)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("make, text", [
    (lambda: tf.stack([tf.constant(1), 1.5]),
     r"'values' of 'Pack' Op have types \[int32, float32\] that don't all"),
    (lambda: tf.stack([1, "a", tf.constant(2.)]),
     r"\[int32, string, float32\] that don't all match"),
    (lambda: tf.stack([tf.constant(1), None]),
     r"\[int32, <NOT CONVERTIBLE TO TENSOR>\] that don't all match"),
    (lambda: tf.concat([[1], ["a"]], 0),
     r"'values' of 'ConcatV2' Op have types \[int32, string\]"),
    (lambda: tf.add_n([tf.constant(1), tf.Variable(1.)]),
     r"\[int32, float32\] that don't all match"),
    (lambda: tf.dynamic_stitch([[0.5], [1]], [[1], [2]]),
     r"'indices' of 'DynamicStitch' Op have types \[float32, int32\] that do "
     "not match expected type int32"),
    (lambda: tf.string_join(["a", 1]),
     r"\[string, int32\] that do not match expected type string"),
])
def test_lists_of_several_types_name_them(make, text):
    with pytest.raises(TypeError, match=text):
        make()


@pytest.mark.parametrize("value", [
    [1, "a"], ["a", 1], [1.5, "a"], [True, "a"], [[1, 2], ["a", "b"]],
    [np.array(1), "a"], [np.str_("a"), 1], [1, None], [b"a", 2.5]])
def test_strings_beside_numbers(value):
    for make in tf.constant, tf.convert_to_tensor:
        with pytest.raises(TypeError, match="Failed to convert object of type "
                           "<class 'list'> to Tensor"):
            make(value)


def test_the_element_that_does_not_fit_is_named():
    with pytest.raises(TypeError, match="Expected int32, got 1.5 of type"):
        tf.constant([1, 1.5], tf.int32)


def test_iteration_over_a_tensor_does_not_speak_of_eager_execution():
    for x in tf.placeholder(tf.float32), tf.constant([1, 2]):
        with pytest.raises(TypeError, match="tf.unstack") as error:
            list(x)
        assert "ager" not in str(error.value)


@pytest.mark.parametrize("make", [
    lambda: tf.constant(1) // tf.constant(0),
    lambda: tf.constant([1, 2]) % [1, 0],
    lambda: tf.div(tf.constant(1, tf.uint8), tf.constant(0, tf.uint8)),
    lambda: tf.floordiv(tf.constant(1, tf.int64), tf.constant(0, tf.int64)),
    lambda: tf.map_fn(lambda v: v // 0, tf.constant([1, 2])),
    lambda: tf.truncatediv(tf.constant(1), tf.constant(0)),
    lambda: tf.truncatemod(tf.constant(1, tf.int64), tf.constant(0, tf.int64)),
])
def test_division_of_integers_by_zero(make):
    y = make()
    with tf.Session() as s, pytest.raises(tf.errors.InvalidArgumentError,
                                          match="Integer division by zero"):
        s.run(y)


def test_every_name_that_is_not_here_yet_says_so():
    from headrace import _interface
    assert "Saver" in _interface.NAMES["train"]
    there = 0
    for namespace, names in _interface.NAMES.items():
        module = tf
        for part in filter(None, namespace.split(".")):
            module = getattr(module, part, None)
        if module is None:  # its own name says so
            continue
        for name in names.split():
            if hasattr(module, name):
                there += 1
                continue
            with pytest.raises(AttributeError, match="^tf.*%s is (not supported "
                               "yet(; use instead: .*)?|in the package .*)$"
                               % name):
                getattr(module, name)
    assert there > 1000


@pytest.mark.parametrize("build, error, words", [
    (lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]), ValueError,
     "Dimensions must be equal, but are 2 and 3 for 'add"),
    (lambda: tf.reshape([1, 2, 3, 4], [3, -1]), ValueError,
     "Dimension size must be evenly divisible by 3 but is 4"),
    (lambda: tf.split([1, 2, 3, 4], [1, 2]), ValueError,
     r"can't split axis of size 4 into pieces of size \[1,2\]"),
    (lambda: tf.split([1, 2, 3, 4], [-1, -1]), ValueError,
     "size_splits can only have one -1"),
    (lambda: tf.space_to_depth(tf.zeros([1, 2, 2, 1]), 1), ValueError,
     "Attr 'block_size' of 'SpaceToDepth' Op passed 1 less than minimum 2."),
    (lambda: tf.nn.max_pool(tf.zeros([1, 2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1],
                            "foo"), ValueError,
     "Attr 'padding' of 'MaxPool' Op passed string 'foo' not in: \"SAME\", "
     "\"VALID\"."),
    (lambda: tf.sqrt([1]), TypeError,
     "Value passed to parameter 'x' has DataType int32 not in list of allowed "
     "values"),
])
def test_refusals_in_tensorflow_s_words(build, error, words):
    with pytest.raises(error, match=words):
        build()
