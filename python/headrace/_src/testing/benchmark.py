"""tf.test.Benchmark: a program's own measurements."""
import inspect
import time

from headrace._loading import load
from headrace._src.framework.messages import RunMetadata, RunOptions
from headrace._src.framework.default_session import get_default_session
from headrace._src.platform import tf_logging as logging
from headrace._src.session.session import Session


CLASSES: set = set()  # that derive from Benchmark


class Benchmark:
    """A base of classes whose methods named benchmark... measure something and
    say so with report_benchmark."""

    @classmethod
    def is_abstract(cls):
        """Whether it is this class itself, which measures nothing."""
        return cls is Benchmark

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        CLASSES.add(cls)

    def evaluate(self, tensors):
        """Their values, by the default session or a new one."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with Session() as session:
            return session.run(tensors)

    def _get_name(self, overwrite_name=None):
        """ClassName.method_name of the benchmark that runs."""
        frame = inspect.currentframe()
        name = None
        while frame is not None:
            if (frame.f_locals.get("self") is self
                    and frame.f_code.co_name.startswith("benchmark")):
                name = frame.f_code.co_name
                break
            frame = frame.f_back
        if name is None:
            raise ValueError("Unable to determine calling Benchmark class.")
        return "%s.%s" % (type(self).__name__, overwrite_name or name)

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None,
                         throughput=None, extras=None, name=None,
                         metrics=None):
        """Logs what was measured. Times are in seconds, throughput in MB/s;
        `extras` is a dict of strings and numbers. Returns it as a dict."""
        for key, value in (extras or {}).items():
            if not isinstance(value, (str, int, float)):
                raise TypeError("%s: extras are strings or numbers, not %s"
                                % (key, type(value)))
        entry = {"name": self._get_name(name), "iters": iters,
                 "cpu_time": cpu_time, "wall_time": wall_time,
                 "throughput": throughput, "extras": extras,
                 "metrics": metrics}
        entry = {k: v for k, v in entry.items() if v is not None}
        logging.info("Benchmark %s", entry)
        return entry

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None,
                         burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None,
                         mbs=0):
        """Runs a node `burn_iters` times, and `min_iters` times with a clock.
        Reports and returns {"name", "iters", "wall_time" (the median),
        "throughput", "extras"}; with `mbs`, the megabytes that a run handles,
        the throughput in MB/s."""
        node = op_or_tensor if hasattr(op_or_tensor, "outputs") else (
            getattr(op_or_tensor, "op", op_or_tensor))
        for _ in range(burn_iters):
            sess.run(node, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(node, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        extras = dict(extras or {})
        if store_trace:
            metadata = RunMetadata()
            sess.run(node, feed_dict=feed_dict, run_metadata=metadata,
                     options=RunOptions(trace_level=RunOptions.FULL_TRACE))
            timeline = load("_src.compat.clients").Timeline
            extras["full_trace_chrome_format"] = timeline(
                metadata.step_stats).generate_chrome_trace_format()
        times.sort()
        middle = len(times) // 2
        median = (times[middle] if len(times) % 2
                  else (times[middle - 1] + times[middle]) / 2)
        extras["wall_time_mean"] = sum(times) / len(times)
        extras["wall_time_stdev"] = (sum(
            (t - extras["wall_time_mean"]) ** 2 for t in times)
            / len(times)) ** .5
        result = {"iters": min_iters, "wall_time": median, "extras": extras,
                  "throughput": mbs / median if median else 0.}
        return {**result, **self.report_benchmark(name=name, **result)}
