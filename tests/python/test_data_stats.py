"""Statistics of datasets: histograms and scalars, by name, in a Summary."""
import pytest

import headrace as tf
from headrace._src.data.stats import set_stats_aggregator

D = tf.data.Dataset
E = tf.data.experimental


def _told(session, summary):
    """{name: a scalar, or (number, sum, min, max) of a histogram}"""
    message = tf.Summary.FromString(session.run(summary))
    return {v.tag: (v.histo.num, v.histo.sum, v.histo.min, v.histo.max)
            if v.HasField("histo") else v.simple_value for v in message.value}


def _run(make, count, **options):
    aggregator = E.StatsAggregator()
    given = tf.data.Options()
    given.experimental_stats.aggregator = aggregator
    for name, value in options.items():
        setattr(given.experimental_stats, name, value)
    iterator = make().with_options(given).make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert _told(session, summary) == {}
        for _ in range(count):
            session.run(element)
        return _told(session, summary)


_CASES = [
    (lambda: D.range(9).map(lambda x: tf.fill([x], x)).apply(
        E.bytes_produced_stats("bytes")), 5, {"bytes": (5, 80, 0, 32)}),
    (lambda: D.range(9).filter(lambda x: x % 3 > 0), 4,
     {"FilterDataset/_2::filtered_elements": 4,
      "FilterDataset/_2::dropped_elements": 2}),
    (lambda: D.range(9).take(4), 2, {}),
]


@pytest.mark.parametrize("case", range(len(_CASES)))
def test_what_is_told(case):
    make, count, expected = _CASES[case]
    assert _run(make, count) == expected


def test_latency_and_prefixes():
    def make():
        return D.range(9).apply(E.latency_stats("a")).apply(
            E.latency_stats("b"))
    told = _run(make, 3, prefix="all")
    assert set(told) == {"all::a", "all::b"}
    assert [told[name][0] for name in sorted(told)] == [3, 3]
    aggregator = E.StatsAggregator()
    iterator = D.range(9).apply(E.latency_stats("inner")).apply(
        set_stats_aggregator(aggregator, "p")).apply(
            E.latency_stats("outer")).make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                session.run(element)
        told = _told(session, summary)
        assert set(told) == {"p::inner"} and told["p::inner"][0] == 9
        session.run(iterator.initializer)  # what was told stays
        session.run(element)
        assert _told(session, summary)["p::inner"][0] == 10


def test_buffers_and_threads():
    told = _run(lambda: D.range(9).map(lambda x: x, 2).prefetch(3), 5)
    assert told["PrefetchDataset/_3::buffer_capacity"] == 3
    assert 0 <= told["PrefetchDataset/_3::buffer_size"] <= 3
    count, _, low, high = told["PrefetchDataset/_3::buffer_utilization"]
    assert count == 5 and 0 <= low <= high <= 1
    assert 0 <= told["ParallelMapDataset/_2::thread_utilization"] <= 1


def test_without_an_aggregator_nothing_is_told():
    iterator = D.range(2).apply(E.latency_stats("a")).apply(
        E.bytes_produced_stats("b")).make_one_shot_iterator()
    with tf.Session() as session:
        assert session.run(iterator.get_next()) == 0


def test_what_is_refused():
    options = E.StatsOptions()
    assert options.prefix == "" and options.aggregator is None
    with pytest.raises(TypeError, match='Property "aggregator" must be of type'):
        options.aggregator = 3
    with pytest.raises(NotImplementedError, match="latency_all_edges"):
        _run(lambda: D.range(2), 0, latency_all_edges=True)
    options.aggregator = E.StatsAggregator()
    given = tf.data.Options()
    given.experimental_stats = options
    with pytest.raises(ValueError, match="experimental_stats.aggregator"):
        D.range(2).with_options(given).make_one_shot_iterator()
    with tf.Session() as session, pytest.raises(
            tf.errors.OpError, match="Trying to access resource"):
        table = tf.raw_ops.HashTableV2(key_dtype=tf.int64,
                                       value_dtype=tf.int64)
        session.run(tf.raw_ops.StatsAggregatorSummary(iterator=table))


def test_the_ops_by_their_older_names():
    shape = {"output_types": [tf.int64], "output_shapes": [[]]}
    raw = tf.raw_ops
    handle = raw.ExperimentalStatsAggregatorHandle()
    variant = D.range(9)._variant_tensor
    for op, tag in ((raw.ExperimentalLatencyStatsDataset, "time"),
                    (raw.ExperimentalBytesProducedStatsDataset, "bytes")):
        variant = op(input_dataset=variant, tag=tag, **shape)
    variant = raw.ExperimentalSetStatsAggregatorDataset(
        input_dataset=variant, stats_aggregator=handle, tag="",
        counter_prefix="", **shape)
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    begin = raw.MakeIterator(dataset=variant,
                             iterator=iterator._iterator_resource)
    element = iterator.get_next()
    summary = raw.ExperimentalStatsAggregatorSummary(iterator=handle)
    with tf.Session() as session:
        session.run(begin)
        assert [session.run(element) for _ in range(3)] == [0, 1, 2]
        told = _told(session, summary)
        assert told["bytes"] == (3, 24, 8, 8)
        assert told["time"][0] == 3
