"""The feature columns of tf.contrib.layers: errors, names, specs and values, which
are TensorFlow 1.15.5's."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.contrib.columns import base, real
from headrace._src.contrib.columns import sparse as columns

layers = tf.contrib.layers
OCCUPATION = layers.sparse_column_with_hash_bucket("occupation", 20)
EDUCATION = layers.sparse_column_with_keys("education", ["a", "b", "c"])
AGE = layers.real_valued_column("age")
AGES = layers.bucketized_column(AGE, [18, 25, 25, 30, 35])
PAIR = layers.real_valued_column("pair", 2, [1, 2.5])
CROSS = layers.crossed_column([OCCUPATION, EDUCATION], 30)
WEIGHTED = layers.weighted_sparse_column(EDUCATION, "weight")


def words(values):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], values, [3, 2])


def features():
    return {"age": tf.constant([[20.], [30.], [70.]]),
            "pair": tf.constant([[0., 1.], [.7, 5.], [3., 3.]]),
            "occupation": words(["x", "y", "zz"]),
            "education": words(["a", "c", "q"]), "weight": words([.5, 2., 3.])}


def run(*fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(),
                     tf.tables_initializer()])
        return session.run(fetches)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("make, error, text", [
    (lambda: layers.sparse_column_with_hash_bucket("a", 0), ValueError,
     "bucket_size must be at least 1. bucket_size: 0, column_name: a"),
    (lambda: layers.sparse_column_with_hash_bucket("a", 9, dtype=tf.float32),
     ValueError, "dtype must be string or integer"),
    (lambda: layers.sparse_column_with_hash_bucket("a", 9, hash_keys=[]),
     ValueError, "hash_keys must be a non-empty list."),
    (lambda: layers.sparse_column_with_hash_bucket("a", 9, hash_keys=[[1]]),
     ValueError, "Each element of hash_keys must be a pair of integers."),
    (lambda: layers.sparse_column_with_integerized_feature(
        "a", 9, dtype=tf.string), ValueError, "dtype must be an integer"),
    (lambda: layers.sparse_column_with_vocabulary_file("a", "f"), ValueError,
     "vocab_size should be defined. column_name: a"),
    (lambda: layers.weighted_sparse_column(OCCUPATION, "w", tf.string),
     ValueError, "dtype is not convertible to float"),
    (lambda: layers.real_valued_column("a", None), TypeError,
     "dimension must be an integer. Use the _real_valued_var_len_column"),
    (lambda: layers.real_valued_column("a", 0), ValueError,
     "dimension must be greater than 0"),
    (lambda: layers.real_valued_column("a", 1.0), TypeError,
     "dimension must be an integer"),
    (lambda: layers.real_valued_column("a", 2, [1.]), ValueError,
     "The length of default_value must be equal to dimension"),
    (lambda: layers.real_valued_column("a", 1, 1.5, tf.int32), TypeError,
     "default_value must be compatible with dtype"),
    (lambda: layers.real_valued_column("a", 1, "x"), TypeError,
     "default_value must be compatible with dtype"),
    (lambda: layers.real_valued_column("a", dtype=tf.string), ValueError,
     "dtype must be convertible to float"),
    (lambda: layers.bucketized_column(OCCUPATION, [1]), TypeError,
     "source_column must be an instance of _RealValuedColumn"),
    (lambda: layers.bucketized_column(AGE, []), ValueError,
     "boundaries must be a non-empty list"),
    (lambda: layers.bucketized_column(AGE, [2, 1]), ValueError,
     "boundaries must be a sorted list"),
    (lambda: layers.crossed_column([OCCUPATION], 9), ValueError,
     "columns must contain at least 2 elements"),
    (lambda: layers.crossed_column([OCCUPATION, AGE], 9), TypeError,
     "is a _RealValuedColumn"),
    (lambda: layers.crossed_column([OCCUPATION, EDUCATION], 1), ValueError,
     "hash_bucket_size must be at least 2"),
    (lambda: layers.crossed_column([OCCUPATION, EDUCATION], 9,
                                   ckpt_to_load_from="x"),
     ValueError, "Must specify both `ckpt_to_load_from`"),
    (lambda: layers.embedding_column(OCCUPATION, 2, initializer=1), ValueError,
     "initializer must be callable if specified"),
    (lambda: layers.scattered_embedding_column("a", 0, 1, 1), ValueError,
     "Dimension and size must be greater than 0"),
    (lambda: layers.scattered_embedding_column("a", 1, 1, 1, "max"), ValueError,
     "Combiner must be one of 'mean', 'sqrtn' or 'sum'"),
    (lambda: layers.shared_embedding_columns("ab", 2), TypeError,
     "must be a non-string sequence"),
    (lambda: layers.shared_embedding_columns([], 2), ValueError,
     "at least one element"),
    (lambda: layers.shared_embedding_columns([OCCUPATION, EDUCATION], 2),
     ValueError, "The input sparse id columns are not compatible."),
    (lambda: layers.create_feature_spec_for_parsing([1]), TypeError,
     "should only contain instances of _FeatureColumn"),
    (lambda: layers.check_feature_columns({}), ValueError,
     "Expected feature_columns to be iterable, found dict."),
    (lambda: layers.check_feature_columns([AGE, layers.real_valued_column(
        "age", normalizer=abs)]), ValueError,
     "Duplicate feature column key found for column: age"),
    (lambda: layers.input_from_feature_columns(features(), [OCCUPATION]),
     ValueError, "Error creating input layer for column: occupation.\n"
     "SparseColumn is not supported in DNN"),
    (lambda: layers.weighted_sum_from_feature_columns(
        features(), [layers.embedding_column(OCCUPATION, 2)], 1), ValueError,
     "Error creating weighted sum for column: occupation_embedding"),
    (lambda: layers.joint_weighted_sum_from_feature_columns(
        features(), [AGE], 1), NotImplementedError,
     "Real-valued columns are not supported."),
    (lambda: layers.joint_weighted_sum_from_feature_columns(
        features(), [WEIGHTED], 1), AssertionError,
     "Joint sums for weighted sparse columns are not supported"),
    (lambda: layers.sequence_input_from_feature_columns(
        features(), [OCCUPATION]), ValueError,
     "type _SparseColumnHashed is not currently supported for sequence data"),
    (lambda: layers.infer_real_valued_columns(tf.constant([["a"]])),
     ValueError, "Non integer or non floating types are not supported"),
    (lambda: columns.sparse_feature_cross((1,)), TypeError,
     "Inputs must be a list"),
    (lambda: base.TransformedFeatures({}).get("x"), ValueError,
     "features dictionary doesn't contain key (x)"),
    (lambda: real.real_valued_var_len_column("a"), ValueError,
     "default_value must be provided when is_sparse=False"),
])
def test_what_columns_refuse(make, error, text):
    with pytest.raises(error) as refused:
        make()
    assert text in str(refused.value)


@pytest.mark.parametrize("column, name, key", [
    (AGE, "age", "_RealValuedColumn(column_name=age, dimension=1, "
     "default_value=None, dtype=<dtype: 'float32'>)"),
    (AGES, "age_bucketized", "_BucketizedColumn(source_column="
     "_RealValuedColumn(column_name='age', dimension=1, default_value=None, "
     "dtype=tf.float32, normalizer=None), boundaries=(18, 25, 30, 35))"),
    (EDUCATION, "education", "_SparseColumnKeys(column_name='education', "
     "is_integerized=False, bucket_size=None, lookup_config="
     "_SparseIdLookupConfig(vocabulary_file=None, keys=('a', 'b', 'c'), "
     "num_oov_buckets=0, vocab_size=3, default_value=-1), combiner='sum', "
     "dtype=tf.string)"),
    (CROSS, "education_X_occupation", None),
    (WEIGHTED, "education_weighted_by_weight", None),
    (layers.one_hot_column(EDUCATION), "education_one_hot", None),
    (layers.embedding_column(EDUCATION, 2), "education_embedding", None),
    (layers.scattered_embedding_column("s", 9, 2, 1),
     "s_scattered_embedding", None),
])
def test_names_and_keys(column, name, key):
    assert column.name == name
    assert key is None or column.key == key


def test_columns_say_what_examples_have():
    spec = layers.create_feature_spec_for_parsing(
        [AGES, PAIR, CROSS, WEIGHTED])
    assert spec == {
        "age": tf.FixedLenFeature([1], tf.float32),
        "pair": tf.FixedLenFeature([2], tf.float32, [1.0, 2.5]),
        "occupation": tf.VarLenFeature(tf.string),
        "education": tf.VarLenFeature(tf.string),
        "weight": tf.VarLenFeature(tf.float32)}
    made = layers.make_place_holder_tensors_for_base_features([PAIR, WEIGHTED])
    assert made["pair"].op.name == "Placeholder_pair"
    assert isinstance(made["weight"], tf.SparseTensor)


@pytest.mark.parametrize("hash_key, values, want", [
    (None, [["x", "y"], ["z", "w"]], [903, 110, 291, 820, 639, 721]),
    (956888297470, [["x", "y"], ["z", "w"]], [892, 747, 4, 805, 280, 235])])
def test_a_cross_has_the_hashes_of_its_key(hash_key, values, want):
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    crossed = columns.sparse_feature_cross(
        [sparse, tf.constant(values)], hashed_output=True, num_buckets=1000,
        hash_key=hash_key)
    assert crossed.values.op.type == ("SparseFeatureCrossV2" if hash_key
                                      else "SparseFeatureCross")
    assert run(crossed.values)[0].tolist() == want
    text = columns.sparse_feature_cross([sparse, tf.constant(values)])
    assert run(text.values)[0].tolist()[:2] == [b"a_X_x", b"a_X_y"]


def test_what_columns_make_of_features():
    made = layers.transform_features(features(), [
        AGES, EDUCATION, WEIGHTED, CROSS, PAIR])
    assert set(made) == {AGES, EDUCATION, WEIGHTED, CROSS, PAIR}
    ages, education, weights, pair = run(
        made[AGES], made[EDUCATION].values, made[WEIGHTED][1].values,
        made[PAIR])
    assert ages.tolist() == [[1], [3], [4]]
    assert education.tolist() == [0, 2, -1]
    assert weights.tolist() == [.5, 2, 3]
    np.testing.assert_allclose(pair, [[0, 1], [.7, 5], [3, 3]])


def test_the_input_of_a_network():
    outs = {}
    made = layers.input_from_feature_columns(features(), [
        AGES, PAIR, layers.one_hot_column(EDUCATION),
        layers.one_hot_column(WEIGHTED),
        layers.embedding_column(CROSS, 2,
                                initializer=tf.ones_initializer())],
        cols_to_outs=outs)
    assert [v.op.name for v in tf.model_variables()] == [
        "input_from_feature_columns/education_X_occupation_embedding/weights"]
    assert len(outs) == 5
    np.testing.assert_allclose(run(made)[0], [
        [0, 1, 0, 0, 0, 1, 1, 1, 0, 1, .5, 0, 2, 0, 1],
        [0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, .7, 5],
        [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3]])


def test_a_linear_model_of_columns():
    predictions, variables, bias = layers.weighted_sum_from_feature_columns(
        features(), [AGE, AGES, EDUCATION, WEIGHTED], 2)
    assert bias.op.name == "weighted_sum_from_feature_columns/bias_weight"
    assert {c.name: [v.op.name.split("/", 1)[1] for v in parts]
            for c, parts in variables.items()} == {
        "age": ["age/weight"], "age_bucketized": ["age_bucketized/weights"],
        "education": ["education/weights"],
        "education_weighted_by_weight": [
            "education_weighted_by_weight/weights"]}
    joint, _, _ = layers.joint_weighted_sum_from_feature_columns(
        features(), [EDUCATION, CROSS], 1)
    ones = [tf.assign(v, tf.ones_like(v)) for v in tf.global_variables()]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        session.run(ones)
        got = session.run([predictions[:, 0], joint[:, 0]])
    np.testing.assert_allclose(got[0], [20 + 1 + 2 + 2.5 + 1, 32, 72])
    # An id of -1 counts as the last of the column before, as in TensorFlow.
    np.testing.assert_allclose(got[1], [7, 3, 1])


def test_shared_embeddings_are_one_variable():
    others = layers.sparse_column_with_hash_bucket("education", 20)
    shared = layers.shared_embedding_columns([OCCUPATION, others], 3)
    assert [c.name for c in shared] == ["occupation_shared_embedding",
                                        "education_shared_embedding"]
    made = layers.input_from_feature_columns(features(), shared)
    assert made.shape.as_list()[1] == 6
    assert [v.op.name.rpartition("/")[2] for v in tf.model_variables()] == [
        "education_occupation_shared_embedding"]


def test_sequences_of_features():
    steps = {"x": tf.ones([2, 3, 4]), "w": tf.SparseTensor(
        [[0, 0, 0], [1, 2, 0]], ["a", "b"], [2, 3, 1])}
    made = layers.sequence_input_from_feature_columns(steps, [
        layers.real_valued_column("x", 4),
        layers.one_hot_column(layers.sparse_column_with_keys("w", "ab"))])
    assert run(made)[0][:, :, :2].tolist() == [
        [[1, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 1]]]


def test_columns_of_contrib_in_the_functions_of_tf_feature_column():
    columns = [AGE, AGES, layers.embedding_column(
        EDUCATION, 2, initializer=tf.ones_initializer())]
    made = tf.feature_column.input_layer(features(), columns)
    linear = tf.feature_column.linear_model(features(), [EDUCATION, AGES])
    got, sums = run(made, linear)
    assert got[0].tolist() == [20, 0, 1, 0, 0, 0, 1, 1]
    assert sums.shape == (3, 1)
    assert tf.feature_column.make_parse_example_spec([AGE, EDUCATION]) == {
        "age": tf.FixedLenFeature([1], tf.float32),
        "education": tf.VarLenFeature(tf.string)}


@pytest.mark.parametrize("combiner, want", [
    ("sum", 2), ("mean", 1), ("sqrtn", 2 ** .5)])
def test_scattered_embeddings(combiner, want):
    from headrace._src.contrib.columns import scattered
    made = scattered.scattered_embedding_lookup_sparse(
        tf.ones([7]), words(["a", "b", "c"]), 3, combiner=combiner, hash_key=5)
    np.testing.assert_allclose(run(made)[0][0], [want] * 3)
    with pytest.raises(ValueError, match="has size 2, expected 3"):
        scattered.scattered_embedding_lookup(
            [tf.ones([2]), tf.ones([3])], tf.constant(["a"]), 2)


@pytest.mark.parametrize("make, want", [
    (lambda: base.dense_to_sparse_tensor(tf.constant([[1, 0], [0, 2]])),
     ([[0, 0], [1, 1]], [1, 2], [2, 2])),
    (lambda: base.dense_to_sparse_tensor(tf.constant([["", "b"]])),
     ([[0, 1]], [b"b"], [1, 2])),
    (lambda: base.indicators_to_sparse_ids(
        tf.constant([[0, 1, 1], [0, 0, 1]])),
     ([[0, 0], [0, 1], [1, 0]], [1, 2, 2], [2, 2])),
])
def test_dense_tensors_made_sparse(make, want):
    got = run(make())[0]
    assert tuple(part.tolist() for part in got) == want
    envelope = base.sparse_row_envelope(words(["a", "b", "c"]))
    assert run(envelope)[0].tolist() == [2, 1, 0]
