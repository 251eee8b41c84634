"""tf.contrib.graph_editor: choosing operations and tensors by name, by what is
before and after them, and by boundaries."""
import re

from headrace._headrace import Tensor
from headrace._src.framework.graph import Graph
from headrace._src.graph_editor import util


def can_be_regex(obj):
    """True for a string and for a compiled regular expression."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    """The compiled regular expression. ValueError if `obj` is neither a string
    nor one."""
    if not can_be_regex(obj):
        raise ValueError("Expected a string or a regex, got: %s" % type(obj))
    return re.compile(obj)


def _input_ts(ops):
    return list(dict.fromkeys(t for op in ops for t in op.inputs))


def _output_ts(ops):
    return [t for op in ops for t in op.outputs]


def filter_ts(ops, positive_filter):
    """The inputs and outputs of `ops` that the function `positive_filter` is
    true of, tensors of any shape and dtype, each once, as a list.

    ops: as make_list_of_op takes them. positive_filter: True for all.
    TypeError for what is no operation."""
    ops = util.make_list_of_op(ops)
    ts = util.concatenate_unique(_input_ts(ops), _output_ts(ops))
    if positive_filter is True:
        return ts
    return [t for t in ts if positive_filter(t)]


def filter_ts_from_regex(ops, regex):
    """The inputs and outputs of `ops` with a name ("a/b:0") in which `regex` is
    found, tensors of any shape and dtype. TypeError for what is no operation,
    ValueError for what is no regular expression."""
    search = make_regex(regex).search
    return filter_ts(ops, lambda t: search(t.name))


def filter_ops(ops, positive_filter):
    """The operations of `ops` that the function `positive_filter` is true of,
    as a list; all, if it is True. They have outputs of any shape and dtype.
    TypeError for what is no operation."""
    ops = util.make_list_of_op(ops)
    if positive_filter is True:
        return ops
    return [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops, regex):
    """The operations of `ops` with a name in which `regex` is found, as a list.
    They have outputs of any shape and dtype. TypeError for what is no
    operation, ValueError for what is no regular expression."""
    search = make_regex(regex).search
    return filter_ops(ops, lambda op: search(op.name))


def get_name_scope_ops(ops, scope):
    """The operations of `ops` below the name scope `scope`, and the one that
    has its name, with outputs of any shape and dtype. TypeError for what is no
    operation."""
    if scope.endswith("/"):
        scope = scope[:-1]
    return filter_ops_from_regex(ops, "^%s(/.*)?$" % scope)


def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """(control_inputs, control_outputs), of which both come from `control_ios`
    if that is given. The ControlOutputs are brought up to date.

    TypeError for what should be a ControlOutputs and is none; ValueError for
    both control_outputs and control_ios."""
    if control_ios is not None:
        if control_outputs is not None and isinstance(
                control_ios, util.ControlOutputs):
            raise ValueError("control_outputs should be None when using "
                             "control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        if not isinstance(control_outputs, util.ControlOutputs):
            raise TypeError("Expected a util.ControlOutputs, got: %s"
                            % type(control_outputs))
        control_outputs.update()
    return control_inputs, control_outputs


def _neighbours(ops, control_inputs, control_outputs):
    found: dict = {}
    for op in ops:
        found.update(dict.fromkeys(t.op for t in op.inputs))
        for t in op.outputs:
            found.update(dict.fromkeys(t.consumers()))
        if control_outputs is not None:
            found.update(dict.fromkeys(control_outputs.get(op)))
        if control_inputs:
            found.update(dict.fromkeys(op.control_inputs))
    return list(found)


def get_ops_ios(ops, control_inputs=False, control_outputs=None,
                control_ios=None):
    """The operations that give an input to one of `ops` or take an output of
    it, each once, as a list. They have outputs of any shape and dtype.

    control_inputs: control inputs count, too. control_outputs: a
    ControlOutputs, if control outputs count. control_ios: one for both.
    TypeError for what is no operation or no ControlOutputs."""
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios)
    return _neighbours(util.make_list_of_op(ops), control_inputs,
                       control_outputs)


def compute_boundary_ts(ops):
    """(inputs, outputs, insides): three lists of tensors of any shape and
    dtype.

    inputs: those that `ops` take from other operations. outputs: those of `ops`
    that others take or nobody takes. insides: those that one of `ops` gives to
    another; they may be outputs, too. TypeError for what is no operation."""
    ops = util.make_list_of_op(ops)
    inside = set(ops)
    taken = _input_ts(ops)
    insides = [t for t in taken if t.op in inside]
    hidden = {t for t in insides if inside.issuperset(t.consumers())}
    return ([t for t in taken if t.op not in inside],
            [t for t in _output_ts(ops) if t not in hidden], insides)


def get_within_boundary_ops(ops, seed_ops, boundary_ops=(), inclusive=True,
                            control_inputs=False, control_outputs=None,
                            control_ios=None):
    """The operations of `ops` that are reached from `seed_ops`, forwards and
    backwards, without passing one of `boundary_ops`, as a list. They have
    outputs of any shape and dtype.

    inclusive: with the boundary itself. control_inputs, control_outputs,
    control_ios: as for get_ops_ios. TypeError for what is no operation;
    ValueError if a seed is in the boundary."""
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios)
    ops = util.make_list_of_op(ops)
    wave = util.make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(util.make_list_of_op(boundary_ops))
    found = set(wave)
    if found & boundary:
        raise ValueError("Boundary is intersecting with the seeds.")
    while wave:
        reached = [op for op in _neighbours(wave, control_inputs,
                                            control_outputs)
                   if op not in found]
        wave = [op for op in reached if op not in boundary]
        found.update(reached if inclusive else wave)
    return [op for op in ops if op in found]


def _walk(seed_ops, of_tensors, following, inclusive, within_ops,
          within_ops_fn):
    """The operations reached from the seeds by `following(op)`, nearest
    first."""
    seeds = list(seed_ops) if util.is_iterable(seed_ops) else [seed_ops]
    if not seeds:
        return []
    if isinstance(seeds[0], Tensor):
        seeds = of_tensors(seeds)
    else:
        seeds = util.make_list_of_op(seeds, allow_graph=False)
    within = None
    if within_ops:
        within = set(util.make_list_of_op(within_ops, allow_graph=False))
    return reached_ops(seeds, following, inclusive, within, within_ops_fn)


def reached_ops(seeds, following, inclusive, within, within_ops_fn):
    """As a list, nearest first, the operations that `following(op)` leads to
    from the operations `seeds`, with these if inclusive; only those of the set
    `within`, unless it is None, and those that within_ops_fn, which may be
    None, is true of, but for the seeds."""
    if within is not None:
        seeds = [op for op in seeds if op in within]
    found = dict.fromkeys(seeds)
    seeds = wave = list(found)
    while wave:
        reached = dict.fromkeys(
            op for before in wave for op in following(before)
            if op not in found and (within is None or op in within)
            and (within_ops_fn is None or within_ops_fn(op)))
        found.update(reached)
        wave = list(reached)
    return list(found)[0 if inclusive else len(seeds):]


def get_forward_walk_ops(seed_ops, inclusive=True, within_ops=None,
                         within_ops_fn=None, stop_at_ts=(),
                         control_outputs=None):
    """The operations that depend on `seed_ops`, as a list, nearest first. They
    have outputs of any shape and dtype.

    seed_ops: operations, or tensors, which stand for those that take them.
    inclusive: with the seeds. within_ops, within_ops_fn: only these operations,
    and those that the function is true of. stop_at_ts: tensors that the walk
    does not pass. control_outputs: a ControlOutputs, if it goes by control
    edges, too. TypeError for what is no operation or tensor."""
    _, control_outputs = check_cios(False, control_outputs)
    stops = set(util.make_list_of_t(stop_at_ts))

    def following(op):
        for t in op.outputs:
            if t not in stops:
                yield from t.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    return _walk(seed_ops, util.get_consuming_ops, following, inclusive,
                 within_ops, within_ops_fn)


def get_backward_walk_ops(seed_ops, inclusive=True, within_ops=None,
                          within_ops_fn=None, stop_at_ts=(),
                          control_inputs=False):
    """The operations that `seed_ops` depend on, as a list, nearest first. They
    have outputs of any shape and dtype.

    seed_ops: operations, or tensors, which stand for those that give them.
    control_inputs: the walk goes by control inputs, too. The other arguments
    and errors are those of get_forward_walk_ops."""
    stops = set(util.make_list_of_t(stop_at_ts))

    def following(op):
        for t in op.inputs:
            if t not in stops:
                yield t.op
        if control_inputs:
            yield from op.control_inputs

    return _walk(seed_ops, util.get_generating_ops, following, inclusive,
                 within_ops, within_ops_fn)


def _both_walks(forward_seed_ops, backward_seed_ops, forward_inclusive,
                backward_inclusive, within_ops, within_ops_fn, control_inputs,
                control_outputs, control_ios):
    control_inputs, control_outputs = check_cios(
        control_inputs, control_outputs, control_ios)
    return (get_forward_walk_ops(
                forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                control_outputs=control_outputs),
            get_backward_walk_ops(
                backward_seed_ops, backward_inclusive, within_ops,
                within_ops_fn, control_inputs=control_inputs))


def get_walks_intersection_ops(forward_seed_ops, backward_seed_ops,
                               forward_inclusive=True, backward_inclusive=True,
                               within_ops=None, within_ops_fn=None,
                               control_inputs=False, control_outputs=None,
                               control_ios=None):
    """The operations that depend on `forward_seed_ops` and that
    `backward_seed_ops` depend on, as a list. They have outputs of any shape and
    dtype.

    forward_inclusive, backward_inclusive: with these seeds. within_ops,
    within_ops_fn: as for get_forward_walk_ops. control_inputs, control_outputs,
    control_ios: as for get_ops_ios. TypeError for what is no operation or
    tensor."""
    forward, backward = _both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive,
        backward_inclusive, within_ops, within_ops_fn, control_inputs,
        control_outputs, control_ios)
    both = set(backward)
    return [op for op in forward if op in both]


def get_walks_union_ops(forward_seed_ops, backward_seed_ops,
                        forward_inclusive=True, backward_inclusive=True,
                        within_ops=None, within_ops_fn=None,
                        control_inputs=False, control_outputs=None,
                        control_ios=None):
    """The operations that depend on `forward_seed_ops` or that
    `backward_seed_ops` depend on, each once, as a list. Arguments and errors,
    shapes and dtypes are those of get_walks_intersection_ops."""
    return util.concatenate_unique(*_both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive,
        backward_inclusive, within_ops, within_ops_fn, control_inputs,
        control_outputs, control_ios))


def _select(args, kwargs, prefix, other_prefix, restrict, from_regex,
            make_list):
    """Of regular expressions those that do not begin with `other_prefix`, and,
    with `restrict`, those that begin with `prefix`."""
    graph = kwargs.pop("graph", None)
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError("Expected a tf.Graph, got: %s" % type(graph))
    positive_filter = kwargs.pop("positive_filter", None)
    for key in kwargs:
        if key not in ("restrict_ops_regex", "restrict_ts_regex"):
            raise ValueError("Wrong keywords argument: %s." % key)
    found: list = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use "
                                 "regex.")
            regex = make_regex(arg)
            if regex.pattern.startswith(other_prefix) or (
                    restrict and not regex.pattern.startswith(prefix)):
                continue
            chosen = from_regex(graph, regex)
        else:
            chosen = make_list(arg)
        util.concatenate_unique(found, (
            x for x in chosen if positive_filter is None or positive_filter(x)))
    return found


def select_ops(*args, **kwargs):
    """The operations that `args` name, each once, as a list. They have outputs
    of any shape and dtype.

    args: regular expressions, operations and lists of them; tensors are left
    out, and regular expressions that begin with "(?#ts)". graph: the graph
    whose names are searched. positive_filter: a function that must be true of
    each. restrict_ops_regex: only regular expressions that begin with
    "(?#ops)". TypeError for other arguments; ValueError for other keywords, and
    for a regular expression without a graph."""
    return _select(args, kwargs, "(?#ops)", "(?#ts)",
                   kwargs.get("restrict_ops_regex", False),
                   filter_ops_from_regex,
                   lambda arg: util.make_list_of_op(arg, ignore_ts=True))


def select_ts(*args, **kwargs):
    """The tensors that `args` name, of any shape and dtype, each once, as a
    list.

    args: regular expressions, tensors and lists of them; operations are left
    out, and regular expressions that begin with "(?#ops)". graph: the graph
    whose names are searched. positive_filter: a function that must be true of
    each. restrict_ts_regex: only regular expressions that begin with "(?#ts)".
    TypeError for other arguments; ValueError for other keywords, and for a
    regular expression without a graph."""
    return _select(args, kwargs, "(?#ts)", "(?#ops)",
                   kwargs.get("restrict_ts_regex", False),
                   filter_ts_from_regex,
                   lambda arg: util.make_list_of_t(arg, ignore_ops=True))


def select_ops_and_ts(*args, **kwargs):
    """(operations, tensors) that `args` name: two lists. The tensors, and the
    outputs of the operations, have any shape and dtype.

    args: regular expressions, operations, tensors and lists of them. A regular
    expression for tensors begins with "(?#ts)"; any other is for operations.
    graph, positive_filter, errors: as for select_ops."""
    return (select_ops(*args, restrict_ops_regex=False, **kwargs),
            select_ts(*args, restrict_ts_regex=True, **kwargs))
