"""The optimizers of tf.contrib.opt give the losses and variables of TensorFlow
1.15 in the programs of opt_programs.py, and refuse what they cannot do."""
import json

import numpy as np
import opt_programs
import pytest

import headrace as tf

opt = tf.contrib.opt

with open(opt_programs.VALUES) as file:
    WANTED = json.load(file)


def other_kind(name):
    kinds = ("reference", "resource")
    before, _, kind = name.rpartition(" ")
    return before + " " + kinds[1 - kinds.index(kind)]


def check(got, wanted):
    np.testing.assert_allclose(got["losses"], wanted["losses"], rtol=1e-4,
                               atol=1e-6)
    assert [name for name, _ in got["variables"]] == [
        name for name, _ in wanted["variables"]]
    for (name, ours), (_, theirs) in zip(got["variables"],
                                         wanted["variables"]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4,
                                   err_msg=name)


def test_every_program_has_values():
    assert sorted(WANTED) == sorted(
        (set(opt_programs.PROGRAMS) - set(opt_programs.UNLIKE)).union(
            opt_programs.WORKERS))


@pytest.mark.parametrize("name", sorted(opt_programs.PROGRAMS))
def test_a_program_gives_what_tensorflow_gives(name):
    wanted = other_kind(name) if name in opt_programs.UNLIKE else name
    check(opt_programs.run(tf, name), WANTED[wanted])


@pytest.mark.parametrize("name", opt_programs.WORKERS)
def test_a_worker_gives_what_tensorflow_gives(name):
    check(opt_programs.run_worker(tf, name), WANTED[name])


def run(*fetches, steps=1):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(),
                     tf.local_variables_initializer()])
        for _ in range(steps):
            found = session.run(fetches)
    return found


def test_stale_gradients_are_dropped():
    count = tf.train.create_global_step()
    w = tf.Variable(1.)
    optimizer = opt.DropStaleGradientOptimizer(
        tf.train.GradientDescentOptimizer(.5), 0)
    pairs = optimizer.compute_gradients(w * w)
    # Another worker's step, while the gradients are computed.
    late = tf.placeholder_with_default(tf.zeros([], tf.int64), [])
    with tf.control_dependencies([pairs[0][0], count.assign_add(late)]):
        pairs = [(tf.identity(pairs[0][0]), w)]
    step = optimizer.apply_gradients(pairs, global_step=count)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dropped = []
        for steps in (0, 1, 0, 2):
            dropped.append(float(session.run(step, {late: steps})))
        assert dropped == [0., 1., 1., 2.]
        assert session.run(w) == 0. and session.run(count) == 5
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients(pairs)


def test_the_swapping_saver_of_centers(tmp_path):
    with pytest.raises(RuntimeError, match="global_center_variable is empty"):
        opt.ElasticAverageOptimizer(
            tf.train.GradientDescentOptimizer(.1), 1,
            opt.ElasticAverageCustomGetter("")).swapping_saver()
    tf.reset_default_graph()
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        w = tf.get_variable("w", initializer=[1., 2.])
    optimizer = opt.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(.1), 1, getter)
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(),
                     tf.local_variables_initializer()])
        session.run(w.assign([7., 8.]))
        path = saver.save(session, str(tmp_path / "centers"))
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map() == {"w": [2]}
    assert reader.get_tensor("w").tolist() == [1., 2.]


def quadratic():
    v = tf.Variable([7., 7.])
    return v, tf.reduce_sum(tf.square(v - [3., 4.]))


class Descent(opt.ExternalOptimizerInterface):
    """As a program may write one: it notes what it was given."""

    def _minimize(self, initial_val, loss_grad_func, equality_funcs,
                  equality_grad_funcs, inequality_funcs, inequality_grad_funcs,
                  packed_bounds, step_callback, optimizer_kwargs):
        self.bounds, self.kwargs = packed_bounds, optimizer_kwargs
        x = initial_val
        self.constraints = [f(x)[0].tolist() for f in (
            equality_funcs + equality_grad_funcs + inequality_funcs
            + inequality_grad_funcs)]
        for _ in range(optimizer_kwargs["steps"]):
            _, gradient = loss_grad_func(x)
            x = x - .5 * gradient
            step_callback(x)
        return x


def test_an_optimizer_outside_of_the_graph():
    v, loss = quadratic()
    w = tf.Variable([[1., 2.], [3., 4.]])
    scale = tf.placeholder(tf.float32)
    steps, losses = [], []
    optimizer = Descent(
        loss * scale, [v, w], equalities=[v[1] - 1.], inequalities=[w[0, 1]],
        var_to_bounds={w: ([1, 2], np.inf)}, steps=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(
            session, {scale: .5}, [loss], step_callback=steps.append,
            loss_callback=lambda x: losses.append(float(x)))
        assert session.run(v).tolist() == [4., 4.75]
        assert session.run(w).tolist() == [[1., 2.], [3., 4.]]
    assert losses == [25., 6.25]
    assert [x.tolist() for x in steps] == [[5., 5.5, 1., 2., 3., 4.],
                                           [4., 4.75, 1., 2., 3., 4.]]
    inf = float("inf")
    assert optimizer.bounds == [(-inf, inf)] * 2 + [(1, inf), (2, inf)] * 2
    assert optimizer.kwargs == {"steps": 2}
    assert optimizer.constraints == [6., [0., 1., 0., 0., 0., 0.], 2.,
                                     [0., 0., 0., 1., 0., 0.]]


def test_an_interface_alone_minimizes_nothing():
    _, loss = quadratic()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(NotImplementedError, match="subclass from it"):
            opt.ExternalOptimizerInterface(loss).minimize(session)


@pytest.mark.parametrize("options, wanted", [
    ({}, [3., 4.]),
    ({"options": {"maxiter": 50}, "method": "CG"}, [3., 4.]),
    ({"bounds": ([3.5, 1.], 3.75)}, [3.5, 3.75]),
    ({"method": "SLSQP", "equal": 1., "least": 3.5}, [3.5, 1.])])
def test_scipy(options, wanted):
    pytest.importorskip("scipy")
    v, loss = quadratic()
    options = dict(options)
    if "equal" in options:
        options.update(equalities=[v[1] - options.pop("equal")],
                       inequalities=[v[0] - options.pop("least")])
    if "bounds" in options:
        options["var_to_bounds"] = {v: options.pop("bounds")}
    optimizer = opt.ScipyOptimizerInterface(loss, **options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session)
        np.testing.assert_allclose(session.run(v), wanted, atol=1e-4)


@pytest.mark.parametrize("name, message", [
    ("bounds", "Bounds must be set using the var_to_bounds"),
    ("jac", "'jac' is set automatically")])
def test_what_scipy_is_not_told(name, message):
    _, loss = quadratic()
    optimizer = opt.ScipyOptimizerInterface(loss, **{name: None})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match=message):
            optimizer.minimize(session)


def rows():
    e = tf.Variable(np.ones([4, 2], np.float32), name="e")
    return e, tf.reduce_sum(tf.gather(e, [1, 3]))


def test_ggt_refuses_sparse_gradients():
    _, loss = rows()
    with pytest.raises(NotImplementedError, match="gradient of e is sparse"):
        opt.GGTOptimizer(.1).minimize(loss)


def test_ggt_takes_stop_gradients():
    a = tf.Variable(1.)
    b = a * 2.
    optimizer = opt.GGTOptimizer()
    for stopped, wanted in (None, 3.), ([b], 1.):
        (g, _), = optimizer.compute_gradients(a + b, stop_gradients=stopped)
        assert run(g) == (wanted,)


def test_shampoo_refuses_decay_of_sparse_diagonals():
    _, loss = rows()
    with pytest.raises(ValueError, match="mat_gbar_decay must be 1 for sparse "
                       "gradients of e"):
        opt.ShampooOptimizer(max_matrix_size=3, mat_gbar_decay=.5).minimize(
            loss)


def test_shampoo_computes_powers_at_intervals_by_a_function():
    v = tf.Variable([[1., 2.], [3., 4.]])
    count = tf.train.create_global_step()
    optimizer = opt.ShampooOptimizer(
        count, svd_interval=lambda t: tf.where(t < 2.5, 1., 100.))
    step = optimizer.minimize(tf.reduce_sum(v * v), global_step=count)
    power = optimizer.get_slot(v, "H_0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        powers = []
        for _ in range(4):
            session.run(step)
            powers.append(session.run(power))
    assert (powers[0] != powers[1]).any() and (powers[1] == powers[3]).all()


@pytest.mark.parametrize("argument", ["momentum", "weight_decay"])
def test_lars_refuses_negative_numbers(argument):
    with pytest.raises(ValueError, match=argument + " should be positive: -1"):
        opt.LARSOptimizer(.1, **{argument: -1.})


def test_what_wrappers_refuse():
    with pytest.raises(TypeError, match="instance of tf.train.Optimizer"):
        opt.MultitaskOptimizerWrapper("Adam")
    optimizer = opt.ModelAverageOptimizer(
        tf.train.GradientDescentOptimizer(.1), 1, True,
        opt.ModelAverageCustomGetter(""))
    with pytest.raises(ValueError, match="at least one variable"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf.constant(1.), tf.Variable(1.))])


@pytest.mark.parametrize("name", ["AGN", "ElasticAverage"])
def test_what_workers_start_from(name):
    optimizer = getattr(opt, name + "Optimizer")(
        tf.train.GradientDescentOptimizer(.1), 1,
        getattr(opt, name + "CustomGetter")(""))
    with pytest.raises(ValueError, match="lists of local_variables.* should "
                       "not be empty"):
        optimizer.get_init_op(0)
    tf.Variable(1., name="other")
    with pytest.raises(ValueError, match="other has no global_center_variable"):
        optimizer.get_init_op(0)


def test_a_gather_of_what_was_written_waits():
    v = tf.get_variable("v", initializer=[1., 2., 3.], use_resource=True)
    first, point = tf.constant([1]), tf.constant([[1]])
    for written in (tf.scatter_add(v, [1], [5.]), v.assign_add([0., 1., 0.])):
        for gather, at in (tf.gather, first), (tf.gather_nd, point):
            read = gather(written, at)
            assert written.op in read.op.inputs[0].op.control_inputs


def test_gradients_of_tasks_are_clipped_by_the_norm_of_those_there():
    pairs, norm = opt.clip_gradients_by_global_norm(
        [(tf.constant([3., 4.]), "a"), (tf.zeros([3]), "b"), (None, "c")], 1.)
    assert [v for _, v in pairs] == ["a", "b", "c"] and pairs[2][0] is None
    a, b, n = run(pairs[0][0], pairs[1][0], norm)
    np.testing.assert_allclose(a, [.6, .8], rtol=1e-6)
    assert b.tolist() == [0., 0., 0.] and n == 5.


@pytest.mark.parametrize("size, p", [(1, 4), (3, 2), (5, 4)])
def test_powers_of_matrices(size, p):
    from headrace._src.training import shampoo
    random = np.random.RandomState(0)
    half = random.normal(size=(size, size)).astype(np.float32)
    matrix = half @ half.T + np.eye(size, dtype=np.float32)
    root = shampoo.matrix_inverse_pth_root(tf.constant(matrix), size, -1. / p)
    square, = run(shampoo.matrix_square_root(tf.constant(matrix), size))
    np.testing.assert_allclose(square @ square, matrix, rtol=2e-3, atol=2e-3)
    found, = run(root)
    values, vectors = np.linalg.eigh(matrix.astype(np.float64))
    np.testing.assert_allclose(
        found, vectors * values ** (-1. / p) @ vectors.T, rtol=1e-3, atol=1e-3)
    if size > 1:
        with pytest.raises(ValueError, match="alpha must be -1 / p"):
            shampoo.matrix_inverse_pth_root(tf.constant(matrix), size, -.3)
