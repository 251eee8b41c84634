"""tf.test.mock: the standard library's unittest.mock."""
from unittest import mock

__all__ = ["mock"]
