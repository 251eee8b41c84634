"""Contexts: they make branches and loops of the ops Switch, Merge, Enter, Exit,
NextIteration and LoopCond.

While the functions of a branch or a loop build their nodes, the graph has a
context (Graph._flow_context). A new node asks the innermost context for its
inputs. A tensor from outside enters a branch through a Switch and a loop through a
constant Enter; each is made once. A node without inputs gets a control edge from
the context's pivot: without it, the node would run whatever the predicate is. An
inner context takes outer tensors from the context around it.
"""
import contextlib

from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape


def _key(tensor):
    return tensor.op._id, tensor.value_index


def _is_ref(tensor):
    return tensor.dtype._is_ref_dtype


def switch(data, pred, name=None):
    """(output if false, output if true)."""
    op = _raw.RefSwitch if _is_ref(data) else _raw.Switch
    return op(data, pred, name=name)


def _switch_value(data, pred):
    """_switch, which goes where the value is, whatever the node that takes it
    is colocated with."""
    with _graph.colocate_with(data, ignore_existing=True):
        return switch(data, pred, name="Switch")


def _enter(data, frame_name, is_constant, parallel_iterations):
    op = _raw.RefEnter if _is_ref(data) else _raw.Enter
    return op(data, frame_name=frame_name, is_constant=is_constant,
              parallel_iterations=parallel_iterations)


def merge(inputs):
    op = _raw.RefMerge if all(_is_ref(x) for x in inputs) else _raw.Merge
    return op(list(inputs))[0]


def _identity(x):
    return (_raw.RefIdentity if _is_ref(x) else _raw.Identity)(x)


def _exit(x):
    return (_raw.RefExit if _is_ref(x) else _raw.Exit)(x)


def _next_iteration(x):
    return (_raw.RefNextIteration if _is_ref(x) else _raw.NextIteration)(x)


def _is_loop_exit(op):
    return op.type in ("Exit", "RefExit")


def _is_loop_constant(op):
    return (op.type in ("Enter", "RefEnter")
            and bool(op.get_attr("is_constant")))


def context_of(op):
    """The context that an operation was made in, or None."""
    return op.graph._flow_contexts.get(op._id)


def output_context(op):
    """The context that the outputs of an operation belong to, or None."""
    context = context_of(op)
    if context is not None and _is_loop_exit(op):
        return context.outer_context
    return context


def _chain(context):
    """The context and those around it, outermost first."""
    contexts = []
    while context is not None:
        contexts.append(context)
        context = context.outer_context
    return contexts[::-1]


def place_of(here, enter):
    """The innermost context around both `here`, a context or None, and the
    loop of an Enter; `here` if that is None. ValueError if the loop lies
    outside of a loop around `here`."""
    if enter is None:
        return here
    context = context_of(enter)
    if isinstance(context, WhileContext):
        context = context.outer_context
    found = None
    for a, b in zip(_chain(here), _chain(context)):
        if a is not b:
            break
        found = a
    loop = None if here is None else here.while_context()
    if loop is not (None if found is None else found.while_context()):
        raise ValueError(
            "Cannot compute gradient inside while loop '%s' through the while "
            "loop of '%s', because they are in different while loops." % (
                loop.name, enter.name))
    return found


class ControlFlowContext:
    """What cond and while_loop have in common."""

    def __init__(self):
        self._graph = _graph.get_default_graph()
        self._outer = self._graph._flow_context
        self._entered = []
        self._values = set()     # keys of the tensors that belong here
        self._external = {}      # key of an outer tensor -> what stands for it

    outer_context = property(lambda self: self._outer)

    def enter(self):
        self._entered.append(self._graph._flow_context)
        self._graph._flow_context = self

    def exit(self):
        self._graph._flow_context = self._entered.pop()

    @contextlib.contextmanager
    def _inside(self):
        self.enter()
        try:
            yield
        finally:
            self.exit()

    # As programs ask a context that a graph or an operation gives them.

    def IsWhileContext(self):
        return self.while_context() is self

    def IsCondContext(self):
        return isinstance(self, CondContext)

    def IsXLAContext(self):
        return False

    def GetWhileContext(self):
        """while_context."""
        return self.while_context()

    def while_context(self):
        """This loop, or the innermost one around it, or None."""
        return None if self._outer is None else self._outer.while_context()

    # As programs that import graphs into a branch or a loop call it.

    def Enter(self):
        self.enter()

    def Exit(self):
        self.exit()

    def AddValue(self, val):
        """`val`, a tensor, as it is known inside."""
        return self.add_value(val)

    def _adopt_exit(self, op):
        """Takes the Exit of a loop that no context made: its value is here."""
        with self._inside():
            loop = _LoopOfGradient()
        loop._adopt(op)
        for context in _chain(self):
            context._values.update((op._id, i) for i in range(len(op.outputs)))

    def _leave(self, results):
        """Makes the context's results known to the outer one."""
        if self._outer is not None:
            self._outer._values.update(_key(t) for t in results)

    def _split_control(self, control):
        """Control inputs from this loop, and those from outside it. Without a
        loop around, all may stay."""
        loop = self.while_context()
        if loop is None:
            return control, []
        inside, outside = [], []
        for op in control:
            context = output_context(op)
            within = context is not None and context.while_context() is loop
            (inside if within else outside).append(op)
        return inside, outside

    def _adopt(self, op):
        self._graph._flow_contexts[op._id] = self
        if self._outer is not None or not _is_loop_exit(op):
            self._graph._mark_internal(op._id)
        context = output_context(op)
        if context is not None and context.while_context() is not None:
            self._graph._mark_in_loop(op._id)

    def _check_inputs(self, op_type, inputs):
        """ValueError for a value of a loop that is not around this context."""
        loop = self.while_context()
        if loop is None and op_type in ("Enter", "RefEnter", "Switch",
                                        "RefSwitch"):
            return
        for t in inputs:
            context = output_context(t.op)
            if context is None or context is self:
                continue
            wanted = context.while_context()
            around = loop
            while around is not None and around is not wanted:
                around = around._outer
            if around is wanted:
                continue
            name = self._graph._name_scope  # of the new node
            raise ValueError(
                "Cannot use '%s' as input to '%s' because %s." % (
                    t.op.name, name,
                    "they are in different while loops" if loop is not None
                    else "'%s' is in a while loop" % t.op.name))


def adopt_imported(context, operations):
    """Takes nodes that were imported inside a branch or loop into it: outer
    tensors come in as for any node, and what nothing else binds to the branch
    or iteration waits for the pivot."""
    for op in operations:
        context._after_add(op)
    imported = {op._id for op in operations}
    for op in operations:
        before = list(op.inputs)
        control = list(op.control_inputs)
        inputs, wanted = context._before_add(op.type, before, control)
        for i, (old, new) in enumerate(zip(before, inputs)):
            if new is not old:
                op._update_input(i, new)
        if any(t.op._id in imported for t in before):
            continue  # bound by that node
        for c in wanted:
            if all(c is not known for known in control):
                op._add_control_input(c)


class _LoopOfGradient(ControlFlowContext):
    """A loop that is the gradient of another."""

    def while_context(self):
        return self


class CondContext(ControlFlowContext):
    """One branch of a cond."""

    def __init__(self, pred, pivot, branch, name="cond_text"):
        super().__init__()
        self._name = self._graph.unique_name(name)
        self._pred = pred
        self._pivot = pivot
        self._branch = branch  # 1 where pred is true
        self._values |= {_key(pred), _key(pivot)}
        self._external[_key(pred)] = pred
        self._adopt(pivot.op)

    name = property(lambda self: self._name)
    pred = property(lambda self: self._pred)
    pivot = property(lambda self: self._pivot)
    branch = property(lambda self: self._branch)

    def control_pivot(self):
        return self._pivot

    def add_value(self, tensor):
        """`tensor` as it is known in this branch."""
        key = _key(tensor)
        if key in self._values:
            return self._external.get(key, tensor)
        result = tensor
        if self._outer is not None:
            result = self._outer.add_value(tensor)
            self._values.add(_key(result))
            self._external[_key(result)] = result
        with self._graph.control_dependencies(None):
            # The Switch itself is of the branch: what it gives is dead if the
            # other one is taken.
            result = _switch_value(result, self._pred)[self._branch]
        self._adopt(result.op)
        self._values.add(key)
        self._external[key] = result
        self._values.add(_key(result))
        context = self._outer  # where gradients may read both outputs
        while context is not None:
            context._values.update((result.op._id, i) for i in (0, 1))
            context = context._outer
        return result

    def _before_add(self, op_type, inputs, control):
        self._check_inputs(op_type, inputs)
        control, _ = self._split_control(control)
        if not inputs:
            if not any(output_context(op) is self for op in control):
                control = control + [self._pivot.op]
            return inputs, control
        return [self.add_value(t) for t in inputs], control

    def _after_add(self, op):
        self._adopt(op)
        keys = [(op._id, i) for i in range(len(op.outputs))]
        context = self
        while context is not None:
            context._values.update(keys)
            context = context._outer

    def build(self, function):
        """Calls the branch's function. Returns what it returned, and the flat
        list of its tensors here."""
        original = function()
        if original is None:
            return None, None
        flat = [self._result(x) for x in expand(nest.flatten(original))]
        return original, flat

    def _result(self, value):
        if isinstance(value, Operation):
            # The pivot, once the operation has run, stands for it.
            with self._graph.control_dependencies([value]):
                return _raw.Identity(self._pivot, name="control_dependency")
        if not isinstance(value, Tensor):
            value = convert_to_tensor(value)
        return self.add_value(value)


# An object made of tensors (a SparseTensor), or that a tensor orders (a
# TensorArray), goes through a branch or a loop as its _flow_components().

def expand(leaves):
    """The leaves, each such object replaced by its components."""
    out = []
    for x in leaves:
        if hasattr(x, "_flow_components"):
            out.extend(x._flow_components())
        else:
            out.append(x)
    return out


def collapse(leaves, tensors):
    """The tensors again as objects of the kinds of `leaves`."""
    tensors = iter(tensors)
    return [x._from_flow_components([next(tensors)
                                     for _ in x._flow_components()])
            if hasattr(x, "_flow_components") else next(tensors)
            for x in leaves]


class WhileContext(ControlFlowContext):
    """One loop. What its nodes are, once it is built, for those that go
    through them: loop_enters, loop_exits, pivot."""

    def __init__(self, parallel_iterations=10, back_prop=True,
                 swap_memory=False, maximum_iterations=None,
                 name="while_context"):
        super().__init__()
        self._name = self._graph.unique_name(name)
        self.parallel_iterations = parallel_iterations
        self.back_prop = back_prop
        self.swap_memory = swap_memory
        self.maximum_iterations = maximum_iterations
        self.pivot = None           # LoopCond's output
        self._pivot_for_pred = None
        self._pivot_for_body = None
        self.loop_enters = []
        self.loop_exits = []
        self.loop_merges = []

    name = property(lambda self: self._name)

    def while_context(self):
        return self

    def control_pivot(self):
        return (self._pivot_for_pred if self._pivot_for_body is None
                else self._pivot_for_body)

    def add_value(self, tensor):
        """`tensor` as it is known in this loop."""
        key = _key(tensor)
        if key in self._values or context_of(tensor.op) is self:
            return self._external.get(key, tensor)
        self._values.add(key)
        result = tensor
        if self._outer is not None:
            result = self._outer.add_value(tensor)
        with self._graph.control_dependencies(None):
            enter = _enter(result, self._name, True, self.parallel_iterations)
        self._adopt_enters([enter])
        self._values.add(_key(enter))
        self._external[key] = enter
        return enter

    def _adopt_enters(self, enters):
        """Enters belong here, but wait for what the scopes around ask for, as
        far as that lies in the contexts around and in the same loop."""
        around = self._outer
        outer_loop = None if around is None else around.while_context()
        for enter in enters:
            wait = []
            for op in self._graph._control_dependencies_for_inputs(
                    [enter.op.inputs[0]]):
                context, wanted, keep = around, output_context(op), True
                while context is not wanted:
                    if context is None or context is outer_loop:
                        keep = False
                        break
                    context = context._outer
                if keep:
                    wait.append(op)
            self._adopt(enter.op)
            for op in wait:
                enter.op._add_control_input(op)
            self._graph._record_seen_by_control(enter.op)

    def _before_add(self, op_type, inputs, control):
        self._check_inputs(op_type, inputs)
        inputs = [self.add_value(t) for t in inputs]
        control, outside = self._split_control(control)
        if not control and all(_is_loop_constant(t.op) for t in inputs):
            # Nothing else would bind it to an iteration.
            pivot = self.control_pivot()
            control = [] if pivot is None else [pivot.op]
        if outside:
            # A control input from outside comes in as data.
            with self._graph.control_dependencies(None), self._inside():
                control = control + [_raw.Identity(op.outputs[0]).op
                                     for op in outside if op.outputs]
        return inputs, control

    def _after_add(self, op):
        self._adopt(op)
        self._values.update((op._id, i) for i in range(len(op.outputs)))
        if self._outer is not None or not _is_loop_exit(op):
            for t in op.outputs:
                self._graph.prevent_feeding(t)

    def build(self, pred, body, loop_vars, shape_invariants,
              return_same_structure):
        flat = nest.flatten(loop_vars)
        tensors = [convert_to_tensor(x) for x in expand(flat)]
        with self._inside():
            original, exits = self._build(pred, body, loop_vars, flat, tensors,
                                          shape_invariants)
        results = collapse(nest.flatten(original), exits)
        packed = nest.pack_sequence_as(original, results)
        if return_same_structure:
            return packed
        return packed[0] if len(exits) == 1 else packed

    def _build(self, pred, body, loop_vars, flat, tensors, shape_invariants):
        if self._outer is not None:
            tensors = [self._outer.add_value(t) for t in tensors]
        with self._graph.control_dependencies(None):
            enters = [_enter(t, self._name, False, self.parallel_iterations)
                      for t in tensors]
        context, pivot = self._outer, None
        while context is not None and pivot is None:
            pivot = context.control_pivot()
            context = context._outer
        shapes = ([t.get_shape() for t in tensors] if shape_invariants is None
                  else [TensorShape(s) for s in nest.flatten(shape_invariants)])
        for t, enter, shape in zip(tensors, enters, shapes):
            if pivot is not None and _is_loop_constant(t.op):
                enter.op._add_control_input(pivot.op)
            if not shape_at_most(t.get_shape(), shape):
                raise ValueError(
                    "The shape invariant specified for %s is not compatible "
                    "with the initial shape of the loop variable. It enters "
                    "the loop with shape %s, but the specified shape "
                    "invariant is %s." % (t.name, t.get_shape(), shape))
            enter.set_shape(shape)
        self._adopt_enters(enters)
        for t, enter in zip(tensors, enters):
            self._values.add(_key(enter))
        self.loop_enters = enters
        merges = [merge([e, e]) for e in enters]
        for m, shape in zip(merges, shapes):
            m.set_shape(shape)
        self.loop_merges = merges
        self._pivot_for_pred = merges[0]

        variables = nest.pack_sequence_as(loop_vars, collapse(flat, merges))
        self.pivot = _raw.LoopCond(convert_to_tensor(pred(*variables)),
                                   name="LoopCond")
        switches = [_switch_value(m, self.pivot) for m in merges]
        for_body = [_identity(s[1]) for s in switches]
        self._pivot_for_body = for_body[0]
        variables = nest.pack_sequence_as(loop_vars,
                                          collapse(flat, for_body))
        original = body(*variables)
        if not nest.is_nested(original):
            original = [original]
        nest.assert_same_structure(list(variables), list(original))
        results = [convert_to_tensor(r)
                   for r in expand(nest.flatten(original))]
        if len(results) != len(merges):
            raise ValueError("Number of inputs and outputs of body must match "
                             "loop_vars: %d, %d" % (len(merges), len(results)))
        for m, t, r in zip(merges, tensors, results):
            following = _next_iteration(r)
            if not shape_at_most(following.get_shape(), m.get_shape()):
                raise ValueError(
                    "Input tensor '%s' enters the loop with shape %s, but has "
                    "shape %s after one iteration. To allow the shape to vary "
                    "across iterations, use the `shape_invariants` argument "
                    "of tf.while_loop to specify a less-specific shape."
                    % (t.name, m.get_shape(), following.get_shape()))
            m.op._update_input(1, following)
        exits = [_exit(s[0]) for s in switches]
        self.loop_exits = exits
        if not self.back_prop:
            self._graph._loops_without_gradient.extend(exits)
        self._leave(exits)
        return original, exits


def shape_at_most(shape, limit):
    """True if every shape that `shape` allows is allowed by `limit`."""
    if limit.ndims is None:
        return True
    if shape.ndims != limit.ndims:
        return False
    return all(b is None or a == b
               for a, b in zip(shape.as_list(), limit.as_list()))
