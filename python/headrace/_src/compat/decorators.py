"""tensorflow.python.util.tf_decorator and decorator_utils: decorators that can be
taken off again, and notices in docstrings."""
import functools
import inspect
import textwrap


class TFDecorator:
    """What stands for `target` and says how it was decorated: the name of the
    decorator, documentation and a signature (ArgSpec) of its own."""

    def __init__(self, decorator_name, target, decorator_doc="",
                 decorator_argspec=None):
        self.decorator_name = decorator_name
        self._decorated_target = target
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        for name in ("__name__", "__qualname__"):
            if hasattr(target, name):
                setattr(self, name, getattr(target, name))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    @property
    def decorated_target(self):
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = target

    def __get__(self, instance, owner):
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)


def _decorator_of(function):
    """The TFDecorator that make_decorator gave it, or None."""
    found = getattr(function, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


def make_decorator(target, decorator_func, decorator_name=None,
                   decorator_doc="", decorator_argspec=None):
    """decorator_func, with the name, the module and the attributes of `target`,
    and as docstring decorator_doc or that of `target`. Without decorator_name it
    is the name of the caller."""
    if decorator_name is None:
        decorator_name = inspect.currentframe().f_back.f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc,
                            decorator_argspec)
    decorator_func._tf_decorator = decorator
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    for name, value in getattr(target, "__dict__", {}).items():
        decorator_func.__dict__.setdefault(name, value)
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = decorator_func.__original_wrapped__ = target
    return decorator_func


def unwrap(maybe_tf_decorator):
    """([TFDecorators, the outermost first], what is below all of them)."""
    decorators, target = [], maybe_tf_decorator
    while True:
        decorator = (target if isinstance(target, TFDecorator)
                     else _decorator_of(target))
        if decorator is None and hasattr(target, "_undispatched"):
            target = target._undispatched
            continue
        if decorator is None:
            return decorators, target
        decorators.append(decorator)
        target = decorator.decorated_target


def rewrap(decorator_func, previous_target, new_target):
    """decorator_func with new_target in the place of previous_target, below
    the decorators that are around that one: these call `__wrapped__`. Where
    there is no decorator, new_target."""
    function, innermost, decorator = decorator_func, None, None
    while _decorator_of(function) is not None:
        innermost, decorator = function, _decorator_of(function)
        if decorator.decorated_target is previous_target:
            break
        function = decorator.decorated_target
    if innermost is None:
        assert decorator_func is previous_target
        return new_target
    decorator.decorated_target = new_target
    getattr(innermost, "__func__", innermost).__wrapped__ = new_target
    return decorator_func


# Notices in docstrings.

class classproperty:
    """A property of a class: a function of the class."""

    def __init__(self, func):
        self._function = func

    def __get__(self, instance, owner):
        return self._function(owner)


def get_qualified_name(function):
    return getattr(function, "__qualname__", None) or function.__name__


def validate_callable(func, decorator_name):
    """ValueError unless it can be called."""
    if not hasattr(func, "__call__"):
        raise ValueError(
            "%s is not a function. If this is a property, make sure @property "
            "appears before @%s in your source code:\n\n@property\n@%s\ndef "
            "method(...)" % (func, decorator_name, decorator_name))


def _normalize_docstring(docstring):
    """Without indentation, tabs, and empty lines at both ends."""
    first, newline, rest = (docstring or "").expandtabs().partition("\n")
    text = first.strip() + newline + textwrap.dedent(rest)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def add_notice_to_docstring(doc, instructions, no_doc_str, suffix_str, notice):
    """`doc` with suffix_str at the end of its first line and below it the lines
    of `notice`, a warning, and the instructions. ValueError without lines."""
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    first, *rest = _normalize_docstring(doc).splitlines() if doc else [
        no_doc_str]
    if doc:
        first = "%s %s" % (first, suffix_str)
    lines = ["", "Warning: " + notice[0], *notice[1:]]
    if instructions:
        lines.append(instructions)
    if rest and rest[0].strip():
        lines.append("")
    return "\n".join([first, *lines, *rest])


def keyword_args_only(func):
    """A function that takes keyword arguments alone: ValueError for others."""
    validate_callable(func, "keyword_args_only")

    @functools.wraps(func)
    def with_keywords(*args, **kwargs):
        if args:
            raise ValueError("Must use keyword args to call %s."
                             % func.__name__)
        return func(**kwargs)
    return with_keywords
