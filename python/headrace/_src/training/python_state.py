"""tf.train.experimental.PythonState: values of Python in checkpoints of objects."""
import abc


class PythonState(abc.ABC):
    """A value of Python that tf.train.Checkpoint saves and restores as a string.

        class Count(tf.train.experimental.PythonState):
            def __init__(self):
                self.value = 0
            def serialize(self):
                return str(self.value)
            def deserialize(self, string_value):
                self.value = int(string_value)

    Checkpoint.restore gives the object its string at once; a session is not
    needed."""

    @abc.abstractmethod
    def serialize(self):
        """The value as a string, str or bytes. Called by each save."""

    @abc.abstractmethod
    def deserialize(self, string_value):
        """Takes the value from the bytes of a checkpoint."""

    def _checkpoint_children(self):
        return []
