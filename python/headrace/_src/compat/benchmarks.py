"""tensorflow.python.platform.benchmark: the classes of benchmarks of a program,
and running them."""
import re
import sys

from headrace._src.framework.messages import ConfigProto
from headrace._src.testing.benchmark import CLASSES

GLOBAL_BENCHMARK_REGISTRY = CLASSES
TEST_REPORTER_TEST_ENV = "TEST_REPORT_FILE_PREFIX"


def benchmark_config():
    """A ConfigProto for benchmarks: with few rewrites of the graph."""
    config = ConfigProto()
    options = config.graph_options.rewrite_options
    options.dependency_optimization = type(options).OFF
    return config


def run_benchmarks(regex):
    """Runs the methods benchmark... of all classes of benchmarks, if
    "module.Class.method" has a match for `regex`, or all for "all"."""
    for cls in list(CLASSES):
        instance = None
        for name in dir(cls):
            full = "%s.%s.%s" % (cls.__module__, cls.__name__, name)
            if name.startswith("benchmark") and callable(
                    getattr(cls, name)) and (
                        regex == "all" or re.search(regex, full)):
                instance = instance or cls()
                getattr(instance, name)()


def benchmarks_main(true_main, argv=None):
    """Runs the benchmarks that `--benchmarks=regex` asks for, or else
    true_main."""
    argv = sys.argv if argv is None else argv
    asked = [a for a in argv if a.startswith("--benchmarks=")]
    if not asked:
        return true_main()
    run_benchmarks(asked[0].partition("=")[2])
    return None
