"""What loops of converted functions call."""
from headrace._src.autograph import values as _values
from headrace._src.autograph.branches import and_
from headrace._src.autograph.builtins import len_
from headrace._src.autograph.effects import Watch, staged
from headrace._src.autograph.symbols import is_tensor
from headrace._src.control.control_flow import cond, while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.ops import math_ops as _math


def while_stmt(test, body, get_state, set_state, names, needed, options):
    """`while test(): body()`, where both change the variables `names`; those
    in `needed` count in the next iteration or after the loop."""
    variables = _Variables(get_state, set_state, names, needed,
                           _values.place(test))
    # The first test says what kind of loop it is. Its nodes are of no use.
    with FuncGraph(_graph.get_default_graph()).as_default():
        first = test()
    if is_tensor(first):
        variables.restore()
        variables.loop(test, body, options)
        return
    if first:
        body()
        while test():
            body()


def for_stmt(items, go_on, body, get_state, set_state, names, needed, options):
    """`for item in items: body(item)`, as long as `go_on()`, if it is given,
    holds. See while_stmt."""
    if hasattr(items, "_variant_tensor"):
        run = _over_dataset
    elif not is_tensor(items):
        for item in items:
            body(item)
            if go_on is not None and not go_on():
                break
        return
    else:
        run = _over_range if getattr(items, "op", None) is not None \
            and items.op.type == "Range" else _over_rows
    run(items, go_on, body, _Variables(get_state, set_state, names, needed,
                                       _values.place(body)), options)


class _Variables:
    """The variables of a loop that becomes part of the graph. `kept` are those
    that go from one iteration to the next; the others are unset after it."""

    def __init__(self, get_state, set_state, names, needed, where):
        self._get_state, self._set_state = get_state, set_state
        self._names = names
        self._where = where
        self._before = get_state()
        self.kept = [n for n in names if n in needed]

    def restore(self):
        self._set_state(self._before)

    def initial(self):
        """The tensors with which the kept variables begin."""
        values = dict(zip(self._names, self._before))
        unset = tuple(n for n in self.kept if values[n] is _values.UNSET)
        if unset:
            raise ValueError(
                "%s: TensorFlow requires that the following symbols must be "
                "defined before the loop: %r" % (self._where, unset))
        if any(values[n] is _values.NO_RETURN for n in self.kept):
            raise ValueError("%s: return statements are not supported within a "
                             "TensorFlow loop." % self._where)
        return tuple(_values.as_tensors(values[n], n, self._where)
                     for n in self.kept)

    def enter(self, tensors):
        """Gives the kept variables their values in an iteration."""
        self._set(self._before, tensors)

    def leave(self, tensors):
        """Gives the variables their values after the loop."""
        self._set([_values.UNSET] * len(self._names), tensors)

    def _set(self, others, tensors):
        values = {**dict(zip(self._names, others)),
                  **dict(zip(self.kept, tensors))}
        self._set_state([values[n] for n in self._names])

    def iterate(self, tensors, body, shapes=True):
        """The kept variables after an iteration that begins with `tensors`."""
        self.enter(tensors)
        watch = Watch()
        body()
        values = dict(zip(self._names, self._get_state()))
        after = []
        for name, old in zip(self.kept, tensors):
            if values[name] is _values.UNSET:
                raise ValueError("%s: '%s' has no value after one iteration."
                                 % (self._where, name))
            new = _values.as_tensors(values[name], name, self._where)
            _values.check_iteration(name, old, new, self._where, shapes)
            after.append(new)
        return watch, tuple(after)

    def loop(self, test, body, options, counter=None, count=None):
        """tf.while_loop. With `counter`, a first value, `count(i)` gives the
        next one, and both functions are called with it."""
        keyword = options() if options is not None else {}
        first = constant(0) if counter is None else counter

        def loop_test(i, state):
            self.enter(state)
            return convert_to_tensor(test() if counter is None else test(i))

        def loop_body(i, state):
            following = i if counter is None else count(i)
            watch, after = self.iterate(
                state, body if counter is None else lambda: body(i))
            return watch.after([following, after])

        result = while_loop(loop_test, loop_body, [first, self.initial()],
                            return_same_structure=True, **keyword)
        staged(nest.flatten(result))
        self.leave(result[1])


def _both(test, go_on):
    """`test` and, if it holds, `go_on()`."""
    return test if go_on is None else and_(test, go_on)


def _over_range(items, go_on, body, variables, options):
    start, limit, delta = items.op.inputs
    step = constant_value(delta)

    def test(i):
        if step is not None:
            inside = i < limit if step >= 0 else i > limit
        else:
            up = (delta >= 0) & (i < limit)
            inside = up | ((delta < 0) & (i > limit))
        return _both(inside, go_on)
    variables.loop(test, body, options, start, lambda i: i + delta)


def _over_rows(items, go_on, body, variables, options):
    items = convert_to_tensor(items)
    n = convert_to_tensor(len_(items))
    rows = TensorArray(items.dtype.base_dtype, size=n).unstack(items)
    variables.loop(lambda i: _both(i < n, go_on),
                   lambda i: body(rows.read(i)), options, constant(0),
                   lambda i: _math.add(i, 1))


def _over_dataset(dataset, go_on, body, variables, options):
    initial = (constant(0),) + variables.initial()

    def step(state, element):
        watch, after = variables.iterate(state[1:], lambda: body(element),
                                         shapes=False)
        return watch.after((state[0],) + after)

    if go_on is None:
        result = dataset.reduce(initial, step)
    else:
        def step_or_stay(state, element):
            variables.enter(state[1:])
            runs = convert_to_tensor(go_on())
            after = cond(runs, lambda: list(step(state, element)),
                         lambda: list(state), strict=True)
            return tuple(after), (tuple(after), runs)
        result = dataset._reduce_while(initial, step_or_stay)
    variables.leave(result[1:])


def loop_options(function, parallel_iterations=None, back_prop=None,
                 swap_memory=None, maximum_iterations=None):
    """The arguments of while_loop that a call of set_loop_options names."""
    given = dict(parallel_iterations=parallel_iterations, back_prop=back_prop,
                 swap_memory=swap_memory,
                 maximum_iterations=maximum_iterations)
    if getattr(function, "__name__", "") != "set_loop_options":
        return {}
    return {k: v for k, v in given.items() if v is not None}
