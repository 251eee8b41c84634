"""OpDefs read from a serialised OpList, without a protobuf library."""
import dataclasses
import struct


@dataclasses.dataclass
class Arg:
    name: str = ""
    type: int = 0
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""
    is_ref: bool = False


@dataclasses.dataclass
class Attr:
    name: str = ""
    type: str = ""
    has_default: bool = False
    default: object = None  # of types, numbers and strings alone
    minimum: int | None = None
    allowed: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class OpDef:
    name: str = ""
    inputs: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)
    attrs: list = dataclasses.field(default_factory=list)
    stateful: bool = False


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(field number, value) of a message: numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 4 if kind == 5 else 8
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def varints(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


def attr_value(data):
    """A number, type or text, or a list of these; None for what else it is."""
    for number, value in fields(data):
        if number == 1:
            return [item for n, v in fields(value) if n in (2, 3, 6)
                    for item in ([v] if n == 2 else
                                 varints(v) if isinstance(v, bytes) else
                                 [signed(v)])]
        if number in (3, 6):
            return signed(value)
        if number == 4:
            return struct.unpack("<f", value)[0]
        if number == 5:
            return bool(value)
        if number == 2:
            return value
    return None


def parse_arg(data):
    arg = Arg()
    names = {1: "name", 4: "type_attr", 5: "number_attr", 6: "type_list_attr"}
    for number, value in fields(data):
        if number in names:
            setattr(arg, names[number], value.decode())
        elif number == 3:
            arg.type = value
        elif number == 16:
            arg.is_ref = bool(value)
    return arg


def parse_attr(data):
    attr = Attr()
    for number, value in fields(data):
        if number == 1:
            attr.name = value.decode()
        elif number == 2:
            attr.type = value.decode()
        elif number == 3:
            attr.has_default, attr.default = True, attr_value(value)
        elif number == 5 and value:
            attr.minimum = attr.minimum or 0
        elif number == 6:
            attr.minimum = signed(value)
        elif number == 7:
            attr.allowed = attr_value(value)
    return attr


def parse(op_list):
    """OpDefs by name."""
    ops = {}
    for _, data in fields(op_list):
        op = OpDef()
        for number, value in fields(data):
            if number == 1:
                op.name = value.decode()
            elif number == 2:
                op.inputs.append(parse_arg(value))
            elif number == 3:
                op.outputs.append(parse_arg(value))
            elif number == 4:
                op.attrs.append(parse_attr(value))
            elif number == 17:
                op.stateful = bool(value)
        ops[op.name] = op
    return ops


def kernel_ops(kernel_list, device="CPU"):
    """The names of the ops that have a kernel for the device."""
    found = set()
    for _, data in fields(kernel_list):
        kernel = dict(f for f in fields(data) if f[0] in (1, 2))
        if kernel.get(2) == device.encode():
            found.add(kernel[1].decode())
    return found
