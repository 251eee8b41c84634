"""What networks spell out node by node (activations, normalisation, attention)
runs as one node each, gives what the nodes give, and stays as it is where
somebody else wants a part of it."""
import math

import numpy as np
import pytest

import headrace as tf

rng = np.random.RandomState(3)


def plain_config():
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    return config


def ops_of(metadata):
    return [n.op for g in metadata.partition_graphs for n in g.node
            if n.op not in ("_Arg", "_Retval", "Const")]


def run(fetches, feeds=None, plain=False, init=None):
    """Results, and the ops of the graph that ran."""
    config = plain_config() if plain else tf.ConfigProto()
    options = tf.RunOptions(output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session(config=config) as session:
        if init is not None:
            session.run(init)
        results = session.run(fetches, feeds, options=options,
                              run_metadata=metadata)
    return results, ops_of(metadata)


def close(got, want, tolerance):
    """NaN and infinities where they are wanted; else off by so much of the
    largest."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    scale = np.abs(want[finite]).max(initial=1e-30)
    error = np.abs(got[finite] - want[finite]).max(initial=0)
    assert error <= tolerance * scale, (error, scale)


def relu6(v):
    return tf.nn.relu6(v)


SLOPE = math.sqrt(2 / math.pi)
# Spellings of each, as networks have them.
ACTIVATIONS = {
    "_Gelu": {
        "bert": lambda x: x * (.5 * (1. + tf.erf(x / math.sqrt(2.)))),
        "half_first": lambda x: .5 * x * (1. + tf.erf(x * .70710678118654752)),
        "half_last": lambda x: x * (tf.erf(x / math.sqrt(2.)) + 1.) / 2.,
        "distributed": lambda x: .5 * x + .5 * x * tf.erf(x * math.sqrt(.5)),
        "keras": lambda x: .5 * x * tf.erfc(-x * .70710678118654752),
        "negative": lambda x: x * tf.erfc(x * -math.sqrt(.5)) * .5,
    },
    "_ApproximateGelu": {
        "bert": lambda x: x * (.5 * (1. + tf.tanh(
            SLOPE * (x + .044715 * tf.pow(x, 3.))))),
        "product": lambda x: .5 * x * (1. + tf.tanh(
            SLOPE * (x + .044715 * x * x * x))),
        "factored": lambda x: .5 * x * (1. + tf.tanh(
            x * SLOPE * (1. + .044715 * x * x))),
        "square": lambda x: .5 * (x + x * tf.tanh(
            SLOPE * x + SLOPE * .044715 * x * tf.square(x))),
    },
    "_Swish": {
        "swish": lambda x: x * tf.sigmoid(x),
        "scaled": lambda x: tf.sigmoid(1. * x) * x,
    },
    "_HardSwish": {
        "sixth": lambda x: x * relu6(x + 3.) * (1. / 6.),
        "divided": lambda x: x * (relu6(3. + x) / 6.),
    },
    "_Mish": {
        "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
        "reversed": lambda x: tf.tanh(tf.nn.softplus(x)) * x,
    },
}
SPELLINGS = [(op, name) for op in ACTIVATIONS for name in ACTIVATIONS[op]]
SPECIAL = [0., -0., np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3., -3., 30., -30.,
           1e4, -1e4, 1e30, -1e30]


@pytest.mark.parametrize("op,name", SPELLINGS)
def test_activations_become_one_node(op, name):
    values = np.concatenate([SPECIAL, 3 * rng.standard_normal(2000)])
    for dtype, tolerance in ((tf.float32, 2e-7), (tf.float64, 1e-15)):
        with tf.Graph().as_default():
            x = tf.placeholder(dtype, [None])
            y = ACTIVATIONS[op][name](x)
            got, ops = run(y, {x: values})
            want, _ = run(y, {x: values}, plain=True)
        assert ops == [op], (dtype, ops)
        nan = np.isnan(want)
        np.testing.assert_array_equal(np.isnan(got), nan)
        small = ~nan & (np.abs(values) < 31)
        close(got[small], want[small], tolerance)
        np.testing.assert_allclose(got[~nan & ~small], want[~nan & ~small],
                                   rtol=1e-6)


@pytest.mark.parametrize("op,name", SPELLINGS)
def test_activations_go_into_products_and_convolutions(op, name):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 24])
        w = tf.constant(rng.standard_normal((24, 16)), tf.float32)
        bias = tf.constant(rng.standard_normal(16), tf.float32)
        y = ACTIVATIONS[op][name](tf.nn.bias_add(tf.matmul(x, w), bias))
        image = tf.reshape(y, [-1, 4, 4, 1])
        filters = tf.constant(rng.standard_normal((3, 3, 1, 8)), tf.float32)
        z = ACTIVATIONS[op][name](tf.nn.conv2d(image, filters, padding="SAME"))
        feeds = {x: rng.standard_normal((5, 24))}
        got, ops = run([y, z], feeds)
        want, _ = run([y, z], feeds, plain=True)
    assert sorted(ops) == ["Reshape", "_FusedConv2D", "_FusedMatMul"]
    for g, w in zip(got, want):
        close(g, w, 1e-6)


@pytest.mark.parametrize("name,build", [
    ("another slope", lambda x: .5 * x * (1. + tf.erf(x * .7))),
    ("another factor", lambda x: .4 * x * (1. + tf.erf(x * .70710678))),
    ("another value", lambda x: x * tf.sigmoid(tf.reverse(x, [0]))),
    ("another cube", lambda x: .5 * x * (1. + tf.tanh(
        SLOPE * (x + .04 * x * x * x)))),
    ("no constant", lambda x: x * relu6(x + tf.reduce_max(x)) / 6.),
    ("rank", lambda x: x * tf.sigmoid(x * tf.ones([1, 1, 1]))),
])
def test_what_is_no_activation_stays(name, build):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [6])
        y = build(x)
        feeds = {x: rng.standard_normal(6)}
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert not [o for op in ACTIVATIONS for o in ops if o == op], ops
    close(got, want, 1e-6)


def test_activations_of_which_a_part_is_wanted_stay():
    values = rng.standard_normal(6)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        gate = tf.sigmoid(x)
        y = x * gate
        for fetches in ([y, gate], [y, tf.reduce_sum(gate)]):
            got, ops = run(fetches, {x: values})
            want, _ = run(fetches, {x: values}, plain=True)
            assert "_Swish" not in ops
            assert {"Sigmoid", "_FusedElementwiseGroup"} & set(ops)
            for g, w in zip(got, want):
                close(g, w, 1e-6)
        # It is fed: what is before it does not count.
        got, ops = run(y, {x: values, gate: values})
        assert "_Swish" not in ops
        close(got, values * values, 1e-6)


def test_half_keeps_the_rounding_of_its_nodes():
    values = rng.standard_normal(100).astype(np.float16)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float16, [None])
        y = x * tf.sigmoid(x)
        got, ops = run(y, {x: values})
        want, _ = run(y, {x: values}, plain=True)
    assert "_Swish" not in ops
    assert got.tobytes() == want.tobytes()


def moments(x, axes):
    return tf.nn.moments(x, axes, keep_dims=True)


def keras_norm(x, axes, scale, offset):
    """As Keras 3 writes it."""
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(
        tf.squared_difference(x, tf.stop_gradient(mean)), axes, keepdims=True)
    inverse = tf.rsqrt(variance + 1e-3)
    if scale is not None:
        inverse = inverse * tf.reshape(scale, [1] * len(x.shape[:-1]) + [-1])
    rest = -mean * inverse
    if offset is not None:
        rest = rest + offset
    return x * inverse + rest


def library_norm(x, axes, scale, offset):
    """As tf.contrib.layers and BERT write it."""
    mean, variance = moments(x, axes)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-12)


def divided_norm(x, axes, scale, offset):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    difference = x - mean
    variance = tf.reduce_mean(tf.square(difference), axes, keepdims=True)
    y = difference / tf.sqrt(1e-6 + variance)
    y = y if scale is None else scale * y
    return y if offset is None else offset + y


def power_norm(x, axes, scale, offset):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean((x - mean) * (x - mean), axes, keepdims=True)
    y = (x - mean) * tf.pow(variance + 1e-5, -.5)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


def reciprocal_norm(x, axes, scale, offset):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(tf.squared_difference(mean, x), axes,
                              keepdims=True)
    y = (x - mean) * (1. / tf.sqrt(variance + 1e-5))
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


NORMS = [keras_norm, library_norm, divided_norm, power_norm, reciprocal_norm]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("declared,shape,axes,size", [
    ([None, 24], [5, 24], [-1], [24]),
    ([None, None, 37], [2, 5, 37], [2], [37]),
    ([2, 3, 200], [2, 3, 200], -1, [1, 1, 200]),
    ([None, 4, 9, 8], [3, 4, 9, 8], [1, 2, 3], [8]),
    ([None, 4, 9, 8], [3, 4, 9, 8], [-1, -2], [9, 8]),
    ([24], [24], [0], [24]),
    ([1, 24], [1, 24], [1], [24]),
    ([None, 24], [0, 24], [1], [24]),
])
def test_layer_normalizations_become_one_node(norm, declared, shape, axes,
                                              size):
    if norm is keras_norm and len(size) > 1:
        size = size[-1:]
    for has_scale, has_offset in ((1, 1), (0, 0), (1, 0), (0, 1)):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, declared)
            scale, offset = (
                tf.constant(rng.standard_normal(size), tf.float32)
                if has else None for has in (has_scale, has_offset))
            y = norm(x, axes, scale, offset)
            feeds = {x: 3 + 5 * rng.standard_normal(shape)}
            got, ops = run(y, feeds)
            want, _ = run(y, feeds, plain=True)
        assert ops == ["_FusedLayerNorm"], ops
        close(got, want, 2e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_layer_normalization_of_variables(resource):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 12])
        scale, offset = (tf.get_variable(
            name, initializer=tf.constant(rng.standard_normal(12), tf.float32),
            use_resource=resource) for name in ("scale", "offset"))
        y = library_norm(x, [-1], scale, offset)
        feeds = {x: rng.standard_normal((5, 12))}
        init = tf.global_variables_initializer()
        tf.set_random_seed(1)
        got, ops = run(y, feeds, init=init)
        want, _ = run(y, feeds, plain=True, init=init)
    assert "_FusedLayerNorm" in ops and "Mean" not in ops
    close(got, want, 2e-6)


def test_layer_normalization_of_infinite_and_equal_numbers():
    values = rng.standard_normal((6, 32)).astype(np.float32)
    values[0, 3] = np.inf
    values[1, 4] = np.nan
    values[2] = 7
    values[3, :2] = np.inf, -np.inf
    for norm in NORMS:
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 32])
            y = norm(x, [1], tf.ones([32]), tf.zeros([32]))
            got, ops = run(y, {x: values})
            want, _ = run(y, {x: values}, plain=True)
        assert ops == ["_FusedLayerNorm"]
        close(got, want, 2e-6)


@pytest.mark.parametrize("name,build", [
    ("another axis", lambda x: divided_norm(x, [1], None, None)),
    ("not the last", lambda x: divided_norm(x, [0, 1], None, None)),
    ("other axes", lambda x: (x - tf.reduce_mean(x, [2], keepdims=True)) *
     tf.rsqrt(tf.reduce_mean(tf.square(x - tf.reduce_mean(
         x, [1], keepdims=True)), [2], keepdims=True) + 1e-3)),
    ("another factor", lambda x: 2. * x - tf.reduce_mean(
        x, 2, keepdims=True) * tf.rsqrt(moments(x, [2])[1] + 1e-3)),
    ("half", lambda x: divided_norm(tf.cast(x, tf.float16), [2], None, None)),
])
def test_what_is_no_layer_normalization_stays(name, build):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3, 8])
        y = build(x)
        feeds = {x: rng.standard_normal((2, 3, 8))}
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert "_FusedLayerNorm" not in ops
    close(got, want, 2e-6)


def test_layer_normalizations_of_which_a_part_is_wanted_stay():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 8])
        mean, variance = moments(x, [1])
        y = tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)
        for wanted in (mean, variance, tf.reduce_sum(variance)):
            feeds = {x: rng.standard_normal((3, 8))}
            got, ops = run([y, wanted], feeds)
            want, _ = run([y, wanted], feeds, plain=True)
            assert "_FusedLayerNorm" not in ops
            for g, w in zip(got, want):
                close(g, w, 2e-6)


def test_a_tensor_that_is_added_is_no_offset():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 8])
        other = tf.placeholder_with_default(np.ones((4, 8), np.float32),
                                            [None, 8])
        y = divided_norm(x, [1], tf.ones([8]), None) + other
        feeds = {x: rng.standard_normal((4, 8))}
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert "_FusedLayerNorm" in ops and len(ops) > 1
    close(got, want, 2e-6)


def attend(q, k, v, scale="after", mask=None, transposed_key=False):
    """Of heads in the dims before the last two."""
    factor = 1 / math.sqrt(int(q.shape[-1]))
    if scale == "before":
        q = q * factor
    scores = tf.matmul(q, k, transpose_b=not transposed_key)
    if scale == "after":
        scores = scores * factor
    elif scale == "divided":
        scores = scores / math.sqrt(int(q.shape[-1]))
    elif scale == "factor_first":
        scores = factor * scores
    if mask is not None:
        scores = mask + scores if scale == "after" else scores + mask
    return tf.matmul(tf.nn.softmax(scores), v)


def randoms(*shapes):
    return [rng.standard_normal(s).astype(np.float32) for s in shapes]


def compare_attention(build, arrays, declared=None, mask_values=None,
                      tolerance=3e-6, left=()):
    with tf.Graph().as_default():
        places = [tf.placeholder(tf.float32, d) for d in
                  declared or [a.shape for a in arrays]]
        y = build(*places)
        feeds = dict(zip(places, arrays))
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert ops.count("_FusedAttention") == 1 and "Softmax" not in ops, ops
    assert sorted(set(ops) - {"_FusedAttention"}) == sorted(left), ops
    close(got, want, tolerance)
    return got


def of_itself(scores):
    return tf.matmul(tf.nn.softmax(scores), scores)


def twice(scores):
    return scores + scores


# Shorter and longer than the blocks of queries (64) and keys (256).
@pytest.mark.parametrize("queries,keys", [
    (1, 1), (5, 7), (64, 64), (70, 256), (3, 257), (130, 1100), (1, 600),
    (0, 4), (4, 0)])
@pytest.mark.parametrize("batch", [[2], [2, 3], [], [1, 2, 2]])
def test_attention_becomes_one_node(queries, keys, batch):
    if not batch:
        batch = [1]
    q, k, v = randoms(batch + [queries, 16], batch + [keys, 16],
                      batch + [keys, 10])
    compare_attention(attend, [q, k, v])
    declared = [[None] * len(batch) + [None, n] for n in (16, 16, 10)]
    compare_attention(attend, [q, k, v], declared)


@pytest.mark.parametrize("scale", ["after", "divided", "factor_first", "none"])
@pytest.mark.parametrize("mask", [
    [2, 3, 9, 20], [2, 1, 1, 20], [1, 1, 9, 20], [9, 20], [20], [9, 1], [],
    [2, 3, 9, 1]])
def test_attention_with_a_mask(scale, mask):
    q, k, v = randoms([2, 3, 9, 8], [2, 3, 20, 8], [2, 3, 20, 5])
    added = np.where(rng.rand(*mask) < .4, -1e9, rng.rand(*mask))
    added = np.asarray(added, np.float32)
    compare_attention(lambda q, k, v, m: attend(q, k, v, scale, m),
                      [q, k, v, added])


def causal(shape):
    """True where a key is not after the query; the last query sees all keys."""
    queries, keys = shape[-2], shape[-1]
    return tf.range(queries)[:, None] >= tf.range(keys) - keys + queries


# Of scores [2, 3, 9, 20] and m, which is 1 where a key [2, 1, 1, 20] counts.
MASKS = {
    "bert": lambda s, m: s + (1. - m) * -10000.,
    "bert_first": lambda s, m: (1. - m) * -10000. + s,
    "gpt2": lambda s, m: gpt2_mask(s),
    "subtracted": lambda s, m: s - 65500. * (1. - m),
    "scaled_after": lambda s, m: (s + (1. - m) * -1e9) * .125,
    "divided_after": lambda s, m: (s - m) / 3.,
    "weighted": lambda s, m: s * m - 1e9 * (1. - m),
    "two": lambda s, m: s * .5 + tf.reshape(tf.range(60.), [3, 1, 20]) + (
        1. - m) * -1e9,
    "where_v2": lambda s, m: tf.where_v2(m > 0., s * .3, -1e9),
    "where_v2_not": lambda s, m: tf.where_v2(tf.equal(m, 0.), -1e9, s),
    "where_infinite": lambda s, m: tf.where_v2(m > 0., s, -np.inf),
    "where_rows": lambda s, m: tf.where_v2(
        tf.reshape(tf.range(20.), [20]) > 4., s, m * 2.),
    "where": lambda s, m: tf.where(
        tf.tile(m, [1, 3, tf.shape(s)[2], 1]) > 0., s,
        tf.ones_like(s) * -1e9),
    "where_not": lambda s, m: tf.where(
        tf.equal(tf.zeros(tf.shape(s)) + m, 0.), tf.fill(tf.shape(s), -1e9), s),
    "where_tensor": lambda s, m: tf.where(
        tf.broadcast_to(m > 0., tf.shape(s)), s,
        tf.zeros([2, 3, 9, 20]) - m),
    "where_scalar": lambda s, m: tf.where(
        m[0, 0, 0, 1] > -1., s, tf.zeros_like(s)),
    "causal_where": lambda s, m: tf.where_v2(
        causal(tf.shape(s)), s * .7, -1e10),
    "band": lambda s, m: s + (1. - tf.matrix_band_part(
        tf.ones(tf.shape(s)[2:]), -1, 0)) * -1e9,
    "band_and_keys": lambda s, m: s + tf.minimum(
        (m - 1.) * 1e9, (tf.matrix_band_part(
            tf.ones([tf.shape(s)[-2], tf.shape(s)[-1]]), -1, 0) - 1.) * 1e9),
    "root_of_size": lambda s, m: s / tf.sqrt(tf.cast(
        tf.shape(m)[1] + 7, tf.float32)) + m,
}


def gpt2_mask(s):
    b = tf.cast(causal(tf.shape(s)), s.dtype)
    b = tf.reshape(b, [1, 1, *(tf.shape(b)[i] for i in range(2))])
    return s * b - tf.cast(1e10, s.dtype) * (1 - b)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("how", ["matmul", "einsum"])
@pytest.mark.parametrize("mask", MASKS)
def test_attention_with_masks_as_networks_spell_them(mask, how, is_open):
    q, k, v = randoms([2, 3, 9, 8], [2, 3, 20, 8], [2, 3, 20, 5])
    m = (rng.rand(2, 1, 1, 20) < .7).astype(np.float32)

    def build(q, k, v, m):
        if how == "einsum":
            scores = tf.raw_ops.Einsum(inputs=[q, k],
                                       equation="abth,absh->abts")
        else:
            scores = tf.matmul(q, k, transpose_b=True)
        share = tf.nn.softmax(MASKS[mask](scores, m))
        if how == "einsum":
            return tf.raw_ops.Einsum(inputs=[share, v],
                                     equation="abts,absd->abtd")
        return tf.matmul(share, v)

    with tf.Graph().as_default():
        arrays = [q, k, v, m]
        places = [tf.placeholder(tf.float32, [None] * 3 + [a.shape[3]]
                                 if is_open and how == "matmul" else
                                 [None, *a.shape[1:]] if is_open else a.shape)
                  for a in arrays]
        y = build(*places)
        feeds = dict(zip(places, arrays))
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert ops.count("_FusedAttention") == 1, ops
    assert not {"Softmax", "BatchMatMul", "BatchMatMulV2", "Einsum", "Select",
                "SelectV2"} & set(ops), ops
    close(got, want, 3e-6)


def test_attention_with_a_scale_before_and_a_softmax_spelled_out():
    def build(q, k, v):
        scores = tf.matmul(.5 * q, k / 2., transpose_b=True)
        scores = gpt2_mask(scores)
        e = tf.exp(scores - tf.reduce_max(scores, -1, keepdims=True))
        return tf.matmul(e / tf.reduce_sum(e, -1, keepdims=True), v)

    got = compare_attention(
        build, randoms([2, 3, 9, 8], [2, 3, 9, 8], [2, 3, 9, 5]))
    # The first query sees the first key alone.
    assert np.isfinite(got).all()


@pytest.mark.parametrize("shapes", [
    ([2, 9, 8], [2, 20, 8], [2, 20, 5], [2, 9, 20]),
    ([2, 9, 8], [2, 20, 8], [2, 20, 5], [2, 9, 19]),
    ([2, 9, 8], [2, 20, 8], [2, 20, 5], [2, 1, 20]),
    ([2, 9, 8], [2, 20, 8], [2, 20, 5], [1, 9, 20])])
def test_select_repeats_no_condition_in_attention_either(shapes):
    with tf.Graph().as_default():
        places = [tf.placeholder(tf.float32, [None] * 3) for _ in range(4)]
        q, k, v, m = places
        s = tf.matmul(q, k, transpose_b=True)
        y = tf.matmul(tf.nn.softmax(tf.where(
            m > 0., s, tf.fill(tf.shape(s), -1e9))), v)
        feeds = dict(zip(places, randoms(*shapes)))
        if shapes[3] == [2, 9, 20]:
            got, ops = run(y, feeds)
            assert "_FusedAttention" in ops, ops
            close(got, run(y, feeds, plain=True)[0], 3e-6)
            return
        for plain in (False, True):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run(y, feeds, plain=plain)


def test_attention_of_transposed_operands():
    """As BERT splits heads; the transposes go, too."""
    def build(x, y):
        def heads(t):
            return tf.transpose(tf.reshape(t, [-1, 12, 3, 8]), [0, 2, 1, 3])
        z = attend(heads(x), heads(y), heads(x))
        return tf.reshape(tf.transpose(z, [0, 2, 1, 3]), [-1, 12, 24])

    compare_attention(build, randoms([2, 12, 24], [2, 12, 24]),
                      [[None, 12, 24]] * 2, left=["Reshape"])
    q, k, v = randoms([2, 9, 8], [2, 8, 20], [2, 20, 5])
    compare_attention(
        lambda q, k, v: attend(q, k, v, transposed_key=True), [q, k, v])
    compare_attention(lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(
        q, k, transpose_a=True, transpose_b=True)), v, transpose_b=True),
        randoms([2, 8, 9], [2, 20, 8], [2, 5, 20]))
    compare_attention(lambda q, k, v: attend(
        tf.transpose(q, [1, 0, 2]), k, v), randoms([9, 2, 8], [2, 20, 8],
                                                   [2, 20, 5]))
    compare_attention(lambda q, k, v: attend(
        q, tf.transpose(k, [0, 2, 1]), v, transposed_key=True),
        randoms([2, 9, 8], [2, 20, 8], [2, 20, 5]))


@pytest.mark.parametrize("scores,result,shapes", [
    # Keras' layers, of both kinds.
    ("btnh,bsnh->bnts", "bnts,bsnh->btnh", ([2, 9, 3, 8], [2, 20, 3, 8],
                                            [2, 20, 3, 8])),
    ("bsnh,btnh->bnts", "bsnh,bnts->btnh", ([2, 20, 3, 8], [2, 9, 3, 8],
                                            [2, 20, 3, 8])),
    ("aecd,abcd->acbe", "acbe,aecd->abcd", ([2, 20, 3, 8], [2, 9, 3, 8],
                                            [2, 20, 3, 8])),
    ("xy,zy->xz", "xz,zw->xw", ([9, 8], [20, 8], [20, 5])),
    ("bth,sh->bts", "bts,sd->btd", ([2, 9, 8], [20, 8], [20, 5])),
])
def test_attention_by_einsum(scores, result, shapes):
    order = result.split("->")[0].split(",")
    first = order.index(scores.split("->")[1])

    def build(a, b, v):
        p = tf.nn.softmax(tf.raw_ops.Einsum(inputs=[a, b], equation=scores)
                          * .3)
        return tf.raw_ops.Einsum(inputs=[p, v] if first == 0 else [v, p],
                                 equation=result)

    compare_attention(build, randoms(*shapes))


def test_attention_repeats_batch_dims():
    q, k, v = randoms([2, 3, 9, 8], [1, 3, 20, 8], [3, 20, 5])
    compare_attention(attend, [q, k, v])
    compare_attention(attend, [q, k, v], [[None, None, None, 8]] * 2 +
                      [[None, None, 5]])


def test_attention_to_nothing_and_to_infinity():
    q, k, v = randoms([1, 6, 8], [1, 1030, 8], [1, 1030, 5])
    mask = np.zeros((6, 1030), np.float32)
    mask[0] = -np.inf  # no key at all: NaN
    mask[1, :700] = -np.inf
    mask[2, 520:] = -np.inf
    mask[3, 5] = np.inf
    mask[4, 1000] = np.nan
    got = compare_attention(lambda q, k, v, m: attend(q, k, v, mask=m),
                            [q, k, v, mask])
    nan = np.isnan(got).all(-1)[0]
    assert list(nan) == [True, False, False, True, True, False]
    # Each block has a larger maximum than the one before.
    k[0] = np.linspace(0, 40, 1030)[:, None]
    compare_attention(attend, [np.abs(q), k, v])
    compare_attention(attend, [-np.abs(q), k, v])


@pytest.mark.parametrize("name,build", [
    ("not of the scores", lambda q, k, v: tf.matmul(tf.nn.softmax(q), k)),
    ("another sum", lambda q, k, v: tf.matmul(
        tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v,
        transpose_a=True)),
    ("second operand", lambda q, k, v: tf.matmul(
        v, tf.nn.softmax(tf.matmul(q, k, transpose_b=True)),
        transpose_a=True)),
    ("half", lambda q, k, v: attend(*(tf.cast(t, tf.float16)
                                      for t in (q, k, v)))),
    ("twice", lambda q, k, v: tf.matmul(*[tf.nn.softmax(tf.matmul(
        q, k, transpose_b=True))] * 2)),
    ("scores as values", lambda q, k, v: of_itself(
        tf.matmul(q, k, transpose_b=True))),
    ("scores as a mask", lambda q, k, v: tf.matmul(
        tf.nn.softmax(twice(tf.matmul(q, k, transpose_b=True))), v)),
])
def test_what_is_no_attention_stays(name, build):
    with tf.Graph().as_default():
        places = [tf.placeholder(tf.float32, [2, 8, 8]) for _ in range(3)]
        feeds = dict(zip(places, randoms(*[[2, 8, 8]] * 3)))
        y = build(*places)
        got, ops = run(y, feeds)
        want, _ = run(y, feeds, plain=True)
    assert "_FusedAttention" not in ops
    close(got, want, 2e-3 if name == "half" else 2e-6)


def test_attention_of_which_a_part_is_wanted_stays():
    with tf.Graph().as_default():
        q, k, v = places = [tf.placeholder(tf.float32, [2, 8, 8])
                            for _ in range(3)]
        scores = tf.matmul(q, k, transpose_b=True)
        p = tf.nn.softmax(scores)
        y = tf.matmul(p, v)
        feeds = dict(zip(places, randoms(*[[2, 8, 8]] * 3)))
        for wanted in (scores, p, tf.reduce_sum(p)):
            got, ops = run([y, wanted], feeds)
            want, _ = run([y, wanted], feeds, plain=True)
            assert "_FusedAttention" not in ops
            for g, w in zip(got, want):
                close(g, w, 2e-6)


def test_shapes_that_do_not_go_together_are_errors_as_before():
    for shapes in (([2, 9, 8], [2, 20, 7], [2, 20, 5]),
                   ([2, 9, 8], [2, 20, 8], [2, 19, 5]),
                   ([2, 9, 8], [3, 20, 8], [2, 20, 5])):
        with tf.Graph().as_default():
            places = [tf.placeholder(tf.float32, [None] * 3)
                      for _ in range(3)]
            y = tf.matmul(tf.nn.softmax(tf.matmul(
                places[0], places[1], transpose_b=True)), places[2])
            feeds = dict(zip(places, randoms(*shapes)))
            for plain in (False, True):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    run(y, feeds, plain=plain)
