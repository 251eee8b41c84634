"""tf.saved_model.save: objects with variables and functions as SavedModels."""
import inspect
import os

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._loading import load as _load
from headrace._src.autograph.function import Concrete as _Traced
from headrace._src.autograph.function import Function as _Function
from headrace._src.framework import default_session, dtypes, nest
from headrace._src.framework.graph import (
    Graph, get_default_graph, name_scope)
from headrace._src.framework.messages import (
    SavedModel, SaverDef, TrackableObjectGraph)
from headrace._src.framework.tensor import constant, constant_value
from headrace._src.ops.array_ops import placeholder
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.platform.durable import write_atomically
from headrace._src.saved_model import constants, structures
from headrace._src.saved_model.concrete import Concrete, call, canonical
from headrace._src.saved_model.signatures import (
    build_signature_def, build_tensor_info)
from headrace._src.session.session import Session
from headrace._src.training import object_graph as _objects
from headrace._src.training.meta_graph import create_meta_graph_def
from headrace._src.variables.base import Variable

_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


class _Signatures:
    """The object that has the functions of the signatures."""

    def __init__(self, functions):
        self.functions = functions


class _Bare:
    """A concrete function by itself."""

    def __init__(self, concrete, keywords, places):
        self.concrete = concrete
        self.keywords, self.places = keywords, places


class _Constant:
    """A tensor that a function has captured."""

    def __init__(self, tensor, value):
        self.tensor, self.value = tensor, value


_FUNCTIONS = (_Function, _Traced, _Bare)


def functions_of(thing):
    """{attribute: tf.function, or concrete function} of an object."""
    made = getattr(thing, "_saved_functions", None)
    if made is not None:
        return made()
    if isinstance(thing, (Variable, list, dict)):
        return {}
    found = {}
    for name in dir(thing):
        static = inspect.getattr_static(thing, name, None)
        if isinstance(static, (_Function, _Traced)):
            found[name] = getattr(thing, name)
    return found


def prepared(python_function, calls, input_signature=None):
    """A tf.function of a Python function that is traced now, for each (args,
    kwargs) of `calls`, with TensorSpecs in place of tensors."""
    made = _Function(python_function, input_signature, False)
    made.prepared = _traced(made, calls)
    return made


class _Objects:
    """The objects below a root, their functions and those of the signatures:
    `nodes` [object], `children` [[(name, number)]]."""

    def __init__(self, root, functions, signatures):
        self.nodes, self.children, self._numbers = [], [], {}
        self._root, self._functions = root, functions
        self._add(root)
        functions = []  # [(number, name, function)], which come last
        at = 0
        while at < len(self.nodes):
            thing = self.nodes[at]
            found = self._below(thing)
            if thing is root:
                found.append(("signatures", signatures))
            for name, child in found:
                if isinstance(child, _FUNCTIONS):
                    functions.append((at, name, child))
                else:
                    self.children[at].append((name, self._add(child)))
            at += 1
        self.slots = []  # (number of the owner, slot's name, variable's, slot's)
        for owner, thing in enumerate(list(self.nodes)):
            for name, variable, slot in _objects.slots(thing):
                if id(variable) in self._numbers:
                    self.slots.append((owner, name,
                                       self._numbers[id(variable)],
                                       self._add(slot)))
        self._of_values = len(self.nodes)  # the others have none to save
        for number, name, function in functions:
            self.children[number].append((name, self._add(function)))

    def _below(self, thing):
        if isinstance(thing, _Signatures):
            return list(thing.functions.items())
        if isinstance(thing, list):
            return [(str(i), x) for i, x in enumerate(thing)
                    if _objects.is_object(x) or isinstance(x, _FUNCTIONS)]
        functions = (self._functions if thing is self._root
                     else functions_of(thing))
        return _objects.children(thing) + list(functions.items())

    def _add(self, thing):
        # Each look at a method makes another function.
        key = thing.key if isinstance(thing, _Function) else id(thing)
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self.nodes.append(thing)
            self.children.append([])
        return self._numbers[key]

    def number(self, thing):
        return self._add(thing)

    def paths(self):
        """The path from the root to each node, by the shortest way."""
        paths = {0: ()}
        todo = [0]
        for number in todo:
            for name, child in self.children[number]:
                if child not in paths:
                    paths[child] = paths[number] + (name,)
                    todo.append(child)
        return paths

    def checkpoint(self):
        """(TrackableObjectGraph, {key: variable})"""
        graph, keys, paths = TrackableObjectGraph(), {}, self.paths()
        names = {n: _objects._path(path) for n, path in paths.items()}
        for owner, slot, variable, number in self.slots:
            names.setdefault(number, "%s/.OPTIMIZER_SLOT/%s/%s" % (
                names[variable], names[owner], _objects._escaped(slot)))
        for number, thing in enumerate(self.nodes[:self._of_values]):
            node = graph.nodes.add()
            for name, child in self.children[number]:
                if child < self._of_values:
                    node.children.add(node_id=child, local_name=name)
            if isinstance(thing, Variable):
                key = names[number] + _SUFFIX
                node.attributes.add(name="VARIABLE_VALUE",
                                    full_name=thing._shared_name,
                                    checkpoint_key=key)
                keys[key] = thing
        for owner, slot, variable, number in self.slots:
            graph.nodes[owner].slot_variables.add(
                slot_name=slot, original_variable_node_id=variable,
                slot_variable_node_id=number)
        return graph, keys


def _concretes(function):
    """The Concretes of a tf.function: of its input_signature, or of all the
    arguments that it was called with."""
    if getattr(function, "prepared", None) is not None:
        return function.prepared
    if function.input_signature is not None:
        return _traced(function, [(function.input_signature, {})])
    return _traced(function, function.known_arguments())


def _traced(function, calls):
    python = function.python_function
    signature = inspect.signature(python)
    found = []
    for args, kwargs in calls:
        args, kwargs = canonical(signature, args, kwargs)
        found.append(Concrete(function, *_named_specs(signature, args, kwargs),
                              getattr(python, "__name__", "function")))
    return found


def _named_specs(signature, args, kwargs):
    """The arguments, whose TensorSpecs have names."""
    return _named(signature, args), {
        key: _spec_named(x, key) for key, x in kwargs.items()}


def _named(signature, args):
    names = [p.name for p in signature.parameters.values()
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names += ["args_%d" % i for i in range(len(args) - len(names))]
    return tuple(_spec_named(x, name) for x, name in zip(args, names))


def _spec_named(value, name):
    if isinstance(value, TensorSpec):
        return TensorSpec(value.shape, value.dtype, value.name or name)
    if nest.is_nested(value):
        if isinstance(value, dict):
            return {key: _spec_named(x, key) for key, x in value.items()}
        if not hasattr(value, "_fields"):
            return type(value)(_spec_named(x, "%s_%d" % (name, i))
                               for i, x in enumerate(value))
    return value


def _as_concrete(function):
    """The Concrete of what a signature is: a tf.function with an
    input_signature, or a concrete function."""
    if isinstance(function, _Traced):
        python = function.python_function
        args, kwargs = canonical(inspect.signature(python), *function.arguments)
        return Concrete(function, *_named_specs(
            inspect.signature(python), args, kwargs),
            getattr(python, "__name__", "function"))
    if isinstance(function, _Function):
        if function.input_signature is None:
            raise ValueError(
                "Expected a TensorFlow function to generate a signature for, "
                "but got %s, which has no input_signature: call "
                "get_concrete_function with TensorSpecs first" % (function,))
        return _concretes(function)[0]
    if isinstance(function, Concrete):
        return function
    raise ValueError("Expected a TensorFlow function to generate a signature "
                     "for, but got %r. Only `tf.functions` with an input "
                     "signature or concrete functions can be used as a "
                     "signature." % (function,))


def _outputs(concrete):
    """{name: TensorSpec} of the results. ValueError for other structures."""
    results = concrete.results
    if not isinstance(results, dict):
        results = {"output_%d" % i: x for i, x in enumerate(
            nest.flatten(results) if nest.is_nested(results) else [results])}
    for key, value in results.items():
        if not isinstance(key, str) or not isinstance(value, TensorSpec):
            raise ValueError(
                "Got a non-Tensor value %r for key %r in the output of the "
                "function %s used to generate a SavedModel signature. Outputs "
                "for functions used as signatures must be a single Tensor, a "
                "sequence of Tensors, or a dictionary from string to Tensor."
                % (value, key, concrete.name))
    return results


def _default_signature(functions):
    """The only one with an input_signature whose results a signature may have,
    or None."""
    found = []
    if "_default_save_signature" in functions:
        return functions["_default_save_signature"]
    for function in functions.values():
        if isinstance(function, _Function) and (
                function.input_signature is None):
            continue
        made = _as_concrete(function)
        try:
            _outputs(made)
        except ValueError:
            continue
        if made.types:
            found.append(made)
    return found[0] if len(found) == 1 else None


def _signatures_of(functions, signatures):
    """{key: Concrete}. ValueError for what is none."""
    if signatures is None:
        signatures = _default_signature(functions)
        if signatures is None:
            return {}
    if not isinstance(signatures, dict):
        signatures = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found = {}
    for key, function in signatures.items():
        if not isinstance(key, str):
            raise ValueError("The key of a signature must be a str, got %r"
                             % (key,))
        found[key] = _wrapped(_as_concrete(function), key)
    return found


def _wrapped(concrete, key):
    """A function of named arguments that gives a dict: what a signature
    calls."""
    names = concrete.names
    specs = concrete.specs()
    if len(set(names)) < len(names):
        raise ValueError("Got non-flat/non-unique argument names for SavedModel "
                         "signature '%s': %s. Use tf.TensorSpec(..., name=...) "
                         "to provide a name for each Tensor input."
                         % (key, names))
    outputs = _outputs(concrete)

    def signature_wrapper(**kwargs):
        found = call(concrete.name, [kwargs[n] for n in names]
                     + concrete.captured, concrete.types,
                     [x.shape for x in nest.flatten(concrete.results)])
        order = nest.flatten(concrete.results)
        places = {id(x): y for x, y in zip(order, found)}
        return {name: places[id(x)] for name, x in outputs.items()}
    concrete.add_to(get_default_graph())
    made = Concrete(signature_wrapper, (), {
        name: TensorSpec(spec.shape, spec.dtype, name)
        for name, spec in zip(names, specs)}, "signature_wrapper")
    made.library = concrete.library + [
        f for f in made.library if f.signature.name not in {
            g.signature.name for g in concrete.library}]
    made.results = {name: TensorSpec(x.shape, x.dtype, name)
                    for name, x in outputs.items()}
    return made


def _session():
    found = default_session.get_default_session()
    return found if found is not None else _load("keras.backend").get_session()


def save(obj, export_dir, signatures=None):
    """Writes an object with its variables and functions as a SavedModel.

        class Scale(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
            def __call__(self, x):
                return x * self.factor
        tf.saved_model.save(scale, "/tmp/scale")

    The values of variables are those of the default session, or else Keras',
    or their own where ops are executed eagerly.
    Each tf.function that is an attribute is saved for its input_signature, or
    for the types and shapes of the tensors that it was called with.

    Args:
      obj: a tf.Module, a Keras layer or model, or a tf.train.Checkpoint.
      export_dir: the folder.
      signatures: what servers call: a tf.function with an input_signature, the
        result of get_concrete_function, or a dict of these; by default the only
        function that may be one. Results are tensors, lists or dicts of them.

    Raises:
      ValueError: obj has no variables to follow, signatures are no functions,
        or a function takes a tensor of the graph, or a variable that is no
        resource (tf.enable_resource_variables makes all variables resources).
      AssertionError: a function uses a variable that no attribute of obj has."""
    save_objects(obj, export_dir, signatures)


def save_objects(obj, export_dir, signatures=None):
    if not _objects.is_object(obj) or isinstance(obj, (list, dict, Variable)):
        raise ValueError("Expected a Trackable object for export, got %r."
                         % (obj,))
    functions = functions_of(obj)
    signatures = _signatures_of(functions, signatures)
    holder = _Signatures({
        key: _Bare(made, made.names, 1 if len(made.names) == 1 else 0)
        for key, made in sorted(signatures.items())})
    objects = _Objects(obj, functions, holder)
    traced = {}  # number -> [Concrete]
    for number, thing in enumerate(objects.nodes):
        if isinstance(thing, _Function):
            traced[number] = _concretes(thing)
        elif isinstance(thing, _Traced):
            traced[number] = [_as_concrete(thing)]
        elif isinstance(thing, _Bare):
            traced[number] = [thing.concrete]
    graph, keys = objects.checkpoint()
    export_dir = os.fspath(export_dir)
    folder = os.path.join(export_dir, constants.VARIABLES_DIRECTORY)
    if executing_eagerly():
        values = [v.numpy() for v in keys.values()]
    else:
        values = _session().run(list(keys.values())) if keys else []
    exported = _Exported(objects, traced, signatures, keys)
    os.makedirs(folder, exist_ok=True)
    _write_values(graph, keys, values,
                  os.path.join(folder, constants.VARIABLES_FILENAME))
    model = SavedModel(
        saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    exported.write(model.meta_graphs.add())
    write_atomically(os.path.join(
        export_dir, constants.SAVED_MODEL_FILENAME_PB),
        model.SerializeToString())


def _write_values(graph, keys, values, path):
    with Graph().as_default():
        data = [constant(v, dtype=k.dtype.base_dtype)
                for k, v in zip(keys.values(), values)]
        data.append(constant(graph.SerializeToString()))
        names = [*keys, _objects.KEY]
        done = _raw.SaveV2(path, names, [""] * len(names), data)
        with Session() as session:
            session.run(done)


class _Exported:
    """The graph of a SavedModel: variables, functions, and a call of one for
    each signature."""

    def __init__(self, objects, traced, signatures, keys):
        self._objects, self._traced = objects, traced
        self._bound = {}  # tensor outside -> number of its object
        self.graph = Graph()
        inside = {}       # tensor outside -> what stands for it inside
        with self.graph.as_default():
            for number, thing in enumerate(objects.nodes):
                if isinstance(thing, Variable) and thing._is_resource:
                    self._bound[thing.handle] = number
                    inside[thing.handle] = _handle(thing)
            for concretes in traced.values():
                for concrete in concretes:
                    for tensor in concrete.captured:
                        if tensor not in inside:
                            inside[tensor] = self._constant(tensor, concrete)
                    concrete.add_to(self.graph)
            self._init = _raw.NoOp(name="NoOp")
            self._signature_defs = {
                key: self._signature(key, made, inside)
                for key, made in sorted(signatures.items())}
            self._saver(keys, inside)

    def _constant(self, tensor, concrete):
        if tensor.dtype == dtypes.resource:
            raise AssertionError(
                "Tried to export a function which references untracked object "
                "%s. TensorFlow objects (e.g. tf.Variable) captured by "
                "functions must be tracked by assigning them to an attribute of "
                "a tracked object or assigned to an attribute of the main "
                "object directly." % (tensor,))
        value = constant_value(tensor)
        if value is None:
            raise ValueError(
                "Attempted to save a function %s which references a symbolic "
                "Tensor %s that is not a simple constant. This is not "
                "supported.%s" % (
                    concrete.name, tensor,
                    " tf.enable_resource_variables() makes variables that can "
                    "be saved." if tensor.op.name.endswith("/read") else ""))
        made = constant(value, dtype=tensor.dtype.base_dtype)
        self._bound[tensor] = self._objects.number(_Constant(made, value))
        return made

    def _signature(self, key, made, inside):
        inputs = {name: placeholder(spec.dtype, spec.shape,
                                    name="%s_%s" % (key, name))
                  for name, spec in zip(made.names, made.specs())}
        found = call(made.name, list(inputs.values())
                     + [inside[t] for t in made.captured], made.types,
                     [x.shape for x in nest.flatten(made.results)])
        outputs = dict(zip(sorted(made.results), found))
        return build_signature_def(
            {k: build_tensor_info(x) for k, x in inputs.items()},
            {k: build_tensor_info(x) for k, x in outputs.items()},
            constants.PREDICT_METHOD_NAME)

    def _saver(self, keys, inside):
        """Nodes that save and restore the variables, for loaders of 1.x."""
        path = placeholder(dtypes.string, [], name="saver_filename")
        handles = [inside[v.handle] for v in keys.values() if v._is_resource]
        names = [key for key, v in keys.items() if v._is_resource]
        with name_scope("save"):
            saved = _raw.SaveV2(
                path, names or [_objects.KEY],
                [""] * max(len(names), 1),
                [_raw.ReadVariableOp(h, v.dtype.base_dtype)
                 for h, v in zip(handles, (v for v in keys.values()
                                           if v._is_resource))]
                or [constant("")])
            with self.graph.control_dependencies([saved]):
                self._saved = _raw.Identity(path, name="control_dependency")
            assigned = []
            if names:
                types = [v.dtype.base_dtype for v in keys.values()
                         if v._is_resource]
                values = _raw.RestoreV2(path, names, [""] * len(names), types)
                values = list(values) if isinstance(
                    values, (list, tuple)) else [values]
                assigned = [_raw.AssignVariableOp(h, x)
                            for h, x in zip(handles, values)]
            with self.graph.control_dependencies(assigned):
                self._restored = _raw.NoOp(name="restore_all")
        self._path = path

    def write(self, meta_graph):
        """Fills a MetaGraphDef."""
        saver = SaverDef(
            filename_tensor_name=self._path.name,
            save_tensor_name=self._saved.name,
            restore_op_name=self._restored.name, version=2)
        with self.graph.as_default():
            meta_graph.CopyFrom(create_meta_graph_def(
                saver_def=saver, collection_list=[], strip_default_attrs=True))
        meta_graph.meta_info_def.tags.append(constants.SERVING)
        meta_graph.collection_def[
            constants.MAIN_OP_KEY].node_list.value.append(self._init.name)
        key = constants.INIT_OP_SIGNATURE_KEY
        output = meta_graph.signature_def[key].outputs[key]
        output.name = self._init.name
        output.tensor_shape.unknown_rank = True
        for name, signature in self._signature_defs.items():
            meta_graph.signature_def[name].CopyFrom(signature)
        self._write_objects(meta_graph.object_graph_def)

    def _write_objects(self, proto):
        for number, thing in enumerate(self._objects.nodes):
            node = proto.nodes.add()
            for name, child in self._objects.children[number]:
                node.children.add(node_id=child, local_name=name)
            self._write_object(thing, node, number)
        for owner, slot, variable, number in self._objects.slots:
            proto.nodes[owner].slot_variables.add(
                slot_name=slot, original_variable_node_id=variable,
                slot_variable_node_id=number)
        for concretes in self._traced.values():
            for concrete in concretes:
                saved = proto.concrete_functions[concrete.name]
                saved.bound_inputs.extend(
                    self._bound[t] for t in concrete.captured)
                structures.encode((tuple(concrete.args), concrete.kwargs),
                                  saved.canonicalized_input_signature)
                structures.encode(concrete.results, saved.output_signature)

    def _write_object(self, thing, node, number):
        if isinstance(thing, Variable):
            saved = node.variable
            saved.dtype = thing.dtype.base_dtype.as_datatype_enum
            saved.shape.CopyFrom(thing.get_shape().as_proto())
            saved.trainable = thing.trainable
            saved.name = thing.op.name
        elif isinstance(thing, _Function):
            node.function.concrete_functions.extend(
                c.name for c in self._traced[number])
            _write_specification(thing, node.function.function_spec)
        elif isinstance(thing, _Traced):
            made = self._traced[number][0]
            node.bare_concrete_function.concrete_function_name = made.name
            node.bare_concrete_function.argument_keywords.extend(made.names)
            node.bare_concrete_function.allowed_positional_arguments = len(
                made.names)
        elif isinstance(thing, _Bare):
            node.bare_concrete_function.concrete_function_name = (
                thing.concrete.name)
            node.bare_concrete_function.argument_keywords.extend(thing.keywords)
            node.bare_concrete_function.allowed_positional_arguments = (
                thing.places)
        elif isinstance(thing, _Constant):
            node.constant.operation = thing.tensor.op.name
        else:
            identifier, metadata = _kind(thing)
            user = node.user_object
            user.identifier = identifier
            user.metadata = metadata
            user.version.producer = user.version.min_consumer = 1


def _kind(thing):
    """(what loaders know an object as, what it tells them)"""
    if isinstance(thing, _Signatures):
        return "signature_map", ""
    if isinstance(thing, list):
        return "trackable_list_wrapper", ""
    if isinstance(thing, dict):
        return "trackable_dict_wrapper", ""
    describe = getattr(thing, "_saved_kind", None)
    return describe() if describe else ("_generic_user_object", "")


def _write_specification(function, proto):
    """Writes what arguments a tf.function has."""
    python = function.python_function
    spec = inspect.getfullargspec(python)
    is_method = inspect.ismethod(python)
    structures.encode(spec._replace(annotations={}, kwonlydefaults=(
        spec.kwonlydefaults or None)), proto.fullargspec)
    proto.is_method = is_method
    structures.encode(function.input_signature, proto.input_signature)


def _handle(variable):
    """The node of a variable, with the one that reads it, in this graph."""
    # Variables that are executed eagerly may have the same name.
    name = get_default_graph().unique_name(variable.op.name,
                                           mark_as_used=False)
    handle = _raw.VarHandleOp(
        dtype=variable.dtype.base_dtype, shape=variable.get_shape(),
        shared_name=name, name=name)
    _raw.ReadVariableOp(handle, variable.dtype.base_dtype,
                        name=name + "/Read/ReadVariableOp")
    return handle
