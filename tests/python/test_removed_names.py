"""Names that Python and NumPy removed, under headrace.compat."""
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import collections, fractions, inspect, time
    import numpy as np
    import tensorflow as tf
    assert np.int is int and np.float is float and np.object is object
    assert np.array([1], np.bool).dtype == bool and np.array("a", np.str)
    assert np.product([2, 3]) == 6 and np.asscalar(np.array([4])) == 4
    assert np.in1d([1, 2], [2]).tolist() == [False, True]
    assert isinstance({}, collections.Mapping)
    assert issubclass(list, collections.MutableSequence)
    assert inspect.getargspec(lambda a, b=2, *c: 0) == (
        ["a", "b"], "c", None, (2,))
    assert fractions.gcd(4, 6) == 2 and time.clock() >= 0
    print("done")
    """


def run(tmp_path, program, *options):
    (tmp_path / "p.py").write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, *options, str(tmp_path / "p.py")],
        capture_output=True, text=True)


def test_they_are_there(tmp_path):
    done = run(tmp_path, PROGRAM, "-W", "error", "-m", "headrace.compat")
    assert done.stdout == "done\n", done.stderr
    done = run(tmp_path, "import headrace.compat\n"
               "headrace.compat.install()\n" + textwrap.dedent(PROGRAM))
    assert done.stdout == "done\n", done.stderr


NONE = """
    import collections, numpy as np, sys
    print(hasattr(collections, "Mapping"), "int" in vars(np))
    """


@pytest.mark.parametrize("program, options", [
    (NONE, ["-m", "headrace.compat", "--no-removed-names"]),
    ("import headrace.compat\nheadrace.compat.install(removed_names=False)\n"
     + textwrap.dedent(NONE), []),
    ("import headrace\n" + textwrap.dedent(NONE), [])])
@pytest.mark.skipif(sys.version_info < (3, 10), reason="they are Python's")
def test_they_are_left_out(tmp_path, program, options):
    done = run(tmp_path, program, *options)
    assert done.stdout == "False False\n", done.stderr


def test_the_option_needs_a_program():
    done = subprocess.run([sys.executable, "-m", "headrace.compat",
                           "--no-removed-names"], capture_output=True, text=True)
    assert done.returncode == 2 and "usage" in done.stderr
