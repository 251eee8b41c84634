"""tensorflow.python.keras.utils.tf_utils: what values, shapes and graphs tell."""
import pytest

import headrace as tf
from headrace import _names

utils = _names.load("compat.keras_utils")
TensorShape = tf.TensorShape


def test_constant_value():
    found = [utils.constant_value(x) for x in (
        1, 0, True, tf.constant(True), tf.placeholder(tf.bool),
        tf.Variable(True))]
    assert found == [True, False, True, True, None, None]
    for wrong in 2, 3., "a", None:
        with pytest.raises(TypeError, match="`pred` must be a Tensor"):
            utils.constant_value(wrong)


def test_smart_cond():
    both = (lambda: tf.constant(1)), (lambda: tf.constant(2))
    assert utils.smart_cond(True, *both).op.type == "Const"
    for functions, name in (((None, both[1]), "true_fn"),
                            ((both[0], 3), "false_fn")):
        with pytest.raises(TypeError, match="`%s` must be callable" % name):
            utils.smart_cond(True, *functions)
    v = tf.Variable(False)
    chosen = utils.smart_cond(v, *both)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(chosen) == 2


@pytest.mark.parametrize("shape, as_tuple, as_shape", [
    (TensorShape([1, None]), (1, None), TensorShape([1, None])),
    ([1, 2], (1, 2), TensorShape([1, 2])),
    (5, (5,), TensorShape([5])),
    ((), (), TensorShape([])),
    ([(1, 2), [3, None]], [(1, 2), (3, None)],
     [TensorShape([1, 2]), TensorShape([3, None])]),
    ({"a": (1, 2)}, {"a": (1, 2)}, {"a": TensorShape([1, 2])})])
def test_convert_shapes(shape, as_tuple, as_shape):
    assert utils.convert_shapes(shape) == as_tuple
    found = utils.convert_shapes(shape, to_tuples=False)
    assert str(found) == str(as_shape)


def test_convert_shapes_of_unknown_rank():
    assert utils.convert_shapes(None, to_tuples=False).ndims is None
    with pytest.raises(ValueError, match="unknown TensorShape"):
        utils.convert_shapes(None)
    with pytest.raises(ValueError, match="structure of shapes"):
        utils.convert_shapes("a")


def test_shape_type_conversion():
    class Layer:
        @utils.shape_type_conversion
        def compute_output_shape(self, shape):
            assert isinstance(shape, tuple)
            return shape[:1] + (7,)

    found = Layer().compute_output_shape(TensorShape([None, 3]))
    assert isinstance(found, TensorShape) and found.as_list() == [None, 7]


def test_get_reachable_from_inputs():
    x = tf.placeholder(tf.float32)
    y, v = x + 1, tf.Variable(1.)
    with tf.control_dependencies([y]):
        after = tf.no_op()
    found = utils.get_reachable_from_inputs([x])
    assert {x, y, y.op, after} <= found and v.op not in found
    read = v * 2
    assert read in utils.get_reachable_from_inputs([v])
    assert y in utils.get_reachable_from_inputs([x], targets=[y])
    with pytest.raises(TypeError, match="Expected Operation"):
        utils.get_reachable_from_inputs(["x"])


def test_kinds_of_tensors():
    x, v = tf.constant(1), tf.Variable(1.)
    sparse = tf.SparseTensor([[0]], [1], [1])
    assert utils.are_all_symbolic_tensors([x, v, sparse])
    assert not utils.is_symbolic_tensor(1)
    assert utils.is_tensor_or_variable(v) and not utils.is_tensor_or_variable(1)
    assert utils.is_tensor_or_tensor_list([x, 1])
    assert not utils.is_tensor_or_tensor_list([])
