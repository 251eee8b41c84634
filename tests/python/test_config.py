"""tf.version and tf.config."""
import subprocess
import sys
import textwrap

import pytest

import headrace as tf
from headrace._src.session import config as _module
from headrace._src.session import session as _sessions

config = tf.config
experimental = tf.config.experimental


@pytest.fixture(autouse=True)
def as_before():
    yield
    _module._settings = _module._Settings()
    _sessions.set_default_config(None)


def test_version():
    assert tf.version.VERSION == tf.VERSION == tf.__version__
    assert (tf.version.GRAPH_DEF_VERSION, tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER,
            tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER) == (134, 0, 0)
    assert tf.version.GIT_VERSION == tf.GIT_VERSION
    assert tf.GIT_VERSION.startswith("headrace-")
    assert tf.version.COMPILER_VERSION == tf.COMPILER_VERSION != ""


def test_what_a_session_takes_before_any_change():
    assert tf.Session()._config is None
    assert config.threading.get_inter_op_parallelism_threads() == 0
    assert config.threading.get_intra_op_parallelism_threads() == 0
    assert config.get_soft_device_placement() is False
    assert config.optimizer.get_jit() is False
    assert config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False}
    assert experimental.get_synchronous_execution() is True
    assert experimental.get_device_policy() == "silent"


def test_sessions_without_a_config_take_what_is_set():
    config.threading.set_inter_op_parallelism_threads(3)
    config.threading.set_intra_op_parallelism_threads(2)
    config.set_soft_device_placement(True)
    config.optimizer.set_jit(True)
    config.optimizer.set_experimental_options(
        {"constant_folding": False, "remapping": True, "min_graph_nodes": 7})
    with tf.Session() as session:
        taken = session._config
        assert session.run(tf.constant(2) + 1) == 3
    assert (taken.inter_op_parallelism_threads,
            taken.intra_op_parallelism_threads, taken.allow_soft_placement) == (
                3, 2, True)
    assert taken.graph_options.optimizer_options.global_jit_level == 1
    rewrite = taken.graph_options.rewrite_options
    assert (rewrite.constant_folding, rewrite.remapping,
            rewrite.min_graph_nodes) == (2, 1, 7)
    assert config.threading.get_inter_op_parallelism_threads() == 3
    assert config.threading.get_intra_op_parallelism_threads() == 2
    assert config.get_soft_device_placement() and config.optimizer.get_jit()
    assert config.optimizer.get_experimental_options()["remapping"] is True
    own = tf.ConfigProto(inter_op_parallelism_threads=1)
    assert tf.Session(config=own)._config is own


def test_devices():
    cpu = experimental.list_physical_devices("CPU")
    assert cpu == [("/physical_device:CPU:0", "CPU")]
    assert experimental.get_visible_devices("CPU") == cpu
    experimental.set_visible_devices([], "GPU")
    assert experimental.get_visible_devices() == cpu
    assert tf.Session().run(tf.constant(1)) == 1
    device = experimental.VirtualDeviceConfiguration
    experimental.set_virtual_device_configuration(cpu[0], [device(), device()])
    assert experimental.get_virtual_device_configuration(cpu[0]) == [
        device(memory_limit=None)] * 2
    logical = experimental.list_logical_devices("CPU")
    assert [d.name for d in logical] == [
        "/job:localhost/replica:0/task:0/device:CPU:%d" % i for i in (0, 1)]
    assert config.experimental_list_devices() == [d.name for d in logical]
    with tf.device("/cpu:1"):
        x = tf.constant(3)
    assert tf.Session().run(x) == 3
    experimental.set_visible_devices([], "CPU")
    with pytest.raises(tf.errors.NotFoundError, match="No CPU devices"):
        tf.Session()
    experimental.set_visible_devices(cpu)
    tf.Session()


@pytest.mark.parametrize("call, error, message", [
    (lambda cpu: experimental.set_visible_devices(["foo"], "CPU"), ValueError,
     "Unrecognized device: 'foo'"),
    (lambda cpu: experimental.set_visible_devices(cpu, "GPU"), ValueError,
     "Unrecognized device"),
    (lambda cpu: experimental.set_memory_growth(cpu, True), ValueError,
     "Cannot set memory growth on non-GPU devices"),
    (lambda cpu: experimental.get_memory_growth(cpu), ValueError, "of GPUs"),
    (lambda cpu: experimental.get_virtual_device_configuration("x"), ValueError,
     "Unrecognized device"),
    (lambda cpu: experimental.set_virtual_device_configuration(
        cpu, [experimental.VirtualDeviceConfiguration(10)]), ValueError,
     "Setting memory limit on CPU virtual devices is currently not supported"),
    (lambda cpu: experimental.set_device_policy("x"), ValueError,
     "Not a valid device policy: 'x'"),
    (lambda cpu: config.optimizer.set_experimental_options({"nosuch": True}),
     ValueError, "no option of the optimizer is named 'nosuch'"),
    (lambda cpu: config.threading.set_inter_op_parallelism_threads(-1),
     ValueError, "from 0 on"),
    (lambda cpu: config.experimental_connect_to_host("a:1"), AttributeError,
     r"tf\.Session\(target\)")])
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(experimental.list_physical_devices("CPU")[0])


def test_settings_of_eager_execution_are_kept():
    experimental.set_device_policy("warn")
    experimental.set_synchronous_execution(False)
    assert experimental.get_device_policy() == "warn"
    assert experimental.get_synchronous_execution() is False
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"


def test_import_does_not_load_it():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import sys, headrace as tf
        tf.Session()
        assert "headrace._src.session.config" not in sys.modules
        """)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
