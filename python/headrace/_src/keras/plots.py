"""tf.keras.utils.plot_model: a picture of a model's layers, by the packages pydot
and graphviz."""
import os

from headrace._src.framework import nest
from headrace._src.keras.models import Network
from headrace._src.layers.recurrent import Wrapper

_MISSING = ("Failed to import pydot. You must install pydot and graphviz for "
            "`pydotprint` to work.")


def _pydot():
    """The package pydot. ImportError where it or Graphviz's programs are
    missing."""
    try:
        import pydot  # type: ignore
        pydot.Dot.create(pydot.Dot())
    except (ImportError, OSError):
        raise ImportError(_MISSING) from None
    return pydot


class _Drawing:
    """What is drawn of a model. `first` and `last`: of models inside, by id, the
    nodes that lines go to and come from."""

    def __init__(self, pydot, show_shapes, show_layer_names, expand_nested):
        self.pydot = pydot
        self.show_shapes, self.show_names = show_shapes, show_layer_names
        self.expand = expand_nested

    def _shape(self, layer, name):
        try:
            return str(getattr(layer, name)).replace("None", "?")
        except AttributeError:
            return "?"

    def _label(self, layer):
        name, kind = layer.name, type(layer).__name__
        if isinstance(layer, Wrapper):
            name = "%s(%s)" % (name, layer.layer.name)
            kind = "%s(%s)" % (kind, type(layer.layer).__name__)
        label = "%s: %s" % (name, kind) if self.show_names else kind
        if self.show_shapes:
            label = "%s\n|{input:|output:}|{{%s}|{%s}}" % (
                label, self._shape(layer, "input_shape"),
                self._shape(layer, "output_shape"))
        return label

    def draw(self, model, dot):
        """Adds a model to a graph or cluster. Returns (name of the first node,
        name of the last)."""
        if not model._is_graph_network:
            node = self.pydot.Node(str(id(model)), label=model.name)
            dot.add_node(node)
            return node.get_name(), node.get_name()
        layers = model._all_layers() if hasattr(model, "add") else list(
            model._layers)
        into, out_of = {}, {}
        for layer in layers:
            into[id(layer)], out_of[id(layer)] = self._draw_layer(layer, dot)
        drawn = {id(layer) for layer in layers}
        lines = set()
        for layer in layers:
            for node in layer._inbound_nodes:
                for source in nest.flatten(node.inbound_layers):
                    if id(source) in drawn and source is not layer:
                        lines.add((out_of[id(source)], into[id(layer)]))
        for source, target in sorted(lines):
            dot.add_edge(self.pydot.Edge(source, target))
        return into[id(layers[0])], out_of[id(layers[-1])]

    def _draw_layer(self, layer, dot):
        inner = layer.layer if isinstance(layer, Wrapper) else layer
        if self.expand and isinstance(inner, Network):
            cluster = self.cluster(inner)
            ends = self.draw(inner, cluster)
            dot.add_subgraph(cluster)
            if inner is layer:
                return ends
            dot.add_node(self.pydot.Node(str(id(layer)),
                                         label=self._label(layer)))
            dot.add_edge(self.pydot.Edge(str(id(layer)), ends[0]))
            return str(id(layer)), ends[1]
        dot.add_node(self.pydot.Node(str(id(layer)),
                                     label=self._label(layer)))
        return str(id(layer)), str(id(layer))

    def cluster(self, model):
        found = self.pydot.Cluster(style="dashed", graph_name=model.name)
        found.set("label", model.name)
        found.set("labeljust", "l")
        return found


def model_to_dot(model, show_shapes=False, show_layer_names=True, rankdir="TB",
                 expand_nested=False, dpi=96, subgraph=False):
    """A pydot.Dot of the layers of a model and of what is called on what; a
    pydot.Cluster if `subgraph`. `show_shapes`: with the shapes of inputs and
    outputs, of any dtypes; `rankdir`: "TB" from top to bottom, "LR" from left
    to right; `expand_nested`: with the layers of models inside. ImportError
    without the packages pydot and graphviz."""
    pydot = _pydot()
    drawing = _Drawing(pydot, show_shapes, show_layer_names, expand_nested)
    if subgraph:
        dot = drawing.cluster(model)
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if hasattr(model, "add") and not model.built:
        model.build()
    drawing.draw(model, dot)
    return dot


def plot_model(model, to_file="model.png", show_shapes=False,
               show_layer_names=True, rankdir="TB", expand_nested=False,
               dpi=96):
    """Writes the picture of model_to_dot, in the format that the file's name
    ends with, and returns it for notebooks where IPython is installed. Shapes
    and dtypes may be any. ImportError without the packages pydot and
    graphviz."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir,
                       expand_nested, dpi)
    extension = os.path.splitext(to_file)[1]
    dot.write(to_file, format=extension[1:] or "png")
    try:
        from IPython import display  # type: ignore
    except ImportError:
        return None
    return display.Image(filename=to_file)
