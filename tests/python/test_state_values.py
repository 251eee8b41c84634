"""Ops with state under the names that graphs of early versions have: tensor
arrays, stacks, lists, queues, tables, readers, accumulators, staging areas."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import expect_close, let_be_of_version


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def old_session(session):
    """Of a graph that may have ops that were removed since."""
    let_be_of_version(8)
    return session


def after(ops, make):
    """What `make` makes, to run after `ops`."""
    with tf.control_dependencies(ops):
        return make()


def as_op(x):
    return x if isinstance(x, tf.Operation) else x.op


# TensorArray, TensorArrayV2 and TensorArrayV3 differ in names and in how the
# handle is passed: the ops of V1 have no suffix, but for those of V3 that took
# them over.
SUFFIXES = ["", "V2", "V3"]


def array_op(name, suffix):
    return getattr(raw_ops, "TensorArray" + name + suffix)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64, np.int32])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tensor_arrays(old_session, suffix, dtype):
    x = np.arange(6).reshape(3, 2).astype(dtype)
    made = array_op("", suffix)(np.int32(3), dtype=dtype, clear_after_read=False)
    handle, flow = made if suffix == "V3" else (made, tf.constant(0.))
    op = lambda name, *args, **attrs: array_op(name, suffix)(handle, *args, **attrs)
    for i in range(2):
        flow = op("Write", np.int32(i), x[i], flow)
    flow = op("Scatter", np.int32([2]), x[2:], flow)
    whole = op("Gather", np.int32([2, 0, 1]), flow, dtype=dtype)
    joined = op("Concat", flow, dtype=dtype)
    got = old_session.run([op("Read", np.int32(1), flow, dtype=dtype), whole,
                       joined.value, joined.lengths, op("Size", flow)])
    for value, wanted in zip(got, [x[1], x[[2, 0, 1]], x.reshape(-1), [2, 2, 2], 3]):
        expect_close(value, wanted)
    old_session.run(op("Close"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tensor_arrays_split_what_they_join(old_session, suffix):
    made = array_op("", suffix)(np.int32(2), dtype=np.float32,
                                clear_after_read=False)
    handle, flow = made if suffix == "V3" else (made, tf.constant(0.))
    op = lambda name, *args, **attrs: array_op(name, suffix)(handle, *args, **attrs)
    x = np.arange(5, dtype=np.float32)
    flow = op("Split", x, np.int64([2, 3]), flow)
    got = old_session.run([op("Read", np.int32(i), flow, dtype=np.float32)
                       for i in range(2)])
    expect_close(got[0], x[:2])
    expect_close(got[1], x[2:])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_gradients_of_tensor_arrays_add_up(old_session, suffix):
    made = array_op("", suffix)(np.int32(2), dtype=np.float32)
    handle, flow = made if suffix == "V3" else (made, tf.constant(0.))
    with tf.control_dependencies([flow]):
        gradient = array_op("Grad", suffix)(handle, flow, source="gradients")
    grad_handle, grad_flow = gradient if suffix == "V3" else (gradient, flow)
    if suffix != "V3":
        grad_handle = gradient
    write = array_op("Write", suffix)
    for value in (2., 5.):
        grad_flow = write(grad_handle, np.int32(0), np.float32([value]), grad_flow)
    read = array_op("Read", suffix)(grad_handle, np.int32(0), grad_flow,
                                    dtype=np.float32)
    expect_close(old_session.run(read), [7])


def test_tensor_arrays_pack_and_unpack(old_session):
    handle = raw_ops.TensorArray(np.int32(3), dtype=np.float32)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    flow = raw_ops.TensorArrayUnpack(handle, x, tf.constant(0.))
    packed = raw_ops.TensorArrayPack(handle, flow, dtype=np.float32)
    expect_close(old_session.run(packed), x)


@pytest.mark.parametrize("version", ["", "V2"])
def test_stacks_give_back_last_first(session, version):
    if version:
        handle = raw_ops.StackV2(np.int32(-1), elem_type=np.float32)
    else:
        handle = raw_ops.Stack(elem_type=np.float32)
    push, pop, close = (getattr(raw_ops, "Stack" + what + version)
                        for what in ("Push", "Pop", "Close"))
    first = push(handle, np.float32([1]))
    second = after([as_op(first)], lambda: push(handle, np.float32([2, 3])))
    one = after([as_op(second)], lambda: pop(handle, elem_type=np.float32))
    two = after([as_op(one)], lambda: pop(handle, elem_type=np.float32))
    end = after([as_op(two)], lambda: close(handle))
    got = session.run([first, second, one, two, end])
    for value, wanted in zip(got, ([1], [2, 3], [2, 3], [1])):
        expect_close(value, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
def test_tensor_lists(session, dtype):
    x = (np.arange(6).reshape(3, 2) % 4).astype(dtype)
    items = raw_ops.TensorListFromTensor(x, np.int32([2]))
    more = raw_ops.TensorListScatter(x[:1], np.int32([1]), np.int32([2]))
    stack = lambda h: raw_ops.TensorListStack(h, np.int32([-1]), element_dtype=dtype)
    v2 = raw_ops.TensorListScatterV2(x[:2], np.int32([2, 0]), np.int32([2]),
                                     np.int32(3))
    into = raw_ops.TensorListScatterIntoExistingList(items, x[:1], np.int32([2]))
    batch = raw_ops.TensorListPushBackBatch(tf.stack([items, items]), x[:2])
    cases = [
        (stack(raw_ops.TensorListConcatLists(items, items, element_dtype=dtype)),
         np.concatenate([x, x])),
        (raw_ops.TensorListGather(items, np.int32([2, 0]), np.int32([2]),
                                  element_dtype=dtype), x[[2, 0]]),
        (raw_ops.TensorListConcat(items, element_dtype=dtype).tensor, x.reshape(-1)),
        (raw_ops.TensorListConcat(items, element_dtype=dtype).lengths, [2, 2, 2]),
        (raw_ops.TensorListConcatV2(items, np.int32([-1]), np.int64([]),
                                    element_dtype=dtype).tensor, x.reshape(-1)),
        (raw_ops.TensorListElementShape(items, shape_type=np.int64), [2]),
        (raw_ops.TensorListLength(raw_ops.TensorListResize(items, np.int32(5))), 5),
        (raw_ops.TensorListGetItem(more, np.int32(1), np.int32([2]),
                                   element_dtype=dtype), x[0]),
        (stack(v2), np.stack([x[1], np.zeros_like(x[0]), x[0]])),
        (stack(into), np.stack([x[0], x[1], x[0]])),
        (stack(batch[1]), np.concatenate([x, x[1:2]])),
        (raw_ops.TensorListPopBack(items, np.int32([2]),
                                   element_dtype=dtype).tensor, x[2]),
    ]
    for value, (_, wanted) in zip(session.run([c[0] for c in cases]), cases):
        expect_close(value, wanted)


QUEUES = {"FIFOQueue": {}, "PaddingFIFOQueue": {"shapes": [[]]},
          "RandomShuffleQueue": {"shapes": [[]]}, "PriorityQueue": {"shapes": [[]]}}


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("kind", QUEUES)
def test_queues(session, kind, version):
    attrs = dict(QUEUES[kind], component_types=[np.float32])
    if kind == "FIFOQueue":
        attrs["shapes"] = [[]]
    queue = getattr(raw_ops, kind + version)(**attrs)
    op = lambda name, *args, **more: getattr(raw_ops, "Queue" + name + version)(
        queue, *args, **more)
    prior = kind == "PriorityQueue"
    types = [np.int64, np.float32] if prior else [np.float32]
    one = lambda p, x: [np.int64(p), np.float32(x)] if prior else [np.float32(x)]
    session.run(op("Enqueue", one(3, 30)))
    many = [np.int64([1, 4, 2, 0])] if prior else []
    session.run(op("EnqueueMany", many + [np.float32([10, 40, 20, 0])]))
    assert session.run(op("Size")) == 5
    last = lambda outputs: outputs[-1] if isinstance(outputs, (list, tuple)) else outputs
    got = [session.run(last(op("Dequeue", component_types=types)))]
    got += list(session.run(last(op("DequeueMany", np.int32(2), component_types=types))))
    if version:
        closed = op("IsClosed")
    else:
        closed = raw_ops.QueueIsClosed(queue)
    assert not session.run(closed)
    session.run(op("Close"))
    assert session.run(closed)
    got += list(session.run(last(op("DequeueUpTo", np.int32(9), component_types=types))))
    wanted = [0, 10, 20, 30, 40] if prior else [30, 10, 40, 20, 0]
    if kind == "RandomShuffleQueue":
        got, wanted = sorted(got), sorted(wanted)
    assert got == wanted


TABLES = [(np.int64, np.float32), (np.int64, np.int64), (object, np.int64),
          (object, np.float32), (np.int64, object), (object, object)]


def typed(dtype, values):
    return np.array([b"%d" % v for v in values] if dtype is object else values,
                    dtype=object if dtype is object else dtype)


def tf_type(dtype):
    return tf.string if dtype is object else tf.as_dtype(dtype)


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("keys, values", TABLES)
def test_tables_that_are_initialized(session, keys, values, version):
    op = lambda name: getattr(raw_ops, name + version)
    types = dict(key_dtype=tf_type(keys), value_dtype=tf_type(values))
    table = op("HashTable")(**types)
    session.run(op("InitializeTable")(table, typed(keys, [1, 5, 9]),
                                      typed(values, [10, 50, 90])))
    found = op("LookupTableFind")(table, typed(keys, [9, 2, 1]), typed(values, [7])[0])
    assert session.run(found).tolist() == typed(values, [90, 7, 10]).tolist()
    assert session.run(op("LookupTableSize")(table)) == 3


@pytest.mark.parametrize("version", ["", "V2"])
def test_tables_from_text_files(session, tmp_path, version):
    (tmp_path / "words").write_text("a\t7\nb\t8\n")
    op = lambda name: getattr(raw_ops, name + version)
    table = op("HashTable")(key_dtype=tf.string, value_dtype=tf.int64)
    session.run(op("InitializeTableFromTextFile")(
        table, str(tmp_path / "words"), key_index=0, value_index=1))
    found = op("LookupTableFind")(table, np.array([b"b", b"c", b"a"], object),
                                  np.int64(-1))
    assert session.run(found).tolist() == [8, -1, 7]


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("kind, keys, values", [
    (kind, *types) for types in TABLES
    for kind in ("MutableHashTable", "MutableHashTableOfTensors", "MutableDenseHashTable")
    if kind == "MutableHashTable" or object not in types])
def test_tables_that_change(session, kind, keys, values, version):
    op = lambda name: getattr(raw_ops, name + version)
    types = dict(value_dtype=tf_type(values))
    row = lambda v: typed(values, [v])[0]
    if kind == "MutableHashTableOfTensors":
        types["value_shape"] = [2]
        row = lambda v: typed(values, [v, v + 1])
    if kind == "MutableDenseHashTable":
        empty = [typed(keys, [-1])[0]]
        if version:
            empty.append(typed(keys, [-2])[0])
        table = op(kind)(*empty, initial_num_buckets=4, **types)
    else:
        table = op(kind)(key_dtype=tf_type(keys), **types)
    rows = lambda *of: np.stack([row(v) for v in of])
    find = op("LookupTableFind")(table, typed(keys, [9, 2, 1]), row(70))
    session.run(op("LookupTableInsert")(table, typed(keys, [1, 9]), rows(10, 90)))
    assert session.run(find).tolist() == rows(90, 70, 10).tolist()
    found = op("LookupTableExport")(table, Tkeys=tf_type(keys), Tvalues=tf_type(values))
    got_keys, got_values = session.run(found)
    order = np.argsort(got_keys)
    assert got_keys[order].tolist() == typed(keys, [1, 9]).tolist()
    assert got_values[order].tolist() == rows(10, 90).tolist()
    session.run(op("LookupTableImport")(table, typed(keys, [2]), rows(20)))
    assert session.run(find).tolist() == rows(70, 20, 70).tolist()
    if version:
        session.run(raw_ops.LookupTableRemoveV2(table, typed(keys, [2])))
        assert session.run(find).tolist() == rows(70, 70, 70).tolist()


READERS = ["IdentityReader", "WholeFileReader", "TextLineReader",
           "FixedLengthRecordReader", "TFRecordReader"]


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("kind", READERS)
def test_readers(session, tmp_path, kind, version):
    op = lambda name: getattr(raw_ops, name + version)
    names, records = [], []
    for i in range(2):
        file = tmp_path / ("file%d" % i)
        names.append(str(file).encode())
        lines = [b"%d_%d" % (i, k) for k in range(3)]
        if kind == "TFRecordReader":
            with tf.python_io.TFRecordWriter(str(file)) as writer:
                for line in lines:
                    writer.write(line)
        elif kind == "FixedLengthRecordReader":
            file.write_bytes(b"".join(lines))
        else:
            file.write_bytes(b"".join(line + b"\n" for line in lines))
        if kind == "IdentityReader":
            lines = [names[-1]]
        elif kind == "WholeFileReader":
            lines = [file.read_bytes()]
        records += lines
    attrs = {"record_bytes": 3} if kind == "FixedLengthRecordReader" else {}
    reader = op(kind)(**attrs)
    queue = op("FIFOQueue")(component_types=[tf.string], shapes=[[]])
    session.run(op("QueueEnqueueMany")(queue, [np.array(names, object)]))
    session.run(op("QueueClose")(queue))
    read, up_to = op("ReaderRead")(reader, queue), op("ReaderReadUpTo")(
        reader, queue, np.int64(100))
    got = [session.run(read).value]
    while len(got) < len(records):
        got += session.run(up_to).values.tolist()
    assert got == records
    assert session.run(op("ReaderNumRecordsProduced")(reader)) == len(records)
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(read)
    assert session.run(op("ReaderNumWorkUnitsCompleted")(reader)) == 2
    session.run(op("ReaderReset")(reader))
    assert session.run(op("ReaderNumRecordsProduced")(reader)) == 0


@pytest.mark.parametrize("version", ["", "V2"])
def test_readers_go_on_from_a_state(session, version):
    op = lambda name: getattr(raw_ops, name + version)
    reader = op("IdentityReader")()
    queue = op("FIFOQueue")(component_types=[tf.string], shapes=[[]])
    session.run(op("QueueEnqueueMany")(queue, [np.array([b"a", b"b", b"c"], object)]))
    read = op("ReaderRead")(reader, queue)
    assert session.run(read).value == b"a"
    state = session.run(op("ReaderSerializeState")(reader))
    assert session.run(read).value == b"b"
    produced = op("ReaderNumRecordsProduced")(reader)
    assert session.run(produced) == 2
    session.run(op("ReaderRestoreState")(reader, state))
    assert session.run(produced) == 1


@pytest.mark.parametrize("reduction, wanted", [("MEAN", [3, 4]), ("SUM", [6, 8])])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("kind", ["", "Resource"])
def test_accumulators(session, kind, dtype, reduction, wanted):
    handle = getattr(raw_ops, kind + "ConditionalAccumulator")(
        dtype=dtype, shape=[2], reduction_type=reduction)
    op = lambda name, *args, **attrs: getattr(
        raw_ops, kind + "Accumulator" + name)(handle, *args, **attrs)
    session.run(op("SetGlobalStep", np.int64(5)))
    push = lambda step, x: session.run(
        op("ApplyGradient", np.int64(step), np.array(x, dtype)))
    push(5, [1, 2])
    push(4, [100, 100])  # of an older step: dropped
    push(6, [5, 6])
    assert session.run(op("NumAccumulated")) == 2
    got = session.run(op("TakeGradient", np.int32(2), dtype=dtype))
    expect_close(got, wanted)
    assert session.run(op("NumAccumulated")) == 0


@pytest.mark.parametrize("kind", ["", "Ordered"])
def test_maps_of_staged_values(session, kind):
    attrs = dict(dtypes=[np.float32, np.int32], shared_name="area")
    op = lambda name, *args: getattr(raw_ops, kind + "Map" + name)(*args, **attrs)
    both = np.int32([0, 1])
    session.run(op("Stage", np.int64(7), both, [np.float32(.5), np.int32(3)]))
    session.run(op("Stage", np.int64(2), both[:1], [np.float32(.25)]))
    assert session.run(op("Size")) == 1
    assert session.run(op("IncompleteSize")) == 1
    session.run(op("Stage", np.int64(2), both[1:], [np.int32(4)]))
    assert session.run(op("IncompleteSize")) == 0
    assert session.run(op("Peek", np.int64(7), both)) == [.5, 3]
    assert session.run(op("Unstage", np.int64(7), both)) == [.5, 3]
    key, values = session.run(op("UnstageNoKey", both))
    assert key == 2 and values == [.25, 4]
    session.run(op("Stage", np.int64(7), both, [np.float32(.5), np.int32(3)]))
    session.run(op("Clear"))
    assert session.run(op("Size")) == 0


def test_files_are_written_read_and_found(session, tmp_path):
    file = str(tmp_path / "deep" / "file.txt")
    session.run(raw_ops.WriteFile(file, b"text\0more"))
    assert session.run(raw_ops.ReadFile(file)) == b"text\0more"
    session.run(raw_ops.WriteFile(str(tmp_path / "deep" / "other.bin"), b""))
    found = raw_ops.MatchingFiles([str(tmp_path / "deep" / "*.txt"),
                                   str(tmp_path / "none*")])
    assert session.run(found).tolist() == [file.encode()]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_temporary_variables_give_their_last_value(session, dtype):
    variable = raw_ops.TemporaryVariable(shape=[2], dtype=dtype, var_name="v")
    assigned = raw_ops.Assign(variable, np.array([3, 4], dtype))
    added = raw_ops.AssignAdd(assigned, np.array([1, 1], dtype))
    expect_close(session.run(raw_ops.DestroyTemporaryVariable(added, var_name="v")),
                 [4, 5])


def test_references_pass_through_control_flow(session):
    variable = tf.Variable(np.float32([1, 2]), use_resource=False)
    session.run(variable.initializer)
    ref = variable.op.outputs[0]
    chosen = raw_ops.RefSwitch(ref, True)
    merged = raw_ops.RefMerge([chosen.output_false, chosen.output_true])
    added = raw_ops.AssignAdd(raw_ops.RefIdentity(merged.output), np.float32([5, 5]))
    expect_close(session.run([added, merged.value_index])[0], [6, 7])
    expect_close(session.run(variable), [6, 7])
    other = tf.Variable(np.float32([8, 9]), use_resource=False)
    session.run(other.initializer)
    picked = raw_ops.RefSelect(np.int32(1), [ref, other.op.outputs[0]])
    session.run(raw_ops.AssignSub(picked, np.float32([1, 1])).op)
    expect_close(session.run(other), [7, 8])
    expect_close(session.run(variable), [6, 7])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_numbers_are_taken_from_reference_variables(session, dtype):
    variable = tf.Variable(np.array([10, 20, 30], dtype), use_resource=False)
    session.run(variable.initializer)
    less = tf.placeholder(dtype, [3])
    got = session.run(tf.assign_sub(variable, less), {less: [1, 2, 3]})
    assert got.dtype == dtype and got.tolist() == [9, 18, 27]
    assert session.run(variable).tolist() == [9, 18, 27]
