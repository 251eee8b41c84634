"""tf.contrib.learn.preprocessing. What is expected, TensorFlow 1.15 gives."""
import math
import pickle

import numpy as np
import pytest

import headrace as tf

learn = tf.contrib.learn.preprocessing
TEXTS = ["The cat's sat on the mat.", "dogs, cats & mats; U.S.A", "the the the sat"]


def lists(rows):
    return [row.tolist() for row in rows]


def test_words_become_numbers_and_words_again(tmp_path):
    words = learn.VocabularyProcessor(6)
    assert lists(words.fit_transform(TEXTS)) == [
        [1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [5, 5, 5, 3, 0, 0]]
    assert len(words.vocabulary_) == 13
    path = str(tmp_path / "words")
    words.save(path)
    again = learn.VocabularyProcessor.restore(path)
    ids = list(again.transform(["the new cat's mat"]))
    assert lists(ids) == [[5, 0, 2, 6, 0, 0]]
    assert list(again.reverse(ids)) == ["the <UNK> cat's mat <UNK> <UNK>"]


def test_rare_words_are_unknown():
    words = learn.VocabularyProcessor(4, min_frequency=2)
    assert lists(words.fit_transform(["a b b c c c", "c b a"])) == [
        [0, 2, 2, 1], [1, 2, 0, 0]]


def test_a_tokenizer_of_ones_own():
    words = learn.VocabularyProcessor(
        3, tokenizer_fn=lambda texts: (t.split("-") for t in texts))
    assert lists(words.fit_transform(["a-b", "b"])) == [[1, 2, 0], [2, 0, 0]]


def test_a_file_of_tensorflow(tmp_path):
    """TensorFlow's pickles name its own modules."""
    words = learn.VocabularyProcessor(3)
    list(words.fit_transform(["a b"]))
    data = pickle.dumps(words, protocol=0)
    theirs = b"tensorflow_core.contrib.learn.python.learn.preprocessing."
    for name, module in ((b"VocabularyProcessor", b"text"),
                         (b"tokenizer", b"text"),
                         (b"CategoricalVocabulary", b"categorical_vocabulary")):
        ours = b"cheadrace._src.contrib.preprocessing\n" + name
        assert ours in data
        data = data.replace(ours, b"c" + theirs + module + b"\n" + name)
    path = tmp_path / "words"
    path.write_bytes(data)
    again = learn.VocabularyProcessor.restore(str(path))
    assert lists(again.transform(["b c a"])) == [[2, 0, 1]]


def test_tokenizer():
    assert list(learn.tokenizer(["It's a test-case, isn't it? 3.14 ÉLAN me中文"])) == [
        ["It's", "a", "test-case", "isn't", "it", "3", "14", "ÉLAN", "me中文"]]


def test_a_vocabulary_counts_and_trims():
    v = learn.CategoricalVocabulary()
    for word, count in (("z", 3), ("q", 1), ("b", 3), ("of", 9), (7, 3)):
        v.add(word, count)
    v.trim(1, max_frequency=9)
    assert [v.get(w) for w in (7, "b", "z")] == [1, 2, 3] and len(v) == 4
    v.freeze()
    assert v.get("new") == 0 and v.reverse(2) == "b"
    with pytest.raises(ValueError, match="support_reverse"):
        learn.CategoricalVocabulary(support_reverse=False).reverse(0)


def test_bytes():
    b = learn.ByteProcessor(4)
    rows = list(b.transform([b"abc", "defghi", "é"]))
    assert lists(rows) == [[97, 98, 99, 0], [100, 101, 102, 103], [195, 169, 0, 0]]
    assert list(b.reverse(rows)) == ["abc", "defg", "é"]
    assert list(b.reverse([np.array([195, 65])])) == [""]


def test_categories():
    c = learn.CategoricalProcessor()
    assert lists(c.fit_transform([["a", 1], ["b", math.nan], ["a", 2]])) == [
        [1, 1], [2, 0], [1, 2]]
    assert lists(c.transform([["z", 1]])) == [[0, 1]]
    shared = learn.CategoricalProcessor(share=True)
    assert lists(shared.fit_transform([["a", "b"], ["b", "a"]])) == [[1, 2], [2, 1]]
