"""Examples, sequences of them and CSV. What is wanted, messages among it, is
what TensorFlow gives."""
import numpy as np
import pytest

import headrace as tf


def feature(values):
    f = tf.train.Feature()
    if values:
        kind = {bytes: f.bytes_list, float: f.float_list,
                int: f.int64_list}[type(values[0])]
        kind.value.extend(values)
    return f


def example(**features):
    e = tf.train.Example()
    for k, v in features.items():
        e.features.feature[k].CopyFrom(feature(v))
    return e.SerializeToString()


def sequence(context, **lists):
    e = tf.train.SequenceExample()
    for k, v in context.items():
        e.context.feature[k].CopyFrom(feature(v))
    for k, steps in lists.items():
        out = e.feature_lists.feature_list[k]
        for s in steps:
            out.feature.add().CopyFrom(feature(s))
    return e.SerializeToString()


def run(x, feed=None):
    with tf.Session() as sess:
        return sess.run(x, feed)


def sparse(v):
    return (v.indices.tolist(), v.values.tolist(), v.dense_shape.tolist())


A = example(d=[1., 2.], r=[1, 2, 3], s=[b"x"])
B = example(d=[3., 4.], s=[])


def test_parse_example():
    out = run(tf.parse_example([A, B], {
        "d": tf.FixedLenFeature([2], tf.float32),
        "r": tf.VarLenFeature(tf.int64),
        "s": tf.FixedLenFeature([], tf.string, "none"),
        "p": tf.FixedLenSequenceFeature([], tf.int64, True)}))
    assert out["d"].tolist() == [[1, 2], [3, 4]]
    assert sparse(out["r"]) == ([[0, 0], [0, 1], [0, 2]], [1, 2, 3], [2, 3])
    assert out["s"].tolist() == [b"x", b"none"]
    assert out["p"].shape == (2, 0)


def test_parse_example_pads_sequences():
    parse = tf.parse_example([A, B], {
        "r": tf.FixedLenSequenceFeature([], tf.int64, True, 7)})
    assert parse["r"].shape.as_list() == [2, None]
    assert run(parse)["r"].tolist() == [[1, 2, 3], [7, 7, 7]]


def test_sparse_features():
    e = example(i=[3, 0], v=[30., 0.5])
    out = run(tf.parse_example([e, example()], {
        "f": tf.SparseFeature("i", "v", tf.float32, 5)}))
    assert sparse(out["f"]) == ([[0, 0], [0, 3]], [0.5, 30.], [2, 5])


def test_parse_single_example():
    features = {"d": tf.FixedLenFeature([2], tf.float32),
                "r": tf.VarLenFeature(tf.int64)}
    out = run(tf.parse_single_example(A, features))
    assert out["d"].tolist() == [1, 2]
    assert sparse(out["r"]) == ([[0], [1], [2]], [1, 2, 3], [3])
    parse = tf.parse_single_example(B, {
        "d": tf.FixedLenSequenceFeature([], tf.float32, True),
        "x": tf.FixedLenFeature([2], tf.int64, [8, 9])})
    out = run(parse)
    assert out["d"].tolist() == [3, 4] and out["x"].tolist() == [8, 9]


@pytest.mark.parametrize("serialized, shape, message", [
    (example(r=[1]), [2], "Feature: d .data type: float. is required but"),
    (example(d=[1.]), [2], "Key: d.*values size: 1 but output shape: .2."),
    (example(d=[1]), [2], "Data types don't match. Expected type: float"),
    (b"\xff\xff", [2], "Could not parse example"),
    (example(d=[1., 2., 3.]), [], "values size: 3")])
def test_examples_that_do_not_fit(serialized, shape, message):
    features = {"d": tf.FixedLenFeature(shape, tf.float32)}
    x = tf.placeholder(tf.string)
    for parse, value in (
            (tf.parse_single_example(x, features), serialized),
            (tf.parse_example(x, features), [A if shape else example(
                d=[1.]), serialized])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(parse, {x: value})


def test_ragged_features():
    def parse(serialized):
        return tf.raw_ops.ParseExampleV2(
            serialized, [], [], ["d"], ["r"], [np.zeros(0, np.float32)],
            num_sparse=0, sparse_types=[], ragged_value_types=[tf.int64],
            ragged_split_types=[tf.int32], dense_shapes=[[2]])
    out = run([parse([A, B]).ragged_values[0],
               parse([A, B]).ragged_row_splits[0],
               parse(A).ragged_values[0], parse(A).dense_values[0]])
    assert [o.tolist() for o in out] == [[1, 2, 3], [0, 3, 3], [1, 2, 3],
                                         [1, 2]]


SA = sequence({"i": [5], "s": [b"x", b"y"]}, fl=[[1., 2.], [3., 4.]],
              fi=[[1], [2, 3], []])
SB = sequence({"i": [6]}, fl=[[5., 6.]])
SC = sequence({})
CONTEXT = {"i": tf.FixedLenFeature([], tf.int64, -1),
           "s": tf.VarLenFeature(tf.string)}


def lists(allow_missing=False):
    return {"fl": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing),
            "fi": tf.VarLenFeature(tf.int64)}


def test_parse_single_sequence_example():
    def parse(serialized, allow_missing=False):
        return run(tf.parse_single_sequence_example(
            serialized, CONTEXT, lists(allow_missing), "nm"))
    context, seq = parse(SA)
    assert context["i"] == 5
    assert sparse(context["s"]) == ([[0], [1]], [b"x", b"y"], [2])
    assert seq["fl"].tolist() == [[1, 2], [3, 4]]
    assert sparse(seq["fi"]) == ([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [3, 2])
    context, seq = parse(SC, True)
    assert context["i"] == -1 and seq["fl"].shape == (0, 2)
    assert sparse(seq["fi"]) == ([], [], [0, 0])
    for serialized, message in (
            (SC, "Name: nm, Feature list 'fl' is required but could not be"),
            (sequence({}, fl=[[1.]]), "Key: fl, Index: 0.  Number of float "
             "values != expected.  values size: 1 but output shape: .2."),
            (sequence({}, fl=[[1., 2.], []]), "Index: 1"),
            (sequence({}, fl=[[1, 2]]), "Feature list: fl, Index: 0.  Data "
             "types don't match. Expected type: float")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            parse(serialized)


def test_parse_sequence_example():
    context, seq, lengths = run(tf.io.parse_sequence_example(
        [SA, SB, SC], CONTEXT, lists(True), ["a", "b", "c"]))
    assert context["i"].tolist() == [5, 6, -1]
    assert sparse(context["s"]) == ([[0, 0], [0, 1]], [b"x", b"y"], [3, 2])
    assert seq["fl"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]],
                                  [[0, 0], [0, 0]]]
    assert sparse(seq["fi"]) == (
        [[0, 0, 0], [0, 1, 0], [0, 1, 1]], [1, 2, 3], [3, 3, 2])
    assert lengths["fl"].tolist() == [2, 1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: c, Feature "
                       "list 'fl' is required"):
        run(tf.io.parse_sequence_example([SA, SB, SC], CONTEXT, lists(),
                                      ["a", "b", "c"]))
    x = tf.placeholder(tf.string, [None])
    parse = tf.io.parse_sequence_example(x, CONTEXT, lists(True))
    context, seq, lengths = run(parse, {x: []})
    assert seq["fl"].shape == (0, 0, 2) and lengths["fl"].shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
        run(parse, {x: [b"\xff"]})


def test_parse_sequence_example_v2():
    def parse(serialized, missing=True):
        return run(list(tf.raw_ops.ParseSequenceExampleV2(
            serialized, [], [], ["i"], ["s"], [], ["fl"], ["fi"], [missing],
            [np.int64(-1)], context_sparse_types=[],
            context_ragged_value_types=[tf.string],
            context_ragged_split_types=[tf.int64], context_dense_shapes=[[]],
            Nfeature_list_dense=1, feature_list_dense_types=[tf.float32],
            feature_list_ragged_value_types=[tf.int64],
            feature_list_ragged_split_types=[tf.int32],
            feature_list_dense_shapes=[[2]])))
    out = [[t.tolist() for t in part] for part in parse([SA, SB, SC])]
    assert out == [
        [], [], [], [[5, 6, -1]], [[b"x", b"y"]], [[0, 2, 2, 2]], [], [], [],
        [[[[1, 2], [3, 4]], [[5, 6], [0, 0]], [[0, 0], [0, 0]]]], [[2, 1, 0]],
        [[1, 2, 3]], [[0, 3, 3, 3]], [[0, 1, 3, 3]]]
    one = parse(SA)
    assert one[3][0] == 5 and one[9][0].tolist() == [[1, 2], [3, 4]]
    assert one[10][0] == 2 and one[13][0].tolist() == [0, 1, 3, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is required"):
        parse([SA, SC], False)


def csv(records, defaults, **kwargs):
    out = run(tf.decode_csv(records, defaults, **kwargs))
    return [o.tolist() if isinstance(o, np.ndarray) else o for o in out]


I32, F32 = np.int32, np.float32


@pytest.mark.parametrize("records, defaults, kwargs, wanted", [
    (["1,2.5,a", '4,5e1,"b,""q"""'], [[I32(0)], [F32(0)], [""]], {},
     [[1, 4], [2.5, 50.0], [b"a", b'b,"q"']]),
    ([",,"], [[I32(7)], [F32(1.5)], ["z"]], {}, [[7], [1.5], [b"z"]]),
    (['"a\nb"'], [[""]], {}, [[b"a\nb"]]),
    (['a"b,"c'], [[""], [""]], {"use_quote_delim": False},
     [[b'a"b'], [b'"c']]),
    (["a|b c"], [[""], [""]], {"field_delim": "|"}, [[b"a"], [b"b c"]]),
    (["NA,1"], [[I32(3)], [I32(0)]], {"na_value": "NA"}, [[3], [1]]),
    (["1,2,3,4"], [[I32(0)], [I32(0)]], {"select_cols": [1, 3]}, [[2], [4]]),
    ("1, 2", [[I32(0)], [I32(0)]], {}, [1, 2]),
    ([" 1 ,2 "], [[I32(0)], [F32(0)]], {}, [[1], [2.0]]),
    ([["1", "2"]], [[I32(0)]], {}, [[[1, 2]]]),
    (["1,"], [I32(0), F32(3)], {}, [[1], [3.0]]),
    (["a,"], [["d"], ["e"]], {}, [[b"a"], [b"e"]]),
    (['"",""'], [["d"], [I32(4)]], {}, [[b"d"], [4]]),
    (["1e40,-inf"], [[F32(0)], [F32(0)]], {}, [[np.inf], [-np.inf]]),
    (["99999999999"], [np.zeros(1, np.int64)], {}, [[99999999999]])])
def test_csv(records, defaults, kwargs, wanted):
    assert csv(records, defaults, **kwargs) == wanted


@pytest.mark.parametrize("records, defaults, kwargs, message", [
    ([",1,a"], [np.zeros(0, I32), [F32(0)], [""]], {},
     "Field 0 is required but missing in record 0!"),
    (["1,2"], [[I32(0)], [F32(0)], [""]], {},
     "Expect 3 fields but have 2 in record 0"),
    (["1,2,3,4"], [[I32(0)], [F32(0)], [""]], {},
     "Expect 3 fields but have 4 in record 0"),
    (["1,2,3", "x,2,3"], [[I32(0)], [F32(0)], [""]], {},
     "Field 0 in record 1 is not a valid int32: x"),
    (["1,x,3"], [[I32(0)], [F32(0)], [""]], {},
     "Field 1 in record 0 is not a valid float: x"),
    (["99999999999"], [[I32(0)]], {}, "is not a valid int32: 99999999999"),
    (['a"b'], [[""]], {}, "Unquoted fields cannot have quotes/CRLFs inside"),
    (['"ab"c'], [[""]], {}, "has to be escaped by another quote"),
    (['"ab'], [[""]], {}, "Quoted field has to end with quote"),
    (["a\nb"], [[""]], {}, "Unquoted fields cannot have quotes/CRLFs inside"),
    ([""], [["d"]], {}, "Expect 1 fields but have 0 in record 0"),
    (["1,2"], [[I32(0)], [I32(0)]], {"select_cols": [1, 3]},
     "Expect 2 fields but have 1"),
    (["1"], [[I32(0)]], {"field_delim": "||"}, "only 1 char")])
def test_csv_that_is_refused(records, defaults, kwargs, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        csv(records, defaults, **kwargs)


@pytest.mark.parametrize("columns, message", [
    ([3, 1], "select_cols is not strictly increasing."),
    ([-1, 1], "select_cols contains negative values."),
    ([1], "Length of select_cols and record_defaults do not match.")])
def test_columns_of_csv_that_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        tf.decode_csv(["1,2"], [[0], [0]], select_cols=columns)


def test_examples_in_a_dataset(tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as w:
        for i in range(4):
            w.write(example(x=[float(i), 1.], n=list(range(i))))
    features = {"x": tf.FixedLenFeature([2], tf.float32),
                "n": tf.VarLenFeature(tf.int64)}
    d = tf.data.TFRecordDataset(path)
    one = d.map(lambda s: tf.parse_single_example(s, features))
    get_one = one.make_one_shot_iterator().get_next()
    get_two = one.batch(2).make_one_shot_iterator().get_next()
    get_four = d.batch(4).map(
        lambda s: tf.parse_example(s, features)).make_one_shot_iterator(
        ).get_next()
    with tf.Session() as sess:
        for i in range(4):
            out = sess.run(get_one)
            assert out["x"].tolist() == [i, 1]
            assert out["n"].values.tolist() == list(range(i))
        out = sess.run(get_two)
        assert sparse(out["n"]) == ([[1, 0]], [0], [2, 1])
        out = sess.run(get_four)
        assert out["x"].tolist() == [[i, 1] for i in range(4)]
        assert out["n"].dense_shape.tolist() == [4, 3]
