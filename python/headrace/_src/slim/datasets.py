"""tf.contrib.slim: data sets, and their items as tensors."""
import abc

from headrace._src.slim.readers import parallel_read


class DataDecoder(abc.ABC):
    """Makes items of a record."""

    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of `items`, names, in a string."""

    @abc.abstractmethod
    def list_items(self):
        """The names of the items."""


class Dataset:
    """What a data set is: files, the class of their reader, a DataDecoder, the
    number of records, and a text for each item. Further arguments are
    attributes too."""

    def __init__(self, data_sources, reader, decoder, num_samples,
                 items_to_descriptions, **kwargs):
        kwargs.update(data_sources=data_sources, reader=reader,
                      decoder=decoder, num_samples=num_samples,
                      items_to_descriptions=items_to_descriptions)
        self.__dict__.update(kwargs)


class DataProvider:
    """Tensors by the names of items."""

    def __init__(self, items_to_tensors, num_samples):
        self._items = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """The tensors of items. ValueError for a name of none."""
        unknown = [item for item in items if item not in self._items]
        if unknown:
            raise ValueError("Items [%s] are invalid: there are [%s]"
                             % (", ".join(map(str, unknown)),
                                ", ".join(map(str, self._items))))
        return [self._items[item] for item in items]

    def list_items(self):
        return list(self._items)

    def num_samples(self):
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """The items of a record of a Dataset, and its key as `record_key`; as
    parallel_reader.parallel_read reads it."""

    def __init__(self, dataset, num_readers=1, reader_kwargs=None,
                 shuffle=True, num_epochs=None, common_queue_capacity=256,
                 common_queue_min=128, record_key="record_key", seed=None,
                 scope=None):
        key, data = parallel_read(
            dataset.data_sources, reader_class=dataset.reader,
            num_epochs=num_epochs, num_readers=num_readers,
            reader_kwargs=reader_kwargs, shuffle=shuffle,
            capacity=common_queue_capacity, min_after_dequeue=common_queue_min,
            seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError("The item name used for `record_key` cannot also "
                             "be used for a dataset item: %s" % record_key)
        tensors = dict(zip(items, dataset.decoder.decode(data, items)))
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors,
                         num_samples=dataset.num_samples)
