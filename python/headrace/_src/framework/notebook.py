"""What notebooks show of a graph: HTML that needs nothing from elsewhere."""
import collections
import html

_MOST_NODES = 1000  # of the list by scope
_MOST_OPS = 12
_STYLE = ("font-family:monospace;font-size:12px;line-height:1.4")


def graph_html(graph):
    """The numbers of nodes, variables and ops, and the nodes by scope, folded."""
    operations = graph.get_operations()
    variables = graph.get_collection("variables")
    ops = collections.Counter(op.type for op in operations).most_common()
    rows = "".join("<tr><td>%s</td><td style='text-align:right'>%d</td></tr>"
                   % (html.escape(op), n) for op, n in ops[:_MOST_OPS])
    if len(ops) > _MOST_OPS:
        rows += "<tr><td>%d other ops</td><td style='text-align:right'>%d</td>" \
            "</tr>" % (len(ops) - _MOST_OPS, sum(n for _, n in ops[_MOST_OPS:]))
    shown = operations[:_MOST_NODES]
    rest = len(operations) - len(shown)
    return (
        "<div style='%s'><b>tf.Graph</b>: %d nodes, %d ops, %s<table>%s</table>"
        "%s%s</div>" % (
            _STYLE, len(operations), len(ops), _count_variables(variables),
            rows, _scope_html(_tree(shown)),
            "<div>and %d nodes more</div>" % rest if rest else ""))


def _count_variables(variables):
    numbers = 0
    for v in variables:
        count = v.get_shape().num_elements() if hasattr(v, "get_shape") else None
        numbers += count or 0
    return "%d variables of %s numbers" % (len(variables), format(numbers, ","))


def _tree(operations):
    """{first part of the names: a tree, or the operation of this name}; what
    has both is (operation, tree)."""
    root = {}
    for op in operations:
        scope, parts = root, op.name.split("/")
        for part in parts[:-1]:
            scope = scope.setdefault(part, [None, {}])[1]
        scope.setdefault(parts[-1], [None, {}])[0] = op
    return root


def _size(tree):
    return sum((op is not None) + _size(inner) for op, inner in tree.values())


def _scope_html(tree):
    lines = []
    for name, (op, inner) in tree.items():
        text = html.escape(name) + (_node_html(op) if op is not None else "")
        if inner:
            count = _size(inner) + (op is not None)
            lines.append("<details style='margin-left:1em'><summary>%s (%d)"
                         "</summary>%s</details>"
                         % (text, count, _scope_html(inner)))
        else:
            lines.append("<div style='margin-left:1em'>%s</div>" % text)
    return "".join(lines)


def _node_html(op):
    """The op, the inputs and the shapes of a node."""
    inputs = ", ".join(t.name for t in op.inputs)
    outputs = "; ".join("%s %s" % (t.dtype.name, t.get_shape())
                        for t in op.outputs)
    return " = %s(%s)%s" % (
        html.escape(op.type), html.escape(inputs),
        " <span style='color:gray'>%s</span>" % html.escape(outputs)
        if outputs else "")
