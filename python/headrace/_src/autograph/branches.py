"""What if statements, conditional expressions, `and`, `or`, `not` and
comparisons of converted functions call."""
from headrace import raw_ops as _raw
from headrace._src.autograph import values as _values
from headrace._src.autograph.effects import Watch, staged
from headrace._src.autograph.symbols import is_tensor
from headrace._src.control.control_flow import Assert, cond
from headrace._src.framework import nest
from headrace._src.framework.tensor import (
    constant, convert_to_tensor)


def if_stmt(test, body, orelse, get_state, set_state, names, needed):
    """`body()` or `orelse()`, which change the variables `names`; those in
    `needed` count afterwards."""
    if not is_tensor(test):
        (body if test else orelse)()
        return
    _Branches(get_state, set_state, names, needed,
              _values.place(body)).stage(test, body, orelse)


class _Branches:
    """The two branches of an if whose test is a tensor."""

    def __init__(self, get_state, set_state, names, needed, where):
        self._get_state, self._set_state = get_state, set_state
        self._names, self._needed = names, needed
        self._where = where
        self._before = get_state()
        self._values = {}  # branch -> the variables' values at its end
        self._tensors = {}  # branch -> name -> structure of tensors
        self._errors = {}  # name -> why the main branch's value is no tensor

    def stage(self, test, body, orelse):
        merged = cond(test, lambda: self._branch("main", body),
                      lambda: self._branch("else", orelse), strict=True)
        staged(nest.flatten(merged))
        tensors = dict(zip(self._tensors["main"], merged[1:]))
        after = []
        for name, before, a, b in zip(
                self._names, self._before, *(self._values[k]
                                             for k in ("main", "else"))):
            if _stays(a, b, before) or name not in tensors and a is b:
                after.append(a)
            else:
                after.append(tensors.get(name, _values.UNSET))
        self._set_state(after)

    def _branch(self, which, function):
        self._set_state(self._before)
        watch = Watch()
        function()
        after = self._values[which] = self._get_state()
        self._set_state(self._before)
        convert = self._main if which == "main" else self._else
        self._tensors[which] = convert(dict(zip(self._names, after)))
        return watch.after([constant(0)] + list(self._tensors[which].values()))

    def _main(self, after):
        outputs = {}
        for name in self._needed:
            try:
                outputs[name] = self._output(name, after[name], "main")
            except (TypeError, ValueError) as error:
                # It counts unless the other branch leaves the same object.
                self._errors[name] = error
        return outputs

    def _else(self, after):
        main = dict(zip(self._names, self._values["main"]))
        for name, error in self._errors.items():
            if main[name] is not after[name]:
                raise error
        outputs = {}
        for name, tensors in self._tensors["main"].items():
            outputs[name] = self._output(name, after[name], "else")
            _values.check_branches(name, tensors, outputs[name], self._where)
        return outputs

    def _output(self, name, value, which):
        if value is _values.UNSET:
            raise ValueError(
                "%s: The following symbols must also be initialized in the %s "
                "branch: %r. Alternatively, you may initialize them before the "
                "if statement." % (self._where, which, (name,)))
        if value is _values.NO_RETURN:
            raise ValueError(
                "%s: A value must also be returned from the %s branch. If a "
                "value is returned from one branch of a conditional a value "
                "must be returned from all branches." % (self._where, which))
        name = "the returned value" if name.startswith("retval_") else name
        return _values.as_tensors(value, name, self._where)


def _stays(a, b, before):
    """Whether a value is the same Python object after both branches, and need
    not become a tensor."""
    return a is b and (a is before or a is None or isinstance(a, bool))


def if_exp(test, body, orelse):
    """`body() if test else orelse()`."""
    if not is_tensor(test):
        return body() if test else orelse()
    where = _values.place(body)

    def branch(function):
        watch = Watch()
        result = _values.as_tensors(function(), "conditional expression", where)
        return watch.after([result])
    merged = cond(test, lambda: branch(body), lambda: branch(orelse),
                  strict=True)
    staged(nest.flatten(merged))
    return merged[0]


def and_(a, b):
    """`a and b()`."""
    if not is_tensor(a):
        return a and b()
    return cond(a, lambda: convert_to_tensor(b()), lambda: _raw.Identity(a))


def or_(a, b):
    """`a or b()`."""
    if not is_tensor(a):
        return a or b()
    return cond(a, lambda: _raw.Identity(a), lambda: convert_to_tensor(b()))


def not_(a):
    return _raw.LogicalNot(a) if is_tensor(a) else not a


def compare(left, *steps):
    """`left < b < c`: each step is a comparison and a function that gives its
    right side, which is called once, if all before it hold."""
    (test, right), rest = steps[0], steps[1:]
    value = right()
    result = test(left, value)
    if not rest:
        return result
    return and_(result, lambda: compare(value, *rest))


def eq(a, b):
    return _raw.Equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a, b):
    return not_(eq(a, b))


def assert_stmt(test, message):
    """`assert test(), message()`; `message` may be None. A tensor is checked
    when the graph runs."""
    value = test()
    if is_tensor(value):
        data = [] if message is None else message()
        Assert(value, data if isinstance(data, (list, tuple)) else [data])
    elif not value:
        raise AssertionError(*([] if message is None else [message()]))
