"""tensorflow.python.util: decorators, signatures, notices of deprecation, stacks
and collections, for programs that use TensorFlow's own tools."""
import collections
import functools
import re
import subprocess
import sys
import textwrap

import pytest

import headrace as tf

from headrace._src.compat import (
    call_stacks, decorators, deprecation, dispatch, exports, identity,
    inspection, nest_paths, python_tools)
from headrace._src.framework import nest

ArgSpec = inspection.ArgSpec


def decorated(target):
    def wrapper(*args, **kwargs):
        return wrapper.__wrapped__(*args, **kwargs)
    return decorators.make_decorator(target, wrapper)


@decorated
def function(a, b=2, *c, **d):
    """A docstring."""
    return a


class Called:
    def __init__(self, x=1):
        pass

    def __call__(self, y):
        """Does nothing."""


def given(m, n, k=3):
    return m, n, k


@pytest.mark.parametrize("of,spec", [
    (function, (["a", "b"], "c", "d", (2,))),
    (Called, (["self", "x"], None, None, (1,))),
    (Called(), (["self", "y"], None, None, None)),
    (tf.cast, (["x", "dtype", "name"], None, None, (None,))),  # and ragged
    (functools.partial(given, 1), (["n", "k"], None, None, (3,))),
    (functools.partial(given, n=7), (["m", "n", "k"], None, None, (7, 3))),
    (decorators.TFDecorator("", given, "", ArgSpec(["z"], None, None, None)),
     (["z"], None, None, None))])
def test_signatures_are_those_below_decorators(of, spec):
    assert inspection.getargspec(of) == ArgSpec(*spec)
    if not isinstance(of, functools.partial) and of is not Called:
        assert inspection.getfullargspec(of).args == spec[0]


def test_signatures_that_have_no_argspec_are_refused():
    with pytest.raises(ValueError, match="Some arguments .'n'"):
        inspection.getargspec(functools.partial(given, m=7))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        inspection.getargspec(functools.partial(given, q=7))
    assert inspection.getcallargs(function, 1, c=3) == {
        "a": 1, "b": 2, "c": 3}


def test_names_of_functions_and_their_parameters():
    assert inspection.fn_args(Called()) == ("y",)
    assert inspection.fn_args(functools.partial(given, 1, k=1)) == ("n",)
    assert inspection.get_func_name(function) == "function"
    assert inspection.get_func_name(Called().__call__) == "Called.__call__"
    assert inspection.get_func_code(function).co_name == "function"
    assert inspection.has_kwargs(function) and not inspection.has_kwargs(given)
    with pytest.raises(TypeError, match="function-like"):
        inspection.has_kwargs(1)
    assert inspection.currentframe() is sys._getframe()
    assert inspection.getfile(function) == __file__


def test_decorators_are_taken_off_and_put_around_another_function():
    found, target = decorators.unwrap(function)
    assert [d.decorator_name for d in found] == ["decorated"]
    assert function.__doc__ == "A docstring." and target(3) == 3

    twice = decorated(decorated(lambda x: x))
    _, innermost = decorators.unwrap(twice)
    decorators.rewrap(twice, innermost, lambda x: 2 * x)
    assert twice(4) == 8


@pytest.mark.parametrize("doc,expected", [
    ("Brief\n\n  Text\n\n  Args:\n    a: b",
     "Brief (old)\n\nWarning: Go\nDo\n\nText\n\nArgs:\n  a: b"),
    ("\n  Brief\n  Text", "Brief (old)\n\nWarning: Go\nDo\n\nText"),
    ("Brief\n  ", "Brief (old)\n\nWarning: Go\nDo"),
    (None, "None\n\nWarning: Go\nDo")])
def test_notices_come_after_the_first_line_of_a_docstring(doc, expected):
    assert decorators.add_notice_to_docstring(
        doc, "Do", "None", "(old)", ["Go"]) == expected


@pytest.fixture
def warnings(monkeypatch):
    found = []
    monkeypatch.setattr(deprecation.logging, "warning",
                        lambda text, *args: found.append(text % args))
    return found


def test_deprecated_functions_warn_once_and_say_it_in_their_docstring(warnings):
    @deprecation.deprecated("2016-07-04", "Use g.")
    def f(a):
        """Adds."""
        return a
    assert f(1) == f(1) == 1
    assert len(warnings) == 1 and "test_python_tools.py:" in warnings[0]
    assert warnings[0].endswith(
        ".f (from test_python_tools) is deprecated and will be removed after "
        "2016-07-04.\nInstructions for updating:\nUse g.")
    assert f.__doc__ == (
        "Adds. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be "
        "removed after 2016-07-04.\nInstructions for updating:\nUse g.")
    for date, text in (("today", "x"), (None, "")):
        with pytest.raises(ValueError):
            deprecation.deprecated(date, text)


def test_deprecated_arguments_warn_where_they_are_given(warnings):
    @deprecation.deprecated_args(None, "Do.", ("a", 7), "b", "rest")
    def f(a, b=1, *rest):
        return a

    @deprecation.deprecated_arg_values(None, "Do.", warn_once=False, c=True)
    def g(c=False):
        return c
    for call, number in ((lambda: f(7), 0), (lambda: f(1), 1),
                         (lambda: f(7, b=2), 2), (lambda: f(7, 2, 3), 3),
                         (lambda: g(), 3), (lambda: g(True), 4),
                         (lambda: g(c=True), 5)):
        call()
        assert len(warnings) == number
    with deprecation.silence():
        g(True)
    assert len(warnings) == 5
    with pytest.raises(ValueError, match="not present .*signature: ..z"):
        deprecation.deprecated_args(None, "Do.", "z")(given)


def test_aliases_warn_of_the_old_name(warnings):
    old = deprecation.deprecated_alias("m.old", "m.given", given)
    assert old(1, 2) == (1, 2, 3)
    Old = deprecation.deprecated_alias("m.Old", "m.Called", Called)
    assert isinstance(Old(), Called) and Old.__name__ == "Called"
    assert [w.split(": ", 1)[1] for w in warnings] == [
        "The name m.old is deprecated. Please use m.given instead.\n",
        "The name m.Old is deprecated. Please use m.Called instead.\n"]


def test_exported_names_are_noted():
    @exports.tf_export("a.b", "c", v1=["d"])
    def f():
        pass
    assert exports.get_v1_names(f) == ["d"]
    assert exports.get_v2_names(f) == ["a.b", "c"]
    assert exports.get_canonical_name_for_symbol(f) == "a.b"
    with pytest.raises(exports.SymbolAlreadyExposedError):
        exports.tf_export("e")(f)
    with pytest.raises(exports.InvalidSymbolNameError):
        exports.tf_export("estimator.e")
    with pytest.raises(TypeError, match="only takes keyword"):
        exports.kwarg_only(given)(1)


def test_stacks_know_files_and_lines():
    def here():
        x = call_stacks.TraceableObject(1)
        return x, x.set_filename_and_line_from_caller(offset=1)
    x, code = here()
    assert (x.filename, code) == (__file__, x.SUCCESS)
    assert x.set_filename_and_line_from_caller(300) == x.HEURISTIC_USED
    frame = call_stacks.extract_stack(limit=1)[0]
    assert frame.name == "test_stacks_know_files_and_lines"
    assert call_stacks.convert_stack([frame])[0][3].startswith("frame =")
    with call_stacks.CurrentModuleFilter():
        assert not [f for f in call_stacks.extract_stack()
                    if f.filename == __file__]


def test_collections_compare_objects_by_identity():
    a, b = [], []
    kept = identity.ObjectIdentitySet([a, b, a])
    assert len(kept) == 2 and a in kept and [] not in kept
    assert list(kept.difference([a])) == [b]
    table = identity.ObjectIdentityDictionary()
    table[a], table[b] = 1, 2
    assert table[b] == 2 and len(table) == 2

    class Object:
        pass
    x = Object()
    weak = identity.ObjectIdentityWeakSet([x])
    assert x in weak
    del x
    assert not len(weak)


def test_group_locks_are_held_by_one_group():
    lock = identity.GroupLock(2)
    with lock.group(0), lock.group(0):
        assert lock._group_member_counts == [2, 0]
    with pytest.raises(ValueError, match="should be between 0 and num_groups"):
        lock.group(2)


def test_dispatchers_handle_their_types():
    @dispatch.add_dispatch_support
    def add(x, y):
        return x + y

    @dispatch.dispatch_for_types(add, Called)
    def added(x, y):
        return "called"
    assert add(1, 2) == 3 and add(1, Called()) == "called"
    with pytest.raises(TypeError):
        add(1, "2")
    with pytest.raises(AssertionError, match="signature"):
        dispatch.dispatch_for_types(add, int)(lambda x: x)


def test_registries_know_where_their_objects_come_from():
    registry = dispatch.Registry("things")
    registry.register(given)
    assert registry.lookup("given") is given
    with pytest.raises(KeyError, match="Registering two things .*given"):
        registry.register(1, "given")
    with pytest.raises(LookupError, match="no entry for: other"):
        registry.lookup("other")


def test_undocumented_names_are_removed(monkeypatch):
    module = type(sys)("documented", "@@kept")
    module.kept, module.other = 1, 2
    monkeypatch.setitem(sys.modules, "documented", module)
    python_tools.remove_undocumented("documented")
    assert module.kept == 1 and not hasattr(module, "other")
    python_tools.reveal_undocumented("documented.other")
    assert module.other == 2


def test_functions_that_a_program_replaces_are_what_the_library_calls():
    # As mock.patch of a module of TensorFlow does.
    program = """
        from unittest import mock
        from tensorflow.python.platform import tf_logging
        from tensorflow.python.util import deprecation
        before = tf_logging.warning
        with mock.patch.object(tf_logging, "warning") as warning:
            deprecation.deprecated(None, "Do.")(len)([])
        assert warning.call_count == 1
        assert tf_logging.warning is before
        from headrace._src.platform import tf_logging as inner
        assert inner.warning is before
        tf_logging.warning = print
        assert inner.warning is print
        """
    subprocess.run(
        [sys.executable, "-c", "import headrace.compat as c; c.install()\n"
         + textwrap.dedent(program)], check=True, timeout=60)


Pair = collections.namedtuple("Pair", "x y")
SAME = "The two structures don't have the same nested structure.\n\n"


@pytest.mark.parametrize("left,right,kind,text", [
    (0, [0, 1], ValueError,
     SAME + "First structure: type=int str=0\n\nSecond structure: type=list "
     "str=[0, 1]\n\nMore specifically: Substructure \"type=list str=[0, 1]\" is "
     "a sequence, while substructure \"type=int str=0\" is not\nEntire first "
     "structure:\n.\nEntire second structure:\n[., .]"),
    ([1, (2,)], [1, [2]], TypeError, "don't have the same sequence type. First "
     "structure type=tuple str=(2,) has type tuple, while second structure "
     "type=list str=[2] has type list\nEntire first structure:\n[., (.,)]"),
    ({"a": 1}, {"b": 1}, ValueError, "The two dictionaries don't have the same "
     "set of keys. First structure has keys type=list str=['a'], while second "
     "structure has keys type=list str=['b']\n"),
    ([1], [1, 2], ValueError, "don't have the same number of elements. First "
     "structure: type=list str=[1]. Second structure: type=list str=[1, 2]\n"),
    (Pair(1, 2), (1, 2), TypeError, "Entire first structure:\nPair(x=., y=.)")])
def test_structures_that_differ_are_shown(left, right, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        nest.assert_same_structure(left, right)


@pytest.mark.parametrize("call,expected", [
    (lambda: nest.flatten({"b": 1, "a": 2}.keys()), ["b", "a"]),
    (lambda: nest.is_nested({}.values()), True),
    (lambda: nest_paths.flatten_with_tuple_paths_up_to(
        [1, {"a": 2}], [1, {"a": [3]}]), [((0,), 1), ((1, "a"), [3])]),
    (lambda: nest_paths.map_structure_with_tuple_paths_up_to(
        [1, [2]], lambda *x: x, [1, [2]], [[9], [8]]),
     [((0,), 1, [9]), [((1, 0), 2, 8)]]),
    (lambda: nest_paths.get_traverse_shallow_structure(
        lambda s: isinstance(s, list), [3, (4,)]), [False, False]),
    (lambda: nest_paths.get_traverse_shallow_structure(
        lambda s: True, [3, (4,)]), [True, (True,)])])
def test_structures_are_walked(call, expected):
    assert call() == expected


@pytest.mark.parametrize("call,kind,text", [
    (lambda: nest.pack_sequence_as("scalar", [4, 5]), ValueError,
     "Structure is a scalar but len(flat_sequence) == 2 > 1"),
    (lambda: nest.pack_sequence_as([1], 4), TypeError,
     "flat_sequence must be a sequence"),
    (lambda: nest_paths.assert_shallow_structure([1], 3), TypeError,
     nest_paths.NO_SEQUENCE.format(int)),
    (lambda: nest_paths.assert_shallow_structure([1], [1, 2]), ValueError,
     nest_paths.OTHER_LENGTH.format(input_length=2, shallow_length=1)),
    (lambda: nest_paths.get_traverse_shallow_structure(
        lambda _: [1], [1]), TypeError,
     "didn't return a depth=1 structure of bools"),
    (lambda: nest.pack_sequence_as([4, 5], "text"), TypeError,
     "flat_sequence must be a sequence"),
    (lambda: nest.pack_sequence_as({1: 2, "a": 3}, [1, 2]), TypeError,
     "nest only supports dicts with sortable keys."),
    (lambda: nest_paths.get_traverse_shallow_structure(
        lambda s: "a", [3]), TypeError, "returned a non-bool scalar: a"),
    (lambda: nest_paths.assert_shallow_structure({"a": 1}, {"b": 1}),
     ValueError, "that are not in the input_tree: ['a']."),
    (lambda: nest_paths.flatten_dict_items({(4, 5): ("a",)}), ValueError,
     "Could not flatten dictionary. Key had 2 elements, but value had 1")])
def test_what_structures_refuse(call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_small_tools_of_util():
    items = collections.OrderedDict(a=1)
    python_tools.dismantle_ordered_dict(items)
    assert not items and python_tools.is_in_graph_mode()
    assert python_tools.add_should_use_warning(items) is items
    pair = collections.namedtuple("Pair", ["b", "a"])
    assert list(nest_paths.yield_sorted_items(pair(3, 4))) == [
        ("b", 3), ("a", 4)]
    assert list(nest_paths.yield_sorted_items({"b": 1, "a": 2})) == [
        ("a", 2), ("b", 1)]
    assert nest_paths.same_namedtuples(
        pair(1, 2), collections.namedtuple("Pair", ["b", "a"])(3, 4))
    assert not nest_paths.same_namedtuples(
        pair(1, 2), collections.namedtuple("Pair", ["a", "b"])(3, 4))
