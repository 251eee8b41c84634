"""google.protobuf.json_format for programs of TensorFlow 1.x: its functions take
the messages of tf too, with protobuf's rules of JSON."""
import base64
import json
import math

import numpy as np

_MESSAGE, _ENUM, _BYTES, _BOOL = 11, 14, 12, 8  # FieldDescriptor.type
_FLOATS, _FLOAT = (1, 2), 2
_INT64S = (3, 4, 6, 16, 18)
_INT32S = (5, 7, 13, 15, 17)
_REPEATED = 3  # FieldDescriptor.label
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Error(Exception):
    """Any error of this module."""


class SerializeToJsonError(Error):
    """A message that JSON cannot hold."""


class ParseError(Error):
    """The text is no JSON of such a message."""


# From messages.

def MessageToJson(message, including_default_value_fields=False,
                  preserving_proto_field_name=False, indent=2, sort_keys=False,
                  use_integers_for_enums=False, **kwargs):
    """The JSON text of a message."""
    found = MessageToDict(message, including_default_value_fields,
                          preserving_proto_field_name, use_integers_for_enums,
                          **kwargs)
    return json.dumps(found, indent=indent, sort_keys=sort_keys)


def MessageToDict(message, including_default_value_fields=False,
                  preserving_proto_field_name=False,
                  use_integers_for_enums=False,
                  always_print_fields_with_no_presence=False, **kwargs):
    """What the JSON of a message says, as dicts and lists."""
    del kwargs  # of protobuf's versions: float_precision, descriptor_pool
    return _Writer(including_default_value_fields
                   or always_print_fields_with_no_presence,
                   preserving_proto_field_name, use_integers_for_enums
                   ).message(message)


class _Writer:
    def __init__(self, with_defaults, own_names, enums_as_numbers):
        self._with_defaults = with_defaults
        self._own_names = own_names
        self._enums_as_numbers = enums_as_numbers

    def message(self, message):
        fields = {field.name: (field, value)
                  for field, value in message.ListFields()}
        if self._with_defaults:
            for field in message.DESCRIPTOR.fields:
                if field.type != _MESSAGE or field.label == _REPEATED:
                    fields.setdefault(field.name, (
                        field, getattr(message, field.name)))
        return {field.name if self._own_names else field.json_name:
                self._field(field, value) for field, value in fields.values()}

    def _field(self, field, value):
        if field._is_map:
            of_key, of_value = (field.message_type.fields_by_name[n]
                                for n in ("key", "value"))
            return {self._key(of_key, k): self._one(of_value, value[k])
                    for k in value}
        if field.label == _REPEATED:
            return [self._one(field, item) for item in value]
        return self._one(field, value)

    def _key(self, field, key):
        return ("true" if key else "false") if field.type == _BOOL else str(key)

    def _one(self, field, value):
        kind = field.type
        if kind == _MESSAGE:
            return self.message(value)
        if kind == _ENUM:
            name = None if self._enums_as_numbers else field._enum_name(value)
            return value if name is None else name
        if kind == _BYTES:
            return base64.b64encode(value).decode("ascii")
        if kind == _BOOL:
            return bool(value)
        if kind in _INT64S:
            return str(value)
        if kind in _FLOATS:
            return self._float(kind, value)
        return value

    def _float(self, kind, value):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return float(str(np.float32(value))) if kind == _FLOAT else value


# To messages.

def Parse(text, message, ignore_unknown_fields=False, **kwargs):
    """Merges JSON text into `message`, and returns it. ParseError for a text
    that does not fit it."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        found = json.loads(text)
    except ValueError as e:
        raise ParseError("Failed to load JSON: %s." % e) from None
    return ParseDict(found, message, ignore_unknown_fields)


def ParseDict(js_dict, message, ignore_unknown_fields=False, **kwargs):
    """As Parse, of dicts and lists."""
    _read(js_dict, message, ignore_unknown_fields)
    return message


def _read(found, message, ignore_unknown):
    descriptor = message.DESCRIPTOR
    if not isinstance(found, dict):
        raise ParseError("A message %s is an object in JSON, got %r."
                         % (descriptor.full_name, found))
    fields = {f.json_name: f for f in descriptor.fields}
    fields.update(descriptor.fields_by_name)
    for name, value in found.items():
        field = fields.get(name)
        if field is None:
            if ignore_unknown:
                continue
            raise ParseError("Message type \"%s\" has no field named \"%s\"."
                             % (descriptor.full_name, name))
        if value is None:
            message.ClearField(field.name)
            continue
        try:
            _read_field(field, value, message, ignore_unknown)
        except (TypeError, ValueError, OverflowError) as e:
            raise ParseError("Failed to parse %s field: %s."
                             % (name, e)) from None


def _read_field(field, value, message, ignore_unknown):
    target = getattr(message, field.name)
    if field._is_map:
        of_key, of_value = (field.message_type.fields_by_name[n]
                            for n in ("key", "value"))
        if not isinstance(value, dict):
            raise ValueError("a map is an object in JSON, got %r" % (value,))
        for key, item in value.items():
            key = _value(of_key, {"true": True, "false": False}.get(key, key)
                         if of_key.type == _BOOL else key)
            if of_value.type == _MESSAGE:
                _read(item, target[key], ignore_unknown)
            else:
                target[key] = _value(of_value, item)
    elif field.label == _REPEATED:
        if not isinstance(value, list):
            raise ValueError("repeated field is an array in JSON, got %r"
                             % (value,))
        for item in value:
            if field.type == _MESSAGE:
                _read(item, target.add(), ignore_unknown)
            else:
                target.append(_value(field, item))
    elif field.type == _MESSAGE:
        target.SetInParent()
        _read(value, target, ignore_unknown)
    else:
        setattr(message, field.name, _value(field, value))


def _value(field, value):
    """The value of a field that is no message."""
    kind = field.type
    if kind == _BYTES:
        text = value.replace("-", "+").replace("_", "/")
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    if kind in _FLOATS:
        if isinstance(value, bool):
            raise ValueError("a number is wanted, got %r" % (value,))
        return _SPECIAL[value] if value in _SPECIAL else float(value)
    if kind in _INT32S or kind in _INT64S:
        if isinstance(value, bool) or (
                isinstance(value, float) and not value.is_integer()):
            raise ValueError("an integer is wanted, got %r" % (value,))
        return int(value)
    if kind == _BOOL:
        if not isinstance(value, bool):
            raise ValueError("true or false is wanted, got %r" % (value,))
    return value


# (function, where its message stands), for protobuf_text.py.
FUNCTIONS = ((MessageToJson, 0), (MessageToDict, 0), (Parse, 1), (ParseDict, 1))
NAMES = ("MessageToJson", "MessageToDict", "Parse", "ParseDict", "Error",
         "SerializeToJsonError", "ParseError")
