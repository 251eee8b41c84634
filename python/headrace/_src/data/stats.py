"""Statistics of datasets: aggregators, what adds to them, and the options that
give a dataset one."""
from headrace import raw_ops as _raw
from headrace._src.data.options import _Known
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.tensor import convert_to_tensor


class StatsAggregator:
    """Collects what datasets tell while they are iterated, by names: histograms
    and scalars. The option experimental_stats.aggregator of tf.data.Options
    gives a dataset its aggregator; it needs an initializable iterator.

    Told are what latency_stats and bytes_produced_stats say; of prefetch how
    full its buffer is (`buffer_utilization`, `buffer_capacity`,
    `buffer_size`); of filter how many elements it kept and dropped
    (`filtered_elements`, `dropped_elements`); of parallel maps the share of the
    calls that run (`thread_utilization`)."""

    def __init__(self):
        self._resource = _raw.StatsAggregatorHandle()

    def get_summary(self):
        """A scalar string, when it is run: a serialized tf.Summary of what was
        told so far."""
        return _raw.StatsAggregatorSummary(self._resource)


class StatsOptions(_Known):
    """What tf.data.Options say about statistics: `aggregator`, a StatsAggregator;
    `prefix`, which comes before the names of a dataset's statistics
    ("prefix::name"); `counter_prefix`, for counters, of which there are none
    here; `latency_all_edges`, which is not supported: latency_stats tells of
    the datasets that it is put behind."""
    _TYPES = {"aggregator": StatsAggregator, "prefix": str,
              "counter_prefix": str, "latency_all_edges": bool}
    _DEFAULTS = {"prefix": "", "counter_prefix": ""}


def _text(value):
    return convert_to_tensor(value, dtype=_dtypes.string)


def bytes_produced_stats(tag):
    """Tells the aggregator how many bytes each element has, in the histogram
    `tag`, a string. Returns a function for Dataset.apply."""
    return lambda d: d._unary(_raw.BytesProducedStatsDataset, tag=_text(tag))


def latency_stats(tag):
    """Tells the aggregator how long each element took, in microseconds, in the
    histogram `tag`, a string. Returns a function for Dataset.apply."""
    return lambda d: d._unary(_raw.LatencyStatsDataset, tag=_text(tag))


def set_stats_aggregator(stats_aggregator, prefix="", counter_prefix=""):
    """Gives the datasets below an aggregator, as the option does. Returns a
    function for Dataset.apply."""
    return lambda d: d._unary(
        _raw.SetStatsAggregatorDataset,
        stats_aggregator=stats_aggregator._resource, tag=_text(prefix),
        counter_prefix=_text(counter_prefix))
