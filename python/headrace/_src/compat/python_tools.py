"""tensorflow.python.util: what decorates functions or changes modules, and does
nothing here."""
import contextlib
import re
import sys

contextmanager = contextlib.contextmanager


def should_use_result(fn=None, warn_in_eager=False, error_in_function=False):
    """Changes nothing."""
    return fn if fn is not None else lambda function: function


def add_should_use_warning(x, fatal_error=False):
    """`x` as it is."""
    return x


def is_in_graph_mode():
    """True: all nodes go into graphs."""
    return True


def dismantle_ordered_dict(ordered_dict):
    """Empties the OrderedDict."""
    ordered_dict.clear()


def make_all(module_name, doc_string_modules=None):
    """The names that lines `@@name` of a module's docstring, or of those of
    doc_string_modules, have, and the module has, too."""
    module = sys.modules[module_name]
    found = {name for m in doc_string_modules or [module]
             for name in re.findall(r"^@@(\w+)$", m.__doc__, re.MULTILINE)}
    return [name for name in found if hasattr(module, name)]


_hidden: dict = {}  # "module.name": (module, value)


def remove_undocumented(module_name, allowed_exception_list=None,
                        doc_string_modules=None):
    """Deletes from a program's module what its docstrings do not name."""
    module = sys.modules[module_name]
    allowed = {*make_all(module_name, doc_string_modules),
               *(allowed_exception_list or ())}
    for name in [*vars(module)]:
        if name.startswith("_") or name in allowed:
            continue
        _hidden["%s.%s" % (module_name, name)] = module, vars(module)[name]
        delattr(module, name)


def reveal_undocumented(symbol_name, target_module=None):
    """Puts "module.name" back where remove_undocumented took it from.
    LookupError if it did not."""
    if symbol_name not in _hidden:
        raise LookupError("Symbol %s is not a hidden symbol" % symbol_name)
    module, value = _hidden[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
