"""tf.train.warm_start and the initializers of tf.contrib.framework that take rows
and columns from checkpoints by vocabularies. Values are those of 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.training import checkpoint_ops, warm_start

OLD = ["apple", "banana", "guava", "orange"]
NEW = ["orange", "guava", "banana", "apple", "raspberry", "blueberry"]
WEIGHTS = np.arange(8, dtype=np.float32).reshape(4, 2)
BY_NEW = [[6, 7], [4, 5], [2, 3], [0, 1]]


@pytest.fixture
def files(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("rows", initializer=WEIGHTS)
        tf.get_variable("columns", initializer=WEIGHTS.reshape(2, 4))
        tf.get_variable("scope/plain", initializer=np.float32([1., 2.]))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    for name, words in (("old", OLD), ("new", NEW)):
        (tmp_path / name).write_text("\n".join(words))
    with tf.Graph().as_default():
        yield tmp_path


def _variable(name, shape, **kwargs):
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer(),
                           **kwargs)


def _values(*variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [v.tolist() for v in session.run(list(variables))]


def _vocabularies(files, **kwargs):
    return tf.train.VocabInfo(str(files / "new"), 6, 0, str(files / "old"),
                              **kwargs)


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_are_ordered_by_the_new_vocabulary(files, use_resource):
    v = _variable("rows", [6, 2], use_resource=use_resource)
    tf.train.warm_start(str(files), var_name_to_vocab_info={
        "rows": _vocabularies(files)})
    assert _values(v) == [BY_NEW + [[0, 0], [0, 0]]]


def test_rows_of_slices_under_another_name(files):
    v = _variable("mine", [6, 2], partitioner=lambda shape, dtype: [2, 1])
    tf.train.warm_start(
        str(files), vars_to_warm_start="mine",
        var_name_to_vocab_info={"mine": _vocabularies(
            files, old_vocab_size=2, backup_initializer=tf.ones_initializer())},
        var_name_to_prev_var_name={"mine": "rows"})
    assert _values(*v) == [[[1, 1], [1, 1], [2, 3]], [[0, 1], [1, 1], [1, 1]]]


def test_columns_are_ordered_by_the_new_vocabulary(files):
    v = _variable("columns", [2, 6])
    tf.train.warm_start(str(files), "columns", {
        "columns": _vocabularies(files, axis=1)})
    assert _values(v) == [[[3, 2, 1, 0, 0, 0], [7, 6, 5, 4, 0, 0]]]


def test_which_variables_begin_warm(files):
    plain = _variable("scope/plain", [2])
    other = _variable("other", [2], trainable=False)
    rows = _variable("rows", [4, 2])
    tf.train.warm_start(str(files), ".*plain")
    tf.train.warm_start(str(files), ["other"],
                        var_name_to_prev_var_name={"other": "scope/plain"})
    assert _values(plain, other, rows) == [[1, 2], [1, 2], [[0, 0]] * 4]
    tf.train.warm_start(str(files), [rows])
    assert _values(rows) == [WEIGHTS.tolist()]


REFUSED = {
    "old name": (lambda f, v: tf.train.warm_start(
        str(f), var_name_to_prev_var_name={"bad": "rows"}), ValueError,
        "var_name_to_prev_var_name that were not used: .'bad'"),
    "vocabulary": (lambda f, v: tf.train.warm_start(
        str(f), var_name_to_vocab_info={"bad": _vocabularies(f)}), ValueError,
        "var_name_to_vocab_info that were not used: .'bad'"),
    "list": (lambda f, v: tf.train.warm_start(str(f), [3]), ValueError,
             "all `Variable` or all `str`"),
    "type": (lambda f, v: tf.train.warm_start(str(f), 3), ValueError,
             "must be a `list` or `str`"),
    "axis": (lambda f, v: tf.train.VocabInfo("a", 1, 0, "b", axis=2),
             ValueError, "supported values for the axis"),
    "missing": (lambda f, v: warm_start.warm_start_var_with_vocab(
        v, None, 1, str(f), "b"), ValueError, "Must provide all of"),
    "variable": (lambda f, v: warm_start.get_var_info(3), TypeError,
                 "var MUST be one of the following"),
    "no files": (lambda f, v: checkpoint_ops.load_and_remap_matrix(
        "a", "b", 0, 1, 1, tf.zeros_initializer()), ValueError,
        "Must provide either row or column vocab files"),
    "one file": (lambda f, v: checkpoint_ops.load_and_remap_matrix(
        "a", "b", 0, 1, 1, tf.zeros_initializer(), old_row_vocab_file="x"),
        ValueError, "must both be specified"),
    "buckets": (lambda f, v: checkpoint_ops.load_and_remap_matrix(
        "a", "b", 0, 1, 1, tf.zeros_initializer(), num_col_oov_buckets=-1),
        ValueError, "num_col_oov_buckets must be >= 0"),
    "initializer": (
        lambda f, v: tf.contrib.framework.load_and_remap_matrix_initializer(
            "a", "b", 1, 1, initializer=3), TypeError, "must be callable"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_warm_starts_refuse(files, name):
    call, kind, text = REFUSED[name]
    v = _variable("rows", [4, 2])
    with pytest.raises(kind, match=text):
        call(files, v)


def _ones(shape):
    return tf.ones(shape)


def test_initializers_of_contrib_framework(files):
    framework = tf.contrib.framework
    model, old, new = (str(files / n) for n in ("model", "old", "new"))
    make = framework.load_and_remap_matrix_initializer(
        model, "rows", 6, 2, old_row_vocab_file=old, new_row_vocab_file=new,
        num_row_oov_buckets=1, initializer=_ones)
    v = tf.get_variable("v", [7, 2], initializer=make,
                        partitioner=tf.fixed_size_partitioner(2))
    e = tf.get_variable("e", [6, 2],
                        initializer=framework.load_embedding_initializer(
                            model, "rows", 6, 2, old, new, initializer=_ones))
    s = framework.load_variable_slot_initializer(
        model, "rows", None, 6, 2, old, new)([6, 2])
    found = _values(*v, e)
    assert found[0] + found[1] == BY_NEW + [[1, 1]] * 3
    assert found[2] == BY_NEW + [[1, 1]] * 2
    with tf.Session() as session:
        assert session.run(s).tolist() == BY_NEW + [[0, 0]] * 2
    for shape, text in (([7, 3], "Expected 2nd dim"), ([8, 2], "would exceed"),
                        ([7], "Expected 2-dim"), ([0, 2], "Expected 1st dim")):
        with pytest.raises(ValueError, match=text):
            make(shape)
    with pytest.raises(TypeError, match="only float32"):
        make([7, 2], tf.int32)


def test_biases_of_classes(files):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("bias", initializer=np.float32([[1], [2], [3], [4]]))
        session.run(tf.global_variables_initializer())
        model = tf.train.Saver().save(session, str(files / "biases"))
    make = tf.contrib.framework.load_linear_multiclass_bias_initializer(
        model, "bias", 6, str(files / "old"), str(files / "new"), 1)
    v = tf.get_variable("v", [7, 1], initializer=make)
    assert _values(v) == [[[4], [3], [2], [1], [0], [0], [0]]]
