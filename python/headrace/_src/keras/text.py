"""tf.keras.preprocessing.text: words of texts as numbers."""
import collections
import hashlib
import json
import warnings

import numpy as np

_FILTERS = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n"


def text_to_word_sequence(text, filters=_FILTERS, lower=True, split=" "):
    """The words of a str: the parts between `split`, which replaces all
    characters of `filters`, in small letters unless `lower` is False. TypeError
    for what is no str. The result is a list of strings of any length."""
    if not isinstance(text, str):
        raise TypeError("text_to_word_sequence: text must be a str, got %r"
                        % (text,))
    if lower:
        text = text.lower()
    text = text.translate({ord(c): split for c in filters})
    return [word for word in text.split(split) if word]


def one_hot(text, n, filters=_FILTERS, lower=True, split=" "):
    """The words of a str as ints from 1 to n - 1, by Python's `hash`, which
    differs from process to process: a list of any length. TypeError for what is
    no str."""
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True,
                  split=" "):
    """The words of a str as ints from 1 to n - 1, a list of any length:
    `hash_function` is Python's `hash` by default, "md5", or a function from a
    str to an int. TypeError for what is no str."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)
    return [hash_function(word) % (n - 1) + 1
            for word in text_to_word_sequence(text, filters, lower, split)]


class Tokenizer:
    """Numbers words by how often they occur, from 1 on; 0 stays free.

    num_words: only those below it are used. filters, lower, split: see
    text_to_word_sequence. char_level: each character is a word. oov_token: the
    word 1, which stands for all that are not known. A text is a str, or a list
    of words. `word_index` and `index_word` are dicts of words and numbers,
    `word_counts` and `word_docs` tell how often words occur and in how many
    texts. TypeError for other keyword arguments."""

    def __init__(self, num_words=None, filters=_FILTERS, lower=True, split=" ",
                 char_level=False, oov_token=None, document_count=0, **kwargs):
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been "
                          "renamed `num_words`.")
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: %s" % kwargs)
        self.num_words = num_words
        self.filters = filters
        self.lower = lower
        self.split = split
        self.char_level = char_level
        self.oov_token = oov_token
        self.document_count = document_count
        self.word_counts = collections.OrderedDict()
        self.word_docs = collections.defaultdict(int)
        self.index_docs = collections.defaultdict(int)
        self.word_index = {}
        self.index_word = {}

    def _words(self, text):
        if not self.char_level and not isinstance(text, list):
            return text_to_word_sequence(text, self.filters, self.lower,
                                         self.split)
        if not self.lower:
            return text
        return [word.lower() for word in text] if isinstance(
            text, list) else text.lower()

    def fit_on_texts(self, texts):
        """Counts and numbers the words of texts."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        known = sorted(self.word_counts, key=self.word_counts.get, reverse=True)
        if self.oov_token is not None:
            known.insert(0, self.oov_token)
        self.word_index = {word: i + 1 for i, word in enumerate(known)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Counts in how many lists each number occurs, which
        sequences_to_matrix uses."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts):
        """Lists of the numbers of words; unknown ones are left out, or have
        that of oov_token."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """A generator of what texts_to_sequences gives."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = (self._used(self.word_index.get(word), unknown)
                       for word in self._words(text))
            yield [i for i in numbers if i is not None]

    def _used(self, i, unknown):
        """The number i, or `unknown` if it is None or not below num_words."""
        if i is None or self.num_words and i >= self.num_words:
            return unknown
        return i

    def sequences_to_texts(self, sequences):
        """Texts of lists of numbers, with spaces between the words."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """A generator of what sequences_to_texts gives."""
        unknown = self.word_index.get(self.oov_token)
        for sequence in sequences:
            numbers = (self._used(i if i in self.index_word else None, unknown)
                       for i in sequence)
            yield " ".join(self.index_word[i] for i in numbers
                           if i is not None)

    def texts_to_matrix(self, texts, mode="binary"):
        """sequences_to_matrix of texts."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """A row of num_words float64 for each list of numbers, which tells of
        each whether it occurs ("binary"), how often ("count"), as a share
        ("freq"), or by how much more than in others ("tfidf"). ValueError for
        other modes, and before words are known."""
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or "
                             "fit on some text data first.")
        size = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf "
                             "mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode: %s" % (mode,))
        matrix = np.zeros((len(sequences), size))
        for row, sequence in zip(matrix, sequences):
            counts = collections.Counter(i for i in sequence if i < size)
            for i, count in counts.items():
                if mode == "tfidf":
                    row[i] = (1 + np.log(count)) * np.log(
                        1 + self.document_count
                        / (1 + self.index_docs.get(i, 0)))
                else:
                    row[i] = {"binary": 1, "count": count,
                              "freq": count / len(sequence)}[mode]
        return matrix

    def get_config(self):
        """The options and what is known, the dicts as JSON."""
        return {**{key: getattr(self, key) for key in (
            "num_words", "filters", "lower", "split", "char_level", "oov_token",
            "document_count")}, **{key: json.dumps(getattr(self, key))
                                   for key in (
            "word_counts", "word_docs", "index_docs", "index_word",
            "word_index")}}

    def to_json(self, **kwargs):
        """get_config and the name of the class as JSON; kwargs are those of
        json.dumps."""
        return json.dumps({"class_name": type(self).__name__,
                           "config": self.get_config()}, **kwargs)
