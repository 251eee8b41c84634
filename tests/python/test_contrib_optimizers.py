"""tf.contrib.opt, tf.contrib.layers.optimize_loss and moving averages."""
import numpy as np
import pytest

import headrace as tf
from headrace import contrib, train

from test_optimizers import losses, model

KINDS = pytest.mark.parametrize("use_resource", [False, True])

# The loss before each of ten steps at rate .1, as TensorFlow 1.15.5 has it.
OPTIMIZERS = {
    "AdaMaxOptimizer": """
        0.19430205 0.16332245 0.14234056 0.12783849 0.12728702 0.13178754
        0.13294178 0.12929094 0.12405409 0.12054196""",
    "AddSignOptimizer": """
        0.19430205 0.15448067 0.13735394 0.12939751 0.12539993 0.12304839
        0.12158357 0.12061954 0.1199071 0.11937664""",
    "PowerSignOptimizer": """
        0.19430205 0.14437081 0.1298115 0.12459032 0.12205997 0.12064611
        0.11970503 0.11893353 0.11837856 0.11797501""",
    "LazyAdamOptimizer": """
        0.19430205 0.16332191 0.14192176 0.13532913 0.14104135 0.14281671
        0.13511172 0.12533692 0.12194257 0.12500495""",
}


def numbers(text):
    return [float(x) for x in text.split()]


@KINDS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_losses(name, use_resource, dtype):
    loss, _ = model(use_resource, dtype)
    step = getattr(contrib.opt, name)(.1).minimize(loss)
    np.testing.assert_allclose(losses(loss, step), numbers(OPTIMIZERS[name]),
                               rtol=2e-6)


@KINDS
@pytest.mark.parametrize("make, wanted", [
    (lambda opt: opt.AdamWOptimizer(.01, .1), """
        0.19430205 0.16302741 0.14130005 0.13442081 0.13916655 0.14016166
        0.1330629 0.12429602 0.12087364 0.12302031"""),
    (lambda opt: opt.MomentumWOptimizer(.01, .1, .9), """
        0.19430205 0.1724091 0.14519531 0.12841034 0.12721787 0.13571931
        0.14356653 0.1437248 0.13618723 0.1262276"""),
    (lambda opt: opt.extend_with_decoupled_weight_decay(
        train.MomentumOptimizer)(.01, .1, .9), None)])
def test_weight_decay(make, wanted, use_resource):
    # TensorFlow's numbers are those of resource variables: its references may
    # decay while the gradients are being computed.
    loss, _ = model(use_resource)
    found = losses(loss, make(contrib.opt).minimize(loss))
    if wanted is None:  # MomentumW by another way
        tf.reset_default_graph()
        loss, _ = model(use_resource)
        wanted = losses(loss, contrib.opt.MomentumWOptimizer(
            .01, .1, .9).minimize(loss))
    else:
        wanted = numbers(wanted)
    np.testing.assert_allclose(found, wanted, rtol=2e-6)


@KINDS
def test_which_weights_decay(use_resource):
    a, b = [tf.Variable([1., 2.], use_resource=use_resource)
            for _ in range(2)]
    step = contrib.opt.MomentumWOptimizer(lambda: .5, 1., 0.).apply_gradients(
        [(tf.constant([0., 0.]), v) for v in (a, b)], decay_var_list=[b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(a).tolist() == [1., 2.]
        assert session.run(b).tolist() == [.5, 1.]


@KINDS
def test_lazy_adam_leaves_rows_without_a_gradient(use_resource):
    v = tf.Variable(np.ones([3, 2], np.float32), use_resource=use_resource)
    loss = tf.reduce_sum(tf.gather(v, [tf.placeholder_with_default(0, [])]))
    lazy, eager = contrib.opt.LazyAdamOptimizer(.1), train.AdamOptimizer(.1)
    rows = loss.graph.get_tensor_by_name("PlaceholderWithDefault:0")
    for optimizer, moved in ((lazy, False), (eager, True)):
        step = optimizer.minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step, {rows: 1})
            before = session.run(v)
            session.run(step, {rows: 2})
            after = session.run(v)
        assert (before[0] == after[0]).all()
        assert (before[1] != after[1]).all() == moved


@pytest.mark.parametrize("name", ["AddSignOptimizer", "PowerSignOptimizer"])
def test_sign_decay(name):
    loss, _ = model()
    count = train.create_global_step()
    make = getattr(contrib.opt, name)
    step = make(.1, sign_decay_fn=lambda n: train.exponential_decay(
        1., n, 2, .5)).minimize(loss, global_step=count)
    found, plain = losses(loss, step), numbers(OPTIMIZERS[name])
    np.testing.assert_allclose(found[:2], plain[:2], rtol=2e-6)
    assert abs(found[5] - plain[5]) > 1e-4


def test_moving_average_optimizer():
    for sequential in (True, False):
        tf.reset_default_graph()
        w = tf.Variable([1., 2.], name="w")
        optimizer = contrib.opt.MovingAverageOptimizer(
            train.MomentumOptimizer(.1, .9), .5,
            sequential_update=sequential)
        with pytest.raises(RuntimeError, match="before creating the swapping"):
            optimizer.swapping_saver()
        step = optimizer.minimize(tf.reduce_sum(w * w))
        assert step.name == "train_with_avg"
        assert optimizer.get_slot(w, "momentum").op.name == "w/Momentum"
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step)
            np.testing.assert_allclose(session.run(w), [.062, .124], rtol=1e-5)
            if sequential:  # otherwise an average is of either value
                np.testing.assert_allclose(
                    session.run("w/ExponentialMovingAverage:0"), [.371, .742],
                    rtol=1e-5)


# Moving averages.

@KINDS
@pytest.mark.parametrize("counts, debias, of_w, of_x", [
    (False, False, [[1.1, 2.05], [1.29, 2.145], [1.561, 2.2805]],
     [[.4, .5], [.96, 1.05], [1.664, 1.645]]),
    (True, False, [[1.9, 2.45], [2.8, 2.9], [3.7, 3.35]],
     [[3.6, 4.5], [5.5636363, 5.727273], [7.390909, 6.6818181]]),
    (False, True, [[1.1, 2.05], [1.29, 2.145], [1.561, 2.2805]],
     [[4., 5.], [5.0526314, 5.526315], [6.1402206, 6.07011]]),
    (True, True, [[1.9, 2.45], [2.8, 2.9], [3.7, 3.35]],
     [[4., 5.], [5.753846, 5.923077], [7.5082254, 6.7878785]])])
def test_moving_averages(use_resource, counts, debias, of_w, of_x):
    w = tf.Variable([1., 2.], name="w", use_resource=use_resource)
    n = tf.Variable(0, name="n", trainable=False)
    x = tf.multiply(w, 2., name="x")
    averages = train.ExponentialMovingAverage(
        .9, num_updates=n if counts else None, zero_debias=debias)
    assert averages.average(w) is None
    assert averages.average_name(w) == "w/ExponentialMovingAverage"
    update = averages.apply([w, x])
    assert update.name == averages.name == "ExponentialMovingAverage"
    assert averages.average(w).op.name == averages.average_name(w)
    assert averages.average(x).op.name == "x/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [w]
    assert tf.trainable_variables() == [w]
    own = {"x/ExponentialMovingAverage/biased",
           "x/ExponentialMovingAverage/local_step"} if debias else set()
    restored = averages.variables_to_restore()
    assert set(restored) == {"w/ExponentialMovingAverage", "n",
                             "x/ExponentialMovingAverage", *own}
    assert restored["w/ExponentialMovingAverage"] is w
    assert averages.variables_to_restore([])["w"] is w
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for wanted_w, wanted_x in zip(of_w, of_x):
            session.run(w.assign_add([1., .5]))
            session.run(update)
            session.run(n.assign_add(1))
            np.testing.assert_allclose(session.run(averages.average(w)),
                                       wanted_w, rtol=2e-6)
            np.testing.assert_allclose(session.run(averages.average(x)),
                                       wanted_x, rtol=2e-6)


def test_averages_of_all_trainable_variables_and_refusals():
    a, b = tf.Variable(1.), tf.Variable(2., trainable=False)
    averages = train.ExponentialMovingAverage(.5, name="mean")
    averages.apply()
    averages.apply([a])
    assert averages.average(a).op.name == "Variable/mean"
    assert averages.average(b) is None
    assert tf.moving_average_variables() == [a]
    with pytest.raises(TypeError, match="must be half, float, or double: c"):
        averages.apply([tf.Variable(1, name="c")])


# Clipping, and optimize_loss.

def test_clipping_by_the_global_norm_of_slices():
    slices = tf.IndexedSlices(tf.constant([[3.], [0.]]), tf.constant([1, 2]),
                              tf.constant([4, 1]))
    (a, b, none), norm = tf.clip_by_global_norm(
        [slices, tf.constant([4.]), None], 1.)
    assert none is None and isinstance(a, tf.IndexedSlices)
    with tf.Session() as session:
        a, b, norm = session.run([a, b, norm])
    np.testing.assert_allclose(a.values, [[.6], [0.]], rtol=1e-6)
    np.testing.assert_allclose(b, [.8], rtol=1e-6)
    assert a.indices.tolist() == [1, 2] and norm == 5


def optimize(**options):
    w = tf.Variable([1., 2.], name="w")
    step = train.get_or_create_global_step()
    options = dict({"global_step": step, "optimizer": "SGD",
                    "learning_rate": .1}, **options)
    return contrib.layers.optimize_loss(tf.reduce_sum(w * w), **options)


@pytest.mark.parametrize("options, wanted", [
    ({}, [5., 3.2, 2.048]),
    ({"clip_gradients": 1.}, [5., 4.562786, 4.1455727]),
    ({"clip_gradients": lambda pairs: [(g / 2., v) for g, v in pairs]},
     [5., 4.05, 3.2805]),
    ({"optimizer": train.AdamOptimizer}, [5., 4.42, 3.8812609]),
    ({"optimizer": "Adam"}, [5., 4.42, 3.8812609]),
    ({"optimizer": train.AdamOptimizer(), "learning_rate": None},
     [5., 4.994002, 4.988008]),
    ({"optimizer": lambda rate: train.AdamOptimizer(rate)},
     [5., 4.42, 3.8812609]),
    ({"optimizer": "Momentum"}, [5., 3.2, 1.058]),
    ({"gradient_multipliers": {"w:0": .5}}, [5., 4.05, 3.2805]),
    ({"learning_rate_decay_fn": lambda rate, step: train.exponential_decay(
        rate, step, 10, .9)}, [5., 3.2, 2.0587463]),
    ({"global_step": None}, [5., 3.2, 2.048]),
    ({"increment_global_step": False}, [5., 3.2, 2.048])])
def test_optimize_loss(options, wanted):
    loss = optimize(**options)
    assert loss.op.name == "OptimizeLoss/control_dependency"
    step = train.get_global_step()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        # What it fetches may be computed before the step or after it.
        before = tf.get_default_graph().get_tensor_by_name("Sum:0")
        found = []
        for _ in range(3):
            found.append(session.run(before))
            session.run(loss)
        np.testing.assert_allclose(found, wanted, rtol=2e-6)
        assert session.run(step) == (
            3 if options.get("increment_global_step", True) else 0)


def test_summaries_of_optimize_loss():
    optimize(clip_gradients=1., summaries=contrib.layers.OPTIMIZER_SUMMARIES)
    assert [s.op.name for s in tf.get_collection("summaries")] == [
        "OptimizeLoss/" + name for name in (
            "global_norm/gradient_norm", "loss", "gradients/w_0",
            "gradient_norm/w_0", "global_norm/clipped_gradient_norm")]


def test_noise_and_update_ops():
    seen = tf.Variable(0)
    tf.add_to_collection("update_ops", seen.assign_add(1))
    loss = optimize(gradient_noise_scale=1.)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(loss)
        w = session.run("w:0")
        assert session.run(seen) == 1
    noise = w - [.8, 1.6]
    assert (noise != 0).all() and (abs(noise) < .21).all()


@pytest.mark.parametrize("options, words", [
    ({"optimizer": "nope"}, "should be one of .*you provided nope"),
    ({"optimizer": 3}, "Unrecognized optimizer: should be string"),
    ({"optimizer": lambda rate: 3}, "should return subclass of Optimizer"),
    ({"learning_rate": -1.}, "Invalid learning_rate -1.0"),
    ({"learning_rate": "x"}, "should be 0d Tensor or float. Got x"),
    ({"learning_rate": None}, "specified if optimizer is string .SGD."),
    ({"learning_rate": None, "optimizer": train.AdamOptimizer},
     "specified if optimizer is class"),
    ({"clip_gradients": "x"}, "Unknown type .* for clip_gradients"),
    ({"summaries": ["x"]}, "Summaries should be one of .*provided x"),
    ({"variables": []}, "No variables to optimize")])
def test_what_optimize_loss_refuses(options, words):
    with pytest.raises(ValueError, match=words):
        optimize(**options)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("rows, wanted", [
    (False, [[.5568, 1.5476], [2.545, 3.5438], [4.5431, 5.5426]]),
    (True, [[.5568, 1.5476], [3., 4.], [4.5431, 5.5426]])])
def test_nadam(rows, wanted, use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        e = tf.get_variable(
            "e", initializer=np.arange(6, dtype="f").reshape(3, 2) + 1,
            use_resource=use_resource)
        used = tf.nn.embedding_lookup(e, [0, 2, 2]) if rows else e
        step = tf.contrib.opt.NadamOptimizer(.1).minimize(
            tf.reduce_sum(tf.square(used)))
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(e), wanted, atol=1e-4)


def test_a_multiplier_of_a_gradient_may_have_any_type():
    v = tf.get_variable("v", initializer=10.)
    factors = [tf.constant(2., tf.float64), tf.constant(2, tf.int64), 2, 2.]
    for factor in factors:
        train = tf.contrib.layers.optimize_loss(
            v * 3., tf.train.get_or_create_global_step(), 1., "SGD",
            gradient_multipliers={v: factor}, variables=[v])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            assert session.run(v) == 4
