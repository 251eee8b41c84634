"""Programs of several steps (datasets, tables, queues, decoders, functions) run
with allocations that fail: an error or a result, never a crash or a hang."""
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dataset_programs
import headrace as tf
import kernel_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "build" / "lib" / "libtensorflow.so.2"
FAULTS = ROOT / "build" / "tests" / "libfailing_allocations.so"
RUNNER = ROOT / "tests" / "conformance" / "run_programs_without_memory.py"


def elements(dataset, times=3):
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    following = following if isinstance(following, tuple) else (following,)
    return [[iterator.initializer]] + [list(following)] * times


def numbers(n=20):
    return tf.data.Dataset.range(n)


def table():
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(["key %d" % i for i in range(40)]), tf.range(40)), -1)
    return [[tf.tables_initializer()],
            [t.lookup(tf.constant(["key 3", "none"])), t.size()]]


def mutable_table():
    t = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.string,
                                      shared_name="t")
    keys = tf.range(50, dtype=tf.int64)
    put = tf.raw_ops.LookupTableInsertV2(
        table_handle=t, keys=keys, values=tf.as_string(keys))
    found = tf.raw_ops.LookupTableFindV2(table_handle=t, keys=keys,
                                         default_value="")
    out = tf.raw_ops.LookupTableExportV2(table_handle=t, Tkeys=tf.int64,
                                         Tvalues=tf.string)
    return [[put], [found], list(out)]


def barrier():
    b = tf.raw_ops.Barrier(component_types=[tf.float32], shared_name="b")
    put = tf.raw_ops.BarrierInsertMany(
        handle=b, keys=["a", "b"], values=[1., 2.], component_index=0)
    take = tf.raw_ops.BarrierTakeMany(handle=b, num_elements=1,
                                      component_types=[tf.float32])
    return [[put], list(take[:2])]


def accumulator():
    a = tf.ConditionalAccumulator(tf.float32, [2], shared_name="a")
    return [[a.apply_grad([1., 2.])], [a.take_grad(1)]]


def queues():
    q = tf.RandomShuffleQueue(20, 1, [tf.int32, tf.string], shapes=[[], []],
                              seed=1)
    p = tf.PaddingFIFOQueue(20, tf.int32, shapes=[[None]])
    return [[q.enqueue_many([[1, 2, 3], ["a", "b", "c" * 40]])],
            q.dequeue_many(2), [p.enqueue([[1, 2]])], [p.enqueue([[1]])],
            [p.dequeue_many(2)]]


def images():
    picture = tf.constant(np.arange(8 * 9 * 3).reshape(8, 9, 3), tf.uint8)
    return [[tf.image.decode_png(tf.image.encode_png(picture)),
             tf.image.decode_jpeg(tf.image.encode_jpeg(picture)),
             tf.image.extract_jpeg_shape(tf.image.encode_jpeg(picture))]]


def functions():
    def body(i, x):
        return i + 1, tf.concat([x, [i]], 0)
    loop = tf.while_loop(lambda i, x: i < 5, body, [0, tf.constant([7])],
                         shape_invariants=[tf.TensorShape([]),
                                           tf.TensorShape([None])])
    mapped = tf.map_fn(lambda v: v * 2, tf.range(6))
    branch = tf.cond(loop[0] > 3, lambda: tf.as_string(mapped),
                     lambda: tf.constant(["no"]))
    array = tf.TensorArray(tf.float32, 3).unstack([[1.], [2.], [3.]])
    return [[loop[1], mapped, branch, array.concat()]]


def staging():
    tensors = [tf.constant([1., 2.]), tf.constant("s" * 50)]
    put = tf.raw_ops.Stage(values=tensors, shared_name="s")
    take = tf.raw_ops.Unstage(dtypes=[tf.float32, tf.string], shared_name="s")
    keyed = tf.raw_ops.MapStage(key=tf.constant(5, tf.int64), indices=[0, 1],
                                values=tensors, shared_name="m",
                                dtypes=[tf.float32, tf.string])
    clear = tf.raw_ops.MapClear(dtypes=[tf.float32, tf.string],
                                shared_name="m")
    return [[put], list(take), [keyed], [clear]]


def csv(folder):
    path = folder / "t.csv"
    path.write_text("".join("%d,word %d\n" % (i, i) for i in range(30)))
    return elements(tf.data.experimental.CsvDataset(str(path), [0, ""]))


def lines(folder):
    path = folder / "t.txt"
    path.write_text("".join("line %d\n" % i for i in range(30)))
    return elements(tf.data.TextLineDataset(str(path)).filter(
        lambda s: tf.not_equal(s, "line 1")))


PROGRAMS = {
    "batch": lambda: elements(numbers().batch(3)),
    "map": lambda: elements(numbers().map(lambda x: (x, tf.as_string(x)))),
    "parallel_map": lambda: elements(numbers().map(
        lambda x: x * 2, num_parallel_calls=2).prefetch(2)),
    "flat_map": lambda: elements(numbers().flat_map(
        lambda x: tf.data.Dataset.range(x))),
    "interleave": lambda: elements(numbers().interleave(
        lambda x: tf.data.Dataset.range(x), 2)),
    "shuffle": lambda: elements(numbers().shuffle(5, seed=3).repeat(2)),
    "cache": lambda: elements(numbers(2).cache().repeat()),
    "zip": lambda: elements(tf.data.Dataset.zip(
        (numbers(), numbers().skip(1).take(9)))),
    "concatenate": lambda: elements(numbers(1).concatenate(numbers())),
    "padded_batch": lambda: elements(numbers().map(
        lambda x: tf.fill([x], x)).padded_batch(2, [None])),
    "group_by_window": lambda: elements(numbers().apply(
        tf.data.experimental.group_by_window(
            lambda x: x % 2, lambda k, d: d.batch(2), 2))),
    "scan": lambda: elements(numbers().apply(tf.data.experimental.scan(
        tf.constant(0, tf.int64), lambda s, x: (s + x, s)))),
    "unbatch": lambda: elements(numbers().batch(4).apply(
        tf.data.experimental.unbatch())),
    "table": table, "mutable_table": mutable_table, "barrier": barrier,
    "accumulator": accumulator, "queues": queues, "images": images,
    "functions": functions, "staging": staging,
}


FILE_PROGRAMS = {"csv": csv, "lines": lines}


def cases(folder):
    """All programs as run_programs_without_memory.py takes them. Each has run
    here, with memory."""
    made = []
    for module in (sys.modules[__name__], kernel_programs, dataset_programs):
        for name, program in {**module.PROGRAMS,
                              **module.FILE_PROGRAMS}.items():
            own = folder / name
            own.mkdir()
            with tf.Graph().as_default() as graph:
                steps = (program(own) if name in module.FILE_PROGRAMS
                         else program())
                with tf.Session() as session:
                    for step in steps:
                        session.run(step)
                made.append((name, graph.as_graph_def().SerializeToString(), [
                    ([t.name for t in step if isinstance(t, tf.Tensor)],
                     [o.name for o in step if isinstance(o, tf.Operation)], [])
                    for step in steps]))
    return made


@pytest.mark.slow
@pytest.mark.skipif(not FAULTS.exists(), reason="the C++ tests were not built")
def test_programs_whose_allocations_fail(tmp_path):
    programs = cases(tmp_path)
    path = tmp_path / "cases"
    path.write_bytes(pickle.dumps(programs))
    done = subprocess.run(
        [sys.executable, RUNNER, LIBRARY, FAULTS, path, "--failures", "8"],
        stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    assert "%d passed, 0 failed" % len(programs) in done.stdout, done.stdout
    assert "alone" not in done.stdout, done.stdout
    # libpng says only in words that it has no memory: that was INTERNAL.
    assert " 13: " not in done.stdout, done.stdout
