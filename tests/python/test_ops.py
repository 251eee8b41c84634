"""Functions of tf.* against NumPy."""
import copy
import functools
import inspect
import pickle

import numpy as np
import pytest

import headrace as tf

R = np.random.RandomState(0)
A = R.rand(3, 4).astype(np.float32) + .1
B = R.rand(3, 4).astype(np.float32) + .1
I = R.randint(-9, 9, (3, 4)).astype(np.int32)  # noqa: E741
IMAGE = R.rand(2, 6, 5, 3).astype(np.float32)


def run(x):
    with tf.Session() as sess:
        return sess.run(x)


UNARY = {
    "abs": np.abs, "negative": np.negative, "exp": np.exp, "log": np.log,
    "sqrt": np.sqrt, "square": np.square, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil,
    "sign": np.sign, "round": np.round, "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "log1p": np.log1p,
    "expm1": np.expm1, "reciprocal": np.reciprocal, "atan": np.arctan,
    "sinh": np.sinh, "is_nan": np.isnan, "is_finite": np.isfinite}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    np.testing.assert_allclose(run(getattr(tf, name)(A)), UNARY[name](A),
                               rtol=1e-5)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
    "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum,
    "pow": np.power, "squared_difference": lambda a, b: (a - b) ** 2,
    "mod": np.mod, "floordiv": np.floor_divide, "equal": np.equal,
    "less": np.less, "greater_equal": np.greater_equal, "truediv": np.divide}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for b in (B, B[0], B[:, :1]):
        np.testing.assert_allclose(run(getattr(tf, name)(A, b)),
                                   BINARY[name](A, b), rtol=1e-5)


def test_operators():
    a, i = tf.constant(A), tf.constant(I)
    checks = [
        (a + B, A + B), (1 + a, 1 + A), (a - 1, A - 1), (2 - a, 2 - A),
        (a * B, A * B), (3 * a, 3 * A), (a / B, A / B), (1 / a, 1 / A),
        (a // .3, A // np.float32(.3)), (i // 4, I // 4), (i % 4, I % 4),
        (i / 4, I / 4), (a ** 2, A ** 2), (2 ** a, 2 ** A), (-a, -A),
        (abs(i), abs(I)), (a < B, A < B), (a >= B, A >= B),
        ((a < B) & (a > .5), (A < B) & (A > .5)), (~(a < B), ~(A < B)),
        ((a < B) ^ (a > .5), (A < B) ^ (A > .5)),
        (a @ B.T, A @ B.T), (A @ tf.constant(B.T), A @ B.T)]
    for got, want in zip(run([c[0] for c in checks]), checks):
        np.testing.assert_allclose(got, want[1], rtol=2e-5)


@pytest.mark.parametrize("key", [
    np.s_[1], np.s_[-1], np.s_[1:], np.s_[:, 2], np.s_[::2, ::-1],
    np.s_[..., 1], np.s_[None, 1:3], np.s_[:, None, 1], np.s_[0, 0],
    np.s_[-2:, 1:-1], np.s_[5:], ...])
def test_getitem(key):
    t = tf.constant(A)[key]
    got = run(t)
    np.testing.assert_array_equal(got, A[key])
    assert t.shape.as_list() == list(A[key].shape)


def test_getitem_by_tensor():
    one = tf.constant(1)
    np.testing.assert_array_equal(run(tf.constant(A)[one:, one]), A[1:, 1])
    np.testing.assert_array_equal(run(tf.constant(A)[tf.constant(A > .5)]),
                                  A[A > .5])
    with pytest.raises(TypeError, match="indices"):
        tf.constant(A)["a"]
    with pytest.raises(ValueError):
        tf.constant(A)[0, 0, 0]


REDUCTIONS = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max,
              "min": np.min}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), []])
@pytest.mark.parametrize("keep", [False, True])
def test_reductions(name, axis, keep):
    reduce, numpy = getattr(tf, "reduce_" + name), REDUCTIONS[name]
    where = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    want = A if axis == [] else numpy(A, axis=where, keepdims=keep)
    axis = list(axis) if isinstance(axis, tuple) else axis
    for got in (reduce(A, axis, keepdims=keep),
                reduce(A, reduction_indices=axis, keep_dims=keep)):
        np.testing.assert_allclose(run(got), want, rtol=1e-5)


def test_more_reductions():
    assert run(tf.reduce_any(A > 1.)) == (A > 1).any()
    np.testing.assert_array_equal(run(tf.reduce_all(A > .3, 1)),
                                  (A > .3).all(1))
    np.testing.assert_allclose(run(tf.reduce_logsumexp(A * 100, 1)),
                               np.log(np.exp(A.astype("d") * 100).sum(1)),
                               rtol=1e-5)
    np.testing.assert_array_equal(run(tf.argmax(A, 1)), A.argmax(1))
    np.testing.assert_array_equal(run(tf.argmin(A)), A.argmin(0))
    assert run(tf.count_nonzero(I)) == np.count_nonzero(I)
    np.testing.assert_allclose(run(tf.cumsum(A, 1)), A.cumsum(1), rtol=1e-5)
    with pytest.raises(ValueError, match="keep"):
        tf.reduce_sum(A, keepdims=True, keep_dims=True)


def test_array_functions():
    checks = [
        (tf.concat([A, B], 1), np.concatenate([A, B], 1)),
        (tf.stack([A, B], -1), np.stack([A, B], -1)),
        (tf.unstack(A, axis=1)[2], A[:, 2]),
        (tf.split(A, 2, 1)[1], A[:, 2:]),
        (tf.split(A, [1, 3], 1)[1], A[:, 1:]),
        (tf.transpose(A), A.T), (tf.transpose(IMAGE, [0, 3, 1, 2]),
                                 IMAGE.transpose(0, 3, 1, 2)),
        (tf.reshape(A, [2, -1]), A.reshape(2, -1)),
        (tf.expand_dims(A, -1), A[..., None]),
        (tf.squeeze(A[None]), A), (tf.tile(A, [2, 1]), np.tile(A, (2, 1))),
        (tf.pad(A, [[1, 2], [0, 1]]), np.pad(A, [(1, 2), (0, 1)])),
        (tf.pad(A, [[1, 1], [1, 1]], "REFLECT"), np.pad(A, 1, "reflect")),
        (tf.pad(A, [[1, 0], [0, 0]], constant_values=7.),
         np.pad(A, [(1, 0), (0, 0)], constant_values=7)),
        (tf.fill([2, 2], 3), np.full((2, 2), 3)),
        (tf.zeros_like(I), np.zeros_like(I)), (tf.ones([2, 3]), np.ones((2, 3))),
        (tf.zeros([40, 50]), np.zeros((40, 50))),
        (tf.range(2, 11, 3), np.arange(2, 11, 3)),
        (tf.range(3.), np.arange(3.)), (tf.linspace(0., 1., 5),
                                        np.linspace(0, 1, 5)),
        (tf.one_hot([0, 2, -1], 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]]),
        (tf.one_hot([1], 3, 5, 6), [[6, 5, 6]]),
        (tf.eye(3), np.eye(3)), (tf.gather(A, [2, 0]), A[[2, 0]]),
        (tf.gather(A, [2, 0], axis=1), A[:, [2, 0]]),
        (tf.gather_nd(A, [[0, 1], [2, 3]]), A[[0, 2], [1, 3]]),
        (tf.where(A > B, A, B), np.where(A > B, A, B)),
        (tf.where(A > B), np.argwhere(A > B)),
        (tf.slice(A, [1, 0], [2, -1]), A[1:3]),
        (tf.strided_slice(A, [0, 1], [3, 4], [2, 1]), A[0:3:2, 1:4]),
        (tf.reverse(A, [1]), A[:, ::-1]),
        (tf.boolean_mask(A, [True, False, True]), A[[0, 2]]),
        (tf.boolean_mask(A, tf.constant([.5, 0., -1.])), A[[0, 2]]),
        (tf.sequence_mask([1, 3], 4), [[1, 0, 0, 0], [1, 1, 1, 0]]),
        (tf.shape(A), [3, 4]), (tf.rank(A), 2), (tf.size(A), 12),
        (tf.cast(A * 9, tf.int32), (A * 9).astype(np.int32)),
        (tf.to_float(I), I.astype("f")),
        (tf.clip_by_value(A, .3, .6), np.clip(A, .3, .6)),
        (tf.add_n([A, B, A]), A + B + A),
        (tf.meshgrid([1, 2], [3, 4, 5])[1], np.meshgrid([1, 2], [3, 4, 5])[1]),
        (tf.matmul(A, B, transpose_b=True), A @ B.T),
        (tf.matmul(IMAGE, IMAGE, adjoint_b=True),
         IMAGE @ IMAGE.swapaxes(-1, -2)),
        (tf.tensordot(A, B, [[0, 1], [0, 1]]), np.tensordot(A, B, 2)),
        (tf.norm(A, axis=1), np.linalg.norm(A, axis=1)),
        (tf.global_norm([A, B]), np.sqrt((A ** 2).sum() + (B ** 2).sum())),
        (tf.clip_by_global_norm([A], .1)[0][0],
         A * .1 / np.linalg.norm(A)),
        (tf.convert_to_tensor([tf.constant(1.), 2.]), [1, 2]),
        (tf.matrix_band_part(tf.ones([3, 3]), 0, -1), np.triu(np.ones((3, 3))))]
    for k, (got, want) in enumerate(
            zip(run([c[0] for c in checks]), (c[1] for c in checks))):
        np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=str(k))


def same(n, k, stride, dilation=1):
    """(padding before, after) of SAME."""
    need = max(0, (-(-n // stride) - 1) * stride + (k - 1) * dilation + 1 - n)
    return need // 2, need - need // 2


def conv(x, w, stride=1, dilation=1, padding="SAME"):
    if padding == "SAME":
        x = np.pad(x, [(0, 0), same(x.shape[1], w.shape[0], stride, dilation),
                       same(x.shape[2], w.shape[1], stride, dilation), (0, 0)])
    h, v = ((np.array(x.shape[1:3]) - (np.array(w.shape[:2]) - 1) * dilation
             - 1) // stride + 1)
    out = np.zeros((x.shape[0], h, v, w.shape[3]))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            part = x[:, i * dilation:, j * dilation:][:, ::stride, ::stride]
            out += part[:, :h, :v] @ w[i, j].astype("d")
    return out


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv2d(stride, dilation, padding):
    w = R.rand(3, 2, 3, 4).astype(np.float32)
    want = conv(IMAGE, w, stride, dilation, padding)
    steps, spread = [1, stride, stride, 1], [1, dilation, dilation, 1]
    np.testing.assert_allclose(
        run(tf.nn.conv2d(IMAGE, w, steps, padding, dilations=spread)), want,
        rtol=1e-4)
    if stride == 1 or dilation == 1:
        deep = R.rand(3, 2, 3, 2).astype(np.float32)
        one = np.zeros((3, 2, 3, 6))
        for c in range(3):
            one[:, :, c, 2 * c:2 * c + 2] = deep[:, :, c]
        got = tf.nn.depthwise_conv2d(IMAGE, deep, steps, padding,
                                     rate=[dilation, dilation])
        np.testing.assert_allclose(
            run(got), conv(IMAGE, one, stride, dilation, padding), rtol=1e-4)


def test_conv_families():
    w = R.rand(3, 3, 5, 3).astype(np.float32)  # [h, w, out, in]
    x = R.rand(1, 3, 3, 3).astype(np.float32)
    up = run(tf.nn.conv2d_transpose(x, w, [1, 6, 6, 5], [1, 2, 2, 1]))
    y = R.rand(1, 6, 6, 5).astype(np.float32)
    # <conv(y), x> == <y, transpose(x)>
    np.testing.assert_allclose((conv(y, w, 2) * x).sum(), (y * up).sum(),
                               rtol=1e-4)
    deep = R.rand(3, 3, 3, 2).astype(np.float32)
    point = R.rand(1, 1, 6, 4).astype(np.float32)
    step = [1, 1, 1, 1]
    got, want = run([
        tf.nn.separable_conv2d(IMAGE, deep, point, step, "SAME"),
        tf.nn.conv2d(tf.nn.depthwise_conv2d(IMAGE, deep, step, "SAME"), point,
                     step, "SAME")])
    np.testing.assert_allclose(got, want, rtol=1e-5)
    line = IMAGE[:, 0]
    np.testing.assert_allclose(
        run(tf.nn.conv1d(line, deep[0], 1, "SAME")),
        conv(line[:, None], deep[:1])[:, 0], rtol=1e-4)


def test_pools():
    got = run([tf.nn.max_pool(IMAGE, 2, 2, "VALID"),
               tf.nn.avg_pool(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")])
    blocks = IMAGE[:, :, :4].reshape(2, 3, 2, 2, 2, 3)
    np.testing.assert_array_equal(got[0], blocks.max((2, 4)))
    np.testing.assert_allclose(got[1], blocks.mean((2, 4)), rtol=1e-5)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def test_nn():
    labels = softmax(B)
    cost = -(labels * np.log(softmax(A))).sum(1)
    classes = np.array([1, 0, 3])
    mean, var = A.mean(0), A.var(0)
    normal = (A - mean) / np.sqrt(var + .01)
    checks = [
        (tf.nn.relu(A - .5), np.maximum(A - .5, 0)),
        (tf.nn.relu6(A * 20), np.minimum(A * 20, 6)),
        (tf.nn.leaky_relu(A - .5), np.where(A > .5, A - .5, .2 * (A - .5))),
        (tf.nn.elu(A - .5), np.where(A > .5, A - .5, np.expm1(A - .5))),
        (tf.nn.softplus(A), np.log1p(np.exp(A))),
        (tf.nn.softmax(A), softmax(A)), (tf.nn.softmax(A, 0), softmax(A, 0)),
        (tf.nn.log_softmax(A), np.log(softmax(A))),
        (tf.nn.bias_add(A, B[0]), A + B[0]),
        (tf.nn.xw_plus_b(A, B.T, B[0, :3]), A @ B.T + B[0, :3]),
        (tf.nn.l2_loss(A), (A ** 2).sum() / 2),
        (tf.nn.l2_normalize(A, 1),
         A / np.linalg.norm(A, axis=1, keepdims=True)),
        (tf.nn.moments(A, [0])[1], var),
        (tf.nn.batch_normalization(A, mean, var, B[0], B[1], .01),
         normal * B[1] + B[0]),
        (tf.nn.fused_batch_norm(IMAGE, [1., 2., 3.], [0., 1., 2.],
                                epsilon=.01)[0],
         (IMAGE - IMAGE.mean((0, 1, 2))) / np.sqrt(
             IMAGE.var((0, 1, 2)) + .01) * [1, 2, 3] + [0, 1, 2]),
        (tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=A),
         cost),
        (tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=labels.T, logits=A.T, axis=0), cost),
        (tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=classes, logits=A), -np.log(softmax(A))[range(3), classes]),
        (tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=A),
         np.log1p(np.exp(A)) - A * labels),
        (tf.nn.top_k(A, 2)[0], -np.sort(-A, 1)[:, :2]),
        (tf.nn.in_top_k(A, classes, 1), A.argmax(1) == classes),
        (tf.nn.zero_fraction([0., 1.]), .5),
        (tf.nn.embedding_lookup(A, [[2, 0]]), A[[[2, 0]]]),
        (tf.nn.dropout(A, keep_prob=1.0), A)]
    for k, (got, want) in enumerate(
            zip(run([c[0] for c in checks]), (c[1] for c in checks))):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-6,
                                   err_msg=str(k))
    kept = run(tf.nn.dropout(tf.ones([1000]), 0.25, seed=1))
    assert set(np.unique(kept)) == {0, 4} and 150 < (kept > 0).sum() < 350
    with pytest.raises(ValueError, match="named arguments"):
        tf.nn.softmax_cross_entropy_with_logits(A, B)
    with pytest.raises(ValueError, match="rate"):
        tf.nn.dropout(A, rate=1.5)


def test_control():
    v = tf.Variable(0.)
    up = tf.assign_add(v, 1.)
    with tf.control_dependencies([up]):
        done = tf.no_op()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([tf.group(up, done), done]) == [None, None]
        assert sess.run(v) == 1
        a, b = sess.run(tf.tuple([tf.constant(1), tf.constant(2)]))
        assert (a, b) == (1, 2)
        ok = tf.assert_equal([1, 2], [1, 2])
        bad = tf.assert_less(tf.placeholder_with_default([3], [1]), [2])
        sess.run(ok)
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="did not hold"):
            sess.run(bad)


def test_shapes():
    x = tf.placeholder(tf.float32, [None, 3])
    assert x.shape.as_list() == [None, 3] and str(x.shape) == "(?, 3)"
    assert tf.placeholder(tf.float32).shape.ndims is None
    x.set_shape([2, None])
    assert x.get_shape() == [2, 3]
    with pytest.raises(ValueError, match="compatible"):
        x.set_shape([4, 3])
    assert tf.matmul(x, tf.zeros([3, 5])).shape == tf.TensorShape([2, 5])
    assert tf.TensorShape([1, None]).concatenate([2]).as_list() == [1, None, 2]


def test_dtypes():
    assert tf.float32 == np.float32 and tf.float32 == "float32"
    assert tf.as_dtype(np.int64) is tf.int64 and tf.as_dtype(bool) is tf.bool
    assert tf.float32._as_ref.base_dtype is tf.float32
    assert tf.float32._as_ref.name == "float32_ref"
    assert tf.int32.is_integer and not tf.int32.is_floating
    assert tf.uint8.max == 255 and tf.half is tf.float16
    assert {tf.float32: 1}[tf.as_dtype("float")] == 1
    with pytest.raises(TypeError):
        tf.as_dtype("nothing")


def test_every_op_is_a_function():
    from headrace import raw_ops
    for name in dir(raw_ops):
        function = getattr(raw_ops, name)
        assert function.op_type == name
        assert list(inspect.signature(function).parameters)[-1] == "name"
    assert repr(raw_ops.Relu) == "<op Relu(features, name=None)>"


@pytest.mark.parametrize("make", [tf.ones, tf.zeros])
def test_more_elements_than_an_int32_can_count(make):
    """The shape goes to Fill as int64."""
    n = 2 ** 31 + 6
    out = make([n], tf.int8)
    assert out.op.inputs[0].dtype == tf.int64
    assert out.shape.as_list() == [n]
    small = make([1000, 2])
    assert small.op.inputs[0].dtype == tf.int32


def test_an_axis_named_twice_is_reduced_once():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for axis in ([0, 0], [1, -2], [0, 1, 0]):
        axes = tuple(sorted({a % 3 for a in axis}))
        for name in ("sum", "max", "mean", "prod"):
            reduce = getattr(tf, "reduce_" + name)
            for a in (axis, tf.placeholder_with_default(axis, [None])):
                np.testing.assert_allclose(
                    run(reduce(x, a)), getattr(np, name)(x, axes), rtol=1e-6)


def test_beams_follow_their_parents_back():
    words = [[[1, 2]], [[3, 4]], [[5, 6]]]
    parents = [[[0, 0]], [[1, 0]], [[1, 1]]]
    out = tf.raw_ops.GatherTree(
        step_ids=words, parent_ids=parents, max_sequence_lengths=[3],
        end_token=9)
    with tf.Session() as sess:
        assert sess.run(out).tolist() == [[[1, 1]], [[4, 4]], [[5, 6]]]


@pytest.mark.parametrize("path, name", [
    ("exp", "exp"), ("add", "add"), ("nn.sigmoid", "sigmoid"),
    ("tanh", "tanh"), ("nn.elu", "elu"), ("nn.relu", "relu"),
    ("squared_difference", "squared_difference"),
    ("math.floormod", "floor_mod"), ("reduce_sum", "reduce_sum"),
    ("sparse_reduce_max", "sparse_reduce_max"),
    ("assign_add", "assign_add"), ("scatter_nd_sub", "scatter_nd_sub")])
def test_functions_of_ops_have_names_copies_and_pickles(path, name):
    # Programs keep activations among hyperparameters, copy and store them.
    function = functools.reduce(getattr, path.split("."), tf)
    assert function.__name__ == function.__qualname__ == name
    assert function.__module__.startswith("headrace.")
    assert copy.copy(function) is function
    assert copy.deepcopy({"activation": function})["activation"] is function
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function

    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    assert wrapper.__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'of_none'"):
        function.of_none


@pytest.mark.parametrize("message", [
    tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2}),
    tf.ConfigProto.Experimental(collective_group_leader="/job:worker"),
    tf.AttrValue.ListValue(i=[1, 2]),
    tf.train.Example(features={"feature": {
        "a": {"int64_list": {"value": [3]}}}}),
    tf.GraphDef(node=[{"name": "x", "op": "NoOp"}])],
    ids=lambda message: type(message).__name__)
def test_messages_have_pickles(message):
    # Programs hand configurations and examples to other processes.
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        found = pickle.loads(pickle.dumps(message, protocol))
        assert type(found) is type(message) and found == message


@pytest.mark.parametrize("arguments, shape, last", [
    ((3,), [3, 3], "diag"), ((np.int64(3),), [3, 3], "diag"),
    ((np.int32(3), np.int64(4)), [3, 4], "set_diag"),
    ((3, 3, np.array([2])), [2, 3, 3], "diag"),
    ((4, 3, (2, 2)), [2, 2, 4, 3], "set_diag")])
def test_sizes_of_eye_may_be_of_numpy(arguments, shape, last):
    made = tf.eye(*arguments, name="e")
    assert made.shape.as_list() == shape and made.op.name.endswith("e/" + last)
    with tf.Session() as session:
        np.testing.assert_array_equal(
            session.run(made), np.broadcast_to(np.eye(*shape[-2:]), shape))
