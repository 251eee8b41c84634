"""Messages: their text, and repeated fields as lists."""
import copy
import random

import pytest

import headrace as tf
from headrace._src.framework.messages import TensorProto


def test_floats_are_printed_as_python_does():
    numbers = TensorProto(
        float_val=[10, .1, 1e20, float("inf"), float("nan"), 16777216, -0.],
        double_val=[10, 1e-5, 1 / 3], int_val=[10], string_val=[b"\xff1"])
    for line in ("float_val: 10.0", "float_val: 0.1", "float_val: 1e+20",
                 "float_val: inf", "float_val: nan", "float_val: 16777216.0",
                 "float_val: -0.0", "double_val: 10.0", "double_val: 1e-05",
                 "int_val: 10", "string_val: \"\\3771\""):
        assert line + "\n" in str(numbers)
    again = TensorProto()
    again.MergeText(str(numbers))
    assert str(again) == str(numbers)


def numbers(*values):
    return tf.train.Int64List(value=values).value


def test_repeated_numbers_are_changed_as_lists_are():
    field = tf.train.BytesList(value=[b"a", b"b"]).value
    field[:] = [b"q"]
    assert list(field) == [b"q"]
    for seed in range(200):
        r = random.Random(seed)
        values = [r.randrange(9) for _ in range(r.randrange(12))]
        part = slice(r.randrange(-12, 12), r.randrange(-12, 12),
                     r.choice([1, 2, -1, 3]))
        given = [r.randrange(9) for _ in values[part]]
        at, key = r.randrange(-15, 15), r.choice([None, lambda x: -x % 4])
        steps = [
            lambda x: x.__setitem__(part, given),
            lambda x: x.insert(at, 77),
            lambda x: x.__delitem__(part),
            lambda x: x.sort(key=key, reverse=seed % 2 == 0),
            lambda x: x.reverse()]
        field, wanted = numbers(*values), list(values)
        for i, step in enumerate(steps):
            step(field)
            step(wanted)
            assert list(field) == wanted, (seed, i)
    assert copy.deepcopy(numbers(1, 2)) == [1, 2]


def test_refused_values_leave_a_field_as_it_is():
    field = numbers(1, 2, 3)
    for part, values, error in [(slice(None), [5, "x"], TypeError),
                                (slice(None, None, 2), [5], ValueError)]:
        with pytest.raises(error):
            field[part] = values
        assert list(field) == [1, 2, 3]


def test_repeated_messages_are_put_in_order():
    nodes = tf.GraphDef(node=[tf.NodeDef(name=n) for n in "cabed"]).node
    first = nodes[0]
    nodes.sort(key=lambda n: n.name)
    assert "".join(n.name for n in nodes) == "abcde" and first.name == "c"
    nodes.reverse()
    nodes.insert(1, tf.NodeDef(name="x"))
    assert "".join(n.name for n in nodes) == "exdcba"
    del nodes[::2]
    assert "".join(n.name for n in nodes) == "xca"
    with pytest.raises(TypeError):
        nodes[0:1] = [tf.NodeDef()]


def test_any_holds_a_message_of_any_type():
    held = tf.MetaGraphDef().collection_def["x"].any_list.value.add()
    held.Pack(tf.train.Int64List(value=[1]))
    assert held.type_url == "type.googleapis.com/tensorflow.Int64List"
    assert held.value == b"\n\x01\x01"
    assert held.TypeName() == "tensorflow.Int64List"
    assert held.Is(tf.train.Int64List.DESCRIPTOR)
    assert not held.Is(tf.train.FloatList.DESCRIPTOR)
    floats, numbers = tf.train.FloatList(), tf.train.Int64List()
    assert not held.Unpack(floats) and not floats.value
    assert held.Unpack(numbers) and list(numbers.value) == [1]
    held.Pack(floats, "example.com")
    assert held.type_url == "example.com/tensorflow.FloatList"
    with pytest.raises(TypeError, match="wanted a message"):
        held.Pack(5)
    assert not hasattr(numbers, "Pack")


def test_types_of_messages_can_be_looked_at():
    d = tf.NodeDef.DESCRIPTOR
    assert (d.name, d.full_name) == ("NodeDef", "tensorflow.NodeDef")
    assert [f.name for f in d.fields][:3] == ["name", "op", "input"]
    field = d.fields_by_name["input"]
    assert (field.number, field.label, field.type) == (3, 3, 9)
    assert field.full_name == "tensorflow.NodeDef.input"
    assert field.message_type is None
    assert tf.NodeDef().DESCRIPTOR == d != tf.GraphDef.DESCRIPTOR
    assert tf.GraphDef.DESCRIPTOR.fields_by_name["node"].message_type == d
    found = tf.NodeDef(name="a", input=["b"]).ListFields()
    assert [(f.name, f.number) for f, _ in found] == [("name", 1), ("input", 3)]
    assert found[0][1] == "a" and list(found[1][1]) == ["b"]
