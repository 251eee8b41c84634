"""tensorflow.python.util.object_identity and lock_util: collections that compare
objects by `is`, and a lock that groups of threads hold."""
import collections.abc
import threading
import weakref


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are the same if they are one object."""

    def __init__(self):
        self._items = {}  # id: (key, value)

    def __getitem__(self, key):
        if id(key) not in self._items:
            raise KeyError(key)
        return self._items[id(key)][1]

    def __setitem__(self, key, value):
        self._items[id(key)] = key, value

    def __delitem__(self, key):
        if self._items.pop(id(key), None) is None:
            raise KeyError(key)

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter([key for key, _ in self._items.values()])

    def __repr__(self):
        return "%s(%r)" % (type(self).__name__, list(self._items.values()))


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """One whose entries go when nothing else has their keys."""

    def __setitem__(self, key, value):
        place, items = id(key), self._items
        reference = weakref.ref(key, lambda _: items.pop(place, None))
        items[place] = reference, value

    def __iter__(self):
        keys = [reference() for reference, _ in list(self._items.values())]
        return iter([key for key in keys if key is not None])


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set of objects that compares them by `is`."""
    _Storage = ObjectIdentityDictionary

    def __init__(self, items=()):
        self._storage = self._Storage()
        self.update(items)

    def __contains__(self, key):
        return key in self._storage

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(self._storage)

    def add(self, key):
        self._storage[key] = None

    def discard(self, key):
        self._storage.pop(key, None)

    def update(self, items):
        for item in items:
            self.add(item)

    def intersection(self, items):
        return type(self)([x for x in items if x in self])

    def difference(self, items):
        rest = type(self)(self)
        for item in items:
            rest.discard(item)
        return rest


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """One that its objects leave when nothing else has them."""
    _Storage = ObjectIdentityWeakKeyDictionary


class GroupLock:
    """A lock that any number of threads of one group hold, and no thread of
    another group then."""

    def __init__(self, num_groups=2):
        if num_groups < 1:
            raise ValueError("num_groups must be a positive integer, got %s"
                             % num_groups)
        self._changed = threading.Condition()
        self._num_groups = num_groups
        self._group_member_counts = [0] * num_groups

    def _check(self, group_id):
        if not 0 <= group_id < self._num_groups:
            raise ValueError("group_id=%s should be between 0 and num_groups=%s"
                             % (group_id, self._num_groups))

    def acquire(self, group_id):
        """Waits until no other group has the lock."""
        self._check(group_id)
        counts = self._group_member_counts
        with self._changed:
            self._changed.wait_for(
                lambda: sum(counts) == counts[group_id])
            counts[group_id] += 1

    def release(self, group_id):
        self._check(group_id)
        with self._changed:
            self._group_member_counts[group_id] -= 1
            if not self._group_member_counts[group_id]:
                self._changed.notify_all()

    def group(self, group_id):
        """A context that holds the lock for the group."""
        self._check(group_id)
        return _Held(self, group_id)


class _Held:
    def __init__(self, lock, group_id):
        self._lock, self._group_id = lock, group_id

    def __enter__(self):
        self._lock.acquire(self._group_id)

    def __exit__(self, *error):
        self._lock.release(self._group_id)
