"""The elements of datasets made by their ops, under all names that graphs have
for them."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from dataset_values import plain
from test_parsing import example

INT64 = dict(output_types=[tf.int64], output_shapes=[[]])
ANY = dict(output_types=[tf.int64], output_shapes=[None])


def numbers(*bounds):
    """A dataset of range(*bounds)."""
    start, stop, step = (list(bounds) if len(bounds) > 1 else [0, *bounds]) + (
        [1] if len(bounds) < 3 else [])
    return raw_ops.RangeDataset(np.int64(start), np.int64(stop), np.int64(step), **INT64)


def elements(dataset, types=(tf.int64,), most=100):
    """The elements of a dataset's variant: arrays or, of several, tuples."""
    attrs = dict(output_types=list(types), output_shapes=[None] * len(types))
    iterator = raw_ops.IteratorV2(shared_name="", container="", **attrs)
    start = raw_ops.MakeIterator(dataset, iterator)
    get_next, found = raw_ops.IteratorGetNext(iterator, **attrs), []
    with tf.Session() as session:
        session.run(start)
        while len(found) < most:
            try:
                element = [plain(v) for v in session.run(list(get_next))]
            except tf.errors.OutOfRangeError:
                break
            found.append(element[0] if len(element) == 1 else tuple(element))
    return found


def function(body, *types):
    """The name of a function of the default graph."""
    defined = tf.headrace.Defun(*(types or (tf.int64,)))(body)
    defined.add_to_graph(tf.get_default_graph())
    return defined.name


def both_names(op):
    """The op under its name, and the name that it had before."""
    return pytest.mark.parametrize("op", [getattr(raw_ops, op),
                                          getattr(raw_ops, "Experimental" + op)],
                                   ids=[op, "Experimental" + op])


SIMPLE = {
    "BatchDataset": (([4],), {}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
    "BatchDatasetV2": (([4], True), {}, [[0, 1, 2, 3], [4, 5, 6, 7]]),
    "ParallelBatchDataset": (([4], [2], False), {}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
    "CacheDataset": (("",), {}, list(range(10))),
    "SkipDataset": (([7],), {}, [7, 8, 9]),
    "TakeDataset": (([3],), {}, [0, 1, 2]),
    "RepeatDataset": (([2],), {}, list(range(10)) * 2),
    "ShardDataset": (([3], [1]), {}, [1, 4, 7]),
    "PrefetchDataset": (([2],), {}, list(range(10))),
    "ModelDataset": ((), {}, list(range(10))),
    "OptimizeDataset": ((np.array([], object),), {}, list(range(10))),
    "OptimizeDatasetV2": ((np.array([], object),) * 3, {}, list(range(10))),
    "OptionsDataset": ((), {"serialized_options": b""}, list(range(10))),
    "FinalizeDataset": ((), {}, list(range(10))),
}


@pytest.mark.parametrize("op", SIMPLE)
def test_datasets_of_one_other(op):
    args, attrs, wanted = SIMPLE[op]
    args = [np.int64(a[0]) if isinstance(a, list) else a for a in args]
    made = getattr(raw_ops, op)(numbers(10), *args, **attrs, **ANY)
    assert elements(made) == wanted


def test_cached_elements_are_computed_once():
    cache = raw_ops.AnonymousMemoryCache()
    made = raw_ops.CacheDatasetV2(numbers(4), "", cache.handle, **INT64)
    twice = raw_ops.RepeatDataset(made, np.int64(2), **INT64)
    assert elements(twice) == [0, 1, 2, 3] * 2
    with tf.Session() as session:
        session.run(raw_ops.DeleteMemoryCache(cache.handle, cache.deleter))
    dummy = raw_ops.CacheDatasetV2(numbers(4), "", raw_ops.DummyMemoryCache(), **INT64)
    assert elements(dummy) == [0, 1, 2, 3]


WRAPPERS = {
    "IgnoreErrorsDataset": (), "MaxIntraOpParallelismDataset": (np.int64(1),),
    "NonSerializableDataset": (), "PrivateThreadPoolDataset": (np.int64(2),),
    "SleepDataset": (np.int64(1),),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("prefix", ["", "Experimental"])
def test_datasets_that_pass_elements_on(prefix, name):
    made = getattr(raw_ops, prefix + name)(numbers(5), *WRAPPERS[name], **INT64)
    assert elements(made) == [0, 1, 2, 3, 4]


@both_names("IgnoreErrorsDataset")
def test_elements_with_errors_are_left_out(op):
    checked = function(lambda x: tf.cast(tf.check_numerics(
        1 / tf.cast(x - 2, tf.float32), "infinite"), tf.int64) * 0 + x)
    mapped = raw_ops.MapDataset(numbers(5), [], f=checked, **INT64)
    assert elements(op(mapped, **INT64)) == [0, 1, 3, 4]


@both_names("UnbatchDataset")
def test_rows_become_elements(op):
    batched = raw_ops.BatchDataset(numbers(5), np.int64(2), output_types=[tf.int64],
                                   output_shapes=[[None]])
    assert elements(op(batched, **INT64)) == [0, 1, 2, 3, 4]


@both_names("UniqueDataset")
def test_elements_come_once(op):
    x = raw_ops.TensorSliceDataset([np.int64([3, 1, 3, 2, 1])], output_shapes=[[]])
    assert elements(op(x, **INT64)) == [3, 1, 2]


@both_names("SlidingWindowDataset")
def test_windows_slide(op):
    made = op(numbers(6), np.int64(3), np.int64(2), np.int64(1), output_types=[tf.int64],
              output_shapes=[[None]])
    assert elements(made) == [[0, 1, 2], [2, 3, 4]]


def test_components_and_pairs_and_sequences():
    x, y = np.int64([[1, 2], [3, 4]]), np.float32([.5, .25])
    pair = (tf.int64, tf.float32)
    assert elements(raw_ops.TensorDataset([x, y], output_shapes=[[2, 2], [2]]), pair) == [
        (x.tolist(), y.tolist())]
    assert elements(raw_ops.TensorSliceDataset([x, y], output_shapes=[[2], []]), pair) == [
        ([1, 2], .5), ([3, 4], .25)]
    zipped = raw_ops.ZipDataset([numbers(3), numbers(5, 9)], output_types=[tf.int64] * 2,
                                output_shapes=[[], []])
    assert elements(zipped, (tf.int64, tf.int64)) == [(0, 5), (1, 6), (2, 7)]
    assert elements(raw_ops.ConcatenateDataset(numbers(2), numbers(7, 9), **INT64)) == [
        0, 1, 7, 8]
    assert elements(numbers(9, 0, -4)) == [9, 5, 1]


def test_rows_of_a_sparse_tensor():
    made = raw_ops.SparseTensorSliceDataset(
        np.int64([[0, 1], [0, 2], [2, 0]]), np.float32([1, 2, 3]), np.int64([3, 4]))
    got = elements(made, (tf.int64, tf.float32, tf.int64))
    assert got == [([[1], [2]], [1, 2], [4]), ([], [], [4]), ([[0]], [3], [4])]


@pytest.mark.parametrize("version", ["", "V2"])
def test_batches_are_padded(version):
    rows = function(lambda n: tf.fill([n], n))
    mapped = raw_ops.MapDataset(numbers(1, 4), [], f=rows, **ANY)
    more = [np.array(False)] if version else []
    made = getattr(raw_ops, "PaddedBatchDataset" + version)(
        mapped, np.int64(2), [np.int64([-1])], [np.int64(9)], *more,
        output_shapes=[[None, None]])
    assert elements(made) == [[[1, 9], [2, 2]], [[3, 3, 3]]]


MAPS = {"MapDataset": (), "ExperimentalMapDataset": (),
        "ParallelMapDataset": (np.int32(2),), "ParallelMapDatasetV2": (np.int64(2),)}


@pytest.mark.parametrize("op", MAPS)
def test_elements_are_mapped(op):
    f = function(lambda x, y: x * x + y, tf.int64, tf.int64)
    made = getattr(raw_ops, op)(numbers(5), [np.int64(10)], *MAPS[op], f=f, **INT64)
    assert elements(made) == [10, 11, 14, 19, 26]


@both_names("MapAndBatchDataset")
def test_elements_are_mapped_and_batched(op):
    f = function(lambda x: x * x)
    made = op(numbers(5), [], np.int64(2), np.int64(2), np.array(False), f=f,
              output_types=[tf.int64], output_shapes=[[None]])
    assert elements(made) == [[0, 1], [4, 9], [16]]


def test_elements_are_filtered():
    odd = function(lambda x: tf.equal(x % 2, 1))
    assert elements(raw_ops.FilterDataset(numbers(6), [], predicate=odd, **INT64)) == [
        1, 3, 5]
    made = raw_ops.ParallelFilterDataset(numbers(6), [], np.int64(2), predicate=odd,
                                         **INT64)
    assert elements(made) == [1, 3, 5]


@both_names("TakeWhileDataset")
def test_elements_are_taken_while_they_are_small(op):
    small = function(lambda x: x < 3)
    assert elements(op(numbers(9), [], predicate=small, **INT64)) == [0, 1, 2]


@both_names("ScanDataset")
def test_elements_are_scanned(op):
    f = function(lambda total, x: [total + x, total * 10], tf.int64, tf.int64)
    assert elements(op(numbers(5), [np.int64(1)], [], f=f, **INT64)) == [
        10, 10, 20, 40, 70]


def test_datasets_are_reduced():
    f = function(lambda total, x: total * 2 + x, tf.int64, tf.int64)
    reduced = raw_ops.ReduceDataset(numbers(4), [np.int64(1)], [], f=f, **INT64)
    with tf.Session() as session:
        assert session.run(reduced) == [((1 * 2 + 0) * 2 + 1) * 4 + 2 * 2 + 3]


INTERLEAVES = {
    "InterleaveDataset": (), "ParallelInterleaveDatasetV2": (2,),
    "ParallelInterleaveDatasetV3": (2,), "ParallelInterleaveDatasetV4": (1, 1, 2),
    "LegacyParallelInterleaveDatasetV2": (1, 1),
    "ParallelInterleaveDataset": (False, 1, 1),
    "ExperimentalParallelInterleaveDataset": (False, 1, 1),
}


@pytest.mark.parametrize("op", INTERLEAVES)
def test_datasets_of_elements_are_interleaved(op):
    f = function(lambda x: raw_ops.RangeDataset(x * 10, x * 10 + 3, np.int64(1), **INT64))
    more = [np.array(a) if isinstance(a, bool) else np.int64(a) for a in INTERLEAVES[op]]
    made = getattr(raw_ops, op)(numbers(1, 4), [], np.int64(2), np.int64(2), *more, f=f,
                                **INT64)
    assert elements(made) == [10, 11, 20, 21, 12, 22, 30, 31, 32]


def test_datasets_of_elements_follow_one_another():
    f = function(lambda x: raw_ops.RangeDataset(np.int64(0), x, np.int64(1), **INT64))
    assert elements(raw_ops.FlatMapDataset(numbers(4), [], f=f, **INT64)) == [
        0, 0, 1, 0, 1, 2]


@both_names("GroupByWindowDataset")
def test_elements_are_grouped(op):
    made = op(numbers(7), [], [], [], key_func=function(lambda x: x % 2),
              reduce_func=function(lambda key, window: raw_ops.BatchDataset(
                  window, np.int64(9), **ANY), tf.int64, tf.variant),
              window_size_func=function(lambda key: np.int64(2) + key * 0),
              **ANY)
    assert elements(made) == [[0, 2], [1, 3], [4, 6], [5]]


def test_windows_are_datasets():
    windows = raw_ops.WindowDataset(numbers(5), np.int64(2), np.int64(2), np.int64(1),
                                    np.array(False), output_types=[tf.variant],
                                    output_shapes=[[]])
    f = function(lambda w: raw_ops.BatchDataset(w, np.int64(5), **ANY), tf.variant)
    made = raw_ops.FlatMapDataset(windows, [], f=f, **ANY)
    assert elements(made) == [[0, 1], [2, 3], [4]]


@both_names("DirectedInterleaveDataset")
def test_a_dataset_of_indices_chooses(op):
    choice = raw_ops.TensorSliceDataset([np.int64([1, 0, 1, 1])], output_shapes=[[]])
    assert elements(op(choice, [numbers(5), numbers(50, 60)], **INT64)) == [50, 0, 51, 52]


def test_generators_begin_go_on_and_end():
    made = raw_ops.GeneratorDataset(
        [np.int64(0)], [np.int64(7)], [np.int64(0)], init_func=function(lambda x: x + 3),
        next_func=function(lambda state, more: state + more, tf.int64, tf.int64),
        finalize_func=function(lambda state, more: state, tf.int64, tf.int64), **INT64)
    assert elements(raw_ops.TakeDataset(made, np.int64(3), **INT64)) == [10, 10, 10]


SHUFFLES = {
    "ShuffleDataset": lambda d: raw_ops.ShuffleDataset(
        d, np.int64(20), np.int64(1), np.int64(2), **INT64),
    "ShuffleDatasetV2": lambda d: raw_ops.ShuffleDatasetV2(
        d, np.int64(20), raw_ops.DummySeedGenerator(), **INT64),
    "ShuffleDatasetV3": lambda d: raw_ops.ShuffleDatasetV3(
        d, np.int64(20), np.int64(1), np.int64(2), raw_ops.DummySeedGenerator(), **INT64),
    "ShuffleAndRepeatDataset": lambda d: raw_ops.ShuffleAndRepeatDataset(
        d, np.int64(20), np.int64(1), np.int64(2), np.int64(1), **INT64),
    "ShuffleAndRepeatDatasetV2": lambda d: raw_ops.ShuffleAndRepeatDatasetV2(
        d, np.int64(20), np.int64(1), np.int64(2), np.int64(1),
        raw_ops.DummySeedGenerator(), **INT64),
}


@pytest.mark.parametrize("op", SHUFFLES)
def test_shuffled_elements_are_a_permutation(op):
    got = elements(SHUFFLES[op](numbers(20)))
    assert sorted(got) == list(range(20)) and got != sorted(got)


def test_sizes_and_single_elements():
    dataset = numbers(7)
    single = raw_ops.TakeDataset(dataset, np.int64(1), **INT64)
    with tf.Session() as session:
        for op in (raw_ops.DatasetCardinality, raw_ops.ExperimentalDatasetCardinality):
            assert session.run(op(dataset)) == 7
        repeated = raw_ops.RepeatDataset(dataset, np.int64(-1), **INT64)
        assert session.run(raw_ops.DatasetCardinality(repeated)) == -1
        assert session.run(raw_ops.DatasetToSingleElement(single, **INT64)) == [0]
        third = raw_ops.GetElementAtIndex(dataset, np.int64(2), **INT64)
        assert session.run(third) == [2]


@pytest.mark.parametrize("prefix", ["", "Experimental"])
def test_files_of_records(tmp_path, prefix):
    words = np.array([b"a", b"", b"word"], object)
    dataset = raw_ops.TensorSliceDataset([words], output_shapes=[[]])
    file = str(tmp_path / "records")
    write = getattr(raw_ops, prefix + "DatasetToTFRecord")(dataset, file, "")
    with tf.Session() as session:
        session.run(write)
    read = lambda op, *more: elements(op([file], "", np.int64(100), *more), (tf.string,))
    assert read(raw_ops.TFRecordDataset) == words.tolist()
    # From the second on: the first takes 16 bytes beside its own.
    assert read(raw_ops.TFRecordDatasetV2, np.int64([17])) == words.tolist()[1:]
    found = getattr(raw_ops, prefix + "MatchingFilesDataset")([str(tmp_path / "rec*")])
    assert elements(found, (tf.string,)) == [file.encode()]


def test_files_of_lines_and_of_fixed_lengths(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"HHabcdefF")
    empty = np.array("")
    args = [[str(file)], np.int64(2), np.int64(3), np.int64(1), np.int64(0)]
    wanted = [b"abc", b"def"]
    assert elements(raw_ops.FixedLengthRecordDataset(*args), (tf.string,)) == wanted
    made = raw_ops.FixedLengthRecordDatasetV2(*args, empty)
    assert elements(made, (tf.string,)) == wanted
    file.write_bytes(b"one\r\ntwo\n\nlast")
    made = raw_ops.TextLineDataset([str(file)], empty, np.int64(0))
    assert elements(made, (tf.string,)) == [b"one", b"two", b"", b"last"]


CSV_TYPES = (tf.int64, tf.float32, tf.string)


@pytest.mark.parametrize("op", ["CSVDataset", "ExperimentalCSVDataset", "CSVDatasetV2"])
def test_lines_of_comma_separated_values(tmp_path, op):
    file = tmp_path / "table.csv"
    file.write_text('a,b,c\n1,.5,"x, y"\n,2,NA\n')
    more = [np.int64([])] if op.endswith("V2") else []
    made = getattr(raw_ops, op)(
        [str(file)], np.array(""), np.int64(100), np.array(True), np.array(","),
        np.array(True), np.array("NA"), np.int64([]),
        [np.int64([7]), np.float32([]), np.array([b"none"], object)], *more,
        output_shapes=[[], [], []])
    assert elements(made, CSV_TYPES) == [(1, .5, b"x, y"), (7, 2, b"none")]


ITERATORS = {
    "Iterator": lambda: raw_ops.Iterator(shared_name="i", container="", **INT64),
    "IteratorV2": lambda: raw_ops.IteratorV2(shared_name="i", container="", **INT64),
    "AnonymousIterator": lambda: raw_ops.AnonymousIterator(**INT64),
    "AnonymousIteratorV2": lambda: raw_ops.AnonymousIteratorV2(**INT64).handle,
    "AnonymousIteratorV3": lambda: raw_ops.AnonymousIteratorV3(**INT64),
}


@pytest.mark.parametrize("kind", ITERATORS)
def test_iterators_give_elements_and_their_end(kind):
    handle = ITERATORS[kind]()
    with tf.control_dependencies([raw_ops.MakeIterator(numbers(2), handle)]):
        # In one step, as an anonymous iterator lives no longer.
        first = raw_ops.IteratorGetNext(handle, **INT64)[0]
    with tf.control_dependencies([first]):
        second = raw_ops.IteratorGetNextSync(handle, **INT64)[0]
    with tf.control_dependencies([second]):
        optional = raw_ops.IteratorGetNextAsOptional(handle, **INT64)
    has = raw_ops.OptionalHasValue(optional)
    with tf.Session() as session:
        assert session.run([first, second, has]) == [0, 1, False]


def test_iterators_have_string_handles():
    iterator = raw_ops.IteratorV2(shared_name="i", container="", **INT64)
    text = raw_ops.IteratorToStringHandle(iterator)
    same = [raw_ops.IteratorFromStringHandle(text, **INT64),
            raw_ops.IteratorFromStringHandleV2(text, **INT64)]
    with tf.Session() as session:
        session.run(raw_ops.MakeIterator(numbers(5, 9), iterator))
        for i, handle in enumerate(same):
            assert session.run(raw_ops.IteratorGetNext(handle, **INT64)) == [5 + i]
        for op in (raw_ops.IteratorGetDevice, raw_ops.ExperimentalIteratorGetDevice):
            assert session.run(op(iterator)).endswith(b"CPU:0")


def test_optionals_hold_values_or_none():
    full = raw_ops.OptionalFromValue([np.int64(3), np.float32([1, 2])])
    types = dict(output_types=[tf.int64, tf.float32], output_shapes=[[], [2]])
    with tf.Session() as session:
        three, pair = session.run(raw_ops.OptionalGetValue(full, **types))
        assert three == 3 and pair.tolist() == [1, 2]
        assert session.run(raw_ops.OptionalHasValue(full))
        assert not session.run(raw_ops.OptionalHasValue(raw_ops.OptionalNone()))


def test_one_shot_iterators_make_their_dataset():
    made = tf.headrace.Defun()(lambda: numbers(3))
    made.add_to_graph(tf.get_default_graph())
    iterator = raw_ops.OneShotIterator(dataset_factory=made.name, **INT64)
    get_next = raw_ops.IteratorGetNext(iterator, **INT64)
    with tf.Session() as session:
        assert [session.run(get_next)[0] for _ in range(3)] == [0, 1, 2]


def test_tables_take_datasets():
    pairs = raw_ops.ZipDataset([numbers(3), numbers(10, 13)], output_types=[tf.int64] * 2,
                               output_shapes=[[], []])
    table = raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)
    found = raw_ops.LookupTableFindV2(table, np.int64([2, 5]), np.int64(-1))
    with tf.Session() as session:
        session.run(raw_ops.InitializeTableFromDataset(table, pairs))
        assert session.run(found).tolist() == [12, -1]


@pytest.mark.parametrize("name", ["RandomDataset", "ExperimentalRandomDataset",
                                  "RandomDatasetV2"])
def test_random_numbers_depend_on_the_seeds_alone(name):
    more = [raw_ops.DummySeedGenerator()] if name.endswith("V2") else []

    def draw(a, b):
        made = getattr(raw_ops, name)(np.int64(a), np.int64(b), *more, **INT64)
        return elements(raw_ops.TakeDataset(made, np.int64(200), **INT64), most=200)

    first = draw(1, 2)
    assert first == draw(1, 2) != draw(2, 1)
    assert 0 <= min(first) and 2 ** 31 < max(first) < 2 ** 32
    assert abs(np.mean(first) / 2 ** 31 - 1) < .15


@pytest.mark.parametrize("op, attrs", [
    ("ParseExampleDataset", {"sloppy": False}),
    ("ParseExampleDatasetV2", {"deterministic": "true"}),
    ("ExperimentalParseExampleDataset", {"sloppy": False})])
def test_batches_of_examples_are_parsed(op, attrs):
    texts = [example(a=[7, 8], b=[1., 2.5]), example(b=[.5]),
             example(a=[3, 4], c=[b"x"]), example(c=[b"yz"])]
    batches = raw_ops.TensorSliceDataset([np.array(texts, object).reshape(2, 2)],
                                         output_shapes=[[2]])
    # In the order of their names: a is dense, b sparse, c dense.
    kinds = dict(output_types=[tf.int64, tf.variant, tf.string],
                 output_shapes=[[2, 2], [3], [2]])
    parsed = getattr(raw_ops, op)(
        batches, np.int64(2), [np.int64([-1, -2]), np.array(b"none", object)],
        sparse_keys=["b"], dense_keys=["a", "c"], sparse_types=[tf.float32],
        dense_shapes=[[2], []], **attrs, **kinds)
    iterator = raw_ops.IteratorV2(shared_name="", container="", **kinds)
    start = raw_ops.MakeIterator(parsed, iterator)
    a, b, c = raw_ops.IteratorGetNext(iterator, **kinds)
    fetches = [a, c, *raw_ops.DeserializeSparse(b, dtype=tf.float32)]
    with tf.Session() as session:
        session.run(start)
        got = [[v.tolist() for v in session.run(fetches)] for _ in range(2)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(fetches)
    assert got == [
        [[[7, 8], [-1, -2]], [b"none", b"none"], [[0, 0], [0, 1], [1, 0]], [1, 2.5, .5], [2, 2]],
        [[[3, 4], [-1, -2]], [b"x", b"yz"], [], [], [2, 0]]]
