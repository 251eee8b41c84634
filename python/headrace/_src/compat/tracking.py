"""tensorflow.python.training.tracking: bases of what TensorFlow's object-based
checkpoints save. Those are not supported, so the bases do nothing."""


class Trackable:
    """An object that tf.train.Checkpoint would save."""

    def _no_dependency(self, value):
        """The value."""
        return value


class AutoTrackable(Trackable):
    """A Trackable whose attributes would be saved too."""


