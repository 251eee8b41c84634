"""State that outlives a run: session handles, accumulators, barriers, staging
areas, critical sections; and what ends it."""
import gc
import threading
import time

import numpy as np
import pytest

import headrace as tf


@pytest.fixture
def session():
    with tf.Session() as s:
        yield s


def test_session_handles(session):
    x = tf.constant([1., 2.])
    h = session.run(tf.get_session_handle(x))
    assert h.dtype == tf.float32 and "GetSessionHandle" in str(h)
    np.testing.assert_array_equal(h.eval(), [1, 2])
    holder, y = tf.get_session_tensor(h.handle, tf.float32)
    np.testing.assert_array_equal(session.run(y * 10, {holder: h.handle}),
                                  [10, 20])
    np.testing.assert_array_equal(session.run(y * 10, {holder: h}), [10, 20])
    # In place of a value.
    p = tf.placeholder(tf.float32, [2])
    np.testing.assert_array_equal(session.run(p + 1, {p: h}), [2, 3])
    # In a structure, with other fetches.
    out = session.run({"h": tf.get_session_handle(x * 3), "x": x})
    np.testing.assert_array_equal(out["h"].eval(), [3, 6])
    h.delete()
    with pytest.raises(tf.errors.InvalidArgumentError, match="session store"):
        session.run(y, {holder: h.handle})
    with pytest.raises(ValueError, match="deleted"):
        h.delete()
    holder, delete = tf.delete_session_tensor(out["h"].handle)
    raw = out["h"].get_raw_handle()
    session.run(delete, {holder: raw})
    with pytest.raises(tf.errors.InvalidArgumentError, match="session store"):
        out["h"].eval()
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle([1.])


def test_handles_that_nobody_has_are_deleted(session):
    fetch = tf.get_session_handle(tf.constant(1.))
    holder, value = tf.get_session_tensor("", tf.float32)
    names = []
    for _ in range(12):
        names.append(session.run(fetch).handle)
        gc.collect()
    session.run(fetch)
    alive = 0
    for n in names:
        try:
            session.run(value, {holder: n})
            alive += 1
        except tf.errors.InvalidArgumentError:
            pass
    assert alive < 10


def test_conditional_accumulator(session):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2])
    session.run(a.apply_grad([1., 2.]))
    session.run(a.apply_grad([3., 4.]))
    assert session.run(a.num_accumulated()) == 2
    take = a.take_grad(2)
    assert take.shape.as_list() == [2]
    np.testing.assert_array_equal(session.run(take), [2, 3])
    session.run(a.apply_grad([1., 1.], local_step=0))  # stale
    assert session.run(a.num_accumulated()) == 0
    session.run(a.set_global_step(7))
    session.run(a.apply_grad([1., 1.], local_step=6))
    assert session.run(a.num_accumulated()) == 0
    with pytest.raises(ValueError):
        a.apply_grad([1., 2., 3.])


def test_sparse_conditional_accumulator(session):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2],
                                        reduction_type="SUM")
    session.run(a.apply_grad([3, 1], np.ones((2, 2), np.float32)))
    session.run(a.apply_grad([3], np.ones((1, 2), np.float32), [4, 2]))
    got = session.run(a.take_grad(1))
    assert got.indices.tolist() == [1, 3]
    assert got.values.tolist() == [[1, 1], [2, 2]]
    assert got.shape.tolist() == [4, 2]


def test_barrier(session):
    b = tf.headrace.Barrier([tf.float32, tf.string], shapes=[[], []])
    session.run(b.insert_many(0, ["a", "b"], [1., 2.]))
    session.run(b.insert_many(1, ["b"], ["bb"]))
    assert session.run([b.ready_size(), b.incomplete_size()]) == [1, 1]
    got = session.run(b.take_many(1))
    assert got.keys.tolist() == [b"b"]
    assert got.values[0].tolist() == [2] and got.values[1].tolist() == [b"bb"]
    session.run(b.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient"):
        session.run(b.take_many(1))


def test_staging_area(session):
    area = tf.contrib.staging.StagingArea([tf.int32, tf.float32],
                                          shapes=[[], [2]], capacity=2)
    x = tf.placeholder(tf.int32, [])
    put, get, size = area.put([x, [1., 2.]]), area.get(), area.size()
    assert get[1].shape.as_list() == [2]
    session.run(put, {x: 1})
    session.run(put, {x: 2})
    assert session.run(size) == 2
    assert session.run(area.peek(1))[0] == 2
    assert session.run(get)[0] == 1
    with pytest.raises(tf.errors.DeadlineExceededError, match="staging area"):
        session.run([put, area.put([5, [0., 0.]])], {x: 3},
                    options=tf.RunOptions(timeout_in_ms=30))
    session.run(area.clear())
    assert session.run(size) == 0
    named = tf.contrib.staging.StagingArea([tf.int32], names=["a"])
    session.run(named.put({"a": 4}))
    assert session.run(named.get()) == {"a": 4}


@pytest.mark.parametrize("ordered", [False, True])
def test_map_staging_area(session, ordered):
    area = tf.headrace.MapStagingArea([tf.int32, tf.string],
                                             ordered=ordered)
    key = tf.placeholder(tf.int64, [])
    put = area.put(key, [7, tf.constant("s")])
    session.run(put, {key: 2})
    session.run(put, {key: 1})
    assert session.run(area.get(key), {key: 2}) == [7, b"s"]
    k, values = session.run(area.get())
    assert k == 1 and values == [7, b"s"]
    session.run(area.put(5, [8], [0]))
    assert session.run([area.size(), area.incomplete_size()]) == [0, 1]
    session.run(area.put(5, [tf.constant("t")], [1]))
    assert session.run(area.get(5, indices=[1])) == [b"t"]
    assert session.run(area.get(5, indices=[0])) == [8]
    assert session.run(area.size()) == 0


def test_critical_section(session):
    v = tf.Variable(0., use_resource=True)
    section = tf.CriticalSection(name="cs")

    def body():
        read = v.read_value()
        with tf.control_dependencies([read]):
            return tf.identity(v.assign(read + 1))
    add = section.execute(body)
    session.run(tf.global_variables_initializer())
    threads = [threading.Thread(target=lambda: [
        session.run(add) for _ in range(50)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert session.run(v) == 200


def test_critical_section_of_a_function_that_returns_nothing(session):
    done = tf.CriticalSection().execute(lambda: None)
    assert [op.type for op in done.control_inputs] == ["ConsumeMutexLock"]
    assert session.run(done) is None


def test_a_critical_section_is_entered_once(session):
    section = tf.CriticalSection(shared_name="cs")
    same = tf.CriticalSection(shared_name="cs")
    for other in (section, same):
        with pytest.raises(ValueError, match="attempts to directly access"):
            section.execute(lambda: other.execute(lambda: tf.constant(1.)))


def test_resources_of_critical_sections(session):
    first, second = tf.CriticalSection(), tf.CriticalSection()
    v = tf.Variable(0., use_resource=True)
    lock = first.execute(lambda: v + 1, name="mine").op.control_inputs[0]
    assert lock.type == "ConsumeMutexLock"
    first.execute(lambda: v - 1)
    for exclusive in (True, False):
        with pytest.raises(ValueError, match="exclusive resource access"):
            second.execute(lambda: v + 1, exclusive)
    other = tf.Variable(0., use_resource=True)
    first.execute(lambda: other + 1, False)
    second.execute(lambda: other + 1, exclusive_resource_access=False)
    with pytest.raises(ValueError, match="exclusive resource access"):
        second.execute(lambda: other + 1)
    assert tf.get_collection("critical_sections") == [first, second]
    made = tf.get_collection("critical_section_executions")
    assert made[0].op.type == "MutexLock"
    assert made[0].op.name.startswith("mine/")
    assert made[0].resources == [v.handle] and made[0].handle is first._handle


def test_a_lock_waits_for_what_its_function_takes(session):
    section = tf.CriticalSection()
    taken = section.execute(lambda: tf.identity(1.))
    copy = tf.identity(taken)
    again = section.execute(lambda: copy + 1.)
    _, last = tf.while_loop(
        lambda i, _: i < 50,
        lambda i, j: (i + 1, section.execute(lambda: j + 1)), [0, 0],
        parallel_iterations=25)
    assert session.run([again, last]) == [2., 50]


def test_all_uninitialized_variables_are_named(session):
    a = tf.Variable(1., name="a", use_resource=False)
    b = tf.Variable(1., name="b", use_resource=True)
    tf.Variable(1., name="c")
    with pytest.raises(tf.errors.FailedPreconditionError) as e:
        session.run(a + b)
    assert ("(2): 'a' (initializer 'a/Assign'), 'b' (initializer 'b/Assign')"
            in e.value.message)
    assert e.value.message.startswith((
        "Attempting to use uninitialized value a",
        "Error while reading resource variable b"))


def test_deadline_names_what_waits(session):
    q = tf.FIFOQueue(3, tf.float32, shared_name="numbers")
    take = q.dequeue(name="take")
    with pytest.raises(tf.errors.DeadlineExceededError) as e:
        session.run(take, options=tf.RunOptions(timeout_in_ms=20))
    assert ("node 'take' (QueueDequeueV2) for an element of FIFOQueue "
            "'numbers', which has 0 of at most 3") in e.value.message


def test_reset_closes_sessions():
    v = tf.Variable(1.)
    one, two = tf.Session(), tf.Session()
    one.run(tf.global_variables_initializer())
    tf.Session.reset("")
    for s in (one, two):
        with pytest.raises(tf.errors.CancelledError, match="closed"):
            s.run(v)
    with tf.Session() as fresh:
        fresh.run(tf.global_variables_initializer())
        assert fresh.run(v) == 1
    # Where the library for clusters was not built, it says so.
    with pytest.raises((tf.errors.InvalidArgumentError,
                        tf.errors.UnimplementedError),
                       match="nowhere|libheadrace_distributed"):
        tf.Session.reset("grpc://nowhere")


def test_sessions_do_not_share_variables():
    with tf.container("shared"):
        v = tf.Variable(1., name="v")
    for isolate in (False, True):
        config = tf.ConfigProto(isolate_session_state=isolate)
        with tf.Session(config=config) as one, \
                tf.Session(config=config) as two:
            one.run(v.initializer)
            assert one.run(v) == 1
            with pytest.raises(tf.errors.FailedPreconditionError):
                two.run(v)


def test_inter_op_thread_pools():
    config = tf.ConfigProto()
    config.session_inter_op_thread_pool.add(num_threads=1)
    config.session_inter_op_thread_pool.add(num_threads=2,
                                            global_name="two_of_test_state")
    x = tf.reduce_sum(tf.matmul(tf.ones([100, 100]), tf.ones([100, 100])))
    q = tf.FIFOQueue(1, tf.float32, shapes=[])
    pair = tf.tuple([x + 1, q.dequeue()])
    with tf.Session(config=config) as sess:
        for pool in (-1, 0, 1):
            options = tf.RunOptions(inter_op_thread_pool=pool)
            assert sess.run(x, options=options) == 1e6
            t = threading.Timer(0.02, lambda: sess.run(q.enqueue(3.)))
            t.start()
            assert sess.run(pair, options=options) == [1e6 + 1, 3]
            t.join()
        for pool in (-2, 2):
            with pytest.raises(tf.errors.InvalidArgumentError,
                               match="Invalid inter_op_thread_pool"):
                sess.run(x, options=tf.RunOptions(inter_op_thread_pool=pool))
    config.session_inter_op_thread_pool[1].num_threads = 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="has 2"):
        tf.Session(config=config)


def test_cost_graph():
    config = tf.ConfigProto()
    config.graph_options.build_cost_model = 2
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.matmul(x, tf.ones([8, 4]), name="y")
    with tf.Session(config=config) as sess:
        for i in range(4):
            metadata = tf.RunMetadata()
            sess.run(y, {x: np.ones((3, 8))}, run_metadata=metadata)
            nodes = {n.name: n for n in metadata.cost_graph.node}
            assert bool(nodes) == (i % 2 == 1)
        assert not metadata.HasField("step_stats")
    assert nodes["y"].output_info[0].size == 48
    assert [d.size for d in nodes["y"].output_info[0].shape.dim] == [3, 4]
    assert len(nodes["y"].input_info) == 2
    assert nodes["y"].device.endswith("CPU:0")


def test_trace_levels(session):
    y = tf.matmul(tf.ones([4, 4]), tf.random_uniform([4, 4]), name="y")
    for level, traced in ((tf.RunOptions.NO_TRACE, False),
                          (tf.RunOptions.SOFTWARE_TRACE, True),
                          (tf.RunOptions.FULL_TRACE, True)):
        metadata = tf.RunMetadata()
        session.run(y, options=tf.RunOptions(
            trace_level=level, output_partition_graphs=True),
            run_metadata=metadata)
        stats = {n.node_name: n for d in metadata.step_stats.dev_stats
                 for n in d.node_stats}
        assert ("y" in stats) == traced
        assert [n.name for g in metadata.partition_graphs for n in g.node
                if n.name == "y"] == ["y"]
    n = stats["y"]
    assert n.all_start_micros > 1e15 and n.op_end_rel_nanos > 0
    assert n.output[0].tensor_description.allocation_description \
        .requested_bytes == 64
    watch = tf.RunOptions()
    watch.debug_options.debug_tensor_watch_opts.add(node_name="y")
    with pytest.raises(tf.errors.UnimplementedError, match="debug_options"):
        session.run(y, options=watch)


def test_a_trace_tells_memory_and_copies(session):
    a = tf.placeholder(tf.float32, [64, 64])
    product = tf.matmul(a, a, name="product")
    copy = tf.raw_ops.DeepCopy(product, name="copy")
    values = np.ones([64, 64], np.float32)
    metadata = tf.RunMetadata()
    session.run(copy, {a: values}, run_metadata=metadata,
                options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
    nodes = {n.node_name: n for n in
             metadata.step_stats.dev_stats[0].node_stats}
    for name in ("product", "copy"):
        memory, = nodes[name].memory
        assert memory.live_bytes == values.nbytes
        assert memory.peak_bytes >= memory.live_bytes
        stats = nodes[name].memory_stats
        assert stats.temp_memory_size == memory.total_bytes - values.nbytes
        assert stats.persistent_memory_size == 0
    counters = metadata.headrace_counters
    assert counters.copies == 1
    assert counters.copied_bytes == values.nbytes
    assert counters.allocations >= 2
    assert counters.allocated_bytes >= 2 * values.nbytes
    assert counters.nodes == len(nodes)


def test_out_of_memory_reports_what_the_step_made(session):
    a = tf.zeros([1000, 10], name="a") + tf.random_uniform([], name="r")
    n = tf.placeholder(tf.int64, [])
    huge = tf.fill([n, n], a[0, 0])
    with pytest.raises(tf.errors.ResourceExhaustedError) as e:
        session.run(huge, {n: 1 << 28}, options=tf.RunOptions(
            report_tensor_allocations_upon_oom=True))
    assert "40000 bytes by node" in e.value.message


def test_default_stacks_are_of_the_thread():
    seen = []
    with tf.Graph().as_default() as g, tf.Session() as sess:
        def look():
            seen.append(tf.get_default_session())
            seen.append(tf.get_default_graph() is g)
        t = threading.Thread(target=look)
        t.start()
        t.join()
        assert tf.get_default_session() is sess
    assert seen == [None, False]


def test_add_check_numerics_ops(session):
    x = tf.placeholder(tf.float32, [])
    y = tf.log(x, name="the_log")
    check = tf.add_check_numerics_ops()
    assert session.run([y, check], {x: 1.})[0] == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="the_log:0"):
        session.run([y, check], {x: -1.})
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        session.run(tf.verify_tensor_all_finite(y, "mine"), {x: 0.})


def test_nodes_inside_a_loop_cannot_be_fed(session):
    inside = []

    def body(i):
        inside.append(i + 1)
        return inside[0]
    loop = tf.while_loop(lambda i: i < 5, body, [tf.constant(0)])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError),
                       match="loop|may not be fed|cannot be fed"):
        session.run(loop, {inside[0]: 3})


def test_looper_thread():
    coord = tf.train.Coordinator()
    calls = []
    tf.train.LooperThread.loop(coord, 0.001, calls.append, args=(1,))
    end = time.monotonic() + 10
    while len(calls) < 5 and time.monotonic() < end:
        time.sleep(0.001)
    coord.request_stop()
    coord.join()
    assert len(calls) >= 5


def insert_three(session, b):
    """Of "a", "b" and "c" the last lacks its second component."""
    session.run(b.insert_many(0, ["a", "b", "c"], [1., 2., 3.]))
    session.run(b.insert_many(1, ["a", "b"], [10., 20.]))


def test_a_closed_barrier_gives_small_batches_what_is_complete(session):
    """It waited for the incomplete elements, for ever."""
    b = tf.headrace.Barrier([tf.float32, tf.float32], shapes=[[], []])
    take = b.take_many(5, allow_small_batch=True)
    quick = tf.RunOptions(timeout_in_ms=20000)
    insert_three(session, b)
    session.run(b.close())
    got = session.run(take, options=quick)
    assert got.keys.tolist() == [b"a", b"b"]
    assert got.values[1].tolist() == [10, 20]
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient"):
        session.run(take, options=quick)
    session.run(b.insert_many(1, ["c"], [30.]))
    assert session.run(take, options=quick).keys.tolist() == [b"c"]


@pytest.mark.parametrize("complete", [True, False])
def test_closing_a_barrier_ends_the_wait_for_more(session, complete):
    b = tf.headrace.Barrier([tf.float32, tf.float32], shapes=[[], []])
    take = b.take_many(5, allow_small_batch=True)
    if complete:
        insert_three(session, b)
    else:
        session.run(b.insert_many(0, ["a"], [1.]))
    got = []

    def call():
        try:
            got.append(session.run(take).keys.tolist())
        except tf.errors.OutOfRangeError:
            got.append("none")
    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.05)
    session.run(b.close())
    thread.join(20)
    assert got == [[b"a", b"b"] if complete else "none"]


def test_barriers_of_unknown_and_partial_shapes(session):
    b = tf.headrace.Barrier([tf.float32, tf.int32])
    session.run(b.insert_many(0, ["a", "b"], np.ones([2, 3, 2], np.float32)))
    session.run(b.insert_many(1, ["a", "b"], [7, 8]))
    got = session.run(b.take_many(2)).values
    assert got[0].shape == (2, 3, 2) and got[1].tolist() == [7, 8]
    raw = tf.raw_ops
    handle = raw.Barrier(component_types=[tf.float32],
                         shapes=[tf.TensorShape([None, 2])])

    def insert(key, shape):
        session.run(raw.BarrierInsertMany(
            handle=handle, keys=[key], values=tf.zeros([1] + shape),
            component_index=0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
        insert("a", [3, 3])
    insert("a", [3, 2])
    insert("b", [4, 2])
    take = raw.BarrierTakeMany(handle=handle, num_elements=1,
                               component_types=[tf.float32])
    assert [session.run(take.values[0]).shape for _ in range(2)] == \
        [(1, 3, 2), (1, 4, 2)]


@pytest.mark.parametrize("shape, rows", [
    ((), -1), (None, -1), ([None], -1), ([None, 2], -1), ([None, None], -1),
    ([3, None], 3), ([3, 2], 3)])
def test_sparse_accumulators_of_shapes_that_say_little(session, shape, rows):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
    for step, grad_shape in enumerate([None, [3, 2]]):
        session.run(a.apply_grad([0, 2], np.float32([[1, 2], [3, 4]]),
                                 grad_shape, local_step=step))
        got = session.run(a.take_grad(1))
        assert got.indices.tolist() == [0, 2]
        assert got.values.tolist() == [[1, 2], [3, 4]]
        assert got.shape.tolist() == [rows, 2]


@pytest.mark.parametrize("shape, indices, values, grad_shape, message", [
    ([None], [0], [[1, 2]], [], "expected shape rank at least 1, got 0"),
    ([None, 2], [0, 2], [1, 2], None, "expected values rank at least 2, got 1"),
    ([None, 2], [0, 2], [1, 2], [3], "expected shape rank at least 2, got 1"),
    ([None, 2], [0], [[1, 2, 3]], [3, 3], "expected shape dim 1 to be 2, got"),
    ([None, 2], [0], [[1, 2, 3]], None, "expected values dim 1 to be 2, got 3"),
    ([3, None], [0], [[1, 2]], [5, 2], "expected shape dim 0 to be 3, got 5"),
    ([3, None], [7], [[1, 2]], None, "has 7, which is not in")])
def test_sparse_gradients_that_do_not_fit(session, shape, indices, values,
                                          grad_shape, message):
    a = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(a.apply_grad(indices, np.float32(values), grad_shape))


def test_a_barrier_of_unknown_shapes(session):
    b = tf.headrace.Barrier([tf.float32, tf.float32])
    session.run(b.insert_many(0, ["a", "b"], [1., 2.]))
    session.run(b.insert_many(1, ["b"], [3.]))
    taken = b.take_many(1)
    assert [v.get_shape().ndims for v in taken.values] == [None, None]
    got = session.run(taken)
    assert got.keys.tolist() == [b"b"]
    assert [v.tolist() for v in got.values] == [[2.], [3.]]
