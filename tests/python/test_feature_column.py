"""tf.feature_column: values that no program of tests/programs shows, and
refusals. tests/programs/feature_columns.py compares values with TensorFlow."""
import importlib
import json

import numpy as np
import pytest

import headrace as tf
from headrace._src.feature_column import columns

fc = tf.feature_column
sequence = tf.contrib.feature_column
AGE = fc.numeric_column("age")
WORD = fc.categorical_column_with_hash_bucket("word", 50)
ID = fc.categorical_column_with_identity("id", 5)
STEPS = sequence.sequence_categorical_column_with_identity("id", 5)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetch, feed=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetch, feed).tolist()


def test_a_feature_of_unknown_rank():
    for value in ([1.0, 2.0], [[1.0], [2.0]]):
        x = tf.placeholder(tf.float32)
        assert run(fc.input_layer({"age": x}, AGE), {x: value}) == [[1], [2]]


def test_a_tensor_may_be_a_list_and_the_columns_an_iterator():
    made = fc.input_layer({"age": [1.0, 2.0], "id": np.array([1, 4])},
                          iter([fc.indicator_column(ID), AGE]))
    assert run(made) == [[1, 0, 1, 0, 0, 0], [2, 0, 0, 0, 0, 1]]


def test_a_normalizer_sees_the_feature_and_integers_become_floats():
    column = fc.numeric_column("age", dtype=tf.int32,
                               normalizer_fn=lambda x: x * x)
    assert run(fc.input_layer({"age": tf.constant([3, 4])}, column)) == [[9], [16]]


def test_vocabulary_of_integers():
    column = fc.indicator_column(fc.categorical_column_with_vocabulary_list(
        "id", [7, 9], num_oov_buckets=1))
    assert run(fc.input_layer({"id": tf.constant([[9, 9], [3, -1]])},
                              column)) == [[0, 2, 0], [0, 0, 1]]


def test_weights_of_one_id_add_up():
    weighted = fc.weighted_categorical_column(ID, "weight")
    at = [[0, 0], [0, 1], [1, 0]]
    made = fc.input_layer({
        "id": tf.SparseTensor(at, tf.constant([2, 2, 0], tf.int64), [3, 2]),
        "weight": tf.SparseTensor(at, [0.5, 1.0, 3.0], [3, 2])},
        fc.indicator_column(weighted))
    assert run(made) == [[0, 0, 1.5, 0, 0], [3, 0, 0, 0, 0], [0] * 5]


def test_an_embedding_begins_as_a_checkpoint_has_it(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        saved = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
        session.run(saved.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    column = fc.embedding_column(ID, 2, ckpt_to_load_from=path,
                                 tensor_name_in_ckpt="table")
    assert run(fc.input_layer({"id": tf.constant([3])}, column)) == [[1, 1]]


def test_variables_of_columns_are_told_and_collected():
    column = fc.embedding_column(ID, 2, trainable=False)
    variables = {}
    made = {"id": tf.constant([3]), "age": tf.constant([3.0])}
    fc.input_layer(made, column, weight_collections=["mine"],
                   cols_to_vars=variables)
    assert [v.name for v in variables[column]] == [
        "input_layer/id_embedding/embedding_weights:0"]
    assert tf.get_collection("mine") == variables[column]
    assert not tf.trainable_variables()
    fc.linear_model(made, [AGE, ID], units=3, cols_to_vars=variables)
    assert [variables[c][0].get_shape().as_list() for c in (AGE, ID, "bias")] \
        == [[1, 3], [5, 3], [3]]
    assert len(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)) == 4


def test_shared_embeddings_have_one_variable():
    other = fc.categorical_column_with_identity("other", 5)
    fc.input_layer({"id": tf.constant([1]), "other": tf.constant([2])},
                   fc.shared_embedding_columns([other, ID], 2))
    assert [v.name for v in tf.global_variables()] == [
        "input_layer/id_other_shared_embedding/embedding_weights:0"]


def test_an_id_outside_is_an_error_of_the_run():
    made = fc.input_layer({"id": tf.constant([9])}, fc.indicator_column(ID))
    with pytest.raises(tf.errors.InvalidArgumentError, match="below num_buckets 5"):
        run(made)


def test_sequences_of_unequal_length_are_an_error_of_the_run():
    at = [[0, 0], [0, 1], [1, 0]]
    _, lengths = sequence.sequence_input_layer({
        "id": tf.SparseTensor(at, tf.constant([1, 2, 3], tf.int64), [2, 2]),
        "x": tf.SparseTensor(at[:2], [1.0, 2.0], [2, 2])},
        [fc.indicator_column(STEPS), sequence.sequence_numeric_column("x")])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lengths)


def test_columns_are_equal_by_value_and_say_what_they_are():
    assert fc.numeric_column("age") == AGE and len({fc.numeric_column("age"), AGE}) == 1
    assert repr(ID) == ("IdentityCategoricalColumn(key='id', number_buckets=5, "
                        "default_value=None)")


FEATURES = {"age": [1.0], "id": np.array([1]), "word": ["a"]}
SPARSE = tf.SparseTensorValue([[0, 0]], ["a"], [1, 1])


@pytest.mark.parametrize("make, error, words", [
    (lambda: fc.numeric_column(3), ValueError, "key must be a string"),
    (lambda: fc.numeric_column("a", [0]), ValueError, "greater than 0"),
    (lambda: fc.numeric_column("a", [1.5]), TypeError, "must be integer"),
    (lambda: fc.numeric_column("a", default_value="x"), TypeError, "default_value"),
    (lambda: fc.numeric_column("a", [2], [1.0]), ValueError, "shape of default_value"),
    (lambda: fc.numeric_column("a", dtype=tf.string), ValueError, "convertible to float"),
    (lambda: fc.numeric_column("a", normalizer_fn=3), TypeError, "callable"),
    (lambda: fc.bucketized_column(AGE, [3, 1]), ValueError, "sorted"),
    (lambda: fc.bucketized_column(AGE, []), ValueError, "sorted"),
    (lambda: fc.bucketized_column(ID, [1]), ValueError, "numeric_column"),
    (lambda: fc.bucketized_column(fc.numeric_column("a", [2, 2]), [1]),
     ValueError, "one-dimensional"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 0), ValueError, "at least 1"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 3, tf.float32),
     ValueError, "string or integer"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", []), ValueError, "non-empty"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["x", "x"]),
     ValueError, "Duplicate"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["x"], tf.int64),
     ValueError, "do not match"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["x"], None, 3, 2),
     ValueError, "both"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", ""), ValueError, "Missing"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", "/no/file"),
     ValueError, "does not exist"),
    (lambda: fc.categorical_column_with_identity("a", 0), ValueError, "num_buckets 0"),
    (lambda: fc.categorical_column_with_identity("a", 3, 5), ValueError, "not in range"),
    (lambda: fc.crossed_column(["a"], 5), ValueError, "length > 1"),
    (lambda: fc.crossed_column(["a", WORD], 5), ValueError, "not supported for crossing"),
    (lambda: fc.crossed_column(["a", AGE], 5), ValueError, "Unsupported key"),
    (lambda: fc.crossed_column(["a", "b"], 0), ValueError, "hash_bucket_size"),
    (lambda: fc.embedding_column(WORD, 0), ValueError, "Invalid dimension"),
    (lambda: fc.embedding_column(AGE, 3), ValueError, "categorical"),
    (lambda: fc.embedding_column(WORD, 3, ckpt_to_load_from="x"), ValueError, "both"),
    (lambda: fc.embedding_column(WORD, 3, initializer=3), ValueError, "callable"),
    (lambda: fc.indicator_column(AGE), ValueError, "categorical"),
    (lambda: fc.weighted_categorical_column(AGE, "w"), ValueError, "categorical"),
    (lambda: fc.weighted_categorical_column(ID, ""), ValueError, "must be set"),
    (lambda: fc.shared_embedding_columns([], 3), ValueError, "empty"),
    (lambda: fc.shared_embedding_columns([ID, WORD], 3), ValueError, "same type"),
    (lambda: fc.shared_embedding_columns(
        [ID, fc.categorical_column_with_identity("b", 9)], 3),
     ValueError, "same number of buckets"),
    (lambda: fc.make_parse_example_spec(["x"]), ValueError, "_FeatureColumn instances"),
    (lambda: fc.make_parse_example_spec([AGE, fc.numeric_column("age", [2])]),
     ValueError, "different parse_spec"),
    (lambda: fc.input_layer(FEATURES, WORD), ValueError, "embedding_column or indicator"),
    (lambda: fc.input_layer(FEATURES, []), ValueError, "empty"),
    (lambda: fc.input_layer(FEATURES, {"age": AGE}), ValueError, "found dict"),
    (lambda: fc.input_layer(FEATURES, [AGE, AGE]), ValueError, "Duplicate"),
    (lambda: fc.input_layer([1.0], AGE), ValueError, "dictionary"),
    (lambda: fc.input_layer({"aeg": [1.0]}, AGE), ValueError, r"It has \['aeg'\]"),
    (lambda: fc.input_layer({"age": 1.0}, AGE), ValueError, "rank 0"),
    (lambda: fc.input_layer({"age": SPARSE}, AGE), ValueError, "not supported"),
    (lambda: fc.input_layer({"id": SPARSE}, fc.indicator_column(ID)),
     ValueError, "not integer"),
    (lambda: fc.input_layer(FEATURES, fc.indicator_column(STEPS)),
     ValueError, "sequence_input_layer"),
    (lambda: fc.linear_model(FEATURES, ["age"]), ValueError, "must be a _FeatureColumn"),
    (lambda: fc.linear_model(
        {"id": np.array([1]), "w": np.array([1])},
        fc.weighted_categorical_column(ID, "w")), ValueError, "Bad dtype"),
    (lambda: fc.linear_model(
        {"id": np.array([1]), "w": [1.0], "word": ["a"]}, fc.crossed_column(
            [fc.weighted_categorical_column(ID, "w"), "word"], 5)),
     ValueError, "does not support weight"),
    (lambda: sequence.sequence_input_layer(FEATURES, [AGE]), ValueError, "sequence dense"),
    (lambda: sequence.sequence_input_layer(FEATURES, [STEPS]),
     ValueError, "sequence dense"),
    (lambda: sequence.sequence_input_layer(
        FEATURES, [sequence.sequence_numeric_column("age")]),
     ValueError, "SparseTensor")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


def own_columns():
    """A dense and a categorical column as programs write them for TensorFlow."""
    class Lengths(columns.OldDenseColumn):
        name = "lengths"
        _var_scope_name = "of_lengths"
        _parse_example_spec = {"word": tf.FixedLenFeature([1], tf.string)}
        _variable_shape = tf.TensorShape([2])

        def _transform_feature(self, inputs):
            return tf.cast(tf.strings.length(inputs.get("word")), tf.float32)

        def _get_dense_tensor(self, inputs, weight_collections=None,
                              trainable=None):
            scale = tf.get_variable("scale", [1, 2], trainable=trainable,
                                    initializer=tf.constant_initializer([1, 10]),
                                    collections=weight_collections)
            return inputs.get(self) * scale

    class Parity(columns.NewCategoricalColumn, columns.OldCategoricalColumn):
        name = "parity"
        _parse_example_spec = {"id": tf.VarLenFeature(tf.int64)}
        _num_buckets = 2

        def _transform_feature(self, inputs):
            ids = ID._get_sparse_tensors(inputs).id_tensor
            return tf.SparseTensor(ids.indices, tf.floormod(ids.values, 2),
                                   ids.dense_shape)

        def _get_sparse_tensors(self, inputs, weight_collections=None,
                                trainable=None):
            return self.IdWeightPair(inputs.get(self), None)

    assert isinstance(AGE, columns.DenseColumn)
    assert isinstance(ID, columns.OldCategoricalColumn)
    assert AGE._variable_shape == AGE.variable_shape == (1,)
    assert ID._num_buckets == 5
    return Lengths(), Parity()


def test_columns_of_the_program():
    lengths, parity = own_columns()
    features = {"word": tf.constant([["ab"], ["c"]]), "id": tf.constant([3, 4])}
    all_columns = [lengths, fc.indicator_column(parity), AGE]
    variables = {}
    made = fc.input_layer(dict(features, age=[5.0, 6.0]), all_columns,
                          cols_to_vars=variables)
    # In the order of the names: age, lengths, parity_indicator.
    assert run(made) == [[5, 2, 20, 0, 1], [6, 1, 10, 1, 0]]
    (scale,) = variables[lengths]
    assert scale.op.name == "input_layer/of_lengths/scale"
    variables = {}
    linear = fc.linear_model(features, [lengths, parity],
                             cols_to_vars=variables)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        weights = {v.op.name: v for v in tf.global_variables()}
        session.run(weights["linear_model/of_lengths/weights"].assign([[1], [2]]))
        session.run(weights["linear_model/parity/weights"].assign([[5], [7]]))
        assert session.run(linear).tolist() == [[49], [26]]
    assert set(fc.make_parse_example_spec(all_columns)) == {"word", "id", "age"}
    with pytest.raises(AttributeError, match="no attribute '_num_buckets'"):
        lengths._num_buckets


def test_a_column_of_the_program_keeps_a_resource_for_a_layer():
    class Scaled(columns.NewDenseColumn, columns.OldDenseColumn):
        name = "scaled"
        variable_shape = tf.TensorShape([1])

        def create_state(self, state_manager):
            state_manager.add_resource(self, "scale", 10.0)

        def transform_feature(self, transformation_cache, state_manager):
            return transformation_cache.get("age", state_manager) + 1.0

        def get_dense_tensor(self, transformation_cache, state_manager):
            with pytest.raises(ValueError, match="Resource does not exist"):
                state_manager.get_resource(self, "none")
            return transformation_cache.get(self, state_manager) * (
                state_manager.get_resource(self, "scale"))

    layer = tf.keras.layers.DenseFeatures([Scaled()])
    assert run(layer({"age": tf.constant([1.0, 2.0])})) == [[20], [30]]


OLD = "tensorflow.python.feature_column.feature_column"
NEW = "tensorflow.python.feature_column.feature_column_v2"


@pytest.fixture(scope="module")
def inner():
    """A module of TensorFlow by its name."""
    import headrace.compat
    headrace.compat.install()
    return importlib.import_module


class Nothing(importlib.import_module(
        "headrace._src.feature_column.columns").Column):
    name = "nothing"

    def _transform_feature(self, inputs):
        return None


@pytest.mark.parametrize("make, error, words", [
    (lambda old, new: old._LazyBuilder({}).get(3), TypeError,
     '"key" must be either a "str" or "_FeatureColumn"'),
    (lambda old, new: new.FeatureTransformationCache({}).get(3, None),
     TypeError, '"key" must be either a "str" or "FeatureColumn"'),
    (lambda old, new: old._LazyBuilder({}).get(Nothing()), ValueError,
     "Column nothing is not supported"),
    (lambda old, new: new.DenseFeatures("x"), ValueError,
     "must be a FeatureColumn"),
    (lambda old, new: fc.input_layer(FEATURES, [ID]), ValueError,
     "must be a _DenseColumn"),
    (lambda old, new: fc.linear_model(FEATURES, [Nothing()]), ValueError,
     "must be either a _DenseColumn or _CategoricalColumn"),
    *((lambda old, new, f=f: f({"a": [[1.0]], "b": [[1.0], [2.0]]}, [
        fc.numeric_column("a"), fc.numeric_column("b")]), ValueError,
       r"Batch size \(first dimension\) of each feature must be same")
      for f in (fc.input_layer, fc.linear_model)),
    (lambda old, new: old._LazyBuilder({"id": SPARSE}).get(ID), ValueError,
     "Invalid input, not integer"),
    (lambda old, new: old._LazyBuilder({"word": [[1.5]]}).get(
        fc.categorical_column_with_hash_bucket("word", 3)), ValueError,
     "dtype must be string or integer"),
    (lambda old, new: fc.weighted_categorical_column(ID, "w", tf.string),
     ValueError, "is not convertible to float"),
])
def test_errors_of_columns_name_the_classes_of_their_generation(
        inner, make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make(inner(OLD), inner(NEW))


def test_inner_functions_transform_all_columns(inner):
    with tf.Graph().as_default():
        features = {"age": [[1.0], [2.0]]}
        for made in (inner(OLD)._transform_features(features, [AGE]),
                     inner(NEW)._transform_features_v2(features, [AGE], None)):
            assert set(made) == {AGE}
            assert run(made[AGE]) == [[1.0], [2.0]]
    assert inner(OLD)._numeric_column("age") == AGE


@pytest.mark.parametrize("column, parents", [
    (fc.numeric_column("a", (2,), (1.0, 2.0)), ["a"]),
    (fc.bucketized_column(AGE, [0, 1]), [AGE]),
    (fc.categorical_column_with_hash_bucket("a", 5), ["a"]),
    (fc.categorical_column_with_vocabulary_file("a", "/x", 3, 1), ["a"]),
    (fc.categorical_column_with_vocabulary_list("a", ["x", "y"]), ["a"]),
    (ID, ["id"]),
    (fc.weighted_categorical_column(ID, "w"), [ID, "w"]),
    (fc.crossed_column(["a", ID], 5), ["a", ID]),
    (fc.indicator_column(ID), [ID]),
    (sequence.sequence_numeric_column("a"), ["a"])])
def test_columns_come_back_from_their_configs(inner, column, parents):
    configs = inner("tensorflow.python.feature_column.serialization")
    assert column.parents == parents
    config = configs.serialize_feature_column(column)
    assert config["class_name"] == type(column).__name__
    assert type(column)._from_config(column._get_config()) == column
    for plain in (config, json.loads(json.dumps(config))):
        assert configs.deserialize_feature_column(plain) == column


def test_configs_keep_initializers_functions_and_what_columns_share(inner):
    configs = inner("tensorflow.python.feature_column.serialization")
    table = fc.embedding_column(ID, 2, initializer=tf.zeros_initializer())
    config = table._get_config()
    assert config["initializer"] == {
        "class_name": "Zeros", "config": {"dtype": "float32"}}
    again = configs.deserialize_feature_columns(
        configs.serialize_feature_columns([ID, table]))
    assert again[0] == ID and again[1].categorical_column is again[0]

    def half(x):
        return x / 2

    column = fc.numeric_column("a", normalizer_fn=half)
    config = configs.serialize_feature_column(column)
    assert config["config"]["normalizer_fn"] == "half"
    assert configs.deserialize_feature_column(config, {"half": half}) == column
    assert configs.deserialize_feature_column("a") == "a"
    for make, words in (
            (lambda: configs.serialize_feature_column(3),
             "is not a FeatureColumn"),
            (lambda: configs.deserialize_feature_column({}), "Improper config"),
            (lambda: configs.deserialize_feature_column(
                {"class_name": "X", "config": {}}), "Unknown feature_column_v2"),
            (lambda: configs.deserialize_feature_column(config),
             "Unknown normalizer_fn: half")):
        with pytest.raises(ValueError, match=words):
            make()


TIMES = tf.SparseTensorValue([[0, 0], [1, 0], [1, 1]], [2.0, 0.0, 1.0], [2, 2])
PLACES = tf.SparseTensorValue(TIMES.indices, [2, 0, 1], TIMES.dense_shape)
PLACE = sequence.sequence_categorical_column_with_identity("a", 3)


@pytest.mark.parametrize("columns_of, values, lengths", [
    (lambda table: [table, fc.indicator_column(PLACE)],
     [[[1, 1, 0, 0, 1], [0] * 5], [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0]]], [1, 2]),
    (lambda table: [sequence.sequence_numeric_column("n"), table],
     [[[1, 1, 2], [0] * 3], [[1, 1, 0], [1, 1, 1]]], [1, 2]),
    (lambda table: [sequence.sequence_numeric_column("n", shape=(2,))],
     [[[2, 0]], [[0, 1]]], [1, 1])])
def test_a_layer_owns_the_tables_of_sequences(columns_of, values, lengths):
    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.keras.experimental.SequenceFeatures(columns_of(
            fc.embedding_column(PLACE, 2, initializer=tf.ones_initializer())))
        out, length = layer({"a": tf.SparseTensor.from_value(PLACES),
                             "n": tf.SparseTensor.from_value(TIMES)})
        session.run(tf.global_variables_initializer())
        assert session.run(out).tolist() == values
        assert session.run(length).tolist() == lengths
        assert [v.name for v in layer.trainable_weights] in ([], [
            "sequence_features/a_embedding/embedding_weights:0"])


@pytest.mark.parametrize("column, words", [
    (PLACE, "must be a SequenceDenseColumn"),
    (fc.numeric_column("n"), "must be a SequenceDenseColumn"),
    (fc.indicator_column(ID), r"In indicator_column: id_indicator\. "
     "categorical_column must be of type SequenceCategoricalColumn"),
    (fc.embedding_column(ID, 2), r"In embedding_column: id_embedding\. ")])
def test_a_layer_of_sequences_refuses_other_columns(column, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        tf.keras.experimental.SequenceFeatures([column])({"id": [[1]]})


def test_context_goes_to_each_step(inner):
    module = inner("tensorflow.python.feature_column.sequence_feature_column")
    with tf.Graph().as_default():
        joined = module.concatenate_context_input(
            tf.constant([[5.0], [6.0]]),
            tf.reshape(tf.range(4.0), [2, 2, 1]))
        assert joined.get_shape().as_list() == [2, 2, 2]
        assert np.array_equal(run(joined), [
            [[0, 5], [1, 5]], [[2, 6], [3, 6]]])
        with pytest.raises(ValueError, match="context_input must have rank 2"):
            module.concatenate_context_input(tf.ones([2]), tf.ones([2, 2, 1]))
        with pytest.raises(TypeError, match="sequence_input must have dtype"):
            module.concatenate_context_input(
                tf.ones([2, 3]), tf.ones([2, 2, 1], tf.float64))
