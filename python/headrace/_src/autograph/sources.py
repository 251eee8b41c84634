"""The syntax tree of a function that is loaded, found by its code object."""
import ast
import linecache
import sys

from headrace._src.autograph.names import parameters

_files: dict = {}  # file name -> (lines, tree) of what was last parsed


class NoSource(Exception):
    """Says why the source of a function cannot be had."""


def _tree(filename):
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    if not lines:
        raise NoSource("source code of %s is not available" % filename)
    known = _files.get(filename)
    if known is None or known[0] is not lines:
        try:
            known = lines, ast.parse("".join(lines), filename)
        except (SyntaxError, ValueError) as error:
            raise NoSource("%s cannot be parsed: %s" % (filename, error)) \
                from None
        _files[filename] = known
    return known[1]


def _first_line(node):
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno] + [d.lineno for d in decorators])


def mangled(name, class_name):
    """A private name of a class, as the compiler spells it."""
    bare = (class_name or "").lstrip("_")
    if not bare or not name.startswith("__") or name.endswith("__") \
            or "." in name:
        return name
    return "_%s%s" % (bare, name)


def _candidates(tree, code):
    """(node, name of the class around it) of functions that may be `code`'s."""
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    n = code.co_argcount + code.co_kwonlyargcount + bool(
        code.co_flags & 4) + bool(code.co_flags & 8)
    found = []

    def walk(node, class_name):
        for child in ast.iter_child_nodes(node):
            if (isinstance(child, kind)
                    and _first_line(child) == code.co_firstlineno
                    and getattr(child, "name", code.co_name) in (
                        code.co_name, _unmangled(code.co_name, class_name))
                    and [mangled(a, class_name) for a in parameters(child)]
                    == list(code.co_varnames[:n])):
                found.append((child, class_name))
            walk(child, child.name if isinstance(child, ast.ClassDef)
                 else class_name)
    walk(tree, None)
    return found


def _unmangled(name, class_name):
    prefix = "_" + (class_name or "").lstrip("_")
    return name[len(prefix):] if name.startswith(prefix + "__") else name


def _at_positions(candidates, code):
    """Those candidates within which all instructions of `code` are."""
    places = [(line, column) for line, _, column, _ in code.co_positions()
              if line is not None and column is not None
              and (line, column) != (code.co_firstlineno, 0)]

    def holds(node):
        begin = node.body.lineno, node.body.col_offset
        end = node.body.end_lineno, node.body.end_col_offset
        return all(begin <= place <= end for place in places)
    return [c for c in candidates if holds(c[0])]


def _alike(candidates, code):
    """Those candidates that use the names that `code` uses, with its
    constants."""
    def uses(c):
        constants = {repr(x) for x in c.co_consts
                     if not hasattr(x, "co_code") and x is not None
                     and not isinstance(x, str)}
        return constants, set(c.co_names) | set(c.co_freevars) \
            | set(c.co_cellvars) | set(c.co_varnames), len(c.co_code)

    def compiled(node):
        whole = compile(ast.Expression(node), "<lambda>", "eval")
        return next(c for c in whole.co_consts if hasattr(c, "co_code"))

    wanted = uses(code)
    return [c for c in candidates if uses(compiled(c[0])) == wanted]


def find(code):
    """(node, class name) of the def or lambda of which `code` was compiled.
    Raises NoSource."""
    if code.co_filename.startswith("<") and not linecache.getlines(
            code.co_filename):
        raise NoSource("it was not loaded from a file")
    candidates = _candidates(_tree(code.co_filename), code)
    if len(candidates) > 1 and code.co_name == "<lambda>":
        chosen = _at_positions(candidates, code) \
            if sys.version_info >= (3, 11) else _alike(candidates, code)
        candidates = chosen or candidates
    if not candidates:
        raise NoSource("%s has no such function at line %d any more"
                       % (code.co_filename, code.co_firstlineno))
    if len({ast.dump(node) for node, _ in candidates}) > 1:
        raise NoSource("several lambdas with the same parameters begin at "
                       "line %d of %s" % (code.co_firstlineno,
                                          code.co_filename))
    return candidates[0]
