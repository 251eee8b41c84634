"""Going through datasets while ops are executed eagerly."""
from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._src.data.elements import Typed, attrs, pack_values
from headrace._src.framework import errors
from headrace._src.framework.graph import device


class EagerIterator(Typed):
    """A Python iterator over a dataset. get_next() gives the next element too,
    and raises OutOfRangeError at the end; next() raises StopIteration."""

    def __init__(self, dataset):
        self._spec = dataset._spec
        self._dataset = dataset  # with what its functions need
        with device("/cpu:0"):
            variant = dataset._for_iterator()
            self._iterator_resource = _raw.AnonymousIterator(
                **attrs(self._spec))
            self._deleter = _Deleter(self._iterator_resource)
            _raw.MakeIterator(variant, self._iterator_resource)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self._next_internal()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def _next_internal(self):
        out = _raw.IteratorGetNext(self._iterator_resource,
                                   **attrs(self._spec))
        return pack_values(self._spec, out)

    def get_next(self, name=None):
        """The next element. OutOfRangeError at the end."""
        return self._next_internal()

    def get_next_as_optional(self):
        from headrace._src.data.iterators import Optional
        return Optional(_raw.IteratorGetNextAsOptional(
            self._iterator_resource, **attrs(self._spec)), self._spec)

    @property
    def initializer(self):
        raise ValueError("Iterator does not have an initializer.")


class _Deleter:
    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        if _headrace is not None:
            _headrace.eager_destroy(self._handle)


class Iterator(EagerIterator):
    """tf.contrib.eager.Iterator: `for element in Iterator(dataset)`."""

    def __init__(self, dataset):
        if not _headrace.executing_eagerly():
            raise RuntimeError(
                "tf.contrib.eager.Iterator objects can only be used when eager "
                "execution is enabled, use tf.data.Dataset."
                "make_initializable_iterator or tf.data.Dataset."
                "make_one_shot_iterator for graph construction")
        super().__init__(dataset)


def iterator_of(dataset):
    """An EagerIterator of a dataset."""
    return EagerIterator(dataset)
