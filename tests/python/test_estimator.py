"""tf.estimator: the names of the package tensorflow-estimator, found when they
are used; and that package on this library, where it is installed."""
import os
import subprocess
import sys

import pytest

from headrace import _packages

needs_package = pytest.mark.skipif(
    not _packages.is_installed(),
    reason="needs pip install tensorflow-estimator==1.15.2")

# A package in which the modules have names for their values.
FAKE = {
    "__init__.py": "",
    "python/__init__.py": "",
    "python/estimator/__init__.py": "",
    "python/estimator/estimator.py": "class Estimator: pass\n",
    "python/estimator/api/__init__.py": "",
    "python/estimator/api/_v1/__init__.py": "",
    "python/estimator/api/_v1/estimator/__init__.py":
        "import tensorflow as tf\n"
        "from tensorflow.python.framework import ops\n"
        "from tensorflow_estimator.python.estimator.estimator import Estimator\n"
        "assert tf.Session and ops.Graph is tf.Graph\n"
        "EstimatorSpec = 'a spec'\n",
    "python/estimator/api/_v1/estimator/inputs/__init__.py":
        "numpy_input_fn = 'a function'\n",
}


def run(program, path, **environment):
    """What a program prints, with `path` before the other packages."""
    done = subprocess.run(
        [sys.executable, "-c", program], text=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(
            [str(path), *sys.path]), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def package(tmp_path):
    for name, text in FAKE.items():
        file = tmp_path / "tensorflow_estimator" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def set_version(folder, version):
    info = folder / ("tensorflow_estimator-%s.dist-info" % version)
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tensorflow-estimator\nVersion: %s\n"
        % version)


WITHOUT = """if True:
    import importlib.util, sys
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: (
        None if name == "tensorflow_estimator" else find(name, *rest))
"""


@pytest.mark.parametrize("name", [
    "estimator.Estimator", "estimator.inputs.numpy_input_fn",
    "estimator.export.ServingInputReceiver", "contrib.tpu.TPUEstimator",
    "contrib.estimator.add_metrics", "estimator.tpu.RunConfig",
    "estimator.experimental.stop_if_lower_hook"])
def test_without_the_package_an_error_says_how_to_install_it(name, tmp_path):
    space, _, last = name.rpartition(".")
    out = run(WITHOUT + """
    import headrace as tf
    assert not hasattr(tf.%s, "%s")
    assert "%s" not in dir(tf.%s)
    try:
        tf.%s
    except AttributeError as error:
        print(error)
    tf.compat.install()
    try:
        from tensorflow.%s import %s
    except ImportError as error:
        print(error)
    """ % (space, last, last, space, name, space, last), tmp_path)
    text = ("tf.%s is in the package tensorflow-estimator, which is not "
            "installed: pip install tensorflow-estimator==1.15.2" % name)
    assert out.splitlines() == [text, text.replace("tf.", "tensorflow.", 1)]


def test_another_version_of_the_package(package):
    set_version(package, "2.1.0")
    out = run("""if True:
        import headrace as tf
        try:
            tf.estimator.Estimator
        except AttributeError as error:
            print(error)""", package)
    assert out == ("tf.estimator.Estimator is in the package "
                   "tensorflow-estimator, of which 2.1.0 is installed: pip "
                   "install tensorflow-estimator==1.15.2\n")


@pytest.mark.parametrize("version", [None, "1.15.2"])
def test_names_come_from_the_package_at_their_first_use(package, version):
    if version:
        set_version(package, version)
    run("""if True:
        import sys
        import headrace as tf
        estimator = tf.estimator
        tf.estimator.ModeKeys, tf.estimator.inputs
        assert "tensorflow_estimator" not in sys.modules
        assert "tensorflow" not in sys.modules
        assert {"Estimator", "EstimatorSpec", "ModeKeys"} <= set(dir(estimator))
        assert hasattr(tf.estimator.inputs, "numpy_input_fn")
        assert tf.estimator.EstimatorSpec == "a spec"
        import tensorflow
        assert tensorflow.Graph is tf.Graph
        assert tensorflow.estimator.Estimator is tf.estimator.Estimator
        from tensorflow.estimator import Estimator
        from tensorflow.python.estimator.estimator import Estimator as inner
        from tensorflow_estimator.python.estimator.estimator import (
            Estimator as own)
        assert Estimator is inner is own is estimator.Estimator
        from headrace.estimator.inputs import numpy_input_fn
        assert numpy_input_fn == "a function"
        """, package)


def test_no_second_tensorflow_for_the_package(package):
    (package / "tensorflow.py").write_text("Session = 'another'\n")
    out = run("""if True:
        import tensorflow
        import headrace as tf
        try:
            tf.estimator.Estimator
        except ImportError as error:
            print(error)""", package)
    assert "tensorflow was imported before from" in out
