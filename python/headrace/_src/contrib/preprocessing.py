"""tf.contrib.learn.preprocessing: from documents to numbers of words or bytes."""
import collections
import math
import pickle
import re

import numpy as np

from headrace._src.platform.file_io import GFile

_TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+",
                    re.UNICODE)
# Where TensorFlow has the classes; a file that it saved names them.
_THEIRS = "tensorflow.contrib.learn.python.learn.preprocessing"
_THEIRS_1_15 = "tensorflow_core" + _THEIRS[len("tensorflow"):]


def tokenizer(iterator):
    """The list of words of each string."""
    for value in iterator:
        yield _TOKEN.findall(value)


class ByteProcessor:
    """From documents to their first max_document_length bytes, padded with 0;
    uint8 [max_document_length] each. Strings are encoded as UTF-8."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Does nothing."""

    def fit_transform(self, x):
        return self.transform(x)

    def transform(self, x):
        """The bytes of each document."""
        for document in x:
            if isinstance(document, str):
                document = document.encode("utf-8")
            got = np.frombuffer(document[:self.max_document_length], np.uint8)
            yield np.pad(got, (0, self.max_document_length - len(got)),
                         "constant")

    def reverse(self, x):
        """The strings of bytes; "" for what is no UTF-8."""
        for data in x:
            data = np.trim_zeros(np.asarray(data).astype(np.uint8), trim="b")
            try:
                yield data.tobytes().decode("utf-8")
            except UnicodeDecodeError:
                yield ""


class CategoricalVocabulary:
    """Numbers of words or other categories, in the order in which they come;
    0 is unknown_token. Without support_reverse it cannot go back."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq = collections.defaultdict(int)
        self._freeze = False
        self._clear()

    def _clear(self):
        self._mapping = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token]

    def _append(self, category):
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """A frozen vocabulary takes no new categories: they are 0."""
        self._freeze = freeze

    def get(self, category):
        """The number of a category; a new one gets the next."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        """Counts a category, `count` times."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Numbers the categories by how often they came, the most frequent
        first, and forgets those that came at most min_frequency times, or at
        least max_frequency times if that is above 0."""
        frequent = sorted(self._freq.items(), key=lambda item: (
            -item[1], isinstance(item[0], str), item[0]))
        self._clear()
        kept = [(c, n) for c, n in frequent if n > min_frequency
                and not 0 < max_frequency <= n]
        for category, _ in kept:
            self._append(category)
        self._freq = collections.defaultdict(int, kept)

    def reverse(self, class_id):
        """The category of a number. ValueError without support_reverse."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with "
                             "support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """From documents to the numbers of their words, int64
    [max_document_length] each, cut or padded with 0. `vocabulary_` is the
    CategoricalVocabulary; words that come at most min_frequency times (if that
    is above 0) are not in it. tokenizer_fn: from documents to the words of
    each; by default `tokenizer`."""

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None,
                 tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of the documents, and freezes the vocabulary."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """`fit`, and the documents' numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """The numbers of the words of each document."""
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens[:self.max_document_length]):
                ids[i] = self.vocabulary_.get(token)
            yield ids

    def reverse(self, documents):
        """The words of each list of numbers, with spaces between."""
        for ids in documents:
            yield " ".join(self.vocabulary_.reverse(i) for i in ids)

    def save(self, filename):
        """Pickles it into a file."""
        with GFile(filename, "wb") as f:
            f.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """What `save`, here or in TensorFlow, put into a file. A pickle can
        run code: only files of sources that you trust."""
        with GFile(filename, "rb") as f:
            return _Unpickler(f).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module.startswith((_THEIRS, _THEIRS_1_15)) and name in globals():
            return globals()[name]
        return super().find_class(module, name)


class CategoricalProcessor:
    """From rows of categories to rows of their numbers; one
    CategoricalVocabulary for each column, in `vocabularies_`, or one for all
    if `share`. NaN is unknown, 0."""

    def __init__(self, min_frequency=0, share=False, vocabularies=None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze=True):
        for vocabulary in self.vocabularies_ or []:
            vocabulary.freeze(freeze)

    @staticmethod
    def _is_nan(value):
        return isinstance(value, float) and math.isnan(value)

    def fit(self, x, unused_y=None):
        """Learns the categories of the rows, and freezes the vocabularies."""
        for row in x:
            if self.vocabularies_ is None:
                one = CategoricalVocabulary()
                self.vocabularies_ = [
                    one if self.share else CategoricalVocabulary()
                    for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row):
                if not self._is_nan(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_ or []:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x, unused_y=None):
        """`fit`, and the rows' numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x):
        """The numbers of each row, int64."""
        self.freeze()
        for row in x:
            yield np.array([0 if self._is_nan(v) else vocabulary.get(v)
                            for vocabulary, v in zip(self.vocabularies_, row)],
                           dtype=np.int64)
