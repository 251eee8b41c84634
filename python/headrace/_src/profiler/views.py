"""The views `scope` and `graph`: nodes as a tree, by their names or by what
takes what."""
import re

from headrace._src.framework.messages import GraphNodeProto
from headrace._src.profiler import formats
from headrace._src.profiler.nodes import COUNTS, ProfiledNode, add_self

_ORDER = ("params", "float_ops", "bytes", "peak_bytes", "residual_bytes",
          "output_bytes", "micros", "accelerator_micros", "cpu_micros",
          "device", "op_types", "occurrence", "input_shapes")
_TOTALS = ("total_definition_count", *("total_" + name for name in COUNTS))
_MEMORY = {"bytes": "requested_bytes", "peak_bytes": "peak_bytes",
           "residual_bytes": "residual_bytes", "output_bytes": "output_bytes"}
_TIMES = {"micros": "exec_micros",
          "accelerator_micros": "accelerator_exec_micros",
          "cpu_micros": "cpu_exec_micros"}


def fits(name, expressions):
    return any(re.fullmatch(x, name) for x in expressions)


def is_named(name, options):
    return (fits(name, options.show_name_regexes)
            and not fits(name, options.hide_name_regexes))


def is_accounted(op_types, options):
    """Whether the options account a node of these types."""
    types = options.account_type_regexes
    return list(types) == [".*"] or any(fits(t, types) for t in op_types)


def add_totals(message, other, totals):
    """Adds to the totals of a message those of another one."""
    for name in totals:
        setattr(message, name, getattr(message, name) + getattr(other, name))


class Shown:
    """A node in a view: its numbers and those below it, and whether it is
    accounted itself."""

    def __init__(self, node):
        self.node = node
        self.name = node.name
        self.message = GraphNodeProto()
        self.children = []
        self.below = []  # the children that are shown
        self.accounted = False
        self.line = ""

    def account(self, options):
        """Takes the numbers of the node, without those below it."""
        self.message = GraphNodeProto()
        self.node.fill(self.message, options.step)
        self.accounted = is_accounted(self.node.op_types, options)
        add_self(self.message)

    def count_again(self, shown):
        """Makes the totals those of the node and of what is shown below it."""
        for name in _TOTALS:
            setattr(self.message, name, 0)
        add_self(self.message)
        for x in shown:
            self.add_totals(x)

    def add_totals(self, other):
        add_totals(self.message, other.message, _TOTALS)

    def is_shown(self, options, depth):
        if self.name == formats.ROOT:
            return True
        return (formats.is_shown(self.message, options, depth)
                and self.message.run_count >= options.min_occurrence
                and is_named(self.name, options))

    def write(self, indent, select):
        """Sets `line`, the node's row of the table."""
        chosen, cells = formats.columns(select), []
        for c in _ORDER:
            if c in chosen:
                cells += self._cells(c)
        self.line = "%s%s (%s)\n" % (" " * indent, self.name, ", ".join(cells))

    def _cells(self, column):
        m = self.message
        if column == "params":
            shape = [] if self.node.shape is None else [
                formats.shape(self.node.shape)]
            return shape + [self._pair("parameters", formats.number)
                            + " params"]
        if column == "float_ops":
            return [self._pair("float_ops", formats.number) + " flops"]
        if column in _MEMORY:
            return [self._pair(_MEMORY[column], formats.memory)]
        if column in _TIMES:
            return [self._pair(_TIMES[column], formats.time)]
        if column == "device":
            return ["|".join(m.devices)] if len(m.devices) else []
        if column == "op_types":
            return ["|".join(sorted(self.node.op_types))]
        if column == "occurrence":
            return ["%s|%s/%s" % (
                self._pair("run_count", formats.number),
                "1" if self.accounted else "--",
                formats.number(m.total_definition_count))]
        return ["|".join("%d:%s" % (i, formats.shape(sizes) or "unknown")
                         for i, sizes in sorted(
                             self.node.input_shapes.items()))]

    def _pair(self, name, text):
        """The node's own number, if it is accounted, and the total."""
        return "%s/%s" % (
            text(getattr(self.message, name)) if self.accounted else "--",
            text(getattr(self.message, "total_" + name)))


def _reset(root, options):
    """Gives the root its name, and no numbers of its own."""
    root.message = GraphNodeProto(name=formats.ROOT)
    root.below = []


def _written(root, options):
    """Puts the children of each message into it. Returns the table."""
    lines = [root.line]

    def put(node, message):
        for x in node.below:
            lines.append(x.line)
            child = message.children.add()
            child.MergeFrom(x.message)
            put(x, child)
    put(root, root.message)
    return formats.head(_ORDER, options.select) + "".join(lines)


class _Tree:
    """What both views have: from the root, what is shown and how."""

    def __init__(self, profile, options, parent_type):
        self.options = options
        self.nodes = {name: Shown(node)
                      for name, node in profile.nodes.items()}
        self._parent_type = parent_type

    def _parent(self, name):
        return Shown(ProfiledNode(name, self._parent_type))

    def _shown(self, nodes, depth, indent, visited, below):
        """Of the nodes and of those that `below` gives for each: what is shown,
        with `below` and `line` set."""
        found = []
        for node in nodes:
            if visited is not None:
                if node.name in visited:
                    continue
                visited.add(node.name)
            show = node.is_shown(self.options, depth)
            inner = []
            if not fits(node.name, self.options.trim_name_regexes):
                inner = self._shown(below(node), depth + 1,
                                    indent + 2 * show, visited, below)
            if not show:
                found += inner
                continue
            if self.options.account_displayed_op_only:
                node.count_again(inner)
            node.below = formats.ordered(inner, self.options.order_by)
            node.write(indent, self.options.select)
            found.append(node)
        return found


class ScopeView(_Tree):
    """The view `scope`: `a/b` is below `a`. `root` is the Shown of all, `table`
    the text."""

    def __init__(self, profile, options):
        super().__init__(profile, options, "_kTFScopeParent")
        self.root = self._connected()
        accounted = self._account(self.root.children)
        _reset(self.root, options)
        for x in accounted:
            self.root.add_totals(x)
        starts = self._starts(accounted)
        below = {id(x): x.below for x in self.nodes.values()}
        self._shown([self.root], 1, 0, None,
                    lambda n: starts if n is self.root else below[id(n)])
        self.table = _written(self.root, options)

    def _connected(self):
        for name in list(self.nodes):
            while "/" in name:
                name = name.rpartition("/")[0]
                if name not in self.nodes:
                    self.nodes[name] = self._parent(name)
        root = self._parent(formats.ROOT)
        for name in sorted(self.nodes):
            above = name.rpartition("/")[0] if "/" in name else None
            (root if above is None else self.nodes[above]).children.append(
                self.nodes[name])
        return root

    def _account(self, nodes):
        """The nodes that are accounted, and those with such nodes below."""
        found = []
        for node in nodes:
            node.below = self._account(node.children)
            node.account(self.options)
            for x in node.below:
                node.add_totals(x)
            if node.accounted or node.below:
                found.append(node)
        return found

    def _starts(self, nodes):
        found = []
        for node in nodes:
            if fits(node.name, self.options.start_name_regexes):
                found.append(node)
            else:
                found += self._starts(node.below)
        return found


class GraphView(_Tree):
    """The view `graph`: below a node are those that it takes its inputs from,
    each where it is met first. `root` and `table` as in ScopeView."""

    def __init__(self, profile, options):
        super().__init__(profile, options, "_TFGraphParent")
        self.root = self._connected()
        accounted = self._account(self.root.children, set())
        _reset(self.root, options)
        for x in accounted:
            self.root.add_totals(x)
        starts = self._starts(accounted, set())
        below = {id(x): x.below for x in self.nodes.values()}
        self._shown([self.root], 1, 0, set(),
                    lambda n: starts if n is self.root else below[id(n)])
        self.table = _written(self.root, options)

    def _connected(self):
        taken = set()
        for node in self.nodes.values():
            for name, _ in node.node.inputs:
                taken.add(name)
                if name in self.nodes:
                    node.children.append(self.nodes[name])
        root = self._parent(formats.ROOT)
        root.children = [self.nodes[name] for name in sorted(self.nodes)
                         if name not in taken]
        return root

    def _account(self, nodes, visited):
        """The nodes that are accounted, or what is accounted below them."""
        found = []
        for node in nodes:
            if node.name in visited:
                continue
            visited.add(node.name)
            inner = self._account(node.children, visited)
            node.account(self.options)
            if not node.accounted:
                found += inner
                continue
            node.below = inner
            for x in inner:
                node.add_totals(x)
            found.append(node)
        return found

    def _starts(self, nodes, visited):
        found = []
        for node in nodes:
            if node.name in visited:
                continue
            visited.add(node.name)
            if fits(node.name, self.options.start_name_regexes):
                found.append(node)
            else:
                found += self._starts(node.below, visited)
        return found
