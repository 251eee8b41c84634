"""tf.contrib.graph_editor: lists of operations and tensors, trees of them,
control outputs, names in scopes, and placeholders."""
from headrace._headrace import Operation, Tensor
from headrace._src.framework.graph import Graph, GraphKeys
from headrace._src.ops import array_ops

DEFAULT_PREFIX = "geph"  # graph editor placeholder


class ListView:
    """A list that is only read. TypeError for what is no list."""

    def __init__(self, list_):
        if not isinstance(list_, list):
            raise TypeError("ListView: list_ must be a list, got: %s"
                            % type(list_))
        self._list = list_

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def __bool__(self):
        return bool(self._list)

    def __getitem__(self, i):
        return self._list[i]

    def __add__(self, other):
        return [*self._list, *other]


def concatenate_unique(la, lb):
    """Appends to list `la` the elements of `lb` that it lacks. Returns `la`."""
    known = set(la)
    for x in lb:
        if x not in known:
            known.add(x)
            la.append(x)
    return la


def is_iterable(obj):
    """True for what gives an iterator. A tensor is one value here."""
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except Exception:  # what an object's own __iter__ raises
        return False
    return True


def flatten_tree(tree, leaves=None):
    """The leaves of nested iterables, as a list; of dicts, those of the values.
    `leaves`: a list to append them to."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict):
        tree = list(tree.values())
    if is_iterable(tree):
        for child in tree:
            flatten_tree(child, leaves)
    else:
        leaves.append(tree)
    return leaves


def transform_tree(tree, fn, iterable_type=tuple):
    """The same nest of iterables with fn(leaf) for each leaf. An iterable that
    is no dict, tuple or sequence becomes an `iterable_type`."""
    if isinstance(tree, str) or not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((k, transform_tree(v, fn)) for k, v in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(transform_tree(v, fn) for v in tree))
    kind = type(tree) if isinstance(tree, (list, tuple)) else iterable_type
    return kind(transform_tree(v, fn) for v in tree)


def check_graphs(*args):
    """ValueError if two of `args` have different graphs. A view without a graph
    fits all."""
    graphs = [a.graph for a in args]
    first = next((g for g in graphs if g is not None), None)
    for i, g in enumerate(graphs):
        if g is not None and g is not first:
            raise ValueError("Argument[%d]: Wrong graph!" % i)


def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The graph of all operations and tensors in `tops`, or the graph that it
    is.

    check_types: a type or several that elements may have. none_if_empty:
    without elements, the result is None. TypeError for what is not iterable
    and for elements of other types; ValueError for elements of several graphs
    and for none."""
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError("%s is not iterable" % type(tops))
    if check_types is None:
        check_types = (Operation, Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    graph = None
    for top in tops:
        if not isinstance(top, tuple(check_types)):
            raise TypeError("Expected a type in (%s), got: %s" % (
                ", ".join(map(str, check_types)), type(top)))
        if graph is None:
            graph = top.graph
        elif graph is not top.graph:
            raise ValueError("Operation %s does not belong to given graph"
                             % top.name)
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _make_list(values, kind, of_graph, check_graph, allow_graph, ignore):
    if isinstance(values, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return of_graph(values)
    values = list(values) if is_iterable(values) else [values]
    if values and check_graph:
        get_unique_graph(values, check_types=None if ignore else (kind,))
    return [v for v in values if isinstance(v, kind)]


def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """A new list of operations: of an Operation, an iterable of them, or those
    of a Graph.

    check_graph: all must be of one graph. allow_graph: `ops` may be a Graph.
    ignore_ts: leave out tensors of any shape and dtype. TypeError for what is
    no operation; ValueError for operations of several graphs."""
    return _make_list(ops, Operation, lambda g: g.get_operations(), check_graph,
                      allow_graph, ignore_ts)


def get_tensors(graph):
    """All outputs of the operations of `graph`, tensors of any shape and dtype,
    as a list. TypeError if it is no Graph."""
    if not isinstance(graph, Graph):
        raise TypeError("Expected a graph, got: %s" % type(graph))
    return [t for op in graph.get_operations() for t in op.outputs]


def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """A new list of tensors of any shape and dtype: of a Tensor, an iterable of
    them, or those of a Graph.

    check_graph: all must be of one graph. allow_graph: `ts` may be a Graph.
    ignore_ops: leave out operations. TypeError for what is no tensor;
    ValueError for tensors of several graphs."""
    return _make_list(ts, Tensor, get_tensors, check_graph, allow_graph,
                      ignore_ops)


def get_generating_ops(ts):
    """The operation of each tensor in `ts`, of any shape and dtype, as a list.
    TypeError for what is no tensor."""
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts):
    """The operations that take a tensor of `ts`, of any shape and dtype, each
    once, as a list. TypeError for what is no tensor."""
    ops: list = []
    for t in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(ops, t.consumers())
    return ops


class ControlOutputs:
    """The operations of a graph that wait for others by control edges.
    Operations have outputs of any shape and dtype. TypeError if `graph` is no
    Graph."""

    def __init__(self, graph):
        if not isinstance(graph, Graph):
            raise TypeError("Expected a tf.Graph, got: %s" % type(graph))
        self._graph = graph
        self._control_outputs = {}
        self._version = None
        self.update()

    def update(self):
        """Looks at the graph again if it has new operations. Returns self."""
        if self._version != self._graph.version:
            self._control_outputs.clear()
            for op in self._graph.get_operations():
                for before in op.control_inputs:
                    self._control_outputs.setdefault(before, []).append(op)
            self._version = self._graph.version
        return self

    def get_all(self):
        """{operation: list of those that wait for it}."""
        return self._control_outputs

    def get(self, op):
        """The operations that wait for `op`: a list, or () if none does."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self):
        return self._graph


def scope_finalize(scope):
    """The scope with a "/" at its end; "" stays."""
    return scope + "/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope):
    """What is before the last "/", with it; "" if there is none."""
    return scope[:scope.rfind("/") + 1]


def scope_basename(scope):
    """What is after the last "/"."""
    return scope[scope.rfind("/") + 1:]


def placeholder_name(t=None, scope=None, prefix=DEFAULT_PREFIX):
    """The name of a placeholder: "scope/geph__name_0" for output 0 of
    operation "name", or "scope/geph" without a tensor.

    `t`: a tensor of any shape and dtype, or None. `scope`: where the name is;
    None for the scope of `t`, "" for the root. TypeError if `t` is no
    tensor."""
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return (scope or "") + prefix
    if not isinstance(t, Tensor):
        raise TypeError("placeholder_name: t must be a tf.Tensor, got: %s"
                        % type(t))
    if scope is None:
        scope = scope_dirname(t.op.name)
    name = scope_basename(t.op.name)
    if not name.startswith(prefix + "__"):
        name = "%s__%s_%d" % (prefix, name, t.value_index)
    return scope + name


def make_placeholder_from_tensor(t, scope=None, prefix=DEFAULT_PREFIX):
    """A placeholder of the shape and dtype of tensor `t`, in the default graph.

    `scope`: where its name is; None for the scope of `t`, "" for the root. The
    name scope of the graph comes before it. TypeError if `t` is no tensor."""
    return array_ops.placeholder(
        t.dtype, t.shape, placeholder_name(t, scope=scope, prefix=prefix))


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None,
                                          prefix=DEFAULT_PREFIX):
    """A placeholder of this dtype in the default graph, named "scope/geph".

    `shape`: None for any, or a list with None for sizes that may vary. `scope`:
    a scope below that of the graph. TypeError for what is no dtype."""
    return array_ops.placeholder(
        dtype, shape, placeholder_name(scope=scope, prefix=prefix))


def get_predefined_collection_names():
    """The names of the collections that the library itself uses: those of
    GraphKeys."""
    return [value for key, value in vars(GraphKeys).items()
            if not key.startswith("__")]


def find_corresponding_elem(target, dst_graph, dst_scope="", src_scope=""):
    """The operation or tensor of `dst_graph` whose name is that of `target`,
    with `dst_scope` in the place of `src_scope`.

    ValueError if `target` is not in `src_scope`, KeyError if the graph has no
    such element, TypeError if `target` is neither operation nor tensor."""
    if not isinstance(target, (Operation, Tensor)):
        raise TypeError("Expected tf.Tensor or tf.Operation, got: %s"
                        % type(target))
    src_scope = scope_finalize(src_scope)
    if not target.name.startswith(src_scope):
        raise ValueError("%s does not start with %s" % (target.name, src_scope))
    name = scope_finalize(dst_scope) + target.name[len(src_scope):]
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    return dst_graph.get_operation_by_name(name)


def find_corresponding(targets, dst_graph, dst_scope="", src_scope=""):
    """find_corresponding_elem for each leaf of nested iterables, in the same
    nest."""
    return transform_tree(targets, lambda top: find_corresponding_elem(
        top, dst_graph, dst_scope, src_scope))
