"""The views `op` and `code`: nodes of an op, or of a line, together."""
import sys

from headrace._src.framework.messages import MultiGraphNodeProto
from headrace._src.profiler import formats
from headrace._src.profiler.nodes import MEASURES, own_message
from headrace._src.profiler.views import (
    add_totals, fits, is_accounted, is_named)

_COUNTS = (*MEASURES, "parameters", "float_ops")
_TOTALS = tuple("total_" + name for name in _COUNTS)
_ORDER = ("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros",
          "accelerator_micros", "cpu_micros", "params", "float_ops", "device",
          "op_types", "occurrence", "input_shapes")
_FIELDS = {
    "bytes": ("requested_bytes", formats.memory, ""),
    "peak_bytes": ("peak_bytes", formats.memory, ""),
    "residual_bytes": ("residual_bytes", formats.memory, ""),
    "output_bytes": ("output_bytes", formats.memory, ""),
    "micros": ("exec_micros", formats.time, ""),
    "accelerator_micros": ("accelerator_exec_micros", formats.time, ""),
    "cpu_micros": ("cpu_exec_micros", formats.time, ""),
    "params": ("parameters", formats.number, " params"),
    "float_ops": ("float_ops", formats.number, " float_ops")}


class Group:
    """Nodes that a view shows as one."""

    def __init__(self, name):
        self.name = name
        self.nodes = []
        self.children = {}
        self.below = []
        self.message = MultiGraphNodeProto(name=name)
        self.accounted = False
        self.devices, self.op_types = set(), set()
        self.line = ""

    def account(self, options):
        """Takes the numbers of the nodes whose types are accounted."""
        m = self.message
        chosen = [n for n in self.nodes if is_accounted(n.op_types, options)]
        self.accounted = bool(chosen)
        for node in self.nodes:
            m.graph_nodes.add().CopyFrom(own_message(node, options.step))
        for node in chosen:
            self.devices.add(node.device)
            self.op_types |= node.op_types
            for name in MEASURES:
                setattr(m, name, getattr(m, name)
                        + node.measure(name, options.step))
            m.parameters += node.parameters
            m.float_ops += node.float_ops(options.step)
        self.count_again([])

    def count_again(self, shown):
        """Makes the totals those of the group and of what is in `shown`."""
        for total, name in zip(_TOTALS, _COUNTS):
            setattr(self.message, total, getattr(self.message, name))
        for x in shown:
            self.add_totals(x)

    def add_totals(self, other):
        add_totals(self.message, other.message, _TOTALS)

    def is_shown(self, options, depth):
        return formats.is_shown(
            self.message, options, depth, "total_%s") and is_named(
                self.name, options)


class OpView:
    """The view `op`: one row for each op, with the share of all and of what
    follows. `root` has the message, in which each row has the next one as its
    child; `table` is the text."""

    def __init__(self, profile, options):
        groups = {}
        for name in sorted(profile.nodes):
            node = profile.nodes[name]
            groups.setdefault(node.op, Group(node.op)).nodes.append(node)
        self.options, self.root = options, Group(formats.ROOT)
        for group in groups.values():
            group.account(options)
        by_name = [groups[name] for name in sorted(groups)]
        if options.order_by == "occurrence":
            by_name.sort(key=lambda g: -len(g.nodes))
        else:
            by_name = formats.ordered(by_name, options.order_by)
        rows = [g for g in by_name if g.accounted]
        self._add_up(rows, again=False)
        rows = self._rows(rows)
        if options.account_displayed_op_only:
            self._add_up(rows, again=True)
        self.table = formats.head(
            _ORDER, options.select,
            occurrence="op occurrence (run|defined)") + "".join(
                self._row(x) for x in rows)
        message = self.root.message
        for x in rows:
            message.children.add().CopyFrom(x.message)
            message = message.children[0]

    def _add_up(self, rows, again):
        """The totals of each row: its own numbers and those of the rows after
        it."""
        after = None
        for x in reversed(rows):
            if again:
                x.count_again([])
            if after is not None:
                x.add_totals(after)
            after = x
        self.root.count_again([] if after is None else [after])

    def _rows(self, groups):
        starts = [i for i, g in enumerate(groups)
                  if fits(g.name, self.options.start_name_regexes)]
        found = []
        for depth, g in enumerate(groups[starts[0]:] if starts else []):
            if (fits(g.name, self.options.trim_name_regexes)
                    or depth > self.options.max_depth):
                break
            if g.is_shown(self.options, depth):
                found.append(g)
        return found

    def _row(self, group):
        chosen, cells = formats.columns(self.options.select), []
        for c in _ORDER:
            if c not in chosen:
                continue
            if c in _FIELDS:
                cells.append("%30s" % self._shares(group, *_FIELDS[c]))
            elif c == "device":
                cells.append("|".join(sorted(group.devices)))
            elif c == "op_types":
                cells.append("|".join(sorted(group.op_types)))
            elif c == "occurrence":
                cells.append("%10s" % ("%d|%d" % (
                    sum(n.run_count for n in group.message.graph_nodes),
                    len(group.message.graph_nodes))))
        line = "%-25s%s\n" % (group.name, ", ".join(cells))
        return line + (_input_types(group) if "input_shapes" in chosen else "")

    def _shares(self, group, field, text, unit):
        """A number with its share of all, after that of the rows from it on."""
        own = getattr(group.message, field)
        total = getattr(group.message, "total_" + field)
        whole = getattr(self.root.message, "total_" + field)
        counted = own if text is formats.memory else total
        shares = ((100. * total / whole, 100. * own / whole) if counted > 0
                  else (0., 0.))
        return "%s%s (%.2f%%, %.2f%%)" % ((text(own), unit) + shares)


def _input_types(group):
    """How often nodes of the group have which shapes of inputs, and the times."""
    found = {}
    for node in group.message.graph_nodes:
        shapes = ",\t".join("%d:%s" % (i, "unknown" if s.unknown_rank else
                                       formats.shape([d.size for d in s.dim]))
                            for i, s in sorted(node.input_shapes.items()))
        entry = found.setdefault(shapes, [0, 0, 0])
        entry[0] += node.exec_micros
        entry[1] += node.run_count
        entry[2] += 1
    rows = sorted(sorted(found.items()), key=lambda x: -x[1][0])
    return "\n%s\n" % "".join(
        "input_type: %s\t(run*%d|defined*%d)\texec_time: %s\n"
        % (shapes, runs, count, formats.time(micros))
        for shapes, (micros, runs, count) in rows)


class CodeView:
    """The view `code`: lines of the program, each below the line that called
    it, with the nodes that the lines made. Nodes whose lines are not known are
    left out. `root` and `table` as in OpView; children are lists here."""

    def __init__(self, profile, options):
        sys.stderr.write("Note: code view ignores account_displayed_op_only\n")
        self.options, self.root = options, Group(formats.ROOT)
        for name in sorted(profile.nodes):
            self._place(profile.nodes[name])
        self._account(self.root)
        self.root.accounted = False
        starts = self._starts(self.root.below)
        shown = self._shown(starts, 2, 2)
        self.root.below = formats.ordered(shown, options.order_by)
        self._write(self.root, 0)
        lines = [self.root.line]
        self._put(self.root, lines)
        self.table = formats.head(
            _ORDER, options.select,
            occurrence="op occurrence (run|defined)") + "".join(lines)

    def _place(self, node):
        at = self.root
        for t in node.traces:
            function = t.function
            if len(function) > 20:
                function = function[:17] + "..."
            name = "%s:%d:%s" % (t.file.rpartition("/")[2], t.line, function)
            key = t.file, t.line, t.function
            if key not in at.children:
                at.children[key] = Group(name)
            at = at.children[key]
        if at is not self.root:
            at.nodes.append(node)

    @staticmethod
    def _inner(group):
        return [group.children[k] for k in sorted(group.children)]

    def _account(self, group):
        group.account(self.options)
        if list(self.options.account_type_regexes) == [".*"]:
            group.accounted = True
        for x in self._inner(group):
            self._account(x)
            if x.accounted or x.below:
                group.add_totals(x)
                group.below.append(x)

    def _starts(self, groups):
        found = []
        for x in groups:
            if fits(x.name, self.options.start_name_regexes):
                found.append(x)
            else:
                found += self._starts(x.below)
        return found

    def _shown(self, groups, depth, indent):
        found = []
        for x in groups:
            show = x.is_shown(self.options, depth)
            inner = []
            if not fits(x.name, self.options.trim_name_regexes):
                inner = self._shown(x.below, depth + 1, indent + 2 * show)
            if show:
                x.below = formats.ordered(inner, self.options.order_by)
                self._write(x, indent)
                found.append(x)
            else:
                found += inner
        return found

    def _write(self, group, indent):
        chosen, cells, m = formats.columns(self.options.select), [], group.message
        for c in _ORDER:
            if c not in chosen:
                continue
            if c in _FIELDS:
                field, text, unit = _FIELDS[c]
                unit = " flops" if c == "float_ops" else unit
                cells.append("%s/%s%s" % (
                    text(getattr(m, field)) if group.accounted else "--",
                    text(getattr(m, "total_" + field)), unit))
            elif c == "device":
                cells.append("|".join(sorted(group.devices)))
            elif c == "op_types":
                cells.append("|".join(sorted(group.op_types)))
            elif c == "occurrence":
                cells.append("%d|%d" % (
                    sum(n.run_count for n in m.graph_nodes),
                    len(m.graph_nodes)))
        group.line = "%s%s (%s)\n" % (" " * indent, group.name,
                                      ", ".join(cells))

    def _put(self, group, lines):
        for x in group.below:
            lines.append(x.line)
            child = group.message.children.add()
            child.CopyFrom(x.message)
            inner = Group(x.name)
            inner.message, inner.below = child, x.below
            self._put(inner, lines)
