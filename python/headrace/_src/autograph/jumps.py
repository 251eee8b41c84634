"""Rewrites break, continue and return: each sets a flag, and what follows it
runs only where the flag is not set. Then every block has one way in and one
way out, as the bodies of tf.cond and tf.while_loop have.

A loop that had a break or a return has an attribute `go_on`: the expression
that must hold for another iteration.
"""
import ast

LOOPS = (ast.For, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def name(identifier, store=False):
    return ast.Name(identifier, ast.Store() if store else ast.Load())


def assign(identifier, value):
    return ast.Assign([name(identifier, True)], value)


def located(new, old):
    """The new nodes, where the old one begins."""
    for node in new if isinstance(new, list) else [new]:
        for inner in ast.walk(node):
            if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
                inner.lineno = inner.end_lineno = old.lineno
                inner.col_offset = inner.end_col_offset = old.col_offset
    return new


def blocks(statement):
    """The lists of statements that are parts of a statement, each with its
    owner and field."""
    for field, value in ast.iter_fields(statement):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield statement, field
            elif isinstance(value[0], ast.excepthandler) \
                    or type(value[0]).__name__ == "match_case":
                for part in value:
                    yield part, "body"


def _jumps(statement, kinds, inside_loop=False):
    """Whether a statement leaves the block it stands in, by one of `kinds`."""
    if isinstance(statement, kinds):
        return not inside_loop or isinstance(statement, ast.Return)
    if isinstance(statement, SCOPES):
        return False
    for owner, field in blocks(statement):
        # The else of a loop belongs to the loop around it.
        within = inside_loop or (isinstance(statement, LOOPS)
                                 and field == "body")
        if any(_jumps(s, kinds, within) for s in getattr(owner, field)):
            return True
    return False


_ALL = (ast.Break, ast.Continue, ast.Return)


def _always_jumps(body):
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_jumps(last.body) and _always_jumps(last.orelse)
    return isinstance(last, _ALL)


class _Lowering:
    def __init__(self, new_name, return_flag, return_value):
        self._new_name = new_name
        self._return_flag = return_flag  # None: returns stay as they are
        self._return_value = return_value

    def block(self, body, break_flag, continue_flag):
        """The statements of a block without jumps."""
        out = []
        for i, statement in enumerate(body):
            rest = body[i + 1:]
            lowered = self._jump(statement, break_flag, continue_flag)
            if lowered is not None:
                return out + lowered  # the rest is never reached
            if not self._lowers(statement):
                out.append(statement)
                continue
            if isinstance(statement, ast.If):
                # What follows belongs to the branch that goes on.
                if _always_jumps(statement.body):
                    statement.orelse, rest = statement.orelse + rest, None
                elif _always_jumps(statement.orelse):
                    statement.body, rest = statement.body + rest, None
            flags = self._flags(statement, break_flag, continue_flag)
            out.extend(self._inside(statement, break_flag, continue_flag))
            if rest is None:
                return out
            if rest and flags:
                guarded = self.block(rest, break_flag, continue_flag)
                test = ast.UnaryOp(ast.Not(), _any(flags))
                out.append(located(ast.If(test, guarded, []), statement))
                return out
        return out

    def _lowers(self, statement):
        if isinstance(statement, SCOPES):
            return False
        if isinstance(statement, LOOPS) and statement.orelse:
            return True
        if self._return_flag and _jumps(statement, (ast.Return,)):
            return True
        if _jumps(statement, (ast.Break, ast.Continue)):
            return True
        # A loop within has jumps of its own.
        return any(self._lowers(s) for owner, field in blocks(statement)
                   for s in getattr(owner, field))

    def _jump(self, statement, break_flag, continue_flag):
        if isinstance(statement, ast.Break):
            return located([assign(break_flag, ast.Constant(True))], statement)
        if isinstance(statement, ast.Continue):
            return located([assign(continue_flag, ast.Constant(True))],
                           statement)
        if isinstance(statement, ast.Return) and self._return_flag:
            value = statement.value or ast.Constant(None)
            return located([assign(self._return_flag, ast.Constant(True)),
                            assign(self._return_value, value)], statement)
        return None

    def _flags(self, statement, break_flag, continue_flag):
        """The flags that a statement may set."""
        flags = []
        if _jumps(statement, (ast.Break,)):
            flags.append(break_flag)
        if _jumps(statement, (ast.Continue,)):
            flags.append(continue_flag)
        if self._return_flag and _jumps(statement, (ast.Return,)):
            flags.append(self._return_flag)
        return flags

    def _inside(self, statement, break_flag, continue_flag):
        if isinstance(statement, LOOPS):
            return self._loop(statement, break_flag, continue_flag)
        tried = []
        if isinstance(statement, ast.Try) and statement.orelse:
            tried = [f for s in statement.body
                     for f in self._flags(s, break_flag, continue_flag)]
        for owner, field in list(blocks(statement)):
            setattr(owner, field, self.block(getattr(owner, field), break_flag,
                                             continue_flag)
                    or located([ast.Pass()], statement))
        if tried:  # the else of a try runs only where its body went to its end
            statement.orelse = located([ast.If(
                ast.UnaryOp(ast.Not(), _any(sorted(set(tried)))),
                statement.orelse, [])], statement)
        return [statement]

    def _loop(self, loop, break_flag, continue_flag):
        breaks = any(_jumps(s, (ast.Break,)) for s in loop.body)
        continues = any(_jumps(s, (ast.Continue,)) for s in loop.body)
        returns = self._return_flag and any(
            _jumps(s, (ast.Return,)) for s in loop.body)
        own_break = self._new_name("break_") if breaks else None
        own_continue = self._new_name("continue_") if continues else None
        body = self.block(loop.body, own_break, own_continue)
        if continues:
            body.insert(0, located(assign(own_continue, ast.Constant(False)),
                                   loop))
        loop.body = body
        flags = [f for f in (own_break, self._return_flag if returns else None)
                 if f]
        out = []
        if breaks:
            out.append(located(assign(own_break, ast.Constant(False)), loop))
        if flags:
            loop.go_on = located(ast.UnaryOp(ast.Not(), _any(flags)), loop)
        orelse, loop.orelse = loop.orelse, []
        out.append(loop)
        if orelse:
            orelse = self.block(orelse, break_flag, continue_flag)
            if flags:
                orelse = [located(ast.If(
                    ast.UnaryOp(ast.Not(), _any(flags)), orelse, []), loop)]
            out.extend(orelse)
        return out


def _any(flags):
    values = [name(f) for f in flags]
    return values[0] if len(values) == 1 else ast.BoolOp(ast.Or(), values)


def _returns_inside(body):
    return any(_jumps(s, (ast.Return,)) for s in body
               if not isinstance(s, ast.Return))


def lower(function, new_name):
    """Rewrites the jumps of a FunctionDef in place."""
    body = function.body
    flag = value = None
    if _returns_inside(body):
        flag, value = new_name("do_return"), new_name("retval_")
    function.body = _Lowering(new_name, flag, value).block(body, None, None)
    if flag is not None:
        function.body = located([
            assign(flag, ast.Constant(False)),
            assign(value, ast.Attribute(name("ag__"), "NO_RETURN",
                                        ast.Load()))], body[0]
        ) + function.body + located([ast.Return(ast.Call(
            ast.Attribute(name("ag__"), "returned", ast.Load()),
            [name(value)], []))], body[-1])
