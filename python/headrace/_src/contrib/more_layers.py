"""tf.contrib.layers: layers of fewer programs."""
from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.contrib.layers import collections_of, finish, pair
from headrace._src.contrib.outputs import collect_named_outputs
from headrace._src.contrib.regularizers import xavier_initializer
from headrace._src.contrib.variables import model_variable
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.nn import normalization as _norm
from headrace._src.nn.embeddings import (
    embedding_lookup, safe_embedding_lookup_sparse as _safe_lookup)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.training.gradients import custom_gradient
from headrace._src.variables.initializers import Ones, Zeros
from headrace._src.variables.scopes import variable_scope


@add_arg_scope
def bias_add(inputs, activation_fn=None, initializer=Zeros,
             regularizer=None, reuse=None, variables_collections=None,
             outputs_collections=None, trainable=True, data_format="NHWC",
             scope=None):
    """activation_fn(inputs + biases), a bias for each channel: the last
    dimension, or the second with NCHW, which needs 4 dimensions."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC, got %s"
                         % data_format)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        axis = 1 if data_format == "NCHW" else -1
        if shape.ndims is None or shape[axis].value is None:
            raise ValueError("`C` dimension must be known but is None: %s"
                             % shape)
        if shape.ndims != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        biases = model_variable(
            "biases", shape=[shape[axis].value],
            dtype=inputs.dtype.base_dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
            collections=collections_of(variables_collections, "biases"))
        return finish(_nn.bias_add(inputs, biases, data_format=data_format),
                      None, None, activation_fn, outputs_collections, sc)


@add_arg_scope
def convolution2d_in_plane(
        inputs, kernel_size, stride=1, padding="SAME", activation_fn=_nn.relu,
        normalizer_fn=None, normalizer_params=None,
        weights_initializer=xavier_initializer(), weights_regularizer=None,
        biases_initializer=Zeros, biases_regularizer=None, reuse=None,
        variables_collections=None, outputs_collections=None, trainable=True,
        scope=None):
    """The same convolution, of one filter, of each channel of images [batch,
    height, width, channels]."""
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        kind, channels = inputs.dtype.base_dtype, inputs.get_shape()[3].value
        if channels is None:
            raise ValueError("conv2d_in_plane: the number of channels of the "
                             "inputs must be known, got shape %s"
                             % inputs.get_shape())
        weights = model_variable(
            "weights", shape=list(pair(kernel_size)) + [1, 1], dtype=kind,
            initializer=weights_initializer, regularizer=weights_regularizer,
            collections=collections_of(variables_collections, "weights"),
            trainable=trainable)
        outputs = _conv.depthwise_conv2d(
            inputs, _array.tile(weights, [1, 1, channels, 1]),
            [1, *pair(stride), 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            outputs = _nn.bias_add(outputs, model_variable(
                "biases", shape=[channels], dtype=kind,
                initializer=biases_initializer,
                regularizer=biases_regularizer,
                collections=collections_of(variables_collections, "biases"),
                trainable=trainable))
        return finish(outputs, normalizer_fn, normalizer_params,
                      activation_fn, outputs_collections, sc)


def _scale_and_shift(size, shape, kind, center, scale, param_initializers,
                     collections, trainable):
    """The variables beta and gamma, as tensors of a shape, or None."""
    initializers = dict(param_initializers or {})

    def parameter(name, wanted, default):
        return _array.reshape(model_variable(
            name, shape=[size], dtype=kind,
            initializer=initializers.get(name, default()),
            collections=collections_of(collections, name),
            trainable=trainable), shape) if wanted else None
    return (parameter("beta", center, Zeros), parameter("gamma", scale, Ones))


@add_arg_scope
def instance_norm(inputs, center=True, scale=True, epsilon=1e-6,
                  activation_fn=None, param_initializers=None, reuse=None,
                  variables_collections=None, outputs_collections=None,
                  trainable=True, data_format="NHWC", scope=None):
    """Each channel of each example normalised over all places; with variables
    beta and gamma. ValueError for inputs of unknown rank or channels."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        static = inputs.get_shape()
        if static.ndims is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        axis = 1 if data_format == "NCHW" else static.ndims - 1
        size = static[axis].value
        if size is None:
            raise ValueError("Inputs %s has undefined channels dimension %s."
                             % (inputs.name, static))
        shape = [1] * static.ndims
        shape[axis] = size
        beta, gamma = _scale_and_shift(
            size, shape, inputs.dtype.base_dtype, center, scale,
            param_initializers, variables_collections, trainable)
        mean, variance = _norm.moments(
            inputs, [i for i in range(1, static.ndims) if i != axis],
            keep_dims=True)
        outputs = _norm.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(static)
        return finish(outputs, None, None, activation_fn, outputs_collections,
                      sc)


@add_arg_scope
def group_norm(inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2),
               center=True, scale=True, epsilon=1e-6, activation_fn=None,
               param_initializers=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, scope=None,
               mean_close_to_zero=False):
    """Each example normalised over reduction_axes and each group of its
    channels; with variables beta and gamma. ValueError for channels that
    `groups` does not divide, and for axes out of range.
    `mean_close_to_zero` changes nothing: the moments are exact."""
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        static = inputs.get_shape()
        rank = static.ndims
        if rank is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        axis = channels_axis + (rank if channels_axis < 0 else 0)
        reduced = [a + (rank if a < 0 else 0) for a in reduction_axes]
        for a in reduced + [axis]:
            if not 0 <= a < rank:
                raise ValueError("Axis is out of bounds.")
        if axis in reduced:
            raise ValueError("reduction_axes overlaps channels_axis")
        size = static[axis].value
        if size is None:
            raise ValueError("Inputs %s has undefined channel dimension: %d."
                             % (inputs.name, axis))
        if groups > size:
            raise ValueError("Invalid groups %d for %d channels."
                             % (groups, size))
        if size % groups:
            raise ValueError("%d channels is not commensurate with %d groups."
                             % (size, groups))
        sizes = _array.shape(inputs)
        apart = _array.reshape(inputs, _array.concat(
            [sizes[:axis], [groups, size // groups], sizes[axis + 1:]], 0))
        shape = [1] * (rank + 1)
        shape[axis], shape[axis + 1] = groups, size // groups
        mean, variance = _norm.moments(
            apart, [a + (a > axis) for a in reduced] + [axis + 1],
            keep_dims=True)
        beta, gamma = _scale_and_shift(
            size, shape, inputs.dtype.base_dtype, center, scale,
            param_initializers, variables_collections, trainable)
        outputs = _array.reshape(_norm.batch_normalization(
            apart, mean, variance, beta, gamma, epsilon), sizes)
        outputs.set_shape(static)
        return finish(outputs, None, None, activation_fn, outputs_collections,
                      sc)


@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The largest of each num_units-th part of an axis. ValueError if num_units
    does not divide its size."""
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        size = shape[axis]
        if size is None or size % num_units:
            raise ValueError("number of features(%s) is not a multiple of "
                             "num_units(%d)" % (size, num_units))
        at = axis + (len(shape) if axis < 0 else 0)
        sizes = _array.shape(inputs)
        outputs = _math.reduce_max(_array.reshape(inputs, _array.concat(
            [sizes[:at], [num_units, size // num_units], sizes[at + 1:]], 0)),
            at + 1)
        shape[axis] = num_units
        outputs.set_shape(shape)
        return outputs


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """nn.embedding_lookup that looks up each id once; ids of any shape."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        unique, places = _special.unique(_array.reshape(ids, [-1]))
        rows = embedding_lookup(params, unique, partition_strategy)
        found = _array.gather(rows, places)
        outputs = _array.reshape(found, _array.concat(
            [_array.shape(ids), _array.shape(rows)[1:]], 0))
        outputs.set_shape(ids.get_shape().concatenate(rows.get_shape()[1:]))
        return outputs


def _embeddings(size, width, initializer, regularizer, trainable):
    return model_variable("embeddings", shape=[size, width],
                          initializer=initializer, regularizer=regularizer,
                          trainable=trainable)


def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False,
                   initializer=None, regularizer=None, trainable=True,
                   scope=None, reuse=None):
    """Rows of the variable `embeddings` [vocab_size, embed_dim] for integers
    of any shape. ValueError without the sizes, unless the variable is
    reused."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when "
                         "not reusing. Got vocab_size=%s and embed_dim=%s"
                         % (vocab_size, embed_dim))
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and not (vocab_size and embed_dim):
            shape = None
        embeddings = model_variable(
            "embeddings", shape=shape, initializer=initializer,
            regularizer=regularizer, trainable=trainable)
        return (embedding_lookup_unique if unique else embedding_lookup)(
            embeddings, ids)


def bow_encoder(ids, vocab_size, embed_dim, sparse_lookup=True,
                initializer=None, regularizer=None, trainable=True, scope=None,
                reuse=None):
    """The mean [batch, embed_dim] of the embeddings of integers [batch, n], or
    of a SparseTensor of them; with sparse_lookup those that are 0 do not
    count. TypeError for a SparseTensor without sparse_lookup."""
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = _embeddings(vocab_size, embed_dim, initializer,
                                 regularizer, trainable)
        if sparse_lookup:
            sparse = (ids if isinstance(ids, SparseTensor)
                      else dense_to_sparse(ids))
            return _safe_lookup([embeddings], sparse, None, "mean",
                                default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError("ids are expected to be dense Tensor, got: %s"
                            % ids)
        return _math.reduce_mean(embedding_lookup(embeddings, ids), axis=1)


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """A SparseTensor of the elements that are not eos_token."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        at = _array.where(_math.not_equal(
            tensor, _array.fill(_array.shape(tensor), _math.cast(
                eos_token, tensor.dtype.base_dtype))))
        return collect_named_outputs(outputs_collections, sc.name, SparseTensor(
            at, _array.gather_nd(tensor, at),
            _array.shape(tensor, out_type=at.dtype.base_dtype)))


def safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights=None, combiner=None,
        default_id=None, name=None, partition_strategy="div", max_norm=None):
    """tf.nn.safe_embedding_lookup_sparse; the combiner is by default "mean"."""
    return _safe_lookup(embedding_weights, sparse_ids, sparse_weights,
                        combiner or "mean", default_id=default_id, name=name,
                        partition_strategy=partition_strategy,
                        max_norm=max_norm)


conv2d_in_plane = convolution2d_in_plane


@custom_gradient
def scale_gradient(inputs, gradient_multiplier):
    """`inputs`, with a gradient that is multiplied by gradient_multiplier, a
    tensor that broadcasts to its shape and gets no gradient."""
    return _array.identity(inputs), lambda grad: (
        grad * gradient_multiplier, None)
