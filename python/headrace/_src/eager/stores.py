"""tf.contrib.eager.EagerVariableStore and Saver."""
import contextlib

from headrace._headrace import executing_eagerly
from headrace._src.eager import checkpoints as _checkpoints
from headrace._src.framework.graph import get_default_graph
from headrace._src.training.saver import Saver as _Saver
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.base import variable_creator_scope
from headrace._src.variables.resource_variables import ResourceVariable
from headrace._src.variables.store import VariableStore


class EagerVariableStore:
    """Keeps the variables that get_variable and tf.layers make inside of
    as_default(), so that a function that is called again finds them.

    ValueError for a `store` that is none."""

    def __init__(self, store=None):
        if store is not None and not isinstance(store, VariableStore):
            raise ValueError("Cannot construct EagerVariableStore from a "
                             "VariableStore object that does not hold eager "
                             "variables.")
        self._store = store or _scopes.new_store()
        self._store._is_eager = False  # it keeps what it makes
        self._store._shares_all = True

    @contextlib.contextmanager
    def as_default(self):
        """A context in which get_variable uses this store."""
        with _scopes.with_store(get_default_graph(), self._store):
            yield

    def variables(self):
        """All variables, by name."""
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self):
        """The trainable ones, by name."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self):
        """The others, by name."""
        return [v for v in self.variables() if not v.trainable]

    def copy(self):
        """A store with copies of the variables, that have their present
        values."""
        store = _scopes.new_store()
        for name, v in self._store._vars.items():
            store._vars[name] = ResourceVariable(
                v.read_value(), name=name, trainable=v.trainable)
        return EagerVariableStore(store)


class Saver:
    """Saves and restores variables without a session: a list of them, or {name
    in the checkpoint: variable}. RuntimeError unless ops are executed
    eagerly."""

    def __init__(self, var_list):
        if not executing_eagerly():
            raise RuntimeError("tfe.Saver can only be used when eager execution "
                               "is enabled. Use tf.train.Saver when building "
                               "graphs.")
        self._saver = _Saver(var_list)

    def save(self, file_prefix, global_step=None):
        """Writes a checkpoint; its path."""
        return self._saver.save(None, file_prefix, write_meta_graph=False,
                                global_step=global_step)

    def restore(self, file_prefix):
        """Gives the variables the values of a checkpoint."""
        self._saver.restore(None, file_prefix)


@contextlib.contextmanager
def restore_variables_on_create(save_path, map_func=None):
    """Variables that are made inside get their values from a checkpoint, where it
    has their names. `map_func`: from a variable's name to that in the
    checkpoint."""
    from headrace._src.training.checkpoint_reader import NewCheckpointReader
    if not executing_eagerly():
        raise ValueError("restore_variables_on_create should only be used when "
                         "eager execution is enabled")
    if save_path is None:
        yield
        return
    known = set(NewCheckpointReader(save_path).get_variable_to_shape_map())

    def make(following, **arguments):
        variable = following(**arguments)
        name = variable._shared_name
        name = map_func(name) if map_func is not None else name
        if name in known:
            _checkpoints.read({name: variable}, save_path)
        return variable
    with variable_creator_scope(make):
        yield


def get_optimizer_variables(optimizer):
    """The variables that an optimizer of tf.train made."""
    return optimizer.variables()
