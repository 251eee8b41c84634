"""Values of a program that consist of tensors: CompositeTensor, and what joins
sparse and ragged values."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import composite
from headrace._src.framework import nest
from headrace._src.ops.type_specs import TensorSpec, TypeSpec


class Pair(composite.CompositeTensor):
    """Parts of any number, with a remark."""

    def __init__(self, *parts, remark=None):
        self.parts, self.remark = parts, remark

    @property
    def _type_spec(self):
        return PairSpec(len(self.parts), self.remark)


class PairSpec(TypeSpec):
    value_type = property(lambda self: Pair)
    _component_specs = property(
        lambda self: [TensorSpec(None, tf.float32)] * self.count)

    def __init__(self, count, remark):
        self.count, self.remark = count, remark

    def _to_components(self, value):
        return value.parts

    def _from_components(self, components):
        return Pair(*components, remark=self.remark)

    def _serialize(self):
        return self.count, self.remark


def test_parts_are_leaves_where_they_are_asked_for():
    value = [Pair("a", "b"), {"x": Pair("c")}]
    flat = nest.flatten(value, expand_composites=True)
    assert flat == ["a", "b", "c"] and len(nest.flatten(value)) == 2
    made = nest.pack_sequence_as(value, [1, 2, 3], expand_composites=True)
    assert made[0].parts == (1, 2) and made[1]["x"].parts == (3,)
    assert composite.replace_composites_with_components([Pair(1, 2), 3]) == [
        (1, 2), 3]


@pytest.mark.parametrize("other", [Pair(1), Pair(1, 2, remark="other")])
def test_composites_of_other_kinds_differ(other):
    nest.assert_same_structure(Pair(1, 2), Pair(3, 4), expand_composites=True)
    nest.assert_same_structure(Pair(1, 2), other)
    with pytest.raises(ValueError, match="same nested structure"):
        nest.assert_same_structure(Pair(1, 2), other, expand_composites=True)


def test_what_a_composite_knows_of_its_parts():
    x = tf.constant(1.)
    y = x + 1
    value = Pair(x, y)
    assert value._is_graph_tensor and not Pair(1)._is_graph_tensor
    assert value._consumers() == [y.op]
    assert value._component_metadata() == value._type_spec
    assert value._from_components([1, 2], value._type_spec).parts == (1, 2)
    with pytest.raises(NotImplementedError, match="Pair"):
        value._shape_invariant_to_type_spec(None)
    sparse = tf.SparseTensor([[0]], [1], [2])
    kinds = [value, sparse, tf.RaggedTensor.from_row_lengths([1], [1]),
             tf.SparseTensorValue(1, 2, 3), x, 3]
    assert [composite.is_composite_or_composite_value(v) for v in kinds] == [
        True, True, True, True, False, False]
    assert composite.get_shape(tf.SparseTensorValue(1, 2, 3)) == 3


def sparse_value(indices, shape):
    return tf.SparseTensorValue(np.array(indices), np.ones(len(indices)),
                                shape)


def test_batches_are_appended():
    with tf.Session() as session:
        joined = session.run(composite.append_composite_tensor(
            tf.SparseTensor([[0, 1]], [1.], [1, 2]),
            tf.SparseTensor([[0, 0]], [2.], [1, 2])))
        assert joined.indices.tolist() == [[0, 1], [1, 0]]
        ragged = session.run(composite.append_composite_tensor(
            tf.ragged.constant([[1, 2]]), tf.ragged.constant([[3]])))
        assert ragged.to_list() == [[1, 2], [3]]
    joined = composite.append_composite_tensor(
        sparse_value([[0, 1]], (1, 2)), sparse_value([[0, 0], [1, 1]], (2, 2)))
    assert joined.indices.tolist() == [[0, 1], [1, 0], [2, 1]]
    assert joined.dense_shape == (3, 2)
    deep = tf.ragged.constant_value([[[1], [2, 3]]])
    assert composite.append_composite_tensor(deep, deep).to_list() == [
        [[1], [2, 3]]] * 2


@pytest.mark.parametrize("a,b,text", [
    (sparse_value([[0, 1]], (1, 2)), 3, "Unable to concatenate <class"),
    (Pair(1), Pair(1), "unsupported object"),
    (sparse_value([[0, 1]], (1, 2)), sparse_value([[0, 1]], (1, 3)),
     "inner dense shapes do not match"),
    (tf.ragged.constant_value([[1]]), tf.ragged.constant_value([[[1]]]),
     "Unable to concatenate")])
def test_batches_that_do_not_fit(a, b, text):
    with pytest.raises(RuntimeError, match=text):
        composite.append_composite_tensor(a, b)
