"""Which threads execute ops eagerly, and what they share: the seed, the devices
and what they are called.

A thread executes eagerly while its default graph is an EagerGraph. That graph
has the scopes of the thread, and never a node: an op that is called is executed
at once (python/ext/py_eager.cc)."""
import contextlib
import random
import threading

from headrace import _headrace
from headrace._src.framework import graph as _graph
from headrace._src.framework.device_spec import DeviceSpec

GRAPH_MODE, EAGER_MODE = 0, 1
DEVICE_PLACEMENT_EXPLICIT = 0
DEVICE_PLACEMENT_WARN = 1
DEVICE_PLACEMENT_SILENT = 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3
SYNC, ASYNC = 0, 1

_MAX_INT32 = 2**31 - 1
_STANDARD_KEYS = frozenset(
    value for key, value in vars(_graph.GraphKeys).items()
    if key.isupper()) - {_graph.GraphKeys.GLOBAL_STEP}


class _Scope:
    """`with`: a name scope of an eager graph."""
    __slots__ = ("_graph", "_new", "_outer")

    def __init__(self, graph, name):
        self._graph = graph
        outer = self._outer = graph._name_scope
        if isinstance(name, bytes):
            name = name.decode()
        if not name:
            self._new = ""
        elif name.endswith("/"):
            self._new = name[:-1]
        else:
            self._new = outer + "/" + name if outer else name

    def __enter__(self):
        self._graph._name_scope = self._new
        return self._new + "/" if self._new else ""

    def __exit__(self, *error):
        self._graph._name_scope = self._outer


class EagerGraph(_graph.Graph):
    """The scopes of a thread that executes eagerly."""

    def __init__(self):
        super().__init__()
        self._eager = True

    @property
    def seed(self):
        return _state.seed

    @seed.setter
    def seed(self, seed):
        _state.set_seed(seed)

    def next_op_seed(self):
        """The seed of an op that has none of its own."""
        return _state.next_op_seed()

    def name_scope(self, name):
        return _Scope(self, name)

    def unique_name(self, name, mark_as_used=True):
        scope = self._name_scope
        return scope + "/" + name if scope else name

    def control_dependencies(self, control_inputs):
        """Nothing to wait for. What can be called is called."""
        if callable(control_inputs):
            control_inputs()
        for c in control_inputs or ():
            if callable(c) and not hasattr(c, "dtype"):
                c()
        return contextlib.nullcontext()

    def colocate_with(self, op, ignore_existing=False):
        """Changes nothing: an op runs where its inputs and devices say."""
        return contextlib.nullcontext()

    def device(self, device_name_or_function):
        if callable(device_name_or_function):
            raise RuntimeError("tf.device does not support functions when eager "
                               "execution is enabled.")
        return super().device(device_name_or_function)

    def add_to_collection(self, name, value):
        """The library's own collections stay empty: they would keep all tensors
        and variables alive."""
        if name not in _STANDARD_KEYS:
            super().add_to_collection(name, value)

    def as_graph_def(self, from_version=None, add_shapes=False):
        raise RuntimeError("There is no graph to describe while ops are executed "
                           "eagerly.")

    def __repr__(self):
        return "<headrace.EagerGraph>"


class _State:
    """What all threads share."""

    def __init__(self):
        self.seed = None
        self.generator = None
        self.enabled = False

    def set_seed(self, seed):
        self.seed = seed
        self.generator = random.Random(seed)
        if self.enabled:
            # Streams of ops that have their own seed begin anew.
            _headrace.eager_clear_kernels()

    def next_op_seed(self):
        return self.generator.randint(0, _MAX_INT32)


_state = _State()
_of_thread = threading.local()


def eager_graph():
    """The EagerGraph of this thread."""
    try:
        return _of_thread.graph
    except AttributeError:
        _of_thread.graph = EagerGraph()
        return _of_thread.graph


executing_eagerly = _headrace.executing_eagerly


def internal_operation_seed():
    """The seed of the next op without one of its own."""
    return _state.next_op_seed()


def _start(config, device_policy, execution_mode):
    """Begins the context of this process, once, with what was asked for."""
    from headrace._src.eager import tensors
    _headrace.eager_options(
        config, DEVICE_PLACEMENT_SILENT if device_policy is None
        else device_policy, execution_mode == ASYNC)
    _state.asked = (config, device_policy, execution_mode)
    tensors.install()
    _state.enabled = True


def enable_eager_execution(config=None, device_policy=None,
                           execution_mode=None):
    """Executes ops at once from now on, in all threads.

    `config`: a ConfigProto for the devices and threads; `device_policy`: what
    happens to inputs on other devices, a tf.contrib.eager.DEVICE_PLACEMENT_*;
    `execution_mode`: SYNC or ASYNC, which both run an op when it is called.
    Returns None. TypeError for another config; ValueError for other values, for
    a second call that asks for something else, and after the default graph has
    got operations."""
    from headrace._src.framework import messages
    if config is not None and not isinstance(config, messages.ConfigProto):
        raise TypeError("config must be a tf.ConfigProto, but got %s"
                        % type(config))
    if device_policy not in (None, 0, 1, 2, 3):
        raise ValueError("device_policy must be one of None, "
                         "tf.contrib.eager.DEVICE_PLACEMENT_*")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be one of None, "
                         "tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC")
    if not _state.enabled:
        if _graph._global_graph is not None and (
                _graph._global_graph._num_nodes()):
            raise ValueError("tf.enable_eager_execution must be called at "
                             "program startup.")
        _start(config, device_policy, execution_mode)
    else:
        asked = _state.asked
        if (config is not None and config is not asked[0]
                or device_policy not in (None, asked[1])
                or execution_mode not in (None, asked[2])):
            raise ValueError(
                "Trying to change the options of an active eager execution. "
                "Context config: %s, specified config: %s. Context device "
                "policy: %s, specified device policy: %s. Context execution "
                "mode: %s, specified execution mode %s."
                % (asked[0], config, asked[1], device_policy, asked[2],
                   execution_mode))
    _headrace.set_eager_by_default(True)


def disable_eager_execution():
    """Makes nodes of graphs again from now on, in all threads. Returns None; it
    has no arguments, changes no shapes or dtypes, and raises nothing."""
    _headrace.set_eager_by_default(False)


@contextlib.contextmanager
def eager_mode():
    """Inside, this thread executes ops eagerly."""
    if not _state.enabled:
        _start(None, None, None)
    with eager_graph().as_default():
        yield


@contextlib.contextmanager
def graph_mode():
    """Inside, this thread makes nodes of its default graph."""
    if not executing_eagerly():
        yield
        return
    with _graph.global_graph().as_default():
        yield


def in_eager_mode():
    """Whether this thread executes ops eagerly."""
    return executing_eagerly()


def in_graph_mode():
    return not executing_eagerly()


def executing_eagerly_outside_functions():
    """Whether a function that is being traced, if any, was called where ops are
    executed eagerly."""
    if executing_eagerly():
        return True
    graph = _graph.get_default_graph()
    if not graph.building_function:
        return False
    with _graph.init_scope():
        return executing_eagerly()


def list_devices():
    """The names of the devices of this process."""
    return [d[0] for d in _headrace.eager_devices()]


def num_gpus():
    """The number of GPUs of this process."""
    return sum(d[1] == "GPU" for d in _headrace.eager_devices())


_mode = threading.local()


@contextlib.contextmanager
def execution_mode(mode):
    """Inside, execution_mode() is `mode`. An op runs when it is called, in both
    modes."""
    outer = getattr(_mode, "value", SYNC)
    set_execution_mode(mode)
    try:
        yield
    finally:
        _mode.value = outer


def set_execution_mode(mode):
    """SYNC or ASYNC, for this thread; None: SYNC. ValueError for others. An op
    runs when it is called, in both modes."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError("Execution mode should be None/SYNC/ASYNC. Setting CPU "
                         "default: %s" % (mode,))
    _mode.value = SYNC if mode is None else mode


def async_wait():
    """Returns at once: every op has ended when its call returns."""


def async_clear_error():
    """Does nothing: an error is raised by the op that failed."""


class Context:
    """What tensorflow.python.eager.context.context() gives."""

    def executing_eagerly(self):
        return executing_eagerly()

    in_eager_mode = executing_eagerly

    def in_graph_mode(self):
        return not executing_eagerly()

    def num_gpus(self):
        return num_gpus()

    def devices(self):
        return list_devices()

    def ensure_initialized(self):
        """Makes the devices."""
        list_devices()

    def _clear_caches(self):
        _headrace.eager_clear_kernels()

    def _set_global_seed(self, seed):
        _state.set_seed(seed)

    def _internal_operation_seed(self):
        return internal_operation_seed()

    @property
    def execution_mode(self):
        return getattr(_mode, "value", SYNC)

    @execution_mode.setter
    def execution_mode(self, mode):
        set_execution_mode(mode)

    @property
    def device_policy(self):
        return _headrace.eager_policy()

    @device_policy.setter
    def device_policy(self, policy):
        _headrace.eager_set_policy(
            DEVICE_PLACEMENT_SILENT if policy is None else policy)

    @property
    def scope_name(self):
        name = eager_graph()._name_scope
        return name + "/" if name else ""

    @property
    def device_name(self):
        return eager_graph()._device or None

    @property
    def device_spec(self):
        return DeviceSpec.from_string(eager_graph()._device)

    def device(self, name):
        return eager_graph().device(name)

    def add_function_def(self, fdef):
        """Adds a FunctionDef, to be called by its name."""
        from headrace._src.framework import messages
        library = messages.GraphDef()
        library.library.function.extend([fdef])
        _headrace.eager_add_functions(library)

    def has_function(self, name):
        return _headrace.eager_has_function(
            name if isinstance(name, str) else name.decode())

    def remove_function(self, name):
        _headrace.eager_remove_function(name)


_context = Context()


def context():
    """The Context of this process."""
    return _context


def global_seed():
    """What tf.set_random_seed has set, or None."""
    return _state.seed


@contextlib.contextmanager
def device_policy(policy):
    """Inside, inputs on other devices are treated so in this thread."""
    outer = _context.device_policy
    _context.device_policy = policy
    try:
        yield
    finally:
        _context.device_policy = outer


def run(main=None, argv=None):
    """tf.app.run in a program that executes eagerly."""
    from headrace._src.platform import app
    enable_eager_execution()
    app.run(main, argv)
