"""What programs derive from of tensorflow.python.autograph.pyct when they are
imported. Its syntax trees are not those of tf.autograph here."""


class Base:
    """A transformer of syntax trees. Classes may be derived from it; making one
    is a NotImplementedError."""

    def __init__(self, ctx):
        raise NotImplementedError(
            "%s: transformers of tensorflow.python.autograph.pyct are not "
            "supported; tf.autograph.to_graph converts functions"
            % type(self).__name__)
