"""get_variable, custom getters, templates and partitioned variables."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import templates

in_two = tf.fixed_size_partitioner(2)


def value_of(fetch):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetch)


# get_variable.

def test_value_and_shape_are_not_both_given():
    with pytest.raises(ValueError, match="do not specify shape"):
        tf.get_variable("a", [2], initializer=tf.constant([1., 2.]))
    with pytest.raises(ValueError, match="explicit dtype"):
        tf.get_variable("a", dtype=tf.int32, initializer=[1., 2.])
    assert value_of(tf.get_variable("a", initializer=[1., 2.])).tolist() == [
        1, 2]


def test_initializers_that_do_not_fit():
    with pytest.raises(ValueError, match="initializer passed is not valid"):
        tf.get_variable("a")
    with pytest.raises(ValueError, match="initializer passed is not valid"):
        tf.get_variable("a", [None, 2])
    with pytest.raises(ValueError, match="An initializer for variable a"):
        tf.get_variable("a", [2], dtype=tf.complex64)
    assert value_of(tf.get_variable("s", [1], dtype=tf.string)) == [b""]
    assert value_of(tf.get_variable(
        "f", initializer=lambda: [1., 2.])).tolist() == [1, 2]


def test_shape_and_type_of_a_shared_variable():
    tf.get_variable("a", [2])
    with pytest.raises(ValueError, match="already exists"):
        tf.get_variable("a", [2])
    with tf.variable_scope("", reuse=True):
        with pytest.raises(ValueError, match="specified shape"):
            tf.get_variable("a", [3])
        with pytest.raises(ValueError, match="specified dtype"):
            tf.get_variable("a", [2], dtype=tf.int32)
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("b", [2])


def test_custom_getters():
    def renamed(by):
        def getter_(getter, name, *args, **kwargs):
            return getter(name + by, *args, **kwargs)
        return getter_
    with tf.variable_scope("s", custom_getter=renamed("/1")):
        with tf.variable_scope("n", custom_getter=renamed("/2")):
            assert tf.get_variable("v", [1]).name == "s/n/v/2/1:0"
            # One that is given takes the place of the scope's.
            assert tf.get_variable("v", [1], custom_getter=renamed("/3")
                                   ).name == "s/n/v/3:0"

    def total(getter, name, *args, **kwargs):
        return (getter(name + "/0", *args, **kwargs)
                + getter(name + "/1", *args, **kwargs))
    assert tf.get_variable("t", [2], custom_getter=total).name == "add:0"
    with pytest.raises(ValueError, match="not callable"):
        tf.get_variable("a", [2], custom_getter=3)


def test_scopes_of_threads_are_their_own():
    import threading
    seen = []
    graph = tf.get_default_graph()

    def other():
        with graph.as_default():
            seen.append(tf.get_variable_scope().name)
    with tf.variable_scope("a"):
        t = threading.Thread(target=other)
        t.start()
        t.join()
    assert seen == [""]


def test_default_names_inside_a_scope_that_is_opened_again():
    def inner():
        with tf.variable_scope(None, "d") as scope:
            return scope.name
    with tf.variable_scope("a") as a:
        assert [inner(), inner()] == ["a/d", "a/d_1"]
    with tf.variable_scope("a"):
        assert inner() == "a/d"
    with tf.variable_scope(a):
        assert inner() == "a/d"
    again = tf.variable_scope("b")
    names = []
    for _ in range(2):
        with again:
            names.append(tf.constant(1, name="c").name)
    assert names == ["b/c:0", "b_1/c:0"]


def test_scopes_that_are_none():
    with pytest.raises(TypeError, match="string or VariableScope"):
        with tf.variable_scope(3):
            pass
    with pytest.raises(TypeError, match="auxiliary_name_scope"):
        tf.variable_scope("a", auxiliary_name_scope="x")
    a, b = tf.variable_scope("a"), tf.variable_scope("b")
    a.__enter__()
    b.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting"):
        a.__exit__(None, None, None)
    assert tf.get_variable_scope().name == "a/b"
    b.__exit__(None, None, None)
    a.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


# Templates.

def weight(x=1.):
    return tf.get_variable("w", [], initializer=tf.ones_initializer()) * x


def test_templates_of_one_name_have_variables_of_their_own():
    a, b = (tf.make_template("s1", weight) for _ in range(2))
    a(), a(x=2.), b()
    assert [v.name for v in tf.global_variables()] == ["s1/w:0", "s1_1/w:0"]
    assert [v.name for v in b.variables] == ["s1_1/w:0"]
    assert (a.variable_scope_name, b.variable_scope_name) == ("s1/", "s1_1/")
    assert value_of(a(3.)) == 3


def test_template_with_a_unique_name_is_made_once():
    a, b = (tf.make_template("s", weight, unique_name_="one")
            for _ in range(2))
    a(), a()
    assert [v.name for v in a.trainable_variables] == ["one/w:0"]
    with pytest.raises(ValueError, match="already exists"):
        b()


def test_template_with_a_custom_getter():
    def suffixed(getter, name, *args, **kwargs):
        return getter(name + "_x", *args, **kwargs)
    t = tf.make_template("s", weight, custom_getter_=suffixed)
    t(), t()
    assert [v.name for v in t.variables] == ["s/w_x:0"]


def test_template_knows_its_scope_when_it_is_made():
    t = tf.make_template("s", weight, create_scope_now_=True, x=5.)
    with tf.variable_scope("outer"):
        assert value_of(t()) == 5
    assert [v.name for v in t.variables] == ["s/w:0"]
    u = tf.make_template("s", weight, create_scope_now_=True)
    assert u.var_scope.name == "s_1" and u.variables == []


def test_templates_inside_templates():
    def outer():
        return [tf.make_template("n", lambda: tf.get_variable("w", []).name)()
                for _ in range(2)]
    t = tf.make_template("o", outer)
    names = ["o/n/w:0", "o/n_1/w:0"]
    assert t() == names and t() == names


def test_template_that_makes_new_variables():
    t = tf.make_template("s", lambda: tf.Variable(1.))
    t()
    with pytest.raises(ValueError, match="Trainable variable created"):
        t()

    def fails():
        raise KeyError("boo")
    with pytest.raises(KeyError, match="originally defined at"):
        tf.make_template("f", fails)()
    with pytest.raises(ValueError, match="cannot be None"):
        tf.make_template(None, weight)


# Partitioned variables.

def test_partitioned_variable():
    p = tf.get_variable("p", [5, 3], partitioner=in_two)
    assert [v.name for v in p] == ["p/part_0:0", "p/part_1:0"]
    assert [v.shape.as_list() for v in p] == [[3, 3], [2, 3]]
    assert [v._get_save_slice_info().spec for v in p] == [
        "5 3 0,3:0,3", "5 3 3,2:0,3"]
    whole = tf.convert_to_tensor(p)
    assert whole.name == "p:0" and whole.shape.as_list() == [5, 3]
    assert len(p) == 2 and tf.trainable_variables() == list(p)
    one = tf.get_variable("q", [2, 5],
                          partitioner=tf.fixed_size_partitioner(1))
    assert [v.name for v in one] == ["q/part_0:0"]
    assert tf.get_variable("s", [], partitioner=in_two).name == "s:0"
    with pytest.raises(NotImplementedError, match="used as a reference"):
        p._as_tensor(as_ref=True)


def test_partitioned_variable_is_initialised_by_slices():
    value = tf.get_variable("v", initializer=tf.constant([1., 2., 3.]),
                            partitioner=in_two)
    by_offset = tf.get_variable(
        "o", [3], partitioner=in_two,
        initializer=lambda shape, dtype, partition_info: tf.zeros(shape)
        + 10. * partition_info.full_shape[0] + partition_info.var_offset[0])
    got = value_of([tf.identity(value), tf.identity(by_offset)])
    assert [g.tolist() for g in got] == [[1, 2, 3], [30, 30, 32]]
    # The fans of the whole, not of the slices.
    p = tf.get_variable("g", [1000, 4],
                        partitioner=tf.fixed_size_partitioner(500))
    assert np.abs(value_of(tf.identity(p))).max() <= (6 / 1004) ** .5 + 1e-6


def test_partitioned_variable_is_assigned_by_slices():
    p = tf.get_variable("p", [3], partitioner=in_two,
                        initializer=tf.ones_initializer())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(p.assign_add(tf.constant([1., 2., 3.])))
        assert sess.run(tf.add(p, 1.)).tolist() == [3, 4, 5]
        sess.run(p.assign_sub([[1., 1.], [1.]], read_value=False))
        assert sess.run(tf.identity(p)).tolist() == [1, 2, 3]
        sess.run(p.assign(p))
    with pytest.raises(ValueError, match="3 values for the 2 slices"):
        p.assign([1., 2., 3.])


def test_partitioned_variable_is_shared():
    with tf.variable_scope("r", partitioner=in_two):
        p = tf.get_variable("p", [4])
    with tf.variable_scope("r", reuse=True):
        assert tf.get_variable("p", [4]) is p
    with tf.variable_scope("r", reuse=tf.AUTO_REUSE, partitioner=in_two):
        assert tf.get_variable("p", [4]) is p
    in_three = tf.fixed_size_partitioner(3)
    for message, scope in (
            ("partitions", dict(reuse=True, partitioner=in_three)),
            ("already exists", dict(partitioner=in_two)),
            ("No partitioner was provided", dict()),
            ("No partitioner", dict(reuse=tf.AUTO_REUSE))):
        with tf.variable_scope("r", **scope):
            with pytest.raises(ValueError, match=message):
                tf.get_variable("p", [4])
    tf.get_variable("whole", [4])
    with tf.variable_scope("", reuse=True, partitioner=in_two):
        with pytest.raises(ValueError, match="unpartitioned version"):
            tf.get_variable("whole", [4])
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("nothing", [4])


@pytest.mark.parametrize("slicing, message", [
    (5, "must return a sequence"), ([1], "does not match the Variable's rank"),
    ([0, 1], "zero partitions"), ([2, 2], "along one dimension")])
def test_partitioner_that_cuts_badly(slicing, message):
    with pytest.raises(ValueError, match=message):
        tf.get_variable("p", [4, 4], partitioner=lambda shape, dtype: slicing)


def test_partitioners():
    shape = tf.TensorShape([4, 6])
    by_size = tf.variable_axis_size_partitioner
    assert by_size(48)(shape=shape, dtype=tf.float32) == [2, 1]
    assert by_size(100, axis=1)(shape=shape, dtype=tf.float64) == [1, 2]
    assert by_size(8, max_shards=2)(shape=shape, dtype=tf.float32) == [2, 1]
    assert by_size(64, bytes_per_string_element=2)(
        shape=shape, dtype=tf.string) == [1, 1]
    least = tf.min_max_variable_partitioner
    assert least(10, min_slice_size=16)(shape=shape, dtype=tf.float32) == [
        4, 1]
    assert least(3, min_slice_size=16)(shape=shape, dtype=tf.float32) == [3, 1]
    assert least()(shape=shape, dtype=tf.float32) == [1, 1]
    with pytest.raises(ValueError, match="must be positive"):
        by_size(0)
    with pytest.raises(ValueError, match="Can not partition"):
        least(axis=3)(shape=shape, dtype=tf.float32)


def test_create_partitioned_variables():
    make = tf.create_partitioned_variables
    parts = make([4, 6], [1, 3], tf.zeros_initializer(), name="x")
    assert [v.name for v in parts] == ["x/part_%d:0" % i for i in range(3)]
    again = [make([3], [2], [1., 2., 3.]) for _ in range(2)]
    assert again[1][1].name == "PartitionedVariable_1/part_1:0"
    assert [v.tolist() for v in value_of(again[0])] == [[1, 2], [3]]
    with pytest.raises(ValueError, match="must have the length"):
        make([3], [2, 1], [1., 2., 3.])
    with pytest.raises(ValueError, match="rank at least 1"):
        make([], [], 1.)


# Embeddings in parts.

TABLE = np.arange(20, dtype=np.float32).reshape(10, 2)
CUTS = {"mod": lambda n: [TABLE[i::n] for i in range(n)],
        "div": lambda n: np.array_split(TABLE, n)}


@pytest.mark.parametrize("how", CUTS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_embedding_lookup_in_parts(how, n):
    ids = np.array([[9, 0, 3], [4, 4, 8]])
    parts = [tf.constant(p) for p in CUTS[how](n)]
    found = tf.nn.embedding_lookup(parts, ids, how)
    assert found.shape.as_list() == [2, 3, 2]
    fed = [tf.placeholder(tf.float32, [None, 2]) for _ in range(n)]
    unknown = tf.nn.embedding_lookup(fed, ids.astype(np.int32), how)
    short = tf.nn.embedding_lookup(parts, [9, 0], how, max_norm=2.)
    with tf.Session() as sess:
        got = sess.run([found, unknown, short], dict(zip(fed, CUTS[how](n))))
    assert got[0].tolist() == got[1].tolist() == TABLE[ids].tolist()
    np.testing.assert_allclose(got[2], [[1.375489, 1.451905], [0, 1]],
                               rtol=1e-5)
    with pytest.raises(ValueError, match="Unrecognized partition strategy"):
        tf.nn.embedding_lookup(parts * 2, ids, "odd")


@pytest.mark.parametrize("resource", [False, True])
def test_embedding_lookup_in_a_partitioned_variable(resource):
    with tf.variable_scope("", use_resource=resource):
        p = tf.get_variable("e", initializer=tf.constant(TABLE),
                            partitioner=tf.fixed_size_partitioner(3))
    assert value_of(tf.nn.embedding_lookup(p, [9, 0, 3], "div")
                    ).tolist() == TABLE[[9, 0, 3]].tolist()


def sparse(values, dtype):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]],
                           tf.constant(values, dtype), [4, 2])


@pytest.mark.parametrize("combiner, wanted", [
    ("sum", [14, 17, 0, .5, 0, 0, 54, 57]),
    ("mean", [4.666667, 5.666667, 0, 1, 0, 0, 18, 19]),
    ("sqrtn", [6.26099, 7.602631, 0, 1, 0, 0, 18, 19])])
def test_embedding_lookup_sparse_in_parts(combiner, wanted):
    found = tf.nn.embedding_lookup_sparse(
        [tf.constant(p) for p in CUTS["mod"](3)],
        sparse([1, 3, 0, 9], tf.int64), sparse([1., 2., .5, 3.], tf.float32),
        combiner=combiner)
    got = value_of(found)
    np.testing.assert_allclose(got[[0, 1, 3]].ravel(),
                               np.array(wanted)[[0, 1, 2, 3, 6, 7]], rtol=1e-5)


def test_safe_embedding_lookup_sparse():
    ids = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 0, 0]],
                          tf.constant([0, 1, 3, -1], tf.int64), [2, 2, 3])
    parts = [tf.constant(p) for p in CUTS["div"](2)]
    zeros = tf.nn.safe_embedding_lookup_sparse(parts, ids)
    filled = tf.nn.safe_embedding_lookup_sparse(parts, ids, default_id=4)
    assert zeros.shape.as_list() == [2, 2, 2]
    got = value_of([zeros, filled])
    assert got[0].tolist() == [[[1, 2], [0, 0]], [[0, 0], [6, 7]]]
    assert got[1].tolist() == [[[1, 2], [8, 9]], [[8, 9], [6, 7]]]
    with pytest.raises(ValueError, match="Missing embedding_weights"):
        tf.nn.safe_embedding_lookup_sparse([], ids)


def test_scope_inside_of_a_function_names_its_variables():
    def add(x):
        with tf.variable_scope("inner"):
            return x + tf.get_variable("w", [], tf.int64)
    with tf.variable_scope("outer"):
        numbers = tf.data.Dataset.range(3).map(add)
    assert [v.name for v in tf.global_variables()] == ["outer/inner/w:0"]
    iterator = numbers.make_initializable_iterator()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(iterator.initializer)
        assert sess.run(iterator.get_next()) == 0


def test_a_regularizer_that_is_empty_is_none():
    tf.get_variable("a", [2], regularizer={})
    with tf.variable_scope("s", regularizer=tf.nn.l2_loss):
        tf.get_variable("b", [2], regularizer={})
    assert not tf.losses.get_regularization_losses()


def test_templates_of_functions_that_are_kept_apart():
    with tf.Graph().as_default():
        for _ in range(2):
            template = templates.make_template_internal(
                "s", lambda: tf.get_variable("x", [1]),
                create_graph_function_=True)
            template()
            template()
        assert [v.name for v in tf.global_variables()] == ["s/x:0", "s_1/x:0"]
    skip = templates.skip_common_stack_elements
    assert skip([1, 2, 3], [1, 2, 4]) == [3]
    assert skip([1, 2], [1, 2]) == [2] and skip([], []) == []


def test_defun_adds_the_nodes_of_a_function():
    with tf.Graph().as_default(), tf.Session() as session:
        @templates.defun(input_signature=[tf.TensorSpec([None])])
        def square(x):
            return x * x

        @templates.defun_with_attributes(attributes={"api_implements": "f"})
        def twice(x, y=2):
            return x * y
        assert session.run(twice(square([1., 3.]))).tolist() == [2., 18.]
        with pytest.raises(ValueError, match="input_signature"):
            square(tf.constant(1))
        assert list(tf.get_default_graph()._functions) == []
        tf.data.Dataset.range(2).map(lambda x: x)
        assert len(tf.get_default_graph()._functions) == 1
