"""tensorflow.python.framework.op_def_library: nodes of registered ops from
keyword arguments, as the functions of TensorFlow 1.15 make them."""
import contextlib

from headrace._headrace import Tensor
from headrace._src.compat.graphs import (
    graph_from_inputs, internal_convert_n_to_tensor,
    internal_convert_to_tensor)
from headrace._src.compat.op_registry import get_registered_ops
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    colocate_with, get_default_graph, name_scope)
from headrace._src.framework.messages import (
    AttrValue, NameAttrList, OpDef, OpList, TensorProto, TensorShapeProto)
from headrace._src.framework.newer_attrs import NEWER_ATTRS
from headrace._src.framework.tensor_shape import as_shape
from headrace._src.framework.text_compat import as_bytes, as_text


def _is_list(value):
    return isinstance(value, (list, tuple))


def _flat(values):
    for value in values:
        if _is_list(value):
            yield from value
        else:
            yield value


# Attrs.

def _number(kind, convert, types):
    def make(value, attr, op):
        if isinstance(value, (str, bytes)) or not isinstance(value, types):
            raise TypeError("Expected %s for argument '%s' not %r."
                            % (kind, attr.name, value))
        try:
            return convert(value)
        except (TypeError, ValueError):
            raise TypeError("Expected %s for argument '%s' not %r."
                            % (kind, attr.name, value)) from None
    return make


def _make_float(value, attr, op):
    import numbers

    import numpy as np
    return _number("float", float, (numbers.Real, np.integer, np.floating))(
        value, attr, op)


def _make_int(value, attr, op):
    return _number("int", int, object)(value, attr, op)


def _make_bool(value, attr, op):
    return _number("bool", bool, bool)(value, attr, op)


def _make_string(value, attr, op):
    if not isinstance(value, (str, bytes)):
        raise TypeError("Expected string for argument '%s' not %r."
                        % (attr.name, value))
    value = as_bytes(value)
    if attr.HasField("allowed_values"):
        allowed = list(attr.allowed_values.list.s)
        if value not in allowed:
            raise ValueError(
                "Attr '%s' of '%s' Op passed string '%s' not in: \"%s\"." % (
                    attr.name, op, as_text(value),
                    '", "'.join(map(as_text, allowed))))
    return value


def _check_type(dtype, attr, parameter):
    if not attr.HasField("allowed_values"):
        return
    allowed = list(attr.allowed_values.list.type)
    if dtype.as_datatype_enum not in allowed:
        raise TypeError(
            "Value passed to parameter '%s' has DataType %s not in list of "
            "allowed values: %s" % (parameter, dtype.name, ", ".join(
                dtypes.as_dtype(t).name for t in allowed)))


def _make_type(value, attr, op):
    try:
        dtype = dtypes.as_dtype(value).base_dtype
    except TypeError:
        raise TypeError("Expected DataType for argument '%s' not %r."
                        % (attr.name, value)) from None
    _check_type(dtype, attr, attr.name)
    return dtype.as_datatype_enum


def _make_shape(value, attr, op):
    if isinstance(value, TensorShapeProto):
        return value
    try:
        return as_shape(value).as_proto()
    except (TypeError, ValueError) as error:
        raise type(error)("Error converting %s to a TensorShape: %s"
                          % (attr.name, error)) from None


def _make_tensor(value, attr, op):
    if not isinstance(value, TensorProto):
        raise TypeError("Don't know how to convert %r to a TensorProto for "
                        "argument '%s'" % (value, attr.name))
    return value


def _make_function(value, attr, op):
    if isinstance(value, NameAttrList):
        return value
    if isinstance(value, (str, bytes)):
        return NameAttrList(name=as_text(value))
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(get_default_graph())
        return NameAttrList(name=value.name)
    raise TypeError("Don't know how to convert %s to a func for argument %s"
                    % (value, attr.name))


# {type of an attr: (field of AttrValue, function)}
_MAKERS = {"string": ("s", _make_string), "int": ("i", _make_int),
           "float": ("f", _make_float), "bool": ("b", _make_bool),
           "type": ("type", _make_type), "shape": ("shape", _make_shape),
           "tensor": ("tensor", _make_tensor),
           "func": ("func", _make_function)}


def _attr_value(value, attr, op):
    """The AttrValue of an attr by its definition."""
    out = AttrValue()
    if value is None and attr.HasField("default_value"):
        out.CopyFrom(attr.default_value)
        return out
    is_list = attr.type.startswith("list(")
    kind = attr.type[5:-1] if is_list else attr.type
    if kind not in _MAKERS:
        raise TypeError("Unrecognized Attr type " + attr.type)
    field, make = _MAKERS[kind]
    if is_list:
        if not _is_list(value):
            raise TypeError("Expected list for attr " + attr.name)
        if attr.has_minimum and len(value) < attr.minimum:
            raise ValueError(
                "Attr '%s' of '%s' Op passed list of length %d less than "
                "minimum %d." % (attr.name, op, len(value), attr.minimum))
        out.list.SetInParent()
        getattr(out.list, field).extend([make(x, attr, op) for x in value])
        return out
    made = make(value, attr, op)
    if kind == "int" and attr.has_minimum and made < attr.minimum:
        raise ValueError("Attr '%s' of '%s' Op passed %d less than minimum %d."
                         % (attr.name, op, made, attr.minimum))
    if kind in ("shape", "tensor", "func"):
        getattr(out, field).CopyFrom(made)
    else:
        setattr(out, field, made)
    return out


# Inputs.

class _Node:
    """The inputs of a node as they are converted, the attrs that follow from
    them, and from which input each follows."""

    def __init__(self, op_def):
        self.op = op_def.name
        self.attr_defs = {a.name: a for a in op_def.attr}
        self.defaults = {
            a.name: dtypes.as_dtype(a.default_value.type) for a in op_def.attr
            if a.type == "type" and a.HasField("default_value")}
        self.inputs = []
        self.attrs = {}
        self._source = {}

    def add(self, arg, name, value):
        """Converts what is given for an input."""
        if arg.number_attr or arg.type_list_attr:
            if not _is_list(value):
                raise TypeError("Expected list for '%s' argument to '%s' Op, "
                                "not %s." % (name, self.op, value))
            values = self._converted_list(arg, name, value)
        else:
            values = [self._converted(arg, name, value)]
        types = [v.dtype for v in values]
        if arg.number_attr:
            self._take_number(arg, name, len(values))
        if arg.type_list_attr:
            self._take_types(arg.type_list_attr, name,
                             [t.base_dtype for t in types])
        elif arg.type_attr:
            self._take_type(arg, name, types)
        if arg.is_ref and not all(t._is_ref_dtype for t in types):
            raise TypeError("'%s' Op requires that input '%s' be a mutable "
                            "tensor (e.g.: a tf.Variable)" % (self.op, name))
        self.inputs.extend(values)

    def _wanted(self, arg):
        """The dtype that an input must have, or None."""
        if arg.type:
            return dtypes.as_dtype(arg.type)
        return self.attrs.get(arg.type_attr)

    def _converted(self, arg, name, value):
        wanted = self._wanted(arg)
        preferred = None if wanted else self.defaults.get(arg.type_attr)
        try:
            return internal_convert_to_tensor(value, wanted, arg.name,
                                              arg.is_ref, preferred)
        except TypeError as error:
            if wanted is None:
                raise
            raise TypeError(
                "Expected %s passed to parameter '%s' of op '%s', got %r of "
                "type '%s' instead. Error: %s" % (
                    wanted.name, arg.name, self.op, value,
                    type(value).__name__, error)) from None
        except ValueError as error:
            self._refuse(arg, name, value, error)

    def _refuse(self, arg, name, value, error):
        """Raises for a value of another type than is wanted."""
        try:
            got = internal_convert_to_tensor(value, as_ref=arg.is_ref)
        except ValueError as error:
            raise ValueError("Tried to convert '%s' to a tensor and failed. "
                             "Error: %s" % (name, error)) from None
        text = "Input '%s' of '%s' Op has type %s that does not match" % (
            name, self.op, got.dtype.name)
        if arg.type:
            raise TypeError("%s expected type of %s." % (
                text, dtypes.as_dtype(arg.type).name)) from None
        if arg.type_attr not in self.attrs:
            raise error
        raise TypeError("%s type %s of argument '%s'." % (
            text, self.attrs[arg.type_attr].name,
            self._source.get(arg.type_attr, "Default in OpDef"))) from None

    def _converted_list(self, arg, name, values):
        wanted = self._wanted(arg)
        if wanted is None and arg.number_attr:
            wanted = next((v.dtype for v in values if isinstance(v, Tensor)),
                          None)
        preferred = None if wanted else self.defaults.get(arg.type_attr)
        if wanted is not None and not arg.is_ref:
            wanted = wanted.base_dtype
        try:
            found = internal_convert_n_to_tensor(values, wanted, arg.name,
                                                 arg.is_ref, preferred)
            if not arg.number_attr or len(
                    {v.dtype.base_dtype for v in found}) < 2:
                return found
        except (TypeError, ValueError):
            pass
        observed = []
        for value in values:
            try:
                observed.append(internal_convert_to_tensor(
                    value, as_ref=arg.is_ref).dtype.base_dtype.name)
            except (TypeError, ValueError):
                observed.append("<NOT CONVERTIBLE TO TENSOR>")
        text = "Tensors in list passed to '%s' of '%s' Op have types [%s]" % (
            name, self.op, ", ".join(observed))
        if not arg.number_attr:
            text += " that are invalid. Tensors: %s" % (values,)
        elif arg.type:
            text += " that do not match expected type %s." % wanted.name
        elif arg.type_attr in self.attrs:
            text += (" that do not match type %s inferred from earlier "
                     "arguments." % wanted.name)
        else:
            text += " that don't all match."
        raise TypeError(text)

    def _take_number(self, arg, name, number):
        key = arg.number_attr
        if key in self.attrs:
            if number != self.attrs[key]:
                raise ValueError(
                    "List argument '%s' to '%s' Op with length %d must match "
                    "length %d of argument '%s'." % (
                        name, self.op, number, self.attrs[key],
                        self._source[key]))
            return
        self.attrs[key], self._source[key] = number, name
        attr = self.attr_defs[key]
        if attr.has_minimum and number < attr.minimum:
            raise ValueError(
                "List argument '%s' to '%s' Op with length %d shorter than "
                "minimum length %d." % (name, self.op, number, attr.minimum))

    def _take_type(self, arg, name, types):
        key = arg.type_attr
        if key in self.attrs:
            if types and types[0].base_dtype != self.attrs[key]:
                raise TypeError(
                    "Input '%s' of '%s' Op has type %s that does not match type "
                    "%s of argument '%s'." % (
                        name, self.op, types[0].base_dtype.name,
                        self.attrs[key].name, self._source[key]))
            return
        if not types:
            raise TypeError("Don't know how to infer type variable from empty "
                            "input list passed to input '%s' of '%s' Op."
                            % (name, self.op))
        self.attrs[key] = types[0].base_dtype
        self._source[key] = name
        _check_type(self.attrs[key], self.attr_defs[key], name)

    def _take_types(self, key, name, types):
        if key in self.attrs:
            if types != self.attrs[key]:
                raise TypeError(
                    "Input '%s' of '%s' Op has type list of %s that does not "
                    "match type list %s of argument '%s'." % (
                        name, self.op, ", ".join(t.name for t in types),
                        ", ".join(t.name for t in self.attrs[key]),
                        self._source[key]))
            return
        for dtype in types:
            _check_type(dtype, self.attr_defs[key], name)
        self.attrs[key], self._source[key] = types, name


def _popped(keywords, name, what):
    """(name as it was given, value): names that Python has end in "_"."""
    for key in (name, name + "_"):
        if key in keywords:
            return key, keywords.pop(key)
    raise TypeError("No argument for %s %s" % (what, name))


def _structured(outputs, op_def, attrs):
    """The outputs as the op's definition groups them."""
    rest, found = list(outputs), []
    for arg in op_def.output_arg:
        if arg.number_attr or arg.type_list_attr:
            n = (attrs[arg.number_attr].i if arg.number_attr
                 else len(attrs[arg.type_list_attr].list.type))
            found.append(rest[:n])
            rest = rest[n:]
        else:
            found.append(rest.pop(0))
    return found[0] if len(found) == 1 else tuple(found)


def _apply(op_def, name, keywords):
    graph = graph_from_inputs(list(_flat(keywords.values())))
    version = graph.graph_def_versions.producer
    removed = op_def.deprecation.version
    if removed and version >= removed:
        raise NotImplementedError(
            "Op %s is not available in GraphDef version %d. It has been removed "
            "in version %d. %s." % (op_def.name, version, removed,
                                    op_def.deprecation.explanation))
    node = _Node(op_def)
    with graph.as_default(), name_scope(name or op_def.name) as scope:
        for arg in op_def.input_arg:
            node.add(arg, *_popped(keywords, arg.name, "input"))
        attrs = dict(node.attrs)
        newer = NEWER_ATTRS.get(op_def.name, ())
        for attr in op_def.attr:
            if attr.name in newer and attr.name not in keywords:
                attrs[attr.name] = None  # programs of 1.15 do not know it
            elif attr.name not in attrs:
                attrs[attr.name] = _popped(keywords, attr.name, "attr")[1]
            elif attr.name in keywords:
                raise TypeError("Should not specify value for inferred attr "
                                "'%s'." % attr.name)
        messages = {attr.name: _attr_value(attrs[attr.name], attr, op_def.name)
                    for attr in op_def.attr}
        if keywords:
            raise TypeError("apply_op() got unexpected keyword arguments: "
                            + ", ".join(sorted(keywords)))
        with contextlib.ExitStack() as stack:
            for arg, value in zip(op_def.input_arg, node.inputs):
                if arg.is_ref:
                    stack.enter_context(colocate_with(value))
            op = graph.create_op(op_def.name, node.inputs, name=scope,
                                 attrs=messages)
    if not op_def.output_arg:
        return op
    found = _structured(op.outputs, op_def, messages)
    return op if found == [] and op_def.is_stateful else found


class OpDefLibrary:
    """Ops whose nodes apply_op makes: those that were added."""

    def __init__(self):
        self._ops = {}

    def add_op(self, op_def):
        """RuntimeError for an op that was added before."""
        if not isinstance(op_def, OpDef):
            raise TypeError("%s is %s, not an op_def_pb2.OpDef"
                            % (op_def, type(op_def)))
        if not op_def.name:
            raise ValueError("%s missing name." % op_def)
        if op_def.name in self._ops:
            raise RuntimeError("Op name %s registered twice." % op_def.name)
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list):
        if not isinstance(op_list, OpList):
            raise TypeError("%s is %s, not an op_def_pb2.OpList"
                            % (op_list, type(op_list)))
        for op_def in op_list.op:
            self.add_op(op_def)

    def _find(self, name):
        return self._ops.get(name)

    def apply_op(self, op_type_name, name=None, **keywords):
        """A node of an op: inputs and attrs by their names, an attr None for
        its default. Returns its outputs as the op groups them, or the Operation
        of an op without outputs. TypeError and ValueError for what does not
        fit, RuntimeError for an op that was not added."""
        op_def = self._find(op_type_name)
        if op_def is None:
            raise RuntimeError("Unrecognized Op name " + op_type_name)
        return _apply(op_def, name, keywords)


class _AllOps(OpDefLibrary):
    """The library of all registered ops."""

    def _find(self, name):
        return self._ops.get(name) or get_registered_ops().get(name)


all_ops = _AllOps()
