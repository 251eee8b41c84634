"""tf.train.Saver and the files of checkpoints."""
import os
import subprocess
import textwrap
import threading

import numpy as np
import pytest

import headrace as tf


def make_variables():
    a = tf.get_variable("a", initializer=np.float32([[1, 2, 3], [4, 5, 6]]))
    with tf.variable_scope("s"):
        b = tf.get_variable("b", initializer=np.int64([7, 8]),
                            use_resource=True)
    return a, b


A = [[1, 2, 3], [4, 5, 6]]


def session():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


def nodes():
    return [n.name for n in tf.get_default_graph().as_graph_def().node]


def restored(path, make=make_variables, **options):
    """The values of variables after a restore, in a graph of their own."""
    with tf.Graph().as_default():
        variables = make()
        saver = tf.train.Saver(**options)
        with tf.Session() as sess:
            saver.restore(sess, str(path))
            return [v.tolist() for v in sess.run(list(variables))]


@pytest.mark.parametrize("options", [
    {}, dict(sharded=True), dict(name="foo"), dict(reshape=True),
    dict(restore_sequentially=True), dict(defer_build=True),
    dict(write_version=tf.train.SaverDef.V1),
    dict(write_version=tf.train.SaverDef.V1, sharded=True)])
def test_save_and_restore(tmp_path, options):
    make_variables()
    saver = tf.train.Saver(**options)
    if "defer_build" in options:
        with pytest.raises(RuntimeError, match="build()"):
            saver.save(session(), str(tmp_path / "m"))
        saver.build()
    path = saver.save(session(), str(tmp_path / "m"))
    assert tf.train.checkpoint_exists(path)
    assert restored(path) == [A, [7, 8]]
    assert tf.train.load_variable(path, "a").tolist() == A
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(str(tmp_path / "m.meta")).restore(
            sess, path)
        assert sess.run("s/b/Read/ReadVariableOp:0").tolist() == [7, 8]


def test_names_of_nodes():
    make_variables()
    before = len(nodes())
    saver = tf.train.Saver()
    assert nodes()[before:] == [
        "save/filename/input", "save/filename", "save/Const",
        "save/SaveV2/tensor_names", "save/SaveV2/shape_and_slices",
        "save/SaveV2", "save/control_dependency",
        "save/RestoreV2/tensor_names", "save/RestoreV2/shape_and_slices",
        "save/RestoreV2", "save/Assign", "save/Identity",
        "save/AssignVariableOp", "save/restore_all"]
    assert saver.as_saver_def() == tf.train.SaverDef(
        filename_tensor_name="save/Const:0",
        save_tensor_name="save/control_dependency:0",
        restore_op_name="save/restore_all", max_to_keep=5,
        keep_checkpoint_every_n_hours=10000, version=tf.train.SaverDef.V2)
    sharded = tf.train.Saver(sharded=True).saver_def
    assert (sharded.save_tensor_name, sharded.restore_op_name) == (
        "save_1/Identity:0", "save_1/restore_all")
    assert "save_1/MergeV2Checkpoints/checkpoint_prefixes" in nodes()


def test_shards_have_files_of_their_own(tmp_path):
    for i in range(2):
        with tf.device("/cpu:%d" % i):
            tf.get_variable("v%d" % i, initializer=float(i))
    saver = tf.train.Saver(sharded=True)
    with tf.Session(config=tf.ConfigProto(
            device_count={"CPU": 2}, allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "m.data-00000-of-00002", "m.data-00001-of-00002",
        "m.index", "m.meta"]
    assert [tf.train.load_variable(path, n) for n in ("v0", "v1")] == [0, 1]


@pytest.mark.parametrize("var_list, names", [
    (lambda a, b: None, ["a", "s/b"]),
    (lambda a, b: [b], ["s/b"]),
    (lambda a, b: {b, a}, ["a", "s/b"]),
    (lambda a, b: {"x": a, "y/z": b}, ["x", "y/z"]),
    (lambda a, b: {"x": a._as_graph_element()}, ["x"])])
def test_var_list(tmp_path, var_list, names):
    path = tf.train.Saver(var_list(*make_variables())).save(
        session(), str(tmp_path / "m"))
    assert [name for name, _ in tf.train.list_variables(path)] == names


def partitioned(shape=(4, 2), slices=2):
    return [tf.get_variable(
        "p", initializer=tf.reshape(tf.range(8.), shape),
        partitioner=tf.fixed_size_partitioner(slices))]


def test_partitioned_variables(tmp_path):
    p, = partitioned()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("p", [4, 2])]
    whole = np.arange(8.).reshape(4, 2)
    assert tf.train.load_variable(path, "p").tolist() == whole.tolist()

    def one():
        return [tf.get_variable("p", [4, 2])]

    def three():
        part = tf.get_variable("p", [4, 2],
                               partitioner=tf.fixed_size_partitioner(3))
        return [tf.convert_to_tensor(part)]
    assert restored(path, one) == restored(path, three) == [whole.tolist()]
    again = tf.train.Saver({"q": p}).save(session(), str(tmp_path / "n"))
    assert tf.train.list_variables(again) == [("q", [4, 2])]


def test_tables(tmp_path):
    def make(**options):
        return tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.float32, 0., -1, -2, name="table", **options)
    table = make()
    make(checkpoint=False)
    saver = tf.train.Saver(reshape=True)
    with tf.Session() as sess:
        sess.run(table.insert([1, 2], [3., 4.]))
        path = saver.save(sess, str(tmp_path / "m"))
    assert [name for name, _ in tf.train.list_variables(path)] == [
        "table-keys", "table-values"]
    with tf.Graph().as_default(), tf.Session() as sess:
        table = make()
        tf.train.Saver().restore(sess, path)
        assert sess.run(table.lookup(np.int64([1, 2, 9]))).tolist() == [3, 4, 0]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(path + ".meta").restore(sess, path)
        assert sess.run("table_lookup_table_export_values/LookupTableExportV2:0"
                        ).size == 2


@pytest.mark.parametrize("error, message, make", [
    (ValueError, "No variables to save", lambda a, b: tf.train.Saver([])),
    (ValueError, "two variables have the same name: a",
     lambda a, b: tf.train.Saver([a, a])),
    (ValueError, "same saveable will be restored with two names",
     lambda a, b: tf.train.Saver({"x": a, "y": a})),
    (TypeError, "in a dict or a list: 3", lambda a, b: tf.train.Saver(3)),
    (TypeError, "not a Variable", lambda a, b: tf.train.Saver([a * 2.])),
    (TypeError, "Not a variable", lambda a, b: tf.train.Saver({"x": 1})),
    (TypeError, "not a string: 1", lambda a, b: tf.train.Saver({1: a})),
    (ValueError, "build cannot be deferred",
     lambda a, b: tf.train.Saver([a], defer_build=True)),
    (ValueError, "must specify the save_tensor_name",
     lambda a, b: tf.train.Saver(saver_def=tf.train.SaverDef())),
    (ValueError, "write_version", lambda a, b: tf.train.Saver(write_version=7)),
    (ValueError, "Slices must all be slices",
     lambda a, b: tf.train.Saver({"x": [a, b]}))])
def test_what_saver_refuses(error, message, make):
    variables = make_variables()
    with pytest.raises(error, match=message):
        make(*variables)


def test_without_variables(tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    saver = tf.train.Saver(allow_empty=True)
    tf.no_op()
    assert saver.as_saver_def() is None
    with tf.Session() as sess:
        assert saver.save(sess, str(tmp_path / "m")) is None
        saver.restore(sess, "nothing")
    assert os.listdir(tmp_path) == ["m.meta"]


@pytest.mark.parametrize("error, message, call", [
    (ValueError, "Parent directory of .*/no/no/m doesn't exist",
     lambda saver, sess, d: saver.save(sess, d + "/no/no/m")),
    (ValueError, "must not contain path components",
     lambda saver, sess, d: saver.save(sess, d + "/m", latest_filename="a/b")),
    (ValueError, "collides with 'save_path'",
     lambda saver, sess, d: saver.save(sess, d + "/m", latest_filename="m")),
    (TypeError, "'sess' must be a Session; 3",
     lambda saver, sess, d: saver.save(3, d + "/m")),
    (TypeError, "global_step must be", lambda saver, sess, d:
     saver.save(sess, d + "/m", global_step="x")),
    (ValueError, "when it is None", lambda saver, sess, d:
     saver.restore(sess, None)),
    (ValueError, "not a valid checkpoint: .*/m", lambda saver, sess, d:
     saver.restore(sess, d + "/m"))])
def test_what_save_and_restore_refuse(tmp_path, error, message, call):
    make_variables()
    saver, sess = tf.train.Saver(), session()
    with pytest.raises(error, match=message):
        call(saver, sess, str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_variable_without_a_value_is_not_saved(tmp_path):
    make_variables()
    saver = tf.train.Saver()
    with tf.Session() as sess, pytest.raises(
            tf.errors.FailedPreconditionError, match="'a', initializer|'a' \\("):
        saver.save(sess, str(tmp_path / "m"))
    assert os.listdir(tmp_path) == []


def test_old_checkpoints_are_deleted(tmp_path):
    make_variables()
    saver, sess = tf.train.Saver(max_to_keep=2), session()
    paths = [saver.save(sess, str(tmp_path / "m"), global_step=i)
             for i in (1, 2, 3)]
    step = tf.Variable(9, name="step", trainable=False)
    sess.run(step.initializer)
    paths.append(saver.save(sess, str(tmp_path / "m"), global_step=step))
    assert [os.path.basename(p) for p in paths] == ["m-1", "m-2", "m-3", "m-9"]
    assert saver.last_checkpoints == paths[2:]
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "m-3.data-00000-of-00001", "m-3.index", "m-3.meta",
        "m-9.data-00000-of-00001", "m-9.index", "m-9.meta"]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == paths[3]
    assert list(state.all_model_checkpoint_paths) == paths[2:]
    # Another Saver goes on where this one ended.
    other = tf.train.Saver(max_to_keep=2)
    other.recover_last_checkpoints(
        [paths[0]] + list(state.all_model_checkpoint_paths))
    assert other.last_checkpoints == paths[2:]
    other.save(sess, str(tmp_path / "m"), global_step=10)
    assert not tf.train.checkpoint_exists(paths[2])


@pytest.mark.parametrize("keep", [None, 0])
def test_all_checkpoints_are_kept(tmp_path, keep):
    make_variables()
    saver, sess = tf.train.Saver(max_to_keep=keep), session()
    paths = [saver.save(sess, str(tmp_path / "m"), global_step=i)
             for i in range(7)]
    assert all(map(tf.train.checkpoint_exists, paths))
    assert saver.last_checkpoints == []


def test_one_checkpoint_stays_for_some_hours(tmp_path):
    make_variables()
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    sess = session()
    paths = [saver.save(sess, str(tmp_path / "m"), global_step=i)
             for i in range(3)]
    assert all(map(tf.train.checkpoint_exists, paths))
    saver.set_last_checkpoints_with_time([(paths[0], 0.0)])
    saver.save(sess, str(tmp_path / "m"), global_step=5)
    assert [tf.train.checkpoint_exists(p) for p in paths] == [False, True, True]
    with pytest.raises(TypeError, match="must be a list"):
        saver.set_last_checkpoints("x")


def test_names_of_files(tmp_path, monkeypatch):
    make_variables()
    sess, path = session(), str(tmp_path / "m")
    assert tf.train.Saver(pad_step_number=True).save(
        sess, path, global_step=3) == path + "-00000003"
    tf.train.Saver(save_relative_paths=True).save(
        sess, path, global_step=4, meta_graph_suffix="graph",
        latest_filename="newest")
    assert (tmp_path / "newest").read_text() == (
        'model_checkpoint_path: "m-4"\nall_model_checkpoint_paths: "m-4"\n')
    assert (tmp_path / "m-4.graph").exists()
    moved = tmp_path.rename(str(tmp_path) + "_moved")
    assert tf.train.latest_checkpoint(str(moved), "newest") == str(
        moved / "m-4")
    monkeypatch.chdir(moved)
    assert tf.train.Saver().save(sess, "q", write_meta_graph=False) == "q"
    assert tf.train.latest_checkpoint(".") == "./q"
    tf.train.Saver().save(sess, "r", write_state=False)
    assert tf.train.latest_checkpoint(".") == "./q"
    moved.rename(tmp_path)


# Restoring what does not fit.

@pytest.mark.parametrize("error, rows, make", [
    (tf.errors.InvalidArgumentError,
     ["a  another shape float32 [3, 2] float32 [2, 3]",
      "The checkpoint also has: s/b"],
     lambda: [tf.get_variable("a", [3, 2])]),
    (tf.errors.InvalidArgumentError, ["s/b another type int32 [2] int64 [2]"],
     lambda: [tf.get_variable("s/b", [2], tf.int32, use_resource=True)]),
    (tf.errors.NotFoundError, ["c not found in checkpoint float32 [1] -",
                               "a another shape float32 [] float32 [2, 3]",
                               "The checkpoint also has: s/b"],
     lambda: [tf.get_variable("c", [1]), tf.get_variable("a", [])]),
    (tf.errors.InvalidArgumentError,
     ["a another shape float32 [4, 3] float32 [2, 3]"],
     lambda: [tf.get_variable("a", [4, 3],
                              partitioner=tf.fixed_size_partitioner(2))])])
def test_what_does_not_fit_is_listed_and_nothing_restored(
        tmp_path, error, rows, make):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    with tf.Graph().as_default():
        wrong = make()
        good = tf.get_variable("s/b" if "s/b" not in rows[0] else "a", [2]
                               if "s/b" not in rows[0] else [2, 3],
                               tf.int64 if "s/b" not in rows[0] else
                               tf.float32, initializer=tf.zeros_initializer())
        saver = tf.train.Saver(wrong if "also" in rows[-1] else None)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            with pytest.raises(error) as caught:
                saver.restore(sess, path)
            assert not sess.run(good).any()
    text = " ".join(str(caught.value).split())
    assert "does not fit the graph. No variable was changed." in text
    for row in rows:
        assert " ".join(row.split()) in text


def test_reshape(tmp_path):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))

    def flat(size):
        return lambda: [tf.get_variable("a", [size]), tf.get_variable(
            "s/b", [2, 1], tf.int64, use_resource=True)]
    assert restored(path, flat(6), reshape=True) == [
        [1, 2, 3, 4, 5, 6], [[7], [8]]]
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match="another number of elements"):
        restored(path, flat(5), reshape=True)


def test_checkpoints_of_objects(tmp_path):
    """As TensorFlow 2's tf.train.Checkpoint writes them: keys are paths of
    objects; a message says how the variables are called."""
    objects = tf.headrace.messages.TrackableObjectGraph()
    values = {"m/a": A, "m/b": np.int64([7, 8])}
    for key, name in (("m/a", "a"), ("m/b", "s/b")):
        objects.nodes.add().attributes.add(
            name="VARIABLE_VALUE", full_name=name, checkpoint_key=key)
    path = str(tmp_path / "ckpt")
    save = tf.raw_ops.SaveV2(
        path, [*values, "_CHECKPOINTABLE_OBJECT_GRAPH"], [""] * 3,
        [tf.constant(values["m/a"], tf.float32), values["m/b"],
         objects.SerializeToString()])
    with tf.Session() as sess:
        sess.run(save)
    assert restored(path) == [A, [7, 8]]
    with pytest.raises(tf.errors.NotFoundError, match="other +not found"):
        restored(path, lambda: [tf.get_variable("other", [1])])


@pytest.mark.parametrize("damage", ["truncated", "changed", "empty"])
def test_damaged_files(tmp_path, damage):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    index = tmp_path / "m.index"
    data = index.read_bytes()
    index.write_bytes({"truncated": data[:-20], "empty": b"",
                       "changed": data[:9] + b"?" + data[10:]}[damage])
    for call in (lambda: restored(path), lambda: tf.train.list_variables(path)):
        with pytest.raises(tf.errors.DataLossError):
            call()


# The file "checkpoint".

def test_checkpoint_state(tmp_path):
    folder = str(tmp_path)
    assert tf.train.get_checkpoint_state(folder) is None
    assert tf.train.latest_checkpoint(folder) is None
    tf.train.update_checkpoint_state(folder, folder + "/b", ["a", "b"],
                                     all_model_checkpoint_timestamps=[1, 2, 3],
                                     last_preserved_timestamp=4)
    state = tf.train.get_checkpoint_state(folder)
    assert list(state.all_model_checkpoint_paths) == [
        folder + "/a", folder + "/b", folder + "/b"]
    assert list(state.all_model_checkpoint_timestamps) == [1, 2, 3]
    assert state.last_preserved_timestamp == 4
    assert tf.train.latest_checkpoint(folder) is None  # the file is gone
    with pytest.raises(ValueError, match="timestamps"):
        tf.train.generate_checkpoint_state_proto(
            folder, "a", all_model_checkpoint_timestamps=[1, 2])
    with pytest.raises(RuntimeError, match="conflicts with path"):
        tf.train.update_checkpoint_state(folder, folder + "/checkpoint")
    (tmp_path / "checkpoint").write_text("rubbish")
    assert tf.train.get_checkpoint_state(folder) is None
    (tmp_path / "checkpoint").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state"):
        tf.train.get_checkpoint_state(folder)
    relative = tf.train.generate_checkpoint_state_proto(
        "logs", "logs/m-2", ["logs/m-1", "/abs/m-0"])
    assert list(relative.all_model_checkpoint_paths) == [
        "m-1", "/abs/m-0", "m-2"]


def test_files_of_checkpoints(tmp_path):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m[1]"))
    keep = tf.train.Saver().save(session(), str(tmp_path / "m1"))
    assert not tf.train.checkpoint_exists(str(tmp_path / "other"))
    times = tf.train.get_checkpoint_mtimes([keep, "/no/such"])
    assert times == [float(int(os.stat(keep + ".index").st_mtime))]
    tf.train.remove_checkpoint(path)
    assert tf.train.checkpoint_exists(keep)
    tf.train.remove_checkpoint(keep)
    assert os.listdir(tmp_path) == ["checkpoint"]
    tf.train.remove_checkpoint(keep)


def test_checkpoints_iterator(tmp_path):
    make_variables()
    saver, sess = tf.train.Saver(), session()
    found = []
    asked = []

    def save_once():
        asked.append(1)
        if len(asked) == 1:
            saver.save(sess, str(tmp_path / "m"), global_step=1)
        return len(asked) == 2
    for path in tf.train.checkpoints_iterator(
            str(tmp_path), timeout=0, timeout_fn=save_once):
        found.append(path)
    assert found == [str(tmp_path / "m-1")] and len(asked) == 2
    assert list(tf.train.checkpoints_iterator(
        str(tmp_path / "none"), timeout=0)) == []


# Reading checkpoints.

def test_checkpoint_reader(tmp_path):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    reader = tf.train.NewCheckpointReader(path)
    assert reader.get_variable_to_shape_map() == {"a": [2, 3], "s/b": [2]}
    assert reader.get_variable_to_dtype_map() == {
        "a": tf.float32, "s/b": tf.int64}
    assert reader.has_tensor("a") and not reader.has_tensor("b")
    assert reader.get_tensor("s/b").dtype == np.int64
    assert reader.debug_string() == b"a (DT_FLOAT) [2,3]\ns/b (DT_INT64) [2]\n"
    with pytest.raises(tf.errors.NotFoundError, match="Key zz not found"):
        reader.get_tensor("zz")
    folder = str(tmp_path)
    assert tf.train.list_variables(folder) == [("a", [2, 3]), ("s/b", [2])]
    assert tf.train.load_variable(folder, "a:0").tolist() == A
    assert tf.train.load_checkpoint(folder).has_tensor("a")
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any"):
        tf.train.NewCheckpointReader("/no/such")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint'"):
        tf.train.list_variables(str(tmp_path / "empty"))


@pytest.mark.parametrize("resource", [False, True])
def test_init_from_checkpoint(tmp_path, resource):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    with tf.Graph().as_default():
        with tf.variable_scope("n", use_resource=resource):
            a = tf.get_variable("a", [2, 3])
            b = tf.get_variable("b", [2], tf.int64)
            p = tf.get_variable("p", [2, 3],
                                partitioner=tf.fixed_size_partitioner(2))
        with tf.variable_scope("m"):
            c = tf.get_variable("b", [2], tf.int64)
        tf.train.init_from_checkpoint(
            str(tmp_path), {"a": "n/a", "s/b": b, "s/": "m/"})
        tf.train.init_from_checkpoint(path, [("a", "n/p")])
        sess = session()
        assert sess.run(a).tolist() == A
        assert sess.run(tf.convert_to_tensor(p)).tolist() == A
        assert [v.tolist() for v in sess.run([b, c])] == [[7, 8], [7, 8]]


@pytest.mark.parametrize("message, pairs", [
    ("Shape of variable q", {"a": "q"}),
    ("Tensor b is not found", {"b": "q"}),
    ("is not in the graph", {"a": "none"}),
    ("should map to scope only", {"s/": "q"}),
    ("should map to scope only", {"a": "s/"}),
    ("Tensor q .q in /. is not found", {"/": "/"})])
def test_what_init_from_checkpoint_refuses(tmp_path, message, pairs):
    make_variables()
    path = tf.train.Saver().save(session(), str(tmp_path / "m"))
    with tf.Graph().as_default():
        tf.get_variable("q", [3])
        with pytest.raises(ValueError, match=message):
            tf.train.init_from_checkpoint(path, pairs)


# Files of TensorFlow, where it is there: HEADRACE_ORACLE is an interpreter that
# has it.

ORACLE = os.environ.get("HEADRACE_ORACLE")
oracle = pytest.mark.skipif(not ORACLE, reason="no HEADRACE_ORACLE")
PROGRAM = textwrap.dedent("""
    import sys
    import numpy as np
    try:
        import tensorflow.compat.v1 as tf
    except ImportError:
        import tensorflow as tf
    tf.disable_eager_execution()
    tf.disable_resource_variables()
    """)


def tensorflow(program, *arguments):
    done = subprocess.run(
        [ORACLE, "-c", PROGRAM + textwrap.dedent(program), *arguments],
        text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@oracle
@pytest.mark.parametrize("sharded", [False, True])
def test_tensorflow_reads_our_checkpoint(tmp_path, sharded):
    make_variables()
    partitioned()
    path = tf.train.Saver(sharded=sharded).save(session(),
                                                str(tmp_path / "m"))
    assert tensorflow("""
        saver = tf.train.import_meta_graph(sys.argv[1] + ".meta")
        with tf.Session() as sess:
            saver.restore(sess, tf.train.latest_checkpoint(sys.argv[2]))
            print(sess.run(["a:0", "s/b/Read/ReadVariableOp:0", "p/part_1:0"]))
        """, path, str(tmp_path)).split() == str([
            np.float32(A), np.int64([7, 8]),
            np.float32([[4, 5], [6, 7]])]).split()


@oracle
def test_we_read_tensorflows_checkpoint(tmp_path):
    tensorflow("""
        a = tf.get_variable("a", initializer=np.float32([[1,2,3],[4,5,6]]))
        b = tf.get_variable("s/b", initializer=np.int64([7, 8]),
                            use_resource=True)
        p = tf.get_variable("p", initializer=tf.reshape(tf.range(8.), [4, 2]),
                            partitioner=tf.fixed_size_partitioner(2))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, sys.argv[1])
        """, str(tmp_path / "m"))
    path = tf.train.latest_checkpoint(str(tmp_path))
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run("a:0").tolist() == A
        assert sess.run("p/part_1:0").tolist() == [[4, 5], [6, 7]]
    assert len(tf.global_variables()) == 4
    assert restored(path) == [A, [7, 8]]


def test_threads_that_save_leave_the_newest_state(tmp_path):
    """As the thread of a Supervisor does beside the end of the training."""
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    saver = tf.train.Saver(max_to_keep=None)
    path = str(tmp_path / "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def save():
            for _ in range(10):
                session.run(more)
                saver.save(session, path, global_step=step)

        threads = [threading.Thread(target=save) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path + "-30"
    saved = [int(p.split("-")[-1]) for p in saver.last_checkpoints]
    assert saved == sorted(saved)


def test_the_folder_of_a_checkpoint_is_made(tmp_path):
    tf.Variable(1.)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "new" / "m"))
    assert tf.train.latest_checkpoint(str(tmp_path / "new")) == path
