"""What functions refuse when the graph is made, with the words of TensorFlow
1.15.5, and where it names nodes."""
import re

import pytest

import headrace as tf


def _queue(**kwargs):
    return tf.FIFOQueue(10, [tf.float32, tf.int32], **kwargs)


REFUSED = [
    (lambda: tf.constant([1, 2, 3])[tf.constant([1])], TypeError,
     "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and "
     "scalar tf.int32/tf.int64 tensors are valid indices"),
    (lambda: tf.constant([[1]])[..., ...], ValueError,
     "Multiple ellipses in slice spec not allowed"),
    (lambda: tf.reverse_sequence([[1]], [1], seq_axis=1, seq_dim=1), ValueError,
     "Cannot specify both 'seq_dim' and 'seq_axis'"),
    (lambda: tf.gather_nd([[1]], [[0]], batch_dims=-1), ValueError,
     "tf.gather_nd does not allow negative batch_dims."),
    (lambda: tf.gather_nd([1], [[0]], batch_dims=1), ValueError,
     "batch_dims = 1 must be less than rank(params) = 1"),
    (lambda: tf.repeat([[1]], 2, axis=3), ValueError,
     "axis=3 out of bounds: expected -2<=axis<2"),
    (lambda: tf.matmul([[1]], [[1]], transpose_b=True, adjoint_b=True),
     ValueError, "Only one of transpose_b and adjoint_b can be True."),
    (lambda: tf.complex([1.], tf.constant([1.], tf.float64)), TypeError,
     "real and imag have incorrect types: float32 float64"),
    (lambda: tf.complex([1], [1]), TypeError,
     "real and imag have incorrect types: int32 int32"),
    (lambda: tf.sets.set_size([1]), TypeError, "Expected `SparseTensor`, got "),
    (lambda: tf.is_strictly_increasing(["a"]), TypeError,
     "Expected x to be numeric, instead found: "),
    (lambda: tf.parse_example([""], {"a": 5}), ValueError,
     "Invalid feature a:5."),
    (lambda: tf.parse_example([""], {"a": tf.FixedLenFeature(None, tf.int64)}),
     ValueError, "Missing shape for feature a."),
    (lambda: tf.parse_example([""], {"a": tf.FixedLenFeature([], None)}),
     ValueError, "Missing type for feature a."),
    (lambda: tf.parse_example(
        [""], {"a": tf.SparseFeature("i", None, tf.float32, 1)}), ValueError,
     "Missing value_key for SparseFeature "),
    (lambda: tf.contrib.lookup.index_table_from_tensor([]), ValueError,
     "Expected <dtype: 'string'>, got <dtype: 'float32'>."),
    (lambda: _queue(names=["a"]), ValueError,
     "List of names must have the same length as the list of dtypes"),
    (lambda: _queue(shapes=[[2], []]).enqueue(([1.], 1)), ValueError,
     "Shapes (1,) and (2,) are incompatible"),
    (lambda: tf.QueueBase.from_list(0, [_queue(), 5]), TypeError,
     "A list of queues expected"),
    (lambda: tf.nn.bias_add([[1.]], [1.], data_format="foo"), ValueError,
     "data_format must be of the form `N...C` or `NC...`"),
    (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[1, 2], logits=[[1., 2.]]), ValueError,
     "Shape mismatch: The shape of labels (received (2,)) should equal the "
     "shape of logits except for the last dimension (received (1, 2))."),
    (lambda: tf.nn.weighted_cross_entropy_with_logits([1.], [1., 2.], 2.),
     ValueError, "logits and labels must have the same shape ((2,) vs (1,))"),
    (lambda: tf.nn.dropout([1.], keep_prob=tf.constant([.5])), ValueError,
     "Shape (1,) must have rank 0"),
    (lambda: tf.nn.dropout([1.], keep_prob=.5, rate=.3), ValueError,
     "Cannot specify both 'keep_prob' and 'rate'"),
    (lambda: tf.nn.convolution(
        tf.zeros([1, 5, 5, 1]), tf.zeros([2, 2, 1, 1]), "VALID", [2, 2], [2, 2]),
     ValueError, "strides > 1 not supported in conjunction with dilation_rate "
     "> 1"),
    (lambda: tf.group(5), TypeError, "Expected tf.group() expected Tensor "
     "arguments not '5' with type '<class 'int'>'"),
    (lambda: tf.case(5), TypeError, "fns must be a list, tuple, or dict"),
    (lambda: tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i, x), [0, 0],
        shape_invariants=[tf.TensorShape([])]), ValueError,
     "The two structures don't have the same nested structure"),
]


@pytest.mark.parametrize("build, error, message", REFUSED)
def test_refused(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=re.escape(message)):
        build()


def test_a_custom_gradient_refuses_variables_that_are_references():
    @tf.custom_gradient
    def double(x):
        v = tf.get_variable("v", initializer=2.)
        return x * v, lambda dy, variables=None: (dy, [dy])
    with tf.Graph().as_default(), pytest.raises(
            TypeError, match="must be `ResourceVariable`s"):
        double(tf.constant(1.))


@pytest.mark.parametrize("build, name", [
    (lambda: tf.real([1.]), "Real/input:0"),
    (lambda: tf.imag([1.]), "Imag/zeros_like:0"),
    (lambda: tf.conj(1), "Conj/x:0"),
    (lambda: _queue().is_closed(), "fifo_queue_Is_Closed:0"),
    (lambda: tf.contrib.lookup.index_table_from_tensor(["a"]).lookup(
        tf.constant(["a"])), "hash_table_Lookup/LookupTableFindV2:0"),
    (lambda: tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).lookup(
        tf.constant(["a"])),
     "MutableHashTable_lookup_table_find/LookupTableFindV2:0"),
])
def test_names_of_nodes(build, name):
    with tf.Graph().as_default():
        assert build().name == name


def test_batch_dims_may_be_a_constant():
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.gather_nd([[1, 2], [3, 4]], [[0], [1]],
                             batch_dims=tf.constant(1))
        assert session.run(found).tolist() == [1, 4]


def test_a_reference_of_a_variable():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1, use_resource=False)
        session.run(v.initializer)
        out = tf.raw_ops.RefSwitch(data=v._ref(), pred=True)[1]
        assert session.run(out) == 1
