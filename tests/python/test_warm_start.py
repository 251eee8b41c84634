"""tf.train.warm_start: variables begin with the values of an older model."""
import numpy as np
import pytest

import headrace as tf

W = np.arange(8, dtype=np.float32).reshape(4, 2)
OLD, NEW = "a b c d", "c new a"


@pytest.fixture
def old(tmp_path):
    """A checkpoint of w [4, 2] and b [2], whose rows belong to a, b, c, d."""
    (tmp_path / "old").write_text(OLD.replace(" ", "\n") + "\n")
    (tmp_path / "new").write_text(NEW.replace(" ", "\n") + "\n")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m/w", initializer=W)
        tf.get_variable("m/b", initializer=[1., 2.])
        tf.get_variable("m/count", initializer=7., trainable=False)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    return tmp_path


def info(folder, **options):
    return tf.train.VocabInfo(**{
        "new_vocab": str(folder / "new"), "new_vocab_size": 3,
        "num_oov_buckets": 0, "old_vocab": str(folder / "old"), **options})


def started(folder, shapes, *args, partitioner=None, **kwargs):
    """{name: value} of new variables, all -1 but for what the checkpoint
    gives."""
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("", partitioner=partitioner,
                               initializer=tf.constant_initializer(-1.)):
            made = {n: tf.get_variable(n, s, trainable=n != "m/count")
                    for n, s in shapes.items()}
        tf.train.warm_start(str(folder), *args, **kwargs)
        session.run(tf.global_variables_initializer())
        return session.run({n: tf.convert_to_tensor(v)
                            for n, v in made.items()})


SAME = {"m/w": [4, 2], "m/b": [2], "m/count": []}


@pytest.mark.parametrize("chosen, names", [
    ((), "m/w m/b"), ((".*w",), "m/w"), ((["m/b", "m/count"],), "m/b m/count"),
    ((".*nothing",), "")])
def test_which_variables_are_chosen(old, chosen, names):
    values = started(old, SAME, *chosen)
    wanted = {"m/w": W, "m/b": [1, 2], "m/count": 7}
    for name, value in values.items():
        np.testing.assert_array_equal(
            value, wanted[name] if name in names.split()
            else np.full(SAME[name], -1))


def test_parts_of_a_variable_and_another_name(old):
    values = started(
        old, {"x": [4, 2]}, var_name_to_prev_var_name={"x": "m/w"},
        partitioner=tf.fixed_size_partitioner(3))
    np.testing.assert_array_equal(values["x"], W)


MISSING = tf.random_uniform_initializer(9., 9.)


@pytest.mark.parametrize("shape, options, wanted", [
    ([3, 2], {}, [W[2], [0, 0], W[0]]),
    ([3, 2], {"backup_initializer": MISSING}, [W[2], [9, 9], W[0]]),
    ([3, 2], {"old_vocab_size": 2}, [[0, 0], [0, 0], W[0]]),
    ([5, 2], {"num_oov_buckets": 2, "backup_initializer": MISSING},
     [W[2], [9, 9], W[0], [9, 9], [9, 9]]),
    ([2, 2], {"new_vocab_size": 2}, [W[2], [0, 0]])])
@pytest.mark.parametrize("parts", [1, 2])
def test_rows_follow_their_words(old, shape, options, wanted, parts):
    values = started(
        old, {"m/w": shape},
        var_name_to_vocab_info={"m/w": info(old, **options)},
        partitioner=tf.fixed_size_partitioner(parts))
    np.testing.assert_array_equal(values["m/w"], wanted)


def test_columns_follow_their_words(old):
    (old / "old").write_text("yes\nno\n")
    (old / "new").write_text("no\nmaybe\nyes\n")
    values = started(
        old, {"m/w": [4, 3]}, None,
        {"m/w": info(old, axis=1, backup_initializer=MISSING)})
    np.testing.assert_array_equal(
        values["m/w"], np.stack([W[:, 1], np.full(4, 9), W[:, 0]], 1))


@pytest.mark.parametrize("arguments, words", [
    (dict(var_name_to_prev_var_name={"v": "w"}), "prev_var_name that were not"),
    (dict(var_name_to_vocab_info={"v": 1}), "vocab_info that were not used"),
    (dict(vars_to_warm_start=3), "must be a `list` or `str`"),
    (dict(vars_to_warm_start=[3]), "must be all"),
    (dict(var_name_to_prev_var_name={"m/b": "m/w"}), "doesn't match")])
def test_refusals(old, arguments, words):
    with pytest.raises(ValueError, match=words):
        started(old, {"m/b": [2]}, **arguments)
    with pytest.raises(ValueError, match="axis"):
        info(old, axis=2)
