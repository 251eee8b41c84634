"""tensorflow.python.data.util.structure and sparse: elements of data sets as flat
lists of tensors."""
import collections

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import element_structures as structures

Pair = collections.namedtuple("Pair", "a b")


def sparse():
    return tf.SparseTensor([[3, 4]], [-1], [4, 5])


# What an element is, and the types and shapes of its tensors.
ELEMENTS = {
    "tensor": (lambda: tf.constant([37.]), ["float32"], ["(1,)"]),
    "array": (lambda: np.arange(3), ["int64"], ["(3,)"]),
    "list": (lambda: [1., 2.], ["float32"], ["(2,)"]),
    "sparse": (sparse, ["variant"], ["<unknown>"]),
    "value": (lambda: tf.SparseTensorValue([[0]], [1], [2]), ["variant"],
              ["<unknown>"]),
    "ragged": (lambda: tf.ragged.constant([[1, 2], []]), ["variant"],
               ["<unknown>"]),
    "pair": (lambda: Pair(tf.constant(1), tf.constant([2.])),
             ["int32", "float32"], ["()", "(1,)"]),
    "nested": (lambda: {"a": tf.constant(1.), "b": (sparse(), {"x": "a"})},
               ["float32", "variant", "string"], ["()", "<unknown>", "()"]),
    "dataset": (lambda: tf.data.Dataset.range(3), ["variant"], ["()"]),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_as_lists_of_tensors(name):
    make, types, shapes = ELEMENTS[name]
    with tf.Graph().as_default():
        spec = structures.type_spec_from_value(make())
        assert [t.name for t in structures.get_flat_tensor_types(spec)] == types
        assert list(map(
            str, structures.get_flat_tensor_shapes(spec))) == shapes
        tensors = structures.to_tensor_list(
            spec, structures.normalize_element(make()))
        assert [t.dtype.name for t in tensors] == types
        again = structures.from_tensor_list(spec, tensors)
        assert structures.are_compatible(
            spec, structures.type_spec_from_value(again))
        with pytest.raises(ValueError, match="Expected %d tensors but got 7"
                           % len(types)):
            structures.from_tensor_list(spec, tensors[:1] * 7)
        others = [structures.type_spec_from_value(ELEMENTS[n][0]())
                  for n in ("tensor", "sparse", "pair", "nested", "dataset")
                  if n != name and not {n, name} == {"sparse", "value"}]
        assert not any(structures.are_compatible(spec, o) for o in others)


def test_a_sparse_tensor_comes_back():
    with tf.Graph().as_default(), tf.Session() as session:
        spec = structures.type_spec_from_value(sparse())
        again = structures.from_tensor_list(
            spec, structures.to_tensor_list(spec, sparse()))
        assert again.shape.ndims == 2
        value = session.run(again)
        assert value.indices.tolist() == [[3, 4]] and value.values == [-1]
        rows = structures.to_batched_tensor_list(spec, sparse())
        assert session.run(tf.shape(rows[0])).tolist() == [4, 3]
        types, shapes, classes = (
            (tf.int32, {"a": tf.int32}),
            (tf.TensorShape([]), {"a": tf.TensorShape([4, 5])}),
            structures.get_classes((tf.constant(1), {"a": sparse()})))
        assert structures.any_sparse(classes)
        assert structures.as_dense_types(types, classes)[1]["a"] == tf.variant
        assert structures.as_dense_shapes(
            shapes, classes)[1]["a"].ndims is None
        packed = structures.serialize_sparse_tensors(
            (tf.constant(1), {"a": sparse()}))
        assert packed[1]["a"].dtype == tf.variant
        found = structures.deserialize_sparse_tensors(packed, types, shapes,
                                                      classes)
        assert session.run(found[1]["a"]).indices.tolist() == [[3, 4]]
        assert structures.convert_legacy_structure(types, shapes, classes) == (
            tf.TensorSpec([], tf.int32),
            {"a": tf.SparseTensorSpec([4, 5], tf.int32)})


@pytest.mark.parametrize("make, error, message", [
    (lambda: structures.type_spec_from_value([1.], use_fallback=False),
     TypeError, "Could not build"),
    (lambda: structures.type_spec_from_value(object()), TypeError,
     "Could not build"),
    (lambda: structures.convert_legacy_structure(
        tf.int32, tf.TensorShape([]), int), TypeError,
     "output class"),
    (lambda: structures.to_batched_tensor_list(
        tf.TensorSpec([]), tf.constant(1.)), ValueError, "insufficient rank"),
    (lambda: structures.to_tensor_list(
        tf.TensorSpec([]), sparse()), ValueError, "not convertible")])
def test_refusals(make, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()
