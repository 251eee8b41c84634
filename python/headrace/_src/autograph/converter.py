"""Rewrites the syntax tree of a function: statements and expressions that
depend on values become calls of `ag__`, the operators of operators.py, which
decide when they run. The nodes keep their lines.

    if x > 1:          def get_state(): return (ag__.get(lambda: y),)
      y = 2            def set_state(values): nonlocal y; ...
    else:              def if_body(): nonlocal y; y = 2
      y = x            def else_body(): nonlocal y; y = x
                       ag__.if_stmt(x > 1, if_body, else_body, get_state,
                                    set_state, ('y',), ('y',))
"""
import ast
import copy

from headrace._src.autograph import names as _names
from headrace._src.autograph.jumps import SCOPES, located, lower, name
from headrace._src.autograph.sources import mangled

# What reads the frame that calls it stays a plain call.
_FRAME_READERS = {"super", "locals", "globals", "vars", "dir", "eval", "exec",
                  "breakpoint"}


def _operator(operator, *arguments, **keywords):
    return ast.Call(ast.Attribute(name("ag__"), operator, ast.Load()),
                    list(arguments),
                    [ast.keyword(k, v) for k, v in keywords.items()])


def _no_arguments(*parameters):
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(p) for p in parameters], vararg=None,
        kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])


def _lambda(expression):
    return ast.Lambda(_no_arguments(), expression)


def _function(identifier, parameters, body):
    new = ast.FunctionDef(
        name=identifier, args=_no_arguments(*parameters), body=body,
        decorator_list=[], returns=None, type_comment=None)
    if "type_params" in ast.FunctionDef._fields:
        new.type_params = []
    return new


def _strings(values):
    return ast.Tuple([ast.Constant(v) for v in values], ast.Load())


def _as(expression, context):
    new = copy.deepcopy(expression)
    new.ctx = context()
    return new


def is_generator(function):
    """Whether a FunctionDef has a yield of its own."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await))
               for n in _own_nodes(function))


class _Mangler(ast.NodeTransformer):
    """Spells private names as the compiler does inside a class."""

    def __init__(self, class_name):
        self._class_name = class_name

    def _spell(self, node, *fields):
        self.generic_visit(node)
        for field in fields:
            if isinstance(getattr(node, field), str):
                setattr(node, field,
                        mangled(getattr(node, field), self._class_name))
        return node

    def visit_Name(self, node):
        return self._spell(node, "id")

    def visit_Attribute(self, node):
        return self._spell(node, "attr")

    def visit_arg(self, node):
        return self._spell(node, "arg")

    visit_keyword = visit_arg

    def visit_FunctionDef(self, node):
        return self._spell(node, "name")

    def visit_ClassDef(self, node):
        return node


class _Appends(ast.NodeTransformer):
    """Makes `l.append(x)` an assignment of l."""

    def visit_Expr(self, node):
        call = node.value
        if not (isinstance(call, ast.Call) and not call.keywords
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "append" and len(call.args) == 1
                and _is_path(call.func.value)):
            return node
        target = call.func.value
        return located(ast.Assign([_as(target, ast.Store)], _operator(
            "list_append", target, call.args[0])), node)


class _Declarations(ast.NodeTransformer):
    """Takes global and nonlocal out of a function's body."""

    def __init__(self, function):
        self.found = []
        function.body = [self.visit(s) for s in function.body]
        function.body[:0] = self.found

    def visit_Global(self, node):
        self.found.append(node)
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def visit_Lambda(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda


class _Composites(ast.NodeVisitor):
    """The attributes and items that statements assign: `self.x`, `d["k"]`."""

    def __init__(self, body):
        self.found = {}  # text -> expression
        for statement in body:
            self.visit(statement)

    def _target(self, node):
        if isinstance(node.ctx, ast.Store) and _is_path(node):
            self.found[ast.unparse(node)] = node
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _target

    def visit_FunctionDef(self, node):
        pass

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def _is_path(node):
    if isinstance(node, ast.Attribute):
        return _is_path(node.value)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, (ast.Constant, ast.Name)) \
            and _is_path(node.value)
    return isinstance(node, ast.Name)


class _State:
    """What a statement changes: plain names, then composites."""

    def __init__(self, scope, body, extra=()):
        found = _names.names_of(body)
        for node in extra:
            found.visit(node)
        self.plain = list(found.bound)
        self.composites = {
            text: node for text, node in _Composites(body).found.items()
            if not any(isinstance(n, ast.Name) and n.id in found.bound
                       for n in ast.walk(node))}
        scope.bound.update(dict.fromkeys(self.plain))
        self._scope = scope

    @property
    def names(self):
        return self.plain + list(self.composites)

    def needed(self, live):
        """The names whose values count after the statement."""
        live = live | self._scope.globals | self._scope.nonlocals
        return [n for n in self.plain if n in live] + list(self.composites)

    def declarations(self):
        """The statements by which a nested function shares the names."""
        shared = [n for n in self.plain if n not in self._scope.globals]
        of_module = [n for n in self.plain if n in self._scope.globals]
        return ([ast.Nonlocal(shared)] if shared else []) \
            + ([ast.Global(of_module)] if of_module else [])

    def functions(self):
        """(get_state, set_state) and their definitions."""
        get_name = self._scope.new_name("get_state")
        set_name = self._scope.new_name("set_state")
        values = [name(n) for n in self.plain] + [
            _as(node, ast.Load) for node in self.composites.values()]
        get = _function(get_name, (), [ast.Return(ast.Tuple(
            [_operator("get", _lambda(copy.deepcopy(v))) for v in values],
            ast.Load()))])
        body = self.declarations()
        parameter = self._scope.new_name("values")
        for i, value in enumerate(values):
            new = ast.Subscript(name(parameter), ast.Constant(i), ast.Load())
            body.append(ast.If(
                _operator("defined", new),
                [ast.Assign([_as(value, ast.Store)], new)],
                [ast.If(_operator("defined", _operator(
                    "get", _lambda(copy.deepcopy(value)))),
                        [ast.Delete([_as(value, ast.Del)])], [])]))
        return get_name, set_name, [
            get, _function(set_name, (parameter,), body or [ast.Pass()])]


class _Scope:
    """A function that is being converted."""

    def __init__(self, function, taken):
        self._taken = taken  # all names that the whole tree uses
        self.bound = {}  # names that generated functions share
        self.parameters = _names.parameters(function)
        self.globals = set()
        self.nonlocals = set()
        self.first = (self.parameters or [None])[0]
        for node in _own_nodes(function):
            if isinstance(node, ast.Global):
                self.globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)

    def new_name(self, base):
        candidate, n = base, 0
        while candidate in self._taken:
            n += 1
            candidate = "%s_%d" % (base, n)
        self._taken.add(candidate)
        return candidate


def _own_nodes(function):
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, SCOPES):
            yield from _own_nodes(child)


class Converter(ast.NodeTransformer):
    """Converts one function and the functions nested in it. `features` are the
    names of the tf.autograph.experimental.Features that are asked for."""

    def __init__(self, root, features):
        self._taken = {n.id for n in ast.walk(root)
                       if isinstance(n, ast.Name)} | {
            n.arg for n in ast.walk(root) if isinstance(n, ast.arg)} | {
            n.name for n in ast.walk(root) if isinstance(n, ast.FunctionDef)}
        self._features = features
        self._scope = None
        self.generated = set()  # names of functions that are not the user's

    def _new_name(self, base):
        made = self._scope.new_name(base)
        self.generated.add(made)
        return made

    # Functions.

    def function(self, node):
        """The converted FunctionDef, without decorators and defaults."""
        outer, self._scope = self._scope, _Scope(node, self._taken)
        try:
            _Declarations(node)
            lower(node, self._scope.new_name)
            _names.annotate_live(node.body, ())
            self._scope.captured = _names.Closures(node.body).captured
            node.body = self._block(node.body)
            shared = [n for n in self._scope.bound
                      if n not in self._scope.parameters
                      and n not in self._scope.globals
                      and n not in self._scope.nonlocals]
            if shared:  # makes them names of this function
                node.body.insert(0, located(ast.If(
                    ast.Constant(False), [ast.Assign(
                        [name(n, True) for n in shared], ast.Constant(None))],
                    []), node.body[0]))
            return node
        finally:
            self._scope = outer

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args = self.visit(node.args)
        if is_generator(node):
            return node
        return self.function(node)

    def visit_AsyncFunctionDef(self, node):
        return node

    visit_ClassDef = visit_AsyncFunctionDef

    def visit_Lambda(self, node):
        node.args = self.visit(node.args)
        outer, self._scope = self._scope, _Scope(node, self._taken)
        try:
            node.body = self.visit(node.body)
        finally:
            self._scope = outer
        return node

    # Statements.

    def _block(self, body):
        out = []
        for statement in body:
            new = self.visit(statement)
            out.extend(new if isinstance(new, list) else [new])
        return out or [ast.Pass()]

    def generic_visit(self, node):
        if isinstance(node, ast.stmt):
            for field, value in ast.iter_fields(node):
                if isinstance(value, list) and value \
                        and isinstance(value[0], ast.stmt):
                    setattr(node, field, self._block(value))
                elif isinstance(value, list):
                    setattr(node, field, [
                        self.visit(v) if isinstance(v, ast.AST) else v
                        for v in value])
                elif isinstance(value, ast.AST):
                    setattr(node, field, self.visit(value))
            return node
        return super().generic_visit(node)

    def visit_ExceptHandler(self, node):
        node.type = self.visit(node.type) if node.type else None
        node.body = self._block(node.body)
        return node

    def visit_match_case(self, node):
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = self._block(node.body)
        return node

    def visit_With(self, node):
        # What is entered is called as it is.
        node.body = self._block(node.body)
        return node

    def visit_If(self, node):
        state = _State(self._scope, node.body + node.orelse)
        both = set(_names.names_of(node.body).bound) & set(
            _names.names_of(node.orelse).bound) & self._scope.captured
        needed = state.needed(node.live_out | both)
        get, set_, definitions = state.functions()
        test = self.visit(node.test)
        then, otherwise = self._new_name("if_body"), self._new_name("else_body")
        definitions += [
            _function(then, (), state.declarations() + self._block(node.body)),
            _function(otherwise, (),
                      state.declarations() + self._block(node.orelse))]
        call = _operator("if_stmt", test, name(then), name(otherwise),
                         name(get), name(set_), _strings(state.names),
                         _strings(needed))
        return located(definitions + [ast.Expr(call)], node)

    def _loop(self, node, operator, head, state, test, body, parameters):
        options = self._options(node)
        needed = state.needed(node.live_in | node.live_out)
        get, set_, definitions = state.functions()
        test_name = ast.Constant(None)
        if test is not None:
            identifier = self._new_name("loop_test")
            definitions.append(_function(
                identifier, (),
                state.declarations() + [ast.Return(self.visit(test))]))
            test_name = name(identifier)
        body_name = self._new_name("loop_body")
        definitions.append(_function(
            body_name, parameters,
            state.declarations() + body + self._block(node.body)))
        call = _operator(operator, *head, test_name, name(body_name), name(get),
                         name(set_), _strings(state.names),
                         _strings(needed), options)
        return located(definitions + [ast.Expr(call)], node)

    def visit_While(self, node):
        state = _State(self._scope, node.body, [node.test])
        test = node.test
        if hasattr(node, "go_on"):
            test = located(ast.BoolOp(ast.And(), [node.go_on, test]), node)
        return self._loop(node, "while_stmt", (), state, test, [], ())

    def visit_For(self, node):
        state = _State(self._scope, node.body, [node.target])
        item = self._new_name("item")
        begin = [ast.Assign([node.target], name(item))]
        return self._loop(node, "for_stmt", (self.visit(node.iter),), state,
                          getattr(node, "go_on", None), begin, (item,))

    @staticmethod
    def _options(loop):
        """A function that gives what set_loop_options says in a loop's body,
        or None."""
        for statement in loop.body:
            call = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) \
                    and (getattr(call.func, "attr", None)
                         or getattr(call.func, "id", None)
                         ) == "set_loop_options":
                new = copy.deepcopy(call)
                new.args.insert(0, new.func)
                new.func = ast.Attribute(name("ag__"), "loop_options",
                                         ast.Load())
                return _lambda(new)
        return ast.Constant(None)

    def visit_Assert(self, node):
        node = self.generic_visit(node)
        message = _lambda(node.msg) if node.msg else ast.Constant(None)
        return located(ast.Expr(_operator(
            "assert_stmt", _lambda(node.test), message)), node)

    # Expressions.

    def visit_Call(self, node):
        node = self.generic_visit(node)
        callee = node.func
        if isinstance(callee, ast.Name):
            if callee.id == "super" and not node.args and self._scope.first:
                node.args = [name("__class__"), name(self._scope.first)]
                return located(node, node)
            if callee.id in _FRAME_READERS or callee.id == "print" \
                    and "BUILTIN_FUNCTIONS" not in self._features:
                return node
        if isinstance(callee, ast.Attribute) \
                and isinstance(callee.value, ast.Name) \
                and callee.value.id in ("ag__", "pdb", "ipdb"):
            return node
        node.func = located(_operator("callee", callee), callee)
        if isinstance(callee, ast.Attribute):
            # Where the name of a method stands is the line of its call.
            node.lineno = callee.end_lineno
            node.col_offset = max(callee.end_col_offset - len(callee.attr), 0)
        return node

    def _lazily(self, node, operands):
        """Whether operands may become functions that are called later."""
        return not any(isinstance(n, ast.NamedExpr)
                       for o in operands for n in ast.walk(o))

    def visit_BoolOp(self, node):
        if not self._lazily(node, node.values):
            return self.generic_visit(node)
        node = self.generic_visit(node)
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = _operator(operator, value, _lambda(result))
        return located(result, node)

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return located(_operator("not_", node.operand), node)
        return node

    def visit_IfExp(self, node):
        if not self._lazily(node, [node.body, node.orelse]):
            return self.generic_visit(node)
        node = self.generic_visit(node)
        return located(_operator("if_exp", node.test, _lambda(node.body),
                                 _lambda(node.orelse)), node)

    def visit_Compare(self, node):
        equal = "EQUALITY_OPERATORS" in self._features and any(
            isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)
        if not equal and len(node.ops) == 1 \
                or not self._lazily(node, node.comparators):
            return self.generic_visit(node)
        node = self.generic_visit(node)
        pairs = []
        for op, right in zip(node.ops, node.comparators):
            if equal and isinstance(op, (ast.Eq, ast.NotEq)):
                compared = _operator("eq" if isinstance(op, ast.Eq)
                                     else "not_eq", name("a"), name("b"))
            else:
                compared = ast.Compare(name("a"), [op], [name("b")])
            pairs.append(ast.Tuple([ast.Lambda(_no_arguments("a", "b"),
                                               compared),
                                    _lambda(right)], ast.Load()))
        return located(_operator("compare", node.left, *pairs), node)


def convert_tree(node, class_name, features):
    """(FunctionDef, names of generated functions) for a def or a lambda."""
    node = copy.deepcopy(node)
    if isinstance(node, ast.Lambda):
        node = _function_of(node)
    node.decorator_list = []
    node.returns = None
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    for arg in ast.walk(node.args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    if class_name:
        node = _Mangler(class_name).visit(node)
    if "LISTS" in features:
        node = _Appends().visit(node)
    converter = Converter(node, features)
    node = converter.function(node)
    return node, converter.generated


def _function_of(node):
    body = ast.copy_location(ast.Return(node.body), node.body)
    function = _function("lambda_", (), [body])
    function.args = node.args
    return ast.copy_location(function, node)

