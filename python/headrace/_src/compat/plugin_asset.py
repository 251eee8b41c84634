"""tensorflow.python.summary.plugin_asset: files of TensorBoard's plugins that go
with a graph."""
import abc

from headrace._src.framework import graph as _graph

_COLLECTION = "__tensorboard_plugin_assets"


class PluginAsset(metaclass=abc.ABCMeta):
    """Files of a plugin, `plugin_name`. A derived class says which, assets():
    {name: text or bytes}."""

    plugin_name: str

    @abc.abstractmethod
    def assets(self):
        """{name: contents}."""


def _key(name):
    return "%s/%s" % (_COLLECTION, name)


def get_plugin_asset(plugin_asset_cls, graph=None):
    """The graph's asset of that class, which is made at the first call.

    Raises:
      ValueError: the class has no plugin_name, or the graph has an asset of
        another class by that name.
    """
    graph = graph or _graph.get_default_graph()
    name = getattr(plugin_asset_cls, "plugin_name", None)
    if not name:
        raise ValueError("Class %s has no plugin_name" % plugin_asset_cls.__name__)
    found = graph.get_collection(_key(name))
    if found:
        if not isinstance(found[0], plugin_asset_cls):
            raise ValueError(
                "Plugin asset %s is of class %s, which is not a %s" % (
                    name, type(found[0]).__name__, plugin_asset_cls.__name__))
        return found[0]
    asset = plugin_asset_cls()
    graph.add_to_collection(_key(name), asset)
    graph.add_to_collection(_COLLECTION, name)
    return asset


def get_all_plugin_assets(graph=None):
    """All assets of the graph."""
    graph = graph or _graph.get_default_graph()
    return [graph.get_collection(_key(name))[0]
            for name in graph.get_collection(_COLLECTION)]
