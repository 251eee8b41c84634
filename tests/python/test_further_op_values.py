"""Values of ops that no other test of values has: by their formula, by what the
op they extend gives, or by what they wrote."""
import json
import time

import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import expect_close, let_be_of_version, run_old_op, run_op

TYPES = [np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
         np.uint8, np.uint16]


def test_kernels_of_loops_compute_as_the_executor_does():
    """In a traced step the executor calls the kernels of what else it does itself."""
    start = tf.placeholder(tf.int32, [])
    end = tf.while_loop(lambda i, x: i < 5, lambda i, x: [i + 1, x * 2.],
                        [start, tf.constant([1., 3.])])
    chosen = tf.cond(start > 1, lambda: end[1] + 1., lambda: end[1] - 1.)
    traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        for options in (None, traced):
            for at in (0, 3, 9):
                i, x, y = session.run([*end, chosen], {start: at}, options=options,
                                      run_metadata=tf.RunMetadata())
                assert i == max(at, 5)
                expect_close(x, np.array([1, 3]) * 2. ** max(0, 5 - at))
                expect_close(y, x + (1 if at > 1 else -1))


def test_references_go_through_loops():
    variable = tf.Variable(np.float32([1, 2]), use_resource=False)
    ref = variable.op.outputs[0]
    entered = raw_ops.RefEnter(ref, frame_name="loop")
    left = raw_ops.RefExit(entered)
    added = raw_ops.AssignAdd(left, np.float32([3, 3]))
    with tf.Session() as session:
        session.run(variable.initializer)
        expect_close(session.run(added), [4, 5])
        expect_close(session.run(variable), [4, 5])


SEED = np.int64([7, 9])


@pytest.mark.parametrize("name, args", [
    ("Normal", ()), ("TruncatedNormal", ()), ("Uniform", ()),
    ("UniformInt", (np.int32(-50), np.int32(70))), ("UniformFullInt", ())])
def test_random_numbers_of_a_key_are_those_of_its_seed(name, args):
    shape = np.int32([4, 300])
    integer = name.startswith("UniformI") or name.startswith("UniformF")
    attrs = {"dtype": np.int32 if integer else np.float32} if not args else {}
    plain = run_op("StatelessRandom" + name if name != "TruncatedNormal"
                   else "StatelessTruncatedNormal", shape, SEED, *args, **attrs)
    with tf.Graph().as_default(), tf.Session() as session:
        key = raw_ops.StatelessRandomGetKeyCounterAlg(SEED)
        both = raw_ops.StatelessRandomGetKeyCounter(SEED)
        keys, alg = session.run([key, raw_ops.StatelessRandomGetAlg()])
        assert keys.alg == alg == 1  # Philox
        for got, wanted in zip(keys, session.run(both)):
            assert got.tolist() == wanted.tolist()
    op = ("StatelessTruncatedNormalV2" if name == "TruncatedNormal"
          else "StatelessRandom%sV2" % name)
    got = run_op(op, shape, keys.key, keys.counter, keys.alg, *args, **attrs)
    assert got.dtype == plain.dtype and got.tolist() == plain.tolist()
    low, high, mean = {"Normal": (-6, 6, 0), "TruncatedNormal": (-2, 2, 0),
                       "Uniform": (0, 1, .5), "UniformInt": (-50, 69, 9.5),
                       "UniformFullInt": (-2 ** 31, 2 ** 31 - 1, 0)}[name]
    assert low <= got.min() < got.max() <= high
    assert abs(got.mean() - mean) < .1 * (high - low) / 2


def test_random_numbers_of_poisson_have_their_rate():
    with tf.Graph().as_default(), tf.Session() as session:
        let_be_of_version(20)
        for rate in (.5, 4., 40.):
            drawn = session.run(raw_ops.RandomPoisson(
                np.int32([20000]), np.float32([rate]), seed=3, seed2=5))
            expect_close(drawn, np.round(drawn))
            assert abs(drawn.mean() / rate - 1) < .05 and abs(drawn.var() / rate - 1) < .06


@pytest.mark.parametrize("dtype", TYPES + [np.complex64, np.bool_])
def test_blocks_of_space_and_batch(dtype):
    x = (np.arange(2 * 4 * 6 * 3) % 100).reshape(2, 4, 6, 3).astype(dtype)
    blocks = x.reshape(2, 2, 2, 3, 2, 3).transpose(2, 4, 0, 1, 3, 5).reshape(8, 2, 3, 3)
    none = np.int32([[0, 0], [0, 0]])
    expect_close(run_op("SpaceToBatch", x, none, block_size=2), blocks)
    expect_close(run_op("BatchToSpace", blocks, none, block_size=2), x)
    crop = np.int32([[1, 0], [0, 2]])
    expect_close(run_op("BatchToSpace", blocks, crop, block_size=2), x[:, 1:, :4])


@pytest.mark.parametrize("dtype", TYPES + [np.complex64, np.bool_])
def test_axes_that_flags_choose_are_reversed(dtype):
    x = np.arange(12).reshape(2, 3, 2).astype(dtype)
    expect_close(run_op("Reverse", x, np.array([True, False, True])), x[::-1, :, ::-1])


@pytest.mark.parametrize("include_batch", [True, False])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", TYPES)
def test_max_pooling_with_places_and_its_gradient(dtype, index, include_batch):
    x = np.random.RandomState(0).permutation(64).reshape(2, 4, 4, 2).astype(dtype)
    attrs = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID",
                 include_batch_in_index=include_batch)
    places = np.arange(64).reshape(x.shape) % (64 if include_batch else 32)
    windows = lambda v: v.reshape(2, 2, 2, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(
        2, 2, 2, 2, 4)
    best = windows(x).argmax(-1)[..., None]
    argmax = np.take_along_axis(windows(places), best, -1)[..., 0]
    got = run_op("MaxPoolWithArgmax", x, Targmax=index, **attrs)
    expect_close(got[0], windows(x).max(-1))
    assert got[1].dtype == index and got[1].tolist() == argmax.tolist()
    grads = np.arange(1, 17).reshape(2, 2, 2, 2).astype(dtype)
    wanted = np.zeros(64)
    batch = 0 if include_batch else np.arange(2)[:, None, None, None] * 32
    wanted[argmax + batch] = grads
    expect_close(run_op("MaxPoolGradWithArgmax", x, grads, argmax.astype(index), **attrs),
                 wanted.reshape(x.shape))


def test_texts_match_a_pattern_as_a_whole():
    texts = np.array([b"abc", b"abcd", b"", b"xabc"], object)
    wanted = [True, False, False, False]
    assert run_op("RegexFullMatch", texts, np.array(b"a.c")).tolist() == wanted
    assert run_op("StaticRegexFullMatch", texts, pattern="a.c").tolist() == wanted


def test_slices_are_saved_and_restored(tmp_path):
    name = str(tmp_path / "slices")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.int64([5, 6])
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(raw_ops.SaveSlices(
            name, np.array([b"x", b"y"], object),
            np.array([b"5 4 1,3:-", b""], object), [x, y]))
        restore = raw_ops.RestoreSlice(name, "x", "5 4 2,2:1,3", dt=tf.float32)
        expect_close(session.run(restore), x[1:3, 1:4])
        expect_close(session.run(raw_ops.RestoreSlice(name, "y", "", dt=tf.int64)), y)


def test_names_of_shards():
    assert run_op("ShardedFilespec", np.array(b"file"), np.int32(12)) == b"file-?????-of-00012"
    assert run_op("ShardedFilename", np.array(b"file"), np.int32(3),
                  np.int32(12)) == b"file-00003-of-00012"


def test_maps_of_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        made = raw_ops.EmptyTensorMap()
        for key in (3, 1, 2):
            made = raw_ops.TensorMapInsert(made, np.int64(key), np.float32([key, 0]))
        erased = raw_ops.TensorMapErase(made, np.int64(1), value_dtype=tf.float32)
        has = [raw_ops.TensorMapHasKey(m, np.int64(1)) for m in (made, erased)]
        keys = raw_ops.TensorMapStackKeys(erased, key_dtype=tf.int64)
        found = raw_ops.TensorMapLookup(made, np.int64(2), value_dtype=tf.float32)
        size = [raw_ops.TensorMapSize(m) for m in (made, erased)]
        has, keys, found, size = session.run([has, keys, found, size])
    assert has == [True, False] and sorted(keys) == [2, 3]
    assert found.tolist() == [2, 0] and size == [3, 2]


@pytest.mark.parametrize("kind", ["AnonymousHashTable", "AnonymousMutableHashTable",
                                  "AnonymousMutableHashTableOfTensors",
                                  "AnonymousMutableDenseHashTable"])
def test_tables_without_a_name(kind):
    keys, default = np.int64([1, 5]), np.float32(-1)
    values = np.float32([10, 50])
    attrs = dict(value_dtype=tf.float32)
    args = []
    if kind.endswith("DenseHashTable"):
        args = [np.int64(-1), np.int64(-2)]
    else:
        attrs["key_dtype"] = tf.int64
    if kind.endswith("OfTensors"):
        attrs["value_shape"] = [2]
        values, default = np.float32([[1, 2], [3, 4]]), np.float32([-1, -1])
    with tf.Graph().as_default(), tf.Session() as session:
        table = getattr(raw_ops, kind)(*args, **attrs)
        put = raw_ops.LookupTableImportV2 if "Mutable" in kind else raw_ops.InitializeTableV2
        # In one step, as the table lives no longer.
        with tf.control_dependencies([put(table, keys, values)]):
            found = raw_ops.LookupTableFindV2(table, np.int64([5, 2]), default)
        expect_close(session.run(found), np.stack([values[1], default]))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_numerics_are_checked_and_pass(dtype):
    x = np.array([1, -2], dtype)
    expect_close(run_op("CheckNumericsV2", x, message="m"), x)
    for bad, words in (([1, np.inf], "[+-]?Inf"), ([np.nan, 0], "NaN")):
        with pytest.raises(tf.errors.InvalidArgumentError, match="m.*" + words):
            run_op("CheckNumericsV2", np.array(bad, dtype), message="m")


@pytest.mark.parametrize("dtype", TYPES)
def test_empty_tensors_are_zeros_if_asked(dtype):
    got = run_op("Empty", np.int32([2, 3]), dtype=dtype, init=True)
    assert got.dtype == dtype
    expect_close(got, np.zeros((2, 3)))


def test_examples_come_from_json():
    given = {"features": {"feature": {
        "a": {"int64List": {"value": ["3", "4"]}},
        "b": {"floatList": {"value": [.5]}},
        "c": {"bytesList": {"value": ["aGk="]}}}}}
    got = run_op("DecodeJSONExample", np.array([json.dumps(given)], object))
    example = tf.train.Example.FromString(got[0])
    feature = example.features.feature
    assert list(feature["a"].int64_list.value) == [3, 4]
    assert list(feature["b"].float_list.value) == [.5]
    assert list(feature["c"].bytes_list.value) == [b"hi"]


@pytest.mark.parametrize("op", ["AudioSummary", "AudioSummaryV2"])
def test_sound_is_summarized_as_wav(op):
    x = np.float32([[0, .5, -.5], [1, -1, 0]])
    rate = np.float32(8000) if op.endswith("V2") else None
    if rate is None:
        got = run_old_op(op, np.array(b"tag"), x, sample_rate=8000.)
    else:
        got = run_op(op, np.array(b"tag"), x, rate)
    summary = tf.Summary.FromString(got)
    assert [v.tag for v in summary.value] == ["tag/audio/0", "tag/audio/1"]
    for value, row in zip(summary.value, x):
        audio = value.audio
        assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, 1, 3)
        samples = np.frombuffer(audio.encoded_audio_string[44:], "<i2")
        expect_close(samples / 32767., row, atol=1e-4)


def test_time_is_that_of_the_system():
    before = time.time()
    with tf.Graph().as_default(), tf.Session() as session:
        got = session.run(raw_ops.Timestamp())
    assert before - 1e-3 <= got <= time.time() + 1e-3


def test_devices_have_indices():
    assert run_op("DeviceIndex", device_names=["GPU", "CPU"]) == 1
    assert run_op("DeviceIndex", device_names=["GPU"]) == 1


def test_branches_by_number():
    def branch(factor):
        defined = tf.headrace.Defun(tf.float32)(lambda x: x * factor)
        defined.add_to_graph(tf.get_default_graph())
        return defined.name

    for op in ("Case", "StatelessCase"):
        with tf.Graph().as_default(), tf.Session() as session:
            branches = [branch(f) for f in (2., 3., 5.)]
            index = tf.placeholder(tf.int32, [])
            got = getattr(raw_ops, op)(index, [tf.constant([1., 2.])], Tout=[tf.float32],
                                       branches=branches)
            for i, factor in ((0, 2), (1, 3), (2, 5), (-1, 5), (7, 5)):
                expect_close(session.run(got, {index: i})[0], [factor, 2 * factor])


def test_counted_loops():
    with tf.Graph().as_default(), tf.Session() as session:
        body = tf.headrace.Defun(tf.int32, tf.float32)(
            lambda i, x: x * 2. + tf.cast(i, tf.float32))
        body.add_to_graph(tf.get_default_graph())
        start = tf.placeholder(tf.int32, [])
        got = raw_ops.For(start, np.int32(7), np.int32(2), [np.float32(1)], body=body.name)
        # 1, 3 and 5; then 5 alone; then none.
        assert session.run(got, {start: 1}) == [((1 * 2 + 1) * 2 + 3) * 2 + 5]
        assert session.run(got, {start: 5}) == [7]
        assert session.run(got, {start: 7}) == [1]


def test_functions_are_called_elsewhere():
    with tf.Graph().as_default(), tf.Session() as session:
        square = tf.headrace.Defun(tf.float32)(lambda x: x * x + x)
        square.add_to_graph(tf.get_default_graph())
        x = tf.placeholder(tf.float32, [2])
        called = raw_ops.RemoteCall("/device:CPU:0", [x], Tout=[tf.float32], f=square.name)
        expect_close(session.run(called, {x: [3, 4]})[0], [12, 20])


def test_partitioned_calls():
    with tf.Graph().as_default(), tf.Session() as session:
        both = tf.headrace.Defun(tf.float32, tf.int32)(
            lambda x, n: (x * tf.cast(n, tf.float32), n + 1))
        both.add_to_graph(tf.get_default_graph())
        x, n = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [])
        called = raw_ops.PartitionedCall([x, n], Tout=[tf.float32, tf.int32], f=both.name)
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        for options in (None, traced):
            product, following = session.run(called, {x: [3, 4], n: 5}, options=options,
                                             run_metadata=tf.RunMetadata())
            expect_close(product, [15, 20])
            assert following == 6


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8,
                                   np.uint16, np.uint32, np.uint64])
def test_numbers_are_hashed_as_their_digits(dtype):
    x = np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max, 42], dtype)
    wanted = run_op("StringToHashBucketFast", x.astype(str).astype(object), num_buckets=1009)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, x.shape)
        node = tf.NodeDef(name="hashed", op="_TensorToHashBucketFast", input=["fed"])
        node.attr["T"].type = fed.dtype.as_datatype_enum
        node.attr["num_buckets"].i = 1009
        hashed, = tf.import_graph_def(tf.GraphDef(node=[node]), {"fed": fed}, ["hashed:0"])
        assert session.run(hashed, {fed: x}).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.float64, np.int8,
                                   np.int16, np.int32, np.int64])
def test_comparisons_are_packed_into_bits(dtype):
    x = np.random.RandomState(1).randint(-3, 4, [2, 3, 16])
    x = (x > 0) if dtype == np.bool_ else x.astype(dtype)
    threshold = dtype(False if dtype == np.bool_ else 1)
    wanted = np.packbits(x > threshold, axis=-1)
    got = run_op("CompareAndBitpack", x, threshold)
    assert got.dtype == np.uint8 and got.tolist() == wanted.tolist()


def distance(a, b):
    """Levenshtein's, of two lists."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def sparse_rows(rows, dtype):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return (np.int64(indices).reshape(-1, 2), np.array(sum(rows, []), dtype),
            np.int64([len(rows), 6]))


@pytest.mark.parametrize("dtype", TYPES + [np.uint32, np.uint64, np.bool_, np.complex64,
                                           np.complex128, np.object_])
@pytest.mark.parametrize("normalize", [False, True])
def test_edit_distances(dtype, normalize):
    hypothesis = [[1, 0, 1, 1, 0], [1, 1], [0, 1, 0], []]
    truth = [[1, 1, 0, 0], [1, 1], [1, 0, 1, 0, 1], [0]]
    if dtype == np.object_:
        hypothesis, truth = [[["no", "yes"][v] for v in row] for row in hypothesis], [
            [["no", "yes"][v] for v in row] for row in truth]
    wanted = [distance(a, b) / (len(b) if normalize else 1)
              for a, b in zip(hypothesis, truth)]
    got = run_op("EditDistance", *sparse_rows(hypothesis, dtype), *sparse_rows(truth, dtype),
                 normalize=normalize)
    expect_close(got, wanted)


def test_edit_distances_of_bfloat16():
    x, y = [np.float32(v) for v in ([1, .5, 2], [1, 2])]
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, v.shape) for v in (x, y)]
        a, b = (tf.cast(f, tf.bfloat16) for f in fed)
        got = raw_ops.EditDistance(np.int64([[0, 0], [0, 1], [0, 2]]), a, np.int64([1, 3]),
                                   np.int64([[0, 0], [0, 1]]), b, np.int64([1, 3]),
                                   normalize=False)
        assert session.run(got, dict(zip(fed, (x, y)))).tolist() == [1]


@pytest.mark.parametrize("padding, stride", [("SAME", 1), ("VALID", 2)])
def test_quantized_depthwise_convolutions_with_a_bias(padding, stride):
    """The sums are whole numbers: only the bias is rounded, to the result's unit."""
    random = np.random.RandomState(3)
    image = random.randint(0, 256, [2, 5, 6, 3]).astype(np.uint8)
    kernel = random.randint(-127, 128, [3, 3, 3, 2]).astype(np.int8)
    bias = random.uniform(-9, 9, [6]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        fed_image, fed_kernel = (tf.placeholder(v.dtype, v.shape) for v in (image, kernel))
        out = raw_ops.QuantizedDepthwiseConv2DWithBias(
            raw_ops.Bitcast(fed_image, type=tf.quint8),
            raw_ops.Bitcast(fed_kernel, type=tf.qint8), bias,
            np.float32(0), np.float32(5.1), np.float32(-2.54), np.float32(2.54),
            strides=[1, stride, stride, 1], padding=padding)
        got, low, high = session.run(
            [raw_ops.Bitcast(out.output, type=tf.int32), out.min_output, out.max_output],
            {fed_image: image, fed_kernel: kernel})
    unit = .02 * .02  # 5.1 / 255 and 2.54 / 127
    expect_close([low, high], [-unit * 2 ** 31, unit * 2 ** 31], 1e-5)
    wanted = run_op("DepthwiseConv2dNative", image.astype(np.float64),
                    kernel.astype(np.float64), strides=[1, stride, stride, 1],
                    padding=padding) + bias / unit
    assert got.dtype == np.int32
    expect_close(got, wanted, 0, 1)


@pytest.mark.parametrize("seeds, covered, boxes, wanted", [
    ((3, 5), .1, [[.1, .2, .7, .9]], [(5, 7, 27, 30), (11, 28, 23, 22), (10, 10, 28, 43)]),
    ((7, 1), .9, [[.1, .2, .7, .9], [0, 0, .3, .2]],
     [(0, 3, 40, 51), (3, 5, 31, 47), (0, 1, 40, 52)]),
    ((11, 4), .5, [], [(3, 13, 32, 40), (7, 0, 30, 59), (2, 2, 31, 48)])])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64])
def test_crops_of_a_seed_are_those_of_tensorflow(seeds, covered, boxes, wanted, dtype):
    """Recorded with TensorFlow 1.15.5; 2.21 gives the same."""
    with tf.Graph().as_default(), tf.Session() as session:
        crop = raw_ops.SampleDistortedBoundingBox(
            np.array([40, 60, 3], dtype),
            np.float32(boxes).reshape(1 if boxes else 0, len(boxes), 4),
            seed=seeds[0], seed2=seeds[1], min_object_covered=covered,
            aspect_ratio_range=[.5, 2.], area_range=[.1, .9], max_attempts=50,
            use_image_if_no_bounding_boxes=True)
        for top, left, height, width in wanted:
            begin, size, box = session.run(list(crop))
            assert begin.dtype == size.dtype == dtype
            assert begin.tolist() == [top, left, 0]
            assert size.tolist()[:2] == [height, width]
            expect_close(box, [[[top / 40, left / 60, (top + height) / 40,
                                 (left + width) / 60]]])


def test_arrays_of_gradients_have_longer_elements():
    with tf.Graph().as_default(), tf.Session() as session:
        handle, flow = raw_ops.TensorArrayV3(np.int32(2), dtype=tf.float32,
                                             element_shape=[3])
        with tf.control_dependencies([flow]):
            grad, grad_flow = raw_ops.TensorArrayGradWithShape(
                handle, flow, np.int32([2]), source="gradients")
        rows = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
        for _ in range(2):  # what is written to a gradient is added
            grad_flow = raw_ops.TensorArrayScatterV3(grad, np.int32([0, 1]), rows, grad_flow)
        got = raw_ops.TensorArrayGatherV3(grad, np.int32([1, 0]), grad_flow,
                                          dtype=tf.float32, element_shape=[2, 3])
        expect_close(session.run(got), 2 * rows[::-1])
        short = raw_ops.TensorArrayWriteV3(grad, np.int32(0), rows[0, 0], grad_flow)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2,3\]|\[3\]"):
            session.run(short)
