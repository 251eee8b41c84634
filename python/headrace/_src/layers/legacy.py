"""tf.layers.Layer: a layer whose variables come from get_variable."""
import contextlib

from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, get_collection_ref, name_scope)
from headrace._src.layers import backend, engine
from headrace._src.layers.engine import snake_case
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.scopes import (
    VariableScope, get_variable, variable_scope)
from headrace._src.variables.variables import (
    global_variables, trainable_variables)

_style = {"keras": False}


@contextlib.contextmanager
def keras_style_scope():
    """Layers of tf.layers made inside take variables of their own, named after
    the layer, as layers of tf.keras do."""
    outer, _style["keras"] = _style["keras"], True
    try:
        yield
    finally:
        _style["keras"] = outer


def set_keras_style():
    """As keras_style_scope, for all layers made from here on."""
    _style["keras"] = True


def _add_new(key, elements):
    collection = get_collection_ref(key)
    for element in elements:
        if not any(element is x for x in collection):
            collection.append(element)


class Layer(engine.Layer):
    """As tf.keras.layers.Layer, but variables are those of get_variable in the
    layer's variable scope, regularization losses join REGULARIZATION_LOSSES,
    and updates join UPDATE_OPS. In a layer of tf.keras that has it as an
    attribute its variables are resource variables.

    `_scope`: the variable scope, by default one named after the layer, opened
    at the first call. `_reuse`: whether variables that exist are shared."""

    _zero_based = False

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._keras_style = _style["keras"]
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        if self._keras_style and (scope is not None
                                  or self._reuse is not None):
            raise ValueError(
                "%s argument not allowed when keras style layers are enabled, "
                "but saw: %s" % (("scope", scope) if scope is not None
                                 else ("reuse", self._reuse)))
        self._scope = self._current_scope = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    graph = property(lambda self: None)

    def _layers_inside(self):
        """None: unlike those of tf.keras, weights and losses of layers that
        are attributes are theirs alone."""
        return []

    def _set_name(self, name):
        class_name = snake_case(type(self).__name__)
        self._base_name = class_name
        if isinstance(name, VariableScope):
            self._base_name = name.name
            name = None
        elif name:
            self._base_name = name
        self._name = name or backend.unique_name(class_name, False)

    @property
    def scope_name(self):
        """The name of the variable scope. ValueError before the first call."""
        if not self._scope:
            raise ValueError(
                "No name available for layer scope because the layer \"%s\" "
                "has not been used yet. The scope name is determined the first "
                "time the layer instance is called." % self._name)
        return self._scope.name

    def _name_scope(self):
        if self._keras_style:
            return self.name
        return self._current_scope.original_name_scope

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if self._reuse and scope is None:
            opened = variable_scope(self._base_name)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def add_loss(self, losses, inputs=None):
        n = len(self._losses)
        super().add_loss(losses, inputs)
        new = [x for x, _ in self._own_losses()[n:]]
        _add_new(GraphKeys.REGULARIZATION_LOSSES, new)

    def add_weight(self, name, shape, dtype=None, initializer=None,
                   regularizer=None, trainable=None, constraint=None,
                   use_resource=None,
                   synchronization=VariableSynchronization.AUTO,
                   aggregation=VariableAggregation.NONE, partitioner=None,
                   **kwargs):
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument: %s" % key)
        if self._keras_style:
            return super().add_weight(
                name, shape, dtype, initializer, regularizer,
                trainable and self.trainable, constraint, partitioner,
                use_resource)
        trainable = self._may_train(trainable, synchronization)
        existing = {id(v) for v in global_variables()}
        self._set_scope()
        with variable_scope(self._scope, reuse=self.built or self._reuse,
                            auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = super().add_weight(
                    name, shape, dtypes.as_dtype(
                        dtype or self.dtype or dtypes.float32),
                    initializer=(scope.initializer if initializer is None
                                 else initializer),
                    trainable=trainable and self.trainable,
                    constraint=constraint, partitioner=partitioner,
                    use_resource=(use_resource or scope.use_resource
                                  or self._use_resource_variables),
                    synchronization=synchronization, aggregation=aggregation,
                    getter=get_variable)
                parts = (list(variable)
                         if isinstance(variable, PartitionedVariable)
                         else [variable])
                if regularizer and not any(id(p) in existing for p in parts):
                    self._regularize(variable, regularizer, name)
                if trainable and self.trainable and not hasattr(
                        variable, "_unique_id") and not any(
                        variable is v or parts[0] is v
                        for v in trainable_variables()):
                    # The scope's getter made it one that does not train.
                    self._trainable_weights.remove(variable)
                    self._non_trainable_weights.append(variable)
        return variable

    def _make_variable(self, name, shape, dtype, initializer, getter,
                       **options):
        if getter is None:
            return super()._make_variable(name, shape, dtype, initializer,
                                          getter, **options)
        return getter(name, shape=shape, dtype=dtype, initializer=initializer,
                      **options)

    def __call__(self, inputs, *args, **kwargs):
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError(
                    "scope argument not allowed when keras style layers are "
                    "enabled, but saw: %s" % scope)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with variable_scope(
                self._scope, reuse=True if self.built else self._reuse,
                auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            if "scope" in self._call_arguments():
                kwargs["scope"] = scope
            outputs = super().__call__(inputs, *args, **kwargs)
        _add_new(GraphKeys.UPDATE_OPS, self.updates)
        return outputs
