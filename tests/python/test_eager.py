"""Eager execution from Python: tensors that have values, ops, errors, devices,
random numbers, and what graphs and eager execution are for each other.

Tests run inside of eager_mode(), which concerns their thread alone;
tests/programs/eager_*.py call tf.enable_eager_execution()."""
import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import headrace as tf
from headrace import _headrace
from headrace._src.eager import context


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


# What an expression gives.
VALUES = [
    (lambda: tf.constant(2) + 3, np.int32(5)),
    (lambda: 1. - tf.constant([1., 2.]), np.float32([0, -1])),
    (lambda: tf.constant(7) // 2, np.int32(3)),
    (lambda: tf.constant(7) / 2, np.float64(3.5)),
    (lambda: 2 ** tf.constant(3), np.int32(8)),
    (lambda: ~tf.constant(True), np.bool_(False)),
    (lambda: tf.constant([[1., 2.]]) @ tf.constant([[3.], [4.]]),
     np.float32([[11]])),
    (lambda: tf.constant([1, 2, 3])[1:], np.int32([2, 3])),
    (lambda: tf.constant([1, 2, 3])[tf.constant(2)], np.int32(3)),
    (lambda: tf.constant([[1, 2], [3, 4]])[..., 0], np.int32([1, 3])),
    (lambda: tf.constant("a") + "b", b"ab"),
    (lambda: tf.shape(tf.zeros([2, 3])), np.int32([2, 3])),
    (lambda: tf.reduce_sum(tf.ones([2, 3]), 0), np.float32([2, 2, 2])),
    (lambda: tf.stack([tf.constant(1), 2]), np.int32([1, 2])),
    (lambda: tf.convert_to_tensor([tf.constant(1.), 2.]), np.float32([1, 2])),
    (lambda: tf.split(tf.range(4), 2)[1], np.int32([2, 3])),
    (lambda: tf.cond(tf.constant(False), lambda: 1, lambda: tf.constant(2)),
     np.int32(2)),
    (lambda: tf.case([(tf.constant(False), lambda: tf.constant(1))],
                     default=lambda: tf.constant(7)), np.int32(7)),
    (lambda: tf.while_loop(lambda i: i < 5, lambda i: i + 2, [tf.constant(0)]),
     np.int32(6)),
    (lambda: tf.while_loop(lambda i, s: True, lambda i, s: (i + 1, s + i),
                           [tf.constant(0), tf.constant(0)],
                           maximum_iterations=4)[1], np.int32(6)),
    (lambda: tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])),
     np.int32([1, 4, 9])),
    (lambda: tf.scan(lambda a, b: a + b, tf.constant([1, 2, 3])),
     np.int32([1, 3, 6])),
    (lambda: tf.foldl(lambda a, b: a * b, tf.constant([1, 2, 3])), np.int32(6)),
    (lambda: tf.TensorArray(tf.float32, 2).write(0, 1.).write(1, 2.).stack(),
     np.float32([1, 2])),
    (lambda: tf.TensorArray(tf.float32, 0, dynamic_size=True).write(2, 1.)
     .stack(), np.float32([0, 0, 1])),
    (lambda: tf.TensorArray(tf.float32, 2).split(tf.range(3.), [1, 2])
     .concat(), np.float32([0, 1, 2])),
    (lambda: tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 3])),
     np.int32([[0, 5, 0]])),
    (lambda: tf.reduce_sum(tf.ragged.constant([[1], [2, 3]]), 1),
     np.int32([1, 5])),
    (lambda: tf.py_func(lambda x: x * 2, [tf.constant([1, 2])], tf.int32),
     np.int32([2, 4])),
    (lambda: tf.py_function(lambda x: x.numpy() + 1, [tf.constant(1.)],
                            tf.float32), np.float32(2)),
    (lambda: tf.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(
        tf.constant(["b", "c"])), np.int64([1, -1])),
    (lambda: tf.train.exponential_decay(1., tf.constant(2), 1, .5)(),
     np.float32(.25)),
    (lambda: tf.no_op(), None),
    (lambda: tf.group(tf.constant(1)), None),
    (lambda: tf.assert_equal(tf.constant(1), 1), None),
]


@pytest.mark.parametrize("case", range(len(VALUES)))
def test_values(case):
    function, wanted = VALUES[case]
    got = function()
    if wanted is None:
        assert got is None
        return
    assert isinstance(got, tf.Tensor)
    got = got.numpy()
    np.testing.assert_array_equal(got, wanted)
    if not isinstance(wanted, bytes):
        assert got.dtype == wanted.dtype and np.shape(got) == wanted.shape


# (expression, class of the error, a part of its message)
ERRORS = [
    (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
     tf.errors.InvalidArgumentError,
     "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3] [Op:MatMul] name: "
     "MatMul/"),
    (lambda: tf.constant(1) + tf.constant(1.), tf.errors.InvalidArgumentError,
     "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 "
     "tensor but is a float tensor [Op:AddV2]"),
    (lambda: tf.constant(1) + 1.5, tf.errors.InvalidArgumentError,
     "was expected to be a int32 tensor but is a float tensor"),
    (lambda: tf.placeholder(tf.float32), RuntimeError,
     "tf.placeholder() is not compatible with eager execution."),
    (lambda: tf.gradients(tf.constant(1.), tf.constant(1.)), RuntimeError,
     "Use tf.GradientTape instead."),
    (lambda: tf.constant(1).op, AttributeError,
     "Tensor.op is meaningless when eager execution is enabled."),
    (lambda: tf.constant(1).name, AttributeError, "Tensor.name is meaningless"),
    (lambda: tf.constant(1).eval(), NotImplementedError, "is .numpy() what"),
    (lambda: tf.constant([1, 2]).set_shape([3]), ValueError,
     "Tensor's shape (2,) is not compatible with supplied shape [3]"),
    (lambda: len(tf.constant(1)), TypeError, "Scalar tensor has no `len()`"),
    (lambda: list(tf.constant(1)), TypeError,
     "Cannot iterate over a scalar tensor."),
    (lambda: bool(tf.constant([1, 2])), ValueError, "truth value"),
    (lambda: tf.constant([1, 2, 3], shape=[2, 2]), TypeError,
     "value has 3 elements, shape is (2, 2) with 4 elements"),
    (lambda: tf.constant(1.5, tf.int32), TypeError,
     "Cannot convert 1.5 to EagerTensor of dtype int32"),
    (lambda: tf.constant([1, 2, 3])[5], tf.errors.InvalidArgumentError,
     "slice index 5 of dimension 0 out of bounds"),
    (lambda: tf.check_numerics(tf.constant(np.nan), "bad"),
     tf.errors.InvalidArgumentError, "bad : Tensor had NaN values"),
    (lambda: tf.assert_equal(tf.constant([1, 2]), [1, 3]),
     tf.errors.InvalidArgumentError, "Condition x == y did not hold.\nIndices "
     "of first 1 different values:\n[[1]]\nCorresponding x values:\n[2]"),
    (lambda: tf.Assert(tf.constant(False), [tf.constant(3)]),
     tf.errors.InvalidArgumentError, "Summarized data: 3"),
    (lambda: tf.TensorArray(tf.float32, 1).write(3, 1.),
     tf.errors.OutOfRangeError, "not resizeable and size is: 1"),
    (lambda: tf.device(lambda op: "/cpu:0"), RuntimeError,
     "tf.device does not support functions when eager execution is enabled."),
    (lambda: tf.raw_ops.VariableV2(shape=[], dtype=tf.float32), RuntimeError,
     "variable_v2 op does not support eager execution. Arg 'ref' is a ref."),
    (lambda: tf.metrics.mean([1.]), RuntimeError, "tf.metrics"),
    (lambda: tf.train.Saver(), RuntimeError, "`var_list` must specify"),
    (lambda: tf.import_graph_def(tf.GraphDef()), RuntimeError,
     "cannot be imported"),
    (lambda: tf.get_default_graph().as_graph_def(), RuntimeError, "no graph"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case):
    function, kind, message = ERRORS[case]
    with pytest.raises(kind) as caught:
        function()
    assert message in str(caught.value)


def test_what_a_tensor_is_printed_as():
    x = tf.constant([[1., 2.], [3., 4.]])
    assert str(x) == ("tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), "
                      "dtype=float32)")
    assert repr(tf.constant(1.5)).endswith(
        ", shape=(), dtype=float32, numpy=1.5>")
    assert repr(tf.constant(["a"])).endswith(
        "shape=(1,), dtype=string, numpy=array([b'a'], dtype=object)>")
    assert repr(x).startswith("<tf.Tensor: id=%d, shape=(2, 2)" % x._id)


def test_a_tensor_as_pythons_and_numpys_numbers():
    x = tf.constant([[1., 2.], [3., 4.]])
    assert len(x) == 2 and [float(r[0]) for r in x] == [1, 3]
    assert int(tf.constant(2.7)) == 2 and bool(tf.constant(True))
    assert list(range(tf.constant(3))) == [0, 1, 2]
    assert "%.1f" % tf.constant(1.25).numpy() == "1.2"
    np.testing.assert_array_equal(np.asarray(x) + 1, np.add(x, 1))
    np.testing.assert_array_equal(np.from_dlpack(x), x.numpy())
    x.numpy()[0, 0] = 9  # an array of its own
    assert float(x[0, 0]) == 1
    assert {x: 1}[x] == 1 and x == x and (x == x.numpy()) is False
    assert x.shape.as_list() == [2, 2] and x.device.endswith("CPU:0")


def test_copies_of_a_tensor():
    x = tf.constant([1., 2.])
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)),
                  x.cpu(), tf.identity(x)):
        np.testing.assert_array_equal(other.numpy(), [1, 2])
    x.note = "kept"
    assert x.note == "kept"
    with pytest.raises(RuntimeError, match="GPU:7 unknown device"):
        x.gpu(7)


def test_an_op_leaves_nothing_behind():
    x = tf.constant(np.ones(1000, np.float32))
    y = x + 1
    gone = weakref.ref(y)
    del y
    assert gone() is None
    graph = tf.get_default_graph()
    for _ in range(10):
        x = tf.nn.relu(tf.reshape(x, [10, 100]))
        x = tf.reshape(x, [1000])
    assert graph._num_nodes() == 0 and not graph.collections


def test_random_numbers_are_tensorflows():
    tf.set_random_seed(5)
    first = tf.random_uniform([2]).numpy()
    second = tf.random_uniform([2], seed=3).numpy()
    third = tf.random_uniform([2], seed=3).numpy()
    tf.set_random_seed(5)
    np.testing.assert_array_equal(first, tf.random_uniform([2]).numpy())
    np.testing.assert_array_equal(second, tf.random_uniform([2], seed=3).numpy())
    assert (second != third).all()
    tf.set_random_seed(42)
    eagerly = tf.random_normal([2], seed=1).numpy()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(42)
        in_graph = session.run(tf.random_normal([2], seed=1))
    np.testing.assert_array_equal(eagerly, in_graph)


def test_graphs_inside_of_eager_execution():
    assert tf.executing_eagerly()
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        x = tf.placeholder(tf.float32)
        with tf.Session() as session:
            assert session.run(x * 2, {x: 21.}) == 42
        with tf.init_scope():
            assert not tf.executing_eagerly()
        with pytest.raises(RuntimeError, match="Attempting to capture an "
                           "EagerTensor without building a function"):
            x + eager
        with context.eager_mode():
            assert float(tf.constant(1.) + 1) == 2
    assert tf.executing_eagerly()
    with context.graph_mode():
        assert not tf.executing_eagerly()


eager = None


@pytest.fixture(autouse=True)
def an_eager_tensor(eagerly):
    global eager
    eager = tf.constant(1.)


def test_each_thread_has_its_mode_and_scopes():
    found = []

    def other():
        found.append(tf.executing_eagerly())
        with context.eager_mode(), tf.device("/cpu:0"):
            found.append(float(eager + 1))
    with tf.name_scope("a") as scope:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        with tf.name_scope("b") as inner:
            assert (scope, inner) == ("a/", "a/b/")
    assert found == [False, 2.]


def test_queues_and_tables_belong_to_their_objects():
    first, second = (tf.FIFOQueue(3, [tf.int32]) for _ in range(2))
    first.enqueue(5)
    assert (int(first.size()), int(second.size())) == (1, 0)
    assert int(first.dequeue()) == 5
    one, two = (tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
                for _ in range(2))
    one.insert(tf.constant(["a"]), tf.constant([3], tf.int64))
    assert (int(one.size()), int(two.size())) == (1, 0)


DATASETS = [
    (lambda d: d.range(5).filter(lambda x: tf.equal(x % 2, 0)), [0, 2, 4]),
    (lambda d: d.range(3).map(lambda x: x * 2).batch(2), [[0, 2], [4]]),
    (lambda d: d.range(2).flat_map(lambda x: d.from_tensors(x).repeat(2)),
     [0, 0, 1, 1]),
    (lambda d: d.from_generator(lambda: iter([1, 2]), tf.int32), [1, 2]),
    (lambda d: d.from_tensor_slices([3, 4]).shuffle(2, seed=1).take(0), []),
]


@pytest.mark.parametrize("case", range(len(DATASETS)))
def test_datasets(case):
    make, wanted = DATASETS[case]
    dataset = make(tf.data.Dataset)
    for _ in range(2):  # each `for` begins anew
        assert [x.numpy().tolist() for x in dataset] == wanted


def test_iterators():
    iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
    assert int(iterator.get_next()) == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    assert int(next(tf.contrib.eager.Iterator(tf.data.Dataset.range(3)))) == 0
    with pytest.raises(RuntimeError, match="make_initializable_iterator is not "
                       "supported when eager"):
        tf.data.Dataset.range(3).make_initializable_iterator()
    factor = tf.Variable(3, dtype=tf.int64)
    found = tf.data.Dataset.range(3).map(lambda x: x * factor)
    assert [int(x) for x in found] == [0, 3, 6]


def test_callbacks_see_each_op():
    tfe, seen = tf.contrib.eager, []
    tfe.add_execution_callback(
        lambda op, inputs, attrs, outputs, name: seen.append(
            (op, len(inputs), len(outputs))))
    try:
        tf.split(tf.constant([1, 2]), 2)
    finally:
        tfe.clear_execution_callbacks()
    assert ("Split", 2, 2) in seen
    with tfe.errstate(inf_or_nan="raise"):
        with pytest.raises(Exception, match="Found inf in output 0 of 1 outputs "
                           "of op \"Log\""):
            tf.log(tf.constant(0.))
    assert np.isneginf(tf.log(tf.constant(0.)).numpy())


def test_names_of_devices():
    assert tf.contrib.eager.list_devices()[0].endswith("/device:CPU:0")
    with tf.device("/cpu:0"):
        assert (tf.constant(1.) + 1).device.endswith("CPU:0")
    assert len(tf.contrib.eager.list_devices()) == len(
        _headrace.eager_devices())


def test_summaries(tmp_path):
    summary = tf.contrib.summary
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.always_record_summaries():
        summary.scalar("loss", 3., step=tf.constant(7, tf.int64))
    writer.flush()
    gc.collect()
    (path,) = tmp_path.glob("events*")
    events = [e for e in tf.train.summary_iterator(str(path)) if e.summary.value]
    assert [(e.step, e.summary.value[0].tag) for e in events] == [(7, "loss")]
