"""tf.contrib.integrate. The values are TensorFlow 1.15's."""
import numpy as np
import pytest

import headrace as tf
from headrace.contrib.integrate import odeint, odeint_fixed


def decay(y, t):
    return -y


def turn(y, t):
    return tf.stack([y[1], -y[0]])


FIVE = np.linspace(0, 5, 7)
CIRCLE = np.stack([np.cos(FIVE), -np.sin(FIVE)], 1)


@pytest.mark.parametrize("make, shape, want, tolerance", [
    (lambda: odeint(decay, 1., [0, 1., 2]), [3], np.exp([0., -1, -2]), 1e-6),
    (lambda: odeint(decay, 1., [0, 1]), [2], np.exp([0., -1]), 1e-6),
    (lambda: odeint(turn, [1., 0.], FIVE), [7, 2], CIRCLE, 2e-5),
    (lambda: odeint(lambda y, t: 1j * y, tf.constant(1 + 0j, tf.complex128),
                    tf.constant([0., .5, 1.]), rtol=1e-8), [3],
     np.exp(1j * np.array([0, .5, 1])), 1e-7),
    (lambda: odeint(lambda y, t: -y * tf.cast(t, y.dtype), [[1., 2.]], [0., 1.],
                    method="dopri5", options={
                        "first_step": .1, "safety": .8, "ifactor": 5.,
                        "dfactor": .3}), [2, 1, 2],
     [[[1, 2]], [[.6065305, 1.213061]]], 1e-6),
    (lambda: odeint(decay, tf.constant(1., tf.float64),
                    tf.placeholder_with_default(np.array([0., 1]), [None])),
     [None], np.exp([0., -1]), 1e-6),
    (lambda: odeint_fixed(decay, 1., [0, 1., 2]), [3], [1, .375, .140625],
     1e-6),
    (lambda: odeint_fixed(turn, [1., 0.], FIVE, .1), [7, 2], CIRCLE, 1e-5),
    (lambda: odeint_fixed(decay, 1., [0, 1., 2], [.5, 1.], "midpoint"), [3],
     [1, .390625, .1953125], 1e-6)])
def test_solutions(make, shape, want, tolerance):
    out = make()
    assert out.get_shape().as_list() == shape
    np.testing.assert_allclose(tf.Session().run(out), want, rtol=0,
                               atol=tolerance)


def test_steps_that_were_taken():
    y, info = odeint(turn, [1., 0.], FIVE, full_output=True)
    assert y.name == "odeint:0"
    assert {k: (v.dtype, v.get_shape().as_list()) for k, v in info.items()} == {
        "num_func_evals": (tf.int32, []),
        "integrate_points": (tf.float64, [None]),
        "error_ratio": (tf.float32, [None])}
    got = tf.Session().run(info)
    assert got["num_func_evals"] == 169
    np.testing.assert_allclose(got["integrate_points"][:4], [
        1., .2645, .2098, .41], atol=1e-4)
    np.testing.assert_allclose(got["error_ratio"][:3], [
        455.91, 1.8823, .74641], rtol=1e-2)


STEP = ("odeint/interpolate_loop/interpolate/integrate_loop/"
        "runge_kutta_step/")


def test_numbers_and_names_of_nodes():
    odeint(decay, 1., [0, 1., 2])
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert len(names) == 577
    assert {"odeint", "odeint/first_step", "odeint/interpolate_loop/Enter_10",
            STEP + STEP + "/y1_error", STEP + STEP + "/f1"} <= names


def test_a_gradient_through_a_fixed_grid():
    y0 = tf.constant(1.)
    y = odeint_fixed(lambda y, t: -y * y, y0, [0., 1.])
    slope = tf.gradients(y[1], y0)[0]
    assert abs(tf.Session().run(slope) - .141927) < 1e-5


@pytest.mark.parametrize("make, error, message", [
    (lambda: odeint(decay, 1, [0., 1]), TypeError, "`y0` must have .* int32"),
    (lambda: odeint(decay, 1., tf.constant([0, 1])), TypeError, "`t` must have"),
    (lambda: odeint(decay, 1., [0., 1], method="x"), ValueError,
     "invalid method: 'x'"),
    (lambda: odeint(decay, 1., [0., 1], options={}), ValueError,
     "without specifying `method`"),
    (lambda: odeint(decay, 1., [0., 1], method="dopri5", options={"q": 1}),
     TypeError, "has no option q; it has first_step"),
    (lambda: odeint_fixed(decay, 1, [0., 1]), TypeError, "`y0` must have"),
    (lambda: odeint_fixed(decay, 1., tf.constant([0, 1])), TypeError,
     "must have the same dtype"),
    (lambda: odeint_fixed(decay, 1., [0., 1, 2], [.1, .1, .1]), ValueError,
     "Dimensions must be equal, but are 2 and 3"),
    (lambda: odeint_fixed(decay, 1., [[0., 1]]), ValueError,
     r"t must be a 1D tensor, got shape \(1, 2\)"),
    (lambda: odeint_fixed(decay, 1., [0., 1], method="euler"), ValueError,
     "method not supported: euler")])
def test_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("make, message", [
    (lambda: odeint(decay, 1., [0., 1, .5]), "must be monotonic increasing"),
    (lambda: odeint(decay, 1., [0., 1], method="dopri5",
                    options={"max_num_steps": 2}), "max_num_steps exceeded"),
    (lambda: odeint_fixed(decay, 1., [0., 2, 1]),
     "must be monotonic increasing")])
def test_fails_in_the_run(make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.Session().run(make())
