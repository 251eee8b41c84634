"""tf.wrap_function: a Python function of TensorFlow 1.x that is traced once, into
a graph of its own. A call copies the nodes that its results need into the
graph; variables are of the graph in which the function was wrapped."""
import contextlib

from headrace import raw_ops as _raw
from headrace._headrace import Operation, Tensor
from headrace._src.framework import messages, nest
from headrace._src.framework.graph import (
    control_dependencies, get_default_graph, init_scope)
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.ops.array_ops import identity, placeholder
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.variables.base import variable_creator_scope
from headrace._src.variables.scopes import (
    get_variable_scope, variable_scope)


class VariableHolder:
    """The variables that a wrapped function makes, by name. They are resource
    variables. share_variables: one of a name that there is already is taken."""

    def __init__(self, fn=None, share_variables=False):
        self._fn = fn
        self._shares = share_variables
        self._by_name = {}

    @property
    def variables(self):
        """{name: variable}"""
        return self._by_name

    def variable_creator_scope(self, next_creator, **kwargs):
        """The variable that next_creator makes, or the one that is shared."""
        name = kwargs.get("name") or "Variable"
        if self._shares and name in self._by_name:
            return self._by_name[name]
        with init_scope():  # of the graph around, with its collections
            variable = next_creator(**{**kwargs, "use_resource": True})
        self._by_name[variable.name.split(":")[0]] = variable
        return variable

    def call_with_variable_creator_scope(self, fn):
        """`fn`, whose variables the holder has."""
        def wrapped(*args, **kwargs):
            # get_variable makes its variables in the graph around.
            with contextlib.ExitStack() as stack:
                with init_scope():
                    stack.enter_context(variable_creator_scope(
                        self.variable_creator_scope))
                stack.enter_context(variable_creator_scope(
                    self.variable_creator_scope))
                return fn(*args, **kwargs)
        return wrapped

    def __call__(self, *args, **kwargs):
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)


def _trace(graph, fn, signature):
    """(the placeholders; what fn gives, its variables read), of calling fn in
    `graph`."""
    inputs = []

    def argument(spec):
        if not isinstance(spec, TensorSpec):
            return spec
        made = placeholder(spec.dtype, spec.shape,
                           name=spec.name or "placeholder")
        inputs.append(made)
        return made

    def result(value):
        if value is None or isinstance(value, Operation):
            return value
        try:
            tensor = convert_to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError(
                "wrap_function: %r must return Tensors, Operations and None, "
                "got %r" % (fn, value)) from None
        return tensor if tensor.graph is graph else graph._capture(tensor)
    with graph.as_default():
        arguments = nest.map_structure(argument, list(signature))
        scope = get_variable_scope()
        with variable_scope(scope, use_resource=True):
            outputs = fn(*arguments)
        graph.inputs = inputs
        return inputs, nest.map_structure(result, outputs,
                                          expand_composites=True)


class WrappedFunction:
    """What wrap_function makes. `graph` has its nodes, `inputs` are the
    placeholders of its arguments and `structured_outputs` its results there;
    `variables` those that it made.

    A call takes as many tensors as `inputs` has, or values that become such,
    and gives tensors in the structure of the results. Only what they need runs.
    An Operation among the results runs before the tensors, and is None in the
    structure; a call that has no tensors gives an Operation.
    NotImplementedError for keyword arguments, ValueError for another number of
    arguments."""

    def __init__(self, graph, inputs, outputs, holder, signature=None):
        self.graph = graph
        self.inputs = inputs
        self.structured_outputs = outputs
        self.structured_input_signature = (tuple(signature or ()), {})
        self._holder = holder

    @property
    def outputs(self):
        """The tensors among the results, in a list."""
        return [x for x in nest.flatten(self.structured_outputs,
                                        expand_composites=True)
                if isinstance(x, Tensor)]

    @property
    def variables(self):
        return list(self._holder.variables.values())

    @property
    def trainable_variables(self):
        return [v for v in self.variables if v.trainable]

    def __call__(self, *args, **kwargs):
        if kwargs:
            raise NotImplementedError("Keyword arguments not supported when "
                                      "calling a wrap_function-decorated "
                                      "function.")
        args = nest.flatten(list(args), expand_composites=True)
        if len(args) != len(self.inputs):
            raise ValueError("Arguments and signature arguments do not match. "
                             "got: %s, expected: %s "
                             % (len(args), len(self.inputs)))
        values = [convert_to_tensor(value, dtype=given.dtype)
                  for value, given in zip(args, self.inputs)]
        flat = nest.flatten(self.structured_outputs, expand_composites=True)
        wanted = [x for x in flat if x is not None]
        copies = iter(_copied(self.graph, wanted,
                              dict(zip(self.inputs, values))))
        copied = [None if x is None else next(copies) for x in flat]
        operations = [x for x in copied if isinstance(x, Operation)]
        if operations:
            if not any(isinstance(x, Tensor) for x in copied):
                return operations[0] if len(operations) == 1 else (
                    _group(operations))
            with control_dependencies(operations):
                copied = [identity(x) if isinstance(x, Tensor) else None
                          for x in copied]
        return nest.pack_sequence_as(self.structured_outputs, copied,
                                     expand_composites=True)

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """Another WrappedFunction, of a part of the graph: of the tensors `feeds`,
        in a structure or alone, it makes `fetches`: tensors, operations, their
        names, or TensorInfos, in a structure. ValueError for feeds that are no
        tensors, and for what is of another graph."""
        flat = [self.graph.as_graph_element(x)
                for x in nest.flatten(feeds, expand_composites=True)]
        if not all(isinstance(x, Tensor) for x in flat):
            raise ValueError("Feeds must be tensors.")
        captured = set(self.graph._captured.values())
        return WrappedFunction(
            self.graph, [x for x in flat if x not in captured],
            nest.map_structure(self._element, fetches,
                               expand_composites=True),
            self._holder, input_signature)

    def _element(self, fetch):
        if isinstance(fetch, messages.TensorInfo):
            if not fetch.name:
                raise ValueError("prune: a TensorInfo without a name: %s"
                                 % (fetch,))
            fetch = fetch.name
        return self.graph.as_graph_element(fetch)


def _group(operations):
    with control_dependencies(operations):
        return _raw.NoOp()


def _needed(wanted, given):
    """The operations that `wanted` needs, without what makes the tensors of
    `given`."""
    found, todo = {}, []

    def need(x):
        if isinstance(x, Operation):
            todo.append(x)
        elif x not in given:
            todo.append(x.op)
    for x in wanted:
        need(x)
    while todo:
        op = todo.pop()
        if op._id in found:
            continue
        found[op._id] = op
        for x in op.inputs:
            need(x)
        todo.extend(op.control_inputs)
    return found


def _copied(body, wanted, values):
    """Copies in the default graph of tensors and operations of `body`.
    `values`: {tensor of the body: what it is}."""
    values = {**{inner: outer for outer, inner in body._captured.items()},
              **values}
    needed = _needed(wanted, values)
    names = {op.name for op in needed.values()}
    whole = body._graph_def()
    part = messages.GraphDef()
    part.versions.CopyFrom(whole.versions)
    part.library.CopyFrom(whole.library)
    for node in whole.node:
        if node.name not in names:
            continue
        copy = part.node.add()
        copy.CopyFrom(node)
        if "_class" in node.attr:
            groups = [g for g in node.attr["_class"].list.s
                      if g[5:].decode() in names]
            del copy.attr["_class"]
            if groups:
                copy.attr["_class"].list.s.extend(groups)
    used = {t for op in needed.values() for t in op.inputs}
    get_default_graph()._py_functions.extend(
        f for f in body._py_functions
        if f not in get_default_graph()._py_functions)
    found = iter(import_graph_def(
        part, name="wrapped_function",
        input_map={t.name: v for t, v in values.items() if t in used},
        return_elements=[x.name for x in wanted if x not in values]))
    return [values[x] if x in values else next(found) for x in wanted]


def wrap_function(fn, signature, name=None):
    """Calls `fn` once, with a placeholder for each TensorSpec of the list
    `signature` and its other elements as they are. Returns a WrappedFunction,
    whose calls add what the results need to the graph. The variables that `fn`
    makes, resource variables, are its `variables`; they are initialized as the
    others of the graph. TypeError for results that are no tensors, operations or
    None. `name`: for messages."""
    holder = VariableHolder(fn)
    graph = FuncGraph(get_default_graph())
    inputs, outputs = _trace(graph, holder, signature)
    return WrappedFunction(graph, inputs, outputs, holder, signature)


class WrappedGraph:
    """Functions that are traced into one graph and share variables by name, and
    collections. `functions`: {name: WrappedFunction}; `variables`: {name:
    variable}."""

    def __init__(self, variable_holder=None, **kwargs):
        self._holder = variable_holder or VariableHolder(share_variables=True)
        self.graph = FuncGraph(get_default_graph())
        self._functions = {}

    functions = property(lambda self: self._functions)
    variables = property(lambda self: self._holder.variables)

    def wrap_function(self, fn, signature, name=None):
        """wrap_function, in this graph; it is in `functions` under `name`, or
        the function's own."""
        inputs, outputs = _trace(
            self.graph, self._holder.call_with_variable_creator_scope(fn),
            signature)
        made = WrappedFunction(self.graph, inputs, outputs, self._holder,
                               signature)
        self._functions[name or fn.__name__] = made
        return made


def function_from_graph_def(graph_def, inputs, outputs):
    """A WrappedFunction of the nodes of a GraphDef: from the tensors `inputs` to
    the tensors or operations `outputs`, names in structures or alone."""
    def imports():
        import_graph_def(graph_def, name="")
    return wrap_function(imports, []).prune(inputs, outputs)
