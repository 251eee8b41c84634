"""Which names statements read and bind, and which are live: read later, before
they are bound again."""
import ast

from headrace._src.autograph.jumps import LOOPS


class _Names(ast.NodeVisitor):
    """The names that code reads and binds, in the scope it stands in."""

    def __init__(self):
        self.read = set()
        self.bound = {}  # an ordered set
        self.declared = set()  # global or nonlocal

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)
        else:
            self.bound[node.id] = None

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.read.add(node.target.id)

    def visit_For(self, node):
        self.generic_visit(node)
        if hasattr(node, "go_on"):
            self.visit(node.go_on)

    visit_While = visit_For

    def visit_Global(self, node):
        self.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_ExceptHandler(self, node):
        if node.name:
            self.bound[node.name] = None
        self.generic_visit(node)

    def visit_alias(self, node):
        self.bound[(node.asname or node.name).split(".")[0]] = None

    def visit_MatchAs(self, node):
        if node.name:
            self.bound[node.name] = None
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node):
        if node.rest:
            self.bound[node.rest] = None
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        for part in node.decorator_list:
            self.visit(part)
        self._defaults(node.args)
        self.bound[node.name] = None
        self.read |= free_names(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self._defaults(node.args)
        self.read |= free_names(node)

    def visit_ClassDef(self, node):
        for part in node.decorator_list + node.bases + node.keywords:
            self.visit(part)
        inner = names_of(node.body)
        self.read |= inner.read
        self.bound[node.name] = None

    def _comprehension(self, node):
        inner = _Names()
        for field in ("elt", "key", "value"):
            if getattr(node, field, None) is not None:
                inner.visit(getattr(node, field))
        targets = _Names()
        for generator in node.generators:
            targets.visit(generator.target)
            for part in [generator.iter] + generator.ifs:
                inner.visit(part)
        self.read |= inner.read - set(targets.bound)
        self.bound.update(inner.bound)  # by :=

    visit_ListComp = visit_SetComp = visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def _defaults(self, args):
        for part in args.defaults + args.kw_defaults:
            if part is not None:
                self.visit(part)


def names_of(nodes):
    found = _Names()
    for node in nodes if isinstance(nodes, list) else [nodes]:
        if node is not None:
            found.visit(node)
    return found


def parameters(node):
    a = node.args
    return [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs
            + [y for y in (a.vararg, a.kwarg) if y]]


def free_names(function):
    """What a nested function reads of the scopes around it."""
    body = function.body if isinstance(function.body, list) \
        else [function.body]
    inner = names_of(body)
    return inner.read - ((set(inner.bound) - inner.declared)
                         | set(parameters(function)))


class Closures(ast.NodeVisitor):
    """The names that functions nested in a function read of it."""

    def __init__(self, body):
        self.captured = set()
        for node in body:
            self.visit(node)

    def visit_FunctionDef(self, node):
        self.captured |= free_names(node)

    visit_Lambda = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.captured |= names_of(node.body).read


def annotate_live(body, live_out):
    """Sets `live_out` of every If, While and For, and `live_in` of the loops:
    what is live where an iteration begins. Returns what is live before."""
    live = set(live_out)
    for statement in reversed(body):
        live = _before(statement, live)
    return live


def _before(statement, live):
    if isinstance(statement, ast.If):
        statement.live_out = live
        return (annotate_live(statement.body, live)
                | annotate_live(statement.orelse, live)
                | names_of(statement.test).read)
    if isinstance(statement, LOOPS):
        return _before_loop(statement, live)
    if isinstance(statement, ast.With):
        live = annotate_live(statement.body, live)
        return live | names_of(statement.items).read
    if isinstance(statement, ast.Try):
        return _before_try(statement, live)
    if hasattr(statement, "cases"):
        before = set(live)
        for case in statement.cases:
            before |= annotate_live(case.body, live)
            before |= names_of([case.pattern, case.guard]).read
        return before | names_of(statement.subject).read
    names = names_of(statement)
    if not isinstance(statement, ast.AugAssign):
        live = live - set(names.bound)
    return live | names.read


def _before_try(statement, live):
    """What is live before a try. Its body may be left for a handler anywhere,
    but what handlers read counts at its end only."""
    after = annotate_live(statement.finalbody, live)
    handled = set(after)
    for handler in statement.handlers:
        handled |= annotate_live(handler.body, after)
        handled |= names_of(handler.type).read
    return annotate_live(statement.body, handled | annotate_live(
        statement.orelse, after)) | handled


def _before_loop(loop, live):
    loop.live_out = live
    head = loop.test if isinstance(loop, ast.While) else None
    read = names_of([x for x in (head, getattr(loop, "go_on", None)) if x]).read
    targets = set() if head else set(names_of(loop.target).bound)
    entry = live | read
    while True:
        inside = annotate_live(loop.body, entry) - targets
        if inside <= entry:
            break
        entry = entry | inside
    loop.live_in = entry
    return entry if head else entry | names_of(loop.iter).read
