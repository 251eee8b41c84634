"""What a dataset's elements are, as Python values."""
import headrace as tf


def values(dataset, n=100):
    """The first elements, as Python values; errors in their place."""
    iterator = tf.data.make_initializable_iterator(dataset)
    get_next, out = iterator.get_next(), []
    with tf.Session(graph=tf.get_default_graph()) as sess:
        sess.run(iterator.initializer)
        while len(out) < n:
            try:
                out.append(plain(sess.run(get_next)))
            except tf.errors.OutOfRangeError as error:
                assert "End of sequence" in str(error)
                break
            except tf.errors.OpError as error:
                out.append(error)
    return out


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        return tuple(plain(v) for v in x)
    return x.tolist() if hasattr(x, "tolist") else x


def one_shot(dataset, n=100):
    get_next, out = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as sess:
        while len(out) < n:
            try:
                out.append(plain(sess.run(get_next)))
            except tf.errors.OutOfRangeError:
                break
    return out
