"""Gradient functions of ops that were executed: the ops become the nodes of a
graph, the library adds the nodes of the gradients, and what these take from the
former is given to them as arguments. The function is kept by the structure of
the ops, so a training loop builds it once."""
import collections
import weakref

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework import messages
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import constant
from headrace._src.functions.func_graph import FuncGraph, tell_variable
from headrace._src.functions.function_def import function_def, next_number
from headrace._src.ops.array_ops import placeholder
from headrace._src.training.gradients import gradients

_MAX_PLANS = 1024
_plans: collections.OrderedDict = collections.OrderedDict()
# How many plans were made that differ in small integers alone.
_variants: dict = {}
_MAX_VARIANTS = 8
_calls: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def parts_of(gradient):
    """The tensors of a gradient."""
    if isinstance(gradient, IndexedSlices):
        return [t for t in (gradient.values, gradient.indices,
                            gradient.dense_shape) if t is not None]
    return [gradient]


def structure_of(gradient):
    """None for no gradient, else the number of its tensors: 1 of a dense one."""
    if gradient is None:
        return None
    return len(parts_of(gradient))


def gradient_of(count, parts):
    """The gradient of a structure; its tensors are taken from the iterator."""
    if count is None:
        return None
    if count == 1:
        return next(parts)
    return IndexedSlices(*[next(parts) for _ in range(count)])


class Call:
    """A function of the eager context, made of nodes of `graph`: from the
    tensors `arguments` to `results`."""

    def __init__(self, name, graph, operations, arguments, results):
        self.name = "%s_%d" % (name, next_number())
        self.types = [r.dtype.base_dtype for r in results]
        definition = function_def(self.name, operations, arguments, results)
        library = messages.GraphDef()
        library.library.CopyFrom(graph._graph_def().library)
        library.library.function.extend([definition])
        _headrace.eager_add_functions(library)
        self.definition = definition
        self._library = library.library
        self._op = (_raw.StatefulPartitionedCall
                    if definition.signature.is_stateful
                    else _raw.PartitionedCall)
        self._py_functions = graph._py_functions  # called by its nodes
        _calls[self.name] = self

    def __call__(self, arguments):
        graph = _headrace.get_default_graph()
        if not graph._eager:
            self.add_to(graph)
        return self._op(arguments, Tout=self.types, f=self.name)

    def add_to(self, graph):
        """Adds the function, and those that it calls, to a graph's library."""
        if _is_new_in(graph, self.name, self._library):
            graph._py_functions.extend(self._py_functions)

    def __del__(self):
        if _headrace is not None:
            _headrace.eager_remove_function(self.name)


def _is_new_in(graph, key, library):
    """Adds a library to the graph's. False if the graph has that of `key`."""
    known = graph.__dict__.setdefault("_eager_functions", set())
    if key in known:
        return False
    known.add(key)
    graph_def = messages.GraphDef()
    graph_def.library.CopyFrom(library)
    graph._import_graph_def(graph_def, "", [], [])
    return True


class Imported:
    """Functions of the eager context that come from elsewhere, as the library
    of a GraphDef."""

    def __init__(self, graph_def):
        _headrace.eager_add_functions(graph_def)
        self._library = graph_def.library
        for f in graph_def.library.function:
            _calls[f.signature.name] = self

    def add_to(self, graph):
        """Adds the functions to a graph's library."""
        _is_new_in(graph, id(self), self._library)


def add_function(graph, name):
    """Adds a function of the eager context to a graph's library."""
    call = _calls.get(name)
    if call is not None:
        call.add_to(graph)


def call_of(name):
    """The Call of that name. AttributeError if there is none."""
    call = _calls.get(name)
    if call is None:
        raise AttributeError("no op and no function is called %r" % (name,))
    return call


def needed_by(tensors, first=0, given=()):
    """The operations of number `first` and later that the tensors depend on, in
    their order; and the tensors of earlier ones that these take, by
    (operation, index). Those with a number in `given` need none."""
    seen, todo, earlier = {}, [t.op for t in tensors], {}
    for t in tensors:
        if t.op._id < first:
            earlier[t.op._id, t.value_index] = t
    while todo:
        op = todo.pop()
        if op._id in seen or op._id < first or op._id in given:
            continue
        seen[op._id] = op
        for t in op.inputs:
            if t.op._id < first:
                earlier[t.op._id, t.value_index] = t
            else:
                todo.append(t.op)
        todo.extend(op.control_inputs)
    return [seen[i] for i in sorted(seen)], earlier


def cut(operations, first, replaced):
    """Takes arguments in place of tensors of earlier operations, and drops the
    waiting for these."""
    for op in operations:
        for i, t in enumerate(op.inputs):
            if t.op._id < first:
                op._update_input(i, replaced[t.op._id, t.value_index])
        control = op.control_inputs
        if any(c._id < first for c in control):
            op._remove_all_control_inputs()
            for c in control:
                if c._id >= first:
                    op._add_control_input(c)


def without_captured(graph, operations):
    """The operations that are no placeholders for what the graph captured; the
    placeholders among them; and what they stand for."""
    captured = {t.op._id: (t, of) for of, t in graph._captured.items()}
    used = [captured[op._id] for op in operations if op._id in captured]
    return ([op for op in operations if op._id not in captured],
            [t for t, _ in used], [of for _, of in used])


def take_earlier(earlier, operations, first, arguments):
    """Gives the operations constants, which are added to them, and further
    arguments in place of tensors of earlier ones, as needed_by() has these.
    Returns what stands for each, and which of them are arguments, in order."""
    replaced, taken = {}, []
    for key, t in earlier.items():
        if t.op.type == "Const":
            replaced[key] = constant(t.op._attr("value"), dtype=t.dtype)
            operations.insert(0, replaced[key].op)
            continue
        replaced[key] = placeholder(t.dtype, t.get_shape())
        arguments.append(replaced[key])
        taken.append(key)
    cut(operations, first, replaced)
    return replaced, taken


class _Plan:
    """How the gradients by `sources` are computed from those of `targets`:
    a function, and which tensors of the records it takes."""

    def __init__(self, records, tensors, targets, given, sources,
                 has_constants):
        graph = FuncGraph(_headrace.get_default_graph())
        # Nodes of the forward ops by the number of the tensor.
        index = {id(t): i for i, t in enumerate(tensors)}
        nodes, numbers = {}, {}
        with graph.as_default():
            made = {index[id(t)] for r in records for t in r.outputs}

            def node(tensor):
                i = index[id(tensor)]
                if i not in nodes:
                    if has_constants and i not in made and (
                            tensor._is_small_int):
                        nodes[i] = constant(tensor._array())
                    else:
                        nodes[i] = placeholder(tensor.dtype, tensor.shape)
                        tell_variable(nodes[i], tensor)
                    numbers[nodes[i].op._id, 0] = i
                return nodes[i]
            for r in records:
                for name in r.functions:
                    add_function(graph, name)
                outputs = r.add_to(graph, [node(t) for t in r.inputs])
                for t, o in zip(r.outputs, outputs):
                    if t.dtype.is_numpy_compatible:
                        o.set_shape(t.shape)
                    nodes[index[id(t)]] = o
                    numbers[o.op._id, o.value_index] = index[id(t)]
            ys = [node(t) for t in targets]
            xs = [node(t) for t in sources]
            first = graph._last_id
            start, arguments = [], []
            for t, g in zip(targets, given):
                parts = [] if g is None else [
                    placeholder(p.dtype, p.shape) for p in parts_of(g)]
                arguments += parts
                start.append(gradient_of(structure_of(g), iter(parts)))
            found = gradients(ys, xs, start)
            self.structure = [structure_of(g) for g in found]
            results = [p for g in found if g is not None for p in parts_of(g)]
            backward, earlier = needed_by(results, first)
            captured = list(graph._captured.items())
            taken = {p.op._id for _, p in captured}
            taken.update(p.op._id for p in arguments)
            replaced, keys = take_earlier(earlier, backward, first, arguments)
            self.taken = [numbers[key] for key in keys]
            results = [replaced.get((p.op._id, p.value_index), p)
                       for p in results]
            # What gradient functions in Python took from outside.
            arguments += [p for _, p in captured]
            self.captured = [t for t, _ in captured]
            skip = {p.op._id for p in arguments}
            backward = [op for op in backward if op._id not in skip]
            self.call = Call("__backward", graph, backward, arguments,
                             results) if results else None

    def run(self, tensors, given):
        if self.call is None:
            return [None] * len(self.structure)
        arguments = [p for g in given if g is not None for p in parts_of(g)]
        arguments += [tensors[i] for i in self.taken]
        parts = iter(self.call(arguments + self.captured))
        return [gradient_of(n, parts) for n in self.structure]


def segment_gradients(records, targets, given, sources):
    """The gradients by `sources` through the records, from those of `targets`:
    tensors, IndexedSlices, or None for ones."""
    kinds = tuple(
        None if g is None else (structure_of(g), g.dtype, tuple(
            g._shape_list()) if isinstance(g, Tensor) else None)
        for g in given)
    key, tensors = _headrace.segment_key(records, targets, sources, True)
    plan = _plans.get((key, kinds))
    if plan is None:
        plan = _new_plan(key, kinds, records, tensors, targets, given, sources)
    return plan.run(tensors, given)


def _new_plan(key, kinds, records, tensors, targets, given, sources):
    """A _Plan. If the same ops came with other small integers several times,
    these become arguments."""
    general, _ = _headrace.segment_key(records, targets, sources, False)
    general = general, kinds, None
    if general in _plans:
        return _plans[general]
    count = _variants[general] = _variants.get(general, 0) + 1
    has_constants = count <= _MAX_VARIANTS
    plan = _Plan(records, tensors, targets, given, sources, has_constants)
    _plans[(key, kinds) if has_constants else general] = plan
    if len(_plans) > _MAX_PLANS:
        _plans.popitem(last=False)
    if len(_variants) > 4 * _MAX_PLANS:
        _variants.clear()
    return plan
