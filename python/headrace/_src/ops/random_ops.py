"""Random tensors, and the rule that gives them seeds.

A graph seed (set_random_seed) and an op's own seed make the pair that the op
gets: both as they are; only the op's with 87654321; only the graph's with the
number of the graph's last node; neither: (0, 0), which draws a fresh stream in
each session. Equal seeds give TensorFlow's own numbers, bit for bit.
"""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

DEFAULT_GRAPH_SEED = 87654321
_MAX = 2 ** 31 - 1


def set_random_seed(seed):
    """Sets the seed of the default graph, an int.

    Random ops of any shape and dtype that are made afterwards take it, together
    with seeds of their own or with the number of nodes before them; so a graph
    that is made again gives the same numbers. It returns None, and raises
    nothing."""
    get_default_graph().seed = seed


def get_seed(op_seed):
    """The pair of seeds for an op that is made now; (None, None) for none."""
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            op_seed = (graph.next_op_seed() if graph._eager
                       else graph._last_id)
        seeds = graph.seed, op_seed
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    seeds = tuple(int(s) % _MAX for s in seeds)
    return (0, _MAX) if seeds == (0, 0) else seeds


def _seeds(seed):
    a, b = get_seed(seed)
    return dict(seed=a or 0, seed2=b or 0)


def _shape(shape):
    if isinstance(shape, TensorShape) or (
            isinstance(shape, (list, tuple)) and not shape):
        shape = TensorShape(shape)
        if shape.is_fully_defined():
            return constant(shape.as_list(), dtypes.int32, name="shape")
    return convert_to_tensor(shape, dtype_hint=dtypes.int32, name="shape")


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32,
                   seed=None, name=None):
    """Values in [minval, maxval); maxval is 1 for floating types and must be
    given for integers.

    `shape`: int32 or int64 [rank]. Returns `dtype`: float16, bfloat16, float32,
    float64, int32 or int64. ValueError for other types, and for integers
    without maxval; InvalidArgumentError in the run unless minval < maxval for
    integers."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32,
                     dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError("Invalid dtype %r" % dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = _shape(shape)
        minval = convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
        seeds = _seeds(seed)
        if dtype.is_integer:
            return _raw.RandomUniformInt(shape, minval, maxval, name=scope,
                                         **seeds)
        values = _raw.RandomUniform(shape, dtype=dtype, **seeds)
        return _raw.Add(values * (maxval - minval), minval, name=scope)


def _normal(op, default, shape, mean, stddev, dtype, seed, name):
    with name_scope(name, default, [shape, mean, stddev]) as scope:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        values = op(shape, dtype=dtype, **_seeds(seed))
        return _raw.Add(values * stddev, mean, name=scope)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None,
                  name=None):
    """Values of a normal distribution.

    `shape`: int32 or int64 [rank]. `mean` and `stddev`: numbers or tensors that
    broadcast to it. Returns `dtype`: float16, bfloat16, float32 or float64.
    TypeError or ValueError for other types. `seed`: with set_random_seed it
    tells which numbers."""
    return _normal(_raw.RandomStandardNormal, "random_normal", shape, mean,
                   stddev, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32,
                     seed=None, name=None):
    """Values of a normal distribution within two standard deviations.

    `shape`: int32 or int64 [rank]. `mean` and `stddev`: numbers or tensors that
    broadcast to it. Returns `dtype`: float16, bfloat16, float32 or float64.
    TypeError or ValueError for other types."""
    return _normal(_raw.TruncatedNormal, "truncated_normal", shape, mean,
                   stddev, dtype, seed, name)


def random_shuffle(value, seed=None, name=None):
    """The slices along dimension 0 in random order."""
    return _raw.RandomShuffle(value, name=name, **_seeds(seed))


def random_crop(value, size, seed=None, name=None):
    """A slice of shape `size` at a random place.

    `value`: of any type, at least [n], whose type the result has; `size`:
    integers or an int32 vector [rank]. `seed`: an int. InvalidArgumentError in
    the run, or at once where the shapes are known, if the slice is larger than
    `value`."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = _array.shape(value)
        message = "Need value.shape >= size, got "
        fits = _math.reduce_all(shape >= size)
        with name_scope("Assert"):
            constant(message)  # a node that TensorFlow makes too
            check = _raw.Assert(fits, [message, shape, size], name="Assert")
        with control_dependencies([check]):
            shape = _array.identity(shape, name="control_dependency")
        limit = shape - size + 1
        offset = random_uniform(_array.shape(limit), dtype=size.dtype,
                                maxval=size.dtype.max, seed=seed) % limit
        return _raw.Slice(value, offset, size, name=scope)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None,
                 name=None):
    """Values of gamma distributions: shape + the shape of alpha and beta."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta",
                                 dtype=dtype)
        alpha = alpha + _raw.ZerosLike(beta)
        seeds = _seeds(seed)
        tiny = constant(2.0 ** -126 if dtype != dtypes.float16 else 2.0 ** -14,
                        dtype)
        return _raw.Maximum(
            tiny, _raw.RandomGamma(shape, alpha, **seeds) / beta)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Indices drawn with the probabilities that softmax(logits) gives.

    `logits`: float16, bfloat16, float32 or float64 [batch, classes], not
    normalised; `num_samples`: a scalar int32. Returns [batch, num_samples] of
    `output_dtype`, int64 by default or int32. `seed`: an int. ValueError for
    another rank; TypeError for other types; InvalidArgumentError in the run for
    no classes or a negative number."""
    with name_scope(name, "multinomial", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return _raw.Multinomial(
            logits, num_samples,
            output_dtype=output_dtype or dtypes.int64, **_seeds(seed))


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """As multinomial."""
    with name_scope(name, "categorical", [logits]):
        return multinomial(logits, num_samples, seed, output_dtype=dtype)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Values of Poisson distributions: shape + the shape of lam, their means."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        return _raw.RandomPoissonV2(shape, lam, dtype=dtype, **_seeds(seed))


# Stateless: equal seeds, a vector of two integers, give equal values always.

def stateless_random_uniform(shape, seed, minval=0, maxval=None,
                             dtype=dtypes.float32, name=None):
    """Values in [minval, maxval); maxval is 1 for floating types. For integers
    both must be given, or be None: then any value may come."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError("For integer dtype %r, minval and maxval must be both "
                         "None or both not None" % dtype)
    with name_scope(name, "stateless_random_uniform",
                    [shape, seed, minval, maxval]) as scope:
        shape = _shape(shape)
        if minval is None and dtype.is_integer:
            return _raw.StatelessRandomUniformFullInt(shape, seed, dtype=dtype,
                                                      name=scope)
        minval = convert_to_tensor(0 if minval is None else minval,
                                   dtype=dtype, name="min")
        maxval = convert_to_tensor(1 if maxval is None else maxval,
                                   dtype=dtype, name="max")
        if dtype.is_integer:
            return _raw.StatelessRandomUniformInt(shape, seed, minval, maxval,
                                                  name=scope)
        values = _raw.StatelessRandomUniform(shape, seed, dtype=dtype)
        return _raw.Add(values * (maxval - minval), minval, name=scope)


def _stateless_normal(op, default, shape, seed, mean, stddev, dtype, name):
    with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        values = op(shape, seed, dtype=dtype)
        return _raw.Add(values * stddev, mean, name=scope)


def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0,
                            dtype=dtypes.float32, name=None):
    """Values of a normal distribution."""
    return _stateless_normal(_raw.StatelessRandomNormal,
                             "stateless_random_normal", shape, seed, mean,
                             stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0,
                               dtype=dtypes.float32, name=None):
    """Values of a normal distribution within two standard deviations."""
    return _stateless_normal(_raw.StatelessTruncatedNormal,
                             "stateless_truncated_normal", shape, seed, mean,
                             stddev, dtype, name)


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64,
                          name=None):
    """Indices drawn with the probabilities that softmax(logits) gives."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _raw.StatelessMultinomial(logits, num_samples, seed,
                                         output_dtype=output_dtype)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64,
                          name=None):
    """As stateless_multinomial."""
    return stateless_multinomial(logits, num_samples, seed, dtype, name)
