"""tf.test.mock: the standard library's unittest.mock; and what replaces
attributes for the time of a test."""
from unittest import mock

__all__ = ["StubOutForTesting", "mock"]


class StubOutForTesting:
    """Replaces attributes of objects and modules until UnsetAll, or the end of
    a `with` block."""

    def __init__(self):
        self._kept = []  # (object, name, what it was), oldest first
        self._smart = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.CleanUp()

    def __del__(self):
        self.CleanUp()

    def CleanUp(self):
        """Undoes all that Set and SmartSet did."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def Set(self, parent, child_name, new_child):
        """Gives the attribute of `parent` another value."""
        old = vars(parent).get(child_name, getattr(parent, child_name))
        self._kept.append((parent, child_name, old))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj, attr_name, new_attr):
        """As Set, but of a class it is the one that defines the attribute that
        gets another. AttributeError if there is none."""
        if isinstance(obj, type):
            for owner in obj.__mro__:
                if attr_name in vars(owner):
                    obj = owner
                    break
        if not hasattr(obj, attr_name):
            raise AttributeError("Attribute not found.")
        old = vars(obj).get(attr_name, getattr(obj, attr_name)) if hasattr(
            obj, "__dict__") else getattr(obj, attr_name)
        self._smart.append((obj, attr_name, old))
        setattr(obj, attr_name, new_attr)

    def UnsetAll(self):
        """Undoes all that Set did."""
        while self._kept:
            setattr(*self._kept.pop())

    def SmartUnsetAll(self):
        """Undoes all that SmartSet did."""
        while self._smart:
            setattr(*self._smart.pop())
