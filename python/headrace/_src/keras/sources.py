"""tf.keras.utils.get_source_inputs."""
from headrace._src.framework import nest
from headrace._src.layers import backend


def get_source_inputs(tensor, layer=None, node_index=None):
    """The tensors, of any shapes and dtypes, that Input made and that `tensor`, the
    output of a layer, comes from; a list, each once. A tensor of no layer comes
    from itself.

    layer, node_index: those that made `tensor`, where they are known already.
    Raises IndexError if the layer has no such call."""
    history = backend.graph_state().history
    if layer is None and backend.key(tensor) not in history:
        return [tensor]
    call = node_index
    if layer is None:
        layer, call, _ = history[backend.key(tensor)]
    found, seen = [], set()
    waiting = [(tensor, layer, call or 0)]
    while waiting:
        x, layer, call = waiting.pop()
        if (layer, call) in seen:
            continue
        seen.add((layer, call))
        before = nest.flatten(layer._calls[call][0])
        if not before:  # a layer of Input
            found.append(x)
        waiting += [(b, *history[backend.key(b)][:2]) for b in reversed(before)
                    if backend.key(b) in history]
    return found
