"""Session: runs parts of a graph."""
import collections.abc
import warnings

from headrace import _headrace
from headrace._headrace import Tensor
from headrace._loading import load
from headrace._src.framework import errors
from headrace._src.framework import graph as _graph
from headrace._src.framework.default_session import default_sessions


class _DeviceAttributes(collections.namedtuple(
        "_DeviceAttributes",
        ["name", "device_type", "memory_limit_bytes", "incarnation"])):
    """A device of a session."""

    def __repr__(self):
        return "_DeviceAttributes(%s, %s, %d, %d)" % self


MemoryPlan = collections.namedtuple(
    "MemoryPlan", ["peak_bytes", "total_bytes", "blocks", "unknown"])
_Block = collections.namedtuple(
    "_Block", ["name", "contents", "bytes", "offset"])


def _own_message(message, name):
    """`message` as our class of messages: it may be TensorFlow's own."""
    if isinstance(message, _headrace.Message) or not hasattr(
            message, "SerializeToString"):
        return message
    return _headrace.message_class(name).FromString(
        message.SerializeToString())


# Makes the ConfigProto of sessions that are given none, if tf.config changed it.
_default_config = None


def set_default_config(make):
    global _default_config
    _default_config = make


class Session:
    """Runs operations of one graph and keeps its variables' values.

    `target`: "" for this process. `graph`: the default graph if None.
    `config`: a ConfigProto. As a context manager, it makes itself and its graph
    the default and closes itself at the end.

    run(fetches, feed_dict) gives arrays of the fetches' shapes and dtypes, None
    for an Operation. It raises TypeError or ValueError for what is not of the
    graph and for a value that does not fit the dtype or shape of what it is fed
    to, RuntimeError after close(), and a subclass of tf.errors.OpError for what
    fails in the run. TypeError for a `config` that is no ConfigProto."""

    def __init__(self, target="", graph=None, config=None):
        if graph is None:
            graph = _graph.get_default_graph()
        elif not isinstance(graph, _graph.Graph):
            raise TypeError("graph must be a tf.Graph, but got %s"
                            % type(graph))
        if isinstance(target, bytes):
            target = target.decode()
        if not isinstance(target, str):
            raise TypeError("target must be a string, but got %s"
                            % type(target))
        if config is not None:
            config = _own_message(config, "ConfigProto")
            if not isinstance(config, _headrace.Message):
                raise TypeError("config must be a tf.ConfigProto, but got %s"
                                % type(config))
        elif _default_config is not None:
            config = _default_config()
        self._graph = graph
        self._target = target
        self._config = config
        self._core = _headrace.SessionCore(graph, target, config)
        self._run = self._core.run
        self._context = None
        self._closed = False
        self._dead_handles = []  # of TensorHandles that are gone

    graph = property(lambda self: self._graph)
    graph_def = property(lambda self: self._graph.as_graph_def(
        add_shapes=self._config is not None
        and self._config.graph_options.infer_shapes))
    sess_str = property(lambda self: self._target)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None,
            *, cancellation=None):
        """Runs what `fetches` needs and returns the values in its structure.

        `fetches`: a Tensor, Operation, variable or name, or a list, tuple or
        dict of such, nested as you like. Operations give None, tensors NumPy
        arrays or, for rank 0, NumPy scalars; strings are bytes.
        `feed_dict`: values taken instead of tensors, by Tensor or name.
        `cancellation`: a tf.CancellationManager by which another thread can
        stop the run.
        Raises tf.errors for what fails in the run, and RuntimeError if the
        session is closed; Ctrl-C cancels the run."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph._last_id:
            raise RuntimeError("The Session graph is empty.  Add operations to "
                               "the graph before calling run().")
        if self._graph._prepare_fetches is not None:
            fetches = self._graph._prepare_fetches(self, fetches)
        if options is not None:
            options = _own_message(options, "RunOptions")
        return self._run(fetches, feed_dict, options, run_metadata,
                         cancellation)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that takes the values of `feed_list` in order and returns
        what run(fetches) would; what can be worked out beforehand is. It takes
        `cancellation` as run() does."""
        if self._graph._prepare_fetches is not None:
            fetches = self._graph._prepare_fetches(self, fetches)
        if not isinstance(feed_list, (list, tuple, type(None))):
            raise TypeError("`feed_list` must be a list or tuple.")
        return self._core.make_callable(fetches, feed_list, accept_options)

    def _make_callable_from_options(self, callable_options):
        """A function of the names in a CallableOptions: it takes the values of
        the feeds in order, and `run_metadata`, and returns those of the
        fetches as a list. Of a `tensor_connection`, from_tensor is computed in
        a run before, and its value is that of both tensors. tf.errors for
        names that the graph does not have."""
        options = _own_message(callable_options, "CallableOptions")
        connections = options.tensor_connection
        try:
            feeds, fetches, sources, sinks = (
                [self._graph.get_tensor_by_name(x) for x in names]
                for names in (options.feed, options.fetch,
                              [c.from_tensor for c in connections],
                              [c.to_tensor for c in connections]))
        except KeyError as e:
            raise errors.InvalidArgumentError(None, None, e.args[0]) from None
        try:
            targets = [self._graph.get_operation_by_name(x)
                       for x in options.target]
        except KeyError as e:
            raise errors.NotFoundError(None, None, e.args[0]) from None
        both = [x.name for x in fetches if x in feeds]
        if both:
            raise errors.InvalidArgumentError(
                None, None, "%s is both fed and fetched." % both[0])
        run_options = options.run_options
        before = self._run_of_sources(sources, feeds, run_options)
        kept = [i for i, x in enumerate(sources)
                if x not in feeds and x not in sources[:i]
                and self._graph.is_feedable(x) and not x.dtype._is_ref_dtype]
        function = self.make_callable(
            fetches + targets, feeds + [sources[i] for i in kept] + sinks,
            accept_options=True)

        def run(*args, run_metadata=None):
            values = before(args)
            return function(*args, *(values[i] for i in kept), *values,
                            options=run_options,
                            run_metadata=run_metadata)[:len(fetches)]
        return run

    def _run_of_sources(self, sources, feeds, run_options):
        """A function from the values of `feeds` to those of `sources`."""
        if not sources:
            return lambda args: []
        function = self.make_callable(sources, feeds, accept_options=True)
        return lambda args: function(*args, options=run_options)

    def plan(self, fetches, feed_shapes=None):
        """What the tensors of a run would take, known without running it.

        `feed_shapes`: the shapes of what will be fed, by Tensor or name.
        The result has `peak_bytes`, which no order of the nodes exceeds;
        `total_bytes` of all tensors together; `blocks`, the largest first, each
        with name, contents, bytes and offset; and `unknown`, the names of
        tensors whose size depends on values and which are not counted.
        Constants, variables and feeds are not counted. `config.headrace.
        memory_budget_bytes`, or the same of RunOptions, refuses runs whose
        peak is more; runs with loops or `unknown` tensors, and partial runs,
        fail with the first tensor that goes beyond it."""
        self._check_open()
        if feed_shapes is None:
            feed_shapes = {}
        if not isinstance(feed_shapes, collections.abc.Mapping):
            raise TypeError(
                "feed_shapes must be a dictionary of shapes, as "
                "{'x:0': [8, 224, 224, 3]}, but got %r" % (feed_shapes,))
        peak, total, blocks, unknown = self._core.plan_memory(
            fetches, dict(feed_shapes))
        return MemoryPlan(peak, total, [_Block(*b) for b in blocks], unknown)

    def __repr__(self):
        return "<tf.%s of %d nodes%s%s>" % (
            type(self).__name__, self._graph._num_nodes(),
            " on " + self._target if self._target else "",
            ", closed" if self._closed else "")

    def partial_run_setup(self, fetches, feeds=None):
        """Begins a run whose feeds and fetches come in several calls: declares
        all of them, and returns a handle for partial_run."""
        self._check_open()
        feeds = [] if feeds is None else feeds
        if not isinstance(feeds, (list, tuple)):
            feeds = [feeds]
        feeds = [tensor for feed in feeds for tensor in _partial_feeds(feed)]
        return self._core.partial_run_setup(fetches, feeds)

    def partial_run(self, handle, fetches, feed_dict=None, options=None,
                    *, cancellation=None):
        """Gives some of the feeds and takes some of the fetches that
        partial_run_setup declared, each once. The run ends when all are; or by
        partial_run_close, by the deadline that `options` give to a call, or by
        its `cancellation`."""
        self._check_open()
        if self._graph._prepare_fetches is not None:
            fetches = self._graph._prepare_fetches(self, fetches)
        return self._core.partial_run(handle, fetches, feed_dict, options,
                                      cancellation)

    def partial_run_close(self, handle):
        """Ends a partial run early."""
        self._core.partial_run_close(handle)

    def _check_open(self):
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def list_devices(self):
        """The devices of this session: name, device_type,
        memory_limit_bytes, incarnation."""
        return [_DeviceAttributes(*d) for d in self._core.list_devices()]

    @staticmethod
    def reset(target, containers=None, config=None):
        """Closes all sessions on `target` ("" is this process) and drops the
        variables and other state of `containers`, names or one name; of the
        default container if none is named."""
        del config
        if isinstance(target, bytes):
            target = target.decode()
        if isinstance(containers, (str, bytes)):
            containers = [containers]
        _headrace.reset_sessions(target or "", [
            c.decode() if isinstance(c, bytes) else c
            for c in containers or ()])

    def close(self):
        """Runs in progress are cancelled, later ones refused."""
        if not self._closed:
            self._closed = True
            self._core.close()

    def as_default(self):
        """Makes this the default session of a `with` block; does not close
        it."""
        return _Default(self)

    def __enter__(self):
        if self._context is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use "
                "`Session.as_default()` if you want to enter a session "
                "multiple times.")
        self._context = self._graph.as_default(), _Default(self)
        for c in self._context:
            c.__enter__()
        return self

    def __exit__(self, kind, value, trace):
        context, self._context = self._context, None
        for c in reversed(context):
            c.__exit__(kind, value, trace)
        self.close()


BaseSession = Session


def explain(sess, fetches, feed_dict=None):
    """How `sess` runs `fetches`, as text: what the command `headrace explain`
    prints. For each convolution, the algorithms that can compute it, the time
    that is predicted for each on one core, the time that was measured, if the
    session's ConfigProto.headrace.conv_tuning asks for it, and which one is
    chosen; what each graph pass changed; and the memory that the tensors of a
    run take.

        print(tf.headrace.explain(sess, logits, {images: batch}))

    `fetches` and `feed_dict` are those of sess.run. The step is run twice, so
    ops that change variables do so twice. Raises what sess.run raises, and
    NotImplementedError for a session on a server."""
    sess._check_open()
    if sess._target:
        raise NotImplementedError(
            "tf.headrace.explain works on sessions of this process, and this "
            "one is on %r: make a tf.Session() on the same graph" % sess._target)
    return sess._core.explain(fetches, feed_dict)


class _Default:
    def __init__(self, session):
        self._session = session

    def __enter__(self):
        default_sessions().append(self._session)
        return self._session

    def __exit__(self, *error):
        stack = default_sessions()
        inner = [s for s in stack if not isinstance(s, InteractiveSession)]
        if self._session in inner and inner[-1] is not self._session:
            raise AssertionError("Nesting violated for default stack of %s "
                                 "objects" % type(self._session))
        if self._session in stack:  # it was not reset
            stack.remove(self._session)


class InteractiveSession(Session):
    """A Session that is the default from its construction to its close(). Others
    in the meantime are warned of.

    run() and Tensor.eval() give arrays of the fetches' shapes and dtypes and
    raise what Session.run raises: an OpError for what fails in the run,
    TypeError and ValueError for feeds and fetches that do not fit."""
    _active_session_count = 0

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        if InteractiveSession._active_session_count > 0:
            warnings.warn(
                "An interactive session is already active. This can cause "
                "out-of-memory errors in some cases. You must explicitly call "
                "`InteractiveSession.close()` to release resources held by the "
                "other session(s).", stacklevel=2)
        InteractiveSession._active_session_count += 1
        self._is_counted = True
        self._default_graph = None
        if graph is not None:
            self._default_graph = graph.as_default()
            self._default_graph.__enter__()
        default_sessions().append(self)

    def close(self):
        super().close()
        if self._is_counted:
            InteractiveSession._active_session_count -= 1
            self._is_counted = False
        if self in default_sessions():
            default_sessions().remove(self)
        if self._default_graph is not None:
            self._default_graph.__exit__(None, None, None)
            self._default_graph = None


# How objects that stand for tensors are fetched and fed.

# (class, its three functions), the newest first.
_conversions: list = []


def register_session_run_conversion_functions(
        tensor_type, fetch_function, feed_function=None,
        feed_function_for_partial_run=None):
    """Says what a Session does with objects of class `tensor_type`.

    fetch_function: of the object; gives a list of tensors to fetch in its place
      and a function that makes the result of the list of their values.
    feed_function: of the object and the value fed to it; gives a list of
      (tensor, value).
    feed_function_for_partial_run: of the object; gives the tensors that
      partial_run_setup takes in its place.

    ValueError if the class, or one that inherits from it, has functions."""
    for known, *_ in _conversions:
        if issubclass(known, tensor_type):
            raise ValueError("%s has already been registered so ignore it."
                             % tensor_type)
    _conversions.insert(0, (tensor_type, fetch_function, feed_function,
                            feed_function_for_partial_run))


def _conversion_of(x):
    for conversion in _conversions:
        if isinstance(x, conversion[0]):
            return conversion
    return None


def _partial_feeds(feed):
    conversion = _conversion_of(feed)
    if conversion is not None and conversion[3] is not None:
        return conversion[3](feed)
    if conversion is None and getattr(feed, "_composite", False):
        return feed._flow_components()
    return [feed]


def expand_fetch(fetch):
    """(fetches, function of their values or None) for variables and objects
    with their own idea of it; None for what cannot be fetched."""
    conversion = _conversion_of(fetch)
    if conversion is not None:
        return conversion[1](fetch)
    if hasattr(fetch, "_fetch_components"):
        return fetch._fetch_components()
    if hasattr(fetch, "_as_graph_element"):
        return fetch._as_graph_element(), None
    if isinstance(fetch, collections.abc.Mapping):
        keys = list(fetch.keys())
        return ([fetch[k] for k in keys],
                lambda values: dict(zip(keys, values)))
    return None


def expand_feed(key, value):
    """[(tensor, value)] for keys that are no Tensor, or None."""
    conversion = _conversion_of(key)
    if conversion is not None and conversion[2] is not None:
        return conversion[2](key, value)
    if isinstance(key, tuple):
        nest = load("_src.framework.nest")  # few programs have such keys
        keys, values = nest.flatten(key), nest.flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                "Could not flatten dictionary. Key had %d elements, but value "
                "had %d elements. Key: %s, value: %s."
                % (len(keys), len(values), keys, values))
        pairs = []
        for k, v in zip(keys, values):
            pairs += expand_feed(k, v) or [(k, v)]
        return pairs
    if hasattr(key, "_feed_components"):
        return key._feed_components(value)
    if hasattr(key, "_as_graph_element"):
        element = key._as_graph_element()
        return [(element, value)] if isinstance(element, Tensor) else None
    return None
