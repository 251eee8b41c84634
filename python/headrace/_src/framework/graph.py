"""Graph, and the scopes that say how new nodes are named, placed and ordered.

The nodes themselves are C++ objects; this is TensorFlow's interface to them.
"""
import bisect
import contextlib
import re
import sys
import threading

from headrace import _headrace
from headrace._headrace import EagerTensor, Operation, Tensor
from headrace._loading import load

_SCOPE = r"^[A-Za-z0-9_.\-/]*$"
_ROOT_SCOPE = r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$"


class GraphKeys:
    """Names of the collections that the library itself uses: strings, such as
    GLOBAL_VARIABLES ("variables") and UPDATE_OPS. Collections hold values of
    any shape and dtype. AttributeError for other names."""
    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


# Graphs whose block of as_default() ended before one that began later.
_left_in_stack: list = []


class Graph(_headrace.GraphCore):
    """A graph of operations. Scopes belong to the graph, so one thread at a
    time builds it, while any number may run it.

    Its operations have outputs of any shape and dtype. RuntimeError for changes
    after finalize(). get_tensor_by_name() and get_operation_by_name() raise
    KeyError for what is not there, ValueError for names of the wrong form and
    TypeError for what is no string."""

    def __init__(self):
        super().__init__()
        self._collections = {}
        self._seed = None
        self._device_stack = []  # innermost last: a name, None or a function
        self._device_places = []  # of its entries: (entry, file, line)
        self._colocation_places = {}  # {operation's name: (file, line)}
        self._scope_changes = []  # (last id before, the two fields above)
        self._variable_scopes = None  # of variables.scopes
        self._variable_creators = []  # of variable_creator_scope
        self._sliced_variables = {}  # by id of the StridedSlice; v[...].assign
        self._flow_contexts = {}  # by node id; of control.contexts
        self._loops_without_gradient = []  # results of while_loops
        self._py_functions = []  # what PyFunc nodes call
        self._attr_scopes = {}  # attrs of new nodes: AttrValues
        self._original = None  # what new nodes stand for
        self._originals = {}  # by node id
        self._is_function = False  # a program says that it is one
        self._prepare_fetches = None  # of session.session_handles
        self._lock = threading.RLock()

    # What there is.

    @property
    def version(self):
        """Grows with each node."""
        return self._last_id

    @property
    def finalized(self):
        return self._finalized

    @property
    def building_function(self):
        """True for the body of a function that is being traced."""
        return self._captures or self._is_function

    @property
    def _building_function(self):
        return self.building_function

    @_building_function.setter
    def _building_function(self, value):
        self._is_function = value

    @property
    def _functions(self):
        """{name: FunctionDef} of the functions that nodes may call."""
        return {f.signature.name: f
                for f in self._graph_def().library.function}

    def _get_control_flow_context(self):
        """The innermost cond or while_loop being built, or None. Libraries ask
        for it, and leave it for a while."""
        return self._flow_context

    def _set_control_flow_context(self, ctx):
        self._flow_context = ctx

    @property
    def graph_def_versions(self):
        return self._graph_def().versions

    @property
    def seed(self):
        """The seed that set_random_seed gave, or None."""
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed

    def finalize(self):
        """Makes the graph read-only: adding a node raises RuntimeError."""
        self._finalized = True

    def _unsafe_unfinalize(self):
        self._finalized = False

    def _check_not_finalized(self):
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def create_op(self, op_type, inputs, dtypes=None, input_types=None,
                  name=None, attrs=None, op_def=None, compute_shapes=True,
                  compute_device=True):
        """A new Operation from the lists of its input tensors and a dict of
        AttrValues. The types follow from the op's definition and the attrs."""
        self._check_not_finalized()
        for i, t in enumerate(inputs):
            if not isinstance(t, Tensor):
                raise TypeError("Input #%d is not a tensor: %s" % (i, t))
        op = self._create_op(op_type, list(inputs),
                             op_type if name is None else name,
                             {} if attrs is None else dict(attrs))
        if dtypes is not None and [t.base_dtype for t in dtypes] != [
                t.dtype.base_dtype for t in op.outputs]:
            raise TypeError(
                "Operation '%s' of type %s gives %s, not the dtypes %s"
                % (op.name, op_type, [t.dtype.name for t in op.outputs],
                   list(dtypes)))
        return op

    def switch_to_thread_local(self):
        """Does nothing: one thread at a time builds a graph."""

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph as a GraphDef that TensorFlow 1.15 reads, too: attrs that it
        does not know are left out where they have their defaults.
        `from_version`: only nodes that are newer than this version.
        `add_shapes`: with attr _output_shapes."""
        graph_def = self._graph_def()
        if from_version:
            del graph_def.node[:int(from_version)]
        load("_src.framework.newer_attrs").drop_newer_attrs(graph_def)
        if add_shapes:
            for node in graph_def.node:
                op = self._operation(node.name)
                if op.outputs:
                    shapes = node.attr["_output_shapes"].list.shape
                    shapes.extend(o.get_shape().as_proto() for o in op.outputs)
        return graph_def

    def get_operation_by_name(self, name):
        """The Operation; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError("Operation names are strings (or similar), not %s."
                            % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        """The Tensor "node:index"; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError("Tensor names are strings (or similar), not %s."
                            % type(name).__name__)
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The Tensor or Operation that `obj` is, names or stands for."""
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be "
                             "False.")
        if hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self._tensor_by_name(obj)
            if ":" in obj:
                raise ValueError(
                    "Name %r appears to refer to a Tensor, not an Operation."
                    % obj)
            op = self._operation(obj)
            if not allow_operation:
                if op is not None:
                    raise ValueError(
                        "The name %r refers to an Operation, not a Tensor. "
                        "Tensor names must be of the form "
                        "\"<op_name>:<output_index>\"." % obj)
                raise ValueError(
                    "The name %r looks like an (invalid) Operation name, not "
                    "a Tensor. Tensor names must be of the form "
                    "\"<op_name>:<output_index>\"." % obj)
            if op is None:
                raise KeyError("The name %r refers to an Operation not in the "
                               "graph." % obj)
            return op
        if ((isinstance(obj, Tensor) and allow_tensor)
                or (isinstance(obj, Operation) and allow_operation)):
            if obj.graph is not self:
                raise ValueError("%s %s is not an element of this graph." % (
                    "Tensor" if isinstance(obj, Tensor) else "Operation", obj))
            return obj
        kinds = " or ".join((["Tensor"] if allow_tensor else [])
                            + (["Operation"] if allow_operation else []))
        raise TypeError("Can not convert a %s into a %s."
                        % (type(obj).__name__, kinds))

    def _tensor_by_name(self, name):
        node, _, index = name.partition(":")
        if not index.isdigit():
            raise ValueError("The name %r looks like a Tensor name, but is not "
                             "a valid one. Tensor names must be of the form "
                             "\"<op_name>:<output_index>\"." % name)
        op = self._operation(node)
        if op is None:
            raise KeyError("The name %r refers to a Tensor which does not "
                           "exist. The operation, %r, does not exist in the "
                           "graph." % (name, node))
        outputs = op.outputs
        if int(index) >= len(outputs):
            raise KeyError("The name %r refers to a Tensor which does not "
                           "exist. The operation, %r, exists but only has %d "
                           "outputs." % (name, node, len(outputs)))
        return outputs[int(index)]

    def prevent_feeding(self, tensor):
        """Makes runs refuse to feed `tensor`."""
        self._prevent_feeding(tensor.op._id, tensor.value_index)

    def is_feedable(self, tensor):
        """False for what lies inside a loop, and after prevent_feeding."""
        return self._may_feed(tensor.op._id, tensor.value_index)

    def prevent_fetching(self, op):
        """Makes runs refuse to fetch `op` and its outputs."""
        self._mark_internal(op._id)

    def is_fetchable(self, tensor_or_op):
        """False for what lies inside a branch or a loop, and after
        prevent_fetching."""
        return not self._is_internal(getattr(tensor_or_op, "op",
                                             tensor_or_op)._id)

    # Collections.

    @property
    def collections(self):
        """The names of the collections."""
        return list(self._collections)

    def add_to_collection(self, name, value):
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        """The list itself; it is made if there is none."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        """A copy of the list; with `scope`, only what has a name that matches
        this regular expression from its start."""
        values = self._collections.get(name, [])
        if scope is None:
            return list(values)
        match = re.compile(scope).match
        return [v for v in values if hasattr(v, "name") and match(v.name)]

    def get_all_collection_keys(self):
        return [k for k in self._collections if isinstance(k, str)]

    def clear_collection(self, name):
        self._check_not_finalized()
        self._collections.pop(name, None)

    # Scopes.

    @contextlib.contextmanager
    def as_default(self):
        """Makes this the default graph of the `with` block's thread.
        AssertionError if blocks do not end in the order in which they began."""
        _headrace.push_default_graph(self)
        try:
            yield self
        finally:
            if (_headrace.default_graph_depth()
                    and _headrace.get_default_graph() is not self):
                # It stays below the default graph, which does not keep it.
                _left_in_stack.append(self)
                raise AssertionError(
                    "Nesting violated for default stack of %s objects"
                    % type(self))
            _headrace.pop_default_graph()

    @contextlib.contextmanager
    def name_scope(self, name):
        """Puts "name/" before the names of nodes made inside. A name that ends
        in "/" is taken as it is, any other made unique; None or "" is the root
        scope. Yields the scope with its "/"."""
        outer = self._name_scope
        if isinstance(name, bytes):
            name = name.decode()
        if outer and name in ("/", "//"):  # an empty scope, kept as it is
            new = name[:-1]
        elif name:
            if not re.match(_SCOPE if outer else _ROOT_SCOPE, name):
                raise ValueError("'%s' is not a valid scope name" % name)
            new = (name[:-1] if name.endswith("/")
                   else self.unique_name(name))
        else:
            new = ""
        self._name_scope = new
        try:
            yield new + "/" if new or name == "/" else ""
        finally:
            self._name_scope = outer

    def get_name_scope(self):
        return self._name_scope

    @property
    def _name_stack(self):
        return self._name_scope

    @_name_stack.setter
    def _name_stack(self, name):
        self._name_scope = name

    @property
    def _nodes_by_name(self):
        return {op.name: op for op in self.get_operations()}

    @property
    def _nodes_by_id(self):
        return {op._id: op for op in self.get_operations()}

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Nodes made inside run after `control_inputs`: Operations, Tensors or
        variables. None lifts the dependencies of outer blocks instead, and
        leaves branches and loops."""
        if control_inputs is None:
            saved, context = self._suspend_control(), self._flow_context
            self._flow_context = None
            try:
                yield
            finally:
                self._flow_context = context
                self._resume_control(saved)
            return
        operations = []
        for c in control_inputs:
            if hasattr(c, "_closest"):  # of a variable of several devices
                c = c._closest()
            if hasattr(c, "indices") and hasattr(c, "values") or getattr(
                    c, "_is_resource", False):
                c = c.op
            elif hasattr(c, "_as_graph_element"):
                c = c._as_graph_element()
            c = self.as_graph_element(c)
            op = c.op if isinstance(c, Tensor) else c
            if op not in operations:
                operations.append(op)
        self._push_control(operations)
        try:
            yield
        finally:
            self._pop_control()

    def device(self, device_name_or_function):
        """Asks for a device for the nodes made inside: a name, of which parts
        may be missing and are taken from outer blocks; a function from
        Operation to name; or None to forget the outer blocks."""
        return self._device_block(device_name_or_function, _caller())

    @contextlib.contextmanager
    def _device_block(self, wanted, place):
        given = wanted
        if wanted is not None and not callable(wanted):
            wanted = _device_string(wanted)
            _check_device_name(wanted)
        self._device_stack.append(wanted)
        stack, depth = self._device_stack, len(self._device_stack)
        places = self._device_places
        self._device_places = places + [(given, *place)]
        self._note_places()
        try:
            self._merge_device_stack()
            yield
        finally:
            nested = self._device_stack is stack and len(stack) == depth
            if nested:
                stack.pop()
                self._device_places = places
                self._note_places()
                self._merge_device_stack()
        if not nested:
            raise RuntimeError("Exiting device scope without proper scope "
                               "nesting.")

    def _note_places(self):
        """Keeps where the program asked for the devices of the nodes that
        follow. Neither field is changed in place."""
        change = self._last_id, self._device_places, self._colocation_places
        if self._scope_changes and self._scope_changes[-1][0] == change[0]:
            self._scope_changes[-1] = change
        else:
            self._scope_changes.append(change)

    def _places(self, node_id):
        """The _device_places and _colocation_places with which a node was
        made."""
        changes = self._scope_changes
        i = bisect.bisect_left(changes, (node_id + 1,))
        return changes[i - 1][1:] if i else ([], {})

    def _create_op_from_tf_operation(self, c_op, compute_device=True):
        """The operation of what ops._create_c_op made, which joins the blocks
        around."""
        waiting = self.__dict__.setdefault("_new_c_ops", [])
        waiting[:] = [op for op in waiting if op._id != c_op._id]
        self._join_blocks([c_op])
        return c_op

    def _add_new_tf_operations(self, compute_devices=True):
        """The operations that ops._create_c_op made and that did not join the
        blocks around yet: now they do."""
        new = self.__dict__.pop("_new_c_ops", [])
        self._join_blocks(new)
        return new

    def _join_blocks(self, operations):
        context = self._flow_context
        for op in operations:
            before = list(op.inputs)
            control = self._control_dependencies_for_inputs(before)
            if context is not None:
                context._after_add(op)
                inputs, control = context._before_add(op.type, before, control)
                for i, (old, new) in enumerate(zip(before, inputs)):
                    if new is not old:
                        op._update_input(i, new)
            op._add_control_inputs(control)

    @property
    def _c_graph(self):
        """What functions of the C API take as the graph."""
        return self

    @contextlib.contextmanager
    def _attr_scope(self, attr_map):
        """Nodes made inside have these attrs: AttrValues, or functions from a
        NodeDef to one; None takes one of an outer block away."""
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to "
                            "Callables that return AttrValue protocol buffers")
        outer = self._attr_scopes
        self._attr_scopes = {
            name: value for name, value in {**outer, **attr_map}.items()
            if value is not None}
        self._merge_device_stack()
        try:
            yield
        finally:
            self._attr_scopes = outer
            self._merge_device_stack()

    @contextlib.contextmanager
    def _original_op(self, op):
        """Nodes made inside say that they stand for `op`."""
        outer, self._original = self._original, op
        self._merge_device_stack()
        try:
            yield
        finally:
            self._original = outer
            self._merge_device_stack()

    def _merge_device_stack(self):
        merged, functions = "", False
        for entry in reversed(self._device_stack):
            if entry is None:
                break
            if callable(entry):
                functions = True
            elif entry:
                merged = _headrace.merge_devices(merged, entry)
        self._device = merged
        self._has_device_functions = (
            functions or bool(self._attr_scopes) or self._original is not None)

    def _apply_device_functions(self, op):
        """Goes through the blocks from the inside: a function sees what inner
        blocks asked for, and its answer goes before outer blocks. `op` may be
        an object of the program that is to learn the device. Blocks that give
        attrs are applied, too."""
        if self._original is not None:
            self._originals[op._id] = self._original
        for name, value in self._attr_scopes.items():
            op._set_attr(name, value(op.node_def) if callable(value) else value)
        if op.device:
            op._set_device_from_string("")
        for entry in reversed(self._device_stack):
            if entry is None:
                break
            if callable(entry):
                name = entry(op)
                op._set_device_from_string(
                    _device_string(name) if name else "")
            elif entry:
                op._set_device_from_string(_headrace.merge_devices(
                    _device_string(op.device or ""), entry))

    def colocate_with(self, op, ignore_existing=False):
        """Nodes made inside go to the device of `op`, and device blocks around
        do not hold for them. None with ignore_existing forgets outer blocks."""
        return self._colocation_block(op, ignore_existing, _caller())

    @contextlib.contextmanager
    def _colocation_block(self, op, ignore_existing, place):
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but "
                             "ignore_existing is not True")
        outer = (self._colocation, self._colocated_device, self._device,
                 self._has_device_functions, self._device_stack,
                 self._device_places, self._colocation_places)
        groups, device = [], ""
        if not ignore_existing:
            groups, device = list(self._colocation), self._colocated_device
        if op is not None:
            if hasattr(op, "_closest"):  # of a variable of several devices
                op = op._closest()
            if getattr(op, "_is_resource", False):
                op = op.handle  # not what reads the variable
                if type(op) is EagerTensor:
                    op = self._capture(op)
            elif hasattr(op, "_as_graph_element"):
                op = op._as_graph_element()
            if not isinstance(op, Operation):
                op = op.op
            groups += [g.decode() for g in op.colocation_groups()]
        self._colocation = sorted(set(groups))
        # The outermost block whose operation has a device says which.
        self._colocated_device = device or (op.device if op else "")
        self._device_stack, self._device_places = [], []
        if ignore_existing:
            self._colocation_places = {}
        if op is not None:
            self._colocation_places = {**self._colocation_places,
                                       op.name: place}
        self._note_places()
        self._merge_device_stack()
        try:
            yield
        finally:
            (self._colocation, self._colocated_device, self._device,
             self._has_device_functions, self._device_stack,
             self._device_places, self._colocation_places) = outer
            self._note_places()

    @contextlib.contextmanager
    def container(self, container_name):
        """Variables, queues and other state made inside lie in this container
        of the session, unless they name one; Session.reset can drop it."""
        outer, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = outer

    def gradient_override_map(self, op_type_map):
        """New operations of the types that are the map's keys are
        differentiated as operations of the types that are its values."""
        return self._attrs_by_op("_gradient_op_type", op_type_map,
                                 "op_type_map")

    def _kernel_label_map(self, op_to_kernel_label_map):
        """New operations of the types that are the map's keys run the kernels
        that were registered with the labels that are its values."""
        return self._attrs_by_op("_kernel", op_to_kernel_label_map,
                                 "op_to_kernel_label_map")

    @contextlib.contextmanager
    def _attrs_by_op(self, attr, values, argument):
        if not (isinstance(values, dict) and all(
                isinstance(text, str) for item in values.items()
                for text in item)):
            raise TypeError("%s must be a dictionary mapping strings to strings"
                            % argument)
        outer = self._set_attrs_by_op(attr, {})
        self._set_attrs_by_op(attr, {**outer, **values})
        try:
            yield
        finally:
            self._set_attrs_by_op(attr, outer)

    def __repr__(self):
        return "<headrace.Graph of %d nodes>" % self._num_nodes()

    def _repr_html_(self):
        """What a notebook shows: counts, and the nodes by scope."""
        return load("_src.framework.notebook").graph_html(self)

    def __reduce__(self):
        return load("_src.training.graph_copies").reduce(self)

    def __deepcopy__(self, memo):
        memo[id(self)] = copy = load("_src.training.graph_copies").copy(self)
        return copy


def _caller():
    """(file, line) of the innermost frame that is not of this package."""
    frame = sys._getframe(2)
    while (frame.f_back is not None and
           frame.f_globals.get("__name__", "").startswith("headrace.")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _device_string(device):
    if hasattr(device, "to_string"):
        return device.to_string()
    # "/cpu" is any CPU. Slashes without a part between them say nothing, nor
    # does the lack of the first one, and these two types have upper case.
    name = re.sub(r"(^|/)(cpu|gpu)(?=/|$)", r"\1\2:*", str(device),
                  flags=re.IGNORECASE)
    name = re.sub(r"/+", "/", name).rstrip("/")
    name = re.sub(r"^(?=(job|replica|task|device):)", "/", name)
    return re.sub(r"/device:(cpu|gpu)(?=:|/|$)", lambda part: part[0][:8]
                  + part[1].upper(), name, flags=re.IGNORECASE)


_PARTS_OF_DEVICES = frozenset(["job", "replica", "task", "device", "cpu", "gpu"])


def _check_device_name(name):
    """Raises ValueError for an attribute that no device's name has, and for two
    types of devices."""
    types = 0
    for part in name.split("/"):
        key = part.partition(":")[0].lower()
        if part and key not in _PARTS_OF_DEVICES:
            raise ValueError("Unknown attribute: '%s' in '%s'" % (
                part.partition(":")[0], name))
        types += key in ("device", "cpu", "gpu")
    if types > 1:
        raise ValueError("Cannot specify multiple device types: %s" % name)


# The default graph.

_global_graph = None


def global_graph():
    global _global_graph
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def get_default_graph():
    """The graph that new nodes go to: the innermost Graph.as_default() of this
    thread, or else one that the whole program shares.

    It has no arguments and raises nothing. Its tensors may be of any shape and
    dtype."""
    return _headrace.get_default_graph()


def reset_default_graph():
    """Replaces the program's default graph by an empty one. Returns None.

    Tensors of the old graph, of whatever shape and dtype, do not go with those
    of the new one. AssertionError within `with graph.as_default()`."""
    global _global_graph
    if _headrace.default_graph_depth():
        raise AssertionError("Do not use tf.reset_default_graph() to clear "
                             "nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _global_graph = None


def leave_default_graphs():
    """Makes the program's default graph this thread's, as if all blocks of
    Graph.as_default() had ended. Their ends do nothing then."""
    while _headrace.default_graph_depth() and (
            not get_default_graph()._eager):
        _headrace.pop_default_graph()


class name_scope:
    """`with name_scope(name, default_name, values)`: a scope of the graph that
    `values` belong to. `name` None means `default_name`.

    As a context manager it gives the scope's full name, a string with "/" at
    the end. It makes no tensors, so shapes and dtypes do not matter. ValueError
    if `values` are of different graphs, if both names are None while there are
    values, or for a name with characters that scopes may not have; TypeError
    for a name that is no string."""

    def __init__(self, name, default_name=None, values=None):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                "`default_name` type (%s) is not a string type. You likely "
                "meant to pass this into the `values` kwarg."
                % type(default_name))
        self._name = default_name if name is None else name
        self._values = values

    @property
    def name(self):
        return self._name

    def __enter__(self):
        if self._name is None and self._values is not None:
            raise ValueError("At least one of name (None) and default_name "
                             "(None) must be provided.")
        graph = graph_of(self._values)
        if graph._eager:
            self._stack = graph.name_scope(self._name)
            return self._stack.__enter__()
        with contextlib.ExitStack() as stack:
            stack.enter_context(graph.as_default())
            scope = stack.enter_context(graph.name_scope(self._name))
            self._stack = stack.pop_all()
        return scope

    def __exit__(self, *error):
        self._stack.__exit__(*error)


def op_scope(values, name, default_name=None):
    """As name_scope, with another order of arguments."""
    return name_scope(name, default_name, values)


def graph_of(values):
    """The graph of the first of `values` that has one, else the default; in a
    function that is being traced, the function's."""
    current = get_default_graph()
    if current._captures:
        return current
    found = first = None
    for v in values or ():
        if type(v) is EagerTensor:
            continue
        if isinstance(v, (list, tuple)):
            v = next((w for w in v if isinstance(w, Tensor)
                      and type(w) is not EagerTensor), None)
        elif not isinstance(v, (Tensor, Operation)):
            v = (v._as_graph_element() if hasattr(v, "_as_graph_element")
                 else None)
        if v is None or type(v) is EagerTensor:
            continue
        if found is None:
            found, first = v.graph, v
        elif v.graph is not found:
            raise ValueError("%s must be from the same graph as %s."
                             % (v, first))
    return found or current


def control_dependencies(control_inputs):
    """Graph.control_dependencies of the default graph: `with
    tf.control_dependencies([a, b])`, operations that are made inside run after
    a and b.

    `control_inputs`: Operations, and Tensors or Variables of any shape and
    dtype; None removes the dependencies of the scopes around it. TypeError for
    other things, ValueError for those of another graph."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function):
    """Graph.device of the default graph: `with tf.device("/cpu:0")` places the
    operations that are made inside.

    `device_name_or_function`: a string, a DeviceSpec, a function of an
    Operation that returns one, or None to ignore the scopes around it. Values
    of any shape and dtype may be placed. ValueError, when a node is made, for a
    string that is no device's name; the run raises InvalidArgumentError if no
    device has it and soft placement is off."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op, ignore_existing=False):
    """Graph.colocate_with of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name):
    """Graph.container of the default graph."""
    return get_default_graph().container(container_name)


@contextlib.contextmanager
def init_scope():
    """Lifts control dependencies, as variables do for what makes them. Inside
    of a function that is being traced, nodes go into the graph around it, with
    the names and, if it asks for any, the devices that nodes of the function
    would have."""
    inner = get_default_graph()
    left = []
    while _headrace.default_graph_depth() and (
            get_default_graph().building_function):
        left.append(get_default_graph())
        _headrace.pop_default_graph()
    graph = get_default_graph()
    for function in reversed(left):
        _headrace.push_default_graph(function)
    with contextlib.ExitStack() as stack:
        stack.enter_context(graph.as_default())
        if left:
            if inner.get_name_scope():
                stack.enter_context(
                    graph.name_scope(inner.get_name_scope() + "/"))
            if inner._device_stack:
                outer, graph._device_stack = (graph._device_stack,
                                              list(inner._device_stack))
                stack.callback(_set_device_stack, graph, outer)
                graph._merge_device_stack()
        if not graph._eager:
            stack.enter_context(graph.control_dependencies(None))
        yield


def _set_device_stack(graph, stack):
    graph._device_stack = stack
    graph._merge_device_stack()


def add_to_collection(name, value):
    """Graph.add_to_collection of the default graph: `value`, of any kind, shape
    and dtype, joins the collection `name`, a string. Returns None. RuntimeError
    for a graph that is finalized."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Graph.add_to_collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """Graph.get_collection of the default graph: a list of what
    add_to_collection has put there under `key`, with values of any shape and
    dtype; empty if there is nothing.

    `scope`: a regular expression for the beginning of the names; what has no
    name is left out then. TypeError if it is no string."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """Graph.get_collection_ref of the default graph."""
    return get_default_graph().get_collection_ref(key)
