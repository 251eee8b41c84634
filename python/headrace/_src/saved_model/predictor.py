"""tf.contrib.predictor: SavedModels as functions of NumPy arrays."""
from headrace._src.framework.graph import Graph
from headrace._src.saved_model import constants
from headrace._src.saved_model.loader import load
from headrace._src.session.session import Session


class Predictor:
    """A session with a graph, and {key: Tensor} that are fed and fetched."""

    def __init__(self, graph, session, feed_tensors, fetch_tensors):
        self._graph = graph
        self._session = session
        self._feed_tensors = feed_tensors
        self._fetch_tensors = fetch_tensors

    graph = property(lambda self: self._graph)
    session = property(lambda self: self._session)
    feed_tensors = property(lambda self: self._feed_tensors)
    fetch_tensors = property(lambda self: self._fetch_tensors)

    def __repr__(self):
        return "SavedModelPredictor with feed tensors %s and fetch_tensors %s" % (
            self._feed_tensors, self._fetch_tensors)

    def __call__(self, input_dict):
        """{key: array} of the outputs. ValueError for keys that are no inputs."""
        unknown = sorted(set(input_dict) - set(self._feed_tensors))
        if unknown:
            raise ValueError("Got unexpected keys in input_dict: %s, expected: %s"
                             % (unknown, sorted(self._feed_tensors)))
        feeds = {self._feed_tensors[k]: v for k, v in input_dict.items()}
        return self._session.run(self._fetch_tensors, feeds)


def _signature(meta_graph_def, key):
    known = meta_graph_def.signature_def
    if key not in known:
        raise ValueError("Got signature_def_key %r. Available signatures are %s."
                         % (key, sorted(known)))
    return known[key]


def from_saved_model(export_dir, signature_def_key=None, signature_def=None,
                     input_names=None, output_names=None, tags=None, graph=None,
                     config=None):
    """A function {input: array} -> {output: array} of a SavedModel, in a session
    of its own.

    What is fed and fetched: of the signature with the key signature_def_key, by
    default "serving_default"; or of the message signature_def; or {key: name of a
    tensor} as input_names and output_names. ValueError if more than one of these
    is given, or there is no such signature. `tags`: a string, separated by commas;
    by default those for serving. OSError if there is no SavedModel."""
    ways = [signature_def_key is not None, signature_def is not None,
            input_names is not None]
    if sum(ways) > 1:
        raise ValueError("You must specify at most one of signature_def_key OR "
                         "signature_def OR (input_names AND output_names).")
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or "
                         "both be unspecified.")
    graph = graph or Graph()
    with graph.as_default():
        session = Session(config=config)
        loaded = load(session, (tags or constants.SERVING).split(","), export_dir)
    if input_names is None:
        signature = signature_def or _signature(
            loaded, signature_def_key
            or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY)
        input_names = {k: v.name for k, v in signature.inputs.items()}
        output_names = {k: v.name for k, v in signature.outputs.items()}
    return Predictor(graph, session,
                      {k: graph.get_tensor_by_name(v) for k, v in input_names.items()},
                      {k: graph.get_tensor_by_name(v) for k, v in output_names.items()})
