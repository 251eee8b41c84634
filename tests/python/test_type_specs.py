"""tf.TypeSpec, TensorSpec, BoundedTensorSpec, SparseTensorSpec and
IndexedSlicesSpec. Expected values are those of TensorFlow 1.15.5."""
import pickle

import numpy as np
import pytest

import headrace as tf
from headrace._src.ops import type_specs

Bounded = type_specs.BoundedTensorSpec


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


SHOWN = {
    "tensor": (lambda: tf.TensorSpec((1, None), tf.int64, "x"),
               "TensorSpec(shape=(1, ?), dtype=tf.int64, name='x')"),
    "float": (lambda: tf.TensorSpec([1]),
              "TensorSpec(shape=(1,), dtype=tf.float32, name=None)"),
    "from_tensor": (lambda: tf.TensorSpec.from_tensor(tf.constant([1.]), "c"),
                    "TensorSpec(shape=(1,), dtype=tf.float32, name='c')"),
    "from_spec": (lambda: tf.TensorSpec.from_spec(
        Bounded([1], np.int32, 0, 1, "b")),
        "TensorSpec(shape=(1,), dtype=tf.int32, name='b')"),
    "common": (lambda: tf.TensorSpec([1, 2]).most_specific_compatible_type(
        tf.TensorSpec([3, 2])),
        "TensorSpec(shape=(?, 2), dtype=tf.float32, name=None)"),
    "batch": (lambda: tf.TensorSpec([2])._batch(5),
              "TensorSpec(shape=(5, 2), dtype=tf.float32, name=None)"),
    "unbatch": (lambda: tf.TensorSpec([5, 2])._unbatch(),
                "TensorSpec(shape=(2,), dtype=tf.float32, name=None)"),
    "sparse": (lambda: tf.SparseTensorSpec([1, 2], tf.int32),
               "SparseTensorSpec(TensorShape([Dimension(1), Dimension(2)]), "
               "tf.int32)"),
    "sparse_value": (lambda: type_specs.type_spec_from_value(
        tf.SparseTensor([[0]], [1], [2])),
        "SparseTensorSpec(TensorShape([Dimension(2)]), tf.int32)"),
    "slices": (lambda: tf.IndexedSlicesSpec([5, 9], indices_shape=[3]),
               "IndexedSlicesSpec(TensorShape([Dimension(5), Dimension(9)]), "
               "tf.float32, tf.int64, None, TensorShape([Dimension(3)]))"),
    "list": (lambda: type_specs.type_spec_from_value([1, 2]),
             "TensorSpec(shape=(2,), dtype=tf.int32, name=None)"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_specs_are_shown(name):
    make, text = SHOWN[name]
    spec = make()
    assert repr(spec) == text
    assert pickle.loads(pickle.dumps(spec)) == spec == make()
    assert hash(spec) == hash(make())


@pytest.mark.parametrize("spec,other,is_compatible", [
    (tf.TensorSpec([1, 2]), tf.TensorSpec([None, 2]), True),
    (tf.TensorSpec([1, 2]), tf.TensorSpec([1, 3]), False),
    (tf.TensorSpec([1], tf.int32), tf.TensorSpec([1]), False),
    (tf.TensorSpec([1]), np.zeros([1]), False),
    (tf.IndexedSlicesSpec([5]), tf.IndexedSlicesSpec([None]), True),
    (tf.SparseTensorSpec([5]), tf.TensorSpec([5]), False)])
def test_which_specs_are_compatible(spec, other, is_compatible):
    assert spec.is_compatible_with(other) is is_compatible


def test_values_are_taken_apart_and_put_together():
    sparse = tf.SparseTensor([[0, 1]], [1.], [1, 2])
    spec = tf.SparseTensorSpec([1, 2])
    assert spec.is_compatible_with(sparse)
    assert [s.shape.as_list() for s in spec._component_specs] == [
        [None, 2], [None], [2]]
    again = spec._from_tensor_list(spec._to_tensor_list(sparse))
    assert isinstance(again, tf.SparseTensor)
    arrays = [np.array([[0]]), np.array([1.]), np.array([2])]
    assert isinstance(spec._from_components(arrays), tf.SparseTensorValue)

    slices = tf.IndexedSlices(tf.constant([1.]), tf.constant([0]))
    spec = type_specs.type_spec_from_value(slices)
    assert spec._indices_dtype is tf.int32 and len(spec._component_specs) == 2
    assert spec._to_components(slices) == (slices.values, slices.indices)
    value = tf.IndexedSlicesSpec()._from_components(arrays[1:])
    assert value.dense_shape is None

    tensor, = tf.TensorSpec([1, 2])._to_tensor_list([[1, 2]])
    assert tensor.dtype is tf.float32


REFUSED = {
    "not_tensor": (lambda: tf.TensorSpec.from_tensor(np.zeros(1)),
                   "should be a tf.Tensor"),
    "no_common": (lambda: tf.TensorSpec([1]).most_specific_compatible_type(
        tf.TensorSpec([1], tf.int32)), "Types are not compatible"),
    "other_class": (lambda: tf.SparseTensorSpec().most_specific_compatible_type(
        tf.TensorSpec([1])), "No TypeSpec is compatible with both"),
    "scalar": (lambda: tf.TensorSpec([])._unbatch(), "only supported for rank"),
    "number": (lambda: tf.TensorSpec([1])._from_tensor_list([]),
               "wrong number of tensors"),
    "shape": (lambda: tf.TensorSpec([1])._from_tensor_list([tf.zeros([2])]),
              "tensor 0 .* is incompatible with TensorSpec"),
    "value": (lambda: tf.TensorSpec([1])._to_components("a"),
              "Value 'a' is not convertible to a tensor with dtype"),
    "no_bound": (lambda: Bounded([3], tf.float32, None, 1),
                 "minimum and maximum must be provided"),
    "minimum": (lambda: Bounded([3, 5], tf.uint8, (0, 0, 0), 1),
                "minimum is not compatible with shape"),
    "maximum": (lambda: Bounded([3, 5], tf.uint8, 0, (1, 1)),
                "maximum is not compatible with shape"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_specs_refuse(name):
    call, text = REFUSED[name]
    with pytest.raises(ValueError, match=text):
        call()
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_specs.type_spec_from_value(object())


def test_bounds_are_arrays_that_do_not_change():
    spec = Bounded([2], tf.int32, 0, [1, 2])
    assert spec.minimum == 0 and spec.maximum.tolist() == [1, 2]
    assert not spec.maximum.flags.writeable
    assert spec == Bounded([2], tf.int32, 0, [1, 2])
    assert spec != Bounded([2], tf.int32, 0, [1, 3])
    assert Bounded.from_spec(tf.TensorSpec([1], tf.int8)).minimum == -128
    assert repr(Bounded([1], tf.float32, 0, 1)).startswith(
        "BoundedTensorSpec(shape=(1,), dtype=tf.float32, name=None, minimum=")


class Two:
    def __init__(self, x, y, color="red"):
        self.x, self.y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
        self.color = color


class TwoSpec(tf.TypeSpec):
    def __init__(self, x, y, color="red"):
        self.x, self.y, self.color = x, y, color

    value_type = property(lambda self: Two)
    _component_specs = property(lambda self: {"x": self.x, "y": self.y})

    def _to_components(self, value):
        return {"x": value.x, "y": value.y}

    def _from_components(self, components):
        return Two(components["x"], components["y"], self.color)

    def _serialize(self):
        return self.x, self.y, self.color


type_specs.register_type_spec_from_value_converter(
    Two, lambda two: TwoSpec(type_specs.type_spec_from_value(two.x),
                             type_specs.type_spec_from_value(two.y),
                             two.color))


def test_programs_have_specs_of_their_own():
    spec = TwoSpec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([]))
    two = Two([1, 2], 3.)
    assert spec.is_compatible_with(two)
    assert not spec.is_compatible_with(Two([1., 2.], 3.))
    assert not spec.is_compatible_with(Two([1, 2], 3., "blue"))
    found = type_specs.type_spec_from_value(two)
    assert found.x.shape.as_list() == [2]
    assert found.most_specific_compatible_type(
        TwoSpec(tf.TensorSpec([5], tf.int32), tf.TensorSpec([]))) == spec
    again = spec._from_tensor_list(spec._to_tensor_list(two))
    assert isinstance(again, Two) and again.x is two.x
    with pytest.raises(NotImplementedError, match="value_type"):
        tf.TypeSpec().value_type
