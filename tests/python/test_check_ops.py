"""tf.assert_* and tf.debugging: what TensorFlow 1.15 lets pass and refuses, when
the graph is made and in the run, with its messages."""
import numpy as np
import pytest

import headrace as tf


def P(value, shape=None):
    """A tensor whose value the graph does not know."""
    return tf.placeholder_with_default(value, shape)


def run(x):
    with tf.Session() as session:
        return session.run(x)


HOLDS = {
    "equal": lambda: tf.assert_equal([1, 2], [1, 2]),
    "equal_broadcasts": lambda: tf.assert_equal(P([[1, 1], [1, 1]]), 1),
    "none_equal": lambda: tf.assert_none_equal([1, 2], [2, 1]),
    "less": lambda: tf.assert_less([1, 2], P([2, 3])),
    "less_equal": lambda: tf.assert_less_equal([1, 2], [2, 2]),
    "greater": lambda: tf.assert_greater([3, 3], P([2, 2])),
    "greater_equal": lambda: tf.assert_greater_equal([2, 3], [2, 2]),
    "near": lambda: tf.assert_near(P([1., 2.]), [1., 2.0000001]),
    "near_rtol": lambda: tf.assert_near([1., 2.], [1., 2.1], .1, .1),
    "near_half": lambda: tf.assert_near(np.float16([1, 2]),
                                        np.float16([1, 2.015])),
    "near_complex": lambda: tf.assert_near(P(np.complex64([1 + 1j])),
                                           np.complex64([1 + 1j])),
    "negative": lambda: tf.assert_negative(P([-1., -2.])),
    "positive": lambda: tf.assert_positive([1, 2]),
    "non_negative": lambda: tf.assert_non_negative(P(np.uint8([0]))),
    "non_positive": lambda: tf.assert_non_positive(P([0, -2])),
    "rank": lambda: tf.assert_rank(P([1, 2]), 1),
    "rank_known": lambda: tf.assert_rank([1, 2], 1),
    "rank_tensor": lambda: tf.assert_rank([1, 2], P(1, [])),
    "rank_at_least": lambda: tf.assert_rank_at_least(P([[1]]), 1),
    "rank_in": lambda: tf.assert_rank_in(P([1, 2]), [3, 1]),
    "rank_in_known": lambda: tf.assert_rank_in([1, 2], (1, 3)),
    "integer": lambda: tf.assert_integer([1]),
    "type": lambda: tf.assert_type([1.], tf.float32),
    "shapes": lambda: tf.debugging.assert_shapes(
        {tf.ones([1, 2]): ("N", "M"), tf.ones([2]): ("M",)}),
    "shapes_more_before": lambda: tf.debugging.assert_shapes(
        [(tf.ones([2, 3, 4]), (..., "D")), (P(np.ones(4)), "D")]),
    "shapes_scalar_is_one": lambda: tf.debugging.assert_shapes(
        [(tf.ones([]), (1,)), (tf.ones([1]), ()), (P(1.), ("N",)),
         (P([1.]), ("N",))]),
    "shapes_any_size": lambda: tf.debugging.assert_shapes(
        [(P([[1., 2.]]), (None, 2)), (tf.ones([5]), None)]),
}


@pytest.mark.parametrize("case", HOLDS)
def test_holds(case):
    check = HOLDS[case]()
    assert isinstance(check, tf.Operation)
    run(check)


# (check, what the message has)
FAILS_AT_ONCE = {
    "equal": (
        lambda: tf.assert_equal([1, 2], [1, 3], message="hey", name="n"),
        "hey\nCondition x == y did not hold element-wise:\nx (n_1/x:0) = \n"
        "[1 2]\ny (n_1/y:0) = \n[1 3]"),
    "equal_without_message": (
        lambda: tf.assert_equal(["a"], ["b"]),
        "Condition x == y did not hold element-wise:\nx (assert_equal_1/x:0) = "
        "\n[b'a']\ny (assert_equal_1/y:0) = \n[b'b']"),
    "none_equal": (lambda: tf.assert_none_equal([1, 2], [2, 2]),
                   "Condition x != y"),
    "less": (lambda: tf.assert_less([1, 2], [2, 2]), "Condition x < y"),
    "less_equal": (lambda: tf.assert_less_equal([1, 3], [2, 2]),
                   "Condition x <= y"),
    "greater": (lambda: tf.assert_greater([1, 3], [2, 2]), "Condition x > y"),
    "greater_equal": (lambda: tf.assert_greater_equal([1, 3], [2, 2]),
                      "Condition x >= y"),
    "negative": (lambda: tf.assert_negative([1., -2.]),
                 "\nCondition x < 0 did not hold element-wise:\n"
                 "x (assert_negative/x:0) = \n[ 1. -2.]"),
    "positive": (lambda: tf.assert_positive([0, -2]), "Condition x > 0"),
    "non_negative": (lambda: tf.assert_non_negative([0, -2]),
                     "Condition x >= 0"),
    "non_positive": (lambda: tf.assert_non_positive([0, 2]),
                     "Condition x <= 0"),
}


@pytest.mark.parametrize("case", FAILS_AT_ONCE)
def test_fails_when_the_values_are_known(case):
    build, message = FAILS_AT_ONCE[case]
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        build()
    assert message in str(error.value)


REFUSED = {
    "rank": (lambda: tf.assert_rank([1, 2], 2, message="mm"), ValueError,
             r"mm\.  Tensor assert_rank/x:0 must have rank 2\.  Received rank "
             r"1, shape \(2,\)"),
    "rank_no_scalar": (lambda: tf.assert_rank([1, 2], [1]), ValueError,
                       "Rank must be a scalar"),
    "rank_float": (lambda: tf.assert_rank([1, 2], 1.5), TypeError,
                   "must be of type <dtype: 'int32'>"),
    "rank_at_least": (lambda: tf.assert_rank_at_least([1, 2], 2), ValueError,
                      "must have rank at least 2"),
    "rank_in": (lambda: tf.assert_rank_in([1, 2], [2, 3]), ValueError,
                r"must have rank in \(2, 3\)"),
    "integer": (lambda: tf.assert_integer([1.], message="mm"), TypeError,
                'mm  Expected "x" to be integer type'),
    "type": (lambda: tf.assert_type([1.], tf.int32), TypeError,
             "must be of type <dtype: 'int32'>"),
    "near_int": (lambda: tf.assert_near([1], [1]), ValueError, "not inexact"),
    "types": (lambda: tf.assert_equal([1], [1.]), TypeError, "float32"),
    "scalar": (lambda: tf.assert_scalar([1], message="mm"), ValueError,
               "mmExpected scalar shape"),
    "iterable": (lambda: tf.assert_proper_iterable(5), TypeError,
                 "to be iterable"),
    "iterable_tensor": (lambda: tf.assert_proper_iterable(tf.constant([1])),
                        TypeError, "proper"),
    "iterable_string": (lambda: tf.assert_proper_iterable("ab"), TypeError,
                        "proper"),
    "float_types": (lambda: tf.assert_same_float_dtype(
        [tf.constant(1.), tf.constant(2, tf.float64)]), ValueError,
        "must be of the same type"),
    "float_given": (lambda: tf.assert_same_float_dtype(
        [tf.constant(1.)], tf.float64), ValueError, "of the same type"),
    "float_int": (lambda: tf.assert_same_float_dtype([tf.constant(1)]),
                  ValueError, "Expected floating point type"),
    "shapes": (lambda: tf.debugging.assert_shapes(
        [(tf.ones([1, 2], name="a"), ("N", "M")),
         (tf.ones([3], name="b"), ("M",))], message="mm"), ValueError,
        r"mm\.  Specified by tensor a:0 dimension 1\.  Tensor b:0 dimension 0 "
        r"must have size 2\.  Received size 3, shape \(3,\)"),
    "shapes_size": (lambda: tf.debugging.assert_shapes(
        [(tf.ones([1, 2]), (1, 3))]), ValueError, "Specified explicitly"),
    "shapes_rank": (lambda: tf.debugging.assert_shapes(
        [(tf.ones([1, 2]), (1,))]), ValueError, "must have rank in"),
    "shapes_more_after": (lambda: tf.debugging.assert_shapes(
        [(tf.ones([1, 2]), (1, "*"))]), ValueError, "as the first entry"),
    "shapes_number": (lambda: tf.debugging.assert_shapes(
        [(tf.ones([1]), 5)]), ValueError, "must be an iterable"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_when_made(case):
    build, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        build()


FAILS_IN_THE_RUN = {
    "equal": (lambda: tf.assert_equal(P([1, 2]), [1, 3]),
              "[Condition x == y did not hold element-wise:] "
              "[x (PlaceholderWithDefault:0) = ] [1 2] "
              "[y (assert_equal_1/y:0) = ] [1 3]"),
    "summarize": (lambda: tf.assert_equal(P([1, 2]), [1, 3], summarize=1,
                                          message="hey"), "[hey] [Condition"),
    "data": (lambda: tf.assert_less(P([1]), [0], data=["a", P([7, 8])]),
             "assertion failed: [a] [7 8]"),
    "near": (lambda: tf.assert_near(P([1., 2.]), [1., 2.1], message="q"),
             "[q] [x and y not equal to tolerance rtol = "),
    "negative": (lambda: tf.assert_negative(P([1, 2])),
                 "[] [Condition x < 0 did not hold element-wise:] "),
    "rank": (lambda: tf.assert_rank(P([1, 2]), 2),
             "[Tensor PlaceholderWithDefault:0 must have rank] [2] "
             "[Received shape: ] [2]"),
    "rank_in": (lambda: tf.assert_rank_in(P([1, 2]), [2, 3], message="ms"),
                "[ms] [Tensor PlaceholderWithDefault:0 must have rank in] [2] "
                "[3] [Received shape: ] [2]"),
    "shapes": (lambda: tf.debugging.assert_shapes(
        [(P([1, 2]), ("N",)), (P([1, 2, 3]), ("N",))]),
        "[] [Specified by tensor PlaceholderWithDefault:0 dimension 0] [Tensor "
        "PlaceholderWithDefault_1:0 dimension] [0] [must have size] [2] "
        "[Received shape: ] [3]"),
    "shapes_rank": (lambda: tf.debugging.assert_shapes(
        [(P([1, 2]), ("N", "M"))]), "must have rank] [2]"),
}


@pytest.mark.parametrize("case", FAILS_IN_THE_RUN)
def test_fails_in_the_run(case):
    build, message = FAILS_IN_THE_RUN[case]
    check = build()
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        run(check)
    assert message in str(error.value)


def test_equal_of_one_tensor_needs_no_check():
    x = P(1.)
    assert tf.assert_equal(x, x).type == "NoOp"


def test_order():
    values = ([1, 1, 2], [1, 0, 2], [], [3], [[1, 2], [2, 3]])
    assert run([tf.is_non_decreasing(v) for v in values]) == [
        True, False, True, True, True]
    assert run([tf.is_strictly_increasing(v) for v in values]) == [
        False, False, True, True, False]


def test_is_numeric_tensor():
    assert tf.is_numeric_tensor(tf.constant(1))
    assert tf.is_numeric_tensor(tf.constant(1, tf.complex64))
    for x in (tf.constant("a"), tf.constant(True), 1, tf.Variable(1.)):
        assert not tf.is_numeric_tensor(x)


def test_same_float_dtype():
    assert tf.assert_same_float_dtype() == tf.float32
    assert tf.assert_same_float_dtype(None, tf.float64) == tf.float64
    assert tf.assert_same_float_dtype([tf.ones([], tf.half)]) == tf.half


def test_scalar_and_iterable_that_pass():
    assert run(tf.assert_scalar(3)) == 3
    tf.assert_proper_iterable([1])
