"""tf.train.Checkpoint and CheckpointManager: files that TensorFlow 1.15 wrote
(checkpoint_programs.py), our own, what is asserted, and what is deleted."""
import json
import os
import subprocess

import checkpoint_programs as programs
import numpy as np
import pytest
import recorded

import headrace as tf

with open(programs.VALUES) as file:
    WANTED = json.load(file)
NAMES = pytest.mark.parametrize("name", sorted(programs.CASES))


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def saved(name, folder):
    """The path of a checkpoint that TensorFlow wrote."""
    for file, text in WANTED[name]["files"].items():
        recorded.unpack(text, folder / file)
    return str(folder / "ckpt-1")


def check(found, wanted):
    assert sorted(found) == sorted(wanted)
    for key in wanted:
        np.testing.assert_allclose(found[key], wanted[key], rtol=1e-6,
                                   err_msg=key)


@NAMES
def test_files_of_tensorflow(tmp_path, name):
    check(programs.restored(tf, name, saved(name, tmp_path)),
          WANTED[name]["tensors"])


@NAMES
def test_our_files_have_the_same_tensors(tmp_path, name):
    path = programs.save(tf, name, str(tmp_path))
    assert path == str(tmp_path / name / "ckpt-1")
    assert tf.train.latest_checkpoint(str(tmp_path / name)) == path
    found = programs.tensors(tf, path)
    assert {k: np.shape(v) for k, v in found.items()} == {
        k: np.shape(v) for k, v in WANTED[name]["tensors"].items()}
    check(programs.restored(tf, name, path), found)


ORACLE = os.environ.get("HEADRACE_ORACLE_1_15")


@pytest.mark.skipif(not ORACLE, reason="HEADRACE_ORACLE_1_15 names no Python "
                    "with TensorFlow 1.15")
def test_tensorflow_reads_our_files(tmp_path):
    for name in programs.CASES:
        programs.save(tf, name, str(tmp_path))
    done = subprocess.run([ORACLE, programs.__file__, str(tmp_path)],
                          capture_output=True, text=True)
    assert done.stdout.split() == [
        word for name in programs.CASES for word in (name, "True")], \
        done.stderr


def test_what_is_asserted(tmp_path, session):
    a, b = tf.Variable(1., name="a"), tf.Variable(2., name="b")
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(a=a, b=b).save(str(tmp_path / "c"), session)
    session.run([a.assign(0.), b.assign(0.)])
    part = tf.train.Checkpoint(a=a)
    status = part.restore(path)
    with pytest.raises(AssertionError, match="b/.ATTRIBUTES/VARIABLE_VALUE"):
        status.assert_consumed()
    assert status.assert_existing_objects_matched().assert_nontrivial_match(
        ).expect_partial() is status
    status.run_restore_ops(session)
    assert session.run([a, b]) == [1., 0.]
    more = tf.train.Checkpoint(a=a, b=b, c=tf.Variable(3., name="c"))
    status = more.restore(path)
    with pytest.raises(AssertionError, match="no values for objects.*c:0"):
        status.assert_existing_objects_matched()
    status.initialize_or_restore(session)
    assert session.run([a, b, more.c]) == [1., 2., 3.]
    path = tf.train.Checkpoint(a=a).write(str(tmp_path / "d"), session)
    with pytest.raises(AssertionError, match="nothing of the objects"):
        tf.train.Checkpoint(x=a).restore(path).assert_nontrivial_match()


def test_objects_that_come_after_restore_have_their_values(tmp_path, session):
    whole = tf.train.Checkpoint()
    whole.parts = [tf.Variable(1.), {"k": tf.Variable(2.)}]
    session.run(tf.global_variables_initializer())
    path = whole.save(str(tmp_path / "c"))
    new = tf.train.Checkpoint()
    status = new.restore(path)
    new.parts = [tf.Variable(0.), {"k": tf.Variable(0.)}]
    status.assert_consumed().run_restore_ops()
    assert session.run([new.parts[0], new.parts[1]["k"]]) == [1., 2.]


def test_numbers_of_saves(tmp_path, session):
    v = tf.Variable(1., name="v")
    session.run(v.initializer)
    checkpoint = tf.train.Checkpoint(v=v)
    paths = [checkpoint.save(str(tmp_path / "c")) for _ in range(3)]
    assert [os.path.basename(p) for p in paths] == ["c-1", "c-2", "c-3"]
    nodes = len(session.graph.get_operations())
    checkpoint.save(str(tmp_path / "c"))
    assert len(session.graph.get_operations()) == nodes
    assert [x.name for x in tf.global_variables()] == ["v:0", "save_counter:0"]
    new = tf.train.Checkpoint(v=v)
    new.restore(paths[1]).run_restore_ops()
    assert os.path.basename(new.save(str(tmp_path / "c"))) == "c-3"


def test_without_a_checkpoint(tmp_path, session):
    v = tf.Variable(5.)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(None)
    for refused in (status.assert_consumed, status.run_restore_ops,
                    status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            refused()
    status.initialize_or_restore()
    assert session.run(v) == 5.
    with pytest.raises(tf.errors.OpError):
        checkpoint.restore(str(tmp_path / "none"))


def test_checkpoints_by_names(tmp_path, session):
    a, b = tf.Variable(1., name="a"), tf.Variable(2., name="b")
    session.run(tf.global_variables_initializer())
    path = tf.train.Saver([a]).save(session, str(tmp_path / "s"))
    session.run(a.assign(0.))
    tf.train.Checkpoint(x=a).restore(path).assert_consumed().run_restore_ops()
    assert session.run(a) == 1.
    status = tf.train.Checkpoint(x=a, y=b).restore(path)
    with pytest.raises(AssertionError, match="no values for the variables: b:0"):
        status.assert_consumed()
    session.run(b.assign(0.))
    status.initialize_or_restore()
    assert session.run([a, b]) == [1., 2.]
    with pytest.raises(AssertionError, match="no variable has the name.*: a"):
        tf.train.Checkpoint(y=b).restore(path).assert_consumed()


def test_savers_read_them(tmp_path, session):
    w = tf.get_variable("deep/w", initializer=[1., 2.])
    session.run(w.initializer)
    path = tf.train.Checkpoint(model=tf.train.Checkpoint(w=w)).save(
        str(tmp_path / "c"))
    session.run(w.assign([0., 0.]))
    tf.train.Saver([w]).restore(session, path)
    assert session.run(w).tolist() == [1., 2.]


@pytest.mark.parametrize("value", [3, "a", [1], (), {}, None])
def test_what_is_no_object(value):
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(x=value)


def test_keys_of_dicts(session):
    checkpoint = tf.train.Checkpoint()
    checkpoint.table = {1: tf.Variable(1.)}
    with pytest.raises(ValueError, match="needs strings as keys, got 1"):
        checkpoint.write("unused", session)


def test_managers(tmp_path, session):
    v = tf.Variable(1.)
    session.run(v.initializer)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    assert manager.latest_checkpoint is None and manager.checkpoints == []
    for i in range(3):
        session.run(v.assign(i))
        path = manager.save()
    assert path == manager.latest_checkpoint == str(tmp_path / "ckpt-3")
    assert manager.checkpoints == [str(tmp_path / "ckpt-2"), path]
    assert sorted({f.partition(".")[0] for f in os.listdir(str(tmp_path))}) == [
        "checkpoint", "ckpt-2", "ckpt-3"]
    new = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    assert new.latest_checkpoint == path
    assert new.checkpoints == manager.checkpoints
    assert new.save(checkpoint_number=10) == str(tmp_path / "ckpt-10")
    assert not os.path.exists(str(tmp_path / "ckpt-2.index"))
    checkpoint.restore(path).run_restore_ops()
    assert session.run(v) == 2.
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert len(state.all_model_checkpoint_timestamps) == 2
    assert state.last_preserved_timestamp > 0
    with pytest.raises(ValueError, match="positive integer"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), 0)


def test_managers_that_keep_one_in_a_time(tmp_path, session):
    v = tf.Variable(1.)
    session.run(v.initializer)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=v), str(tmp_path), 1,
        keep_checkpoint_every_n_hours=1e-9, checkpoint_name="m")
    for _ in range(3):
        manager.save()
    assert manager.checkpoints == [str(tmp_path / "m-3")]
    assert os.path.exists(str(tmp_path / "m-1.index"))


def test_those_of_compat_v2(tmp_path, session):
    v = tf.Variable(1.)
    session.run(v.initializer)
    train = tf.compat.v2.train
    checkpoint = train.Checkpoint(v=v)
    assert isinstance(checkpoint, train.Checkpoint)
    path = checkpoint.save(str(tmp_path / "c"))
    session.run(v.assign(0.))
    checkpoint.restore(path).assert_consumed().run_restore_ops()
    assert session.run(v) == 1.
    with pytest.raises(TypeError):
        checkpoint.save(path, session)
    assert train.CheckpointManager is tf.train.CheckpointManager


def test_objects_of_autotrackable(tmp_path, session):
    from headrace._src.compat.tracking import AutoTrackable
    thing = AutoTrackable()
    thing.inner, thing.v = AutoTrackable(), tf.Variable(1.)
    thing.inner.rows = [tf.Variable(2.)]
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(thing=thing).save(str(tmp_path / "c"))
    assert sorted(programs.tensors(tf, path)) == [
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
        "thing/inner/rows/0/.ATTRIBUTES/VARIABLE_VALUE",
        "thing/v/.ATTRIBUTES/VARIABLE_VALUE"]


def test_a_save_under_a_number_is_counted_too(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.)
        session.run(v.initializer)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(v=v), str(tmp_path), max_to_keep=None)
        names = [os.path.basename(manager.save(n)) for n in (None, 7, None)]
    assert names == ["ckpt-1", "ckpt-7", "ckpt-3"]


class Count(tf.train.experimental.PythonState):
    def __init__(self, value):
        self.value = value

    def serialize(self):
        return str(self.value)

    def deserialize(self, string_value):
        self.value = int(string_value)


def test_values_of_python_are_saved_and_restored_at_once(tmp_path, session):
    count, v = Count(3), tf.Variable(2.)
    checkpoint = tf.train.Checkpoint(count=count, v=v)
    session.run(v.initializer)
    path = checkpoint.save(str(tmp_path / "c"))
    count.value = 7
    second = checkpoint.save(str(tmp_path / "c"))
    assert tf.train.load_variable(
        path, "count/.ATTRIBUTES/py_state") == b"3"
    status = checkpoint.restore(path)
    assert count.value == 3
    status.assert_consumed().run_restore_ops()
    checkpoint.restore(second)
    assert count.value == 7
    other = tf.train.Checkpoint(v=v).restore(path)
    with pytest.raises(AssertionError, match="py_state"):
        other.assert_consumed()


def test_objects_that_are_made_when_they_are_looked_up(tmp_path, session):
    from headrace._src.compat import tracking

    class Counts(tracking.Trackable):
        def _lookup_dependency(self, name):
            found = super()._lookup_dependency(name)
            if found is None and name != "none":
                found = Count(0)
                self._unconditional_checkpoint_dependencies.append(
                    tracking.TrackableReference(name, found))
            return found

    counts = Counts()
    counts._track_trackable(Count(5), "five", overwrite=True)
    path = tf.train.Checkpoint(counts=counts).save(str(tmp_path / "c"))
    again = Counts()
    tf.train.Checkpoint(counts=again).restore(path).assert_consumed()
    assert [(name, x.value) for name, x in again._checkpoint_dependencies] == [
        ("five", 5)]
    for refused, error in [(lambda: again._track_trackable(3, "x"), TypeError),
                           (lambda: again._track_trackable(Count(1), "five"),
                            ValueError)]:
        with pytest.raises(error):
            refused()
    replaced = again._track_trackable(Count(1), "five", overwrite=True)
    assert again._unconditional_checkpoint_dependencies[0].ref is replaced


@pytest.mark.parametrize("kind", ["layer", "module"])
def test_attributes_that_are_not_tracked(kind):
    from headrace._src.variables import tracking
    base = {"layer": tf.keras.layers.Layer, "module": tf.Module}[kind]

    class Thing(base):
        @tracking.no_automatic_dependency_tracking
        def keep(self, value):
            self.kept = value

    thing, inner = Thing(), tf.keras.layers.Dense(2)
    thing.keep(inner)
    thing.seen = tf.keras.layers.Dense(2)
    names = {name for name, _ in thing._checkpoint_children()}
    assert "seen" in names and "kept" not in names
    if kind == "layer":
        assert thing._layers_inside() == [thing.seen]
    thing.kept = tf.keras.layers.Dense(2)
    assert "kept" in {name for name, _ in thing._checkpoint_children()}
