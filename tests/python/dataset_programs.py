"""Programs of dataset ops that the other tests without memory do not reach, as
kernel_programs.py has them for other kernels."""
import inspect

import headrace as tf
from kernel_programs import INT64, STRING, flat, long

raw = tf.raw_ops
ONE = {"output_types": [INT64], "output_shapes": [[]]}
ROWS = {"output_types": [INT64], "output_shapes": [[None]]}


def numbers(n=9):
    return raw.RangeDataset(start=long(0), stop=long(n), step=long(1), **ONE)


def elements(dataset, kind=None, times=2):
    kind = kind or ONE
    iterator = raw.IteratorV2(shared_name="it", container="", **kind)
    return [[raw.MakeIterator(dataset=dataset, iterator=iterator)]] + [
        flat(raw.IteratorGetNext(iterator=iterator, **kind))] * times


def of_numbers(op, kind=None, **arguments):
    """A program of a dataset made of another."""
    def build():
        for function in arguments.values():
            if hasattr(function, "add_to_graph"):
                function.add_to_graph(tf.get_default_graph())
        made = {k: v() if inspect.isfunction(v) else v
                for k, v in arguments.items()}
        return elements(getattr(raw, op)(
            input_dataset=numbers(), **made, **(kind or ONE)), kind)
    return build


@tf.headrace.Defun(INT64)
def twice(x):
    return x * 2


@tf.headrace.Defun(INT64)
def is_even(x):
    return tf.equal(x % 2, 0)


@tf.headrace.Defun(INT64)
def is_odd(x):
    return x % 2


@tf.headrace.Defun(INT64)
def is_small(x):
    return tf.less(x, 5)


@tf.headrace.Defun(INT64, tf.variant)
def rows(key, dataset):
    return raw.BatchDataset(input_dataset=dataset, batch_size=key + 2, **ROWS)


@tf.headrace.Defun(INT64)
def two(key):
    return key * 0 + 2


@tf.headrace.Defun(INT64, INT64)
def sum_and_number(state, x):
    return state + x, x


@tf.headrace.Defun(INT64)
def some(x):
    return raw.RangeDataset(start=x, stop=x + 3, step=tf.constant(1, INT64),
                            **ONE)


def number(value):
    return lambda: long(value)


SEEDS = {"seed": number(1), "seed2": number(2)}
CALLS = {"num_parallel_calls": number(2)}
WITHOUT = {"other_arguments": []}
CYCLE = {"cycle_length": number(2), "block_length": number(1)}


def generator(kind):
    return lambda: getattr(raw, kind)(seed=long(1), seed2=long(2),
                                      **({"reshuffle": True} if "Seed" in kind
                                         and "Random" not in kind else {}))[0]


PROGRAMS = {
    "BatchDataset": of_numbers("BatchDataset", ROWS, batch_size=number(2)),
    "ParallelBatchDataset": of_numbers(
        "ParallelBatchDataset", ROWS, batch_size=number(2),
        drop_remainder=False, **CALLS),
    "PaddedBatchDataset": lambda: elements(raw.PaddedBatchDataset(
        input_dataset=numbers(), batch_size=long(2), padded_shapes=[
            tf.constant([], INT64)], padding_values=[long(0)],
        output_shapes=[[None]]), ROWS),
    "CacheDatasetV2": of_numbers("CacheDatasetV2", filename="",
                                 cache=lambda: raw.DummyMemoryCache()),
    "AnonymousMemoryCache": of_numbers(
        "CacheDatasetV2", filename="",
        cache=lambda: raw.AnonymousMemoryCache()[0]),
    "FinalizeDataset": of_numbers("FinalizeDataset"),
    "ModelDataset": of_numbers("ModelDataset"),
    "NonSerializableDataset": of_numbers("NonSerializableDataset"),
    "ExperimentalNonSerializableDataset": of_numbers(
        "ExperimentalNonSerializableDataset"),
    "OptionsDataset": of_numbers("OptionsDataset", serialized_options=""),
    "OptimizeDataset": of_numbers("OptimizeDataset", optimizations=lambda:
                                  tf.constant([], STRING)),
    "OptimizeDatasetV2": of_numbers(
        "OptimizeDatasetV2",
        **{"optimizations_" + k: lambda: tf.constant([], STRING)
           for k in ("enabled", "disabled", "default")}),
    "ShuffleAndRepeatDatasetV2": of_numbers(
        "ShuffleAndRepeatDatasetV2", buffer_size=number(3), count=number(2),
        seed_generator=generator("AnonymousSeedGenerator"), **SEEDS),
    "ParallelFilterDataset": of_numbers(
        "ParallelFilterDataset", predicate=is_even, **WITHOUT, **CALLS),
    "ParallelMapDataset": of_numbers(
        "ParallelMapDataset", f=twice, num_parallel_calls=2, **WITHOUT),
    "ParallelInterleaveDatasetV3": of_numbers(
        "ParallelInterleaveDatasetV3", f=some, **WITHOUT, **CYCLE, **CALLS),
    "ParallelInterleaveDatasetV4": of_numbers(
        "ParallelInterleaveDatasetV4", f=some, **WITHOUT, **CYCLE, **CALLS,
        buffer_output_elements=number(2), prefetch_input_elements=number(1)),
    "LegacyParallelInterleaveDatasetV2": of_numbers(
        "LegacyParallelInterleaveDatasetV2", f=some, **WITHOUT, **CYCLE,
        buffer_output_elements=number(2), prefetch_input_elements=number(1)),
}
for prefix in ("", "Experimental"):
    PROGRAMS.update({prefix + op: of_numbers(prefix + op, **arguments)
                     for op, arguments in {
        "MaxIntraOpParallelismDataset": {
            "max_intra_op_parallelism": number(1)},
        "PrivateThreadPoolDataset": {"num_threads": number(1)},
        "IgnoreErrorsDataset": {},
        "MapDataset": {"f": twice, **WITHOUT},
        "TakeWhileDataset": {"predicate": is_small, **WITHOUT},
        "ParallelInterleaveDataset": {
            "f": some, **WITHOUT, **CYCLE, "sloppy": False,
            "buffer_output_elements": number(2),
            "prefetch_input_elements": number(1)},
    }.items()})
    PROGRAMS[prefix + "MapAndBatchDataset"] = of_numbers(
        prefix + "MapAndBatchDataset", ROWS, f=twice, **WITHOUT,
        batch_size=number(2), drop_remainder=False, **CALLS)
    PROGRAMS[prefix + "UnbatchDataset"] = lambda op=prefix + "UnbatchDataset": \
        elements(getattr(raw, op)(input_dataset=raw.BatchDataset(
            input_dataset=numbers(), batch_size=long(2), **ROWS), **ONE))
    PROGRAMS[prefix + "RandomDataset"] = lambda op=prefix + "RandomDataset": \
        elements(getattr(raw, op)(seed=long(1), seed2=long(2), **ONE))
    PROGRAMS[prefix + "DirectedInterleaveDataset"] = \
        lambda op=prefix + "DirectedInterleaveDataset": elements(
            getattr(raw, op)(
                selector_input_dataset=raw.RangeDataset(
                    start=long(0), stop=long(2), step=long(1), **ONE),
                data_input_datasets=[numbers(), numbers()], **ONE))
    PROGRAMS[prefix + "DatasetCardinality"] = \
        lambda op=prefix + "DatasetCardinality": [
            [getattr(raw, op)(input_dataset=numbers())]]
    PROGRAMS[prefix + "GroupByWindowDataset"] = of_numbers(
        prefix + "GroupByWindowDataset", ROWS, key_func=is_odd,
        reduce_func=rows, window_size_func=two, key_func_other_arguments=[],
        reduce_func_other_arguments=[], window_size_func_other_arguments=[])
    PROGRAMS[prefix + "ScanDataset"] = of_numbers(
        prefix + "ScanDataset", initial_state=lambda: [long(0)],
        f=sum_and_number, **WITHOUT)
PROGRAMS["ExperimentalSlidingWindowDataset"] = of_numbers(
    "ExperimentalSlidingWindowDataset", ROWS, window_size=number(2),
    window_shift=number(1), window_stride=number(1))


def parsed_examples(op, **more):
    example = tf.train.Example(features=tf.train.Features(feature={
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[7])),
        "b": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}))
    texts = raw.TensorSliceDataset(
        components=[tf.constant([[example.SerializeToString()]] * 3)],
        output_shapes=[[1]])
    kind = {"output_types": [INT64, tf.variant], "output_shapes": [[1], [3]]}
    parsed = getattr(raw, op)(
        input_dataset=texts, num_parallel_calls=long(2),
        dense_defaults=[long([0])], sparse_keys=["b"], dense_keys=["a"],
        sparse_types=[INT64], dense_shapes=[[]], **kind, **more)
    iterator = raw.IteratorV2(shared_name="it", container="", **kind)
    return [[raw.MakeIterator(dataset=parsed, iterator=iterator)],
            [raw.IteratorGetNext(iterator=iterator, **kind)[0]]]


for name in ("ExperimentalParseExampleDataset", "ParseExampleDatasetV2"):
    PROGRAMS[name] = lambda op=name: parsed_examples(op)


@tf.headrace.Defun()
def begin():
    return tf.constant(3, INT64)


@tf.headrace.Defun(INT64)
def following(state):
    return state + 1


def generator_dataset():
    for function in (begin, following):
        function.add_to_graph(tf.get_default_graph())
    return elements(raw.GeneratorDataset(
        init_func_other_args=[], next_func_other_args=[],
        finalize_func_other_args=[], init_func=begin, next_func=following,
        finalize_func=following, **ONE))


def iterators():
    old = raw.Iterator(shared_name="old", container="", **ONE)
    text = raw.IteratorToStringHandle(resource_handle=old)
    ready = [raw.MakeIterator(dataset=numbers(), iterator=old)]
    again = [getattr(raw, "IteratorFromStringHandle" + v)(
        string_handle=text, **ONE) for v in ("", "V2")]
    return [ready, flat([raw.IteratorGetNextSync(iterator=i, **ONE)
                         for i in again]),
            [raw.IteratorGetDevice(resource=old),
             raw.ExperimentalIteratorGetDevice(resource=old)]]


def anonymous_iterators():
    results = []
    for op in ("AnonymousIterator", "AnonymousIteratorV2",
               "AnonymousIteratorV3"):
        made = getattr(raw, op)(**ONE)
        iterator = made[0] if isinstance(made, tuple) else made
        with tf.control_dependencies([raw.MakeIterator(
                dataset=numbers(), iterator=iterator)]):
            results += flat(raw.IteratorGetNext(iterator=iterator, **ONE))
        if op.endswith("2"):
            with tf.control_dependencies(results[-1:]):
                results.append(raw.DeleteIterator(handle=made[0],
                                                  deleter=made[1]))
    return [results]


def deleted_state():
    cache, cache_deleter = raw.AnonymousMemoryCache()
    seed, seed_deleter = raw.AnonymousSeedGenerator(
        seed=long(1), seed2=long(2), reshuffle=True)
    random, random_deleter = raw.AnonymousRandomSeedGenerator(
        seed=long(1), seed2=long(2))
    return [[raw.DeleteMemoryCache(handle=cache, deleter=cache_deleter),
             raw.DeleteSeedGenerator(handle=seed, deleter=seed_deleter),
             raw.DeleteRandomSeedGenerator(handle=random,
                                           deleter=random_deleter)]]


PROGRAMS.update({f.__name__: f for f in (
    generator_dataset, iterators, anonymous_iterators, deleted_state)})


def record_files(folder):
    path = folder / "records"
    path.write_bytes(b"0123456789" * 3)
    text = {"output_types": [STRING], "output_shapes": [[]]}
    steps = elements(raw.FixedLengthRecordDataset(
        filenames=str(path), header_bytes=long(0), record_bytes=long(5),
        footer_bytes=long(0), buffer_size=long(0)), text)
    for op in ("MatchingFilesDataset", "ExperimentalMatchingFilesDataset"):
        found = getattr(raw, op)(patterns=str(folder / "rec*"))
        iterator = raw.IteratorV2(shared_name=op, container="", **text)
        steps += [[raw.MakeIterator(dataset=found, iterator=iterator)],
                  flat(raw.IteratorGetNext(iterator=iterator, **text))]
    made = raw.TensorSliceDataset(components=[tf.constant(["a", "b" * 50])],
                                  output_shapes=[[]])
    written = str(folder / "tfrecords")
    steps.append([raw.ExperimentalDatasetToTFRecord(
        input_dataset=made, filename=written, compression_type="")])
    records = raw.TFRecordDatasetV2(
        filenames=written, compression_type="", buffer_size=long(0),
        byte_offsets=long([0]))
    iterator = raw.IteratorV2(shared_name="records", container="", **text)
    steps += [[raw.MakeIterator(dataset=records, iterator=iterator)],
              flat(raw.IteratorGetNext(iterator=iterator, **text))]
    q = raw.FIFOQueue(component_types=[STRING], shared_name="q")
    r = raw.TFRecordReader(shared_name="r")
    return steps + [
        [raw.QueueEnqueue(handle=q, components=[tf.constant(written)])],
        flat(raw.ReaderRead(reader_handle=r, queue_handle=q))]


def csv_files(folder):
    path = folder / "t.csv"
    path.write_text("1,a\n2,b\n")
    kind = {"output_shapes": [[], []]}
    iterator_kind = {"output_types": [INT64, STRING], **kind}
    return elements(raw.ExperimentalCSVDataset(
        filenames=str(path), compression_type="", buffer_size=long(100),
        header=False, field_delim=",", use_quote_delim=True, na_value="",
        select_cols=tf.constant([], INT64),
        record_defaults=[tf.constant([], INT64), tf.constant([""])], **kind),
        iterator_kind)


def table_from_file(folder):
    path = folder / "words"
    path.write_text("a\nb\n")
    t = raw.HashTable(key_dtype=STRING, value_dtype=INT64, shared_name="t")
    return [[raw.InitializeTableFromTextFile(
        table_handle=t, filename=str(path), key_index=-2, value_index=-1)],
        [raw.LookupTableSize(table_handle=t)]]


FILE_PROGRAMS = {f.__name__: f for f in (record_files, csv_files,
                                         table_from_file)}
