"""Places of iterators: what comes after a restored one is what would have come,
for every kind of dataset; what cannot be saved, and states that are damaged."""
import importlib.util
import os
import random

import numpy as np
import pytest

import headrace as tf

D = tf.data.Dataset
E = tf.data.experimental


def _range(n=10):
    return D.range(n)


def _files(kind, tmp):
    paths = []
    for number in range(2):
        path = str(tmp / ("%s-%d" % (kind, number)))
        paths.append(path)
        if kind == "record":
            with tf.io.TFRecordWriter(path) as writer:
                for i in range(5):
                    writer.write(b"%d.%d" % (number, i))
        elif kind == "zip":
            with tf.io.TFRecordWriter(path, "GZIP") as writer:
                for i in range(5):
                    writer.write(b"%d.%d" % (number, i))
        elif kind == "csv":
            with open(path, "w") as f:
                f.write("a,b\n" + "".join('%d,"x\n%d"\n' % (i, number)
                                          for i in range(5)))
        else:
            with open(path, "wb") as f:
                f.write(b"".join(b"%d,%d\r\n" % (number, i) for i in range(5)))
    return paths


def _dense(x):
    return tf.sparse.to_dense(x)


_CASES = {
    "range": lambda t: _range(),
    "tensors": lambda t: D.from_tensors(3),
    "slices": lambda t: D.from_tensor_slices({"a": np.arange(6),
                                              "b": list("abcdef")}),
    "sparse slices": lambda t: D.from_tensor_slices(tf.SparseTensor(
        [[0, 0], [1, 1], [3, 0]], [1, 2, 3], [4, 2])).map(_dense),
    "batch": lambda t: _range().batch(3),
    "padded_batch": lambda t: _range().map(
        lambda x: tf.fill([x], x)).padded_batch(3, [None]),
    "shuffle": lambda t: _range().shuffle(4),
    "seeded shuffle": lambda t: _range().shuffle(4, seed=5).repeat(3),
    "the same shuffle": lambda t: _range().shuffle(
        4, seed=5, reshuffle_each_iteration=False).repeat(2),
    "rounds to come": lambda t: _range(6).shuffle(4).batch(2).prefetch(
        2).repeat(3).prefetch(1),
    "a shuffle to come": lambda t: _range(3).concatenate(
        _range(5).shuffle(5)),
    "whole shuffle": lambda t: _range().shuffle(100).repeat(2).batch(3),
    "shuffle_and_repeat": lambda t: _range().apply(
        E.shuffle_and_repeat(4, 3, seed=1)),
    "short rounds": lambda t: _range(2).apply(E.shuffle_and_repeat(7, 9)),
    "shuffled sparse": lambda t: _range(6).map(lambda x: tf.SparseTensor(
        [[x]], [x], [6])).shuffle(3, seed=1).map(_dense),
    "repeat": lambda t: _range(4).repeat(3),
    "map": lambda t: _range().map(lambda x: x * x),
    "parallel map": lambda t: _range(20).map(lambda x: x * x, 4),
    "map_and_batch": lambda t: _range().apply(
        E.map_and_batch(lambda x: x + 1, 3)),
    "flat_map": lambda t: _range(5).flat_map(lambda x: D.range(x)),
    "nested flat_map": lambda t: _range(4).flat_map(lambda x: D.range(
        x).flat_map(lambda y: D.from_tensors((x, y)).repeat(2))),
    "flat_map of shuffles": lambda t: _range(3).flat_map(
        lambda x: D.range(5).shuffle(3, seed=2)),
    "interleave": lambda t: _range(7).interleave(
        lambda x: D.range(x), cycle_length=3, block_length=2),
    "parallel interleave": lambda t: _range(7).interleave(
        lambda x: D.range(x), cycle_length=3, num_parallel_calls=2),
    "contrib interleave": lambda t: _range(7).apply(E.parallel_interleave(
        lambda x: D.range(x).map(lambda y: y + 10 * x), cycle_length=3,
        block_length=2)),
    "filter": lambda t: _range(20).filter(lambda x: tf.equal(x % 3, 0)),
    "take": lambda t: _range().take(4),
    "skip": lambda t: _range().skip(4),
    "zip": lambda t: D.zip((_range(), _range(8).map(lambda x: x + 1))),
    "concatenate": lambda t: _range(3).concatenate(_range(4)),
    "prefetch": lambda t: _range(20).prefetch(3),
    "prefetched work": lambda t: _range(20).shuffle(5).map(
        lambda x: x + 1, 3).batch(2).prefetch(2),
    "cache": lambda t: _range(4).shuffle(4).cache().repeat(3),
    "file cache": lambda t: _range(5).cache(
        str(t / "cache")).repeat(2),
    "window": lambda t: _range().window(3, 2).flat_map(lambda w: w.batch(3)),
    "shuffled windows": lambda t: _range().window(2).shuffle(3, seed=2).flat_map(
        lambda w: w.batch(2)),
    "strided window": lambda t: _range().window(4, 1, 2, True).flat_map(
        lambda w: w.batch(4)),
    "group_by_window": lambda t: _range().apply(E.group_by_window(
        lambda x: x % 3, lambda k, d: d.batch(2), window_size=4)),
    "group_by_reducer": lambda t: _range().apply(E.group_by_reducer(
        lambda x: x % 3, E.Reducer(lambda k: np.int64(0),
                                   lambda s, x: s + x, lambda s: s))),
    "bucket": lambda t: _range(12).map(lambda x: tf.fill([x % 5], x)).apply(
        E.bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 2])),
    "scan": lambda t: _range().apply(E.scan(
        np.int64(0), lambda s, x: (s + x, s * x))),
    "take_while": lambda t: _range().apply(E.take_while(lambda x: x < 6)),
    "unique": lambda t: _range(20).map(lambda x: x * x % 7).apply(E.unique()),
    "unbatch": lambda t: _range().batch(4).apply(E.unbatch()),
    "shard": lambda t: _range().shard(3, 1),
    "sample": lambda t: E.sample_from_datasets(
        [_range(5), _range(5).map(lambda x: x + 100)], seed=3),
    "choose": lambda t: E.choose_from_datasets(
        [_range(4), _range(5).map(lambda x: x + 100)], _range(2).repeat(6)),
    "enumerate": lambda t: _range().apply(E.enumerate_dataset(4)),
    "ignore_errors": lambda t: _range().map(
        lambda x: tf.gather([7, 8, 9], x % 5)).apply(E.ignore_errors()),
    "text": lambda t: tf.data.TextLineDataset(_files("text", t)),
    "records": lambda t: tf.data.TFRecordDataset(_files("record", t)),
    "zipped records": lambda t: tf.data.TFRecordDataset(_files("zip", t), "GZIP"),
    "fixed records": lambda t: tf.data.FixedLengthRecordDataset(
        _files("fixed", t), 4, header_bytes=3, footer_bytes=6),
    "csv": lambda t: E.CsvDataset(_files("csv", t), [0, ""], header=True),
    "list_files": lambda t: D.list_files(
        [p[:-1] + "*" for p in _files("list", t)], shuffle=False).take(2),
    "random": lambda t: E.RandomDataset(seed=7).take(9),
    "any random": lambda t: E.RandomDataset().take(9).repeat(2),
    "counter": lambda t: E.Counter(3, 2).take(6),
    "dense_to_sparse": lambda t: _range(5).map(lambda x: tf.fill([x], x)).apply(
        E.dense_to_sparse_batch(2, [6])).prefetch(1).map(_dense),
}


def _rest(session, element):
    found = []
    try:
        while len(found) < 100:
            found.append(tf.nest.map_structure(
                lambda x: np.asarray(x).tolist(), session.run(element)))
    except tf.errors.OutOfRangeError:
        pass
    return found


def _save(make, path, count):
    """Saves after `count` elements; returns those that come after them."""
    with tf.Graph().as_default():
        iterator = make().make_initializable_iterator()
        element = iterator.get_next()
        saver = tf.train.Saver([E.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            for _ in range(count):
                session.run(element)
            saver.save(session, path)
            return _rest(session, element)


def _restored(make, path):
    with tf.Graph().as_default():
        iterator = make().make_initializable_iterator()
        element = iterator.get_next()
        saver = tf.train.Saver([E.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            return _rest(session, element)


@pytest.mark.parametrize("name", _CASES)
def test_what_comes_after_a_restored_place_is_what_would_have_come(
        name, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "saved").mkdir()

    def make():
        return _CASES[name](tmp_path / "data")
    path = str(tmp_path / "saved" / "place")
    everything = _save(make, path, 0)
    for count in sorted({0, 1, min(2, len(everything)),
                         len(everything) // 2, len(everything)}):
        for file in (tmp_path / "data").glob("cache*"):
            file.unlink()
        expected = _save(make, path, count)
        assert len(expected) == len(everything) - count
        assert _restored(make, path) == expected, (name, count)


def _rand(x):
    return tf.random.uniform([])


def _table(x):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        np.arange(3), np.arange(3)), 0)
    return table.lookup(x)


_REFUSED = {
    "py_func": (lambda: _range().map(
        lambda x: tf.py_func(lambda y: y, [x], tf.int64)), "PyFunc"),
    "from_generator": (lambda: D.from_generator(
        lambda: iter(range(9)), tf.int64), "PyFunc"),
    "map": (lambda: _range().map(lambda x: _rand(x)), "RandomUniform"),
    "parallel map": (lambda: _range().map(_rand, 2).batch(1), "RandomUniform"),
    "a branch": (lambda: _range().map(lambda x: tf.cond(
        x > 2, lambda: _rand(x), lambda: 0.)), "RandomUniform"),
    "a dataset in a dataset": (lambda: _range().flat_map(
        lambda x: D.range(3).map(_rand)), "RandomUniform"),
    "zip": (lambda: D.zip((_range(), _range().map(
        lambda x: tf.random.shuffle([x, x])))), "RandomShuffle"),
    "filter": (lambda: _range().filter(lambda x: _rand(x) < 2),
               "RandomUniform"),
    "a group": (lambda: _range().apply(E.group_by_window(
        lambda x: x, lambda k, d: d.map(_rand), 1)), "RandomUniform"),
    "a table in a function": (lambda: _range().map(_table),
                              "LookupTableImportV2"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_functions_with_state_have_no_place(name):
    make, op = _REFUSED[name]
    iterator = make().make_initializable_iterator()
    saveable = E.make_saveable_from_iterator(iterator)
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError,
                           match="^%s is stateful." % op):
            session.run(saveable.specs[0].tensor.op)


def test_variables_and_tables_are_read_anew(tmp_path):
    def make():
        v = tf.get_variable("v", [], tf.int64,
                            initializer=tf.zeros_initializer())
        return _range().map(lambda x: x + v)
    with tf.Graph().as_default():
        iterator = make().make_initializable_iterator()
        element = iterator.get_next()
        v = tf.global_variables()[0]
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS,
                             E.make_saveable_from_iterator(iterator))
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(iterator.initializer)
            session.run([element, element])
            session.run(element)
            path = saver.save(session, str(tmp_path / "all"))
            session.run(v.assign(100))
            assert session.run(element) == 102
            saver.restore(session, path)
            assert session.run(element) == 2
            session.run(iterator.initializer)
            assert session.run(element) == 0


def test_an_iterator_that_is_not_initialized():
    iterator = _range().make_initializable_iterator()
    saveable = E.make_saveable_from_iterator(iterator)
    place = saveable.specs[0].tensor
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError,
                           match=r"^Save\(\) failed because the iterator has "
                                 "not been initialized"):
            session.run(place.op)
    other = _range().make_initializable_iterator()
    restore = E.make_saveable_from_iterator(other).restore([place], None)
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError,
                           match=r"^Restore\(\) failed because the iterator "
                                 "has not been initialized"):
            session.run(restore)


_OTHERS = [
    (lambda: _range(), lambda: _range().batch(2), "NotFound", "Batch"),
    (lambda: _range().batch(2), lambda: _range(), "NotFound", "Range:next"),
    (lambda: _range(20).take(15), lambda: _range(4).take(15),
     "InvalidArgument", "wanted a number from 0 to 4"),
    (lambda: D.zip((_range(), _range(), _range())),
     lambda: D.zip((_range(), _range())), "InvalidArgument", "no use for"),
    (lambda: _range().shuffle(3), lambda: D.from_tensors(1.5).repeat(
        9).shuffle(3), "InvalidArgument", "types of components"),
]


@pytest.mark.parametrize("case", range(len(_OTHERS)))
def test_the_place_in_another_dataset(case, tmp_path):
    saved, other, error, text = _OTHERS[case]
    path = str(tmp_path / "place")
    _save(saved, path, 7 if case == 2 else 2)
    with pytest.raises(tf.errors.OpError, match=text) as caught:
        _restored(other, path)
    assert type(caught.value).__name__ == error + "Error"


def test_a_damaged_place_is_an_error_or_another_place(tmp_path):
    """Thousands of small changes of a place with all that there is in one."""
    def make():
        return D.zip((
            _range(9).shuffle(4, seed=1).repeat(2).window(2, 1).flat_map(
                lambda w: w.batch(2)).prefetch(2),
            _range(9).interleave(lambda x: D.range(x), 3).map(
                lambda x: x, 2).cache().repeat(2).batch(3).apply(E.unbatch()),
            tf.data.TextLineDataset(_files("text", tmp_path)),
            E.sample_from_datasets([_range(), _range()], seed=1).apply(
                E.unique()).apply(E.group_by_window(
                    lambda x: x % 2, lambda k, d: d.batch(2), 2))))
    path = str(tmp_path / "place")
    _save(make, path, 2)
    data = open(path + ".data-00000-of-00001", "rb").read()
    size = shift = at = 0
    while True:
        size |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            break
    good = _proto().TensorProto(dtype=21)
    good.tensor_shape.SetInParent()
    message = data[at:at + size]
    good.variant_val.add().ParseFromString(message)
    rng = random.Random(3)
    iterator = make().make_initializable_iterator()
    element = iterator.get_next()
    errors = restored = 0
    changed = []
    for _ in range(150):
        proto = _proto().TensorProto()
        proto.CopyFrom(good)
        variant = proto.variant_val[0]
        kind = rng.randrange(5)
        if kind == 0:  # a number
            number = rng.choice([t for t in variant.tensors if t.dtype == 9])
            values = np.frombuffer(number.tensor_content, np.int64).copy()
            if values.size:
                values[rng.randrange(values.size)] = rng.choice(
                    [-1, 0, 1, 2, 5, 2**31, 2**62, -2**63])
                number.tensor_content = values.tobytes()
        elif kind == 1:  # a name
            lines = variant.metadata.split(b"\n")
            del lines[rng.randrange(len(lines))]
            variant.metadata = b"\n".join(lines)
        elif kind == 2:
            lines = bytearray(variant.metadata)
            lines[rng.randrange(len(lines))] = rng.randrange(32, 127)
            variant.metadata = bytes(lines)
        elif kind == 3:  # two tensors
            a, b = rng.sample(range(len(variant.tensors)), 2)
            tensor = _proto().TensorProto()
            tensor.CopyFrom(variant.tensors[a])
            variant.tensors[a].CopyFrom(variant.tensors[b])
            variant.tensors[b].CopyFrom(tensor)
        else:
            del variant.tensors[rng.randrange(len(variant.tensors))]
        changed.append(proto)
    graph = tf.get_default_graph()
    operations = []
    for proto in changed:
        const = graph.create_op("Const", [], [tf.variant], attrs={
            "dtype": _proto().AttrValue(type=21),
            "value": _proto().AttrValue(tensor=proto)})
        operations.append(E.make_saveable_from_iterator(iterator).restore(
            [const.outputs[0]], None))
    options = tf.RunOptions(timeout_in_ms=5000)
    with tf.Session() as session:
        session.run(iterator.initializer)
        for operation in operations:
            try:
                session.run(operation)
                restored += 1
            except tf.errors.OpError:
                errors += 1
                continue
            try:
                for _ in range(5):
                    session.run(element, options=options)
            except tf.errors.OpError:
                pass
    assert errors > 50 and restored > 0


def _proto():
    from headrace._src.framework import messages
    return messages


def test_a_checkpoint_of_objects_has_iterators(tmp_path):
    def make():
        iterator = _range().shuffle(5, seed=1).make_initializable_iterator()
        return iterator, iterator.get_next(), tf.train.Checkpoint(
            iterator=iterator)
    with tf.Graph().as_default():
        iterator, element, checkpoint = make()
        with tf.Session() as session:
            session.run(iterator.initializer)
            session.run([element, element])
            path = checkpoint.save(str(tmp_path / "objects"), session)
            path = checkpoint.save(str(tmp_path / "objects"), session)
            expected = _rest(session, element)
    assert "iterator/.ATTRIBUTES/ITERATOR_STATE" in dict(
        tf.train.list_variables(path))
    with tf.Graph().as_default():
        iterator, element, checkpoint = make()
        with tf.Session() as session:
            session.run(iterator.initializer)
            status = checkpoint.restore(path)
            status.assert_consumed().run_restore_ops(session)
            assert _rest(session, element) == expected


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_estimator") is None,
    reason="needs pip install tensorflow-estimator==1.15.2")
def test_the_hook_of_an_estimator(tmp_path):
    seen = []

    class Sees(tf.train.SessionRunHook):
        def before_run(self, context):
            return tf.train.SessionRunArgs(
                tf.get_default_graph().get_tensor_by_name("IteratorGetNext:0"))

        def after_run(self, context, values):
            seen.append(int(values.results))

    def model(features, labels, mode):
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(
            mode, loss=tf.cast(features, tf.float32),
            train_op=tf.assign_add(step, 1))
    for _ in range(2):
        estimator = tf.estimator.Estimator(model, str(tmp_path))
        estimator.train(lambda: _range(100), steps=3, hooks=[
            E.CheckpointInputPipelineHook(estimator), Sees()])
    assert seen == list(range(6))
    assert os.path.exists(str(tmp_path / "checkpoint_input"))
    assert os.path.exists(str(tmp_path / "input.ckpt-6.index"))
