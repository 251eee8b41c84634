"""tensorflow.python.training.tracking: bases of what tf.train.Checkpoint saves."""


class Trackable:
    """An object that tf.train.Checkpoint takes. It has nothing to save."""

    def _checkpoint_children(self):
        return []

    def _no_dependency(self, value):
        """The value."""
        return value


class AutoTrackable(Trackable):
    """A Trackable whose attributes are saved too."""

    def _checkpoint_children(self):
        return list(vars(self).items())


