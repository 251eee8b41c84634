"""What variables and optimizers ask of tf.distribute, which most programs never
load."""
import contextlib

from headrace._src.framework.graph import colocate_with

_loaded: list = []


def set_loaded(strategies):
    """Of the module of strategies: it is there."""
    _loaded.append(strategies)


def loaded_strategies():
    """The module of strategies, or None if the program uses none."""
    return _loaded[0] if _loaded else None


def colocate_vars_with(variable):
    """Variables made in it lie where `variable` lies, on all its devices."""
    strategies = loaded_strategies()
    if strategies is None or not strategies.has_strategy():
        return colocate_with(variable)
    return strategies.get_strategy().extended.colocate_vars_with(variable)


def of_all_replicas(variable):
    """In a replica, the value of a variable that each replica has its own of, of
    all together; else the variable."""
    strategies = loaded_strategies()
    if strategies is None or not strategies.has_strategy() or (
            strategies.in_cross_replica_context()):
        return variable
    return strategies.get_replica_context().merge_call(
        lambda strategy, v: strategy.extended.read_var(v), (variable,))


def in_first_replica():
    """Between the replicas of a strategy, a block as in the first of them, as
    what a metric adds is; elsewhere nothing."""
    strategies = loaded_strategies()
    if strategies is None or not strategies.has_strategy() or (
            not strategies.in_cross_replica_context()):
        return contextlib.nullcontext()
    return strategies.ReplicaContext(strategies.get_strategy(), 0)


def container_of(variable):
    """The variable of several devices that `variable` is a copy of, or
    None."""
    reference = getattr(variable, "__dict__", {}).get("_distributed_container")
    return reference and reference()
