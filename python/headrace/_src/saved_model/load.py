"""tf.saved_model.load_v2: the objects of a SavedModel that tf.saved_model.save
wrote, here or in TensorFlow 1.x and 2.x."""
import collections.abc
import functools
import os

from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._loading import load as _load
from headrace._src.framework import dtypes, messages, nest
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, device,
    get_default_graph, init_scope)
from headrace._src.framework.messages import TrackableObjectGraph
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.functions.function_def import next_number
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.saved_model import constants, structures
from headrace._src.saved_model.bodies import Body
from headrace._src.saved_model.concrete import (
    Restored, canonical, full_signature)
from headrace._src.saved_model.loader import parse_saved_model
from headrace._src.training import object_graph as _objects
from headrace._src.training.checkpoint_reader import NewCheckpointReader
from headrace._src.variables.module import Module
from headrace._src.variables.variables import Variable


class _Loaded(Module):
    """An object of a SavedModel, with what it had as attributes. It can be
    called if it could be."""

    def __init__(self):
        # It has no scope: it makes no nodes.
        self._name = "loaded"

    def _checkpoint_children(self):
        return [(name, value) for name, value in vars(self).items()
                if name != "_name"]


class _LoadedFunction(_Loaded):
    """One that has a function as `__call__`."""

    def __call__(self, *args, **kwargs):
        return vars(self)["__call__"](*args, **kwargs)


class _Signatures(collections.abc.Mapping):
    """{key: function}"""

    def __init__(self):
        self._functions = {}

    def __getitem__(self, key):
        return self._functions[key]

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def __repr__(self):
        return "_SignatureMap(%s)" % self._functions

    def _checkpoint_children(self):
        return []


class _Function:
    """A tf.function of a SavedModel: a call runs the function that was saved
    for arguments of these types and shapes. ValueError if there is none."""

    def __init__(self, specification, concretes):
        self._signature, self.input_signature = full_signature(specification)
        self.concrete_functions = concretes

    def __call__(self, *args, **kwargs):
        given = canonical(self._signature, args, kwargs)
        for convert in False, True:
            for function in self.concrete_functions:
                if function.fits(*given, convert):
                    return function.run(*given)
        raise ValueError(
            "Could not find matching function to call for arguments %s. "
            "The SavedModel has functions for: %s"
            % (given, [f.specs for f in self.concrete_functions]))

    def get_concrete_function(self, *args, **kwargs):
        """The function for arguments of these types and shapes."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        given = canonical(self._signature, args, kwargs)
        for function in self.concrete_functions:
            if function.fits(*given, True):
                return function
        raise ValueError("Could not find a function for %s" % (given,))


class _Bare:
    """A concrete function of a SavedModel, called with tensors by name, the
    first `places` of them also by place."""

    def __init__(self, function, keywords, places):
        self._function = function
        self._keywords, self._places = list(keywords), places

    structured_outputs = property(
        lambda self: self._function.structured_outputs)
    structured_input_signature = property(lambda self: self._function.specs)

    @property
    def graph(self):
        """The nodes of the function, a tf.Graph of its own."""
        return self._function.body

    @property
    def inputs(self):
        """The placeholders of the graph: of arguments, then of what the function
        takes from objects."""
        return self.graph.inputs

    @property
    def outputs(self):
        """The results, tensors of the graph."""
        return self.graph.outputs

    def __call__(self, *args, **kwargs):
        if len(args) > self._places:
            raise TypeError("Expected at most %d positional arguments (and the "
                            "rest keywords, of %s), got %d"
                            % (self._places, self._keywords, len(args)))
        given = {**dict(zip(self._keywords, args)), **kwargs}
        if sorted(given) != sorted(self._keywords) or len(given) < len(
                args) + len(kwargs):
            raise TypeError("Expected argument names %s, got %s"
                            % (self._keywords, sorted(given)))
        specs = nest.flatten(self._function.specs)
        names = [spec.name for spec in specs]
        if sorted(names, key=str) != sorted(self._keywords):
            names = self._keywords
        return self._function.run(*nest.pack_sequence_as(
            self._function.specs, [
                convert_to_tensor(given[name], dtype=spec.dtype)
                for name, spec in zip(names, specs)]))


class _Resource(_Loaded):
    """A table or the like, which functions of the SavedModel make and fill."""

    @functools.cached_property
    def resource_handle(self):
        """The tensor by which ops know it."""
        return vars(self)["_create_resource"]()


def load(export_dir, tags=None):
    """The object of a SavedModel that tf.saved_model.save wrote, here or in
    TensorFlow 1.x or 2.x, in the default graph: with its variables, its
    functions, and `signatures`, a dict of functions of named tensors of the
    types and shapes that were saved, which give dicts of tensors.

    Variables have their values after they are initialized, as by
    tf.global_variables_initializer; tables are filled by
    tf.tables_initializer.

    Args:
      export_dir: the folder.
      tags: a str or strs, which must be those of the graph; by default any.

    Raises:
      OSError: there is no SavedModel.
      ValueError: other tags, or a part that is not known.
      NotImplementedError: a SavedModel of a session, for which
        tf.saved_model.load(session, tags, export_dir) is."""
    export_dir = os.fsdecode(export_dir)
    model = parse_saved_model(export_dir)
    tags = [tags] if isinstance(tags, str) else tags
    if len(model.meta_graphs) != 1 or not model.meta_graphs[0].HasField(
            "object_graph_def"):
        raise NotImplementedError(
            "tf.saved_model.load_v2: %s was written from a session and has no "
            "objects; load it with tf.saved_model.load(session, tags, folder)"
            % export_dir)
    meta_graph = model.meta_graphs[0]
    have = list(meta_graph.meta_info_def.tags)
    if tags is not None and set(tags) != set(have):
        raise ValueError(
            "The SavedModel at %s has one MetaGraph with tags %s, but got an "
            "incompatible argument tags=%s to tf.saved_model.load. You may omit "
            "it, pass 'None', or pass matching tags."
            % (export_dir, have, list(tags)))
    root = _Loader(meta_graph, export_dir).objects[0]
    if isinstance(root, _Loaded):
        root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
        root.tensorflow_git_version = (
            meta_graph.meta_info_def.tensorflow_git_version)
    return root


class _Loader:
    """Makes the objects of a MetaGraphDef: `objects`, by their numbers."""

    def __init__(self, meta_graph, export_dir):
        self._meta_graph, self._export_dir = meta_graph, export_dir
        self._proto = meta_graph.object_graph_def
        self._import_functions()
        self._path = os.path.join(export_dir, constants.VARIABLES_DIRECTORY,
                                  constants.VARIABLES_FILENAME)
        self._keys = self._keys_of_values()
        self._concretes = {}
        self.objects = [self._made(number, node)
                        for number, node in enumerate(self._proto.nodes)]
        for thing, node in zip(self.objects, self._proto.nodes):
            for child in node.children:
                self._give(thing, child.local_name,
                           self.objects[child.node_id])
        for thing in self.objects:
            if isinstance(thing, _Resource) and "_initialize" in vars(thing):
                with init_scope():
                    done = vars(thing)["_initialize"]()
                add_to_collection(GraphKeys.TABLE_INITIALIZERS,
                                  getattr(done, "op", done))

    # Functions.

    def _import_functions(self):
        """Adds the functions to the graph, under names of their own."""
        library = self._meta_graph.graph_def.library
        number = next_number()
        self._names = {f.signature.name: "%s_%d" % (f.signature.name, number)
                       for f in library.function}
        self._definitions = {}
        graph_def = messages.GraphDef()
        graph_def.versions.CopyFrom(self._meta_graph.graph_def.versions)
        for function in library.function:
            made = graph_def.library.function.add()
            made.CopyFrom(function)
            made.signature.name = self._names[function.signature.name]
            for node in made.node_def:
                self._rename(node)
            self._definitions[function.signature.name] = made
        for gradient in library.gradient:
            graph_def.library.gradient.add(
                function_name=self._names[gradient.function_name],
                gradient_func=self._names[gradient.gradient_func])
        self.imported = None  # functions that are executed eagerly
        if executing_eagerly():
            self.imported = _load("_src.eager.backward").Imported(graph_def)
        else:
            get_default_graph()._import_graph_def(graph_def, "", [], [])

    def _rename(self, node):
        node.op = self._names.get(node.op, node.op)
        for name in [n for n in node.attr if n == "_gradient_op_type"]:
            # Gradients are made of the function itself.
            del node.attr[name]
        for attr in node.attr.values():
            if attr.HasField("func"):
                attr.func.name = self._names.get(attr.func.name,
                                                 attr.func.name)
            for function in attr.list.func:
                function.name = self._names.get(function.name, function.name)

    def _concrete(self, name):
        if name not in self._concretes:
            if name not in self._proto.concrete_functions:
                raise ValueError("The SavedModel %s has no function %s"
                                 % (self._export_dir, name))
            saved = self._proto.concrete_functions[name]
            definition = self._definitions[name]
            self._concretes[name] = _Late(
                self, list(saved.bound_inputs), definition,
                structures.decoded(saved.canonicalized_input_signature),
                structures.decoded(saved.output_signature),
                [dtypes.as_dtype(arg.type)
                 for arg in definition.signature.output_arg])
        return self._concretes[name]

    def library(self):
        """{name in the graph: FunctionDef}"""
        return {f.signature.name: f for f in self._definitions.values()}

    def bound(self, numbers):
        """The tensors that objects are to functions."""
        found = []
        for number in numbers:
            thing = self.objects[number]
            found.append(getattr(thing, "handle", None) if isinstance(
                thing, Variable) else getattr(thing, "resource_handle", thing))
        return found

    # Values.

    def _keys_of_values(self):
        """{number of an object: its key in the checkpoint}"""
        if not os.path.exists(self._path + ".index"):
            return {}
        graph = TrackableObjectGraph()
        reader = NewCheckpointReader(self._path)
        if not reader.has_tensor(_objects.KEY):
            return {}
        graph.MergeFromString(reader.get_tensor(_objects.KEY))
        matched, todo = {0: 0}, [0]
        for number in todo:
            there = {child.local_name: child.node_id for child
                     in graph.nodes[matched[number]].children}
            for child in self._proto.nodes[number].children:
                if child.node_id not in matched and (
                        child.local_name in there):
                    matched[child.node_id] = there[child.local_name]
                    todo.append(child.node_id)
        for number in list(matched):
            slots = {(s.slot_name, s.original_variable_node_id):
                     s.slot_variable_node_id
                     for s in graph.nodes[matched[number]].slot_variables}
            for slot in self._proto.nodes[number].slot_variables:
                key = slot.slot_name, matched.get(
                    slot.original_variable_node_id)
                if key in slots:
                    matched[slot.slot_variable_node_id] = slots[key]
        return {number: attribute.checkpoint_key
                for number, other in matched.items()
                for attribute in graph.nodes[other].attributes
                if attribute.name == "VARIABLE_VALUE"}

    # Objects.

    def _made(self, number, node):
        kind = node.WhichOneof("kind")
        maker = getattr(self, "_make_" + str(kind), None)
        if maker is None:
            raise ValueError("SavedModel %s: object %d is of the kind %s, which "
                             "is not supported" % (self._export_dir, number,
                                                   kind))
        return maker(number, node, getattr(node, kind))

    def _make_variable(self, number, node, saved):
        dtype = dtypes.as_dtype(saved.dtype)
        shape = TensorShape(saved.shape)
        key = self._keys.get(number)

        def value():
            if key is None:
                raise ValueError("SavedModel %s has no value for the variable %s"
                                 % (self._export_dir, saved.name))
            with device("/cpu:0"):
                found = _raw.RestoreV2(self._path, [key], [""], [dtype])
            found = found[0] if isinstance(found, (list, tuple)) else found
            found.set_shape(shape)
            return found
        with init_scope():
            return Variable(value, trainable=saved.trainable,
                            name=saved.name or None, dtype=dtype,
                            use_resource=True)

    def _make_user_object(self, number, node, saved):
        kind = saved.identifier
        if kind == "trackable_list_wrapper":
            return []
        if kind == "trackable_dict_wrapper":
            return {}
        if kind == "signature_map":
            return _Signatures()
        if any(child.local_name == "__call__" for child in node.children):
            return _LoadedFunction()
        return _Loaded()

    def _make_function(self, number, node, saved):
        spec = saved.function_spec
        decoded = structures.decoded(spec.input_signature)
        return _Function(
            (structures.decoded(spec.fullargspec), spec.is_method, decoded),
            [self._concrete(name) for name in saved.concrete_functions])

    def _make_bare_concrete_function(self, number, node, saved):
        return _Bare(self._concrete(saved.concrete_function_name),
                     saved.argument_keywords,
                     saved.allowed_positional_arguments)

    def _make_constant(self, number, node, saved):
        for other in self._meta_graph.graph_def.node:
            if other.name == saved.operation:
                value = other.attr["value"].tensor
                with init_scope():
                    return _raw.Const(
                        value=value, dtype=dtypes.as_dtype(value.dtype))
        raise ValueError("SavedModel %s has no node %s"
                         % (self._export_dir, saved.operation))

    def _make_asset(self, number, node, saved):
        name = self._meta_graph.asset_file_def[
            saved.asset_file_def_index].filename
        with init_scope():
            return constant(os.path.join(
                self._export_dir, constants.ASSETS_DIRECTORY, name))

    def _make_resource(self, number, node, saved):
        return _Resource()

    @staticmethod
    def _give(thing, name, child):
        if isinstance(thing, list):
            while len(thing) <= int(name):
                thing.append(None)
            thing[int(name)] = child
        elif isinstance(thing, dict):
            thing[name] = child
        elif isinstance(thing, _Signatures):
            thing._functions[name] = child
        elif isinstance(thing, Module):
            vars(thing)[name] = child


class _Late(Restored):
    """A function whose bound tensors are looked up when it is called: objects
    may be made in any order."""

    def __init__(self, loader, numbers, definition, specs, results, types):
        super().__init__(definition.signature.name, specs, results, None, types)
        self._loader, self._numbers = loader, numbers
        self._definition = definition

    @functools.cached_property
    def body(self):
        return Body(self._definition, self._loader.library(), *(
            [x for x in nest.flatten(specs) if isinstance(x, TensorSpec)]
            for specs in (self.specs, self.structured_outputs)))

    def run(self, args, kwargs):
        self._bound = self._loader.bound(self._numbers)
        if self._loader.imported is not None and not executing_eagerly():
            self._loader.imported.add_to(get_default_graph())
        return super().run(args, kwargs)
