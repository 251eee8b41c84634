"""Datasets of tf.data.experimental and tf.contrib.data, made here and in
TensorFlow 1.15. data_values.json has what TensorFlow gives: the types, shapes
and classes of the elements, and the first elements.

    PYTHON tests/python/data_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import gzip
import os
import sqlite3
import sys
import tempfile

import numpy as np

import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "data_values.json")
MOST = 12

# By name: what makes a dataset of (tf, folder).
PROGRAMS = {}


def program(name):
    def add(make):
        PROGRAMS[name] = make
        return make
    return add


def each(names, **made):
    for name, make in made.items():
        PROGRAMS["%s: %s" % (names, name)] = make


# Files.

def write_files(folder):
    rows = ["a,b,c,d,e", "1,2.5,x,3000000000,", "2,1e300,\"y,z\",4,7",
            ",4,,5,8", "4,5,w,6,9"]
    more = ["a,b,c,d,e", "11,1,v,1,1", "12,2,u,2,2"]
    for name, lines in ("a.csv", rows), ("b.csv", more):
        with open(os.path.join(folder, name), "w") as file:
            file.write("\n".join(lines) + "\n")
    with gzip.open(os.path.join(folder, "a.csv.gz"), "wt") as file:
        file.write("\n".join(rows) + "\n")
    with open(os.path.join(folder, "bad.csv"), "w") as file:
        file.write("1;2\n3;x\n5;NA\n")
    path = os.path.join(folder, "people.db")
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path)
    base.execute("create table people (name text, age integer, size real, "
                 "there integer)")
    base.executemany("insert into people values (?, ?, ?, ?)", [
        ("Ann", 30, 1.5, 1), ("Bob", None, 1.75, 0), (None, 7, None, 2)])
    base.commit()
    base.close()


def write_examples(tf, folder):
    for f in range(2):
        with tf.python_io.TFRecordWriter(
                os.path.join(folder, "examples-%d" % f)) as writer:
            for i in range(4):
                example = tf.train.Example()
                feature = example.features.feature
                feature["n"].int64_list.value.append(10 * f + i)
                feature["x"].float_list.value.extend([i + .5, f])
                feature["s"].bytes_list.value.extend([b"w"] * i)
                writer.write(example.SerializeToString())


def csv(file="a.csv", size=2, contrib=False, **options):
    def make(tf, folder):
        space = tf.contrib.data if contrib else tf.data.experimental
        return space.make_csv_dataset(
            os.path.join(folder, file), size,
            **dict(dict(num_epochs=1, shuffle=False), **options))
    return make


each("csv", plain=csv(), label=csv(label_name="a", contrib=True),
     selected=csv(select_columns=["d", 0], label_name="d"),
     whole_batches=csv(num_epochs=2, size=4),
     without_end=csv(num_epochs=None, size=3),
     gzip=csv("a.csv.gz", compression_type="GZIP"),
     of_few_rows=csv(num_rows_for_inference=2, select_columns=["e", "a"]),
     in_turn=csv("?.csv", num_parallel_reads=2, select_columns=["a", "c"]),
     shuffled=csv("?.csv", 3, shuffle=True, shuffle_seed=3, num_epochs=2,
                  select_columns=["d"]),
     no_header=csv("bad.csv", header=False, field_delim=";", na_value="NA",
                   column_names=["p", "q"]),
     bad_rows=csv("bad.csv", header=False, field_delim=";", na_value="NA",
                  column_names=["p", "q"], column_defaults=[
                      [0], [-1]], ignore_errors=True))
each("csv",
     defaults=lambda tf, folder: csv(
         select_columns=[0, 1, 2], column_defaults=[
             tf.constant([7]), tf.float32, [b"none"]])(tf, folder),
     files=lambda tf, folder: csv(
         "[ab].csv", 3, select_columns=["a"], column_names=list("abcde"),
         column_defaults=[[b"-"]])(tf, folder))


def features(tf):
    return {"n": tf.FixedLenFeature([], tf.int64),
            "x": tf.FixedLenFeature([2], tf.float32),
            "s": tf.VarLenFeature(tf.string)}


def examples(size=3, contrib=False, **options):
    def make(tf, folder):
        write_examples(tf, folder)
        space = tf.contrib.data if contrib else tf.data.experimental
        return space.make_batched_features_dataset(
            os.path.join(folder, "examples-*"), size, features(tf),
            **dict(dict(num_epochs=1, shuffle=False), **options))
    return make


each("examples", plain=examples(), label=examples(label_key="n", contrib=True),
     without_end=examples(num_epochs=None), whole=examples(
         drop_final_batch=True, prefetch_buffer_size=1),
     in_turn=examples(reader_num_threads=2, parser_num_threads=1),
     shuffled=examples(shuffle=True, shuffle_seed=5, num_epochs=2))


@program("examples: pairs")
def pairs(tf, folder):
    return examples(reader=lambda path, key: tf.data.Dataset.zip((
        tf.data.Dataset.from_tensors(key).repeat(),
        tf.data.TFRecordDataset(path))), reader_args=["key"])(tf, folder)


@program("examples: read_batch_features")
def batch_features(tf, folder):
    write_examples(tf, folder)
    return tf.data.Dataset.from_tensors(tf.contrib.data.read_batch_features(
        os.path.join(folder, "examples-0"), 2, features(tf),
        randomize_input=False, num_epochs=1)["x"])


def sql(query, *types, **options):
    def make(tf, folder):
        space = tf.contrib.data if options else tf.data.experimental
        return space.SqlDataset("sqlite", os.path.join(folder, "people.db"),
                                query, types and tuple(
                                    getattr(tf, t) for t in types))
    return make


each("sql", all=sql("select * from people", "string", "int32", "float64",
                    "bool"),
     numbers=sql("select age, there from people order by there desc", "int64",
                 "int8", contrib=True),
     as_text=sql("select age, size from people where age > 20", "string",
                 "string"),
     nothing=sql("select name from people where age > 99", "string"))


# Transformations.

def applied(make, start=None):
    """A dataset of numbers, or `start`, with a transformation of tf.data."""
    def build(tf, folder):
        dataset = tf.data.Dataset.range(7) if start is None else start(tf)
        return dataset.apply(make(tf, tf.data.experimental))
    return build


each("counter",
     plain=lambda tf, folder: tf.data.experimental.Counter(),
     steps=lambda tf, folder: tf.contrib.data.Counter(5, -2, tf.int32))
each("reducer",
     sums=applied(lambda tf, e: e.group_by_reducer(
         lambda x: (5 - x) % 3, e.Reducer(
             lambda key: (tf.cast(0, tf.int64), key), lambda state, x: (
                 state[0] + x, state[1]), lambda a, key: (key, a)))),
     growing=applied(lambda tf, e: e.group_by_reducer(
         lambda x: x % 2, e.Reducer(
             lambda key: tf.zeros([0], tf.int64),
             lambda state, x: tf.concat([state, [x]], 0),
             lambda state: {"all": state}))),
     nothing=applied(lambda tf, e: e.group_by_reducer(
         lambda x: x, e.Reducer(lambda key: 0., lambda s, x: s, lambda s: s)),
         lambda tf: tf.data.Dataset.range(0)),
     whole=lambda tf, folder: tf.data.Dataset.from_tensors(
         tf.contrib.data.reduce_dataset(
             tf.data.Dataset.range(5), tf.contrib.data.Reducer(
                 lambda key: (key, 1.), lambda s, x: (s[0] + x, s[1] * 2.),
                 None))))


def lengths(tf):
    return tf.data.Dataset.range(1, 4).map(
        lambda n: tf.fill([n], tf.cast(n, tf.float32)))


each("sparse",
     plain=applied(lambda tf, e: e.dense_to_sparse_batch(2, [4]), lengths),
     longest=applied(lambda tf, e: tf.contrib.data.dense_to_sparse_batch(
         2, [None]), lengths),
     matrices=applied(
         lambda tf, e: e.dense_to_sparse_batch(3, [2, None]),
         lambda tf: tf.data.Dataset.range(3).map(
             lambda n: tf.fill([1, n], tf.as_string(n)))))


def classes(n=90):
    def start(tf):
        return tf.data.Dataset.range(n)
    return start


def resampled(target, initial=None, seed=3, n=90):
    def make(tf, e):
        return e.rejection_resample(
            lambda x: tf.cast(tf.minimum(x % 5, 2), tf.int32), target, initial,
            seed=seed)
    return applied(make, classes(n))


each("resample",
     known=resampled([.2, .2, .6], [.25, .25, .5]),
     never_whole=resampled([0., .5, .5], [.25, .25, .5]),
     as_it_is=resampled([.5, .25, .25], [.5, .25, .25]),
     counted=resampled([.6, .2, .2]),
     contrib=applied(lambda tf, e: tf.contrib.data.rejection_resample(
         lambda x: tf.cast(x % 2, tf.int32), [.9, .1], [.5, .5], 1)))
each("sample",
     weights=lambda tf, folder: tf.data.experimental.sample_from_datasets(
         [tf.data.Dataset.range(9), tf.data.Dataset.range(100, 109)],
         weights=tf.data.Dataset.from_tensor_slices(
             [[1., 0.], [0., 1.], [.5, .5]]).repeat().map(
                 lambda w: w * 2.), seed=1),
     unweighted=lambda tf, folder: tf.data.experimental.sample_from_datasets(
         [tf.data.Dataset.range(9), tf.data.Dataset.range(100, 109)], seed=7),
     choice=lambda tf, folder: tf.data.experimental.choose_from_datasets(
         [tf.data.Dataset.range(9), tf.data.Dataset.range(100, 109)],
         tf.data.Dataset.range(8).map(lambda x: x // 2 % 2)))


def named(tf):
    return tf.data.Dataset.range(7).map(
        lambda x: {"n": x, "v": tf.fill([2], x)})


each("sliding",
     plain=applied(lambda tf, e: tf.contrib.data.sliding_window_batch(3)),
     old=applied(lambda tf, e: tf.contrib.data.sliding_window_batch(2, 3)),
     strides=applied(lambda tf, e: tf.contrib.data.sliding_window_batch(
         2, window_shift=2, window_stride=3), named),
     too_long=applied(lambda tf, e: tf.contrib.data.sliding_window_batch(9)))
each("shapes",
     plain=applied(lambda tf, e: tf.contrib.data.assert_element_shape(
         tf.TensorShape([None])), lengths),
     parts=applied(
         lambda tf, e: tf.contrib.data.assert_element_shape(
             (tf.TensorShape([2]), tf.TensorShape(None))),
         lambda tf: tf.data.Dataset.from_tensor_slices(
             ([[1, 2], [3, 4]], ["a", "b"]))))
each("device",
     prefetch=applied(lambda tf, e: e.prefetch_to_device("/cpu:0")),
     copy=applied(lambda tf, e: e.copy_to_device("/cpu:0")))
each("variant",
     both_ways=lambda tf, folder: tf.data.experimental.from_variant(
         tf.data.experimental.to_variant(named(tf)),
         tf.data.experimental.get_structure(named(tf))),
     structure=lambda tf, folder: tf.data.experimental.from_variant(
         tf.data.experimental.to_variant(tf.data.Dataset.range(3)),
         tf.data.experimental.TensorStructure(tf.int64, [])),
     map_and_batch=applied(
         lambda tf, e: e.map_and_batch_with_legacy_function(
             lambda x: x * 2, 3, drop_remainder=True)))


def plain(value):
    if hasattr(value, "dense_shape"):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode()
    return value.tolist() if hasattr(value, "tolist") else value


def described(value):
    """Types, shapes or classes as text."""
    if isinstance(value, dict):
        return {key: described(v) for key, v in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "ndims"):
        return [described(v) for v in value]
    return str(getattr(value, "__name__", value))


def run(tf, name, folder):
    """{"types", "shapes", "classes", "elements"}"""
    with tf.Graph().as_default():
        tf.set_random_seed(42)
        dataset = PROGRAMS[name](tf, folder)
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        get_next, found = iterator.get_next(), []
        with tf.Session() as session:
            session.run(iterator.initializer)
            while len(found) < MOST:
                try:
                    found.append(plain(session.run(get_next)))
                except tf.errors.OutOfRangeError:
                    break
        data = tf.compat.v1.data
        return {"types": described(data.get_output_types(dataset)),
                "shapes": described(data.get_output_shapes(dataset)),
                "classes": described(data.get_output_classes(dataset)),
                "elements": found}


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        results = {}
        for name in sorted(PROGRAMS):
            try:
                results[name] = run(tf, name, folder)
            except Exception as error:
                print("FAILED", name, type(error), str(error)[:400],
                      file=sys.stderr)
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
