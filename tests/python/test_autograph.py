"""AutoGraph. tests/programs/autograph.py compares results with TensorFlow's;
here are Python's semantics, errors, lines, and what is not converted."""
import functools
import inspect
import random
import threading
import traceback

import numpy as np
import pytest

import headrace as tf
from autograph_functions import CASES, outcome
from headrace._src.autograph import conversion


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def mapped(function, n=4):
    with tf.Graph().as_default(), tf.Session() as sess:
        element = tf.data.Dataset.range(n).map(
            function).make_one_shot_iterator().get_next()
        return [sess.run(element) for _ in range(n)]


def graphed(function, values, dtype=tf.int32, **options):
    """What the converted function gives for each value that is fed."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(dtype, [])
        y = tf.autograph.to_graph(function, **options)(x)
        return [sess.run(y, {x: v}) for v in values]


# Python's semantics.

@pytest.mark.parametrize("function,n", CASES, ids=lambda x: getattr(
    x, "__name__", x))
def test_python_values_give_what_python_gives(function, n):
    converted = tf.autograph.to_graph(inspect.unwrap(function))
    assert outcome(converted, n) == outcome(inspect.unwrap(function), n)
    assert outcome(conversion.convert(function), n) == outcome(function, n)


class _Functions:
    """Makes functions of ints a, b, c, at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def number(self, depth=0):
        kind = self.random.randrange(6 if depth < 2 else 2)
        if kind < 2:
            return self.random.choice("abc") if kind else "(%d + 0 * a)" % \
                self.random.randrange(-3, 6)
        if kind < 4:
            return "(%s %s %s)" % (self.number(depth + 1),
                                   self.random.choice("+-"),
                                   self.number(depth + 1))
        if kind == 4:
            return "(%s if %s else %s)" % (
                self.number(depth + 1), self.test(depth + 1),
                self.number(depth + 1))
        return "limit(%s * 3)" % self.random.choice("abc")

    def test(self, depth=0):
        kind = self.random.randrange(5 if depth < 2 else 2)
        name = self.random.choice("abc")
        if kind < 2:
            return "%s %s %s" % (name, self.random.choice(["<", ">", "<="]),
                                 self.number(1))
        if kind < 4:
            return "(%s %s %s)" % (self.test(depth + 1),
                                   ["and", "or"][kind - 2],
                                   self.test(depth + 1))
        return self.random.choice(["not %s > 1", "0 < %s <= b"]) % name

    def block(self, depth, in_loop, returns):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, in_loop, returns)
        return ["    " + line for line in lines]

    def statement(self, depth, in_loop, returns):
        kind = self.random.randrange(9 if depth < 3 else 3)
        if kind < 3:
            return ["%s = limit(%s)" % (self.random.choice("abc"),
                                        self.number())]
        if kind < 6:
            lines = ["if %s:" % self.test()] + self.block(
                depth + 1, in_loop, returns)
            if in_loop and self.random.random() < .3:
                lines.append("    " + self.random.choice(["break",
                                                          "continue"]))
            elif returns and self.random.random() < .4:
                lines.append("    return a, b, c")
            if self.random.random() < .6:
                lines += ["else:"] + self.block(depth + 1, in_loop, returns)
            return lines
        self.loops += 1
        i = "i%d" % self.loops
        if kind == 6:
            lines = ["%s = a * 0" % i, "while %s < 3:" % i, "    %s += 1" % i]
        else:
            lines = ["for %s in numbers(%s):" % (
                i, "3" if kind == 7 else "limit(a) + 2")]
        lines += self.block(depth + 1, True, False)
        if self.random.random() < .2:
            lines += ["else:"] + self.block(depth + 1, in_loop, False)
        return lines

    def source(self, returns):
        return "\n".join(["def f(a, b, c):"] + self.block(0, False, returns)
                         + ["    return a, b, c", ""])


def _load(path, source, **names):
    path.write_text(source)
    space = dict(names, __name__=path.stem)
    exec(compile(source, str(path), "exec"), space)
    return space["f"]


REFUSED = ("must also be returned", "must be defined before the loop",
           "must also be initialized")


@pytest.mark.parametrize("seed", range(24))
def test_random_functions_give_tensors_as_they_give_numbers(seed, tmp_path):
    source = _Functions(seed).source(seed % 3 == 0)
    inputs = [(0, 1, 2), (3, -1, 5), (-4, 2, 0), (7, 7, 7)]
    python = _load(tmp_path / "python.py", source, numbers=range,
                   limit=lambda x: max(-20, min(20, x)))
    wanted = [python(*values) for values in inputs]
    converted = tf.autograph.to_graph(python)
    assert [converted(*values) for values in inputs] == wanted

    staged = _load(tmp_path / "staged.py", source, numbers=tf.range,
                   limit=lambda x: tf.maximum(tf.minimum(x, 20), -20))
    with tf.Graph().as_default(), tf.Session() as sess:
        x = [tf.placeholder(tf.int32, []) for _ in range(3)]
        try:
            y = tf.autograph.to_graph(staged)(*x)
        except ValueError as error:
            assert any(text in str(error) for text in REFUSED), source
            return
        got = [tuple(sess.run(y, dict(zip(x, v)))) for v in inputs]
    assert got == wanted, source


# Errors name the statement.

def in_one_branch(x):
    z = 1
    if x > 1:
        y = z
    return y


def return_in_one_branch(x):
    if x > 1:
        return x


def other_types(x):
    y = x
    if x > 1:  # here
        y = 2.5
    return y


def other_structures(x):
    y = (x, x)
    if x > 1:  # here
        y = x
    return y


def no_tensor(x):
    y = object()
    if x > 1:  # here
        y = [y, x]
    return x


def no_tensor_used(x):
    y = object()
    if x > 1:  # here
        y = x
    return y


def not_before_loop(x):
    while x < 3:  # here
        y = x
        x += 1
    return y


def return_in_loop(x):
    for i in tf.range(3):  # here
        if i > x:
            return i
    return x


def type_after_loop(x):
    y = 0
    while x < 3:  # here
        y, x = 0.5, x + 1
    return y


def shape_after_loop(x):
    y = tf.zeros([1])
    for _ in tf.range(x):  # here
        y = tf.concat([y, y], 0)
    return y


def list_in_loop(x):
    y = []
    for i in tf.range(x):  # here
        y = y + [i]
    return y


@pytest.mark.parametrize("function,error,text,line", [
    (in_one_branch, ValueError, r"initialized in the else branch: \('y',\)",
     "if x"),
    (return_in_one_branch, ValueError, "returned from the else branch", "if x"),
    (other_types, TypeError, "'y' has dtype float32 in the TRUE branch, but "
     "dtype=int32 in the FALSE branch", "here"),
    (other_structures, TypeError, "'y' does not have the same nested structure "
     "in the TRUE and FALSE branches", "here"),
    (no_tensor_used, TypeError, "'y' is <object", "here"),
    (not_before_loop, ValueError, r"defined before the loop: \('y',\)", "here"),
    (return_in_loop, ValueError, "return statements are not supported within a "
     "TensorFlow loop", "here"),
    (type_after_loop, TypeError, "'y' has dtype int32 before the loop, but "
     "dtype float32 after one iteration", "here"),
    (shape_after_loop, ValueError, r"'y' has shape \(1,\) before the loop, but "
     r"shape \(2,\) after one iteration", "here"),
    (list_in_loop, TypeError, "'y' does not have the same nested structure "
     "after one iteration", "here"),
])
def test_errors_say_where_the_statement_is(function, error, text, line):
    with tf.Graph().as_default(), pytest.raises(error, match=text) as caught:
        tf.autograph.to_graph(function)(tf.placeholder(tf.int32, []))
    assert "%s:%d:" % (__file__, line_of(function, line)) in str(caught.value)


def test_what_is_not_used_later_need_not_be_a_tensor():
    assert graphed(no_tensor, [0, 2]) == [0, 2]


def raises_inside(x):
    while x < 3:
        if x > 1:
            x = x + 1
        else:
            x = x.missing
    return x


def test_tracebacks_show_the_users_lines_and_functions():
    with pytest.raises(AttributeError) as caught:
        mapped(raises_inside)
    frames = [(f.lineno, f.name)
              for f in traceback.extract_tb(caught.value.__traceback__)
              if f.filename == __file__][-3:]
    assert frames == [(line_of(raises_inside, text), "raises_inside")
                      for text in ("while x", "if x", "missing")]


def places(x):
    if x > 1:
        y = tf.cast(
            x, tf.float32)
    else:
        y = tf.zeros([])
    return y


def test_nodes_are_made_at_the_users_lines():
    with tf.Graph().as_default() as graph:
        tf.autograph.to_graph(places)(tf.placeholder(tf.int32, []))
        lines = {op.type: op.traceback[-1][1]
                 for op in graph.get_operations()}
    assert lines["Greater"] == lines["Merge"] == line_of(places, "if x")
    assert lines["Cast"] == line_of(places, "tf.cast")


# What happens when the graph runs.

def asserts(x):
    if x > 1:
        assert x < 3, ["too large", x]
    return x


def test_assert_of_a_tensor_is_checked_in_the_run():
    assert mapped(asserts, 3) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large.*3"):
        mapped(asserts)


seen = []


def note(x):
    seen.append(int(x))


def effects(x):
    tf.py_func(note, [x], [])
    if x > 1:
        tf.py_func(note, [x * 10], [])
    for i in tf.range(2):
        if i > 0:
            tf.py_func(note, [x * 100], [])
    return x


def test_effects_in_branches_and_loops_of_a_dataset_function():
    del seen[:]
    mapped(effects, 3)
    assert sorted(seen) == [0, 0, 1, 2, 20, 100, 200]


def prints(x):
    print("value", x)
    return x


def test_print_with_builtin_functions(capsys):
    feature = tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(5)

        def body(v):
            tf.autograph.to_graph(
                prints, experimental_optional_features=feature)(v)
            return v
        sess.run(tf.data.Dataset.from_tensors(x).map(
            body).make_one_shot_iterator().get_next())
    assert capsys.readouterr().out == "value 5\n"
    mapped(prints, 1)
    assert "Tensor(" in capsys.readouterr().out


def equality(x):
    if x == 1:
        return x * 10
    return x if x != 2 else -x


def test_equality_of_tensors_is_a_feature():
    features = tf.autograph.experimental.Feature
    assert graphed(equality, [0, 1, 2]) == [0, 1, 2]
    for chosen in (features.EQUALITY_OPERATORS, features.ALL,
                   features.all_but(features.LISTS)):
        assert graphed(equality, [0, 1, 2],
                       experimental_optional_features=chosen) == [0, 10, -2]


def appends(x):
    items = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(x):
        items.append(i * 2)
    return items.stack()


def test_append_with_lists():
    got = graphed(appends, [0, 3], experimental_optional_features=tf.autograph
                  .experimental.Feature.LISTS)
    assert [list(v) for v in got] == [[], [0, 2, 4]]


def gradient_body(x):
    y = x
    for _ in tf.range(3):
        if y < 20.0:
            y = y * x
    return y


def test_gradients_go_through_branches_and_loops():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        y = tf.autograph.to_graph(gradient_body)(x)
        gradient, = tf.gradients(y, x)
        assert [sess.run(gradient, {x: v}) for v in (2.0, 3.0)] == [
            pytest.approx(4 * 2.0 ** 3), pytest.approx(3 * 3.0 ** 2)]


def test_a_variable_in_a_test():
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=3, use_resource=True)
        i = tf.constant(0)

        def count(i):
            while i < w:
                i += 1
            return i
        y = tf.autograph.to_graph(count)(i)
        sess.run(tf.global_variables_initializer())
        assert sess.run(y) == 3


def sparse(x):
    s = tf.SparseTensor([[0]], [1], [4])
    if x > 1:
        s = tf.SparseTensor([[0], [2]], [1, 5], [4])
    return tf.sparse_tensor_to_dense(s)


def test_sparse_tensors_are_values():
    assert [list(v) for v in mapped(sparse, 3)] == [
        [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 5, 0]]


class Layer(tf.keras.layers.Layer):
    def call(self, inputs):
        total = tf.reduce_sum(inputs)
        if total > 3.0:
            return inputs * 2
        return inputs


def test_a_users_layer_is_converted():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        y = Layer()(x)
        assert list(sess.run(y, {x: [1, 1]})) == [1, 1]
        assert list(sess.run(y, {x: [2, 2]})) == [4, 4]


# What is converted, and how often.

def branch(x):
    if x > 1:
        return x * 2
    return x


def test_do_not_convert():
    for decorated in (tf.autograph.experimental.do_not_convert(branch),
                      tf.autograph.experimental.do_not_convert()(branch)):
        assert decorated.__name__ == "branch"
        with pytest.raises(TypeError, match="as a Python `bool`"):
            mapped(decorated)
    assert mapped(branch) == [0, 1, 4, 6]

    @tf.autograph.experimental.do_not_convert
    def outer():
        mapped(branch)
    with pytest.raises(TypeError, match="as a Python `bool`"):
        outer()


def test_a_function_without_source_runs_as_it_is(monkeypatch):
    space, warnings = {}, []
    monkeypatch.setattr(conversion.tf_logging, "warn",
                        lambda text, *args: warnings.append(text % args))
    exec(compile("def f(x):\n  return x if x > 1 else -x\n", "<made>", "exec"),
         space)
    for _ in range(2):
        with pytest.raises(TypeError, match="as a Python `bool`"):
            mapped(space["f"])
    assert len(warnings) == 1 and "executed as-is" in warnings[0]
    with pytest.raises(Exception, match="not loaded from a file"):
        tf.autograph.to_graph(space["f"])
    assert list(map(conversion.convert, (len, np.sum, tf.add, str))) == [
        len, np.sum, tf.add, str]


def test_code_is_converted_once():
    def make(n):
        def closure(x):
            if x > n:
                return x - n
            return x
        return closure
    first, second = (conversion.convert(make(n)) for n in (1, 2))
    assert first.__code__ is second.__code__
    assert (first(5), second(5)) == (4, 3)
    assert conversion.convert(first) is first
    assert conversion.convert(np.mean) is np.mean
    simple = lambda x: x * 2 + x[0]  # noqa: E731
    assert conversion.convert(simple) is simple


def test_threads_convert_the_same_function():
    def body(x):
        if x > 1:
            return x + 1
        return x
    results = []
    threads = [threading.Thread(target=lambda: results.append(
        conversion.convert(body)(2))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [3] * 8


def test_lambdas_of_one_line():
    pair = [lambda x: x * 2 if x > 1 else x, lambda x: x * 3 if x > 1 else x]
    assert [mapped(f, 3) for f in pair] == [[0, 1, 4], [0, 1, 6]]


def test_partial_objects_and_methods():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k if x > 1 else x

        def method(self, x):
            return self(x) if x > 0 else x - 1
    assert mapped(Scale(3)) == [0, 1, 6, 9]
    assert mapped(Scale(3).method) == [-1, 1, 6, 9]
    assert mapped(functools.partial(Scale.method, Scale(2))) == [-1, 1, 4, 6]


def test_to_code_shows_the_operators():
    code = tf.autograph.to_code(branch)
    assert code.startswith("def tf__branch(x):") and "ag__.if_stmt(" in code
    compile(code, "code", "exec")


def test_set_loop_options():
    def loop(x):
        while x < 10:
            tf.autograph.experimental.set_loop_options(
                parallel_iterations=1, maximum_iterations=2)
            x += 3
        return x
    assert graphed(loop, [0, 9]) == [6, 12]


def test_set_verbosity(capsys):
    def quiet(x):
        return x if x > 1 else 0
    tf.autograph.set_verbosity(2, alsologtostdout=True)
    try:
        conversion.convert(quiet)
    finally:
        tf.autograph.set_verbosity(0)
    assert "ag__.if_exp" in capsys.readouterr().out


def test_trace_prints_at_once(capsys):
    tf.autograph.trace("a", 1)
    assert capsys.readouterr().out == "a 1\n"


def test_functions_that_contrib_converts():
    def size(x):
        if x > 0:
            return x * 2
        return -x

    contrib = tf.contrib.autograph
    with tf.Session() as session:
        for converted in contrib.convert()(size), contrib.to_graph(size):
            assert session.run([converted(tf.constant(2.)),
                                converted(tf.constant(-3.))]) == [4., 3.]
    assert "size" in contrib.to_code(size)
    with pytest.raises(TypeError, match="bool"):
        contrib.do_not_convert(size)(tf.constant(2.))
