"""tf.keras.preprocessing.sequence."""
import json
import random

import numpy as np

from headrace._src.keras.utils import Sequence


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre",
                  truncating="pre", value=0.0):
    """Sequences as one array [number, maxlen], where `value` fills the short
    ones and long ones are cut: at the begin ("pre") or end ("post")."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for x in sequences:
        if not hasattr(x, "__len__"):
            raise ValueError("`sequences` must be a list of iterables. Found "
                             "non-iterable: %s" % (x,))
    for name, given in (("Truncating", truncating), ("Padding", padding)):
        if given not in ("pre", "post"):
            raise ValueError("%s type \"%s\" not understood" % (name, given))
    lengths = [len(x) for x in sequences]
    maxlen = max(lengths, default=0) if maxlen is None else maxlen
    inner = next((np.asarray(x).shape[1:] for x in sequences if len(x)), ())
    if isinstance(value, str) and dtype != object and not np.issubdtype(
            dtype, np.str_):
        raise ValueError("`dtype` %s is not compatible with `value`'s type: %s"
                         % (dtype, type(value)))
    out = np.full((len(lengths), maxlen) + inner, value, dtype=dtype)
    for i, x in enumerate(sequences):
        if not len(x) or not maxlen:
            continue
        x = np.asarray(x[-maxlen:] if truncating == "pre" else x[:maxlen],
                       dtype=dtype)
        if x.shape[1:] != inner:
            raise ValueError("Shape of sample %s of sequence at position %s is "
                             "different from expected shape %s"
                             % (x.shape[1:], i, inner))
        if padding == "post":
            out[i, :len(x)] = x
        else:
            out[i, maxlen - len(x):] = x
    return out


def make_sampling_table(size, sampling_factor=1e-05):
    """The probabilities, float64 [size], with which `skipgrams` keeps the
    words: the word i is taken as the i-th most frequent one, by Zipf's law.
    ValueError for a size that is no number of words."""
    if size < 1:
        raise ValueError("make_sampling_table: size must be at least 1, got %s"
                         % (size,))
    rank = np.arange(size)
    rank[0] = 1
    euler = 0.577
    shares = sampling_factor * (
        rank * (np.log(rank) + euler) + .5 - 1 / (12. * rank))
    return np.minimum(1, shares / np.sqrt(shares))


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0,
              shuffle=True, categorical=False, sampling_table=None, seed=None):
    """(pairs, labels) of a list of numbers of words, where 0 is no word: each
    word with those up to window_size from it, of the label 1, and
    negative_samples as many times words by chance, of the label 0;
    `categorical`: [0, 1] and [1, 0]. `sampling_table`: probabilities [words]
    with which a word is looked at. They come shuffled; `seed` is of Python's
    random. IndexError for a word that the table does not have."""
    couples, labels = [], []
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    for i, word in enumerate(sequence):
        if not word or sampling_table is not None and (
                sampling_table[word] < random.random()):
            continue
        near = range(max(0, i - window_size),
                     min(len(sequence), i + window_size + 1))
        for j in near:
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append(yes)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)],
                     random.randint(1, vocabulary_size - 1)]
                    for i in range(count)]
        labels += [no] * count
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for things in (couples, labels):
            random.seed(seed)
            random.shuffle(things)
    return couples, labels


class TimeseriesGenerator(Sequence):
    """Batches of windows of `data` [time, ...], and of the `targets` [time,
    ...] that follow them, in their dtypes: samples [batch, length /
    sampling_rate, ...] and targets [batch, ...].

    `stride`: between windows; `start_index` and `end_index`: of what is used;
    `reverse`: windows run backwards; `shuffle`: they begin by chance, of
    np.random. ValueError for other lengths, and if nothing is left."""

    def __init__(self, data, targets, length, sampling_rate=1, stride=1,
                 start_index=0, end_index=None, shuffle=False, reverse=False,
                 batch_size=128):
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. Data length is %d "
                "while target length is %d" % (len(data), len(targets)))
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                "`start_index+length=%i > end_index=%i` is disallowed, as no "
                "part of the sequence would be left to be used as current step."
                % (self.start_index, self.end_index))

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1,
                                     size=self.batch_size)
        else:
            step = self.batch_size * self.stride
            first = self.start_index + step * index
            rows = np.arange(first, min(first + step, self.end_index + 1),
                             self.stride)
        samples = np.array([self.data[row - self.length:row:self.sampling_rate]
                            for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return samples[:, ::-1] if self.reverse else samples, targets

    def get_config(self):
        """The options, and data and targets as JSON. TypeError if they cannot
        be that."""
        config = {}
        for name in ("data", "targets"):
            value = getattr(self, name)
            try:
                config[name] = json.dumps(
                    value.tolist() if isinstance(value, np.ndarray) else value)
            except TypeError as error:
                raise TypeError("%s not JSON Serializable: %r"
                                % (name.capitalize(), value)) from error
        return {**config, **{key: getattr(self, key) for key in (
            "length", "sampling_rate", "stride", "start_index", "end_index",
            "shuffle", "reverse", "batch_size")}}

    def to_json(self, **kwargs):
        """get_config and the name of the class as JSON; kwargs are those of
        json.dumps."""
        return json.dumps({"class_name": type(self).__name__,
                           "config": self.get_config()}, **kwargs)
