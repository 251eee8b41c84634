"""tf.contrib.learn: what the features and labels of an estimator look like."""
import collections

from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import as_shape
from headrace._src.io.parsing_ops import (
    FixedLenFeature, VarLenFeature, parse_example)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor, sparse_placeholder


class TensorSignature(collections.namedtuple(
        "TensorSignature", ["dtype", "shape", "is_sparse"])):
    """The dtype and shape of a tensor. The size of its batch is not compared."""

    def __new__(cls, tensor):
        if isinstance(tensor, SparseTensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other):
        """Whether tensors of both may be the same feature."""
        if not self.dtype.is_compatible_with(other.dtype):
            return False
        if self.is_sparse or other.is_sparse:
            return self.is_sparse and other.is_sparse
        one, two = self.shape, as_shape(other.shape)
        if one.dims is None or two.dims is None:
            return True
        return one.ndims == two.ndims and all(
            a.is_compatible_with(b) for a, b in zip(one.dims[1:], two.dims[1:]))

    def get_placeholder(self):
        """A placeholder for any size of a batch."""
        if self.is_sparse:
            return sparse_placeholder(dtype=self.dtype)
        return _array.placeholder(dtype=self.dtype,
                                  shape=[None] + list(self.shape[1:]))

    def get_feature_spec(self):
        """What tf.parse_example needs."""
        dtype = {dtypes.int32: dtypes.int64,
                 dtypes.float64: dtypes.float32}.get(self.dtype, self.dtype)
        if self.is_sparse:
            return VarLenFeature(dtype=dtype)
        return FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def tensors_compatible(tensors, signatures):
    """Whether tensors, one or a dict, fit signatures."""
    if tensors is None or signatures is None:
        return tensors is None and signatures is None
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return TensorSignature(tensors).is_compatible_with(signatures)
    return all(key in tensors and TensorSignature(
        tensors[key]).is_compatible_with(signature)
        for key, signature in signatures.items())


def _each(function, values):
    if values is None:
        return None
    if isinstance(values, dict):
        return {key: function(value) for key, value in values.items()}
    return function(values)


def create_signatures(tensors):
    """The signatures of a tensor or of a dict."""
    return _each(TensorSignature, tensors)


def create_placeholders_from_signatures(signatures):
    """Placeholders of one signature or of a dict."""
    return _each(TensorSignature.get_placeholder, signatures)


def create_example_parser_from_signatures(signatures, examples_batch,
                                          single_feature_name="feature"):
    """The features of serialized tf.train.Examples, strings [batch]."""
    single = not isinstance(signatures, dict)
    wanted = {single_feature_name: signatures} if single else signatures
    features = parse_example(examples_batch, {
        key: signature.get_feature_spec()
        for key, signature in wanted.items()})
    for key, signature in wanted.items():
        if not signature.dtype.is_compatible_with(features[key].dtype):
            features[key] = _math.cast(features[key], signature.dtype)
    return features[single_feature_name] if single else features
