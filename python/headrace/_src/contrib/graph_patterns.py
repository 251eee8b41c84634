"""Patterns of nodes: an op of some types whose inputs match patterns."""
import itertools


class Node:
    """A node of one of `types`, "A|B", or of any, "*". `inputs`: patterns of all
    its inputs, or none for any; in any order unless `ordered`."""

    def __init__(self, types, *inputs, ordered=True):
        self._types = None if types == "*" else types.split("|")
        self._inputs = inputs
        self._ordered = ordered

    def match(self, op, tensor=None):
        """A Match, or None."""
        if self._types is not None and op.type not in self._types:
            return None
        found = Match({self: (op, tensor)})
        if not self._inputs:
            return found
        tensors = list(op.inputs)
        if len(tensors) != len(self._inputs):
            return None
        orders = [self._inputs] if self._ordered else (
            itertools.permutations(self._inputs))
        for patterns in orders:
            # What an order that failed has matched stays, as in TensorFlow.
            if all(found.take(pattern.match(x.op, x))
                   for x, pattern in zip(tensors, patterns)):
                return found
        return None


class OneOf:
    """The first of several patterns that matches."""

    def __init__(self, *patterns):
        self._patterns = patterns

    def match(self, op, tensor=None):
        for pattern in self._patterns:
            found = pattern.match(op, tensor)
            if found is not None:
                return found
        return None


class Match:
    """What patterns have matched."""

    def __init__(self, found):
        self._found = found

    def take(self, other):
        """Adds what another match has; False if it is None."""
        if other is not None:
            self._found.update(other._found)
        return other is not None

    def op(self, pattern):
        return self._found.get(pattern, (None, None))[0]

    def tensor(self, pattern):
        """The tensor by which the pattern's node is an input, or None."""
        return self._found.get(pattern, (None, None))[1]


def matches(pattern, graph):
    """The matches of all nodes of a graph."""
    for op in graph.get_operations():
        found = pattern.match(op)
        if found is not None:
            yield found


def is_same(a, b):
    """Whether two tensors are the same."""
    return a.op is b.op and a.value_index == b.value_index


def reroute(new, old, consumers=None):
    """Gives `new` to what takes `old`, or to those of `consumers` that do; how
    many inputs are changed."""
    count = 0
    names = None if consumers is None else {op.name for op in consumers}
    for op in old.consumers():
        if names is not None and op.name not in names:
            continue
        for i, x in enumerate(list(op.inputs)):
            if is_same(x, old):
                op._update_input(i, new)
                count += 1
    return count


# Nodes whose names begin so are not of the model.
SKIPPED = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary",
           "ScalarSummary")


class Consumers:
    """Which ops of a graph take the outputs of an op, as it is now."""

    def __init__(self, graph):
        self._found = {}
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED):
                for x in op.inputs:
                    self._found.setdefault(x.op.name, {})[op.name] = op

    def of(self, op):
        return list(self._found.get(op.name, {}).values())
