"""What packages of TensorFlow 1.15's age use beside tf.compat.v2: modules of
tensorflow.python, and layers whose outputs are no tensors."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import composite, graphs, operator_sums
from headrace._src.compat import operator_utils as utils
from headrace._src.ops import type_specs

L = tf.linalg


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def operators():
    return {
        "I": L.LinearOperatorIdentity(2, name="i"),
        "S": L.LinearOperatorScaledIdentity(2, 3., name="s"),
        "D": L.LinearOperatorDiag([1., 2.], name="d"),
        "T": L.LinearOperatorLowerTriangular([[1., 0.], [2., 3.]], name="t"),
        "F": L.LinearOperatorFullMatrix([[1., 2.], [3., 4.]], name="f"),
        "B": L.LinearOperatorBlockDiag([L.LinearOperatorDiag([5., 6.])])}


@pytest.mark.parametrize("kinds, types", [
    # As TensorFlow 1.15.5 adds them.
    ("I", ["LinearOperatorIdentity"]), ("II", ["LinearOperatorScaledIdentity"]),
    ("IS", ["LinearOperatorScaledIdentity"]), ("ID", ["LinearOperatorDiag"]),
    ("SDD", ["LinearOperatorDiag"]), ("IT", ["LinearOperatorLowerTriangular"]),
    ("TF", ["LinearOperatorFullMatrix"]), ("ISDTF", ["LinearOperatorFullMatrix"]),
    # TensorFlow raises TypeError for other kinds.
    ("DBD", ["LinearOperatorFullMatrix"])])
def test_sums_of_linear_operators(kinds, types):
    given = [operators()[k] for k in kinds]
    found = operator_sums.add_operators(given)
    assert [type(op).__name__ for op in found] == types
    whole, parts = run([[op.to_dense() for op in found],
                        [op.to_dense() for op in given]])
    assert np.allclose(sum(whole), sum(parts))


def test_what_is_known_of_sums():
    found, = operator_sums.add_operators([
        L.LinearOperatorIdentity(2), L.LinearOperatorDiag(
            [1., 2.], is_positive_definite=True)], operator_name="sum")
    assert found.name == "sum" and found.is_positive_definite
    assert found.is_non_singular and found.is_self_adjoint


def test_sums_by_chosen_adders():
    ops = operators()
    tiers = [[operator_sums.AddAndReturnScaledIdentity()],
             [operator_sums.AddAndReturnTriL()]]
    found = operator_sums.add_operators(
        [ops["I"], ops["S"], ops["T"], ops["F"]], addition_tiers=tiers)
    assert sorted(type(op).__name__ for op in found) == [
        "LinearOperatorFullMatrix", "LinearOperatorLowerTriangular"]
    adder = operator_sums.AddAndReturnDiag()
    assert adder.can_add(ops["I"], ops["D"])
    assert not adder.can_add(ops["I"], ops["T"])
    made = adder.add(ops["I"], ops["D"], None, operator_sums.Hints(
        is_positive_definite=True, is_non_singular=True))
    assert made.is_positive_definite and made.name == "Add/%s__%s/" % (
        ops["I"].name, ops["D"].name)


@pytest.mark.parametrize("make, error, text", [
    (lambda: operator_sums.add_operators([]), ValueError, "at least one"),
    (lambda: operator_sums.add_operators([
        L.LinearOperatorIdentity(2), L.LinearOperatorIdentity(3)]), ValueError,
     "same domain dimension"),
    (lambda: operator_sums.add_operators(L.LinearOperatorIdentity(2)), TypeError,
     "to be iterable"),
    (lambda: operator_sums.add_operators([L.LinearOperatorIdentity(2), 1]),
     TypeError, "only LinearOperator instances"),
    (lambda: utils.broadcast_matrix_batch_dims(tf.ones([2, 2])), TypeError,
     "must be an iterable"),
    (lambda: utils.convert_nonref_to_tensor(tf.Variable(1.), tf.int32), TypeError,
     "Mutable type must be of dtype"),
])
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_matrices_of_broadcast_batches():
    lower = np.array([[2., 0.], [1., 4.]], np.float32)
    rhs = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    found = run([
        utils.matrix_triangular_solve_with_broadcast(lower, rhs),
        utils.matrix_solve_with_broadcast(lower, rhs, adjoint=True),
        utils.cholesky_solve_with_broadcast(lower, rhs)])
    inverse = np.linalg.inv(lower)
    for value, matrix in zip(found, (inverse, inverse.T, inverse.T @ inverse)):
        assert np.allclose(value, matrix @ rhs, atol=1e-5)
    one, three = utils.broadcast_matrix_batch_dims([lower, rhs])
    assert one.shape == [3, 2, 2] and three.shape == [3, 2, 2]


def test_checks_of_matrices():
    for check, good, bad in (
            (utils.assert_no_entries_with_modulus_zero, [1. + 1j], [1., 0.]),
            (utils.assert_zero_imag_part, [1., 0.], [1. + 1j])):
        run(check(tf.constant(good)))
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(check(tf.constant(bad)))


def test_references_stay():
    v = tf.Variable(1.)
    assert utils.is_ref(v) and not utils.is_ref(tf.constant(1.))
    assert utils.convert_nonref_to_tensor(v) is v
    assert utils.convert_nonref_to_tensor(None) is None
    assert utils.convert_nonref_to_tensor(3, dtype_hint="float32").dtype == tf.float32
    assert utils.shape_tensor([2, 3]).dtype == tf.int32


@pytest.mark.parametrize("make, value", [
    (lambda: tf.constant(1) + 2, 3), (lambda: tf.reduce_prod([2, 3]) > 5, True),
    (lambda: tf.shape(tf.ones([2, 3]))[0] * 2, 4),
    (lambda: tf.placeholder(tf.int32) + 1, None),
    (lambda: tf.random_normal([]) > 0., None),
    (lambda: tf.Variable(1.) + 1., None),
    (lambda: tf.placeholder_with_default(1, []) + 1, None)])
def test_constants_that_are_evaluated(make, value):
    tensor = make()
    found = graphs.try_evaluate_constant(tensor.graph._c_graph,
                                         tensor._as_tf_output())
    assert found == value


def test_a_constant_that_waits_for_a_check():
    with tf.control_dependencies([tf.assert_positive(tf.placeholder(tf.int32))]):
        tensor = tf.add(tf.constant(1), 2)
    assert graphs.try_evaluate_constant(tensor.graph, tensor) == 3


class Pair(composite.CompositeTensor):
    def __init__(self, first, second):
        self.first, self.second = first, second

    @property
    def _type_spec(self):
        return PairSpec()


class PairSpec(type_specs.TypeSpec):
    value_type = Pair
    _component_specs = (type_specs.TensorSpec([], tf.float32),) * 2

    def _serialize(self):
        return ()

    def _to_components(self, value):
        return value.first, value.second

    def _from_components(self, components):
        return Pair(*components)


def test_composite_tensors():
    pair = Pair(tf.constant(1.), tf.constant(2.))
    assert tf.nest.flatten(pair) == [pair]
    flat = tf.nest.flatten(pair, expand_composites=True)
    assert flat == [pair.first, pair.second]
    packed = tf.nest.pack_sequence_as(pair, flat[::-1], expand_composites=True)
    assert packed.first is pair.second
    assert run(pair) == [1, 2]
    doubled = pair.first * 2
    assert pair.consumers() == [doubled.op]
    assert not isinstance(tf.constant(1.), composite.CompositeTensor)
    with pytest.raises(TypeError, match="abstract"):
        composite.CompositeTensor()


class Halves:
    """What converts to a tensor, as distributions do."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.get_shape = tensor.get_shape


tf.register_tensor_conversion_function(
    Halves, lambda x, dtype=None, name=None, as_ref=False: x.tensor)


def test_a_model_whose_output_converts_to_a_tensor():
    class Layer(tf.keras.layers.Layer):
        def call(self, inputs):
            return Halves(inputs * .5)
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,)),
        Layer()])
    model.compile("sgd", lambda y, halves: tf.square(y - halves.tensor))
    x, y = np.ones([4, 2], np.float32), np.zeros([4, 1], np.float32)
    assert model.predict(x).tolist() == [[1.]] * 4
    first, second = model.fit(x, y, epochs=2, verbose=0).history["loss"]
    assert first == 1 and second < 1


def test_a_property_may_be_set_to_what_it_has():
    class Fixed(tf.Module):
        shape = property(lambda self: tf.TensorShape([None, 2]))
        number = property(lambda self: 3)
    fixed = Fixed()
    fixed.shape = tf.TensorShape([None, 2])
    fixed.other = 1
    with pytest.raises(AttributeError):
        fixed.shape = tf.TensorShape([2])
    with pytest.raises(AttributeError):
        fixed.number = 4


def test_operators_of_tensors_are_a_set():
    assert "__add__" in tf.Tensor.OVERLOADABLE_OPERATORS
    assert isinstance(tf.Tensor.OVERLOADABLE_OPERATORS, set)
    with pytest.raises(TypeError):
        tf.Tensor.__nonzero__(tf.constant(True))


def test_an_operator_tells_its_sizes_as_constants():
    operator = L.LinearOperatorLowerTriangular(np.ones([3, 2, 2], np.float32))
    assert tf.get_static_value(operator.batch_shape_tensor()).tolist() == [3]
    assert tf.get_static_value(operator.range_dimension_tensor()) == 2
    assert tf.get_static_value(operator.domain_dimension_tensor()) == 2


def test_a_batch_normalization_that_is_not_trainable_does_not_train():
    # As TensorFlow 1.15 gives; of 1.x it takes the batch's moments.
    x = np.array([[1., 2.], [3., 6.], [5., 4.]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        training = tf.placeholder(tf.bool, [])
        old = tf.keras.layers.BatchNormalization(trainable=False)
        new = tf.compat.v2.keras.layers.BatchNormalization(trainable=False)
        results = [old(tf.constant(x), training=True),
                   new(tf.constant(x), training=True),
                   new(tf.constant(x), training=training)]
        session.run(tf.global_variables_initializer())
        of_batch, *frozen = session.run(results, {training: True})
    np.testing.assert_allclose(of_batch[0], [-1.224515, -1.224515], rtol=1e-5)
    for got in frozen:
        np.testing.assert_allclose(got, x * .9995003, rtol=1e-5)
