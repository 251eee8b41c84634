"""Functions of tf.data make the nodes that TensorFlow 1.15.5 makes, by name and
in order: the seeds of random ops are numbers of nodes. Therefore they give the
same elements in the same order."""
import os

import numpy as np  # noqa: F401: the table's expressions use it
import pytest

import headrace as tf

D = tf.data.Dataset
T = tf.data
E = tf.data.experimental

# dataset_nodes.tsv: an expression, and the names of its nodes in order.
SHORT = {
    "RANGE": "start stop step RangeDataset",
    "SEEDS": """seed seed2/Const seed2/Equal/y seed2/Equal seed2/Equal_1/y
                seed2/Equal_1 seed2/LogicalAnd seed2/Const_1 seed2"""}


def table():
    path = os.path.join(os.path.dirname(__file__), "dataset_nodes.tsv")
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


@pytest.mark.parametrize("expression, names", table())
def test_names_of_nodes(expression, names):
    for short, long in SHORT.items():
        names = names.replace(short, long)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        eval(expression)
        assert [op.name for op in graph.get_operations()] == names.split()


def elements(session, get_next):
    found = []
    try:
        for _ in range(10):
            found.append(session.run(get_next))
    except tf.errors.OutOfRangeError:
        pass
    return " ".join(str(x) for e in found for x in np.ravel(e))


# The first elements of a one-shot iterator, and of an initializable one of the
# same dataset made after it. The graph's seed is 42.
ORDERS = [
    ("D.range(5).shuffle(3,seed=1).repeat(3)",
     "0 3 4 1 2 1 2 4 0 3",
     "0 3 4 1 2 1 2 4 0 3"),
    ("D.range(5).shuffle(10,seed=1).repeat(3)",
     "4 0 1 3 2 0 1 4 2 3",
     "4 0 1 3 2 0 1 4 2 3"),
    ("D.range(5).shuffle(3,seed=1).repeat()",
     "0 3 4 1 2 1 2 4 0 3",
     "0 3 4 1 2 1 2 4 0 3"),
    ("D.range(5).shuffle(3).repeat(3)",
     "0 3 4 1 2 1 2 4 3 0",
     "0 1 3 4 2 0 1 3 2 4"),
    ("D.range(5).repeat(3).shuffle(3)",
     "1 3 2 0 0 2 4 1 3 1",
     "2 1 0 0 1 2 3 4 3 4"),
    ("D.range(5).shuffle(3).repeat(3).batch(2)",
     "0 3 4 1 2 1 2 4 3 0 0 3 2 1 4",
     "1 2 3 4 0 2 0 1 4 3 2 1 4 0 3"),
    ("D.range(5).shuffle(3, reshuffle_each_iteration=False).repeat(3)",
     "0 3 4 1 2 0 3 4 1 2",
     "0 1 3 4 2 0 1 3 4 2"),
    ("D.range(5).shuffle(3,seed=7,reshuffle_each_iteration=False).repeat(3)",
     "1 3 2 4 0 1 3 2 4 0",
     "1 3 2 4 0 1 3 2 4 0"),
    ("D.range(5).apply(E.shuffle_and_repeat(3,3,seed=2))",
     "0 1 2 4 3 2 3 0 1 4",
     "0 1 2 4 3 2 3 0 1 4"),
    ("D.range(5).map(lambda x:x*2).shuffle(4,1).batch(2).repeat(3)",
     "2 4 0 6 8 4 2 0 6 8 0 6 4 2 8",
     "2 4 0 6 8 4 2 0 6 8 0 6 4 2 8"),
    ("D.range(5).shuffle(4,1).prefetch(2).repeat(3)",
     "1 2 0 3 4 2 1 0 3 4",
     "1 2 0 3 4 2 1 0 3 4"),
    ("D.range(5).shuffle(3,seed=1).repeat(2).shuffle(2,seed=3).repeat(2)",
     "0 4 1 2 3 2 1 4 3 0",
     "0 4 1 2 3 2 1 4 3 0"),
    ("D.range(5).shuffle(3,seed=1).repeat(2).prefetch(1)",
     "0 3 4 1 2 1 2 4 0 3",
     "0 3 4 1 2 1 2 4 0 3"),
]


@pytest.mark.parametrize("expression, first, second", ORDERS)
def test_orders(expression, first, second):
    with tf.Graph().as_default():
        tf.set_random_seed(42)
        one_shot = T.make_one_shot_iterator(eval(expression)).get_next()
        iterator = T.make_initializable_iterator(eval(expression))
        initializable = iterator.get_next()
        with tf.Session() as session:
            assert elements(session, one_shot) == first
            for _ in range(2):
                session.run(iterator.initializer)
                assert elements(session, initializable) == second


FUSED = "0 3 4 1 2 1 2 4 0 3"
PLAIN = "0 3 2 1 4 2 1 0 3 4"


def options(**values):
    made = T.Options()
    for name, value in values.items():
        setattr(made.experimental_optimization, name, value)
    return made


@pytest.mark.parametrize("dataset, order", [
    (lambda d: d.repeat(2), FUSED),
    (lambda d: d.repeat(2).with_options(T.Options()), FUSED),
    (lambda d: d.with_options(options(apply_default_optimizations=False))
     .repeat(2), PLAIN),
    (lambda d: d.repeat(2).map(lambda x: x).with_options(
        options(shuffle_and_repeat_fusion=False)), PLAIN),
    (lambda d: d.repeat(2).with_options(options(
        apply_default_optimizations=False, shuffle_and_repeat_fusion=True)),
     FUSED),
    (lambda d: D.zip((d.repeat(2), D.range(10))).map(lambda x, y: x), FUSED)])
def test_options_decide_whether_shuffle_and_repeat_are_one(dataset, order):
    with tf.Graph().as_default():
        tf.set_random_seed(42)
        d = dataset(D.range(5).shuffle(3, seed=1))
        get_next = d.make_one_shot_iterator().get_next()
        iterator = d.make_initializable_iterator()
        second = iterator.get_next()
        with tf.Session() as session:
            assert elements(session, get_next) == order
            session.run(iterator.initializer)
            assert elements(session, second) == order


def test_optimizing_a_dataset_leaves_other_iterations_of_it_alone():
    raw = tf.raw_ops
    types = dict(output_types=[tf.int64], output_shapes=[[]])

    def seed(value):
        return tf.constant(value, tf.int64)

    with tf.Graph().as_default():
        whole = raw.RangeDataset(start=seed(0), stop=seed(5), step=seed(1),
                                 **types)
        shuffled = raw.ShuffleDataset(
            input_dataset=whole, buffer_size=seed(3), seed=seed(42),
            seed2=seed(1), **types)
        repeated = raw.RepeatDataset(input_dataset=shuffled, count=seed(2),
                                     **types)
        fused = raw.OptimizeDataset(
            input_dataset=repeated,
            optimizations=["shuffle_and_repeat_fusion"], **types)
        made, orders = [], []
        for dataset in (repeated, fused, repeated, fused):
            iterator = raw.AnonymousIterator(**types)
            with tf.control_dependencies(made[-1:]):
                made.append(raw.MakeIterator(dataset=dataset,
                                             iterator=iterator))
            with tf.control_dependencies(made[-1:]):
                first = raw.IteratorGetNext(iterator=iterator, **types)[0]
            order = [first]
            for _ in range(9):
                with tf.control_dependencies(order[-1:]):
                    order.append(raw.IteratorGetNext(iterator=iterator,
                                                     **types)[0])
            orders.append(tf.stack(order))
            made.append(order[-1].op)
        with tf.Session() as session:
            found = session.run(orders)
    fused_order = [int(x) for x in FUSED.split()]
    assert [list(x) == fused_order for x in found] == [
        False, True, False, True]
    assert all(sorted(x) == sorted(fused_order) for x in found)


def test_options():
    a, b = T.Options(), T.Options()
    a.experimental_deterministic = False
    b.experimental_optimization.map_fusion = True
    d = D.range(3).with_options(a).map(lambda x: x).with_options(b)
    assert d.options().experimental_deterministic is False
    assert d.options().experimental_optimization.map_fusion is True
    assert a.merge(b).experimental_optimization.map_fusion is True
    with pytest.raises(TypeError, match="must be a tf.data.Options"):
        D.range(3).with_options({})
    op = d.make_initializable_iterator().initializer.inputs[0].op.inputs[0].op
    with tf.Session() as session:
        assert session.run(op.inputs[1]).tolist() == [
            b"map_and_batch_fusion", b"map_fusion", b"noop_elimination",
            b"shuffle_and_repeat_fusion"]
