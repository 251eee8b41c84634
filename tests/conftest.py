"""Where kernels are counted (./run test), each file of tests has counts of its own."""
import os
import pathlib

import pytest

COUNTS = os.environ.get("HEADRACE_COUNT_KERNELS")
HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(autouse=True, scope="module")
def counts_of_this_file(request):
    if not COUNTS:
        return
    from headrace import _headrace
    name = request.path.relative_to(HERE).with_suffix("").as_posix()
    file = os.path.join(os.path.dirname(COUNTS), name.replace("/", "-") + ".tsv")
    # For the processes that the tests start; a count below is for this one.
    os.environ["HEADRACE_COUNT_KERNELS"] = file
    _headrace.count_kernels_in(file)
