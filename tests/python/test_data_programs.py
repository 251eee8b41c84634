"""Datasets of tf.data.experimental and tf.contrib.data have the elements that
TensorFlow 1.15 gives in the programs of data_programs.py, and refuse what they
cannot do."""
import json
import os

import data_programs
import pytest

import headrace as tf
from dataset_values import values

E = tf.data.experimental
C = tf.contrib.data
Dataset = tf.data.Dataset

with open(data_programs.VALUES) as file:
    WANTED = json.load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("data"))
    data_programs.write_files(path)
    return path


def test_every_program_has_values():
    assert sorted(WANTED) == sorted(data_programs.PROGRAMS)


@pytest.mark.parametrize("name", sorted(data_programs.PROGRAMS))
def test_a_program_gives_what_tensorflow_gives(name, folder):
    got = json.loads(json.dumps(data_programs.run(tf, name, folder)))
    assert got == WANTED[name]


# Types of columns, by TensorFlow 1.15.5: the narrowest of int32, int64,
# float32, float64 and string.
@pytest.mark.parametrize("fields, wanted", [
    ("1 2", tf.int32), ("1 3000000000", tf.int64), ("1 x", tf.string),
    ("3000000000 1.5", tf.float32), ("1e300 1", tf.float64), ("-1 NA", tf.int32),
    ("NA NA", tf.string), ("1e999 1", tf.string), ("nan 1", tf.string),
    ("1.5 3000000000 1e300", tf.float64), (" 1", tf.int32)])
def test_types_of_columns(tmp_path, fields, wanted):
    (tmp_path / "a.csv").write_text("\n".join(
        ["n"] + ([fields] if fields[0] == " " else fields.split())) + "\n")
    dataset = E.make_csv_dataset(str(tmp_path / "a.csv"), 2, na_value="NA")
    assert dict(dataset.output_types) == {"n": wanted}


@pytest.mark.parametrize("options, message", [
    (dict(file_pattern=[]), "File pattern is empty"),
    (dict(file_pattern="none.csv"), "No files match"),
    (dict(header=False), "Cannot infer column names without a header"),
    (dict(column_names=["a", "a"]), "Cannot have duplicate column names"),
    (dict(select_columns=[5]), "Column index 5 specified in select_columns out"),
    (dict(select_columns=["f"]), "Value 'f' specified in select_columns not"),
    (dict(select_columns=["a", 0]), "select_columns contains duplicate"),
    (dict(select_columns=["a"], column_defaults=[[0], [0]]), "same length"),
    (dict(label_name="f"), "`label_name` provided must be one of"),
    (dict(column_names=["a", "b"]), "different number of fields than expected: "
     "5 in place of 2"),
    (dict(compression_type="ZLIB"), "not supported for probing"),
    (dict(compression_type="LZ4"), r"compression_type \(LZ4\) is not supported"),
    (dict(compression_type=True), "compression_type must be known")])
def test_what_make_csv_dataset_refuses(folder, options, message):
    options = dict({"file_pattern": os.path.join(folder, "a.csv")}, **options)
    if options["file_pattern"] == "none.csv":
        options["file_pattern"] = os.path.join(folder, "none.csv")
    if options.get("compression_type") is True:
        options["compression_type"] = tf.placeholder(tf.string, [])
    with pytest.raises(ValueError, match=message):
        E.make_csv_dataset(batch_size=2, **options)


def test_headers_of_several_files(tmp_path):
    for name, text in ("a", "x,y\n1,2\n"), ("b", "x,z\n1,2\n"), ("c", ""):
        (tmp_path / name).write_text(text)
    for names, message in ("ab", "different column names"), (
            "ac", "c has no header line: it is empty"):
        with pytest.raises(ValueError, match=message):
            E.make_csv_dataset([str(tmp_path / n) for n in names], 1)


def test_what_readers_of_examples_refuse(folder):
    data_programs.write_examples(tf, folder)
    pattern = os.path.join(folder, "examples-*")
    features = data_programs.features(tf)
    with pytest.raises(TypeError, match="`tf.ReaderBase` subclasses are not"):
        E.make_batched_features_dataset(pattern, 2, features,
                                        reader=tf.TFRecordReader)
    with pytest.raises(ValueError, match=r"`label_key` provided \('y'\) must be"):
        E.make_batched_features_dataset(pattern, 2, features, label_key="y")


@pytest.mark.parametrize("parser, wanted", [
    (None, [[b"r0", b"r1"], [b"r2"]]),
    (lambda record: tf.strings.length(record), [[2, 2], [2]])])
def test_batches_of_records(tmp_path, parser, wanted):
    from headrace._src.data.reading import make_tf_record_dataset
    with tf.python_io.TFRecordWriter(str(tmp_path / "records")) as writer:
        for i in range(3):
            writer.write(b"r%d" % i)
    for ahead in (None, 0):
        assert values(make_tf_record_dataset(
            str(tmp_path / "rec*"), 2, parser, num_epochs=1, shuffle=False,
            prefetch_buffer_size=ahead)) == wanted
        assert values(make_tf_record_dataset(
            str(tmp_path / "rec*"), 2, parser, num_epochs=2, shuffle=False,
            drop_final_batch=True, prefetch_buffer_size=ahead))[0] == wanted[0]


def test_what_sql_datasets_refuse(folder):
    path = os.path.join(folder, "people.db")
    with pytest.raises(ValueError, match="database type, mysql, is not"):
        E.SqlDataset("mysql", path, "select 1", tf.int32)
    with pytest.raises(ValueError, match="output_types has float32; columns may"):
        E.SqlDataset("sqlite", path, "select 1", (tf.float32,))
    with tf.Session() as session:
        for query, message in (
                ("select name, age from people", r"number of columns in query "
                 r"\(2\) must match the number of elements in output_types \(1"),
                ("select x from people", "no such column: x"),
                ("sel", "syntax error")):
            get_next = E.SqlDataset("sqlite", path, query, tf.string
                                    ).make_one_shot_iterator().get_next()
            with pytest.raises(tf.errors.OpError, match=message):
                session.run(get_next)


def test_the_rows_of_a_database_in_a_dict(folder):
    dataset = E.SqlDataset(
        "sqlite", os.path.join(folder, "people.db"),
        "select age, name from people where size > 1.6",
        {"a": tf.int16, "b": tf.string})
    assert values(dataset) == [{"a": 0, "b": b"Bob"}]


def test_what_group_by_reducer_refuses():
    reducer = E.Reducer(lambda key: 0, lambda state, x: state, lambda x: x)
    for key, shown in (lambda x: "a", "Got type=<dtype: 'string'>|tf.string"), (
            lambda x: [x, x], "single tf.int64 tensor"):
        with pytest.raises(ValueError, match=shown):
            Dataset.range(3).apply(E.group_by_reducer(key, reducer))
    with pytest.raises(TypeError, match="new state must match the initial"):
        Dataset.range(3).apply(E.group_by_reducer(
            lambda x: x, E.Reducer(lambda key: 0, lambda state, x: "b",
                                   lambda x: x)))
    with pytest.raises(TypeError, match="must be a `tf.data.Dataset` object"):
        C.reduce_dataset(3, reducer)


def test_what_dense_to_sparse_batch_refuses():
    with pytest.raises(TypeError, match="elements have a single component"):
        Dataset.from_tensors((1, 2)).apply(E.dense_to_sparse_batch(1, [1]))
    first, second = values(Dataset.range(2, 4).map(
        lambda n: tf.fill([n], 1)).apply(E.dense_to_sparse_batch(1, [2])))
    assert first == ([[0, 0], [0, 1]], [1, 1], [1, 2])
    assert isinstance(second, tf.errors.InvalidArgumentError)
    assert "larger than a row" in str(second)


def test_what_assert_element_shape_refuses():
    with pytest.raises(ValueError, match="not compatible"):
        Dataset.range(3).apply(C.assert_element_shape(tf.TensorShape([2])))
    grown = Dataset.range(2).map(lambda n: tf.fill([n], 1))
    dataset = grown.apply(C.assert_element_shape(tf.TensorShape([1])))
    assert dataset.output_shapes.as_list() == [1]
    bad, good = values(dataset)
    assert isinstance(bad, tf.errors.InvalidArgumentError) and good == [1]


def test_windows_have_one_shift():
    with pytest.raises(ValueError, match="both `stride` and `window_shift`"):
        C.sliding_window_batch(2, 1, 1)


def test_structures():
    dataset = Dataset.from_tensors((1, tf.SparseTensor([[0]], ["a"], [2])))
    wanted = (tf.TensorSpec([], tf.int32), tf.SparseTensorSpec([2], tf.string))
    for x in dataset, dataset.make_one_shot_iterator():
        assert E.get_structure(x) == wanted
    assert E.TensorStructure(tf.int32, []) == wanted[0]
    assert E.SparseTensorStructure(tf.string, [2]) == wanted[1]
    assert E.Structure is tf.TypeSpec
    windows = E.get_structure(Dataset.range(4).window(2))
    assert windows == E.DatasetStructure(tf.TensorSpec([], tf.int64))
    assert repr(windows) == ("DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, "
                             "name=None), TensorShape([]))")
    assert E.DatasetStructure.from_value(Dataset.range(3)) == windows
    inner, = windows._from_tensor_list([E.to_variant(Dataset.range(3))]),
    assert values(inner) == [0, 1, 2]
    assert windows._to_tensor_list(dataset) == [E.to_variant(dataset)]
    optional = E.Optional.from_value(tf.constant(5))
    spec = E.OptionalStructure.from_value(optional)
    assert spec == E.OptionalStructure(tf.TensorSpec([], tf.int32))
    again = spec._from_tensor_list(spec._to_tensor_list(optional))
    with tf.Session() as session:
        assert session.run(again.get_value()) == 5
    with pytest.raises(TypeError, match="must be a Dataset or Iterator object"):
        E.get_structure(3)
    with pytest.raises(TypeError, match="cannot have a part of"):
        E.from_variant(E.to_variant(dataset), optional)


def test_options_of_their_own():
    options = tf.data.Options()
    options.experimental_optimization = E.OptimizationOptions()
    options.experimental_optimization.map_fusion = True
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_threading = E.ThreadingOptions()
    options.experimental_threading.private_threadpool_size = 2
    options.experimental_distribute = E.DistributeOptions()
    dataset = Dataset.range(3).with_options(options)
    assert "map_fusion" in dataset._optimizations()
    assert dataset.options().experimental_threading.private_threadpool_size == 2
    assert options.experimental_distribute.auto_shard is True
    assert options.experimental_distribute.num_devices is None
    assert dataset.options().experimental_optimization.map_vectorization.enabled
    assert E.ThreadingOptions() != options.experimental_threading
    assert values(dataset) == [0, 1, 2]
    for made in (E.OptimizationOptions, E.ThreadingOptions, E.DistributeOptions,
                 E.MapVectorizationOptions):
        with pytest.raises(AttributeError, match="Cannot set the property foo "
                           "on " + made.__name__):
            made().foo = 1
        assert not hasattr(made(), "foo")
    with pytest.raises(TypeError, match="unhashable type"):
        hash(E.ThreadingOptions())
    with pytest.raises(TypeError, match='Property "private_threadpool_size" must'
                       ' be of type .*int.*, got: 2.5'):
        E.ThreadingOptions().private_threadpool_size = 2.5


@pytest.mark.parametrize("space, name, instead", [
    (C, "LMDBDataset", "tf.data.Dataset.from_generator")])
def test_what_is_left_out(space, name, instead):
    with pytest.raises(AttributeError, match=name + " is not supported yet; use "
                       "instead: .*" + instead):
        getattr(space, name)
