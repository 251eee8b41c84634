"""AutoGraph: functions that branch and loop on tensors, through Dataset.map and
tf.autograph.to_graph, with what they give or the kind of error."""
from __future__ import print_function

import functools

import tensorflow as tf
from tensorflow import autograph

tf.logging.set_verbosity(tf.logging.ERROR)
Feature = autograph.experimental.Feature
SCALE = 10


# Branches.

def if_else(x):
    if x > 1:
        y = x * 2
    else:
        y = -x
    return y


def if_without_else(x):
    y = x
    if x > 1:
        y = x * 100
    return y


def elif_chain(x):
    if x < 1:
        y = x + 100
    elif x < 2:
        y = x + 200
    elif x < 3:
        y = x + 300
    else:
        y = x + 400
    return y


def nested_if(x):
    y = x
    if x > 0:
        if x > 2:
            y = x * 5
        z = y + 1
    else:
        z = y - 1
    return y, z


def return_in_branches(x):
    if x > 2:
        return x * 10
    if x > 1:
        return x * 100
    return x


def return_in_both(x):
    if x > 2:
        return x * 10
    else:
        return -x


def no_return_in_one(x):
    if x > 2:
        return x


def return_of_inner_if(x):
    if x > 0:
        if x > 2:
            return x * 7
    return x


def temporary_of_one_branch(x):
    y = x
    if x > 1:
        t = x * 3
        y = t + 1
    return y


def undefined_in_else(x):
    if x > 1:
        y = x
    return y


def undefined_in_main(x):
    if x > 1:
        pass
    else:
        y = x
    return y


def other_type(x):
    if x > 1:
        y = 1
    else:
        y = 2.5
    return y


def tuples_in_branches(x):
    if x > 1:
        p = (x, x * 2)
    else:
        p = (-x, x)
    return p


def dict_item(x):
    d = {"a": x, "b": x}
    if x > 1:
        d["a"] = x * 9
    return d["a"] + d["b"]


class Box(object):
    def __init__(self, value):
        self.value = value

    def grow(self, x):
        if x > 1:
            self.value = self.value * x
        return self.value

    def __call__(self, x):
        return x + 1 if x > 1 else x - 1


def attribute(x):
    box = Box(x)
    if x > 1:
        box.value = x * 3
    return box.value


def attribute_in_loop(x):
    box = Box(x)
    while box.value < 20:
        box.value = box.value * 2 + 1
    return box.value


def method_call(x):
    return Box(x).grow(x)


def callable_object(x):
    box = Box(x)
    return box(x)


def python_condition(x):
    n = 3
    if n > 2:
        y = "%d" % n
    else:
        y = None
    return x + len(y)


def equality_is_identity(x):
    if x == 1:
        return x * 10
    return x


def not_equal(x):
    return x * 10 if x != 1 else x


# Loops.

def while_loop(x):
    n = x
    steps = 0
    while n < 10:
        n = n * 2 + 1
        steps += 1
    return n, steps


def for_range(x):
    total = x
    for i in tf.range(3):
        total += tf.cast(i, tf.int64) * 2
    return total


def for_range_start(x):
    total = x
    for i in tf.range(10, 3, -2):
        total = total * 2 + tf.cast(i, tf.int64)
    return total


def for_dynamic_range(x):
    total = tf.constant(0, tf.int64)
    for i in range(x):
        total += i
    return total


def for_rows(x):
    total = tf.zeros([2], tf.int64)
    for row in tf.stack([[x, x + 1], [x * 2, 5], [1, x]]):
        total = total * 2 + row
    return total


def for_list(x):
    for n in [1, 2, 3]:
        x = x * 2 + n
    return x


def for_pairs(x):
    for a, (b, c) in [(1, (2, 3)), (4, (5, 6))]:
        if x > b:
            x = x + a
        else:
            x = x + c
    return x


def for_enumerate(x):
    for i, v in enumerate([x, x * 2]):
        x += i * v
    return x


def for_dataset(x):
    total = x
    for v in tf.data.Dataset.range(5):
        total = total + v
    return total


def for_dataset_break(x):
    total = x
    for v in tf.data.Dataset.range(5):
        if v > 2:
            break
        total = total + v * 10
    return total


def nested_loops(x):
    total = x
    for i in tf.range(3):
        j = 0
        while j < i:
            total = total + 1
            j += 1
    return total


def break_while(x):
    n = x
    while n < 100:
        n = n * 2 + 1
        if n > 20:
            break
    return n


def break_for(x):
    total = x
    for i in tf.range(10):
        if i > 4:
            break
        total += tf.cast(i, tf.int64)
    return total


def continue_for(x):
    total = x
    for i in tf.range(6):
        if i % 2 > 0:
            continue
        total += tf.cast(i, tf.int64)
    return total


def break_and_continue(x):
    total = x
    i = tf.constant(0)
    while i < 20:
        i += 1
        if i % 3 > 1:
            continue
        if total > 30:
            break
        total += tf.cast(i, tf.int64)
    return total


def tensor_break_in_python_loop(x):
    for n in [1, 2, 3]:
        x += n
        if x > 4:
            break
    return x


def python_break(x):
    for n in range(10):
        if n == 3:
            break
        x += n
    return x, n


def return_in_python_loop(x):
    for n in [1, 2, 3]:
        if n == 2:
            return x * n
    return x


def return_in_loop(x):
    while x < 10:
        if x > 5:
            return x
        x += 3
    return x


def undefined_before_loop(x):
    for i in tf.range(3):
        z = i
    return z


def type_changes(x):
    y = 0
    while x < 3:
        y = 1.5
        x += 1
    return y


def shape_changes(x):
    y = tf.zeros([1], tf.int64)
    while x < 3:
        y = tf.concat([y, [x]], 0)
        x += 1
    return y


def temporary_of_loop(x):
    total = x
    for i in tf.range(3):
        t = tf.cast(i, tf.int64) * 3
        total += t
    return total


def loop_options(x):
    n = x
    while n < 10:
        autograph.experimental.set_loop_options(parallel_iterations=1)
        n += 3
    return n


def loop_without_variables(x):
    for _ in tf.range(3):
        tf.identity(x)
    return x


# Expressions.

def and_or_not(x):
    return (x > 0 and x < 3), (x < 1 or x > 2), not x > 1


def lazy_and(x):
    return x if x > 0 and 12 // x > 5 else -x


def conditional_expression(x):
    return x * 2 if x > 1 else x * 3


def python_and(x):
    flag = None
    name = flag or "name"
    return x + len(name if name and not flag else "")


def lengths(x):
    return len(tf.stack([x, x])) + len([1, 2, 3])


def conversions(x):
    return float(x) / 2, int(x), abs(-x)


# Functions.

def helper(x):
    if x > 2:
        return x + SCALE
    return x - SCALE


def calls_function(x):
    return helper(x) * 2


def recursion_in_python(x, depth=3):
    if depth == 0:
        return x
    if x > 1:
        x = x * 2
    return recursion_in_python(x, depth - 1)


def nested_function(x):
    k = 4

    def inner(y, by=2):
        if y > 1:
            return y * by + k
        return y
    return inner(x) + inner(x, by=3)


def lambda_inside(x):
    choose = lambda v: v * 5 if v > 1 else v
    return choose(x)


def mapped_inside(x):
    return tf.map_fn(lambda v: v * 5 if v > 1 else v, tf.stack([x, x + 1]))


def make_closure(n):
    def closure(x):
        if x > n:
            return x * n
        return x
    return closure


def keyword_arguments(x, *args, **kwargs):
    if x > 1:
        x = x + len(args) + kwargs["more"]
    return x


def passes_arguments(x):
    rest = [1, 2]
    return keyword_arguments(x, *rest, more=3)


def decorate(f):
    @functools.wraps(f)
    def wrapper(x):
        if x > 2:
            return f(x)
        return x
    return wrapper


@decorate
def decorated(x):
    if x > 1:
        return x * 50
    return x


@autograph.experimental.do_not_convert
def not_converted(x):
    if x > 1:
        return x
    return -x


def calls_not_converted(x):
    return not_converted(x)


def comprehension(x):
    return tf.stack([v * 2 if v > 1 else v for v in [x, x + 1]])


def with_statement(x):
    with tf.name_scope("scope"):
        if x > 1:
            x = x * 2
    return x


def try_statement(x):
    try:
        if x > 1:
            y = x * 2
        else:
            y = x
    except KeyError:
        y = x
    return y


def raises(x):
    if x > 1:
        raise ValueError("no")
    return x


def key_error(x):
    d = {}
    if x > 1:
        x = d["k"]
    return x


FUNCTIONS = [
    if_else, if_without_else, elif_chain, nested_if, return_in_branches,
    return_in_both, no_return_in_one, return_of_inner_if,
    temporary_of_one_branch, undefined_in_else, undefined_in_main, other_type,
    tuples_in_branches, dict_item, attribute,
    attribute_in_loop, method_call, callable_object, python_condition,
    equality_is_identity, not_equal,
    while_loop, for_range, for_range_start, for_dynamic_range, for_rows,
    for_list, for_pairs, for_enumerate, for_dataset, for_dataset_break,
    nested_loops, break_while, break_for, continue_for, break_and_continue,
    tensor_break_in_python_loop, python_break, return_in_python_loop, return_in_loop, undefined_before_loop,
    type_changes, shape_changes, temporary_of_loop, loop_options,
    loop_without_variables,
    and_or_not, lazy_and, conditional_expression, python_and, lengths,
    conversions,
    calls_function, recursion_in_python, nested_function, lambda_inside,
    mapped_inside, make_closure(1), passes_arguments, decorated, not_converted,
    calls_not_converted, comprehension, with_statement, try_statement, raises,
    key_error, Box(3), Box(3).grow,
    functools.partial(keyword_arguments, more=4)]


def plain(value):
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    value = value.tolist()
    return round(value, 4) if isinstance(value, float) else value


def kind(error):
    for base in (TypeError, ValueError, KeyError, tf.errors.OpError):
        if isinstance(error, base):
            return base.__name__
    return type(error).__name__


def name_of(f):
    return getattr(f, "__name__", type(f).__name__)


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, kind(error))


def through_map(f):
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(5).map(f)
        element = dataset.make_one_shot_iterator().get_next()
        return [plain(sess.run(element)) for _ in range(5)]


def through_graph(f, **options):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int64, [])
        y = autograph.to_graph(f, **options)(x)
        return [plain(sess.run(y, {x: n})) for n in range(5)]


for f in FUNCTIONS:
    show("map " + name_of(f), lambda: through_map(f))
for f in (if_else, return_in_branches, while_loop, break_for, nested_function,
          undefined_in_else, calls_function):
    show("to_graph " + f.__name__, lambda: through_graph(f))
for f in (equality_is_identity, not_equal):
    show("equality " + f.__name__, lambda: through_graph(
        f, experimental_optional_features=Feature.EQUALITY_OPERATORS))


# The other functions of datasets.

def elements(make):
    with tf.Graph().as_default(), tf.Session() as sess:
        element = make(tf.data.Dataset).make_one_shot_iterator().get_next()
        out = []
        try:
            while True:
                out.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            return out


def keep(x):
    if x > 1 and x < 4:
        return True
    return False


def many(x):
    n = x
    if x > 2:
        n = x * 2
    return tf.data.Dataset.range(n).map(lambda v: v if v > 1 else v - 5)


def total(state, x):
    if x > 2:
        return state + x
    return state


show("filter", lambda: elements(lambda d: d.range(6).filter(keep)))
show("filter lambda", lambda: elements(
    lambda d: d.range(6).filter(lambda x: x > 1 and x < 4)))
show("flat_map", lambda: elements(lambda d: d.range(4).flat_map(many)))
show("interleave", lambda: elements(
    lambda d: d.range(4).interleave(many, cycle_length=2)))
show("batch", lambda: elements(lambda d: d.range(4).map(
    lambda x: x * 2 if x > 1 else x).batch(2)))


def reduced():
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(tf.data.Dataset.range(6).reduce(
            tf.constant(0, tf.int64), total))


show("reduce", reduced)
