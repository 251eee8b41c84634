"""tf.autograph: functions whose control flow depends on tensors."""
import ast
import enum
import functools
import inspect
import types

from headrace._src.autograph import conversion as _conversion
from headrace._src.autograph.sources import NoSource
from headrace._src.framework.autograph_status import (
    ControlStatusCtx, Status)


class ConversionError(Exception):
    """A function cannot be converted."""


class Feature(enum.Enum):
    """What converted functions do beyond the usual, if it is asked for.

    ASSERT_STATEMENTS changes nothing here: assert of a tensor always becomes
    tf.Assert."""
    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """All features but those of `exclude`, and but ALL."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


def feature_names(features):
    """The names of None, a Feature, or several."""
    if features is None:
        return frozenset()
    if isinstance(features, Feature):
        features = (features,)
    if Feature.ALL in features:
        features = Feature.all()
    return frozenset(f.name for f in features)


def tf_convert(function):
    """`function`, converted when it is called; as it is where conversion is
    switched off around this call."""
    if _conversion.disabled():
        return do_not_convert(function)
    return _conversion.convert(function)


def _converted(entity, features):
    """(function, _Code) of a function or method, that was converted."""
    function = inspect.unwrap(entity, stop=lambda f: isinstance(
        f, types.FunctionType)) if not inspect.ismethod(entity) \
        else entity.__func__
    if not isinstance(function, types.FunctionType):
        raise ConversionError(
            "converting %s: only functions and methods are converted"
            % (entity,))
    names = feature_names(features)
    try:
        code = _conversion.convert_code(function, names, strict=True)
    except NoSource as error:
        raise ConversionError("converting %s: %s" % (entity, error)) from None
    return _conversion._bind(function, code.function_code, names), code


def to_graph(entity, recursive=True, arg_values=None, arg_types=None,
             experimental_optional_features=None):
    """The function `entity`, converted: branches and loops that depend on
    tensors become tf.cond and tf.while_loop. Of a method, it is a function
    whose first argument is the object. Functions that it calls are converted
    as well. ConversionError where the source cannot be had."""
    if not recursive:
        raise NotImplementedError("autograph.to_graph: recursive=False")
    return _converted(entity, experimental_optional_features)[0]


def to_code(entity, recursive=True, arg_values=None, arg_types=None,
            indentation="  ", experimental_optional_features=None):
    """The Python code of to_graph's function."""
    if not recursive:
        raise NotImplementedError("autograph.to_code: recursive=False")
    tree = _converted(entity, experimental_optional_features)[1].tree
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def convert(recursive=False, optional_features=None, user_requested=True):
    """A decorator of tf.contrib.autograph: the function is converted when it is
    called. Functions that it calls are converted as well, also without
    `recursive`; user_requested changes nothing. A function whose source cannot
    be had runs as it is."""
    del recursive, user_requested
    names = feature_names(optional_features)
    return lambda function: _conversion.convert(function, names)


def do_not_convert(func=None):
    """A decorator: the function runs as it is, and so do those that it
    passes to Dataset.map and its like."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with ControlStatusCtx(Status.DISABLED):
            return func(*args, **kwargs)
    setattr(wrapper, _conversion.READY, True)
    return wrapper


_USUAL = object  # TensorFlow's signature has the class itself


def set_loop_options(parallel_iterations=_USUAL, back_prop=_USUAL,
                     swap_memory=_USUAL, maximum_iterations=_USUAL):
    """As a statement of a loop's body: arguments of the tf.while_loop that the
    loop becomes. Elsewhere it does nothing."""


def set_verbosity(level, alsologtostdout=False):
    """From level 2 on, the code of each function that is converted is logged;
    with `alsologtostdout`, to stdout as well."""
    _conversion.set_verbosity(level, alsologtostdout)


def trace(*args):
    """Prints its arguments when the graph is made."""
    print(*args)
