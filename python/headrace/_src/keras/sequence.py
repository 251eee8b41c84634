"""tf.keras.preprocessing.sequence."""
import numpy as np


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
