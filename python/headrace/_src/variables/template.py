"""make_template: functions whose variables are made once and then shared."""
import functools

from headrace._headrace import executing_eagerly, user_source_line
from headrace._src.framework.graph import (
    GraphKeys, get_collection, get_collection_ref, get_default_graph)
from headrace._src.variables.scopes import (
    new_store, pure_variable_scope, unique_variable_scope, variable_scope,
    with_store)


def make_template(name_, func_, create_scope_now_=False, unique_name_=None,
                  custom_getter_=None, **kwargs):
    """`func_`, with `kwargs` bound, as a function that makes its variables when
    it is first called and shares them among all calls.

    Variables are those of get_variable, in a variable scope of the template's
    own: `name_` made unique, or exactly `unique_name_`. It is opened by the
    first call, or now with create_scope_now_."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_,
                    custom_getter_)


class Template:
    """What make_template makes."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None,
                 custom_getter=None):
        if name is None:
            raise ValueError("name cannot be None.")
        self._name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._made_at = user_source_line()
        self._scope = None
        self._called = False   # the first call has begun
        self._variables_created = False  # and ended
        self._store = None  # of a template that is called eagerly
        if executing_eagerly():
            self._store = new_store()
            self._store._is_eager = False
            self._store._shares_all = True
        if create_scope_now:
            with pure_variable_scope(unique_name or unique_variable_scope(name),
                                     custom_getter=custom_getter) as scope:
                self._scope = scope

    name = property(lambda self: self._name)
    func = property(lambda self: self._func)
    variable_scope = property(lambda self: self._scope)
    var_scope = property(lambda self: self._scope)

    def __call__(self, *args, **kwargs):
        if self._store is not None and executing_eagerly():
            with with_store(get_default_graph(), self._store):
                return self._call_in_scope(args, kwargs)
        return self._call_in_scope(args, kwargs)

    def _call_in_scope(self, args, kwargs):
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._called):
                return self._call(args, kwargs)
        with variable_scope(self._unique_name, self._name,
                            custom_getter=self._custom_getter) as scope:
            self._scope = scope
            return self._call(args, kwargs)

    def _call(self, args, kwargs):
        try:
            if self._variables_created:
                return self._call_again(args, kwargs)
            first, self._called = not self._called, True
            try:
                result = self._func(*args, **kwargs)
            except BaseException:
                self._called = not first
                raise
            self._variables_created = self._variables_created or first
            return result
        except Exception as error:
            what = error.args[0] if error.args else ""
            error.args = ("%s\n\noriginally defined at:\n%s"
                          % (what, self._made_at),) + error.args[1:]
            raise

    def _call_again(self, args, kwargs):
        trainable = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        n = len(trainable)
        result = self._func(*args, **kwargs)
        if len(trainable) != n:
            raise ValueError(
                "Trainable variable created when calling a template after the "
                "first time, perhaps you used tf.Variable when you meant "
                "tf.get_variable: %s" % (trainable[n:],))
        return result

    @property
    def variable_scope_name(self):
        """The prefix of the variables' names; None before there is a scope."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _variables(self, collection):
        if not self._variables_created:
            return []
        if self._store is not None:
            found = list(self._store._vars.values())
            if collection == GraphKeys.LOCAL_VARIABLES:
                return []
            return [v for v in found if v.trainable or (
                collection != GraphKeys.TRAINABLE_VARIABLES)]
        return get_collection(collection, self.variable_scope_name)

    @property
    def trainable_variables(self):
        return self._variables(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self):
        return self._variables(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self):
        return self._variables(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self):
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self):
        trainable = set(self.trainable_variables)
        return [v for v in self.global_variables if v not in trainable]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
