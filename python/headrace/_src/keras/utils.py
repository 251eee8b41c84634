"""tf.keras.utils: helpers for data."""
import numpy as np

from headrace._src.layers import backend


def to_categorical(y, num_classes=None, dtype="float32"):
    """Numbers of classes as one-hot vectors: [..., num_classes]."""
    y = np.array(y, dtype="int")
    shape = y.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    y = y.ravel()
    n = num_classes or int(np.max(y)) + 1
    out = np.zeros((len(y), n), dtype=dtype)
    out[np.arange(len(y)), y] = 1
    return out.reshape(shape + (n,))


def normalize(x, axis=-1, order=2):
    """x with norm 1 along `axis`."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


class Sequence:
    """Batches by number: a derived class has __getitem__ and __len__."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Called after each epoch."""

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def convert_all_kernels_in_model(model):
    """Turns the windows of the kernels, [sizes..., channels, filters] of any
    float dtype, of the layers Conv1D, Conv2D, Conv3D and Conv2DTranspose of a
    model, as files of Theano need it. ValueError for kernels of another
    rank."""
    turned = []
    for layer in model.layers:
        if type(layer).__name__ not in ("Conv1D", "Conv2D", "Conv3D",
                                        "Conv2DTranspose"):
            continue
        kernel = backend.get_value(layer.kernel)
        if not 3 <= kernel.ndim <= 5:
            raise ValueError("Invalid kernel shape: %s" % (kernel.shape,))
        turned.append((layer.kernel, np.flip(
            kernel, tuple(range(kernel.ndim - 2))).copy()))
    backend.batch_set_value(turned)
